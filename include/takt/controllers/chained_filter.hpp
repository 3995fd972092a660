// Filters a number by a chain of filters: a measured state, or what another controller commands.
//
// The number comes from the input "name/input", while another controller drives it, or else from the state
// `source`. The result is the state "name/filtered", and the command of `target`, if there is one. That may
// be an input of another controller. Without a number the target is released, and the filters begin anew with
// the next one. A number that is NaN is ignored, and counted by the state "name/rejected".
#pragma once

#include <string>
#include <utility>

#include "takt/component/parameter.hpp"
#include "takt/controllers/error.hpp"
#include "takt/controllers/filter_chain.hpp"
#include "takt/controllers/set_up.hpp"
#include "takt/core/period.hpp"
#include "takt/core/time.hpp"
#include "takt/robot/controller.hpp"

namespace takt::controllers {

/// Filters a number.
class ChainedFilter final : public robot::Controller {
 public:
  static constexpr component::ComponentMetadata about{.type = "ChainedFilter",
                                                      .version = "1.0.0",
                                                      .vendor = "takt",
                                                      .category = "controller",
                                                      .description = "Filters a number."};
  explicit ChainedFilter(std::string name) : Controller(about, std::move(name)) {}

  /// Errors: bad_filters; those of input(), state(), claim() and output().
  [[nodiscard]] SetupResult<void> on_configure(robot::Resources& resources) override {
    const auto input = resources.input("input", {});
    if (!input) return tl::unexpected<SetupError>(input.error());
    input_ = *input;
    if (!source->view().empty()) {
      const auto state = resources.state(source->view());
      if (!state) return tl::unexpected<SetupError>(state.error());
      source_ = *state;
    }
    if (!target->view().empty()) {
      const auto command = resources.claim(target->view());
      if (!command) return tl::unexpected<SetupError>(command.error());
      target_ = *command;
    }
    period_ = to_seconds(resources.period());
    if (auto checked = check_filters(); !checked) return checked;
    if (auto done = resources.output("filtered", {}, filtered_); !done) return done;
    return resources.output("rejected", {}, rejected_);
  }
  [[nodiscard]] SetupResult<void> on_check() override {
    if (auto checked = check_fixed(*this, source, target); !checked) return checked;
    return check_filters();
  }

  [[nodiscard]] Status on_activate(const component::CycleTime&) noexcept override {
    on_parameters();
    return {};
  }
  [[nodiscard]] Status on_execute(const component::CycleTime&) noexcept override {
    if (!input_.driven() && !source_) {
      chain_.reset();
      if (target_) target_.release();
      return {};
    }
    const control::Step step = chain_.step(input_.driven() ? input_.get() : source_.get());
    if (!step.ok()) {
      rejected_ += 1;
      return {};
    }
    filtered_ = step.value;
    if (target_) target_.set(filtered_);
    return {};
  }
  void on_parameters() noexcept override {
    if (const auto made = TextFilters::read(filters->view(), period_)) chain_ = *made;
  }

  component::Parameter<NameList> source{
      *this, "source", {.description = "State that is filtered; empty: the input alone."}};
  component::Parameter<NameList> filters{
      *this, "filters", {.description = "The chain: \"low_pass:30, notch:50:4, rate:2\"."}};
  component::Parameter<NameList> target{*this, "target", {.description = "Command that gets the result."}};

 private:
  [[nodiscard]] SetupResult<void> check_filters() const {
    // Before the load, the period is not known, and the frequencies are not judged.
    const bool is_loaded = period_ > 0;
    const auto made = TextFilters::read(filters.proposed().view(), is_loaded ? period_ : shortest_period);
    if (made || (!is_loaded && made.error().room == Room::control)) return {};
    const std::string_view why = made.error().room == Room::control
                                     ? control::describe(static_cast<control::Errc>(made.error().code))
                                     : describe(Errc::bad_filters);
    return takt::fail(Errc::bad_filters, name() + ".filters: " + std::string(why));
  }

  robot::InputHandle input_;
  robot::StateHandle source_;
  robot::CommandHandle target_;
  TextFilters chain_;
  double period_ = 0;  ///< s; 0: not loaded yet
  double filtered_ = 0;
  double rejected_ = 0;
};

}  // namespace takt::controllers
