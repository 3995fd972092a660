// Random recordings for tests. The same seed gives the same records.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "support/random.hpp"
#include "takt/record/format.hpp"
#include "takt/record/metadata.hpp"

namespace takt::test {

inline record::Metadata random_metadata(std::mt19937_64& random) {
  record::Metadata metadata;
  metadata.robot = "robot \"quoted\" \xc3\xa4";
  metadata.period = Duration(uniform_int(random, 1, 10'000'000));
  const auto joints = static_cast<std::size_t>(uniform_int(random, 0, 8));
  for (std::size_t i = 0; i < joints; ++i) metadata.joints.push_back("joint_" + std::to_string(i));
  for (std::size_t i = 0; i < joints; ++i) metadata.units.emplace_back(i % 2 == 0 ? "rad" : "m");
  for (std::size_t i = 0; i < joints; ++i) {
    JointLimits& limits = metadata.limits.emplace_back();
    if (i % 3 == 0) limits.position_min = uniform(random, -3, 0);
    if (i % 3 != 1) limits.velocity = uniform(random, 0, 3);
    metadata.following_errors.push_back(i % 4 == 3 ? std::numeric_limits<double>::infinity() : 0.25);
  }
  for (std::size_t i = 0; i < joints; ++i) metadata.groups.push_back({"group_" + std::to_string(i), {i}});
  const auto buses = static_cast<std::size_t>(uniform_int(random, 1, 3));
  for (std::size_t i = 0; i < buses; ++i) metadata.buses.push_back("can" + std::to_string(i));
  metadata.robot_states = {"starting", "ready", "stopping", "stopped", "down"};
  metadata.goal_states = {"pending", "active",   "preempting", "succeeded",
                          "aborted", "rejected", "preempted",  "recalled"};
  metadata.reasons = {{20, "position_limit"}, {40, "following_error"}};
  metadata.takt_version = "0.1.0";
  return metadata;
}

/// Fills every field of a record with random values that a reader accepts.
struct RandomFields {
  std::mt19937_64& random;
  void operator()(std::string_view, Time& value) const {
    value = Time(Duration(uniform_int(random, 0, 1'000'000'000'000)));
  }
  void operator()(std::string_view, Duration& value) const {
    value = Duration(uniform_int(random, -1000, 1'000'000));
  }
  void operator()(std::string_view, double& value) const { value = uniform(random, -10, 10); }
  template <std::unsigned_integral T>
  void operator()(std::string_view, T& value) const {
    value = static_cast<T>(random());
  }
};

template <class Fields>
Fields random_fields(std::mt19937_64& random) {
  Fields fields;
  for_each_field(fields, RandomFields{random});
  return fields;
}

}  // namespace takt::test
