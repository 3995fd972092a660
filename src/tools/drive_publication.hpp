// Publishes for `takt drive --publish NAME`: two latest values in the shared segment NAME, for one reader
// each.
//
//   "odometry"  vehicle::OdometryEstimate, after the first telemetry: pose in "odom", twist in "base_link"
//   "vehicle"   VehicleStatus, every cycle
//
// Both carry their schema. So `takt shm inspect NAME`, and programs without these types (shm/opaque.hpp,
// takt.h), have the fields by name. The program removes the name at its end. A reader keeps the segment's
// memory, with free owner slots and stamps that no longer grow. After a kill the name stays; the next program
// that publishes under it keeps the same readers.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "takt/core/setup_error.hpp"
#include "takt/core/time.hpp"
#include "takt/platform/segment.hpp"
#include "takt/robot/vehicle_device.hpp"
#include "takt/shm/latest_value.hpp"
#include "takt/vehicle/supervisor.hpp"
#include "takt/vehicle/vehicle_drive.hpp"

namespace takt::tools {

using robot::VehicleStatus;

class DrivePublication {
 public:
  /// Errors: those of Segment::open_or_create() and Segment::producer(), such as slot_taken.
  [[nodiscard]] static SetupResult<DrivePublication> open(const std::string& name);
  DrivePublication(DrivePublication&& other) noexcept = default;
  DrivePublication& operator=(DrivePublication&& other) = delete;
  /// Removes the name.
  ~DrivePublication();

  /// Both are real-time safe.
  void write(const vehicle::OdometryEstimate& estimate) noexcept { odometry_.end.write(estimate); }
  /// Shows life, too.
  void write(const VehicleStatus& status) noexcept;

 private:
  template <class T>
  using Writer = platform::Claim<shm::LatestWriter<T>>;

  DrivePublication(const std::string& name, platform::Segment segment,
                   Writer<vehicle::OdometryEstimate> odometry, Writer<VehicleStatus> status)
      : name_(std::make_unique<std::string>(name)),
        segment_(std::move(segment)),
        odometry_(std::move(odometry)),
        status_(std::move(status)) {}

  std::unique_ptr<std::string> name_;  ///< null where it was moved from
  platform::Segment segment_;          ///< its owner while this object lives
  Writer<vehicle::OdometryEstimate> odometry_;
  Writer<VehicleStatus> status_;
};

}  // namespace takt::tools
