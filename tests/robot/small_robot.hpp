// A robot file of two joints, and the places of the mistakes in a robot file.
#pragma once

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "takt/drives/registry.hpp"
#include "takt/robot/description_json.hpp"

namespace takt::test {

inline nlohmann::json small_robot() {
  return nlohmann::json::parse(R"({
    "name": "two", "rate": 500,
    "buses": [{"name": "a", "protocol": "servo", "bit_rate": 1000000, "data_bit_rate": 4000000},
              {"name": "b", "protocol": "hubo", "bit_rate": 500000}],
    "joints": [
      {"name": "first", "bus": "a", "board": 1, "counts_per_radian": -1000,
       "limits": {"position": [1, 2], "velocity": 3, "acceleration": 4, "jerk": 5, "effort": 6}, "safe": "release", "kind": "linear",
       "following_error": 0.3, "goal_tolerance": 0.1,
       "plant": {"inertia": 7, "viscous_friction": 8, "coulomb_friction": 9, "torque_limit": 10, "bandwidth": 11, "start": 1.5}},
      {"name": "second", "bus": "b", "board": 40, "channel": 1, "counts_per_radian": 2000,
       "limits": {"position": [1, 2], "velocity": 3, "acceleration": 4, "jerk": 5}}],
    "groups": {"both": ["second", "first"]}
  })");
}

/// The JSON pointers of all mistakes in a document.
inline std::multiset<std::string> places(const nlohmann::json& document) {
  const auto robot = drives::load_robot(document.dump());
  std::multiset<std::string> found;
  if (robot) return found;
  for (const robot::Mistake& mistake : robot.error()) {
    CHECK_FALSE(mistake.reason.empty());
    found.insert(mistake.where);
  }
  CHECK_FALSE(found.empty());
  return found;
}

}  // namespace takt::test
