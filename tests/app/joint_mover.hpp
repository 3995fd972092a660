// The base of controllers in the tests of the replay.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "takt/robot/controller.hpp"

namespace takt::test {

/// The description of such a controller.
constexpr component::ComponentMetadata mover(std::string_view type) {
  return {.type = type,
          .version = "1.0.0",
          .vendor = "test",
          .category = "controller",
          .description = "Moves a joint."};
}

/// Claims the joint "right_joint", and begins where it is.
class JointMover : public robot::Controller {
 public:
  using Controller::Controller;
  SetupResult<void> on_configure(robot::Resources& resources) override {
    auto joint = resources.claim_joint("right_joint", CommandMode::position);
    if (!joint) return tl::unexpected(joint.error());
    joint_ = *joint;
    return {};
  }
  Status on_activate(const component::CycleTime&) noexcept override {
    at_ = joint_->reference().position;
    return {};
  }

 protected:
  robot::Joint* joint_ = nullptr;
  double at_ = 0;  ///< rad
};

}  // namespace takt::test
