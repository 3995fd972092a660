// Five kinds of trajectory through the same waypoints. Prints time (s), position, velocity and acceleration,
// one block per kind; 02_trajectory.gp draws them. Prints to the standard error whether each of them keeps
// the joint's limits.
#include <array>
#include <cstdio>
#include <span>
#include <utility>

#include "takt/trajectory/limits.hpp"
#include "takt/trajectory/through.hpp"

using namespace takt::trajectory;

int main() {
  constexpr std::array times{0.0, 1.0, 1.6, 2.4, 3.4, 4.0};      // s
  constexpr std::array positions{0.0, 0.9, 1.0, 1.0, 0.0, 0.3};  // rad; one joint
  constexpr std::array velocities{0.0, 0.5, 0.1, -0.1, 0.0, 0.0};
  constexpr std::array accelerations{0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
  const Waypoints waypoints{1, times, positions, velocities, accelerations};
  constexpr std::array limits{
      takt::JointLimits{.position_min = -0.05, .position_max = 1.05, .velocity = 2, .acceleration = 6.5}};
  constexpr std::array<std::pair<Through, const char*>, 5> ways{{{Through::stop, "stop"},
                                                                 {Through::given, "given"},
                                                                 {Through::smooth, "smooth"},
                                                                 {Through::cubic, "cubic"},
                                                                 {Through::monotone, "monotone"}}};
  for (const auto& [way, name] : ways) {
    const auto motion = through(waypoints, way);
    if (!motion) return 1;

    Cursor cursor;
    std::array<double, 1> p{}, v{}, a{};
    for (int i = 0; i <= 200; ++i) {  // as in a control loop: no allocation here
      const double t = 0.02 * i;
      motion->sample(t, cursor, p, v, a);
      std::printf("%.2f %.5f %.5f %.5f\n", t, p[0], v[0], a[0]);
    }
    std::printf("\n\n");

    // Exact, also between the waypoints: it checks the extrema of the polynomials.
    if (const auto worst = find_violation(*motion, std::span(limits))) {
      constexpr std::array quantities{"position", "velocity", "acceleration", "jerk"};
      std::fprintf(stderr, "%-8s %s %.3f at %.3f s, allowed is %g\n", name,
                   quantities[static_cast<std::size_t>(worst->quantity)], worst->value, worst->time,
                   worst->limit);
    } else {
      std::fprintf(stderr, "%-8s within the limits\n", name);
    }
  }
  return 0;
}
