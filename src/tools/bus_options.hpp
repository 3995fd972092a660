// The option --bus NAME=INTERFACE of the commands that open a robot's buses.
#pragma once

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <cstddef>
#include <string>
#include <vector>

#include "takt/app/devices.hpp"
#include "takt/app/error.hpp"
#include "takt/robot/description.hpp"

namespace takt::tools {

inline CLI::Option* add_bus_option(CLI::App& command, std::vector<std::string>& buses,
                                   const std::string& help) {
  return command.add_option("--bus", buses, help)
      ->check(CLI::Validator(
          [](const std::string& text) {
            const std::size_t equals = text.find('=');
            const bool is_good = equals != std::string::npos && equals > 0 && equals + 1 < text.size();
            return is_good ? std::string() : text + " is not NAME=INTERFACE, as in arm=can0";
          },
          ""));
}

/// The options as text, for a command that a user can repeat: " --bus arm=can0"; empty without any.
[[nodiscard]] inline std::string bus_arguments(const std::vector<std::string>& buses) {
  std::string text;
  for (const std::string& bus : buses) text += " --bus " + bus;
  return text;
}

/// "arm: can0", or "arm: virtual", for each bus.
[[nodiscard]] inline std::string buses_of(const robot::RobotDescription& robot,
                                          const std::vector<std::string>& interfaces) {
  std::string text;
  for (std::size_t bus = 0; bus < robot.buses.size(); ++bus)
    text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", robot.buses[bus].name, interfaces[bus]);
  return text;
}

/// Parses texts that the option has checked.
[[nodiscard]] inline std::vector<app::BusOverride> to_overrides(const std::vector<std::string>& buses) {
  std::vector<app::BusOverride> overrides;
  for (const std::string& text : buses) {
    const std::size_t equals = text.find('=');
    overrides.push_back({text.substr(0, equals), text.substr(equals + 1)});
  }
  return overrides;
}

}  // namespace takt::tools
