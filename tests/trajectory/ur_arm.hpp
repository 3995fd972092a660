// The first half second of a trajectory that a planner sent to a real arm
// (examples/data/ur_arm_planned.json). It keeps 5 rad/s^2 at its waypoints but not between them, and does not
// end at rest.
#pragma once

#include <array>

#include "takt/trajectory/trajectory.hpp"

namespace takt::test {

inline constexpr std::size_t ur_elbow = 2;

inline trajectory::Waypoints ur_arm() {
  static constexpr std::array times{0.0, 0.1, 0.2, 0.3, 0.4};
  static constexpr std::array positions{-0.5827, -0.9838, 1.6202, -2.1541, -1.4901, -3.6974,  //
                                        -0.5761, -1.0009, 1.6452, -2.1632, -1.4907, -3.6906,  //
                                        -0.5540, -1.0535, 1.7201, -2.1891, -1.4924, -3.6681,  //
                                        -0.5087, -1.1467, 1.8451, -2.2274, -1.4956, -3.6220,  //
                                        -0.4225, -1.2854, 2.0098, -2.2640, -1.5008, -3.5348};
  static constexpr std::array velocities{0.0,    0.0,     0.0,    0.0,     0.0,     0.0,     //
                                         0.1366, -0.3434, 0.4999, -0.1793, -0.0110, 0.1393,  //
                                         0.3165, -0.7159, 0.9997, -0.3331, -0.0237, 0.3221,  //
                                         0.6240, -1.1675, 1.4967, -0.4141, -0.0415, 0.6332,  //
                                         1.0987, -1.5267, 1.6638, -0.2576, -0.0621, 1.1110};
  static constexpr std::array accelerations{0.0,    0.0,     0.0,     0.0,     0.0,     0.0,     //
                                            1.4946, -3.5218, 4.9993,  -1.7165, -0.1151, 1.5221,  //
                                            2.2328, -4.0092, 4.9995,  -1.2883, -0.1450, 2.2650,  //
                                            4.1831, -5.0001, 4.6394,  -0.0610, -0.2166, 4.2241,  //
                                            2.8090, 1.4260,  -4.9968, 3.5676,  -0.0593, 2.7999};
  return {6, times, positions, velocities, accelerations};
}

}  // namespace takt::test
