// Parameters: the settings of a component that may change while it runs. A component declares them as
// members:
//
//     takt::component::Parameter<double> gain{*this, "gain", {.initial = 2, .minimum = 0, .maximum = 50,
//                                             .unit = "1/s", .description = "Of the position loop."}};
//
//     takt::Status on_execute(const takt::component::CycleTime&) noexcept override {
//       command = *gain * error;   // a plain load
//       return {};
//     }
//
// A change of several parameters is checked outside the cycle: by the rules of each, and by the component's
// on_check(). A cycle boundary then applies it whole. A change with a mistake has no effect, and the caller
// gets all mistakes. Named sets hold the values for a purpose, such as "careful". The last changes are listed
// with who made them and when.
//
// Types: bool, std::int64_t, double, std::array of the two, FixedText<n>, and enums with a list of choices.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <type_traits>
#include <utility>
#include <vector>

#include "takt/component/assignment.hpp"
#include "takt/component/boundary_calls.hpp"
#include "takt/component/callers_mutex.hpp"
#include "takt/component/error.hpp"
#include "takt/core/error.hpp"
#include "takt/core/finite_math.hpp"
#include "takt/core/setup_error.hpp"
#include "takt/core/time.hpp"

namespace takt::component {

class Component;

/// A text of at most `n` characters that needs no heap.
template <std::size_t n>
class FixedText {
 public:
  constexpr FixedText() = default;
  /// Takes at most the first n characters.
  constexpr FixedText(std::string_view text) noexcept {  // NOLINT(google-explicit-constructor): a text is one
    size_ = static_cast<std::uint32_t>(std::min(text.size(), n));
    std::copy_n(text.begin(), size_, characters_.begin());
  }
  constexpr FixedText(const char* text) noexcept  // NOLINT(google-explicit-constructor): as above
      : FixedText(std::string_view(text)) {}
  /// The characters.
  [[nodiscard]] constexpr std::string_view view() const noexcept { return {characters_.data(), size_}; }
  friend constexpr bool operator==(const FixedText&, const FixedText&) = default;

 private:
  std::array<char, n> characters_{};
  std::uint32_t size_ = 0;
};

/// A change that was made.
struct ParameterChange {
  std::chrono::system_clock::time_point when;
  std::string who;  ///< as the caller said: "takt component", "launch"
  std::string parameter;
  ParameterValue before;
  ParameterValue after;
};

/// The number of changes that are kept.
inline constexpr std::size_t kept_changes = 256;

/// The description of a parameter, as data.
struct ParameterInfo {
  std::string name;
  std::string type;  ///< "bool", "integer", "number", "text[31]", "choice", "integer[3]", "number[6]"
  std::string unit;
  std::string description;
  ParameterValue initial;
  double minimum = 0;  ///< of numbers; equal to maximum: none
  double maximum = 0;
  double step = 0;                   ///< 0: none
  std::vector<std::string> choices;  ///< of enums
};

namespace parameter_detail {

/// The number in a parameter, on which minimum, maximum and step are.
template <class T>
struct NumberIn {
  using Type = T;
};
template <class E, std::size_t n>
struct NumberIn<std::array<E, n>> {
  using Type = E;
};
template <class T>
inline constexpr bool is_array = !std::is_same_v<typename NumberIn<T>::Type, T>;
template <class T>
inline constexpr bool is_number = std::is_same_v<T, double> || std::is_same_v<T, std::int64_t>;
// Constants, because g++ 12 fails on calls and on constructors in the initializers of rules.
template <class T>
inline constexpr T fresh{};
template <class Number>
inline constexpr Number lowest = std::numeric_limits<Number>::lowest();
template <class Number>
inline constexpr Number highest = std::numeric_limits<Number>::max();
template <class T>
inline constexpr std::size_t text_capacity = 0;
template <std::size_t n>
inline constexpr std::size_t text_capacity<FixedText<n>> = n;

/// Why a number breaks the rules; empty: it does not.
[[nodiscard]] std::string mistake_of(double value, double minimum, double maximum, double step);
[[nodiscard]] std::string mistake_of(std::int64_t value, std::int64_t minimum, std::int64_t maximum,
                                     std::int64_t step);
/// The value as a number or integer. Errors: a text that says what the parameter takes.
[[nodiscard]] tl::expected<double, std::string> number_of(const ParameterValue& value);
[[nodiscard]] tl::expected<std::int64_t, std::string> integer_of(const ParameterValue& value);
[[nodiscard]] tl::expected<std::vector<double>, std::string> numbers_of(const ParameterValue& value,
                                                                        std::size_t count);
[[nodiscard]] tl::expected<std::vector<std::int64_t>, std::string> integers_of(const ParameterValue& value,
                                                                               std::size_t count);

}  // namespace parameter_detail

/// The rules of a parameter with numbers. Each element of an array obeys them.
template <class T>
struct NumberRules {
  using Number = typename parameter_detail::NumberIn<T>::Type;
  T initial = parameter_detail::fresh<T>;
  Number minimum = parameter_detail::lowest<Number>;
  Number maximum = parameter_detail::highest<Number>;
  Number step = 0;          ///< values are multiples of it above the minimum, or above 0 without one; 0: any
  std::string_view unit{};  ///< "rad/s"
  std::string_view description{};
};
/// The rules of a bool or text.
template <class T>
struct PlainRules {
  T initial = parameter_detail::fresh<T>;
  std::string_view unit{};
  std::string_view description{};
};
/// The rules of an enum whose values count from 0.
template <class T>
struct ChoiceRules {
  T initial = parameter_detail::fresh<T>;
  std::vector<std::string_view> choices{};  ///< the names of the values, in their order
  std::string_view unit{};
  std::string_view description{};
};

/// The rules of a parameter of type T.
template <class T>
using RulesOf = std::conditional_t<
    std::is_enum_v<T>, ChoiceRules<T>,
    std::conditional_t<parameter_detail::is_number<typename parameter_detail::NumberIn<T>::Type>,
                       NumberRules<T>, PlainRules<T>>>;

/// A parameter of any type. Only ParameterSet changes it.
class ParameterBase {
 public:
  ParameterBase(const ParameterBase&) = delete;
  ParameterBase& operator=(const ParameterBase&) = delete;
  virtual ~ParameterBase();

  /// The name, unique among the parameters of the component.
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  /// The description, as data.
  [[nodiscard]] virtual ParameterInfo info() const = 0;
  /// The value in use.
  [[nodiscard]] virtual ParameterValue current() const = 0;

 protected:
  ParameterBase(Component& component, std::string name);

 private:
  friend class ParameterSet;

  /// Proposes a value; an answer says why not. Off the cycle.
  [[nodiscard]] virtual std::string propose(const ParameterValue& value) = 0;
  /// Proposes the value in use.
  virtual void withdraw() noexcept = 0;
  /// Takes the proposed value into use: at a boundary.
  virtual void commit() noexcept = 0;

  Component* component_;
  std::string name_;
};

/// A parameter of a component.
template <class T>
class Parameter final : public ParameterBase {
 public:
  /// Adds the parameter to the component. Not real-time safe.
  Parameter(Component& component, std::string name, RulesOf<T> rules)
      : ParameterBase(component, std::move(name)),
        rules_(std::move(rules)),
        value_(rules_.initial),
        proposed_(rules_.initial) {}

  /// The value in use. For the thread that runs the component; a plain load, real-time safe.
  [[nodiscard]] const T& operator*() const noexcept { return value_; }
  [[nodiscard]] const T* operator->() const noexcept { return &value_; }
  /// The value that on_check() judges.
  [[nodiscard]] const T& proposed() const noexcept { return proposed_; }

  [[nodiscard]] ParameterInfo info() const override;
  [[nodiscard]] ParameterValue current() const override { return as_data(value_); }

 private:
  using Number = typename parameter_detail::NumberIn<T>::Type;

  [[nodiscard]] ParameterValue as_data(const T& value) const;
  [[nodiscard]] std::string propose(const ParameterValue& value) override;
  void withdraw() noexcept override { proposed_ = value_; }
  void commit() noexcept override { value_ = proposed_; }

  RulesOf<T> rules_;
  T value_;
  T proposed_;
};

/// The parameters of one component. Set-up: not real-time safe; any thread but those of contexts.
class ParameterSet {
 public:
  explicit ParameterSet(Component& component) noexcept : component_(&component) {}
  ParameterSet(const ParameterSet&) = delete;
  ParameterSet& operator=(const ParameterSet&) = delete;

  /// All parameters, in the order of their declaration.
  [[nodiscard]] std::span<ParameterBase* const> all() const noexcept { return all_; }
  /// The one with this name; null: none.
  [[nodiscard]] ParameterBase* find(std::string_view name) const noexcept;
  /// The values in use, in the order of all().
  [[nodiscard]] std::vector<Assignment> values() const;

  /// Applies all assignments at the next cycle boundary, or none. The message of an error lists all mistakes.
  /// Errors: no_such_parameter; bad_value (a rule); that of on_check(); those of BoundaryCalls::run().
  SetupResult<void> set(std::span<const Assignment> assignments, std::string_view who,
                        Duration patience = default_patience);
  SetupResult<void> set(std::string_view parameter, ParameterValue value, std::string_view who,
                        Duration patience = default_patience);

  /// Keeps values under a name, after the checks of set(). Errors: bad_name, no_such_parameter, bad_value;
  /// that of on_check().
  SetupResult<void> define(const std::string& name, std::vector<Assignment> assignments);
  /// Applies a named set. Errors: no_such_set; those of set().
  SetupResult<void> apply(const std::string& name, std::string_view who,
                          Duration patience = default_patience);
  /// The names of the sets.
  [[nodiscard]] std::vector<std::string> names() const;
  /// The last changes, the oldest first.
  [[nodiscard]] std::vector<ParameterChange> changes() const;

  /// Applies the values of `old` under the same names, and takes its named sets and its changes. Adds the
  /// others to `lacking`. Errors: bad_value; that of on_check().
  [[nodiscard]] SetupResult<void> take_over(const ParameterSet& old, std::string_view who,
                                            std::vector<std::string>& lacking);

  /// Checks names and initial values. Errors: bad_name, bad_value; that of on_check().
  [[nodiscard]] SetupResult<void> check_initial();

 private:
  friend class ParameterBase;

  [[nodiscard]] SetupResult<void> propose(std::span<const Assignment> assignments);
  void withdraw() noexcept;

  Component* component_;
  std::vector<ParameterBase*> all_;
  mutable CallersMutex mutex_;  ///< callers only
  std::map<std::string, std::vector<Assignment>> sets_;
  std::deque<ParameterChange> changes_;
  /// A commit that its caller gave up waiting for, and that may still come.
  std::shared_ptr<std::atomic<bool>> pending_;
};

// ---- implementation ----

template <class T>
ParameterInfo Parameter<T>::info() const {
  using parameter_detail::is_number;
  ParameterInfo info;
  info.name = name();
  info.unit = rules_.unit;
  info.description = rules_.description;
  info.initial = as_data(rules_.initial);
  if constexpr (std::is_enum_v<T>) {
    info.type = "choice";
    for (const std::string_view choice : rules_.choices) info.choices.emplace_back(choice);
  } else if constexpr (is_number<Number>) {
    info.type = std::is_same_v<Number, double> ? "number" : "integer";
    if constexpr (parameter_detail::is_array<T>)
      info.type += "[" + std::to_string(rules_.initial.size()) + "]";
    if (rules_.minimum != std::numeric_limits<Number>::lowest() ||
        rules_.maximum != std::numeric_limits<Number>::max()) {
      info.minimum = static_cast<double>(rules_.minimum);
      info.maximum = static_cast<double>(rules_.maximum);
    }
    info.step = static_cast<double>(rules_.step);
  } else if constexpr (std::is_same_v<T, bool>) {
    info.type = "bool";
  } else {
    info.type = "text[" + std::to_string(parameter_detail::text_capacity<T>) + "]";
  }
  return info;
}

template <class T>
ParameterValue Parameter<T>::as_data(const T& value) const {
  if constexpr (std::is_enum_v<T>) {
    const auto index = static_cast<std::size_t>(value);
    return index < rules_.choices.size() ? std::string(rules_.choices[index]) : std::string();
  } else if constexpr (parameter_detail::is_array<T>) {
    return std::vector<Number>(value.begin(), value.end());
  } else if constexpr (parameter_detail::text_capacity<T> != 0) {
    return std::string(value.view());
  } else {
    return value;
  }
}

template <class T>
std::string Parameter<T>::propose(const ParameterValue& value) {
  using parameter_detail::is_number;
  if constexpr (std::is_enum_v<T>) {
    const std::string* text = std::get_if<std::string>(&value);
    std::string allowed;
    for (std::size_t i = 0; i < rules_.choices.size(); ++i) {
      if (text != nullptr && *text == rules_.choices[i]) {
        proposed_ = static_cast<T>(i);
        return {};
      }
      allowed += (i == 0 ? "\"" : ", \"") + std::string(rules_.choices[i]) + "\"";
    }
    return "must be one of " + allowed;
  } else if constexpr (is_number<Number>) {
    tl::expected<std::vector<Number>, std::string> numbers;
    if constexpr (parameter_detail::is_array<T>) {
      if constexpr (std::is_same_v<Number, double>)
        numbers = parameter_detail::numbers_of(value, proposed_.size());
      if constexpr (!std::is_same_v<Number, double>)
        numbers = parameter_detail::integers_of(value, proposed_.size());
    } else {
      tl::expected<Number, std::string> number;
      if constexpr (std::is_same_v<Number, double>) number = parameter_detail::number_of(value);
      if constexpr (!std::is_same_v<Number, double>) number = parameter_detail::integer_of(value);
      if (!number) return number.error();
      numbers = std::vector<Number>{*number};
    }
    if (!numbers) return numbers.error();
    for (const Number number : *numbers) {
      if (std::string mistake =
              parameter_detail::mistake_of(number, rules_.minimum, rules_.maximum, rules_.step);
          !mistake.empty())
        return mistake;
    }
    if constexpr (parameter_detail::is_array<T>) {
      std::copy(numbers->begin(), numbers->end(), proposed_.begin());
    } else {
      proposed_ = numbers->front();
    }
    return {};
  } else if constexpr (std::is_same_v<T, bool>) {
    const bool* flag = std::get_if<bool>(&value);
    if (flag == nullptr) return "must be true or false";
    proposed_ = *flag;
    return {};
  } else {
    const std::string* text = std::get_if<std::string>(&value);
    constexpr std::size_t capacity = parameter_detail::text_capacity<T>;
    if (text == nullptr || text->size() > capacity)
      return "must be a text of at most " + std::to_string(capacity) + " characters";
    proposed_ = T(*text);
    return {};
  }
}

}  // namespace takt::component
