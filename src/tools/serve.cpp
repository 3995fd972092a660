// takt serve: the motion server of a robot whose loop runs in another process (takt run --serve-at). If the
// server crashes, the loop goes on and stops the robot. If the loop's process ends, the server tells its
// clients, and waits for the next one.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "app/loop_host.hpp"
#include "takt/motion/link.hpp"
#include "takt/motion/remote_loop.hpp"
#include "takt/motion/server.hpp"
#include "takt/platform/doorbell.hpp"
#include "takt/platform/line_server.hpp"
#include "takt/platform/segment.hpp"
#include "takt/platform/segment_server.hpp"
#include "takt/platform/steady_clock.hpp"
#include "takt/platform/worker.hpp"
#include "takt/robot/description_json.hpp"
#include "takt/version.hpp"
#include "tools/commands.hpp"
#include "tools/printer.hpp"
#include "tools/robot_file.hpp"
#include "tools/signals.hpp"

namespace takt::tools {

namespace {

struct ServeOptions {
  std::string robot_file;
  std::string socket;
  std::uint16_t port = motion::default_port;
};

/// The memory of a loop, and our owner slot in it.
struct LoopMemory {
  platform::Segment segment;
  platform::Claim<std::span<std::byte>> claim;

  [[nodiscard]] app::SharedLoop& shared() const noexcept {
    return *std::launder(reinterpret_cast<app::SharedLoop*>(claim.end.data()));
  }
  /// Whether the process that made it lives.
  [[nodiscard]] bool has_loop(Time now) const { return segment.owner_slot_status(0, now).alive; }
};

SetupResult<std::unique_ptr<LoopMemory>> find_loop(const std::string& socket, Duration timeout) {
  auto segment = platform::receive_segment(socket, timeout);
  if (!segment) return tl::unexpected<SetupError>(std::move(segment.error()));
  auto claim = segment->producer<shm::RawMemory>(app::link_exchange);
  if (!claim) {
    return fail(motion::Errc::loop_taken,
                fmt::format("{}: {}", describe(motion::Errc::loop_taken), claim.error().message));
  }
  if (claim->end.size() != sizeof(app::SharedLoop))
    return fail(motion::Errc::other_version, std::string(describe(motion::Errc::other_version)));
  return std::make_unique<LoopMemory>(LoopMemory{std::move(*segment), std::move(*claim)});
}

/// The motion server and the loop that it works with, for the carrier of lines.
class RemoteService {
 public:
  RemoteService(const robot::RobotDescription& robot, motion::ServerOptions options)
      : server_(robot, channels_.requests, channels_.events, channels_.state,
                with_notes(robot, std::move(options))),
        loop_(robot, channels_, {.on_sent = [this] { ringer_->ring(); }}) {}

  /// Goes on with this loop. From any thread, as the two below; the answer comes by and by.
  void attach(std::unique_ptr<LoopMemory> memory) {
    const std::scoped_lock lock(mutex_);
    next_ = std::move(memory);
    attached_ = std::nullopt;
  }
  /// Nothing while an attach() is under way; else whether it went well, or why it did not.
  [[nodiscard]] std::optional<Status> attached() {
    const std::scoped_lock lock(mutex_);
    return attached_;
  }
  /// Whether the process of the loop that is attached is gone; it is then let go.
  [[nodiscard]] bool has_lost_loop() {
    const std::scoped_lock lock(mutex_);
    lost_ = lost_ || (present_ && !present_->has_loop(platform::SteadyClock().now()));
    return !next_ && !present_;
  }

  void connected(ClientId client, Time now) { server_.connected(client, now); }
  void received(ClientId client, std::string_view line, Time now) { server_.received(client, line, now); }
  void refused(ClientId client, LineFault fault, Time now) { server_.refused(client, fault, now); }
  void disconnected(ClientId client, Time now) { server_.disconnected(client, now); }
  [[nodiscard]] bool owes(ClientId client) const { return server_.owes(client); }
  Duration poll(Time now) {
    change_loops();
    loop_.poll(now);
    const Duration wait = server_.poll(now);
    return std::min(wait, loop_.poll(now));
  }
  std::vector<LineOutput> take_output() { return server_.take_output(); }

  [[nodiscard]] const motion::ServerCounters& counters() const { return server_.counters(); }

 private:
  /// The recording is where the loop is.
  motion::ServerOptions with_notes(const robot::RobotDescription& robot, motion::ServerOptions options) {
    options.on_mark = [this](Time, std::string_view text) { loop_.note(motion::Mark{std::string(text)}); };
    options.on_refusal = [this, &robot](Time, const motion::Rejection& why) {
      loop_.note(motion::to_refusal(why, robot));
    };
    return options;
  }
  void change_loops() {
    const std::scoped_lock lock(mutex_);
    if (std::exchange(lost_, false)) loop_.detach();
    if (present_ && !loop_.attached()) {
      present_.reset();
      attached_.reset();
    }
    if (!next_) return;
    attached_ = loop_.attach(next_->shared().link);
    if (*attached_) {
      present_ = std::move(next_);
      server_.set_interfaces(app::read_interfaces(present_->shared()));
      ringer_.emplace(present_->shared().bell);
    }
    next_.reset();
  }

  motion::Channels channels_;
  motion::Server server_;
  motion::RemoteLoop loop_;
  std::optional<platform::Ringer> ringer_;  ///< of the loop that is attached
  std::mutex mutex_;                        ///< of what is below
  std::unique_ptr<LoopMemory> present_;     ///< that loop_ works with
  std::unique_ptr<LoopMemory> next_;
  std::optional<Status> attached_;
  bool lost_ = false;
};

/// Connects a service with the loop at the socket, until a signal or the reader's end stops it. Its errors
/// are those that waiting cannot solve.
class LoopKeeper {
 public:
  LoopKeeper(RemoteService& service, Printer& printer, std::string socket)
      : service_(&service), printer_(&printer), socket_(std::move(socket)) {}

  /// The first loop, which has to be there.
  [[nodiscard]] SetupResult<void> begin() {
    auto memory = find_loop(socket_, std::chrono::seconds(1));
    if (!memory) return tl::unexpected<SetupError>(std::move(memory.error()));
    service_->attach(std::move(*memory));
    service_->poll(platform::SteadyClock().now());  // no other thread does, yet
    if (const auto attached = service_->attached(); !*attached) return refusal(attached->error());
    return {};
  }

  [[nodiscard]] SetupResult<void> run(const sigset_t& signals) {
    constexpr timespec patience{0, 20'000'000};
    while (printer_->has_reader() && sigtimedwait(&signals, nullptr, &patience) <= 0) {
      if (auto good = look(); !good) return good;
    }
    return {};
  }

 private:
  SetupResult<void> look() {
    if (const auto attached = service_->attached(); attached && !has_loop_) {
      if (!*attached && attached->error() != motion::Errc::loop_taken) return refusal(attached->error());
      has_loop_ = attached->has_value();
      if (has_loop_) printer_->print("uses the loop at " + socket_ + "\n");
    }
    if (!service_->has_lost_loop()) return {};
    if (std::exchange(has_loop_, false)) printer_->print("the loop is lost: waiting for the next one\n");
    if (auto memory = find_loop(socket_, Duration(0))) service_->attach(std::move(*memory));
    return {};
  }

  static tl::unexpected<SetupError> refusal(Error error) {
    return fail(error, std::string(describe(static_cast<motion::Errc>(error.code))));
  }

  RemoteService* service_;
  Printer* printer_;
  std::string socket_;
  bool has_loop_ = false;
};

int serve(const ServeOptions& options) {
  const auto robot = open_robot_file(options.robot_file);
  if (!robot) return robot.error();
  const sigset_t signals = block_ending_signals();
  Printer printer;
  const auto fails = [&printer](const SetupError& error) {
    printer.print_error(fmt::format("takt serve: {}\n", error.message));
    return exit_failed;
  };
  platform::LineServer lines;
  const auto port = lines.open({.port = options.port});
  if (!port) return fails(port.error());
  platform::Worker planner;
  motion::ServerOptions server_options;
  server_options.executor = std::ref(planner);
  RemoteService service(*robot, std::move(server_options));
  LoopKeeper keeper(service, printer, options.socket);
  if (auto begun = keeper.begin(); !begun) return fails(begun.error());
  printer.print(fmt::format("takt {}: {}, {} joints\nlistening on 127.0.0.1:{}\n", TAKT_VERSION, robot->name,
                            robot->joints.size(), *port));

  std::thread server_thread([&] { lines.run(service); });
  const auto kept = keeper.run(signals);
  const bool had_reader = printer.has_reader();
  lines.stop();
  server_thread.join();
  const motion::ServerCounters& counters = service.counters();
  printer.print(fmt::format("requests {} accepted, {} rejected, {} not understood\n", counters.accepted,
                            counters.rejected, counters.errors));
  if (!kept) return fails(kept.error());
  return had_reader ? exit_ok : exit_failed;
}

}  // namespace

void add_serve(CLI::App& app) {
  auto options = std::make_shared<ServeOptions>();
  CLI::App* command = app.add_subcommand(
      "serve",
      "Run the motion server of a robot whose loop runs in another process (see: takt run --serve-at)");
  add_robot_option(*command, options->robot_file);
  command->add_option("--loop", options->socket, "UNIX socket of the loop")->required();
  command->add_option("--port", options->port, "Motion server port on 127.0.0.1; 0 takes a free one")
      ->capture_default_str();
  command->footer(
      "Examples:\n"
      "  takt run examples/robots/arm6.json --serve-at /run/takt/arm6\n"
      "  takt serve examples/robots/arm6.json --loop /run/takt/arm6        then: takt send, takt state, takt "
      "top\n"
      "When this program ends for any reason, the loop stops all goals (client_lost) and waits for the next "
      "one.\n"
      "When the loop's process ends, goals end aborted (loop_lost), the state is `stopped`, and this program "
      "waits\n"
      "for a loop of the same robot.\n"
      "Ends on SIGINT, SIGTERM, SIGHUP or SIGQUIT, and when the reader of its output closes it.\n"
      "Exit code: 0 a signal ended it, 1 it failed, or the reader closed the output, 2 the file is wrong.");
  command->callback([options] {
    const int code = serve(*options);
    if (code != exit_ok) throw CLI::RuntimeError(code);
  });
}

}  // namespace takt::tools
