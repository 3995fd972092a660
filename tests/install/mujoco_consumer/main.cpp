// Lets a pendulum of MuJoCo swing for a second.
#include <cmath>
#include <cstdio>
#include <fstream>

#include "takt/sim/mujoco_physics.hpp"

int main() {
  std::ofstream("pendulum.xml")
      << "<mujoco><option timestep=\"0.001\"/><worldbody><body><joint name=\"swing\" axis=\"0 1 0\"/>"
         "<geom type=\"sphere\" pos=\"0.5 0 0\" size=\"0.02\" mass=\"1\"/></body></worldbody></mujoco>";
  takt::robot::RobotDescription robot;
  robot.joints.emplace_back().name = "swing";
  auto physics = takt::sim::MujocoPhysics::load("pendulum.xml", robot);
  if (!physics) return std::puts(physics.error().message.c_str()), 1;
  for (int i = 0; i < 1000; ++i) (*physics)->step();
  return std::abs((*physics)->joints()[0].position) > 0.5 ? 0 : 1;
}
