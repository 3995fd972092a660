// Tests the log of a robot: states, goals, failures of controllers and their own entries, in a file and in
// the recording.
#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <variant>
#include <vector>

#include "app/joint_mover.hpp"
#include "app/robot_client.hpp"
#include "record/cdr.hpp"
#include "takt/record/reader.hpp"
#include "takt/robot/device.hpp"

using namespace takt;
using namespace takt::app;
using namespace takt::test::robot_client;

namespace {

/// Fails in its tenth cycle, and says so before.
class Weak final : public test::JointMover {
 public:
  static constexpr component::ComponentMetadata about = test::mover("Weak");
  explicit Weak(std::string name) : JointMover(about, std::move(name)) {}
  Status on_execute(const component::CycleTime&) noexcept override {
    joint_->follow({at_, 0, 0});
    if (++cycles_ < 10) return {};
    log(tired_, cycles_, at_);
    return fail(component::Errc::bad_value);
  }

 private:
  rt::LogStatement<int, double> tired_{rt::LogLevel::warning, "tired after {} cycles at {} rad"};
  int cycles_ = 0;
};

/// A sensor that is lost in its thousandth cycle.
class Brittle final : public robot::Device {
 public:
  static constexpr component::ComponentMetadata about{.type = "Brittle",
                                                      .version = "1.0.0",
                                                      .vendor = "test",
                                                      .category = "device",
                                                      .description = "Breaks."};
  explicit Brittle(std::string name) : Device(about, std::move(name)) {}
  SetupResult<void> on_declare(robot::Declarations& declarations) override {
    return declarations.state(name() + "/depth", "m", depth_);
  }
  Status on_execute(const component::CycleTime&) noexcept override {
    if (++cycles_ == 1000) return fail(component::Errc::bad_value);
    return {};
  }

 private:
  double depth_ = 0;
  int cycles_ = 0;
};

std::vector<std::string> log_in(const std::string& path) {
  auto reader = record::Reader::open(path);
  REQUIRE(reader.has_value());
  std::vector<std::string> lines;
  while (const record::Record* record = reader->next().value()) {
    const auto* sample = std::get_if<record::SampleRecord>(record);
    if (sample == nullptr || sample->topic != "/log") continue;
    record::CdrReader cdr(sample->message);
    static_cast<void>(cdr.number<std::uint64_t>());
    static_cast<void>(cdr.number<std::uint8_t>());
    const std::string text(cdr.text());
    lines.push_back(std::string(cdr.text()) + ": " + text);
    CHECK(cdr.ok());
  }
  return lines;
}

bool has(const std::vector<std::string>& lines, const std::string& line) {
  return std::ranges::find(lines, line) != lines.end();
}

}  // namespace

TEST_CASE("a run is logged from its beginning to its end, the same in each virtual run") {
  const ScratchFolder folder;
  std::string first;
  for (const char* name : {"one", "two"}) {
    Brittle sonar("sonar");
    VirtualClock clock;
    RobotOptions options;
    options.further_devices = {&sonar};
    options.clock = &clock;
    options.recording = folder.file("run.mcap");
    options.overwrite = true;
    options.log = {folder.file(name)};
    options.drain_in_cycle = true;
    options.types = {component::component_type<Weak>()};
    robot::RobotDescription description = two_joints();
    description.controllers.push_back({.name = "weak", .type = "Weak"});
    const auto robot = made(description, options);
    Client client(*robot, [&](Client& it, const motion::Snapshot& state) {
      if (state.loop.cycles == 500) it.move({"left_joint"}, {0.1}, state);
      if (state.loop.cycles == 1500) robot->log()->write(state.time, rt::LogLevel::info, "test", "half time");
      if (state.loop.cycles == 2000) it.end();
    });
    REQUIRE(robot->run().has_value());
    const auto totals = robot->finish();
    REQUIRE(totals.has_value());
    REQUIRE(totals->logged.has_value());
    CHECK(totals->logged->dropped == 0);

    const auto lines = log_in(options.recording);
    for (const char* line : {"robot pair: robot pair begins", "robot pair: robot starting",
                             "robot pair: robot ready", "weak: tired after 10 cycles at 0 rad",
                             "robot pair: goal 1 succeeded", "test: half time", "robot pair: robot down"}) {
      CAPTURE(line);
      CHECK(has(lines, line));
    }
    CHECK(has(lines, "weak: controller_failed: " + std::string(describe(component::Errc::bad_value))));
    CHECK(lines.back().starts_with("robot pair: robot pair ends: "));
    const std::string file = bytes_of(folder.file(name));
    CAPTURE(file);
    CHECK(file.find(" warning weak: tired after 10 cycles at 0 rad\n") != std::string::npos);
    CHECK(file.find("\n0.999000 error sonar: device_lost: ") != std::string::npos);  // in its own cycle
    CHECK(file.ends_with(", 0 dropped\n"));
    if (first.empty()) first = file;
    CHECK(file == first);
  }
}
