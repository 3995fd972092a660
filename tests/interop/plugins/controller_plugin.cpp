// Controllers for the tests of `takt ctl`.
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "takt/component/plugin.hpp"
#include "takt/robot/controller.hpp"

namespace {

using takt::CommandMode;
using takt::SetupResult;
using takt::Status;
using takt::component::Component;
using takt::component::ComponentMetadata;
using takt::component::CycleTime;
using takt::robot::Controller;
using takt::robot::Joint;
using takt::robot::Resources;

constexpr ComponentMetadata about_type(std::string_view type, std::string_view description) {
  return {.type = type,
          .version = "1.0.0",
          .vendor = "takt",
          .category = "controller",
          .description = description};
}

/// Borrows a joint, and holds it beside the place where it took it.
struct Borrower final : Controller {
  static constexpr ComponentMetadata about = about_type("Borrower", "Holds a joint beside its place.");
  explicit Borrower(std::string name) : Controller(about, std::move(name)) {}

  SetupResult<void> on_configure(Resources& resources) override {
    auto joint = resources.claim_joint(joint_name->view(), CommandMode::position);
    if (!joint) return tl::unexpected(joint.error());
    joint_ = *joint;
    return {};
  }
  Status on_activate(const CycleTime&) noexcept override {
    from_ = joint_->reference().position;
    return {};
  }
  Status on_execute(const CycleTime&) noexcept override {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    joint_->follow({*breaks ? nan : from_ + *by, 0, 0});
    return {};
  }

  takt::component::Parameter<takt::component::FixedText<31>> joint_name{
      *this, "joint", {.description = "The joint that it moves."}};
  takt::component::Parameter<double> by{
      *this, "by", {.initial = 0, .minimum = -1, .maximum = 1, .unit = "rad", .description = "How far."}};
  takt::component::Parameter<bool> breaks{
      *this, "breaks", {.initial = false, .description = "Fails in its next cycle."}};

 private:
  Joint* joint_ = nullptr;
  double from_ = 0;
};

/// Throws while it is set up.
struct Thrower final : Controller {
  static constexpr ComponentMetadata about = about_type("Thrower", "Throws.");
  explicit Thrower(std::string name) : Controller(about, std::move(name)) {}
  SetupResult<void> on_configure(Resources&) override { throw std::runtime_error("not today"); }
};

/// A component, but no controller.
struct Bystander final : Component {
  static constexpr ComponentMetadata about = about_type("Bystander", "Does nothing.");
  explicit Bystander(std::string name) : Component(about, std::move(name)) {}
};

}  // namespace

TAKT_PLUGIN(Borrower, Thrower, Bystander)
