// takt's own servo drives on CAN FD: can/servo.hpp has the frames.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "drives/register.hpp"
#include "takt/drives/servo/servo_drive.hpp"
#include "takt/drives/servo/servo_hardware.hpp"
#include "takt/robot/drive_fault.hpp"
#include "takt/sim/drive_bus.hpp"

namespace takt::drives {
namespace {

namespace servo = can::servo;
using servo::Fault;

constexpr std::array<std::pair<Fault, std::string_view>, 10> servo_fault_codes{
    {{Fault::reference_lost, "no command came before its watchdog ran out"},
     {Fault::over_current, "over-current"},
     {Fault::over_voltage, "over-voltage"},
     {Fault::under_voltage, "under-voltage"},
     {Fault::over_temperature, "over-temperature"},
     {Fault::encoder, "encoder"},
     {Fault::following_error, "too far from its reference"},
     {Fault::position_limit, "outside its own position limits"},
     {Fault::unsupported_mode, "a mode that it does not have"},
     {Fault::internal, "internal"}}};

class ServoProtocol final : public robot::DriveProtocol {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "servo"; }
  [[nodiscard]] bool has_fd_frames() const noexcept override { return true; }
  [[nodiscard]] robot::AddressRule addresses(const robot::JointDescription& /*joint*/) const override {
    return {1, servo::max_node, 0};
  }
  [[nodiscard]] double reach(const robot::JointDescription& /*joint*/) const override {
    return 2'147'483'647.0 * servo::position_unit;
  }
  [[nodiscard]] std::optional<Duration> longest_pause() const override {
    return std::chrono::milliseconds(255);  // its watchdog has 8 bits
  }
  /// The drive keeps the velocity until the next command is overdue by half a period, then it brakes.
  [[nodiscard]] MotionState coast(const robot::RobotDescription& robot, const robot::JointDescription& joint,
                                  const MotionState& reference, Duration time) const noexcept override {
    const double kept = to_seconds(std::min(time, robot.period + robot.period / 2));
    const double speed = std::abs(reference.velocity);
    const double braking = servo_braking(joint);
    const double braked = std::min(to_seconds(time) - kept, speed / braking);
    const double distance = speed * (kept + braked) - braking * braked * braked / 2;
    return {reference.position + std::copysign(distance, reference.velocity),
            std::copysign(speed - braking * braked, reference.velocity), 0};
  }
  void check(const robot::RobotDescription& /*robot*/, const robot::JointDescription& joint,
             const robot::Complain& complain) const override {
    if (joint.rated_effort > 0) complain("rated_effort", "this drive is told positions only");
  }
  void plan(const robot::RobotDescription& robot, std::size_t bus, robot::BusPlan& plan) const override {
    constexpr can::FrameFormat fd{.fd = true, .bit_rate_switch = true};
    std::array<std::size_t, servo::group_count> slots{};
    for (const robot::JointDescription& joint : robot.joints) {
      if (joint.bus != bus) continue;
      std::size_t& used = slots[servo::group_of(joint.board)];
      used = std::max(used, servo::slot_of(joint.board) + std::size_t{1});
      plan.reply(servo::detail::reply_bytes, fd);
      plan.listen_to(servo::reply_base + joint.board);
    }
    for (const std::size_t used : slots) {
      if (used > 0) plan.command(servo::detail::command_lengths[used], fd);
    }
  }
  [[nodiscard]] std::string describe_fault(std::uint32_t fault) const override {
    if (fault == servo_power_lost) return std::string(robot::lost_power);
    for (const auto& [code, meaning] : servo_fault_codes) {
      if ((fault & ~servo_power_lost) == static_cast<std::uint32_t>(code)) return std::string(meaning);
    }
    return fmt::format("number {}", fault);
  }
  /// A drive answers nothing but a command, and one without enable switches it off.
  [[nodiscard]] std::vector<can::Frame> questions(bool is_quiet) const override {
    std::vector<can::Frame> asked;
    for (std::uint8_t group = 0; is_quiet && group < servo::group_count; ++group) {
      servo::GroupCommand command{.group = group, .sequence = 1};
      for (servo::DriveCommand& slot : command.slots) slot.addressed = true;
      if (const auto frame = can::encode(command)) asked.push_back(*frame);
    }
    return asked;
  }
  [[nodiscard]] std::optional<robot::DriveSighting> sight(const can::Frame& frame) const override {
    const auto reply = servo::decode_reply(frame);
    if (!reply) return std::nullopt;
    return robot::DriveSighting{.board = reply->node,
                                .text = reply->fault == 0 ? "" : "fault: " + describe_fault(reply->fault)};
  }
  [[nodiscard]] SetupResult<std::unique_ptr<robot::Hardware>> connect(
      const robot::RobotDescription& robot, std::span<robot::CanPort* const> ports) const override {
    return ServoHardware<robot::CanPort>::create(robot, ports);
  }
  [[nodiscard]] std::unique_ptr<sim::DriveBus> simulate(const robot::RobotDescription& robot, std::size_t bus,
                                                        Time start) const override {
    return std::make_unique<sim::OneJointDrives<ServoDrive, ServoDriveOptions>>(
        robot.buses[bus], start, ServoDriveOptions{.command_period = robot.period}, servo::max_node);
  }
};

}  // namespace

TAKT_DRIVE_PROTOCOL(servo, ServoProtocol);

}  // namespace takt::drives
