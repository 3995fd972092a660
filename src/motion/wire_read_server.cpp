// Parses a server's line of the wire protocol.
#include <array>
#include <limits>

#include "json/strict.hpp"
#include "motion/wire_words.hpp"
#include "takt/motion/wire.hpp"

namespace takt::motion {
namespace {

using namespace wire;
using json::Object;
using json::Range;
using json::Value;

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

/// Parses replies. It skips unknown keys, so it never calls finish().
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
        entries.push_back(json::to_integer(value[i], here, *mistakes_, 0, largest_exact).value_or(0));
      }
    }
    return entries;
  }

  Errc reason(Object& object) {
    if (!object.has("reason")) return Errc{};
    return reason_from_name(text(object, "reason")).value_or(Errc::unknown_reason);
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

  std::optional<Rejection> exceeds(Object& object) {
    const Value* value = object.find("exceeds");
    if (value == nullptr) return std::nullopt;
    Object inner(*value, object.at("exceeds"), *mistakes_);
    return why(inner);
  }

  /// Calls visit(entry) for each object of a list.
  template <class Visit>
  void each(Object& object, std::string_view key, Visit&& visit) {
    const Value* value = object.find(key);
    if (value == nullptr) return;
    if (!value->is_array()) return mistakes_->add(object.at(key), "must be a list");
    for (std::size_t i = 0; i < value->size(); ++i) {
      Object entry((*value)[i], json::child(object.at(key), i), *mistakes_);
      visit(entry);
    }
  }

  LimitsReply limits(Object& object) {
    LimitsReply reply;
    reply.unit = text(object, "unit");
    if (object.has("position")) {
      const auto bounds = list<double>(object, "position");
      if (bounds.size() != 2) mistakes_->add(object.at("position"), "must be a list of two numbers");
      if (bounds.size() == 2) {
        reply.limits.position_min = bounds[0];
        reply.limits.position_max = bounds[1];
      }
    }
    object.number("velocity", reply.limits.velocity, Range::any());
    object.number("acceleration", reply.limits.acceleration, Range::any());
    object.number("jerk", reply.limits.jerk, Range::any());
    object.number("effort", reply.limits.effort, Range::any());
    return reply;
  }

  GoalStatus goal_status(Object& object) {
    GoalStatus status;
    status.goal = count(object, "goal");
    if (object.require("state") != nullptr) object.word<GoalState>("state", status.state, goal_state_words);
    return status;
  }

  FaultReply fault(Object& object) {
    FaultReply reply;
    reply.joint = text(object, "joint");
    reply.code = static_cast<std::uint32_t>(count(object, "code"));
    reply.message = text(object, "message");
    return reply;
  }

  MimicReply mimic(Object& object) {
    return {text(object, "joint"), number(object, "measured"), number(object, "measured_velocity")};
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
    each(object, "limits", [&](Object& entry) { reply.limits.push_back(limits(entry)); });
    return reply;
  }

  ServerMessage accepted(Object& object) {
    AcceptedReply reply;
    reply.id = id(object);
    reply.goal = count(object, "goal");
    if (object.has("state")) object.word<GoalState>("state", reply.state, goal_state_words);
    reply.duration = optional_number(object, "duration");
    reply.joint_names = list<std::string>(object, "joint_names");
    if (const Value* latency = object.find("latency_us")) {
      Object inner(*latency, object.at("latency_us"), *mistakes_);
      reply.latency =
          LatencyReply{number(inner, "handover_to_reference"), number(inner, "receive_to_reference")};
    }
    reply.exceeds = exceeds(object);
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
    if (object.has("state")) object.word<GoalState>("state", reply.state, goal_state_words);
    reply.time = number(object, "time");
    reply.duration = number(object, "duration");
    reply.fraction = number(object, "fraction");
    reply.speed = optional_number(object, "speed").value_or(1);
    reply.speed_excess = optional_number(object, "speed_excess").value_or(0);
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
    reply.exceeds = exceeds(object);
    reply.speed_excess = optional_number(object, "speed_excess").value_or(0);
    return reply;
  }

  ServerMessage state(Object& object) {
    StateReply reply;
    reply.id = id(object);
    reply.time = number(object, "time");
    if (object.require("robot") != nullptr) object.word<RobotState>("robot", reply.robot, robot_state_words);
    Rejection cause = why(object);
    reply.reason = cause.reason;
    reply.message = std::move(cause.message);
    reply.joint = std::move(cause.joint);
    reply.value = cause.value;
    reply.limit = cause.limit;
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
      reply.bus.frames_sent = count(inner, "sent");
      reply.bus.frames_received = count(inner, "received");
      reply.bus.frames_refused = count(inner, "refused");
      reply.bus.frames_malformed = count(inner, "malformed");
      reply.bus.frames_unexpected = count(inner, "unexpected");
      reply.bus.frames_starved = count(inner, "starved");
      reply.starved = list<std::string>(inner, "starved_joints");
    }
    reply.joint_names = list<std::string>(object, "joint_names");
    reply.command = list<double>(object, "command");
    reply.reference = list<double>(object, "reference");
    reply.reference_velocity = list<double>(object, "reference_velocity");
    reply.measured = list<double>(object, "measured");
    reply.measured_velocity = list<double>(object, "measured_velocity");
    reply.goal = list<GoalId>(object, "goal");
    reply.drive = list<std::string>(object, "drive");
    reply.age_ms = list<double>(object, "age_ms");
    each(object, "goals", [&](Object& entry) { reply.goals.push_back(goal_status(entry)); });
    each(object, "faults", [&](Object& entry) { reply.faults.push_back(fault(entry)); });
    each(object, "mimics", [&](Object& entry) { reply.mimics.push_back(mimic(entry)); });
    const std::size_t joints = reply.joint_names.size();
    if (reply.command.size() != joints || reply.reference.size() != joints ||
        reply.reference_velocity.size() != joints || reply.measured.size() != joints ||
        reply.measured_velocity.size() != joints || reply.goal.size() != joints ||
        reply.drive.size() != joints || (!reply.age_ms.empty() && reply.age_ms.size() != joints)) {
      mistakes_->add(object.where(), "its lists do not have one entry for each joint");
    }
    return reply;
  }

  ServerMessage error(Object& object) { return ErrorReply{why(object)}; }

  ServerMessage controllers(Object& object) {
    ControllersReply reply;
    reply.id = id(object);
    if (object.value() == nullptr) return reply;
    Value answer = *object.value();
    answer.erase("id");
    reply.answer = answer.dump();
    return reply;
  }

 private:
  json::Mistakes* mistakes_;
};

}  // namespace

tl::expected<ServerMessage, Rejection> parse_server_message(std::string_view line) {
  using Read = ServerMessage (ReplyReader::*)(Object&);
  static constexpr std::array<std::pair<const char*, Read>, 8> replies{
      {{"takt", &ReplyReader::greeting},
       {"accepted", &ReplyReader::accepted},
       {"rejected", &ReplyReader::rejected},
       {"feedback", &ReplyReader::feedback},
       {"result", &ReplyReader::result},
       {"state", &ReplyReader::state},
       {"error", &ReplyReader::error},
       {"controllers", &ReplyReader::controllers}}};
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
  return malformed("the message is not one that a server sends");
}

}  // namespace takt::motion
