#include "takt/robot/vehicle_description.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "json/strict.hpp"
#include "robot/mistakes.hpp"
#include "robot/system_layouts.hpp"
#include "takt/mobile/car_like.hpp"

namespace takt::robot {
namespace {

using json::Object;
using json::Range;
using json::Value;
using vehicle::ByteOrder;
using vehicle::DistanceSource;
using vehicle::System;
using vehicle::TurnSource;

constexpr double largest_measure = 100;  // : m, or m/s, or any other measure that is about ten in a vehicle
constexpr double most_counts = 2'147'483'647;  // of a command
constexpr Range rates = Range::between(1, 1000);
constexpr Range shares = Range::between(0, 1);
constexpr Range measures = Range::positive(largest_measure);
constexpr Range times{0.001, 10};

constexpr std::array<std::pair<std::string_view, std::optional<ByteOrder>>, 2> byte_orders{
    {{"network", ByteOrder::big}, {"little_endian", ByteOrder::little}}};
constexpr std::array<std::pair<std::string_view, TurnSource>, 2> turn_sources{
    {{"wheels", TurnSource::wheels}, {"steering", TurnSource::steering}}};
constexpr std::array<std::pair<std::string_view, DistanceSource>, 2> distance_sources{
    {{"wheels", DistanceSource::wheels}, {"odometer", DistanceSource::odometer}}};

/// The value at a JSON pointer through objects, or null.
const Value* find_at(const Value& document, std::string_view pointer) {
  const Value* value = &document;
  while (value != nullptr && !pointer.empty()) {
    if (pointer.front() != '/' || !value->is_object()) return nullptr;
    pointer.remove_prefix(1);
    const std::string key(pointer.substr(0, pointer.find('/')));
    pointer.remove_prefix(key.size());
    const auto found = value->find(key);
    value = found == value->end() ? nullptr : &*found;
  }
  return value;
}

/// " battery traction".
std::string names_of(const vehicle::Layouts& layouts) {
  std::string names;
  for (const vehicle::SystemLayout& layout : layouts.systems()) names += fmt::format(" {}", layout.name);
  return names;
}

/// Reads the document into `vehicle_`, part by part, collecting mistakes as it goes.
class VehicleLoader {
 public:
  tl::expected<VehicleDescription, std::vector<Mistake>> load(std::string_view text) {
    auto document = json::parse(text);
    if (!document) return tl::unexpected(to_mistakes({document.error()}));
    read_vehicle(*document);
    if (mistakes_.empty()) check_agreement();
    if (mistakes_.empty()) check_whole();
    if (mistakes_.empty()) return std::move(vehicle_);
    return tl::unexpected(to_mistakes(mistakes_.list()));
  }

 private:
  void read_vehicle(const Value& value) {
    Object object(value, "", mistakes_);
    object.required_name("name", vehicle_.name);
    constexpr std::pair<std::string_view, bool> variants[] = {{"real", false}, {"simulated", true}};
    object.word<bool>("devices", vehicle_.is_simulated, variants);
    if (const Value* list = object.find("provisional")) read_provisional(*list, value);
    object.required_number("wheelbase", drive_.law.wheelbase, measures);
    object.required_number("track", drive_.track, measures);
    object.required_number("wheel_radius", drive_.wheel_radius, measures);
    object.number("standstill", drive_.law.standstill, measures);
    drive_.client.drive.stop.standstill = drive_.law.standstill;
    required(object, "steering", [this](Object& steering) { read_steering(steering); });
    required(object, "units", [this](Object& units) { read_units(units, drive_.client.units); });
    required(object, "control", [this](Object& control) { read_control(control); });
    optional(object, "status", [this](Object& status) { read_status(status); });
    required(object, "limits", [this](Object& limits) { read_limits(limits, drive_.limits); });
    required(object, "law", [this](Object& law) { read_law(law, drive_.law); });
    optional(object, "stop", [this](Object& stop) { read_stop(stop, drive_.client.drive.stop); });
    required(object, "odometry", [this](Object& odometry) { read_odometry(odometry); });
    object.finish();
  }

  /// Reads a part of the document that may be absent.
  template <class Read>
  void optional(Object& object, std::string_view key, Read read) {
    const Value* part = object.find(key);
    if (part == nullptr) return;
    Object inner(*part, object.at(key), mistakes_);
    read(inner);
    inner.finish();
  }
  template <class Read>
  void required(Object& object, std::string_view key, Read read) {
    if (object.require(key) != nullptr) optional(object, key, read);
  }

  void read_provisional(const Value& list, const Value& document) {
    if (!list.is_array()) return mistakes_.add("/provisional", "must be a list of JSON pointers");
    for (std::size_t i = 0; i < list.size(); ++i) {
      const std::string where = json::child("/provisional", i);
      const auto pointer = json::to_name(list[i], where, mistakes_);
      if (!pointer) continue;
      if (find_at(document, *pointer) == nullptr)
        mistakes_.add(where, fmt::format("the description has no value at {}", json::text_of(list[i])));
      vehicle_.provisional.push_back(*pointer);
    }
  }

  void read_steering(Object& steering) {
    constexpr double quarter_turn = 1.57;
    steering.required_number("limit", drive_.law.max_steering, Range::positive(quarter_turn));
    if (drive_.law.max_steering == quarter_turn)
      mistakes_.add(steering.at("limit"), fmt::format("{} rad is not below a quarter turn", quarter_turn));
    drive_.client.drive.limits.steering = drive_.law.max_steering;
    steering.required_number("rate", drive_.law.steering_rate, measures);
  }

  void read_units(Object& object, vehicle::Units::Configuration& units) {
    object.number("wheel_rate", units.wheel_rate, measures);
    object.required_number("speed", units.speed, measures);
    object.boolean("speed_is_magnitude", units.speed_is_magnitude);
    object.required_number("odometer", units.odometer, measures);
    object.required_number("full_throttle", units.full_throttle, Range::between(1, most_counts));
    object.required_number("full_brake", units.full_brake, Range::between(1, most_counts));
    object.number("charge", units.charge, measures);
    object.number("current", units.current, measures);
    object.number("voltage", units.voltage, measures);
    for (const auto& [key, unit] : {std::pair{"angle", &units.angle}, std::pair{"steer", &units.steer}}) {
      *unit = 1;
      object.required_number(key, *unit, Range::between(-largest_measure, largest_measure));
      if (*unit == 0) mistakes_.add(object.at(key), "must not be zero");
    }
  }

  void read_rate(Object& object, Duration& period) {
    double rate = 1 / to_seconds(period);
    object.number("rate", rate, rates);
    period = from_seconds(1 / rate);
  }

  void read_control(Object& control) {
    vehicle::ClientConfiguration& client = drive_.client;
    control.required_word<std::optional<ByteOrder>>("byte_order", client.payload, byte_orders);
    read_rate(control, client.send_period);
    control.seconds("timeout", client.drive.command_timeout, times);
    control.number("throttle", client.drive.limits.throttle, shares);
    control.number("reverse", client.drive.limits.reverse, shares);
  }

  void read_status(Object& status) {
    vehicle::Telemetry::Configuration& telemetry = drive_.client.telemetry;
    read_rate(status, telemetry.period);
    status.seconds("timeout", telemetry.freshness, times);
    if (const Value* list = status.find("systems")) read_systems(*list, status.at("systems"));
    if (const Value* list = status.find("required")) read_required(*list, status.at("required"));
  }

  void read_systems(const Value& list, const std::string& where) {
    vehicle_.layouts = read_layouts(list, where, mistakes_);
    if (vehicle_.layouts == nullptr) return;
    vehicle::Telemetry::Configuration& telemetry = drive_.client.telemetry;
    telemetry.layouts = vehicle_.layouts.get();
    telemetry.required = {};
    for (const vehicle::SystemLayout& layout : telemetry.layouts->systems())
      telemetry.required.insert(layout.system);
  }

  void read_required(const Value& list, const std::string& where) {
    if (!list.is_array()) return mistakes_.add(where, "must be a list of system names");
    vehicle::SystemSet systems;
    for (std::size_t i = 0; i < list.size(); ++i) {
      const auto name = json::to_name(list[i], json::child(where, i), mistakes_);
      if (!name) continue;
      const vehicle::Layouts& layouts = *drive_.client.telemetry.layouts;
      const vehicle::SystemLayout* const found = layouts.find(*name);
      if (found == nullptr)
        mistakes_.add(json::child(where, i), fmt::format("there is no system {}; there are{}",
                                                         json::text_of(list[i]), names_of(layouts)));
      else if (systems.contains(found->system))
        mistakes_.add(json::child(where, i), fmt::format("{} is given twice", *name));
      else
        systems.insert(found->system);
    }
    if (!systems.contains(System::traction))
      mistakes_.add(where, "traction is missing; it is always required");
    drive_.client.telemetry.required = systems;
  }

  static void read_limits(Object& object, mobile::TwistLimiter::Limits& limits) {
    object.required_number("forward", limits.forward, measures);
    object.required_number("backward", limits.backward, measures);
    object.required_number("rotation", limits.rotation, measures);
    object.required_number("acceleration", limits.acceleration, measures);
    object.required_number("braking", limits.braking, measures);
    object.required_number("rotational_acceleration", limits.rotational_acceleration, measures);
    limits.left = limits.forward;  // : a car-like vehicle does not move sideways
  }

  void read_law(Object& object, vehicle::TwistLaw::Configuration& law) {
    object.number("command_threshold", law.command_threshold, measures);
    object.number("measured_threshold", law.measured_threshold, measures);
    object.number("hysteresis", law.hysteresis, measures);
    object.number("holding_brake", law.holding_brake, shares);
    required(object, "throttle", [&](Object& gains) { read_gains(gains, law.throttle); });
    required(object, "brake", [&](Object& gains) { read_gains(gains, law.brake); });
  }

  static void read_gains(Object& object, control::PidGains& gains) {
    constexpr Range any = Range::between(0, huge_number);
    object.required_number("proportional", gains.proportional, any);
    object.number("integral", gains.integral, any);
    object.number("derivative", gains.derivative, any);
    object.number("derivative_filter", gains.derivative_filter, Range::between(0, times.max));
    object.number("dead_band", gains.dead_band, any);
    object.number("setpoint_weight", gains.setpoint_weight, shares);
    object.number("derivative_weight", gains.derivative_weight, shares);
  }

  void read_stop(Object& object, vehicle::EmergencyStop::Configuration& stop) {
    object.number("service_brake", stop.service_brake, Range::positive(1));
    object.number("brake_rate", stop.brake_rate, measures);
    object.seconds("settling", stop.settling, Range::between(0, times.max));
    object.seconds("longest_braking", stop.longest_braking, Range::between(times.min, 60));
    read_category(object, "on_timeout", drive_.client.drive.on_command_timeout);
    read_category(object, "on_fault", drive_.client.drive.on_fault);
  }

  void read_category(Object& object, std::string_view key, StopCategory& category) {
    const Value* value = object.find(key);
    if (value == nullptr) return;
    if (const auto number = json::to_integer(*value, object.at(key), mistakes_, 0, 2))
      category = static_cast<StopCategory>(*number);
  }

  void read_odometry(Object& object) {
    object.word<TurnSource>("turn", drive_.turn, turn_sources);
    object.word<DistanceSource>("distance", drive_.distance, distance_sources);
    object.number("timeout", drive_.odometry.timeout, times);
    required(object, "noise", [this](Object& noise) { read_noise(noise, drive_.odometry.noise); });
  }

  static void read_noise(Object& object, mobile::BasicOdometryNoise<double>& noise) {
    constexpr Range variance = Range::between(0, largest_measure);
    object.required_number("forward_per_distance", noise.forward_per_distance, variance);
    object.required_number("left_per_distance", noise.left_per_distance, variance);
    object.required_number("heading_per_distance", noise.heading_per_distance, variance);
    object.number("heading_per_rotation", noise.heading_per_rotation, variance);
  }

  /// Finds values that are possible alone, but not together.
  void check_agreement() {
    const vehicle::ClientConfiguration& client = drive_.client;
    const vehicle::Units::Configuration& units = client.units;
    check_timeout("/control/timeout", client.drive.command_timeout, client.send_period);
    check_timeout("/status/timeout", client.telemetry.freshness, client.telemetry.period);
    if (units.speed > drive_.law.standstill)
      mistakes_.add("/units/speed",
                    fmt::format("one count of {} m/s is more than the standstill speed of {} m/s",
                                units.speed, drive_.law.standstill));
    if (!vehicle::to_counts(drive_.law.max_steering, units.steer))
      mistakes_.add(
          "/units/steer",
          fmt::format("at {} rad per count the steering limit needs more than 32 bits", units.steer));
    check_brake("/stop/service_brake", client.drive.stop.service_brake);
    check_braking(client.drive.stop);
    if (drive_.law.brake.proportional == 0)
      mistakes_.add("/law/brake/proportional", "must be above 0: otherwise nothing brakes");
    if (drive_.law.holding_brake > 0) check_brake("/law/holding_brake", drive_.law.holding_brake);
    if (!mobile::Car::make({drive_.law.wheelbase, drive_.track, drive_.law.max_steering}))
      mistakes_.add("/steering/limit",
                    fmt::format("at {} rad the vehicle would turn about a point between its wheels",
                                drive_.law.max_steering));
  }

  void check_timeout(const std::string& where, Duration timeout, Duration period) {
    if (timeout > period) return;
    mistakes_.add(where, fmt::format("{} s must be longer than the {} s between frames", to_seconds(timeout),
                                     to_seconds(period)));
  }

  void check_brake(const std::string& where, double brake) {
    if (std::round(brake * drive_.client.units.full_brake) >= 1) return;
    mistakes_.add(
        where, fmt::format("{} of {} counts is less than one count", brake, drive_.client.units.full_brake));
  }

  void check_braking(const vehicle::EmergencyStop::Configuration& stop) {
    const double longest = to_seconds(stop.longest_braking);
    if (stop.service_brake <= stop.brake_rate * longest) return;
    mistakes_.add("/stop/brake_rate",
                  fmt::format("a brake of {} is not reached within the longest_braking of {} s",
                              stop.service_brake, longest));
  }

  /// Finds what the classes of vehicle/ reject in the whole set of values.
  void check_whole() {
    using Drive = vehicle::VehicleDrive<secure::PlainChannel>;
    if (!Drive::make(drive_, secure::PlainChannel{}))
      mistakes_.add("", "the measures, units and limits contradict each other");
  }

  json::Mistakes mistakes_{max_mistakes};
  VehicleDescription vehicle_;
  vehicle::VehicleDriveConfiguration& drive_ = vehicle_.drive;
};

}  // namespace

tl::expected<VehicleDescription, std::vector<Mistake>> load_vehicle(std::string_view json) {
  return VehicleLoader().load(json);
}

tl::expected<VehicleDescription, std::vector<Mistake>> load_vehicle_file(const std::string& path) {
  const auto text = json::read_file(path, max_description_file);
  if (!text) return tl::unexpected(to_mistakes({text.error()}));
  return load_vehicle(*text);
}

}  // namespace takt::robot
