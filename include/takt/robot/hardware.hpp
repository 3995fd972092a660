// The seam between the motion engine, which thinks in joints, and whatever moves them: CAN drives, a simulation, a recording.
// Once per period the loop calls read(), computes, and calls write(). An implementation keeps its own start-up sequence and
// fault handling behind `want_power`; the engine only says what it wants and sees what is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "takt/core/joint.hpp"
#include "takt/core/time.hpp"

namespace takt::robot {

/// What a drive says of itself.
enum class DriveState : std::uint8_t {
  unknown,  ///< has not answered yet
  off,      ///< answers, power stage off
  ready,    ///< power on and following references
  fault,    ///< reports a fault; see `fault`
  no_bus,   ///< its bus is down: nothing can be heard or said
};

/// Which part of a command a drive follows.
enum class CommandMode : std::uint8_t { position, velocity, effort };

/// What was last heard of one joint.
struct JointFeedback {
  double position = 0;  ///< rad or m; meaningful once `heard`
  double velocity = 0;  ///< rad/s or m/s
  Time stamp{};         ///< when the position came, at most a period before the read() that took it in
  bool heard = false;   ///< a position has been received since start-up
  DriveState drive = DriveState::unknown;
  CommandMode mode = CommandMode::position;  ///< that the drive is in
  std::uint32_t fault = 0;                   ///< the protocol's own fault bits, 0 = none
  double effort = 0;                         ///< N m or N, of drives that tell it; else 0
};

/// What one joint is to do next. When the mode changes, the drive is held as it is until JointFeedback::mode shows the new one, but
/// without velocity and effort once that takes longer than it may be silent, and then follows: whoever changes it begins where the
/// joint stands and how it moves. Drives that do not have the mode stay in the
/// one that they are in, and follow the last command of it.
struct JointCommand {
  double position = 0;       ///< rad or m
  double velocity = 0;       ///< rad/s or m/s; in CommandMode::position feed-forward for drives that take it
  double acceleration = 0;   ///< feed-forward for drives that take it
  bool want_power = false;   ///< drive on (the hardware runs the sequence) or off (at once)
  bool clear_fault = false;  ///< asks a faulty drive to forget its fault; held for one cycle
  CommandMode mode = CommandMode::position;
  double effort = 0;  ///< N m or N
};

/// Counted, never thrown: what the wire did so far.
struct HardwareCounters {
  std::uint64_t frames_sent = 0;
  std::uint64_t frames_received = 0;
  std::uint64_t frames_refused =
      0;  ///< times that the bus had no room for a frame; it waits for the next cycle
  std::uint64_t frames_malformed = 0;   ///< wrong length or content
  std::uint64_t frames_unexpected = 0;  ///< an identifier that no joint of this robot uses
  std::uint64_t frames_starved = 0;     ///< never sent: replaced or too late before the bus had room
  JointSet starved;                     ///< the joints of those frames

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

/// The joints of one robot, in the order of its description. Both calls are made by the loop once per period with the nominal
/// time of the cycle; they are real-time safe, touch exactly one entry per joint, and never block.
class Hardware {
 public:
  virtual ~Hardware() = default;
  Hardware(const Hardware&) = delete;
  Hardware& operator=(const Hardware&) = delete;

  /// Takes in what arrived since the last cycle. `feedback` holds one entry per joint and is updated in place.
  virtual void read(Time now, std::span<JointFeedback> feedback) noexcept = 0;
  /// Sends the commands of this cycle and the requests whose answers the next read() takes in.
  virtual void write(Time now, std::span<const JointCommand> commands) noexcept = 0;
  [[nodiscard]] virtual HardwareCounters counters() const noexcept = 0;
  /// The share of this joint in HardwareCounters::frames_starved. A frame for several joints counts for each.
  [[nodiscard]] virtual std::uint64_t starved(std::size_t /*joint*/) const noexcept { return 0; }

  /// Asks the drives what they are; the questions go out with the next write() calls. A drive that does not answer is not at fault:
  /// it starts as without the question, at most half a second later. For set-up: a run that asks nothing sends nothing more.
  virtual void ask_identity() noexcept {}
  /// What the drive of a joint said that it is, for people: "hardware 4.4.58, firmware 0.6.10", in printable ASCII. Empty: it
  /// has not answered, was not asked, or its protocol has no such message. Allocates: not for the loop.
  [[nodiscard]] virtual std::string identity(std::size_t /*joint*/) const { return {}; }

 protected:
  Hardware() = default;
};

}  // namespace takt::robot
