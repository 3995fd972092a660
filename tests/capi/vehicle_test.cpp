// The vehicle of the C API from C++, which can replace the allocator. Functions that claim to be real-time
// safe are. Sockets make only their system calls. Running out of memory is a status and leaks nothing.
#include <doctest/doctest.h>
#include <sys/syscall.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numbers>

#include "allocations.hpp"
#include "support/rt_guard.hpp"
#include "takt.h"

namespace {

using takt::test::allocations_needed;

/// The options of a drive.
struct Options {
  takt_vehicle_drive_options drive{};
  takt_vehicle_client_options client{};
  takt_twist_law_options law{};

  Options() {
    takt_vehicle_drive_options_init(&drive, sizeof drive);
    drive.limits = {2, 1, std::numeric_limits<double>::infinity(), 1, 1, 1, 2};
    drive.wheel_radius = 0.3;
    drive.track = 1.285;
    takt_vehicle_client_options_init(&client, sizeof client);
    client.required = 1U << TAKT_SYSTEM_TRACTION;
    client.units.speed = 0.01;
    client.units.angle = client.units.odometer = client.units.steer = 0.001;
    client.units.full_throttle = client.units.full_brake = 100;
    client.byte_order = TAKT_BYTE_ORDER_NETWORK;
    takt_twist_law_options_init(&law, sizeof law);
    law.wheelbase = 1.6;
    law.max_steering = 0.5;
    law.steering_rate = 0.8;
    law.throttle[0] = law.brake[0] = 0.4;
  }

  std::int32_t create(takt_vehicle_description** description) const {
    return takt_vehicle_description_create(&drive, &client, &law, nullptr, nullptr, description);
  }
};

/// A drive over a plain channel, and a vehicle that reports only a running traction.
struct Rig {
  static constexpr double speed = 30 * 2 * std::numbers::pi / 60 * 0.3;  // m/s: 30 rpm of a wheel of 0.3 m

  takt_channel* channel = nullptr;
  takt_vehicle_drive* drive = nullptr;
  takt_vehicle_client* client = nullptr;
  takt_vehicle_status* status = nullptr;
  std::array<std::uint8_t, 256> datagram{};
  std::size_t bytes = 0;

  Rig() {
    REQUIRE(takt_channel_create_plain(&channel) == TAKT_OK);
    takt_vehicle_description* description = nullptr;
    REQUIRE(Options().create(&description) == TAKT_OK);
    REQUIRE(takt_vehicle_drive_create(description, channel, &drive) == TAKT_OK);
    takt_vehicle_description_destroy(description);
    REQUIRE(takt_vehicle_status_create(nullptr, &status) == TAKT_OK);
    client = takt_vehicle_drive_client(drive);
  }
  ~Rig() {
    takt_vehicle_status_destroy(status);
    takt_vehicle_drive_destroy(drive);
    takt_channel_destroy(channel);
  }
  Rig(const Rig&) = delete;
  Rig& operator=(const Rig&) = delete;

  /// The vehicle sends its status, this many milliseconds after the start.
  [[nodiscard]] std::int32_t hear(std::uint32_t ms) {
    return takt_vehicle_status_set_stamp(status, ms) |
           takt_vehicle_status_set_value(status, TAKT_SYSTEM_TRACTION, "state", TAKT_SYSTEM_STATE_RUNNING) |
           takt_vehicle_status_set_value(status, TAKT_SYSTEM_TRACTION, "speed", 94) |
           takt_vehicle_status_set_value(status, TAKT_SYSTEM_TRACTION, "left_speed", 30) |
           takt_vehicle_status_set_value(status, TAKT_SYSTEM_TRACTION, "right_speed", 30) |
           takt_vehicle_status_encode(status, datagram.data(), datagram.size(), &bytes) |
           takt_vehicle_client_receive(client, datagram.data(), bytes, now(ms));
  }
  [[nodiscard]] static std::int64_t now(std::uint32_t ms) { return std::int64_t{ms} * 1'000'000; }
};

}  // namespace

TEST_CASE("driving a vehicle neither allocates nor locks nor enters the kernel") {
  Rig rig;
  takt_vehicle_client_state state;
  takt_vehicle_client_counters counters;
  takt_odometry_estimate estimate{};
  const takt_twist twist{1, 0, 0.1};
  const takt_pose pose{1, 2, 3};
  const std::array<double, 9> covariance{1, 0, 0, 0, 1, 0, 0, 0, 1};
  std::array<std::uint8_t, TAKT_VEHICLE_CLIENT_DATAGRAM> out{};
  std::int32_t system_state = 0;
  std::int64_t value = 0;
  std::int32_t failed = 0;

  takt::test::RtGuard guard;
  takt_vehicle_client_state_init(&state, sizeof state);
  takt_vehicle_client_counters_init(&counters, sizeof counters);
  for (std::uint32_t ms = 1000; ms < 3000; ms += 10) {
    const std::int64_t now = Rig::now(ms);
    failed |= rig.hear(ms);
    failed |= takt_vehicle_drive_twist(rig.drive, &twist, now);
    failed |= takt_vehicle_client_poll(rig.client, now, out.data(), out.size(), &rig.bytes);
    failed |= takt_vehicle_client_next_send_ns(takt_vehicle_drive_client(rig.drive)) > now ? 0 : 1;
    failed |= takt_vehicle_drive_estimate(rig.drive, &estimate);
    failed |= takt_vehicle_client_get_state(rig.client, &state);
    failed |= takt_vehicle_client_get_counters(rig.client, &counters);
    failed |=
        takt_vehicle_client_system(rig.client, TAKT_SYSTEM_TRACTION, now, &system_state, nullptr, nullptr);
    failed |= takt_vehicle_client_value(rig.client, TAKT_SYSTEM_TRACTION, "left_speed", &value);
  }
  failed |= takt_vehicle_client_stop(rig.client, 0, Rig::now(3000));
  failed |= takt_vehicle_drive_set_pose(rig.drive, &pose, covariance.data());
  const std::int32_t recovered = takt_vehicle_client_recover(rig.client, Rig::now(3000));
  CHECK(guard.report() == "");
  CHECK(failed == 0);
  CHECK(recovered == TAKT_ERROR_VEHICLE_NOT_STANDING);  // it is moving
  CHECK(state.state == TAKT_DRIVE_DRIVING);
  CHECK(value == 30);
  CHECK(counters.commands == 200);
  CHECK(estimate.pose.x == doctest::Approx(Rig::speed * 1.99));
  CHECK(estimate.stamp_ns == Rig::now(2990));
}

TEST_CASE("the estimate of a drive goes on from a pose that was set") {
  Rig rig;
  const takt_pose pose{10, 20, 0};
  takt_odometry_estimate estimate{};
  REQUIRE(rig.hear(1000) == TAKT_OK);
  REQUIRE(takt_vehicle_drive_set_pose(rig.drive, &pose, nullptr) == TAKT_OK);
  REQUIRE(rig.hear(1010) == TAKT_OK);
  REQUIRE(takt_vehicle_drive_estimate(rig.drive, &estimate) == TAKT_OK);
  CHECK(estimate.pose.x == doctest::Approx(10 + Rig::speed * 0.01));
  CHECK(estimate.pose.y == doctest::Approx(20));
}

TEST_CASE("a simulated vehicle neither allocates nor locks nor enters the kernel") {
  takt_channel* channel = nullptr;
  takt_vehicle_description* description = nullptr;
  takt_simulated_vehicle* vehicle = nullptr;
  REQUIRE(takt_channel_create_plain(&channel) == TAKT_OK);
  REQUIRE(Options().create(&description) == TAKT_OK);
  REQUIRE(takt_simulated_vehicle_create(description, channel, 1, 0, &vehicle) == TAKT_OK);
  std::array<std::uint8_t, TAKT_SIMULATED_VEHICLE_DATAGRAM> out{};
  std::array<std::uint8_t, TAKT_VEHICLE_CONTROL_BYTES> in{};
  takt_vehicle_faults faults;
  takt_simulated_vehicle_state state;
  std::size_t bytes = 0;
  std::int32_t failed = 0;

  takt::test::RtGuard guard;
  takt_vehicle_faults_init(&faults, sizeof faults);
  takt_simulated_vehicle_state_init(&state, sizeof state);
  for (std::uint32_t ms = 10; ms < 5000; ms += 10) {
    const takt_vehicle_control control{ms, 0, ms > 4000 ? 100 : 0, 0};
    failed |= takt_vehicle_control_encode(&control, TAKT_BYTE_ORDER_NETWORK, in.data(), in.size());
    failed |= takt_simulated_vehicle_receive(vehicle, in.data(), in.size(), Rig::now(ms));
    failed |= takt_simulated_vehicle_poll(vehicle, Rig::now(ms), out.data(), out.size(), &bytes);
    failed |= takt_simulated_vehicle_next_send_ns(vehicle) >= Rig::now(ms) ? 0 : 1;
    failed |= takt_simulated_vehicle_get_state(vehicle, &state);
  }
  faults.silent = 1;
  failed |= takt_simulated_vehicle_set_faults(vehicle, &faults);
  takt_simulated_vehicle_recover(vehicle);
  CHECK(guard.report() == "");
  CHECK(failed == 0);
  CHECK(state.state == TAKT_SYSTEM_STATE_RUNNING);
  CHECK(state.pose.x > 0.1);
  CHECK(state.applied + state.held == 499);
  CHECK(state.applied > 100);
  CHECK(state.held > 100);  // it starts up first
  takt_simulated_vehicle_destroy(vehicle);
  takt_vehicle_description_destroy(description);
  takt_channel_destroy(channel);
}

TEST_CASE(
    "running out of memory while a drive, a simulated vehicle or a socket is made is a status and leaks "
    "nothing") {
  takt_channel* channel = nullptr;
  REQUIRE(takt_channel_create_plain(&channel) == TAKT_OK);
  const Options options;
  takt_vehicle_description* description = nullptr;
  CHECK(allocations_needed([&] { return options.create(&description); }) > 0);
  takt_vehicle_drive* drive = nullptr;
  CHECK(allocations_needed([&] { return takt_vehicle_drive_create(description, channel, &drive); }) > 0);
  takt_vehicle_drive_destroy(drive);
  takt_simulated_vehicle* vehicle = nullptr;
  CHECK(allocations_needed(
            [&] { return takt_simulated_vehicle_create(description, channel, 1, 0, &vehicle); }) > 0);
  takt_simulated_vehicle_destroy(vehicle);
  takt_vehicle_description_destroy(description);
  takt_channel_destroy(channel);

  takt_udp_options udp;
  takt_udp_options_init(&udp, sizeof udp);
  takt_udp_socket* socket = nullptr;
  CHECK(allocations_needed([&] { return takt_udp_open(&udp, &socket, nullptr, 0); }) > 0);
  takt_udp_close(socket);
}

TEST_CASE("sending over a socket makes its system calls only, without allocation or lock") {
  takt_udp_options options;
  takt_udp_options_init(&options, sizeof options);
  takt_udp_socket* there = nullptr;
  takt_udp_socket* here = nullptr;
  REQUIRE(takt_udp_open(&options, &there, nullptr, 0) == TAKT_OK);
  options.peer_port = takt_udp_local_port(there);
  REQUIRE(takt_udp_open(&options, &here, nullptr, 0) == TAKT_OK);
  std::array<std::uint8_t, 100> buffer{};
  std::array<std::uint8_t, 100> other{};
  std::array<takt_udp_datagram, 2> batch{
      {{buffer.data(), buffer.size(), 0}, {other.data(), other.size(), 0}}};
  std::size_t came = 0;
  std::int32_t failed = 0;
  constexpr std::int64_t patience = 10'000'000'000;

  takt::test::RtGuard guard({.allow = {SYS_sendto, SYS_recvfrom, SYS_recvmmsg, SYS_ppoll, SYS_setsockopt}});
  for (int i = 0; i < 100; ++i) {
    failed |= takt_udp_send(here, buffer.data(), 20);
    failed |= takt_udp_receive(there, patience, buffer.data(), buffer.size(), &came);
    failed |= takt_udp_send(here, buffer.data(), 20);
    failed |= takt_udp_receive_batch(there, patience, batch.data(), batch.size(), &came);
  }
  const std::int32_t nothing = takt_udp_receive(there, 0, buffer.data(), buffer.size(), &came);
  CHECK(guard.report() == "");
  CHECK(failed == 0);
  CHECK(nothing == TAKT_ERROR_CAPI_TIMEOUT);
  takt_udp_close(here);
  takt_udp_close(there);
}
