#include "component/placement_json.hpp"

#include <cstdint>
#include <string>
#include <utility>

#include "takt/core/time.hpp"

namespace takt::component {
namespace {

constexpr std::uint32_t largest_divisor = 1'000'000;
constexpr double longest_budget = 1e9;  // us

constexpr std::pair<std::string_view, BudgetAction> actions[] = {
    {"count", BudgetAction::count}, {"deactivate", BudgetAction::deactivate}, {"error", BudgetAction::error}};

void read_integer(json::Object& object, std::string_view key, json::Mistakes& mistakes, std::uint32_t& out,
                  std::uint32_t least, std::uint32_t most) {
  const json::Value* value = object.find(key);
  if (value == nullptr) return;
  if (const auto number = json::to_integer(*value, object.at(key), mistakes, least, most))
    out = static_cast<std::uint32_t>(*number);
}

}  // namespace

void read_rate(json::Object& object, json::Mistakes& mistakes, Placement& placement) {
  read_integer(object, "divisor", mistakes, placement.divisor, 1, largest_divisor);
  read_integer(object, "phase", mistakes, placement.phase, 0, largest_divisor - 1);
  if (placement.phase >= placement.divisor)
    mistakes.add(object.at("phase"), "must be below the divisor, " + std::to_string(placement.divisor));
  if (object.has("budget_us")) {
    double microseconds = 1;
    object.number("budget_us", microseconds, json::Range::positive(longest_budget));
    placement.budget = from_seconds(microseconds * 1e-6);
  }
  object.word<BudgetAction>("over_budget", placement.over_budget, actions);
}

json::Value rate_json(const Placement& placement) {
  json::Value rate{{"divisor", placement.divisor}, {"phase", placement.phase}};
  if (placement.budget > Duration(0))
    rate["budget_us"] = static_cast<double>(placement.budget.count()) * 1e-3;
  for (const auto& [word, action] : actions) {
    if (action == placement.over_budget) rate["over_budget"] = word;
  }
  return rate;
}

}  // namespace takt::component
