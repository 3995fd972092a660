// The ready-made controllers, and one that works beside the cycle, each on one simulated joint with an
// ODrive, in virtual time. Mobile bases are in 13_mobile_base, trajectories in 01_hello_motion.
//
// Prints a block of numbers for each controller, with a title; 16_controllers.gp draws the first nine. The
// first column is the time in s, or for the sine sweep the frequency in Hz. Exit code: 0 if all went as
// expected.
#include <cmath>
#include <cstdio>
#include <functional>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "takt/app/devices.hpp"
#include "takt/component/connection.hpp"
#include "takt/component/execution_context.hpp"
#include "takt/controllers/admittance.hpp"
#include "takt/controllers/bode.hpp"
#include "takt/controllers/chained_filter.hpp"
#include "takt/controllers/force_torque_broadcaster.hpp"
#include "takt/controllers/forward.hpp"
#include "takt/controllers/gpio.hpp"
#include "takt/controllers/gripper.hpp"
#include "takt/controllers/hold.hpp"
#include "takt/controllers/pid.hpp"
#include "takt/controllers/sine_sweep.hpp"
#include "takt/drives/registry.hpp"
#include "takt/robot/async_controller.hpp"
#include "takt/robot/async_device.hpp"
#include "takt/robot/error.hpp"
#include "takt/robot/manager.hpp"

using namespace takt;

namespace {

constexpr const char* description = R"({
  "name": "bench", "rate": 500,
  "buses": [{"name": "can", "protocol": "odrive", "bit_rate": 1000000}],
  "joints": [
    {"name": "joint", "bus": "can", "board": 1,
     "limits": {"position": [-3, 3], "velocity": 8, "acceleration": 60, "jerk": 3000, "effort": 12},
     "drive": {"gear": 10, "current_limit": 30, "watchdog": 0.2}, "following_error": 0.5,
     "plant": {"inertia": 0.08, "viscous_friction": 0.2, "torque_limit": 20}}
  ]
})";

/// A board with a sensor of forces, a noisy gauge, a button and a lamp. The scenes play what is around it.
struct Board final : robot::Device {
  static constexpr component::ComponentMetadata about{.type = "Board",
                                                      .version = "1.0.0",
                                                      .vendor = "you",
                                                      .category = "example",
                                                      .description = "Sensors, a button and a lamp."};
  Board() : Device(about, "board") {}
  SetupResult<void> on_declare(robot::Declarations& declarations) override {
    auto done = declarations.sensor("wrench", wrench);
    if (done) done = declarations.state("board/gauge", "", gauge);
    if (done) done = declarations.state("board/button", "", button);
    if (done) done = declarations.command("board/lamp", "", lamp, lamp_driven, robot::SafeValue::zero);
    return done;
  }
  controllers::Wrench wrench;
  double gauge = 0, button = 0, lamp = 0;
  bool lamp_driven = false;
};

/// The sender and receiver of a port, such as a planner or a user interface.
template <class T>
struct Client final : component::Component {
  Client() : Component(Board::about, "client") {}
  component::OutPort<T> out{*this, "out"};
  component::InPort<T> in{*this, "in"};
};

/// A worker beside the cycle, and the device that it belongs to, if it is one.
struct Beside {
  component::Component* worker = nullptr;
  robot::Device* device = nullptr;
};

/// A manager with the joint, the board and one controller.
class Bench {
 public:
  using Settings = std::vector<component::Assignment>;

  Bench(const char* title, std::shared_ptr<robot::Controller> controller, const Settings& settings,
        Beside beside = {})
      : robot_(drives::load_robot(description).value()),
        hardware_(std::move(*app::Devices::create(robot_, {.simulate = true}))),
        drives_("drives", *hardware_),
        manager_(robot_) {
    std::printf("\n\n\"%s\"\n", title);
    SetupResult<void> made = controller->parameters().set(settings, "example");
    if (made) made = manager_.add(drives_);
    if (made) made = manager_.add(board);
    if (made && beside.device != nullptr) made = manager_.add(*beside.device);
    if (made && beside.worker != nullptr) made = beside_.add(*beside.worker);
    if (made && beside.worker != nullptr && !beside_.activate(*beside.worker)) return;
    if (made) made = manager_.load(controller);
    if (made) made = manager_.switch_controllers({.start = {controller->name()}});
    if (!made) std::fprintf(stderr, "%s: %s\n", title, made.error().message.c_str());
    good = made && manager_.start(Time{});
    while (good && manager_.supervisor().state() != robot::RobotState::ready && seconds() < 5) cycle();
    start_ = now;
  }
  ~Bench() { manager_.stop(now); }
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;

  /// Calls `act` with the time in s before each cycle, and `print` after it.
  template <class Act, class Print>
  void run(double until, const Act& act, const Print& print) {
    while (good && seconds() < until) {
      act(seconds());
      cycle();
      print(seconds());
    }
  }
  template <class Out, class In>
  void join(Out& out, In& in) {
    auto made = component::connect(out, in);
    good = good && made;
    if (made) connections_.push_back(std::move(*made));
  }
  [[nodiscard]] const robot::Joint& joint() const { return manager_.joints()[0]; }
  [[nodiscard]] sim::RobotSimulation& simulation() { return *hardware_->simulation(); }
  [[nodiscard]] double seconds() const { return to_seconds(now - start_); }

  bool good = false;
  bool worker_hangs = false;
  Time now{};
  Board board;

 private:
  void cycle() {
    now += robot_.period;
    if (++cycles_ % 10 == 0 && !worker_hangs) (void)beside_.run_cycle(now, 10 * robot_.period);
    manager_.begin(now, robot_.period, 0);
    manager_.control();
    manager_.write();
    manager_.publish();
  }

  robot::RobotDescription robot_;
  component::ExecutionContext beside_;  // runs each tenth cycle
  int cycles_ = 0;
  std::unique_ptr<app::Devices> hardware_;
  robot::DriveDevice drives_;
  robot::Manager manager_;
  Time start_{};
  std::vector<component::Connection> connections_;
};

controllers::JointSetpoints setpoint(double value) {
  controllers::JointSetpoints made{.count = 1};
  made.values[0] = value;
  return made;
}

/// Velocities that stop coming: after 0.3 s the joint is released, and comes to rest.
bool forward() {
  auto controller = std::make_shared<controllers::ForwardController>("forward");
  Bench bench("ForwardController", controller, {{"joints", "joint"}, {"mode", "velocity"}, {"timeout", 0.3}});
  Client<controllers::JointSetpoints> client;
  bench.join(client.out, controller->setpoints.port());
  const auto wanted = [](double t) { return t < 1 ? 1.5 : -1.0; };
  bench.run(
      3,
      [&](double t) {
        if (t < 2) client.out.write(setpoint(wanted(t)), bench.now);
      },
      [&](double t) {
        std::printf("%.3f %.4f %.4f\n", t, t < 2 ? wanted(t) : NAN, bench.joint().feedback().velocity);
      });
  return bench.good && std::abs(bench.joint().feedback().velocity) < 0.01;
}

/// Steps of the setpoint, by effort. At 2 s a load comes, which the integral takes.
bool pid() {
  auto controller = std::make_shared<controllers::PidController>("pid");
  Bench bench("PidController", controller,
              {{"joints", "joint"},
               {"proportional", "40"},
               {"integral", "80"},
               {"derivative", "3"},
               {"integral_limit", "6"}});
  Client<controllers::JointSetpoints> client;
  bench.join(client.out, controller->setpoints.port());
  const auto wanted = [](double t) { return t < 0.2 ? 0.0 : 0.3; };
  bench.run(
      4,
      [&](double t) {
        client.out.write(setpoint(wanted(t)), bench.now);
        bench.simulation().set_load(0, t < 2 ? 0 : 2);
      },
      [&](double t) { std::printf("%.3f %.4f %.4f\n", t, wanted(t), bench.joint().feedback().position); });
  return bench.good && std::abs(bench.joint().feedback().position - 0.3) < 0.01;
}

/// The same load on a joint that is only held.
bool hold() {
  auto controller = std::make_shared<controllers::HoldController>("hold");
  Bench bench("HoldController", controller,
              {{"joints", "joint"}, {"proportional", "60"}, {"derivative", "4"}});
  bench.run(
      3, [&](double t) { bench.simulation().set_load(0, t > 0.5 && t < 1.5 ? 2 : 0); },
      [&](double t) { std::printf("%.3f %.4f\n", t, bench.joint().feedback().position); });
  return bench.good && std::abs(bench.joint().feedback().position) < 0.01;
}

/// Closes, and is stopped by an object at 0.9 s.
bool gripper() {
  auto controller = std::make_shared<controllers::GripperController>("gripper");
  Bench bench("GripperController", controller, {{"joint", "joint"}, {"speed", 1.0}, {"stall_window", 0.3}});
  Client<controllers::GripperGoal> client;
  Client<controllers::GripperResult> seen;
  bench.join(client.out, controller->goals);
  bench.join(controller->results, seen.in);
  client.out.write({.number = 1, .position = 1.5, .max_effort = 5}, bench.now);
  double stalled = 0;
  bench.run(
      2.5,
      [&](double t) {
        bench.simulation().inject(0, t < 0.9 ? sim::JointFault::none : sim::JointFault::jammed);
      },
      [&](double t) {
        if (seen.in.read() == shm::Freshness::new_data)
          stalled = seen.in.value().outcome == controllers::GripperOutcome::stalled ? 1 : 0;
        std::printf("%.3f %.4f %.4f %g\n", t, bench.joint().reference().position,
                    bench.joint().feedback().position, stalled);
      });
  return bench.good && stalled == 1;
}

/// Somebody pushes against the joint for a second.
bool admittance() {
  auto controller = std::make_shared<controllers::AdmittanceController>("soft");
  Bench bench("AdmittanceController", controller,
              {{"joints", "joint"},
               {"mass", "0.5"},
               {"damping", "4"},
               {"stiffness", "12"},
               {"forces", "wrench/force.0"},
               {"matrix", "1"}});
  bench.run(
      4, [&](double t) { bench.board.wrench.force[0] = t > 0.5 && t < 2 ? 5 : 0; },
      [&](double t) {
        std::printf("%.3f %.4f %.4f\n", t, bench.board.wrench.force[0], bench.joint().feedback().position);
      });
  return bench.good && std::abs(bench.joint().feedback().position) < 0.02;
}

/// A noisy gauge through a low-pass and a limit of its rate.
bool chained_filter() {
  auto controller = std::make_shared<controllers::ChainedFilter>("filter");
  Bench bench("ChainedFilter", controller,
              {{"source", "board/gauge"}, {"filters", "low_pass:5, rate:2"}, {"target", "board/lamp"}});
  std::mt19937 random(1);
  std::normal_distribution<double> noise(0, 0.1);
  bench.run(
      3, [&](double t) { bench.board.gauge = (t > 1 ? 1 : 0) + noise(random); },
      [&](double t) { std::printf("%.3f %.4f %.4f\n", t, bench.board.gauge, bench.board.lamp); });
  return bench.good && std::abs(bench.board.lamp - 1) < 0.1;
}

/// A sensor that drifts and carries a tool: zeroed at 1 s, then it lifts 3 N.
bool force_torque() {
  auto controller = std::make_shared<controllers::ForceTorqueBroadcaster>("ft");
  Bench bench("ForceTorqueBroadcaster", controller, {{"sensor", "wrench"}, {"mass", 0.5}, {"cutoff", 20.0}});
  Client<controllers::Wrench> client;
  bench.join(controller->wrench, client.in);
  std::mt19937 random(1);
  std::normal_distribution<double> noise(0, 0.2);
  double force = 0;
  bool zeroed = false;
  bench.run(
      3,
      [&](double t) {
        bench.board.wrench.force[2] = 1.5 - 0.5 * 9.80665 + (t > 2 ? -3 : 0) + noise(random);
        if (t > 1 && !std::exchange(zeroed, true))
          bench.good =
              controller->parameters().set(Bench::Settings{{"zero", std::int64_t{1}}}, "example").has_value();
      },
      [&](double t) {
        if (client.in.read() != shm::Freshness::none) force = client.in.value().force[2];
        std::printf("%.3f %.4f %.4f\n", t, bench.board.wrench.force[2], force);
      });
  return bench.good && std::abs(force + 3) < 0.5;
}

/// A lamp that follows a button in a program outside. When the program falls silent, the lamp goes off.
bool gpio() {
  auto controller = std::make_shared<controllers::GpioController>("io");
  Bench bench(
      "GpioController", controller,
      {{"inputs", "board/button"}, {"outputs", "board/lamp"}, {"digital", "board/lamp"}, {"timeout", 0.2}});
  Client<controllers::SignalValues> client;
  bench.join(client.out, controller->commands.port());
  bench.join(controller->states, client.in);
  bench.run(
      3,
      [&](double t) {
        bench.board.button = std::fmod(t, 1) < 0.4 ? 1 : 0;
        if (t < 2.05 && client.in.read() != shm::Freshness::none)
          client.out.write(client.in.value(), bench.now);
      },
      [&](double t) { std::printf("%.3f %g %g\n", t, bench.board.button, bench.board.lamp); });
  return bench.good && bench.board.lamp == 0;
}

/// The joint's response to velocities of 0.5 to 40 Hz, as a Bode plot.
bool sine_sweep() {
  auto controller = std::make_shared<controllers::SineSweepController>("sweep");
  Bench bench("SineSweepController", controller,
              {{"joint", "joint"},
               {"mode", "velocity"},
               {"amplitude", 0.15},
               {"first", 0.5},
               {"last", 40.0},
               {"duration", 20.0}});
  std::vector<double> excitation, response;
  double before = 0;
  bench.run(
      20, [&](double) { before = bench.joint().reference().velocity; },
      [&](double) {
        excitation.push_back(before);
        response.push_back(bench.joint().feedback().velocity);
      });
  const auto bode = controllers::frequency_response(excitation, response, 0.002);
  if (!bench.good || !bode || bode->empty()) return false;
  for (const controllers::ResponsePoint& point : *bode)
    if (point.frequency < 40) std::printf("%.3f %.3f %.2f\n", point.frequency, point.gain, point.phase);
  return std::abs(bode->front().gain) < 1 && bode->back().gain < bode->front().gain;
}

struct Seen {
  double position = 0, velocity = 0;
};
struct Wanted {
  double effort = 0;
};
/// Holds the joint near 0.3 rad by work that takes longer than a cycle: its worker runs in another context.
struct SlowController final : robot::AsyncController<Seen, Wanted> {
  static constexpr component::ComponentMetadata about{.type = "SlowController",
                                                      .version = "1.0.0",
                                                      .vendor = "you",
                                                      .category = "example",
                                                      .description = "Works beside the cycle."};
  SlowController() : AsyncController(about, "slow", 100) {}
  SetupResult<void> on_configure(robot::Resources& resources) override {
    auto claimed = resources.claim_joint("joint", CommandMode::effort);
    if (!claimed) return tl::unexpected<SetupError>(claimed.error());
    joint_ = *claimed;
    return {};
  }
  void gather(Seen& seen) noexcept override {
    seen = {joint_->feedback().position, joint_->feedback().velocity};
  }
  void compute(const Seen& seen, Wanted& wanted) noexcept override {
    wanted.effort = 10 * (0.3 - seen.position) - 2 * seen.velocity;
  }
  void apply(const Wanted& wanted) noexcept override { joint_->set_effort(wanted.effort); }

 private:
  robot::Joint* joint_ = nullptr;
};

/// At 2 s the worker hangs, and 100 cycles later its controller ends.
bool async_controller() {
  auto controller = std::make_shared<SlowController>();
  Bench bench("AsyncController", controller, {}, {.worker = &controller->worker()});
  double before = 0;
  bench.run(
      4,
      [&](double t) {
        bench.worker_hangs = t >= 2;
        if (t < 2) before = bench.joint().feedback().position;
      },
      [&](double t) { std::printf("%.3f %.4f\n", t, bench.joint().feedback().position); });
  return bench.good && std::abs(before - 0.3) < 0.03 && controller->error() == robot::Errc::result_late &&
         std::abs(bench.joint().feedback().velocity) < 0.01;
}

struct Angle {
  double angle = std::numeric_limits<double>::quiet_NaN();  // rad; nobody takes it for measured
  TAKT_FIELDS(Angle, angle)
};
/// A hand wheel on a slow line. A worker asks it, since the answer takes longer than a cycle.
struct HandWheel final : robot::AsyncDevice<Angle> {
  static constexpr component::ComponentMetadata about{.type = "HandWheel",
                                                      .version = "1.0.0",
                                                      .vendor = "you",
                                                      .category = "example",
                                                      .description = "A hand wheel on a slow line."};
  HandWheel() : AsyncDevice(about, "wheel", std::chrono::milliseconds(100)) {}
  SetupResult<void> on_declare(robot::Declarations& declarations) override {
    return declarations.sensor(name(), reading());
  }
  Status exchange(const robot::NoOutput&, Angle& seen) noexcept override {
    seen.angle = turned;  // a real one would read from its line here, and block
    return {};
  }
  double turned = 0;
};
/// Moves the joint as the wheel is turned.
struct WheelController final : robot::Controller {
  static constexpr component::ComponentMetadata about{.type = "WheelController",
                                                      .version = "1.0.0",
                                                      .vendor = "you",
                                                      .category = "example",
                                                      .description = "Follows a hand wheel."};
  WheelController() : Controller(about, "follow") {}
  SetupResult<void> on_configure(robot::Resources& resources) override {
    auto claimed = resources.claim_joint("joint", CommandMode::position);
    if (!claimed) return tl::unexpected<SetupError>(claimed.error());
    auto angle = resources.state("wheel/angle");
    if (!angle) return tl::unexpected<SetupError>(angle.error());
    joint_ = *claimed;
    angle_ = *angle;
    return {};
  }
  Status on_execute(const component::CycleTime&) noexcept override {
    if (std::isfinite(angle_.get())) joint_->follow({angle_.get(), 0, 0});
    return {};
  }

 private:
  robot::Joint* joint_ = nullptr;
  robot::StateHandle angle_;
};

/// At 2 s the line breaks, and 100 ms later the device fails: the controller that uses it ends, and the joint
/// stands.
bool async_device() {
  HandWheel wheel;
  Bench bench("AsyncDevice", std::make_shared<WheelController>(), {},
              {.worker = &wheel.worker(), .device = &wheel});
  double before = 0;
  bench.run(
      4,
      [&](double t) {
        wheel.turned = 0.15 * t;
        bench.worker_hangs = t >= 2;
        if (t < 2) before = bench.joint().feedback().position;
      },
      [&](double t) { std::printf("%.3f %.4f\n", t, bench.joint().feedback().position); });
  return bench.good && std::abs(before - 0.3) < 0.03 && wheel.error() == robot::Errc::result_late &&
         std::abs(bench.joint().feedback().velocity) < 0.01 &&
         std::abs(bench.joint().feedback().position - 0.3) < 0.1;
}

}  // namespace

int main() {
  const std::pair<const char*, bool (*)()> scenes[] = {{"forward", forward},
                                                       {"pid", pid},
                                                       {"hold", hold},
                                                       {"gripper", gripper},
                                                       {"admittance", admittance},
                                                       {"chained_filter", chained_filter},
                                                       {"force_torque", force_torque},
                                                       {"gpio", gpio},
                                                       {"sine_sweep", sine_sweep},
                                                       {"async_controller", async_controller},
                                                       {"async_device", async_device}};
  bool all = true;
  for (const auto& [name, scene] : scenes) {
    const bool good = scene();
    std::fprintf(stderr, "%s: %s\n", name, good ? "as expected" : "went another way");
    all = all && good;
  }
  return all ? 0 : 1;
}
