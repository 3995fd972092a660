#include "takt/app/controller_commands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <map>
#include <utility>

#include "app/command_words.hpp"
#include "app/component_json.hpp"
#include "app/port_writer.hpp"
#include "app/run_recorder.hpp"
#include "json/strict.hpp"
#include "robot/controller_json.hpp"
#include "takt/component/error.hpp"
#include "takt/describe.hpp"
#include "takt/record/error.hpp"
#include "takt/robot/error.hpp"

namespace takt::app {
namespace {

using json::Object;
using json::Value;
using robot::SwitchPolicy;

constexpr const char* changed_by = "takt ctl";
constexpr Duration set_patience = std::chrono::seconds(2);
constexpr std::size_t most_names = 128;  ///< in one list of a switch
constexpr double longest_timeout = 60;   ///< s

constexpr std::pair<std::string_view, SwitchPolicy> strictness_words[] = {
    {"strict", SwitchPolicy::strict}, {"best_effort", SwitchPolicy::best_effort}};
constexpr std::array<std::string_view, 3> safe_names = {"hold", "zero", "ramp_to_zero"};
constexpr std::array<std::string_view, 3> action_names = {"count", "deactivate", "error"};

/// The word of an enum that counts from 0.
template <class Enum, std::size_t n>
std::string_view word_of(Enum value, const std::array<std::string_view, n>& words) {
  const auto index = static_cast<std::size_t>(value);
  return index < n ? words[index] : std::string_view("unknown");
}

std::string text_of(Error error) { return std::string(takt::describe(error)); }

double to_microseconds(Duration time) { return to_seconds(time) * 1e6; }

Value to_json(const robot::ControllerStatus& status) {
  Value one = {{"name", status.name},
               {"type", status.type},
               {"state", robot::to_string(status.state)},
               {"divisor", status.config.divisor},
               {"phase", status.config.phase},
               {"claims", status.claims},
               {"reads", status.reads},
               {"executions", status.executions}};
  if (status.state == robot::ControllerState::failed) one["error"] = text_of(status.error);
  if (!status.config.fallbacks.empty()) one["fallbacks"] = status.config.fallbacks;
  if (status.config.budget == Duration(0)) return one;
  one["budget_us"] = to_microseconds(status.config.budget);
  one["action"] = word_of(status.config.over_budget, action_names);
  one["over_budget"] = status.over_budget;
  one["longest_us"] = to_microseconds(status.longest);
  return one;
}

Value to_json(const robot::InterfaceInfo& info) {
  Value one = {{"name", info.name},
               {"kind", info.is_command ? "command" : "state"},
               {"unit", info.unit},
               {"owner", info.owner},
               {"value", info.value}};
  if (!info.is_command) return one;
  one["safe"] = word_of(info.safe, safe_names);
  one["claimed_by"] = info.claimed_by;
  return one;
}

/// The note of a change for the recording: a request that repeats it.
component::CallNote note_of(const Value& request, run_topic::Topic topic = run_topic::controllers) {
  return {topic, json::to_text(request)};
}

component::CallNote note_of(const robot::SwitchRequest& request) {
  return note_of(
      Value{{"switch",
             {{"start", request.start},
              {"stop", request.stop},
              {"strictness", strictness_words[request.policy == SwitchPolicy::strict ? 0 : 1].first},
              {"timeout", to_seconds(request.timeout)}}}});
}

SetupResult<void> set_noted(robot::Controller& controller, const std::vector<component::Assignment>& values,
                            std::string_view who) {
  Value set = {{"name", controller.name()}, {"parameters", Value::object()}};
  for (const component::Assignment& one : values)
    set["parameters"][one.parameter] = component::to_json(one.value);
  if (json::is_name(who)) set["who"] = who;
  const component::NotedCalls noted(note_of(Value{{"set", std::move(set)}}, run_topic::parameters));
  return controller.parameters().set(values, who, set_patience);
}

Value to_json(const ControllerEvent& event) {
  Value one = {{"number", event.number},
               {"time", to_seconds(event.time.time_since_epoch())},
               {"event", robot::to_string(event.kind)},
               {"component", event.component},
               {"text", describe(event)}};
  if (event.error.room != Room::none) one["error"] = text_of(event.error);
  return one;
}

}  // namespace

/// Answers one request, whose mistakes it collects.
class ControllerCommands::Answerer {
 public:
  explicit Answerer(ControllerCommands& commands) : commands_(&commands) {}

  [[nodiscard]] SetupResult<std::string> run(const Value& request) {
    if (!request.is_object() || request.size() != 1)
      return fail(component::Errc::bad_value, "a request is an object with one key, such as {\"list\":{}}");
    const std::string verb = request.begin().key();
    const auto found =
        std::ranges::find(verbs, verb, [](const auto& one) { return std::string_view(one.first); });
    if (found == verbs.end()) return unknown(verb);
    Object body(request.begin().value(), json::child("", verb), mistakes_);
    SetupResult<Value> answer = (this->*found->second)(body);
    if (!mistakes_.empty()) return first_mistake();
    if (!answer) return tl::unexpected<SetupError>(std::move(answer.error()));
    return to_line(Value{{verb, std::move(*answer)}});
  }

 private:
  using Verb = SetupResult<Value> (Answerer::*)(Object&);

  [[nodiscard]] static tl::unexpected<SetupError> unknown(const std::string& verb) {
    std::string names;
    for (const auto& [name, function] : verbs) names += (names.empty() ? "" : ", ") + std::string(name);
    return fail(component::Errc::bad_value,
                fmt::format("there is no command \"{}\"; there are: {}", verb, names));
  }
  [[nodiscard]] tl::unexpected<SetupError> first_mistake() {
    const json::Mistake& mistake = mistakes_.list().front();
    return fail(component::Errc::bad_value, mistake.where + ": " + mistake.reason);
  }
  /// Whether all keys of the request were right; otherwise the answer does not count.
  [[nodiscard]] bool is_right(Object& body) {
    body.finish();
    return mistakes_.empty();
  }
  /// An answer without content, or the error.
  template <class T>
  [[nodiscard]] static SetupResult<Value> done(const SetupResult<T>& result) {
    if (!result) return tl::unexpected<SetupError>(result.error());
    return Value(Value::object());
  }
  [[nodiscard]] robot::Manager& manager() const { return *commands_->manager_; }

  [[nodiscard]] std::string name_in(Object& body) {
    std::string name;
    body.required_name("name", name);
    return name;
  }
  [[nodiscard]] std::vector<std::string> names_in(Object& body, std::string_view key) {
    std::vector<std::string> names;
    const Value* list = body.find(key);
    if (list == nullptr) return names;
    if (!list->is_array() || list->size() > most_names) {
      mistakes_.add(body.at(key), fmt::format("must be a list of at most {} names", most_names));
      return names;
    }
    for (std::size_t i = 0; i < list->size(); ++i) {
      const auto name = json::to_name((*list)[i], json::child(body.at(key), i), mistakes_);
      names.push_back(name.value_or(""));
    }
    return names;
  }

  SetupResult<Value> list(Object& body) {
    Value rows = Value::array();
    if (!is_right(body)) return rows;
    for (const robot::ControllerStatus& status : manager().controllers()) rows.push_back(to_json(status));
    return rows;
  }

  SetupResult<Value> show(Object& body) {
    const std::string name = name_in(body);
    if (!is_right(body)) return Value();
    robot::Controller* controller = manager().find(name);
    const auto rows = manager().controllers();
    const auto row = std::ranges::find(rows, name, &robot::ControllerStatus::name);
    if (controller == nullptr || row == rows.end()) return no_such(name);
    Value one = to_json(*row);
    put_details(one, *controller);
    return one;
  }

  SetupResult<Value> load(Object& body) {
    const bool has_start = body.has("start");
    robot::ControllerDescription wanted = robot::read_controller(body, mistakes_);
    if (!is_right(body)) return Value();
    auto loaded = commands_->load(wanted);
    if (!loaded || !has_start || !wanted.start) return done(loaded);
    auto started = switch_noted({.start = {wanted.name}});
    if (!started) (void)remove(wanted.name);
    return done(started);
  }

  SetupResult<Value> unload(Object& body) {
    const std::string name = name_in(body);
    if (!is_right(body)) return Value();
    return remove(name);
  }
  [[nodiscard]] SetupResult<Value> remove(const std::string& name) {
    const auto controller = [&] {
      const component::NotedCalls noted(note_of(Value{{"unload", {{"name", name}}}}));
      return manager().unload(name);
    }();  // its ports end later, without the note
    // Its events have its name.
    commands_->take_events();
    return done(controller);
  }

  [[nodiscard]] SetupResult<Value> switch_noted(const robot::SwitchRequest& request) {
    const component::NotedCalls noted(note_of(request));
    return done(manager().switch_controllers(request));
  }
  SetupResult<Value> start(Object& body) {
    robot::SwitchRequest request;
    request.start.push_back(name_in(body));
    if (!is_right(body)) return Value();
    return switch_noted(request);
  }
  SetupResult<Value> stop(Object& body) {
    robot::SwitchRequest request;
    request.stop.push_back(name_in(body));
    if (!is_right(body)) return Value();
    return switch_noted(request);
  }
  SetupResult<Value> switch_all(Object& body) {
    robot::SwitchRequest request;
    request.start = names_in(body, "start");
    request.stop = names_in(body, "stop");
    body.word<SwitchPolicy>("strictness", request.policy, strictness_words);
    body.seconds("timeout", request.timeout, json::Range::positive(longest_timeout));
    if (!is_right(body)) return Value();
    return switch_noted(request);
  }

  SetupResult<Value> reset(Object& body) {
    const std::string name = name_in(body);
    if (!is_right(body)) return Value();
    const component::NotedCalls noted(note_of(Value{{"reset", {{"name", name}}}}));
    return done(manager().reset_controller(name));
  }

  SetupResult<Value> set(Object& body) {
    const std::string name = name_in(body);
    std::vector<component::Assignment> assignments;
    if (const Value* values = body.require("parameters"))
      assignments = component::assignments_from_json(*values, body.at("parameters"), mistakes_);
    std::string who = changed_by;
    if (body.has("who")) body.required_name("who", who);
    if (!is_right(body)) return Value();
    robot::Controller* controller = manager().find(name);
    if (controller == nullptr) return no_such(name);
    return done(set_noted(*controller, assignments, who));
  }

  SetupResult<Value> write(Object& body) {
    std::string port;
    body.required_name("port", port);
    const Value* const value = body.require("value");
    if (!is_right(body)) return Value();
    const std::size_t dot = port.rfind('.');
    if (dot == std::string::npos) return fail(component::Errc::bad_value, port + " is not CONTROLLER.PORT");
    robot::Controller* controller = manager().find(port.substr(0, dot));
    if (controller == nullptr) return no_such(port.substr(0, dot));
    return done(commands_->ports_->write(*controller, port.substr(dot + 1), *value, body.at("value")));
  }

  SetupResult<Value> interfaces(Object& body) {
    Value rows = Value::array();
    if (!is_right(body)) return rows;
    for (const robot::InterfaceInfo& info : manager().interfaces()) rows.push_back(to_json(info));
    return rows;
  }

  SetupResult<Value> events(Object& body) {
    std::uint64_t after = 0;
    if (const Value* value = body.find("after")) {
      constexpr auto largest = std::uint64_t{1} << 53;
      after = json::to_integer(*value, body.at("after"), mistakes_, 0, largest).value_or(0);
    }
    Value rows = Value::array();
    if (!is_right(body)) return rows;
    for (const ControllerEvent& event : commands_->events_after(after)) rows.push_back(to_json(event));
    return rows;
  }

  /// Code comes only from the folders that the program was started with.
  SetupResult<Value> library(Object& body) {
    std::string file;
    body.required_name("file", file);
    if (!is_right(body)) return Value();
    if (file.find('/') != std::string::npos) {
      return fail(
          component::Errc::bad_plugin,
          file + ": a command loads a file of the robot's folders (takt run --folder), by its name alone");
    }
    auto loaded = commands_->library_->load(file, commands_->folders_);
    if (!loaded) return done(loaded);
    // The types change nothing in the cycle. The recording tells when they were there.
    const component::NotedCalls noted(note_of(Value{{"library", {{"file", file}}}}));
    (void)manager().context().call([]() noexcept { return Status(); });
    return done(loaded);
  }

  /// Files come only into the folder that the program was started with, and none is replaced.
  SetupResult<Value> trace(Object& body) {
    std::string file;
    bool off = false;
    body.boolean("off", off);
    if (!off) body.required_name("file", file);
    if (!is_right(body)) return Value();
    record::TraceWriter* const traces = commands_->traces_;
    if (traces == nullptr) return fail(record::Errc::not_running, "this robot has no tracer");
    if (!off) {
      if (file.find('/') != std::string::npos) {
        return fail(component::Errc::bad_value,
                    file +
                        ": a trace is a file in the robot's folder of traces (takt run --trace-folder), by "
                        "its name alone");
      }
      return done(traces->start((std::filesystem::path(commands_->trace_folder_) / file).string()));
    }
    const auto totals = traces->stop();
    if (!totals) return tl::unexpected<SetupError>(totals.error());
    return Value{{"spans", totals->spans}, {"dropped", totals->dropped}};
  }

  [[nodiscard]] static tl::unexpected<SetupError> no_such(const std::string& name) {
    return fail(robot::Errc::no_such_controller, "no controller \"" + name + "\" is loaded");
  }

  static constexpr std::array<std::pair<const char*, Verb>, 14> verbs{{{"list", &Answerer::list},
                                                                       {"show", &Answerer::show},
                                                                       {"load", &Answerer::load},
                                                                       {"unload", &Answerer::unload},
                                                                       {"start", &Answerer::start},
                                                                       {"stop", &Answerer::stop},
                                                                       {"switch", &Answerer::switch_all},
                                                                       {"reset", &Answerer::reset},
                                                                       {"set", &Answerer::set},
                                                                       {"write", &Answerer::write},
                                                                       {"interfaces", &Answerer::interfaces},
                                                                       {"events", &Answerer::events},
                                                                       {"library", &Answerer::library},
                                                                       {"trace", &Answerer::trace}}};

  ControllerCommands* commands_;
  json::Mistakes mistakes_{1};
};

std::string describe(const ControllerEvent& event) {
  using Kind = robot::ManagerEvent::Kind;
  std::string text;
  switch (event.kind) {
    case Kind::controller_failed:
      text = "controller " + event.component + " failed";
      break;
    case Kind::controller_ended:
      text = "controller " + event.component + " ended";
      break;
    case Kind::fallback_started:
      text = "controller " + event.component + " started as fallback";
      break;
    case Kind::device_lost:
      text = "device " + event.component + " is lost";
      break;
    case Kind::device_returned:
      text = "device " + event.component + " is back";
      break;
    case Kind::activation_failed:
      text = "controller " + event.component + " could not be activated";
      break;
  }
  return event.error.room == Room::none ? text : text + ": " + text_of(event.error);
}

ControllerCommands::ControllerCommands(robot::Manager& manager, ComponentLibrary& library,
                                       std::vector<std::string> folders)
    : manager_(&manager),
      library_(&library),
      folders_(std::move(folders)),
      ports_(std::make_unique<PortWriter>()) {}

ControllerCommands::~ControllerCommands() = default;

void ControllerCommands::trace_to(record::TraceWriter& writer, std::string folder) {
  traces_ = &writer;
  trace_folder_ = std::move(folder);
}

SetupResult<std::string> ControllerCommands::request(std::string_view json) {
  const auto document = json::parse(json);
  if (!document) return fail(component::Errc::bad_value, document.error().reason);
  const std::lock_guard lock(mutex_);
  return Answerer(*this).run(*document);
}

SetupResult<std::string> ControllerCommands::command(std::string_view words) {
  const auto request = controllers_request(words_of(words));
  if (!request) return tl::unexpected<SetupError>(request.error());
  const std::lock_guard lock(mutex_);
  return Answerer(*this).run(*request);
}

SetupResult<void> ControllerCommands::load(const robot::ControllerDescription& wanted) {
  const auto made = library_->make(wanted.type, wanted.name);
  if (!made) return tl::unexpected<SetupError>(made.error());
  auto controller = std::dynamic_pointer_cast<robot::Controller>(*made);
  if (controller == nullptr) {
    return fail(robot::Errc::not_a_controller,
                "\"" + wanted.type + "\" is a type of components, but not of controllers");
  }
  if (auto set = controller->parameters().set(wanted.parameters, changed_by); !set) return set;
  Value request = {{"load", robot::controller_json(wanted)}};
  request["load"].erase("start");
  const component::NotedCalls noted(note_of(request));
  return manager_->load(std::move(controller), wanted.config);
}

std::vector<component::Assignment> ControllerCommands::parameters() {
  const std::lock_guard lock(mutex_);
  std::vector<component::Assignment> all;
  for (const robot::ControllerStatus& status : manager_->controllers()) {
    const robot::Controller* controller = manager_->find(status.name);
    if (controller == nullptr) continue;
    for (component::Assignment& one : controller->parameters().values())
      all.push_back({status.name + "." + one.parameter, std::move(one.value)});
  }
  return all;
}

std::vector<std::string> ControllerCommands::set(const std::vector<component::Assignment>& assignments,
                                                 std::string_view who) {
  const std::lock_guard lock(mutex_);
  std::map<std::string, std::vector<component::Assignment>> by_controller;
  for (const component::Assignment& one : assignments) {
    const std::size_t dot = std::min(one.parameter.find('.'), one.parameter.size());
    by_controller[one.parameter.substr(0, dot)].push_back(
        {one.parameter.substr(std::min(dot + 1, one.parameter.size())), one.value});
  }
  std::vector<std::string> mistakes;
  for (const auto& [name, own] : by_controller) {
    robot::Controller* controller = manager_->find(name);
    if (controller == nullptr) {
      mistakes.push_back("no controller \"" + name + "\" is loaded");
    } else if (const auto set = set_noted(*controller, own, who); !set) {
      mistakes.push_back(name + ": " + set.error().message);
    }
  }
  return mistakes;
}

void ControllerCommands::take_events() {
  const std::lock_guard lock(events_mutex_);
  while (const auto event = manager_->next_event()) {
    events_.push_back(
        {++last_event_, event->time, event->kind, std::string(event->component.view()), event->error});
    if (events_.size() > kept_events) events_.pop_front();
  }
}

std::vector<ControllerEvent> ControllerCommands::events_after(std::uint64_t number) {
  take_events();
  const std::lock_guard lock(events_mutex_);
  std::vector<ControllerEvent> list;
  for (const ControllerEvent& event : events_) {
    if (event.number > number) list.push_back(event);
  }
  return list;
}

}  // namespace takt::app
