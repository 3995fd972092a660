#include "takt/robot/description_json.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>
#include <tuple>

#include "json/strict.hpp"
#include "robot/controller_json.hpp"
#include "robot/description_words.hpp"
#include "robot/device_variant.hpp"
#include "robot/mistakes.hpp"
#include "robot/robot_vehicle_json.hpp"
#include "takt/robot/actuator_space.hpp"
#include "takt/robot/bus_plan.hpp"
#include "takt/robot/drive_protocol.hpp"

namespace takt::robot {
namespace {

using json::Object;
using json::Range;
using json::Value;

constexpr std::size_t max_controllers = 64;
constexpr std::size_t max_vehicles = 4;
constexpr std::uint64_t largest_overrun_limit = 1'000'000;
/// A loop that is a little late sends a second request before the first answer can arrive.
constexpr Duration::rep least_silence = 2;  // periods

/// Reads the document into `robot_`, part by part, collecting mistakes as it goes.
class Loader {
 public:
  explicit Loader(std::span<const DriveProtocol* const> protocols) : protocols_(protocols) {}

  tl::expected<RobotDescription, std::vector<Mistake>> load(std::string_view text) {
    auto document = json::parse(text);
    if (!document) return tl::unexpected(to_mistakes({document.error()}));
    read_robot(*document);
    if (mistakes_.empty()) check_bus_loads();
    if (mistakes_.empty()) check_transmissions();
    if (mistakes_.empty()) return std::move(robot_);
    return tl::unexpected(to_mistakes(mistakes_.list()));
  }

 private:
  void read_robot(const Value& value) {
    Object object(value, "", mistakes_);
    object.required_name("name", robot_.name);
    double rate = 1 / to_seconds(robot_.period);
    object.required_number("rate", rate, Range::between(1, 10'000));
    robot_.period = from_seconds(1 / rate);
    object.word<rt::OverrunPolicy>("overrun", robot_.overrun, overrun_policies);
    if (const Value* limit = object.find("overrun_limit")) {
      const auto periods =
          json::to_integer(*limit, object.at("overrun_limit"), mistakes_, 0, largest_overrun_limit);
      robot_.overrun_limit = static_cast<std::uint32_t>(periods.value_or(0));
    }
    object.seconds("feedback_timeout", robot_.feedback_timeout, Range::between(0, 10));
    object.seconds("goal_time", robot_.goal_time, Range::between(0, 3600));
    read_devices(object, mistakes_, robot_);
    object.word<bool>("power", robot_.power, powers);
    if (needs_drives(object)) read_drives(object);
    if (const Value* groups = object.find("groups")) read_groups(*groups, object.at("groups"));
    for_each(object, "mimics", max_mimics, [&](const Value& mimic, const std::string& where) {  //
      read_mimic(mimic, where);
    });
    for_each(object, "transmissions", max_joints, [&](const Value& transmission, const std::string& where) {
      read_transmission(transmission, where);
    });
    add_zero_offsets(object);
    for_each(object, "vehicles", max_vehicles, [&](const Value& vehicle, const std::string& where) {
      Object entry(vehicle, where, mistakes_);
      RobotVehicle made = read_robot_vehicle(entry, mistakes_);
      check_name(entry, made.name);
      robot_.vehicles.push_back(std::move(made));
    });
    if (const Value* list = object.find("controllers")) read_controllers(*list, object.at("controllers"));
    object.finish();
  }

  /// Not a robot that is a vehicle alone.
  [[nodiscard]] static bool needs_drives(Object& object) {
    const Value* const vehicles = object.find("vehicles");
    constexpr std::array keys{"buses", "joints", "groups", "mimics", "transmissions"};
    return vehicles == nullptr || vehicles->empty() ||
           std::ranges::any_of(keys, [&](const char* key) { return object.has(key); });
  }

  void read_drives(Object& object) {
    if (const Value* buses = required_list(object, "buses", max_buses)) {
      for (std::size_t i = 0; i < buses->size(); ++i)
        read_bus((*buses)[i], json::child(object.at("buses"), i));
    }
    check_times(object);
    if (const Value* joints = required_list(object, "joints", max_joints)) {
      for (std::size_t i = 0; i < joints->size(); ++i)
        read_joint((*joints)[i], json::child(object.at("joints"), i));
    }
  }

  /// Checks times that contradict each other.
  void check_times(const Object& object) {
    if (robot_.feedback_timeout < least_silence * robot_.period) {
      mistakes_.add(
          object.at("feedback_timeout"),
          fmt::format("{:g} s{} is less than {} periods of the loop, {:g} s: a drive has no time to answer",
                      to_seconds(robot_.feedback_timeout),
                      object.has("feedback_timeout") ? "" : ", the default,", least_silence,
                      to_seconds(least_silence * robot_.period)));
    }
    for (const BusDescription& bus : robot_.buses) {
      const auto longest = bus.protocol != nullptr ? bus.protocol->longest_pause() : std::nullopt;
      // A caught-up cycle leaves a simulated drive no pause, and "catch_up" is for simulations.
      if (!longest || robot_.overrun == rt::OverrunPolicy::catch_up) continue;
      const Duration::rep most = *longest / robot_.period - 2;
      if (Duration::rep{robot_.overrun_limit} <= most) continue;
      mistakes_.add(object.at("overrun_limit"),
                    fmt::format("{}{} periods of {:g} s exceed the timeout of the drives of bus {}: they "
                                "stop by themselves {:g} s after the last command. {}",
                                robot_.overrun_limit, object.has("overrun_limit") ? "" : " (the default)",
                                to_seconds(robot_.period), bus.name, to_seconds(*longest),
                                most >= 0 ? fmt::format("At most {}", most) : "The loop must be faster"));
    }
  }

  /// A list of 1 to `most` entries, or null and a mistake.
  const Value* required_list(Object& object, std::string_view key, std::size_t most) {
    const Value* list = object.require(key);
    if (list == nullptr) return nullptr;
    if (list->is_array() && !list->empty() && list->size() <= most) return list;
    mistakes_.add(object.at(key), fmt::format("must be a list of 1 to {} entries", most));
    return nullptr;
  }

  void read_bus(const Value& value, const std::string& where) {
    BusDescription bus;
    Object object(value, where, mistakes_);
    object.required_name("name", bus.name);
    if (!bus.name.empty() && find_bus(bus.name))
      mistakes_.add(object.at("name"), "another bus has this name");
    bus.protocol = read_protocol(object);
    if (const Value* interface = object.find("interface"))
      bus.interface = json::to_name(*interface, object.at("interface"), mistakes_).value_or("");
    if (const Value* rate = object.require("bit_rate")) {
      constexpr std::array<std::uint32_t, 5> allowed{125'000, 250'000, 500'000, 800'000, 1'000'000};
      const auto found = std::find(allowed.begin(), allowed.end(), *rate);
      if (found != allowed.end())
        bus.bit_rate = *found;
      else
        mistakes_.add(object.at("bit_rate"), "must be 125000, 250000, 500000, 800000 or 1000000");
    }
    if (const Value* rate = object.find("data_bit_rate"); rate != nullptr && bus.protocol != nullptr) {
      if (!bus.protocol->has_fd_frames()) {
        mistakes_.add(object.at("data_bit_rate"),
                      "this protocol uses classic frames, which have no data phase");
      } else if (const auto number = json::to_integer(*rate, object.at("data_bit_rate"), mistakes_,
                                                      bus.bit_rate, 8'000'000)) {
        bus.data_bit_rate = static_cast<std::uint32_t>(*number);
      }
    }
    object.finish();
    robot_.buses.push_back(std::move(bus));
  }

  /// Null, and a mistake, if no protocol has this name.
  const DriveProtocol* read_protocol(Object& object) {
    const Value* value = object.require("protocol");
    if (value == nullptr) return nullptr;
    std::string names;
    for (const DriveProtocol* protocol : protocols_) {
      if (value->is_string() && value->get_ref<const std::string&>() == protocol->name()) return protocol;
      names += fmt::format("{}\"{}\"", names.empty() ? "" : ", ", protocol->name());
    }
    mistakes_.add(object.at("protocol"), fmt::format("{} is not one of {}", json::text_of(*value), names));
    return nullptr;
  }

  [[nodiscard]] std::optional<std::size_t> find_bus(std::string_view name) const {
    for (std::size_t i = 0; i < robot_.buses.size(); ++i) {
      if (robot_.buses[i].name == name) return i;
    }
    return std::nullopt;
  }

  void read_joint(const Value& value, const std::string& where) {
    JointDescription joint;
    Object object(value, where, mistakes_);
    object.required_name("name", joint.name);
    if (!joint.name.empty() && robot_.find_joint(joint.name)) {
      mistakes_.add(object.at("name"), fmt::format("another joint has the name {}", joint.name));
    }
    object.word<JointKind>("kind", joint.kind, joint_kinds);
    if (const Value* limits = object.require("limits"))
      read_limits(*limits, object.at("limits"), joint.kind, joint.limits);
    SafeWord safe = SafeWord::hold;
    object.word<SafeWord>("safe", safe, safe_words);
    joint.safe = safe == SafeWord::release ? SafeBehaviour::release : SafeBehaviour::hold;
    joint.keep_commanding = safe == SafeWord::keep_commanding;
    object.number("counts_per_radian", joint.counts_per_radian, Range::between(-huge_number, huge_number));
    if (joint.counts_per_radian == 0) mistakes_.add(object.at("counts_per_radian"), "must not be zero");
    object.number("rated_effort", joint.rated_effort, Range::positive(huge_number));
    object.number("following_error", joint.following_error, Range::positive(huge_number));
    object.number("goal_tolerance", joint.goal_tolerance, Range::positive(huge_number));
    if (joint.goal_tolerance > joint.following_error) {
      mistakes_.add(object.at("goal_tolerance"),
                    fmt::format("{} is more than the following error of {} that stops "
                                "the robot",
                                joint.goal_tolerance, joint.following_error));
    }
    read_address(object, joint);
    double zero_offset = 0;
    object.number("zero_offset", zero_offset, Range::between(-huge_number, huge_number));
    if (zero_offset != 0) zero_offsets_[robot_.joints.size()] = zero_offset;
    joint.plant.start = std::clamp(0.0, joint.limits.position_min, joint.limits.position_max);
    if (const Value* plant = object.find("plant")) read_plant(*plant, object.at("plant"), joint);
    object.finish();
    robot_.joints.push_back(std::move(joint));
  }

  void read_limits(const Value& value, const std::string& where, JointKind kind, JointLimits& limits) {
    Object object(value, where, mistakes_);
    if (kind == JointKind::continuous) {
      if (object.find("position") != nullptr)
        mistakes_.add(object.at("position"), "a continuous joint has no position limits");
    } else if (const Value* position = object.require("position")) {
      const std::string at = object.at("position");
      if (!position->is_array() || position->size() != 2) {
        mistakes_.add(at, "must be a list of two numbers: minimum and maximum");
      } else {
        const auto least = json::to_number((*position)[0], json::child(at, 0), mistakes_,
                                           Range::between(-huge_number, huge_number));
        const auto most = json::to_number((*position)[1], json::child(at, 1), mistakes_,
                                          Range::between(-huge_number, huge_number));
        if (least && most && !(*least < *most)) {
          mistakes_.add(at, fmt::format("the minimum {} is not below the maximum {}", *least, *most));
        } else if (least && most) {
          limits.position_min = *least;
          limits.position_max = *most;
        }
      }
    }
    object.required_number("velocity", limits.velocity, Range::positive(huge_number));
    object.required_number("acceleration", limits.acceleration, Range::positive(huge_number));
    object.required_number("jerk", limits.jerk, Range::positive(huge_number));
    object.number("effort", limits.effort, Range::positive(huge_number));
    object.finish();
  }

  /// Reads the joint's bus, board and channel, and checks that its positions fit into the words of that bus.
  void read_address(Object& object, JointDescription& joint) {
    std::string bus_name;
    object.required_name("bus", bus_name);
    const Value* board = object.require("board");
    const Value* channel = object.find("channel");
    object.ignore("drive");                                // its protocol reads it, if it is known
    if (bus_name.empty() || robot_.buses.empty()) return;  // its mistake is listed already
    const auto bus = find_bus(bus_name);
    if (!bus) {
      mistakes_.add(object.at("bus"), fmt::format("there is no bus {}", bus_name));
      return;
    }
    joint.bus = *bus;
    const DriveProtocol* const protocol = robot_.buses[*bus].protocol;
    if (protocol == nullptr) return;  // its mistake is listed already
    if (protocol->has_counts()) static_cast<void>(object.require("counts_per_radian"));
    read_settings(object, *protocol, joint);
    const AddressRule rule = protocol->addresses(joint);
    const double reach = protocol->reach(joint);
    if (joint.kind == JointKind::continuous) {
      joint.limits.position_min = -reach;
      joint.limits.position_max = reach;
    }
    const double farthest = joint.farthest_position();
    if (std::isfinite(farthest) && farthest > reach) {
      mistakes_.add(
          object.at("limits") + "/position",
          fmt::format("reaches {0} {2} from zero, but the position words of the bus hold at most {1} {2}",
                      farthest, reach, position_unit(joint.kind)));
    }
    if (board == nullptr) return;
    const auto board_number =
        json::to_integer(*board, object.at("board"), mistakes_, rule.first_board, rule.last_board);
    std::optional<std::uint64_t> channel_number = 0;
    if (channel != nullptr) {
      channel_number = json::to_integer(*channel, object.at("channel"), mistakes_, 0, rule.last_channel);
    }
    if (!board_number || !channel_number) return;
    joint.board = static_cast<std::uint8_t>(*board_number);
    joint.channel = static_cast<std::uint8_t>(*channel_number);
    const auto [other, is_new] = addresses_.try_emplace({joint.bus, joint.board, joint.channel}, joint.name);
    if (!is_new) {
      mistakes_.add(object.at("board"), fmt::format("board {} channel {} of bus {} already moves {}",
                                                    *board_number, *channel_number, bus_name, other->second));
    }
    protocol->check(robot_, joint, [&](std::string_view key, std::string reason) {
      mistakes_.add(fmt::format("{}/{}", object.where(), key), std::move(reason));
    });
  }

  /// Reads the settings that the protocol allows besides the address.
  void read_settings(Object& object, const DriveProtocol& protocol, JointDescription& joint) {
    const Value* value = object.find("drive");
    const Value none = Value::object();
    Object drive(value != nullptr ? *value : none, object.at("drive"), mistakes_);
    for (const SettingRule& rule : protocol.settings()) {
      const Value* setting = rule.required ? drive.require(rule.key) : drive.find(rule.key);
      if (setting == nullptr) continue;
      if (rule.words.empty()) {
        const auto number =
            json::to_number(*setting, drive.at(rule.key), mistakes_, Range::between(rule.least, rule.most));
        if (number) joint.drive.set(rule.key, *number);
      } else if (const auto word = json::to_word(*setting, drive.at(rule.key), mistakes_, rule.words)) {
        joint.drive.set(rule.key, *word);
      }
    }
    drive.finish();
  }

  /// Rejects a bus that cannot carry its cycles: requests and answers would be late, and the drives blamed.
  void check_bus_loads() {
    for (std::size_t i = 0; i < robot_.buses.size(); ++i) {
      const BusPlan plan = plan_bus(robot_, i);
      const double load = plan.load();
      if (load <= largest_bus_load) continue;
      const double fitting = std::floor(plan.fitting_rate());
      const std::string rate = fitting < 1 ? "" : fmt::format("a rate of at most {:.0f} Hz, or ", fitting);
      mistakes_.add(json::child("/buses", i),
                    fmt::format("at {:g} Hz the cycle takes {:.0f} % of bus {}; at most {:.0f} % are "
                                "allowed. Use {}fewer joints on this bus",
                                1 / to_seconds(robot_.period), std::ceil(load * 100), robot_.buses[i].name,
                                largest_bus_load * 100, rate));
    }
  }

  void read_plant(const Value& value, const std::string& where, JointDescription& joint) {
    PlantDescription& plant = joint.plant;
    Object object(value, where, mistakes_);
    object.number("inertia", plant.inertia, Range::positive(huge_number));
    object.number("viscous_friction", plant.viscous_friction, Range::between(0, huge_number));
    object.number("coulomb_friction", plant.coulomb_friction, Range::between(0, huge_number));
    object.number("torque_limit", plant.torque_limit, Range::positive(huge_number));
    object.number("bandwidth", plant.bandwidth, Range::positive(1000));
    object.number("start", plant.start, Range::between(joint.limits.position_min, joint.limits.position_max));
    object.finish();
  }

  /// Calls read(entry, its place) for each entry of an optional list.
  template <class Read>
  void for_each(Object& object, std::string_view key, std::size_t most, const Read& read) {
    const Value* list = object.find(key);
    if (list == nullptr) return;
    if (!list->is_array() || list->size() > most) {
      mistakes_.add(object.at(key), fmt::format("must be a list of at most {} entries", most));
      return;
    }
    for (std::size_t i = 0; i < list->size(); ++i) read((*list)[i], json::child(object.at(key), i));
  }

  /// The joint that a required key names. std::nullopt and a mistake if there is none.
  std::optional<std::size_t> read_joint_name(Object& object, std::string_view key) {
    std::string name;
    object.required_name(key, name);
    if (name.empty() || robot_.joints.empty()) return std::nullopt;  // its mistake is listed already
    const auto joint = robot_.find_joint(name);
    if (!joint) mistakes_.add(object.at(key), fmt::format("there is no joint {}", name));
    return joint;
  }

  void read_mimic(const Value& value, const std::string& where) {
    MimicDescription mimic;
    Object object(value, where, mistakes_);
    object.required_name("name", mimic.name);
    const bool is_taken =
        std::any_of(robot_.mimics.begin(), robot_.mimics.end(),
                    [&](const MimicDescription& other) { return other.name == mimic.name; });
    if (!mimic.name.empty() && (is_taken || robot_.find_joint(mimic.name)))
      mistakes_.add(object.at("name"), fmt::format("another joint has the name {}", mimic.name));
    object.word<JointKind>("kind", mimic.kind, joint_kinds);
    mimic.joint = read_joint_name(object, "joint").value_or(0);
    object.number("multiplier", mimic.multiplier, Range::between(-huge_number, huge_number));
    object.number("offset", mimic.offset, Range::between(-huge_number, huge_number));
    object.finish();
    robot_.mimics.push_back(std::move(mimic));
  }

  void read_transmission(const Value& value, const std::string& where) {
    TransmissionDescription transmission;
    Object object(value, where, mistakes_);
    object.required_name("name", transmission.name);
    object.required_word<TransmissionKind>("type", transmission.kind, transmission_kinds);
    const std::size_t count = joint_count(transmission.kind);
    for_each_of(object, "joints", count, [&](const Value& joint, const std::string& at) {
      transmission.joints.push_back(read_transmission_joint(joint, at));
    });
    for_each_of(object, "actuators", count, [&](const Value& actuator, const std::string& at) {
      transmission.actuators.push_back(read_transmission_actuator(actuator, at));
    });
    object.finish();
    robot_.transmissions.push_back(std::move(transmission));
  }

  /// The same for a required list of exactly `count` entries.
  template <class Read>
  void for_each_of(Object& object, std::string_view key, std::size_t count, const Read& read) {
    const Value* list = object.require(key);
    if (list == nullptr) return;
    if (!list->is_array() || list->size() != count)
      mistakes_.add(object.at(key), fmt::format("must be a list of {}: this type has as many", count));
    else
      for_each(object, key, count, read);
  }

  TransmissionJoint read_transmission_joint(const Value& value, const std::string& where) {
    TransmissionJoint joint;
    Object object(value, where, mistakes_);
    if (const auto found = read_joint_name(object, "name")) {
      joint.joint = *found;
      if (transmitted_.contains(*found))
        mistakes_.add(object.at("name"), "this joint is in a transmission already");
      transmitted_.insert(*found);
    }
    read_reduction(object, joint.reduction);
    object.number("offset", joint.offset, Range::between(-huge_number, huge_number));
    object.finish();
    return joint;
  }

  TransmissionActuator read_transmission_actuator(const Value& value, const std::string& where) {
    TransmissionActuator actuator;
    Object object(value, where, mistakes_);
    object.required_name("name", actuator.name);
    if (!actuator.name.empty() && !actuators_.insert(actuator.name).second)
      mistakes_.add(object.at("name"), fmt::format("another actuator has the name {}", actuator.name));
    read_reduction(object, actuator.reduction);
    object.finish();
    return actuator;
  }

  /// A joint whose zero is not its drive's has a transmission that adds the offset.
  void add_zero_offsets(const Object& object) {
    for (const auto& [joint, offset] : zero_offsets_) {
      const std::string at = json::child(json::child(object.at("joints"), joint), "zero_offset");
      const std::string& name = robot_.joints[joint].name;
      if (transmitted_.contains(joint)) {
        mistakes_.add(at, "this joint is in a transmission, which has an \"offset\" for it");
        continue;
      }
      const std::string actuator = name + "_drive";
      if (!actuators_.insert(actuator).second) mistakes_.add(at, "another actuator has the name " + actuator);
      robot_.transmissions.push_back(
          {name + "_zero", TransmissionKind::simple, {{joint, 1, offset}}, {{actuator, 1}}});
    }
  }

  void read_reduction(Object& object, double& reduction) {
    object.number("reduction", reduction, Range::between(-huge_number, huge_number));
    if (reduction == 0) mistakes_.add(object.at("reduction"), "must not be zero");
  }

  /// Rejects reductions from which no exact conversion can be computed.
  void check_transmissions() {
    const auto space = ActuatorSpace::create(robot_);
    if (!space) return mistakes_.add("/transmissions", space.error().message);
    for (std::size_t i = 0; i < robot_.transmissions.size(); ++i) {
      if (const auto fitted = fit_reach(robot_, i, *space); !fitted)
        mistakes_.add(json::child("/transmissions", i), fitted.error().message);
    }
  }

  void read_groups(const Value& value, const std::string& where) {
    if (!value.is_object()) {
      mistakes_.add(where, "must be an object: a list of joint names for each group");
      return;
    }
    for (const auto& [name, joints] : value.get_ref<const Value::object_t&>()) {
      GroupDescription group;
      const std::string at = json::child(where, name);
      group.name = json::to_name(name, at, mistakes_).value_or("");
      if (!joints.is_array() || joints.empty()) {
        mistakes_.add(at, "must be a list of at least one joint name");
        continue;
      }
      for (std::size_t i = 0; i < joints.size(); ++i) {
        const auto joint_name = json::to_name(joints[i], json::child(at, i), mistakes_);
        if (!joint_name) continue;
        const auto joint = robot_.find_joint(*joint_name);
        if (robot_.joints.empty()) continue;  // the missing joints are listed already
        if (!joint) {
          mistakes_.add(json::child(at, i), fmt::format("there is no joint {}", *joint_name));
        } else if (std::find(group.joints.begin(), group.joints.end(), *joint) != group.joints.end()) {
          mistakes_.add(json::child(at, i), fmt::format("{} is in this group twice", *joint_name));
        } else {
          group.joints.push_back(*joint);
        }
      }
      robot_.groups.push_back(std::move(group));
    }
  }

  void read_controllers(const Value& value, const std::string& where) {
    if (!value.is_array() || value.size() > max_controllers) {
      mistakes_.add(where, fmt::format("must be a list of at most {} controllers", max_controllers));
      return;
    }
    for (std::size_t i = 0; i < value.size(); ++i) {
      Object object(value[i], json::child(where, i), mistakes_);
      ControllerDescription controller = read_controller(object, mistakes_);
      check_name(object, controller.name);
      robot_.controllers.push_back(std::move(controller));
    }
    check_fallbacks(where);
  }

  /// Interfaces are named by their owner, so joints, vehicles and controllers share their names.
  void check_name(const Object& object, const std::string& name) {
    if (robot_.find_joint(name))
      mistakes_.add(object.at("name"), fmt::format("{} is the name of a joint", name));
    if (!name.empty() &&
        std::ranges::find(robot_.controllers, name, &ControllerDescription::name) != robot_.controllers.end())
      mistakes_.add(object.at("name"), fmt::format("another controller has the name {}", name));
    if (!name.empty() && std::ranges::count(robot_.vehicles, name, &RobotVehicle::name) > 0)
      mistakes_.add(object.at("name"), fmt::format("{} is the name of a vehicle", name));
  }

  /// A fallback is loaded before the controller that it replaces.
  void check_fallbacks(const std::string& where) {
    const auto& all = robot_.controllers;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const std::string at = json::child(json::child(where, i), "fallbacks");
      const auto& fallbacks = all[i].config.fallbacks;
      for (std::size_t k = 0; k < fallbacks.size(); ++k) {
        const auto after = all.begin() + static_cast<std::ptrdiff_t>(i) + 1;
        if (std::find_if(after, all.end(), [&](const auto& one) { return one.name == fallbacks[k]; }) !=
            all.end())
          mistakes_.add(json::child(at, k),
                        fmt::format("{} must be listed before this controller", fallbacks[k]));
      }
    }
  }

  std::span<const DriveProtocol* const> protocols_;
  json::Mistakes mistakes_{max_mistakes};
  RobotDescription robot_;
  std::map<std::tuple<std::size_t, std::uint8_t, std::uint8_t>, std::string> addresses_;
  std::set<std::size_t> transmitted_;  ///< joints of transmissions
  std::set<std::string> actuators_;
  std::map<std::size_t, double> zero_offsets_;  ///< by joint
};

}  // namespace

tl::expected<RobotDescription, std::vector<Mistake>> load_robot(
    std::string_view json, std::span<const DriveProtocol* const> protocols) {
  return Loader(protocols).load(json);
}

tl::expected<RobotDescription, std::vector<Mistake>> load_robot_file(
    const std::string& path, std::span<const DriveProtocol* const> protocols) {
  const auto text = json::read_file(path, max_description_file);
  if (!text) return tl::unexpected(to_mistakes({text.error()}));
  auto robot = load_robot(*text, protocols);
  if (!robot) return robot;
  locate_recording(*robot, path);
  auto mistakes = locate_files(robot->vehicles, path);
  if (!mistakes.empty()) return tl::unexpected(std::move(mistakes));
  return robot;
}

std::vector<Mistake> notes_on(const RobotDescription& robot) {
  std::vector<Mistake> notes;
  for (std::size_t i = 0; i < robot.joints.size(); ++i) {
    const std::string why = short_turn(robot, i);
    if (why.empty()) continue;
    notes.push_back(
        {json::child("/joints", i),
         fmt::format("{} {}. Choose smaller reductions, or another protocol", robot.joints[i].name, why)});
  }
  return notes;
}

std::string to_string(const Mistake& mistake) {
  if (mistake.line != 0) return fmt::format("line {}: {}", mistake.line, mistake.reason);
  if (mistake.where.empty()) return mistake.reason;
  return fmt::format("{}: {}", mistake.where, mistake.reason);
}

std::string lines_of(const std::string& file, const std::vector<Mistake>& mistakes) {
  std::string lines;
  for (const Mistake& mistake : mistakes)
    lines += (lines.empty() ? "" : "\n") + file + ": " + to_string(mistake);
  return lines;
}

}  // namespace takt::robot
