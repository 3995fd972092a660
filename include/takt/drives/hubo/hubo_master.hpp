// What a master knows and wants of one Hubo board, of whatever kind: its start-up and shut-down sequence, and what it
// last said. No bus, no joints: replies go in, commands and references come out, so the sequence can be read
// and tested by itself. What the kinds of board do not share is in drives/hubo/hubo_kind.hpp.
//
// A board is brought up step by step; each step waits for the status that shows the one before, and is
// repeated when none comes:
//
//   status and encoders heard -> initialise (not if the board runs already)
//                             -> driver on -> control on -> home, if asked for -> ready
//
// (A hybrid board is told its control mode just before control goes on: no status shows it.)
// No status shows that a board was initialised. Until it has run once, initialise is therefore repeated while
// the board is at fault (a few times), and whenever driver on goes unanswered for a few times.
//
// From the first step on, the board is sent its measured position as reference: cycles before control goes
// on, because a board that holds an older reference would jump, and because commands overtake references on
// the bus. Commanded references go only to motors that are ready: a board whose motors look for their home has none that is.
// Switching off is `control off` and `driver
// off` at once, and again until the status shows both; only then can the board be brought up again. A motor
// that was ready and goes off unasked is at fault (power_lost) until somebody clears the fault or switches it
// off. All of it is real-time safe.
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

struct HuboOptions {
  can::hubo::Dialect dialect = can::hubo::Dialect::podo;  ///< of the status frames
  int repeat_cycles = 10;  ///< a power command that no status answers is sent again after so many cycles
  double velocity_smoothing =
      0.5;  ///< 0..1: weight of the newest difference in the velocity; 1 = no smoothing
  bool home_at_start =
      false;  ///< motors that do not say that they are at home look for it before they are ready:
              ///< for seconds, and by themselves, so nothing must be in their way. Of two-channel boards
              ///< only: the status of the others says nothing of a home
  HuboHomingOptions homing{};
};

/// One board, as its master sees it.
template <can::hubo::BoardKind kind>
class HuboBoardMaster {
  using Kind = HuboKind<kind>;

 public:
  static constexpr std::size_t channels = can::hubo::channels_of(kind);
  static constexpr std::uint8_t halves = Kind::halves;  ///< in which the encoders answer

  /// Which part of a command this motor follows.
  [[nodiscard]] static constexpr robot::CommandMode mode_of(std::size_t channel) noexcept {
    return channel < Kind::positions ? robot::CommandMode::position : robot::CommandMode::effort;
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

  /// Says that a joint is on `channel`. The scale must be finite and not 0, the effort that its most gives above 0 where it is
  /// driven by effort.
  void attach(std::size_t channel, double counts_per_radian, double rated_effort = 0) noexcept {
    motors_[channel].attached = true;
    motors_[channel].counts_per_radian = Kind::counts_per_radian(counts_per_radian);
    motors_[channel].rated_effort = std::copysign(rated_effort, counts_per_radian);
  }
  [[nodiscard]] std::uint8_t board() const noexcept { return board_; }
  [[nodiscard]] can::hubo::Dialect dialect() const noexcept { return options_.dialect; }
  [[nodiscard]] bool attached(std::size_t channel) const noexcept { return motors_[channel].attached; }

  // ---- What the board says

  /// A reply that ended on the bus at `time`.
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
        motor.commanded = resting_word(i);  // it may run already: nothing else is good yet
    }
    halves_heard_[half] = true;
    encoder_times_[half] = time;
  }

  void heard(const typename Kind::StatusReply& reply, Time time) noexcept {
    status_heard_ = true;
    status_is_news_ = true;
    status_time_ = time;
    status_silence_.heard();
    for (std::size_t i = 0; i < channels; ++i) {
      Motor& motor = motors_[i];
      motor.status = reply.motors[i];
      if (options_.home_at_start) step_homing(motor, position(i), time);
      if (motor.status.running() && want_power_ && !stopping_) motor.was_ready = true;
      if (motor.was_ready && !motor.status.running() && !motor.status.faulty())
        motor.own_faults |= can::hubo::fault::power_lost;
    }
    if (!any_on()) stopping_ = false;
    if (!faulty()) clears_left_ = 0;
  }

  /// The page that identity_request() asked for.
  void heard(const can::hubo::BoardParameters& page) noexcept { board_type_ = page.board_type; }

  /// Once per cycle, after its replies: forgets the status when none came in `limit` cycles.
  void check_silence(std::uint32_t limit) noexcept {
    status_silence_.pass_cycle(limit);
    if (status_silence_.silent()) status_heard_ = false;
  }

  // ---- What the board is

  /// From now on identity_request() asks, a few times at most.
  void ask_identity() noexcept { identity_questions_ = identity_attempts; }
  /// The next question for the board's type, while there is no answer.
  [[nodiscard]] std::optional<can::hubo::Command> identity_request() noexcept {
    if (board_type_ || identity_questions_ == 0) return std::nullopt;
    --identity_questions_;
    identity_asked_ = true;
    return can::hubo::parameter_request(board_, can::hubo::ParameterPage::g);
  }
  /// Whether a frame with parameters is an answer: nothing in it says so.
  [[nodiscard]] bool awaits_identity() const noexcept { return identity_asked_ && !board_type_; }
  /// As the board numbers its kinds: a number without a public list.
  [[nodiscard]] std::optional<std::uint8_t> board_type() const noexcept { return board_type_; }

  // ---- What its joints are told

  /// Position and velocity of a motor in joint units, once encoders_heard().
  [[nodiscard]] bool encoders_heard() const noexcept {
    return std::all_of(halves_heard_.begin(), halves_heard_.end(), [](bool heard) { return heard; });
  }
  /// Of the older half, if the board answers in two.
  [[nodiscard]] Time encoder_time() const noexcept {
    return *std::min_element(encoder_times_.begin(), encoder_times_.end());
  }
  [[nodiscard]] double position(std::size_t channel) const noexcept {
    return can::hubo::to_radians(motors_[channel].counts, motors_[channel].counts_per_radian);
  }
  [[nodiscard]] double velocity(std::size_t channel) const noexcept { return motors_[channel].velocity; }

  [[nodiscard]] robot::DriveState state(std::size_t channel) const noexcept {
    const Motor& motor = motors_[channel];
    if (motor.faulty()) return robot::DriveState::fault;  // also when the board has fallen silent since
    if (!status_heard_) return robot::DriveState::unknown;
    return motor.status.running() && is_home() ? robot::DriveState::ready : robot::DriveState::off;
  }
  [[nodiscard]] std::uint32_t faults(std::size_t channel) const noexcept {
    const Motor& motor = motors_[channel];
    return motor.status.faults | motor.own_faults;
  }
  [[nodiscard]] const HuboHoming& homing(std::size_t channel) const noexcept {
    return motors_[channel].homing;
  }
  /// Whether a motor of the board looks for its home: its status is asked for in each cycle then, and it has no reference.
  [[nodiscard]] bool searching() const noexcept {
    return options_.home_at_start && any([](const Motor& motor) { return motor.homing.searching(); });
  }

  // ---- What the board is told

  /// The power commands of this cycle. `clear_fault` orders a few attempts. Without `may_be_ordered`, as while the bus has
  /// not taken earlier commands, it gives none; they follow later.
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

  /// Takes a command, which is forgotten while the motor is not ready; false if it is of another mode than the motor's, or not a
  /// number: then the last good position stands, and an effort is none, which would go on moving by itself.
  [[nodiscard]] bool command(std::size_t channel, const robot::JointCommand& command) noexcept {
    Motor& motor = motors_[channel];
    const bool has_position = channel < Kind::positions;
    const auto word = has_position ? Kind::position_word(command.position, motor.counts_per_radian)
                                   : Kind::effort_word(command.effort / motor.rated_effort);
    const bool good = command.mode == mode_of(channel) && word;
    if (good && state(channel) == robot::DriveState::ready) motor.commanded = *word;
    if (!good && !has_position) motor.commanded = resting_word(channel);
    return good;
  }

  /// The references of this cycle, if the board is to have any: commanded ones for motors that are ready; for the others the
  /// measured position, and no effort. A board that is not heard any more holds its positions by itself, but goes on with an
  /// effort: one that takes efforts is told to let go, and to hold where it was told last.
  [[nodiscard]] std::optional<typename Kind::Reference> reference() noexcept {
    for (std::size_t i = 0; i < channels; ++i) {
      const bool holds = i < Kind::positions && !status_heard_;
      if (state(i) != robot::DriveState::ready && !holds) motors_[i].commanded = resting_word(i);
    }
    const bool is_known = Kind::positions == 0 || encoders_heard();
    const bool is_heard = Kind::positions < channels || status_heard_;
    if (!want_power_ || stopping_ || searching() || !is_known || !is_heard) return std::nullopt;
    return Kind::reference(board_, motors_);
  }

 private:
  static constexpr int clear_attempts = 3;
  static constexpr int identity_attempts = 3;
  static constexpr int driver_attempts = 3;  ///< unanswered, then the board is initialised again

  struct Motor {
    bool attached = false;
    bool was_ready = false;        ///< since power was last wanted
    std::uint32_t own_faults = 0;  ///< that the board does not know: power_lost, homing_failed
    double counts_per_radian = 1;
    double rated_effort = 0;     ///< N m at the largest word of effort, in the motor's direction
    double velocity = 0;         ///< rad/s
    std::int32_t counts = 0;     ///< as last heard
    std::int32_t commanded = 0;  ///< the word of the last good command, or of its rest
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
    motor.commanded = motor.counts;  // what was commanded and measured before had another zero
    motor.velocity = 0;
  }
  /// Whether no motor has to look for its home any more: till then the whole board is without references.
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
    status_is_news_ = true;  // whatever was asked before: this goes out now
    forget_losses();
  }
  void begin_clear() noexcept {
    forget_losses();
    if (!faulty()) return;  // initialising a board that works might stop it
    clears_left_ = clear_attempts;
    status_is_news_ = true;
  }
  /// A motor that lost its power has lost its home too, if it says so; one that was still on its way there begins anew.
  void forget_losses() noexcept {
    for (Motor& motor : motors_) {
      if (motor.own_faults != 0 || motor.homing.state() != HuboHomingState::done) motor.homing.forget();
      motor.was_ready = false;
      motor.own_faults = 0;
    }
  }

  /// The first time, and again when it seems to have been lost.
  [[nodiscard]] bool must_initialise() const noexcept {
    if (has_run_) return false;
    if (initialises_ == 0) return true;
    return faulty() ? initialises_ < clear_attempts : driver_attempts_ >= driver_attempts;
  }

  [[nodiscard]] std::optional<can::hubo::Command> next_step() noexcept {
    if (any([](const Motor& motor) { return motor.status.running(); })) has_run_ = true;
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

  /// The order to the next motor that has to look for its home: one after the other, as they might be in each other's way.
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
  bool stopping_ = false;  ///< was switched off: until a status shows that, nothing is switched on
  int initialises_ = 0;    ///< sent on the way to the first run
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
