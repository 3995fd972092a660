// Twist in, odometry out, for the C API: vehicle/vehicle_drive.hpp. All that it does as its client does is vehicle_client.cpp's.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <string_view>
#include <utility>

#include "boundary.hpp"
#include "mobile.hpp"
#include "vehicle_client.hpp"

using takt::fail;
using takt::Result;
using takt::Status;
using takt::capi::Drive;
using takt::capi::Errc;
using takt::capi::guarded;
using takt::capi::to_configuration;
using takt::capi::to_status;
using takt::capi::to_time;
using takt::vehicle::OdometryEstimate;
using takt::vehicle::TurnSource;
using takt::vehicle::WaySource;
namespace vehicle = takt::vehicle;

/// The client's end is always a drive.
struct takt_vehicle_drive {
  takt_vehicle_client client;
};

namespace {

// Whoever reads what a C++ program publishes, or the other way round, reads the same bytes.
static_assert(sizeof(takt_odometry_estimate) == sizeof(OdometryEstimate));
static_assert(offsetof(takt_odometry_estimate, pose) == offsetof(OdometryEstimate, pose));
static_assert(offsetof(takt_odometry_estimate, twist) == offsetof(OdometryEstimate, twist));
static_assert(offsetof(takt_odometry_estimate, covariance) == offsetof(OdometryEstimate, covariance));
static_assert(std::string_view(TAKT_ODOMETRY_SCHEMA) == OdometryEstimate::schema);
static_assert(std::string_view(TAKT_ODOMETRY_FRAME) == OdometryEstimate::frame);
static_assert(std::string_view(TAKT_ODOMETRY_CHILD_FRAME) == OdometryEstimate::child_frame);

Result<vehicle::VehicleDriveConfiguration> read_options(const takt_vehicle_drive_options* options) noexcept {
  const auto o = takt::capi::read_struct(options, sizeof(takt_vehicle_drive_options));
  if (!o) return fail(o.error());
  const bool known_turn = o->turn == TAKT_TURN_BY_WHEELS || o->turn == TAKT_TURN_BY_STEERING;
  const bool known_way = o->way == TAKT_WAY_BY_WHEELS || o->way == TAKT_WAY_BY_ODOMETER;
  if (!known_turn || !known_way || o->reserved != 0) return fail(Errc::bad_argument);
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
  c.turn = static_cast<TurnSource>(o->turn);
  c.way = static_cast<WaySource>(o->way);
  return c;
}

}  // namespace

void takt_vehicle_drive_options_init(takt_vehicle_drive_options* options) {
  if (options == nullptr) return;
  *options = {};
  options->struct_size = sizeof(takt_vehicle_drive_options);
}

std::int32_t takt_vehicle_drive_create(const takt_vehicle_drive_options* options,
                                       const takt_vehicle_client_options* client,
                                       const takt_twist_law_options* law,
                                       const takt_odometry_options* odometry,
                                       const takt_vehicle_layouts* layouts, takt_channel* channel,
                                       takt_vehicle_drive** drive) {
  return guarded([&]() -> Status {
    if (drive == nullptr) return fail(Errc::null_pointer);
    auto configuration = read_options(options);
    if (!configuration) return fail(configuration.error());
    auto parts = takt::capi::to_parts(client, layouts, channel);
    if (!parts) return fail(parts.error());
    const auto law_configuration = to_configuration(law);
    if (!law_configuration) return fail(law_configuration.error());
    const auto odometry_configuration = to_configuration(odometry);
    if (!odometry_configuration) return fail(odometry_configuration.error());
    configuration->client = parts->configuration;
    configuration->law = *law_configuration;
    configuration->odometry = *odometry_configuration;
    auto made = Drive::make(*configuration, parts->channel);
    if (!made) return fail(made.error());
    *drive = std::make_unique<takt_vehicle_drive>(
                 takt_vehicle_drive{{std::move(parts->layouts), std::move(*made)}})
                 .release();
    return {};
  });
}

void takt_vehicle_drive_destroy(takt_vehicle_drive* drive) { delete drive; }

takt_vehicle_client* takt_vehicle_drive_client(takt_vehicle_drive* drive) {
  return drive == nullptr ? nullptr : &drive->client;
}

std::int32_t takt_vehicle_drive_twist(takt_vehicle_drive* drive, const takt_twist* wanted,
                                      std::int64_t now_ns) {
  if (drive == nullptr || wanted == nullptr) return to_status(Errc::null_pointer);
  return to_status(drive->client.drive()->drive(takt::capi::to_twist(*wanted), to_time(now_ns)));
}

std::int32_t takt_vehicle_drive_estimate(const takt_vehicle_drive* drive, takt_odometry_estimate* estimate) {
  if (drive == nullptr || estimate == nullptr) return to_status(Errc::null_pointer);
  const OdometryEstimate& known = drive->client.drive()->estimate();
  estimate->stamp_ns = takt::to_nanoseconds(known.stamp);
  estimate->pose = {known.pose.x, known.pose.y, known.pose.heading};
  estimate->twist = {known.twist.forward, known.twist.left, known.twist.rotation};
  std::copy(known.covariance.begin(), known.covariance.end(), std::begin(estimate->covariance));
  return TAKT_OK;
}

std::int32_t takt_vehicle_drive_set_pose(takt_vehicle_drive* drive, const takt_pose* pose,
                                         const double* covariance) {
  if (drive == nullptr || pose == nullptr) return to_status(Errc::null_pointer);
  takt::mobile::Odometry::Covariance sure = takt::mobile::Odometry::Covariance::Zero();
  for (int i = 0; covariance != nullptr && i < 9; ++i) sure(i / 3, i % 3) = covariance[i];
  return to_status(drive->client.drive()->odometry().set({pose->x, pose->y, pose->heading}, sure));
}
