#include "takt/robot/drive_fault.hpp"

#include <fmt/format.h>
#include <array>
#include <span>
#include <string_view>
#include <utility>

#include "takt/can/canopen/emergency.hpp"
#include "takt/can/hubo.hpp"
#include "takt/can/servo.hpp"
#include "takt/robot/cia402_master.hpp"
#include "takt/robot/servo_master.hpp"

namespace takt::robot {
namespace {

constexpr std::string_view lost_power = "it went off unasked";

namespace h = can::hubo::fault;
constexpr std::array<std::pair<std::uint32_t, std::string_view>, 16> hubo_bits{
    {{h::jam, "jam"},
     {h::pwm_saturated, "PWM saturated"},
     {h::big_error, "position error too big"},
     {h::encoder, "encoder"},
     {h::driver, "power stage"},
     {h::motor_fail_0, "motor fail 0"},
     {h::motor_fail_1, "motor fail 1"},
     {h::position_low, "at the lower position limit"},
     {h::position_high, "at the upper position limit"},
     {h::velocity, "velocity"},
     {h::acceleration, "acceleration"},
     {h::temperature, "temperature"},
     {h::big_input, "the reference jumped"},
     {h::current, "current"},
     {h::homing_failed, "did not find its home"},
     {h::power_lost, lost_power}}};

using can::servo::Fault;
constexpr std::array<std::pair<Fault, std::string_view>, 10> servo_codes{
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

constexpr std::array<std::pair<std::uint32_t, std::string_view>, 5> cia402_bits{
    {{cia402_fault::power_lost, lost_power},
     {cia402_fault::mode_refused, "it does not confirm its mode"},
     {cia402_fault::not_configured, "it refuses its configuration"},
     {cia402_fault::heartbeat_lost, "its heartbeat is lost"},
     {cia402_fault::homing_failed, "it did not find its home"}}};

/// The meanings of all bits of a word that has one for each, in a list.
std::string describe_bits(std::uint32_t fault,
                          std::span<const std::pair<std::uint32_t, std::string_view>> meanings) {
  std::string text;
  const auto add = [&text](std::string_view meaning) {
    if (!text.empty()) text += ", ";
    text += meaning;
  };
  for (const auto& [bit, meaning] : meanings) {
    if ((fault & bit) != 0) add(meaning);
    fault &= ~bit;
  }
  if (fault != 0) add(fmt::format("bits {:#x}", fault));
  return text;
}

std::string describe_cia402(std::uint32_t fault) {
  const std::uint32_t code = fault & cia402_fault::code;
  if (code == 0) return describe_bits(fault, cia402_bits);
  const std::string text =
      fmt::format("{} ({:#06x})", can::canopen::describe_emergency(static_cast<std::uint16_t>(code)), code);
  return fault == code ? text : text + ", " + describe_bits(fault - code, cia402_bits);
}

std::string describe_servo(std::uint32_t fault) {
  if (fault == servo_power_lost) return std::string(lost_power);
  for (const auto& [code, meaning] : servo_codes) {
    if ((fault & ~servo_power_lost) == static_cast<std::uint32_t>(code)) return std::string(meaning);
  }
  return fmt::format("number {}", fault);
}

}  // namespace

std::string describe_fault(const RobotDescription& robot, std::size_t joint, std::uint32_t fault) {
  const bool on_a_bus = joint < robot.joints.size() && robot.joints[joint].bus < robot.buses.size();
  if (!on_a_bus || fault == 0) return fmt::format("number {}", fault);
  switch (robot.buses[robot.joints[joint].bus].protocol) {
    case Protocol::hubo:
      return describe_bits(fault, hubo_bits);
    case Protocol::servo:
      return describe_servo(fault);
    case Protocol::cia402:
      break;
  }
  return describe_cia402(fault);
}

}  // namespace takt::robot
