// Publishes a force-torque sensor without the weight of its tool, without its offset, and filtered. It writes
// the port "wrench", and the sensor "name.wrench" for other controllers.
//
//   wrench = low-pass(measured - weight of the tool - offset)
//
// A device declares the sensor as a struct of type Wrench. The orientation of the sensor is fixed, or comes
// from an inertial unit on the same body (imu_broadcaster.hpp).
//
// Zeroing. A change of the parameter "zero" begins it. The offset becomes the mean of the next samples, after
// the weight is subtracted. So the zero stays right when the tool turns.
//
// A sample with NaN is not published, and counted by the state "name/rejected". So is one without an
// orientation of the inertial unit.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "takt/component/parameter.hpp"
#include "takt/component/port.hpp"
#include "takt/control/low_pass.hpp"
#include "takt/controllers/imu_broadcaster.hpp"
#include "takt/controllers/set_up.hpp"
#include "takt/controllers/tool_gravity.hpp"
#include "takt/robot/controller.hpp"

namespace takt::controllers {

/// Publishes a force-torque sensor.
class ForceTorqueBroadcaster final : public robot::Controller {
 public:
  static constexpr component::ComponentMetadata about{.type = "ForceTorqueBroadcaster",
                                                      .version = "1.0.0",
                                                      .vendor = "takt",
                                                      .category = "broadcaster",
                                                      .description = "Publishes a force-torque sensor."};
  explicit ForceTorqueBroadcaster(std::string name) : Controller(about, std::move(name)) {}

  /// Errors: those of Resources::sensor(), publish() and output().
  [[nodiscard]] SetupResult<void> on_configure(robot::Resources& resources) override {
    const auto found = resources.sensor<Wrench>(sensor->view());
    if (!found) return tl::unexpected<SetupError>(found.error());
    source_ = *found;
    if (!imu->view().empty()) {
      const auto unit = resources.sensor<ImuSample>(imu->view());
      if (!unit) return tl::unexpected<SetupError>(unit.error());
      imu_ = *unit;
    }
    seen_zero_ = *zero;
    if (auto done = resources.publish("wrench", wrench_); !done) return done;
    return resources.output("rejected", {}, rejected_);
  }
  [[nodiscard]] SetupResult<void> on_check() override { return check_fixed(*this, sensor, imu); }
  [[nodiscard]] bool works_in_stop() const noexcept override { return true; }

  [[nodiscard]] Status on_activate(const component::CycleTime& cycle) noexcept override {
    period_ = to_seconds(cycle.period);
    make_filters();
    return {};
  }
  [[nodiscard]] Status on_execute(const component::CycleTime& cycle) noexcept override {
    const auto attitude = sensor_orientation();
    if (!attitude || !is_finite(*source_)) {
      rejected_ += 1;
      return {};
    }
    const Wrench without_tool = *source_ - weight_of({*mass, *centre}, *attitude);
    gather_offset(without_tool);
    wrench_ = filtered(without_tool - offset_);
    wrench.write(wrench_, cycle.time);
    return {};
  }
  void on_parameters() noexcept override {
    if (*zero != std::exchange(seen_zero_, *zero)) {
      remaining_ = samples_ = *zero_samples;
      sum_ = {};
    }
    if (*cutoff != cutoff_in_use_) make_filters();
  }

  component::Parameter<NameList> sensor{
      *this, "sensor", {.initial = "wrench", .description = "Name of the device's sensor."}};
  component::Parameter<NameList> imu{
      *this, "imu", {.description = "Name of the inertial unit; empty: orientation is fixed."}};
  component::Parameter<Vector3> orientation{
      *this,
      "orientation",
      {.minimum = -7,
       .maximum = 7,
       .unit = "rad",
       .description = "Roll, pitch and yaw of the sensor in the world, or in the inertial unit's frame."}};
  component::Parameter<double> mass{
      *this,
      "mass",
      {.initial = 0, .minimum = 0, .maximum = 1000, .unit = "kg", .description = "Of the tool."}};
  component::Parameter<Vector3> centre{*this,
                                       "centre",
                                       {.minimum = -10,
                                        .maximum = 10,
                                        .unit = "m",
                                        .description = "The tool's centre of mass, in the sensor's frame."}};
  component::Parameter<double> cutoff{*this,
                                      "cutoff",
                                      {.initial = 0,
                                       .minimum = 0,
                                       .maximum = 100000,
                                       .unit = "Hz",
                                       .description = "Of the low-pass; 0: no filter."}};
  component::Parameter<std::int64_t> zero{
      *this,
      "zero",
      {.initial = 0,
       .minimum = 0,
       .maximum = std::int64_t{1} << 52,
       .description = "Each change makes the present wrench the new zero."}};
  component::Parameter<std::int64_t> zero_samples{
      *this,
      "zero_samples",
      {.initial = 100,
       .minimum = 1,
       .maximum = 1000000,
       .description = "The zero is the mean of so many samples."}};
  component::OutPort<Wrench> wrench{*this, "wrench"};

 private:
  [[nodiscard]] std::optional<Quaternion> sensor_orientation() const noexcept {
    const Quaternion fixed = from_roll_pitch_yaw(*orientation);
    if (imu_ == nullptr) return fixed;
    const auto unit = normalised(imu_->orientation);
    if (!unit) return std::nullopt;
    return product(*unit, fixed);
  }

  void gather_offset(const Wrench& without_tool) noexcept {
    if (remaining_ == 0) return;
    sum_ = sum_ + without_tool;
    if (--remaining_ == 0) offset_ = 1 / static_cast<double>(samples_) * sum_;
  }

  void make_filters() noexcept {
    cutoff_in_use_ = *cutoff;
    for (auto& filter : filters_) {
      filter.reset();
      if (const auto made = control::LowPass::from_cutoff(*cutoff, period_)) filter = *made;
    }
  }

  [[nodiscard]] Wrench filtered(Wrench w) noexcept {
    for (std::size_t i = 0; i < 3; ++i) {
      if (filters_[i]) w.force[i] = filters_[i]->step(w.force[i]).value;
      if (filters_[i + 3]) w.torque[i] = filters_[i + 3]->step(w.torque[i]).value;
    }
    return w;
  }

  const Wrench* source_ = nullptr;
  const ImuSample* imu_ = nullptr;  ///< null: the orientation is fixed
  Wrench offset_;
  Wrench sum_;
  std::int64_t samples_ = 1;    ///< of the last zeroing
  std::int64_t remaining_ = 0;  ///< samples of it that are still to come
  std::int64_t seen_zero_ = 0;
  double period_ = 0;
  double cutoff_in_use_ = 0;
  std::array<std::optional<control::LowPass>, 6> filters_;
  Wrench wrench_;
  double rejected_ = 0;
};

}  // namespace takt::controllers
