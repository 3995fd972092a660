#include "takt/core/joint.hpp"

#include <doctest/doctest.h>

#include <vector>

using takt::JointSet;

TEST_CASE("a joint set visits its members in rising order") {
  JointSet set;
  set.insert(63);
  set.insert(0);
  set.insert(17);
  std::vector<std::size_t> seen;
  set.for_each([&](std::size_t joint) { seen.push_back(joint); });
  CHECK(seen == std::vector<std::size_t>{0, 17, 63});
  CHECK(set.size() == 3);
}

TEST_CASE("joints beyond the last are in no set") {
  JointSet set = JointSet::first(64);
  set.insert(64);
  set.insert(1000);
  CHECK(set.size() == 64);
  CHECK_FALSE(set.contains(64));
  CHECK(JointSet::first(1000) == JointSet::first(64));
  CHECK(JointSet::first(0).empty());
}

TEST_CASE("a column of a table is the member of that rank") {
  JointSet set;
  set.insert(63);
  set.insert(0);
  set.insert(17);
  CHECK(set.at(0) == 0);
  CHECK(set.at(1) == 17);
  CHECK(set.at(2) == 63);
  CHECK(set.at(3) == 0);  // no such member
  CHECK(JointSet().at(0) == 0);
}
