// Checks that the masters of all protocols share: whether a drive answers, and whether it lost its power.
// Both count requests and commands, not time, so a pause of the loop blames no drive. Real-time safe.
#pragma once

#include <cstdint>

namespace takt::drives {

/// Counts the requests that a drive leaves unanswered.
class SilenceWatch {
 public:
  /// The drive answered.
  void heard() noexcept {
    unanswered_ = 0;
    silent_ = false;
  }
  /// Call it once per cycle, after the answers to the previous cycle's request. After `limit` unanswered
  /// requests in a row the drive is silent, until heard().
  void pass_cycle(std::uint32_t limit) noexcept {
    if (unanswered_++ >= limit) silent_ = true;
  }
  /// Returns whether the drive is silent.
  [[nodiscard]] bool silent() const noexcept { return silent_; }

 private:
  std::uint32_t unanswered_ = 0;
  bool silent_ = false;
};

/// The power of one drive, as wanted by its joint and reported by the drive. A drive that was ready and goes
/// off without a command has lost its power, until that is forgotten or the drive is switched off. After
/// switching off, it may be switched on only once it has reported off.
class PowerLatch {
 public:
  /// Whether the joint wants power in this cycle.
  void want(bool power) noexcept {
    if (!power && wanted_) {
      stopping_ = true;
      forget();
    }
    wanted_ = power;
  }
  /// The drive reports that it is ready.
  void heard_ready() noexcept {
    if (may_be_on()) was_ready_ = true;
  }
  /// The drive reports that it is off.
  void heard_off() noexcept {
    lose();
    stopping_ = false;
  }
  /// The drive reports a fault.
  void heard_fault() noexcept { stopping_ = false; }
  /// The drive is known to be off, without a report.
  void lose() noexcept {
    if (was_ready_) lost_ = true;
  }
  /// The master itself switches the drive off: this is not a loss of power.
  void give_up() noexcept {
    stopping_ = true;
    was_ready_ = false;
  }
  /// Forgets a loss of power.
  void forget() noexcept { was_ready_ = lost_ = false; }

  /// Returns whether the drive may be switched on, or stay on.
  [[nodiscard]] bool may_be_on() const noexcept { return wanted_ && !stopping_; }
  /// Returns whether the drive has lost its power.
  [[nodiscard]] bool lost() const noexcept { return lost_; }

 private:
  bool wanted_ = false;
  bool stopping_ = false;
  bool was_ready_ = false;  ///< since power was last wanted
  bool lost_ = false;
};

}  // namespace takt::drives
