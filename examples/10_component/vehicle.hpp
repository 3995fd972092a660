// A vehicle, the program that drives it, and the driver, as components. Sealed datagrams travel between
// vehicle and client through ports, as they would through sockets. A stopped vehicle is in the state error,
// and so is its client. Both go on after a reset and a start, in any order and at any time: a started client
// waits for its vehicle.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "../vehicle_course.hpp"

#include "takt/component/component.hpp"
#include "takt/component/port.hpp"
#include "takt/core/siphash.hpp"
#include "takt/secure/client_channel.hpp"
#include "takt/secure/server_channel.hpp"
#include "takt/sim/simulated_vehicle.hpp"
#include "takt/vehicle/vehicle_drive.hpp"

namespace vehicle_example {

using takt::Status;
using takt::Time;
using takt::component::Component;
using takt::component::ComponentMetadata;
using takt::component::CycleTime;
using takt::component::InPort;
using takt::component::OutPort;
using takt::mobile::Pose;
using takt::mobile::Twist;

using Drive = takt::vehicle::VehicleDrive<takt::secure::ClientChannel<takt::SipHash128>>;
using SimulatedVehicle = takt::sim::SimulatedVehicle<takt::secure::ServerChannel<takt::SipHash128>>;

/// A datagram on its way.
struct Datagram {
  static constexpr std::size_t room = 508;
  static_assert(room >= std::max(Drive::Client::max_datagram, SimulatedVehicle::max_datagram));

  std::uint32_t size = 0;
  std::array<std::uint8_t, room> bytes{};

  TAKT_FIELDS(Datagram, size, bytes)

  /// Its bytes. The size comes from another process.
  [[nodiscard]] std::span<const std::uint8_t> content() const noexcept {
    return std::span(bytes).first(std::min<std::size_t>(size, room));
  }
};

/// In practice, use one key per vehicle; see platform/key_file.hpp.
inline const takt::secure::SharedKey<takt::SipHash128> key{1, {0x6b, 0x65, 0x79}};

/// Sends what `from` has to send. At most a few datagrams are due in a cycle.
template <class Peer>
void send_due(Peer& from, OutPort<Datagram>& out, Time now, Time stamp) noexcept {
  Datagram datagram;
  for (int i = 0; i < 4; ++i) {
    const auto size = from.poll(now, datagram.bytes);
    if (!size || *size == 0) return;
    datagram.size = static_cast<std::uint32_t>(*size);
    static_cast<void>(out.write(datagram, stamp));
  }
}

/// A simulated vehicle.
struct Vehicle final : Component {
  static constexpr ComponentMetadata about{.type = "Vehicle",
                                           .version = "1.0.0",
                                           .vendor = "takt",
                                           .category = "plant",
                                           .description = "Simulates a car-like vehicle."};
  explicit Vehicle(std::string name) : Component(about, std::move(name)) {}

  takt::SetupResult<void> on_initialize() override {
    auto channel = takt::secure::ServerChannel<takt::SipHash128>::make({&key, 1}, {2});
    if (!channel) return takt::fail(channel.error(), "the key is bad");
    auto made =
        SimulatedVehicle::make({.plant = {.wheelbase = vehicle_course::wheelbase}},
                               {.payload = takt::vehicle::ByteOrder::little}, std::move(*channel), Time{});
    if (!made) return takt::fail(made.error(), "the simulated vehicle is badly configured");
    vehicle_.emplace(std::move(*made));
    return {};
  }
  Status on_execute(const CycleTime& cycle) noexcept override {
    exchange(cycle);
    if (vehicle_->controller().state() == takt::vehicle::SystemState::halted)
      return takt::fail(takt::vehicle::Errc::stopped);
    return {};
  }
  void on_error(const CycleTime& cycle) noexcept override { exchange(cycle); }
  /// After a reset. Its time went on while it was inactive, so it halted again by then, for want of commands.
  Status on_activate(const CycleTime& cycle) noexcept override {
    exchange(cycle);
    vehicle_->recover();
    return {};
  }

  InPort<Datagram> commands{*this, "commands"};
  OutPort<Datagram> telemetry{*this, "telemetry"};

 private:
  /// The simulation began at time 0.
  void exchange(const CycleTime& cycle) noexcept {
    if (!begin_) begin_ = cycle.time;
    const Time now{cycle.time - *begin_};
    for (int i = 0; i < 8 && commands.read() == takt::shm::Freshness::new_data; ++i)
      static_cast<void>(vehicle_->receive(commands.value().content(), now));
    send_due(*vehicle_, telemetry, now, cycle.time);
  }

  std::optional<SimulatedVehicle> vehicle_;
  std::optional<Time> begin_;
};

/// The program's end of the datagrams.
struct VehicleClient final : Component {
  static constexpr ComponentMetadata about{.type = "VehicleClient",
                                           .version = "1.0.0",
                                           .vendor = "takt",
                                           .category = "vehicle",
                                           .description = "Drives a vehicle by twists."};
  explicit VehicleClient(std::string name) : Component(about, std::move(name)) {}

  takt::SetupResult<void> on_initialize() override {
    auto channel = takt::secure::ClientChannel<takt::SipHash128>::make(key, {1});
    if (!channel) return takt::fail(channel.error(), "the key is bad");
    auto drive = Drive::make(vehicle_course::configuration(), std::move(*channel));
    if (!drive) return takt::fail(drive.error(), "the drive is badly configured");
    drive_.emplace(std::move(*drive));
    return {};
  }
  Status on_execute(const CycleTime& cycle) noexcept override {
    exchange(cycle);
    using takt::vehicle::SupervisorState;
    if (waits_) waits_ = !drive_->client().recover(cycle.time);
    const SupervisorState state = drive_->client().state();
    if (!waits_ && (state == SupervisorState::stopping || state == SupervisorState::stopped))
      return takt::fail(takt::vehicle::Errc::stopped);
    const bool ready = state == SupervisorState::ready || state == SupervisorState::driving;
    if (!ready) return {};
    pose.write(drive_->estimate().pose, cycle.time);
    if (twist.read() == takt::shm::Freshness::new_data)
      static_cast<void>(drive_->drive(twist.value(), cycle.time));
    return {};
  }
  void on_error(const CycleTime& cycle) noexcept override { exchange(cycle); }
  Status on_activate(const CycleTime&) noexcept override {
    waits_ = true;
    return {};
  }

  InPort<Datagram> telemetry{*this, "telemetry"};
  OutPort<Datagram> commands{*this, "commands"};
  InPort<Twist> twist{*this, "twist"};
  OutPort<Pose> pose{*this, "pose"};  ///< by odometry, while the vehicle obeys

 private:
  void exchange(const CycleTime& cycle) noexcept {
    for (int i = 0; i < 8 && telemetry.read() == takt::shm::Freshness::new_data; ++i)
      static_cast<void>(drive_->receive(telemetry.value().content(), cycle.time));
    send_due(*drive_, commands, cycle.time, cycle.time);
  }

  std::optional<Drive> drive_;
  bool waits_ = true;  ///< until the vehicle can be driven again
};

/// Drives laps on the course of the vehicle examples.
struct LapDriver final : Component {
  static constexpr ComponentMetadata about{.type = "LapDriver",
                                           .version = "1.0.0",
                                           .vendor = "takt",
                                           .category = "navigation",
                                           .description = "Drives laps on a course."};
  explicit LapDriver(std::string name) : Component(about, std::move(name)) {}

  Status on_execute(const CycleTime& cycle) noexcept override {
    if (pose.read() != takt::shm::Freshness::new_data) return {};
    if (driver_.arrived()) {
      driver_ = {};
      lap.write(++laps_, cycle.time);
    }
    twist.write(driver_.twist(pose.value()), cycle.time);
    return {};
  }

  InPort<Pose> pose{*this, "pose"};
  OutPort<Twist> twist{*this, "twist"};
  OutPort<std::int64_t> lap{*this, "lap"};  ///< one sample for each

 private:
  vehicle_course::Driver driver_;
  std::int64_t laps_ = 0;
};

}  // namespace vehicle_example
