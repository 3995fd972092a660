// Records further variables of a robot: numbers and structs of controllers, and ports.
//
//   /variables/NAME   the value after each cycle: a number or struct by its interface, such as
//                     "base/speed", or each value of a port, such as "base.commands"
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "takt/component/connection.hpp"
#include "takt/component/opaque_port.hpp"
#include "takt/core/setup_error.hpp"
#include "takt/motion/loop.hpp"
#include "takt/record/recorder.hpp"
#include "takt/robot/controller.hpp"
#include "takt/robot/manager.hpp"

namespace takt::app {

/// The name of the tap in the manager.
inline constexpr const char* variable_tap = "recorder";

/// A controller that is never started: the manager keeps what it reads. Real-time safe after construction.
class VariableTap final : public robot::Controller, public motion::LoopObserver {
 public:
  static constexpr component::ComponentMetadata about{.type = "VariableTap",
                                                      .version = "1.0.0",
                                                      .vendor = "takt",
                                                      .category = "recorder",
                                                      .description = "Records variables and ports."};

  /// `names`: of interfaces.
  explicit VariableTap(std::vector<std::string> names)
      : Controller(about, variable_tap), names_(std::move(names)) {}

  /// Loads one into the manager, for these interfaces and ports. Errors: robot::Errc::no_such_interface, with
  /// the similar names; those of Manager::load() and component::connect().
  [[nodiscard]] static SetupResult<std::shared_ptr<VariableTap>> create(robot::Manager& manager,
                                                                        std::span<const std::string> names);

  [[nodiscard]] SetupResult<void> on_configure(robot::Resources& resources) override;
  [[nodiscard]] Status on_execute(const component::CycleTime&) noexcept override { return {}; }

  [[nodiscard]] std::vector<record::Topic> topics() const;
  /// `first`: the index of the first topic. The lane must outlive this.
  void record_to(record::Lane& lane, std::size_t first) noexcept {
    lane_ = &lane;
    first_ = first;
  }

  void before_cycle(Time) noexcept override {}
  void on_event(const motion::Event&) noexcept override {}
  void after_cycle(const motion::Snapshot& snapshot) noexcept override;

 private:
  struct Value {
    robot::ReadingMemory memory;
    std::size_t size = 0;
  };
  struct Port {
    std::string name;
    std::unique_ptr<component::OpaqueInPort> in;
    component::Connection connection;
  };
  [[nodiscard]] SetupResult<void> connect(const std::string& name, component::OutPortBase& port);

  std::vector<std::string> names_;
  std::vector<Value> values_;
  std::vector<Port> ports_;
  record::Lane* lane_ = nullptr;
  std::size_t first_ = 0;
};

}  // namespace takt::app
