// Digital and analogue inputs and outputs of devices: commands from the port "commands" to the devices,
// states from the devices to the port "states".
//
// A sample has one number for each name in the list "outputs". An output that is also in the list "digital"
// takes 0 and 1 only. A sample with another count, NaN, or another digital number is ignored whole, and
// counted by the state "name/rejected". Without a sample, and after the timeout, the outputs are released.
// Then they get the safe values that their devices declare.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "takt/component/parameter.hpp"
#include "takt/component/port.hpp"
#include "takt/controllers/set_up.hpp"
#include "takt/controllers/timed_input.hpp"
#include "takt/core/fields.hpp"
#include "takt/robot/controller.hpp"
#include "takt/robot/error.hpp"

namespace takt::controllers {

/// The most inputs or outputs of one controller.
inline constexpr std::size_t max_signals = 64;

/// One number for each input, or for each output, in the order of the list of names.
struct SignalValues {
  std::uint64_t count = 0;  ///< the number of names
  std::array<double, max_signals> values{};

  TAKT_FIELDS(SignalValues, count, values)
};

/// Passes signals between ports and devices.
class GpioController final : public robot::Controller {
 public:
  static constexpr component::ComponentMetadata about{.type = "GpioController",
                                                      .version = "1.0.0",
                                                      .vendor = "takt",
                                                      .category = "controller",
                                                      .description = "Commands and publishes signals."};
  explicit GpioController(std::string name) : Controller(about, std::move(name)) {}

  /// Errors: empty_list (neither inputs nor outputs), named_twice, too_many_names; those of claim() and
  /// state(); robot::Errc::no_such_interface (a digital name that is no output).
  [[nodiscard]] SetupResult<void> on_configure(robot::Resources& resources) override {
    const bool reads_only = names_in(outputs->view()).empty();
    if (reads_only || !names_in(inputs->view()).empty()) {
      if (auto done = add_inputs(resources); !done) return done;
    }
    if (!reads_only) {
      if (auto done = add_outputs(resources); !done) return done;
    }
    return resources.output("rejected", {}, commands.rejected());
  }
  [[nodiscard]] SetupResult<void> on_check() override { return check_fixed(*this, inputs, outputs, digital); }

  [[nodiscard]] Status on_activate(const component::CycleTime&) noexcept override {
    commands.discard();
    return {};
  }
  [[nodiscard]] Status on_execute(const component::CycleTime& cycle) noexcept override {
    const SignalValues* sample =
        commands.newest(cycle.time, *timeout, [this](const SignalValues& s) { return accepts(s); });
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      if (sample != nullptr)
        outputs_[i].command.set(sample->values[i]);
      else
        outputs_[i].command.release();
    }
    return {};
  }
  [[nodiscard]] Status on_state_update(const component::CycleTime& cycle) noexcept override {
    sample_.count = inputs_.size();
    for (std::size_t i = 0; i < inputs_.size(); ++i) sample_.values[i] = inputs_[i].get();
    states.write(sample_, cycle.time);
    return {};
  }

  component::Parameter<NameList> inputs{
      *this, "inputs", {.description = "States to publish: \"board/button\", with commas."}};
  component::Parameter<NameList> outputs{
      *this, "outputs", {.description = "Interfaces to command: \"board/lamp\", with commas."}};
  component::Parameter<NameList> digital{
      *this, "digital", {.description = "Those outputs that take 0 and 1 only."}};
  component::Parameter<double> timeout{
      *this,
      "timeout",
      {.initial = 0,
       .minimum = 0,
       .maximum = 3600,
       .unit = "s",
       .description = "The outputs are released when no sample has come for so long; 0: never."}};
  TimedInput<SignalValues> commands{*this, "commands"};
  component::OutPort<SignalValues> states{*this, "states"};

 private:
  struct OutputRow {
    robot::CommandHandle command;
    bool is_digital = false;
  };

  [[nodiscard]] SetupResult<void> add_inputs(robot::Resources& resources) {
    const auto names = distinct_names(*this, inputs, max_signals);
    if (!names) return tl::unexpected<SetupError>(names.error());
    for (const std::string& name : *names) {
      const auto found = resources.state(name);
      if (!found) return tl::unexpected<SetupError>(found.error());
      inputs_.push_back(*found);
    }
    return {};
  }

  [[nodiscard]] SetupResult<void> add_outputs(robot::Resources& resources) {
    const auto names = distinct_names(*this, outputs, max_signals);
    if (!names) return tl::unexpected<SetupError>(names.error());
    for (const std::string& name : *names) {
      const auto claimed = resources.claim(name);
      if (!claimed) return tl::unexpected<SetupError>(claimed.error());
      outputs_.push_back({*claimed});
    }
    for (const std::string& name : names_in(digital->view())) {
      const auto found = std::find(names->begin(), names->end(), name);
      if (found == names->end()) {
        return takt::fail(robot::Errc::no_such_interface,
                          this->name() + ".digital: \"" + name + "\" is not in the list of outputs");
      }
      outputs_[static_cast<std::size_t>(found - names->begin())].is_digital = true;
    }
    return {};
  }

  [[nodiscard]] bool accepts(const SignalValues& sample) const noexcept {
    if (sample.count != outputs_.size()) return false;
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      const double value = sample.values[i];
      if (!std::isfinite(value)) return false;
      if (outputs_[i].is_digital && value != 0 && value != 1) return false;
    }
    return true;
  }

  std::vector<robot::StateHandle> inputs_;
  std::vector<OutputRow> outputs_;
  SignalValues sample_;
};

}  // namespace takt::controllers
