#include "takt/app/replay.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstring>
#include <functional>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "app/recorded_ports.hpp"
#include "app/run_reader.hpp"
#include "takt/app/error.hpp"
#include "takt/component/error.hpp"
#include "takt/drives/registry.hpp"
#include "takt/motion/request_message.hpp"
#include "takt/platform/worker.hpp"
#include "takt/robot/description_json.hpp"
#include "takt/robot/joint.hpp"

namespace takt::app {
namespace {

/// The recorded clock: a cycle wakes and ends when it did.
class ReplayClock final : public RunClock {
 public:
  /// The recording has a first cycle, at whose beginning the clock stands.
  explicit ReplayClock(RunReader& run) : run_(&run), woke_(run.present()->due), done_(run.present()->due) {}

  [[nodiscard]] Time now() noexcept override { return std::exchange(is_awake_, true) ? done_ : woke_; }
  void sleep_until(Time time) noexcept override {
    const RecordedCycle* cycle = std::exchange(began_, true) ? run_->next() : run_->present();
    if (cycle != nullptr && cycle->due != time) {
      run_->refuse(fmt::format("cycle {} is due at another time than the recorded one", cycle->inputs.cycle));
      cycle = nullptr;
    }
    // After the end of the recording, on time.
    woke_ = cycle != nullptr ? cycle->woke : time;
    done_ = cycle != nullptr ? cycle->done : time;
    is_awake_ = false;
  }

 private:
  RunReader* run_;
  Time woke_;
  Time done_;
  bool began_ = false;
  bool is_awake_ = true;
};

/// Devices that give what was read, and compare what is written.
class ReplayedDrives final : public robot::Hardware {
 public:
  ReplayedDrives(RunReader& run, const robot::RobotDescription& robot, std::span<RecordedDevice> further,
                 ReplayResult& result)
      : run_(&run), robot_(&robot), result_(&result) {
    for (RecordedDevice& device : further)
      further_.push_back(std::make_unique<ReplayedDevice>(std::move(device)));
  }
  /// Sensors and other devices besides the drives.
  [[nodiscard]] std::vector<robot::Device*> further() const {
    std::vector<robot::Device*> list;
    for (const auto& device : further_) list.push_back(device.get());
    return list;
  }

  /// Cycles that have read so far.
  [[nodiscard]] const std::uint64_t& reads() const noexcept { return reads_; }

  void read(Time, std::span<robot::JointFeedback> feedback) noexcept override {
    ++reads_;
    if (const RecordedCycle* cycle = run_->present()) {
      std::ranges::copy(cycle->readings, feedback.begin());
      give_further(*cycle);
      return;
    }
    // So that the robot is down soon.
    for (robot::JointFeedback& joint : feedback) joint.drive = DriveState::off;
  }
  void write(Time, std::span<const JointCommand> commands) noexcept override {
    const RecordedCycle* cycle = run_->present();
    if (cycle == nullptr) return;
    bool differs = false;
    for (std::size_t i = 0; i < commands.size(); ++i)
      differs = compare(*cycle, i, recorded(commands[i]), cycle->commands[i]) || differs;
    differs = compare_outputs(*cycle) || differs;
    result_->differing += differs ? 1 : 0;
    ++result_->cycles;
  }
  [[nodiscard]] robot::HardwareCounters counters() const noexcept override { return {}; }

 private:
  /// Notes the first difference, if possible of the field that the drive follows. Returns whether there is
  /// one.
  bool compare(const RecordedCycle& cycle, std::size_t joint, const RecordedCommand& value,
               const RecordedCommand& expected) {
    std::array<std::pair<std::string_view, double>, field_count<RecordedCommand>> numbers;
    std::size_t count = 0;
    for_each_field(expected, [&](std::string_view name, const auto& field) {
      numbers[count++] = {name, static_cast<double>(field)};
    });
    const std::string_view followed = robot::to_string(cycle.readings[joint].mode);
    std::optional<ReplayDifference> found;
    count = 0;
    for_each_field(value, [&](std::string_view name, const auto& field) {
      const auto number = static_cast<double>(field);
      const double other = numbers[count++].second;
      if (std::bit_cast<std::uint64_t>(number) == std::bit_cast<std::uint64_t>(other)) return;
      if (!found || name == followed)
        found = {cycle.inputs.cycle, cycle.due, robot_->joints[joint].name, std::string(name), number, other};
    });
    if (!result_->difference) result_->difference = found;
    return found.has_value();
  }
  /// The drives are the first device that is read. So the others get their readings in time.
  void give_further(const RecordedCycle& cycle) {
    std::span rest(cycle.sensors);
    for (std::size_t i = 0; i < further_.size(); ++i) {
      const std::size_t count = further_[i]->recorded().readings.size();
      further_[i]->give((cycle.inputs.devices >> i & 1) != 0, rest.first(count));
      rest = rest.subspan(count);
    }
  }
  bool compare_outputs(const RecordedCycle& cycle) {
    bool differs = false;
    auto expected = cycle.outputs.begin();
    for (const auto& device : further_) {
      for (std::size_t i = 0; i < device->recorded().outputs.size(); ++i, ++expected) {
        const double value = device->output(i);
        if (std::bit_cast<std::uint64_t>(value) == std::bit_cast<std::uint64_t>(*expected)) continue;
        differs = true;
        if (result_->difference) continue;
        const std::string& name = device->recorded().outputs[i].name;
        result_->difference = {cycle.inputs.cycle, cycle.due, {}, name, value, *expected};
      }
    }
    return differs;
  }

  RunReader* run_;
  const robot::RobotDescription* robot_;
  std::vector<std::unique_ptr<ReplayedDevice>> further_;
  std::uint64_t reads_ = 0;
  ReplayResult* result_;
};

/// Answers the reads of an in-port as the recorded ones were.
class ReplayedPort final : public component::PortTap {
 public:
  /// `cycle`: as in RecordedRead, the present one.
  ReplayedPort(RunReader& run, std::size_t port, const std::uint64_t& cycle)
      : run_(&run), port_(port), cycle_(&cycle) {}

  [[nodiscard]] bool read(component::InPortBase& port) noexcept override {
    const RecordedSample* const next = run_->sample(port_);
    // A controller that reads at other times gets no sample before its cycle, and none later than it can.
    const bool is_due = next != nullptr && (next->read.cycle == *cycle_ ? empty_ >= next->read.empty
                                                                        : next->read.cycle < *cycle_);
    if (!is_due) {
      ++empty_;
      return false;
    }
    std::memcpy(port.last_sample().data(), next->bytes.data(), next->bytes.size());
    port.count_given(next->read.missed);
    run_->pop_sample(port_);
    empty_ = 0;
    return true;
  }

 private:
  RunReader* run_;
  std::size_t port_;
  const std::uint64_t* cycle_;
  std::uint64_t empty_ = 0;  ///< reads since the last sample
};

/// Puts them between the ports of the robot's controllers and their sources.
void replay_ports(RunReader& run, Robot& robot, std::span<const RecordedPort> ports,
                  const std::uint64_t& cycle, std::vector<std::unique_ptr<ReplayedPort>>& taps) {
  for (std::size_t i = 0; i < ports.size(); ++i) {
    const RecordedPort& recorded = ports[i];
    component::InPortBase* const port = find_in_port(robot.manager(), recorded.name);
    if (port == nullptr) {
      run.leave_out(i, fmt::format("the recording has samples for {}, and the robot has no such in-port",
                                   recorded.name));
    } else if (port->sample_schema() != recorded.sample_schema) {
      run.leave_out(i, fmt::format("the in-port {} reads \"{}\", and the recording has \"{}\"", recorded.name,
                                   port->sample_schema(), recorded.sample_schema));
    } else {
      port->add_tap(*taps.emplace_back(std::make_unique<ReplayedPort>(run, i, cycle)));
    }
  }
}

/// Repeats requests to the controllers, each at the boundary at which it took effect.
class ReplayChanges {
 public:
  explicit ReplayChanges(Robot& robot) : robot_(&robot) {}

  /// Begins the request, and returns when it took effect; a switch may go on. On the loop's thread, at a
  /// boundary. Error: the request is refused, with the reason.
  [[nodiscard]] tl::expected<void, std::string> repeat(const RecordedChange& change) {
    const auto work = std::make_shared<Work>();
    worker_([commands = &robot_->controllers(), json = change.json, work] {
      auto answer = commands->request(json);
      // On a busy machine the loop's thread may pause. A call that timed out has done nothing.
      while (!answer && answer.error().error == component::Errc::timed_out) answer = commands->request(json);
      if (!answer) work->error = std::move(answer.error().message);
      // release: the error is visible to the loop's thread.
      work->ended.store(true, std::memory_order_release);
    });
    took_effect_ = false;
    while (!took_effect_ && !work->ended.load(std::memory_order_acquire)) {
      robot_->manager().context().apply_requests();
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
    if (took_effect_) return {};
    reasons_ += fmt::format("{}request {} to the controllers, {}: {}", reasons_.empty() ? "" : "; ",
                            change.at.number, change.json.substr(0, most_shown),
                            work->error.empty() ? "it changes nothing" : work->error);
    // Its types may be there from another file. Without them, the request to load one tells all reasons.
    if (change.json.starts_with(R"({"library")")) return {};
    return tl::unexpected(reasons_);
  }
  /// The witness of the changes.
  void ran() noexcept { took_effect_ = true; }

 private:
  /// One request on the worker's thread.
  struct Work {
    std::atomic<bool> ended{false};
    std::string error;
  };
  static constexpr std::size_t most_shown = 200;  ///< bytes of a request

  Robot* robot_;
  bool took_effect_ = false;
  std::string reasons_;
  platform::Worker worker_;  ///< because a request waits for the cycle
};

/// Hands over in each cycle what came from outside in the recorded one.
class ReplayInputs final : public motion::LoopObserver {
 public:
  ReplayInputs(RunReader& run, Robot& robot, const ReplayOptions& options, ReplayResult& result)
      : run_(&run),
        robot_(&robot),
        options_(&options),
        result_(&result),
        requests_(robot.description()),
        changes_(robot),
        record_(robot.recording_options().on_hand_over) {}

  void before_cycle(Time now) noexcept override {
    if (options_->speed > 0) wait_for(now);
    take_events();
    const RecordedCycle* cycle = run_->present();
    if (cycle != nullptr && options_->step && !options_->step(*robot_, cycle->inputs.cycle)) {
      result_->ended_early = fmt::format("its caller stopped it before cycle {}", cycle->inputs.cycle);
      run_->end();
    }
    if (run_->present() != nullptr) give(cycle->inputs, now);
    repeat_changes(true);
    if (run_->present() == nullptr) robot_->shut_down();
  }
  void on_inputs(const motion::LoopInputs&) noexcept override { repeat_changes(false); }
  void ran(const component::CallNote&) noexcept override { changes_.ran(); }
  void after_cycle(const motion::Snapshot& snapshot) noexcept override { requests_.see(snapshot); }
  void on_event(const motion::Event&) noexcept override {}

 private:
  void take_events() {
    motion::Event event;
    while (robot_->channels().events.try_pop(event)) {
      if (event.retired != nullptr)
        std::erase_if(given_, [&](const auto& each) { return each.get() == event.retired; });
    }
  }
  void give(RecordedInputs inputs, Time now) {
    if (inputs.shut_down != 0) robot_->shut_down();
    if (inputs.reset != 0) robot_->reset();
    while (inputs.requests > 0 && give_request(now)) --inputs.requests;
    if (inputs.requests > 0) run_->end();
  }
  void repeat_changes(bool is_between) {
    const RecordedCycle* cycle = run_->present();
    if (cycle == nullptr) return;
    for (const RecordedChange& change : cycle->changes) {
      if ((change.at.is_between != 0) != is_between) continue;
      if (auto repeated = changes_.repeat(change); !repeated) return run_->refuse(repeated.error());
    }
  }
  /// Gives one whole request, of one record or more. Returns false if the recording has none.
  bool give_request(Time now) {
    const std::uint64_t number = last_request_ + 1;
    while (const auto record = run_->request()) {
      auto taken = requests_.take(*record);
      if (!taken || taken->note) {
        run_->refuse(fmt::format("request {} is malformed", number));
      } else if (taken->number != number) {
        run_->refuse(fmt::format("the recording lacks request {}, and goes on with request {}", number,
                                 taken->number));
      } else if (taken->refusal || taken->request) {
        last_request_ = number;
        give_or_leave_out(std::move(*taken), now);
        return true;
      }
    }
    return false;
  }
  /// A request that this robot's limits forbid is left out, as its server would do.
  void give_or_leave_out(motion::TakenRequest taken, Time now) {
    if (taken.refusal) {
      ++result_->left_out;
      return;
    }
    if (record_) record_(now, *taken.request);
    given_.push_back(std::move(taken.request));
    static_cast<void>(robot_->channels().requests.try_push(given_.back().get()));
  }
  void wait_for(Time now) {
    if (!began_) began_ = {now, std::chrono::steady_clock::now()};
    const std::chrono::duration<double> due(to_seconds(now - began_->first) / options_->speed);
    std::this_thread::sleep_until(began_->second + std::chrono::duration_cast<std::chrono::nanoseconds>(due));
  }

  RunReader* run_;
  Robot* robot_;
  const ReplayOptions* options_;
  ReplayResult* result_;
  motion::RequestReader requests_;
  ReplayChanges changes_;
  std::function<void(Time, const motion::Request&)> record_;  ///< in the replay's own recording
  std::vector<std::unique_ptr<motion::Request>> given_;
  std::uint64_t last_request_ = 0;
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

/// Of a recording without a difference before that the failure does not explain.
tl::unexpected<SetupError> failure_of(const RunReader& run) {
  SetupError error = *run.failure();
  if (const std::string rest = run.rest(); !rest.empty()) error.message += ": " + rest;
  return tl::unexpected<SetupError>(std::move(error));
}

}  // namespace

std::string ReplayDifference::text() const {
  const std::string where = joint.empty() ? "output " : "joint " + joint + ": ";
  return fmt::format("cycle {} at {:.6f} s, {}{} {}, recorded {}", cycle, to_seconds(time - Time{}), where,
                     field, value, expected);
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

  const robot::RobotDescription description = *options.robot;
  std::vector<record::Reader*> files{&recording};
  files.insert(files.end(), options.further_files.begin(), options.further_files.end());
  auto further = parse_devices(recording.metadata().devices);
  if (!further) return tl::unexpected<SetupError>(std::move(further.error()));
  // One that it lacks would be opened, and driven.
  for (const robot::RobotVehicle& vehicle : description.vehicles) {
    if (std::ranges::find(*further, vehicle.name, &RecordedDevice::name) == further->end())
      return fail(Errc::not_replayable, "the recording lacks the vehicle " + vehicle.name);
  }
  const auto ports = parse_ports(recording.metadata().devices);
  if (!ports) return tl::unexpected<SetupError>(ports.error());
  RunReader run(std::move(files), description, *further, *ports);
  if (run.next() == nullptr) {
    if (run.failure()) return failure_of(run);
    return fail(Errc::not_replayable, "the recording has no cycles of devices");
  }
  ReplayClock clock(run);
  ReplayResult result;
  ReplayedDrives devices(run, description, *further, result);
  options.options.clock = &clock;
  options.options.hardware = &devices;
  options.options.further_devices = devices.further();
  options.options.drain_in_cycle = true;
  options.options.port.reset();
  options.options.serve_at.clear();
  std::vector<std::unique_ptr<ReplayedPort>> taps;  // before the robot, which reads by them
  auto robot = Robot::create(std::move(*options.robot), std::move(options.options));
  if (!robot) return tl::unexpected<SetupError>(std::move(robot.error()));
  replay_ports(run, **robot, *ports, devices.reads(), taps);
  ReplayInputs inputs(run, **robot, options, result);
  (*robot)->add_observer(inputs);
  if (auto ran = (*robot)->run(); !ran) return tl::unexpected<SetupError>(std::move(ran.error()));
  auto totals = (*robot)->finish();
  if (!totals) return tl::unexpected<SetupError>(std::move(totals.error()));
  result.recorded = totals->recorded;
  if (!run.failure()) return result;
  if (!result.difference || run.may_explain(result.difference->cycle)) return failure_of(run);
  result.ended_early = run.failure()->message;
  return result;
}

}  // namespace takt::app
