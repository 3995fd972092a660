#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <ctime>
#include <optional>

#include "app/command_words.hpp"
#include "app/component_json.hpp"
#include "app/system_parts.hpp"
#include "json/strict.hpp"
#include "takt/app/shared_ports.hpp"
#include "takt/component/parameters_json.hpp"
#include "takt/component/service.hpp"
#include "takt/describe.hpp"
#include "takt/version.hpp"

#include <unistd.h>

namespace takt::app {
namespace {

using component::Component;
using component::ExecutionContext;
using json::Value;

Value refusal(const std::string& reason) { return {{"ok", false}, {"error", reason}}; }

Value answer_of(const Status& status) {
  return status ? Value{{"ok", true}} : refusal(std::string(describe(status.error())));
}
template <class T>
Value answer_of(const SetupResult<T>& result) {
  return result ? Value{{"ok", true}} : refusal(result.error().message);
}

Value to_json(const component::ConnectionInfo& info) {
  Value one = {
      {"from", info.from}, {"to", info.to}, {"buffering", component::to_string(info.options.buffering)}};
  if (!info.exchange.empty()) one["exchange"] = info.exchange;
  if (info.options.buffering != component::Buffering::latest) one["capacity"] = info.options.capacity;
  return one;
}

Value to_json(const component::Port& port) {
  Value one = {{"name", port.name()}, {"type", port.schema()}};
  if (const auto* out = dynamic_cast<const component::OutPortBase*>(&port)) {
    one["direction"] = "out";
    one["written"] = out->written();
    one["refused"] = out->refused();
  }
  if (const auto* in = dynamic_cast<const component::InPortBase*>(&port)) {
    one["direction"] = "in";
    one["read"] = in->samples_read();
    one["missed"] = in->missed();
  }
  one["connections"] = Value::array();
  for (const component::ConnectionInfo& info : connections_of(port))
    one["connections"].push_back(to_json(info));
  return one;
}

Value to_json(const component::ServicePort& service) {
  Value one = {{"name", service.name()},
               {"interface", service.interface_name()},
               {"direction", service.is_provided() ? "provided" : "required"}};
  if (!service.is_provided()) {
    const auto* provider = static_cast<const component::RequiredServiceBase&>(service).provider();
    one["provider"] = provider != nullptr ? Value(provider->full_name()) : Value(nullptr);
  }
  return one;
}

Value summary_of(const Component& component) {
  Value one = {{"name", component.name()},
               {"type", component.metadata().type},
               {"state", component::to_string(component.state())}};
  if (const ExecutionContext* context = component.context()) one["context"] = context->name();
  if (component.state() == component::ComponentState::error)
    one["error"] = std::string(describe(component.error()));
  return one;
}

/// A context with the statistics of its loop. Without them if it does not answer.
Value to_json(ComponentSystem::Parts::Runner& runner) {
  Value one = {{"name", runner.description.name},
               {"process", runner.description.process},
               {"period_ms", to_seconds(runner.description.period) * 1e3},
               {"cycles", runner.context.cycles()}};
  if (runner.description.period == Duration(0)) return one;
  if (const auto loop = runner.context.loop_statistics(std::chrono::milliseconds(100))) {
    const auto microseconds = [](Duration time) { return to_seconds(time) * 1e6; };
    one["missed_periods"] = loop->overruns;
    one["late_cycles"] = loop->late_cycles;
    one["lateness_us"] = {{"median", microseconds(loop->lateness.percentile(50))},
                          {"p99", microseconds(loop->lateness.percentile(99))},
                          {"max", microseconds(loop->lateness.max())}};
    one["busy_us"] = {{"median", microseconds(loop->busy.percentile(50))},
                      {"p99", microseconds(loop->busy.percentile(99))},
                      {"max", microseconds(loop->busy.max())}};
  }
  return one;
}

/// The options of a connection: {"buffering": "fifo", "capacity": 8, "order": 0, "wakes": false}.
SetupResult<component::ConnectionOptions> options_from(std::string_view text) {
  component::ConnectionOptions options;
  if (text.find_first_not_of(' ') == std::string_view::npos) return options;
  const auto document = json::parse(text);
  if (!document) return fail(component::Errc::bad_value, document.error().reason);
  json::Mistakes mistakes(8);
  json::Object object(*document, "", mistakes);
  constexpr std::pair<std::string_view, component::Buffering> kinds[] = {
      {"latest", component::Buffering::latest},
      {"circular", component::Buffering::circular},
      {"fifo", component::Buffering::fifo}};
  object.word<component::Buffering>("buffering", options.buffering, kinds);
  double capacity = options.capacity;
  double order = options.order;
  object.number("capacity", capacity, json::Range::between(1, component::max_samples));
  object.number("order", order, json::Range::between(-1e6, 1e6));
  object.boolean("wakes", options.wakes);
  object.finish();
  if (!mistakes.empty()) {
    const json::Mistake& first = mistakes.list().front();
    return fail(component::Errc::bad_value, first.where + ": " + first.reason);
  }
  options.capacity = static_cast<std::uint32_t>(capacity);
  options.order = static_cast<int>(order);
  return options;
}

/// A status names so many components that failed.
constexpr std::size_t max_reasons = 8;

/// "2026-11-28T09:00:00Z" of a Unix time.
std::string text_of(Time time) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count();
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(static_cast<std::time_t>(seconds)));
}

/// The exchange of a segment that two processes share.
constexpr const char* joined_exchange = "samples";

/// Answers the commands of one system.
class Commands {
 public:
  Commands(ComponentSystem::Parts& parts, std::string_view who) : parts_(&parts), who_(who) {}

  /// A command that a robot's controllers obey as they obey takt ctl: "start arm/speed". std::nullopt: it is
  /// none. The caller holds no lock of controllers.
  [[nodiscard]] std::optional<Value> run_by_robot(std::string_view line) const {
    const std::string verb(take_word(line));
    const std::string_view name = take_word(line);
    const std::size_t slash = name.find('/');
    if (slash == std::string_view::npos ||
        (verb != "start" && verb != "stop" && verb != "reset" && verb != "set" && verb != "write"))
      return std::nullopt;
    for (const auto& runner : parts_->robots) {
      if (!runner->robot || runner->description.name != name.substr(0, slash)) continue;
      Value body = {{verb == "write" ? "port" : "name", name.substr(slash + 1)}};
      if (verb == "set" || verb == "write") {
        const auto values = json::parse(line);
        if (!values) return refusal(values.error().reason);
        body[verb == "set" ? "parameters" : "value"] = *values;
        if (verb == "set" && json::is_name(who_)) body["who"] = who_;
      }
      return answer_of(runner->robot->controllers().request(to_line({{verb, std::move(body)}})));
    }
    return std::nullopt;
  }

  [[nodiscard]] Value run(std::string_view line) {
    const std::string_view verb = take_word(line);
    if (verb == "list") return list();
    if (verb == "status") return status();
    if (verb == "connect") return connect(line);
    if (verb == "disconnect") return disconnect(line);
    if (verb == "write") return write(line);
    if (verb == "offer") return offer(line);
    if (verb == "join") return join(line);
    if (verb == "load") return load(std::string(take_rest(line)));
    const std::string name(take_word(line));
    Component* component = parts_->find(name);
    const bool is_known = verb == "show" || verb == "start" || verb == "stop" || verb == "reset" ||
                          verb == "set" || verb == "apply" || verb == "migrate" || verb == "replace";
    if (!is_known) {
      return refusal(fmt::format(
          "there is no command \"{}\"; there are: list, status, show, start, stop, reset, set, apply, "
          "write, connect, disconnect, migrate, load, replace",
          verb));
    }
    if (component == nullptr) return refusal(fmt::format("there is no component \"{}\"", name));
    if (verb == "show") return show(*component, name);
    if (name.find('/') != std::string::npos)
      return refusal(fmt::format("{} is a controller of a robot, for which there is no {}", name, verb));
    if (verb == "set") return set(*component, line);
    if (verb == "replace") return replace(name, take_word(line));
    if (verb == "apply")
      return answer_of(component->parameters().apply(std::string(take_word(line)), who_, request_patience));
    ExecutionContext* context = component->context();
    if (context == nullptr) return refusal(name + " participates in no context");
    if (verb == "start") return answer_of(context->activate(*component, request_patience));
    if (verb == "stop") return answer_of(context->deactivate(*component, request_patience));
    if (verb == "reset") return answer_of(context->reset(*component, request_patience));
    return migrate(*component, *context, std::string(take_word(line)));
  }

 private:
  [[nodiscard]] Value list() const {
    Value contexts = Value::array();
    for (const auto& runner : parts_->runners) contexts.push_back(to_json(*runner));
    for (const auto& runner : parts_->robots) {
      if (runner->robot) contexts.push_back(context_of(*runner));
    }
    Value components = Value::array();
    Value connections = Value::array();
    Value ports = Value::array();
    for (const auto& part : parts_->components) {
      components.push_back(summary_of(*part.component));
      for (const component::Port* port : part.component->ports()) {
        const bool writes = dynamic_cast<const component::OutPortBase*>(port) != nullptr;
        ports.push_back(to_json(*port));
        ports.back()["name"] = port->full_name();
        ports.back().erase("connections");
        for (const auto& info : connections_of(*port)) {
          if (writes || info.from.empty()) connections.push_back(to_json(info));
        }
      }
    }
    for (const auto& runner : parts_->robots) {
      if (runner->robot) add_controllers(*runner, components, ports, connections);
    }
    name_controllers_in(connections);
    Value answer = {{"ok", true},           {"system", parts_->description.name},
                    {"contexts", contexts}, {"components", components},
                    {"ports", ports},       {"connections", connections}};
    // Equal runs in virtual time give equal answers.
    if (!parts_->is_virtual) answer["processes"] = Value::array({status()});
    return answer;
  }

  /// A robot as a context: its state is its last report about itself.
  [[nodiscard]] Value context_of(const ComponentSystem::Parts::RobotRunner& runner) const {
    const std::scoped_lock lock(parts_->report_mutex);
    return {{"name", runner.description.name},
            {"kind", "robot"},
            {"process", runner.description.process},
            {"robot", runner.robot->description().name},
            {"period_ms", to_seconds(runner.robot->description().period) * 1e3},
            {"cycles", runner.robot->manager().context().cycles()},
            {"server", runner.robot->place()},
            {"state", runner.state}};
  }
  /// The controllers of a robot, as "robot/controller".
  static void add_controllers(const ComponentSystem::Parts::RobotRunner& runner, Value& components,
                              Value& ports, Value& connections) {
    robot::Manager& manager = runner.robot->manager();
    const std::string prefix = runner.description.name + "/";
    for (const robot::ControllerStatus& status : manager.controllers()) {
      const Component* const controller = manager.find(status.name);
      if (controller == nullptr) continue;  // it failed to load
      components.push_back(summary_of(*controller));
      components.back()["name"] = prefix + controller->name();
      components.back()["context"] = runner.description.name;
      for (const component::Port* port : controller->ports()) {
        ports.push_back(to_json(*port));
        ports.back()["name"] = prefix + port->full_name();
        ports.back().erase("connections");
        if (dynamic_cast<const component::OutPortBase*>(port) == nullptr) continue;
        for (const auto& info : connections_of(*port)) connections.push_back(to_json(info));
      }
    }
  }
  /// Ports know the names of their components alone. The connections of the system know the robots, too.
  void name_controllers_in(Value& connections) const {
    const auto own = [](const std::string& name) { return name.substr(name.find('/') + 1); };
    for (const ComponentSystem::Parts::Wire& wire : parts_->wires) {
      const auto one = std::ranges::find_if(connections, [&](const Value& connection) {
        return connection["from"] == own(wire.from) && connection["to"] == own(wire.to);
      });
      if (one == connections.end()) continue;
      (*one)["from"] = wire.from;
      (*one)["to"] = wire.to;
    }
  }

  /// The status is "stuck", "error" or "ok", with the reasons.
  [[nodiscard]] Value status() const {
    Value reasons = Value::array();
    for (const auto& part : parts_->components) {
      if (part.component->state() == component::ComponentState::error && reasons.size() < max_reasons)
        reasons.push_back(fmt::format("{}: {}", part.component->name(), describe(part.component->error())));
    }
    for (const auto& runner : parts_->robots) {
      const std::scoped_lock lock(parts_->report_mutex);
      if (!runner->is_well && reasons.size() < max_reasons)
        reasons.push_back(runner->description.name + ": " + runner->state);
    }
    const char* state = reasons.empty() ? "ok" : "error";
    if (parts_->stuck) state = "stuck";
    const ProcessDescription& process = parts_->description.process(parts_->options.process);
    return {{"ok", true},
            {"system", parts_->description.name},
            {"process", process.name},
            {"takt", TAKT_VERSION},
            {"pid", ::getpid()},
            {"started", text_of(parts_->began_unix)},
            {"up_s", to_seconds(parts_->now() - parts_->began)},
            {"alive_s", to_seconds(process.alive)},
            {"status", state},
            {"reasons", reasons}};
  }

  [[nodiscard]] static Value show(Component& component, const std::string& name) {
    Value answer = summary_of(component);
    answer["ok"] = true;
    answer["name"] = name;
    put_details(answer, component);
    answer["ports"] = Value::array();
    for (const component::Port* port : component.ports()) answer["ports"].push_back(to_json(*port));
    answer["services"] = Value::array();
    for (const component::ServicePort* service : component.services())
      answer["services"].push_back(to_json(*service));
    if (ExecutionContext* context = component.context()) {
      if (const auto rows = context->participants(request_patience)) {
        for (const component::Participant& row : *rows) {
          if (row.component != &component) continue;
          answer["executions"] = row.executions;
          answer["over_budget"] = row.over_budget;
          answer["longest_us"] = to_seconds(row.longest) * 1e6;
          answer["divisor"] = row.placement.divisor;
        }
      }
    }
    return answer;
  }

  [[nodiscard]] Value set(Component& component, std::string_view line) const {
    const auto assignments = component::assignments_from_json(line);
    if (!assignments) return refusal(assignments.error().message);
    return answer_of(component.parameters().set(*assignments, who_, request_patience));
  }

  [[nodiscard]] Value write(std::string_view line) const {
    const std::string port(take_word(line));
    const std::size_t dot = std::min(port.rfind('.'), port.size());
    Component* const component = parts_->find(port.substr(0, dot));
    if (component == nullptr || dot == port.size())
      return refusal(fmt::format("there is no port \"{}\"", port));
    const auto value = json::parse(line);
    if (!value) return refusal(value.error().reason);
    return answer_of(parts_->writer.write(*component, port.substr(dot + 1), *value, ""));
  }

  [[nodiscard]] Value migrate(Component& component, ExecutionContext& from, const std::string& name) const {
    ExecutionContext* to = parts_->find_context(name);
    if (to == nullptr) return refusal(fmt::format("there is no context \"{}\" in this process", name));
    component::Switch request;
    const auto rows = from.participants(request_patience);
    if (!rows) return refusal(std::string(describe(rows.error())));
    component::Placement placement;
    for (const component::Participant& row : *rows) {
      if (row.component == &component) placement = row.placement;
    }
    request.migrate = {{&component, to, placement}};
    return answer_of(from.apply(request, request_patience).status);
  }

  /// Code comes only from the folders of the system and from the files that its description names.
  [[nodiscard]] Value load(const std::string& file) const {
    const auto& known = parts_->description.libraries;
    if (file.find('/') != std::string::npos && std::find(known.begin(), known.end(), file) == known.end()) {
      return refusal(fmt::format(
          "{}: a command loads a file of the system's folders (takt launch --folder), or one that the "
          "system's file names",
          file));
    }
    return answer_of(parts_->library->load(file, parts_->options.folders));
  }

  [[nodiscard]] Value replace(const std::string& name, std::string_view type) const {
    ComponentSystem::Parts::Part& part = *parts_->find_part(name);
    if (type.empty()) type = part.component->metadata().type;
    const auto done = parts_->replace(part, type, who_);
    Value answer = answer_of(done);
    if (done) {
      answer["version"] = part.component->metadata().version;
      answer["not_taken_over"] = done->not_taken_over;
    }
    return answer;
  }

  [[nodiscard]] Value connect(std::string_view line) const {
    const std::string from(take_word(line)), to(take_word(line));
    const auto out = parts_->find_port<component::OutPortBase>(from);
    if (!out) return refusal(out.error().message);
    const auto in = parts_->find_port<component::InPortBase>(to);
    if (!in) return refusal(in.error().message);
    const auto options = options_from(line);
    if (!options) return refusal(options.error().message);
    auto made = component::connect(**out, **in, *options, request_patience);
    if (made) parts_->wires.push_back({from, to, nullptr, std::move(*made)});
    return answer_of(made);
  }

  /// The parts of "offer" and "join": SEGMENT FROM TO [OPTIONS].
  struct Joint {
    std::string segment, from, to;
    component::ConnectionOptions options;
  };
  [[nodiscard]] SetupResult<Joint> joint_from(std::string_view line) const {
    Joint joint;
    joint.segment = take_word(line);
    joint.from = take_word(line);
    joint.to = take_word(line);
    const auto options = options_from(line);
    if (!options) return tl::unexpected<SetupError>(options.error());
    joint.options = *options;
    const std::string own = segment_name(parts_->description) + "-";
    if (joint.segment.starts_with(own)) return joint;
    return fail(
        component::Errc::bad_value,
        fmt::format("\"{}\" is no segment of this system: their names begin with {}", joint.segment, own));
  }

  /// Creates the segment, and writes into it.
  [[nodiscard]] Value offer(std::string_view line) const {
    const auto joint = joint_from(line);
    if (!joint) return refusal(joint.error().message);
    const auto out = parts_->find_port<component::OutPortBase>(joint->from);
    if (!out) return refusal(out.error().message);
    std::array wanted = {(*out)->declare(joint->options.buffering, joint->options.capacity)};
    wanted[0].name = joined_exchange;
    auto segment = platform::Segment::create(joint->segment, wanted);
    if (!segment) return refusal(segment.error().message);
    auto memory = std::make_unique<platform::Segment>(std::move(*segment));
    auto made = app::connect(**out, *memory, joined_exchange,
                             joint->options.wakes ? parts_->bell_of(joint->to) : nullptr);
    if (!made) static_cast<void>(platform::Segment::remove(joint->segment));
    if (made) parts_->wires.push_back({joint->from, joint->to, std::move(memory), std::move(*made)});
    return answer_of(made);
  }

  /// Reads from the segment, and removes its name: only the two processes use it.
  [[nodiscard]] Value join(std::string_view line) const {
    const auto joint = joint_from(line);
    if (!joint) return refusal(joint.error().message);
    const auto in = parts_->find_port<component::InPortBase>(joint->to);
    if (!in) return refusal(in.error().message);
    auto segment = platform::Segment::open(joint->segment);
    if (!segment) return refusal(segment.error().message);
    auto memory = std::make_unique<platform::Segment>(std::move(*segment));
    static_cast<void>(platform::Segment::remove(joint->segment));
    auto made = app::connect(*memory, joined_exchange, **in, joint->options.order);
    if (made) parts_->wires.push_back({joint->from, joint->to, std::move(memory), std::move(*made)});
    return answer_of(made);
  }

  [[nodiscard]] Value disconnect(std::string_view line) const {
    const std::string from(take_word(line)), to(take_word(line));
    auto& wires = parts_->wires;
    const auto wire = std::find_if(wires.begin(), wires.end(), [&](const ComponentSystem::Parts::Wire& one) {
      return one.from == from && one.to == to;
    });
    if (wire == wires.end()) return refusal(fmt::format("there is no connection {} -> {}", from, to));
    const Status cut = wire->connection.cut(request_patience);
    if (cut) wires.erase(wire);
    return answer_of(cut);
  }

  ComponentSystem::Parts* parts_;
  std::string who_;
};

}  // namespace

std::string ComponentSystem::command(std::string_view line, std::string_view who) {
  Commands commands(*parts_, who);
  std::optional<Value> answered = commands.run_by_robot(line);
  if (!answered) {
    // Controllers of robots stay loaded meanwhile. A status needs none, so it waits for no command to them.
    std::vector<std::unique_lock<std::mutex>> holds;
    for (const auto& runner : parts_->robots) {
      if (runner->robot && line != "status") holds.push_back(runner->robot->controllers().hold());
    }
    answered = commands.run(line);
  }
  const Value& answer = *answered;
  // What only asks is not logged.
  if (parts_->log && line != "list" && line != "status" && !line.starts_with("show "))
    parts_->log->write(
        parts_->now(), rt::LogLevel::info, who,
        fmt::format("{}: {}", line, answer.value("ok", false) ? "done" : answer.value("error", "")));
  return to_line(answer);
}

}  // namespace takt::app
