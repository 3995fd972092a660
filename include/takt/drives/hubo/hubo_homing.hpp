// The homing sequence of one motor of a Hubo board. It has no bus and no board: the time and the board's
// status go in, the command comes out. So the sequence can be tested alone.
//
//   home command -> the board searches for seconds, and ignores references
//                -> its home flag says success, and its encoder is at zero -> done
//
// The flag of an earlier homing may still be set when the command is sent, and no status shows a running
// search. Hence the flag counts only after `least`; the open-source drivers, too, hold references back for so
// long. The homing fails on a fault, or without success by `most`, and keeps the reason. Real-time safe.
#pragma once

#include <cmath>
#include <cstdint>

#include "takt/can/hubo.hpp"
#include "takt/core/time.hpp"

namespace takt::drives {

/// Options of a homing.
struct HuboHomingOptions {
  Duration least{
      3'000'000'000};  ///< the flag counts only after this: hubo-ach of H holds references back so long
  Duration most{8'000'000'000};  ///< timeout of the search, as in hubo-ach of G
  double tolerance = 0.0075;     ///< rad: largest distance from zero at the end
  std::uint8_t success =
      can::hubo::home_done;  ///< the flag of success; can::hubo::wrist_home_done for DRC-Hubo's wrist roll
};

/// The progress of a homing.
enum class HuboHomingState : std::uint8_t { idle, searching, done, failed };

/// Reason of a failed homing.
enum class HuboHomingFailure : std::uint8_t {
  none,
  board_fault,  ///< the board reports a fault, or lost its power
  no_success,   ///< no success by the timeout
  off_zero,     ///< the flag says success, but the encoder is not at zero
};

/// The homing of one motor.
class HuboHoming {
 public:
  HuboHoming() noexcept = default;
  explicit HuboHoming(HuboHomingOptions options) noexcept : options_(options) {}

  /// Starts the search; the caller sends can::hubo::home(). A running search starts again.
  void start(Time now) noexcept {
    state_ = HuboHomingState::searching;
    failure_ = HuboHomingFailure::none;
    since_ = now;
  }

  /// Declares that the motor has found its home before.
  void assume_done() noexcept { state_ = HuboHomingState::done; }

  /// Handles the status at `now`; `position` is that of the encoder, rad.
  void step(Time now, const can::hubo::MotorStatus& status, double position) noexcept {
    if (state_ != HuboHomingState::searching) return;
    if (status.faulty() || !status.running()) return fail(HuboHomingFailure::board_fault);
    const Duration elapsed = now - since_;
    if (elapsed < options_.least) return;
    const bool is_flagged = is_success(status.home);
    const bool is_at_zero = std::abs(position) <= options_.tolerance;  // false for NaN
    if (is_flagged && is_at_zero) {
      state_ = HuboHomingState::done;
    } else if (elapsed > options_.most) {
      fail(is_flagged ? HuboHomingFailure::off_zero : HuboHomingFailure::no_success);
    }
  }

  /// Back to idle.
  void forget() noexcept { *this = HuboHoming(options_); }

  /// Whether this flag says that the motor has found its home.
  [[nodiscard]] bool is_success(std::uint8_t flag) const noexcept { return flag == options_.success; }
  [[nodiscard]] HuboHomingState state() const noexcept { return state_; }
  [[nodiscard]] HuboHomingFailure failure() const noexcept { return failure_; }
  [[nodiscard]] bool searching() const noexcept { return state_ == HuboHomingState::searching; }

 private:
  void fail(HuboHomingFailure why) noexcept {
    state_ = HuboHomingState::failed;
    failure_ = why;
  }

  HuboHomingOptions options_;
  Time since_{};
  HuboHomingState state_ = HuboHomingState::idle;
  HuboHomingFailure failure_ = HuboHomingFailure::none;
};

}  // namespace takt::drives
