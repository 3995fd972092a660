// The vehicle drive: twists through the client, odometry from wheels, steering or odometer, and dead sensors.
#include "takt/vehicle/vehicle_drive.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>
#include <optional>
#include <string_view>
#include <vector>

#include "support/rt_guard.hpp"
#include "takt/shm/latest_value.hpp"
#include "takt/shm/schema.hpp"
#include "vehicle/status_frames.hpp"

using namespace takt;
using namespace takt::vehicle;
using namespace std::chrono_literals;
using mobile::Twist;
using test::encoded;
using test::status_frame;

namespace {

using Drive = VehicleDrive<secure::PlainChannel>;
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

Time at(std::int64_t ms) { return time_from_nanoseconds(ms * 1'000'000); }

Drive::Configuration furbot() {
  Drive::Configuration c;
  c.client.units = provisional_units;
  c.client.payload = ByteOrder::big;
  c.limits = {.forward = 2,
              .backward = 1,
              .left = 1,
              .rotation = 1,
              .acceleration = 1,
              .braking = 2,
              .rotational_acceleration = 2};
  c.law.wheelbase = 1.6;
  c.law.max_steering = 0.5;
  c.law.steering_rate = 0.6;
  c.law.throttle.proportional = 0.4;
  c.law.brake.proportional = 0.5;
  c.odometry.noise = {.forward_per_distance = 0.01, .heading_per_distance = 0.001};
  c.wheel_radius = 0.3;
  c.track = 1.285;
  return c;
}

Drive made(const Drive::Configuration& c = furbot()) {
  return Drive::make(c, secure::PlainChannel{}).value();
}

/// A status frame with rates in rpm and the angle in mrad. The vehicle is as fast as its left wheel.
std::vector<std::uint8_t> said(std::int64_t ms, std::int32_t left, std::int32_t right,
                               std::int32_t angle = 0) {
  auto frame = status_frame(static_cast<std::uint32_t>(ms));
  const double speed = left * 0.3 * std::numbers::pi / 30;
  (void)frame.set(Traction{.state = 2,
                           .speed = static_cast<std::int32_t>(std::round(speed / 0.01)),
                           .left_speed = left,
                           .right_speed = right});
  (void)frame.set(Steering{.state = 2, .current_angle = angle});
  return encoded(frame);
}

/// The speed in m/s at this many rpm.
double speed(double rpm) { return rpm * 0.3 * std::numbers::pi / 30; }

}  // namespace

TEST_CASE("a program that has only the schema of an estimate finds its fields where they are") {
  const auto fields = shm::parse_schema(shm::schema_text<OdometryEstimate>());
  REQUIRE(fields);
  const auto at = [&](std::string_view name) {
    for (const shm::Field& field : fields->all()) {
      if (field.name == name) return std::size_t{field.offset};
    }
    return std::size_t{0} - 1;
  };
  const std::size_t pose = offsetof(OdometryEstimate, pose);
  const std::size_t twist = offsetof(OdometryEstimate, twist);
  CHECK(at("stamp") == offsetof(OdometryEstimate, stamp));
  CHECK(at("pose.x") == pose + offsetof(mobile::Pose, x));
  CHECK(at("pose.y") == pose + offsetof(mobile::Pose, y));
  CHECK(at("pose.heading") == pose + offsetof(mobile::Pose, heading));
  CHECK(at("twist.forward") == twist + offsetof(mobile::Twist, forward));
  CHECK(at("twist.left") == twist + offsetof(mobile::Twist, left));
  CHECK(at("twist.rotation") == twist + offsetof(mobile::Twist, rotation));
  CHECK(at("covariance") == offsetof(OdometryEstimate, covariance));
}

TEST_CASE("before anything was heard there is an estimate without a time") {
  auto drive = made();
  CHECK(drive.estimate() == OdometryEstimate{});
  CHECK(drive.receive(said(1000, 50, 50), at(1000)));
  CHECK(drive.estimate() == OdometryEstimate{.stamp = at(1000)});
}

TEST_CASE("the wheels' rates become a pose, by the stamps of the vehicle and not by when they came") {
  auto drive = made();
  int jitter = 0;
  for (int ms = 0; ms <= 2000; ms += 10) {
    jitter = (jitter * 5 + 3) % 9;
    CHECK(drive.receive(said(ms, 50, 50), at(ms + 20 + (ms == 0 ? 0 : jitter))));
  }
  CHECK(drive.estimate().pose.x == doctest::Approx(2 * speed(50)));
  CHECK(drive.estimate().pose.y == 0);
  CHECK(drive.estimate().twist.forward == doctest::Approx(speed(50)));
  CHECK(to_seconds(drive.estimate().stamp - at(2020)) == doctest::Approx(0).epsilon(0.001));
  CHECK(drive.estimate().covariance[0] == doctest::Approx(0.01 * 2 * speed(50)));
  CHECK(drive.estimate().covariance[1] == drive.estimate().covariance[3]);
}

TEST_CASE("the stamps of estimates never go back, though the network gets quicker or the clock is set back") {
  auto c = furbot();
  c.turn = TurnSource::steering;
  auto drive = made(c);
  Time last{};
  for (int ms = 0; ms < 1000; ms += 10) {
    const int delay = ms < 50 ? 45 : ms < 500 ? 1 : -400;
    (void)drive.receive(said(ms, 50, 50, ms < 490 ? 300 : 0), at(1000 + ms + delay));
    CHECK(drive.estimate().stamp >= last);
    last = drive.estimate().stamp;
  }
  CHECK(last >= at(1480));
}

TEST_CASE("the vehicle turns by the difference of its wheels, or by its steering") {
  const auto heading = [](TurnSource source, std::int32_t left, std::int32_t right, std::int32_t angle) {
    auto c = furbot();
    c.turn = source;
    auto drive = made(c);
    for (int ms = 0; ms <= 1000; ms += 10) CHECK(drive.receive(said(ms, left, right, angle), at(ms)));
    return drive.estimate().pose.heading;
  };
  CHECK(heading(TurnSource::wheels, 40, 60, 400) == doctest::Approx(speed(20) / 1.285));
  CHECK(heading(TurnSource::steering, 40, 60, 400) == doctest::Approx(speed(50) * std::tan(0.4) / 1.6));
  CHECK(heading(TurnSource::steering, -40, -60, 400) == doctest::Approx(-speed(50) * std::tan(0.4) / 1.6));
}

TEST_CASE(
    "an impossible steering angle is ignored, and one that the wheels contradict makes the heading "
    "uncertain") {
  const auto driven = [](std::int32_t left, std::int32_t right, std::int32_t angle) {
    auto c = furbot();
    c.turn = TurnSource::steering;
    c.odometry.noise = {};
    auto drive = made(c);
    for (int ms = 0; ms <= 1000; ms += 10) CHECK(drive.receive(said(ms, left, right, angle), at(ms)));
    return drive.estimate();
  };
  for (const std::int32_t angle : {1571, -1571, 551, 32'767}) {
    CAPTURE(angle);
    const auto estimate = driven(40, 60, angle);
    CHECK(estimate.pose.heading == doctest::Approx(speed(20) / 1.285));
    CHECK(estimate.twist.rotation == doctest::Approx(speed(20) / 1.285));
    CHECK(estimate.covariance[8] == 0);
  }
  // 0.4 rad of steering means 0.415 rad/s at 50 rpm, a difference of 17 rpm.
  CHECK(driven(41, 59, 400).covariance[8] == 0);
  CHECK(driven(46, 54, 400).covariance[8] == 0);  // within the measurement's resolution
  CHECK(driven(20, 20, 0).covariance[8] == 0);
  const double sure = speed(50) * std::tan(0.4) / 1.6;
  CHECK(std::sqrt(driven(50, 50, 400).covariance[8]) == doctest::Approx(sure));
  CHECK(std::sqrt(driven(60, 40, 400).covariance[8]) == doctest::Approx(sure + speed(20) / 1.285));
  CHECK(driven(60, 40, 400).pose.heading == doctest::Approx(sure));
}

TEST_CASE("lost, late and doubled frames do not change the distance") {
  auto drive = made();
  std::vector<std::uint8_t> last;
  for (int ms = 0; ms <= 2000; ms += 10) {
    if (ms % 70 == 30 || ms % 110 == 50) continue;
    const auto frame = said(ms, 50, 50);
    CHECK(drive.receive(frame, at(ms)));
    CHECK_FALSE(drive.receive(frame, at(ms)));
    if (!last.empty()) CHECK_FALSE(drive.receive(last, at(ms)));
    last = frame;
  }
  CHECK(drive.estimate().pose.x == doctest::Approx(2 * speed(50)));
}

TEST_CASE("after too long a gap the estimate reports its uncertainty") {
  for (const bool began_anew : {false, true}) {
    auto drive = made();
    for (int ms = 0; ms <= 1000; ms += 10) CHECK(drive.receive(said(ms, 50, 50), at(ms)));
    const auto before = drive.estimate();
    CHECK(drive.receive(said(began_anew ? 900'000 : 4000, 50, 50), at(4000)));
    CHECK(drive.estimate().pose == before.pose);
    CHECK(drive.estimate().twist == Twist{});
    CHECK(drive.estimate().covariance[0] ==
          doctest::Approx(before.covariance[0] + std::pow(3 * speed(50), 2)));
  }
}

TEST_CASE("with an odometer no distance is lost with the blocks, and a restarted one is not believed") {
  auto c = furbot();
  c.distance = DistanceSource::odometer;
  auto drive = made(c);
  std::int32_t odometer = 2'147'483'000;  // mm, wraps soon
  const auto goes_on = [&](int from, int to, bool is_heard) {
    for (int ms = from; ms < to; ms += 10) {
      odometer = static_cast<std::int32_t>(static_cast<std::uint32_t>(odometer) + 15U);
      auto frame = status_frame(static_cast<std::uint32_t>(ms));
      (void)frame.set(Traction{.state = 2, .left_speed = 40, .right_speed = 40, .odometer = odometer});
      if (is_heard) (void)drive.receive(encoded(frame), at(ms));
    }
  };
  goes_on(0, 1000, true);
  CHECK(drive.estimate().pose.x == doctest::Approx(99 * 0.015));
  CHECK(drive.estimate().twist.forward == doctest::Approx(speed(40)));
  goes_on(1000, 1400, false);
  goes_on(1400, 2000, true);
  CHECK(drive.estimate().pose.x == doctest::Approx(199 * 0.015));
  odometer = 0;
  goes_on(2000, 3000, true);
  CHECK(drive.estimate().pose.x == doctest::Approx(298 * 0.015 + 0.01 * speed(40)));
  goes_on(3000, 4000, false);  // beyond the odometry's timeout
  goes_on(4000, 4010, true);
  CHECK(drive.estimate().pose.x == doctest::Approx(298 * 0.015 + 0.01 * speed(40)));
  CHECK(drive.estimate().covariance[0] > 1);
}

TEST_CASE(
    "an odometer is believed up to twice what the vehicle may drive, and not over a restart of the vehicle") {
  const auto way = [](std::int32_t count, std::uint32_t stamp, std::int64_t ms) {
    auto c = furbot();  // 2 m/s, 1 mm per count
    c.distance = DistanceSource::odometer;
    auto drive = made(c);
    const auto hear = [&](std::uint32_t sent, std::int64_t came, std::int32_t odometer) {
      auto frame = status_frame(sent);
      (void)frame.set(Traction{.state = 2, .odometer = odometer});
      CHECK(drive.receive(encoded(frame), at(came)));
    };
    hear(100'000, 1000, 0);
    hear(stamp, ms, count);
    return drive.estimate().pose.x;
  };
  CHECK(way(41, 100'010, 1010) == doctest::Approx(0.041));
  CHECK(way(43, 100'010, 1010) == 0);
  CHECK(way(-41, 100'010, 1010) == doctest::Approx(-0.041));
  CHECK(way(-43, 100'010, 1010) == 0);
  CHECK(way(300, 100'200, 1200) == doctest::Approx(0.3));
  CHECK(way(300, 10, 1200) == 0);
}

TEST_CASE(
    "an odometer that contradicts wheels and speed is not believed, and the covariance covers the distance "
    "until then") {
  struct Case {
    int odometer, cm_per_s, rpm;  // the vehicle drives at 0.942 m/s: 9 mm per period
    bool is_believed;
  };
  for (const Case& one : {Case{0, 94, 30, false}, Case{-9, 94, 30, false}, Case{25, 94, 30, false},
                          Case{9, 0, 30, true}, Case{9, 94, 0, true}, Case{12, 94, 30, true}}) {
    CAPTURE(one.odometer);
    CAPTURE(one.rpm);
    auto c = furbot();
    c.distance = DistanceSource::odometer;
    c.odometry.noise = {};
    auto drive = made(c);
    const auto run = [&](int from, int to, int step) {
      static std::int32_t odometer;
      for (int ms = from; ms < to; ms += 10) {
        odometer += step;
        auto frame = status_frame(static_cast<std::uint32_t>(ms));
        (void)frame.set(Traction{.state = 2,
                                 .speed = one.cm_per_s,
                                 .left_speed = one.rpm,
                                 .right_speed = one.rpm,
                                 .odometer = odometer});
        CHECK(drive.receive(encoded(frame), at(ms)));
      }
    };
    run(0, 5000, one.odometer);
    const double sigma = std::sqrt(drive.estimate().covariance[0]);
    if (one.is_believed) {
      CHECK(drive.estimate().pose.x == doctest::Approx(499 * one.odometer * 1e-3));
      CHECK(sigma == 0);
      continue;
    }
    CHECK(std::abs(drive.estimate().pose.x - 4.99 * speed(30)) <= sigma + 0.02);
    CHECK(sigma > 0.1);
    CHECK(sigma < 0.3);
    const double before = drive.estimate().pose.x;
    run(5000, 10'000, 9);  // it was repaired
    CHECK(drive.estimate().pose.x - before == doctest::Approx(4.5).epsilon(0.02));
    CHECK(std::sqrt(drive.estimate().covariance[0]) == sigma);
  }
}

TEST_CASE(
    "an odometer of coarse counts is believed where the speed agrees with it, though the wheels are dead") {
  for (const double count : {0.01, 0.05, 0.1}) {
    CAPTURE(count);
    auto c = furbot();
    c.distance = DistanceSource::odometer;
    c.client.units.odometer = count;
    auto drive = made(c);
    for (int ms = 0; ms <= 20'000; ms += 10) {
      auto frame = status_frame(static_cast<std::uint32_t>(ms));
      (void)frame.set(
          Traction{.state = 2, .speed = 40, .odometer = static_cast<std::int32_t>(0.4e-3 * ms / count)});
      CHECK(drive.receive(encoded(frame), at(ms)));
    }
    CHECK(std::abs(drive.estimate().pose.x - 8) <= count + 1e-9);
  }
}

TEST_CASE("a twist is commanded through the law, within the limits of twists") {
  auto drive = made();
  auto limiter = mobile::TwistLimiter::make(furbot().limits).value();
  auto law = TwistLaw::make(furbot().law).value();
  for (int ms = 0; ms <= 3000; ms += 10) {
    const std::int32_t rpm = ms / 50;
    CHECK(drive.receive(said(ms, rpm, rpm), at(ms)));
    const Twist wanted{5, 0, 0.3};
    CHECK(drive.drive(wanted, at(ms)));
    const double measured = std::round(speed(rpm) / 0.01) * 0.01;
    const auto command = law.step(limiter.step(wanted, 0.01).value, measured, 0.01).value();
    CHECK(drive.client().command().throttle == doctest::Approx(command.throttle));
    CHECK(drive.client().command().steering == doctest::Approx(command.steering));
    CHECK(drive.client().command().brake == doctest::Approx(command.brake));
  }
  CHECK(limiter.twist().forward == 2);
  CHECK(drive.client().state() == SupervisorState::driving);
}

TEST_CASE(
    "an invalid twist and two twists at one time are refused, and the last command holds until its timeout") {
  auto drive = made();
  CHECK(drive.drive({1, 0, 0}, at(0)).error() == Errc::not_ready);
  for (int ms = 0; ms <= 100; ms += 10) {
    CHECK(drive.receive(said(ms, 0, 0), at(ms)));
    CHECK(drive.drive({1, 0, 0}, at(ms)));
  }
  const DriveCommand before = drive.client().command();
  CHECK(before.throttle > 0);
  CHECK(drive.drive({1, 0, 0}, at(100)).error() == control::Errc::bad_period);
  for (const double bad : {not_a_number, std::numeric_limits<double>::infinity()})
    CHECK(drive.drive({1, 0, bad}, at(105)).error() == Errc::not_finite);
  CHECK(drive.client().command() == before);
  for (int ms = 110; ms <= 400; ms += 10) CHECK(drive.receive(said(ms, 0, 0), at(ms)));
  CHECK(drive.drive({1, 0, 0}, at(400)).error() == Errc::stopped);
  CHECK(drive.client().reason().cause == StopCause::command_timeout);
}

TEST_CASE("back from the pedals, twists go on from how the vehicle drives, without braking it") {
  auto drive = made();
  const double speed_now = speed(60);
  int ms = 0;
  const auto hear = [&] { CHECK(drive.receive(said(ms, 60, 60, 200), at(ms))); };
  for (; ms <= 1000; ms += 10) {
    hear();
    CHECK(drive.client().drive({0.2, 0.3, 0}, at(ms)));
  }
  for (; ms <= 1200; ms += 10) {
    hear();
    CHECK(drive.drive({speed_now, 0, speed_now * std::tan(0.2) / 1.6}, at(ms)));
    CHECK(drive.client().command().brake < 0.02);
    CHECK(drive.client().command().steering == doctest::Approx(0.2).epsilon(0.03));
  }
}

TEST_CASE("back from the pedals, one wrong speed is not what twists go on from") {
  for (const double wrong : {5.0, -20.0, 300.0}) {
    auto drive = made();
    int ms = 0;
    for (; ms <= 1000; ms += 10) {
      CHECK(drive.receive(said(ms, 30, 30), at(ms)));
      CHECK(drive.client().drive({0, 0.3, 0}, at(ms)));
    }
    auto frame = status_frame(static_cast<std::uint32_t>(ms));
    (void)frame.set(Traction{
        .state = 2, .speed = static_cast<std::int32_t>(wrong * 100), .left_speed = 30, .right_speed = 30});
    CHECK(drive.receive(encoded(frame), at(ms)));
    CHECK(drive.drive({}, at(ms)));
    for (ms += 10; ms <= 1200; ms += 10) {
      CHECK(drive.receive(said(ms, 30, 30), at(ms)));
      CHECK(drive.drive({}, at(ms)));
      CHECK(drive.client().command().throttle == 0);
    }
  }
}

TEST_CASE("twists follow commands though the clock began below zero") {
  auto drive = made();
  for (int ms = -3'600'000; ms < -3'599'000; ms += 10) {
    CHECK(drive.receive(said(ms + 4'000'000, 0, 0), at(ms)));
    CHECK(drive.client().drive({}, at(ms)));
  }
  CHECK(drive.receive(said(401'000, 0, 0), at(-3'599'000)));
  CHECK(drive.drive({1, 0, 0}, at(-3'599'000)));
}

TEST_CASE("twists restart after direct commands in between") {
  auto drive = made();
  int ms = 0;
  for (; ms <= 1000; ms += 10) {
    CHECK(drive.receive(said(ms, 0, 0), at(ms)));
    CHECK(drive.drive({1, 0, 0}, at(ms)));
  }
  const double pressed = drive.client().command().throttle;
  for (; ms <= 15'000; ms += 10) {
    CHECK(drive.receive(said(ms, 0, 0), at(ms)));
    CHECK(drive.client().drive({0.25, 0, 0}, at(ms)));
  }
  CHECK(drive.receive(said(ms, 0, 0), at(ms)));
  CHECK(drive.drive({1, 0, 0}, at(ms)));
  CHECK(drive.client().command().throttle < pressed / 10);
  CHECK(drive.client().command().steering == doctest::Approx(0.25).epsilon(0.1));
}

TEST_CASE("a vehicle whose speed is not that of its wheels is stopped, unless they agree again in time") {
  struct Case {
    int cm_per_s, left, right;
    bool is_stopped;
  };
  for (const Case& one : {Case{0, 32, 32, true},      // a dead speed sensor, at 1 m/s
                          Case{45, 50, 50, true},     // a stuck one
                          Case{90, 70, 70, true},     // another, at 2.2 m/s
                          Case{90, 40, 40, false},    // too small a difference
                          Case{100, 0, 0, true},      // dead wheels
                          Case{100, -32, -32, true},  // a wrong sign
                          Case{0, 15, 15, false},     // too slow to decide
                          Case{100, 20, 44, false},   // a curve
                          Case{-100, -45, -45, false}}) {
    CAPTURE(one.cm_per_s);
    CAPTURE(one.left);
    auto drive = made();
    std::array<std::uint8_t, Drive::Client::max_datagram> out;
    const auto run = [&](int from, int to, const Case& says) {
      for (int ms = from; ms < to; ms += 10) {
        auto frame = status_frame(static_cast<std::uint32_t>(ms));
        (void)frame.set(
            Traction{.state = 2, .speed = says.cm_per_s, .left_speed = says.left, .right_speed = says.right});
        CHECK(drive.receive(encoded(frame), at(ms)));
        (void)drive.drive({1, 0, 0}, at(ms));
        (void)drive.poll(at(ms), out);
      }
    };
    run(0, 1000, {});
    run(1000, 1100, one);
    run(1100, 1200, {});
    CHECK(drive.client().state() == SupervisorState::driving);
    run(1200, 1300, one);
    CHECK(drive.client().state() == SupervisorState::driving);
    run(1300, 1310, one);
    CHECK(drive.client().category().has_value() == one.is_stopped);
    if (!one.is_stopped) continue;
    CHECK(drive.client().reason() == StopReason{StopCause::speed_contradicted, {}});
    CHECK(drive.drive({1, 0, 0}, at(1305)).error() == Errc::stopped);
    run(1310, 3000, {});
    CHECK(drive.client().recover(at(3000)));
    run(3000, 4000, {});
    CHECK(drive.client().state() == SupervisorState::driving);
  }
}

TEST_CASE("twists keep the client's throttle limit, and the integral does not wind up beyond it") {
  auto c = furbot();
  c.client.drive.limits.throttle = 0.2;
  c.law.throttle.integral = 0.2;
  auto drive = made(c);
  for (int ms = 0; ms <= 10'000; ms += 10) {
    CHECK(drive.receive(said(ms, 40, 40), at(ms)));
    CHECK(drive.drive({2, 0, 0}, at(ms)));
    CHECK(drive.client().command().throttle <= 0.2);
  }
  CHECK(drive.client().command().throttle == 0.2);
  CHECK(drive.client().drive_counters().limited == 0);
  CHECK(drive.receive(said(10'010, 65, 65), at(10'010)));  // 2.04 m/s: faster than commanded
  CHECK(drive.drive({2, 0, 0}, at(10'010)));
  CHECK(drive.client().command().throttle < 0.1);
}

TEST_CASE("after a stop the law begins anew, from the steering as it is") {
  auto drive = made();
  int ms = 0;
  std::array<std::uint8_t, Drive::Client::max_datagram> out;
  const auto run = [&](int until, std::optional<Twist> wanted) {
    for (; ms < until; ms += 10) {
      CHECK(drive.receive(said(ms, 0, 0), at(ms)));
      if (wanted) (void)drive.drive(*wanted, at(ms));
      (void)drive.poll(at(ms), out);
    }
  };
  run(1000, Twist{1, 0, 0.3});
  const double steering = drive.client().command().steering;
  CHECK(steering > 0.3);
  drive.client().stop(StopCategory::category_1, at(ms));
  run(3000, std::nullopt);
  CHECK(drive.client().recover(at(ms)));
  CHECK(drive.client().command() == DriveCommand{steering, 0, 1});
  run(ms + 10, Twist{1, 0, 0.3});
  CHECK(std::abs(drive.client().command().steering - steering) <= 0.006 + 1e-12);
  CHECK(drive.client().command().brake ==
        0.2);  // the twist begins so slowly that the law still holds the vehicle
  run(ms + 100, Twist{1, 0, 0.3});
  CHECK(drive.client().command().throttle == doctest::Approx(0.4 * 0.11));
}

TEST_CASE("what cannot be driven is refused") {
  const auto error = [](auto change) {
    auto c = furbot();
    change(c);
    return Drive::make(c, secure::PlainChannel{}).error();
  };
  CHECK(error([](auto& c) { c.client.telemetry.required = {System::steering}; }) == Errc::out_of_range);
  CHECK(error([](auto& c) { c.client.units = {}; }) == Errc::out_of_range);
  CHECK(error([](auto& c) {
          c.client.units.full_brake = 4;
          c.law.holding_brake = 0.1;
        }) == Errc::out_of_range);
  CHECK(error([](auto& c) { c.client.drive.limits.steering = 0.49; }) == Errc::out_of_range);
  CHECK(error([](auto& c) { c.limits.forward = 0; }) == mobile::Errc::not_positive);
  CHECK(error([](auto& c) { c.law.wheelbase = 0; }) == control::Errc::out_of_domain);
  CHECK(error([](auto& c) { c.odometry.timeout = 0; }) == mobile::Errc::not_positive);
  CHECK(error([](auto& c) { c.wheel_radius = 0; }) == mobile::Errc::not_positive);
  CHECK(error([](auto& c) { c.track = 100; }) == mobile::Errc::out_of_domain);
}

TEST_CASE("a loop that drives and publishes keeps the rules of the loop") {
  auto drive = made();
  std::vector<std::vector<std::uint8_t>> frames;
  for (int ms = 0; ms < 1000; ms += 10) frames.push_back(said(ms, 20, 22));
  shm::LatestValue<OdometryEstimate> latest;
  std::array<std::uint8_t, Drive::Client::max_datagram> out;
  std::size_t sent = 0;

  test::RtGuard guard;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const Time now = at(10 * static_cast<int>(i));
    (void)drive.receive(frames[i], now);
    (void)drive.drive({0.5, 0, 0.1}, now);
    latest.write(drive.estimate());
    sent += drive.poll(now, out).value_or(0);
  }
  CHECK(guard.report() == "");
  CHECK(sent == 100 * control_frame_bytes);
  OdometryEstimate read;
  CHECK(latest.read(read) == shm::Freshness::new_data);
  CHECK(read == drive.estimate());
  CHECK(OdometryEstimate::frame == "odom");
  CHECK(OdometryEstimate::child_frame == "base_link");
}
