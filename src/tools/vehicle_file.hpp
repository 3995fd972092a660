// The vehicle of `takt drive` and `takt vehicle-sim`: a description in a file, or the Furbot's.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "takt/robot/vehicle_description.hpp"

namespace takt::tools {

extern const std::string_view furbot_json;  ///< examples/robots/furbot.json, unchanged

/// The names of its systems: " battery traction".
[[nodiscard]] std::string names_of(const vehicle::Layouts& layouts);

/// Why sim::SimulatedVehicle cannot be this vehicle; std::nullopt: it can.
[[nodiscard]] std::optional<std::string> not_simulable(const robot::VehicleDescription& description);

/// --vehicle of a sub-command.
struct VehicleFileOption {
  std::string file{};  ///< empty: the Furbot

  void add_option(CLI::App& command);
  /// The description. If it has mistakes, they are printed, and CLI::RuntimeError is thrown.
  [[nodiscard]] robot::VehicleDescription load() const;
};

}  // namespace takt::tools
