#include "takt/record/metadata.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "takt/core/joint.hpp"
#include "takt/record/format.hpp"

namespace takt::record {
namespace {

using Json = nlohmann::ordered_json;

// ---- reading: keeps the first error and its place ----

class Parser {
 public:
  [[nodiscard]] bool ok() const { return message_.empty(); }
  [[nodiscard]] const std::string& message() const { return message_; }

  void mistake(std::string_view where, std::string_view what) {
    if (ok()) message_ = fmt::format("{}: {}", where, what);
  }

  [[nodiscard]] std::string text(const Json& value, const std::string& where) {
    if (!value.is_string()) {
      mistake(where, "must be a string");
      return {};
    }
    auto result = value.get<std::string>();
    if (result.size() > max_name_length) mistake(where, fmt::format("longer than {} bytes", max_name_length));
    return result;
  }

  [[nodiscard]] std::vector<std::string> names(const Json& root, const char* key, std::size_t most) {
    const std::string where = fmt::format("/{}", key);
    std::vector<std::string> result;
    for (const Json& value : list(root, key, most)) {
      result.push_back(text(value, fmt::format("{}/{}", where, result.size())));
    }
    return result;
  }

  [[nodiscard]] std::vector<Json> list(const Json& root, const char* key, std::size_t most) {
    const auto found = root.find(key);
    const std::string where = fmt::format("/{}", key);
    if (found == root.end() || !found->is_array()) {
      mistake(where, "must be a list");
      return {};
    }
    if (found->size() > most) {
      mistake(where, fmt::format("{} entries, at most {} are possible", found->size(), most));
      return {};
    }
    return found->get<std::vector<Json>>();
  }

 private:
  std::string message_;
};

std::vector<std::string> parse_units(Parser& parser, const Json& root, std::size_t joints) {
  if (!root.contains("units")) return {};
  std::vector<std::string> units = parser.names(root, "units", joints);
  if (!units.empty() && units.size() != joints) parser.mistake("/units", "must have an entry for each joint");
  for (const std::string& unit : units) {
    if (unit != "rad" && unit != "m") parser.mistake("/units", "must be rad or m");
  }
  return units;
}

Duration parse_epoch(Parser& parser, const Json& root) {
  constexpr std::int64_t bound = std::int64_t{1} << 61;  // with any time of the robot, no sum overflows
  const Json epoch = root.value("epoch_ns", Json(0));
  const std::int64_t value = epoch.is_number_integer() ? epoch.get<std::int64_t>() : -1;
  if (value >= 0 && value <= bound) return Duration(value);
  parser.mistake("/epoch_ns", "must be nanoseconds, at most 73 years");
  return {};
}

// ---- limits: JSON has no infinity, so an absent bound means infinite ----

constexpr std::array<std::pair<const char*, double JointLimits::*>, 6> limit_names{
    {{"position_min", &JointLimits::position_min},
     {"position_max", &JointLimits::position_max},
     {"velocity", &JointLimits::velocity},
     {"acceleration", &JointLimits::acceleration},
     {"jerk", &JointLimits::jerk},
     {"effort", &JointLimits::effort}}};

Json limits_json(const std::vector<JointLimits>& limits) {
  Json list = Json::array();
  for (const JointLimits& joint : limits) {
    Json bounds = Json::object();
    for (const auto& [name, bound] : limit_names) {
      if (std::isfinite(joint.*bound)) bounds[name] = joint.*bound;
    }
    list.push_back(std::move(bounds));
  }
  return list;
}

/// The entries of a list that is empty or has one entry per joint.
std::vector<Json> for_each_joint(Parser& parser, const Json& root, const char* key, std::size_t joints) {
  if (!root.contains(key)) return {};
  std::vector<Json> list = parser.list(root, key, joints);
  if (!list.empty() && list.size() != joints)
    parser.mistake(fmt::format("/{}", key), "must have an entry for each joint");
  return list;
}

std::vector<JointLimits> parse_limits(Parser& parser, const Json& root, std::size_t joints) {
  std::vector<JointLimits> limits;
  for (const Json& value : for_each_joint(parser, root, "limits", joints)) {
    const std::string where = fmt::format("/limits/{}", limits.size());
    JointLimits& joint = limits.emplace_back();
    if (!value.is_object()) {
      parser.mistake(where, "must be an object");
      continue;
    }
    for (const auto& [name, bound] : limit_names) {
      const auto found = value.find(name);
      if (found == value.end()) continue;
      if (!found->is_number())
        parser.mistake(fmt::format("{}/{}", where, name), "must be a number");
      else
        joint.*bound = found->get<double>();
    }
  }
  return limits;
}

std::vector<double> parse_following_errors(Parser& parser, const Json& root, std::size_t joints) {
  std::vector<double> errors;
  for (const Json& value : for_each_joint(parser, root, "following_errors", joints)) {
    const bool unbounded = value.is_null();  // null means infinite
    if (!unbounded && !value.is_number()) parser.mistake("/following_errors", "must hold numbers");
    errors.push_back(value.is_number() ? value.get<double>() : std::numeric_limits<double>::infinity());
  }
  return errors;
}

std::vector<Group> parse_groups(Parser& parser, const Json& root, std::size_t joints) {
  std::vector<Group> groups;
  for (const Json& value : parser.list(root, "groups", 256)) {
    const std::string where = fmt::format("/groups/{}", groups.size());
    if (!value.is_object()) {
      parser.mistake(where, "must be an object");
      break;
    }
    Group group;
    group.name = parser.text(value.value("name", Json()), where + "/name");
    for (const Json& joint : parser.list(value, "joints", joints)) {
      if (!joint.is_number_unsigned() || joint.get<std::uint64_t>() >= joints) {
        parser.mistake(where + "/joints", "must hold indices of joints");
        break;
      }
      group.joints.push_back(joint.get<std::size_t>());
    }
    groups.push_back(std::move(group));
  }
  return groups;
}

std::map<std::uint16_t, std::string> parse_reasons(Parser& parser, const Json& root) {
  std::map<std::uint16_t, std::string> reasons;
  for (const Json& value : parser.list(root, "reasons", 4096)) {
    if (!value.is_array() || value.size() != 2 || !value[0].is_number_unsigned() ||
        value[0].get<std::uint64_t>() > 0xffff) {
      parser.mistake("/reasons", "must hold pairs of a code (0 to 65535) and a name");
      break;
    }
    reasons[value[0].get<std::uint16_t>()] = parser.text(value[1], "/reasons");
  }
  return reasons;
}

}  // namespace

std::string to_json(const Metadata& metadata) {
  Json groups = Json::array();
  for (const Group& group : metadata.groups)
    groups.push_back({{"name", group.name}, {"joints", group.joints}});
  Json reasons = Json::array();
  for (const auto& [code, name] : metadata.reasons) reasons.push_back(Json::array({code, name}));
  Json root{{"takt_version", metadata.takt_version},
            {"robot", metadata.robot},
            {"period_ns", metadata.period.count()},
            {"joints", metadata.joints},
            {"units", metadata.units},
            {"limits", limits_json(metadata.limits)},
            {"following_errors", metadata.following_errors},
            {"groups", std::move(groups)},
            {"buses", metadata.buses},
            {"robot_states", metadata.robot_states},
            {"goal_states", metadata.goal_states},
            {"reasons", std::move(reasons)}};
  if (metadata.epoch != Duration(0)) root["epoch_ns"] = metadata.epoch.count();
  if (!metadata.created.empty()) root["created"] = metadata.created;
  return root.dump(-1, ' ', false, Json::error_handler_t::replace);
}

SetupResult<Metadata> parse_metadata(std::string_view json) {
  if (json.size() > max_metadata_size) {
    return fail(Errc::metadata_too_long, fmt::format("{} bytes, at most {}", json.size(), max_metadata_size));
  }
  const Json root = Json::parse(json, nullptr, false);
  if (root.is_discarded() || !root.is_object()) return fail(Errc::bad_metadata, "not a JSON object");

  Parser parser;
  Metadata metadata;
  metadata.robot = parser.text(root.value("robot", Json("")), "/robot");
  metadata.takt_version = parser.text(root.value("takt_version", Json("")), "/takt_version");
  metadata.created = parser.text(root.value("created", Json("")), "/created");
  const Json period = root.value("period_ns", Json());
  if (period.is_number_unsigned() && period.get<std::uint64_t>() > 0 &&
      period.get<std::uint64_t>() <= static_cast<std::uint64_t>(time_bound.count())) {
    metadata.period = Duration(period.get<std::int64_t>());
  } else {
    parser.mistake("/period_ns", "must be a positive number of nanoseconds");
  }
  metadata.epoch = parse_epoch(parser, root);
  metadata.joints = parser.names(root, "joints", max_joints);
  metadata.units = parse_units(parser, root, metadata.joints.size());
  metadata.limits = parse_limits(parser, root, metadata.joints.size());
  metadata.following_errors = parse_following_errors(parser, root, metadata.joints.size());
  metadata.groups = parse_groups(parser, root, metadata.joints.size());
  metadata.buses = parser.names(root, "buses", max_buses);
  metadata.robot_states = parser.names(root, "robot_states", 256);
  metadata.goal_states = parser.names(root, "goal_states", 256);
  metadata.reasons = parse_reasons(parser, root);
  if (!parser.ok()) return fail(Errc::bad_metadata, parser.message());
  return metadata;
}

}  // namespace takt::record
