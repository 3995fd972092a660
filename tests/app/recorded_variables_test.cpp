// Tests that a recording has the interfaces and ports of controllers that its options name.
#include <doctest/doctest.h>

#include <array>
#include <bit>
#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "app/joint_mover.hpp"
#include "app/robot_client.hpp"
#include "record/cdr.hpp"
#include "takt/app/error.hpp"
#include "takt/component/port.hpp"
#include "takt/record/reader.hpp"
#include "takt/robot/error.hpp"

using namespace takt;
using namespace takt::app;
using namespace takt::test::robot_client;

namespace {

struct Thought {
  double aim = 0;
  std::uint64_t count = 0;

  TAKT_FIELDS(Thought, aim, count)
};

/// Counts its cycles, and publishes that as a number, as a struct, and in each second cycle by a port.
class Counter final : public test::JointMover {
 public:
  static constexpr component::ComponentMetadata about = test::mover("Counter");
  explicit Counter(std::string name) : JointMover(about, std::move(name)) {}
  SetupResult<void> on_configure(robot::Resources& resources) override {
    auto declared = resources.output("count", "", count_);
    if (declared) declared = resources.publish("thought", thought_);
    if (auto input = resources.input("offset", "rad", 0.25); !input) declared = tl::unexpected(input.error());
    return declared ? JointMover::on_configure(resources) : declared;
  }
  Status on_execute(const component::CycleTime& cycle) noexcept override {
    ++count_;
    thought_ = {2 * count_, thought_.count + 1};
    joint_->follow({at_, 0, 0});
    if (thought_.count % 2 == 0) even.write(thought_, cycle.time);
    return {};
  }
  component::OutPort<Thought> even{*this, "even"};

 private:
  double count_ = 0;
  Thought thought_;
};

RobotOptions recording_to(const std::string& path, VirtualClock& clock) {
  RobotOptions options;
  options.clock = &clock;
  options.recording = path;
  options.drain_in_cycle = true;
  options.types = {component::component_type<Counter>()};
  options.controllers = {{.name = "counter", .type = "Counter"}};
  return options;
}

struct Value {
  double number;
  std::uint64_t count;
  Time time;
};

/// The values of each topic "/variables/NAME", by NAME.
std::map<std::string, std::vector<Value>> values_in(const std::string& path) {
  std::map<std::string, std::vector<Value>> values;
  auto reader = record::Reader::open(path);
  REQUIRE(reader.has_value());
  while (const record::Record* record = reader->next().value()) {
    const auto* sample = std::get_if<record::SampleRecord>(record);
    if (sample == nullptr || !sample->topic.starts_with("/variables/")) continue;
    record::CdrReader cdr(sample->message);
    const double number = std::bit_cast<double>(cdr.number<std::uint64_t>());
    const bool is_struct = sample->topic.find('.') != std::string_view::npos;
    values[std::string(sample->topic.substr(11))].push_back(
        {number, is_struct ? cdr.number<std::uint64_t>() : 0, sample->time});
    CHECK(cdr.ok());
  }
  return values;
}

}  // namespace

TEST_CASE("numbers, structs, inputs and ports of controllers are recorded by their names") {
  const ScratchFolder folder;
  VirtualClock clock;
  RobotOptions options = recording_to(folder.file("run.mcap"), clock);
  options.recorded_variables = {"counter/count", "counter.thought", "counter/offset", "counter.even",
                                "left_joint/position"};
  const auto robot = made(two_joints(), options);
  bool is_unloaded = false;
  Client client(*robot, [&](Client& it, const motion::Snapshot& state) {
    if (state.loop.cycles == 500) {
      // The recorder reads it, until it is unloaded itself.
      ControllerCommands& commands = robot->controllers();
      CHECK(commands.request(R"({"stop":{"name":"counter"}})").has_value());
      const auto refused = commands.request(R"({"unload":{"name":"counter"}})");
      REQUIRE_FALSE(refused.has_value());
      CHECK(refused.error().message.find("is used by another controller") != std::string::npos);
      CHECK(commands.request(R"({"unload":{"name":"recorder"}})").has_value());
      CHECK(commands.request(R"({"unload":{"name":"counter"}})").has_value());
      is_unloaded = true;
    }
    if (state.loop.cycles == 1000) it.end();
  });
  REQUIRE(robot->run().has_value());
  REQUIRE(robot->finish().has_value());
  CHECK(is_unloaded);

  const auto values = values_in(options.recording);
  REQUIRE(values.size() == 5);
  for (const char* name : {"counter/count", "counter.thought", "counter/offset", "left_joint/position"}) {
    CAPTURE(name);
    CHECK(values.at(name).size() == 500);
  }
  CHECK(values.at("counter/offset").back().number == 0.25);
  const auto& thoughts = values.at("counter.thought");
  const auto& counts = values.at("counter/count");
  CHECK(counts.back().number > 300);
  for (std::size_t i = 0; i < thoughts.size(); ++i) {
    CHECK(thoughts[i].number == 2 * counts[i].number);
    CHECK(static_cast<double>(thoughts[i].count) == counts[i].number);
  }
  const auto& even = values.at("counter.even");
  CHECK(even.size() == thoughts.back().count / 2);
  for (std::size_t i = 0; i < even.size(); ++i) CHECK(even[i].count == 2 * (i + 1));
}

TEST_CASE("an unknown variable is refused with the similar names, and leaves no file") {
  const ScratchFolder folder;
  VirtualClock clock;
  RobotOptions options = recording_to(folder.file("run.mcap"), clock);
  options.recorded_variables = {"counter/cuont"};
  const SetupError error = refusal(two_joints(), options);
  CHECK(error.error == robot::Errc::no_such_interface);
  CHECK(error.message.find("counter/cuont") != std::string::npos);
  CHECK(error.message.find("counter/count") != std::string::npos);
  CHECK(bytes_of(options.recording).empty());
}
