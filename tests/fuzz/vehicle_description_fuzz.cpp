// Fuzzes vehicle files with any bytes. The result is a description from which a client can be made, or a list
// of mistakes that is not empty. Each mistake has a place. The last-resort messages, "no vehicle has these
// ... together" and "this is no table", must never appear.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "takt/robot/vehicle_description.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using Drive = takt::vehicle::VehicleDrive<takt::secure::PlainChannel>;
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): bytes as text
  const auto vehicle = takt::robot::load_vehicle({reinterpret_cast<const char*>(data), size});
  if (!vehicle) {
    if (vehicle.error().empty()) std::abort();
    for (const auto& mistake : vehicle.error()) {
      if (to_string(mistake).empty()) std::abort();
      for (const char* last_resort : {"the measures, units and limits", "the systems do not form"})
        if (mistake.reason.rfind(last_resort, 0) == 0) std::abort();
    }
    return 0;
  }
  if (!Drive::make(vehicle->drive, {}) || !(vehicle->drive.law.wheelbase > 0)) std::abort();
  return 0;
}
