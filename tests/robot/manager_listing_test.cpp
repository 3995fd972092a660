// Lists the interfaces of a large robot, while the cycle runs.
#include <doctest/doctest.h>

#include <atomic>
#include <cstddef>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "robot/managed.hpp"

using namespace takt;
using namespace takt::robot;
using test::Managed;
using test::Probe;

TEST_CASE("a listing copies a bounded number of interfaces in one cycle, with their owners") {
  constexpr std::size_t count = 2000;
  Managed managed;
  std::vector<double> outputs(count);
  auto many = std::make_shared<Probe>("many", [&](Probe&, Resources& resources) -> SetupResult<void> {
    for (std::size_t i = 0; i < count; ++i) {
      if (auto made = resources.output("out" + std::to_string(i), "1", outputs[i]); !made) return made;
      if (auto made = resources.input("in" + std::to_string(i), "1", double(i)); !made)
        return tl::unexpected<SetupError>(made.error());
    }
    return {};
  });
  many->act = [&](Probe& self) { std::ranges::fill(outputs, self.executions); };
  auto boss = std::make_shared<Probe>("boss", [](Probe& self, Resources& resources) -> SetupResult<void> {
    auto claimed = resources.claim("many/in1234");
    if (!claimed) return tl::unexpected<SetupError>(claimed.error());
    self.command = *claimed;
    return {};
  });
  boss->act = [](Probe& self) { self.command.set(-1); };
  REQUIRE(managed.manager.load(many).has_value());
  REQUIRE(managed.manager.load(boss).has_value());
  REQUIRE(managed.manager.switch_controllers({.start = {"boss", "many"}}).has_value());
  managed.make_ready();
  std::vector<InterfaceInfo> list;
  std::atomic<bool> over{false};
  std::thread caller([&] {
    list = managed.manager.interfaces();
    over = true;
  });
  while (!over) {
    managed.cycle();
    std::this_thread::yield();
  }
  caller.join();
  std::map<double, std::size_t> per_cycle;
  std::size_t commands = 0;
  for (const InterfaceInfo& info : list) {
    if (info.owner != "many") continue;
    if (!info.is_command) {
      ++per_cycle[info.value];
      continue;
    }
    CHECK(info.claimed_by == (info.name == "many/in1234" ? "boss" : ""));
    CHECK(info.value == (info.name == "many/in1234" ? -1 : double(commands)));
    ++commands;
  }
  CHECK(commands == count);
  std::size_t outputs_seen = 0;
  for (const auto& [cycle, values] : per_cycle) {
    CHECK(values <= Manager::interfaces_per_cycle);
    outputs_seen += values;
  }
  CHECK(outputs_seen == count);
}
