// The three lock-free channels between the loop and the motion server: requests in, events and the latest
// state out. Neither side waits for the other.
#pragma once

#include "takt/motion/request.hpp"
#include "takt/motion/snapshot.hpp"
#include "takt/shm/latest_value.hpp"
#include "takt/shm/spsc_ring.hpp"

namespace takt::motion {

/// Each channel has one producer and one consumer. The server side pushes requests, pops events and reads the
/// state; the loop does the reverse. Construction allocates. After that, the loop's side is real-time safe.
/// The loop publishes the state before the events. A reader that pops an event and then reads the state sees
/// the effect of that event. An event with `retired` set gives that request back to the reader.
struct Channels {
  /// As large as the loop's share of one cycle. A stop can only overtake requests that are not in this ring
  /// yet.
  shm::SpscRing<Request*> requests{max_requests_per_cycle};
  /// Events from the loop, oldest first.
  shm::SpscRing<Event> events{1024};
  /// The state of the robot after the latest cycle.
  shm::LatestValue<Snapshot> state;
};

}  // namespace takt::motion
