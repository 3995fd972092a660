// A running system of components, or one process of it. `takt launch` is a thin caller of this:
//
//     app::ComponentLibrary library;
//     auto description = app::system_from_file("arm.json");
//     auto system = app::ComponentSystem::create(*description, library);  // checks all, starts nothing
//     if (auto started = (*system)->start(); !started) return complain(started.error().message);
//     ...
//     (*system)->stop();
//
// Set-up: nothing here is real-time safe. The cycles of the contexts are, also while commands come.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "takt/app/component_library.hpp"
#include "takt/app/system_description.hpp"
#include "takt/component/component.hpp"
#include "takt/core/setup_error.hpp"
#include "takt/core/time.hpp"
#include "takt/platform/segment.hpp"
#include "takt/record/compression.hpp"

namespace takt::app {

/// Options of ComponentSystem::create().
struct SystemOptions {
  std::vector<std::string> folders{};  ///< for libraries without '/'
  std::string process{};               ///< only the contexts of this process; empty: all, in this process
  /// The memory of connections between processes, made by ComponentSystem::make_segment() of one of them. It
  /// must outlive the system. Null: no such connection.
  platform::Segment* segment = nullptr;
  /// An EventBell of each context that runs on events, in any process, by the context's name. Without its
  /// bell, a context is not woken by writers in other processes.
  std::map<std::string, int> bells{};
  record::Compression* compression = nullptr;  ///< of recordings; must outlive the system. Null: none
  /// Whether create() opens the buses of robots. If not, it reads their files only, to be checked: the system
  /// then cannot start.
  bool opens_robots = true;
};

/// A system. One thread at a time calls it.
class ComponentSystem {
 public:
  /// Loads the libraries, makes the components, and sets their parameters. Opens the buses of its robots.
  /// Starts nothing: no component is initialized, and no robot moves. Errors: bad_system; the message has a
  /// line for each mistake, with its JSON pointer. The library must outlive the system.
  [[nodiscard]] static SetupResult<std::unique_ptr<ComponentSystem>> create(
      const SystemDescription& description, ComponentLibrary& library, const SystemOptions& options = {});
  /// Stops.
  ~ComponentSystem();
  ComponentSystem(const ComponentSystem&) = delete;
  ComponentSystem& operator=(const ComponentSystem&) = delete;

  /// Creates the named segment for the connections between processes: "takt-" and the system's name. Returns
  /// nothing if there are none. For a system that was created with all processes. Errors: those of
  /// platform::Segment::create().
  [[nodiscard]] SetupResult<std::optional<platform::Segment>> make_segment() const;

  /// Connects the ports, initializes the components, starts the threads, and activates the components in
  /// order. If one fails, everything ends again. Errors: those of the components, with their names.
  [[nodiscard]] SetupResult<void> start();
  /// Runs the system for this long in simulated time, in this thread, instead of start(). Errors: as start();
  /// bad_system with a robot.
  [[nodiscard]] SetupResult<void> run_virtual(Duration duration);
  /// Deactivates the components in the opposite order, brings the robots to their controlled stop, and ends
  /// the threads. A thread that is stuck in a callback for longer than `patience` is left alone; a robot has
  /// 10 s more. Then false is returned, and the process should end.
  bool stop(Duration patience = std::chrono::seconds(2));

  /// Answers a line of text with a JSON object, {"ok": true, ...} or {"ok": false, "error": "..."}:
  ///   list                      contexts, components, ports, connections
  ///   status                    who this process is, since when, and whether all of it is well
  ///   show NAME                 a component with ports, services, parameters and last changes; also a
  ///                             robot's controller "robot/controller"
  ///   start|stop|reset NAME     transitions
  ///   set NAME {"gain": 2}      parameters, whole or not at all
  ///   write NAME.PORT {"x": 1}  a sample to an in-port, at the next cycle
  ///   apply NAME SET            a named set of parameters
  ///   connect FROM TO [{"buffering": "fifo", ...}]
  ///   disconnect FROM TO
  ///   migrate NAME CONTEXT
  ///   load FILE                 a plug-in of the folders, also a newer one of the same name
  ///   replace NAME [TYPE]       by a new component of the type (takt/component/replacement.hpp)
  ///   offer SEGMENT FROM TO [{"buffering": ...}]   creates the memory to a reader in another process
  ///   join SEGMENT FROM TO [{"buffering": ...}]    reads what another process offers
  [[nodiscard]] std::string command(std::string_view line, std::string_view who);

  /// The next report, for people: a callback that does not return, a component that failed. std::nullopt:
  /// none.
  [[nodiscard]] std::optional<std::string> next_report();
  /// Whether a callback does not return.
  [[nodiscard]] bool is_stuck() const noexcept;
  /// Whether a callback does not return in a context whose description then ends the process. The caller
  /// ends it.
  [[nodiscard]] bool must_end() const noexcept;
  /// A component of this process, until it is replaced; null: there is none of this name.
  [[nodiscard]] component::Component* find(std::string_view name) const noexcept;

  struct Parts;

 private:
  explicit ComponentSystem(std::unique_ptr<Parts> parts) noexcept;
  std::unique_ptr<Parts> parts_;
};

/// The name of a system's segment.
[[nodiscard]] std::string segment_name(const SystemDescription& description);

}  // namespace takt::app
