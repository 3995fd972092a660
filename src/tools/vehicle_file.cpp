#include "tools/vehicle_file.hpp"

#include <fmt/format.h>

#include "tools/commands.hpp"

namespace takt::tools {

std::string names_of(const vehicle::Layouts& layouts) {
  std::string names;
  for (const vehicle::SystemLayout& layout : layouts.systems()) names += fmt::format(" {}", layout.name);
  return names;
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
