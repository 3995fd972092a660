// Tests the key "devices" of a robot file.
#include <doctest/doctest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "support/source_dir.hpp"
#include "takt/drives/registry.hpp"
#include "takt/robot/description_json.hpp"
#include "takt/robot/fingerprint.hpp"

using takt::drives::load_robot;
using takt::robot::DeviceVariant;
using Json = nlohmann::json;

TEST_CASE("one key chooses real, simulated or recorded devices, and changes no plan") {
  std::ifstream file(std::string(TAKT_SOURCE_DIR) + "/examples/robots/arm6.json");
  Json robot = Json::parse(file);
  const auto real = load_robot(robot.dump());
  REQUIRE(real.has_value());
  CHECK(real->devices == DeviceVariant::real);
  const std::pair<const char*, DeviceVariant> variants[] = {
      {"real", DeviceVariant::real},
      {"simulated", DeviceVariant::simulated},
      {"recorded:../a b.mcap", DeviceVariant::recorded}};
  for (const auto& [text, variant] : variants) {
    robot["devices"] = text;
    const auto loaded = load_robot(robot.dump());
    REQUIRE(loaded.has_value());
    CHECK(loaded->devices == variant);
    CHECK(loaded->recording == (variant == DeviceVariant::recorded ? "../a b.mcap" : ""));
    CHECK(takt::robot::fingerprint(*loaded) == takt::robot::fingerprint(*real));
    const auto again = load_robot(takt::robot::to_json(*loaded));
    REQUIRE(again.has_value());
    CHECK(again->devices == variant);
    CHECK(again->recording == loaded->recording);
  }
  for (const Json& wrong : {Json("imagined"), Json(""), Json("recorded:"), Json("recorded:a\nb"), Json(1),
                            Json("recorded:" + std::string(1025, 'a'))}) {
    robot["devices"] = wrong;
    const auto refused = load_robot(robot.dump());
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().front().where == "/devices");
  }
}
