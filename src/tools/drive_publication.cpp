#include "tools/drive_publication.hpp"

#include <array>
#include <utility>

namespace takt::tools {

SetupResult<DrivePublication> DrivePublication::open(const std::string& name) {
  using Odometry = shm::LatestValue<vehicle::OdometryEstimate>;
  using Status = shm::LatestValue<VehicleStatus>;
  const std::array wanted{shm::declare<Odometry>("odometry"), shm::declare<Status>("vehicle")};
  auto segment = platform::Segment::open_or_create(name, wanted);
  if (!segment) return tl::unexpected(segment.error());
  auto odometry = segment->producer<Odometry>("odometry");
  if (!odometry) return tl::unexpected(odometry.error());
  auto status = segment->producer<Status>("vehicle");
  if (!status) return tl::unexpected(status.error());
  return DrivePublication(name, std::move(*segment), std::move(*odometry), std::move(*status));
}

DrivePublication::~DrivePublication() {
  if (name_) static_cast<void>(platform::Segment::remove(*name_));  // another process may have removed it
}

void DrivePublication::write(const VehicleStatus& status) noexcept {
  status_.end.write(status);
  segment_.owner_slot().beat(status.stamp);
  odometry_.owner_slot.beat(status.stamp);
  status_.owner_slot.beat(status.stamp);
}

}  // namespace takt::tools
