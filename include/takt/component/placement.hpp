// Where and how often a component runs in its context.
#pragma once

#include <cstdint>

#include "takt/core/time.hpp"

namespace takt::component {

/// The reaction to a component that runs longer than its budget.
enum class BudgetAction : std::uint8_t {
  count,       ///< counts it
  deactivate,  ///< leads the component to inactive at the beginning of the next cycle
  error,       ///< leads it to the state error, with over_budget
};

/// Where and how often a component runs in its context.
struct Placement {
  int order = 0;              ///< lower runs first; equal ones run in the order of their arrival
  std::uint32_t divisor = 1;  ///< the component runs in each divisor-th cycle of the context
  std::uint32_t phase = 0;    ///< cycles; the index of its cycles modulo the divisor
  Duration budget{};          ///< for one on_execute(); 0: not measured
  BudgetAction over_budget = BudgetAction::count;

  /// Whether the divisor is positive, the phase below it, and the budget not negative.
  [[nodiscard]] constexpr bool is_valid() const noexcept {
    return divisor > 0 && phase < divisor && budget >= Duration(0);
  }
};

}  // namespace takt::component
