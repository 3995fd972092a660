// How a master brings one motor of a Hubo board to its home. No bus, no board: the time and what the board says go in, the order
// comes out, so that the sequence can be read and tested by itself.
//
//   home ordered -> the board searches, for seconds, and heeds no reference -> its home flag says success, and its encoder
//   stands at zero -> done
//
// The flag of an earlier homing may still stand when the order goes out, and no status says that a search is under way:
// whatever the flag says counts only after `least`, by which the open drivers hold their references back as well. An order
// that finds a fault, or no success by `most`, has failed, and says why. Real-time safe.
#pragma once

#include <cmath>
#include <cstdint>

#include "takt/can/hubo.hpp"
#include "takt/core/time.hpp"

namespace takt::drives {

struct HuboHomingOptions {
  Duration least{3'000'000'000};  ///< before it no flag counts: hubo-ach of H holds references back so long
  Duration most{8'000'000'000};   ///< after it there is no success: that of G does so
  double tolerance = 0.0075;      ///< rad: how far from zero the joint may stand in the end
  std::uint8_t success =
      can::hubo::home_done;  ///< the flag; can::hubo::wrist_home_done for DRC-Hubo's wrist roll
};

enum class HuboHomingState : std::uint8_t { idle, searching, done, failed };

enum class HuboHomingFailure : std::uint8_t {
  none,
  board_fault,  ///< the board reports a fault, or its power went off
  no_success,   ///< the flag never said so
  off_zero,     ///< the flag says so, and the encoder something else
};

class HuboHoming {
 public:
  HuboHoming() noexcept = default;
  explicit HuboHoming(HuboHomingOptions options) noexcept : options_(options) {}

  /// The order goes out now; the caller sends can::hubo::home(). A search that is under way begins anew.
  void start(Time now) noexcept {
    state_ = HuboHomingState::searching;
    failure_ = HuboHomingFailure::none;
    since_ = now;
  }

  /// The board has found its home before.
  void assume_done() noexcept { state_ = HuboHomingState::done; }

  /// What the board says at `now`, and where its encoder stands [rad].
  void step(Time now, const can::hubo::MotorStatus& status, double position) noexcept {
    if (state_ != HuboHomingState::searching) return;
    if (status.faulty() || !status.running()) return fail(HuboHomingFailure::board_fault);
    const Duration elapsed = now - since_;
    if (elapsed < options_.least) return;
    const bool is_flagged = is_success(status.home);
    const bool is_at_zero = std::abs(position) <= options_.tolerance;  // never for what is not a number
    if (is_flagged && is_at_zero) {
      state_ = HuboHomingState::done;
    } else if (elapsed > options_.most) {
      fail(is_flagged ? HuboHomingFailure::off_zero : HuboHomingFailure::no_success);
    }
  }

  /// From the beginning: nothing is known.
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
