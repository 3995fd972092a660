#include "takt/app/system_description.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "component/parameter_value_json.hpp"
#include "component/placement_json.hpp"
#include "json/strict.hpp"
#include "takt/component/component.hpp"

namespace takt::app {
namespace {

using json::Mistakes;
using json::Object;
using json::Range;
using json::Value;

/// Reads one system, list by list.
class Reader {
 public:
  [[nodiscard]] SetupResult<SystemDescription> read(const Value& document) {
    Object top(document, "", mistakes_);
    name(top, "name", system_.name);
    texts(top, "libraries", system_.libraries);
    each(top, "contexts", [this](Object& one) { context(one); });
    each(top, "components", [this](Object& one) { component(one); });
    each(top, "connections", [this](Object& one) { connection(one); });
    each(top, "services", [this](Object& one) { service(one); });
    each(top, "processes", [this](Object& one) { process(one); });
    top.ignore("description");
    top.finish();
    complete_processes();
    if (mistakes_.empty()) return std::move(system_);
    std::string list;
    for (const json::Mistake& mistake : mistakes_.list())
      list +=
          (list.empty() ? "" : "\n") + (mistake.where.empty() ? "/" : mistake.where) + ": " + mistake.reason;
    return fail(component::Errc::bad_system, list);
  }

 private:
  template <class Read>
  void each(Object& object, std::string_view key, Read read_one) {
    const Value* list = object.find(key);
    if (list == nullptr) return;
    if (!list->is_array()) return mistakes_.add(object.at(key), "is not a list");
    for (std::size_t i = 0; i < list->size(); ++i) {
      Object one((*list)[i], json::child(object.at(key), i), mistakes_);
      read_one(one);
      one.finish();
    }
  }

  void texts(Object& object, std::string_view key, std::vector<std::string>& out) {
    const Value* list = object.find(key);
    if (list == nullptr) return;
    if (!list->is_array()) return mistakes_.add(object.at(key), "is not a list");
    for (std::size_t i = 0; i < list->size(); ++i) {
      if (auto text = json::to_name((*list)[i], json::child(object.at(key), i), mistakes_))
        out.push_back(*text);
    }
  }

  void name(Object& object, std::string_view key, std::string& out) {
    object.required_name(key, out);
    if (!out.empty() && !component::is_valid_name(out)) {
      mistakes_.add(object.at(key),
                    "\"" + out + "\" is no name: 1 to 31 letters, digits, '_', '-' or '.' are allowed");
    }
  }
  /// A name that nothing before has.
  void new_name(Object& object, std::string& out, std::set<std::string>& known) {
    name(object, "name", out);
    if (!out.empty() && !known.insert(out).second)
      mistakes_.add(object.at("name"), "\"" + out + "\" is the name of another one before");
  }
  void integer(Object& object, std::string_view key, std::uint32_t& out, std::uint64_t least,
               std::uint64_t most) {
    if (const Value* value = object.find(key)) {
      if (auto number = json::to_integer(*value, object.at(key), mistakes_, least, most))
        out = static_cast<std::uint32_t>(*number);
    }
  }
  void order(Object& object, int& out) {
    double number = out;
    object.number("order", number, Range::between(-1e6, 1e6));
    out = static_cast<int>(number);
    if (out != number) mistakes_.add(object.at("order"), "is not an integer");
  }
  void time(Object& object, std::string_view key, double unit, Duration& out, Range range) {
    if (!object.has(key)) return;
    double number = to_seconds(out) / unit;
    object.number(key, number, range);
    out = from_seconds(number * unit);
  }

  void context(Object& one) {
    ContextDescription context;
    new_name(one, context.name, runners_);
    if (one.has("process")) name(one, "process", context.process);
    bool events = false;
    one.boolean("events", events);
    time(one, "period_ms", 1e-3, context.period, Range{0.01, 1e7});
    time(one, "silence_ms", 1e-3, context.silence, Range{1, 1e7});
    time(one, "stuck_after_ms", 1e-3, context.stuck_after, Range{1, 1e7});
    constexpr std::pair<std::string_view, bool> kinds[] = {{"components", false}, {"robot", true}};
    bool is_robot = false;
    one.word<bool>("kind", is_robot, kinds);
    if (is_robot) robot(one, context.robot.emplace());
    constexpr std::pair<std::string_view, WhenStuck> when_stuck[] = {{"report", WhenStuck::report},
                                                                     {"end-process", WhenStuck::end_process}};
    one.word<WhenStuck>("when_stuck", context.when_stuck, when_stuck);
    if (is_robot) {
      robots_.insert(context.name);
      if (events || one.has("period_ms"))
        mistakes_.add(one.where(), "a robot has the rate of its file, neither \"period_ms\" nor \"events\"");
    } else if (events == one.has("period_ms"))
      mistakes_.add(one.where(), "needs either \"period_ms\" or \"events\": true");
    if (const Value* cores = one.find("cpus")) {
      for (std::size_t i = 0; cores->is_array() && i < cores->size(); ++i) {
        const std::string where = json::child(one.at("cpus"), i);
        if (auto core = json::to_integer((*cores)[i], where, mistakes_, 0, 1023))
          context.thread.cores.push_back(static_cast<int>(*core));
      }
      if (!cores->is_array()) mistakes_.add(one.at("cpus"), "is not a list");
      context.thread.affinity = rt::Want::attempt;
    }
    std::uint32_t priority = 0;
    integer(one, "priority", priority, 1, 99);
    if (priority != 0) {
      context.thread.fifo = context.thread.lock_memory = context.thread.stack = rt::Want::attempt;
      context.thread.priority = static_cast<int>(priority);
    }
    system_.contexts.push_back(std::move(context));
  }

  void robot(Object& one, RobotContext& robot) {
    one.required_name("file", robot.file);
    one.boolean("simulate", robot.simulate);
    if (one.has("port")) {
      std::uint32_t port = 0;
      integer(one, "port", port, 0, 65'535);
      robot.port = static_cast<std::uint16_t>(port);
    }
    if (one.has("record")) one.required_name("record", robot.recording);
  }

  void component(Object& one) {
    ComponentDescription component;
    new_name(one, component.name, components_);
    name(one, "type", component.type);
    name(one, "context", component.context);
    if (!component.context.empty() && !runners_.contains(component.context)) {
      mistakes_.add(one.at("context"), "\"" + component.context +
                                           "\" is neither a context nor a composite that is listed before");
    }
    if (robots_.contains(component.context))
      mistakes_.add(one.at("context"),
                    "\"" + component.context + "\" is a robot: its file names its controllers");
    if (component.type == "Composite" && !runners_.insert(component.name).second)
      mistakes_.add(one.at("name"), "\"" + component.name + "\" is the name of a context");
    if (component.type == "Recording") one.required_name("file", component.recording);
    order(one, component.placement.order);
    component::read_rate(one, mistakes_, component.placement);
    if (const Value* values = one.find("parameters"))
      component.parameters = component::assignments_from_json(*values, one.at("parameters"), mistakes_);
    if (const Value* sets = one.find("sets")) {
      if (!sets->is_object()) mistakes_.add(one.at("sets"), "is not an object of sets");
      if (sets->is_object()) {
        for (const auto& [set, values] : sets->items())
          component.sets[set] =
              component::assignments_from_json(values, json::child(one.at("sets"), set), mistakes_);
      }
    }
    one.boolean("active", component.active);
    system_.components.push_back(std::move(component));
  }

  void connection(Object& one) {
    ConnectionDescription connection;
    one.required_name("from", connection.from);
    one.required_name("to", connection.to);
    constexpr std::pair<std::string_view, component::Buffering> kinds[] = {
        {"latest", component::Buffering::latest},
        {"circular", component::Buffering::circular},
        {"fifo", component::Buffering::fifo}};
    one.word<component::Buffering>("buffering", connection.options.buffering, kinds);
    integer(one, "capacity", connection.options.capacity, 1, component::max_samples);
    order(one, connection.options.order);
    one.boolean("wakes", connection.options.wakes);
    system_.connections.push_back(std::move(connection));
  }

  void service(Object& one) {
    ServiceDescription service;
    one.required_name("from", service.from);
    one.required_name("to", service.to);
    system_.services.push_back(std::move(service));
  }

  void process(Object& one) {
    ProcessDescription process;
    new_name(one, process.name, processes_);
    constexpr std::pair<std::string_view, RestartPolicy> policies[] = {
        {"never", RestartPolicy::never},
        {"on-failure", RestartPolicy::on_failure},
        {"always", RestartPolicy::always}};
    one.word<RestartPolicy>("restart", process.restart, policies);
    time(one, "delay_ms", 1e-3, process.delay, Range::between(0, 1e6));
    integer(one, "most", process.most, 1, 1'000'000);
    time(one, "alive_s", 1, process.alive, Range::between(0.05, 1e3));
    time(one, "silence_s", 1, process.silence, Range::between(0.1, 1e6));
    if (process.silence > Duration(0) && process.silence < 3 * process.alive)
      mistakes_.add(one.at("silence_s"), "is less than three times \"alive_s\"");
    if (one.has("log")) one.required_name("log", process.log);
    if (const Value* recording = one.find("record")) record(*recording, one.at("record"), process);
    const bool used =
        std::any_of(system_.contexts.begin(), system_.contexts.end(),
                    [&](const ContextDescription& context) { return context.process == process.name; });
    if (!process.name.empty() && !used)
      mistakes_.add(one.at("name"), "no context names the process \"" + process.name + "\"");
    system_.processes.push_back(std::move(process));
  }

  void record(const Value& value, const std::string& where, ProcessDescription& process) {
    Object one(value, where, mistakes_);
    one.required_name("file", process.recording);
    texts(one, "ports", process.recorded);
    one.finish();
  }

  void complete_processes() {
    for (const ContextDescription& context : system_.contexts) {
      if (processes_.insert(context.process).second) system_.processes.push_back({context.process});
    }
    std::stable_partition(system_.processes.begin(), system_.processes.end(),
                          [](const ProcessDescription& one) { return one.name == main_process; });
    if (system_.contexts.empty()) mistakes_.add("/contexts", "a system has at least one context");
  }

  SystemDescription system_;
  Mistakes mistakes_{64};
  std::set<std::string> runners_, robots_, components_, processes_;
};

}  // namespace

const ContextDescription* SystemDescription::context_of(std::string_view runner) const {
  runner = runner.substr(0, runner.find('/'));
  for (const ContextDescription& context : contexts) {
    if (context.name == runner) return &context;
  }
  for (const ComponentDescription& component : components) {
    if (component.name == runner)
      return context_of(component.context);  // a composite is listed before its parts
  }
  return nullptr;
}

bool SystemDescription::is_recorded(std::string_view component) const {
  return std::ranges::any_of(components, [&](const ComponentDescription& one) {
    return one.name == component && !one.recording.empty();
  });
}

const ProcessDescription& SystemDescription::process(std::string_view wanted) const {
  const auto found =
      std::ranges::find_if(processes, [&](const ProcessDescription& one) { return one.name == wanted; });
  return found == processes.end() ? processes.front() : *found;
}

std::string SystemDescription::process_of(std::string_view runner) const {
  if (const ContextDescription* context = context_of(runner)) return context->process;
  for (std::size_t i = 0; i < processes.size(); ++i) {
    if (!processes[i].recording.empty() && runner == recorder_name(i)) return processes[i].name;
  }
  return {};
}

std::string recorder_name(std::size_t process) {
  return process == 0 ? "recorder" : "recorder" + std::to_string(process + 1);
}

SetupResult<SystemDescription> system_from_json(std::string_view text) {
  const auto document = json::parse(text);
  if (!document) {
    const json::Mistake& mistake = document.error();
    return fail(component::Errc::bad_system,
                (mistake.line != 0 ? "line " + std::to_string(mistake.line) + ": " : "") + mistake.reason);
  }
  return Reader().read(*document);
}

SetupResult<SystemDescription> system_from_file(const std::string& path) {
  const auto text = json::read_file(path, std::size_t{1} << 20);
  if (!text) return fail(component::Errc::bad_system, text.error().reason);
  auto system = system_from_json(*text);
  if (!system) return system;
  const auto folder = std::filesystem::path(path).parent_path();
  for (ProcessDescription& process : system->processes) {
    for (std::string* file : {&process.log, &process.recording}) {
      if (!file->empty()) *file = (folder / *file).string();
    }
  }
  for (ContextDescription& context : system->contexts) {
    if (!context.robot) continue;
    for (std::string* file : {&context.robot->file, &context.robot->recording}) {
      if (!file->empty()) *file = (folder / *file).string();
    }
  }
  for (ComponentDescription& component : system->components) {
    if (!component.recording.empty()) component.recording = (folder / component.recording).string();
  }
  return system;
}

}  // namespace takt::app
