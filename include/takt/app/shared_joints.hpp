// Joints of a robot that other processes move through shared memory, by shm::JointClient. The controller
// claims the joints in the manager. Among the processes, the first that wants a joint owns it.
//
// {"name": "shared", "type": "SharedJointsController",          // in the robot's file
//  "parameters": {"joints": "shoulder, elbow", "segment": "arm"}}
//
// Joint n of the image is joint n of the list. A reference in another mode than the controller's counts in
// the state "name/rejected", and releases the joint. So does JointMode::off: the manager brings the joint to
// rest.
//
// A process that is silent, or dies, loses its joints, which are held. After a stop of the robot, all
// processes begin again: they lose their joints, and start from the measured positions.
//
// The memory is a named segment, for processes of the same user that trust each other. Its exchanges are
// "joints" and "joint_slots", as in shm/joint_image.hpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "takt/component/component.hpp"
#include "takt/component/parameter.hpp"
#include "takt/controllers/set_up.hpp"
#include "takt/core/joint.hpp"
#include "takt/platform/segment.hpp"
#include "takt/robot/controller.hpp"
#include "takt/shm/joint_hub.hpp"

namespace takt::app {

/// The text of a segment's name, as a parameter.
using SegmentName = component::FixedText<63>;

/// Serves motion processes in shared memory.
class SharedJointsController final : public robot::Controller {
 public:
  static constexpr component::ComponentMetadata about{
      .type = "SharedJointsController",
      .version = "1.0.0",
      .vendor = "takt",
      .category = "controller",
      .description = "Lets processes in shared memory move joints."};
  explicit SharedJointsController(std::string name) : Controller(about, std::move(name)) {}

  /// Creates the segment, or attaches one that nobody serves. Errors: empty_list, named_twice,
  /// too_many_names; those of claim_joint() and of platform::Segment::open_or_create();
  /// platform::Errc::slot_taken: another process serves the segment.
  [[nodiscard]] SetupResult<void> on_configure(robot::Resources& resources) override;
  [[nodiscard]] SetupResult<void> on_check() override;
  [[nodiscard]] Status on_activate(const component::CycleTime&) noexcept override;
  [[nodiscard]] Status on_execute(const component::CycleTime&) noexcept override;
  [[nodiscard]] Status on_state_update(const component::CycleTime& cycle) noexcept override;

  component::Parameter<controllers::NameList> joints{
      *this, "joints", {.description = "Names of the joints, with commas."}};
  component::Parameter<SegmentName> segment{
      *this, "segment", {.description = "Name of the shared memory; empty: the controller's name."}};
  component::Parameter<CommandMode> mode{*this,
                                         "mode",
                                         {.initial = CommandMode::position,
                                          .choices = {"position", "velocity", "effort"},
                                          .description = "How the joints are commanded."}};
  component::Parameter<std::int64_t> processes{
      *this,
      "processes",
      {.initial = 4,
       .minimum = 1,
       .maximum = shm::max_joint_slots,
       .description = "Number of owner slots, one for each process."}};
  component::Parameter<std::int64_t> silent_cycles{
      *this,
      "silent_cycles",
      {.initial = 20,
       .minimum = 1,
       .maximum = 1'000'000,
       .description = "A process that sends no command for more cycles loses its joints."}};

 private:
  using Image = shm::BroadcastValue<shm::JointImage>;

  [[nodiscard]] SetupResult<void> open(const robot::RobotDescription& robot);
  void measure() noexcept;
  void command(robot::Joint& joint, const shm::JointReference& reference) noexcept;

  std::vector<robot::Joint*> claimed_;
  std::vector<shm::JointMeasurement> measured_;
  std::optional<platform::Segment> memory_;
  std::optional<platform::Claim<shm::ExchangeTraits<Image>::Producer>> image_;
  std::optional<platform::Claim<shm::ExchangeTraits<shm::JointSlots>::Consumer>> slots_;
  std::optional<shm::JointHub> hub_;
  double rejected_ = 0;  ///< references in another mode
};

}  // namespace takt::app
