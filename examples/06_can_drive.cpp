// Moves one CiA 402 drive, the standard of most servo drives on CAN. Configures it, enables it where it
// stands, and moves it to 1.5 rad and back within its limits. Without arguments the drive is simulated in
// virtual time, bit by bit on a virtual bus. The same master moves a real drive on an interface of Linux, or
// this program's simulated drive in another process:
//
//     06_can_drive                        # simulated
//     ip link add vcan0 type vcan; ip link set vcan0 up
//     06_can_drive vcan0 drive &          # simulates the drive until it is killed
//     06_can_drive vcan0                  # moves it; use can0 for a real drive with node 5
//
// Prints time (s), reference and measured position (rad) and velocity (rad/s); 06_can_drive.gp draws them.
// Prints the states of the drive to the standard error.
#include <algorithm>
#include <array>
#include <cstdio>
#include <string>

#include "takt/app/devices.hpp"
#include "takt/core/manual_clock.hpp"
#include "takt/drives/cia402/cia402_drive.hpp"
#include "takt/drives/cia402/cia402_hardware.hpp"
#include "takt/drives/registry.hpp"
#include "takt/platform/socket_can_bus.hpp"
#include "takt/platform/steady_clock.hpp"
#include "takt/robot/bus_plan.hpp"
#include "takt/robot/drive_fault.hpp"
#include "takt/rt/periodic_loop.hpp"
#include "takt/trajectory/point_to_point.hpp"

using namespace takt;
using namespace std::chrono_literals;

namespace {

robot::RobotDescription one_joint() {
  robot::RobotDescription robot;
  robot.period = 2ms;
  robot.overrun_limit = 250;       // the drive tolerates pauses of half a second on an ordinary system ...
  robot.feedback_timeout = 500ms;  // ... and so does the master
  robot.buses.push_back({.name = "can0", .protocol = drives::find("cia402")});
  robot.joints.emplace_back();
  robot.joints[0].name = "joint";
  robot.joints[0].board = 5;                   // the drive's node
  robot.joints[0].counts_per_radian = 10'000;  // of its encoder
  robot.joints[0].plant.start = 0.3;           // rad; only the simulated drive uses it
  return robot;
}

/// Moves to 1.5 rad and back, as fast as the limits allow.
class Motion {
 public:
  explicit Motion(const robot::RobotDescription& robot) : robot_(robot) {}
  [[nodiscard]] bool over() const { return leg_ == 3; }
  [[nodiscard]] bool succeeded() const { return over() && !failed_; }

  /// One cycle: takes the drive's feedback and sets its command.
  void cycle(Time now, const robot::JointFeedback& joint, JointCommand& command) {
    tell(now, joint);
    command.want_power = !over();
    failed_ = failed_ || joint.drive == DriveState::fault || now - begun(now) > 20s;
    if (failed_) leg_ = 3;
    if (over() || joint.drive != DriveState::ready) return;
    if (leg_ == 0) plan(now, home_ = joint.position, 1.5);
    const double t = to_seconds(now - leg_began_);
    std::array<double, 1> p{}, v{}, a{};
    motion_.sample(t, p, v, a);
    command.position = p[0];
    command.velocity = v[0];
    std::printf("%.3f %.5f %.5f %.4f\n", to_seconds(now - moving_since_), p[0], joint.position,
                joint.velocity);
    if (t < motion_.duration() + 0.2) return;  // a short rest
    if (leg_ == 1) {
      plan(now, p[0], home_);
    } else {
      leg_ = 3;
    }
  }

 private:
  Time begun(Time now) {
    if (begun_ == Time{}) begun_ = now;
    return begun_;
  }
  void plan(Time now, double from, double to) {
    const std::array start{MotionState{from, 0, 0}}, target{MotionState{to, 0, 0}};
    const std::array limits{trajectory::DirectionalLimits{-2, 2, -6, 6, 60}};  // rad/s, rad/s^2, rad/s^3
    failed_ = failed_ || !motion_.plan(start, target, limits);
    if (++leg_ == 1) moving_since_ = now;
    leg_began_ = now;
  }
  void tell(Time now, const robot::JointFeedback& joint) {
    if (joint.drive == last_) return;
    last_ = joint.drive;
    constexpr std::array names{"silent", "off", "ready", "fault"};
    const std::string why = joint.fault == 0 ? "" : ": " + robot::describe_fault(robot_, 0, joint.fault);
    std::fprintf(stderr, "%7.3f s  %s%s, at %.3f rad\n", to_seconds(now - begun(now)),
                 names[static_cast<std::size_t>(joint.drive)], why.c_str(), joint.position);
  }

  const robot::RobotDescription& robot_;
  trajectory::PointToPoint<1> motion_;
  Time begun_{}, moving_since_{}, leg_began_{};
  double home_ = 0;
  int leg_ = 0;  // 1 there, 2 back, 3 finished
  bool failed_ = false;
  DriveState last_ = DriveState::unknown;
};

/// The loop of every robot: read, compute, write. It runs a little longer than the motion, so the drive is
/// switched off.
template <class Clock>
bool move(const robot::RobotDescription& robot, robot::Hardware& hardware, Clock& clock) {
  Motion motion(robot);
  std::array<robot::JointFeedback, 1> feedback;
  std::array<JointCommand, 1> commands;
  int left = 20;
  auto loop = rt::PeriodicLoop<Clock>::create(clock, {.period = robot.period});
  if (!loop) return false;
  loop->run([&](const rt::Tick& tick) noexcept {
    hardware.read(tick.due, feedback);
    motion.cycle(tick.due, feedback[0], commands[0]);
    hardware.write(tick.due, commands);
    return motion.over() && --left == 0 ? rt::Verdict::stop : rt::Verdict::proceed;
  });
  return motion.succeeded();
}

/// Simulates a drive in its own process until it is killed.
void play_drive(const robot::RobotDescription& robot, platform::SocketCanBus& bus) {
  const platform::SteadyClock clock;
  const auto* const buses = &bus;
  drives::Cia402Drive drive(robot.joints[0].board, {}, clock.now(), robot.joints[0]);
  std::array<can::Frame, 32> frames;
  for (;;) {
    (void)platform::wait_any({&buses, 1}, std::min(drive.next_send(), clock.now() + 1ms));
    const std::size_t count = bus.receive(frames);
    for (std::size_t i = 0; i < count; ++i) {
      if (drive.accepts(frames[i])) drive.receive(frames[i]);
    }
    drive.advance(clock.now());
    while (drive.next_send() <= clock.now()) {
      const can::Frame frame = drive.take_frame();
      (void)bus.send({&frame, 1});
    }
  }
}

void complain(const SetupError& error) { std::fprintf(stderr, "%s\n", error.message.c_str()); }

}  // namespace

int main(int argc, char** argv) {
  const robot::RobotDescription robot = one_joint();
  if (argc < 2) {
    auto simulated = app::Devices::create(robot, {.simulate = true});
    if (!simulated) return complain(simulated.error()), 1;
    ManualClock clock;
    return move(robot, **simulated, clock) ? 0 : 1;
  }
  const bool plays_drive = argc > 2;
  platform::SocketCanOptions options;  // no filters: a drive receives everything
  const robot::BusPlan plan = robot::plan_bus(robot, 0);
  if (!plays_drive) options = {.filters = plan.filters, .frames_per_cycle = plan.frames_per_cycle()};
  auto bus = platform::SocketCanBus::open(argv[1], options);
  if (!bus) return complain(bus.error()), 1;
  if (plays_drive) play_drive(robot, *bus);
  platform::SocketCanBus* const buses = &*bus;
  auto hardware = drives::Cia402Hardware<platform::SocketCanBus>::create(robot, {&buses, 1});
  if (!hardware) return complain(hardware.error()), 1;
  platform::SteadyClock clock;
  return move(robot, **hardware, clock) ? 0 : 1;
}
