// MIT mode, the impedance control of mini-cheetah, CubeMars AK and Damiao actuators: drives/mit/frames.hpp
// has the frames.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <utility>
#include <vector>

#include "drives/mit/drive.hpp"
#include "drives/mit/hardware.hpp"
#include "drives/register.hpp"
#include "takt/robot/drive_fault.hpp"
#include "takt/sim/drive_bus.hpp"

// Names of its own: protocols are compiled together where a build is in few pieces.
namespace takt::drives::mit {
namespace {

constexpr double largest_range = 1000;
constexpr double least_range = 0.1;
constexpr std::array<robot::SettingRule, 7> rules{
    {{.key = "vendor", .words = vendor_names, .required = true},
     {.key = "position_range", .least = least_range, .most = largest_range, .required = true},
     {.key = "velocity_range", .least = least_range, .most = largest_range, .required = true},
     {.key = "torque_range", .least = least_range, .most = largest_range, .required = true},
     {.key = "kp", .least = 0, .most = max_kp, .required = true},
     {.key = "kd", .least = 0, .most = max_kd, .required = true},
     {.key = "reply_id", .least = 0, .most = register_id - 1}}};

/// The registers that a scan asks for.
constexpr std::array<Register, 4> told_registers{Register::control_mode, Register::position_range,
                                                 Register::velocity_range, Register::torque_range};

constexpr std::array<std::pair<std::uint32_t, std::string_view>, 7> cubemars_errors{
    {{1, "the motor is too hot"},
     {2, "over-current"},
     {3, "over-voltage"},
     {4, "under-voltage"},
     {5, "encoder"},
     {6, "the power stage is too hot"},
     {7, "stalled"}}};
constexpr std::array<std::pair<std::uint32_t, std::string_view>, 7> damiao_errors{
    {{0x8, "over-voltage"},
     {0x9, "under-voltage"},
     {0xA, "over-current"},
     {0xB, "the power stage is too hot"},
     {0xC, "the motor is too hot"},
     {0xD, "no command came before its time-out ran out"},
     {0xE, "overload"}}};
constexpr std::array<robot::FaultBit, 7> fault_bits{
    {{fault::power_lost, robot::lost_power},
     {fault::wrong_mode, "its CTRL_MODE is not MIT"},
     {fault::wrong_position_range, "its PMAX is not the position_range of the description"},
     {fault::wrong_velocity_range, "its VMAX is not the velocity_range of the description"},
     {fault::wrong_torque_range, "its TMAX is not the torque_range of the description"},
     {fault::wrong_timeout, "it does not take its TIMEOUT"},
     {fault::beyond_range, "it stands beyond its position_range"}}};

class MitProtocol final : public robot::DriveProtocol {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "mit"; }
  [[nodiscard]] bool has_counts() const noexcept override { return false; }
  [[nodiscard]] std::span<const robot::SettingRule> settings() const noexcept override { return rules; }
  [[nodiscard]] robot::AddressRule addresses(const robot::JointDescription& joint) const override {
    const auto setup = setup_of(joint);
    return {1, last_id(setup ? setup->vendor : Vendor::cubemars), 0};
  }
  [[nodiscard]] bool takes(const robot::JointDescription& /*joint*/,
                           CommandMode /*mode*/) const noexcept override {
    return true;
  }
  [[nodiscard]] double reach(const robot::JointDescription& joint) const override {
    return joint.drive.number("position_range").value_or(Ranges{}.position);
  }
  void check(const robot::RobotDescription& robot, const robot::JointDescription& joint,
             const robot::Complain& complain) const override {
    if (joint.rated_effort > 0)
      complain("rated_effort", "this drive is told its torque in N m: its torque_range says how much");
    const auto setup = setup_of(joint);
    if (!setup) {
      if (const auto id = joint.drive.number("reply_id"); id && *id != std::floor(*id))
        complain("drive/reply_id", "must be a whole number");
      return;  // what else is wrong is listed already
    }
    check_gains(*setup, complain);
    check_pause(robot, *setup, complain);
    for (const robot::JointDescription& other : robot.joints) {
      if (other.bus == joint.bus) check_identifiers(*setup, other, complain);
    }
  }

  void plan(const robot::RobotDescription& robot, std::size_t bus, robot::BusPlan& plan) const override {
    for (const robot::JointDescription& joint : robot.joints) {
      const auto setup = setup_of(joint);
      if (joint.bus != bus || !setup) continue;
      plan.command(can::max_classic_length);
      plan.reply(can::max_classic_length);
      plan.listen_to(setup->reply_id);
    }
  }
  [[nodiscard]] std::string describe_fault(std::uint32_t fault) const override {
    std::string text = describe_error(fault & fault::cubemars, cubemars_errors);
    const auto add = [&text](const std::string& more) {
      text += (text.empty() || more.empty() ? "" : ", ") + more;
    };
    add(describe_error((fault & fault::damiao) >> fault::damiao_shift, damiao_errors));
    add(robot::describe_bits(fault & ~(fault::cubemars | fault::damiao), fault_bits));
    return text;
  }

  /// Reads of a Damiao's registers. Every frame to the other drives acts on the motor.
  [[nodiscard]] std::vector<can::Frame> questions(bool /*is_quiet*/) const override {
    std::vector<can::Frame> asked;
    for (const Register number : told_registers) {
      for (std::uint8_t drive = 1; drive <= last_id(Vendor::damiao); ++drive) {
        const RegisterFrame read{.drive = drive, .number = static_cast<std::uint8_t>(number)};
        if (const auto frame = can::encode(read)) asked.push_back(*frame);
      }
    }
    return asked;
  }
  [[nodiscard]] std::optional<robot::DriveSighting> sight(const can::Frame& frame) const override {
    const auto answer = decode_register(frame, frame.id);
    if (!answer || frame.id >= register_id || answer->operation != RegisterOperation::read ||
        answer->drive == 0 || answer->drive > last_id(Vendor::damiao))
      return std::nullopt;
    robot::DriveSighting seen{.board = answer->drive};
    seen.settings.set("vendor", std::string("damiao"));
    seen.settings.set("reply_id", static_cast<double>(frame.id));
    const auto tell = [&](Register number, const char* key) {
      const double range = std::bit_cast<float>(answer->value);
      if (answer->number == static_cast<std::uint8_t>(number) && range >= least_range &&
          range <= largest_range)
        seen.settings.set(key, range);
    };
    tell(Register::position_range, "position_range");
    tell(Register::velocity_range, "velocity_range");
    tell(Register::torque_range, "torque_range");
    if (answer->number == static_cast<std::uint8_t>(Register::control_mode))
      seen.text = answer->value == mit_mode ? "Damiao in MIT mode" : "Damiao in another mode than MIT";
    return seen;
  }
  [[nodiscard]] SetupResult<std::unique_ptr<robot::Hardware>> connect(
      const robot::RobotDescription& robot, std::span<robot::CanPort* const> ports) const override {
    return Hardware<robot::CanPort>::create(robot, ports);
  }
  [[nodiscard]] std::unique_ptr<sim::DriveBus> simulate(const robot::RobotDescription& robot, std::size_t bus,
                                                        Time start) const override {
    return std::make_unique<sim::OneJointDrives<Drive, DriveOptions>>(robot.buses[bus], start, DriveOptions{},
                                                                      last_id(Vendor::cubemars));
  }

 private:
  template <class Errors>
  [[nodiscard]] static std::string describe_error(std::uint32_t error, const Errors& errors) {
    for (const auto& [code, meaning] : errors) {
      if (code == error) return std::string(meaning);
    }
    return error == 0 ? "" : fmt::format("error {}", error);
  }

  /// A gain below one step of its field would be 0 on the wire.
  static void check_gains(const Setup& setup, const robot::Complain& complain) {
    constexpr double steps = detail::top12;
    if (setup.kp < max_kp / steps)
      complain(
          "drive/kp",
          fmt::format("is less than {:.3g}, the least that its frames can say: nothing would hold the joint",
                      max_kp / steps));
    if (setup.kd < max_kd / steps)
      complain(
          "drive/kd",
          fmt::format("is less than {:.3g}, the least that its frames can say: the joint would oscillate",
                      max_kd / steps));
  }
  /// A cheetah goes limp by itself, without a report.
  static void check_pause(const robot::RobotDescription& robot, const Setup& setup,
                          const robot::Complain& complain) {
    if (setup.vendor != Vendor::cheetah || robot.overrun == rt::OverrunPolicy::catch_up) return;
    const Duration::rep most = cheetah_timeout / robot.period - 2;
    if (Duration::rep{robot.overrun_limit} <= most) return;
    complain("drive/vendor",
             fmt::format("a cheetah is limp {:g} s after the last command, and the overrun_limit lets the "
                         "loop be away for "
                         "{} periods of {:g} s. {}",
                         to_seconds(cheetah_timeout), robot.overrun_limit, to_seconds(robot.period),
                         most >= 0 ? fmt::format("At most {}", most) : "The loop must be faster"));
  }
  /// No drive may take another's reply as a command, and each reply must have one drive.
  static void check_identifiers(const Setup& setup, const robot::JointDescription& joint,
                                const robot::Complain& complain) {
    const auto other = setup_of(joint);
    if (!other) return;
    if (setup.reply_id == other->id)
      complain("drive/reply_id",
               fmt::format("{:#x} is the identifier that {} listens to", setup.reply_id, joint.name));
    if (other->reply_id == setup.id)
      complain("board", fmt::format("{} replies with the identifier {:#x}", joint.name, other->reply_id));
    const bool are_told_apart = setup.vendor == Vendor::cheetah && other->vendor == Vendor::cheetah;
    if (setup.reply_id == other->reply_id && !are_told_apart)
      complain("drive/reply_id", fmt::format("{} replies with {:#x}, too", joint.name, setup.reply_id));
  }
};

}  // namespace
}  // namespace takt::drives::mit

namespace takt::drives {
TAKT_DRIVE_PROTOCOL(mit, mit::MitProtocol);
}  // namespace takt::drives
