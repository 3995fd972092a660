// takt ctl: asks and commands the controllers of a running robot, over its motion server.
#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/command_words.hpp"
#include "json/strict.hpp"
#include "tools/commands.hpp"
#include "tools/connection.hpp"
#include "tools/json_answer.hpp"
#include "tools/number_checks.hpp"

namespace takt::tools {
namespace {

using json::Value;

constexpr double longest_switch = 60;  // s

/// The options of the whole group, before or after the command.
struct GroupOptions {
  Address address;
  bool json = false;

  void add_to(CLI::App& command) {
    address.add_options(command);
    command.add_flag("--json", json, "The answer as one line of JSON");
  }
};

struct CtlOptions {
  std::shared_ptr<GroupOptions> group;
  std::string name;
  std::vector<std::string> words;
};

/// The options of one command. CLI11 keeps references to them.
using SharedOptions = std::shared_ptr<CtlOptions>;

/// The request of these words; a mistake in them ends the program.
Value request_or_exit(const std::vector<std::string>& words) {
  auto request = app::controllers_request(words);
  if (request) return std::move(*request);
  fmt::print(stderr, "takt ctl: {}\n", request.error().message);
  throw CLI::RuntimeError(exit_bad_input);
}

/// The content of the answer. With --json, prints the answer's line. `more`: what the request may wait for,
/// besides the answer.
Value ask_or_exit(const CtlOptions& options, const Value& request, Duration more = {}) {
  MotionClient client = connect_or_exit(options.group->address);
  const auto reply = client.controllers(app::to_line(request), answer_time + more);
  if (!reply) exit_with(reply.error());
  if (options.group->json) fmt::print("{}\n", reply->answer);
  const auto answer = json::parse(reply->answer);
  const std::string verb = request.begin().key();
  if (answer && answer->is_object() && answer->contains(verb)) return (*answer)[verb];
  fmt::print(stderr, "takt ctl: the server's answer is not understood\n");
  throw CLI::RuntimeError(exit_failed);
}

const Value& rows_of(const Value& list) {
  static const Value none = Value::array();
  return list.is_array() ? list : none;
}

std::string state_of(const Value& row) {
  const std::string error = text_in(row, "error");
  return text_in(row, "state") + (error.empty() ? "" : ": " + error);
}

void print_list(const CtlOptions& options) {
  const Value answer = ask_or_exit(options, request_or_exit({"list"}));
  if (options.group->json) return;
  fmt::print("{:<20} {:<26} {:>7} {:>12}  {:<10} {}\n", "CONTROLLER", "TYPE", "DIVISOR", "EXECUTIONS",
             "STATE", "CLAIMS");
  for (const Value& row : rows_of(answer)) {
    fmt::print("{:<20} {:<26} {:>7.0f} {:>12.0f}  {:<10} {}\n", text_in(row, "name"), text_in(row, "type"),
               number_in(row, "divisor"), number_in(row, "executions"), state_of(row),
               texts_in(row, "claims"));
  }
}

/// A value, as JSON writes it.
std::string value_in(const Value& row, const char* key) {
  return row.is_object() && row.contains(key) ? app::to_line(row[key]) : "";
}

void print_one(const CtlOptions& options) {
  const Value one = ask_or_exit(options, request_or_exit({"show", options.name}));
  if (options.group->json) return;
  const auto line = [](const char* what, const std::string& text) {
    if (!text.empty()) fmt::print("{:<12} {}\n", what, text);
  };
  line("controller", text_in(one, "name"));
  line("type",
       fmt::format("{} {} by {}", text_in(one, "type"), text_in(one, "version"), text_in(one, "vendor")));
  line("", text_in(one, "description"));
  line("state", state_of(one));
  const double divisor = number_in(one, "divisor");
  line("rate", divisor == 1
                   ? "every cycle"
                   : fmt::format("one cycle of {:.0f}, phase {:.0f}", divisor, number_in(one, "phase")));
  line("claims", texts_in(one, "claims"));
  line("reads", texts_in(one, "reads"));
  line("fallbacks", texts_in(one, "fallbacks"));
  line("executions", fmt::format("{:.0f}", number_in(one, "executions")));
  if (one.contains("budget_us")) {
    line("budget",
         fmt::format("{:.1f} us: {:.0f} times more, the longest {:.1f} us", number_in(one, "budget_us"),
                     number_in(one, "over_budget"), number_in(one, "longest_us")));
  }
  for (const Value& row : rows_in(one, "parameters")) {
    fmt::print("parameter    {} = {} {}  {}\n", text_in(row, "name"), value_in(row, "value"),
               text_in(row, "unit"), text_in(row, "description"));
  }
}

void print_interfaces(const CtlOptions& options) {
  const Value answer = ask_or_exit(options, request_or_exit({"interfaces"}));
  if (options.group->json) return;
  fmt::print("{:<40} {:<8} {:>14} {:<10} {:<16} {}\n", "INTERFACE", "KIND", "VALUE", "UNIT", "OF",
             "CLAIMED BY");
  for (const Value& row : rows_of(answer)) {
    fmt::print("{:<40} {:<8} {:>14.6g} {:<10} {:<16} {}\n", text_in(row, "name"), text_in(row, "kind"),
               number_in(row, "value"), text_in(row, "unit"), text_in(row, "owner"),
               text_in(row, "claimed_by"));
  }
}

void print_events(const CtlOptions& options) {
  std::vector<std::string> words = {"events"};
  if (!options.name.empty()) words.push_back(options.name);
  const Value answer = ask_or_exit(options, request_or_exit(words));
  if (options.group->json) return;
  for (const Value& row : rows_of(answer)) {
    fmt::print("{:>6.0f} {:>12.3f} s  {}\n", number_in(row, "number"), number_in(row, "time"),
               text_in(row, "text"));
  }
}

/// The group, and the options of all its commands.
struct Group {
  CLI::App* app;
  std::shared_ptr<GroupOptions> options;
};

/// A command of the group, with the address and --json.
CLI::App& add_command(const Group& group, const SharedOptions& options, const std::string& verb,
                      const std::string& help) {
  CLI::App* command = group.app->add_subcommand(verb, help);
  options->group = group.options;
  group.options->add_to(*command);
  return *command;
}

/// A command of one name that prints nothing.
void add_plain(const Group& group, const std::string& verb, const std::string& what,
               const std::string& help) {
  const auto options = std::make_shared<CtlOptions>();
  CLI::App& command = add_command(group, options, verb, help);
  command.add_option(what, options->name, "Its name")->required();
  command.callback([options, verb] {
    static_cast<void>(ask_or_exit(*options, request_or_exit({verb, options->name})));
  });
}

/// A command of one or more controllers.
void add_several(const Group& group, const std::string& verb, const std::string& help) {
  const auto options = std::make_shared<CtlOptions>();
  CLI::App& command = add_command(group, options, verb, help);
  command.add_option("controllers", options->words, "Their names")->required();
  command.callback([options, verb] {
    std::vector<std::string> words = {verb};
    words.insert(words.end(), options->words.begin(), options->words.end());
    static_cast<void>(ask_or_exit(*options, request_or_exit(words)));
  });
}

/// A command that prints a table.
void add_table(const Group& group, const std::string& verb, const std::string& help,
               void (*print)(const CtlOptions&), const char* argument = nullptr,
               const char* about = nullptr) {
  const auto options = std::make_shared<CtlOptions>();
  CLI::App& command = add_command(group, options, verb, help);
  if (argument != nullptr) command.add_option(argument, options->name, about)->required(verb == "show");
  command.callback([options, print] { print(*options); });
}

void add_load(const Group& group) {
  struct LoadOptions : CtlOptions {
    std::string type;
    int divisor = 1;
    int phase = 0;
    std::optional<double> budget;
    std::vector<std::string> fallbacks;
    bool start = false;
  };
  const auto options = std::make_shared<LoadOptions>();
  CLI::App& command = add_command(group, options, "load", "Make a controller and load it, inactive");
  command.add_option("type", options->type, "Its type")->required();
  command.add_option("name", options->name, "Its name: 1 to 31 letters, digits, '_', '-' or '.'")->required();
  command.add_option("values", options->words, "PARAMETER=VALUE ...");
  command.add_option("--divisor", options->divisor, "It runs in each DIVISOR-th cycle")
      ->check(CLI::Range(1, 1'000'000));
  command.add_option("--phase", options->phase, "Which of these cycles: 0 to DIVISOR - 1")
      ->check(CLI::Range(0, 999'999));
  command.add_option("--budget", options->budget, "Longest time of one execution, in microseconds")
      ->check(positive_number());
  command.add_option("--fallback", options->fallbacks, "A controller that starts when this one fails");
  command.add_flag("--start", options->start, "Start it, too");
  command.callback([options] {
    std::vector<std::string> words = {"load", options->type, options->name};
    words.insert(words.end(), options->words.begin(), options->words.end());
    Value request = request_or_exit(words);
    Value& body = request["load"];
    body["divisor"] = options->divisor;
    body["phase"] = options->phase;
    if (options->budget) body["budget_us"] = *options->budget;
    if (!options->fallbacks.empty()) body["fallbacks"] = options->fallbacks;
    if (options->start) body["start"] = true;
    static_cast<void>(ask_or_exit(*options, request));
  });
}

void add_trace(const Group& group) {
  const auto options = std::make_shared<CtlOptions>();
  CLI::App& command = add_command(
      group, options, "trace", "Write what each cycle does to a file for ui.perfetto.dev, until: trace off");
  command
      .add_option("file", options->name,
                  "A new file in the robot's folder (takt run --trace-folder); or \"off\" to end the trace")
      ->required();
  command.callback([options] {
    const Value answer = ask_or_exit(*options, request_or_exit({"trace", options->name}));
    if (options->group->json || options->name != "off") return;
    fmt::print("traced {:.0f} spans, {:.0f} dropped\n", number_in(answer, "spans"),
               number_in(answer, "dropped"));
  });
}

/// A command of a name and KEY=VALUE words.
void add_values(const Group& group, const std::string& verb, const std::string& what,
                const std::string& values, const std::string& help) {
  const auto options = std::make_shared<CtlOptions>();
  CLI::App& command = add_command(group, options, verb, help);
  command.add_option(what, options->name, "Its name")->required();
  command.add_option("values", options->words, values)->required();
  command.callback([options, verb] {
    std::vector<std::string> words = {verb, options->name};
    words.insert(words.end(), options->words.begin(), options->words.end());
    static_cast<void>(ask_or_exit(*options, request_or_exit(words)));
  });
}

void add_switch(const Group& group) {
  struct SwitchOptions : CtlOptions {
    std::vector<std::string> start;
    std::vector<std::string> stop;
    bool best_effort = false;
    double timeout = 1;
  };
  const auto options = std::make_shared<SwitchOptions>();
  CLI::App& command =
      add_command(group, options, "switch", "Stop and start controllers at one cycle, or change nothing");
  command.add_option("--start", options->start, "Controllers to start")->delimiter(',');
  command.add_option("--stop", options->stop, "Controllers to stop")->delimiter(',');
  command.add_flag("--best-effort", options->best_effort,
                   "Leave out names that cannot be started or stopped");
  command
      .add_option("--timeout", options->timeout, "Longest time for the devices' change of modes, in seconds")
      ->check(number_between(1e-3, longest_switch, "number of seconds, at most 60"));
  command.callback([options] {
    const Value body = {{"start", options->start},
                        {"stop", options->stop},
                        {"strictness", options->best_effort ? "best_effort" : "strict"},
                        {"timeout", options->timeout}};
    static_cast<void>(ask_or_exit(*options, Value{{"switch", body}}, from_seconds(options->timeout)));
  });
}

}  // namespace

void add_ctl(CLI::App& app) {
  CLI::App* group =
      app.add_subcommand("ctl", "List, load, start and switch the controllers of a running robot");
  group->require_subcommand(1);
  const Group all{group, std::make_shared<GroupOptions>()};
  all.options->add_to(*group);
  add_table(all, "list", "List the controllers, in the order in which they run", print_list);
  add_table(all, "show", "Show a controller: claims, rate, parameters", print_one, "controller", "Its name");
  add_load(all);
  add_plain(all, "unload", "controller", "Unload a controller that does not run");
  add_several(all, "start", "Start controllers: all or none");
  add_several(all, "stop", "Stop controllers; their joints come to rest");
  add_switch(all);
  add_plain(all, "reset", "controller", "Lead a failed controller back to inactive");
  add_values(all, "set", "controller", "PARAMETER=VALUE ...", "Change parameters, all or none");
  add_values(all, "write", "port", "FIELD=VALUE ...",
             "Write a sample to CONTROLLER.PORT, as another component would; other fields are 0");
  add_table(all, "interfaces", "List all interfaces, with their values and owners", print_interfaces);
  add_table(all, "events", "List the last events: failures, fallbacks, lost devices", print_events, "after",
            "Only events with a greater number");
  add_plain(all, "library", "file", "Load a plug-in from the robot's folders (takt run --folder)");
  add_trace(all);
  group->footer(
      "Exit code: 0 done, 1 refused or not reached, 2 the command line is wrong.\n"
      "Examples:\n"
      "  takt ctl list\n"
      "  takt ctl load PidController tip gain=2 --divisor 2\n"
      "  takt ctl switch --stop trajectory --start tip\n"
      "  takt ctl write drive.command forward=0.5\n"
      "  takt ctl trace cycle.json; sleep 1; takt ctl trace off");
}

}  // namespace takt::tools
