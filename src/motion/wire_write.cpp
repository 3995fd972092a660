// Writes the messages of clients and servers as lines of JSON.
#include <algorithm>
#include <cmath>

#include "json/strict.hpp"
#include "motion/wire_words.hpp"
#include "takt/motion/wire.hpp"

namespace takt::motion {
namespace {

using namespace wire;
using Out = nlohmann::ordered_json;

template <class Enum, std::size_t N>
std::string_view word_of(Enum meaning, const Words<Enum, N>& words) {
  const auto found =
      std::find_if(words.begin(), words.end(), [&](const auto& word) { return word.second == meaning; });
  return found == words.end() ? std::string_view("unknown") : found->first;
}

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

void put_tolerances(Out& out, const TolerancesMessage& tolerances) {
  const auto put = [&](const char* key, const std::vector<ToleranceMessage>& list) {
    if (list.empty()) return;
    Out& entries = out[key] = Out::array();
    for (const ToleranceMessage& tolerance : list) {
      entries.push_back(Out{{"name", tolerance.name},
                            {"position", tolerance.position},
                            {"velocity", tolerance.velocity},
                            {"acceleration", tolerance.acceleration}});
    }
  };
  put("path_tolerance", tolerances.path);
  put("goal_tolerance", tolerances.goal);
  if (tolerances.goal_time != 0) out["goal_time_tolerance"] = tolerances.goal_time;
}

/// Writes the fields that trajectories and moves have in common.
template <class Message>
void put_options(Out& out, const Message& message) {
  if (message.fit) out["fit"] = true;
  if (message.on_disconnect != OnDisconnect::stop) {
    out["on_disconnect"] = word_of(message.on_disconnect, on_disconnect_words);
  }
  if (message.when_busy != WhenBusy::splice) out["when_busy"] = word_of(message.when_busy, when_busy_words);
  put_limits(out, message.limits);
  put_tolerances(out, message.tolerances);
}

void put_columns(Out& out, const PointMessage& point) {
  out["positions"] = point.positions;
  if (!point.velocities.empty()) out["velocities"] = point.velocities;
  if (!point.accelerations.empty()) out["accelerations"] = point.accelerations;
}

std::pair<const char*, Out> to_json(const TrajectoryMessage& message) {
  Out out = Out::object();
  put_joints(out, message.joints);
  Out& points = out["points"] = Out::array();
  for (const PointMessage& point : message.points) {
    Out& entry = points.emplace_back(Out::object());
    if (message.timed) entry["time_from_start"] = point.time;
    put_columns(entry, point);
  }
  if (message.start) out["start"] = *message.start;
  if (message.through) out["through"] = word_of(*message.through, through_words);
  if (message.at_end != AtEnd::rest) out["at_end"] = word_of(message.at_end, at_end_words);
  put_options(out, message);
  return {"trajectory", std::move(out)};
}

std::pair<const char*, Out> to_json(const MoveMessage& message) {
  Out out = Out::object();
  put_joints(out, message.joints);
  out["positions"] = message.positions;
  if (message.duration) out["duration"] = *message.duration;
  if (message.synchronisation != Synchronisation::time)
    out["synchronise"] = word_of(message.synchronisation, synchronise_words);
  put_options(out, message);
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
  if (message.stop != StopAt::now) out["stop"] = word_of(message.stop, stop_words);
  return {"cancel", std::move(out)};
}

std::pair<const char*, Out> to_json(const SpeedMessage& message) {
  Out out = Out::object();
  if (message.goal != 0) out["goal"] = message.goal;
  out["scale"] = message.scale;
  return {"speed", std::move(out)};
}

std::pair<const char*, Out> to_json(const StateMessage&) { return {"state", Out::object()}; }

std::pair<const char*, Out> to_json(const SubscribeMessage& message) {
  return {"subscribe", Out{{"rate", message.rate}}};
}

std::pair<const char*, Out> to_json(const EmergencyStopMessage& message) {
  return {"estop", Out{{"category", static_cast<int>(message.category)}}};
}

std::pair<const char*, Out> to_json(const ResetMessage& message) {
  Out out = Out::object();
  if (message.accept_positions) out["accept_positions"] = true;
  return {"reset", std::move(out)};
}

std::pair<const char*, Out> to_json(const MarkMessage& message) {
  return {"mark", Out{{"text", message.text}}};
}

std::pair<const char*, Out> to_json(const ControllersMessage& message) {
  Out request = Out::parse(message.request, nullptr, false);
  if (request.is_discarded()) request = Out::object();
  return {"controllers", std::move(request)};
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

void put_exceeds(Out& out, const std::optional<Rejection>& exceeds) {
  if (exceeds) put_why(out["exceeds"] = Out::object(), *exceeds);
}

/// Writes the finite limits and leaves out infinite ones.
template <class... Bounds>
void put_limit(Out& out, const char* key, Bounds... bounds) {
  if (!(std::isfinite(bounds) && ...)) return;
  if constexpr (sizeof...(bounds) == 1)
    out[key] = (bounds, ...);
  else
    out[key] = {bounds...};
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
  if (!reply.limits.empty()) out["limits"] = Out::array();
  for (const auto& [unit, limits] : reply.limits) {
    Out& entry = out["limits"].emplace_back(Out{{"unit", unit}});
    put_limit(entry, "position", limits.position_min, limits.position_max);
    put_limit(entry, "velocity", limits.velocity);
    put_limit(entry, "acceleration", limits.acceleration);
    put_limit(entry, "jerk", limits.jerk);
    put_limit(entry, "effort", limits.effort);
  }
  return {"takt", std::move(out)};
}

std::pair<const char*, Out> to_json(const AcceptedReply& reply) {
  Out out = Out::object();
  put_id(out, reply.id);
  if (reply.goal != 0) out["goal"] = reply.goal;
  if (reply.state != GoalState::active) out["state"] = state_name(reply.state);
  if (reply.duration) out["duration"] = *reply.duration;
  if (!reply.joint_names.empty()) out["joint_names"] = reply.joint_names;
  if (reply.latency) {
    out["latency_us"] = Out{{"handover_to_reference", reply.latency->handover_to_reference},
                            {"receive_to_reference", reply.latency->receive_to_reference}};
  }
  put_exceeds(out, reply.exceeds);
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
  out["state"] = state_name(reply.state);
  out["time"] = reply.time;
  out["duration"] = reply.duration;
  out["fraction"] = reply.fraction;
  if (reply.speed != 1) out["speed"] = reply.speed;
  if (reply.speed_excess != 0) out["speed_excess"] = reply.speed_excess;
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
  put_exceeds(out, reply.exceeds);
  if (reply.speed_excess != 0) out["speed_excess"] = reply.speed_excess;
  return {"result", std::move(out)};
}

std::pair<const char*, Out> to_json(const StateReply& reply) {
  Out out = Out::object();
  put_id(out, reply.id);
  out["time"] = reply.time;
  out["robot"] = state_name(reply.robot);
  put_why(out, {reply.reason, reply.message, reply.joint, {}, reply.value, reply.limit});
  out["active_goals"] = reply.active_goals;
  out["loop"] = Out{{"cycles", reply.cycles},
                    {"overruns", reply.overruns},
                    {"lateness_us", reply.lateness_us},
                    {"busy_us", reply.busy_us}};
  out["bus"] = Out{{"sent", reply.bus.frames_sent},
                   {"received", reply.bus.frames_received},
                   {"refused", reply.bus.frames_refused},
                   {"malformed", reply.bus.frames_malformed},
                   {"unexpected", reply.bus.frames_unexpected},
                   {"starved", reply.bus.frames_starved}};
  if (!reply.starved.empty()) out["bus"]["starved_joints"] = reply.starved;
  out["joint_names"] = reply.joint_names;
  out["command"] = reply.command;
  out["reference"] = reply.reference;
  out["reference_velocity"] = reply.reference_velocity;
  out["measured"] = reply.measured;
  out["measured_velocity"] = reply.measured_velocity;
  out["goal"] = reply.goal;
  out["drive"] = reply.drive;
  if (!reply.age_ms.empty()) out["age_ms"] = reply.age_ms;
  if (!reply.goals.empty()) out["goals"] = Out::array();
  for (const auto& [goal, state] : reply.goals)
    out["goals"].push_back(Out{{"goal", goal}, {"state", state_name(state)}});
  if (!reply.faults.empty()) out["faults"] = Out::array();
  for (const auto& [joint, code, message] : reply.faults)
    out["faults"].push_back(Out{{"joint", joint}, {"code", code}, {"message", message}});
  if (!reply.mimics.empty()) out["mimics"] = Out::array();
  for (const auto& [joint, measured, velocity] : reply.mimics)
    out["mimics"].push_back(Out{{"joint", joint}, {"measured", measured}, {"measured_velocity", velocity}});
  return {"state", std::move(out)};
}

std::pair<const char*, Out> to_json(const ErrorReply& reply) {
  Out out = Out::object();
  put_why(out, reply.why);
  return {"error", std::move(out)};
}

std::pair<const char*, Out> to_json(const ControllersReply& reply) {
  Out out = Out::object();
  put_id(out, reply.id);
  const Out answer = Out::parse(reply.answer, nullptr, false);
  if (answer.is_object()) out.update(answer);
  return {"controllers", std::move(out)};
}

}  // namespace

std::string to_line(const ClientMessage& message) {
  Out document = Out::object();
  put_id(document, message.id);
  auto [key, body] = std::visit([](const auto& request) { return to_json(request); }, message.body);
  document[key] = std::move(body);
  return finish(document);
}

std::string to_joint_trajectory(const TrajectoryMessage& message) {
  Out head = Out::object();
  put_joints(head, message.joints);
  std::string text = head.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  text.back() = ',';  // replaces the closing brace: more follows
  text += "\"points\":[";
  for (const PointMessage& point : message.points) {
    const std::int64_t nanoseconds = from_seconds(point.time).count();
    Out entry = Out::object();
    entry["time_from_start"] =
        Out{{"sec", nanoseconds / 1'000'000'000}, {"nanosec", nanoseconds % 1'000'000'000}};
    put_columns(entry, point);
    text += (&point == &message.points.front() ? "\n" : ",\n") + entry.dump();
  }
  return text + "\n]}\n";
}

TrajectoryMessage to_message(const trajectory::Trajectory& motion, std::vector<std::string> joint_names) {
  TrajectoryMessage message;
  message.joints.names = std::move(joint_names);
  for (std::size_t k = 0; k < motion.segments() + 1 && motion.joints() > 0; ++k) {
    PointMessage& point = message.points.emplace_back();
    point.time = motion.knot_time(k);
    for (std::size_t j = 0; j < motion.joints(); ++j) {
      const MotionState state = motion.knot(k, j);
      point.positions.push_back(state.position);
      point.velocities.push_back(state.velocity);
      point.accelerations.push_back(state.acceleration);
    }
  }
  return message;
}

std::string to_line(const ServerMessage& message) {
  Out document = Out::object();
  auto [key, body] = std::visit([](const auto& reply) { return to_json(reply); }, message);
  document[key] = std::move(body);
  return finish(document);
}

}  // namespace takt::motion
