#include "takt/app/replay.hpp"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <chrono>
#include <functional>
#include <thread>
#include <utility>

#include "app/tape_reader.hpp"
#include "takt/app/error.hpp"
#include "takt/drives/registry.hpp"
#include "takt/motion/request_message.hpp"
#include "takt/robot/description_json.hpp"

namespace takt::app {
namespace {

/// The recorded clock: a cycle wakes and ends when it did.
class TapeClock final : public RunClock {
 public:
  explicit TapeClock(TapeReader& tape) : tape_(&tape) {
    if (const auto first = tape.first_cycle()) cycle_ = {first->due, first->due, first->due};
  }

  [[nodiscard]] Time now() noexcept override {
    return std::exchange(is_awake_, true) ? cycle_.done : cycle_.woke;
  }
  void sleep_until(Time time) noexcept override {
    const auto next = tape_->cycle();
    is_off_ = is_off_ || (next && next->due != time);
    // After the end of the tape, on time.
    cycle_ = next.value_or(TapedCycle{time, time, time});
    is_awake_ = false;
  }
  /// Whether a cycle was due at another time than the recorded one.
  [[nodiscard]] bool is_off() const noexcept { return is_off_; }

 private:
  TapeReader* tape_;
  TapedCycle cycle_;
  bool is_awake_ = true;
  bool is_off_ = false;
};

/// Devices that give what was read, and compare what is written.
class TapeDevices final : public robot::Hardware {
 public:
  TapeDevices(TapeReader& tape, const robot::RobotDescription& robot, ReplayResult& result)
      : tape_(&tape), robot_(&robot), result_(&result) {}

  void read(Time now, std::span<robot::JointFeedback> feedback) noexcept override {
    now_ = now;
    const auto recorded = tape_->read();
    has_ended_ = !recorded;
    for (std::size_t i = 0; i < feedback.size(); ++i) {
      if (recorded)
        feedback[i] = static_cast<robot::JointFeedback>((*recorded)[i]);
      else
        feedback[i].drive = DriveState::off;  // so that the robot is down soon
    }
  }
  void write(Time, std::span<const JointCommand> commands) noexcept override {
    const auto recorded = has_ended_ ? std::nullopt : tape_->write();
    if (!recorded) return;
    bool differs = false;
    for (std::size_t i = 0; i < commands.size(); ++i)
      differs = compare(i, taped(commands[i]), (*recorded)[i]) || differs;
    result_->differing += differs ? 1 : 0;
    ++result_->cycles;
  }
  [[nodiscard]] robot::HardwareCounters counters() const noexcept override { return {}; }

 private:
  /// Notes the first difference. Returns whether there is one.
  bool compare(std::size_t joint, const TapedCommand& value, const TapedCommand& expected) {
    std::array<std::pair<std::string_view, double>, field_count<TapedCommand>> numbers;
    std::size_t count = 0;
    for_each_field(expected, [&](std::string_view name, const auto& field) {
      numbers[count++] = {name, static_cast<double>(field)};
    });
    bool differs = false;
    count = 0;
    for_each_field(value, [&](std::string_view name, const auto& field) {
      const auto number = static_cast<double>(field);
      const double other = numbers[count++].second;
      if (std::bit_cast<std::uint64_t>(number) == std::bit_cast<std::uint64_t>(other)) return;
      differs = true;
      if (result_->difference) return;
      result_->difference = ReplayDifference{result_->cycles,   now_,   robot_->joints[joint].name,
                                             std::string(name), number, other};
    });
    return differs;
  }

  TapeReader* tape_;
  const robot::RobotDescription* robot_;
  ReplayResult* result_;
  Time now_{};
  bool has_ended_ = false;
};

/// Hands over in each cycle what came from outside in the recorded one.
class TapeInputs final : public motion::LoopObserver {
 public:
  TapeInputs(TapeReader& tape, Robot& robot, double speed)
      : tape_(&tape),
        robot_(&robot),
        requests_(robot.description()),
        record_(robot.recording_options().on_hand_over),
        speed_(speed) {}

  void before_cycle(Time now) noexcept override {
    if (speed_ > 0) wait_for(now);
    motion::Event event;
    while (robot_->channels().events.try_pop(event)) {
      if (event.retired != nullptr)
        std::erase_if(given_, [&](const auto& each) { return each.get() == event.retired; });
    }
    const auto inputs = tape_->inputs();
    if (!inputs || has_gap_ || inputs->cycle != cycle_) {
      if (inputs && !has_gap_) after_gap_ = inputs->cycle;
      has_gap_ = has_gap_ || inputs.has_value();
      robot_->shut_down();
      return;
    }
    ++cycle_;
    if (inputs->shut_down != 0) robot_->shut_down();
    if (inputs->reset != 0) robot_->reset();
    for (std::uint32_t i = 0; i < inputs->requests; ++i) give_request(now);
  }
  void after_cycle(const motion::Snapshot& snapshot) noexcept override { requests_.see(snapshot); }
  void on_event(const motion::Event&) noexcept override {}

  /// Whether the recording lacks cycle(), and goes on with after_gap().
  [[nodiscard]] bool has_gap() const noexcept { return has_gap_; }
  [[nodiscard]] std::uint64_t cycle() const noexcept { return cycle_; }
  [[nodiscard]] std::uint64_t after_gap() const noexcept { return after_gap_; }

 private:
  /// One whole request, of one record or more. One that this robot's limits forbid is left out, as its server
  /// would do.
  void give_request(Time now) {
    while (const auto record = tape_->request()) {
      auto taken = requests_.take(*record);
      if (!taken || taken->refusal) return;
      if (!taken->request) continue;
      if (record_) record_(now, *taken->request);
      given_.push_back(std::move(taken->request));
      static_cast<void>(robot_->channels().requests.try_push(given_.back().get()));
      return;
    }
  }
  void wait_for(Time now) {
    if (!began_) began_ = {now, std::chrono::steady_clock::now()};
    const std::chrono::duration<double> due(to_seconds(now - began_->first) / speed_);
    std::this_thread::sleep_until(began_->second + std::chrono::duration_cast<std::chrono::nanoseconds>(due));
  }

  TapeReader* tape_;
  Robot* robot_;
  motion::RequestReader requests_;
  std::function<void(Time, const motion::Request&)> record_;  ///< in the replay's own recording
  double speed_;
  std::vector<std::unique_ptr<motion::Request>> given_;
  std::uint64_t cycle_ = 0;
  bool has_gap_ = false;
  std::uint64_t after_gap_ = 0;
  std::optional<std::pair<Time, std::chrono::steady_clock::time_point>> began_;
};

SetupResult<robot::RobotDescription> recorded_robot(const record::Metadata& metadata) {
  if (metadata.description.empty())
    return fail(Errc::not_replayable, "the recording has no description of its robot: give one");
  auto parsed = drives::load_robot(metadata.description);
  if (parsed) return std::move(*parsed);
  return fail(Errc::not_replayable,
              "the recorded description has mistakes: " + robot::to_string(parsed.error().front()));
}

SetupResult<void> check_same_robot(const record::Metadata& metadata, const robot::RobotDescription& robot) {
  const auto refuse = [&](const std::string& why) {
    return fail(Errc::not_replayable,
                fmt::format("the recording is of robot {}, not of {}: {}", metadata.robot, robot.name, why));
  };
  if (robot.joints.size() != metadata.joints.size())
    return refuse(fmt::format("it has {} joints instead of {}", metadata.joints.size(), robot.joints.size()));
  for (std::size_t i = 0; i < robot.joints.size(); ++i) {
    if (robot.joints[i].name != metadata.joints[i])
      return refuse(fmt::format("its joint {} is {}, not {}", i, metadata.joints[i], robot.joints[i].name));
  }
  if (robot.period != metadata.period)
    return refuse(
        fmt::format("its period is {} ns, not {} ns", metadata.period.count(), robot.period.count()));
  return {};
}

}  // namespace

std::string ReplayDifference::text() const {
  return fmt::format("cycle {} at {:.6f} s, joint {}: {} {}, recorded {}", cycle, to_seconds(time - Time{}),
                     joint, field, value, expected);
}

SetupResult<ReplayResult> replay(record::Reader& recording, ReplayOptions options) {
  if (!recording.is_own()) return fail(Errc::not_replayable, "another program made the recording");
  if (!options.robot) {
    auto recorded = recorded_robot(recording.metadata());
    if (!recorded) return tl::unexpected<SetupError>(std::move(recorded.error()));
    options.robot = std::move(*recorded);
  }
  if (auto same = check_same_robot(recording.metadata(), *options.robot); !same)
    return tl::unexpected<SetupError>(std::move(same.error()));

  TapeReader tape(recording, options.robot->joints.size());
  TapeClock clock(tape);
  ReplayResult result;
  const robot::RobotDescription description = *options.robot;
  TapeDevices devices(tape, description, result);
  options.options.clock = &clock;
  options.options.hardware = &devices;
  options.options.drain_in_cycle = true;
  options.options.port.reset();
  options.options.serve_at.clear();
  auto robot = Robot::create(std::move(*options.robot), std::move(options.options));
  if (!robot) return tl::unexpected<SetupError>(std::move(robot.error()));
  TapeInputs inputs(tape, **robot, options.speed);
  (*robot)->add_observer(inputs);
  if (auto ran = (*robot)->run(); !ran) return tl::unexpected<SetupError>(std::move(ran.error()));
  auto totals = (*robot)->finish();
  if (!totals) return tl::unexpected<SetupError>(std::move(totals.error()));
  result.recorded = totals->recorded;

  if (tape.failure()) return tl::unexpected<SetupError>(*tape.failure());
  if (inputs.has_gap()) {
    return fail(Errc::not_replayable, fmt::format("the recording lacks cycle {}, and goes on with cycle {}",
                                                  inputs.cycle(), inputs.after_gap()));
  }
  if (result.cycles == 0) return fail(Errc::not_replayable, "the recording has no cycles of devices");
  if (clock.is_off() && !result.difference)
    return fail(Errc::not_replayable, "its cycles are due at other times than the recorded ones");
  return result;
}

}  // namespace takt::app
