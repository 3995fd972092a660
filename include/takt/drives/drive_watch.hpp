// What the masters of all protocols judge alike: whether a drive answers, and whether its power went unasked. Both count what the
// drive was asked and told, not the time, so a loop that was away blames no drive. Real-time safe.
#pragma once

#include <cstdint>

namespace takt::drives {

/// Counts the requests that a drive leaves unanswered.
class SilenceWatch {
 public:
  void heard() noexcept {
    unanswered_ = 0;
    silent_ = false;
  }
  /// Once per cycle, after the answers to the request of the cycle before: the drive is silent from `limit` unanswered requests in
  /// a row on, until heard().
  void pass_cycle(std::uint32_t limit) noexcept {
    if (unanswered_++ >= limit) silent_ = true;
  }
  [[nodiscard]] bool silent() const noexcept { return silent_; }

 private:
  std::uint32_t unanswered_ = 0;
  bool silent_ = false;
};

/// The power of one drive: wanted by its joint, told by its answers. A drive that was ready and goes off unasked has lost its power,
/// until somebody forgets that or switches it off. One that was switched off is not switched on before it has said that it is off.
class PowerLatch {
 public:
  /// What the joint wants in this cycle.
  void want(bool power) noexcept {
    if (!power && wanted_) {
      stopping_ = true;
      forget();
    }
    wanted_ = power;
  }
  /// What the drive says.
  void heard_ready() noexcept {
    if (may_be_on()) was_ready_ = true;
  }
  void heard_off() noexcept {
    lose();
    stopping_ = false;
  }
  void heard_fault() noexcept { stopping_ = false; }
  /// The drive is known to be off, without having said so.
  void lose() noexcept {
    if (was_ready_) lost_ = true;
  }
  /// The master switches the drive off itself: its power is not lost when it goes.
  void give_up() noexcept {
    stopping_ = true;
    was_ready_ = false;
  }
  void forget() noexcept { was_ready_ = lost_ = false; }

  [[nodiscard]] bool may_be_on() const noexcept { return wanted_ && !stopping_; }
  [[nodiscard]] bool lost() const noexcept { return lost_; }

 private:
  bool wanted_ = false;
  bool stopping_ = false;
  bool was_ready_ = false;  ///< since power was last wanted
  bool lost_ = false;
};

}  // namespace takt::drives
