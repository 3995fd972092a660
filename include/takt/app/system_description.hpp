// A system as data: contexts, components with their parameters, connections, and processes. From a JSON file:
//
//   {
//     "name": "arm",
//     "libraries": ["libarm.so"],
//     "contexts": [{"name": "control", "period_ms": 1, "priority": 80},
//                  {"name": "log", "events": true, "process": "io"}],
//     "components": [{"name": "motor", "type": "Motor", "context": "control",
//                     "parameters": {"inertia": 0.1}},
//                    {"name": "log", "type": "Logger", "context": "log"}],
//     "connections": [{"from": "motor.state", "to": "log.state", "buffering": "fifo", "capacity": 64}],
//     "processes": [{"name": "io", "restart": "on-failure", "silence_s": 5, "log": "io.log",
//                    "record": {"file": "io.mcap", "ports": ["motor.state"]}}]
//   }
//
// Each process tells its launcher that it is alive and how it is, every "alive_s" (1). One that is silent for
// three times as long is told. One that is silent for "silence_s" is killed; without the key, none is.
//
// A process logs what its components log (rt/logger.hpp), their failures and the commands to them. It records
// the named out-ports of its components, or all of them without "ports". Paths begin at the folder of the
// system's file. A log is appended to. A recording that exists is kept: the next free number is taken.
//
// A context of the kind "robot" is a whole robot: its drives, controllers and motion server.
//   {"name": "arm", "kind": "robot", "file": "arm6.json", "port": 6010, "record": "arm.mcap", "priority": 80}
// Its period is that of its file. "simulate": true simulates its drives. "port" is that of its motion server,
// 0 for any free one; without it, there is none. Its controllers are components of the system for connections
// within the process: {"from": "planner.velocities", "to": "arm/speed.setpoints"}. The robot's own commands
// (takt ctl) switch them. The robot's recording has what they read from their ports, so takt replay needs no
// other component. It lacks calls of services.
//
// A component of the type "Recording" stands for one that was recorded:
//   {"name": "motor", "type": "Recording", "context": "control", "file": "io.mcap"}
// It has the out-ports of "motor", and writes what they carried. What others write to it goes nowhere. In
// virtual time, from a recording of virtual time, each value comes with its recorded stamp.
//
// Components are activated in their order in the file, and deactivated in the opposite one. A composite is
// listed before the components inside it, whose context is the composite's name.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "takt/component/connection.hpp"
#include "takt/component/execution_context.hpp"
#include "takt/component/parameter.hpp"
#include "takt/core/setup_error.hpp"
#include "takt/core/time.hpp"
#include "takt/rt/thread_setup.hpp"

namespace takt::app {

/// The process of contexts that name none.
inline constexpr std::string_view main_process = "main";

/// What follows when a callback of a context does not return.
enum class WhenStuck : std::uint8_t {
  report,       ///< the rest of the process goes on
  end_process,  ///< the other contexts stop in order; the process then fails, and its restart policy decides
};

/// A robot that is a context (app/robot.hpp).
struct RobotContext {
  std::string file;                     ///< path of its description
  bool simulate = false;                ///< its drives are simulated, whatever the file says
  std::optional<std::uint16_t> port{};  ///< of its motion server on 127.0.0.1, 0: any; std::nullopt: none
  std::string recording{};              ///< path of its recording; empty: none
};

/// A context and the thread that runs it.
struct ContextDescription {
  std::string name;
  std::string process{main_process};
  Duration period{};                                  ///< 0: it runs on events
  Duration silence = std::chrono::milliseconds(100);  ///< longest time without a cycle, on events
  rt::ThreadConfig thread;
  Duration stuck_after = std::chrono::milliseconds(500);  ///< a callback that runs longer is reported
  WhenStuck when_stuck = WhenStuck::report;
  std::optional<RobotContext> robot{};  ///< of the kind "robot"
};

/// A component and its place.
struct ComponentDescription {
  std::string name;
  std::string type;
  std::string context;  ///< or the name of a composite
  component::Placement placement;
  std::vector<component::Assignment> parameters;
  std::map<std::string, std::vector<component::Assignment>> sets;
  bool active = true;       ///< it is activated at the start
  std::string recording{};  ///< path, for the type "Recording"
};

/// A connection of ports, "component.port".
struct ConnectionDescription {
  std::string from;
  std::string to;
  component::ConnectionOptions options;
};

/// A connection of services, "component.service".
struct ServiceDescription {
  std::string from;  ///< the provider
  std::string to;    ///< the client
};

/// When a process that has ended is started again.
enum class RestartPolicy : std::uint8_t { never, on_failure, always };

/// A process of the system.
struct ProcessDescription {
  std::string name;
  RestartPolicy restart = RestartPolicy::never;
  Duration delay = std::chrono::milliseconds(200);  ///< before a restart
  Duration alive = std::chrono::seconds(1);         ///< period of its alive messages to the launcher
  /// The launcher kills it after so long without an alive message; 0: it only tells. Then `restart` decides.
  Duration silence{};
  std::uint32_t most = 10;              ///< restarts within a minute; beyond them the system ends
  std::string log{};                    ///< path of its log; empty: none
  std::string recording{};              ///< path of its recording; empty: none
  std::vector<std::string> recorded{};  ///< out-ports "component.port"; empty: all of the process
};

/// A whole system.
struct SystemDescription {
  std::string name;
  std::vector<std::string> libraries;
  std::vector<ContextDescription> contexts;
  std::vector<ComponentDescription> components;
  std::vector<ConnectionDescription> connections;
  std::vector<ServiceDescription> services;
  std::vector<ProcessDescription> processes;  ///< all that contexts name, "main" first

  /// The context that runs a component or composite, the context of this name, or that of a robot's
  /// controller "robot/controller"; null: there is none.
  [[nodiscard]] const ContextDescription* context_of(std::string_view runner) const;
  /// Whether the component of this name comes from a recording. Connections to it are left out.
  [[nodiscard]] bool is_recorded(std::string_view component) const;
  /// The process of this name; the first one if there is none.
  [[nodiscard]] const ProcessDescription& process(std::string_view wanted) const;
  /// The process of a context, component, composite or recorder; empty: there is none of this name.
  [[nodiscard]] std::string process_of(std::string_view runner) const;
};

/// The name of the component that records the ports of a process, by the index of the process: "recorder",
/// "recorder2", ...
[[nodiscard]] std::string recorder_name(std::size_t process);

/// Reads a description. Errors: bad_system; the message has a line for each mistake, with its JSON pointer.
[[nodiscard]] SetupResult<SystemDescription> system_from_json(std::string_view text);
/// Reads a file of at most a mebibyte. Errors: as above.
[[nodiscard]] SetupResult<SystemDescription> system_from_file(const std::string& path);

}  // namespace takt::app
