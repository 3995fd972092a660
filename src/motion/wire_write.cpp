// Writes the messages of clients as lines of JSON.
#include <algorithm>

#include "json/strict.hpp"
#include "motion/wire_words.hpp"
#include "takt/motion/wire.hpp"

namespace takt::motion {
namespace {

using namespace wire;
template <class Enum, std::size_t N>
std::string_view word_of(Enum meaning, const Words<Enum, N>& words) {
  const auto found =
      std::find_if(words.begin(), words.end(), [&](const auto& word) { return word.second == meaning; });
  return found == words.end() ? std::string_view("unknown") : found->first;
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

}  // namespace takt::motion
