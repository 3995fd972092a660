// A whole robot from its description, ready to run: devices on their buses, the control loop, a motion
// server, a recorder. The program `takt run` is a thin caller of this. An embedder does the same in ten
// lines:
//
//     auto robot = app::Robot::from_file("arm.json", {.recording = "run.mcap"});
//     if (!robot) return complain(robot.error().message);
//     std::thread loop([&] { (void)(*robot)->run(); });  // until shut_down(), with its controlled stop
//     while (const auto line = (*robot)->next_report()) print(line->text);  // "robot ready", ...
//     (*robot)->shut_down();
//     loop.join();
//     auto totals = (*robot)->finish();                  // ends server and recording
//
// The caller may provide a clock, ports of buses, devices, and observers of the loop.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "takt/app/component_library.hpp"
#include "takt/app/controller_commands.hpp"
#include "takt/app/devices.hpp"
#include "takt/app/live_options.hpp"
#include "takt/app/report_line.hpp"
#include "takt/app/run_clock.hpp"
#include "takt/core/setup_error.hpp"
#include "takt/motion/channels.hpp"
#include "takt/motion/goal.hpp"
#include "takt/motion/loop.hpp"
#include "takt/motion/server.hpp"
#include "takt/record/log_writer.hpp"
#include "takt/record/recorder.hpp"
#include "takt/record/trace_writer.hpp"
#include "takt/robot/controller_config.hpp"
#include "takt/robot/description.hpp"
#include "takt/robot/hardware.hpp"
#include "takt/robot/manager.hpp"
#include "takt/rt/periodic_loop.hpp"
#include "takt/rt/thread_setup.hpp"

namespace takt::app {

/// Options of Robot::create().
struct RobotOptions {
  DeviceOptions devices{};
  robot::Hardware* hardware = nullptr;  ///< devices of the caller, instead of all above
  /// Sensors and other devices of the caller, besides the drives. They must outlive the robot.
  std::vector<robot::Device*> further_devices{};
  RunClock* clock = nullptr;  ///< null: a HybridClock
  /// TCP port of the motion server on 127.0.0.1; 0 chooses a free one. std::nullopt: no server; requests go
  /// through channels().
  std::optional<std::uint16_t> port{};
  /// UNIX socket for a motion server in another process, instead of one in this process. Empty: none.
  std::string serve_at{};
  std::string recording{};             ///< file of the recording; empty: none
  record::RecorderOptions recorder{};  ///< how the recording is written
  /// Interfaces and out-ports that are recorded too, as topics "/variables/NAME": "base/speed",
  /// "odometry.pose", "tip/setpoint". The options or the description load their controllers. While the
  /// controller "recorder" is loaded, these cannot be unloaded. Any other is no_such_interface of robot.
  std::vector<std::string> recorded_variables{};
  /// Files of the log, which are appended to; "-": the standard error stream. A recording has the log too.
  std::vector<std::string> log{};
  std::string trace{};             ///< file of a trace, from the first cycle on; empty: none
  std::string trace_folder = ".";  ///< where traces lie that clients request
  bool overwrite = false;          ///< the recording may replace an existing file
  std::string created{};           ///< date and time, for the recording
  /// Controllers besides the trajectory controller and those of the description, which are loaded first.
  std::vector<robot::ControllerDescription> controllers{};
  std::vector<component::ComponentType> types{};  ///< of the caller, besides the ready-made controllers
  std::vector<std::string> libraries{};           ///< plug-ins with further types, loaded at the assembly
  std::vector<std::string> folders{};             ///< where plug-ins without '/' in their name are searched
  LiveOptions live{};                             ///< Foxglove and PlotJuggler
  bool drain_in_cycle = false;  ///< virtual time: the loop writes the recording, so nothing is dropped
  rt::ThreadConfig thread{};    ///< of the thread that calls run()
};

/// The totals of a finished run.
struct RunTotals {
  std::optional<record::EndTotals> recorded{};  ///< std::nullopt without a recording
  std::optional<record::TraceTotals> traced{};  ///< of a trace that went on until the end
  std::optional<record::LogTotals> logged{};    ///< std::nullopt without a log
  std::uint64_t accepted = 0;                   ///< requests to the motion server in this process
  std::uint64_t rejected = 0;
  std::uint64_t errors = 0;  ///< lines that were not a request
};

/// The robot. Set-up allocates and may fail. One thread calls run(), one other next_report(), any thread
/// shut_down() and reset().
class Robot {
 public:
  /// Loads the file, then calls create(). Errors: bad_description, whose message has one line for each
  /// mistake; those of create().
  [[nodiscard]] static SetupResult<std::unique_ptr<Robot>> from_file(const std::string& path,
                                                                     RobotOptions options = {});
  /// Opens the buses and the recording, loads the controllers, and starts the server. Moves nothing. Errors:
  /// bad_description, recording_exists, those of Devices::create(), of record::Recorder::create(), of the
  /// server's port or socket, and of the live streams' ports. A description made in code is bad_description
  /// with a period that is not positive, more than max_joints joints, or a group with a missing joint. So is
  /// one with a plug-in or a controller that cannot be loaded or started. The message has a line for each of
  /// these.
  [[nodiscard]] static SetupResult<std::unique_ptr<Robot>> create(robot::RobotDescription description,
                                                                  RobotOptions options = {});
  ~Robot();
  Robot(const Robot&) = delete;
  Robot& operator=(const Robot&) = delete;

  /// The description. Each bus has the interface in use, as in Devices::interface_of().
  [[nodiscard]] const robot::RobotDescription& description() const noexcept;
  /// The devices; null if the caller provides the hardware.
  [[nodiscard]] Devices* devices() noexcept;
  /// The server's address as text: "listening on 127.0.0.1:6010", or "serving at ..."; empty without a
  /// server.
  [[nodiscard]] const std::string& place() const noexcept;
  /// The TCP port of the server in this process; std::nullopt without one.
  [[nodiscard]] std::optional<std::uint16_t> port() const noexcept;
  /// The port of the Foxglove server; std::nullopt without one.
  [[nodiscard]] std::optional<std::uint16_t> foxglove_port() const noexcept;
  /// The devices and controllers. Other threads may load and switch controllers while the robot runs.
  [[nodiscard]] robot::Manager& manager() noexcept;
  /// The commands to the controllers. They read the manager's events, which next_report() also tells.
  [[nodiscard]] ControllerCommands& controllers() noexcept;
  /// The log, for lines of the caller; null without a log. Its function write() is for any thread.
  [[nodiscard]] record::LogWriter* log() noexcept;
  /// Writes traces of the loop: what each cycle did, and for how long. Any thread, while the robot runs.
  [[nodiscard]] record::TraceWriter& traces() noexcept;
  /// The channels between the loop and the motion server.
  [[nodiscard]] motion::Channels& channels() noexcept;
  /// The recorder; null without a recording.
  [[nodiscard]] record::Recorder* recorder() noexcept;
  /// Options of a caller's motion server that records its clients' marks, its rejected requests, and what it
  /// hands to the loop. Without a recording, the default options. The robot must outlive the server.
  [[nodiscard]] motion::ServerOptions recording_options();
  /// Adds an observer, which the loop's thread calls in each cycle, in the order of addition. Call it before
  /// run(). The observer must outlive run().
  void add_observer(motion::LoopObserver& observer);

  /// Sets up the calling thread, and runs the loop until the robot is down. The optional `on_set_up` gets the
  /// result of the thread's set-up before the first cycle. Error: a setting that options.thread enforces was
  /// refused; then no cycle ran.
  [[nodiscard]] SetupResult<void> run(const std::function<void(const rt::ThreadSetup&)>& on_set_up = {});
  /// Requests a controlled stop and the end of run(). Real-time safe and async-signal safe.
  void shut_down() noexcept;
  /// Requests that a stopped robot leaves its stop, as a client's reset request does. In any other state
  /// nothing happens. Real-time safe and async-signal safe.
  void reset() noexcept;

  /// The next line to report; std::nullopt if there is none. Lines tell changes of the robot's state and of
  /// servers in other processes, events of controllers, and buses without acknowledges. Each kind comes
  /// oldest first. A robot that starts for long says every three seconds which drives it waits for. One that
  /// becomes ready names the joints outside their limits. Allocates.
  [[nodiscard]] std::optional<ReportLine> next_report();
  /// How far the robot's start is, or was: "robot starting for 4 s, without 1 of 6 drives: elbow (board 3)".
  /// Each missing drive comes with the reason. For the thread of next_report(). Allocates.
  [[nodiscard]] std::string describe_start();

  /// After run(): the fault that the robot has not recovered from. Its reason is Errc{} if there is none.
  [[nodiscard]] const motion::Event& fault() const noexcept;
  /// After run(): timing of the loop's cycles.
  [[nodiscard]] const rt::LoopStatistics& statistics() const noexcept;
  /// After run(), or instead of it: ends the server and the recording. The recording of a robot that never
  /// ran is removed. Errors: those of record::Recorder::finish() and record::TraceWriter::stop(), with the
  /// file's name.
  [[nodiscard]] SetupResult<RunTotals> finish();

 private:
  struct Parts;
  explicit Robot(std::unique_ptr<Parts> parts) noexcept;
  std::unique_ptr<Parts> parts_;
};

/// The reason of an event as text, with its code for programs: "RSP: a drive does not answer (...)
/// [drive_silent]".
[[nodiscard]] std::string describe_cause(const motion::Event& cause, const robot::RobotDescription& robot);

}  // namespace takt::app
