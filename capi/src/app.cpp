// Robots of the C API: app::Robot with its options, reports and totals as plain structures.
#include "takt/app.h"

#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "boundary.hpp"
#include "compression.hpp"
#include "robot_handle.hpp"
#include "takt/app/robot.hpp"
#include "takt/drives/registry.hpp"
#include "takt/motion/server.hpp"
#include "takt/platform/hybrid_clock.hpp"
#include "takt/rt/thread_setup.hpp"
#include "takt/shm/broadcast_value.hpp"
#include "texts.hpp"

namespace app = takt::app;
namespace motion = takt::motion;
using takt::fail;
using takt::Result;
using takt::Status;
using takt::capi::check_size;
using takt::capi::Errc;
using takt::capi::guarded;
using takt::capi::read_texts;
using takt::capi::refuse;
using takt::capi::text_or_nothing;
using takt::capi::to_duration;
using takt::capi::to_status;
using takt::capi::write_struct;
using takt::capi::write_text;
using takt::capi::write_whole;

namespace {

/// Publishes the robot's state in each cycle.
class StatePublisher final : public motion::LoopObserver {
 public:
  StatePublisher() { writer_.write({}); }

  void before_cycle(takt::Time) noexcept override {}
  void on_event(const motion::Event&) noexcept override {}
  void after_cycle(const motion::Snapshot& snapshot) noexcept override {
    takt_robot_state state{};
    state.state = static_cast<std::int32_t>(snapshot.state);
    state.reason = snapshot.reason == motion::Errc{} ? TAKT_OK : to_status(snapshot.reason);
    state.active_goals = snapshot.active_goals;
    state.time_ns = snapshot.time.time_since_epoch().count();
    state.cycles = snapshot.loop.cycles;
    state.overruns = snapshot.loop.overruns;
    writer_.write(state);
  }
  [[nodiscard]] Result<takt_robot_state> read() const noexcept {
    takt_robot_state state{};
    State::Reader reader(state_);
    if (reader.read(state) == takt::shm::Freshness::none) return fail(Errc::timeout);
    return state;
  }

 private:
  using State = takt::shm::BroadcastValue<takt_robot_state>;
  State state_;
  State::Writer writer_{state_};
};

}  // namespace

struct takt_robot {
  StatePublisher state;
  std::unique_ptr<app::Robot> robot;
  std::string granted{};               // what the loop's thread was granted, a line each
  std::atomic<bool> is_set_up{false};  // `granted` is written, and has not been read
  std::deque<app::ReportLine> kept{};  // reports that were not read yet
};

namespace {

constexpr int default_priority = 80;

Result<takt::rt::ThreadConfig> read_thread(const takt_robot_options& options) {
  takt::rt::Want want = takt::rt::Want::off;
  switch (options.realtime) {
    case TAKT_REALTIME_OFF:
      break;
    case TAKT_REALTIME_ATTEMPT:
      want = takt::rt::Want::attempt;
      break;
    case TAKT_REALTIME_ENFORCE:
      want = takt::rt::Want::enforce;
      break;
    default:
      return fail(Errc::bad_argument);
  }
  return takt::rt::ThreadConfig::all(want, options.priority == 0 ? default_priority : options.priority);
}

/// The port, 0 for any.
Result<std::uint16_t> read_port(std::int32_t port, std::uint16_t default_port) noexcept {
  if (port == TAKT_ROBOT_PORT_ANY) return std::uint16_t{0};
  if (port == 0) return default_port;
  if (port < 0 || port > std::numeric_limits<std::uint16_t>::max()) return fail(Errc::bad_argument);
  return static_cast<std::uint16_t>(port);
}

Result<app::LiveOptions> read_live(const takt_robot_options& options) {
  app::LiveOptions made;
  const auto foxglove = read_port(options.foxglove_port, takt::record::foxglove_port);
  const auto plotjuggler = read_port(options.plotjuggler_port, app::plotjuggler_port);
  if (!foxglove || !plotjuggler || *plotjuggler == 0) return fail(Errc::bad_argument);
  if (options.foxglove_address != nullptr) made.foxglove = {options.foxglove_address, *foxglove};
  if (options.plotjuggler_address != nullptr) made.plotjuggler = {options.plotjuggler_address, *plotjuggler};
  if (options.live_rate != 0) made.rate = options.live_rate;
  if (!(made.rate > 0 && std::isfinite(made.rate))) return fail(Errc::bad_argument);
  return made;
}

/// The options of recording, log and live streams, and the plug-ins. Errors: null_pointer, bad_argument.
Status read_records(const takt_robot_options& options, app::RobotOptions& made) {
  auto variables = read_texts(options.variables, options.variable_count);
  auto logs = read_texts(options.logs, options.log_count);
  auto libraries = read_texts(options.libraries, options.library_count);
  auto live = read_live(options);
  if (!variables || !logs || !libraries) return fail(Errc::null_pointer);
  const bool is_flag = options.uncompressed == 0 || options.uncompressed == 1;
  if (!live || !is_flag || options.rotate_after_ns < 0 || options.around_stops_ns < 0)
    return fail(Errc::bad_argument);
  made.recording = text_or_nothing(options.recording);
  made.overwrite = options.overwrite == 1;
  made.created = text_or_nothing(options.created);
  made.recorded_variables = *std::move(variables);
  made.recorder.rotate_bytes = options.rotate_bytes;
  made.recorder.rotate_after = to_duration(options.rotate_after_ns);
  made.recorder.around_stops = to_duration(options.around_stops_ns);
  if (options.uncompressed == 0) made.recorder.compression = takt::capi::recording_compression();
  made.live = *std::move(live);
  made.log = *std::move(logs);
  made.trace = text_or_nothing(options.trace);
  made.libraries = *std::move(libraries);
  if (options.folder != nullptr) made.folders.emplace_back(options.folder);
  return {};
}

Result<app::RobotOptions> read_options(const takt_robot_options* options) {
  const auto o = takt::capi::read_optional(options);
  if (!o) return fail(o.error());
  const auto is_flag = [](std::int32_t flag) { return flag == 0 || flag == 1; };
  if (!is_flag(o->simulate) || !is_flag(o->overwrite) || o->reserved != 0) return fail(Errc::bad_argument);
  if (o->serve_at != nullptr && o->port != 0) return fail(Errc::bad_argument);
  if (o->buses == nullptr && o->bus_count != 0) return fail(Errc::null_pointer);
  auto thread = read_thread(*o);
  if (!thread) return fail(thread.error());
  const auto port = read_port(o->port, motion::default_port);
  if (!port) return fail(port.error());
  app::RobotOptions made;
  made.devices.simulate = o->simulate == 1;
  for (std::size_t i = 0; i < o->bus_count; ++i) {
    if (o->buses[i].bus == nullptr || o->buses[i].interface == nullptr) return fail(Errc::null_pointer);
    made.devices.buses.push_back({o->buses[i].bus, o->buses[i].interface});
  }
  if (o->serve_at == nullptr) made.port = *port;
  made.serve_at = text_or_nothing(o->serve_at);
  made.thread = *std::move(thread);
  if (Status status = read_records(*o, made); !status) return fail(status.error());
  return made;
}

/// Fetches what is to be read next, if there is anything.
void fetch_reports(takt_robot& robot) {
  if (!robot.kept.empty()) return;
  // acquire: pairs with the release of the loop's thread; the text is there.
  if (robot.is_set_up.exchange(false, std::memory_order_acquire)) {
    std::size_t begin = 0;
    for (std::size_t end; (end = robot.granted.find('\n', begin)) != std::string::npos; begin = end + 1)
      robot.kept.push_back({robot.granted.substr(begin, end - begin), false});
  }
  if (!robot.kept.empty()) return;
  if (auto line = robot.robot->next_report()) robot.kept.push_back(*std::move(line));
}

}  // namespace

takt::app::Robot& takt::capi::robot_of(takt_robot& handle) noexcept { return *handle.robot; }

void takt_robot_options_init(takt_robot_options* options, std::size_t size) {
  takt::capi::init_struct(options, size);
}

std::int32_t takt_robot_create(const char* path, const takt_robot_options* options, takt_robot** robot,
                               char* text, std::size_t size) {
  return guarded(text, size, [&]() -> Status {
    if (path == nullptr || robot == nullptr) return fail(Errc::null_pointer);
    auto chosen = read_options(options);
    if (!chosen) return fail(chosen.error());
    auto made = std::make_unique<takt_robot>();
    auto created = app::Robot::from_file(path, *std::move(chosen));
    if (!created) return refuse(created.error(), text, size);
    made->robot = std::move(*created);
    made->robot->add_observer(made->state);
    *robot = made.release();
    return {};
  });
}

void takt_robot_destroy(takt_robot* robot) { delete robot; }

std::uint32_t takt_robot_port(const takt_robot* robot) {
  return robot == nullptr ? 0 : robot->robot->port().value_or(0);
}

std::uint32_t takt_robot_foxglove_port(const takt_robot* robot) {
  return robot == nullptr ? 0 : robot->robot->foxglove_port().value_or(0);
}

std::int32_t takt_robot_run(takt_robot* robot, char* text, std::size_t size) {
  return guarded(text, size, [&]() -> Status {
    if (robot == nullptr) return fail(Errc::null_pointer);
    const auto ran = robot->robot->run([&](const takt::rt::ThreadSetup& setup) {
      robot->granted = setup.text();
      // release: a thread that sees it sees the text.
      robot->is_set_up.store(true, std::memory_order_release);
    });
    if (!ran) return refuse(ran.error(), text, size);
    const motion::Event& fault = robot->robot->fault();
    if (fault.reason == motion::Errc{}) return {};
    write_text(app::describe_cause(fault, robot->robot->description()), text, size);
    return fail(fault.reason);
  });
}

void takt_robot_shut_down(takt_robot* robot) {
  if (robot != nullptr) robot->robot->shut_down();
}

void takt_robot_reset(takt_robot* robot) {
  if (robot != nullptr) robot->robot->reset();
}

std::int32_t takt_robot_get_state(const takt_robot* robot, takt_robot_state* state) {
  if (robot == nullptr || state == nullptr) return to_status(Errc::null_pointer);
  if (Status status = check_size(state); !status) return to_status(status);
  const auto read = robot->state.read();
  if (!read) return to_status(read.error());
  write_struct(state, *read);
  return TAKT_OK;
}

std::int32_t takt_robot_next_report(takt_robot* robot, char* text, std::size_t size, std::size_t* length,
                                    std::int32_t* is_failure) {
  return guarded([&]() -> Status {
    if (robot == nullptr || (text == nullptr && size != 0)) return fail(Errc::null_pointer);
    fetch_reports(*robot);
    const app::ReportLine line = robot->kept.empty() ? app::ReportLine{} : robot->kept.front();
    if (Status status = write_whole(line.text, text, size, length); !status) return status;
    if (is_failure != nullptr) *is_failure = line.is_failure ? 1 : 0;
    if (!robot->kept.empty()) robot->kept.pop_front();
    return {};
  });
}

std::int32_t takt_robot_start_trace(takt_robot* robot, const char* path, char* text, std::size_t size) {
  return guarded(text, size, [&]() -> Status {
    if (robot == nullptr || path == nullptr) return fail(Errc::null_pointer);
    const auto started = robot->robot->traces().start(path);
    return started ? Status() : refuse(started.error(), text, size);
  });
}

std::int32_t takt_robot_stop_trace(takt_robot* robot, std::uint64_t* spans, std::uint64_t* dropped,
                                   char* text, std::size_t size) {
  return guarded(text, size, [&]() -> Status {
    if (robot == nullptr) return fail(Errc::null_pointer);
    const auto stopped = robot->robot->traces().stop();
    if (!stopped) return refuse(stopped.error(), text, size);
    if (spans != nullptr) *spans = stopped->spans;
    if (dropped != nullptr) *dropped = stopped->dropped;
    return {};
  });
}

std::int32_t takt_robot_log(takt_robot* robot, std::int32_t level, const char* source, const char* line) {
  return guarded([&]() -> Status {
    if (robot == nullptr || source == nullptr || line == nullptr) return fail(Errc::null_pointer);
    if (level < TAKT_LOG_DEBUG || level > TAKT_LOG_FATAL) return fail(Errc::bad_argument);
    takt::record::LogWriter* const log = robot->robot->log();
    if (log == nullptr) return fail(takt::record::Errc::not_running);
    log->write(takt::platform::HybridClock().now(), static_cast<takt::rt::LogLevel>(level), source, line);
    return {};
  });
}

void takt_robot_totals_init(takt_robot_totals* totals, std::size_t size) {
  takt::capi::init_struct(totals, size);
}

std::int32_t takt_robot_finish(takt_robot* robot, takt_robot_totals* totals, char* text, std::size_t size) {
  return guarded(text, size, [&]() -> Status {
    if (robot == nullptr) return fail(Errc::null_pointer);
    if (Status status = check_size(totals); !status) return status;
    const auto ended = robot->robot->finish();
    if (!ended) return refuse(ended.error(), text, size);
    takt_robot_totals made{};
    made.accepted = ended->accepted;
    made.rejected = ended->rejected;
    made.errors = ended->errors;
    if (ended->recorded) {
      made.records = ended->recorded->records;
      made.dropped = ended->recorded->dropped;
    }
    if (ended->logged) {
      made.logged = ended->logged->entries;
      made.log_suppressed = ended->logged->suppressed;
      made.log_dropped = ended->logged->dropped;
    }
    write_struct(totals, made);
    return {};
  });
}

std::int32_t takt_drive_protocols(char* text, std::size_t size, std::size_t* length) {
  return guarded([&]() -> Status {
    if (text == nullptr && size != 0) return fail(Errc::null_pointer);
    std::string names;
    for (const takt::robot::DriveProtocol* protocol : takt::drives::all()) {
      names += protocol->name();
      names += '\n';
    }
    return write_whole(names, text, size, length);
  });
}
