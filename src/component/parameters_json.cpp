#include "takt/component/parameters_json.hpp"

#include <algorithm>

#include "component/parameter_value_json.hpp"

namespace takt::component {

json::Value to_json(const ParameterValue& value) {
  return std::visit([](const auto& held) { return json::Value(held); }, value);
}

std::optional<ParameterValue> value_from_json(const json::Value& value, const std::string& where,
                                              json::Mistakes& mistakes) {
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_string()) return value.get<std::string>();
  const auto is_integer = [](const json::Value& one) {
    return one.is_number_integer() &&
           !(one.is_number_unsigned() && one.get<std::uint64_t>() > std::uint64_t(INT64_MAX));
  };
  if (is_integer(value)) return value.get<std::int64_t>();
  if (value.is_number()) return value.get<double>();
  if (value.is_array()) {
    if (std::all_of(value.begin(), value.end(), is_integer)) return value.get<std::vector<std::int64_t>>();
    if (std::all_of(value.begin(), value.end(), [](const json::Value& one) { return one.is_number(); }))
      return value.get<std::vector<double>>();
  }
  mistakes.add(where, "is not a boolean, number, text or array of numbers");
  return std::nullopt;
}

json::Value to_json(const ParameterSet& parameters) {
  json::Value list = json::Value::array();
  for (const ParameterBase* parameter : parameters.all()) {
    const ParameterInfo info = parameter->info();
    json::Value one = {{"name", info.name},
                       {"type", info.type},
                       {"value", to_json(parameter->current())},
                       {"initial", to_json(info.initial)}};
    if (!info.unit.empty()) one["unit"] = info.unit;
    if (!info.description.empty()) one["description"] = info.description;
    if (info.minimum != info.maximum) {
      one["minimum"] = info.minimum;
      one["maximum"] = info.maximum;
    }
    if (info.step > 0) one["step"] = info.step;
    if (!info.choices.empty()) one["choices"] = info.choices;
    list.push_back(std::move(one));
  }
  return list;
}

std::vector<Assignment> assignments_from_json(const json::Value& value, const std::string& where,
                                              json::Mistakes& mistakes) {
  std::vector<Assignment> assignments;
  if (!value.is_object()) {
    mistakes.add(where, "is not an object of parameters and values");
    return assignments;
  }
  for (const auto& [name, one] : value.items()) {
    if (auto read = value_from_json(one, json::child(where, name), mistakes))
      assignments.push_back({name, std::move(*read)});
  }
  return assignments;
}

std::string values_to_json(const ParameterSet& parameters) {
  json::Value object = json::Value::object();
  for (const Assignment& one : parameters.values()) object[one.parameter] = to_json(one.value);
  return json::to_text(object);
}

std::string parameters_to_json(const ParameterSet& parameters) { return json::to_text(to_json(parameters)); }

SetupResult<std::vector<Assignment>> assignments_from_json(std::string_view text) {
  const auto document = json::parse(text);
  if (!document) return takt::fail(Errc::bad_value, document.error().reason);
  json::Mistakes mistakes(16);
  auto assignments = assignments_from_json(*document, "", mistakes);
  if (mistakes.empty()) return assignments;
  std::string list;
  for (const json::Mistake& mistake : mistakes.list())
    list += (list.empty() ? "" : "; ") + mistake.where + ": " + mistake.reason;
  return takt::fail(Errc::bad_value, list);
}

}  // namespace takt::component
