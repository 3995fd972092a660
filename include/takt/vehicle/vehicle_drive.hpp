// Drives a car-like vehicle on the other side of datagrams: twists in, odometry out.
//
//     auto drive = *VehicleDrive<secure::PlainChannel>::make(configuration, secure::PlainChannel{});
//
//     // Each cycle, after receive() and poll() as for VehicleClient (client.hpp):
//     (void)drive.drive(twist, now);
//     latest.write(drive.estimate());  // after each reception; to an shm::LatestValue<OdometryEstimate>
//
// Driving. The twist is limited on the same curve (mobile/twist_limiter.hpp). The Furbot's law converts it
// into steering, throttle and brake, using the vehicle's reported speed (twist_law.hpp). The vehicle is
// stopped if this speed contradicts that of the wheels, as with a dead sensor. They contradict if they differ
// by more than half of the lesser one plus 0.5 m/s, for longer than the freshness of telemetry. Each twist is
// sent when it is given. If no twist follows, the client's command timeout stops the vehicle. To hold the
// twists of a slow commander, and to stop without a latched stop, put a mobile::TwistCommand in between.
//
// Odometry. By default it integrates the rates of the rear wheels. Each rate counts for the time from the
// previous block to its own, by the vehicle's stamps. The rate of a lost block is lost, and the next block
// then counts for both. The other source is the vehicle's odometer, which loses nothing.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

#include "takt/core/error.hpp"
#include "takt/core/time.hpp"
#include "takt/mobile/car_like.hpp"
#include "takt/mobile/differential_drive.hpp"
#include "takt/mobile/odometry.hpp"
#include "takt/mobile/pose.hpp"
#include "takt/mobile/twist_limiter.hpp"
#include "takt/secure/channel.hpp"
#include "takt/vehicle/client.hpp"
#include "takt/vehicle/error.hpp"
#include "takt/vehicle/supervisor.hpp"
#include "takt/vehicle/twist_law.hpp"

namespace takt::vehicle {

/// The vehicle's estimated pose and twist. Copyable bytewise. The frames are named as in REP 105.
struct OdometryEstimate {
  static constexpr std::string_view frame = "odom";  ///< frame of the pose and its covariance
  /// frame of the twist: the middle of the rear axle
  static constexpr std::string_view child_frame = "base_link";
  Time stamp{};  ///< of this estimate; never decreases. Time{} before the first block
  /// m and rad, in `frame`.
  mobile::Pose pose{};
  /// m/s and rad/s, in `child_frame`.
  mobile::Twist twist{};
  std::array<double, 9> covariance{};  ///< of (x, y, heading), row by row: m^2, m rad, rad^2

  TAKT_FIELDS(OdometryEstimate, stamp, pose, twist, covariance)

  friend constexpr bool operator==(const OdometryEstimate&, const OdometryEstimate&) = default;
};
static_assert(std::is_trivially_copyable_v<OdometryEstimate>);

/// The source of the vehicle's rotation.
enum class TurnSource : std::uint8_t {
  wheels,  ///< the difference of the rear wheels: coarse if they report whole rpm
  /// The steering angle while it is fresh and plausible, otherwise the wheels. Its accuracy is that of its
  /// unit and of the wheelbase. While the wheels contradict it, the heading's variance grows as if they were
  /// right.
  steering,
};

/// The source of the distance travelled.
enum class DistanceSource : std::uint8_t {
  wheels,  ///< the mean rate of the rear wheels
  /// The odometer, which must count down when the vehicle drives backwards. Lost blocks lose no distance,
  /// within the odometry's timeout. The rotation during them is taken from the next block. While the odometer
  /// contradicts both wheels and speed, the wheels are the source.
  odometer,
};

/// The configuration of a VehicleDrive.
struct VehicleDriveConfiguration {
  ClientConfiguration client{};           ///< traction must be a required system
  mobile::TwistLimiter::Limits limits{};  ///< of the twists
  /// The law with the wheelbase. The client's limits also bound its throttle.
  TwistLaw::Configuration law{};
  /// The odometry's noise and timeout.
  mobile::Odometry::Configuration odometry{};
  double wheel_radius = 0;                           ///< m, of the rear wheels
  double track = 0;                                  ///< m, distance between the rear wheels
  TurnSource turn = TurnSource::wheels;              ///< source of the rotation
  DistanceSource distance = DistanceSource::wheels;  ///< source of the distance
};

/// Use it from one thread. Every function except make() is real-time safe, and none allocates.
template <secure::Channel C>
class VehicleDrive {
 public:
  using Client = VehicleClient<C>;
  using Configuration = VehicleDriveConfiguration;

  /// Checks the configuration. Errors: those of make() of its parts, and out_of_range:
  /// - traction is not among the required systems;
  /// - the holding brake is less than one count;
  /// - the law's maximum steering is above the client's limit.
  [[nodiscard]] static Result<VehicleDrive> make(const Configuration& c, C channel) noexcept {
    if (!c.client.telemetry.required.contains(System::traction)) return fail(Errc::out_of_range);
    auto client = Client::make(c.client, std::move(channel));
    if (!client) return fail(client.error());
    const auto limiter = mobile::TwistLimiter::make(c.limits);
    if (!limiter) return fail(limiter.error());
    TwistLaw::Configuration pressed = c.law;
    pressed.max_throttle = std::min(pressed.max_throttle, c.client.drive.limits.throttle);
    pressed.max_reverse = std::min(pressed.max_reverse, c.client.drive.limits.reverse);
    const auto law = TwistLaw::make(pressed);
    if (!law) return fail(law.error());
    if (c.law.max_steering > c.client.drive.limits.steering) return fail(Errc::out_of_range);
    const auto held = client->units().control({0, 0, c.law.holding_brake}, 0);
    if (!held || (c.law.holding_brake > 0 && held->brake == 0)) return fail(Errc::out_of_range);
    const auto odometry = mobile::Odometry::make(c.odometry);
    if (!odometry) return fail(odometry.error());
    const auto wheels = mobile::DifferentialDrive::make({c.wheel_radius, c.wheel_radius, c.track});
    if (!wheels) return fail(wheels.error());
    const auto car = mobile::Car::make({c.law.wheelbase, c.track, c.law.max_steering});
    if (!car) return fail(car.error());
    return VehicleDrive(c, std::move(*client), *limiter, *law, *odometry, *wheels, *car);
  }

  /// As VehicleClient::receive(); also updates the estimate.
  Status receive(std::span<const std::uint8_t> datagram, Time now) noexcept {
    const Status taken = client_.receive(datagram, now);
    watch_speed(client_.now());
    track(client_.now());
    return taken;
  }
  /// As VehicleClient::next_send() and VehicleClient::poll().
  [[nodiscard]] Time next_send() const noexcept { return client_.next_send(); }
  Result<std::size_t> poll(Time now, std::span<std::uint8_t> out) noexcept { return client_.poll(now, out); }

  /// Drives with this twist until the next call. Errors: not_finite; control::Errc::bad_period (called twice
  /// at the same time, or while the clock is back); those of VehicleClient::drive(). On error the previous
  /// command stays, and its age grows.
  Status drive(const mobile::Twist& wanted, Time now) noexcept {
    if (!mobile::detail::is_finite(wanted)) return fail(Errc::not_finite);
    now = within_reach(now);
    client_.update(now);
    // If client().drive() gave commands meanwhile, twists continue from the present motion.
    const bool driving = client_.state() == SupervisorState::driving;
    const bool goes_on = driving && now - driven_ <= pause_;
    if (!goes_on) {
      const double steering = client_.command().steering;
      limiter_.reset(driving ? car_.twist(sure_speed(now), steering) : mobile::Twist{});
      law_.reset(steering);
    }
    const Duration elapsed = goes_on ? now - driven_ : first_period_;
    const double period = to_seconds(elapsed);
    const auto command = law_.step(limiter_.step(wanted, period).value, measured_speed(now), period);
    if (!command) return fail(command.error());
    driven_ = now;
    return client_.drive(*command, now);
  }

  /// As VehicleClient::established().
  [[nodiscard]] bool established(Time now) const noexcept { return client_.established(now); }

  /// The estimate from all received blocks.
  [[nodiscard]] const OdometryEstimate& estimate() const noexcept { return estimate_; }
  /// The odometry, for a known pose: odometry().set(pose).
  [[nodiscard]] mobile::Odometry& odometry() noexcept { return odometry_; }

  /// The client, for stops, recovery, and the vehicle's data.
  [[nodiscard]] Client& client() noexcept { return client_; }
  [[nodiscard]] const Client& client() const noexcept { return client_; }

 private:
  VehicleDrive(const Configuration& c, Client&& client, const mobile::TwistLimiter& limiter,
               const TwistLaw& law, const mobile::Odometry& odometry, const mobile::DifferentialDrive& wheels,
               const mobile::Car& car) noexcept
      : first_period_(c.client.send_period),
        pause_(c.client.drive.command_timeout),
        freshness_(c.client.telemetry.freshness),
        on_fault_(c.client.drive.on_fault),
        turn_(c.turn),
        distance_source_(c.distance),
        fastest_(std::max(c.limits.forward, c.limits.backward)),
        widest_(1.1 * c.law.max_steering),
        coarse_(3 * c.client.units.wheel_rate * c.wheel_radius / c.track),
        client_(std::move(client)),
        limiter_(limiter),
        law_(law),
        odometry_(odometry),
        wheels_(wheels),
        car_(car) {}

  /// Measured speed in m/s. It is fresh whenever the vehicle may be driven.
  [[nodiscard]] double measured_speed(Time now) const noexcept {
    const auto traction = client_.telemetry().fresh_traction(now);
    return traction ? client_.units().speed(*traction) : 0;
  }

  /// Speed in m/s that both the vehicle and its wheels confirm, within the vehicle's limits.
  [[nodiscard]] double sure_speed(Time now) const noexcept {
    const auto traction = client_.telemetry().fresh_traction(now);
    if (!traction) return 0;
    const double speed = client_.units().speed(*traction), wheels = wheel_twist(*traction).forward;
    if (speed * wheels <= 0) return 0;
    return std::clamp(std::abs(speed) < std::abs(wheels) ? speed : wheels, -fastest_, fastest_);
  }

  /// Whether two measurements of the same quantity contradict each other. They do if they differ by more than
  /// `share` of the lesser magnitude plus `too_little`.
  [[nodiscard]] static bool contradict(double a, double b, double too_little, double share = 1) noexcept {
    return std::abs(a - b) > share * std::min(std::abs(a), std::abs(b)) + too_little;
  }

  /// With a dead speed sensor the law would increase the throttle without end.
  void watch_speed(Time now) noexcept {
    const auto traction = client_.telemetry().fresh_traction(now);
    const bool agrees =
        !traction || !contradict(client_.units().speed(*traction), wheel_twist(*traction).forward, 0.5, 0.5);
    if (agrees || client_.state() != SupervisorState::driving) agreed_ = now;
    if (now - agreed_ > freshness_) client_.stop(on_fault_, now, StopCause::speed_contradicted);
  }

  [[nodiscard]] mobile::Twist wheel_twist(const Traction& traction) const noexcept {
    return wheels_.twist(client_.units().wheel_rates(traction));
  }

  [[nodiscard]] mobile::Twist measured_twist(const Traction& traction, Time now) const noexcept {
    return turning(traction, wheel_twist(traction).forward, now);
  }

  /// The twist at this speed, in m/s, with the measured rotation.
  [[nodiscard]] mobile::Twist turning(const Traction& traction, double speed, Time now) const noexcept {
    const auto steering = client_.telemetry().fresh_steering(now);
    const double angle = steering ? client_.units().angle(*steering) : 0;
    const bool can_be = steering && std::abs(angle) <= widest_;
    if (turn_ == TurnSource::steering && can_be) return car_.twist(speed, angle);
    return {speed, 0, wheel_twist(traction).rotation};
  }

  /// Advances the odometry by a block that it has not used yet.
  void track(Time now) noexcept {
    const Telemetry& telemetry = client_.telemetry();
    const auto sent = telemetry.sent(System::traction);
    const auto traction = telemetry.last().traction();
    if (!sent || !traction) return;
    const Block block{telemetry.counters().restarts, *sent, now, *traction};
    if (last_ && last_->restarts == block.restarts && last_->sent == block.sent) return;
    if (last_) {
      const bool anew = last_->restarts != block.restarts;
      const Duration elapsed = anew ? now - last_->received : block.sent - last_->sent;
      follow(*traction, anew ? std::nullopt : way_since(last_->traction, *traction, elapsed), elapsed, now);
    }
    // A faster frame may show that earlier ones were sent before their estimated time.
    const Time stamp = now - telemetry.age(System::traction, now);
    publish(last_ ? std::max(stamp, estimate_.stamp) : stamp);
    last_ = block;
  }

  /// The distance by the odometer, in m. Nothing if the wheels are the source, if the odometer is wrong, or
  /// if the distance is impossible. The latter means that the odometer restarted.
  [[nodiscard]] std::optional<double> way_since(const Traction& before, const Traction& traction,
                                                Duration elapsed) noexcept {
    if (distance_source_ == DistanceSource::wheels) return std::nullopt;
    const double distance = client_.units().travelled(before, traction);
    const double most = 2 * (fastest_ * to_seconds(elapsed) + client_.units().configuration().odometer);
    if (std::abs(distance) > most) return std::nullopt;
    watch_odometer(distance, traction, elapsed);
    return odometer_holds_ ? std::optional(distance) : std::nullopt;
  }

  /// Compares the odometer, over about a metre, with wheels or speed, whichever agrees better. If it was
  /// trusted and is wrong, the variance grows by the difference. After a gap the vehicle's speed is unknown.
  void watch_odometer(double distance, const Traction& traction, Duration elapsed) noexcept {
    if (elapsed > freshness_) {
      by_odometer_ = by_wheels_ = by_speed_ = 0;
      return;
    }
    by_odometer_ += distance;
    by_wheels_ += wheel_twist(traction).forward * to_seconds(elapsed);
    by_speed_ += client_.units().speed(traction) * to_seconds(elapsed);
    const double off_wheels = std::abs(by_odometer_ - by_wheels_);
    const double off_speed = std::abs(by_odometer_ - by_speed_);
    const double too_little = 0.1 + 3 * client_.units().configuration().odometer;
    const bool wrong = contradict(by_odometer_, off_wheels < off_speed ? by_wheels_ : by_speed_, too_little);
    if (!wrong && std::abs(by_odometer_) < 10 * too_little) return;
    if (wrong && odometer_holds_) doubt(std::pow(std::min(off_wheels, off_speed), 2), 0);
    odometer_holds_ = !wrong;
    by_odometer_ = by_wheels_ = by_speed_ = 0;
  }

  /// Adds to the variances of the position (m^2) and of the heading (rad^2).
  void doubt(double distance, double heading) noexcept {
    mobile::Odometry::Covariance grown = odometry_.covariance();
    grown[0] += distance;
    grown[4] += distance;
    grown[8] += heading;
    (void)odometry_.set(odometry_.pose(), grown);
  }

  void follow(const Traction& traction, std::optional<double> distance, Duration elapsed, Time now) noexcept {
    const double period = to_seconds(elapsed);
    const mobile::Twist twist = measured_twist(traction, now);
    // After a gap beyond its timeout the odometry does not move; its covariance grows.
    const auto moved =
        odometry_.advance(distance ? turning(traction, *distance / period, now) : twist, period);
    estimate_.twist = moved ? twist : mobile::Twist{};
    if (moved) watch_turn(twist.rotation, wheel_twist(traction).rotation, period);
  }

  /// While steering and wheels contradict each other, the heading's uncertainty is their accumulated
  /// difference.
  void watch_turn(double rotation, double by_wheels, double period) noexcept {
    const double before = astray_;
    astray_ = contradict(rotation, by_wheels, coarse_) ? before + std::abs(rotation - by_wheels) * period : 0;
    if (astray_ > 0) doubt(0, astray_ * astray_ - before * before);
  }

  void publish(Time stamp) noexcept {
    estimate_.stamp = stamp;
    estimate_.pose = odometry_.pose();
    estimate_.covariance = odometry_.covariance();
  }

  /// A traction block and its identity.
  struct Block {
    std::uint64_t restarts;
    Duration sent;
    Time received;
    Traction traction;
  };

  Duration first_period_;
  Duration pause_;  ///< longest pause between two twists of one drive
  Duration freshness_;
  StopCategory on_fault_;
  TurnSource turn_;
  DistanceSource distance_source_;
  double fastest_;  ///< m/s
  double widest_;   ///< rad: a larger steering angle is implausible
  double coarse_;   ///< rad/s: three counts of a wheel
  Client client_;
  mobile::TwistLimiter limiter_;
  TwistLaw law_;
  mobile::Odometry odometry_;
  mobile::DifferentialDrive wheels_;
  mobile::Car car_;
  Time driven_{-time_reach};  ///< time of the last twist
  Time agreed_{};             ///< last time when speed and wheels agreed
  double by_odometer_ = 0;    ///< m, since the last comparison
  double by_wheels_ = 0;
  double by_speed_ = 0;
  bool odometer_holds_ = true;
  double astray_ = 0;  ///< rad: accumulated difference of steering and wheels since they contradict
  std::optional<Block> last_;
  OdometryEstimate estimate_;
};

}  // namespace takt::vehicle
