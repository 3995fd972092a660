#include "takt/motion/wire.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cmath>

#include "json/strict.hpp"
#include "takt/version.hpp"

namespace takt::motion {
namespace {

using json::Object;
using json::Range;
using json::Value;
using Out = nlohmann::ordered_json;
using trajectory::Through;

constexpr double longest_time = 1e6;                        // s: eleven days; times beyond are mistakes
constexpr double longest_timeout = 10;                      // s
constexpr double highest_rate = 1000;                       // Hz
constexpr std::uint64_t max_goal = std::uint64_t{1} << 53;  // exact in every JSON reader

template <class Enum, std::size_t N>
using Words = std::array<std::pair<std::string_view, Enum>, N>;

constexpr Words<Through, 3> through_words{
    {{"stop", Through::stop}, {"given", Through::given}, {"smooth", Through::smooth}}};
constexpr Words<AtEnd, 2> at_end_words{{{"rest", AtEnd::rest}, {"stop", AtEnd::stop}}};
constexpr Words<OnDisconnect, 2> on_disconnect_words{
    {{"stop", OnDisconnect::stop}, {"continue", OnDisconnect::proceed}}};
constexpr Words<GoalState, 8> goal_state_words{{{state_name(GoalState::pending), GoalState::pending},
                                                {state_name(GoalState::active), GoalState::active},
                                                {state_name(GoalState::preempting), GoalState::preempting},
                                                {state_name(GoalState::succeeded), GoalState::succeeded},
                                                {state_name(GoalState::aborted), GoalState::aborted},
                                                {state_name(GoalState::rejected), GoalState::rejected},
                                                {state_name(GoalState::preempted), GoalState::preempted},
                                                {state_name(GoalState::recalled), GoalState::recalled}}};
constexpr Words<RobotState, 5> robot_state_words{{{state_name(RobotState::starting), RobotState::starting},
                                                  {state_name(RobotState::ready), RobotState::ready},
                                                  {state_name(RobotState::stopping), RobotState::stopping},
                                                  {state_name(RobotState::stopped), RobotState::stopped},
                                                  {state_name(RobotState::down), RobotState::down}}};

template <class Enum, std::size_t N>
std::string_view word_of(Enum meaning, const Words<Enum, N>& words) {
  const auto found =
      std::find_if(words.begin(), words.end(), [&](const auto& word) { return word.second == meaning; });
  return found == words.end() ? std::string_view("unknown") : found->first;
}

constexpr std::array request_keys{"trajectory", "move",  "setpoint", "cancel", "state",
                                  "subscribe",  "estop", "reset",    "mark"};

/// The JSON text of an id, or nothing if it is not a string or a number.
std::optional<std::string> id_text(const Value& value) {
  constexpr std::size_t longest = 128;
  if (!value.is_string() && !value.is_number()) return std::nullopt;
  std::string text = value.dump();
  if (text.size() > longest) return std::nullopt;
  return text;
}

/// Reads the parts of messages and keeps the first thing that is wrong.
class Reader {
 public:
  json::Mistakes mistakes{1};

  [[nodiscard]] bool ok() const { return !refusal_ && mistakes.empty(); }

  /// The first thing that was wrong; only if !ok().
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

  /// A list of finite numbers; an absent or empty one is empty.
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
      mistakes.add(object.where(), "needs joint_names or group, one of them");
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

  /// time_from_start: seconds, or the two integers of ROS 2 or of ROS 1.
  double time_from_start(Object& point) {
    const Value* value = point.require("time_from_start");
    if (value == nullptr) return 0;
    const std::string where = point.at("time_from_start");
    if (!value->is_object()) {
      return json::to_number(*value, where, mistakes, Range::between(0, longest_time)).value_or(0);
    }
    Object time(*value, where, mistakes);
    const bool ros2 = time.has("sec");
    const std::string_view whole = ros2 ? "sec" : "secs";
    const std::string_view rest = ros2 ? "nanosec" : "nsecs";
    const Value* seconds = time.require(whole);
    const Value* nanoseconds = time.require(rest);
    time.finish();
    if (seconds == nullptr || nanoseconds == nullptr) return 0;
    const auto s =
        json::to_integer(*seconds, time.at(whole), mistakes, 0, static_cast<std::uint64_t>(longest_time));
    const auto ns = json::to_integer(*nanoseconds, time.at(rest), mistakes, 0, 999'999'999);
    return s && ns ? static_cast<double>(*s) + static_cast<double>(*ns) * 1e-9 : 0;
  }

  PointMessage point(const Value& value, const std::string& where) {
    Object object(value, where, mistakes);
    PointMessage point;
    point.time = time_from_start(object);
    point.positions = required_numbers(object, "positions");
    point.velocities = numbers(object, "velocities");
    point.accelerations = numbers(object, "accelerations");
    if (const Value* effort = object.find("effort");
        effort != nullptr && !(effort->is_array() && effort->empty())) {
      mistakes.add(object.at("effort"), "must be empty: efforts are not followed");
    }
    object.finish();
    check_columns(point, where);
    return point;
  }

  /// `documentary`: other keys are notes for people and are skipped.
  TrajectoryMessage trajectory(Object& object, std::size_t max_waypoints, bool documentary) {
    TrajectoryMessage message;
    object.ignore("header");
    message.joints = joints(object);
    Through through{};
    if (object.word<Through>("through", through, through_words)) message.through = through;
    object.boolean("fit", message.fit);
    object.word<AtEnd>("at_end", message.at_end, at_end_words);
    object.word<OnDisconnect>("on_disconnect", message.on_disconnect, on_disconnect_words);
    message.limits = limits(object);
    const Value* points = object.require("points");
    if (!documentary) object.finish();
    if (points == nullptr || !ok()) return message;
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
    return message;
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
    object.boolean("fit", message.fit);
    object.word<OnDisconnect>("on_disconnect", message.on_disconnect, on_disconnect_words);
    message.limits = limits(object);
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
    if (const Value* goal = object.find("goal")) {
      message.goal = json::to_integer(*goal, object.at("goal"), mistakes, 1, max_goal).value_or(0);
    }
    object.finish();
    return message;
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

  /// A request that has nothing to say but its name.
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
        // The place is spelt out only where something is wrong: this runs for every number of a trajectory.
        if (entry.is_number_float())
          list.push_back(entry.get<double>());
        else
          list.push_back(json::to_number(entry, json::child(where, list.size()), mistakes).value_or(0));
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
    for (std::size_t i = 0; i < list.size() && ok(); ++i) {
      const std::string here = json::child(where, i);
      message.points.push_back(point(list[i], here));
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
      if (i > 0 && !(latest.time > message.points[i - 1].time) && ok()) {
        refuse(Errc::times_not_increasing, here,
               fmt::format("time_from_start {} s is not above the {} s of the point before", latest.time,
                           message.points[i - 1].time));
        refusal_->time = latest.time;
      }
    }
    if (ok() && message.points.size() == 1 && message.points.front().time == 0) {
      refuse(Errc::times_not_increasing, json::child(where, std::size_t{0}),
             "the only point is at time 0: there is no time to move in");
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

/// The one request key of a message, or nothing and a refusal.
std::optional<std::string_view> request_key(const Value& document, Reader& reader) {
  std::optional<std::string_view> found;
  for (const auto& [key, unused] : document.get_ref<const Value::object_t&>()) {
    if (key == "id") continue;
    if (std::find(request_keys.begin(), request_keys.end(), key) == request_keys.end()) {
      reader.refuse(Errc::unknown_request, json::child("", key), describe(Errc::unknown_request));
      return std::nullopt;
    }
    if (found) {
      reader.refuse(Errc::malformed, json::child("", key), "a second request in one message");
      return std::nullopt;
    }
    found = key;
  }
  if (!found) reader.refuse(Errc::unknown_request, "", "the message names no request");
  return found;
}

tl::expected<ClientMessage, ParseFailure> read_client_message(const Value& document,
                                                              std::size_t max_waypoints) {
  ParseFailure failure;
  if (!document.is_object()) {
    failure.why.reason = Errc::malformed;
    failure.why.message = "a message is an object";
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
    else if (*key == "state")
      message.body = reader.empty<StateMessage>(object);
    else if (*key == "subscribe")
      message.body = reader.subscribe(object);
    else if (*key == "estop")
      message.body = reader.emergency_stop(object);
    else if (*key == "reset")
      message.body = reader.empty<ResetMessage>(object);
    else
      message.body = reader.mark(object);
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
  if (!document->is_object() || !document->contains("points"))
    return read_client_message(*document, max_waypoints);
  Reader reader;
  Object object(*document, "", reader.mistakes);
  ClientMessage message;
  message.body = reader.trajectory(object, max_waypoints, true);
  if (reader.ok()) return message;
  return tl::unexpected<ParseFailure>(ParseFailure{true, "", reader.rejection()});
}

std::optional<Errc> reason_from_name(std::string_view name) noexcept {
#define TAKT_MATCH(code, number, text) \
  if (name == #code) return Errc::code;
  TAKT_MOTION_ERRORS(TAKT_MATCH)
#undef TAKT_MATCH
  return std::nullopt;
}

bool is_about_a_joint(Errc reason) noexcept {
  switch (reason) {
    case Errc::position_limit:
    case Errc::velocity_limit:
    case Errc::acceleration_limit:
    case Errc::jerk_limit:
    case Errc::joint_already_moving:
    case Errc::following_error:
    case Errc::drive_silent:
    case Errc::drive_fault:
    case Errc::goal_tolerance:
      return true;
    default:
      return false;
  }
}

// ---- writing ----

namespace {

std::string finish(const Out& document) {
  std::string line = document.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  line += '\n';
  return line;
}

void put_id(Out& out, const std::string& id) {
  if (!id.empty()) out["id"] = Out::parse(id, nullptr, false);
}

void put_joints(Out& out, const JointSelection& joints) {
  if (joints.group.empty())
    out["joint_names"] = joints.names;
  else
    out["group"] = joints.group;
}

void put_limits(Out& out, const LimitsMessage& limits) {
  if (limits == LimitsMessage{}) return;
  Out& object = out["limits"] = Out::object();
  const auto put = [&](const char* key, const std::vector<double>& values) {
    if (values.size() == 1)
      object[key] = values.front();
    else if (!values.empty())
      object[key] = values;
  };
  put("velocity", limits.velocity);
  put("acceleration", limits.acceleration);
  put("jerk", limits.jerk);
}

void put_options(Out& out, bool fit, OnDisconnect on_disconnect, const LimitsMessage& limits) {
  if (fit) out["fit"] = true;
  if (on_disconnect != OnDisconnect::stop) out["on_disconnect"] = word_of(on_disconnect, on_disconnect_words);
  put_limits(out, limits);
}

std::pair<const char*, Out> to_json(const TrajectoryMessage& message) {
  Out out = Out::object();
  put_joints(out, message.joints);
  Out& points = out["points"] = Out::array();
  for (const PointMessage& point : message.points) {
    Out& entry = points.emplace_back(Out::object());
    entry["time_from_start"] = point.time;
    entry["positions"] = point.positions;
    if (!point.velocities.empty()) entry["velocities"] = point.velocities;
    if (!point.accelerations.empty()) entry["accelerations"] = point.accelerations;
  }
  if (message.through) out["through"] = word_of(*message.through, through_words);
  if (message.at_end != AtEnd::rest) out["at_end"] = word_of(message.at_end, at_end_words);
  put_options(out, message.fit, message.on_disconnect, message.limits);
  return {"trajectory", std::move(out)};
}

std::pair<const char*, Out> to_json(const MoveMessage& message) {
  Out out = Out::object();
  put_joints(out, message.joints);
  out["positions"] = message.positions;
  if (message.duration) out["duration"] = *message.duration;
  put_options(out, message.fit, message.on_disconnect, message.limits);
  return {"move", std::move(out)};
}

std::pair<const char*, Out> to_json(const SetpointMessage& message) {
  Out out = Out::object();
  put_joints(out, message.joints);
  out["positions"] = message.positions;
  if (!message.velocities.empty()) out["velocities"] = message.velocities;
  out["timeout"] = message.timeout;
  return {"setpoint", std::move(out)};
}

std::pair<const char*, Out> to_json(const CancelMessage& message) {
  Out out = Out::object();
  if (message.goal != 0) out["goal"] = message.goal;
  return {"cancel", std::move(out)};
}

std::pair<const char*, Out> to_json(const StateMessage&) { return {"state", Out::object()}; }

std::pair<const char*, Out> to_json(const SubscribeMessage& message) {
  return {"subscribe", Out{{"rate", message.rate}}};
}

std::pair<const char*, Out> to_json(const EmergencyStopMessage& message) {
  return {"estop", Out{{"category", static_cast<int>(message.category)}}};
}

std::pair<const char*, Out> to_json(const ResetMessage&) { return {"reset", Out::object()}; }

std::pair<const char*, Out> to_json(const MarkMessage& message) {
  return {"mark", Out{{"text", message.text}}};
}

void put_why(Out& out, const Rejection& why) {
  if (why.reason == Errc{}) return;
  out["reason"] = reason_name(why.reason);
  out["message"] = why.message;
  if (!why.joint.empty()) out["joint"] = why.joint;
  if (why.time) out["time"] = *why.time;
  if (why.value) out["value"] = *why.value;
  if (why.limit) out["limit"] = *why.limit;
}

std::pair<const char*, Out> to_json(const GreetingReply& reply) {
  Out out = Out::object();
  out["version"] = reply.version;
  out["protocol"] = reply.protocol;
  out["robot"] = reply.robot;
  out["period"] = reply.period;
  out["joints"] = reply.joint_names;
  Out& groups = out["groups"] = Out::object();
  for (const auto& [name, joints] : reply.groups) groups[name] = joints;
  return {"takt", std::move(out)};
}

std::pair<const char*, Out> to_json(const AcceptedReply& reply) {
  Out out = Out::object();
  put_id(out, reply.id);
  if (reply.goal != 0) out["goal"] = reply.goal;
  if (reply.duration) out["duration"] = *reply.duration;
  if (!reply.joint_names.empty()) out["joint_names"] = reply.joint_names;
  if (reply.latency) {
    out["latency_us"] = Out{{"handover_to_reference", reply.latency->handover_to_reference},
                            {"receive_to_reference", reply.latency->receive_to_reference}};
  }
  return {"accepted", std::move(out)};
}

std::pair<const char*, Out> to_json(const RejectedReply& reply) {
  Out out = Out::object();
  put_id(out, reply.id);
  put_why(out, reply.why);
  return {"rejected", std::move(out)};
}

std::pair<const char*, Out> to_json(const FeedbackReply& reply) {
  Out out = Out::object();
  out["goal"] = reply.goal;
  out["time"] = reply.time;
  out["duration"] = reply.duration;
  out["fraction"] = reply.fraction;
  out["reference"] = reply.reference;
  out["measured"] = reply.measured;
  return {"feedback", std::move(out)};
}

std::pair<const char*, Out> to_json(const ResultReply& reply) {
  Out out = Out::object();
  put_id(out, reply.id);
  out["goal"] = reply.goal;
  out["state"] = state_name(reply.state);
  put_why(out, reply.why);
  return {"result", std::move(out)};
}

std::pair<const char*, Out> to_json(const StateReply& reply) {
  Out out = Out::object();
  put_id(out, reply.id);
  out["time"] = reply.time;
  out["robot"] = state_name(reply.robot);
  if (reply.reason != Errc{}) out["reason"] = reason_name(reply.reason);
  if (!reply.joint.empty()) out["joint"] = reply.joint;
  out["active_goals"] = reply.active_goals;
  out["loop"] = Out{{"cycles", reply.cycles},
                    {"overruns", reply.overruns},
                    {"lateness_us", reply.lateness_us},
                    {"busy_us", reply.busy_us}};
  out["bus"] = Out{{"sent", reply.bus.frames_sent},
                   {"received", reply.bus.frames_received},
                   {"refused", reply.bus.frames_refused},
                   {"malformed", reply.bus.frames_malformed},
                   {"unexpected", reply.bus.frames_unexpected}};
  out["joint_names"] = reply.joint_names;
  out["command"] = reply.command;
  out["reference"] = reply.reference;
  out["reference_velocity"] = reply.reference_velocity;
  out["measured"] = reply.measured;
  out["measured_velocity"] = reply.measured_velocity;
  out["goal"] = reply.goal;
  out["drive"] = reply.drive;
  return {"state", std::move(out)};
}

std::pair<const char*, Out> to_json(const ErrorReply& reply) {
  Out out = Out::object();
  put_why(out, reply.why);
  return {"error", std::move(out)};
}

}  // namespace

std::string to_line(const ClientMessage& message) {
  Out document = Out::object();
  put_id(document, message.id);
  auto [key, body] = std::visit([](const auto& request) { return to_json(request); }, message.body);
  document[key] = std::move(body);
  return finish(document);
}

std::string to_line(const ServerMessage& message) {
  Out document = Out::object();
  auto [key, body] = std::visit([](const auto& reply) { return to_json(reply); }, message);
  document[key] = std::move(body);
  return finish(document);
}

// ---- replies ----

GreetingReply greeting(const robot::RobotDescription& robot) {
  GreetingReply reply;
  reply.version = TAKT_VERSION;
  reply.robot = robot.name;
  reply.period = to_seconds(robot.period);
  for (const auto& joint : robot.joints) reply.joint_names.push_back(joint.name);
  for (const auto& group : robot.groups) {
    std::vector<std::string> names;
    for (const std::size_t joint : group.joints) names.push_back(robot.joints[joint].name);
    reply.groups.emplace_back(group.name, std::move(names));
  }
  return reply;
}

namespace {

std::string_view drive_name(robot::DriveState state) {
  switch (state) {
    case robot::DriveState::unknown:
      return "unknown";
    case robot::DriveState::off:
      return "off";
    case robot::DriveState::ready:
      return "ready";
    case robot::DriveState::fault:
      return "fault";
  }
  return "unknown";
}

}  // namespace

StateReply state_reply(const Snapshot& snapshot, const robot::RobotDescription& robot) {
  StateReply reply;
  reply.time = to_seconds(snapshot.time.time_since_epoch());
  reply.robot = snapshot.state;
  reply.reason = snapshot.reason;
  if (is_about_a_joint(snapshot.reason) && snapshot.reason_joint < robot.joints.size()) {
    reply.joint = robot.joints[snapshot.reason_joint].name;
  }
  reply.active_goals = snapshot.active_goals;
  reply.cycles = snapshot.loop.cycles;
  reply.overruns = snapshot.loop.overruns;
  reply.lateness_us = to_seconds(snapshot.loop.lateness) * 1e6;
  reply.busy_us = to_seconds(snapshot.loop.busy) * 1e6;
  reply.bus = snapshot.hardware;
  for (std::size_t i = 0; i < robot.joints.size() && i < max_joints; ++i) {
    const JointSnapshot& joint = snapshot.joints[i];
    reply.joint_names.push_back(robot.joints[i].name);
    reply.command.push_back(joint.command);
    reply.reference.push_back(joint.reference.position);
    reply.reference_velocity.push_back(joint.reference.velocity);
    reply.measured.push_back(joint.measured_position);
    reply.measured_velocity.push_back(joint.measured_velocity);
    reply.goal.push_back(joint.goal);
    reply.drive.emplace_back(drive_name(joint.drive));
  }
  return reply;
}

namespace {

/// Reads replies. Keys that are not known are skipped, so no finish() here.
class ReplyReader {
 public:
  explicit ReplyReader(json::Mistakes& mistakes) : mistakes_(&mistakes) {}

  std::string id(Object& object) {
    const Value* value = object.find("id");
    if (value == nullptr) return {};
    auto text = id_text(*value);
    if (!text) mistakes_->add(object.at("id"), "must be a string or a number");
    return std::move(text).value_or("");
  }

  std::uint64_t count(Object& object, std::string_view key) {
    const Value* value = object.find(key);
    if (value == nullptr) return 0;
    return json::to_integer(*value, object.at(key), *mistakes_, 0, std::numeric_limits<std::uint64_t>::max())
        .value_or(0);
  }

  double number(Object& object, std::string_view key) {
    double value = 0;
    object.number(key, value, Range::any());
    return value;
  }

  std::optional<double> optional_number(Object& object, std::string_view key) {
    if (!object.has(key)) return std::nullopt;
    return number(object, key);
  }

  std::string text(Object& object, std::string_view key) {
    const Value* value = object.find(key);
    if (value == nullptr) return {};
    if (value->is_string()) return value->get<std::string>();
    mistakes_->add(object.at(key), "must be a string");
    return {};
  }

  template <class T>
  std::vector<T> list(Object& object, std::string_view key) {
    const Value* value = object.find(key);
    return value == nullptr ? std::vector<T>{} : list<T>(*value, object.at(key));
  }

  template <class T>
  std::vector<T> list(const Value& value, const std::string& where) {
    std::vector<T> entries;
    if (!value.is_array()) {
      mistakes_->add(where, "must be a list");
      return entries;
    }
    for (std::size_t i = 0; i < value.size(); ++i) {
      const std::string here = json::child(where, i);
      if constexpr (std::is_same_v<T, double>) {
        entries.push_back(json::to_number(value[i], here, *mistakes_).value_or(0));
      } else if constexpr (std::is_same_v<T, std::string>) {
        entries.push_back(json::to_name(value[i], here, *mistakes_).value_or(""));
      } else {
        entries.push_back(json::to_integer(value[i], here, *mistakes_, 0, max_goal).value_or(0));
      }
    }
    return entries;
  }

  Errc reason(Object& object) {
    if (!object.has("reason")) return Errc{};
    const std::string name = text(object, "reason");
    const auto code = reason_from_name(name);
    if (!code) mistakes_->add(object.at("reason"), "is not a reason that this client knows");
    return code.value_or(Errc{});
  }

  Rejection why(Object& object) {
    Rejection why;
    why.reason = reason(object);
    why.message = text(object, "message");
    why.joint = text(object, "joint");
    why.time = optional_number(object, "time");
    why.value = optional_number(object, "value");
    why.limit = optional_number(object, "limit");
    return why;
  }

  ServerMessage greeting(Object& object) {
    GreetingReply reply;
    reply.version = text(object, "version");
    double protocol = 0;
    object.required_number("protocol", protocol, Range::between(1, 1e6));
    reply.protocol = static_cast<int>(protocol);
    reply.robot = text(object, "robot");
    reply.period = number(object, "period");
    reply.joint_names = list<std::string>(object, "joints");
    if (const Value* groups = object.find("groups"); groups != nullptr && groups->is_object()) {
      for (const auto& [name, joints] : groups->get_ref<const Value::object_t&>()) {
        reply.groups.emplace_back(name, list<std::string>(joints, json::child(object.at("groups"), name)));
      }
    }
    return reply;
  }

  ServerMessage accepted(Object& object) {
    AcceptedReply reply;
    reply.id = id(object);
    reply.goal = count(object, "goal");
    reply.duration = optional_number(object, "duration");
    reply.joint_names = list<std::string>(object, "joint_names");
    if (const Value* latency = object.find("latency_us")) {
      Object inner(*latency, object.at("latency_us"), *mistakes_);
      reply.latency =
          LatencyReply{number(inner, "handover_to_reference"), number(inner, "receive_to_reference")};
    }
    return reply;
  }

  ServerMessage rejected(Object& object) {
    RejectedReply reply;
    reply.id = id(object);
    reply.why = why(object);
    return reply;
  }

  ServerMessage feedback(Object& object) {
    FeedbackReply reply;
    reply.goal = count(object, "goal");
    reply.time = number(object, "time");
    reply.duration = number(object, "duration");
    reply.fraction = number(object, "fraction");
    reply.reference = list<double>(object, "reference");
    reply.measured = list<double>(object, "measured");
    return reply;
  }

  ServerMessage result(Object& object) {
    ResultReply reply;
    reply.id = id(object);
    reply.goal = count(object, "goal");
    if (object.require("state") != nullptr) object.word<GoalState>("state", reply.state, goal_state_words);
    reply.why = why(object);
    return reply;
  }

  ServerMessage state(Object& object) {
    StateReply reply;
    reply.id = id(object);
    reply.time = number(object, "time");
    if (object.require("robot") != nullptr) object.word<RobotState>("robot", reply.robot, robot_state_words);
    reply.reason = reason(object);
    reply.joint = text(object, "joint");
    reply.active_goals = count(object, "active_goals");
    if (const Value* loop = object.find("loop")) {
      Object inner(*loop, object.at("loop"), *mistakes_);
      reply.cycles = count(inner, "cycles");
      reply.overruns = count(inner, "overruns");
      reply.lateness_us = number(inner, "lateness_us");
      reply.busy_us = number(inner, "busy_us");
    }
    if (const Value* bus = object.find("bus")) {
      Object inner(*bus, object.at("bus"), *mistakes_);
      reply.bus = {count(inner, "sent"), count(inner, "received"), count(inner, "refused"),
                   count(inner, "malformed"), count(inner, "unexpected")};
    }
    reply.joint_names = list<std::string>(object, "joint_names");
    reply.command = list<double>(object, "command");
    reply.reference = list<double>(object, "reference");
    reply.reference_velocity = list<double>(object, "reference_velocity");
    reply.measured = list<double>(object, "measured");
    reply.measured_velocity = list<double>(object, "measured_velocity");
    reply.goal = list<GoalId>(object, "goal");
    reply.drive = list<std::string>(object, "drive");
    const std::size_t joints = reply.joint_names.size();
    if (reply.command.size() != joints || reply.reference.size() != joints ||
        reply.reference_velocity.size() != joints || reply.measured.size() != joints ||
        reply.measured_velocity.size() != joints || reply.goal.size() != joints ||
        reply.drive.size() != joints) {
      mistakes_->add(object.where(), "its lists do not have one entry for each joint");
    }
    return reply;
  }

  ServerMessage error(Object& object) { return ErrorReply{why(object)}; }

 private:
  json::Mistakes* mistakes_;
};

}  // namespace

tl::expected<ServerMessage, Rejection> parse_server_message(std::string_view line) {
  using Read = ServerMessage (ReplyReader::*)(Object&);
  static constexpr std::array<std::pair<const char*, Read>, 7> replies{{{"takt", &ReplyReader::greeting},
                                                                        {"accepted", &ReplyReader::accepted},
                                                                        {"rejected", &ReplyReader::rejected},
                                                                        {"feedback", &ReplyReader::feedback},
                                                                        {"result", &ReplyReader::result},
                                                                        {"state", &ReplyReader::state},
                                                                        {"error", &ReplyReader::error}}};
  const auto malformed = [](std::string message) {
    Rejection why;
    why.reason = Errc::malformed;
    why.message = std::move(message);
    return tl::unexpected<Rejection>(std::move(why));
  };
  const auto document = json::parse(line);
  if (!document) return malformed(document.error().where + ": " + document.error().reason);
  for (const auto& [key, read] : replies) {
    if (!document->is_object() || !document->contains(key)) continue;
    json::Mistakes mistakes(1);
    Object object((*document)[key], json::child("", key), mistakes);
    ReplyReader reader(mistakes);
    ServerMessage message = (reader.*read)(object);
    if (mistakes.empty()) return message;
    return malformed(mistakes.list().front().where + ": " + mistakes.list().front().reason);
  }
  return malformed("the message is none of those that a server sends");
}

}  // namespace takt::motion
