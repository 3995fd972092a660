// Descriptions of vehicles of the C API: from options, or from a file (robot/vehicle_description.hpp).
#include "vehicle_description.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "boundary.hpp"
#include "mobile.hpp"
#include "takt/robot/vehicle_description.hpp"
#include "vehicle_client.hpp"

using takt::fail;
using takt::Result;
using takt::Status;
using takt::capi::Errc;
using takt::capi::guarded;
using takt::capi::to_configuration;
namespace vehicle = takt::vehicle;

namespace {

Result<vehicle::VehicleDriveConfiguration> read_options(const takt_vehicle_drive_options* options) noexcept {
  const auto o = takt::capi::read_struct(options);
  if (!o) return fail(o.error());
  const bool known_turn = o->turn == TAKT_TURN_BY_WHEELS || o->turn == TAKT_TURN_BY_STEERING;
  const bool known_distance =
      o->distance == TAKT_DISTANCE_BY_WHEELS || o->distance == TAKT_DISTANCE_BY_ODOMETER;
  if (!known_turn || !known_distance || o->reserved != 0) return fail(Errc::bad_argument);
  vehicle::VehicleDriveConfiguration c;
  c.limits = {.forward = o->limits.forward,
              .backward = o->limits.backward,
              .left = o->limits.left,
              .rotation = o->limits.rotation,
              .acceleration = o->limits.acceleration,
              .braking = o->limits.braking,
              .rotational_acceleration = o->limits.rotational_acceleration};
  c.wheel_radius = o->wheel_radius;
  c.track = o->track;
  c.turn = static_cast<vehicle::TurnSource>(o->turn);
  c.distance = static_cast<vehicle::DistanceSource>(o->distance);
  return c;
}

}  // namespace

void takt_vehicle_drive_options_init(takt_vehicle_drive_options* options, std::size_t size) {
  takt::capi::init_struct(options, size);
}

std::int32_t takt_vehicle_description_create(const takt_vehicle_drive_options* options,
                                             const takt_vehicle_client_options* client,
                                             const takt_twist_law_options* law,
                                             const takt_odometry_options* odometry,
                                             const takt_vehicle_layouts* layouts,
                                             takt_vehicle_description** description) {
  return guarded([&]() -> Status {
    if (description == nullptr) return fail(Errc::null_pointer);
    auto drive = read_options(options);
    if (!drive) return fail(drive.error());
    auto kept = takt::capi::to_layouts(layouts);
    const auto client_configuration = to_configuration(client, kept.get());
    if (!client_configuration) return fail(client_configuration.error());
    const auto law_configuration = to_configuration(law);
    if (!law_configuration) return fail(law_configuration.error());
    const auto odometry_configuration = to_configuration(odometry);
    if (!odometry_configuration) return fail(odometry_configuration.error());
    drive->client = *client_configuration;
    drive->law = *law_configuration;
    drive->odometry = *odometry_configuration;
    *description =
        std::make_unique<takt_vehicle_description>(takt_vehicle_description{*drive, std::move(kept)})
            .release();
    return {};
  });
}

std::int32_t takt_vehicle_description_load(const char* path, takt_vehicle_description** description,
                                           char* text, std::size_t size) {
  return guarded(text, size, [&]() -> Status {
    if (path == nullptr || description == nullptr) return fail(Errc::null_pointer);
    auto loaded = takt::robot::load_vehicle_file(path);
    std::string lines;
    if (!loaded) {
      for (const takt::robot::Mistake& mistake : loaded.error())
        lines += takt::robot::to_string(mistake) + '\n';
      takt::capi::write_text(lines, text, size);
      return fail(Errc::bad_description);
    }
    for (const std::string& guess : loaded->provisional) lines += guess + '\n';
    auto made = std::make_unique<takt_vehicle_description>(
        takt_vehicle_description{loaded->drive, std::move(loaded->layouts)});
    takt::capi::write_text(lines, text, size);
    *description = made.release();
    return {};
  });
}

std::int32_t takt_vehicle_description_require(takt_vehicle_description* description, std::uint32_t systems) {
  if (description == nullptr) return takt::capi::to_status(Errc::null_pointer);
  const vehicle::SystemSet required = takt::capi::to_systems(systems);
  if (!required.contains(vehicle::System::traction)) return takt::capi::to_status(Errc::bad_argument);
  vehicle::Telemetry::Configuration& telemetry = description->drive.client.telemetry;
  for (std::uint8_t i = 0; i < vehicle::max_systems; ++i) {
    const auto system = static_cast<vehicle::System>(i);
    if (required.contains(system) && telemetry.layouts->length(system) == 0)
      return takt::capi::to_status(vehicle::Errc::unknown_system);
  }
  telemetry.required = required;
  return TAKT_OK;
}

void takt_vehicle_description_destroy(takt_vehicle_description* description) { delete description; }
