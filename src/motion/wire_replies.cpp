// The server's messages as lines of JSON, and back. fields() lists the fields of each reply once, in the
// order of the line; a writer and a reader take them.
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "json/strict.hpp"
#include "motion/wire_words.hpp"
#include "takt/motion/wire.hpp"

namespace takt::motion {
namespace {

using namespace wire;
using json::Object;
using json::Range;
using json::Value;

/// A reply as its visitor takes it: the writer changes nothing.
template <class Io, class T>
using Of = std::conditional_t<Io::writes, const T, T>;

/// Puts fields into an object.
class ReplyWriter {
 public:
  static constexpr bool writes = true;
  explicit ReplyWriter(Out& out) : out_(&out) {}

  template <class T>
  void always(const char* key, const T& value) {
    if constexpr (std::is_enum_v<T>)
      (*out_)[key] = state_name(value);
    else
      (*out_)[key] = value;
  }
  template <class T>
  void required(const char* key, const T& value) {
    always(key, value);
  }
  template <class T>
  void unless(const T& usual, const char* key, const T& value) {
    if (value != usual) always(key, value);
  }
  template <class T>
  void optional(const char* key, const std::optional<T>& value) {
    if (value) always(key, *value);
  }
  template <class T, class Fields>
  void optional_part(const char* key, const std::optional<T>& value, Fields&& fields) {
    if (value) part(key, [&](ReplyWriter& io) { fields(io, *value); });
  }
  template <class Fields>
  void part(const char* key, Fields&& fields) {
    ReplyWriter inner((*out_)[key] = Out::object());
    fields(inner);
  }
  /// An empty list is left out.
  template <class T, class Fields>
  void each(const char* key, const std::vector<T>& list, Fields&& fields) {
    if (list.empty()) return;
    Out& entries = (*out_)[key] = Out::array();
    for (const T& entry : list) {
      ReplyWriter inner(entries.emplace_back(Out::object()));
      fields(inner, entry);
    }
  }
  template <class T>
  void by_name(const char* key, const std::vector<std::pair<std::string, T>>& entries) {
    Out& object = (*out_)[key] = Out::object();
    for (const auto& [name, value] : entries) object[name] = value;
  }
  void id(const std::string& id) { put_id(*out_, id); }
  void reason(Errc reason) { (*out_)["reason"] = reason_name(reason); }
  void content(const std::string& json) {
    const Out answer = Out::parse(json, nullptr, false);
    if (answer.is_object()) out_->update(answer);
  }
  /// A finite number.
  void bound(const char* key, double value) {
    if (std::isfinite(value)) (*out_)[key] = value;
  }
  void range(const char* key, double least, double most) {
    if (std::isfinite(least) && std::isfinite(most)) (*out_)[key] = {least, most};
  }

 private:
  Out* out_;
};

template <class Enum>
constexpr auto state_words = [] {
  constexpr std::size_t count = std::is_same_v<Enum, GoalState> ? 8 : 5;
  Words<Enum, count> words;
  for (std::size_t i = 0; i < count; ++i) {
    const auto state = static_cast<Enum>(i);
    words[i] = {state_name(state), state};
  }
  return words;
}();
static_assert(static_cast<int>(GoalState::recalled) == 7 && static_cast<int>(RobotState::down) == 4);

/// Takes fields out of an object. It skips unknown keys, so it never calls finish().
class ReplyReader {
 public:
  static constexpr bool writes = false;
  ReplyReader(Object& object, json::Mistakes& mistakes) : object_(&object), mistakes_(&mistakes) {}

  template <class T>
  void always(const char* key, T& value) {
    if constexpr (std::is_enum_v<T>)
      object_->word<T>(key, value, state_words<T>);
    else if constexpr (std::is_same_v<T, double>)
      object_->number(key, value, Range::any());
    else if (const Value* found = object_->find(key))
      read(*found, object_->at(key), value);
  }
  template <class T>
  void required(const char* key, T& value) {
    if (object_->require(key) != nullptr) always(key, value);
  }
  template <class T>
  void unless(const T& usual, const char* key, T& value) {
    value = usual;
    always(key, value);
  }
  template <class T>
  void optional(const char* key, std::optional<T>& value) {
    if (object_->has(key)) always(key, value.emplace());
  }
  template <class T, class Fields>
  void optional_part(const char* key, std::optional<T>& value, Fields&& fields) {
    part(key, [&](ReplyReader& io) { fields(io, value.emplace()); });
  }
  template <class Fields>
  void part(const char* key, Fields&& fields) {
    const Value* found = object_->find(key);
    if (found == nullptr) return;
    Object inner(*found, object_->at(key), *mistakes_);
    ReplyReader reader(inner, *mistakes_);
    fields(reader);
  }
  template <class T, class Fields>
  void each(const char* key, std::vector<T>& list, Fields&& fields) {
    const Value* found = object_->find(key);
    if (found == nullptr) return;
    if (!found->is_array()) return refuse(key, "must be a list");
    for (std::size_t i = 0; i < found->size(); ++i) {
      Object entry((*found)[i], json::child(object_->at(key), i), *mistakes_);
      ReplyReader reader(entry, *mistakes_);
      fields(reader, list.emplace_back());
    }
  }
  template <class T>
  void by_name(const char* key, std::vector<std::pair<std::string, T>>& entries) {
    const Value* found = object_->find(key);
    if (found == nullptr || !found->is_object()) return;
    for (const auto& [name, value] : found->get_ref<const Value::object_t&>())
      read(value, json::child(object_->at(key), name), entries.emplace_back(name, T{}).second);
  }
  void id(std::string& id) {
    const Value* found = object_->find("id");
    if (found == nullptr) return;
    auto text = id_text(*found);
    if (!text) refuse("id", "must be a string or a number");
    id = std::move(text).value_or("");
  }
  void reason(Errc& reason) {
    std::string name;
    always("reason", name);
    if (object_->has("reason")) reason = reason_from_name(name).value_or(Errc::unknown_reason);
  }
  void content(std::string& json) {
    if (object_->value() == nullptr) return;
    Value answer = *object_->value();
    answer.erase("id");
    json = answer.dump();
  }
  void bound(const char* key, double& value) { always(key, value); }
  void range(const char* key, double& least, double& most) {
    std::vector<double> bounds;
    always(key, bounds);
    if (bounds.size() == 2) {
      least = bounds[0];
      most = bounds[1];
    } else if (object_->has(key)) {
      refuse(key, "must be a list of two numbers");
    }
  }
  /// A mistake of the object itself.
  void refuse(const std::string& reason) { mistakes_->add(object_->where(), reason); }

 private:
  void refuse(const char* key, const char* reason) { mistakes_->add(object_->at(key), reason); }
  void read(const Value& value, const std::string& where, double& out) {
    out = json::to_number(value, where, *mistakes_).value_or(0);
  }
  void read(const Value& value, const std::string& where, std::uint64_t& out) {
    constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
    out = json::to_integer(value, where, *mistakes_, 0, most).value_or(0);
  }
  void read(const Value& value, const std::string& where, std::uint32_t& out) {
    std::uint64_t wide = 0;
    read(value, where, wide);
    out = static_cast<std::uint32_t>(wide);
  }
  void read(const Value& value, const std::string& where, int& out) {
    out = static_cast<int>(json::to_number(value, where, *mistakes_, Range::between(1, 1e6)).value_or(0));
  }
  void read(const Value& value, const std::string& where, std::string& out) {
    if (value.is_string())
      out = value.get_ref<const std::string&>();
    else
      mistakes_->add(where, "must be a string");
  }
  template <class T>
  void read(const Value& value, const std::string& where, std::vector<T>& out) {
    if (!value.is_array()) return mistakes_->add(where, "must be a list");
    for (std::size_t i = 0; i < value.size(); ++i) {
      const std::string here = json::child(where, i);
      if constexpr (std::is_same_v<T, std::string>)
        out.push_back(json::to_name(value[i], here, *mistakes_).value_or(""));
      else if constexpr (std::is_same_v<T, double>)
        out.push_back(json::to_number(value[i], here, *mistakes_).value_or(0));
      else
        out.push_back(json::to_integer(value[i], here, *mistakes_, 0, largest_exact).value_or(0));
    }
  }

  Object* object_;
  json::Mistakes* mistakes_;
};

// ---- the fields ----

/// Without a reason there is none of these fields. `time` may be null.
template <class Io>
void cause(Io& io, Of<Io, Errc>& reason, Of<Io, std::string>& message, Of<Io, std::string>& joint,
           Of<Io, std::optional<double>>* time, Of<Io, std::optional<double>>& value,
           Of<Io, std::optional<double>>& limit) {
  if constexpr (Io::writes) {
    if (reason == Errc{}) return;
  }
  io.reason(reason);
  io.always("message", message);
  io.unless(std::string(), "joint", joint);
  if (time != nullptr) io.optional("time", *time);
  io.optional("value", value);
  io.optional("limit", limit);
}
constexpr auto rejection = [](auto& io, auto& why) {
  cause(io, why.reason, why.message, why.joint, &why.time, why.value, why.limit);
};

template <class Io>
void fields(Io& io, Of<Io, GreetingReply>& reply) {
  io.always("version", reply.version);
  io.required("protocol", reply.protocol);
  io.always("robot", reply.robot);
  io.always("period", reply.period);
  io.always("joints", reply.joint_names);
  io.by_name("groups", reply.groups);
  io.each("limits", reply.limits, [](Io& entry, auto& joint) {
    entry.always("unit", joint.unit);
    entry.range("position", joint.limits.position_min, joint.limits.position_max);
    entry.bound("velocity", joint.limits.velocity);
    entry.bound("acceleration", joint.limits.acceleration);
    entry.bound("jerk", joint.limits.jerk);
    entry.bound("effort", joint.limits.effort);
  });
}

template <class Io>
void fields(Io& io, Of<Io, AcceptedReply>& reply) {
  io.id(reply.id);
  io.unless(GoalId{0}, "goal", reply.goal);
  io.unless(GoalState::active, "state", reply.state);
  io.optional("duration", reply.duration);
  io.unless({}, "joint_names", reply.joint_names);
  io.optional_part("latency_us", reply.latency, [](Io& part, auto& latency) {
    part.always("handover_to_reference", latency.handover_to_reference);
    part.always("receive_to_reference", latency.receive_to_reference);
  });
  io.optional_part("exceeds", reply.exceeds, rejection);
}

template <class Io>
void fields(Io& io, Of<Io, RejectedReply>& reply) {
  io.id(reply.id);
  rejection(io, reply.why);
}

template <class Io>
void fields(Io& io, Of<Io, FeedbackReply>& reply) {
  io.always("goal", reply.goal);
  io.always("state", reply.state);
  io.always("time", reply.time);
  io.always("duration", reply.duration);
  io.always("fraction", reply.fraction);
  io.unless(1.0, "speed", reply.speed);
  io.unless(0.0, "speed_excess", reply.speed_excess);
  io.always("reference", reply.reference);
  io.always("measured", reply.measured);
}

template <class Io>
void fields(Io& io, Of<Io, ResultReply>& reply) {
  io.id(reply.id);
  io.always("goal", reply.goal);
  io.required("state", reply.state);
  rejection(io, reply.why);
  io.optional_part("exceeds", reply.exceeds, rejection);
  io.unless(0.0, "speed_excess", reply.speed_excess);
}

template <class Io>
void fields(Io& io, Of<Io, StateReply>& reply) {
  io.id(reply.id);
  io.always("time", reply.time);
  io.required("robot", reply.robot);
  cause(io, reply.reason, reply.message, reply.joint, nullptr, reply.value, reply.limit);
  io.always("active_goals", reply.active_goals);
  io.part("loop", [&](Io& loop) {
    loop.always("cycles", reply.cycles);
    loop.always("overruns", reply.overruns);
    loop.always("lateness_us", reply.lateness_us);
    loop.always("busy_us", reply.busy_us);
  });
  io.part("bus", [&](Io& bus) {
    bus.always("sent", reply.bus.frames_sent);
    bus.always("received", reply.bus.frames_received);
    bus.always("refused", reply.bus.frames_refused);
    bus.always("malformed", reply.bus.frames_malformed);
    bus.always("unexpected", reply.bus.frames_unexpected);
    bus.always("starved", reply.bus.frames_starved);
    bus.unless({}, "starved_joints", reply.starved);
  });
  io.always("joint_names", reply.joint_names);
  io.always("command", reply.command);
  io.always("reference", reply.reference);
  io.always("reference_velocity", reply.reference_velocity);
  io.always("measured", reply.measured);
  io.always("measured_velocity", reply.measured_velocity);
  io.always("goal", reply.goal);
  io.always("drive", reply.drive);
  io.unless({}, "age_ms", reply.age_ms);
  io.each("goals", reply.goals, [](Io& entry, auto& goal) {
    entry.always("goal", goal.goal);
    entry.required("state", goal.state);
  });
  io.each("faults", reply.faults, [](Io& entry, auto& fault) {
    entry.always("joint", fault.joint);
    entry.always("code", fault.code);
    entry.always("message", fault.message);
  });
  io.each("mimics", reply.mimics, [](Io& entry, auto& mimic) {
    entry.always("joint", mimic.joint);
    entry.always("measured", mimic.measured);
    entry.always("measured_velocity", mimic.measured_velocity);
  });
  if constexpr (!Io::writes) {
    const std::size_t joints = reply.joint_names.size();
    if (reply.command.size() != joints || reply.reference.size() != joints ||
        reply.reference_velocity.size() != joints || reply.measured.size() != joints ||
        reply.measured_velocity.size() != joints || reply.goal.size() != joints ||
        reply.drive.size() != joints || (!reply.age_ms.empty() && reply.age_ms.size() != joints))
      io.refuse("its lists do not have one entry for each joint");
  }
}

template <class Io>
void fields(Io& io, Of<Io, ErrorReply>& reply) {
  rejection(io, reply.why);
}

template <class Io>
void fields(Io& io, Of<Io, ControllersReply>& reply) {
  io.id(reply.id);
  io.content(reply.answer);
}

/// The keys of the replies, in the order of ServerMessage.
constexpr std::array<const char*, std::variant_size_v<ServerMessage>> keys{
    "takt", "accepted", "rejected", "feedback", "result", "state", "error", "controllers"};

/// Reads the reply with this index.
template <std::size_t index>
ServerMessage read(Object& object, json::Mistakes& mistakes) {
  std::variant_alternative_t<index, ServerMessage> reply;
  ReplyReader reader(object, mistakes);
  fields<ReplyReader>(reader, reply);
  return reply;
}
template <std::size_t... index>
constexpr auto readers_of(std::index_sequence<index...>) {
  return std::array{&read<index>...};
}
constexpr auto readers = readers_of(std::make_index_sequence<keys.size()>());

}  // namespace

std::string to_line(const ServerMessage& message) {
  Out document = Out::object();
  ReplyWriter writer(document[keys[message.index()]] = Out::object());
  std::visit([&](const auto& reply) { fields<ReplyWriter>(writer, reply); }, message);
  return finish(document);
}

tl::expected<ServerMessage, Rejection> parse_server_message(std::string_view line) {
  const auto malformed = [](std::string message) {
    Rejection why;
    why.reason = Errc::malformed;
    why.message = std::move(message);
    return tl::unexpected<Rejection>(std::move(why));
  };
  const auto document = json::parse(line);
  if (!document) return malformed(document.error().where + ": " + document.error().reason);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (!document->is_object() || !document->contains(keys[i])) continue;
    json::Mistakes mistakes(1);
    Object object((*document)[keys[i]], json::child("", keys[i]), mistakes);
    ServerMessage message = readers[i](object, mistakes);
    if (mistakes.empty()) return message;
    return malformed(mistakes.list().front().where + ": " + mistakes.list().front().reason);
  }
  return malformed("the message is not one that a server sends");
}

}  // namespace takt::motion
