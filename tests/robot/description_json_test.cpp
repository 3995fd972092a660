#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "robot/small_robot.hpp"
#include "support/random.hpp"
#include "support/source_dir.hpp"
#include "takt/drives/hubo/hubo_settings.hpp"
#include "takt/drives/registry.hpp"
#include "takt/robot/actuator_space.hpp"
#include "takt/robot/description_json.hpp"
#include "takt/robot/fingerprint.hpp"

namespace {

using takt::drives::load_robot;
using takt::drives::load_robot_file;
using takt::robot::Mistake;
using takt::test::places;
using takt::test::small_robot;
using Json = nlohmann::json;

const std::string source_dir = TAKT_SOURCE_DIR;

std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace
