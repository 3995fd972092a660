// What controllers have in common when they are set up: lists of joints, and parameters that are read once.
// Not real-time safe.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "takt/component/component.hpp"
#include "takt/component/parameter.hpp"
#include "takt/controllers/error.hpp"
#include "takt/controllers/names.hpp"
#include "takt/core/joint.hpp"
#include "takt/core/setup_error.hpp"
#include "takt/robot/controller.hpp"

namespace takt::controllers {

/// The text of a list of names, as a parameter.
using NameList = component::FixedText<255>;

/// The names of a list parameter. Errors: empty_list, named_twice, too_many_names (more than `most`).
[[nodiscard]] inline SetupResult<std::vector<std::string>> distinct_names(
    const component::Component& owner, const component::Parameter<NameList>& list, std::size_t most) {
  std::vector<std::string> names = names_in(list->view());
  const std::string place = owner.name() + "." + list.name();
  if (names.empty()) return fail(Errc::empty_list, place + " names nothing; set it before the load");
  if (names.size() > most) {
    return fail(Errc::too_many_names,
                place + " has " + std::to_string(names.size()) + " names, at most " + std::to_string(most));
  }
  for (auto name = names.begin(); name != names.end(); ++name) {
    if (std::find(names.begin(), name, *name) != name)
      return fail(Errc::named_twice, place + " names \"" + *name + "\" twice");
  }
  return names;
}

/// Claims the joints of a list parameter in this mode. Errors: those of distinct_names() and claim_joint().
[[nodiscard]] inline SetupResult<std::vector<robot::Joint*>> claim_joints(
    const component::Component& owner, const component::Parameter<NameList>& list,
    robot::Resources& resources, CommandMode mode) {
  const auto names = distinct_names(owner, list, max_joints);
  if (!names) return tl::unexpected<SetupError>(names.error());
  std::vector<robot::Joint*> joints;
  for (const std::string& name : *names) {
    const auto joint = resources.claim_joint(name, mode);
    if (!joint) return tl::unexpected<SetupError>(joint.error());
    joints.push_back(*joint);
  }
  return joints;
}

/// Refuses changes of parameters that are read at load only. For on_check(). Errors: fixed_after_load.
template <class... T>
[[nodiscard]] SetupResult<void> check_fixed(const component::Component& owner,
                                            const component::Parameter<T>&... parameters) {
  if (owner.state() == component::ComponentState::created) return {};
  SetupResult<void> result;
  const auto check = [&](const auto& parameter) {
    if (parameter.proposed() == *parameter) return;
    result = fail(Errc::fixed_after_load, owner.name() + "." + parameter.name() + ": " +
                                              std::string(describe(Errc::fixed_after_load)));
  };
  (check(parameters), ...);
  return result;
}

}  // namespace takt::controllers
