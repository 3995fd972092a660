// The C API from C++, which can replace the allocator. Every error number has its text. Running out of memory
// is a status and leaks nothing. Functions that claim to be real-time safe are.
#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "allocations.hpp"
#include "error.hpp"
#include "support/rt_guard.hpp"
#include "takt.h"
#include "takt/describe.hpp"

// ---- an allocator that fails on request, for this program and every library in it ----

namespace {
using takt::test::allocations_left;
using takt::test::allocations_needed;
using takt::test::live_allocations;

void* allocate(std::size_t size, std::size_t alignment) {
  if (allocations_left.load() == 0) throw std::bad_alloc();
  if (allocations_left.load() > 0) --allocations_left;
  void* memory = nullptr;
  if (posix_memalign(&memory, alignment, size) != 0) throw std::bad_alloc();
  ++live_allocations;
  return memory;
}
void release(void* memory) {
  if (memory != nullptr) --live_allocations;
  std::free(memory);
}
}  // namespace

void* operator new(std::size_t size) { return allocate(size, alignof(std::max_align_t)); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  return allocate(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { release(memory); }
void operator delete(void* memory, std::size_t) noexcept { release(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { release(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { release(memory); }

namespace {

constexpr std::size_t joints = 3;
constexpr std::array<std::int64_t, 4> times_ns{0, 1'000'000'000, 1'500'000'000, 3'000'000'000};
constexpr std::array<double, 4 * joints> positions{0, 0, 0, 1, 2, 3, -1, 0, 2, 0.5, 1, 1};
constexpr std::array<double, 4 * joints> velocities{0, 0, 0, 1, 1, 1, 0, 0.5, 0, 0.1, 0.2, 0.3};

takt_waypoints some_waypoints(std::int32_t through) {
  takt_waypoints waypoints;
  takt_waypoints_init(&waypoints, sizeof waypoints);
  waypoints.through = through;
  waypoints.joints = joints;
  waypoints.count = times_ns.size();
  waypoints.times_ns = times_ns.data();
  waypoints.positions = positions.data();
  waypoints.velocities = velocities.data();
  return waypoints;
}

std::array<takt_joint_limits, joints> some_limits() {
  std::array<takt_joint_limits, joints> limits;
  for (takt_joint_limits& joint : limits) {
    takt_joint_limits_init(&joint);
    joint.acceleration = 5;
    joint.jerk = 100;
  }
  return limits;
}

/// Memory for an object of the caller, larger than needed.
struct Memory {
  alignas(64) std::array<unsigned char, 8192> bytes{};
  [[nodiscard]] void* data() { return bytes.data(); }
  [[nodiscard]] static constexpr std::size_t size() { return 8192; }
};

}  // namespace

TEST_CASE("every error of every room goes through the C API and comes back as its text") {
  std::size_t known = 0;
  for (std::int32_t room = 1; room < 32; ++room) {
    for (std::int32_t code = 1; code < 65536; ++code) {
      const takt::Error error(static_cast<takt::Room>(room), static_cast<std::uint16_t>(code));
      const std::string_view expected = error.room == takt::Room::capi
                                            ? describe(static_cast<takt::capi::Errc>(error.code))
                                            : takt::describe(error);
      if (takt_status_text(TAKT_STATUS(room, code)) != expected) FAIL("room ", room, " code ", code);
      if (expected.substr(0, 7) != "unknown") ++known;
    }
  }
  CHECK(known > 50);
}

TEST_CASE("running out of memory while a trajectory is made is a status and leaks nothing") {
  for (const std::int32_t through : {TAKT_THROUGH_STOP, TAKT_THROUGH_GIVEN, TAKT_THROUGH_SMOOTH,
                                     TAKT_THROUGH_CUBIC, TAKT_THROUGH_MONOTONE}) {
    const takt_waypoints waypoints = some_waypoints(through);
    takt_trajectory* trajectory = nullptr;
    CHECK(allocations_needed([&] { return takt_trajectory_create(&waypoints, &trajectory); }) > 3);
    REQUIRE(trajectory != nullptr);
    takt_trajectory_destroy(trajectory);
  }
}

TEST_CASE("running out of memory while a stop is appended leaves the trajectory as it was") {
  const takt_waypoints waypoints = some_waypoints(TAKT_THROUGH_GIVEN);
  const auto limits = some_limits();
  takt_trajectory* trajectory = nullptr;
  REQUIRE(takt_trajectory_create(&waypoints, &trajectory) == TAKT_OK);
  const std::int64_t duration = takt_trajectory_duration_ns(trajectory);
  bool whole = true;
  const long needed = allocations_needed([&] {
    const std::int32_t status = takt_trajectory_append_stop(trajectory, limits.data(), joints);
    if (status != TAKT_OK) {
      takt_cursor cursor{};
      std::array<double, joints> end{};
      whole = whole && takt_trajectory_duration_ns(trajectory) == duration &&
              takt_trajectory_sample(trajectory, &cursor, duration, joints, end.data(), nullptr, nullptr) ==
                  TAKT_OK &&
              end[0] == 0.5;
    }
    return status;
  });
  CHECK(needed > 3);
  CHECK(whole);
  CHECK(takt_trajectory_duration_ns(trajectory) > duration);
  takt_trajectory_destroy(trajectory);
}

TEST_CASE("running out of memory while trajectories are made of others is a status and leaks nothing") {
  const takt_waypoints waypoints = some_waypoints(TAKT_THROUGH_STOP);
  auto limits = some_limits();
  for (takt_joint_limits& joint : limits) joint.velocity = 3;
  takt_trajectory* running = nullptr;
  REQUIRE(takt_trajectory_create(&waypoints, &running) == TAKT_OK);
  takt_splice_options options;
  takt_splice_options_init(&options, sizeof options);
  options.at_ns = 500'000'000;
  options.start_ns = 1'000'000'000;
  takt_trajectory* result = nullptr;
  const auto needed = [&](auto&& call) {
    const long count = allocations_needed(call);
    takt_trajectory_destroy(std::exchange(result, nullptr));
    return count;
  };
  CHECK(needed([&] {
          return takt_trajectory_splice(running, running, &options, limits.data(), joints, nullptr, nullptr,
                                        &result);
        }) > 3);
  CHECK(needed([&] {
          return takt_trajectory_stop_each(running, 500'000'000, limits.data(), joints, nullptr, nullptr,
                                           &result);
        }) > 3);
  CHECK(needed([&] { return takt_trajectory_part(running, 0, 500'000'000, &result); }) > 3);
  takt_point_to_point* motion = nullptr;
  Memory memory;
  REQUIRE(takt_point_to_point_init_in(memory.data(), memory.size(), joints, &motion) == TAKT_OK);
  CHECK(needed([&] { return takt_point_to_point_to_trajectory(motion, &result); }) > 3);
  takt_trajectory_destroy(running);
}

TEST_CASE("functions documented as real-time safe do not allocate, lock or enter the kernel") {
  const takt_waypoints waypoints = some_waypoints(TAKT_THROUGH_SMOOTH);
  takt_trajectory* trajectory = nullptr;
  REQUIRE(takt_trajectory_create(&waypoints, &trajectory) == TAKT_OK);
  const auto limits = some_limits();
  std::array<double, joints> p{};
  std::array<double, joints> v{};
  std::array<double, joints> a{};
  takt_cursor cursor{};
  Memory memory;
  Memory more_memory;
  takt_stop* stop = nullptr;
  takt_motion_state state{};
  takt_point_to_point* motion = nullptr;
  std::array<takt_motion_state, joints> from{};
  const std::array<takt_motion_state, joints> to{};
  std::array<takt_directional_limits, joints> both_ways{};
  both_ways.fill({-1, 2, -4, 3, 50});
  std::int32_t failed = 0;
  bool texts = true;

  takt::test::RtGuard guard;
  for (std::int64_t t = 0; t < 3'000'000'000; t += 10'000'000) {
    failed |= takt_trajectory_sample(trajectory, &cursor, t, joints, p.data(), v.data(), a.data());
    failed |= takt_trajectory_sample(trajectory, &cursor, t, joints, p.data(), nullptr, nullptr);
    state = {p[0], v[0], a[0]};
    failed |= takt_stop_init_in(memory.data(), memory.size(), &state, limits.data(), &stop);
    failed |= takt_stop_get(stop, nullptr, nullptr, nullptr);
    failed |= takt_stop_sample(stop, 1'000'000, &state);
    for (std::size_t j = 0; j < joints; ++j) from[j] = {p[j], v[j], a[j]};
    failed |= takt_point_to_point_init_in(more_memory.data(), more_memory.size(), joints, &motion);
    failed |= takt_point_to_point_plan(motion, from.data(), to.data(), both_ways.data(), joints,
                                       TAKT_SYNCHRONISE_TIME, t);
    failed |= takt_point_to_point_get(motion, nullptr, nullptr);
    failed |= takt_point_to_point_sample(motion, 1'000'000, joints, p.data(), nullptr, nullptr);
    texts = texts && takt_status_text(takt_stop_sample(nullptr, 0, nullptr))[0] == 'a';
  }
  CHECK(guard.report() == "");
  CHECK(failed == 0);
  CHECK(texts);
  takt_trajectory_destroy(trajectory);
}

TEST_CASE("so do the messages of a DBC file") {
  const std::string text =
      "BU_: A\nBO_ 7 M: 8 A\n SG_ a : 0|16@1- (0.5,0) [0|0] \"\" A\n SG_ b : 23|12@0+ (1,0) [0|0] \"\" A\n";
  takt_dbc* dbc = nullptr;
  REQUIRE(takt_dbc_create(text.data(), text.size(), 1, nullptr, 0, &dbc) == TAKT_OK);
  const std::array<double, 2> values{-12.5, 100};
  std::array<double, 2> decoded{};
  std::array<std::uint8_t, 8> data{};
  takt_dbc_signal signal;
  takt_dbc_message described;
  std::size_t message = 0;
  std::int32_t failed = 0;

  takt::test::RtGuard guard;
  takt_dbc_message_init(&described, sizeof described);
  takt_dbc_signal_init(&signal, sizeof signal);
  failed |= takt_dbc_find(dbc, 7, 0, &message);
  failed |= takt_dbc_describe_message(dbc, message, &described);
  failed |= takt_dbc_describe_signal(dbc, message, 1, &signal);
  failed |= takt_dbc_encode(dbc, message, values.data(), 2, TAKT_OVERFLOW_CLAMP, data.data(), data.size());
  failed |= takt_dbc_decode(dbc, message, data.data(), data.size(), decoded.data(), 2);
  CHECK(guard.report() == "");
  CHECK(failed == 0);
  CHECK(decoded == values);
  takt_dbc_destroy(dbc);
}

TEST_CASE(
    "so do controllers, limits, filters, transmissions, drives, odometry and the law from twists to pedals") {
  takt_pid_gains gains;
  takt_pid_gains_init(&gains, sizeof gains);
  gains.proportional = 1;
  takt_pid* pid = nullptr;
  takt_pid* own_pid = nullptr;
  Memory memory;
  const takt_joint_limits limits{-1, 1, 2, 10, 100, 5};
  takt_joint_limiter* joint = nullptr;
  takt_rate_limits rates;
  takt_rate_limits_init(&rates, sizeof rates);
  rates.second = 10;
  takt_rate_limiter* rate = nullptr;
  takt_filter* filter = nullptr;
  const std::array<double, 4> matrix{1, 0.5, 0, 2};
  takt_transmission* transmission = nullptr;
  takt_odometry* odometry = nullptr;
  takt_twist_law_options options;
  takt_twist_law_options_init(&options, sizeof options);
  options.wheelbase = options.max_steering = options.steering_rate = options.brake[0] = 1;
  takt_twist_law* law = nullptr;
  REQUIRE(takt_pid_create(&gains, &pid) == TAKT_OK);
  REQUIRE(takt_joint_limiter_create(&limits, &joint) == TAKT_OK);
  REQUIRE(takt_rate_limiter_create(&rates, &rate) == TAKT_OK);
  REQUIRE(takt_filter_create(TAKT_FILTER_NOTCH, 50, 4, 1'000'000, &filter) == TAKT_OK);
  REQUIRE(takt_transmission_create(matrix.data(), 2, nullptr, &transmission) == TAKT_OK);
  REQUIRE(takt_odometry_create(nullptr, &odometry) == TAKT_OK);
  REQUIRE(takt_twist_law_create(&options, &law) == TAKT_OK);
  const std::array<takt_omni_wheel, 3> wheels{{{1, 0, 1.6, 0.1}, {0, 1, 3.1, 0.1}, {0, -1, 0, 0.1}}};
  std::array<double, 3> values{};
  std::int32_t failed = 0;

  takt::test::RtGuard guard;
  for (int k = 0; k < 100; ++k) {
    double x = 0;
    failed |= takt_pid_change(pid, &gains, 0.1, 0);
    double y = 0;
    takt_motion_state state{};
    takt_twist twist{1, 0, 0.1};
    takt_drive_command command{};
    takt_pose pose{};
    failed |= takt_pid_step(pid, 1, 0.5, 1'000'000, 0, &x) | takt_pid_follow(pid, 0, 1, 0.5, 1'000'000, 0);
    failed |= takt_pid_init_in(memory.data(), memory.size(), &gains, &own_pid);
    failed |= takt_pid_step(own_pid, 1, 0.5, 1'000'000, 0, &x);
    failed |= takt_joint_limiter_toward_position(joint, 0.5, 1'000'000, &state);
    failed |= takt_joint_limiter_toward_velocity(joint, 0.5, 1'000'000, &state);
    failed |= takt_joint_limiter_reset(joint, &state);
    failed |= takt_rate_limiter_step(rate, 1, 1'000'000, &x) | takt_filter_step(filter, x, &y);
    failed |= takt_transmission_to_joints(transmission, k % 3, 2, values.data(), values.data());
    failed |= takt_transmission_to_actuators(transmission, k % 3, 2, values.data(), values.data());
    failed |= takt_omni_rates(wheels.data(), 3, &twist, values.data());
    failed |= takt_omni_twist(wheels.data(), 3, values.data(), &twist);
    failed |= takt_differential_wheels(0.1, 0.1, 1, &twist, &x, &y);
    failed |= takt_differential_twist(0.1, 0.1, 1, x, y, &twist);
    failed |= takt_car_drive(1, 0.6, &twist, &x, &y, nullptr) | takt_car_twist(1, x, y, &twist);
    failed |= takt_tricycle_drive(1, &twist, &x, &y) | takt_tricycle_twist(1, x, y, &twist);
    failed |= takt_odometry_move(odometry, &twist) | takt_odometry_advance(odometry, &twist, 1'000'000);
    failed |= takt_odometry_get(odometry, &pose, nullptr) | takt_odometry_set(odometry, &pose);
    failed |= takt_twist_law_step(law, &twist, 0.5, 1'000'000, &command);
  }
  takt_pid_reset(pid, 1);
  takt_rate_limiter_reset(rate, 0);
  takt_filter_reset(filter);
  takt_twist_law_reset(law, 0);
  CHECK(guard.report() == "");
  CHECK(failed == 0);
  takt_pid_destroy(pid);
  takt_joint_limiter_destroy(joint);
  takt_rate_limiter_destroy(rate);
  takt_filter_destroy(filter);
  takt_transmission_destroy(transmission);
  takt_odometry_destroy(odometry);
  takt_twist_law_destroy(law);
}
