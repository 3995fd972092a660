// The parts of a running system, for its sources: system.cpp runs them, system_robots.cpp runs its robots,
// system_commands.cpp answers.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "app/port_player.hpp"
#include "app/port_recorder.hpp"
#include "app/port_writer.hpp"
#include "takt/app/robot.hpp"
#include "takt/app/system.hpp"
#include "takt/component/connection.hpp"
#include "takt/component/context_thread.hpp"
#include "takt/component/drivers.hpp"
#include "takt/component/replacement.hpp"
#include "takt/platform/event_waiter.hpp"
#include "takt/platform/hybrid_clock.hpp"
#include "takt/record/log_writer.hpp"
#include "takt/rt/logger.hpp"

namespace takt::app {

struct ComponentSystem::Parts {
  /// A context and its thread.
  struct Runner {
    explicit Runner(const ContextDescription& of)
        : description(of), context({.name = of.name, .period = of.period}) {}

    const ContextDescription description;
    component::ExecutionContext context;
    rt::Logger logger;
    platform::HybridClock clock;
    std::optional<platform::EventWaiter> waiter;
    component::TickCounter ticks;
    std::atomic<bool> ended{false};
    std::unique_ptr<component::ContextThread> thread;
    // For the watchdog.
    const component::Component* suspect = nullptr;
    std::uint64_t suspect_cycle = 0;
    Time suspect_since{};
    bool reported = false;
  };
  /// A robot and its thread.
  struct RobotRunner {
    explicit RobotRunner(const ContextDescription& of) : description(of) {}

    const ContextDescription description;
    std::unique_ptr<Robot> robot;  ///< null: only its file was checked
    std::thread thread;
    std::atomic<bool> ended{false};
    std::string state;    ///< its last report about itself; with report_mutex
    bool is_well = true;  ///< likewise
  };
  struct Part {
    const ComponentDescription* description = nullptr;
    ComponentPointer component;
    component::ComponentState last_state = component::ComponentState::created;
  };
  struct Wire {
    std::string from, to;
    /// Of a connection to another process that a command made. It outlives the connection.
    std::unique_ptr<platform::Segment> segment;
    component::Connection connection;
  };
  /// The recording of a process.
  struct Recording {
    const ProcessDescription* process = nullptr;
    ComponentDescription part;
    std::shared_ptr<PortRecorder> recorder;
  };

  SystemDescription description;
  SystemOptions options;
  ComponentLibrary* library = nullptr;
  std::vector<std::unique_ptr<Runner>> runners;
  std::vector<std::unique_ptr<RobotRunner>> robots;
  std::vector<Part> components;
  std::vector<ComponentPointer> stuck_components;  ///< replaced, but a thread may still use them
  std::map<std::string, std::shared_ptr<component::Wake>, std::less<>> bells;  ///< by context
  std::vector<Wire> wires;
  PortWriter writer;
  std::deque<Recording> recordings;  ///< their addresses stay
  std::vector<std::shared_ptr<PortPlayer>> players;
  std::optional<record::LogWriter> log;
  bool is_virtual = false;
  Time virtual_now{};
  Time began{};
  Time began_unix{};

  std::set<std::string, std::less<>> lost;  ///< components that could not be made: one mistake each is enough

  std::mutex report_mutex;
  std::deque<std::string> reports;
  std::atomic<bool> stuck{false};
  std::atomic<bool> must_end{false};
  std::thread watchdog;
  std::mutex watchdog_mutex;
  std::condition_variable watchdog_end;
  bool watchdog_ends = false;

  [[nodiscard]] bool is_ours(std::string_view name) const {
    return options.process.empty() || description.process_of(name) == options.process;
  }
  /// Whether the component of this port or service is in another process, or could not be made. So that it is
  /// missing here is no mistake of those who name it.
  [[nodiscard]] bool is_elsewhere(std::string_view full_name) const;
  [[nodiscard]] component::Component* find(std::string_view name) const noexcept;
  [[nodiscard]] Part* find_part(std::string_view name) noexcept;
  /// Replaces a component by a new one of this type. Errors: those of ComponentLibrary::make() and
  /// component::replace().
  [[nodiscard]] SetupResult<component::Replacement> replace(Part& part, std::string_view type,
                                                            std::string_view who);
  [[nodiscard]] component::ExecutionContext* find_context(std::string_view name) const noexcept;
  /// The bell of the context that runs the port's component; null: it has none.
  [[nodiscard]] std::shared_ptr<component::Wake> bell_of(std::string_view port) const;
  /// The port or service "component.name". Errors: no_such_component, no_such_port with the names that exist.
  template <class P>
  [[nodiscard]] SetupResult<P*> find_port(std::string_view full_name) const;
  template <class P>
  [[nodiscard]] SetupResult<P*> find_service(std::string_view full_name) const;

  [[nodiscard]] SetupResult<void> make();
  using Note = std::function<void(const std::string& where, const std::string& reason)>;
  /// Reads a robot's file, and opens its buses.
  [[nodiscard]] SetupResult<void> make_robot(RobotRunner& runner) const;
  /// A component of the type "Recording", or of the library's types.
  [[nodiscard]] SetupResult<ComponentPointer> make_component(const ComponentDescription& wanted);
  void make_recorders(const Note& note);
  void make_recorder(std::size_t process, const std::string& where, const Note& note);
  [[nodiscard]] SetupResult<void> open(const Recording& recording);
  void finish_files();
  [[nodiscard]] record::Metadata metadata_of(const ProcessDescription& process) const;
  [[nodiscard]] SetupResult<void> open_log();
  /// "arm", or "arm@io" for one process of several.
  [[nodiscard]] std::string title_of(std::string_view process) const;
  /// The present time of the contexts.
  [[nodiscard]] Time now() const noexcept;
  /// Unix time minus now(). 0 in virtual time, so that equal runs give equal files.
  [[nodiscard]] Duration epoch() const;
  [[nodiscard]] SetupResult<void> adopt_bells();
  [[nodiscard]] SetupResult<void> set_up();
  [[nodiscard]] SetupResult<void> connect_all();
  [[nodiscard]] SetupResult<void> connect_one(std::size_t index);
  [[nodiscard]] SetupResult<void> start_threads();
  void start_robots();
  void await_contexts();
  [[nodiscard]] SetupResult<void> activate_all();
  bool stop(Duration patience);
  [[nodiscard]] bool stop_robots(Duration patience);
  void look_at(RobotRunner& runner);
  /// Reports the state of a robot, and keeps it for those who ask.
  void tell(RobotRunner& runner, const std::string& state, bool is_well);
  void watch();
  void look(Time now);
  void report(std::string text);
};

/// Time for a request of a person.
inline constexpr Duration request_patience = std::chrono::seconds(2);

/// "component" and "port" of "component.port"; the second is empty without a point.
[[nodiscard]] std::pair<std::string_view, std::string_view> split_name(std::string_view full_name) noexcept;

}  // namespace takt::app
