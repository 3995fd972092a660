// Other threads load, switch and unload controllers while the cycle runs under the real-time guard.
#include <doctest/doctest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "robot/managed.hpp"
#include "support/random.hpp"
#include "support/rt_guard.hpp"

using namespace takt;
using namespace takt::robot;
using test::Managed;
using test::Probe;

TEST_CASE("random loads, switches, failures and unloads beside the cycle allocate and lock nothing in it") {
  Managed managed(test::robot_of({"a", "b", "c", "d"}));
  managed.make_ready();
  std::atomic<bool> over{false};
  // An operation waits for a cycle, so the cycles follow each other without a pause.
  std::thread operators([&] {
    auto random = test::generator();
    const std::vector<std::string> joints = {"a", "b", "c", "d"};
    std::vector<std::shared_ptr<Probe>> loaded;
    std::size_t made = 0;
    const auto any = [&] {
      return loaded[static_cast<std::size_t>(test::uniform_int(random, 0, std::ssize(loaded) - 1))];
    };
    for (std::size_t i = 0; i < test::count(10000, 10); ++i) {
      const auto choice = test::uniform_int(random, 0, 9);
      if (loaded.size() < 2 || (choice == 0 && loaded.size() < 20)) {
        const auto joint = static_cast<std::size_t>(test::uniform_int(random, 0, 3));
        auto probe = Probe::of("p" + std::to_string(made++), {joints[joint]}, CommandMode::velocity,
                               choice % 2 == 0 ? ClaimKind::exclusive : ClaimKind::lending);
        if (managed.manager.load(probe)) loaded.push_back(probe);
      } else if (choice == 1) {
        const auto probe = any();
        if (managed.manager.unload(probe->name())) std::erase(loaded, probe);
      } else if (choice == 2) {
        any()->fails_once = true;
      } else if (choice == 3) {
        static_cast<void>(managed.manager.reset_controller(any()->name()));
      } else if (choice == 4) {
        static_cast<void>(managed.manager.interfaces());
      } else {
        static_cast<void>(managed.manager.switch_controllers(
            {.start = {any()->name()}, .stop = {any()->name()}, .policy = SwitchPolicy::best_effort}));
      }
    }
    over = true;
  });
  test::RtGuard guard;
  while (!over) managed.cycle();
  CHECK(guard.report() == "");
  operators.join();
  while (managed.manager.next_event()) {
  }
}
