// The three lock-free channels between the loop and everything else: requests in, events and the latest state out. Neither
// side ever waits for the other.
#pragma once

#include "takt/motion/request.hpp"
#include "takt/motion/snapshot.hpp"
#include "takt/shm/latest_value.hpp"
#include "takt/shm/spsc_ring.hpp"

namespace takt::motion {

/// One producer and one consumer each: the outside pushes requests, pops events and reads the state; the loop does the reverse.
/// The state is published before the events: whoever pops an event and then looks at the state sees what the event led to.
/// Whoever pops an event with `retired` set owns that request again.
struct Channels {
  /// No larger than what the loop takes in one cycle: what overtakes the others outside must not wait for them in here.
  shm::SpscRing<Request*> requests{max_requests_per_cycle};
  shm::SpscRing<Event> events{1024};
  shm::LatestValue<Snapshot> state;
};

}  // namespace takt::motion
