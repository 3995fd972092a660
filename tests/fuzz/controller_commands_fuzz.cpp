// Fuzzes the commands to controllers, one a line, in words and in JSON. Each answer is JSON, and each error
// has a message. A refused command changes nothing.
#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "support/require.hpp"
#include "takt/app/controller_commands.hpp"
#include "takt/controllers/registry.hpp"
#include "takt/drives/registry.hpp"
#include "takt/robot/manager.hpp"

using namespace takt;
using takt::test::require;

namespace {

robot::RobotDescription two_joints() {
  robot::RobotDescription robot;
  robot.name = "pair";
  robot.period = std::chrono::milliseconds(1);
  robot.buses = {{.name = "bus", .protocol = drives::find("servo")}};
  for (const char* name : {"left", "right"}) {
    robot::JointDescription& joint = robot.joints.emplace_back();
    joint.name = name;
    joint.board = static_cast<std::uint8_t>(robot.joints.size());
    joint.counts_per_radian = 100'000;
    joint.limits = {-3, 3, 2, 8, 100};
  }
  return robot;
}

/// A robot that does not run, so that no command waits for a cycle.
struct Bench {
  Bench() {
    for (const component::ComponentType& type : controllers::types()) require(library.add(type).has_value());
  }
  [[nodiscard]] std::string list() { return commands.request(R"({"list":{}})").value_or(std::string()); }

  robot::RobotDescription robot = two_joints();
  robot::Manager manager{robot};
  app::ComponentLibrary library;
  app::ControllerCommands commands{manager, library};
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view lines(reinterpret_cast<const char*>(data), size);
  Bench bench;
  for (int i = 0; i < 20 && !lines.empty(); ++i) {
    const std::string_view line = lines.substr(0, lines.find('\n'));
    lines.remove_prefix(std::min(lines.size(), line.size() + 1));
    if (line.find("library") != std::string_view::npos) continue;  // it opens files
    const std::string before = bench.list();
    require(nlohmann::json::accept(before));
    const auto answer = line.starts_with('{') ? bench.commands.request(line) : bench.commands.command(line);
    if (answer) {
      require(nlohmann::json::accept(*answer));
    } else {
      require(!answer.error().message.empty());
      require(bench.list() == before);
    }
  }
  return 0;
}
