// Parses a client's line of the wire protocol, or a file with one.
#include <fmt/format.h>
#include <algorithm>
#include <array>

#include "json/strict.hpp"
#include "motion/wire_words.hpp"
#include "takt/motion/wire.hpp"

namespace takt::motion {
namespace {

using namespace wire;
using json::Object;
using json::Range;
using json::Value;

constexpr double longest_time = 1e6;    // s: eleven days; longer times are mistakes
constexpr double longest_timeout = 10;  // s
constexpr double latest_start = 1e9;    // s: thirty years
constexpr double highest_rate = 1000;   // Hz

constexpr std::array request_keys{"trajectory", "move",  "setpoint", "cancel", "speed",      "state",
                                  "subscribe",  "estop", "reset",    "mark",   "controllers"};

/// Parses the parts of messages and keeps the first error.
class Reader {
 public:
  json::Mistakes mistakes{1};

  [[nodiscard]] bool ok() const { return !refusal_ && mistakes.empty(); }

  /// The first error; only if !ok().
  [[nodiscard]] Rejection rejection() {
    if (refusal_) return std::move(*refusal_);
    const json::Mistake& mistake = mistakes.list().front();
    Rejection why;
    why.reason = mistake.kind == json::Kind::not_finite ? Errc::not_finite : Errc::malformed;
    why.message = at(mistake.where, mistake.reason);
    return why;
  }

  void refuse(Errc reason, const std::string& where, std::string_view text) {
    if (!ok()) return;
    refusal_.emplace();
    refusal_->reason = reason;
    refusal_->message = at(where, text);
  }

  /// A list of finite numbers. Empty if it is absent.
  std::vector<double> numbers(Object& object, std::string_view key) {
    const Value* value = object.find(key);
    if (value == nullptr) return {};
    return numbers(*value, object.at(key));
  }

  std::vector<double> required_numbers(Object& object, std::string_view key) {
    const Value* value = object.require(key);
    if (value == nullptr) return {};
    return numbers(*value, object.at(key));
  }

  /// One number, or a list of numbers, all above zero.
  std::vector<double> number_or_numbers(Object& object, std::string_view key) {
    const Value* value = object.find(key);
    if (value == nullptr) return {};
    const std::string where = object.at(key);
    std::vector<double> list;
    if (value->is_array())
      list = numbers(*value, where);
    else
      list.push_back(json::to_number(*value, where, mistakes).value_or(1));
    for (const double number : list) {
      if (!(number > 0)) mistakes.add(where, fmt::format("{} is not above zero", number));
    }
    return list;
  }

  JointSelection joints(Object& object) {
    JointSelection selection;
    const Value* names = object.find("joint_names");
    const Value* group = object.find("group");
    if ((names == nullptr) == (group == nullptr)) {
      mistakes.add(object.where(), "needs either joint_names or group");
      return selection;
    }
    if (group != nullptr) {
      selection.group = json::to_name(*group, object.at("group"), mistakes).value_or("");
      return selection;
    }
    const std::string where = object.at("joint_names");
    if (!names->is_array() || names->empty() || names->size() > max_joints) {
      mistakes.add(where, fmt::format("must be a list of 1 to {} names", max_joints));
      return selection;
    }
    for (std::size_t i = 0; i < names->size() && ok(); ++i) {
      auto name = json::to_name((*names)[i], json::child(where, i), mistakes);
      if (!name) break;
      if (std::find(selection.names.begin(), selection.names.end(), *name) != selection.names.end()) {
        refuse(Errc::duplicate_joint, json::child(where, i), fmt::format("{} is named twice", *name));
      }
      selection.names.push_back(std::move(*name));
    }
    return selection;
  }

  LimitsMessage limits(Object& parent) {
    LimitsMessage limits;
    const Value* value = parent.find("limits");
    if (value == nullptr) return limits;
    Object object(*value, parent.at("limits"), mistakes);
    limits.velocity = number_or_numbers(object, "velocity");
    limits.acceleration = number_or_numbers(object, "acceleration");
    limits.jerk = number_or_numbers(object, "jerk");
    object.finish();
    return limits;
  }

  TolerancesMessage tolerances(Object& parent) {
    TolerancesMessage tolerances;
    tolerances.path = tolerances_of_joints(parent, "path_tolerance");
    tolerances.goal = tolerances_of_joints(parent, "goal_tolerance");
    if (const Value* time = parent.find("goal_time_tolerance")) {
      tolerances.goal_time = seconds(*time, parent.at("goal_time_tolerance"), -longest_time);
    }
    return tolerances;
  }

  /// A time in seconds, or as the two integers of ROS 2 or ROS 1. Only the first of these can be negative.
  double seconds(const Value& value, const std::string& where, double least) {
    if (!value.is_object()) {
      return json::to_number(value, where, mistakes, Range::between(least, longest_time)).value_or(0);
    }
    Object time(value, where, mistakes);
    const bool ros2 = time.has("sec");
    const std::string_view whole = ros2 ? "sec" : "secs";
    const std::string_view rest = ros2 ? "nanosec" : "nsecs";
    const Value* s = time.require(whole);
    const Value* ns = time.require(rest);
    time.finish();
    if (s == nullptr || ns == nullptr) return 0;
    if (!s->is_number_integer()) mistakes.add(time.at(whole), "must be a whole number");
    const auto count = json::to_number(*s, time.at(whole), mistakes, Range::between(least, longest_time));
    const auto fraction = json::to_integer(*ns, time.at(rest), mistakes, 0, 999'999'999);
    // One rounding of a quotient of exact numbers: 0.1 s is the same number in each form.
    return count && fraction ? (*count * 1e9 + static_cast<double>(*fraction)) / 1e9 : 0;
  }

  PointMessage point(const Value& value, const std::string& where, bool timed) {
    Object object(value, where, mistakes);
    PointMessage point;
    const Value* time = timed ? object.require("time_from_start") : object.find("time_from_start");
    if (timed && time != nullptr)
      point.time = seconds(*time, object.at("time_from_start"), 0);
    else if (time != nullptr)
      mistakes.add(object.at("time_from_start"), "is given here, but not at the first point");
    point.positions = required_numbers(object, "positions");
    point.velocities = numbers(object, "velocities");
    point.accelerations = numbers(object, "accelerations");
    without(object, "effort", "efforts are not supported");
    object.finish();
    check_columns(point, where);
    return point;
  }

  /// With `documentary`, other keys are notes for people and are skipped.
  TrajectoryMessage trajectory(Object& object, std::size_t max_waypoints, bool documentary) {
    TrajectoryMessage message;
    Through through{};
    if (object.word<Through>("through", through, through_words)) message.through = through;
    object.boolean("fit", message.fit);
    object.word<AtEnd>("at_end", message.at_end, at_end_words);
    object.word<OnDisconnect>("on_disconnect", message.on_disconnect, on_disconnect_words);
    object.word<WhenBusy>("when_busy", message.when_busy, when_busy_words);
    read_start(object, message);
    message.limits = limits(object);
    message.tolerances = tolerances(object);
    waypoints(object, max_waypoints, message);
    if (!documentary) object.finish();
    return message;
  }

  /// Joints and points of a JointTrajectory, or of a message around one.
  void waypoints(Object& object, std::size_t max_waypoints, TrajectoryMessage& message) {
    object.ignore("header");
    for (const std::string_view wrapped : {"joint_trajectory", "trajectory"}) {
      const Value* inner = object.find(wrapped);
      if (inner == nullptr) continue;
      for (const std::string_view other : {"multi_dof_joint_trajectory", "multi_dof_trajectory",
                                           "component_path_tolerance", "component_goal_tolerance"})
        without(object, other, "joints with several axes are not supported");
      std::string where = object.at(wrapped);
      if (inner->is_array() && inner->size() == 1) {
        where = json::child(where, std::size_t{0});
        inner = &inner->front();
      }
      Object nested(*inner, std::move(where), mistakes);
      waypoints(nested, max_waypoints, message);
      nested.finish();
      return;
    }
    message.joints = joints(object);
    const Value* points = object.require("points");
    if (points == nullptr || !ok()) return;
    const std::string where = object.at("points");
    if (!points->is_array())
      mistakes.add(where, "must be a list");
    else if (points->empty())
      refuse(Errc::no_waypoints, where, describe(Errc::no_waypoints));
    else if (points->size() > max_waypoints) {
      refuse(Errc::too_many_waypoints, where,
             fmt::format("has {} waypoints, at most {} are allowed", points->size(), max_waypoints));
    } else
      read_points(*points, where, message);
  }

  void read_start(Object& object, TrajectoryMessage& message) {
    double start = 0;
    object.number("start", start, Range::between(0, latest_start));
    if (start == 0) return;
    message.start = start;
    if (message.when_busy == WhenBusy::queue)
      mistakes.add(object.at("start"), "is not allowed with \"when_busy\":\"queue\"");
  }

  MoveMessage move(Object& object) {
    MoveMessage message;
    message.joints = joints(object);
    message.positions = required_numbers(object, "positions");
    if (object.has("duration")) {
      double duration = 1;
      object.number("duration", duration, Range::positive(longest_time));
      message.duration = duration;
    }
    if (object.word<Synchronisation>("synchronise", message.synchronisation, synchronise_words) &&
        message.duration) {
      mistakes.add(object.at("synchronise"), "is allowed only in a move without a duration");
    }
    object.boolean("fit", message.fit);
    object.word<OnDisconnect>("on_disconnect", message.on_disconnect, on_disconnect_words);
    object.word<WhenBusy>("when_busy", message.when_busy, when_busy_words);
    message.limits = limits(object);
    message.tolerances = tolerances(object);
    object.finish();
    return message;
  }

  SetpointMessage setpoint(Object& object) {
    SetpointMessage message;
    message.joints = joints(object);
    message.positions = required_numbers(object, "positions");
    message.velocities = numbers(object, "velocities");
    object.number("timeout", message.timeout, Range::positive(longest_timeout));
    object.finish();
    return message;
  }

  CancelMessage cancel(Object& object) {
    CancelMessage message;
    message.goal = goal(object, 1);
    object.word<StopAt>("stop", message.stop, stop_words);
    object.finish();
    return message;
  }

  SpeedMessage speed(Object& object) {
    SpeedMessage message;
    message.goal = goal(object, 0);
    object.required_number("scale", message.scale, Range::between(0, 1));
    object.finish();
    return message;
  }

  GoalId goal(Object& object, GoalId least) {
    const Value* value = object.find("goal");
    if (value == nullptr) return 0;
    return json::to_integer(*value, object.at("goal"), mistakes, least, largest_exact).value_or(0);
  }

  SubscribeMessage subscribe(Object& object) {
    SubscribeMessage message;
    object.required_number("rate", message.rate, Range::between(0, highest_rate));
    object.finish();
    return message;
  }

  MarkMessage mark(Object& object) {
    MarkMessage message;
    object.required_name("text", message.text);
    object.finish();
    return message;
  }

  EmergencyStopMessage emergency_stop(Object& object) {
    EmergencyStopMessage message;
    if (const Value* category = object.find("category")) {
      const auto number = json::to_integer(*category, object.at("category"), mistakes, 0, 2);
      message.category = static_cast<StopCategory>(number.value_or(1));
    }
    object.finish();
    return message;
  }

  ResetMessage reset(Object& object) {
    ResetMessage message;
    object.boolean("accept_positions", message.accept_positions);
    object.finish();
    return message;
  }

  /// What the manager is asked is not the server's matter.
  ControllersMessage controllers(const Object& object) {
    const Value* request = object.value();
    if (request == nullptr) return {};
    if (request->size() != 1) mistakes.add(object.where(), "must hold one request, such as {\"list\":{}}");
    return {request->dump()};
  }

  /// A request without content.
  template <class Message>
  Message empty(Object& object) {
    object.finish();
    return {};
  }

 private:
  static std::string at(const std::string& where, std::string_view text) {
    return where.empty() ? std::string(text) : fmt::format("{}: {}", where, text);
  }

  std::vector<double> numbers(const Value& value, const std::string& where) {
    std::vector<double> list;
    if (!value.is_array()) {
      mistakes.add(where, "must be a list of numbers");
    } else if (value.size() > max_joints) {
      refuse(Errc::wrong_size, where,
             fmt::format("has {} entries, a robot has at most {} joints", value.size(), max_joints));
    } else {
      list.reserve(value.size());
      for (const Value& entry : value) {
        // Format the place only after an error, because this runs for every number of a trajectory.
        if (entry.is_number_float())
          list.push_back(entry.get<double>());
        else
          list.push_back(json::to_number(entry, json::child(where, list.size()), mistakes).value_or(0));
      }
    }
    return list;
  }

  /// A ROS key for a feature that takt does not have must be empty.
  void without(Object& object, std::string_view key, std::string_view because) {
    const Value* value = object.find(key);
    if (value == nullptr) return;
    const Value& list = value->is_object() && value->contains("points") ? value->at("points") : *value;
    if (list.empty() && !list.is_null()) return;
    mistakes.add(object.at(key), fmt::format("must be empty: {}", because));
  }

  std::vector<ToleranceMessage> tolerances_of_joints(Object& parent, std::string_view key) {
    std::vector<ToleranceMessage> list;
    const Value* value = parent.find(key);
    if (value == nullptr) return list;
    const std::string where = parent.at(key);
    if (!value->is_array() || value->size() > max_joints) {
      mistakes.add(where, fmt::format("must be a list of at most {} tolerances", max_joints));
      return list;
    }
    for (const Value& entry : *value) {
      Object object(entry, json::child(where, list.size()), mistakes);
      ToleranceMessage& tolerance = list.emplace_back();
      object.required_name("name", tolerance.name);
      object.number("position", tolerance.position, Range::any());
      object.number("velocity", tolerance.velocity, Range::any());
      object.number("acceleration", tolerance.acceleration, Range::any());
      object.finish();
      if (tolerance.acceleration > 0)
        mistakes.add(object.at("acceleration"), "must not be above 0: accelerations are not measured");
      const auto same = [&](const ToleranceMessage& other) { return other.name == tolerance.name; };
      if (std::any_of(list.begin(), list.end() - 1, same)) {
        refuse(Errc::duplicate_joint, object.at("name"), fmt::format("{} is named twice", tolerance.name));
      }
    }
    return list;
  }

  void check_columns(const PointMessage& point, const std::string& where) {
    const auto same = [&](const std::vector<double>& column, std::string_view name) {
      if (column.empty() || column.size() == point.positions.size()) return;
      refuse(Errc::wrong_size, json::child(where, name),
             fmt::format("has {} entries, positions has {}", column.size(), point.positions.size()));
    };
    same(point.velocities, "velocities");
    same(point.accelerations, "accelerations");
  }

  void read_points(const Value& list, const std::string& where, TrajectoryMessage& message) {
    message.points.reserve(list.size());
    message.timed = list.front().is_object() ? list.front().contains("time_from_start") : true;
    for (std::size_t i = 0; i < list.size() && ok(); ++i) {
      const std::string here = json::child(where, i);
      message.points.push_back(point(list[i], here, message.timed));
      const PointMessage& first = message.points.front();
      const PointMessage& latest = message.points.back();
      if (latest.positions.size() != first.positions.size() ||
          latest.velocities.size() != first.velocities.size() ||
          latest.accelerations.size() != first.accelerations.size()) {
        refuse(Errc::wrong_size, here,
               "does not have the same lists, of the same lengths, as the first point");
      }
      if (latest.velocities.empty() && !latest.accelerations.empty()) {
        mistakes.add(here, "has accelerations but no velocities");
      }
      if (!message.timed && !latest.velocities.empty())
        mistakes.add(here, "has velocities but no time_from_start");
      if (message.timed && i > 0 && !(latest.time > message.points[i - 1].time) && ok()) {
        refuse(Errc::times_not_increasing, here,
               fmt::format("time_from_start {} s is not above the {} s of the point before", latest.time,
                           message.points[i - 1].time));
        refusal_->time = latest.time;
      }
    }
    if (ok() && message.timed && message.points.size() == 1 && message.points.front().time == 0) {
      refuse(Errc::times_not_increasing, json::child(where, std::size_t{0}),
             "the only point is at time 0, so there is no time to move");
    }
  }

  std::optional<Rejection> refusal_;
};

tl::unexpected<ParseFailure> not_json(json::Mistake&& mistake) {
  ParseFailure failure;
  failure.why.reason = mistake.kind == json::Kind::not_finite ? Errc::not_finite : Errc::malformed;
  failure.why.message =
      mistake.where.empty() ? std::move(mistake.reason) : mistake.where + ": " + mistake.reason;
  return tl::unexpected<ParseFailure>(std::move(failure));
}

/// The one request key of a message. Without exactly one, refuses the message and returns nothing.
std::optional<std::string_view> request_key(const Value& document, Reader& reader) {
  std::optional<std::string_view> found;
  for (const auto& [key, unused] : document.get_ref<const Value::object_t&>()) {
    if (key == "id") continue;
    if (std::find(request_keys.begin(), request_keys.end(), key) == request_keys.end()) {
      reader.refuse(Errc::unknown_request, json::child("", key), describe(Errc::unknown_request));
      return std::nullopt;
    }
    if (found) {
      reader.refuse(Errc::malformed, json::child("", key),
                    "a message must hold one request, and this is a second one");
      return std::nullopt;
    }
    found = key;
  }
  if (!found) reader.refuse(Errc::unknown_request, "", "the message names no request");
  return found;
}

bool contains(const Value& document, std::string_view key) {
  return document.is_object() && document.contains(std::string(key));
}

/// Whether a document is a trajectory alone, as takt or ROS writes one. A protocol message has one request,
/// perhaps an id, and nothing else.
bool is_trajectory(const Value& document) {
  if (contains(document, "points") || contains(document, "joint_trajectory")) return true;
  if (!contains(document, "trajectory")) return false;
  const auto& members = document.get_ref<const Value::object_t&>();
  return document.at("trajectory").is_array() ||
         std::any_of(members.begin(), members.end(), [](const auto& member) {
           return member.first != "id" &&
                  std::find(request_keys.begin(), request_keys.end(), member.first) == request_keys.end();
         });
}

/// The trajectory inside a message of rosbridge or of an action, or nothing.
const Value* find_trajectory(const Value& document, std::string& where) {
  const Value* value = &document;
  while (!is_trajectory(*value)) {
    const Value* inner = nullptr;
    for (const char* wrapping : {"msg", "args", "goal"}) {
      if (inner != nullptr || !contains(*value, wrapping)) continue;
      inner = &value->at(wrapping);
      where = json::child(where, wrapping);
    }
    if (inner == nullptr) return nullptr;
    value = inner;
  }
  return value;
}

tl::expected<ClientMessage, ParseFailure> read_client_message(const Value& document,
                                                              std::size_t max_waypoints) {
  ParseFailure failure;
  if (!document.is_object()) {
    failure.why.reason = Errc::malformed;
    failure.why.message = "a message must be a JSON object";
    return tl::unexpected<ParseFailure>(std::move(failure));
  }
  failure.is_object = true;
  ClientMessage message;
  Reader reader;
  if (const auto id = document.find("id"); id != document.end()) {
    if (auto text = id_text(*id))
      message.id = std::move(*text);
    else
      reader.mistakes.add("/id", "must be a number or a string of at most 120 bytes");
  }
  if (const auto key = request_key(document, reader)) {
    Object object(document.at(std::string(*key)), json::child("", *key), reader.mistakes);
    if (*key == "trajectory")
      message.body = reader.trajectory(object, max_waypoints, false);
    else if (*key == "move")
      message.body = reader.move(object);
    else if (*key == "setpoint")
      message.body = reader.setpoint(object);
    else if (*key == "cancel")
      message.body = reader.cancel(object);
    else if (*key == "speed")
      message.body = reader.speed(object);
    else if (*key == "state")
      message.body = reader.empty<StateMessage>(object);
    else if (*key == "subscribe")
      message.body = reader.subscribe(object);
    else if (*key == "estop")
      message.body = reader.emergency_stop(object);
    else if (*key == "reset")
      message.body = reader.reset(object);
    else if (*key == "mark")
      message.body = reader.mark(object);
    else
      message.body = reader.controllers(object);
  }
  if (reader.ok()) return message;
  failure.id = std::move(message.id);
  failure.why = reader.rejection();
  return tl::unexpected<ParseFailure>(std::move(failure));
}

}  // namespace

tl::expected<ClientMessage, ParseFailure> parse_client_message(std::string_view line,
                                                               std::size_t max_waypoints) {
  auto document = json::parse(line);
  if (!document) return not_json(std::move(document).error());
  return read_client_message(*document, max_waypoints);
}

tl::expected<ClientMessage, ParseFailure> parse_motion_file(std::string_view text,
                                                            std::size_t max_waypoints) {
  auto document = json::parse(text);
  if (!document) {
    const std::size_t line = document.error().line;
    auto failure = not_json(std::move(document).error());
    if (line != 0)
      failure.value().why.message = fmt::format("line {}: {}", line, failure.value().why.message);
    return failure;
  }
  std::string where;
  const Value* trajectory = find_trajectory(*document, where);
  if (trajectory == nullptr) return read_client_message(*document, max_waypoints);
  Reader reader;
  Object object(*trajectory, where, reader.mistakes);
  ClientMessage message;
  message.body = reader.trajectory(object, max_waypoints, true);
  if (reader.ok()) return message;
  return tl::unexpected<ParseFailure>(ParseFailure{true, "", reader.rejection()});
}

}  // namespace takt::motion
