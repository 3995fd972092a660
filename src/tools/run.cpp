// takt run: the real-time process of a robot. A loop thread that reads, computes and writes once per period; a server thread that
// listens to clients, or one that hands the loop out to a server elsewhere; a thread that writes the recording; and one that
// prints, as whoever waits for a signal must not wait for a reader. In virtual time all of it is one thread over a clock that it
// moves.
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "takt/core/manual_clock.hpp"
#include "takt/drives/registry.hpp"
#include "takt/motion/loop.hpp"
#include "takt/motion/server.hpp"
#include "takt/platform/hybrid_clock.hpp"
#include "takt/platform/line_server.hpp"
#include "takt/platform/steady_clock.hpp"
#include "takt/platform/worker.hpp"
#include "takt/record/recorder.hpp"
#include "takt/robot/description_json.hpp"
#include "takt/rt/thread_setup.hpp"
#include "takt/shm/spsc_ring.hpp"
#include "takt/sim/simulated_hardware.hpp"
#include "takt/version.hpp"
#include "tools/choice.hpp"
#include "tools/commands.hpp"
#include "tools/loop_host.hpp"
#include "tools/loop_recorder.hpp"
#include "tools/number_checks.hpp"
#include "tools/printer.hpp"
#include "tools/request_script.hpp"
#include "tools/robot_file.hpp"
#include "tools/signals.hpp"

namespace takt::tools {

namespace {

enum class Wait { sleep, hybrid };

struct RunOptions {
  std::string robot_file;
  double duration = 0;  ///< s; 0 = until a signal
  bool virtual_time = false;
  std::optional<std::uint16_t> port;
  std::string serve_at;
  std::string recording;
  bool overwrite = false;
  std::string requests_file;
  Wait wait = Wait::hybrid;
  rt::Want realtime = rt::Want::attempt;
  int priority = 80;
  std::vector<int> cores;
};

/// Passes everything on to several observers, in order.
class Observers final : public motion::LoopObserver {
 public:
  void add(motion::LoopObserver& observer) { observers_.push_back(&observer); }
  void before_cycle(Time now) noexcept override {
    for (motion::LoopObserver* observer : observers_) observer->before_cycle(now);
  }
  void on_event(const motion::Event& event) noexcept override {
    for (motion::LoopObserver* observer : observers_) observer->on_event(event);
  }
  void after_cycle(const motion::Snapshot& snapshot) noexcept override {
    for (motion::LoopObserver* observer : observers_) observer->after_cycle(snapshot);
  }

 private:
  std::vector<motion::LoopObserver*> observers_;
};

/// A reason in words, and the code that programs know it by: "RSP: a drive does not answer (...) [drive_silent]".
std::string text_of(const motion::Event& cause, const robot::RobotDescription& robot) {
  return fmt::format("{} [{}]", motion::explain(cause, robot).message, motion::reason_name(cause.reason));
}

/// Tells another thread each change of the robot's state, in order, also those shorter than that thread's period.
class StateWatch final : public motion::LoopObserver {
 public:
  struct Seen {
    motion::RobotState state = motion::RobotState::starting;
    motion::Event cause;  ///< its reason: Errc{} for none

    /// Ignores the cause's numbers, which change in each cycle while a robot waits for its drives.
    [[nodiscard]] bool is_like(const Seen& other) const noexcept {
      return state == other.state && cause.reason == other.cause.reason && cause.joint == other.cause.joint;
    }
  };

  void before_cycle(Time) noexcept override {}
  void on_event(const motion::Event&) noexcept override {}
  void after_cycle(const motion::Snapshot& snapshot) noexcept override {
    const Seen seen{snapshot.state, motion::cause_of(snapshot)};
    if (is_fault(seen.cause.reason)) fault_ = seen.cause;
    if (seen.state == motion::RobotState::ready) fault_ = {};
    if (last_ && seen.is_like(*last_)) return;
    if (changes_.try_push(seen)) last_ = seen;  // a full ring: the next cycle tries again
  }
  /// The next change, if there is one. For one other thread.
  [[nodiscard]] std::optional<Seen> next() noexcept {
    Seen seen;
    if (!changes_.try_pop(seen)) return std::nullopt;
    return seen;
  }
  /// The fault that the robot has not recovered from, if there is one. After the loop's end.
  [[nodiscard]] const motion::Event& fault() const noexcept { return fault_; }

 private:
  /// An operator's stop and the end of the process are no faults.
  [[nodiscard]] static bool is_fault(motion::Errc reason) noexcept {
    return reason != motion::Errc{} && reason != motion::Errc::shutting_down &&
           reason != motion::Errc::emergency_stop;
  }

  shm::SpscRing<Seen> changes_{64};
  std::optional<Seen> last_;  ///< the change that was pushed last
  motion::Event fault_;
};

/// "robot stopped: RSP: a drive does not answer (...) [drive_silent]", and how to go on.
std::string text_of(const StateWatch::Seen& seen, const robot::RobotDescription& robot) {
  std::string why;
  if (seen.cause.reason != motion::Errc{}) why = ": " + text_of(seen.cause, robot);
  return fmt::format("robot {}{}{}\n", motion::state_name(seen.state), why,
                     motion::way_on(seen.state, seen.cause.reason));
}

/// The last line of a robot that ended in a fault; empty for any other end.
std::string end_in_fault(const motion::Event& fault, const robot::RobotDescription& robot) {
  if (fault.reason == motion::Errc{}) return {};
  return fmt::format("takt run: the robot ended in a fault: {}\n", text_of(fault, robot));
}

std::string date_and_time() {
  return fmt::format("{:%Y-%m-%d %H:%M:%S UTC}", fmt::gmtime(std::time(nullptr)));
}

std::string timing(const char* what, const rt::Histogram& histogram) {
  const auto us = [](Duration duration) { return to_seconds(duration) * 1e6; };
  return fmt::format("{:<9} p50 {:.1f}  p99 {:.1f}  p99.9 {:.1f}  max {:.1f} us\n", what,
                     us(histogram.percentile(50)), us(histogram.percentile(99)),
                     us(histogram.percentile(99.9)), us(histogram.max()));
}

std::string summary(const rt::LoopStatistics& statistics, const sim::SimulatedHardware& hardware,
                    const robot::RobotDescription& robot) {
  std::string text = fmt::format("{} cycles, {} missed\n", statistics.cycles, statistics.overruns);
  text += timing("lateness", statistics.lateness);
  text += timing("busy", statistics.busy);
  for (std::size_t i = 0; i < robot.buses.size(); ++i) {
    const sim::BusStatistics bus = hardware.simulation().bus(i).statistics();
    text += fmt::format("bus {:<5} {:.1f} % busy, {} frames, {} refused\n", robot.buses[i].name,
                        bus.load() * 100, bus.frames, bus.refused);
  }
  for (std::size_t i = 0; i < robot.joints.size(); ++i) {
    if (const std::uint64_t starved = hardware.starved(i); starved > 0) {
      text += fmt::format("{} starved: bus {} had no room for {} frames of its drive\n", robot.joints[i].name,
                          robot.buses[robot.joints[i].bus].name, starved);
    }
  }
  return text;
}

void record_refusal(record::Lane& lane, Time now, const motion::Refusal& why) {
  record::GoalEvent event;
  event.at = now;
  event.state = static_cast<std::uint8_t>(motion::GoalState::rejected);
  event.reason = static_cast<std::uint16_t>(why.reason);
  event.joint = why.joint;
  event.time = why.time;
  event.value = why.value;
  event.limit = why.limit;
  lane.event(event);
}

/// A server that puts its clients' marks, and what it refuses, into the recording.
motion::ServerOptions recording_options(const robot::RobotDescription& robot, record::Recorder* recorder) {
  motion::ServerOptions options;
  if (recorder == nullptr) return options;
  record::Lane& lane = recorder->server();
  options.on_mark = [&lane](Time now, std::string_view text) { lane.mark(now, text); };
  options.on_refusal = [&lane, &robot](Time now, const motion::Rejection& why) {
    record_refusal(lane, now, motion::to_refusal(why, robot));
  };
  return options;
}

/// A gateway that does so with what a server elsewhere tells it.
motion::GatewayOptions recording_options(record::Recorder* recorder) {
  motion::GatewayOptions options;
  if (recorder == nullptr) return options;
  record::Lane& lane = recorder->server();
  options.on_mark = [&lane](Time now, std::string_view text) { lane.mark(now, text); };
  options.on_refusal = [&lane](Time now, const motion::Refusal& why) { record_refusal(lane, now, why); };
  return options;
}

/// Creates the recording of --record; null without that option. Errors: the file exists; those of Recorder::create().
SetupResult<std::unique_ptr<record::Recorder>> open_recording(const RunOptions& options,
                                                              const robot::RobotDescription& robot,
                                                              std::string created) {
  if (options.recording.empty()) return nullptr;
  std::error_code unknown;
  if (!options.overwrite && std::filesystem::is_regular_file(options.recording, unknown)) {
    return fail(record::Errc::cannot_open,
                options.recording + " exists: name another file, or say --overwrite to lose what is in it");
  }
  return record::Recorder::create(options.recording, describe_recording(robot, std::move(created)));
}

/// Removes the recording of a robot that never ran, so that it does not block the next run. Keeps anything but a regular file.
void discard_recording(const RunOptions& options) {
  std::error_code unknown;
  if (std::filesystem::is_regular_file(options.recording, unknown))
    std::filesystem::remove(options.recording, unknown);
}

/// Ends a recording; what is to be said of it.
SetupResult<std::string> finish(record::Recorder* recorder, const std::string& path) {
  if (recorder == nullptr) return "";
  const auto totals = recorder->finish();
  if (!totals) return fail(totals.error().error, path + ": " + totals.error().message);
  return fmt::format("recorded {} records in {}, {} dropped\n", totals->records, path, totals->dropped);
}

std::string complaint(const SetupError& error) { return fmt::format("takt run: {}\n", error.message); }

// ---- wall time -----------------------------------------------------------------------------------------------------------

/// A motion server of this process, on a thread of its own.
class OwnServer {
 public:
  OwnServer(const robot::RobotDescription& robot, motion::Channels& channels, record::Recorder* recorder)
      : server_(robot, channels.requests, channels.events, channels.state,
                options(robot, recorder, planner_)) {}

  /// Where it listens.
  [[nodiscard]] SetupResult<std::string> open(std::uint16_t port) {
    const auto opened = lines_.open({.port = port});
    if (!opened) return tl::unexpected<SetupError>(opened.error());
    thread_ = std::thread([this] { lines_.run(server_); });
    return fmt::format("listening on 127.0.0.1:{}", *opened);
  }

  /// After the loop's end; what is to be said of it.
  std::string stop() {
    if (!thread_.joinable()) return "";
    lines_.stop();
    thread_.join();
    const motion::ServerCounters& counters = server_.counters();
    return fmt::format("requests {} accepted, {} rejected, {} not understood\n", counters.accepted,
                       counters.rejected, counters.errors);
  }

 private:
  static motion::ServerOptions options(const robot::RobotDescription& robot, record::Recorder* recorder,
                                       platform::Worker& planner) {
    motion::ServerOptions options = recording_options(robot, recorder);
    options.executor = std::ref(planner);
    return options;
  }

  platform::LineServer lines_;
  platform::Worker planner_;
  motion::Server server_;
  std::thread thread_;
};

/// Stops of another process go through a thread of this one: on a busy machine it comes before all that has no deadline, and after
/// the loop.
rt::ThreadConfig gateway_thread(const RunOptions& options) {
  rt::ThreadConfig config;
  config.fifo = config.timer_slack = options.realtime == rt::Want::off ? rt::Want::off : rt::Want::attempt;
  config.priority = std::max(options.priority - 1, 1);
  return config;
}

/// What brings requests to the loop: a motion server of this process, or one of another.
class Front {
 public:
  Front(const robot::RobotDescription& robot, motion::Channels& channels, record::Recorder* recorder,
        const RunOptions& options)
      : options_(&options) {
    if (options.serve_at.empty()) {
      server_.emplace(robot, channels, recorder);
    } else {
      host_.emplace(robot, channels, recording_options(recorder), gateway_thread(options), options.serve_at);
    }
  }
  /// Says where it is to be found.
  [[nodiscard]] SetupResult<std::string> open() {
    if (server_) return server_->open(options_->port.value_or(motion::default_port));
    if (auto opened = host_->open(); !opened) return tl::unexpected<SetupError>(opened.error());
    return "serving at " + options_->serve_at;
  }
  void stop(Printer& printer) {
    if (server_) printer.print(server_->stop());
    if (host_) host_->stop();
    report(printer);
  }
  /// Prints what is new.
  void report(Printer& printer) {
    if (host_) host_->report(printer);
  }

 private:
  const RunOptions* options_;
  std::optional<OwnServer> server_;
  std::optional<LoopHost> host_;
};

/// Waits until the loop has ended, and reports meanwhile, which must not take long; asks it to end when a signal arrives, the time
/// is over or nobody is left who reads.
template <class Report, class AskToEnd>
void wait_for_end(const sigset_t& signals, const std::atomic<bool>& ended, double duration,
                  const Printer& printer, Report&& report, AskToEnd&& ask_to_end) {
  const auto start = std::chrono::steady_clock::now();
  constexpr timespec patience{0, 20'000'000};
  while (!ended.load(std::memory_order_acquire)) {  // acquire: pairs with the release at the loop's end
    report();
    const bool signalled = sigtimedwait(&signals, nullptr, &patience) > 0;
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
    const bool is_over = duration > 0 && passed.count() >= duration;
    if (signalled || is_over || !printer.has_reader()) ask_to_end();
  }
  report();
}

template <Clock C>
int run_in_wall_time(const robot::RobotDescription& robot, const RunOptions& options) {
  const sigset_t signals = block_ending_signals();
  Printer printer;
  const auto fails = [&printer](const SetupError& error, int code = exit_failed) {
    printer.print_error(complaint(error));
    return code;
  };
  C clock;
  auto hardware = sim::SimulatedHardware::create(robot, clock.now());
  if (!hardware) return fails(hardware.error(), exit_bad_input);
  auto opened = open_recording(options, robot, date_and_time());
  if (!opened) return fails(opened.error());
  const std::unique_ptr<record::Recorder> recorder = std::move(*opened);
  if (recorder) static_cast<void>(recorder->start());

  motion::Channels channels;
  Observers observers;
  StateWatch watch;
  observers.add(watch);
  std::optional<LoopRecorder> loop_recorder;
  if (recorder) observers.add(loop_recorder.emplace(robot, recorder->loop(), (*hardware)->simulation()));

  Front front(robot, channels, recorder.get(), options);
  motion::Loop<C> loop(clock, robot, **hardware, channels, observers);
  const auto place = front.open();
  if (!place) {
    discard_recording(options);
    return fails(place.error());
  }

  std::atomic<bool> ended{false};
  std::optional<SetupError> refused;
  std::thread loop_thread([&] {
    const auto setup = rt::set_up_thread([&] {
      auto config = rt::ThreadConfig::all(options.realtime, options.priority, options.cores);
      if (options.cores.empty()) config.affinity = rt::Want::off;
      return config;
    }());
    if (!setup) {
      refused = setup.error();
    } else {
      printer.print(fmt::format("{}{}\n", setup->text(), *place));
      static_cast<void>(loop.run());
    }
    ended.store(true,
                std::memory_order_release);  // release: what the loop wrote is seen by whoever sees this
  });
  const auto report = [&] {
    while (const auto seen = watch.next()) printer.print(text_of(*seen, robot));
    front.report(printer);
  };
  wait_for_end(signals, ended, options.duration, printer, report, [&loop] { loop.shut_down(); });
  loop_thread.join();
  const bool had_reader = printer.has_reader();
  if (!refused) printer.print(summary(loop.statistics(), **hardware, robot));
  front.stop(printer);
  if (refused) {
    discard_recording(options);
    return fails(*refused);
  }
  const auto recorded = finish(recorder.get(), options.recording);
  if (!recorded) return fails(recorded.error());
  printer.print(*recorded);
  const std::string fault = end_in_fault(watch.fault(), robot);
  if (!fault.empty()) printer.print_error(fault);
  return had_reader && fault.empty() ? exit_ok : exit_failed;
}

// ---- virtual time --------------------------------------------------------------------------------------------------------

/// Plays a script of requests into the motion server, drains the recording, and ends the loop. On the loop's thread: there is no
/// other, and no deadline.
class Player final : public motion::LoopObserver {
 public:
  Player(motion::Server& server, std::vector<ScriptedRequest> requests, Duration duration,
         record::Recorder* recorder)
      : server_(&server), requests_(std::move(requests)), duration_(duration), recorder_(recorder) {
    server_->connected(client, Time{});
    static_cast<void>(server_->take_output());  // the greeting
  }

  void ends(motion::Loop<ManualClock>& loop) { loop_ = &loop; }

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
    if (over) loop_->shut_down();
  }
  void on_event(const motion::Event&) noexcept override {}
  void after_cycle(const motion::Snapshot& snapshot) noexcept override {
    if (!ready_at_ && snapshot.state == motion::RobotState::ready) ready_at_ = snapshot.time;
    if (recorder_ != nullptr) static_cast<void>(recorder_->drain());
  }

  /// Whether the robot ever was; without, no request could be made.
  [[nodiscard]] bool was_ready() const { return ready_at_.has_value(); }

  /// What the clients would have been told, one JSON object per line.
  void print_replies() {
    for (const LineOutput& output : server_->take_output()) {
      if (output.bytes.rfind("{\"feedback\"", 0) != 0) fmt::print("{}", output.bytes);
    }
  }

 private:
  static constexpr ClientId client = 1;
  static constexpr Duration patience = std::chrono::seconds(60);
  motion::Server* server_;
  std::vector<ScriptedRequest> requests_;
  std::size_t next_ = 0;
  Duration duration_;
  record::Recorder* recorder_;
  motion::Loop<ManualClock>* loop_ = nullptr;
  std::optional<Time> ready_at_;
};

int run_in_virtual_time(const robot::RobotDescription& robot, const RunOptions& options) {
  std::vector<ScriptedRequest> requests;
  if (!options.requests_file.empty()) {
    auto loaded = load_requests(options.requests_file);
    if (!loaded) {
      fmt::print(stderr, "takt run: {}\n", loaded.error().message);
      return exit_bad_input;
    }
    requests = std::move(*loaded);
  }
  ManualClock clock;
  auto hardware = sim::SimulatedHardware::create(robot, clock.now());
  if (!hardware) {
    fmt::print(stderr, "takt run: {}\n", hardware.error().message);
    return exit_bad_input;
  }
  auto opened = open_recording(options, robot, "");
  if (!opened) {
    fmt::print(stderr, "{}", complaint(opened.error()));
    return exit_failed;
  }
  const std::unique_ptr<record::Recorder> recorder = std::move(*opened);
  motion::Channels channels;
  motion::Server server(robot, channels.requests, channels.events, channels.state,
                        recording_options(robot, recorder.get()));
  Observers observers;
  StateWatch watch;
  observers.add(watch);
  std::optional<LoopRecorder> loop_recorder;
  if (recorder) observers.add(loop_recorder.emplace(robot, recorder->loop(), (*hardware)->simulation()));
  Player player(server, std::move(requests), from_seconds(options.duration), recorder.get());
  observers.add(player);
  motion::Loop<ManualClock> loop(clock, robot, **hardware, channels, observers);
  player.ends(loop);

  const auto start = std::chrono::steady_clock::now();
  static_cast<void>(loop.run());
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
  static_cast<void>(server.poll(clock.now()));
  player.print_replies();

  const double simulated = to_seconds(clock.now() - Time{});
  fmt::print(stderr, "{:.3f} s of robot time in {:.3f} s: {:.0f} times faster than the clock\n", simulated,
             passed.count(), simulated / passed.count());
  const auto recorded = finish(recorder.get(), options.recording);
  if (!recorded) {
    fmt::print(stderr, "{}", complaint(recorded.error()));
    return exit_failed;
  }
  fmt::print("{}", *recorded);
  const std::string fault = end_in_fault(watch.fault(), robot);
  fmt::print(stderr, "{}", fault);
  return fault.empty() ? exit_ok : exit_failed;
}

int run(const RunOptions& options) {
  const auto robot = drives::load_robot_file(options.robot_file);
  if (!robot) {
    for (const robot::Mistake& mistake : robot.error()) {
      fmt::print(stderr, "{}: {}\n", options.robot_file, robot::to_string(mistake));
    }
    return exit_bad_input;
  }
  fmt::print(options.virtual_time ? stderr : stdout,
             "takt {}: {}, {} joints on {} simulated bus{}, {:g} Hz\n", TAKT_VERSION, robot->name,
             robot->joints.size(), robot->buses.size(), robot->buses.size() == 1 ? "" : "es",
             1 / to_seconds(robot->period));
  std::fflush(stdout);  // while a signal still ends the program, should nobody read this
  if (options.virtual_time) return run_in_virtual_time(*robot, options);
  return options.wait == Wait::hybrid ? run_in_wall_time<platform::HybridClock>(*robot, options)
                                      : run_in_wall_time<platform::SteadyClock>(*robot, options);
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
  CLI::Option* port =
      command->add_option("--port", options->port, "Motion server port on 127.0.0.1; 0 takes a free one");
  command
      ->add_option("--serve-at", options->serve_at,
                   "Have no motion server in this process, but hand the loop out on this UNIX socket to one "
                   "that runs in another (see: takt serve)")
      ->excludes(port);
  CLI::Option* recording = command->add_option("--record", options->recording,
                                               "Record every cycle to this file (see: takt report)");
  command->add_flag("--overwrite", options->overwrite, "Let --record replace a file that is there")
      ->needs(recording);
  CLI::Option* virtual_time = command->add_flag("--virtual-time", options->virtual_time,
                                                "Run as fast as possible, the same numbers every time");
  virtual_time->excludes(port)->excludes("--serve-at");
  command
      ->add_option(
          "--requests", options->requests_file,
          "Virtual time: a file of requests, one JSON object per line with \"at\" in seconds after ready")
      ->needs(virtual_time);
  add_choice<Wait, Wait>(
      *command, "--wait", options->wait, {{"hybrid", Wait::hybrid}, {"sleep", Wait::sleep}},
      "How the loop waits: hybrid sleeps, then spins over the last microseconds; sleep only sleeps");
  add_choice<rt::Want, rt::Want>(
      *command, "--realtime", options->realtime,
      {{"attempt", rt::Want::attempt}, {"enforce", rt::Want::enforce}, {"off", rt::Want::off}},
      "SCHED_FIFO, locked memory, timer slack, processor latency: attempt and report, enforce or fail, off");
  command->add_option("--priority", options->priority, "SCHED_FIFO priority of the loop")
      ->check(CLI::Range(1, 99));
  command->add_option("--cpu", options->cores, "Pin the loop to these processors");
  command->footer(
      "Ends, with a controlled stop, on SIGINT, SIGTERM, SIGHUP or SIGQUIT, after --duration, and when the "
      "reader of its "
      "output is gone.\n"
      "Exit code: 0 it ended as it should, 1 it did not, the robot ended in a fault, or the reader went, 2 "
      "the file is "
      "wrong.\n"
      "Examples:\n"
      "  takt run examples/robots/arm6.json --record run.takt          then: takt send, takt state, takt "
      "top\n"
      "  takt run examples/robots/mhubo.json --virtual-time --requests day.jsonl --record day.takt");
  command->callback([options] {
    const int code = run(*options);
    if (code != exit_ok) throw CLI::RuntimeError(code);
  });
}

}  // namespace takt::tools
