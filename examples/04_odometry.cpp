// A vehicle drives a figure of eight. Its odometry follows from wheel encoders at 5 Hz, integrated as exact
// arcs, by Runge-Kutta and by Euler. Prints x and y (m), one block for the true path and one per rule. Then
// prints the 2-sigma ellipses of the covariance along the path (x, y, both diameters, angle in degrees).
// 04_odometry.gp draws them. Prints the final errors to the standard error.
#include <Eigen/Eigenvalues>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <numbers>
#include <utility>

#include "takt/mobile/differential_drive.hpp"
#include "takt/mobile/encoder.hpp"
#include "takt/mobile/odometry.hpp"

using namespace takt::mobile;

namespace {

constexpr double pi = std::numbers::pi;
constexpr double radius = 0.3;   // m; the Furbot's rear wheels and their track
constexpr double track = 1.285;  // m
constexpr double period = 0.2;   // s
constexpr double counts = 1024;  // per turn
constexpr double lap = 4 * pi;   // s: two circles of 2 m radius at 2 m/s

/// A left circle, then a right one, starting along y.
Twist course(double t) { return {2, 0, std::fmod(t, lap) < lap / 2 ? 1.0 : -1.0}; }

/// The reading of a 16-bit counter on a wheel that has turned by `angle` (rad).
std::uint64_t counter(double angle) {
  return static_cast<std::uint64_t>(std::llround(angle / (2 * pi) * counts)) & 0xffff;
}

void print_ellipse(const Odometry& odometry) {
  const Eigen::Map<const Eigen::Matrix3d> whole(odometry.covariance().data());
  const Eigen::Matrix2d covariance = whole.topLeftCorner<2, 2>();
  const Eigen::SelfAdjointEigenSolver<Eigen::Matrix2d> axes(covariance);
  const double angle = std::atan2(axes.eigenvectors()(1, 1), axes.eigenvectors()(0, 1)) * 180 / pi;
  std::printf("%.4f %.4f %.4f %.4f %.2f\n", odometry.pose().x, odometry.pose().y,
              4 * std::sqrt(axes.eigenvalues()(1)), 4 * std::sqrt(axes.eigenvalues()(0)), angle);
}

/// Drives two laps. Calls see(true pose, odometry) after each period.
template <class See>
int drive_around(PoseIntegration integration, See&& see) {
  const auto drive = DifferentialDrive::make({radius, radius, track});
  auto left = Encoder::make({counts, 16, 100});
  auto right = Encoder::make({counts, 16, 100});
  auto odometry = Odometry::make(
      {.integration = integration,
       .noise = {.forward_per_distance = 4e-4, .left_per_distance = 1e-4, .heading_per_distance = 1e-4}});
  if (!drive || !left || !right || !odometry) return 1;
  if (!left->turned(counter(0), period) || !right->turned(counter(0), period))
    return 1;  // positions at the start
  const Pose start{0, 0, pi / 2};
  if (!odometry->set(start)) return 1;
  Pose truth = start;
  Sides wheels;  // turned angles, rad
  for (int k = 0; k * period < 2 * lap; ++k) {
    for (int part = 0; part < 100; ++part) {  // small steps for a smooth true path
      const Twist twist = course(k * period + part * period / 100);
      truth = moved(truth, period / 100 * twist);
      const Sides rates = drive->wheels(twist);
      wheels.left += period / 100 * rates.left;
      wheels.right += period / 100 * rates.right;
    }
    const auto left_turned = left->turned(counter(wheels.left), period);
    const auto right_turned = right->turned(counter(wheels.right), period);
    if (!left_turned || !right_turned) return 1;
    if (!odometry->move(drive->twist({*left_turned, *right_turned}))) return 1;
    see(truth, *odometry);
  }
  return 0;
}

}  // namespace

int main() {
  int failed = drive_around(PoseIntegration::exact_arc, [](const Pose& truth, const Odometry&) {
    std::printf("%.4f %.4f\n", truth.x, truth.y);
  });
  std::printf("\n\n");
  constexpr std::pair<PoseIntegration, const char*> rules[] = {{PoseIntegration::exact_arc, "exact arcs"},
                                                               {PoseIntegration::runge_kutta, "Runge-Kutta"},
                                                               {PoseIntegration::euler, "Euler"}};
  for (const auto& [rule, name] : rules) {
    double off = 0;
    failed += drive_around(rule, [&](const Pose& truth, const Odometry& odometry) {
      std::printf("%.4f %.4f\n", odometry.pose().x, odometry.pose().y);
      off = std::hypot(odometry.pose().x - truth.x, odometry.pose().y - truth.y);
    });
    std::printf("\n\n");
    std::fprintf(stderr, "%-12s %7.1f mm off after two laps (50 m)\n", name, 1000 * off);
  }
  int step = 0;
  failed += drive_around(PoseIntegration::exact_arc, [&](const Pose&, const Odometry& odometry) {
    if (step++ % 16 == 15) print_ellipse(odometry);
  });
  return failed == 0 ? 0 : 1;
}
