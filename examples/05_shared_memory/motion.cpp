// A motion process: claims joints of the robot (robot.cpp) and swings them back and forth. Several may run,
// each at its own owner slot. After any end of the process, its joints are safe and free.
//
//     05_shared_memory_motion [NAME [OWNER_SLOT JOINT...]]
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numbers>
#include <string>

#include "takt/platform/segment.hpp"
#include "takt/platform/steady_clock.hpp"
#include "takt/rt/periodic_loop.hpp"
#include "takt/shm/joint_client.hpp"

using namespace takt;
using namespace takt::shm;
using namespace std::chrono_literals;

namespace {

constexpr const char* usage =
    "usage: 05_shared_memory_motion [NAME [OWNER_SLOT [JOINT...]]]\n"
    "Swings joints of 05_shared_memory_robot to and fro through the shared memory NAME (robot), in "
    "OWNER_SLOT (0), "
    "which\n"
    "it has for itself: each JOINT from 0 on (0 1 2), until a signal ends it.";

/// Up to 0.6 rad from the start and back, in two seconds, from rest.
struct Swing {
  double start = 0;
  Time begun{};

  [[nodiscard]] JointReference at(Time now) const noexcept {
    const double angle = std::numbers::pi * to_seconds(now - begun);
    return {{start + 0.3 * (1 - std::cos(angle)), 0.3 * std::numbers::pi * std::sin(angle), 0},
            0,
            JointMode::position};
  }
};

}  // namespace

int main(int argc, char** argv) {
  const std::string name = argc > 1 ? argv[1] : "robot";
  if (name == "--help" || name == "-h") return std::puts(usage), 0;
  if (name.starts_with('-')) return std::fprintf(stderr, "%s\n", usage), 2;
  const auto number = static_cast<std::uint32_t>(argc > 2 ? std::atoi(argv[2]) : 0);
  JointSet joints = JointSet::first(argc > 3 ? 0 : 3);
  for (int i = 3; i < argc; ++i) joints.insert(static_cast<std::size_t>(std::atoi(argv[i])));

  auto segment = platform::Segment::open(name);
  if (!segment) return std::puts(segment.error().message.c_str()), 1;
  auto image = segment->consumer<BroadcastValue<JointImage>>("joints");
  if (!image) return std::puts(image.error().message.c_str()), 1;
  auto owner_slot = segment->producer<JointSlots>("joint_slots", number);
  if (!owner_slot) return std::puts(owner_slot.error().message.c_str()), 1;

  JointClient client(image->end, owner_slot->end,
                     static_cast<std::uint32_t>(owner_slot->owner_slot.owner().epoch));
  client.want(joints);
  std::array<Swing, max_joints> swings;
  platform::SteadyClock clock;
  auto loop = rt::PeriodicLoop<platform::SteadyClock>::create(clock, {.period = 5ms});
  if (!loop) return 1;
  loop->run([&](const rt::Tick& tick) noexcept {
    (void)client.update();
    client.granted().for_each([&](std::size_t joint) {  // also after it was lost and granted again
      swings[joint] = {client.reference(joint).motion.position, tick.due};
    });
    client.owned().for_each([&](std::size_t joint) { (void)client.set(joint, swings[joint].at(tick.due)); });
    client.publish(tick.due);
    return rt::Verdict::proceed;
  });
}
