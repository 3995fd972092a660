#include "takt/robot/vehicle_description.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "support/source_dir.hpp"

namespace {

using takt::robot::load_vehicle;
using takt::robot::load_vehicle_file;
using takt::robot::Mistake;
using takt::vehicle::System;
using Json = nlohmann::json;

const std::string furbot_file = std::string(TAKT_SOURCE_DIR) + "/examples/robots/furbot.json";

std::string furbot_text() {
  std::ifstream file(furbot_file, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Each field, with a value other than its default.
Json full_vehicle() {
  return Json::parse(R"({
    "name": "cart", "provisional": ["/wheelbase", "/units"],
    "wheelbase": 1.1, "track": 0.9, "wheel_radius": 0.2,
    "steering": {"limit": 0.4, "rate": 0.7},
    "units": {"speed": 0.02, "angle": -0.003, "odometer": 0.004, "steer": -0.005, "full_throttle": 1000, "full_brake": 255,
              "wheel_rate": 0.06, "speed_is_magnitude": true, "charge": 0.01, "current": 0.2, "voltage": 0.3},
    "control": {"byte_order": "little_endian", "rate": 50, "timeout": 0.3, "throttle": 0.8, "reverse": 0.6},
    "status": {"rate": 20, "timeout": 0.25, "required": ["traction", "battery"]},
    "limits": {"forward": 3, "backward": 1, "rotation": 0.5, "acceleration": 1.5, "braking": 2.5, "rotational_acceleration": 3.5},
    "standstill": 0.06,
    "law": {"throttle": {"proportional": 1, "integral": 2, "derivative": 3, "derivative_filter": 4, "dead_band": 5,
                         "setpoint_weight": 0.6, "derivative_weight": 0.7},
            "brake": {"proportional": 8}, "command_threshold": 0.12, "measured_threshold": 0.55, "hysteresis": 0.15, "holding_brake": 0.3},
    "stop": {"service_brake": 0.45, "brake_rate": 2, "settling": 0.35, "longest_braking": 7, "on_timeout": 2, "on_fault": 0},
    "odometry": {"turn": "steering", "distance": "odometer", "timeout": 0.75,
                 "noise": {"forward_per_distance": 1e-3, "left_per_distance": 2e-3, "heading_per_distance": 3e-3, "heading_per_rotation": 4e-3}}
  })");
}

/// The JSON pointers of all mistakes in a text.
std::multiset<std::string> places(const std::string& text) {
  const auto loaded = load_vehicle(text);
  std::multiset<std::string> found;
  if (loaded) return found;
  for (const Mistake& mistake : loaded.error()) {
    CHECK_FALSE(mistake.reason.empty());
    found.insert(mistake.where);
  }
  CHECK_FALSE(found.empty());
  return found;
}
std::multiset<std::string> places(const Json& document) { return places(document.dump()); }

/// All values of a document except objects and lists, by their pointers. Elements of lists are not separated.
std::vector<std::string> leaves(const Json& value, const std::string& where = "") {
  if (!value.is_object()) return {where};
  std::vector<std::string> found;
  for (const auto& entry : value.items()) {
    const auto inner = leaves(entry.value(), where + '/' + entry.key());
    found.insert(found.end(), inner.begin(), inner.end());
  }
  return found;
}

/// The only mistake of a document, as text.
std::string complaint(const Json& document) {
  const auto loaded = load_vehicle(document.dump());
  REQUIRE_FALSE(loaded);
  REQUIRE(loaded.error().size() == 1);
  return to_string(loaded.error().front());
}

TEST_CASE("every field of a vehicle arrives where it belongs") {
  const auto vehicle = load_vehicle(full_vehicle().dump());
  REQUIRE(vehicle);
  CHECK(vehicle->name == "cart");
  CHECK(vehicle->provisional == std::vector<std::string>{"/wheelbase", "/units"});
  const auto& drive = vehicle->drive;
  CHECK(drive.law.wheelbase == 1.1);
  CHECK(drive.track == 0.9);
  CHECK(drive.wheel_radius == 0.2);
  CHECK(drive.law.max_steering == 0.4);
  CHECK(drive.law.steering_rate == 0.7);
  CHECK(drive.limits.forward == 3);
  CHECK(drive.limits.backward == 1);
  CHECK(drive.limits.rotation == 0.5);
  CHECK(drive.limits.acceleration == 1.5);
  CHECK(drive.limits.braking == 2.5);
  CHECK(drive.limits.rotational_acceleration == 3.5);
  CHECK(drive.law.throttle == takt::control::PidGains{.proportional = 1,
                                                      .integral = 2,
                                                      .derivative = 3,
                                                      .setpoint_weight = 0.6,
                                                      .derivative_weight = 0.7,
                                                      .derivative_filter = 4,
                                                      .dead_band = 5});
  CHECK(drive.law.brake == takt::control::PidGains{.proportional = 8});
  CHECK(drive.law.command_threshold == 0.12);
  CHECK(drive.law.measured_threshold == 0.55);
  CHECK(drive.law.hysteresis == 0.15);
  CHECK(drive.law.holding_brake == 0.3);
  CHECK(drive.law.standstill == 0.06);
  CHECK(drive.turn == takt::vehicle::TurnSource::steering);
  CHECK(drive.distance == takt::vehicle::DistanceSource::odometer);
  CHECK(drive.odometry.timeout == 0.75);
  CHECK(drive.odometry.noise.forward_per_distance == 1e-3);
  CHECK(drive.odometry.noise.left_per_distance == 2e-3);
  CHECK(drive.odometry.noise.heading_per_distance == 3e-3);
  CHECK(drive.odometry.noise.heading_per_rotation == 4e-3);
}

TEST_CASE("what concerns the datagrams arrives where it belongs, too") {
  const auto vehicle = load_vehicle(full_vehicle().dump());
  REQUIRE(vehicle);
  const auto& client = vehicle->drive.client;
  CHECK(client.units.speed == 0.02);
  CHECK(client.units.angle == -0.003);
  CHECK(client.units.speed_is_magnitude);
  CHECK(client.units.odometer == 0.004);
  CHECK(client.units.steer == -0.005);
  CHECK(client.units.full_throttle == 1000);
  CHECK(client.units.full_brake == 255);
  CHECK(client.units.wheel_rate == 0.06);
  CHECK(client.units.charge == 0.01);
  CHECK(client.units.current == 0.2);
  CHECK(client.units.voltage == 0.3);
  CHECK(client.payload == takt::vehicle::ByteOrder::little);
  CHECK(client.send_period == takt::Duration(20'000'000));
  CHECK(client.telemetry.period == takt::Duration(50'000'000));
  CHECK(client.telemetry.freshness == takt::Duration(250'000'000));
  CHECK(client.telemetry.required == takt::vehicle::SystemSet{System::traction, System::battery});
  CHECK(client.drive.command_timeout == takt::Duration(300'000'000));
  CHECK(client.drive.limits.throttle == 0.8);
  CHECK(client.drive.limits.reverse == 0.6);
  CHECK(client.drive.limits.steering == 0.4);
  CHECK(client.drive.on_command_timeout == takt::StopCategory::category_2);
  CHECK(client.drive.on_fault == takt::StopCategory::category_0);
  CHECK(client.drive.stop.service_brake == 0.45);
  CHECK(client.drive.stop.brake_rate == 2);
  CHECK(client.drive.stop.standstill == 0.06);
  CHECK(client.drive.stop.settling == takt::Duration(350'000'000));
  CHECK(client.drive.stop.longest_braking == takt::Duration(7'000'000'000));
}

TEST_CASE("the Furbot that ships has the units of the simulated vehicle, and says what of it is a guess") {
  const auto furbot = load_vehicle_file(furbot_file);
  REQUIRE(furbot);
  const auto& units = furbot->drive.client.units;
  const auto& guess = takt::vehicle::provisional_units;
  CHECK(units.speed == guess.speed);
  CHECK(units.angle == guess.angle);
  CHECK(units.odometer == guess.odometer);
  CHECK(units.steer == guess.steer);
  CHECK(units.full_throttle == guess.full_throttle);
  CHECK(units.full_brake == guess.full_brake);
  CHECK(units.charge == guess.charge);
  CHECK(units.current == guess.current);
  CHECK(units.voltage == guess.voltage);
  CHECK(units.wheel_rate == guess.wheel_rate);
  CHECK(furbot->drive.client.telemetry.required == takt::vehicle::furbot_systems);
  const std::set<std::string> guessed(furbot->provisional.begin(), furbot->provisional.end());
  CHECK(guessed.count("/wheelbase") == 1);
  CHECK(guessed.count("/units") == 1);
  CHECK(furbot->drive.client.payload == takt::vehicle::ByteOrder::little);
  CHECK(guessed.count("/control/byte_order") == 1);
  CHECK(guessed.count("/track") == 0);
}

TEST_CASE("what nobody can know but who measured the vehicle must be given, and nothing else") {
  const std::set<std::string> required{"/name",
                                       "/wheelbase",
                                       "/track",
                                       "/wheel_radius",
                                       "/steering/limit",
                                       "/steering/rate",
                                       "/units/speed",
                                       "/units/angle",
                                       "/units/odometer",
                                       "/units/steer",
                                       "/units/full_throttle",
                                       "/units/full_brake",
                                       "/control/byte_order",
                                       "/limits/forward",
                                       "/limits/backward",
                                       "/limits/rotation",
                                       "/limits/acceleration",
                                       "/limits/braking",
                                       "/limits/rotational_acceleration",
                                       "/law/throttle/proportional",
                                       "/law/brake/proportional",
                                       "/odometry/noise/forward_per_distance",
                                       "/odometry/noise/left_per_distance",
                                       "/odometry/noise/heading_per_distance"};
  Json vehicle = full_vehicle();
  vehicle.erase("provisional");
  for (const std::string& leaf : leaves(vehicle)) {
    CAPTURE(leaf);
    Json less = vehicle;
    const Json::json_pointer pointer(leaf);
    less[pointer.parent_pointer()].erase(pointer.back());
    if (required.count(leaf) == 1) {
      const bool is_word = leaf == "/control/byte_order";
      CHECK(complaint(less) ==
            leaf + ": is missing" + (is_word ? "; it is one of \"network\", \"little_endian\"" : ""));
    } else {
      CHECK(load_vehicle(less.dump()));
    }
  }
  for (const char* part : {"steering", "units", "control", "limits", "law", "odometry"}) {
    CAPTURE(part);
    Json less = vehicle;
    less.erase(part);
    CHECK(places(less) == std::multiset<std::string>{std::string("/") + part});
  }
}

TEST_CASE("no field takes a value of another kind, a number that is none, or a huge one") {
  const Json vehicle = full_vehicle();
  for (const std::string& leaf : leaves(vehicle)) {
    for (const Json& wrong : {Json(), Json("NaN"), Json(1e300), Json(-1e300), Json(true), Json::object(),
                              Json::array({Json::array()})}) {
      if (leaf == "/name" && wrong == "NaN") continue;
      if (leaf == "/units/speed_is_magnitude" && wrong == true) continue;
      CAPTURE(leaf);
      CAPTURE(wrong.dump());
      Json other = vehicle;
      other[Json::json_pointer(leaf)] = wrong;
      const auto found = places(other);
      CHECK(found.size() >= 1);
      for (const std::string& place : found) CHECK(place.rfind(leaf, 0) == 0);
    }
  }
}

TEST_CASE("numbers that JSON does not have are refused where they stand") {
  for (const char* word : {"NaN", "nan", "Infinity", "-Infinity", "1e999"}) {
    CAPTURE(word);
    std::string text = full_vehicle().dump();
    const std::string wheelbase = "\"wheelbase\":1.1";
    text.replace(text.find(wheelbase), wheelbase.size(), "\"wheelbase\":" + std::string(word));
    CHECK(places(text) == std::multiset<std::string>{"/wheelbase"});
  }
}

TEST_CASE("each rule for a vehicle is enforced at its place") {
  struct Case {
    const char* where;
    Json value;
  };
  const Case cases[] = {
      {"/wheelbase", 0},
      {"/track", -1.285},
      {"/wheel_radius", 0},
      {"/steering/limit", 1.57},
      {"/steering/limit", 0},
      {"/units/speed", 0},
      {"/units/speed", 0.07},  // more than the standstill
      {"/units/angle", 0},
      {"/units/steer", 0},
      {"/units/steer", 1e-12},  // the limit has more than 32 bits
      {"/units/full_throttle", 0.5},
      {"/units/full_brake", 3e9},
      {"/control/byte_order", "big"},
      {"/control/rate", 0},
      {"/control/rate", 1001},
      {"/control/timeout", 0.02},  // no longer than the period
      {"/control/throttle", 1.1},
      {"/status/rate", 0.5},
      {"/status/timeout", 0.05},  // no longer than the period
      {"/status/required", Json::array()},
      {"/status/required", {"battery"}},
      {"/status/required/1", "battary"},
      {"/status/required/1", "traction"},
      {"/limits/forward", 0},
      {"/limits/left", 1},
      {"/law/holding_brake", 0.001},  // less than a count
      {"/law/throttle/proportional", -1},
      {"/law/brake/setpoint_weight", 2},
      {"/law/brake/proportional", 0},
      {"/stop/service_brake", 0},
      {"/stop/service_brake", 0.001},
      {"/stop/brake_rate", 0.06},  // not pressed in the longest braking
      {"/stop/on_fault", 3},
      {"/stop/on_fault", 0.5},
      {"/odometry/turn", "gyro"},
      {"/odometry/noise/left_per_distance", -1e-9},
      {"/provisional/0", "/wheelbas"},
      {"/provisional/0", "wheelbase"},
      {"/provisional/1", "/units/speed/0"},
      {"/nonsense", 1},
      {"/units/nonsense", 1},
      {"/law/throttle/output_max", 1},
  };
  for (const Case& c : cases) {
    CAPTURE(c.where);
    CAPTURE(c.value.dump());
    Json vehicle = full_vehicle();
    vehicle[Json::json_pointer(c.where)] = c.value;
    CHECK(places(vehicle) == std::multiset<std::string>{c.where});
  }
}

/// Three systems in another order and at other places than the Furbot's; the Furbot does not have the third.
Json systems() {
  return Json::parse(R"([
    {"id": 17, "name": "winch", "length": 3, "fields": {"state": {"offset": 2, "type": "u8"}, "load": {"offset": 0, "type": "u16"}}},
    {"id": 4, "name": "steering", "length": 10, "provisional": false,
     "fields": {"state": {"offset": 0, "type": "u8"}, "current_angle": {"offset": 2, "type": "i32"},
                "target_angle": {"offset": 6, "type": "i32"}}},
    {"id": 3, "name": "traction", "length": 20,
     "fields": {"state": {"offset": 19, "type": "i8"}, "mode": {"offset": 18, "type": "u8"}, "speed": {"offset": 16, "type": "i16"},
                "left_speed": {"offset": 14, "type": "i16"}, "right_speed": {"offset": 12, "type": "i16"},
                "throttle": {"offset": 10, "type": "i16"}, "brake": {"offset": 8, "type": "i16"},
                "reverse": {"offset": 7, "type": "u8"}, "odometer": {"offset": 0, "type": "i32"}}}])");
}

TEST_CASE("a table of systems takes the place of the Furbot's") {
  Json document = full_vehicle();
  document["status"]["systems"] = systems();
  document["status"].erase("required");
  auto loaded = load_vehicle(document.dump());
  REQUIRE(loaded);
  const auto vehicle = *std::move(loaded);  // : its parts do not move
  const takt::vehicle::Layouts& layouts = *vehicle.drive.client.telemetry.layouts;
  CHECK(&layouts == vehicle.layouts.get());
  constexpr auto winch = static_cast<System>(17);
  CHECK(vehicle.drive.client.telemetry.required ==
        takt::vehicle::SystemSet{System::traction, System::steering, winch});
  REQUIRE(layouts.systems().size() == 3);
  CHECK(layouts.systems()[0].name == "winch");
  CHECK(layouts.systems()[0].provisional);
  CHECK_FALSE(layouts.systems()[1].provisional);
  CHECK(layouts.length(System::steering) == 10);
  takt::vehicle::StatusFrame frame(layouts);
  REQUIRE(frame.set(takt::vehicle::Steering{.state = 2, .current_angle = 70'000, .target_angle = -70'000}));
  CHECK(frame.bytes(System::steering)[0] == 2);
  CHECK(frame.value(System::steering, "current_angle") == 70'000);
  REQUIRE(frame.set(winch, "load", 0x1234));
  CHECK(frame.bytes(winch)[1] == 0x34);
}

TEST_CASE("systems are required by the names that the table gives them") {
  Json document = full_vehicle();
  document["status"]["systems"] = systems();
  document["status"]["required"] = {"winch", "traction"};
  const auto vehicle = load_vehicle(document.dump());
  REQUIRE(vehicle);
  CHECK(vehicle->drive.client.telemetry.required ==
        takt::vehicle::SystemSet{System::traction, static_cast<System>(17)});
  document["status"]["required"] = {"battery", "traction"};
  CHECK(places(document) == std::multiset<std::string>{"/status/required/0"});
}

TEST_CASE("each rule for a table of systems is enforced at its place") {
  struct Case {
    const char* where;
    Json value;
    const char* blamed = nullptr;  // : if the mistake is reported elsewhere
  };
  const Json byte = {{"offset", 0}, {"type", "u8"}};
  const Case cases[] = {
      {"", Json::array()},
      {"", 5},
      {"/0", 5},
      {"/0/id", 32},
      {"/0/id", -1},
      {"/0/id", 4, ""},  // : twice
      {"/0/name", "steering", "/1/name"},
      {"/0/name", ""},
      {"/0/length", 0},
      {"/0/length", 243},
      {"/0/length", 242, ""},  // no frame holds it beside the others
      {"/0/length", 2, "/0/fields/state"},
      {"/0/provisional", 1},
      {"/0/colour", "red"},
      {"/0/fields", Json::array()},
      {"/0/fields/load", 1},
      {"/0/fields/load/offset", 2, "/0/fields/load"},
      {"/0/fields/load/offset", 1.5},
      {"/0/fields/load/type", "f32"},
      {"/0/fields/load/unit", "kg"},
      {"/0/fields/state/type", "u16", "/0/fields/state"},
      {"/1/fields/current_angle/type", "u32", "/1/fields/current_angle"},
      {"/2/fields/speed/type", "u32", "/2/fields/speed"},
      {"/2/id", 18, ""},  // no traction
  };
  for (const Case& c : cases) {
    CAPTURE(c.where);
    CAPTURE(c.value.dump());
    Json document = full_vehicle();
    document["status"].erase("required");
    document["status"]["systems"] = systems();
    document["status"]["systems"][Json::json_pointer(c.where)] = c.value;
    const auto found = places(document);
    CHECK(found.size() >= 1);
    const std::string blamed = std::string("/status/systems") + (c.blamed != nullptr ? c.blamed : c.where);
    for (const std::string& place : found) CHECK(place.rfind(blamed, 0) == 0);
  }
  for (const char* field : {"state", "odometer"}) {
    CAPTURE(field);
    Json document = full_vehicle();
    document["status"]["systems"] = systems();
    document["status"]["required"] = {"traction"};
    document["status"]["systems"][2]["fields"].erase(field);
    const auto found = places(document);
    CHECK(found.count(std::string("/status/systems/2/fields/") + field) == 1);
  }
}

TEST_CASE("a vehicle that would turn about a point between its wheels is none") {
  Json vehicle = full_vehicle();
  vehicle["steering"]["limit"] = 1.5;
  CHECK(places(vehicle) == std::multiset<std::string>{"/steering/limit"});
}

TEST_CASE("a mistake says what was given and what is allowed") {
  Json vehicle = full_vehicle();
  vehicle["wheelbase"] = -1.6;
  CHECK(complaint(vehicle) == "/wheelbase: -1.6 is not above 0 and at most 100");
  vehicle = full_vehicle();
  vehicle["control"]["byte_order"] = "middle";
  CHECK(complaint(vehicle) == "/control/byte_order: \"middle\" is not one of \"network\", \"little_endian\"");
  vehicle = full_vehicle();
  vehicle["stop"]["on_fault"] = 7;
  CHECK(complaint(vehicle) == "/stop/on_fault: must be a whole number from 0 to 2, not 7");
  vehicle = full_vehicle();
  vehicle["track"] = "1.285 m";
  CHECK(complaint(vehicle) == "/track: must be a finite number, not \"1.285 m\"");
  vehicle = full_vehicle();
  vehicle["status"]["required"] = {"traction", "brakes"};
  CHECK(complaint(vehicle) ==
        "/status/required/1: there is no system \"brakes\"; there are communication battery motion_control "
        "traction steering hydraulics suspension_rear_left suspension_rear_right suspension_front_left "
        "suspension_front_right rear_fork front_fork");
}

TEST_CASE("all mistakes of a vehicle are listed at once") {
  Json vehicle = full_vehicle();
  vehicle["wheelbase"] = 0;
  vehicle["wheels"] = 4;
  vehicle["units"].erase("speed");
  vehicle["status"]["required"] = {"traction", "tracton"};
  CHECK(places(vehicle) ==
        std::multiset<std::string>{"/wheelbase", "/wheels", "/units/speed", "/status/required/1"});
}

TEST_CASE("a key that is given twice is refused, at any depth") {
  std::string text = full_vehicle().dump();
  text.insert(1, "\"wheelbase\":2,");
  CHECK(places(text) == std::multiset<std::string>{"/wheelbase"});
  text = full_vehicle().dump();
  text.insert(text.find("\"units\":{") + 9, "\"speed\":0.01,");
  CHECK(places(text) == std::multiset<std::string>{"/units/speed"});
}

TEST_CASE("a vehicle's file that was cut off anywhere is refused") {
  const std::string text = furbot_text();
  const std::size_t end = text.rfind('}');
  for (std::size_t size = 0; size <= end; ++size) {
    CAPTURE(size);
    CHECK_FALSE(load_vehicle(text.substr(0, size)));
  }
  CHECK(load_vehicle(text.substr(0, end + 1)));
  CHECK_FALSE(load_vehicle(text + "{}"));
}

TEST_CASE("a vehicle's file that cannot be read is a mistake") {
  const auto missing = load_vehicle_file("/nowhere/at/all.json");
  REQUIRE_FALSE(missing);
  CHECK(to_string(missing.error().front()) == "the file cannot be opened: No such file or directory");
  const auto folder = load_vehicle_file(TAKT_SOURCE_DIR);
  REQUIRE_FALSE(folder);
  CHECK(to_string(folder.error().front()) == "the file cannot be read: Is a directory");
}

}  // namespace
