// A lap with a vehicle over datagrams: twists go out, odometry is computed, and the cable is cut for two
// seconds. The vehicle and its client both stop by themselves, and both continue only on command. Each end
// accepts only the other (secure/handshake.hpp).
//
// The vehicle is simulated in virtual time. For a real one use platform/udp_socket.hpp. `takt vehicle-sim`
// and `takt drive` are the two ends as programs.
//
// Prints time (s), true position, position by odometry (x, y, m), speed (m/s), brake (0..1) and age of the
// telemetry (ms). Then prints the 2-sigma ellipses of the odometry (x, y, both diameters, angle in degrees),
// and the places of the stops. 07_vehicle.gp draws them. Prints the events and the accuracy to the standard
// error.
#include <Eigen/Eigenvalues>
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "vehicle_course.hpp"

#include "takt/core/siphash.hpp"
#include "takt/secure/client_channel.hpp"
#include "takt/secure/server_channel.hpp"
#include "takt/sim/simulated_vehicle.hpp"
#include "takt/vehicle/vehicle_drive.hpp"

using namespace takt;
using namespace std::chrono_literals;
using namespace vehicle_course;

namespace {

using Near = secure::ClientChannel<SipHash128>;
using Far = secure::ServerChannel<SipHash128>;
using Drive = vehicle::VehicleDrive<Near>;
using Vehicle = sim::SimulatedVehicle<Far>;

/// One lap, its events and its results.
class Lap {
 public:
  Lap(Drive drive, Vehicle machine) : drive_(std::move(drive)), vehicle_(std::move(machine)) {}

  int run() {
    while (!over() && now_ < Time{2min}) {
      now_ += 1ms;
      exchange();
      if (now_.time_since_epoch() % 20ms == 0ns) cycle();
    }
    std::printf("\n\n%s\n\n%s", ellipses_.c_str(), stops_.c_str());
    return verdict();
  }

 private:
  [[nodiscard]] const sim::VehiclePlant& plant() const { return vehicle_.controller().plant(); }
  [[nodiscard]] bool over() const { return driver_.arrived() && plant().speed() == 0; }
  [[nodiscard]] bool is_cut() const { return cut_ && now_ < *cut_ + 2s; }

  /// The traffic on the cable in one millisecond.
  void exchange() {
    std::array<std::uint8_t, std::max(Drive::Client::max_datagram, Vehicle::max_datagram)> datagram;
    while (const auto size = drive_.poll(now_, datagram).value_or(0)) {
      if (!is_cut()) (void)vehicle_.receive(std::span(datagram).first(size), now_);
    }
    while (const auto size = vehicle_.poll(now_, datagram).value_or(0)) {
      if (!is_cut()) (void)drive_.receive(std::span(datagram).first(size), now_);
    }
  }

  void cycle() {
    const auto state = drive_.client().state();
    if (state == vehicle::SupervisorState::ready || state == vehicle::SupervisorState::driving)
      (void)drive_.drive(driver_.twist(drive_.estimate().pose), now_);
    tell_changes();
    if (!cut_ && driver_.way() > 0.45 * Course::length) {
      cut_ = now_;
      tell("the cable is cut");
    }
    if (cut_) mend(now_ - *cut_);
    print();
  }

  /// The two steps that only people take: telling each end to continue.
  void mend(Duration since) {
    if (since == 2s) tell("the cable is whole again");
    if (since == 3s) {
      tell("somebody looks after the vehicle and lets it start again");
      vehicle_.recover();
    }
    if (since == 4s) {
      tell("somebody tells the client to go on");
      if (!drive_.client().recover(now_)) tell("which it does not");
    }
  }

  void tell(const std::string& what) const { std::fprintf(stderr, "%7.2f s  %s\n", seconds(), what.c_str()); }

  void tell_changes() {
    const auto client = drive_.client().state();
    const auto machine = vehicle_.controller().state();
    if (machine != vehicle_state_) tell("vehicle: " + std::string(to_string(machine)));
    if (client != client_state_) {
      const bool stops = client == vehicle::SupervisorState::stopping;
      tell("client: " + std::string(to_string(client)) +
           (stops ? ", " + std::string(to_string(drive_.client().reason().cause)) : ""));
      if (stops) note_place(stops_);
    }
    client_state_ = client;
    vehicle_state_ = machine;
  }

  void note_place(std::string& where) const {
    std::array<char, 64> line;
    std::snprintf(line.data(), line.size(), "%.3f %.3f %.3f\n", plant().pose().x, plant().pose().y,
                  seconds());
    where += line.data();
  }

  void print() {
    const auto& truth = plant().pose();
    const auto& pose = drive_.estimate().pose;
    const double age = to_seconds(std::min(drive_.client().telemetry().age(now_), Duration(10s)));
    std::printf("%.2f %.3f %.3f %.3f %.3f %.3f %.3f %.1f\n", seconds(), truth.x, truth.y, pose.x, pose.y,
                plant().speed(), plant().brake(), 1000 * age);
    if (driver_.way() > next_ellipse_) {
      add_ellipse();
      next_ellipse_ += Course::length / 12;
    }
  }

  [[nodiscard]] Eigen::Matrix2d covariance_of_place() const {
    const Eigen::Map<const Eigen::Matrix3d> covariance(drive_.estimate().covariance.data());
    return covariance.topLeftCorner<2, 2>();
  }

  void add_ellipse() {
    const Eigen::SelfAdjointEigenSolver<Eigen::Matrix2d> axes(covariance_of_place());
    std::array<char, 128> line;
    std::snprintf(line.data(), line.size(), "%.3f %.3f %.4f %.4f %.2f\n", drive_.estimate().pose.x,
                  drive_.estimate().pose.y, 4 * std::sqrt(axes.eigenvalues()(1)),
                  4 * std::sqrt(axes.eigenvalues()(0)),
                  std::atan2(axes.eigenvectors()(1, 1), axes.eigenvectors()(0, 1)) * 180 / pi);
    ellipses_ += line.data();
  }

  /// Success: back at the start within 1 % of the distance, and within 3 sigma of the odometry's covariance.
  [[nodiscard]] int verdict() const {
    const auto& truth = plant().pose();
    const auto& pose = drive_.estimate().pose;
    const Eigen::Vector2d back(truth.x, truth.y);
    const double sigmas = std::sqrt(back.dot(covariance_of_place().ldlt().solve(back)));
    std::fprintf(
        stderr,
        "%.1f m driven: back at the start to %.0f mm, which is %.1f sigma; the odometry is off by %.0f mm\n",
        plant().travelled(), 1000 * back.norm(), sigmas,
        1000 * std::hypot(pose.x - truth.x, pose.y - truth.y));
    return over() && back.norm() < 0.01 * plant().travelled() && sigmas < 3 ? 0 : 1;
  }

  [[nodiscard]] double seconds() const { return to_seconds(now_ - Time{}); }

  Drive drive_;
  Vehicle vehicle_;
  Driver driver_;
  Time now_{};
  std::optional<Time> cut_;
  vehicle::SupervisorState client_state_{};
  vehicle::SystemState vehicle_state_{};
  double next_ellipse_ = 0;
  std::string ellipses_, stops_;
};

}  // namespace

int main() {
  // In practice, use one key per vehicle and other random bytes per channel; see platform/key_file.hpp.
  const secure::SharedKey<SipHash128> key{1, {0x6b, 0x65, 0x79}};
  auto near = Near::make(key, {1});
  auto far = Far::make({&key, 1}, {2});
  if (!near || !far) return 1;
  auto drive = Drive::make(configuration(), std::move(*near));
  auto machine = Vehicle::make({.plant = {.wheelbase = wheelbase}}, {.payload = vehicle::ByteOrder::little},
                               std::move(*far), Time{});
  if (!drive || !machine) return 1;
  return Lap(std::move(*drive), std::move(*machine)).run();
}
