// The inputs of a robot: samples that components of other contexts write into in-ports of its controllers.
// They come in at one place, before the controllers run. So a recording has all of them, and a replay repeats
// them.
//
//   /inputs/CONTROLLER.PORT   takt's Sample of the port's type, at the time of the cycle that took it in
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/recorded_devices.hpp"
#include "takt/app/robot.hpp"
#include "takt/component/component.hpp"
#include "takt/component/connection.hpp"
#include "takt/component/opaque_port.hpp"
#include "takt/core/setup_error.hpp"
#include "takt/core/time.hpp"
#include "takt/motion/loop.hpp"
#include "takt/record/recorder.hpp"
#include "takt/robot/manager.hpp"

namespace takt::app {

/// Has ports that belong to no controller. It is never active.
struct PortOwner final : component::Component {
  static constexpr component::ComponentMetadata about{.type = "PortOwner",
                                                      .version = "1.0.0",
                                                      .vendor = "takt",
                                                      .category = "recorder",
                                                      .description = "Has in- or out-ports of a robot."};
  explicit PortOwner(std::string name) : Component(about, std::move(name)) {}
};

/// The in-ports, and what carries their samples on to the controllers. A controller that is loaded again is
/// no longer connected. Real-time safe after construction.
class RobotInputs final : public motion::LoopObserver {
 public:
  /// The controllers are loaded. Errors: no_such_controller of robot; no_such_port of component; those of
  /// component::connect().
  [[nodiscard]] static SetupResult<std::unique_ptr<RobotInputs>> create(
      robot::Manager& manager, const std::vector<RobotInput>& wanted);

  /// The in-port for "controller.port"; null if there is none.
  [[nodiscard]] component::InPortBase* find(std::string_view port) const noexcept;
  /// For the recording's metadata.
  [[nodiscard]] std::vector<RecordedInput> recorded() const;
  [[nodiscard]] std::vector<record::Topic> topics() const;
  /// Call it before the first cycle. The lane must outlive this.
  void record_to(record::Lane& lane, std::size_t first_topic) noexcept {
    lane_ = &lane;
    first_ = first_topic;
  }

  void before_cycle(Time now) noexcept override { now_ = now; }
  /// Takes the samples in: of one port, at most as many as its connection holds.
  void on_inputs(const motion::LoopInputs& inputs) noexcept override;
  void after_cycle(const motion::Snapshot&) noexcept override {}
  void on_event(const motion::Event&) noexcept override {}

 private:
  struct Input {
    RobotInput wanted;
    std::unique_ptr<PortOwner> owner;  ///< has the name of the controller, and is in the same context
    std::unique_ptr<component::OpaqueInPort> in{};
    std::unique_ptr<component::OpaqueOutPort> out{};
    component::Connection connection{};
    std::vector<std::uint8_t> sample{};  ///< as it is recorded
    bool waits = false;                  ///< the controller's fifo had no room for the value in `in`
    std::uint64_t taken = 0;
  };

  void record(std::size_t index) noexcept;

  std::vector<Input> inputs_;
  record::Lane* lane_ = nullptr;
  std::size_t first_ = 0;
  Time now_{};
};

}  // namespace takt::app
