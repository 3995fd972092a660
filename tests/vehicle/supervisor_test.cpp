// The supervisor: states, command timeout, stops, recovery, limits and counters.
#include "takt/vehicle/supervisor.hpp"

#include <doctest/doctest.h>

#include <limits>

using namespace takt;
using namespace takt::vehicle;
using namespace std::chrono_literals;

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr StopReason nothing{};
constexpr StopReason halted{StopCause::system_not_running, System::hydraulics};
constexpr DriveCommand held{0, 0, 1};

Time at(std::int64_t ms) { return time_from_nanoseconds(ms * 1'000'000); }

DriveSupervisor made() { return DriveSupervisor::make({}).value(); }

DriveSupervisor ready() {
  auto supervisor = made();
  supervisor.update(nothing, 0, at(0));
  return supervisor;
}

/// A supervisor that drives {0.1, 0.5, 0} since time 0.
DriveSupervisor driving() {
  auto supervisor = ready();
  REQUIRE(supervisor.drive({0.1, 0.5, 0}, at(0)));
  supervisor.told();
  return supervisor;
}

}  // namespace

TEST_CASE("the brake holds the vehicle until all systems run and commands arrive") {
  auto supervisor = made();
  CHECK(supervisor.state() == SupervisorState::starting);
  CHECK(supervisor.command() == held);
  supervisor.update(halted, 0, at(0));
  CHECK(supervisor.state() == SupervisorState::starting);
  CHECK(supervisor.drive({0, 0.1, 0}, at(0)).error() == Errc::not_ready);
  supervisor.update(nothing, 0, at(10));
  CHECK(supervisor.state() == SupervisorState::ready);
  CHECK(supervisor.command() == held);
  supervisor.update(nothing, 0, at(100'000));
  CHECK(supervisor.state() == SupervisorState::ready);
  CHECK(supervisor.drive({0.1, 0.1, 0}, at(100'000)));
  CHECK(supervisor.state() == SupervisorState::driving);
  CHECK(supervisor.command() == DriveCommand{0.1, 0.1, 0});
}

TEST_CASE("without a new command the vehicle stops when the time-out has passed") {
  auto supervisor = driving();
  supervisor.update(nothing, 2, at(200));
  CHECK(supervisor.state() == SupervisorState::driving);
  supervisor.update(nothing, 2, at(200) + 1ns);
  CHECK(supervisor.state() == SupervisorState::stopping);
  CHECK(supervisor.reason() == StopReason{StopCause::command_timeout, {}});
  CHECK(supervisor.category() == StopCategory::category_1);
  CHECK(supervisor.command() == DriveCommand{0.1, 0, 0});
  CHECK(supervisor.drive({0, 0.1, 0}, at(201)).error() == Errc::stopped);
  CHECK(supervisor.counters().command_timeouts == 1);
  supervisor.update(nothing, 2, at(700));
  CHECK(supervisor.command().brake == doctest::Approx(0.5));
}

TEST_CASE("commands in time keep it driving") {
  auto supervisor = driving();
  for (int ms = 0; ms < 5000; ms += 150) {
    supervisor.update(nothing, 2, at(ms));
    CHECK(supervisor.drive({0.1, 0.5, 0}, at(ms)));
    CHECK(supervisor.state() == SupervisorState::driving);
  }
}

TEST_CASE("what goes wrong stops the vehicle, ready or driving, and stays the cause") {
  for (auto supervisor : {ready(), driving()}) {
    supervisor.update(halted, 0, at(50));
    CHECK(supervisor.state() == SupervisorState::stopping);
    CHECK(supervisor.reason() == halted);
    supervisor.update({StopCause::telemetry_silent, {}}, {}, at(60));
    CHECK(supervisor.reason() == halted);
    supervisor.stop(StopCategory::category_0, at(70));
    CHECK(supervisor.reason() == halted);
    CHECK(supervisor.category() == StopCategory::category_0);
    CHECK(supervisor.command().brake == 1);
    CHECK(supervisor.counters().stops == 1);
  }
}

TEST_CASE("it continues only after a recovery, at a standstill, and without a cause to stop") {
  auto supervisor = driving();
  supervisor.update(halted, 2, at(50));
  CHECK(supervisor.recover(halted).error() == Errc::cause_remains);
  CHECK(supervisor.recover(nothing).error() == Errc::not_standing);
  supervisor.update(nothing, 0, at(1000));
  supervisor.update(nothing, 0, at(2000));
  CHECK(supervisor.state() == SupervisorState::stopped);
  CHECK(supervisor.reason() == halted);
  CHECK(supervisor.drive({0, 0.1, 0}, at(2000)).error() == Errc::stopped);
  CHECK(supervisor.recover({StopCause::telemetry_silent, {}}).error() == Errc::cause_remains);
  supervisor.update(nothing, 0, at(1'000'000));
  CHECK(supervisor.state() == SupervisorState::stopped);
  CHECK(supervisor.recover(nothing));
  CHECK(supervisor.state() == SupervisorState::ready);
  CHECK(supervisor.command() == DriveCommand{0.1, 0, 1});
  CHECK(supervisor.reason() == StopReason{});
  CHECK(supervisor.drive({0, 0.1, 0}, at(1'000'000)));
}

TEST_CASE("without a stop there is nothing to recover from") {
  auto starting = made();
  CHECK(starting.recover(halted));
  CHECK(starting.state() == SupervisorState::starting);
  auto moving = driving();
  CHECK(moving.recover(nothing));
  CHECK(moving.state() == SupervisorState::driving);
  CHECK(moving.command() == DriveCommand{0.1, 0.5, 0});
}

TEST_CASE("a stop may be asked for in any state") {
  for (auto supervisor : {made(), ready(), driving()}) {
    const double brake = supervisor.command().brake;
    supervisor.stop(StopCategory::category_2, at(10));
    CHECK(supervisor.state() == SupervisorState::stopping);
    CHECK(supervisor.reason() == StopReason{StopCause::requested, {}});
    CHECK(supervisor.command().throttle == 0);
    CHECK(supervisor.command().brake >= brake);
    supervisor.update(nothing, 0, at(11));
    CHECK(supervisor.drive(held, at(11)).error() == Errc::stopped);
  }
}

TEST_CASE("a stop starts from the last sent command, not from an unsent one") {
  auto supervisor = ready();
  CHECK(supervisor.drive({0.1, 0, 0.7}, at(0)));
  supervisor.told();
  CHECK(supervisor.drive({0.3, 0.5, 0}, at(5)));
  supervisor.stop(StopCategory::category_1, at(6));
  CHECK(supervisor.command() == DriveCommand{0.1, 0, 0.7});
}

TEST_CASE("an invalid command is refused by name, and the last one holds") {
  auto supervisor = driving();
  const auto error = [&](DriveCommand command) { return supervisor.drive(command, at(100)).error(); };
  for (const double bad : {not_a_number, infinity, -infinity}) {
    CHECK(error({bad, 0, 0}) == Errc::not_finite);
    CHECK(error({0, bad, 0}) == Errc::not_finite);
    CHECK(error({0, 0, bad}) == Errc::not_finite);
  }
  CHECK(error({1.6, 0, 0}) == Errc::out_of_range);
  CHECK(error({-1.6, 0, 0}) == Errc::out_of_range);
  CHECK(error({0, 1.01, 0}) == Errc::out_of_range);
  CHECK(error({0, -1.01, 0}) == Errc::out_of_range);
  CHECK(error({0, 0, -0.01}) == Errc::out_of_range);
  CHECK(error({0, 0, 1.01}) == Errc::out_of_range);
  CHECK(error({0, 0.1, 0.1}) == Errc::both_pedals);
  CHECK(supervisor.command() == DriveCommand{0.1, 0.5, 0});
  CHECK(supervisor.counters() == DriveCounters{.commands = 1, .refused = 16});
  supervisor.update(nothing, 2, at(201));
  CHECK(supervisor.state() == SupervisorState::stopping);
}

TEST_CASE("a command beyond the limits is reduced to them") {
  auto supervisor =
      DriveSupervisor::make({.limits = {.steering = 0.4, .throttle = 0.6, .reverse = 0.2}}).value();
  supervisor.update(nothing, 0, at(0));
  CHECK(supervisor.drive({0.5, 0.7, 0}, at(0)));
  CHECK(supervisor.command() == DriveCommand{0.4, 0.6, 0});
  CHECK(supervisor.drive({-0.5, -0.7, 0}, at(0)));
  CHECK(supervisor.command() == DriveCommand{-0.4, -0.2, 0});
  CHECK(supervisor.drive({0.1, 0, 1}, at(0)));
  CHECK(supervisor.counters() == DriveCounters{.commands = 3, .limited = 2});
}

TEST_CASE("a configuration that cannot be kept is refused") {
  const auto error = [](auto change) {
    DriveSupervisor::Configuration c;
    change(c);
    return DriveSupervisor::make(c).error();
  };
  CHECK(error([](auto& c) { c.limits.steering = not_a_number; }) == Errc::not_finite);
  CHECK(error([](auto& c) { c.limits.steering = 0; }) == Errc::out_of_range);
  CHECK(error([](auto& c) { c.limits.steering = 1.6; }) == Errc::out_of_range);
  CHECK(error([](auto& c) { c.limits.throttle = 1.1; }) == Errc::out_of_range);
  CHECK(error([](auto& c) { c.limits.reverse = -0.1; }) == Errc::out_of_range);
  CHECK(error([](auto& c) { c.command_timeout = 0ns; }) == Errc::out_of_range);
  CHECK(error([](auto& c) { c.stop.service_brake = 0; }) == Errc::out_of_range);
}

TEST_CASE("which category a time-out and a fault have is configured, each by itself") {
  DriveSupervisor::Configuration c;
  c.on_command_timeout = StopCategory::category_2;
  c.on_fault = StopCategory::category_0;
  for (const bool faulty : {false, true}) {
    auto supervisor = DriveSupervisor::make(c).value();
    supervisor.update(nothing, 0, at(0));
    REQUIRE(supervisor.drive({0, 0.5, 0}, at(0)));
    supervisor.update(faulty ? halted : nothing, 2, at(201));
    CHECK(supervisor.category() == (faulty ? StopCategory::category_0 : StopCategory::category_2));
  }
}

TEST_CASE(
    "a vehicle that goes on after a stop that held it gently is held with the full brake until it is "
    "driven") {
  auto supervisor = driving();
  supervisor.stop(StopCategory::category_2, at(10));
  supervisor.update(nothing, 0, at(1000));
  supervisor.update(nothing, 0, at(2000));
  CHECK(supervisor.command() == DriveCommand{0.1, 0, 0.5});
  CHECK(supervisor.recover(nothing));
  CHECK(supervisor.command() == DriveCommand{0.1, 0, 1});
}

TEST_CASE("no time-out is longer than an hour, and no limit beyond the whole pedal") {
  const auto error = [](auto change) {
    DriveSupervisor::Configuration c;
    change(c);
    const auto made = DriveSupervisor::make(c);
    return made ? Error() : Error(made.error());
  };
  CHECK(error([](auto& c) { c.command_timeout = 1h; }) == Error());
  CHECK(error([](auto& c) { c.command_timeout = 1h + 1ns; }) == Errc::out_of_range);
  CHECK(error([](auto& c) { c.limits.reverse = 1.01; }) == Errc::out_of_range);
}
