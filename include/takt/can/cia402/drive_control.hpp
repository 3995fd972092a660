// The master of one CiA 402 drive. Each cycle it takes the drive's feedback and a demand, and returns the
// command. It has no bus, and uses the drive's own units.
//
//     control.heard(feedback, time);        // for each received transmit PDO
//     command = control.step(demand, now);  // each cycle, into its receive PDO
//
// Rules that start a drive without a jump, and keep it off when it must be off:
// - One transition of the state machine per cycle, towards Demand::target (state.hpp).
// - Operation is enabled only after the drive has confirmed its mode (6061h = 6060h).
// - A mode change of an enabled drive takes effect when the drive confirms it. Until then the reported mode
//   keeps its last setpoints. All other setpoints are chosen so that the new mode does not move the drive
//   either. If the drive does not confirm within DriveOptions::silence, or has to halt, velocity and torque
//   are zero. In profile modes and homing, halt then comes and goes, each time for longer. Reason: some
//   drives change their mode only at rest, others (ENGEL HBI) not while bit 8 is set.
// - While operation is certainly not enabled, the target position is the measured one. Velocity and torque
//   are zero.
// - A fault stays until Demand::clear_fault. Then bit 7 rises several times. Each pulse and each pause is
//   twice as long as the one before. So a drive that reads its control word only every 80th cycle sees an
//   edge.
// - Demand::clear_fault also requests a refused mode again.
// - Profile position: each new target uses the handshake of bits 4 and 12; the latest target wins.
// - Homing runs while Demand::home is set. Reports about an earlier homing are ignored.
// - A drive without feedback for too long is silent, and has no state until it answers again.
// - A drive that became silent while enabled may still be enabled. It is held at its last target position,
//   without velocity and torque. It stays held after it answers again, until Demand::target was something
//   other than operation_enabled. Reason: the demand has moved on meanwhile.
// - One invalid status word changes nothing: an enabled drive continues.
//
// Real-time safe and usable in constant expressions. One thread.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>

#include "takt/can/cia402/process_data.hpp"
#include "takt/core/time.hpp"

namespace takt::can::cia402 {

/// The demand to a drive, in the drive's own units. Torque in thousandths of the rated torque.
struct Demand {
  Target target = Target::off;
  Mode mode = Mode::cyclic_position;
  bool clear_fault = false;  ///< set it for one cycle
  /// Profile modes and homing: sets bit 8. Cyclic modes: holds the last position, without velocity and
  /// torque.
  bool halt = false;
  bool home = false;  ///< in Mode::homing: run homing
  std::int32_t position = 0;
  std::int32_t velocity = 0;
  std::int16_t torque = 0;
};

/// The options of one drive.
struct DriveOptions {
  Duration silence{50'000'000};                  ///< without a valid state for longer, a drive is silent
  Duration mode_timeout{1'000'000'000};          ///< a mode that is not confirmed within this time is refused
  QuickStop quick_stop = QuickStop::quick_ramp;  ///< the value of object 605Ah
};

/// The state of one drive's master.
class DriveControl {
 public:
  explicit constexpr DriveControl(const DriveOptions& options = {}) noexcept : options_(options) {}

  // ---- Feedback of the drive

  /// Takes the feedback of a transmit PDO that was received at `time`.
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
  /// Forgets all feedback, for a drive that was restarted.
  constexpr void reset() noexcept { *this = DriveControl(options_); }

  /// Returns whether any feedback was received.
  [[nodiscard]] constexpr bool heard() const noexcept { return heard_; }
  /// The time of the last feedback.
  [[nodiscard]] constexpr Time heard_at() const noexcept { return heard_at_; }
  /// Returns whether the drive was silent for too long at the last step().
  [[nodiscard]] constexpr bool silent() const noexcept { return silent_; }
  /// The number of steps, and so of SYNCs, since the last feedback.
  [[nodiscard]] constexpr std::uint32_t unanswered() const noexcept { return unanswered_; }
  /// The last feedback.
  [[nodiscard]] constexpr const Feedback& feedback() const noexcept { return feedback_; }
  /// The state of the drive; nullopt before the first feedback, while silent, and for an invalid status word.
  [[nodiscard]] constexpr std::optional<State> state() const noexcept {
    return heard_ && !silent_ ? state_of(feedback_.status_word) : std::nullopt;
  }
  /// Returns whether the state is operation_enabled.
  [[nodiscard]] constexpr bool enabled() const noexcept { return state() == State::operation_enabled; }
  /// Returns whether the last valid state was operation_enabled, however old it is.
  [[nodiscard]] constexpr bool may_be_enabled() const noexcept {
    return last_state_ == State::operation_enabled;
  }
  /// Returns whether the drive became silent while enabled. It is held until Demand::target is not
  /// operation_enabled, or until it answers again and Demand::clear_fault is set.
  [[nodiscard]] constexpr bool held() const noexcept { return held_; }
  /// Returns whether the drive reports the mode of the last command.
  [[nodiscard]] constexpr bool mode_confirmed() const noexcept {
    return heard_ && feedback_.mode == command_.mode && command_.mode != Mode::none;
  }
  /// Returns whether the drive did not confirm the mode in time: it lacks the mode, or refuses it now.
  [[nodiscard]] constexpr bool mode_refused() const noexcept { return mode_refused_; }

  /// Returns bit 10 of the status word if it refers to the latest target. False while the drive is not
  /// enabled. In profile position it is false until the drive has acknowledged the target.
  [[nodiscard]] constexpr bool target_reached() const noexcept {
    if (!enabled() || held_ || !mode_confirmed()) return false;
    if (command_.mode == Mode::profile_position && !(sent_ && handshake_ == Handshake::idle)) return false;
    return (feedback_.status_word & status::target_reached) != 0;
  }
  /// The state of the latest homing.
  [[nodiscard]] constexpr Homing homing() const noexcept { return homing_; }

  // ---- Commands to the drive

  /// Returns the command of this cycle. Call it once per cycle.
  [[nodiscard]] constexpr Command step(const Demand& demand, Time now) noexcept {
    silent_ = heard_ && now - told_at_ > options_.silence;
    if (unanswered_ < UINT32_MAX) ++unanswered_;
    held_ = demand.target == Target::operation_enabled && may_be_enabled() &&
            (silent_ || (held_ && !demand.clear_fault));
    follow_mode(demand, now);
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
      keep_to(feedback_.mode, demand.halt, now - mode_since_);
    }
    if (reset_pulse(demand.clear_fault)) command_.control_word |= control::fault_reset;
    return command_;
  }

 private:
  // Bit 7 is high for 5 cycles, low for 10, high for 20, low for 40, high for 80.
  static constexpr std::uint32_t pulse_cycles = 5;
  static constexpr std::uint32_t reset_cycles = 31 * pulse_cycles;
  /// After this time since the start of homing, the drive's reports no longer refer to an earlier homing.
  static constexpr Duration settling{100'000'000};

  /// Limits the target to switched_on until the mode is confirmed.
  [[nodiscard]] constexpr Target permitted(Target target) const noexcept {
    const bool enables = target == Target::operation_enabled && !enabled();
    return enables && !mode_confirmed() ? Target::switched_on : target;
  }

  constexpr void follow_mode(const Demand& demand, Time now) noexcept {
    const bool is_new = demand.mode != command_.mode;
    command_.mode = demand.mode;
    if (is_new) forget_handshakes();
    if (is_new || demand.clear_fault || mode_confirmed()) {
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
  /// Setpoints while the mode is not confirmed, which lasts `since`: the drive is in this mode, or already in
  /// the commanded one.
  constexpr void keep_to(Mode mode, bool halts, Duration since) noexcept {
    const bool may_move = !halts && since <= options_.silence;
    if (mode != Mode::cyclic_position) command_.position = feedback_.position;
    if (!may_move || (mode != Mode::cyclic_velocity && mode != Mode::profile_velocity)) command_.velocity = 0;
    if (!may_move || mode != Mode::cyclic_torque) command_.torque = 0;
    // Without halt, profile position continues to its old target. Homing stands, since bit 4 is low.
    const auto span =
        static_cast<std::uint64_t>((since - Duration(1)) / std::max(options_.silence, Duration(1)));
    const bool stays = halts && mode == Mode::profile_position;
    if (!is_cyclic(mode) && (stays || !is_in_odd_span(halts ? span + 1 : span)))
      command_.control_word |= control::halt;
  }
  /// Whether the number, counted from 0, is in the first, third or fifth of spans with 1, 2, 4, 8 ...
  /// numbers.
  [[nodiscard]] static constexpr bool is_in_odd_span(std::uint64_t number) noexcept {
    return std::bit_width(number + 1) % 2 == 1;
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

  /// Returns whether bit 7 is high in this cycle.
  constexpr bool reset_pulse(bool ordered) noexcept {
    if (ordered) reset_cycle_ = 0;
    if (last_state_ != State::fault) reset_cycle_ = reset_cycles;
    if (reset_cycle_ == reset_cycles) return false;
    return is_in_odd_span(reset_cycle_++ / pulse_cycles);
  }

  enum class Handshake : std::uint8_t { idle, offered, taken };

  DriveOptions options_;
  Feedback feedback_{};
  std::optional<State> last_state_;  ///< the last valid state
  Command command_{};
  Time heard_at_{};
  Time told_at_{};  ///< time of the last valid state
  Time mode_since_{};
  Time homing_since_{};
  std::uint32_t unanswered_ = 0;
  std::uint32_t reset_cycle_ = reset_cycles;  ///< cycles since the order to clear the fault
  Handshake handshake_ = Handshake::idle;
  Homing homing_ = Homing::idle;
  bool sent_ = false;  ///< profile position: a target was sent since it was enabled
  bool seen_running_ = false;
  bool is_news_ = false;  ///< feedback came since homing began
  bool heard_ = false;
  bool silent_ = false;
  bool held_ = false;
  bool mode_refused_ = false;
};

}  // namespace takt::can::cia402
