// Newer versions of the controller in examples/10_component/arm.hpp, for the test that replaces it.
#include <string>
#include <string_view>
#include <utility>

#include "10_component/arm.hpp"
#include "takt/component/plugin.hpp"

namespace {

using namespace arm_example;

constexpr ComponentMetadata about_type(std::string_view type, std::string_view version) {
  return {.type = type,
          .version = version,
          .vendor = "takt",
          .category = "control",
          .description = "Moves an arm there and back."};
}

/// The control law without an integral: it knows the arm.
ArmCommand command_at(double elapsed, const ArmState& state, double stiffness) noexcept {
  constexpr Joints target{1.2, -0.8, 0.6}, inertia{0.3, 0.2, 0.1};
  ArmCommand wanted;
  for (std::size_t i = 0; i < joints; ++i) {
    const State reference = ArmController::there_and_back(target[i], elapsed);
    wanted.position[i] = reference.position;
    wanted.torque[i] = inertia[i] * reference.acceleration + 0.5 + 0.4 * reference.velocity +
                       stiffness * (reference.position - state.position[i]) +
                       4 * (reference.velocity - state.velocity[i]);
  }
  return wanted;
}

/// Version 2 has another law, another parameter, and goes on where version 1 was.
struct NewController final : Component {
  static constexpr ComponentMetadata about = about_type("ArmController", "2.0.0");
  explicit NewController(std::string name) : Component(about, std::move(name)) {}
  Status on_execute(const CycleTime& cycle) noexcept override {
    static_cast<void>(state.read());
    progress->elapsed += takt::to_seconds(cycle.period);
    command.write(command_at(progress->elapsed, state.value(), *stiffness), cycle.time);
    return {};
  }
  InPort<ArmState> state{*this, "state"};
  OutPort<ArmCommand> command{*this, "command"};
  KeptState<ArmProgress> progress{*this, "progress"};
  Parameter<double> stiffness{*this, "stiffness", {.initial = 50, .minimum = 10, .maximum = 400}};
  Parameter<double> damping{*this, "damping", {.initial = 4, .minimum = 0, .maximum = 40}};
};

/// Forgets where the motion was.
struct ForgetfulController final : Component {
  static constexpr ComponentMetadata about = about_type("ForgetfulController", "2.0.0");
  explicit ForgetfulController(std::string name) : Component(about, std::move(name)) {}
  Status on_execute(const CycleTime& cycle) noexcept override {
    static_cast<void>(state.read());
    elapsed_ += takt::to_seconds(cycle.period);
    command.write(command_at(elapsed_, state.value(), 100), cycle.time);
    return {};
  }
  InPort<ArmState> state{*this, "state"};
  OutPort<ArmCommand> command{*this, "command"};

 private:
  double elapsed_ = 0;
};

/// Cannot be activated.
struct LameController final : Component {
  static constexpr ComponentMetadata about = about_type("LameController", "2.0.0");
  explicit LameController(std::string name) : Component(about, std::move(name)) {}
  Status on_activate(const CycleTime&) noexcept override {
    return takt::fail(takt::component::Errc::not_connected);
  }
  InPort<ArmState> state{*this, "state"};
  OutPort<ArmCommand> command{*this, "command"};
};

}  // namespace

TAKT_PLUGIN(NewController, ForgetfulController, LameController, Arm, FollowingGuard)
