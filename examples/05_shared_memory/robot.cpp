// The real-time process of a robot with six simulated joints, which other processes move through shared
// memory:
//
//     05_shared_memory_robot &                  # this one
//     python3 watch.py &                        # prints the owner of each joint
//     05_shared_memory_motion robot 0 0 1 2 &   # at owner slot 0, moves the joints 0, 1 and 2
//     kill -9 %3                                # the joints return slowly to zero and are free
//
// If this process is killed and restarted, it continues where it stopped. This example uses named memory,
// which is for processes of one user that trust each other. A real robot uses sealed memory (SegmentServer).
#include <array>
#include <cstdio>
#include <string>

#include "takt/platform/segment.hpp"
#include "takt/platform/steady_clock.hpp"
#include "takt/rt/periodic_loop.hpp"
#include "takt/shm/joint_hub.hpp"

using namespace takt;
using namespace takt::shm;
using namespace std::chrono_literals;

namespace {

constexpr const char* usage =
    "usage: 05_shared_memory_robot [NAME]\n"
    "Six simulated joints, which 05_shared_memory_motion moves through the shared memory NAME (robot), until "
    "a\n"
    "signal ends it. `takt shm inspect NAME` shows them.";

}  // namespace

int main(int argc, char** argv) {
  const std::string name = argc > 1 ? argv[1] : "robot";
  if (name == "--help" || name == "-h") return std::puts(usage), 0;
  if (argc > 2 || name.starts_with('-')) return std::fprintf(stderr, "%s\n", usage), 2;
  const std::array wanted{declare<BroadcastValue<JointImage>>("joints"),
                          declare<JointSlots>("joint_slots", 1, 4)};
  auto segment = platform::Segment::open_or_create(name, wanted);
  if (!segment) return std::puts(segment.error().message.c_str()), 1;
  auto image = segment->producer<BroadcastValue<JointImage>>("joints");
  if (!image) return std::puts(image.error().message.c_str()), 1;
  auto owner_slots = segment->consumer<JointSlots>("joint_slots");
  if (!owner_slots) return std::puts(owner_slots.error().message.c_str()), 1;

  std::array<JointSafety, 6> safety;
  safety.fill({SafeBehaviour::hold, 0.0, 0.5});  // without an owner: to 0 rad, at 0.5 rad/s
  auto hub = JointHub::make(*image->end, owner_slots->end, safety, {.period = 1ms, .silent_cycles = 50});
  if (!hub) return std::puts(describe(Errc{hub.error().code}).data()), 1;
  std::array<JointMeasurement, 6> drives{};
  for (std::size_t joint = 0; joint < drives.size(); ++joint)
    drives[joint].position = hub->image().position[joint];

  platform::SteadyClock clock;
  auto loop = rt::PeriodicLoop<platform::SteadyClock>::create(clock, {.period = 1ms});
  if (!loop) return 1;
  std::puts("ready");
  std::fflush(stdout);
  loop->run([&](const rt::Tick& tick) noexcept {
    const auto references = hub->take();
    for (std::size_t joint = 0; joint < drives.size();
         ++joint) {  // a real robot exchanges data with its drives here
      if (references[joint].mode == JointMode::position)
        drives[joint].position = references[joint].motion.position;
    }
    hub->publish(tick.due, drives);
    return rt::Verdict::proceed;
  });
}
