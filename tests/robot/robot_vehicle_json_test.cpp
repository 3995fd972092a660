// The vehicles of a robot file: what arrives, what is written again, and each mistake at its place.
#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "robot/small_robot.hpp"
#include "support/source_dir.hpp"
#include "takt/drives/registry.hpp"
#include "takt/robot/description_json.hpp"
#include "takt/robot/fingerprint.hpp"

namespace {

using takt::drives::load_robot;
using takt::robot::RobotDescription;
using takt::robot::RobotVehicle;
using takt::test::places;
using Json = nlohmann::json;
using Places = std::multiset<std::string>;

/// The small robot on two vehicles: a real one, and one that can only be simulated.
Json mobile_robot() {
  Json robot = takt::test::small_robot();
  robot["vehicles"] = Json::parse(R"([
    {"name": "base", "file": "furbot.json", "local": "10.0.0.1:18003", "peer": "10.0.0.2:18004",
     "send_to": "10.0.0.2:18005", "key": "keys/base.key", "key_id": 7},
    {"name": "cart", "file": "furbot.json"}])");
  return robot;
}

RobotDescription loaded(const Json& document) {
  auto robot = load_robot(document.dump());
  if (!robot) FAIL(to_string(robot.error().front()));
  return *robot;
}

/// The places of the mistakes after a change of one value.
Places places_with(const char* pointer, const Json& value) {
  Json robot = mobile_robot();
  robot[Json::json_pointer(pointer)] = value;
  return places(robot);
}

/// The same without a value.
Places places_without(const char* where) {
  Json robot = mobile_robot();
  const Json::json_pointer pointer(where);
  robot.at(pointer.parent_pointer()).erase(pointer.back());
  return places(robot);
}

/// The reason of the only mistake.
std::string reason_of(const Json& document) {
  const auto robot = load_robot(document.dump());
  REQUIRE_FALSE(robot);
  REQUIRE(robot.error().size() == 1);
  return robot.error()[0].reason;
}

void check_same(const RobotVehicle& one, const RobotVehicle& other) {
  CHECK(one.name == other.name);
  CHECK(one.file == other.file);
  CHECK(one.local == other.local);
  CHECK(one.peer == other.peer);
  CHECK(one.send_to == other.send_to);
  CHECK(one.key == other.key);
  CHECK(one.key_id == other.key_id);
}

/// A new folder; removed at the end.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "takt_robot_XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { std::filesystem::remove_all(path_); }
  [[nodiscard]] std::string path(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

TEST_CASE("the vehicles of a file arrive in its order, with the way to each") {
  const RobotDescription robot = loaded(mobile_robot());
  REQUIRE(robot.vehicles.size() == 2);
  check_same(robot.vehicles[0], {.name = "base",
                                 .file = "furbot.json",
                                 .local = "10.0.0.1:18003",
                                 .peer = "10.0.0.2:18004",
                                 .send_to = "10.0.0.2:18005",
                                 .key = "keys/base.key",
                                 .key_id = 7});
  check_same(robot.vehicles[1], {.name = "cart", .file = "furbot.json"});
  CHECK(robot.vehicles[1].key_id == 1);
}

TEST_CASE("vehicles that are written and loaded again are the same") {
  Json document = mobile_robot();
  document["vehicles"].push_back(
      {{"name", "plain"}, {"file", "a b.json"}, {"local", "[::1]:1"}, {"peer", "[::1]:2"}, {"plain", true}});
  document["vehicles"].push_back({{"name", "later"}, {"file", "/x.json"}, {"key", "x.key"}});
  const RobotDescription robot = loaded(document);
  const std::string text = to_json(robot);
  const auto again = load_robot(text);
  REQUIRE(again);
  REQUIRE(again->vehicles.size() == 4);
  for (std::size_t i = 0; i < 4; ++i) check_same(again->vehicles[i], robot.vehicles[i]);
  CHECK(to_json(*again) == text);
}

TEST_CASE("the paths of a vehicle begin at the folder of the robot's file, addresses stay") {
  const Folder folder;
  const std::string file = folder.path("robot.json");
  Json document = mobile_robot();
  const std::string furbot = TAKT_SOURCE_DIR "/examples/robots/furbot.json";
  document["vehicles"][1]["file"] = furbot;
  std::ofstream(file) << document;
  const auto lacking = takt::drives::load_robot_file(file);
  REQUIRE_FALSE(lacking);
  REQUIRE(lacking.error().size() == 1);
  CHECK(lacking.error().front().where == "/vehicles/0/file");
  CHECK(lacking.error().front().reason.starts_with(folder.path("furbot.json") + ": "));
  std::ofstream(folder.path("furbot.json")) << R"({"name": "furbot", "wheelbase": -1})";
  const auto wrong = takt::drives::load_robot_file(file);
  REQUIRE_FALSE(wrong);
  CHECK(wrong.error().size() > 5);
  CHECK(wrong.error().front().reason.find("/wheelbase: -1 is not above 0") != std::string::npos);
  std::filesystem::copy_file(furbot, folder.path("furbot.json"),
                             std::filesystem::copy_options::overwrite_existing);
  const auto robot = takt::drives::load_robot_file(file);
  REQUIRE(robot);
  const RobotVehicle& base = robot->vehicles[0];
  CHECK(base.file == folder.path("furbot.json"));
  CHECK(base.key == folder.path("keys/base.key"));
  CHECK(base.local == "10.0.0.1:18003");
  CHECK(base.peer == "10.0.0.2:18004");
  CHECK(base.send_to == "10.0.0.2:18005");
  CHECK(robot->vehicles[1].file == furbot);
  CHECK(robot->vehicles[1].key.empty());
}

TEST_CASE("each rule for vehicles is enforced at its place") {
  CHECK(places(mobile_robot()).empty());
  struct Case {
    const char* where;
    Json value;
  };
  const Case cases[] = {
      {"/vehicles", 3},
      {"/vehicles", "furbot.json"},
      {"/vehicles/1", "furbot.json"},
      {"/vehicles/1/name", ""},
      {"/vehicles/1/name", 5},
      {"/vehicles/1/name", "two words"},
      {"/vehicles/1/name", "a/b"},
      {"/vehicles/1/name", std::string(32, 'a')},
      {"/vehicles/1/file", ""},
      {"/vehicles/1/file", 5},
      {"/vehicles/1/file", nullptr},
      {"/vehicles/1/file", Json::array()},
      {"/vehicles/1/file", "line\nbreak"},
      {"/vehicles/1/file", std::string(1025, 'a')},
      {"/vehicles/0/local", ""},
      {"/vehicles/0/local", 18'003},
      {"/vehicles/0/peer", ""},
      {"/vehicles/0/peer", Json::object()},
      {"/vehicles/0/send_to", 1},
      {"/vehicles/0/key", ""},
      {"/vehicles/0/key", true},
      {"/vehicles/0/key_id", -1},
      {"/vehicles/0/key_id", 256},
      {"/vehicles/0/key_id", 1.5},
      {"/vehicles/0/key_id", "1"},
      {"/vehicles/1/plain", 1},
      {"/vehicles/0/plain", true},
      {"/vehicles/0/wheels", 4},
  };
  for (const Case& c : cases) {
    CAPTURE(c.where);
    CAPTURE(c.value.dump());
    CHECK(places_with(c.where, c.value) == Places{c.where});
  }
  CHECK(places_without("/vehicles/0/name") == Places{"/vehicles/0/name"});
  CHECK(places_without("/vehicles/0/file") == Places{"/vehicles/0/file"});
}

TEST_CASE("a mistake in a vehicle says what is wrong, and what is allowed") {
  Json robot = mobile_robot();
  robot["vehicles"][0]["file"] = 5;
  CHECK(reason_of(robot) == "5 is no address or path");
  robot = mobile_robot();
  robot["vehicles"][0]["wheels"] = 4;
  CHECK(reason_of(robot) == "the key is unknown");
  robot = mobile_robot();
  robot["vehicles"][1]["name"] = "base";
  CHECK(reason_of(robot) == "base is the name of a vehicle");
}

TEST_CASE("four vehicles are the most") {
  Json robot = mobile_robot();
  for (const char* name : {"third", "fourth"})
    robot["vehicles"].push_back({{"name", name}, {"file", "furbot.json"}});
  CHECK(places(robot).empty());
  robot["vehicles"].push_back({{"name", "fifth"}, {"file", "furbot.json"}});
  CHECK(places(robot) == Places{"/vehicles"});
  CHECK(reason_of(robot) == "must be a list of at most 4 entries");
}

TEST_CASE("vehicles, joints and controllers have different names") {
  CHECK(places_with("/vehicles/1/name", "base") == Places{"/vehicles/1/name"});
  CHECK(places_with("/vehicles/0/name", "first") == Places{"/vehicles/0/name"});
  Json robot = mobile_robot();
  robot["controllers"] = Json::parse(R"([{"name": "cart", "type": "VehicleDriveController"}])");
  CHECK(places(robot) == Places{"/controllers/0/name"});
  CHECK(reason_of(robot) == "cart is the name of a vehicle");
  robot["controllers"][0]["name"] = "drive";
  CHECK(places(robot).empty());
}

TEST_CASE("an address of a vehicle needs the other one, and a key or the word that there is none") {
  CHECK(places_without("/vehicles/0/local") == Places{"/vehicles/0/local"});
  CHECK(places_without("/vehicles/0/send_to").empty());
  Json robot = mobile_robot();
  Json& base = robot["vehicles"][0];
  base.erase("peer");
  CHECK(places(robot) == Places{"/vehicles/0/peer", "/vehicles/0/peer"});  // of "local", and of "send_to"
  base.erase("local");
  CHECK(reason_of(robot) == "is missing, beside \"send_to\"");
  base.erase("send_to");
  CHECK(places(robot).empty());

  robot = mobile_robot();
  robot["vehicles"][0].erase("key_id");
  CHECK(loaded(robot).vehicles[0].key_id == 1);
  robot["vehicles"][0].erase("key");
  CHECK(places(robot) == Places{"/vehicles/0/key"});
  CHECK(reason_of(robot).find("\"plain\": true") != std::string::npos);
  robot["vehicles"][0]["plain"] = false;
  CHECK(places(robot) == Places{"/vehicles/0/key"});
  robot["vehicles"][0]["plain"] = true;
  CHECK(loaded(robot).vehicles[0].key.empty());
  robot["vehicles"][0]["key_id"] = 2;  // of a key that is not there
  CHECK(places(robot) == Places{"/vehicles/0/key_id"});
}

TEST_CASE("a robot may be a vehicle alone, but not nothing") {
  Json robot = mobile_robot();
  for (const char* key : {"buses", "joints", "groups"}) robot.erase(key);
  const RobotDescription alone = loaded(robot);
  CHECK(alone.joints.empty());
  CHECK(alone.buses.empty());
  const std::string text = to_json(alone);
  const auto again = load_robot(text);
  REQUIRE(again);
  CHECK(again->vehicles.size() == 2);
  CHECK(to_json(*again) == text);

  const Places drives{"/buses", "/joints"};
  for (const std::string key : {"groups", "mimics", "transmissions"}) {
    CAPTURE(key);
    Json with = robot;
    with[key] = Json::parse(key == "groups" ? R"({"both": ["first"]})" : "[]");
    CHECK(places(with) == drives);
  }
  Json mimic = robot;
  mimic["mimics"] = Json::parse(R"([{"name": "follower", "joint": "first"}])");
  CHECK(places(mimic) == drives);
  robot["vehicles"] = Json::array();
  CHECK(places(robot) == drives);
  robot["vehicles"] = 3;
  CHECK(places(robot) == Places{"/vehicles"});
  robot.erase("vehicles");
  CHECK(places(robot) == drives);
}

TEST_CASE("vehicles change no plan, so they are not in the fingerprint") {
  CHECK(fingerprint(loaded(mobile_robot())) == fingerprint(loaded(takt::test::small_robot())));
}

}  // namespace
