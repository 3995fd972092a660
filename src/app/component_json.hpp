// A component as JSON, for the answers to commands.
#pragma once

#include <chrono>
#include <string>

#include "component/parameter_value_json.hpp"
#include "json/strict.hpp"
#include "takt/component/component.hpp"
#include "takt/component/kept_state.hpp"

namespace takt::app {

[[nodiscard]] inline json::Value to_json(const component::ParameterChange& change) {
  return {{"when", std::chrono::duration<double>(change.when.time_since_epoch()).count()},
          {"who", change.who},
          {"parameter", change.parameter},
          {"before", component::to_json(change.before)},
          {"after", component::to_json(change.after)}};
}

/// Adds its metadata, parameters, kept states, named sets, and the last changes.
inline void put_details(json::Value& answer, component::Component& component) {
  const component::ComponentMetadata& metadata = component.metadata();
  answer["version"] = metadata.version;
  answer["vendor"] = metadata.vendor;
  answer["category"] = metadata.category;
  answer["description"] = metadata.description;
  answer["parameters"] = component::to_json(component.parameters());
  answer["states"] = json::Value::array();
  for (const component::KeptStateBase* state : component.kept_states())
    answer["states"].push_back({{"name", state->name()}, {"type", state->schema()}});
  answer["sets"] = component.parameters().names();
  answer["changes"] = json::Value::array();
  for (const auto& change : component.parameters().changes()) answer["changes"].push_back(to_json(change));
}

}  // namespace takt::app
