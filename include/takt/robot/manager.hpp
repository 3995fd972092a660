// The manager of a robot: the execution context that reads devices, runs controllers, limits and writes
// devices. One thread runs its cycle; any other thread may load and switch controllers meanwhile.
//
//     robot::Manager manager(description);
//     robot::DriveDevice drives("drives", hardware);
//     SetupResult<void> made = manager.add(drives);
//     if (made) made = manager.load(std::make_shared<Damper>("damper"));
//     if (made) made = manager.switch_controllers({.start = {"damper"}});  // runs once the robot is ready
//     if (!made) return complain(made.error().message);
//     return robot::run(manager, clock, {.period = description.period});
//
// A cycle has eight steps:
//
//   1 read      devices that are due; one that fails stops the controllers that use it
//   2 judge     the supervisor (supervisor.hpp): a stop suspends controllers, and a ready robot resumes them
//   3 switch    requests of other threads: all of a switch, or nothing
//   4 control   active controllers that are due: a controller runs before those whose inputs it commands
//   5 limit     each joint's command, by position, velocity, acceleration, jerk and braking distance
//   6 protect   joints that nobody commands come to rest; other commands get their safe value
//   7 write     devices that are due
//   8 publish   on_state_update() of the controllers, events
//
// Joints. A joint that its owner does not command stops within its limits and is held, without effort. So no
// cycle leaves a joint without a command. A joint that was commanded by velocity stays in that mode, at rest.
// A joint without power gets its measured position, under any command. A command that is NaN or infinite is
// rejected and ends its controller in that cycle, before any joint moves.
//
// Pauses. While the loop is away, a drive goes on by itself: it brakes, holds or keeps its velocity. In the
// first cycle after a pause a moving joint gets what its drive follows by now (DriveProtocol::coast()), and
// so nothing new. The answer tells how far the joint has moved. Its reference goes on from there, as fast as
// a constant deceleration over this distance leaves it. From there the joint catches up with its command
// within its limits, also if its controller keeps them by itself. So the drive never sees a step, whatever
// its kind.
//
// Failures. A controller that answers an error, or exceeds its budget with that policy, ends with its whole
// chain in the same cycle. Then its fallbacks begin, also in this cycle. Owners of what they need end; nobody
// ends for a fallback that cannot start. A controller executes at most once in a cycle.
//
// Stops. Controllers are deactivated, except those that work in a stop together with all that they command.
// Devices bring to rest what they move besides joints. A stop is over when all stands. When the robot is
// ready again, the same controllers are activated in one cycle, from the measured state. Those whose drives
// have to change their modes first begin later.
//
// Starts. Each start waits until the devices have changed the modes of the joints. Then the controllers are
// activated, followers first. If one refuses, none of its chain runs.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "takt/component/callers_mutex.hpp"
#include "takt/component/drivers.hpp"
#include "takt/component/execution_context.hpp"
#include "takt/component/parameter.hpp"
#include "takt/core/joint.hpp"
#include "takt/core/setup_error.hpp"
#include "takt/core/time.hpp"
#include "takt/robot/controller.hpp"
#include "takt/robot/controller_config.hpp"
#include "takt/robot/description.hpp"
#include "takt/robot/device.hpp"
#include "takt/robot/error.hpp"
#include "takt/robot/interfaces.hpp"
#include "takt/robot/joint.hpp"
#include "takt/robot/joint_coupling.hpp"
#include "takt/robot/supervisor.hpp"
#include "takt/rt/logger.hpp"
#include "takt/rt/periodic_loop.hpp"
#include "takt/rt/text_id.hpp"
#include "takt/rt/tracer.hpp"
#include "takt/shm/spsc_ring.hpp"

namespace takt::robot {

/// The extent of an exclusive claim.
enum class ClaimPolicy : std::uint8_t {
  per_joint,      ///< a joint has one owner, whatever interface it claims
  per_interface,  ///< position and velocity of one joint may have two owners
};

/// Two controllers that want the same.
struct ClaimConflict {
  std::string_view interface;  ///< "elbow", or "led/brightness"
  std::string_view owner;      ///< would go on
  std::string_view claimant;   ///< would start
};

/// Options of a manager.
struct ManagerOptions {
  std::size_t max_controllers = 128;
  ClaimPolicy claims = ClaimPolicy::per_joint;
  /// Decides on a conflict that the policy finds: true lets both run. Null: never.
  std::function<bool(const ClaimConflict&)> permits{};
};

/// Where and how a device runs.
struct DeviceConfig {
  component::Placement placement{};  ///< order: the lower one is read and written first
  Duration retry{};                  ///< after a failure: reset and activate again so often; 0: never
};

/// How a switch treats entries that cannot be met.
enum class SwitchPolicy : std::uint8_t {
  strict,  ///< nothing is switched
  /// They are left out: unknown names, a start of an active one or a stop of a stopped one, a start whose
  /// claims conflict. The rest is all or nothing.
  best_effort,
};

/// A set of starts and stops, applied in one cycle or not at all. A controller in both lists restarts.
struct SwitchRequest {
  std::vector<std::string> start{};
  std::vector<std::string> stop{};
  SwitchPolicy policy = SwitchPolicy::strict;
  Duration timeout = std::chrono::seconds(1);  ///< for the devices' change of modes
};

/// The state of a controller for people.
enum class ControllerState : std::uint8_t {
  inactive,
  active,
  suspended,  ///< it is to run, once the robot is ready and its joints have their mode
  failed,     ///< until a reset
};

/// The name of a state: "inactive", "active", "suspended", "failed".
[[nodiscard]] std::string_view to_string(ControllerState state) noexcept;

/// A controller, as data.
struct ControllerStatus {
  std::string name;
  std::string type;
  ControllerState state{};
  Error error;  ///< why it failed
  ControllerConfig config;
  std::vector<std::string> claims;  ///< "elbow (position)", "led/brightness"
  std::vector<std::string> reads;
  std::uint64_t executions = 0;
  std::uint64_t over_budget = 0;
  Duration longest{};  ///< of one execution, if it has a budget
};

/// What the cycle did on its own.
struct ManagerEvent {
  enum class Kind : std::uint8_t {
    controller_failed,  ///< with its reason
    controller_ended,   ///< by another one's failure, or a lost device
    fallback_started,
    device_lost,  ///< with its reason
    device_returned,
    activation_failed,  ///< after a stop, or of a fallback
  };
  Time time{};
  Kind kind{};
  component::FixedText<31> component;  ///< its name, also after it was unloaded
  Error error;
};

/// The name of a kind: "controller_failed", "device_lost".
[[nodiscard]] std::string_view to_string(ManagerEvent::Kind kind) noexcept;

/// The manager. Set-up functions may be called from any thread but the cycle's, and are not real-time safe.
class Manager {
 public:
  /// Sizes all memory for the robot, which may have any number of joints. Its mimic joints are states.
  explicit Manager(const RobotDescription& robot, ManagerOptions options = {});
  /// No thread may run the cycle any more.
  ~Manager();
  Manager(const Manager&) = delete;
  Manager& operator=(const Manager&) = delete;

  // ---- devices and controllers: any thread; not real-time safe ----

  /// Adds a device, initializes and activates it. It must outlive the manager. A device that cannot be
  /// activated stays, lost, and its retry applies. Errors: duplicate_name; those of the device.
  [[nodiscard]] SetupResult<void> add(Device& device, const DeviceConfig& config = {});

  /// The memory behind the interfaces of a device, for a recorder. Empty for a device that was not added.
  [[nodiscard]] DeviceMemory memory_of(const Device& device);

  /// Leads a lost device back to active. Errors: no_such_device; those of its on_reset() and on_activate().
  [[nodiscard]] SetupResult<void> reset_device(std::string_view name);

  /// Loads a controller, inactive. Controllers whose inputs it commands, and its fallbacks, are loaded
  /// before. Errors: duplicate_name, no_such_controller (a fallback); those of Component::initialize() and
  /// on_configure(); component::Errc::bad_rate, too_many_components.
  SetupResult<void> load(std::shared_ptr<Controller> controller, ControllerConfig config = {});
  /// Unloads an inactive or failed controller and returns it. Errors: no_such_controller; wrong_state (it is
  /// active); in_use (another one commands its inputs or has it as fallback).
  [[nodiscard]] SetupResult<std::shared_ptr<Controller>> unload(std::string_view name);
  /// Starts and stops controllers in one cycle, or none. If an activation fails, those that were stopped run
  /// again. Without a ready robot, the controllers start once it is ready. Errors: no_such_controller,
  /// wrong_state, claimed, chain_incomplete, in_use, device_refuses, device_lost, changed_meanwhile,
  /// switch_timed_out, rolled_back; those of BoundaryCalls::run().
  SetupResult<void> switch_controllers(const SwitchRequest& request);
  /// Leads a failed controller to inactive. Errors: no_such_controller, wrong_state; that of on_reset().
  [[nodiscard]] SetupResult<void> reset_controller(std::string_view name);

  /// The controllers, in the order in which they run.
  [[nodiscard]] std::vector<ControllerStatus> controllers();
  /// The controller with this name; null: none. It stays valid until it is unloaded.
  [[nodiscard]] Controller* find(std::string_view name);
  /// How many values interfaces() copies in one cycle, so that no question makes a cycle long.
  static constexpr std::size_t interfaces_per_cycle = 256;
  /// All interfaces with their present values. With more than interfaces_per_cycle, the values are of
  /// successive cycles.
  [[nodiscard]] std::vector<InterfaceInfo> interfaces();
  /// The next event, oldest first; std::nullopt: none. One thread.
  [[nodiscard]] std::optional<ManagerEvent> next_event();
  /// Stops the robot between two cycles, with this category. Errors: those of BoundaryCalls::run().
  [[nodiscard]] Status request_stop(StopCategory category, FaultReason reason = FaultReason::emergency_stop);

  // ---- the cycle: one thread; real-time safe ----

  /// Makes this thread the manager's. Errors: component::Errc::already_running.
  [[nodiscard]] Status start(Time now) noexcept;
  /// Steps 1 and 2. `missed`: periods in a row without a cycle before this one; `measured`: since the last
  /// cycle.
  void begin(Time now, Duration measured, std::uint64_t missed) noexcept;
  /// Steps 3 to 6.
  void control() noexcept;
  /// Step 7.
  void write() noexcept;
  /// Step 8.
  void publish() noexcept;
  /// All steps. Returns Verdict::stop once the robot is down.
  rt::Verdict cycle(const rt::Tick& tick) noexcept;
  /// Records the steps of the present cycle, and each device and controller in them, as spans; null: not.
  /// cycle() does this by its tick; a caller of the single steps calls it before begin().
  void set_tracer(rt::Tracer* tracer) noexcept {
    tracer_ = tracer;
    device_context_.set_tracer(tracer);
    controllers_.set_tracer(tracer);
  }
  /// The logger of devices and controllers, and of the manager's own events; null: none. Set-up, or between
  /// two cycles.
  void set_logger(rt::Logger* logger) noexcept {
    device_context_.set_logger(logger);
    controllers_.set_logger(logger);
  }
  /// Gives the cycle back, after it.
  void stop(Time now) noexcept;

  // ---- requests inside the cycle, between begin() and control() ----

  /// Stops the robot. Category 0 removes the power at once; a protective stop keeps it.
  void stop_robot(const RobotFault& fault, StopCategory category) noexcept;
  /// Leaves a latched stop, as Supervisor::reset().
  [[nodiscard]] Supervisor::ResetAnswer reset(bool accepts_positions = false) noexcept {
    return supervisor_.reset(accepts_positions);
  }
  /// Begins the end of the process: a controlled stop, then RobotState::down. Also before begin().
  void shut_down() noexcept;

  /// The nominal time of the present cycle.
  [[nodiscard]] Time now() const noexcept { return now_; }
  /// The supervisor.
  [[nodiscard]] const Supervisor& supervisor() const noexcept { return supervisor_; }
  /// All joints, by index.
  [[nodiscard]] std::span<const Joint> joints() const noexcept { return views_; }
  /// The description.
  [[nodiscard]] const RobotDescription& robot() const noexcept { return robot_; }
  /// The counters of all DriveDevices.
  [[nodiscard]] HardwareCounters counters() const noexcept;
  /// The context that runs the controllers, for parameters, ports and statistics.
  [[nodiscard]] component::ExecutionContext& context() noexcept { return controllers_; }

 private:
  friend class Resources;

  struct Entry;
  struct SwitchJob;
  struct Launch;
  enum class Origin : std::uint8_t;

  /// A command that is no joint's.
  struct CommandCell {
    double* value = nullptr;
    bool* driven = nullptr;
    SafeValue safe{};
    double rate = 0;
    const component::Component* of = nullptr;
    std::uint16_t owner = nobody;
  };
  struct DeviceRow {
    Device* device = nullptr;
    DriveDevice* drives = nullptr;   ///< the same, if it is one
    const double* moving = nullptr;  ///< Declarations::moving(); null: only joints move
    std::uint64_t retry = 0;         ///< cycles; 0: never
    std::uint64_t lost_at = 0;
    bool was_active = false;  ///< in the last cycle
    bool lost = false;
  };

  /// The names of the spans.
  struct Steps {
    rt::TextId read = rt::intern("read");
    rt::TextId judge = rt::intern("judge");
    rt::TextId switching = rt::intern("switch");
    rt::TextId control = rt::intern("control");
    rt::TextId protect = rt::intern("protect");
    rt::TextId limit = rt::intern("limit");
    rt::TextId write = rt::intern("write");
    rt::TextId publish = rt::intern("publish");
  };

  /// The statements that log events.
  struct EventLog {
    rt::LogStatement<rt::TextId, Error> failure{rt::LogLevel::error, "{}: {}", {.entries = 256}};
    rt::LogStatement<rt::TextId> change{rt::LogLevel::warning, "{}", {.entries = 256}};
    std::array<rt::TextId, 6> kinds{};
  };

  // set-up, under the mutex
  [[nodiscard]] Entry* find_entry(std::string_view name) const noexcept;
  [[nodiscard]] Entry* find_entry(const component::Component& component) const noexcept;
  [[nodiscard]] bool is_used(const Entry& entry) const noexcept;
  [[nodiscard]] SetupResult<void> initialize(Entry& entry);
  [[nodiscard]] SetupResult<void> find_fallbacks(Entry& entry) const;
  void link(Entry& entry);
  [[nodiscard]] SetupResult<void> enter(Entry& entry);
  void forget(const Entry& entry);
  [[nodiscard]] std::shared_ptr<std::vector<CommandCell>> cells_with(const component::Component& owner) const;
  [[nodiscard]] std::vector<Entry*> in_chain_order() const;
  [[nodiscard]] SetupResult<std::shared_ptr<SwitchJob>> plan(const SwitchRequest& request);
  [[nodiscard]] SetupResult<void> name_all(const SwitchRequest& request, SwitchJob& job) const;
  [[nodiscard]] SetupResult<void> check_claims(SwitchJob& job, bool may_drop) const;
  [[nodiscard]] SetupResult<void> check_chains(const SwitchJob& job) const;
  [[nodiscard]] SetupResult<void> prepare_devices(SwitchJob& job);
  [[nodiscard]] std::vector<ModeChange> planned_changes(const SwitchJob& job) const;
  [[nodiscard]] bool excludes(const Joint& mine, const Joint& theirs) const noexcept;
  [[nodiscard]] std::optional<std::string> conflict(const Entry& owner, const Entry& claimant) const;
  [[nodiscard]] ControllerStatus status_of(const Entry& entry,
                                           std::span<const component::Participant> rows) const;

  // the cycle
  void adopt(std::vector<CommandCell>& cells) noexcept;
  void number_running() noexcept;
  void read_devices() noexcept;
  void judge(std::uint64_t missed, Duration gap) noexcept;
  void begin_pause(std::uint64_t missed) noexcept;
  void pass_pause(Duration gap) noexcept;
  void end_pause(JointRecord& joint) noexcept;
  [[nodiscard]] MotionState coast(const JointRecord& joint, const MotionState& reference,
                                  Duration time) const noexcept;
  [[nodiscard]] double carry(const JointRecord& joint, double velocity) const noexcept;
  void move_mimics() noexcept;
  void restart_joints() noexcept;
  void stop_devices(StopCategory category) noexcept;
  void tell_ready() noexcept;
  [[nodiscard]] bool any_device_moves() const noexcept;
  void retry(DeviceRow& row) noexcept;
  void lose(DeviceRow& row) noexcept;
  void suspend() noexcept;
  void resume() noexcept;
  [[nodiscard]] Status begin_switch(SwitchJob& job) noexcept;
  void continue_switch() noexcept;
  void undo(SwitchJob& job) noexcept;
  [[nodiscard]] Launch launch(std::span<Entry* const> list, std::span<const ModeChange> changes,
                              std::uint64_t deadline) noexcept;
  void start_waiting() noexcept;
  void wait_to_start(Entry& entry) noexcept;
  void attempt_to_start() noexcept;
  [[nodiscard]] Error mark_in_way() noexcept;
  [[nodiscard]] ModeProgress perform(std::span<const ModeChange> changes) noexcept;
  void collect_changes() noexcept;
  void change_modes() noexcept;
  void check_mode(JointRecord& joint) noexcept;
  [[nodiscard]] std::uint64_t deadline_after(Duration timeout) const noexcept;
  [[nodiscard]] bool is_active(const Entry& entry) const noexcept;
  [[nodiscard]] bool has_devices(const Entry& entry) const noexcept;
  void deactivate(Entry& entry) noexcept;
  void take(Entry& entry) noexcept;
  void give_back(Entry& entry) noexcept;
  void hand_over(JointRecord& joint, unsigned ended) noexcept;
  void release(JointRecord& joint) noexcept;
  void want(Entry& entry, bool wanted, Origin origin) noexcept;
  void apply_requests() noexcept;
  void execute_controllers() noexcept;
  void settle_failures() noexcept;
  void fall_back(Error reason) noexcept;
  void end_chain(Entry& first, Error reason) noexcept;
  void mark_chains() noexcept;
  void end_marked(Error reason) noexcept;
  void start_fallbacks(const Entry& entry) noexcept;
  void move(JointRecord& joint) noexcept;
  void obey(JointRecord& joint) noexcept;
  void limit(JointRecord& joint, const MotionState& wanted) noexcept;
  void follow_unpowered(JointRecord& joint) noexcept;
  void protect_commands() noexcept;
  void emit(ManagerEvent::Kind kind, const component::Component& component, Error error = {}) noexcept;

  RobotDescription robot_;
  ManagerOptions options_;
  double period_;  ///< s
  component::CallersMutex mutex_;
  InterfaceTable table_;
  std::vector<std::unique_ptr<Entry>> entries_;
  std::vector<DeviceRow> devices_;
  std::vector<std::shared_ptr<SwitchJob>> jobs_;  ///< until the cycle is done with them

  component::ExecutionContext device_context_;
  component::ExecutionContext controllers_;
  Supervisor supervisor_;
  std::vector<JointFeedback> feedback_;
  std::vector<JointCommand> commands_;
  std::vector<MotionState> references_;
  std::vector<JointRecord> joints_;
  std::vector<Joint> views_;  ///< the same, for all to read
  JointCoupling mimics_;
  std::array<std::vector<double>, 2> coupled_;    ///< positions and velocities of all joints
  std::array<std::vector<double>, 2> followers_;  ///< of the mimic joints
  std::vector<Entry*> running_;                   ///< all entries, in their order; the cycle's list
  std::vector<Entry*> by_number_;                 ///< index: owner number; null: free
  std::vector<Entry*> chain_;                     ///< scratch of end_chain(), of the capacity of by_number_
  std::vector<CommandCell> cells_;
  shm::SpscRing<ManagerEvent> events_{256};
  Steps steps_;
  EventLog event_log_;
  rt::Tracer* tracer_ = nullptr;
  std::atomic<std::uint64_t> wishes_{0};  ///< the changes of Entry::wanted so far
  SwitchJob* pending_ = nullptr;          ///< the switch whose modes are changing
  std::vector<Entry*> starting_;          ///< scratch: controllers that start together, followers first
  std::vector<ModeChange> changes_;       ///< scratch: the modes that they need
  std::vector<ModeChange> its_changes_;   ///< scratch: those of one device
  Time now_{};
  Time last_woke_{};
  std::uint64_t cycle_ = 0;
  std::uint64_t devices_stopped_in_ = 0;  ///< cycle of the last stop
  bool suspended_ = true;                 ///< controllers wait for a ready robot
  bool executed_ = false;                 ///< step 4 has executed the controllers of this cycle
  bool any_waits_ = false;                ///< a controller is to start
  bool any_pauses_ = false;               ///< a joint waits for its drive's answer after a pause
  bool modes_change_ = false;             ///< a joint's device changes the mode for its owners
};

/// Runs the manager over a clock until the robot is down. Errors: those of rt::PeriodicLoop::create() and of
/// Manager::start().
template <Clock C>
[[nodiscard]] Status run(Manager& manager, C& clock, const rt::PeriodicConfig& config,
                         rt::LoopStatistics* statistics = nullptr) {
  return component::run_cycles(manager, clock, config, statistics);
}

}  // namespace takt::robot
