// The master of one Hubo board, of any kind: its start-up and shut-down sequence, and its last replies. It
// has no bus and no joints: replies go in, commands and references come out. So the sequence can be tested
// alone. The differences between the kinds are in drives/hubo/hubo_kind.hpp.
//
// The start-up sequence waits in each step for the status that confirms the last one, and repeats the step if
// none comes:
//
//   status and encoders heard -> initialise (not if the board runs already)
//                             -> driver on -> control on -> home, if configured -> ready
//
// A hybrid board gets its control mode just before control on, since no status shows it. No status shows
// whether a board was initialised, either. Hence initialise is repeated in two cases. One is a fault of a
// board that has not run yet (a few times). The other is driver on that stays unanswered a few times, also
// later, since a board that has run may have lost its power unnoticed.
//
// From the first step on, the board gets its measured position as reference, several cycles before control
// on. Otherwise a board with an older reference would jump, because commands overtake references on the bus.
// Commanded references go only to ready motors; while a board searches its homes, none of its motors is
// ready.
//
// Switching off sends `control off` and `driver off` at once, and repeats them until the status shows both.
// Only then can the board start again. A motor that was ready and goes off without a command is at fault
// (power_lost). Clearing the fault, or switching the motor off, ends it. Real-time safe.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "takt/can/hubo.hpp"
#include "takt/core/time.hpp"
#include "takt/drives/drive_watch.hpp"
#include "takt/drives/hubo/hubo_homing.hpp"
#include "takt/drives/hubo/hubo_kind.hpp"
#include "takt/robot/hardware.hpp"

namespace takt::drives {

/// The dialect and timing of a board.
struct HuboOptions {
  can::hubo::Dialect dialect = can::hubo::Dialect::podo;  ///< of the status frames
  int repeat_cycles = 10;  ///< a power command without an answering status is repeated after so many cycles
  double velocity_smoothing =
      0.5;  ///< 0..1: weight of the newest difference in the velocity; 1 = no smoothing
  /// Motors that are not at home search it before they are ready. The search moves them for seconds, so keep
  /// their path free. Two-channel boards only: the status of the others has no home flag.
  bool home_at_start = false;
  HuboHomingOptions homing{};
};

/// One board, as its master sees it.
template <can::hubo::BoardKind kind>
class HuboBoardMaster {
  using Kind = HuboKind<kind>;

 public:
  static constexpr std::size_t channels = can::hubo::channels_of(kind);
  static constexpr std::uint8_t halves = Kind::halves;  ///< frames in which the encoders answer

  /// The part of a command that this motor follows.
  [[nodiscard]] static constexpr CommandMode mode_of(std::size_t channel) noexcept {
    return channel < Kind::positions ? CommandMode::position : CommandMode::effort;
  }

  /// The power commands of one cycle, at most two.
  struct PowerCommands {
    std::array<can::hubo::Command, 2> list{};
    std::size_t count = 0;
  };

  explicit HuboBoardMaster(std::uint8_t board, HuboOptions options = {}) noexcept
      : options_(options), board_(board) {
    options_.home_at_start = options.home_at_start && Kind::says_home;
    for (Motor& motor : motors_) motor.homing = HuboHoming(options.homing);
  }

  /// Attaches a joint to `channel`. The scale must be finite and not 0. For a joint in effort mode,
  /// `rated_effort` (N m at the largest word) must be above 0.
  void attach(std::size_t channel, double counts_per_radian, double rated_effort = 0) noexcept {
    motors_[channel].attached = true;
    motors_[channel].counts_per_radian = Kind::counts_per_radian(counts_per_radian);
    motors_[channel].rated_effort = std::copysign(rated_effort, counts_per_radian);
  }
  /// Returns the board's number.
  [[nodiscard]] std::uint8_t board() const noexcept { return board_; }
  /// Returns the dialect of its status frames.
  [[nodiscard]] can::hubo::Dialect dialect() const noexcept { return options_.dialect; }
  /// Whether a joint is attached to this channel.
  [[nodiscard]] bool attached(std::size_t channel) const noexcept { return motors_[channel].attached; }

  // ---- Frames from the board

  /// Handles a reply that ended on the bus at `time`.
  void heard(const typename Kind::Encoders& reply, Time time) noexcept {
    const std::size_t half = Kind::half_of(reply);
    const double elapsed = to_seconds(time - encoder_times_[half]);
    const std::size_t first = half * Kind::channels_of_half;
    const std::size_t end = std::min(first + Kind::channels_of_half, channels);
    for (std::size_t i = first; i < end; ++i) {
      Motor& motor = motors_[i];
      const std::int32_t counts = Kind::counts_in(reply, i - first);
      if (halves_heard_[half] && elapsed > 0) {
        const double difference = static_cast<double>(counts) - static_cast<double>(motor.counts);
        const double velocity = difference / motor.counts_per_radian / elapsed;
        motor.velocity += options_.velocity_smoothing * (velocity - motor.velocity);
      }
      motor.counts = counts;
      if (!halves_heard_[half])
        motor.commanded = resting_word(i);  // it may run already, so no other reference is safe
    }
    halves_heard_[half] = true;
    encoder_times_[half] = time;
  }

  /// Handles a status reply that ended on the bus at `time`.
  void heard(const typename Kind::StatusReply& reply, Time time) noexcept {
    const bool was_silent = !status_heard_;
    status_heard_ = true;
    status_is_news_ = true;
    status_time_ = time;
    status_silence_.heard();
    for (std::size_t i = 0; i < channels; ++i) {
      Motor& motor = motors_[i];
      motor.status = reply.motors[i];
      // A board that was silent may have booted. Without its flag, it has lost its home.
      if (was_silent && motor.homing.state() == HuboHomingState::done &&
          !motor.homing.is_success(motor.status.home))
        motor.homing.forget();
      if (options_.home_at_start) step_homing(motor, position(i), time);
      if (motor.status.running() && want_power_ && !stopping_) motor.was_ready = true;
      if (motor.was_ready && !motor.status.running() && !motor.status.faulty())
        motor.own_faults |= can::hubo::fault::power_lost;
    }
    if (!any_on()) stopping_ = false;
    if (!faulty()) clears_left_ = 0;
  }

  /// Takes the page that identity_request() requested.
  void heard(const can::hubo::BoardParameters& page) noexcept { board_type_ = page.board_type; }

  /// Call it once per cycle, after the replies. The status is forgotten if none came in `limit` cycles.
  void check_silence(std::uint32_t limit) noexcept {
    status_silence_.pass_cycle(limit);
    if (status_silence_.silent()) status_heard_ = false;
  }

  // ---- The board's identity

  /// Lets identity_request() return requests, `identity_attempts` at most.
  void ask_identity() noexcept { identity_questions_ = identity_attempts; }
  /// The next request for the board's type, until it has answered.
  [[nodiscard]] std::optional<can::hubo::Command> identity_request() noexcept {
    if (board_type_ || identity_questions_ == 0) return std::nullopt;
    --identity_questions_;
    identity_asked_ = true;
    return can::hubo::parameter_request(board_, can::hubo::ParameterPage::g);
  }
  /// Whether the next frame with parameters is an answer. The frame itself does not show it.
  [[nodiscard]] bool awaits_identity() const noexcept { return identity_asked_ && !board_type_; }
  /// The board's own number for its type; no public list of them exists.
  [[nodiscard]] std::optional<std::uint8_t> board_type() const noexcept { return board_type_; }

  // ---- Feedback for its joints

  /// Whether position() and velocity() of the motors, in joint units, are known.
  [[nodiscard]] bool encoders_heard() const noexcept {
    return std::all_of(halves_heard_.begin(), halves_heard_.end(), [](bool heard) { return heard; });
  }
  /// Time of the encoder reply; of the older half, if the board answers in two.
  [[nodiscard]] Time encoder_time() const noexcept {
    return *std::min_element(encoder_times_.begin(), encoder_times_.end());
  }
  /// Position in joint units, rad.
  [[nodiscard]] double position(std::size_t channel) const noexcept {
    return can::hubo::to_radians(motors_[channel].counts, motors_[channel].counts_per_radian);
  }
  /// Velocity in joint units, rad/s.
  [[nodiscard]] double velocity(std::size_t channel) const noexcept { return motors_[channel].velocity; }

  /// The motor's state, for its joint.
  [[nodiscard]] DriveState state(std::size_t channel) const noexcept {
    const Motor& motor = motors_[channel];
    if (motor.faulty()) return DriveState::fault;  // also if the board is silent since
    if (!status_heard_) return DriveState::unknown;
    return motor.status.running() && is_home() ? DriveState::ready : DriveState::off;
  }
  /// The bits of JointFeedback::fault.
  [[nodiscard]] std::uint32_t faults(std::size_t channel) const noexcept {
    const Motor& motor = motors_[channel];
    return motor.status.faults | motor.own_faults;
  }
  /// The homing of this motor.
  [[nodiscard]] const HuboHoming& homing(std::size_t channel) const noexcept {
    return motors_[channel].homing;
  }
  /// Whether the board searches the homes of its motors.
  [[nodiscard]] robot::HomeState home_search() const noexcept {
    if (!options_.home_at_start) return robot::HomeState::none;
    return is_home() ? robot::HomeState::at_home : robot::HomeState::due;
  }
  /// Whether a motor of the board searches its home. Then its status is requested in each cycle, and it gets
  /// no reference.
  [[nodiscard]] bool searching() const noexcept {
    return options_.home_at_start && any([](const Motor& motor) { return motor.homing.searching(); });
  }

  // ---- Commands for the board

  /// The power commands of this cycle. `clear_fault` starts a few attempts. With `may_be_ordered` false,
  /// while the bus still holds earlier commands, it gives none; they follow later.
  [[nodiscard]] PowerCommands power(bool want_power, bool clear_fault, bool may_be_ordered = true) noexcept {
    PowerCommands commands;
    const auto send = [&](const can::hubo::Command& command) noexcept {
      commands.list[commands.count++] = command;
    };
    ++cycles_since_step_;

    if (!want_power && want_power_) begin_stop();
    want_power_ = want_power;
    if (clear_fault) begin_clear();

    if (!may_be_ordered) return commands;
    if (!status_is_news_ && cycles_since_step_ < options_.repeat_cycles) return commands;
    if (stopping_ || (!want_power_ && (!status_heard_ || any_on()))) {
      send(can::hubo::control(board_, false));
      send(can::hubo::driver(board_, false));
    } else if (clears_left_ > 0) {
      --clears_left_;
      send(can::hubo::initialise(board_));
    } else if (want_power_ && status_heard_ && encoders_heard()) {
      if (const auto step = next_step()) {
        if (kind == can::hubo::BoardKind::hybrid && step->code == can::hubo::CommandCode::control_on)
          send(can::hubo::control_mode(board_, can::hubo::ControlMode::hybrid));
        send(*step);
      } else if (options_.home_at_start && !faulty() && !searching()) {
        if (const auto order = home_next()) send(*order);
      }
    }
    if (commands.count > 0) {
      status_is_news_ = false;
      cycles_since_step_ = 0;
    }
    return commands;
  }

  /// Takes a motor's command, and drops it while the motor is not ready. Returns false for NaN, infinity or
  /// another mode than the motor's. Then the last good position holds, and an effort is 0, because an effort
  /// does not end by itself.
  [[nodiscard]] bool command(std::size_t channel, const JointCommand& command) noexcept {
    Motor& motor = motors_[channel];
    const bool has_position = channel < Kind::positions;
    const auto word = has_position ? Kind::position_word(command.position, motor.counts_per_radian)
                                   : Kind::effort_word(command.effort / motor.rated_effort);
    const bool good = command.mode == mode_of(channel) && word;
    if (good && state(channel) == DriveState::ready) motor.commanded = *word;
    if (!good && !has_position) motor.commanded = resting_word(channel);
    return good;
  }

  /// The references of this cycle; std::nullopt if the board is to get none. Ready motors get the commanded
  /// ones; the others get their measured position and no effort. A silent board holds positions by itself,
  /// but does not end an effort. Hence a silent board with efforts gets an effort of 0, and its last
  /// positions.
  [[nodiscard]] std::optional<typename Kind::Reference> reference() noexcept {
    for (std::size_t i = 0; i < channels; ++i) {
      const bool holds = i < Kind::positions && !status_heard_;
      if (state(i) != DriveState::ready && !holds) motors_[i].commanded = resting_word(i);
    }
    const bool is_known = Kind::positions == 0 || encoders_heard();
    const bool is_heard = Kind::positions < channels || status_heard_;
    if (!want_power_ || stopping_ || searching() || !is_known || !is_heard) return std::nullopt;
    return Kind::reference(board_, motors_);
  }

 private:
  static constexpr int clear_attempts = 3;
  static constexpr int identity_attempts = 3;
  static constexpr int driver_attempts = 3;  ///< unanswered; then the board is initialised again

  struct Motor {
    bool attached = false;
    bool was_ready = false;        ///< since power was last wanted
    std::uint32_t own_faults = 0;  ///< faults set by the master: power_lost, homing_failed
    double counts_per_radian = 1;
    double rated_effort = 0;     ///< N m at the largest word of effort, in the motor's direction
    double velocity = 0;         ///< rad/s
    std::int32_t counts = 0;     ///< last received
    std::int32_t commanded = 0;  ///< word of the last good command, or of its stop
    can::hubo::MotorStatus status;
    HuboHoming homing;

    [[nodiscard]] bool faulty() const noexcept { return status.faulty() || own_faults != 0; }
  };

  [[nodiscard]] std::int32_t resting_word(std::size_t channel) const noexcept {
    return channel < Kind::positions ? Kind::resting_word(motors_[channel].counts) : 0;
  }

  static void step_homing(Motor& motor, double position, Time now) noexcept {
    if (!motor.homing.searching()) return;
    motor.homing.step(now, motor.status, position);
    if (motor.homing.state() == HuboHomingState::failed) motor.own_faults |= can::hubo::fault::homing_failed;
    motor.commanded = motor.counts;  // earlier commands and measurements had another zero
    motor.velocity = 0;
  }
  /// Whether all motors are at home. Until then the whole board gets no references.
  [[nodiscard]] bool is_home() const noexcept {
    return !options_.home_at_start || !any([](const Motor& motor) {
      return motor.homing.state() == HuboHomingState::idle || motor.homing.searching();
    });
  }

  template <class Predicate>
  [[nodiscard]] bool any(Predicate predicate) const noexcept {
    for (const Motor& motor : motors_) {
      if (motor.attached && predicate(motor)) return true;
    }
    return false;
  }
  [[nodiscard]] bool faulty() const noexcept {
    return any([](const Motor& motor) { return motor.faulty(); });
  }
  [[nodiscard]] bool any_on() const noexcept {
    return any([](const Motor& motor) { return motor.status.driver_on || motor.status.control_on; });
  }

  void begin_stop() noexcept {
    stopping_ = true;
    status_is_news_ = true;  // this command goes out now, without waiting for a status
    forget_losses();
  }
  void begin_clear() noexcept {
    forget_losses();
    if (!faulty()) return;  // initialise might stop a working board
    clears_left_ = clear_attempts;
    status_is_news_ = true;
  }
  /// A motor that lost its power and reports no home has lost its home. An interrupted search starts again.
  void forget_losses() noexcept {
    for (Motor& motor : motors_) {
      if (motor.own_faults != 0 || motor.homing.state() != HuboHomingState::done) motor.homing.forget();
      motor.was_ready = false;
      motor.own_faults = 0;
    }
  }

  /// Whether to send initialise: the first time, and again when it seems lost.
  [[nodiscard]] bool must_initialise() const noexcept {
    if (!has_run_ && (initialises_ == 0 || faulty())) return initialises_ < clear_attempts;
    return !faulty() && driver_attempts_ >= driver_attempts;
  }

  [[nodiscard]] std::optional<can::hubo::Command> next_step() noexcept {
    // A board that runs needs no command: so in nearly every cycle.
    if (has_run_ && !any([](const Motor& motor) { return !motor.status.running(); })) return std::nullopt;
    if (any([](const Motor& motor) { return motor.status.running(); })) {
      has_run_ = true;
      driver_attempts_ = 0;
    }
    if (must_initialise()) {
      ++initialises_;
      driver_attempts_ = 0;
      return can::hubo::initialise(board_);
    }
    if (faulty()) return std::nullopt;
    if (any([](const Motor& motor) { return !motor.status.driver_on; })) {
      ++driver_attempts_;
      return can::hubo::driver(board_, true);
    }
    if (any([](const Motor& motor) { return !motor.status.control_on; }))
      return can::hubo::control(board_, true);
    return std::nullopt;
  }

  /// The command to the next motor that must search its home. One at a time, since they might collide.
  [[nodiscard]] std::optional<can::hubo::Command> home_next() noexcept {
    for (std::size_t i = 0; i < channels; ++i) {
      Motor& motor = motors_[i];
      if (!motor.attached || motor.homing.state() != HuboHomingState::idle) continue;
      if (motor.homing.is_success(motor.status.home)) {
        motor.homing.assume_done();
        continue;
      }
      motor.homing.start(status_time_);
      return can::hubo::home(board_, static_cast<std::uint8_t>(i));
    }
    return std::nullopt;
  }

  HuboOptions options_;
  std::uint8_t board_;
  std::array<Motor, channels> motors_{};
  std::array<Time, Kind::halves> encoder_times_{};
  std::array<bool, Kind::halves> halves_heard_{};
  Time status_time_{};
  bool status_heard_ = false;    ///< and not too long ago
  bool status_is_news_ = false;  ///< a status came since the last power command
  bool has_run_ = false;         ///< needs no initialise any more
  bool want_power_ = false;
  bool stopping_ = false;  ///< was switched off: nothing is switched on until a status shows off
  int initialises_ = 0;    ///< sent before the first run
  int driver_attempts_ = 0;
  int clears_left_ = 0;
  int cycles_since_step_ = 0;
  std::optional<std::uint8_t> board_type_{};
  int identity_questions_ = 0;  ///< left
  bool identity_asked_ = false;
  SilenceWatch status_silence_;
};

using HuboMaster = HuboBoardMaster<can::hubo::BoardKind::two_channel>;

}  // namespace takt::drives
