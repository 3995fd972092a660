// The further topics of a recording, from which a run can be repeated bit for bit. They have the readings of
// the devices, the commands to them, and the inputs of each cycle. The times of the cycles are in the topic
// /cycle.
//
//   /devices/read    takt/msg/DeviceRead: the feedback of each joint
//   /devices/write   takt/msg/DeviceWrite: the command of each joint
//   /loop/inputs     takt/msg/LoopInputs
//   /requests        takt/msg/Request: records of motion/request_message.hpp, as the loop could take them
//   /controllers/requests    takt/msg/ControllerRequest: loads, switches, ... as JSON, when they took effect
//   /controllers/parameters  takt/msg/ParameterChange: who set which values, as JSON, likewise
//
// The topics of further devices (app/recorded_devices.hpp), of in-ports (app/recorded_ports.hpp) and of
// variables (app/variable_tap.hpp) follow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include "app/recorded_devices.hpp"
#include "app/recorded_ports.hpp"
#include "takt/component/boundary_calls.hpp"
#include "takt/core/fields.hpp"
#include "takt/motion/loop.hpp"
#include "takt/motion/request.hpp"
#include "takt/record/recorder.hpp"
#include "takt/robot/hardware.hpp"

namespace takt::app {

/// robot::JointFeedback in a recording.
struct RecordedFeedback {
  double position = 0;
  double velocity = 0;
  double effort = 0;
  Time stamp{};
  std::uint32_t fault = 0;
  std::uint8_t heard = 0;  ///< bit 0: heard; bits 1 and 2: robot::HomeState; bit 3: no effort
  std::uint8_t drive = 0;
  std::uint8_t mode = 0;

  TAKT_FIELDS(RecordedFeedback, position, velocity, effort, stamp, fault, heard, drive, mode)
  explicit operator robot::JointFeedback() const noexcept;
};
[[nodiscard]] RecordedFeedback recorded(const robot::JointFeedback& feedback) noexcept;

/// JointCommand in a recording.
struct RecordedCommand {
  double position = 0;
  double velocity = 0;
  double acceleration = 0;
  double effort = 0;
  std::uint8_t want_power = 0;
  std::uint8_t clear_fault = 0;
  std::uint8_t mode = 0;

  TAKT_FIELDS(RecordedCommand, position, velocity, acceleration, effort, want_power, clear_fault, mode)
};
[[nodiscard]] RecordedCommand recorded(const JointCommand& command) noexcept;

/// motion::LoopInputs in a recording.
struct RecordedInputs {
  Time time{};
  std::uint64_t cycle = 0;
  std::uint64_t devices = 0;  ///< a bit for each further device that was active
  std::uint32_t requests = 0;
  std::uint8_t shut_down = 0;
  std::uint8_t reset = 0;

  TAKT_FIELDS(RecordedInputs, time, cycle, devices, requests, shut_down, reset)
};

/// A request of app/controller_commands.hpp in a recording; its JSON follows as text.
struct RecordedControllerRequest {
  Time time{};                  ///< of the last cycle that had begun
  std::uint64_t cycle = 0;      ///< the one whose controllers were the first to run after it
  std::uint64_t number = 0;     ///< from 1
  std::uint8_t is_between = 0;  ///< it took effect before the cycle had begun

  TAKT_FIELDS(RecordedControllerRequest, time, cycle, number, is_between)
};

/// The topics, which follow those of the caller in RecorderOptions::topics.
namespace run_topic {
enum Topic : std::size_t { read, write, inputs, requests, controllers, parameters };
inline constexpr const char* names[] = {"/devices/read", "/devices/write",        "/loop/inputs",
                                        "/requests",     "/controllers/requests", "/controllers/parameters"};
inline constexpr std::size_t count = std::size(names);
[[nodiscard]] std::vector<record::Topic> topics();
}  // namespace run_topic

/// Records a run. Real-time safe after construction, except hand_over().
class RunRecorder final : public robot::Hardware, public motion::LoopObserver {
 public:
  /// Reads and writes through `hardware`, which must outlive this. `now`: before the first cycle.
  RunRecorder(robot::Hardware& hardware, Time now) : hardware_(&hardware), moment_{now} {}

  /// Call it before the first cycle. `first_topic`: the index of run_topic::read; the topics of `devices`
  /// follow those of the run. All must outlive this.
  void record_to(record::Recorder& recorder, std::size_t first_topic, const DeviceTap& devices) {
    lane_ = &recorder.loop();
    server_ = &recorder.server();
    first_ = first_topic;
    devices_ = &devices;
  }

  void read(Time now, std::span<robot::JointFeedback> feedback) noexcept override {
    hardware_->read(now, feedback);
    moment_ = {now, moment_.cycle + 1};
    lane_->samples<RecordedFeedback>(first_ + run_topic::read, now, feedback.size(),
                                     [&](std::size_t i) noexcept { return recorded(feedback[i]); });
  }
  void write(Time now, std::span<const JointCommand> commands) noexcept override {
    lane_->samples<RecordedCommand>(first_ + run_topic::write, now, commands.size(),
                                    [&](std::size_t i) noexcept { return recorded(commands[i]); });
    devices_->record_outputs(*lane_, first_ + run_topic::count, now);
    hardware_->write(now, commands);
  }
  [[nodiscard]] robot::HardwareCounters counters() const noexcept override { return hardware_->counters(); }
  [[nodiscard]] std::uint64_t starved(std::size_t joint) const noexcept override {
    return hardware_->starved(joint);
  }
  void ask_identity() noexcept override { hardware_->ask_identity(); }
  [[nodiscard]] std::string identity(std::size_t joint) const override { return hardware_->identity(joint); }

  /// The cycle that began last.
  [[nodiscard]] const ReadMoment& moment() const noexcept { return moment_; }

  void before_cycle(Time) noexcept override {}
  void on_inputs(const motion::LoopInputs& inputs) noexcept override;
  /// Notes of the kinds run_topic::controllers and run_topic::parameters.
  void ran(const component::CallNote& note) noexcept override;
  void after_cycle(const motion::Snapshot& snapshot) noexcept override;
  void on_event(const motion::Event&) noexcept override {}

  /// Records a request. On the server's thread, right before the loop can take it.
  void hand_over(Time now, const motion::Request& request);

 private:
  robot::Hardware* hardware_;
  record::Lane* lane_ = nullptr;
  record::Lane* server_ = nullptr;
  const DeviceTap* devices_ = nullptr;
  std::size_t first_ = 0;
  ReadMoment moment_;
  std::uint64_t cycle_ = 0;   ///< the present one, or the next one
  bool is_in_cycle_ = false;  ///< its controllers are next
  bool is_down_ = false;      ///< there is no next one
  std::uint64_t changes_ = 0;
  std::uint64_t handed_over_ = 0;  ///< of the server's thread
};

}  // namespace takt::app
