// A client and a simulated vehicle, joined by a cable that can be cut, in virtual time.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "sim/vehicle_rig.hpp"
#include "takt/core/siphash.hpp"
#include "takt/secure/client_channel.hpp"
#include "takt/secure/server_channel.hpp"
#include "takt/vehicle/client.hpp"

namespace takt::test {

inline vehicle::ClientConfiguration client_of_furbot() {
  vehicle::ClientConfiguration configuration;
  configuration.units = vehicle::provisional_units;
  configuration.payload = vehicle::ByteOrder::big;
  return configuration;
}

template <class Near, class Far>
struct ClientRig {
  using Client = vehicle::VehicleClient<Near>;
  using Machine = sim::SimulatedVehicle<Far>;

  ClientRig(Near near, Far far)
      : client(Client::make(client_of_furbot(), std::move(near)).value()),
        machine(
            Machine::make(furbot(), {.payload = vehicle::ByteOrder::big}, std::move(far), Time{}).value()) {}

  /// Lets one millisecond pass.
  void tick() noexcept {
    now += std::chrono::milliseconds(1);
    while (const std::size_t size = client.poll(now, bytes).value_or(0)) {
      if (!is_cut) (void)machine.receive(std::span(bytes).first(size), now);
    }
    while (const std::size_t size = machine.poll(now, bytes).value_or(0)) {
      if (!is_cut) (void)client.receive(std::span(bytes).first(size), now);
    }
  }
  /// Lets time pass; a driver gives this command every 20 ms, accepted or not.
  void drive(const vehicle::DriveCommand& command, Duration duration) noexcept {
    const Time end = now + duration;
    for (int i = 0; now < end; ++i) {
      if (i % 20 == 0) (void)client.drive(command, now);
      tick();
    }
  }
  void wait(Duration duration) noexcept {
    for (const Time end = now + duration; now < end;) tick();
  }
  [[nodiscard]] const sim::VehiclePlant& plant() const { return machine.controller().plant(); }

  Client client;
  Machine machine;
  bool is_cut = false;
  Time now{};
  std::array<std::uint8_t, std::max(Client::max_datagram, Machine::max_datagram)> bytes{};
};

using SecureRig = ClientRig<secure::ClientChannel<SipHash128>, secure::ServerChannel<SipHash128>>;

inline SecureRig secure_rig(std::uint8_t key_of_vehicle = 7) {
  const secure::SharedKey<SipHash128> near{1, {7, 1, 2}};
  const std::array far{secure::SharedKey<SipHash128>{1, {key_of_vehicle, 1, 2}}};
  return SecureRig(secure::ClientChannel<SipHash128>::make(near, {1, 2, 3}).value(),
                   secure::ServerChannel<SipHash128>::make(far, {4, 5, 6}).value());
}

}  // namespace takt::test
