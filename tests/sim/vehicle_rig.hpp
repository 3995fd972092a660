// A simulated vehicle behind plain datagrams, without a client at the other end: tests send raw frames, to
// see its exact behaviour.
#pragma once

#include <doctest/doctest.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "takt/sim/simulated_vehicle.hpp"

namespace takt::test {

using Vehicle = sim::SimulatedVehicle<secure::PlainChannel>;

inline sim::VehicleOptions furbot() {
  sim::VehicleOptions options;
  options.plant.wheelbase = 1.6;
  return options;
}

/// The vehicle, and a sender at the other end. It sends a command every 10 ms, if enabled, and keeps received
/// frames.
struct VehicleRig {
  explicit VehicleRig(const sim::VehicleOptions& options = furbot())
      : units(*vehicle::Units::make(options.units)),
        machine(Vehicle::make(options, {.payload = vehicle::ByteOrder::big}, {}, Time{}).value()) {}

  void cycle() noexcept {
    now += std::chrono::milliseconds(10);
    if (sends) {
      std::array<std::uint8_t, vehicle::control_frame_bytes> frame{};
      stamp += 10;
      (void)vehicle::encode_control(*units.control(command, stamp), frame, vehicle::ByteOrder::big);
      (void)machine.receive(frame, now);
    }
    while (machine.next_send() <= now) {
      std::array<std::uint8_t, Vehicle::max_datagram> out{};
      const auto size = machine.poll(now, out);
      if (!size || *size == 0) break;
      ++heard;
      const auto decoded = vehicle::decode_into(status, std::span(out).first(*size));
      if (decoded) continue;
      last_error = decoded.error();
      ++malformed;
    }
  }
  void run(Duration duration) noexcept {
    for (const Time end = now + duration; now < end;) cycle();
  }
  /// Runs the start-up, until it would drive.
  void start() {
    sends = true;
    run(std::chrono::seconds(3));
    REQUIRE(machine.controller().state() == vehicle::SystemState::running);
  }
  [[nodiscard]] const sim::VehiclePlant& plant() const { return machine.controller().plant(); }
  [[nodiscard]] vehicle::SystemState state() const { return machine.controller().state(); }
  [[nodiscard]] std::int64_t value(vehicle::System system, std::string_view field) const {
    return status.value(system, field).value();
  }

  vehicle::Units units;
  Vehicle machine;
  vehicle::DriveCommand command;
  bool sends = false;
  std::uint32_t stamp = 0xffff'ff00;  // wraps soon
  vehicle::StatusFrame status;
  Error last_error;
  std::size_t heard = 0, malformed = 0;
  Time now{};
};

}  // namespace takt::test
