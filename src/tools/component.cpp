// takt component: asks and commands a running system, and draws one.
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "app/command_words.hpp"
#include "app/control_socket.hpp"
#include "json/strict.hpp"
#include "takt/app/system_description.hpp"
#include "tools/commands.hpp"
#include "tools/component_graph.hpp"
#include "tools/connection.hpp"
#include "tools/json_answer.hpp"
#include "tools/port_comparison.hpp"

namespace takt::tools {
namespace {

using json::Value;

struct ComponentOptions {
  std::string system;
  std::string name;
  std::vector<std::string> words;
  std::string file;
  std::string other;
  std::string svg;
  bool json = false;
};

/// The socket of the system; without a name, of the only one that runs.
std::string socket_of(const ComponentOptions& options) {
  std::string path = app::control_path(options.system);
  if (!options.system.empty()) return path;
  // control_path("") is "…/takt-.sock": others have the system's name before the end.
  const std::string prefix = path.substr(0, path.size() - std::string(".sock").size());
  std::vector<std::string> found;
  std::error_code error;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::filesystem::path(prefix).parent_path(), error)) {
    const std::string one = entry.path().string();
    if (one.starts_with(prefix) && one.ends_with(".sock") && one.find('@') == std::string::npos)
      found.push_back(one);
  }
  if (found.size() == 1) return found.front();
  fmt::print(stderr, "{}; name one with --system\n",
             found.empty() ? "no system runs here" : "several systems run here");
  throw CLI::RuntimeError(exit_failed);
}

/// The answer to a command that was obeyed; otherwise prints the reason and ends the program.
Value ask_or_exit(const ComponentOptions& options, const std::string& line) {
  const auto answer = app::ask(socket_of(options), line, std::chrono::seconds(10));
  if (!answer) exit_with(answer.error());
  auto value = json::parse(*answer);
  if (value && value->is_object() && value->value("ok", false)) return std::move(*value);
  const std::string reason =
      value && value->is_object() && value->contains("error") && (*value)["error"].is_string()
          ? (*value)["error"].get<std::string>()
          : "the system's answer is not understood";
  fmt::print(stderr, "takt component: {}\n", reason);
  throw CLI::RuntimeError(exit_failed);
}

/// "1.0/2.0/30.1" of {"median": 1, "p99": 2, "max": 30.1}; empty without them.
std::string spread_in(const Value& row, const char* key) {
  if (!row.contains(key) || !row[key].is_object()) return "";
  const Value& spread = row[key];
  return fmt::format("{:.1f}/{:.1f}/{:.1f}", number_in(spread, "median"), number_in(spread, "p99"),
                     number_in(spread, "max"));
}

void list_processes(const Value& answer) {
  fmt::print("{:<24} {:>10} {:>12} {:>10} {:>8}  {}\n", "PROCESS", "PID", "UP s", "SILENT s", "RESTARTS",
             "STATUS");
  for (const Value& row : rows_in(answer, "processes")) {
    const std::string reasons = texts_in(row, "reasons");
    fmt::print("{:<24} {:>10.0f} {:>12.1f} {:>10.1f} {:>8.0f}  {}{}\n", text_in(row, "process"),
               number_in(row, "pid"), number_in(row, "up_s"), number_in(row, "silent_s"),
               number_in(row, "restarts"), text_in(row, "status"), reasons.empty() ? "" : ": " + reasons);
  }
}

void list(const ComponentOptions& options) {
  const Value answer = ask_or_exit(options, "list");
  if (options.json) return fmt::print("{}\n", answer.dump(2));
  list_processes(answer);
  fmt::print("{:<24} {:>10} {:>12} {:>8} {:>24} {:>24}\n", "CONTEXT", "PERIOD ms", "CYCLES", "MISSED",
             "LATENESS us p50/p99/max", "BUSY us p50/p99/max");
  for (const Value& row : rows_in(answer, "contexts")) {
    fmt::print("{:<24} {:>10.3f} {:>12.0f} {:>8.0f} {:>24} {:>24}\n", text_in(row, "name"),
               number_in(row, "period_ms"), number_in(row, "cycles"), number_in(row, "missed_periods"),
               spread_in(row, "lateness_us"), spread_in(row, "busy_us"));
  }
  fmt::print("{:<24} {:<20} {:<16} {}\n", "COMPONENT", "TYPE", "CONTEXT", "STATE");
  for (const Value& row : rows_in(answer, "components")) {
    fmt::print("{:<24} {:<20} {:<16} {}{}\n", text_in(row, "name"), text_in(row, "type"),
               text_in(row, "context"), text_in(row, "state"),
               row.contains("error") ? ": " + text_in(row, "error") : "");
  }
  for (const Value& row : rows_in(answer, "connections")) {
    const std::string exchange = text_in(row, "exchange");
    const auto or_exchange = [&](const std::string& name) {
      return name.empty() ? "(" + exchange + ")" : name;
    };
    fmt::print("{} -> {}  {}\n", or_exchange(text_in(row, "from")), or_exchange(text_in(row, "to")),
               text_in(row, "buffering"));
  }
}

/// The values of PARAMETER=VALUE words; without them, prints the reason and ends the program.
std::string values_of(const std::vector<std::string>& words) {
  const auto values = app::values_from_words(words);
  if (values) return app::to_line(*values);
  fmt::print(stderr, "takt component: {}\n", values.error().message);
  throw CLI::RuntimeError(exit_bad_input);
}

/// How `connect` connects.
struct ConnectOptions {
  std::string buffering = "latest";
  int capacity = 16;
  int order = 0;
  bool wakes = false;

  [[nodiscard]] Value to_json() const {
    return {{"buffering", buffering}, {"capacity", capacity}, {"order", order}, {"wakes", wakes}};
  }
};

SystemGraph graph_of(const app::SystemDescription& description) {
  SystemGraph graph;
  graph.name = description.name;
  for (const auto& context : description.contexts) graph.contexts.push_back(context.name);
  for (const auto& component : description.components) {
    if (component.type == "Composite") graph.contexts.push_back(component.name);
    graph.components.push_back({component.name, component.type, component.context, ""});
  }
  for (const auto& one : description.connections) {
    const bool is_latest = one.options.buffering == component::Buffering::latest;
    graph.connections.push_back(
        {one.from, one.to,
         is_latest ? ""
                   : fmt::format("{} {}", component::to_string(one.options.buffering), one.options.capacity),
         false});
  }
  for (const auto& one : description.services) graph.connections.push_back({one.from, one.to, "", true});
  return graph;
}

SystemGraph graph_of(const Value& answer) {
  SystemGraph graph;
  graph.name = text_in(answer, "system");
  for (const Value& row : rows_in(answer, "contexts")) graph.contexts.push_back(text_in(row, "name"));
  for (const Value& row : rows_in(answer, "components")) {
    if (text_in(row, "type") == "Composite") graph.contexts.push_back(text_in(row, "name"));
    graph.components.push_back(
        {text_in(row, "name"), text_in(row, "type"), text_in(row, "context"), text_in(row, "state")});
  }
  for (const Value& row : rows_in(answer, "connections")) {
    const std::string buffering = text_in(row, "buffering");
    graph.connections.push_back(
        {text_in(row, "from"), text_in(row, "to"), buffering == "latest" ? "" : buffering, false});
  }
  return graph;
}

void draw(const ComponentOptions& options) {
  SystemGraph graph;
  if (options.file.empty()) {
    graph = graph_of(ask_or_exit(options, "list"));
  } else {
    const auto description = app::system_from_file(options.file);
    if (!description) {
      fmt::print(stderr, "{}: {}\n", options.file, description.error().message);
      throw CLI::RuntimeError(exit_bad_input);
    }
    graph = graph_of(*description);
  }
  const std::string svg = to_svg(graph);
  if (options.svg == "-") return fmt::print("{}", svg);
  std::ofstream file(options.svg);
  if (file << svg && file.flush()) return;
  fmt::print(stderr, "{}: cannot be written\n", options.svg);
  throw CLI::RuntimeError(exit_failed);
}

/// Compares the ports of two recordings, and prints the first difference of each.
void compare(const ComponentOptions& options) {
  const auto ports = compare_ports(options.file, options.other);
  if (!ports) {
    fmt::print(stderr, "takt component: {}\n", ports.error().message);
    throw CLI::RuntimeError(exit_bad_input);
  }
  bool differs = ports->empty();
  if (ports->empty()) fmt::print("the recordings have no port in common\n");
  for (const ComparedPort& port : *ports) {
    differs = differs || !port.difference.empty();
    fmt::print("{:<32} {} values equal{}\n", port.name, port.equal,
               port.difference.empty() ? "" : ", then " + port.difference);
  }
  if (differs) throw CLI::RuntimeError(exit_failed);
}

/// Replaces a component, and prints what the new one did not take over.
void replace_component(const ComponentOptions& options) {
  std::string line = "replace " + options.name;
  for (const std::string& word : options.words) line += " " + word;
  const Value answer = ask_or_exit(options, line);
  fmt::print("{} is replaced by version {}\n", options.name, text_in(answer, "version"));
  for (const Value& note : rows_in(answer, "not_taken_over")) {
    if (note.is_string()) fmt::print("not taken over: {}\n", note.get<std::string>());
  }
}

/// A command that names a component, and words behind it.
CLI::App* add_command(CLI::App& group, const std::shared_ptr<ComponentOptions>& options,
                      const std::string& verb, const std::string& help) {
  CLI::App* command = group.add_subcommand(verb, help);
  command->add_option("component", options->name, "Its name")->required();
  return command;
}

}  // namespace

void add_component(CLI::App& app) {
  auto options = std::make_shared<ComponentOptions>();
  CLI::App* group = app.add_subcommand("component", "Ask and command the components of a running system");
  group->require_subcommand(1);
  group->add_option("--system", options->system, "Name of the system; may be omitted if only one runs");

  CLI::App* list_command = group->add_subcommand("list", "List components and connections");
  list_command->add_flag("--json", options->json, "As JSON");
  list_command->callback([options] { list(*options); });

  add_command(*group, options, "show", "Show a component: ports, services, parameters, changes (JSON)")
      ->callback([options] { fmt::print("{}\n", ask_or_exit(*options, "show " + options->name).dump(2)); });
  for (const auto& [verb, help] : {std::pair{"start", "Activate a component"},
                                   {"stop", "Deactivate a component"},
                                   {"reset", "Lead a failed component back to inactive"}}) {
    add_command(*group, options, verb, help)->callback([options, verb = std::string(verb)] {
      static_cast<void>(ask_or_exit(*options, verb + " " + options->name));
    });
  }
  for (const auto& [verb, values, help] :
       {std::tuple{"set", "PARAMETER=VALUE ...", "Change parameters, all or none"},
        {"write", "FIELD=VALUE ...", "Write a sample to COMPONENT.PORT; other fields are 0"}}) {
    CLI::App* command = add_command(*group, options, verb, help);
    command->add_option("values", options->words, values)->required();
    command->callback([options, verb = std::string(verb)] {
      static_cast<void>(ask_or_exit(*options, verb + " " + options->name + " " + values_of(options->words)));
    });
  }
  CLI::App* apply = add_command(*group, options, "apply", "Apply a named set of parameters");
  apply->add_option("set", options->words, "Its name")->required()->expected(1);
  apply->callback([options] {
    static_cast<void>(ask_or_exit(*options, "apply " + options->name + " " + options->words.front()));
  });
  CLI::App* migrate = add_command(*group, options, "migrate", "Move a component to another context");
  migrate->add_option("context", options->words, "Its name")->required()->expected(1);
  migrate->callback([options] {
    static_cast<void>(ask_or_exit(*options, "migrate " + options->name + " " + options->words.front()));
  });
  CLI::App* load = group->add_subcommand("load", "Load a plug-in, or a newer one of the same file");
  load->add_option("file", options->name, "The plug-in; without '/', it is searched in the system's folders")
      ->required();
  load->callback([options] { static_cast<void>(ask_or_exit(*options, "load " + options->name)); });
  CLI::App* replace = add_command(*group, options, "replace",
                                  "Replace a running component by a new one; the system does not stop");
  replace->add_option("type", options->words, "Type of the new one; without it, the same type")
      ->expected(0, 1);
  replace->callback([options] { replace_component(*options); });
  for (const auto& [verb, help] :
       {std::pair{"connect", "Connect an out-port with an in-port"}, {"disconnect", "Cut a connection"}}) {
    CLI::App* command = group->add_subcommand(verb, help);
    command->add_option("from", options->name, "COMPONENT.PORT of the writer")->required();
    command->add_option("to", options->words, "COMPONENT.PORT of the reader")->required()->expected(1);
    const auto how = std::make_shared<ConnectOptions>();
    if (std::string(verb) == "connect") {
      command->add_option("--buffering", how->buffering, "latest, circular or fifo")
          ->check(CLI::IsMember({"latest", "circular", "fifo"}));
      command->add_option("--capacity", how->capacity, "Samples of a circular buffer or fifo")
          ->check(CLI::Range(1, static_cast<int>(component::max_samples)));
      command->add_option("--order", how->order,
                          "Place among the sources of the in-port; lower is read first");
      command->add_flag("--wakes", how->wakes, "Wake a reader that runs on events");
    }
    command->callback([options, how, verb = std::string(verb)] {
      std::string line = verb + " " + options->name + " " + options->words.front();
      if (verb == "connect") line += " " + how->to_json().dump();
      static_cast<void>(ask_or_exit(*options, line));
    });
  }
  CLI::App* comparison = group->add_subcommand(
      "compare", "Compare the ports of two recordings; 1 is the exit code if they differ");
  comparison->add_option("file", options->file, "A recording")->required()->check(CLI::ExistingFile);
  comparison->add_option("other", options->other, "The other one")->required()->check(CLI::ExistingFile);
  comparison->callback([options] { compare(*options); });
  CLI::App* graph = group->add_subcommand("graph", "Draw a running system, or the one of a file");
  graph->add_option("file", options->file, "The system's file; without it, the running system")
      ->check(CLI::ExistingFile);
  graph->add_option("--svg", options->svg, "The picture's file; - is the standard output")->required();
  graph->callback([options] { draw(*options); });
}

}  // namespace takt::tools
