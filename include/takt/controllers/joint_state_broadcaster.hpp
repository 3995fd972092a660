// Publishes what the joints measured: positions, velocities and efforts, at the port "states".
//
// The manager's divisor gives the rate (robot::ControllerConfig::divisor). The controller writes at the end
// of a cycle, behind the devices, so that it delays no command. It claims nothing, and it goes on in a stop.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "takt/component/parameter.hpp"
#include "takt/component/port.hpp"
#include "takt/controllers/set_up.hpp"
#include "takt/core/fields.hpp"
#include "takt/core/joint.hpp"
#include "takt/robot/controller.hpp"

namespace takt::controllers {

/// The measured states of several joints. Entries behind `count` are zero.
struct JointStates {
  std::uint64_t count = 0;                       ///< the number of joints
  std::array<double, max_joints> positions{};    ///< rad or m
  std::array<double, max_joints> velocities{};   ///< rad/s or m/s
  std::array<double, max_joints> efforts{};      ///< N m or N; NaN if the drive does not report it
  std::array<std::uint8_t, max_joints> heard{};  ///< 1: the joint has reported a position since the start

  TAKT_FIELDS(JointStates, count, positions, velocities, efforts, heard)
};

/// Publishes the measured states of joints.
class JointStateBroadcaster final : public robot::Controller {
 public:
  static constexpr component::ComponentMetadata about{.type = "JointStateBroadcaster",
                                                      .version = "1.0.0",
                                                      .vendor = "takt",
                                                      .category = "broadcaster",
                                                      .description = "Publishes the states of joints."};
  explicit JointStateBroadcaster(std::string name) : Controller(about, std::move(name)) {}

  /// Errors: named_twice, too_many_names; those of Resources::joint().
  [[nodiscard]] SetupResult<void> on_configure(robot::Resources& resources) override {
    names_ = names_in(joints->view());
    if (names_.empty()) {
      for (const robot::JointDescription& joint : resources.robot().joints) names_.push_back(joint.name);
      if (names_.size() > max_joints)
        return takt::fail(Errc::too_many_names, name() + ": the robot has more than 64 joints; name some");
    } else if (auto checked = distinct_names(*this, joints, max_joints); !checked) {
      return tl::unexpected<SetupError>(std::move(checked.error()));
    }
    for (const std::string& name : names_) {
      const auto joint = resources.joint(name);
      if (!joint) return tl::unexpected<SetupError>(joint.error());
      sources_.push_back(*joint);
    }
    return {};
  }
  [[nodiscard]] SetupResult<void> on_check() override { return check_fixed(*this, joints); }
  [[nodiscard]] bool works_in_stop() const noexcept override { return true; }

  [[nodiscard]] Status on_state_update(const component::CycleTime& cycle) noexcept override {
    sample_.count = sources_.size();
    for (std::size_t i = 0; i < sources_.size(); ++i) {
      const robot::JointFeedback& feedback = sources_[i]->feedback();
      sample_.positions[i] = feedback.position;
      sample_.velocities[i] = feedback.velocity;
      sample_.efforts[i] = feedback.has_effort ? feedback.effort : std::numeric_limits<double>::quiet_NaN();
      sample_.heard[i] = feedback.heard ? 1 : 0;
    }
    states.write(sample_, cycle.time);
    return {};
  }

  /// The names of the joints, in the order of the sample. Not real-time safe.
  [[nodiscard]] const std::vector<std::string>& names() const noexcept { return names_; }

  component::Parameter<NameList> joints{
      *this, "joints", {.description = "Names of the joints, with commas; empty: all."}};
  component::OutPort<JointStates> states{*this, "states"};

 private:
  std::vector<std::string> names_;
  std::vector<const robot::Joint*> sources_;
  JointStates sample_;
};

}  // namespace takt::controllers
