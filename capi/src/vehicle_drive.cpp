// Drives of the C API: vehicle/vehicle_drive.hpp. vehicle_client.cpp has the functions of their clients.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <string_view>
#include <utility>

#include "boundary.hpp"
#include "mobile.hpp"
#include "takt/core/fields.hpp"
#include "takt/shm/schema.hpp"
#include "vehicle_client.hpp"
#include "vehicle_description.hpp"

using takt::fail;
using takt::Status;
using takt::capi::Drive;
using takt::capi::Errc;
using takt::capi::guarded;
using takt::capi::to_status;
using takt::capi::to_time;
using takt::vehicle::OdometryEstimate;

/// The client of a drive always holds a drive.
struct takt_vehicle_drive {
  takt_vehicle_client client;
};

TAKT_FIELDS_OF(takt_pose, x, y, heading)
TAKT_FIELDS_OF(takt_twist, forward, left, rotation)
TAKT_FIELDS_OF(takt_odometry_estimate, stamp_ns, pose, twist, covariance)

namespace {

// C and C++ programs publish the same bytes.
static_assert(takt::same_layout<takt_odometry_estimate, OdometryEstimate>());
static_assert(std::string_view(TAKT_ODOMETRY_SCHEMA) == takt::shm::schema_text<OdometryEstimate>());
static_assert(std::string_view(TAKT_ODOMETRY_FRAME) == OdometryEstimate::frame);
static_assert(std::string_view(TAKT_ODOMETRY_CHILD_FRAME) == OdometryEstimate::child_frame);

}  // namespace

std::int32_t takt_vehicle_drive_create(const takt_vehicle_description* description, takt_channel* channel,
                                       takt_vehicle_drive** drive) {
  return guarded([&]() -> Status {
    if (description == nullptr || drive == nullptr) return fail(Errc::null_pointer);
    const auto commander = takt::capi::to_commander(channel);
    if (!commander) return fail(commander.error());
    auto made = Drive::make(description->drive, *commander);
    if (!made) return fail(made.error());
    *drive =
        std::make_unique<takt_vehicle_drive>(takt_vehicle_drive{{description->layouts, *made}}).release();
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
  takt::mobile::Odometry::Covariance sure{};
  if (covariance != nullptr) std::copy_n(covariance, sure.size(), sure.begin());
  return to_status(drive->client.drive()->odometry().set({pose->x, pose->y, pose->heading}, sure));
}
