// A plant and its controller are two processes, each on a core of its own. The plant sends where its joint
// is, the controller answers with a torque, and both watch their rings for the next message. Two kinds of
// rings carry the messages, one after the other: shm::SlotRing moves a single small message sooner,
// shm::SpscRing moves many in less time. A process that is killed leaves rings with which its successor goes
// on.
//
// Prints how long a message and its answer take. Exit code: 0 if the joint arrives each time.
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "takt/core/fields.hpp"
#include "takt/platform/segment.hpp"
#include "takt/platform/steady_clock.hpp"
#include "takt/shm/exchange.hpp"

#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace takt;
using namespace std::chrono_literals;

namespace {

constexpr int steps = 2000;  ///< of 1 ms
constexpr double goal = 1;   ///< rad

struct Measured {
  double position = 0;  ///< rad
  double velocity = 0;  ///< rad/s

  TAKT_FIELDS(Measured, position, velocity)
};
struct Torque {
  double value = 0;  ///< N m

  TAKT_FIELDS(Torque, value)
};

/// Watches the ring, and lets others run if the processor is theirs. Returns false after 30 s.
template <class Consumer, class Message>
bool await(Consumer& ring, Message& message) {
  const platform::SteadyClock clock;
  const Time end = clock.now() + 30s;
  for (int turn = 1;; ++turn) {
    if (ring.try_pop(message)) return true;
    if (turn % 1000 != 0) continue;
    if (clock.now() > end) return false;
    sched_yield();
  }
}

/// The controller: answers each message. Returns the exit code of its process.
template <template <class...> class Ring>
int control(const std::string& name) {
  auto segment = platform::Segment::open(name);
  if (!segment) return std::fprintf(stderr, "%s\n", segment.error().message.c_str()), 1;
  auto measured = segment->consumer<Ring<Measured>>("measured");
  auto torque = segment->producer<Ring<Torque>>("torque");
  if (!measured || !torque) return 1;
  for (int i = 0; i < steps; ++i) {
    Measured now;
    if (!await(measured->end, now)) return 1;
    if (!torque->end.try_push({12 * (goal - now.position) - 2.2 * now.velocity})) return 1;
  }
  return 0;
}

/// The plant: returns how long each message and its answer took; none if the joint did not arrive.
template <template <class...> class Ring>
std::vector<Duration> move(platform::Segment& segment) {
  auto measured = segment.producer<Ring<Measured>>("measured");
  auto torque = segment.consumer<Ring<Torque>>("torque");
  if (!measured || !torque) return {};
  const platform::SteadyClock clock;
  std::vector<Duration> taken;
  Measured joint;
  for (int i = 0; i < steps; ++i) {
    Torque push;
    const Time sent = clock.now();
    if (!measured->end.try_push(joint) || !await(torque->end, push)) return {};
    taken.push_back(clock.now() - sent);
    joint.velocity += 1e-3 * (push.value - 0.6 * joint.velocity) / 0.1;
    joint.position += 1e-3 * joint.velocity;
  }
  return std::abs(joint.position - goal) < 0.01 ? taken : std::vector<Duration>{};
}

template <template <class...> class Ring>
bool run(const char* kind) {
  const std::string name = "two_processes_" + std::to_string(::getpid());
  const std::array wanted{shm::declare<Ring<Measured>>("measured", 16),
                          shm::declare<Ring<Torque>>("torque", 16)};
  auto segment = platform::Segment::create(name, wanted);
  if (!segment) return std::fprintf(stderr, "%s\n", segment.error().message.c_str()), false;
  const pid_t controller = ::fork();
  if (controller == 0) ::_exit(control<Ring>(name));
  std::vector<Duration> taken = move<Ring>(*segment);
  int status = -1;
  ::waitpid(controller, &status, 0);
  static_cast<void>(platform::Segment::remove(name));  // a name outlives its processes
  if (taken.empty() || status != 0)
    return std::fprintf(stderr, "%s: the joint did not arrive\n", kind), false;
  std::ranges::sort(taken);
  std::printf("%-9s %8.2f us in the middle, %8.2f us in 99 of 100 cases\n", kind,
              to_seconds(taken[taken.size() / 2]) * 1e6, to_seconds(taken[taken.size() * 99 / 100]) * 1e6);
  return true;
}

}  // namespace

int main() {
  const bool slots = run<shm::SlotRing>("SlotRing");
  const bool ring = run<shm::SpscRing>("SpscRing");
  return slots && ring ? 0 : 1;
}
