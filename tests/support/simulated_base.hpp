// A simulated Furbot as the device "base" of a robot, at the other end of a line that the test may cut.
#pragma once

#include <doctest/doctest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "support/source_dir.hpp"
#include "takt/robot/vehicle_description.hpp"
#include "takt/robot/vehicle_device.hpp"
#include "takt/sim/simulated_vehicle.hpp"

namespace takt::test {

using BaseVehicle = sim::SimulatedVehicle<secure::PlainChannel>;

/// The line to a vehicle of the test.
struct BaseLine final : robot::VehicleLine {
  explicit BaseLine(BaseVehicle& its_vehicle) : vehicle(&its_vehicle) {}
  void send(std::span<const std::uint8_t> datagram, Time now) noexcept override {
    ++sent;
    if (!is_cut) (void)vehicle->receive(datagram, now);
  }
  std::size_t receive(std::span<std::uint8_t> buffer, Time now) noexcept override {
    const std::size_t size = vehicle->poll(now, buffer).value_or(0);
    return is_cut ? 0 : size;
  }
  void recover() noexcept override { vehicle->recover(); }

  BaseVehicle* vehicle;
  bool is_cut = false;  ///< no datagram arrives, either way
  int sent = 0;
};

/// The vehicle and its device.
struct SimulatedBase {
  static constexpr Duration longest_stop = std::chrono::seconds(6);

  explicit SimulatedBase(Time start = {})
      : vehicle(BaseVehicle::make(sim::options_of(furbot.drive), {.payload = furbot.drive.client.payload}, {},
                                  start)
                    .value()) {
    auto its_line = std::make_unique<BaseLine>(vehicle);
    line = its_line.get();
    device = std::make_unique<robot::VehicleDevice<secure::PlainChannel>>(
        "base", vehicle::VehicleDrive<secure::PlainChannel>::make(furbot.drive, {}).value(),
        std::move(its_line), longest_stop);
  }

  [[nodiscard]] double speed() const { return vehicle.controller().plant().speed(); }

  robot::VehicleDescription furbot =
      robot::load_vehicle_file(TAKT_SOURCE_DIR "/examples/robots/furbot.json").value();
  BaseVehicle vehicle;
  BaseLine* line = nullptr;  ///< of the device
  std::unique_ptr<robot::VehicleDevice<secure::PlainChannel>> device;
};

}  // namespace takt::test
