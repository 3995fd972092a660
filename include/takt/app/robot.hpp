// A whole robot from its description, ready to run: devices on their buses, the control loop, a motion server, a recorder. The
// program `takt run` is a thin caller of this; an embedder does the same in ten lines:
//
//     auto robot = app::Robot::from_file("arm.json", {.recording = "run.takt"});
//     if (!robot) return complain(robot.error().message);
//     std::thread loop([&] { (void)(*robot)->run(); });              // until shut_down(), and the controlled stop after it
//     while (const auto line = (*robot)->next_report()) ...           // "robot ready", "robot stopped: ..."
//     (*robot)->shut_down();
//     loop.join();
//     auto totals = (*robot)->finish();                               // ends server and recording
//
// The caller may give its own clock, ports of buses, devices and observers of the loop.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "takt/app/devices.hpp"
#include "takt/app/report_line.hpp"
#include "takt/app/run_clock.hpp"
#include "takt/core/setup_error.hpp"
#include "takt/motion/channels.hpp"
#include "takt/motion/goal.hpp"
#include "takt/motion/loop.hpp"
#include "takt/motion/server.hpp"
#include "takt/record/recorder.hpp"
#include "takt/robot/description.hpp"
#include "takt/robot/hardware.hpp"
#include "takt/rt/periodic_loop.hpp"
#include "takt/rt/thread_setup.hpp"

namespace takt::app {

struct RobotOptions {
  DeviceOptions devices{};
  robot::Hardware* hardware = nullptr;  ///< devices of the caller's own, in place of all above
  RunClock* clock = nullptr;            ///< none: a HybridClock
  /// TCP port of the motion server on 127.0.0.1; 0 takes a free one. None: no server, requests come over channels().
  std::optional<std::uint16_t> port{};
  /// UNIX socket at which a motion server of another process finds the loop, in place of one in this process.
  std::string serve_at{};
  std::string recording{};      ///< file of the recording; empty: none
  bool overwrite = false;       ///< the recording may replace a file
  std::string created{};        ///< date and time, for the recording
  bool drain_in_cycle = false;  ///< virtual time: the loop itself writes the recording, so nothing is dropped
  rt::ThreadConfig thread{};    ///< of the thread that calls run()
};

/// Of a run that has ended.
struct RunTotals {
  std::optional<record::EndTotals> recorded{};  ///< none: no recording
  std::uint64_t accepted = 0;                   ///< requests of the own server
  std::uint64_t rejected = 0;
  std::uint64_t errors = 0;  ///< lines that were no request
};

/// Set-up allocates and may fail. run() is for one thread, next_report() for one other, shut_down() and reset() for any.
class Robot {
 public:
  /// Errors: bad_description, whose message lists every mistake, a line each; else those of create().
  [[nodiscard]] static SetupResult<std::unique_ptr<Robot>> from_file(const std::string& path,
                                                                     RobotOptions options = {});
  /// Opens the buses and the recording, starts the server, and moves nothing. Errors: bad_description (made in code: a period that
  /// is not positive, more than max_joints joints, a group with a joint that is not there), those of Devices::create(),
  /// recording_exists, those of record::Recorder::create(), of the server's port or socket.
  [[nodiscard]] static SetupResult<std::unique_ptr<Robot>> create(robot::RobotDescription description,
                                                                  RobotOptions options = {});
  ~Robot();
  Robot(const Robot&) = delete;
  Robot& operator=(const Robot&) = delete;

  /// Each bus has the interface in use, as Devices::interface_of() tells it.
  [[nodiscard]] const robot::RobotDescription& description() const noexcept;
  /// Null if the hardware is the caller's own.
  [[nodiscard]] Devices* devices() noexcept;
  /// "listening on 127.0.0.1:6010", or "serving at ..."; empty without a server.
  [[nodiscard]] const std::string& place() const noexcept;
  /// TCP port of the server in this process; none without one.
  [[nodiscard]] std::optional<std::uint16_t> port() const noexcept;
  [[nodiscard]] motion::Channels& channels() noexcept;
  /// Null if there is none.
  [[nodiscard]] record::Recorder* recorder() noexcept;
  /// Called on the loop's thread in each cycle, in the order of the calls. Before run(); it must outlive that.
  void add_observer(motion::LoopObserver& observer);

  /// Sets the calling thread up and runs the loop until the robot is down. `on_set_up`, if given, hears what the thread was
  /// granted, before the first cycle. Errors: what options.thread enforces is refused; nothing ran then.
  [[nodiscard]] SetupResult<void> run(const std::function<void(const rt::ThreadSetup&)>& on_set_up = {});
  /// Asks for a controlled stop and the end of run(). Real-time and signal safe.
  void shut_down() noexcept;
  /// Asks a stopped robot to leave its stop, as a client's reset request does. Nothing happens in any other state. Real-time and
  /// signal safe.
  void reset() noexcept;

  /// The robot's changes of state, and what became of servers elsewhere, oldest first. Allocates.
  [[nodiscard]] std::optional<ReportLine> next_report();

  /// After run(): the fault that the robot has not recovered from; its reason is Errc{} for none.
  [[nodiscard]] const motion::Event& fault() const noexcept;
  [[nodiscard]] const rt::LoopStatistics& statistics() const noexcept;
  /// After run(), or in place of it: ends the server and the recording. A recording of a robot that never ran is removed.
  /// Errors: those of record::Recorder::finish(), with the file's name.
  [[nodiscard]] SetupResult<RunTotals> finish();

 private:
  struct Parts;
  explicit Robot(std::unique_ptr<Parts> parts) noexcept;
  std::unique_ptr<Parts> parts_;
};

/// Options of a motion server of the caller's own that puts its clients' marks, and what it refuses, into a recording. Null: the
/// default ones. Both must outlive the server.
[[nodiscard]] motion::ServerOptions recording_options(const robot::RobotDescription& robot,
                                                      record::Recorder* recorder);

/// The reason of an event in words, and the code that programs know it by: "RSP: a drive does not answer (...) [drive_silent]".
[[nodiscard]] std::string describe_cause(const motion::Event& cause, const robot::RobotDescription& robot);

}  // namespace takt::app
