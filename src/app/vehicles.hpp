// The vehicles of a robot's description as devices (robot/vehicle_device.hpp): over UDP, or simulated ones in
// this process.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "takt/app/run_clock.hpp"
#include "takt/core/setup_error.hpp"
#include "takt/core/time.hpp"
#include "takt/motion/loop.hpp"
#include "takt/robot/description.hpp"
#include "takt/robot/device.hpp"
#include "takt/robot/vehicle_device.hpp"

namespace takt::app {

/// A vehicle. The status is the device's.
struct OpenedVehicle {
  std::shared_ptr<robot::Device> device;
  const robot::VehicleStatus* status = nullptr;
  std::string about;  ///< for people: where it is, and which of its figures are guesses
};

/// Opens a vehicle, and sends nothing. It is simulated if the robot is, if its own description says so, or
/// without an address. The clock must outlive it. Errors: bad_description, with what is wrong; those of
/// platform::read_key_file() and of platform::UdpSocket::open().
[[nodiscard]] SetupResult<OpenedVehicle> open_vehicle(const robot::RobotVehicle& vehicle, bool simulate,
                                                      Duration period, RunClock& clock);

/// Tells another thread which vehicles are ready, which are not after some time, and why one stopped by
/// itself.
class VehicleWatch final : public motion::LoopObserver {
 public:
  /// Call it before the loop runs. The status must outlive this object.
  void add(const std::string& name, const robot::VehicleStatus& status) {
    vehicles_.emplace_back(name, status);
  }

  void before_cycle(Time) noexcept override {}
  void on_event(const motion::Event&) noexcept override {}
  void after_cycle(const motion::Snapshot& snapshot) noexcept override;

  /// The next report; std::nullopt if there is none. For one other thread. Allocates.
  [[nodiscard]] std::optional<std::string> next();

 private:
  /// A state and a cause as one number; 0: nothing to tell.
  using News = std::uint32_t;
  struct Vehicle {
    Vehicle(std::string its_name, const robot::VehicleStatus& its_status)
        : name(std::move(its_name)), status(&its_status) {}
    std::string name;
    const robot::VehicleStatus* status;
    std::optional<Time> began{};  ///< first cycle
    std::atomic<News> news{0};    ///< relaxed: it orders nothing
    News told = 0;                ///< only next()
  };

  std::deque<Vehicle> vehicles_;
};

}  // namespace takt::app
