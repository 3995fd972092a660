#include "robot/controller_json.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "component/parameter_value_json.hpp"
#include "component/placement_json.hpp"
#include "takt/component/component.hpp"

namespace takt::robot {
namespace {

constexpr std::size_t most_fallbacks = 16;

/// A required name of a component, or of its type.
void read_name(json::Object& object, std::string_view key, json::Mistakes& mistakes, std::string& out) {
  object.required_name(key, out);
  if (out.empty() || component::is_valid_name(out)) return;
  mistakes.add(object.at(key),
               "\"" + out + "\" is no name: 1 to 31 letters, digits, '_', '-' or '.' are allowed");
}

void read_fallbacks(json::Object& object, json::Mistakes& mistakes, const std::string& its_name,
                    std::vector<std::string>& out) {
  const json::Value* list = object.find("fallbacks");
  if (list == nullptr) return;
  const std::string where = object.at("fallbacks");
  if (!list->is_array() || list->size() > most_fallbacks) {
    mistakes.add(where, "must be a list of at most " + std::to_string(most_fallbacks) + " names");
    return;
  }
  for (std::size_t i = 0; i < list->size(); ++i) {
    const auto name = json::to_name((*list)[i], json::child(where, i), mistakes);
    if (!name) continue;
    if (*name == its_name) mistakes.add(json::child(where, i), "the controller cannot replace itself");
    if (std::ranges::find(out, *name) != out.end())
      mistakes.add(json::child(where, i), "\"" + *name + "\" is named twice");
    out.push_back(*name);
  }
}

}  // namespace

ControllerDescription read_controller(json::Object& object, json::Mistakes& mistakes) {
  ControllerDescription made;
  read_name(object, "name", mistakes, made.name);
  read_name(object, "type", mistakes, made.type);
  component::Placement placement;
  component::read_rate(object, mistakes, placement);
  made.config = {placement.divisor, placement.phase, placement.budget, placement.over_budget, {}};
  read_fallbacks(object, mistakes, made.name, made.config.fallbacks);
  if (const json::Value* values = object.find("parameters"))
    made.parameters = component::assignments_from_json(*values, object.at("parameters"), mistakes);
  object.boolean("start", made.start);
  object.finish();
  return made;
}

json::Value controller_json(const ControllerDescription& controller) {
  const ControllerConfig& config = controller.config;
  json::Value made = component::rate_json({.divisor = config.divisor,
                                           .phase = config.phase,
                                           .budget = config.budget,
                                           .over_budget = config.over_budget});
  made["name"] = controller.name;
  made["type"] = controller.type;
  if (!config.fallbacks.empty()) made["fallbacks"] = config.fallbacks;
  for (const component::Assignment& each : controller.parameters)
    made["parameters"][each.parameter] = component::to_json(each.value);
  made["start"] = controller.start;
  return made;
}

}  // namespace takt::robot
