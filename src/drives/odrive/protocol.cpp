// ODrives with CANSimple, as the rest of takt sees them. README.md of this folder is for people.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "drives/odrive/drive.hpp"
#include "drives/odrive/hardware.hpp"
#include "drives/register.hpp"
#include "takt/robot/bus_plan.hpp"
#include "takt/robot/drive_fault.hpp"
#include "takt/robot/drive_protocol.hpp"
#include "takt/sim/drive_bus.hpp"

namespace takt::drives {
namespace {

using robot::JointDescription;
using robot::RobotDescription;

constexpr std::array<robot::SettingRule, 4> odrive_rules{
    {{.key = "gear", .least = -1e4, .most = 1e4, .required = true},
     {.key = "velocity_limit", .least = 1e-3, .most = 1e4},
     {.key = "current_limit", .least = 1e-2, .most = 1e3, .required = true},
     {.key = "watchdog", .least = 1e-3, .most = 1e3}}};

constexpr std::array<robot::FaultBit, 24> fault_bits{
    {{0x2, "system"},
     {0x4, "its control loop was late"},
     {0x8, "no position estimate"},
     {0x10, "configuration"},
     {0x20, "gate driver"},
     {0x40, "no input"},
     {0x100, "over-voltage"},
     {0x200, "under-voltage"},
     {0x400, "over-current of the supply"},
     {0x800, "over-current into the supply"},
     {0x1000, "over-current"},
     {0x2000, "motor too hot"},
     {0x4000, "inverter too hot"},
     {0x8000, "velocity"},
     {0x1'0000, "position"},
     {0x100'0000, "no command came before its watchdog ran out"},
     {0x200'0000, "emergency stop"},
     {0x400'0000, "spin-out"},
     {0x800'0000, "brake resistor"},
     {0x1000'0000, "thermistor"},
     {0x4000'0000, "calibration"},
     {odrive_fault::duplicate, "two drives answer with its node id: give one of them another"},
     {odrive_fault::start_refused, "it does not go into closed loop: is it calibrated?"},
     {odrive_fault::power_lost, robot::lost_power}}};

class OdriveProtocol final : public robot::DriveProtocol {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "odrive"; }
  [[nodiscard]] bool has_counts() const noexcept override { return false; }
  [[nodiscard]] std::span<const robot::SettingRule> settings() const noexcept override {
    return odrive_rules;
  }
  [[nodiscard]] robot::AddressRule addresses(const JointDescription& /*joint*/) const override {
    return {.first_board = 1, .last_board = odrive_frame::last_node, .last_channel = 0};
  }
  /// As far as the 32-bit floats of the bus resolve a thousandth of a turn.
  [[nodiscard]] bool takes(const JointDescription& /*joint*/, CommandMode /*mode*/) const noexcept override {
    return true;
  }
  [[nodiscard]] double reach(const JointDescription& joint) const override {
    constexpr double turns = 16384;
    const auto setup = odrive_setup(joint);
    return setup ? std::abs(setup->scale.joint(turns)) : std::numeric_limits<double>::infinity();
  }
  void check(const RobotDescription& robot, const JointDescription& joint,
             const robot::Complain& complain) const override;
  void plan(const RobotDescription& robot, std::size_t bus, robot::BusPlan& plan) const override;
  [[nodiscard]] std::string describe_fault(std::uint32_t fault) const override;

  /// Remote frames: a drive answers them, and nothing else happens.
  [[nodiscard]] std::vector<can::Frame> questions(bool /*is_quiet*/) const override {
    std::vector<can::Frame> asked;
    for (std::uint8_t node = 1; node <= odrive_frame::last_node; ++node)
      asked.push_back(odrive_frame::ask<odrive::Version>(node));
    return asked;
  }
  [[nodiscard]] std::optional<robot::DriveSighting> sight(const can::Frame& frame) const override;
  [[nodiscard]] SetupResult<std::unique_ptr<robot::Hardware>> connect(
      const RobotDescription& robot, std::span<robot::CanPort* const> ports) const override {
    return OdriveHardware<robot::CanPort>::create(robot, ports);
  }
  [[nodiscard]] std::unique_ptr<sim::DriveBus> simulate(const RobotDescription& robot, std::size_t bus,
                                                        Time start) const override {
    return std::make_unique<sim::OneJointDrives<OdriveDrive, OdriveDriveOptions>>(
        robot.buses[bus], start, OdriveDriveOptions{}, odrive_frame::last_node);
  }
};

std::optional<robot::DriveSighting> OdriveProtocol::sight(const can::Frame& frame) const {
  const std::uint32_t node = odrive_frame::node_of(frame);
  if (frame.extended || frame.remote || node == 0 || node > odrive_frame::last_node) return std::nullopt;
  std::optional<robot::DriveSighting> seen;
  const auto look = [&]<class Message>(const Message& message) {
    constexpr bool is_version = std::is_same_v<Message, odrive::Version>;
    if constexpr (is_version || std::is_same_v<Message, odrive::Heartbeat>) {
      seen = robot::DriveSighting{.board = static_cast<std::uint8_t>(node)};
      if constexpr (is_version) seen->text = odrive_identity(message);
    }
  };
  if (!odrive::visit(odrive_frame::of_node_0(frame), look)) return std::nullopt;
  return seen;
}

void OdriveProtocol::check(const RobotDescription& robot, const JointDescription& joint,
                           const robot::Complain& complain) const {
  if (joint.counts_per_radian != 1)
    complain("counts_per_radian", "these drives count turns: \"gear\" has the ratio and the direction");
  if (const auto gear = joint.drive.number("gear"); gear && std::abs(*gear) < odrive_least_gear) {
    return complain("drive", fmt::format("gear is {}, but at least {} or at most -{} is a gear", *gear,
                                         odrive_least_gear, odrive_least_gear));
  }
  const auto limit = joint.drive.number("velocity_limit");
  const double fastest = std::abs(joint.limits.velocity);
  const auto setup = odrive_setup(joint);
  if (!limit && !std::isfinite(fastest)) {
    complain("drive", "velocity_limit is missing, and the joint has no limit of velocity to derive it from");
  } else if (limit && setup && std::isfinite(fastest) && *limit < std::abs(setup->scale.turns(fastest))) {
    complain("drive",
             fmt::format("velocity_limit is {} turns/s, but at its own limit of velocity the joint makes {}",
                         *limit, std::abs(setup->scale.turns(fastest))));
  }
  const double pause = to_seconds(robot.period) * (robot.overrun_limit + 2.0);
  if (const auto watchdog = joint.drive.number("watchdog"); watchdog && *watchdog < pause) {
    complain("drive", fmt::format("watchdog is {} s, but the loop may pause for {} s: its overrun_limit",
                                  *watchdog, pause));
  }
}

void OdriveProtocol::plan(const RobotDescription& robot, std::size_t bus, robot::BusPlan& plan) const {
  for (const JointDescription& joint : robot.joints) {
    if (joint.bus != bus) continue;
    plan.command(0);  // the question for the estimate
    plan.command(odrive::SetPosition::message.length);
    plan.reply(odrive::Estimate::message.length);
    for (const can::MessageSpec& unasked : {odrive::Estimate::message, odrive::Heartbeat::message})
      plan.replies.push_back({{}, static_cast<std::uint8_t>(unasked.length), unasked.cycle_time});
    plan.listen_to(odrive_frame::id_of<odrive::Version>(joint.board));
    plan.listen_to(odrive_frame::id_of<odrive::Heartbeat>(joint.board));
    plan.listen_to(odrive_frame::id_of<odrive::Errors>(joint.board));
    plan.listen_to(odrive_frame::id_of<odrive::Estimate>(joint.board));
    plan.listen_to(odrive_frame::id_of<odrive::Torques>(joint.board));
  }
}

std::string OdriveProtocol::describe_fault(std::uint32_t fault) const {
  if ((fault & odrive_fault::old_firmware) == 0) return robot::describe_bits(fault, fault_bits);
  constexpr std::uint32_t own =
      odrive_fault::duplicate | odrive_fault::start_refused | odrive_fault::power_lost;
  const std::string axis =
      fmt::format("axis error {:#x} of firmware 0.5", fault & ~(own | odrive_fault::old_firmware));
  return (fault & own) == 0 ? axis : axis + ", " + robot::describe_bits(fault & own, fault_bits);
}

}  // namespace

TAKT_DRIVE_PROTOCOL(odrive, OdriveProtocol);

}  // namespace takt::drives
