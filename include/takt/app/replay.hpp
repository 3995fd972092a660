// Repeats a recorded run: the drives and further devices give again what was read, at the recorded times. The
// requests come in the recorded cycles, also those to the controllers (takt ctl). The same controllers then
// give the same commands, bit for bit. Other controllers, or other gains, give a first difference: what would
// the new controller have done.
//
//     auto recording = takt::record::Reader::open_rotated({"run.mcap"});
//     auto result = takt::app::replay(*recording, {});
//     if (result && result->difference) std::puts(result->difference->text().c_str());
//
// The recorded readings do not react to other commands. So a difference is true in its first cycle, and a
// hint after that.
//
// A recording of takt run, or of app::Robot, has all that is needed, from its first cycle on. It has no state
// of the manager and the controllers in between: nothing behind a gap can be replayed.
//
// What controllers read from their in-ports is there, so a replay needs no other component. That holds for
// the controllers with which the robot began. A controller that reads at other times gets each sample in its
// cycle or later.
//
// The recording lacks calls of services, refusals of a slow fifo reader, and processes that command joints
// through shared memory. It also lacks calls to robot::Manager and ParameterSet that do not come by
// Robot::controllers(). A run with these differs from its replay. Component budgets are not enforced.
//
// Not real-time safe.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "takt/app/robot.hpp"
#include "takt/core/setup_error.hpp"
#include "takt/core/time.hpp"
#include "takt/record/reader.hpp"

namespace takt::app {

/// Options of replay().
struct ReplayOptions {
  /// Recorded seconds per second; 0: as fast as possible.
  double speed = 0;
  /// Stepped: called before each cycle, and may wait. Its answer false ends the replay.
  std::function<bool(Robot& robot, std::uint64_t cycle)> step{};
  /// The further files of a rotated recording, in order, if Reader::open_rotated() did not open them. They
  /// must outlive the call.
  std::vector<record::Reader*> further_files{};
  /// Another description than the recorded one. It has the same joints and period.
  std::optional<robot::RobotDescription> robot{};
  /// Plug-ins, controllers and the recording of the replay itself. The other options are the replay's own.
  RobotOptions options{};
};

/// One number of a command that is not the recorded one.
struct ReplayDifference {
  std::uint64_t cycle = 0;  ///< from 0
  Time time{};              ///< nominal time of the cycle
  std::string joint;        ///< empty for an output of another device
  std::string field;        ///< "position", "velocity", "effort", "want_power", ...; or "led/brightness"
  double value = 0;         ///< of the replay
  double expected = 0;      ///< recorded

  /// "cycle 1200 at 6.000 s, joint RSP: position 0.5, recorded 0.25", or "..., output led/brightness 0.5,
  /// recorded 0", with all digits.
  [[nodiscard]] std::string text() const;
};

/// The result of a replay.
struct ReplayResult {
  std::uint64_t cycles = 0;                      ///< compared
  std::uint64_t differing = 0;                   ///< of these
  std::optional<ReplayDifference> difference{};  ///< the first
  /// Requests that were not repeated, because the limits of this robot forbid them.
  std::uint64_t left_out = 0;
  /// Why the rest of the recording was not replayed: ReplayOptions::step, or an error after a difference.
  std::string ended_early{};
  std::optional<record::EndTotals> recorded{};  ///< of the replay's own recording
};

/// Replays a recording that was just opened. A recording that was cut off is replayed up to its last whole
/// cycle. Errors: those of record::Reader and of Robot::create(); not_replayable. Its message names the cycle
/// or request that the recording lacks, the value that no loop writes, or the joint that is another. It tells
/// the times before and behind lost cycles. It also names a request to the controllers that is refused now,
/// with the reason, such as a missing plug-in. An error after the first difference is in
/// ReplayResult::ended_early instead.
[[nodiscard]] SetupResult<ReplayResult> replay(record::Reader& recording, ReplayOptions options);

}  // namespace takt::app
