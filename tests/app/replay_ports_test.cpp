// Tests that a recording has what controllers read from their in-ports, and that a replay answers each read
// alike. A lost sample is named.
#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/joint_mover.hpp"
#include "app/robot_client.hpp"
#include "app/run_editor.hpp"
#include "support/random.hpp"
#include "takt/app/error.hpp"
#include "takt/app/replay.hpp"
#include "takt/component/connection.hpp"
#include "takt/component/opaque_port.hpp"
#include "takt/component/port.hpp"

using namespace takt;
using namespace takt::app;
using namespace takt::test::robot_client;
using component::Buffering;
using takt::test::RunEdit;

namespace {

struct Push {
  double speed = 0;  ///< rad/s
  std::uint32_t number = 0;

  TAKT_FIELDS(Push, speed, number)
};

/// Its names are so long that a recording has its reads as bytes.
struct Wide {
  double number_of_a_large_type_a = 0;
  double number_of_a_large_type_b = 0;
  double number_of_a_large_type_c = 0;
  double number_of_a_large_type_d = 0;
  double number_of_a_large_type_e = 0;
  double number_of_a_large_type_f = 0;
  double number_of_a_large_type_g = 0;
  double number_of_a_large_type_h = 0;
  double number_of_a_large_type_i = 0;
  double speed = 0;

  TAKT_FIELDS(Wide, number_of_a_large_type_a, number_of_a_large_type_b, number_of_a_large_type_c,
              number_of_a_large_type_d, number_of_a_large_type_e, number_of_a_large_type_f,
              number_of_a_large_type_g, number_of_a_large_type_h, number_of_a_large_type_i, speed)
};

/// Moves a joint by all that its ports tell: values, stamps, losses. It reads at odd times, and discards what
/// came before it started.
class Pushed final : public test::JointMover {
 public:
  static constexpr component::ComponentMetadata about = test::mover("Pushed");
  explicit Pushed(std::string name) : JointMover(about, std::move(name)) {}
  Status on_activate(const component::CycleTime& cycle) noexcept override {
    while (pushes.read() == shm::Freshness::new_data) {
    }
    return JointMover::on_activate(cycle);
  }
  Status on_execute(const component::CycleTime& cycle) noexcept override {
    if (++cycles_ % 3 != 0) {
      while (pushes.read() == shm::Freshness::new_data)
        push(pushes.value().speed * (1 + to_seconds(cycle.time - pushes.stamp())));
    }
    if (opaque->read() == shm::Freshness::new_data) {
      double speed = 0;
      std::memcpy(&speed, opaque->value(), sizeof speed);
      push(speed);
    }
    if (wide.read() == shm::Freshness::new_data) push(wide.value().speed);
    push(1e-3 * static_cast<double>(pushes.missed() % 7));
    joint_->follow({at_, 0, 0});
    return {};
  }
  [[nodiscard]] bool keeps_limits() const noexcept override { return true; }

  component::InPort<Push> pushes{*this, "pushes"};
  component::InPort<Wide> wide{*this, "wide"};
  std::unique_ptr<component::OpaqueInPort> opaque =
      std::move(*component::OpaqueInPort::create(*this, "opaque", shm::schema_text<Push>()));

 private:
  void push(double speed) { at_ += 1e-5 * speed; }

  std::uint64_t cycles_ = 0;
};

/// Another version of it, which reads in each cycle, as often as there is something.
class OtherPushed final : public test::JointMover {
 public:
  static constexpr component::ComponentMetadata about = test::mover("Pushed");
  explicit OtherPushed(std::string name) : JointMover(about, std::move(name)) {}
  Status on_execute(const component::CycleTime& cycle) noexcept override {
    while (pushes.read() == shm::Freshness::new_data) {
      ++read;
      // A component writes after a cycle, so the next one is the first that can read.
      if (cycle.time <= written_at[pushes.value().number]) ++read_too_early;
    }
    return {};
  }

  component::InPort<Push> pushes{*this, "pushes"};
  static inline std::vector<Time> written_at;  ///< time of the cycle before, by number
  static inline std::uint64_t read = 0;
  static inline std::uint64_t read_too_early = 0;
};

/// Components of another context.
struct Pusher final : component::Component {
  static constexpr component::ComponentMetadata about = test::mover("Pusher");
  explicit Pusher(std::string name) : Component(about, std::move(name)) {}
  component::OutPort<Push> out{*this, "out"};
  component::OutPort<Wide> wide{*this, "wide"};
};

/// A recorded run, in which two components push a joint at random times.
class PushedRun {
 public:
  explicit PushedRun(component::ConnectionOptions how) {
    VirtualClock clock;
    RobotOptions options = with_type();
    options.clock = &clock;
    options.recording = path;
    options.drain_in_cycle = true;
    const auto robot = made(two_joints(), options);
    const auto port = [&](const char* name) -> component::InPortBase& {
      return dynamic_cast<component::InPortBase&>(*robot->manager().find("tip")->find_port(name));
    };
    std::vector<component::Connection> connections;
    const auto connect = [&](Pusher& from, const char* to) {
      auto made = component::connect(from.out, port(to), how);
      if (!made) FAIL(made.error().message);
      connections.push_back(std::move(*made));
    };
    connect(first_, "pushes");
    connect(second_, "pushes");
    connect(second_, "opaque");
    auto wide = component::connect(second_.wide, port("wide"), how);
    REQUIRE(wide.has_value());
    std::mt19937_64 random = test::generator(1);
    std::uint64_t ready = 0;
    Client client(*robot, [&](Client& it, const motion::Snapshot& state) {
      for (Pusher* pusher : {&first_, &second_}) {
        for (std::int64_t i = test::uniform_int(random, -2, 3); i > 0; --i)
          write(*pusher, test::uniform(random, -1, 1), Duration(test::uniform_int(random, 0, 1'000'000)),
                state.time);
      }
      Wide pushed;
      pushed.speed = test::uniform(random, -1, 1);
      second_.wide.write(pushed, state.time);
      if (state.state != motion::RobotState::ready) return;
      const auto obeyed = [&](const char* json) { return robot->controllers().request(json).has_value(); };
      ++ready;
      if (ready == 100) CHECK(obeyed(R"({"start":{"name":"tip"}})"));
      if (ready == 300) CHECK(obeyed(R"({"stop":{"name":"tip"}})"));
      if (ready == 350) connections.erase(connections.begin());
      if (ready == 360) connect(first_, "pushes");
      if (ready == 400) CHECK(obeyed(R"({"start":{"name":"tip"}})"));
      if (ready == 600) it.end();
    });
    REQUIRE(robot->run().has_value());
    REQUIRE(robot->finish().has_value());
    cycles = robot->statistics().cycles;
  }

  /// Replays a copy with these changes; `record`: into this file.
  [[nodiscard]] SetupResult<ReplayResult> replay_with(RunEdit edit, std::string record = {},
                                                      RobotOptions options = with_type()) const {
    ReplayOptions how;
    how.options = std::move(options);
    how.options.recording = std::move(record);
    return test::replay_copy(path, folder.file("copy.mcap"), std::move(edit), std::move(how));
  }

  [[nodiscard]] static RobotOptions with_type() {
    RobotOptions options;
    options.types = {component::component_type<Pushed>()};
    robot::ControllerDescription& tip = options.controllers.emplace_back();
    tip.type = "Pushed";
    tip.name = "tip";
    tip.start = false;
    return options;
  }

 private:
  void write(Pusher& pusher, double speed, Duration age, Time now) {
    pusher.out.write({speed, static_cast<std::uint32_t>(written_at.size())}, now - age);
    written_at.push_back(now);
  }

  Pusher first_{"first"};
  Pusher second_{"second"};

 public:
  ScratchFolder folder;
  std::string path = folder.file("run.mcap");
  std::uint64_t cycles = 0;
  std::vector<Time> written_at;  ///< by the number of the push
};

constexpr std::string_view topic = "/reads/tip.pushes";
constexpr std::size_t speed_at = sizeof(RecordedRead) + offsetof(component::Sample<Push>, value);

/// Changes the read with this index.
RunEdit at_read(std::uint64_t index, std::function<bool(std::vector<std::uint8_t>&)> change) {
  return {.further = [=, seen = std::uint64_t{0}](std::string_view of, Time,
                                                  std::vector<std::uint8_t>& value) mutable {
    return of != topic || seen++ != index || change(value);
  }};
}

void push_hard(std::vector<std::uint8_t>& read) {
  const double speed = 1000;
  std::memcpy(read.data() + speed_at, &speed, sizeof speed);
}

}  // namespace

TEST_CASE("a replay answers each read of an in-port as the recorded run did") {
  for (const component::ConnectionOptions how : {component::ConnectionOptions{},
                                                 {.buffering = Buffering::circular, .capacity = 4},
                                                 {.buffering = Buffering::fifo, .capacity = 8}}) {
    CAPTURE(component::to_string(how.buffering));
    const PushedRun run(how);
    std::uint64_t reads = 0;
    const std::string again = run.folder.file("again.mcap");
    const auto same = run.replay_with({.further =
                                           [&](std::string_view of, Time, std::vector<std::uint8_t>&) {
                                             if (of == topic) ++reads;
                                             return true;
                                           }},
                                      again);
    REQUIRE_MESSAGE(same, same.error().message);
    if (same->difference) FAIL(same->difference->text());
    CHECK(same->cycles == run.cycles);
    CHECK(reads > run.written_at.size() / 8);

    // The recording of a replay can be replayed, too.
    ReplayOptions options;
    options.options = PushedRun::with_type();
    record::Reader reader = test::opened(again);
    const auto third = replay(reader, std::move(options));
    REQUIRE_MESSAGE(third, third.error().message);
    CHECK_FALSE(third->difference.has_value());
    CHECK(third->cycles == run.cycles);

    // The check bites: with other values of a few samples, the joint moves otherwise.
    const auto other =
        run.replay_with({.further = [seen = std::uint64_t{0}, reads](
                                        std::string_view of, Time, std::vector<std::uint8_t>& value) mutable {
          if (of == topic && ++seen > reads / 2) push_hard(value);
          return true;
        }});
    REQUIRE_MESSAGE(other, other.error().message);
    CHECK(other->difference.has_value());
  }
}

TEST_CASE("a controller that starts reads nothing in a replay that its run had not read") {
  const PushedRun run({.buffering = Buffering::fifo, .capacity = 8});
  // The first sample is one that the controller discards at its start.
  std::uint64_t first = 0;
  const auto same =
      run.replay_with({.further = [&](std::string_view of, Time, std::vector<std::uint8_t>& value) {
        if (of == topic && first++ == 0) push_hard(value);
        return true;
      }});
  REQUIRE_MESSAGE(same, same.error().message);
  if (same->difference) FAIL(same->difference->text());
}

TEST_CASE("a lost sample is named") {
  const PushedRun run({.buffering = Buffering::fifo, .capacity = 8});
  const auto lost = run.replay_with(at_read(20, [](std::vector<std::uint8_t>&) { return false; }));
  REQUIRE_FALSE(lost.has_value());
  CHECK(lost.error().error == Errc::not_replayable);
  CHECK(lost.error().message.find("lacks sample 21 of /reads/tip.pushes") != std::string::npos);
}

TEST_CASE("lost cycles are named as such, and all before them are replayed") {
  const PushedRun run({});
  constexpr std::uint64_t first = 200;
  constexpr std::uint64_t end = 300;
  const auto keeps = [](std::uint64_t index, auto&) { return index < first || index >= end; };
  const auto lost = run.replay_with({.read = keeps,
                                     .write = keeps,
                                     .inputs = keeps,
                                     .cycle = keeps,
                                     .further = [=](std::string_view, Time time, std::vector<std::uint8_t>&) {
                                       return time < Time{} + first * 1ms || time >= Time{} + end * 1ms;
                                     }});
  REQUIRE_FALSE(lost.has_value());
  CAPTURE(lost.error().message);
  CHECK(lost.error().message.find("lacks cycle 200, and goes on with cycle 300") != std::string::npos);
  CHECK(lost.error().message.find("cycles 0 to 199") != std::string::npos);
}

TEST_CASE("a controller that reads more often gets no sample before it was written") {
  const PushedRun run({.buffering = Buffering::fifo, .capacity = 8});
  RobotOptions options = PushedRun::with_type();
  options.types = {component::component_type<OtherPushed>()};
  OtherPushed::written_at = run.written_at;
  OtherPushed::read = OtherPushed::read_too_early = 0;
  const auto other = run.replay_with(
      {.further = [](std::string_view of, Time, std::vector<std::uint8_t>&) { return of == topic; }}, {},
      options);
  REQUIRE_MESSAGE(other, other.error().message);
  CHECK(OtherPushed::read > 100);
  CHECK(OtherPushed::read_too_early == 0);
}

TEST_CASE("a controller that was unloaded from a recorded robot reads on") {
  ScratchFolder folder;
  VirtualClock clock;
  RobotOptions options = PushedRun::with_type();
  options.clock = &clock;
  options.recording = folder.file("run.mcap");
  options.drain_in_cycle = true;
  auto robot = made(two_joints(), options);
  auto unloaded = robot->manager().unload("tip");
  REQUIRE(unloaded.has_value());
  robot.reset();
  auto& tip = dynamic_cast<Pushed&>(**unloaded);
  Pusher pusher("pusher");
  const auto connected = component::connect(pusher.out, tip.pushes);
  REQUIRE(connected.has_value());
  pusher.out.write({1, 1}, Time{});
  CHECK(tip.pushes.read() == shm::Freshness::new_data);
}

TEST_CASE("samples for a port that the robot lacks are named") {
  const PushedRun run({});
  const auto lacks = run.replay_with({}, {}, RobotOptions{});
  REQUIRE_FALSE(lacks.has_value());
  CHECK(lacks.error().message.find("samples for tip.") != std::string::npos);
}
