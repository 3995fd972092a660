// What people and programs ask and command the controllers of a running robot: list, load, start, switch. A
// request is a line of words or of JSON, and the answer is a line of JSON. It knows no socket: the motion
// server (motion/PROTOCOL.md, "controllers") and the C API carry the lines.
//
//     app::ControllerCommands commands(robot.manager(), library);
//     auto answer = commands.command("start tip");                    // {"start":{}}
//     auto list = commands.request(R"({"list":{}})");                 // {"list":[{"name":"trajectory",...}]}
//
// Requests, each an object with one key. The answer's key is the same, with an object, or with a list:
//
//   {"list":{}}                                    all controllers, in the order in which they run
//   {"show":{"name":"tip"}}                        one controller, its parameters and their last changes
//   {"load":{"type":"T","name":"tip",...}}         the keys are those of a robot's file; but "start" is false
//                                                  by default (robot/description_json.hpp)
//   {"unload":{"name":"tip"}}
//   {"start":{"name":"tip"}}, {"stop":{...}}       a switch of one controller
//   {"switch":{"start":["a"],"stop":["b"],"strictness":"strict","timeout":1}}
//                                                  at one cycle, or not at all; or "best_effort"
//   {"reset":{"name":"tip"}}                       a failed one becomes inactive
//   {"set":{"name":"tip","parameters":{"gain":2}}} all, or none; "who" names the caller (default "takt ctl")
//   {"write":{"port":"tip.goal","value":{"x":1}}}  a sample to an in-port, as from another component, at the
//                                                  next cycle; fields without a value are 0
//   {"interfaces":{}}                              all interfaces, with their values and owners
//   {"events":{"after":0}}                         the last 256 events with a greater number
//   {"library":{"file":"libtip.so"}}               loads a plug-in from the folders
//   {"trace":{"file":"cycle.json"}}                writes a trace to a new file in the folder of traces
//   {"trace":{"off":true}}                         ends it; answers the counts of spans
//
// Words: "switch start=a,b stop=c", "set tip gain=2", "write tip.goal x=1", "load T tip gain=2",
// "trace off".
//
// Any thread, but not inside the cycle. Not real-time safe. A call waits for the cycle, a switch at most its
// timeout; calls wait for each other.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "takt/app/component_library.hpp"
#include "takt/component/assignment.hpp"
#include "takt/core/error.hpp"
#include "takt/core/setup_error.hpp"
#include "takt/core/time.hpp"
#include "takt/record/trace_writer.hpp"
#include "takt/robot/controller_config.hpp"
#include "takt/robot/manager.hpp"

namespace takt::app {

class PortWriter;

/// What the manager did on its own (robot::ManagerEvent), with names of its own.
struct ControllerEvent {
  std::uint64_t number = 0;  ///< from 1
  Time time{};               ///< of the cycle
  robot::ManagerEvent::Kind kind{};
  std::string component;  ///< the controller or device
  Error error;            ///< its reason; none: there is no reason
};

/// "controller tip failed: the controller commanded NaN or infinity".
[[nodiscard]] std::string describe(const ControllerEvent& event);

/// The commands to one manager, whose only reader of events it is. Both arguments must outlive it.
class ControllerCommands {
 public:
  static constexpr std::size_t kept_events = 256;

  /// `folders`: where plug-ins are searched.
  ControllerCommands(robot::Manager& manager, ComponentLibrary& library,
                     std::vector<std::string> folders = {});
  ~ControllerCommands();
  ControllerCommands(const ControllerCommands&) = delete;
  ControllerCommands& operator=(const ControllerCommands&) = delete;

  /// Lets requests begin and end traces, as new files of this folder. Call it before the first request. The
  /// writer must outlive this object. Without it, such requests are refused.
  void trace_to(record::TraceWriter& writer, std::string folder);

  /// Obeys a request in JSON. A mistake in it has a JSON pointer. Errors: component's bad_value; robot's
  /// not_a_controller; those of component::connect(), of robot::Manager, of ComponentLibrary, of
  /// ParameterSet::set(), and of record::TraceWriter.
  [[nodiscard]] SetupResult<std::string> request(std::string_view json);
  /// Obeys a command in words. Errors: as above.
  [[nodiscard]] SetupResult<std::string> command(std::string_view words);

  /// Makes a controller, sets its parameters, and loads it, inactive. Errors: as above.
  [[nodiscard]] SetupResult<void> load(const robot::ControllerDescription& wanted);
  /// The values of all parameters of the loaded controllers, each by the name "CONTROLLER.PARAMETER".
  [[nodiscard]] std::vector<component::Assignment> parameters();
  /// Sets parameters by such names: all of one controller, or none of it. `who`: for its list of changes.
  /// Returns a text for each controller that was not set.
  [[nodiscard]] std::vector<std::string> set(const std::vector<component::Assignment>& assignments,
                                             std::string_view who);
  /// While the lock is held, no command runs. So controllers that robot::Manager::find() gives stay loaded.
  [[nodiscard]] std::unique_lock<std::mutex> hold() { return std::unique_lock(mutex_); }
  /// The kept events with a greater number, the oldest first.
  [[nodiscard]] std::vector<ControllerEvent> events_after(std::uint64_t number);

 private:
  class Answerer;

  void take_events();

  robot::Manager* manager_;
  ComponentLibrary* library_;
  std::vector<std::string> folders_;
  record::TraceWriter* traces_ = nullptr;
  std::string trace_folder_;
  std::unique_ptr<PortWriter> ports_;
  std::mutex mutex_;  ///< one command at a time
  std::mutex events_mutex_;
  std::deque<ControllerEvent> events_;
  std::uint64_t last_event_ = 0;
};

}  // namespace takt::app
