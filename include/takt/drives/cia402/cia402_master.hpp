// The master of one CiA 402 drive in the cyclic synchronous modes position, velocity and torque. It holds the
// drive's configuration by SDO, its NMT start, its state machine, and its joint's feedback. It has no bus.
// Frames of the node go in. The data of the receive PDOs come out in each cycle, and sometimes an NMT command
// or an SDO.
//
//   waiting -> pre-operational by NMT -> reading the identity, if requested -> configuring, one SDO after the
//   other -> NMT start -> running
//
// After a failed step it starts again after a pause, so drives may be switched on at any time. A drive that
// boots again, or leaves the state operational, is configured again. If it was enabled, it is at fault
// (power_lost) until the fault is cleared or the drive is switched off. The same holds if it switches off
// without a command. If an enabled drive becomes silent, its last reference is held. Its state is then
// unknown, even when it answers again, until it was switched off.
//
// A running drive is asked by SDO for what it does not say, at most once per Cia402Timing::retry:
// - Without heartbeats, or without process data: whether it still has its configuration. A drive that booted
//   while its bus was away sends neither a boot-up nor a heartbeat any more, and is configured again.
// - In a fault without an emergency, for example from before this master's start: object 603Fh.
//
// A drive with a home (Cia402Home) searches it once after each start. It is enabled in homing mode, and its
// joint is reported off until the drive is at home. The rules of the state machine and of mode changes are in
// can/cia402/drive_control.hpp. Real-time safe after construction.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "takt/can/canopen/configuration.hpp"
#include "takt/can/canopen/emergency.hpp"
#include "takt/can/canopen/nmt.hpp"
#include "takt/can/canopen/sdo_client.hpp"
#include "takt/can/cia402/drive_control.hpp"
#include "takt/can/quantise.hpp"
#include "takt/core/time.hpp"
#include "takt/drives/cia402/cia402_identity.hpp"
#include "takt/drives/cia402/cia402_setup.hpp"
#include "takt/drives/drive_watch.hpp"
#include "takt/robot/hardware.hpp"

namespace takt::drives {

/// Bits in JointFeedback::fault that the master sets, above the drive's own error code: of the latest
/// emergency, or of object 603Fh.
namespace cia402_fault {
inline constexpr std::uint32_t code = 0xFFFF;          ///< the drive's own error code
inline constexpr std::uint32_t power_lost = 1U << 16;  ///< it was ready, then switched off without a command
inline constexpr std::uint32_t mode_refused = 1U << 17;    ///< it did not confirm a mode in time
inline constexpr std::uint32_t not_configured = 1U << 18;  ///< the drive refused part of its configuration
inline constexpr std::uint32_t heartbeat_lost = 1U << 19;  ///< the master receives no heartbeat
inline constexpr std::uint32_t homing_failed = 1U << 20;   ///< the search for its home failed
}  // namespace cia402_fault

/// One drive, as its master sees it.
class Cia402Master {
 public:
  /// Requires setup.is_good(). Allocates.
  explicit Cia402Master(const Cia402Setup& setup)
      : timing_(setup.timing),
        configuration_(cia402_configuration(setup)),
        configurator_(setup.node, setup.timing.sdo_timeout),
        identity_(setup.node, setup.timing.sdo_timeout),
        inquiry_(setup.node, setup.timing.sdo_timeout),
        monitor_(heartbeat_patience(setup.timing)),
        control_({.silence = setup.timing.silence}),
        home_(setup.home),
        counts_per_radian_(setup.counts_per_radian),
        rated_effort_(std::copysign(setup.rated_effort, setup.counts_per_radian)),
        node_(setup.node) {}

  /// The drive's node id.
  [[nodiscard]] std::uint8_t node() const noexcept { return node_; }
  /// The state machine, with the drive's last feedback.
  [[nodiscard]] const can::cia402::DriveControl& control() const noexcept { return control_; }
  /// The write that the drive refused; nullptr if it refused none.
  [[nodiscard]] const can::canopen::ObjectWrite* refused() const noexcept {
    return not_configured_ ? configurator_.current() : nullptr;
  }
  /// The reason of refused().
  [[nodiscard]] can::canopen::SdoAbort why_refused() const noexcept { return configurator_.abort(); }

  /// Requests the drive's identity at its next start, and at each later start until it has answered.
  void ask_identity() noexcept { identity_wanted_ = true; }
  /// The identity that the drive has reported so far.
  [[nodiscard]] const Cia402Identity& identity() const noexcept { return identity_.identity(); }

  // ---- Frames from the drive

  /// Handles the drive's transmit PDO 1. Errors, which change nothing: wrong_format, wrong_length.
  Status heard_pdo(const can::Frame& frame, Time time) noexcept {
    can::cia402::Feedback feedback;
    if (const Status taken = take_transmit_pdo_1(feedback, frame); !taken) return taken;
    if (phase_ != Phase::running) return {};
    note_velocity(feedback.position);
    const bool was_in_fault = in_fault();
    control_.heard(feedback, asked_);
    if (was_in_fault && !in_fault()) forget_error();
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
  /// Handles the drive's transmit PDO 2. Errors as above.
  Status heard_second_pdo(const can::Frame& frame) noexcept {
    const Status taken = take_transmit_pdo_2(measured_, frame);
    has_torque_ = has_torque_ || taken.has_value();
    return taken;
  }
  /// Processes an SDO answer of the node. Errors: as SdoClient::receive().
  Status heard_sdo(const can::Frame& frame) noexcept {
    if (phase_ == Phase::asking) return identity_.receive(frame);
    if (phase_ != Phase::running) return configurator_.receive(frame);
    const bool was_busy = inquiry_.state() == can::canopen::SdoState::busy;
    const Status status = inquiry_.receive(frame);
    if (was_busy) take_answer();
    return status;
  }
  /// Handles a heartbeat that ended on the bus at `time`.
  void heard(const can::canopen::Heartbeat& heartbeat, Time time) noexcept {
    monitor_.heard(heartbeat.state, asked_);
    const bool fresh_start = phase_ == Phase::running && time - started_at_ < 2 * timing_.heartbeat;
    const bool forgot = heartbeat.state == can::canopen::NmtState::boot_up ||
                        (heartbeat.state != can::canopen::NmtState::operational && !fresh_start);
    if (forgot && phase_ == Phase::running) lose(time);
    if (heartbeat.state != can::canopen::NmtState::boot_up) return;
    forget_error();
    rest_until(time);
  }
  /// Handles an emergency: keeps its code. A drive in fault keeps it until the fault is cleared, even if the
  /// cause is over.
  void heard(const can::canopen::Emergency& emergency) noexcept {
    if (!emergency.is_reset()) {
      error_code_ = emergency.code;
    } else if (!in_fault()) {
      forget_error();
    }
  }

  // ---- Feedback for its joint

  /// Writes the drive's state and measurements to its joint's feedback.
  void report(robot::JointFeedback& feedback) const noexcept {
    feedback.drive = state();
    feedback.fault = faults();
    if (home_) feedback.home = is_home_ ? robot::HomeState::at_home : robot::HomeState::due;
    if (!control_.heard()) return;
    feedback.position = control_.feedback().position / counts_per_radian_;
    feedback.velocity = velocity_;
    feedback.effort = measured_.torque / per_mille * rated_effort_;
    feedback.has_effort = has_torque_ && has_second_pdo();
    feedback.mode = mode_of(control_.feedback().mode);
    feedback.stamp = stamp_;
    feedback.heard = true;
  }
  /// The drive's state, for its joint.
  [[nodiscard]] DriveState state() const noexcept {
    if (in_fault() || power_.lost() || not_configured_ || control_.mode_refused() || homing_failed_)
      return DriveState::fault;
    if (phase_ != Phase::running || !control_.state() || control_.held() || heartbeat_lost())
      return DriveState::unknown;
    return control_.enabled() && is_home_ ? DriveState::ready : DriveState::off;
  }
  /// The bits of JointFeedback::fault.
  [[nodiscard]] std::uint32_t faults() const noexcept {
    return (in_fault() ? error_code_ : 0U) | (power_.lost() ? cia402_fault::power_lost : 0) |
           (control_.mode_refused() ? cia402_fault::mode_refused : 0) |
           (not_configured_ ? cia402_fault::not_configured : 0) |
           (heartbeat_lost() ? cia402_fault::heartbeat_lost : 0) |
           (homing_failed_ ? cia402_fault::homing_failed : 0);
  }

  // ---- Commands for the drive

  /// Whether the drive also takes velocity and torque. They are in receive PDO 2. Send it before PDO 1, which
  /// has the mode.
  [[nodiscard]] bool has_second_pdo() const noexcept { return rated_effort_ != 0; }
  /// The data of the receive PDOs in this cycle; std::nullopt unless the drive runs. NaN, infinity and modes
  /// without set-up are counted in `rejected`. Instead the drive stays in the mode of the last good command,
  /// holds its position, and has a velocity and effort of 0. So nothing moves without a command.
  [[nodiscard]] std::optional<can::cia402::Command> command(const JointCommand& joint,
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
    const bool power = power_.may_be_on() && control_.heard() && state() != DriveState::fault;
    can::cia402::Demand demand = reference_;
    demand.target = power ? can::cia402::Target::operation_enabled : can::cia402::Target::off;
    demand.clear_fault = joint.clear_fault;
    if (!is_home_) look_for_home(demand);
    return control_.step(demand, asked_);
  }

  /// Whether service() has a frame at this time.
  [[nodiscard]] bool wants_service(Time now) const noexcept {
    switch (phase_) {
      case Phase::running:
        return inquiry_.wants_to_send(now) || question(now);
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
  /// The next frame of the start-up or of a question, an NMT command or an SDO; std::nullopt for none.
  [[nodiscard]] std::optional<can::Frame> service(Time now) noexcept {
    using can::canopen::NmtCommand;
    using can::canopen::SdoState;
    if (phase_ == Phase::running) return inquire(now);
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
      started_at_ = inquire_at_ = now;
      not_configured_ = false;
      is_home_ = !home_;
      control_.reset();
      monitor_ = can::canopen::NodeMonitor(heartbeat_patience(timing_));
      return nmt(NmtCommand::start);
    }
    const auto frame = configurator_.poll(now);
    if (configurator_.state() == SdoState::aborted) {
      // An absent drive has refused nothing.
      not_configured_ = configurator_.abort() != can::canopen::SdoAbort::timeout;
      rest_until(now + timing_.retry);
    }
    return frame;
  }

 private:
  enum class Phase : std::uint8_t { waiting, asking, configuring, running, resting };
  static constexpr double newest = 0.5;  // weight of the newest difference in the velocity
  static constexpr double per_mille = 1000;
  static constexpr can::canopen::Address error_object{0x603F, 0};
  static constexpr can::canopen::Address heartbeat_object{0x1017, 0};
  static constexpr can::canopen::Address mapping_object{0x1A00, 3};  ///< third object of transmit PDO 1

  /// A drive may be silent for its feedback timeout, also with its heartbeat.
  [[nodiscard]] static Duration heartbeat_patience(const Cia402Timing& timing) noexcept {
    return std::max(3 * timing.heartbeat, timing.silence);
  }
  [[nodiscard]] static CommandMode mode_of(can::cia402::Mode mode) noexcept {
    return mode == can::cia402::Mode::cyclic_velocity ? CommandMode::velocity
           : mode == can::cia402::Mode::cyclic_torque ? CommandMode::effort
                                                      : CommandMode::position;
  }
  template <class Integer>
  [[nodiscard]] static Integer rounded(double value) noexcept {
    using Limits = std::numeric_limits<Integer>;
    return static_cast<Integer>(can::round_clamped(value, Limits::min(), Limits::max()));
  }

  /// Makes a command the reference, if it is good.
  bool take(const JointCommand& joint) noexcept {
    const bool is_position = joint.mode == CommandMode::position;
    const double value = is_position                           ? joint.position
                         : joint.mode == CommandMode::velocity ? joint.velocity
                                                               : joint.effort;
    if (!std::isfinite(value) || !(is_position || has_second_pdo())) {
      rest();
      return false;
    }
    stand();
    if (is_position) {
      reference_.mode = can::cia402::Mode::cyclic_position;
      reference_.position = rounded<std::int32_t>(value * counts_per_radian_);
    } else if (joint.mode == CommandMode::velocity) {
      reference_.mode = can::cia402::Mode::cyclic_velocity;
      reference_.velocity = rounded<std::int32_t>(value * counts_per_radian_);
    } else {
      reference_.mode = can::cia402::Mode::cyclic_torque;
      reference_.torque = rounded<std::int16_t>(value / rated_effort_ * per_mille);
    }
    return true;
  }
  /// Sets a reference that stays at the measured position, in every mode.
  void stand() noexcept {
    reference_.position = control_.feedback().position;
    rest();
  }
  /// Stops velocity and effort. The reference position does not change, so that a joint under load does not
  /// creep.
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
      power_.give_up();  // the drive switches off by command
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
    const auto state = can::cia402::state_of(control_.feedback().status_word);  // also if it is silent since
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
    forget_error();
    rest_until(now);
  }
  void forget_error() noexcept {
    error_code_ = 0;
    error_asked_ = false;
  }

  // ---- Questions to a running drive

  /// The object to ask for now.
  [[nodiscard]] std::optional<can::canopen::Address> question(Time now) const noexcept {
    if (now < inquire_at_) return std::nullopt;
    if (in_fault() && !control_.silent() && error_code_ == 0 && !error_asked_) return error_object;
    const bool is_started = now - started_at_ > 3 * timing_.heartbeat;
    if (is_started && !monitor_.state()) return heartbeat_object;
    if (control_.silent()) return mapping_object;
    return std::nullopt;
  }
  [[nodiscard]] std::optional<can::Frame> inquire(Time now) noexcept {
    if (const auto object = question(now)) {
      asked_object_ = *object;
      inquire_at_ = now + timing_.retry;
      inquiry_.upload(*object, std::span(answer_).first(*object == mapping_object ? 4 : 2));
    }
    return inquiry_.poll(now);
  }
  /// A drive that booted has lost what the configuration wrote.
  void take_answer() noexcept {
    using can::canopen::SdoState;
    if (inquiry_.state() == SdoState::busy) return;
    const bool is_told = inquiry_.state() == SdoState::done;
    if (asked_object_ == error_object) {
      error_asked_ = true;
      if (is_told && error_code_ == 0) error_code_ = static_cast<std::uint16_t>(inquiry_.number());
    } else if (is_told && inquiry_.number() != written(asked_object_)) {
      lose(Time::min());
    }
  }
  /// The value that the configuration gives an object.
  [[nodiscard]] std::uint32_t written(can::canopen::Address object) const noexcept {
    const auto last = std::find_if(configuration_.rbegin(), configuration_.rend(),
                                   [&](const auto& write) { return write.object == object; });
    return last != configuration_.rend() ? last->value : 0;
  }
  [[nodiscard]] std::optional<can::Frame> nmt(can::canopen::NmtCommand command) const noexcept {
    return can::encode(can::canopen::NmtMessage{command, node_}).value_or(can::Frame{});
  }
  /// Positions are sampled at SYNC, once per cycle: cycles, not stamps, measure the time between them.
  void note_velocity(std::int32_t position) noexcept {
    if (control_.heard() && cycles_ > 0) {
      const double moved = static_cast<double>(position) - static_cast<double>(control_.feedback().position);
      const double velocity = moved / counts_per_radian_ / (cycles_ * to_seconds(timing_.period));
      velocity_ += newest * (velocity - velocity_);
    }
    if (!is_home_) velocity_ = 0;  // the zero of its count may change at any time
    cycles_ = 0;
  }

  Cia402Timing timing_;
  std::vector<can::canopen::ObjectWrite> configuration_;
  can::canopen::Configurator configurator_;
  Cia402IdentityReader identity_;
  can::canopen::SdoClient inquiry_;
  can::canopen::Address asked_object_{};  ///< by inquiry_
  std::array<std::uint8_t, 4> answer_{};
  can::canopen::NodeMonitor monitor_;
  can::cia402::DriveControl control_;
  std::optional<Cia402Home> home_;
  can::cia402::Demand reference_{};   ///< the last good command, or its stop
  can::cia402::Feedback measured_{};  ///< from transmit PDO 2
  bool has_torque_ = false;           ///< transmit PDO 2 was heard
  double counts_per_radian_;
  double rated_effort_;  ///< in the drive's direction; 0: no velocity and torque modes
  double velocity_ = 0;
  /// The clock for the drive's timeouts: one period per command. A loop that paused sent no requests, so its
  /// pause does not count.
  Time asked_{};
  Time stamp_{};  ///< of its latest position
  Time retry_at_{};
  Time inquire_at_{};
  Time started_at_{};
  Time identity_until_{};
  Time homing_since_{};
  std::uint32_t cycles_ = 0;  ///< since its last frame
  std::uint16_t error_code_ = 0;
  bool error_asked_ = false;  ///< the drive has answered for its error code in this fault
  std::uint8_t node_;
  Phase phase_ = Phase::waiting;
  PowerLatch power_;
  bool identity_wanted_ = false;
  bool not_configured_ = false;
  bool is_home_ = false;  ///< true also if it has no home to search
  bool homing_failed_ = false;
};

}  // namespace takt::drives
