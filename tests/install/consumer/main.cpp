// Uses the compiled part of an installed takt, and through it everything that it was built with.
#include <takt/drives/registry.hpp>
#include <takt/trajectory/kernels.hpp>

#include <cstdio>

int main() {
  // Trajectories take the compiled loops, which the package has.
  if (!takt::is_linked(&takt_trajectory_kernels)) return 1;
  if (&takt::trajectory::kernels_for<double>(6) != takt_trajectory_kernels(6)) return 1;

  const auto robot = takt::drives::load_robot("{}");
  if (robot) return 1;
  std::printf("%s\n", to_string(robot.error().front()).c_str());
  return 0;
}
