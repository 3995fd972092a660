// A vehicle that is driven over datagrams (vehicle/vehicle_drive.hpp) as a device of a robot. Its interfaces,
// of a vehicle "base":
//
//   "base/forward", "base/rotation"   commands: the twist, m/s and rad/s; without a controller, zero
//   "base.odometry"                   vehicle::OdometryEstimate: pose in "odom", twist in "base_link"
//   "base.status"                     VehicleStatus
//   "base/moving"                     1 while the vehicle drives or brakes: a stop of the robot waits for it
//
//     robot::VehicleDevice device("base", *std::move(drive), std::make_unique<UdpLine>(socket), 6s);
//     (void)manager.add(device);
//
// In each cycle, the device takes the datagrams that have arrived, and sends those that are due. A controller
// such as controllers/vehicle.hpp drives the vehicle. Its first twist releases the brake. Then the vehicle is
// driven until a stop, with a twist of zero while no controller commands one.
//
// Stops. The vehicle's own supervisor (vehicle/supervisor.hpp) stops the vehicle, and says why in the status.
// A stop of the robot stops the vehicle too, by the same category. The robot waits until the vehicle stands,
// at most as long as the vehicle's description allows for braking. Until the robot is ready, no twist drives
// the vehicle. A stop is latched: twists have no effect. It ends with the first twist after the vehicle stood
// without one, if its cause is gone. So a controller that is started again drives the vehicle again.
//
// The vehicle's stops fail no device, because its frames have to go on. Its controller fails.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "takt/component/component.hpp"
#include "takt/core/error.hpp"
#include "takt/core/fields.hpp"
#include "takt/core/joint.hpp"
#include "takt/core/setup_error.hpp"
#include "takt/core/time.hpp"
#include "takt/mobile/pose.hpp"
#include "takt/robot/device.hpp"
#include "takt/robot/interfaces.hpp"
#include "takt/rt/logger.hpp"
#include "takt/rt/text_id.hpp"
#include "takt/secure/channel.hpp"
#include "takt/vehicle/stop_cause.hpp"
#include "takt/vehicle/supervisor.hpp"
#include "takt/vehicle/vehicle_drive.hpp"

namespace takt::robot {

/// The vehicle's state, as known to its driver. Times are those of the driver's clock.
struct VehicleStatus {
  Time stamp{};  ///< of this status
  Time heard{};  ///< sending time of the last received telemetry; Time{}: never
  double charge = std::numeric_limits<double>::quiet_NaN();  ///< of the battery, 0..1; NaN: unknown, too old
  vehicle::SupervisorState state = vehicle::SupervisorState::starting;
  vehicle::StopCause cause = vehicle::StopCause::none;  ///< of the active stop; without one, why it waits

  TAKT_FIELDS(VehicleStatus, stamp, heard, charge, state, cause)
};

/// The status at this time. Real-time safe.
template <secure::Channel C>
[[nodiscard]] VehicleStatus status_of(const vehicle::VehicleDrive<C>& drive, Time now) noexcept {
  const auto& client = drive.client();
  const auto& telemetry = client.telemetry();
  const Duration age = telemetry.age(now);
  VehicleStatus status{.stamp = now, .state = client.state(), .cause = client.reason().cause};
  if (age != Duration::max()) status.heard = now - age;
  if (const auto battery = telemetry.fresh_battery(now))
    status.charge = client.units().reading(*battery).charge;
  return status;
}

/// Carries the datagrams of one vehicle. Its functions are real-time safe, and never wait.
class VehicleLine {
 public:
  VehicleLine() = default;
  VehicleLine(const VehicleLine&) = delete;
  VehicleLine& operator=(const VehicleLine&) = delete;
  virtual ~VehicleLine() = default;

  /// Sends a datagram. One that cannot be sent is lost.
  virtual void send(std::span<const std::uint8_t> datagram, Time now) noexcept = 0;
  /// Copies the next datagram that has arrived, and returns its size; 0: there is none.
  [[nodiscard]] virtual std::size_t receive(std::span<std::uint8_t> buffer, Time now) noexcept = 0;
  /// The time, in a cycle of this nominal time. A real vehicle's datagrams need the time of their arrival.
  [[nodiscard]] virtual Time now(Time cycle) noexcept { return cycle; }
  /// A stop ends: lets a simulated vehicle that has halted start again, as a person beside it would.
  virtual void recover() noexcept {}
};

/// The vehicle. Real-time safe after its construction.
template <secure::Channel C>
class VehicleDevice final : public Device {
 public:
  static constexpr component::ComponentMetadata about{.type = "VehicleDevice",
                                                      .version = "1.0.0",
                                                      .vendor = "takt",
                                                      .category = "device",
                                                      .description = "Drives a vehicle over datagrams."};

  /// `longest_stop`: how long a stop of the robot waits for the vehicle.
  VehicleDevice(std::string name, vehicle::VehicleDrive<C> drive, std::unique_ptr<VehicleLine> line,
                Duration longest_stop)
      : Device(about, std::move(name)),
        drive_(std::move(drive)),
        line_(std::move(line)),
        longest_stop_(longest_stop) {
    for (std::size_t i = 0; i < causes_.size(); ++i)
      causes_[i] = rt::intern(to_string(static_cast<vehicle::StopCause>(i)));
  }

  /// Errors: those of the declarations.
  [[nodiscard]] SetupResult<void> on_declare(Declarations& declarations) override {
    auto declared = declarations.sensor(name() + ".odometry", odometry_);
    if (declared) declared = declarations.sensor(name() + ".status", status_);
    if (declared) declared = declarations.moving(moving_);
    if (declared) {
      declared =
          declarations.command(name() + "/forward", "m/s", wanted_.forward, drives_forward_, SafeValue::zero);
    }
    if (declared) {
      declared = declarations.command(name() + "/rotation", "rad/s", wanted_.rotation, drives_rotation_,
                                      SafeValue::zero);
    }
    return declared;
  }

  /// Takes the datagrams that have arrived.
  [[nodiscard]] Status on_execute(const component::CycleTime& cycle) noexcept override {
    const Time now = clock(cycle.time);
    listen(now);
    odometry_ = drive_.estimate();
    look(now);
    return {};
  }
  /// Drives with the twist of this cycle, and sends the datagrams that are due.
  [[nodiscard]] Status on_state_update(const component::CycleTime& cycle) noexcept override {
    const Time now = clock(cycle.time);
    obey(now);
    talk(now);
    return {};
  }
  void on_robot_stop(StopCategory category, Time cycle) noexcept override {
    robot_is_stopped_ = true;
    if (drive_.client().state() == vehicle::SupervisorState::starting) return;
    drive_.client().stop(category, clock(cycle));
    may_recover_ = false;
  }
  void on_robot_ready(Time /*cycle*/) noexcept override { robot_is_stopped_ = false; }
  void on_deactivate(const component::CycleTime& cycle) noexcept override { end(clock(cycle.time)); }
  void on_shutdown(const component::CycleTime& cycle) noexcept override { end(clock(cycle.time)); }

  /// As published. Only the cycle's thread.
  [[nodiscard]] const VehicleStatus& status() const noexcept { return status_; }

 private:
  /// Datagrams of one cycle, at most.
  static constexpr int most_datagrams = 32;
  static constexpr std::size_t largest_datagram = 1024;  ///< above all frames of a vehicle

  [[nodiscard]] bool is_stopped() const noexcept { return drive_.client().category().has_value(); }
  [[nodiscard]] bool is_driven() const noexcept {
    return !robot_is_stopped_ && (drives_forward_ || drives_rotation_);
  }
  /// It never goes back: this alone would stop the vehicle.
  [[nodiscard]] Time clock(Time cycle) noexcept { return now_ = std::max(now_, line_->now(cycle)); }

  /// The frames end, so the vehicle is told to stop at once.
  void end(Time now) noexcept {
    drive_.client().stop(StopCategory::category_0, now);
    may_recover_ = false;
    talk(now);
  }

  void listen(Time now) noexcept {
    std::array<std::uint8_t, largest_datagram> datagram;
    for (int i = 0; i < most_datagrams; ++i) {
      const std::size_t size = line_->receive(datagram, now);
      if (size == 0) return;
      (void)drive_.receive(std::span(datagram).first(size), now);  // a refused one is counted
    }
  }

  void talk(Time now) noexcept {
    std::array<std::uint8_t, largest_datagram> datagram;
    for (int i = 0; i < most_datagrams; ++i) {
      const std::size_t size = drive_.poll(now, datagram).value_or(0);
      if (size == 0) return;
      line_->send(std::span(datagram).first(size), now);
    }
  }

  /// Updates what others read, and tells each stop.
  void look(Time now) noexcept {
    drive_.client().update(now);
    status_ = status_of(drive_, now);
    if (!is_stopped()) {
      since_ = now;
    } else if (!std::exchange(was_stopped_, true)) {
      log(stopped_, causes_[static_cast<std::size_t>(status_.cause)]);
    }
    was_stopped_ = is_stopped();
    const bool moves = status_.state == vehicle::SupervisorState::driving ||
                       status_.state == vehicle::SupervisorState::stopping;
    moving_ = moves && now - since_ <= longest_stop_ ? 1 : 0;
  }

  void obey(Time now) noexcept {
    const bool stands = drive_.client().state() == vehicle::SupervisorState::stopped;
    if (is_stopped()) {
      if (!is_driven()) may_recover_ = may_recover_ || stands;
      if (!is_driven() || !may_recover_) return;
      line_->recover();
      if (!drive_.client().recover(now)) return;
      log(released_);
    }
    may_recover_ = false;
    const bool goes_on = drive_.client().state() == vehicle::SupervisorState::driving;
    if (is_driven() || goes_on) (void)drive_.drive({wanted_.forward, 0, wanted_.rotation}, now);
  }

  vehicle::VehicleDrive<C> drive_;
  std::unique_ptr<VehicleLine> line_;
  Duration longest_stop_;
  mobile::Twist wanted_{};  ///< by the controllers
  bool drives_forward_ = false;
  bool drives_rotation_ = false;
  vehicle::OdometryEstimate odometry_{};
  VehicleStatus status_{};
  double moving_ = 0;
  Time since_{};              ///< last time without a stop
  bool was_stopped_ = false;  ///< in the last cycle
  bool may_recover_ = false;  ///< the vehicle stood in this stop, without a twist
  bool robot_is_stopped_ = false;
  Time now_{};
  rt::LogStatement<rt::TextId> stopped_{rt::LogLevel::warning, "the vehicle stops: {}"};
  rt::LogStatement<> released_{rt::LogLevel::info, "the stop of the vehicle has ended"};
  std::array<rt::TextId, vehicle::stop_causes> causes_{};
};

}  // namespace takt::robot
