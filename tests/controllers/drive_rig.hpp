// A mobile base under its controller: wheels that obey at once, a sender of twists, a receiver of the
// odometry.
#pragma once

#include <doctest/doctest.h>

#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "controllers/controller_rig.hpp"
#include "takt/controllers/base_drive.hpp"
#include "takt/mobile/pose.hpp"

namespace takt::test {

/// A robot whose joints turn without end.
inline robot::RobotDescription wheeled_robot(const std::vector<std::string>& wheels) {
  robot::RobotDescription robot = rig_robot(wheels);
  for (robot::JointDescription& joint : robot.joints) {
    const double endless = std::numeric_limits<double>::infinity();
    joint.kind = robot::JointKind::continuous;
    joint.limits = {-endless, endless, 100, 2000, 1e6, 50};
  }
  return robot;
}

/// The second pose as seen from the first.
inline mobile::Pose relative(const mobile::Pose& from, const mobile::Pose& to) {
  const double x = to.x - from.x;
  const double y = to.y - from.y;
  const double c = std::cos(from.heading);
  const double s = std::sin(from.heading);
  return {c * x + s * y, c * y - s * x, mobile::wrap_angle(to.heading - from.heading)};
}

/// Commands the input "base/forward".
struct Leader final : robot::Controller {
  static constexpr component::ComponentMetadata about{.type = "Leader",
                                                      .version = "1.0.0",
                                                      .vendor = "takt",
                                                      .category = "test",
                                                      .description = "Commands one number."};
  Leader(std::string its_input, double its_value)
      : Controller(about, "leader"), input(std::move(its_input)), value(its_value) {}
  SetupResult<void> on_configure(robot::Resources& resources) override {
    const auto claimed = resources.claim(input);
    if (!claimed) return tl::unexpected<SetupError>(claimed.error());
    command = *claimed;
    return {};
  }
  Status on_execute(const component::CycleTime&) noexcept override {
    command.set(value);
    return {};
  }

  std::string input;
  double value;
  robot::CommandHandle command;
};

/// The controller is "base".
template <class Base>
class DriveRig : public ControllerRig {
 public:
  DriveRig(robot::RobotDescription robot, const std::vector<component::Assignment>& parameters)
      : ControllerRig(std::move(robot)) {
    REQUIRE(load(base, parameters) == "");
    auto in = component::connect(sender.port, base->command);
    auto out = component::connect(base->odometry, receiver.port);
    REQUIRE(in);
    REQUIRE(out);
    in_ = std::move(*in);
    out_ = std::move(*out);
    REQUIRE(change({"base"}) == "");
    make_ready();
  }

  /// Sends one command without a stamp.
  void send(const mobile::Twist& twist) { sender.port.write(twist, Time{}); }
  /// Runs while commands arrive.
  void drive(const mobile::Twist& twist, int cycles) {
    run(cycles, [&](int k) {
      if (k % 20 == 0) send(twist);
    });
  }
  controllers::OdometrySample odometry() {
    (void)receiver.port.read();
    return receiver.port.value();
  }
  /// Drives until the speed is reached, then checks the odometry of a further second against the closed form.
  void check_motion(const mobile::Twist& twist) {
    drive(twist, 3000);
    const mobile::Pose before = odometry().pose;
    drive(twist, 1000);
    const mobile::Pose moved = relative(before, odometry().pose);
    const mobile::Pose expected = mobile::displacement(0.0, twist);
    CHECK(moved.x == doctest::Approx(expected.x).epsilon(1e-9));
    CHECK(moved.y == doctest::Approx(expected.y).epsilon(1e-9));
    CHECK(moved.heading == doctest::Approx(mobile::wrap_angle(expected.heading)).epsilon(1e-9));
    CHECK(odometry().twist.forward == doctest::Approx(twist.forward).epsilon(1e-9));
    CHECK(odometry().twist.rotation == doctest::Approx(twist.rotation).epsilon(1e-9));
  }
  double velocity(std::size_t joint) const { return drives.commands[joint].velocity; }
  double position(std::size_t joint) const { return drives.commands[joint].position; }

  std::shared_ptr<Base> base = std::make_shared<Base>("base");
  Sender<mobile::Twist> sender;
  Receiver<controllers::OdometrySample> receiver;

 private:
  component::Connection in_;
  component::Connection out_;
};

}  // namespace takt::test
