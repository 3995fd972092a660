#include "takt/component/parameter.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <memory>

#include "component/at_boundary.hpp"

namespace takt::component {

std::string to_string(const ParameterValue& value) {
  return std::visit(
      [](const auto& held) {
        using Held = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<Held, std::string>) return fmt::format("\"{}\"", held);
        if constexpr (!std::is_same_v<Held, std::string>) return fmt::format("{}", held);
      },
      value);
}

namespace parameter_detail {
namespace {

template <class Number>
[[nodiscard]] std::string range_mistake(Number value, Number minimum, Number maximum) {
  if (value >= minimum && value <= maximum) return {};
  return fmt::format("{} is not in [{}, {}]", value, minimum, maximum);
}

}  // namespace

std::string mistake_of(double value, double minimum, double maximum, double step) {
  if (!std::isfinite(value)) return "must be finite";
  if (std::string mistake = range_mistake(value, minimum, maximum); !mistake.empty()) return mistake;
  if (step <= 0) return {};
  const double origin = minimum == std::numeric_limits<double>::lowest() ? 0 : minimum;
  const double steps = (value - origin) / step;
  // A decimal step such as 0.1 is not exact in binary.
  if (std::abs(steps - std::round(steps)) <= 1e-9 * std::max(1.0, std::abs(steps))) return {};
  return fmt::format("{} is not a multiple of {} from {}", value, step, origin);
}

std::string mistake_of(std::int64_t value, std::int64_t minimum, std::int64_t maximum, std::int64_t step) {
  if (std::string mistake = range_mistake(value, minimum, maximum); !mistake.empty()) return mistake;
  if (step <= 0) return {};
  const std::int64_t origin = minimum == std::numeric_limits<std::int64_t>::lowest() ? 0 : minimum;
  // Unsigned, because the difference may exceed 63 bits. It wraps only if the origin is 0 and the value
  // below.
  const std::uint64_t distance = value >= origin ? std::uint64_t(value) - std::uint64_t(origin)
                                                 : std::uint64_t(origin) - std::uint64_t(value);
  if (distance % std::uint64_t(step) == 0) return {};
  return fmt::format("{} is not a multiple of {} from {}", value, step, origin);
}

tl::expected<double, std::string> number_of(const ParameterValue& value) {
  if (const double* number = std::get_if<double>(&value)) return *number;
  if (const std::int64_t* integer = std::get_if<std::int64_t>(&value)) return static_cast<double>(*integer);
  return tl::unexpected<std::string>("must be a number");
}

tl::expected<std::int64_t, std::string> integer_of(const ParameterValue& value) {
  if (const std::int64_t* integer = std::get_if<std::int64_t>(&value)) return *integer;
  return tl::unexpected<std::string>("must be an integer");
}

tl::expected<std::vector<double>, std::string> numbers_of(const ParameterValue& value, std::size_t count) {
  if (const auto* numbers = std::get_if<std::vector<double>>(&value); numbers && numbers->size() == count)
    return *numbers;
  if (const auto* integers = std::get_if<std::vector<std::int64_t>>(&value);
      integers && integers->size() == count)
    return std::vector<double>(integers->begin(), integers->end());
  return tl::unexpected<std::string>(fmt::format("must be an array of {} numbers", count));
}

tl::expected<std::vector<std::int64_t>, std::string> integers_of(const ParameterValue& value,
                                                                 std::size_t count) {
  if (const auto* integers = std::get_if<std::vector<std::int64_t>>(&value);
      integers && integers->size() == count)
    return *integers;
  return tl::unexpected<std::string>(fmt::format("must be an array of {} integers", count));
}

}  // namespace parameter_detail

ParameterBase::ParameterBase(Component& component, std::string name)
    : component_(&component), name_(std::move(name)) {
  component.parameters().all_.push_back(this);
}

ParameterBase::~ParameterBase() { std::erase(component_->parameters().all_, this); }

ParameterBase* ParameterSet::find(std::string_view name) const noexcept {
  const auto found =
      std::find_if(all_.begin(), all_.end(), [&](const auto* one) { return one->name() == name; });
  return found == all_.end() ? nullptr : *found;
}

std::vector<Assignment> ParameterSet::values() const {
  const std::scoped_lock lock(mutex_);
  std::vector<Assignment> values;
  for (const ParameterBase* parameter : all_) values.push_back({parameter->name(), parameter->current()});
  return values;
}

void ParameterSet::withdraw() noexcept {
  for (ParameterBase* parameter : all_) parameter->withdraw();
}

namespace {

/// A number for a text: command lines and files write "gains=5" without quotes.
ParameterValue as_wanted(const ParameterBase& parameter, const ParameterValue& value) {
  if (!parameter.info().type.starts_with("text")) return value;
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return fmt::format("{}", *integer);
  if (const auto* number = std::get_if<double>(&value)) return fmt::format("{}", *number);
  return value;
}

}  // namespace

SetupResult<void> ParameterSet::propose(std::span<const Assignment> assignments) {
  withdraw();
  std::vector<std::string> mistakes;
  Errc kind = Errc::bad_value;
  for (std::size_t i = 0; i < assignments.size(); ++i) {
    const Assignment& one = assignments[i];
    const std::string place = component_->name() + "." + one.parameter;
    ParameterBase* parameter = find(one.parameter);
    const bool again = std::any_of(assignments.begin(), assignments.begin() + static_cast<std::ptrdiff_t>(i),
                                   [&](const Assignment& other) { return other.parameter == one.parameter; });
    if (parameter == nullptr) {
      kind = Errc::no_such_parameter;
      std::vector<std::string> names;
      for (const ParameterBase* known : all_) names.push_back(known->name());
      mistakes.push_back(fmt::format("{}: there is no such parameter; there are: {}", place,
                                     names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "))));
    } else if (again) {
      mistakes.push_back(place + ": assigned twice");
    } else if (const std::string mistake = parameter->propose(as_wanted(*parameter, one.value));
               !mistake.empty()) {
      mistakes.push_back(fmt::format("{}: {}", place, mistake));
    }
  }
  SetupResult<void> result;
  if (!mistakes.empty()) {
    result = takt::fail(kind, fmt::format("{}", fmt::join(mistakes, "; ")));
  } else {
    try {
      result = component_->on_check();
    } catch (const std::exception& thrown) {
      result = takt::fail(Errc::threw, component_->name() + " threw in on_check(): " + thrown.what());
    } catch (...) {
      result = takt::fail(Errc::threw, component_->name() + " threw in on_check()");
    }
  }
  if (!result) withdraw();
  return result;
}

SetupResult<void> ParameterSet::set(std::span<const Assignment> assignments, std::string_view who,
                                    Duration patience) {
  const std::scoped_lock lock(mutex_);
  if (pending_ && pending_->load(std::memory_order_acquire))
    return takt::fail(Errc::busy,
                      component_->name() + ": an earlier change still waits for a stuck callback");
  if (auto proposed = propose(assignments); !proposed) return proposed;
  std::vector<ParameterChange> made;
  for (const Assignment& one : assignments) {
    made.push_back({std::chrono::system_clock::now(), std::string(who), one.parameter,
                    find(one.parameter)->current(), one.value});
  }
  pending_ = std::make_shared<std::atomic<bool>>(true);
  const auto commit = [this, pending = pending_]() noexcept -> Status {
    for (ParameterBase* parameter : all_) parameter->commit();
    component_->on_parameters();
    // release: the next set() sees the values.
    pending->store(false, std::memory_order_release);
    return {};
  };
  if (const Status status = at_boundary(*component_, commit, patience); !status) {
    if (status.error() != Errc::stuck) {
      pending_.reset();
      withdraw();
    }
    return takt::fail(status.error(),
                      component_->name() + ": " + std::string(describe(Errc{status.error().code})));
  }
  for (ParameterChange& change : made) {
    change.after = find(change.parameter)->current();
    changes_.push_back(std::move(change));
  }
  while (changes_.size() > kept_changes) changes_.pop_front();
  return {};
}

SetupResult<void> ParameterSet::set(std::string_view parameter, ParameterValue value, std::string_view who,
                                    Duration patience) {
  const Assignment one{std::string(parameter), std::move(value)};
  return set({&one, 1}, who, patience);
}

SetupResult<void> ParameterSet::define(const std::string& name, std::vector<Assignment> assignments) {
  if (!is_valid_name(name)) return takt::fail(Errc::bad_name, "set \"" + name + "\": bad name");
  const std::scoped_lock lock(mutex_);
  if (auto proposed = propose(assignments); !proposed) return proposed;
  withdraw();
  sets_[name] = std::move(assignments);
  return {};
}

SetupResult<void> ParameterSet::apply(const std::string& name, std::string_view who, Duration patience) {
  std::vector<Assignment> assignments;
  {
    const std::scoped_lock lock(mutex_);
    const auto found = sets_.find(name);
    if (found == sets_.end())
      return takt::fail(Errc::no_such_set, component_->name() + " has no set of parameters \"" + name + "\"");
    assignments = found->second;
  }
  return set(assignments, who, patience);
}

std::vector<std::string> ParameterSet::names() const {
  const std::scoped_lock lock(mutex_);
  std::vector<std::string> names;
  for (const auto& [name, assignments] : sets_) names.push_back(name);
  return names;
}

std::vector<ParameterChange> ParameterSet::changes() const {
  const std::scoped_lock lock(mutex_);
  return {changes_.begin(), changes_.end()};
}

SetupResult<void> ParameterSet::take_over(const ParameterSet& old, std::string_view who,
                                          std::vector<std::string>& lacking) {
  std::vector<Assignment> known;
  for (Assignment& one : old.values()) {
    if (find(one.parameter) != nullptr) {
      known.push_back(std::move(one));
    } else {
      lacking.push_back("parameter \"" + one.parameter + "\": the new component has none");
    }
  }
  if (auto taken = set(known, who); !taken) return taken;
  const std::scoped_lock lock(old.mutex_);
  changes_ = old.changes_;
  for (const auto& [name, assignments] : old.sets_) {
    if (auto defined = define(name, assignments); !defined)
      lacking.push_back("set \"" + name + "\": " + defined.error().message);
  }
  return {};
}

SetupResult<void> ParameterSet::check_initial() {
  std::vector<Assignment> initial;
  for (const ParameterBase* parameter : all_) {
    if (!is_valid_name(parameter->name()) || find(parameter->name()) != parameter) {
      return takt::fail(Errc::bad_name, component_->name() + ": parameter \"" + parameter->name() +
                                            "\": " + std::string(describe(Errc::bad_name)));
    }
    initial.push_back({parameter->name(), parameter->current()});
  }
  const std::scoped_lock lock(mutex_);
  auto proposed = propose(initial);
  withdraw();
  return proposed;
}

}  // namespace takt::component
