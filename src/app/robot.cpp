#include "takt/app/robot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <filesystem>
#include <iterator>
#include <system_error>
#include <thread>
#include <utility>

#include "app/bus_watch.hpp"
#include "app/live_stream.hpp"
#include "app/loop_host.hpp"
#include "app/loop_log.hpp"
#include "app/loop_recorder.hpp"
#include "app/run_recorder.hpp"
#include "app/state_watch.hpp"
#include "app/variable_tap.hpp"
#include "app/vehicles.hpp"
#include "takt/app/error.hpp"
#include "takt/app/shared_joints.hpp"
#include "takt/controllers/registry.hpp"
#include "takt/describe.hpp"
#include "takt/drives/registry.hpp"
#include "takt/motion/server.hpp"
#include "takt/platform/hybrid_clock.hpp"
#include "takt/platform/line_server.hpp"
#include "takt/platform/worker.hpp"
#include "takt/robot/drive_fault.hpp"

namespace takt::app {
namespace {

/// Passes everything on to several observers, in order.
class Observers final : public motion::LoopObserver {
 public:
  void add(motion::LoopObserver& observer) { observers_.push_back(&observer); }
  void before_cycle(Time now) noexcept override {
    for (motion::LoopObserver* observer : observers_) observer->before_cycle(now);
  }
  void on_inputs(const motion::LoopInputs& inputs) noexcept override {
    for (motion::LoopObserver* observer : observers_) observer->on_inputs(inputs);
  }
  void ran(const component::CallNote& note) noexcept override {
    for (motion::LoopObserver* observer : observers_) observer->ran(note);
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

/// Writes log and recording in each cycle, on the loop's thread: for virtual time.
class CycleDrain final : public motion::LoopObserver {
 public:
  /// Each may be null.
  CycleDrain(record::LogWriter* log, record::Recorder* recorder) : log_(log), recorder_(recorder) {}
  void before_cycle(Time) noexcept override {}
  void on_event(const motion::Event&) noexcept override {}
  void after_cycle(const motion::Snapshot&) noexcept override {
    if (log_ != nullptr) log_->drain();
    if (recorder_ != nullptr) static_cast<void>(recorder_->drain());
  }

 private:
  record::LogWriter* log_;
  record::Recorder* recorder_;
};

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

/// A motion server of this process, on a thread of its own.
class OwnServer {
 public:
  OwnServer(const robot::RobotDescription& robot, motion::Channels& channels, ControllerCommands& commands,
            motion::ServerOptions options)
      : server_(robot, channels.requests, channels.events, channels.state,
                completed(std::move(options), commands)) {}

  /// The port on which it listens.
  [[nodiscard]] SetupResult<std::uint16_t> open(std::uint16_t port) {
    const auto opened = lines_.open({.port = port});
    if (!opened) return tl::unexpected<SetupError>(opened.error());
    thread_ = std::thread([this] { lines_.run(server_); });
    return *opened;
  }
  void stop() {
    if (!thread_.joinable()) return;
    lines_.stop();
    thread_.join();
  }
  [[nodiscard]] const motion::ServerCounters& counters() const { return server_.counters(); }

 private:
  [[nodiscard]] motion::ServerOptions completed(motion::ServerOptions options, ControllerCommands& commands) {
    options.executor = std::ref(planner_);
    options.controllers = [&commands](const std::string& request) { return commands.request(request); };
    options.controllers_executor = std::ref(commander_);
    return options;
  }

  platform::LineServer lines_;
  platform::Worker planner_;
  platform::Worker commander_;  ///< waits for the cycle
  motion::Server server_;
  std::thread thread_;
};

/// The gateway's thread carries the stops of another process. On a busy machine it runs before all threads
/// without deadlines, and after the loop.
rt::ThreadConfig gateway_thread(const rt::ThreadConfig& loop) {
  rt::ThreadConfig config;
  config.fifo = config.timer_slack = loop.fifo == rt::Want::off ? rt::Want::off : rt::Want::attempt;
  config.priority = std::max(loop.priority - 1, 1);
  return config;
}

/// A mistake that would harm the loop or the server; empty if there is none. Robot files are checked by their
/// loader; a description made in code is unchecked.
std::string mistake_in(const robot::RobotDescription& robot) {
  if (robot.period <= Duration(0)) return "the period is not positive";
  if (robot.joints.size() > max_joints)
    return fmt::format("{} joints, at most {} are possible", robot.joints.size(), max_joints);
  for (const robot::GroupDescription& group : robot.groups) {
    for (const std::size_t joint : group.joints) {
      if (joint >= robot.joints.size())
        return fmt::format("group {}: there is no joint {}", group.name, joint);
    }
  }
  return {};
}

bool is_file(const std::string& path) {
  std::error_code unknown;
  return std::filesystem::is_regular_file(path, unknown);
}

}  // namespace

struct Robot::Parts {
  Parts(robot::RobotDescription its_description, RobotOptions its_options)
      : description(std::move(its_description)), options(std::move(its_options)) {}

  SetupResult<void> build() {
    if (const std::string mistake = mistake_in(description); !mistake.empty())
      return fail(Errc::bad_description, fmt::format("robot {}: {}", description.name, mistake));
    if (options.clock == nullptr) options.clock = &own_clock.emplace();
    if (options.hardware == nullptr) {
      options.devices.start = options.clock->now();
      auto made = Devices::create(description, options.devices);
      if (!made) return tl::unexpected<SetupError>(std::move(made.error()));
      devices = std::move(*made);
      options.hardware = devices.get();
      // Faults name the interface in use, which may differ from the description's.
      for (std::size_t bus = 0; bus < description.buses.size(); ++bus)
        description.buses[bus].interface = devices->interface_of(bus);
    }
    observers.add(watch);
    if (devices) observers.add(bus_watch.emplace(*devices, description));
    observers.add(vehicle_watch);
    robot::Hardware* hardware = options.hardware;
    if (!options.recording.empty()) hardware = &recorded.emplace(*hardware, options.clock->now());
    auto made_loop =
        motion::Loop<RunClock>::create(*options.clock, description, *hardware, channels, observers, &tracer);
    if (!made_loop) return tl::unexpected<SetupError>(std::move(made_loop.error()));
    loop = std::move(*made_loop);
    traces.emplace(tracer, description.name);
    auto opened = add_devices();
    if (opened) opened = load_controllers();
    if (opened) opened = open_recording();
    if (opened) opened = open_log();
    // From here on: a replay loads the controllers of the description itself.
    loop->manager().context().set_witness(&observers);
    if (opened) opened = open_live();
    if (opened) opened = open_front();
    if (opened && !options.trace.empty()) opened = traces->start(options.trace);
    if (!opened) discard_recording();
    return opened;
  }

  record::Metadata recording_metadata() {
    record::Metadata metadata = describe_recording(description, options.created);
    metadata.devices = to_json(device_tap->devices(), port_reads->ports());
    metadata.epoch = epoch();
    return metadata;
  }

  SetupResult<void> open_recording() {
    const std::string& path = options.recording;
    if (path.empty()) return {};
    if (!options.overwrite && is_file(path)) {
      return fail(Errc::recording_exists, path + " exists, and the option overwrite is not set");
    }
    if (options.further_devices.size() > max_recorded_devices) {
      return fail(Errc::bad_description, fmt::format("{} further devices, at most {} can be recorded",
                                                     options.further_devices.size(), max_recorded_devices));
    }
    device_tap.emplace(loop->manager(), options.further_devices);
    port_reads.emplace(loop->manager());
    record::RecorderOptions how = options.recorder;
    const auto add = [&how](std::vector<record::Topic> topics) {
      const std::size_t first = how.topics.size();
      std::ranges::move(topics, std::back_inserter(how.topics));
      return first;
    };
    const std::size_t first_topic = add(run_topic::topics());
    static_cast<void>(add(device_tap->topics()));
    const std::size_t first_read = add(port_reads->topics());
    log_topic = add({record::log_topic()});
    std::size_t first_variable = 0;
    if (!options.recorded_variables.empty()) {
      auto made = VariableTap::create(loop->manager(), options.recorded_variables);
      if (!made) return tl::unexpected<SetupError>(std::move(made.error()));
      variables = std::move(*made);
      first_variable = add(variables->topics());
    }
    auto created = record::Recorder::create(path, recording_metadata(), how);
    if (!created) return tl::unexpected<SetupError>(std::move(created.error()));
    recorder = std::move(*created);
    recorded->record_to(*recorder, first_topic, *device_tap);
    port_reads->record_to(recorder->loop(), first_read, recorded->moment());
    observers.add(*recorded);
    if (variables) {
      variables->record_to(recorder->loop(), first_variable);
      observers.add(*variables);
    }
    observers.add(loop_recorder.emplace(description, recorder->loop(), devices.get()));
    if (!options.drain_in_cycle) static_cast<void>(recorder->start());
    return {};
  }

  /// The time that its lines have, beyond the loop's clock; none in virtual time.
  [[nodiscard]] Duration epoch() const {
    if (options.drain_in_cycle) return {};  // equal runs give equal files
    using std::chrono::system_clock;
    const auto unix_time = std::chrono::duration_cast<Duration>(system_clock::now().time_since_epoch());
    return unix_time - options.clock->now().time_since_epoch();
  }

  SetupResult<void> open_log() {
    if (options.log.empty() && !recorder) return {};
    observers.add(loop_log.emplace(logger, description));
    loop->manager().set_logger(&logger);
    log.emplace(record::LogOptions{"robot " + description.name, options.log, epoch(),
                                   [](Error error) noexcept { return takt::describe(error); }});
    log->add(logger);
    if (recorder) log->record_to(*recorder, log_topic);
    if (auto opened = log->open(options.clock->now()); !opened) return opened;
    if (options.drain_in_cycle)
      observers.add(drain.emplace(&*log, recorder.get()));
    else
      log->start();
    return {};
  }

  /// Adds the devices of the caller, and the vehicles that are not among them, as a replay's are.
  SetupResult<void> add_devices() {
    const bool simulate = options.devices.simulate ||
                          description.devices == robot::DeviceVariant::simulated ||
                          (devices && devices->simulation() != nullptr);
    for (const robot::RobotVehicle& wanted : description.vehicles) {
      if (std::ranges::any_of(options.further_devices, [&](auto* own) { return own->name() == wanted.name; }))
        continue;
      auto opened = open_vehicle(wanted, simulate, description.period, *options.clock);
      if (!opened) return tl::unexpected<SetupError>(std::move(opened.error()));
      outside.push_back(std::move(opened->about));
      options.further_devices.push_back(vehicles.emplace_back(std::move(opened->device)).get());
      vehicle_watch.add(wanted.name, *opened->status);
    }
    for (robot::Device* const device : options.further_devices) {
      if (auto added = loop->manager().add(*device); !added) return added;
    }
    return {};
  }

  /// Loads plug-ins and controllers, and starts the latter once the robot is ready.
  SetupResult<void> load_controllers() {
    std::string mistakes;
    const auto note = [&](const std::string& where, const SetupError& error) {
      mistakes += fmt::format("{}robot {}: {}: {}", mistakes.empty() ? "" : "\n", description.name, where,
                              error.message);
    };
    for (const component::ComponentType& type : controllers::types()) static_cast<void>(library.add(type));
    static_cast<void>(library.add(component::component_type<SharedJointsController>()));
    for (const component::ComponentType& type : options.types) {
      if (auto added = library.add(type); !added) note("types", added.error());
    }
    for (const std::string& file : options.libraries) {
      if (auto loaded = library.load(file, options.folders); !loaded) note("libraries", loaded.error());
    }
    commands.emplace(loop->manager(), library, options.folders);
    commands->trace_to(*traces, options.trace_folder);
    robot::SwitchRequest begin;
    const auto load = [&](const std::vector<robot::ControllerDescription>& list, const char* where) {
      for (std::size_t i = 0; i < list.size(); ++i) {
        if (auto loaded = commands->load(list[i]); !loaded) {
          note(fmt::format("{}/{}", where, i), loaded.error());
        } else if (list[i].start) {
          begin.start.push_back(list[i].name);
        }
      }
    };
    load(description.controllers, "/controllers");
    load(options.controllers, "options.controllers");
    if (mistakes.empty() && !begin.start.empty()) {
      if (auto begun = loop->manager().switch_controllers(begin); !begun) note("/controllers", begun.error());
    }
    if (mistakes.empty()) return {};
    return fail(Errc::bad_description, std::move(mistakes));
  }

  SetupResult<void> open_live() {
    if (!options.live.any()) return {};
    auto made = LiveStream::create(options.live, description, devices.get(), *commands, options.clock->now());
    if (!made) return tl::unexpected<SetupError>(std::move(made.error()));
    live = std::move(*made);
    observers.add(live->tap());
    return {};
  }

  /// A server that records its clients' marks, its rejected requests, and what it hands to the loop.
  motion::ServerOptions server_options() {
    motion::ServerOptions made;
    if (!recorder) return made;
    made.on_mark = [this](Time now, std::string_view text) { recorder->server().mark(now, text); };
    made.on_refusal = [this](Time now, const motion::Rejection& why) {
      record_refusal(recorder->server(), now, motion::to_refusal(why, description));
    };
    made.on_hand_over = [this](Time now, const motion::Request& request) {
      recorded->hand_over(now, request);
    };
    return made;
  }
  /// A gateway that does so for a server in another process.
  motion::GatewayOptions gateway_options() {
    motion::GatewayOptions made;
    if (!recorder) return made;
    made.on_mark = [this](Time now, std::string_view text) { recorder->server().mark(now, text); };
    made.on_refusal = [this](Time now, const motion::Refusal& why) {
      record_refusal(recorder->server(), now, why);
    };
    made.on_hand_over = [this](Time now, const motion::Request& request) {
      recorded->hand_over(now, request);
    };
    return made;
  }

  SetupResult<void> open_front() {
    if (!options.serve_at.empty()) {
      host.emplace(description, channels, gateway_options(), gateway_thread(options.thread),
                   options.serve_at);
      if (auto opened = host->open(); !opened) return opened;
      place = "serving at " + options.serve_at;
    } else if (options.port) {
      server.emplace(description, channels, *commands, server_options());
      auto opened = server->open(*options.port);
      if (!opened) return tl::unexpected<SetupError>(std::move(opened.error()));
      port = *opened;
      place = fmt::format("listening on 127.0.0.1:{}", *port);
    }
    return {};
  }

  std::optional<ReportLine> next_event() {
    if (unreported.empty()) {
      for (ControllerEvent& event : commands->events_after(reported_event))
        unreported.push_back(std::move(event));
    }
    if (unreported.empty()) return std::nullopt;
    const ControllerEvent event = std::move(unreported.front());
    unreported.pop_front();
    reported_event = event.number;
    return ReportLine{describe(event)};
  }

  /// Why a joint keeps the robot from being ready; empty if it does not.
  [[nodiscard]] std::string missing(const motion::Snapshot& seen, std::size_t i) const {
    const motion::JointSnapshot& joint = seen.joints[i];
    const robot::BusDescription& bus = description.buses[description.joints[i].bus];
    switch (joint.drive) {
      case DriveState::no_bus:
        return fmt::format("bus {} ({}) is down", bus.name, bus.interface);
      case DriveState::unknown:
        return fmt::format("does not answer on bus {} ({})", bus.name, bus.interface);
      case DriveState::fault:
        return "fault: " + robot::describe_fault(description, i, joint.fault);
      case DriveState::off:
        return description.power ? "answers, but is not on" : "";
      case DriveState::ready:
        break;
    }
    return {};
  }

  /// Queues a line for each joint that is outside its position limits as the robot becomes ready.
  void find_outside() {
    const motion::Snapshot& seen = watch.start().robot;
    for (std::size_t i = 0; i < seen.joint_count; ++i) {
      const robot::JointDescription& joint = description.joints[i];
      const double position = seen.joints[i].measured_position;
      const double spare = joint.goal_tolerance;
      if (position >= joint.limits.position_min - spare && position <= joint.limits.position_max + spare)
        continue;
      outside.push_back(fmt::format(
          "{} is at {:.6g} {}, outside its limits {:.6g} .. {:.6g}: it may only move back", joint.name,
          position, robot::position_unit(joint.kind), joint.limits.position_min, joint.limits.position_max));
    }
  }

  /// Removes the recording of a robot that never ran: it would block the next one.
  void discard_recording() {
    std::error_code unknown;
    if (recorder && is_file(options.recording)) std::filesystem::remove(options.recording, unknown);
    options.recording.clear();  // once: the next robot may record to a file of the same name
  }

  robot::RobotDescription description;
  RobotOptions options;
  std::optional<ClockOf<platform::HybridClock>> own_clock;
  std::unique_ptr<Devices> devices;
  motion::Channels channels;
  Observers observers;
  StateWatch watch;
  std::optional<BusWatch> bus_watch;
  std::unique_ptr<record::Recorder> recorder;
  std::optional<DeviceTap> device_tap;
  std::optional<PortReads> port_reads;
  std::optional<RunRecorder> recorded;
  std::shared_ptr<VariableTap> variables;
  std::optional<LoopRecorder> loop_recorder;
  rt::Logger logger;
  std::optional<LoopLog> loop_log;
  std::size_t log_topic = 0;
  std::optional<record::LogWriter> log;
  std::optional<CycleDrain> drain;
  ComponentLibrary library;
  rt::Tracer tracer;
  std::optional<record::TraceWriter> traces;
  std::vector<std::shared_ptr<robot::Device>> vehicles;
  VehicleWatch vehicle_watch;
  std::unique_ptr<motion::Loop<RunClock>> loop;
  std::optional<ControllerCommands> commands;
  std::unique_ptr<LiveStream> live;
  std::uint64_t reported_event = 0;
  std::deque<ControllerEvent> unreported;
  std::deque<std::string> outside;  ///< lines for next_report()
  std::optional<OwnServer> server;
  std::optional<LoopHost> host;
  std::string place;
  std::optional<std::uint16_t> port;
  bool has_run = false;
};

Robot::Robot(std::unique_ptr<Parts> parts) noexcept : parts_(std::move(parts)) {}
Robot::~Robot() { static_cast<void>(finish()); }

SetupResult<std::unique_ptr<Robot>> Robot::from_file(const std::string& path, RobotOptions options) {
  auto description = drives::load_robot_file(path);
  if (description) return create(std::move(*description), std::move(options));
  return fail(Errc::bad_description, robot::lines_of(path, description.error()));
}

SetupResult<std::unique_ptr<Robot>> Robot::create(robot::RobotDescription description, RobotOptions options) {
  auto parts = std::make_unique<Parts>(std::move(description), std::move(options));
  if (auto built = parts->build(); !built) return tl::unexpected<SetupError>(std::move(built.error()));
  return std::unique_ptr<Robot>(new Robot(std::move(parts)));
}

const robot::RobotDescription& Robot::description() const noexcept { return parts_->description; }
Devices* Robot::devices() noexcept { return parts_->devices.get(); }
const std::string& Robot::place() const noexcept { return parts_->place; }
std::optional<std::uint16_t> Robot::port() const noexcept { return parts_->port; }
std::optional<std::uint16_t> Robot::foxglove_port() const noexcept {
  return parts_->live ? parts_->live->foxglove_port() : std::nullopt;
}
robot::Manager& Robot::manager() noexcept { return parts_->loop->manager(); }
ControllerCommands& Robot::controllers() noexcept { return *parts_->commands; }
record::TraceWriter& Robot::traces() noexcept { return *parts_->traces; }
record::LogWriter* Robot::log() noexcept { return parts_->log ? &*parts_->log : nullptr; }
motion::Channels& Robot::channels() noexcept { return parts_->channels; }
record::Recorder* Robot::recorder() noexcept { return parts_->recorder.get(); }
motion::ServerOptions Robot::recording_options() { return parts_->server_options(); }
void Robot::add_observer(motion::LoopObserver& observer) { parts_->observers.add(observer); }

SetupResult<void> Robot::run(const std::function<void(const rt::ThreadSetup&)>& on_set_up) {
  const auto setup = rt::set_up_thread(parts_->options.thread);
  if (!setup) return tl::unexpected<SetupError>(setup.error());
  if (on_set_up) on_set_up(*setup);
  parts_->has_run = true;
  if (auto ran = parts_->loop->run(); !ran) return fail(ran.error(), "the loop's period is not positive");
  return {};
}

void Robot::shut_down() noexcept { parts_->loop->shut_down(); }
void Robot::reset() noexcept { parts_->loop->reset(); }

std::optional<ReportLine> Robot::next_report() {
  if (!parts_->outside.empty()) {
    ReportLine line{std::move(parts_->outside.front())};
    parts_->outside.pop_front();
    return line;
  }
  if (const auto seen = parts_->watch.next()) {
    if (seen->is_reminder) return ReportLine{describe_start()};
    if (seen->state == motion::RobotState::ready) parts_->find_outside();
    std::string why;
    if (seen->cause.reason != motion::Errc{}) why = ": " + describe_cause(seen->cause, parts_->description);
    return ReportLine{fmt::format("robot {}{}{}", motion::state_name(seen->state), why,
                                  motion::next_step(seen->state, seen->cause.reason)),
                      false, seen->state};
  }
  if (parts_->bus_watch) {
    if (auto complaint = parts_->bus_watch->next()) return ReportLine{std::move(*complaint), true};
  }
  if (auto line = parts_->next_event()) return line;
  if (auto news = parts_->vehicle_watch.next()) return ReportLine{std::move(*news)};
  return parts_->host ? parts_->host->next_report() : std::nullopt;
}

std::string Robot::describe_start() {
  const StateWatch::Start& start = parts_->watch.start();
  const auto& joints = parts_->description.joints;
  std::string missing;
  std::size_t count = 0;
  for (std::size_t i = 0; i < start.robot.joint_count; ++i) {
    const std::string why = parts_->missing(start.robot, i);
    if (why.empty()) continue;
    missing +=
        fmt::format("{}{} (board {}): {}", count++ == 0 ? ": " : "; ", joints[i].name, joints[i].board, why);
  }
  const double passed = to_seconds(start.passed);
  if (count == 0) {
    return parts_->description.power
               ? fmt::format("robot starting for {:.0f} s", passed)
               : fmt::format("robot without power for {:.0f} s: all drives answer", passed);
  }
  return fmt::format("robot {} for {:.0f} s, without {} of {} drives{}",
                     parts_->description.power ? "starting" : "without power", passed, count, joints.size(),
                     missing);
}

const motion::Event& Robot::fault() const noexcept { return parts_->watch.fault(); }
const rt::LoopStatistics& Robot::statistics() const noexcept { return parts_->loop->statistics(); }

SetupResult<RunTotals> Robot::finish() {
  RunTotals totals;
  if (parts_->server) {
    parts_->server->stop();
    const motion::ServerCounters& counters = parts_->server->counters();
    totals.accepted = counters.accepted;
    totals.rejected = counters.rejected;
    totals.errors = counters.errors;
  }
  if (parts_->host) parts_->host->stop();
  parts_->live.reset();
  const auto traced = parts_->traces->stop();
  if (traced) totals.traced = *traced;
  SetupResult<record::LogTotals> logged;
  if (parts_->log) {
    logged = parts_->log->finish(parts_->options.clock->now());
    if (logged) totals.logged = *logged;
  }
  if (parts_->recorder) {
    const auto recorded = parts_->recorder->finish();
    if (!parts_->has_run) {
      parts_->discard_recording();
      return totals;
    }
    if (!recorded)
      return fail(recorded.error().error, parts_->options.recording + ": " + recorded.error().message);
    totals.recorded = *recorded;
  }
  if (!logged) return tl::unexpected<SetupError>(std::move(logged.error()));
  if (!traced && traced.error().error != record::Errc::not_running)
    return tl::unexpected<SetupError>(traced.error());
  return totals;
}

std::string describe_cause(const motion::Event& cause, const robot::RobotDescription& robot) {
  return fmt::format("{} [{}]", motion::explain(cause, robot).message, motion::reason_name(cause.reason));
}

}  // namespace takt::app
