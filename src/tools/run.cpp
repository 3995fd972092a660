// takt run: the real-time process of a robot, by app::Robot. This file has the command line, the signals, and
// a thread that prints: a slow reader must not delay a stop. In virtual time everything runs in one thread,
// on a clock that this thread moves.
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "app/endpoint.hpp"
#include "takt/app/replay.hpp"
#include "takt/app/robot.hpp"
#include "takt/core/manual_clock.hpp"
#include "takt/motion/server.hpp"
#include "takt/platform/steady_clock.hpp"
#include "takt/rt/thread_setup.hpp"
#include "takt/version.hpp"
#include "tools/bus_options.hpp"
#include "tools/choice.hpp"
#include "tools/commands.hpp"
#include "tools/number_checks.hpp"
#include "tools/open_recording.hpp"
#include "tools/physics.hpp"
#include "tools/printer.hpp"
#include "tools/replay_result.hpp"
#include "tools/request_script.hpp"
#include "tools/robot_file.hpp"
#include "tools/run_summary.hpp"
#include "tools/signals.hpp"

namespace takt::tools {

namespace {

enum class Wait { sleep, hybrid };

struct RunOptions {
  std::string robot_file;
  double duration = 0;       ///< s; 0 = until a signal
  double start_timeout = 0;  ///< s; 0 = none
  std::optional<bool> power;
  bool simulate = false;
  std::vector<std::string> buses;  ///< NAME=INTERFACE
  PhysicsOptions physics;
  bool virtual_time = false;
  std::optional<std::uint16_t> port;
  std::string serve_at;
  std::string recording;
  bool uncompressed = false;
  std::uint64_t rotate_megabytes = 0;
  double rotate_seconds = 0;
  double around_stops = 0;
  std::vector<std::string> variables;
  bool overwrite = false;
  std::vector<std::string> log;
  std::string trace;
  std::string trace_folder = ".";
  std::string foxglove;     ///< ADDRESS:PORT
  std::string plotjuggler;  ///< ADDRESS:PORT
  std::vector<std::string> origins;
  double live_rate = 100;  ///< Hz
  std::string requests_file;
  std::vector<std::string> libraries;
  std::vector<std::string> folders;
  Wait wait = Wait::hybrid;
  rt::Want realtime = rt::Want::attempt;
  int priority = 80;
  std::vector<int> cores;
};

std::string date_and_time() {
  return fmt::format("{:%Y-%m-%d %H:%M:%S UTC}", fmt::gmtime(std::time(nullptr)));
}

std::string complaint(const SetupError& error) {
  const bool may_overwrite = error.error == app::Errc::recording_exists;
  return fmt::format("takt run: {}{}\n", error.message,
                     may_overwrite ? ": name another file, or say --overwrite to lose what is in it" : "");
}

/// 2 for what is wrong with the robot's file, 1 for all else.
int exit_code_of(const SetupError& error) {
  const Room room = error.error.room;
  const bool is_in_file =
      room == Room::robot || room == Room::sim || error.error == app::Errc::bad_description;
  return is_in_file ? exit_bad_input : exit_failed;
}

std::optional<app::LiveAddress> live_address(const std::string& text) {
  const auto endpoint = app::parse_endpoint(text);
  if (!endpoint) return std::nullopt;
  return app::LiveAddress{endpoint->address, endpoint->port};
}

app::LiveOptions live_options(const RunOptions& options) {
  app::LiveOptions live;
  live.foxglove = live_address(options.foxglove);
  live.plotjuggler = live_address(options.plotjuggler);
  live.foxglove_origins.insert(live.foxglove_origins.end(), options.origins.begin(), options.origins.end());
  live.rate = options.live_rate;
  return live;
}

record::RecorderOptions recorder_options(const RunOptions& options) {
  record::RecorderOptions made;
  if (!options.uncompressed) made.compression = recording_compression();
  made.rotate_bytes = options.rotate_megabytes * 1'000'000;
  made.rotate_after = from_seconds(options.rotate_seconds);
  made.around_stops = from_seconds(options.around_stops);
  return made;
}

app::RobotOptions robot_options(const RunOptions& options) {
  app::RobotOptions made;
  made.devices.simulate = options.simulate;
  made.devices.buses = to_overrides(options.buses);
  made.recording = options.recording;
  made.recorded_variables = options.variables;
  made.overwrite = options.overwrite;
  made.recorder = recorder_options(options);
  made.log = options.log;
  made.trace_folder = options.trace_folder;
  made.libraries = options.libraries;
  made.folders = options.folders;
  made.folders.push_back(std::filesystem::absolute(options.robot_file).parent_path().string());
  return made;
}

/// "controllers: trajectory (active), tip (inactive)"
std::string controllers_of(app::Robot& robot) {
  std::string text;
  for (const robot::ControllerStatus& status : robot.manager().controllers())
    text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", status.name, robot::to_string(status.state));
  return "controllers: " + text;
}

/// "Foxglove at ws://127.0.0.1:8765", and where PlotJuggler's datagrams go.
std::string live_places(const app::Robot& robot, const RunOptions& options) {
  std::string text;
  if (const auto port = robot.foxglove_port())
    text += fmt::format("Foxglove at ws://{}:{}\n", options.foxglove.substr(0, options.foxglove.rfind(':')),
                        *port);
  if (!options.plotjuggler.empty()) text += fmt::format("PlotJuggler at {}\n", options.plotjuggler);
  return text;
}

// ---- wall time

/// Waits for the loop's end, and prints reports, which must not take long. Requests the end on a signal,
/// after the duration, or when the reader is gone. Returns false if the robot was not ready in time.
bool wait_for_end(app::Robot& robot, const sigset_t& signals, const std::atomic<bool>& ended,
                  const RunOptions& options, Physics* physics, Printer& printer) {
  bool has_listed = false;
  bool is_late = false;
  const auto report = [&] {
    while (const auto line = robot.next_report()) {
      if (line->is_failure) {
        printer.print_error("takt run: " + line->text + "\n");
      } else {
        printer.print(line->text + "\n");
      }
      if (!has_listed && line->text == "robot ready") {
        has_listed = true;
        printer.print(controllers_of(robot) + "\n");
      }
    }
    if (physics == nullptr) return;
    if (std::string complaint = physics->next_complaint(); !complaint.empty())
      printer.print_error(std::move(complaint));
  };
  const auto start = std::chrono::steady_clock::now();
  constexpr timespec patience{0, 20'000'000};
  while (!ended.load(std::memory_order_acquire)) {  // acquire: pairs with the release at the loop's end
    report();
    const bool signalled = sigtimedwait(&signals, nullptr, &patience) > 0;
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
    const bool is_over = options.duration > 0 && passed.count() >= options.duration;
    if (!is_late && !has_listed && options.start_timeout > 0 && passed.count() >= options.start_timeout) {
      is_late = true;
      printer.print_error(fmt::format("takt run: {}\n", robot.describe_start()));
    }
    if (signalled || is_over || is_late || !printer.has_reader()) robot.shut_down();
  }
  report();
  return !is_late;
}

int run_in_wall_time(robot::RobotDescription description, const RunOptions& options, Physics* physics) {
  const sigset_t signals = block_ending_signals();
  Printer printer;
  const auto fails = [&printer](const SetupError& error) {
    printer.print_error(complaint(error));
    return exit_code_of(error);
  };
  app::ClockOf<platform::SteadyClock> sleeping;
  app::RobotOptions made = robot_options(options);
  if (options.wait == Wait::sleep) made.clock = &sleeping;
  if (physics != nullptr) physics->add_in_wall_time(made, description);
  made.created = date_and_time();
  made.serve_at = options.serve_at;
  if (options.serve_at.empty()) made.port = options.port.value_or(motion::default_port);
  made.live = live_options(options);
  made.trace = options.trace;
  made.thread = rt::ThreadConfig::all(options.realtime, options.priority, options.cores);
  if (options.cores.empty()) made.thread.affinity = rt::Want::off;
  auto created = app::Robot::create(std::move(description), std::move(made));
  if (!created) return fails(created.error());
  app::Robot& robot = **created;

  std::atomic<bool> ended{false};
  SetupResult<void> ran;
  std::thread loop_thread([&] {
    ran = robot.run([&](const rt::ThreadSetup& setup) {
      printer.print(fmt::format("{}{}\n{}", setup.text(), robot.place(), live_places(robot, options)));
    });
    ended.store(true,
                std::memory_order_release);  // release: a reader of this sees what the loop wrote
  });
  const bool was_in_time = wait_for_end(robot, signals, ended, options, physics, printer);
  loop_thread.join();
  const bool had_reader = printer.has_reader();
  if (ran) printer.print(summary(robot));
  const auto totals = robot.finish();
  if (!ran) return fails(ran.error());
  if (!totals) return fails(totals.error());
  if (options.serve_at.empty()) {
    printer.print(fmt::format("requests {} accepted, {} rejected, {} not understood\n", totals->accepted,
                              totals->rejected, totals->errors));
  }
  printer.print(text_of(*totals, options.recording));
  const std::string bad = complaints(robot, *totals, options.recording);
  if (!bad.empty()) printer.print_error(bad);
  return had_reader && was_in_time && bad.empty() ? exit_ok : exit_failed;
}

// ---- virtual time

/// Plays a script of requests into the motion server, and ends the loop. On the loop's thread: there is no
/// other, and no deadline.
class Player final : public motion::LoopObserver {
 public:
  Player(app::Robot& robot, motion::Server& server, std::vector<ScriptedRequest> requests, Duration duration)
      : robot_(&robot), server_(&server), requests_(std::move(requests)), duration_(duration) {
    server_->connected(client, Time{});
    static_cast<void>(server_->take_output());  // the greeting
  }

  void before_cycle(Time now) noexcept override {
    static_cast<void>(server_->poll(now));
    if (ready_at_) {
      while (next_ < requests_.size() && now - *ready_at_ >= requests_[next_].at) {
        server_->received(client, requests_[next_++].line, now);
      }
    }
    print_replies();
    const bool all_played = next_ == requests_.size() && server_->idle();
    const bool hopeless = !ready_at_ && now - Time{} >= patience;
    const bool over =
        hopeless || (duration_ > Duration(0) ? now - Time{} >= duration_ : ready_at_ && all_played);
    if (over) robot_->shut_down();
  }
  void on_event(const motion::Event&) noexcept override {}
  void after_cycle(const motion::Snapshot& snapshot) noexcept override {
    if (!ready_at_ && snapshot.state == motion::RobotState::ready) ready_at_ = snapshot.time;
  }

  /// Whether the robot ever was; without, no request could be made.
  [[nodiscard]] bool was_ready() const { return ready_at_.has_value(); }

  /// The messages to the clients, one JSON object per line.
  void print_replies() {
    for (const LineOutput& output : server_->take_output()) {
      if (output.bytes.rfind("{\"feedback\"", 0) != 0) fmt::print("{}", output.bytes);
    }
  }

 private:
  static constexpr ClientId client = 1;
  static constexpr Duration patience = std::chrono::seconds(60);
  app::Robot* robot_;
  motion::Server* server_;
  std::vector<ScriptedRequest> requests_;
  std::size_t next_ = 0;
  Duration duration_;
  std::optional<Time> ready_at_;
};

int run_in_virtual_time(robot::RobotDescription description, const RunOptions& options, Physics* physics) {
  const auto fails = [](const SetupError& error, int code) {
    fmt::print(stderr, "{}", complaint(error));
    return code;
  };
  std::vector<ScriptedRequest> requests;
  if (!options.requests_file.empty()) {
    auto loaded = load_requests(options.requests_file);
    if (!loaded) return fails(loaded.error(), exit_bad_input);
    requests = std::move(*loaded);
  }
  app::ClockOf<ManualClock> clock;
  app::RobotOptions made = robot_options(options);
  made.devices.simulate = true;
  if (physics != nullptr) physics->add_to(made);
  made.clock = &clock;
  made.drain_in_cycle = true;
  auto created = app::Robot::create(std::move(description), std::move(made));
  if (!created) return fails(created.error(), exit_code_of(created.error()));
  app::Robot& robot = **created;
  motion::Channels& channels = robot.channels();
  motion::ServerOptions serving = robot.recording_options();
  serving.controllers = [&robot](const std::string& request) { return robot.controllers().request(request); };
  motion::Server server(robot.description(), channels.requests, channels.events, channels.state,
                        std::move(serving));
  Player player(robot, server, std::move(requests), from_seconds(options.duration));
  robot.add_observer(player);
  if (physics != nullptr) physics->watch(robot);
  const auto start = std::chrono::steady_clock::now();
  static_cast<void>(robot.run());
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
  static_cast<void>(server.poll(clock.now()));
  player.print_replies();

  const double simulated = to_seconds(clock.now() - Time{});
  fmt::print(stderr, "{:.3f} s of robot time in {:.3f} s: {:.0f} times faster than the clock\n", simulated,
             passed.count(), simulated / passed.count());
  const auto totals = robot.finish();
  if (!totals) return fails(totals.error(), exit_failed);
  fmt::print("{}", text_of(*totals, options.recording));
  if (physics != nullptr) fmt::print("{}", physics->summary());
  const std::string bad = complaints(robot, *totals, options.recording);
  fmt::print(stderr, "{}", bad);
  const std::uint64_t refused = server.counters().rejected + server.counters().errors;
  if (refused > 0) fmt::print(stderr, "takt run: {} requests were refused: see the answers\n", refused);
  return bad.empty() && refused == 0 ? exit_ok : exit_failed;
}

// ---- recorded devices

/// Requests come from the recording, and the loop waits as it did.
int run_recorded(robot::RobotDescription description, const RunOptions& options) {
  const auto fails = [](const SetupError& error) {
    fmt::print(stderr, "{}", complaint(error));
    return exit_code_of(error);
  };
  if (!options.requests_file.empty() || !options.serve_at.empty() || options.port) {
    fmt::print(stderr, "takt run: requests come from the recording {}: no other ones can be made\n",
               description.recording);
    return exit_bad_input;
  }
  auto recording = open_recording(description.recording);
  if (!recording) return fails(recording.error());
  const sigset_t signals = block_ending_signals();
  app::ReplayOptions replaying;
  replaying.speed = options.virtual_time ? 0 : 1;
  replaying.step = [&](app::Robot& robot, std::uint64_t cycle) {
    if (cycle == 0) fmt::print("{}", live_places(robot, options));
    while (const auto line = robot.next_report()) fmt::print("{}\n", line->text);
    std::fflush(stdout);
    constexpr timespec at_once{};
    const double passed = to_seconds(robot.description().period) * static_cast<double>(cycle);
    const bool is_over = options.duration > 0 && passed >= options.duration;
    return !is_over && sigtimedwait(&signals, nullptr, &at_once) <= 0;
  };
  replaying.options = robot_options(options);
  if (!options.virtual_time) replaying.options.created = date_and_time();
  replaying.options.live = live_options(options);
  replaying.options.trace = options.trace;
  replaying.robot = std::move(description);
  const auto result = app::replay(*recording, std::move(replaying));
  if (!result) return fails(result.error());
  return print_result(*result, *recording, options.recording);
}

int run(const RunOptions& options) {
  auto robot = open_robot_file(options.robot_file);
  if (!robot) return robot.error();
  if (options.power) robot->power = *options.power;
  const auto physics = Physics::create(*robot, options.robot_file, options.physics);
  if (!physics) {
    fmt::print(stderr, "{}", complaint(physics.error()));
    return exit_code_of(physics.error());
  }
  if (*physics) fmt::print(stderr, "{}", (*physics)->warnings());
  const bool is_recorded = robot->devices == robot::DeviceVariant::recorded && !options.simulate && !*physics;
  const bool is_simulated = options.simulate || options.virtual_time || *physics ||
                            robot->devices == robot::DeviceVariant::simulated;
  const auto interfaces = app::interfaces_of(*robot, is_simulated, to_overrides(options.buses));
  if (!interfaces) {
    fmt::print(stderr, "{}", complaint(interfaces.error()));
    return exit_failed;
  }
  fmt::print(options.virtual_time ? stderr : stdout, "takt {}: {}, {} joints on {} bus{} ({}), {:g} Hz\n",
             TAKT_VERSION, robot->name, robot->joints.size(), robot->buses.size(),
             robot->buses.size() == 1 ? "" : "es",
             is_recorded ? "recorded in " + robot->recording : buses_of(*robot, *interfaces),
             1 / to_seconds(robot->period));
  std::fflush(stdout);  // while a signal still ends the program, should nobody read this
  if (is_recorded) return run_recorded(std::move(*robot), options);
  if (options.virtual_time) return run_in_virtual_time(std::move(*robot), options, physics->get());
  return run_in_wall_time(std::move(*robot), options, physics->get());
}

/// An option whose value may be left out.
CLI::Option* add_address_option(CLI::App& command, const char* name, std::string& out,
                                const std::string& otherwise, const char* text) {
  return command.add_option(name, out, text)
      ->expected(0, 1)
      ->default_str(otherwise)
      ->type_name("ADDRESS:PORT")
      ->check(CLI::Validator(
          [](std::string& value) {
            return app::parse_endpoint(value) ? std::string() : "'" + value + "' is not ADDRESS:PORT";
          },
          ""));
}

void add_live_options(CLI::App& command, RunOptions& options, CLI::Option& virtual_time) {
  CLI::Option* foxglove = add_address_option(
      command, "--foxglove", options.foxglove, fmt::format("127.0.0.1:{}", record::foxglove_port),
      "Serve joints, loop, buses and parameters to Foxglove and Lichtblick (WebSocket)");
  CLI::Option* plotjuggler = add_address_option(command, "--plotjuggler", options.plotjuggler,
                                                fmt::format("127.0.0.1:{}", app::plotjuggler_port),
                                                "Send the same to PlotJuggler's UDP server (JSON)");
  foxglove->excludes(&virtual_time);
  plotjuggler->excludes(&virtual_time);
  command
      .add_option("--allow-origin", options.origins,
                  "Another web page that may connect to --foxglove, such as http://localhost:8080")
      ->needs(foxglove);
  command.add_option("--live-rate", options.live_rate, "Samples a second of --foxglove and --plotjuggler")
      ->check(CLI::Range(0.1, 100'000.0))
      ->capture_default_str();
}

}  // namespace

void add_run(CLI::App& app) {
  auto options = std::make_shared<RunOptions>();
  CLI::App* command =
      app.add_subcommand("run", "Run a robot: the real-time loop, its drives, and the motion server");
  add_robot_option(*command, options->robot_file);
  command
      ->add_option("--duration", options->duration,
                   "Stop after this many seconds (default: on SIGINT, SIGTERM, SIGHUP or SIGQUIT)")
      ->check(number_from_zero());
  CLI::Option* start_timeout =
      command
          ->add_option(
              "--start-timeout", options->start_timeout,
              "Give up if the robot is not ready after this many seconds (default: wait, and say every "
              "three seconds which drives are missing)")
          ->check(positive_number());
  add_choice<std::optional<bool>, bool>(*command, "--power", options->power, {{"on", true}, {"off", false}},
                                        "off: no drive gets power, whatever the file says. Angles are live "
                                        "while joints are turned by hand; motion is rejected");
  CLI::Option* simulate = command->add_flag("--simulate", options->simulate,
                                            "Simulated drives on every bus, whatever the file says");
  add_bus_option(*command, options->buses,
                 "NAME=INTERFACE: another interface for a bus of the file: can0, slcan:/dev/ttyACM0, virtual")
      ->excludes(simulate);
  CLI::Option* port =
      command->add_option("--port", options->port, "Motion server port on 127.0.0.1; 0 takes a free one");
  command
      ->add_option("--serve-at", options->serve_at,
                   "Run no motion server in this process; offer the loop on this UNIX socket to a server in "
                   "another process (see: takt serve)")
      ->excludes(port);
  CLI::Option* recording = command->add_option("--record", options->recording,
                                               "Record every cycle to this file (see: takt report)");
  command
      ->add_option("--variable", options->variables,
                   "Record this too: an interface (takt ctl interfaces) or an out-port of a controller")
      ->needs(recording);
  command->add_flag("--overwrite", options->overwrite, "Let --record replace an existing file")
      ->needs(recording);
  command
      ->add_option("--rotate-mb", options->rotate_megabytes,
                   "Megabytes after which --record begins the next file: run.mcap, run.1.mcap, ...")
      ->needs(recording);
  command
      ->add_option("--rotate-after", options->rotate_seconds,
                   "Seconds after which --record begins the next file")
      ->check(CLI::Range(0.0, 1e6))
      ->needs(recording);
  command
      ->add_option(
          "--around-stops", options->around_stops,
          "Record only so many seconds before and after each stop of the robot. takt report shows them; "
          "takt replay needs a whole run")
      ->check(CLI::Range(0.0, 1e6))
      ->needs(recording);
  command->add_flag("--uncompressed", options->uncompressed, "Record without zstd, if takt was built with it")
      ->needs(recording);
  CLI::Option* virtual_time = command->add_flag("--virtual-time", options->virtual_time,
                                                "Run as fast as possible, the same numbers every time");
  virtual_time->excludes(port)->excludes("--serve-at")->excludes("--bus")->excludes(start_timeout);
  command->add_option("--log", options->log,
                      "Append what happens in the loop to this file; -: the standard error stream");
  command
      ->add_option("--trace", options->trace,
                   "Write what each cycle does to this new file, for ui.perfetto.dev or chrome://tracing")
      ->excludes(virtual_time);
  command->add_option("--trace-folder", options->trace_folder, "Where the traces of takt ctl trace lie")
      ->capture_default_str();
  add_live_options(*command, *options, *virtual_time);
  add_physics_options(*command, options->physics, *virtual_time);
  command
      ->add_option(
          "--requests", options->requests_file,
          "Virtual time: a file of requests, one JSON object per line with \"at\" in seconds after ready")
      ->needs(virtual_time);
  command->add_option("--library", options->libraries,
                      "A plug-in with controllers; without '/', it is searched in the folders");
  command->add_option("--folder", options->folders,
                      "Folder of plug-ins; the robot file's own is searched last");
  add_choice<Wait, Wait>(
      *command, "--wait", options->wait, {{"hybrid", Wait::hybrid}, {"sleep", Wait::sleep}},
      "How the loop waits: hybrid sleeps, then spins over the last microseconds; sleep only sleeps");
  add_choice<rt::Want, rt::Want>(
      *command, "--realtime", options->realtime,
      {{"attempt", rt::Want::attempt}, {"enforce", rt::Want::enforce}, {"off", rt::Want::off}},
      "SCHED_FIFO, locked memory, timer slack, processor latency: try and report, enforce or fail, or off");
  command->add_option("--priority", options->priority, "SCHED_FIFO priority of the loop")
      ->check(CLI::Range(1, 99));
  command->add_option("--cpu", options->cores, "Pin the loop to these processors");
  command->footer(
      "The robot file chooses its devices by one key: \"devices\": \"real\", \"simulated\" or "
      "\"recorded:day.mcap\".\n"
      "Ends, with a controlled stop, on SIGINT, SIGTERM, SIGHUP or SIGQUIT, after --duration, and when the "
      "reader of its output closes it.\n"
      "Exit code: 0 it ended as it should, 1 it did not, the robot ended in a fault, the recording lacks "
      "records, "
      "a request of --requests was refused, or the reader closed the output, 2 the file is wrong.\n"
      "Examples:\n"
      "  takt run examples/robots/arm6.json --record run.mcap          then: takt send, takt state, takt "
      "top\n"
      "  takt run my_arm.json --bus arm=slcan:/dev/ttyACM0 --foxglove\n"
      "  takt run my_arm.json --power off          then: takt top, and turn each joint by hand\n"
      "  takt run examples/robots/mhubo.json --virtual-time --requests day.jsonl --record day.mcap\n"
      "  takt run examples/robots/quadruped.json --physics mujoco");
  command->callback([options] {
    const int code = run(*options);
    if (code != exit_ok) throw CLI::RuntimeError(code);
  });
}

}  // namespace takt::tools
