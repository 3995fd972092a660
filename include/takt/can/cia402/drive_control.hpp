// One CiA 402 drive, as its master sees it, cycle by cycle: what the drive said goes in, what it is to be told
// comes out. No bus, no units but the drive's own.
//
//     control.heard(feedback, time);                        // whenever its transmit PDO came
//     each cycle:  command = control.step(demand, now);     // into its receive PDO
//
// The rules that make drives come up without a jump, and stay down when they should:
//  * one transition of the state machine per cycle, towards Demand::target (state.hpp);
//  * operation is not enabled before the drive has confirmed its mode (6061h = 6060h). A mode that changes
//    while it is enabled takes effect when it is confirmed. Until then the mode that it says it is in is told what it was told
//    before, and what that mode does not use is such that the new one would not move either; but no longer than a drive may be
//    silent, and not while it is to halt: then it is without velocity and torque, and profile modes and homing are halted;
//  * as long as operation is known not to be enabled, the target position is the measured one, velocity and torque are zero;
//  * a fault stays until Demand::clear_fault; then bit 7 rises, a few times, held long enough for drives that
//    look at their control word less often than every cycle;
//  * profile position: a new target goes through the handshake of bits 4 and 12, the latest one wins;
//  * homing runs while Demand::home says so; what the drive still reports of an earlier one does not count;
//  * a drive that leaves cycles unanswered for too long is silent, and in no state until it is heard again. One that was enabled
//    may be so still: it is held where it was last told to be, without velocity or torque, and also when it is heard
//    again, until something else than operation was wanted of it: the demand has gone on meanwhile;
//  * one status word that makes no sense changes nothing: what was enabled goes on.
//
// Real-time safe and usable in constant expressions.
#pragma once

#include <cstdint>
#include <optional>

#include "takt/can/cia402/process_data.hpp"
#include "takt/core/time.hpp"

namespace takt::can::cia402 {

/// What somebody wants of a drive.
struct Demand {
  Target target = Target::off;
  Mode mode = Mode::cyclic_position;
  bool clear_fault = false;  ///< for one cycle
  bool halt =
      false;  ///< profile modes and homing: bit 8; cyclic modes: hold the last position, no velocity or torque
  bool home = false;  ///< in Mode::homing: run
  std::int32_t position = 0;
  std::int32_t velocity = 0;
  std::int16_t torque = 0;
};

struct DriveOptions {
  Duration silence{50'000'000};                  ///< a drive that tells no state for longer is silent
  Duration mode_timeout{1'000'000'000};          ///< a mode that is not confirmed for longer is refused
  QuickStop quick_stop = QuickStop::quick_ramp;  ///< what stands in object 605Ah
};

class DriveControl {
 public:
  explicit constexpr DriveControl(const DriveOptions& options = {}) noexcept : options_(options) {}

  // ---- What the drive says

  /// A transmit PDO came, at `time`.
  constexpr void heard(const Feedback& feedback, Time time) noexcept {
    const auto told = state_of(feedback.status_word);
    if (told) last_state_ = told;
    if (told || !heard_) told_at_ = time;
    feedback_ = feedback;
    heard_at_ = time;
    heard_ = true;
    unanswered_ = 0;
    is_news_ = true;
  }
  /// Forgets the drive: it was started anew.
  constexpr void reset() noexcept { *this = DriveControl(options_); }

  [[nodiscard]] constexpr bool heard() const noexcept { return heard_; }
  [[nodiscard]] constexpr Time heard_at() const noexcept { return heard_at_; }
  /// Whether it has been silent for too long, as of the last step().
  [[nodiscard]] constexpr bool silent() const noexcept { return silent_; }
  /// Steps, and so SYNCs, since it was last heard.
  [[nodiscard]] constexpr std::uint32_t unanswered() const noexcept { return unanswered_; }
  [[nodiscard]] constexpr const Feedback& feedback() const noexcept { return feedback_; }
  /// Nothing before it was heard, while it is silent, and when its status word makes no sense.
  [[nodiscard]] constexpr std::optional<State> state() const noexcept {
    return heard_ && !silent_ ? state_of(feedback_.status_word) : std::nullopt;
  }
  [[nodiscard]] constexpr bool enabled() const noexcept { return state() == State::operation_enabled; }
  /// Whether it may be enabled, for all that it has said: the last that it told of its state was that it is, however long ago.
  [[nodiscard]] constexpr bool may_be_enabled() const noexcept {
    return last_state_ == State::operation_enabled;
  }
  /// Whether it fell silent when it was enabled, and is held until Demand::target is another one than operation_enabled.
  [[nodiscard]] constexpr bool held() const noexcept { return held_; }
  /// Whether the drive says that it is in the mode that it was last told.
  [[nodiscard]] constexpr bool mode_confirmed() const noexcept {
    return heard_ && feedback_.mode == command_.mode && command_.mode != Mode::none;
  }
  /// The mode was not confirmed in time: the drive does not have it, or not now.
  [[nodiscard]] constexpr bool mode_refused() const noexcept { return mode_refused_; }

  /// Bit 10 of the status word, where it is about the target that was last demanded: in profile position not
  /// before that one is acknowledged, and never while the drive is not enabled.
  [[nodiscard]] constexpr bool target_reached() const noexcept {
    if (!enabled() || held_ || !mode_confirmed()) return false;
    if (command_.mode == Mode::profile_position && !(sent_ && handshake_ == Handshake::idle)) return false;
    return (feedback_.status_word & status::target_reached) != 0;
  }
  /// How far the homing is that was last demanded.
  [[nodiscard]] constexpr Homing homing() const noexcept { return homing_; }

  // ---- What it is told

  /// The command of this cycle.
  [[nodiscard]] constexpr Command step(const Demand& demand, Time now) noexcept {
    silent_ = heard_ && now - told_at_ > options_.silence;
    if (unanswered_ < UINT32_MAX) ++unanswered_;
    held_ = demand.target == Target::operation_enabled && may_be_enabled() && (held_ || silent_);
    follow_mode(demand.mode, now);
    const Command before = command_;
    command_.control_word =
        next_control_word(state(), permitted(demand.target), before.control_word, stays(options_.quick_stop));
    if (!may_be_enabled()) {
      wait_where_it_stands();
    } else if (held_ || silent_) {
      hold();
    } else if (mode_confirmed()) {
      obey(demand, now);
    } else {
      keep_to(feedback_.mode, !demand.halt && now - mode_since_ <= options_.silence);
    }
    if (reset_pulse(demand.clear_fault)) command_.control_word |= control::fault_reset;
    return command_;
  }

 private:
  static constexpr int pulse_cycles = 5;  // high, and low, for so long
  static constexpr int pulses = 4;
  /// Since homing began; after it old news of another one are no longer to be feared.
  static constexpr Duration settling{100'000'000};

  /// A drive whose mode is not confirmed gets no further than switched on.
  [[nodiscard]] constexpr Target permitted(Target target) const noexcept {
    const bool enables = target == Target::operation_enabled && !enabled();
    return enables && !mode_confirmed() ? Target::switched_on : target;
  }

  constexpr void follow_mode(Mode mode, Time now) noexcept {
    if (mode != command_.mode) {
      command_.mode = mode;
      mode_since_ = now;
      mode_refused_ = false;
      forget_handshakes();
    }
    if (mode_confirmed()) {
      mode_since_ = now;
      mode_refused_ = false;
    } else if (heard_ && !silent_ && now - mode_since_ > options_.mode_timeout) {
      mode_refused_ = true;
    }
  }

  constexpr void forget_handshakes() noexcept {
    handshake_ = Handshake::idle;
    homing_ = Homing::idle;
    sent_ = false;
  }
  constexpr void wait_where_it_stands() noexcept {
    forget_handshakes();
    command_.position = feedback_.position;
    command_.velocity = 0;
    command_.torque = 0;
  }

  constexpr void hold() noexcept {
    forget_handshakes();
    command_.velocity = 0;
    command_.torque = 0;
  }
  /// The drive is in this mode, and may follow the one that it was told before it says so.
  constexpr void keep_to(Mode mode, bool may_move) noexcept {
    if (mode != Mode::cyclic_position) command_.position = feedback_.position;
    if (!may_move || (mode != Mode::cyclic_velocity && mode != Mode::profile_velocity)) command_.velocity = 0;
    if (!may_move || mode != Mode::cyclic_torque) command_.torque = 0;
    if (!may_move && !is_cyclic(mode)) command_.control_word |= control::halt;
  }
  [[nodiscard]] static constexpr bool is_cyclic(Mode mode) noexcept {
    return mode >= Mode::cyclic_position && mode <= Mode::cyclic_torque;
  }

  constexpr void obey(const Demand& demand, Time now) noexcept {
    if (demand.halt && is_cyclic(command_.mode)) return hold();
    if (demand.halt) command_.control_word |= control::halt;
    command_.velocity = demand.velocity;
    command_.torque = demand.torque;
    if (command_.mode == Mode::profile_position) {
      hand_over(demand.position);
    } else {
      command_.position = demand.position;
    }
    if (command_.mode == Mode::homing) run_homing(demand.home, now);
  }

  /// Profile position: bit 4 rises with a new target, bit 12 answers, bit 4 falls, bit 12 falls.
  constexpr void hand_over(std::int32_t position) noexcept {
    const bool acknowledged = (feedback_.status_word & status::setpoint_acknowledge) != 0;
    if (handshake_ == Handshake::offered && acknowledged) handshake_ = Handshake::taken;
    if (handshake_ == Handshake::taken && !acknowledged) handshake_ = Handshake::idle;
    if (handshake_ == Handshake::idle && !acknowledged && (!sent_ || position != command_.position)) {
      command_.position = position;
      sent_ = true;
      handshake_ = Handshake::offered;
    }
    command_.control_word |= control::change_immediately;
    if (handshake_ == Handshake::offered) command_.control_word |= control::new_setpoint;
  }

  constexpr void run_homing(bool wanted, Time now) noexcept {
    if (!wanted) {
      homing_ = Homing::idle;
      return;
    }
    if (homing_ == Homing::idle) {
      homing_ = Homing::running;
      seen_running_ = false;
      is_news_ = false;
      homing_since_ = now;
    } else if (homing_ == Homing::running && is_news_) {
      const Homing reported = homing_of(feedback_.status_word);
      if (reported == Homing::running) seen_running_ = true;
      if (seen_running_ || now - homing_since_ >= settling) homing_ = reported;
    }
    if (homing_ == Homing::running) command_.control_word |= control::start_homing;
  }

  /// Whether bit 7 is high in this cycle.
  constexpr bool reset_pulse(bool ordered) noexcept {
    if (ordered) clearing_ = 2 * pulse_cycles * pulses;
    if (state() != State::fault) clearing_ = 0;
    if (clearing_ == 0) return false;
    --clearing_;
    return clearing_ / pulse_cycles % 2 == 1;
  }

  enum class Handshake : std::uint8_t { idle, offered, taken };

  DriveOptions options_;
  Feedback feedback_{};
  std::optional<State> last_state_;  ///< that it told
  Command command_{};
  Time heard_at_{};
  Time told_at_{};  ///< when it last told a state
  Time mode_since_{};
  Time homing_since_{};
  std::uint32_t unanswered_ = 0;
  int clearing_ = 0;  ///< cycles left of the pulses of bit 7
  Handshake handshake_ = Handshake::idle;
  Homing homing_ = Homing::idle;
  bool sent_ = false;  ///< profile position: some target since it was enabled
  bool seen_running_ = false;
  bool is_news_ = false;  ///< it was heard since homing began
  bool heard_ = false;
  bool silent_ = false;
  bool held_ = false;
  bool mode_refused_ = false;
};

}  // namespace takt::can::cia402
