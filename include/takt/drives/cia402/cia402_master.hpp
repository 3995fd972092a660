// What a master knows and wants of one CiA 402 drive in the cyclic synchronous modes, position, velocity and torque: its
// configuration by SDO, its NMT start, its state machine, and what its joint is told. No bus: frames of the node go in; what its
// receive PDOs say in each cycle, and now and then an NMT command or an SDO, come out.
//
//   waiting -> pre-operational by NMT -> asking what it is, if wanted -> configuring, one SDO after the other -> NMT start -> running
//
// Whatever fails on the way is begun again after a while, so drives may be switched on at any time. A drive
// that boots again, or is no longer operational, is configured anew; if it was enabled, it is at fault
// (power_lost) until somebody clears the fault or switches it off, as it is when it goes off unasked. One that fell silent while it
// was enabled is held where it was last told to be; its state is unknown, also when it is heard again, until it was switched off.
// A drive with a home to find (Cia402Home) looks for it, by itself, once after each start: it is enabled, in homing mode, and its
// joint is off until it stands at home.
// can/cia402/drive_control.hpp has the rules of the state machine, and of changing the mode. All of it is real-time safe after
// construction.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "takt/can/canopen/configuration.hpp"
#include "takt/can/canopen/emergency.hpp"
#include "takt/can/canopen/nmt.hpp"
#include "takt/can/cia402/drive_control.hpp"
#include "takt/can/quantise.hpp"
#include "takt/core/time.hpp"
#include "takt/drives/cia402/cia402_identity.hpp"
#include "takt/drives/cia402/cia402_setup.hpp"
#include "takt/drives/drive_watch.hpp"
#include "takt/robot/hardware.hpp"

namespace takt::drives {

/// Set in JointFeedback::fault by the master, above the drive's own error code (the latest emergency's).
namespace cia402_fault {
inline constexpr std::uint32_t code = 0xFFFF;
inline constexpr std::uint32_t power_lost = 1U << 16;
inline constexpr std::uint32_t mode_refused = 1U << 17;
inline constexpr std::uint32_t not_configured = 1U << 18;  ///< the drive refused a part of its configuration
inline constexpr std::uint32_t heartbeat_lost = 1U << 19;
inline constexpr std::uint32_t homing_failed = 1U << 20;
}  // namespace cia402_fault

/// One drive, as its master sees it.
class Cia402Master {
 public:
  explicit Cia402Master(const Cia402Setup& setup)
      : timing_(setup.timing),
        configuration_(cia402_configuration(setup)),
        configurator_(setup.node, setup.timing.sdo_timeout),
        identity_(setup.node, setup.timing.sdo_timeout),
        monitor_(3 * setup.timing.heartbeat),
        control_({.silence = setup.timing.silence}),
        home_(setup.home),
        counts_per_radian_(setup.counts_per_radian),
        rated_effort_(std::copysign(setup.rated_effort, setup.counts_per_radian)),
        node_(setup.node) {}

  [[nodiscard]] std::uint8_t node() const noexcept { return node_; }
  [[nodiscard]] const can::cia402::DriveControl& control() const noexcept { return control_; }
  /// The write that the drive refused, if it did, and why.
  [[nodiscard]] const can::canopen::ObjectWrite* refused() const noexcept {
    return not_configured_ ? configurator_.current() : nullptr;
  }
  [[nodiscard]] can::canopen::SdoAbort why_refused() const noexcept { return configurator_.abort(); }

  /// Asks the drive what it is when it is started next, and again at each start until it has answered.
  void ask_identity() noexcept { identity_wanted_ = true; }
  [[nodiscard]] const Cia402Identity& identity() const noexcept { return identity_.identity(); }

  // ---- What the drive says

  /// Its transmit PDO 1. Errors, after which nothing has changed: wrong_format, wrong_length.
  Status heard_pdo(const can::Frame& frame, Time time) noexcept {
    can::cia402::Feedback feedback;
    if (const Status taken = take_transmit_pdo_1(feedback, frame); !taken) return taken;
    if (phase_ != Phase::running) return {};
    note_velocity(feedback.position);
    control_.heard(feedback, asked_);
    stamp_ = time;
    const auto state = control_.state();
    const bool ready = state == can::cia402::State::operation_enabled;
    if (ready) {
      power_.heard_ready();
    } else if (state && in_fault()) {
      power_.heard_fault();
    } else if (state) {
      power_.heard_off();
    }
    return {};
  }
  /// Its transmit PDO 2. The same errors.
  Status heard_second_pdo(const can::Frame& frame) noexcept { return take_transmit_pdo_2(measured_, frame); }
  Status heard_sdo(const can::Frame& frame) noexcept {
    return phase_ == Phase::asking ? identity_.receive(frame) : configurator_.receive(frame);
  }
  void heard(const can::canopen::Heartbeat& heartbeat, Time time) noexcept {
    monitor_.heard(heartbeat.state, asked_);
    const bool fresh_start = phase_ == Phase::running && time - started_at_ < 2 * timing_.heartbeat;
    const bool forgot = heartbeat.state == can::canopen::NmtState::boot_up ||
                        (heartbeat.state != can::canopen::NmtState::operational && !fresh_start);
    if (forgot && phase_ == Phase::running) lose(time);
    if (heartbeat.state == can::canopen::NmtState::boot_up) rest_until(time);
  }
  void heard(const can::canopen::Emergency& emergency) noexcept {
    error_code_ = emergency.is_reset() ? std::uint16_t{0} : emergency.code;
  }

  // ---- What its joint is told

  void report(robot::JointFeedback& feedback) const noexcept {
    feedback.drive = state();
    feedback.fault = faults();
    if (!control_.heard()) return;
    feedback.position = control_.feedback().position / counts_per_radian_;
    feedback.velocity = velocity_;
    feedback.effort = measured_.torque / per_mille * rated_effort_;
    feedback.mode = mode_of(control_.feedback().mode);
    feedback.stamp = stamp_;
    feedback.heard = true;
  }
  [[nodiscard]] robot::DriveState state() const noexcept {
    if (in_fault() || power_.lost() || not_configured_ || control_.mode_refused() || homing_failed_)
      return robot::DriveState::fault;
    if (phase_ != Phase::running || !control_.state() || control_.held() || heartbeat_lost())
      return robot::DriveState::unknown;
    return control_.enabled() && is_home_ ? robot::DriveState::ready : robot::DriveState::off;
  }
  [[nodiscard]] std::uint32_t faults() const noexcept {
    return (in_fault() ? error_code_ : 0U) | (power_.lost() ? cia402_fault::power_lost : 0) |
           (control_.mode_refused() ? cia402_fault::mode_refused : 0) |
           (not_configured_ ? cia402_fault::not_configured : 0) |
           (heartbeat_lost() ? cia402_fault::heartbeat_lost : 0) |
           (homing_failed_ ? cia402_fault::homing_failed : 0);
  }

  // ---- What the drive is told

  /// Whether it is told velocity and torque, too: in receive PDO 2, which is best sent before the first, that has the mode.
  [[nodiscard]] bool has_second_pdo() const noexcept { return rated_effort_ != 0; }
  /// What its receive PDOs say in this cycle, once it runs. What is not a number, or of a mode that the drive is not set up for, is
  /// counted in `rejected`; in its place the drive stays in the mode of the last good command, where a position holds, and a velocity
  /// and an effort are 0: nothing moves on that nobody commands.
  [[nodiscard]] std::optional<can::cia402::Command> command(const robot::JointCommand& joint,
                                                            std::uint64_t& rejected) noexcept {
    ++cycles_;
    asked_ += timing_.period;
    monitor_.check(asked_);
    power_.want(joint.want_power);
    if (joint.clear_fault) power_.forget();
    if (joint.clear_fault || !joint.want_power) homing_failed_ = false;
    if (phase_ != Phase::running) return std::nullopt;

    if (!take(joint)) ++rejected;
    if (!control_.may_be_enabled() || !is_home_) stand();
    const bool power = power_.may_be_on() && control_.heard() && state() != robot::DriveState::fault;
    can::cia402::Demand demand = reference_;
    demand.target = power ? can::cia402::Target::operation_enabled : can::cia402::Target::off;
    demand.clear_fault = joint.clear_fault;
    if (!is_home_) look_for_home(demand);
    return control_.step(demand, asked_);
  }

  /// Whether service() has a frame to give at this time.
  [[nodiscard]] bool wants_service(Time now) const noexcept {
    switch (phase_) {
      case Phase::running:
        return false;
      case Phase::resting:
        return now >= retry_at_;
      case Phase::asking:
        return identity_.wants_to_send(now) || asked_enough(now);
      case Phase::configuring:
        return configurator_.wants_to_send(now) || configurator_.state() != can::canopen::SdoState::busy;
      case Phase::waiting:
        break;
    }
    return true;
  }
  /// The next frame of its start-up, if there is one: an NMT command or an SDO.
  [[nodiscard]] std::optional<can::Frame> service(Time now) noexcept {
    using can::canopen::NmtCommand;
    using can::canopen::SdoState;
    if (phase_ == Phase::resting && now >= retry_at_) phase_ = Phase::waiting;
    if (phase_ == Phase::waiting) {
      if (identity_wanted_) {
        phase_ = Phase::asking;
        identity_.start();
        identity_until_ = now + timing_.identity;
      } else {
        configure();
      }
      return nmt(NmtCommand::enter_pre_operational);
    }
    if (phase_ == Phase::asking) {
      if (!asked_enough(now)) return identity_.poll(now);
      identity_wanted_ = identity_.state() != SdoState::done;
      configure();
    }
    if (phase_ != Phase::configuring) return std::nullopt;
    if (configurator_.state() == SdoState::done) {
      phase_ = Phase::running;
      started_at_ = now;
      not_configured_ = false;
      is_home_ = !home_;
      control_.reset();
      monitor_ = can::canopen::NodeMonitor(3 * timing_.heartbeat);
      return nmt(NmtCommand::start);
    }
    const auto frame = configurator_.poll(now);
    if (configurator_.state() == SdoState::aborted) {
      // A drive that is not there has refused nothing.
      not_configured_ = configurator_.abort() != can::canopen::SdoAbort::timeout;
      rest_until(now + timing_.retry);
    }
    return frame;
  }

 private:
  enum class Phase : std::uint8_t { waiting, asking, configuring, running, resting };
  static constexpr double newest = 0.5;  // weight of the newest difference in the velocity
  static constexpr double per_mille = 1000;

  [[nodiscard]] static robot::CommandMode mode_of(can::cia402::Mode mode) noexcept {
    return mode == can::cia402::Mode::cyclic_velocity ? robot::CommandMode::velocity
           : mode == can::cia402::Mode::cyclic_torque ? robot::CommandMode::effort
                                                      : robot::CommandMode::position;
  }
  template <class Integer>
  [[nodiscard]] static Integer rounded(double value) noexcept {
    using Limits = std::numeric_limits<Integer>;
    return static_cast<Integer>(can::round_clamped(value, Limits::min(), Limits::max()));
  }

  /// Makes a command the reference, if it is good.
  bool take(const robot::JointCommand& joint) noexcept {
    const bool is_position = joint.mode == robot::CommandMode::position;
    const double value = is_position                                  ? joint.position
                         : joint.mode == robot::CommandMode::velocity ? joint.velocity
                                                                      : joint.effort;
    if (!std::isfinite(value) || !(is_position || has_second_pdo())) {
      rest();
      return false;
    }
    stand();
    if (is_position) {
      reference_.mode = can::cia402::Mode::cyclic_position;
      reference_.position = rounded<std::int32_t>(value * counts_per_radian_);
    } else if (joint.mode == robot::CommandMode::velocity) {
      reference_.mode = can::cia402::Mode::cyclic_velocity;
      reference_.velocity = rounded<std::int32_t>(value * counts_per_radian_);
    } else {
      reference_.mode = can::cia402::Mode::cyclic_torque;
      reference_.torque = rounded<std::int16_t>(value / rated_effort_ * per_mille);
    }
    return true;
  }
  /// The reference of a joint that is to stay where it is, in whatever mode.
  void stand() noexcept {
    reference_.position = control_.feedback().position;
    rest();
  }
  /// Ends what would go on moving by itself: a position is held as it is, so that a joint under load does not creep.
  void rest() noexcept {
    reference_.velocity = 0;
    reference_.torque = 0;
  }

  void look_for_home(can::cia402::Demand& demand) noexcept {
    using can::cia402::Homing;
    const Homing homing = control_.homing();
    if (!control_.enabled()) homing_since_ = asked_;
    if (homing == Homing::attained) {
      is_home_ = true;
      return;
    }
    if (homing == Homing::failed || homing == Homing::interrupted || asked_ - homing_since_ > home_->most) {
      homing_failed_ = true;
      power_.give_up();  // goes off, as it is told to
      demand.target = can::cia402::Target::off;
    }
    demand.mode = can::cia402::Mode::homing;
    demand.home = true;
  }

  [[nodiscard]] bool asked_enough(Time now) const noexcept {
    return identity_.state() != can::canopen::SdoState::busy || now >= identity_until_;
  }
  void configure() noexcept {
    phase_ = Phase::configuring;
    configurator_.start(configuration_);
  }
  [[nodiscard]] bool in_fault() const noexcept {
    const auto state = can::cia402::state_of(control_.feedback().status_word);  // also when silent since
    return control_.heard() &&
           (state == can::cia402::State::fault || state == can::cia402::State::fault_reaction_active);
  }
  [[nodiscard]] bool heartbeat_lost() const noexcept { return phase_ == Phase::running && monitor_.lost(); }
  void rest_until(Time time) noexcept {
    phase_ = Phase::resting;
    retry_at_ = time;
  }
  void lose(Time now) noexcept {
    power_.lose();
    control_.reset();
    rest_until(now);
  }
  [[nodiscard]] std::optional<can::Frame> nmt(can::canopen::NmtCommand command) const noexcept {
    return can::encode(can::canopen::NmtMessage{command, node_}).value_or(can::Frame{});
  }
  /// Positions are sampled at SYNC, once per cycle: cycles, not stamps, tell how far apart they are.
  void note_velocity(std::int32_t position) noexcept {
    if (control_.heard() && cycles_ > 0) {
      const double moved = static_cast<double>(position) - static_cast<double>(control_.feedback().position);
      const double velocity = moved / counts_per_radian_ / (cycles_ * to_seconds(timing_.period));
      velocity_ += newest * (velocity - velocity_);
    }
    if (!is_home_) velocity_ = 0;  // it may count from another place at any time
    cycles_ = 0;
  }

  Cia402Timing timing_;
  std::vector<can::canopen::ObjectWrite> configuration_;
  can::canopen::Configurator configurator_;
  Cia402IdentityReader identity_;
  can::canopen::NodeMonitor monitor_;
  can::cia402::DriveControl control_;
  std::optional<Cia402Home> home_;
  can::cia402::Demand reference_{};   ///< the last good command, or its rest
  can::cia402::Feedback measured_{};  ///< of transmit PDO 2
  double counts_per_radian_;
  double rated_effort_;  ///< in the drive's direction; 0: without velocity and torque
  double velocity_ = 0;
  /// The clock that judges the drive: one period for each command. A loop that was away asked nothing meanwhile.
  Time asked_{};
  Time stamp_{};  ///< when its latest position came
  Time retry_at_{};
  Time started_at_{};
  Time identity_until_{};
  Time homing_since_{};
  std::uint32_t cycles_ = 0;  ///< since it was last heard
  std::uint16_t error_code_ = 0;
  std::uint8_t node_;
  Phase phase_ = Phase::waiting;
  PowerLatch power_;
  bool identity_wanted_ = false;
  bool not_configured_ = false;
  bool is_home_ = false;  ///< or has none to look for
  bool homing_failed_ = false;
};

}  // namespace takt::drives
