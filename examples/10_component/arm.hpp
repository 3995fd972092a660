// An arm of three joints, its controller, and a guard that watches how well the arm follows. arm.json runs
// them. The controller keeps its state, so that a newer version can replace it while the arm moves.
#pragma once

#include <array>
#include <cmath>
#include <string>
#include <utility>

#include "takt/component/component.hpp"
#include "takt/component/kept_state.hpp"
#include "takt/component/port.hpp"
#include "takt/trajectory/quintic.hpp"

namespace arm_example {

using takt::Status;
using takt::component::Component;
using takt::component::ComponentMetadata;
using takt::component::CycleTime;
using takt::component::InPort;
using takt::component::KeptState;
using takt::component::OutPort;
using takt::component::Parameter;

inline constexpr std::size_t joints = 3;
using Joints = std::array<double, joints>;
using State = takt::trajectory::Quintic::State;

/// The measured state of the arm.
struct ArmState {
  Joints position{};  // rad
  Joints velocity{};  // rad/s

  TAKT_FIELDS(ArmState, position, velocity)
};

/// What the controller wants.
struct ArmCommand {
  Joints torque{};    // N m
  Joints position{};  // rad; the reference at this time

  TAKT_FIELDS(ArmCommand, torque, position)
};

/// What survives the replacement of a controller.
struct ArmProgress {
  double elapsed = 0;  // s, since the motion began
  Joints integral{};   // rad s

  TAKT_FIELDS(ArmProgress, elapsed, integral)
};

/// Three joints with inertia, friction and a load that bends the arm down.
struct Arm final : Component {
  static constexpr ComponentMetadata about{.type = "Arm",
                                           .version = "1.0.0",
                                           .vendor = "takt",
                                           .category = "plant",
                                           .description = "Moves three joints by their torques."};
  explicit Arm(std::string name) : Component(about, std::move(name)) {}

  Status on_state_update(const CycleTime& cycle) noexcept override {
    static_cast<void>(command.read());  // without a new one, the last one acts
    const double seconds = takt::to_seconds(cycle.period);
    for (std::size_t i = 0; i < joints; ++i) {
      const double torque = command.value().torque[i] - *load - 0.4 * state_.velocity[i];
      state_.velocity[i] += seconds * torque / inertia[i];
      state_.position[i] += seconds * state_.velocity[i];
    }
    state.write(state_, cycle.time);
    return {};
  }

  InPort<ArmCommand> command{*this, "command"};
  OutPort<ArmState> state{*this, "state"};
  Parameter<double> load{*this, "load", {.initial = 0.5, .minimum = -5, .maximum = 5, .unit = "N m"}};

 private:
  static constexpr Joints inertia{0.3, 0.2, 0.1};  // kg m^2

  ArmState state_;
};

/// Moves the arm there and back, for ever.
struct ArmController final : Component {
  static constexpr ComponentMetadata about{.type = "ArmController",
                                           .version = "1.0.0",
                                           .vendor = "takt",
                                           .category = "control",
                                           .description = "Moves an arm there and back."};
  explicit ArmController(std::string name) : Component(about, std::move(name)) {}

  Status on_execute(const CycleTime& cycle) noexcept override {
    static_cast<void>(state.read());
    const double seconds = takt::to_seconds(cycle.period);
    progress->elapsed += seconds;
    ArmCommand wanted;
    for (std::size_t i = 0; i < joints; ++i) {
      const auto reference = there_and_back(target[i], progress->elapsed);
      const double error = reference.position - state.value().position[i];
      progress->integral[i] += error * seconds;
      wanted.position[i] = reference.position;
      wanted.torque[i] = *stiffness * error + 4 * (reference.velocity - state.value().velocity[i]) +
                         150 * progress->integral[i];
    }
    command.write(wanted, cycle.time);
    return {};
  }

  /// The reference of one joint: a smooth motion of 2 s to the target, and one of 2 s back.
  [[nodiscard]] static State there_and_back(double goal, double time) noexcept {
    const double phase = std::fmod(time, 4.0);
    const State home{}, away{goal, 0, 0};
    return phase < 2 ? takt::trajectory::Quintic::between(home, away, 2).at(phase)
                     : takt::trajectory::Quintic::between(away, home, 2).at(phase - 2);
  }

  InPort<ArmState> state{*this, "state"};
  OutPort<ArmCommand> command{*this, "command"};
  KeptState<ArmProgress> progress{*this, "progress"};
  Parameter<double> stiffness{
      *this, "stiffness", {.initial = 120, .minimum = 10, .maximum = 400, .unit = "N m/rad"}};

 private:
  static constexpr Joints target{1.2, -0.8, 0.6};  // rad
};

/// Fails if the arm does not follow its reference, or if a command is missing.
struct FollowingGuard final : Component {
  static constexpr ComponentMetadata about{.type = "FollowingGuard",
                                           .version = "1.0.0",
                                           .vendor = "takt",
                                           .category = "safety",
                                           .description = "Watches the following error of an arm."};
  explicit FollowingGuard(std::string name) : Component(about, std::move(name)) {}

  Status on_execute(const CycleTime&) noexcept override {
    static_cast<void>(state.read());
    if (command.read() != takt::shm::Freshness::new_data) return {};
    for (std::size_t i = 0; i < joints; ++i) {
      if (std::abs(command.value().position[i] - state.value().position[i]) > *tolerance)
        return takt::fail(takt::component::Errc::bad_value);
    }
    return {};
  }

  InPort<ArmState> state{*this, "state"};
  InPort<ArmCommand> command{*this, "command"};
  Parameter<double> tolerance{
      *this, "tolerance", {.initial = 0.05, .minimum = 0, .maximum = 3, .unit = "rad"}};
};

}  // namespace arm_example
