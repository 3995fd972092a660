// Uses the compiled part of an installed takt, and through it everything that it was built with.
#include <takt/robot/description_json.hpp>

#include <cstdio>

int main() {
  const auto robot = takt::robot::load_robot("{}");
  if (robot) return 1;
  std::printf("%s\n", to_string(robot.error().front()).c_str());
  return 0;
}
