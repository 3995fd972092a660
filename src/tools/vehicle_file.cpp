#include "tools/vehicle_file.hpp"

#include <fmt/format.h>

#include "takt/sim/simulated_vehicle.hpp"
#include "tools/commands.hpp"

namespace takt::tools {

std::string names_of(const vehicle::Layouts& layouts) {
  std::string names;
  for (const vehicle::SystemLayout& layout : layouts.systems()) names += fmt::format(" {}", layout.name);
  return names;
}

std::optional<std::string> not_simulable(const robot::VehicleDescription& description) {
  if (description.drive.client.telemetry.period == sim::status_period) return std::nullopt;
  return fmt::format(
      "the simulated vehicle sends {:g} status frames a second: /status/rate must be that number",
      1 / to_seconds(sim::status_period));
}

void VehicleFileOption::add_option(CLI::App& command) {
  command.add_option("--vehicle", file,
                     "The vehicle's description (see: takt/robot/vehicle_description.hpp); without it, the "
                     "Furbot of examples/robots/furbot.json, most of whose values are guesses");
}

robot::VehicleDescription VehicleFileOption::load() const {
  auto vehicle = file.empty() ? robot::load_vehicle(furbot_json) : robot::load_vehicle_file(file);
  if (vehicle) return std::move(*vehicle);
  for (const robot::Mistake& mistake : vehicle.error())
    fmt::print(stderr, "{}: {}\n", file, robot::to_string(mistake));
  throw CLI::RuntimeError(exit_bad_input);
}

}  // namespace takt::tools
