// The manager's cycle: within all limits, and when all controllers fail at once.
#include <cstdlib>

#include "instructions.hpp"
#include "robot_world.hpp"

namespace takt::bench {
namespace {

void count_cycles(Counter& count, std::size_t joints, std::size_t controllers) {
  World world(joints, controllers);
  if (!world.good) std::abort();
  count([&] { world.cycle(); });
}

const Kernel small("robot/20_joints_10_controllers", [](Counter& count) { count_cycles(count, 20, 10); });
const Kernel large("robot/1000_joints_100_controllers",
                   [](Counter& count) { count_cycles(count, 1000, 100); });

const Kernel failures("robot/30_controllers_fail_at_once", [](Counter& count) {
  World world(30, 30);
  for (Swing* swing : world.swings) swing->fails = true;
  world.cycle();
  count([&] {
    CALLGRIND_TOGGLE_COLLECT;  // the set-up of a call is not counted
    for (Swing* swing : world.swings) {
      swing->fails = false;
      (void)world.manager.reset_controller(swing->name());
    }
    while (world.manager.next_event()) {
    }
    if (!world.manager.switch_controllers(world.all)) std::abort();
    for (Swing* swing : world.swings) swing->fails = true;
    CALLGRIND_TOGGLE_COLLECT;
    world.cycle();
  });
});

}  // namespace
}  // namespace takt::bench
