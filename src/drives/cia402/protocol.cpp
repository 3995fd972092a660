// CiA 402 drives over CANopen on classic CAN: can/cia402/ has the frames.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "drives/register.hpp"
#include "takt/drives/cia402/cia402_drive.hpp"
#include "takt/drives/cia402/cia402_hardware.hpp"
#include "takt/robot/drive_fault.hpp"
#include "takt/sim/drive_bus.hpp"

namespace takt::drives {
namespace {

namespace canopen = can::canopen;

constexpr std::array<robot::FaultBit, 5> cia402_fault_bits{
    {{cia402_fault::power_lost, robot::lost_power},
     {cia402_fault::mode_refused, "it does not confirm its mode"},
     {cia402_fault::not_configured, "it refuses its configuration"},
     {cia402_fault::heartbeat_lost, "its heartbeat is lost"},
     {cia402_fault::homing_failed, "it did not find its home"}}};

/// The objects that a scan asks for.
constexpr std::array<std::pair<canopen::Address, std::string_view>, 3> told_objects{
    {{{0x1000, 0}, "device type"}, {{0x1018, 1}, "vendor"}, {{0x1018, 2}, "product"}}};

constexpr std::array<robot::SettingRule, 6> cia402_rules{
    {{.key = "homing", .least = -128, .most = 127},
     {.key = "homing_speed", .least = 0, .most = 1000},
     {.key = "homing_zero_speed", .least = 0, .most = 1000},
     {.key = "homing_acceleration", .least = 0, .most = 1e6},
     {.key = "homing_offset", .least = -1e6, .most = 1e6},
     {.key = "homing_timeout", .least = 0.1, .most = 3600}}};

/// The drives that search their home at each start, as their joints say.
std::vector<Cia402Home> homes_of(const robot::RobotDescription& robot) {
  std::vector<Cia402Home> homes;
  for (std::size_t i = 0; i < robot.joints.size(); ++i) {
    const robot::JointDescription& joint = robot.joints[i];
    const auto method = joint.drive.number("homing");
    if (!method || joint.bus >= robot.buses.size() || !robot::speaks(robot.buses[joint.bus], "cia402"))
      continue;
    Cia402Home& home = homes.emplace_back();
    home.joint = i;
    home.method = static_cast<std::int8_t>(*method);
    home.switch_speed = joint.drive.number("homing_speed").value_or(0);
    home.zero_speed = joint.drive.number("homing_zero_speed").value_or(0);
    home.acceleration = joint.drive.number("homing_acceleration").value_or(0);
    home.offset = joint.drive.number("homing_offset").value_or(0);
    if (const auto most = joint.drive.number("homing_timeout")) home.most = from_seconds(*most);
  }
  return homes;
}

class Cia402Protocol final : public robot::DriveProtocol {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "cia402"; }
  [[nodiscard]] robot::AddressRule addresses(const robot::JointDescription& /*joint*/) const override {
    return {1, canopen::max_node - 1, 0};  // the last one is the master's
  }
  [[nodiscard]] std::span<const robot::SettingRule> settings() const noexcept override {
    return cia402_rules;
  }
  void check(const robot::RobotDescription& /*robot*/, const robot::JointDescription& joint,
             const robot::Complain& complain) const override {
    const auto method = joint.drive.number("homing");
    if (method && *method != std::floor(*method)) complain("drive/homing", "must be a whole number: 6098h");
    if (!method && !joint.drive.list().empty())
      complain("drive", "has settings of a homing, but no method: \"homing\"");
  }
  [[nodiscard]] double reach(const robot::JointDescription& joint) const override {
    return 2'147'483'647.0 / std::abs(joint.counts_per_radian);
  }
  [[nodiscard]] std::optional<Duration> longest_pause() const override {
    return std::chrono::seconds(45);  // of 60 s, without the heartbeat's period
  }
  void plan(const robot::RobotDescription& robot, std::size_t bus, robot::BusPlan& plan) const override {
    using Direction = canopen::PdoDirection;
    constexpr std::uint8_t heartbeat = 1;
    bool any = false;
    for (const robot::JointDescription& joint : robot.joints) {
      if (joint.bus != bus) continue;
      any = true;
      plan.command(can::cia402::pdo_1_length);
      plan.reply(can::cia402::pdo_1_length);
      plan.listen_to(canopen::pdo_id(Direction::transmit, 1, joint.board));
      if (joint.rated_effort > 0) {
        plan.command(can::cia402::pdo_2_length);
        plan.reply(can::cia402::pdo_2_length);
        plan.listen_to(canopen::pdo_id(Direction::transmit, 2, joint.board));
      }
      plan.replies.push_back({{}, heartbeat, Cia402Timing{}.heartbeat});
      for (const std::uint32_t base :
           {canopen::sdo_reply_base, canopen::heartbeat_base, canopen::emergency_base})
        plan.listen_to(base + joint.board);
    }
    if (!any) return;
    plan.command(0);  // SYNC
    plan.commands.push_back({{}, heartbeat, cia402_watchdog(robot.period, robot.overrun_limit) / 4});
  }
  [[nodiscard]] std::string describe_fault(std::uint32_t fault) const override {
    const std::uint32_t code = fault & cia402_fault::code;
    if (code == 0) return robot::describe_bits(fault, cia402_fault_bits);
    const std::string text =
        fmt::format("{} ({:#06x})", canopen::describe_emergency(static_cast<std::uint16_t>(code)), code);
    return fault == code ? text : text + ", " + robot::describe_bits(fault - code, cia402_fault_bits);
  }
  /// Reads of the device type and the identity, object by object: so each node has time between two.
  [[nodiscard]] std::vector<can::Frame> questions(bool /*is_quiet*/) const override {
    std::vector<can::Frame> asked;
    for (const auto& [object, name] : told_objects) {
      for (std::uint8_t node = 1; node < canopen::max_node; ++node)
        asked.push_back(canopen::detail::sdo_frame(canopen::sdo_request_base + node,
                                                   canopen::detail::upload_request, object));
    }
    return asked;
  }
  [[nodiscard]] std::optional<robot::DriveSighting> sight(const can::Frame& frame) const override {
    const auto node = static_cast<std::uint8_t>(frame.id & canopen::max_node);
    if (frame.extended || frame.remote || node == 0) return std::nullopt;
    robot::DriveSighting seen{.board = node};
    if (canopen::decode_heartbeat(frame)) return seen;
    const bool is_answer =
        frame.id == canopen::sdo_reply_base + node && frame.length == canopen::detail::sdo_length;
    const unsigned command = frame.data[0] & canopen::detail::command_mask;
    if (!is_answer || (command != canopen::detail::upload_reply && command != canopen::detail::abort_command))
      return std::nullopt;
    for (const auto& [object, name] : told_objects) {
      if (command != canopen::detail::upload_reply || !(canopen::detail::address_in(frame) == object))
        continue;
      const std::uint32_t number = canopen::detail::number_in(frame);
      seen.text = fmt::format("{} {:#x}", name, number);
      constexpr std::uint32_t profile = 0xFFFF;
      if (object.index == 0x1000 && (number & profile) != 402)
        seen.text = fmt::format("no drive: profile {}", number & profile);
    }
    return seen;
  }
  [[nodiscard]] SetupResult<std::unique_ptr<robot::Hardware>> connect(
      const robot::RobotDescription& robot, std::span<robot::CanPort* const> ports) const override {
    return Cia402Hardware<robot::CanPort>::create(robot, ports, homes_of(robot));
  }
  [[nodiscard]] std::unique_ptr<sim::DriveBus> simulate(const robot::RobotDescription& robot, std::size_t bus,
                                                        Time start) const override {
    return std::make_unique<sim::OneJointDrives<Cia402Drive, Cia402DriveOptions>>(
        robot.buses[bus], start, Cia402DriveOptions{}, canopen::max_node);
  }
};

}  // namespace

TAKT_DRIVE_PROTOCOL(cia402, Cia402Protocol);

}  // namespace takt::drives
