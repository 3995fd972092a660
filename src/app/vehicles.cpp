#include "app/vehicles.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "app/endpoint.hpp"
#include "takt/app/error.hpp"
#include "takt/core/siphash.hpp"
#include "takt/describe.hpp"
#include "takt/platform/error.hpp"
#include "takt/platform/key_file.hpp"
#include "takt/platform/udp_socket.hpp"
#include "takt/robot/vehicle_description.hpp"
#include "takt/robot/vehicle_device.hpp"
#include "takt/secure/channel.hpp"
#include "takt/secure/client_channel.hpp"
#include "takt/sim/simulated_vehicle.hpp"

namespace takt::app {
namespace {

using SimulatedVehicle = sim::SimulatedVehicle<secure::PlainChannel>;

class UdpLine final : public robot::VehicleLine {
 public:
  UdpLine(platform::UdpSocket socket, RunClock& clock) : socket_(std::move(socket)), clock_(&clock) {}
  void send(std::span<const std::uint8_t> datagram, Time) noexcept override {
    static_cast<void>(socket_.send(datagram));
  }
  std::size_t receive(std::span<std::uint8_t> buffer, Time) noexcept override {
    return socket_.receive(buffer, Duration{}).value_or(0);
  }
  Time now(Time) noexcept override { return clock_->now(); }

 private:
  platform::UdpSocket socket_;
  RunClock* clock_;
};

class SimulatedLine final : public robot::VehicleLine {
 public:
  explicit SimulatedLine(const SimulatedVehicle& vehicle) : vehicle_(vehicle) {}
  void send(std::span<const std::uint8_t> datagram, Time now) noexcept override {
    static_cast<void>(vehicle_.receive(datagram, now));
  }
  std::size_t receive(std::span<std::uint8_t> buffer, Time now) noexcept override {
    return vehicle_.poll(now, buffer).value_or(0);
  }
  void recover() noexcept override { vehicle_.recover(); }

 private:
  SimulatedVehicle vehicle_;
};

/// A device and the table that it refers to.
template <secure::Channel C>
struct OwnedVehicle {
  std::shared_ptr<const vehicle::Layouts> layouts;
  robot::VehicleDevice<C> device;
};

tl::unexpected<SetupError> refuse_vehicle(const robot::RobotVehicle& wanted, const std::string& why) {
  return fail(Errc::bad_description, fmt::format("vehicle {}: {}", wanted.name, why));
}

/// The error of something that does not know the vehicle.
tl::unexpected<SetupError> named(const robot::RobotVehicle& wanted, SetupError error) {
  error.message = fmt::format("vehicle {}: {}", wanted.name, error.message);
  return tl::unexpected(std::move(error));
}

template <secure::Channel C>
SetupResult<OpenedVehicle> make_vehicle(const robot::RobotVehicle& wanted,
                                        const robot::VehicleDescription& description, C channel,
                                        std::unique_ptr<robot::VehicleLine> line) {
  const auto& stop = description.drive.client.drive.stop;
  const Duration longest_stop = stop.longest_braking + stop.settling + std::chrono::seconds(1);
  auto drive = vehicle::VehicleDrive<C>::make(description.drive, std::move(channel));
  if (!drive) return refuse_vehicle(wanted, std::string(takt::describe(drive.error())));
  auto owned = std::shared_ptr<OwnedVehicle<C>>(new OwnedVehicle<C>{
      description.layouts, {wanted.name, std::move(*drive), std::move(line), longest_stop}});
  return OpenedVehicle{{owned, &owned->device}, &owned->device.status(), {}};
}

SetupResult<OpenedVehicle> simulated_vehicle(const robot::RobotVehicle& wanted,
                                             const robot::VehicleDescription& description, Time start) {
  const vehicle::VehicleDriveConfiguration& drive = description.drive;
  if (drive.client.telemetry.period != sim::status_period) {
    return refuse_vehicle(wanted, fmt::format("a simulated one needs /status/rate {:g} in {}",
                                              1 / to_seconds(sim::status_period), wanted.file));
  }
  auto made = SimulatedVehicle::make(sim::options_of(drive), {.payload = drive.client.payload}, {}, start);
  if (!made) return refuse_vehicle(wanted, std::string(takt::describe(made.error())));
  return make_vehicle(wanted, description, secure::PlainChannel{}, std::make_unique<SimulatedLine>(*made));
}

SetupResult<platform::UdpSocket> open_socket(const robot::RobotVehicle& wanted) {
  platform::UdpConfig config;
  const auto local = parse_endpoint(wanted.local);
  const auto peer = parse_endpoint(wanted.peer);
  if (!local || !peer || local->port == 0 || peer->port == 0)
    return refuse_vehicle(wanted, "\"local\" and \"peer\" are ADDRESS:PORT, the address in numbers");
  config.local = *local;
  config.peer = *peer;
  if (!wanted.send_to.empty()) {
    config.destination = parse_endpoint(wanted.send_to);
    if (!config.destination || config.destination->port == 0)
      return refuse_vehicle(wanted, "\"send_to\" is ADDRESS:PORT, the address in numbers");
  }
  auto socket = platform::UdpSocket::open(config);
  if (!socket) return named(wanted, std::move(socket.error()));
  return socket;
}

SetupResult<OpenedVehicle> real_vehicle(const robot::RobotVehicle& wanted,
                                        const robot::VehicleDescription& description, RunClock& clock) {
  auto socket = open_socket(wanted);
  if (!socket) return tl::unexpected<SetupError>(socket.error());
  auto line = std::make_unique<UdpLine>(std::move(*socket), clock);
  if (wanted.key.empty()) return make_vehicle(wanted, description, secure::PlainChannel{}, std::move(line));
  secure::SharedKey<SipHash128> key{wanted.key_id, {}};
  if (auto read = platform::read_key_file(wanted.key, key.bytes); !read) {
    SetupError why = std::move(read.error());
    if (why.error == platform::Errc::key_file_size) why.message += ". Make one: takt key --bytes 16";
    return named(wanted, std::move(why));
  }
  const auto entropy = platform::random_bytes<SipHash128::key_size>();
  if (!entropy) return refuse_vehicle(wanted, "the system cannot give random bytes");
  auto channel = secure::ClientChannel<SipHash128>::make(key, *entropy);
  if (!channel) return refuse_vehicle(wanted, std::string(takt::describe(channel.error())));
  return make_vehicle(wanted, description, std::move(*channel), std::move(line));
}

}  // namespace

SetupResult<OpenedVehicle> open_vehicle(const robot::RobotVehicle& vehicle, bool simulate, Duration period,
                                        RunClock& clock) {
  const auto description = robot::load_vehicle_file(vehicle.file);
  if (!description) return fail(Errc::bad_description, robot::lines_of(vehicle.file, description.error()));
  const vehicle::ClientConfiguration& client = description->drive.client;
  const Duration shortest = std::min(client.drive.command_timeout, client.telemetry.freshness);
  if (2 * period > shortest) {
    return refuse_vehicle(
        vehicle, fmt::format("its frames last {:g} s (/control/timeout, /status/timeout), less than two "
                             "periods of the robot",
                             to_seconds(shortest)));
  }
  const bool is_simulated = simulate || description->is_simulated || vehicle.peer.empty();
  auto opened = is_simulated ? simulated_vehicle(vehicle, *description, clock.now())
                             : real_vehicle(vehicle, *description, clock);
  if (!opened) return opened;
  opened->about = fmt::format("vehicle {}: {}", vehicle.name,
                              is_simulated ? "simulated" : "at " + vehicle.peer + ", from " + vehicle.local);
  if (!is_simulated && !description->provisional.empty())
    opened->about += fmt::format(". These figures are guesses, and were not measured: {}",
                                 fmt::join(description->provisional, " "));
  return opened;
}

void VehicleWatch::after_cycle(const motion::Snapshot& snapshot) noexcept {
  constexpr Duration patience = std::chrono::seconds(3);
  using vehicle::SupervisorState;
  for (Vehicle& one : vehicles_) {
    if (!one.began) one.began = snapshot.time;
    SupervisorState state = one.status->state;
    vehicle::StopCause cause = one.status->cause;
    if (state == SupervisorState::starting && snapshot.time - *one.began < patience) continue;
    if (state == SupervisorState::ready || state == SupervisorState::driving) {
      state = SupervisorState::ready;
      cause = {};
    } else if (state != SupervisorState::starting) {
      state = SupervisorState::stopped;
      if (cause == vehicle::StopCause::requested) continue;  // the robot tells why
    }
    one.news.store(static_cast<News>(state) << 8U | static_cast<News>(cause), std::memory_order_relaxed);
  }
}

std::optional<std::string> VehicleWatch::next() {
  for (Vehicle& one : vehicles_) {
    const News news = one.news.load(std::memory_order_relaxed);
    if (news == std::exchange(one.told, news)) continue;
    const auto state = static_cast<vehicle::SupervisorState>(news >> 8U);
    if (state == vehicle::SupervisorState::ready) return fmt::format("vehicle {}: ready", one.name);
    return fmt::format("vehicle {}: {}: {}", one.name,
                       state == vehicle::SupervisorState::starting ? "not ready" : "stopped",
                       to_string(static_cast<vehicle::StopCause>(news & 0xFFU)));
  }
  return std::nullopt;
}

}  // namespace takt::app
