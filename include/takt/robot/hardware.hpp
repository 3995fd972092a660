// The interface between the manager, which works with joints, and the drives that move them: CAN
// drives, a simulation, a recording. Once per period the loop calls read(), computes, and calls write(). An
// implementation runs its own start-up sequence and fault handling; the manager only sets `want_power` and
// reads the drive's state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "takt/core/joint.hpp"
#include "takt/core/time.hpp"

namespace takt::robot {

/// Whether a drive searches its home.
enum class HomeState : std::uint8_t {
  none,     ///< its position counts from where its encoder says
  due,      ///< it will search or searches: its position has no meaning yet
  at_home,  ///< it found its home since it started
};

/// The last feedback of one joint.
struct JointFeedback {
  double position = 0;  ///< rad or m; meaningful once `heard`; a wheel's may wrap by turns
  double velocity = 0;  ///< rad/s or m/s
  Time stamp{};         ///< time of the position, at most one period before the read() that received it
  bool heard = false;   ///< a position has been received since start-up
  DriveState drive = DriveState::unknown;
  CommandMode mode = CommandMode::position;  ///< the mode that the drive is in
  std::uint32_t fault = 0;                   ///< the protocol's own fault bits, 0 = none
  double effort = 0;                         ///< N m or N; 0 without has_effort
  HomeState home = HomeState::none;
  bool has_effort = false;  ///< the drive reports its effort
};

/// Counters of a hardware since it was created.
struct HardwareCounters {
  std::uint64_t frames_sent = 0;
  std::uint64_t frames_received = 0;
  std::uint64_t frames_refused = 0;  ///< frames without room on the bus, counted in each cycle that they wait
  std::uint64_t frames_malformed = 0;   ///< wrong length or content
  std::uint64_t frames_unexpected = 0;  ///< with an identifier that no joint of this robot uses
  std::uint64_t frames_starved = 0;     ///< never sent: replaced or expired before the bus had room
  JointSet starved;                     ///< the joints of those frames

  TAKT_FIELDS(HardwareCounters, frames_sent, frames_received, frames_refused, frames_malformed,
              frames_unexpected, frames_starved, starved)

  constexpr HardwareCounters& operator+=(const HardwareCounters& other) noexcept {
    frames_sent += other.frames_sent;
    frames_received += other.frames_received;
    frames_refused += other.frames_refused;
    frames_malformed += other.frames_malformed;
    frames_unexpected += other.frames_unexpected;
    frames_starved += other.frames_starved;
    starved = starved | other.starved;
    return *this;
  }
};

/// The joints of one robot, in the order of its description. The loop calls read() and write() once per
/// period, with the nominal time of the cycle. Both are real-time safe and never block. Each touches only the
/// entries of the joints that the hardware drives.
class Hardware {
 public:
  virtual ~Hardware() = default;
  Hardware(const Hardware&) = delete;
  Hardware& operator=(const Hardware&) = delete;

  /// Takes in the frames received since the last cycle. `feedback`: one entry per joint, updated in place.
  virtual void read(Time now, std::span<JointFeedback> feedback) noexcept = 0;
  /// Sends the commands of this cycle, and the requests whose answers the next read() takes in. `commands`:
  /// one entry per joint.
  virtual void write(Time now, std::span<const JointCommand> commands) noexcept = 0;
  /// What was counted so far.
  [[nodiscard]] virtual HardwareCounters counters() const noexcept = 0;
  /// This joint's share of HardwareCounters::frames_starved. A frame for several joints counts for each.
  [[nodiscard]] virtual std::uint64_t starved(std::size_t /*joint*/) const noexcept { return 0; }

  /// Asks the drives what they are; the questions go out with the next write() calls. A drive that does not
  /// answer is not at fault: it starts as without the question, at most half a second later. For set-up: a
  /// run that asks nothing sends nothing more.
  virtual void ask_identity() noexcept {}
  /// What the drive of a joint said that it is, for people: "hardware 4.4.58, firmware 0.6.10", in printable
  /// ASCII. Empty: it has not answered, was not asked, or its protocol has no such message. Allocates: not
  /// for the loop.
  [[nodiscard]] virtual std::string identity(std::size_t /*joint*/) const { return {}; }

 protected:
  Hardware() = default;
};

}  // namespace takt::robot
