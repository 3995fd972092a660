// A component that logs its callbacks and fails where it is told to.
#pragma once

#include <atomic>
#include <string>
#include <utility>
#include <vector>

#include "takt/component/component.hpp"

namespace takt::test {

/// The answer of a probe that is told to fail.
inline constexpr Error probe_error = component::Errc::wrong_state;

struct Probe : component::Component {
  static constexpr component::ComponentMetadata about{.type = "Probe",
                                                      .version = "1.0.0",
                                                      .vendor = "takt",
                                                      .category = "test",
                                                      .description = "Logs its callbacks."};

  explicit Probe(std::string name = "probe") : Component(about, std::move(name)) { log.reserve(1000); }

  Status on_activate(const component::CycleTime& /*cycle*/) noexcept override {
    return answer(component::Callback::on_activate);
  }
  Status on_execute(const component::CycleTime& cycle) noexcept override {
    last = cycle;
    executions.fetch_add(1, std::memory_order_relaxed);
    return answer(component::Callback::on_execute);
  }
  Status on_state_update(const component::CycleTime& /*cycle*/) noexcept override {
    return answer(component::Callback::on_state_update);
  }
  void on_deactivate(const component::CycleTime& /*cycle*/) noexcept override {
    note(component::Callback::on_deactivate);
  }
  void on_abort(const component::CycleTime& /*cycle*/) noexcept override {
    note(component::Callback::on_abort);
  }
  void on_error(const component::CycleTime& /*cycle*/) noexcept override {
    note(component::Callback::on_error);
  }
  Status on_reset(const component::CycleTime& /*cycle*/) noexcept override {
    return answer(component::Callback::on_reset);
  }
  void on_rate_change(const component::CycleTime& /*cycle*/) noexcept override {
    note(component::Callback::on_rate_change);
  }
  void on_finalize() noexcept override { note(component::Callback::on_finalize); }

  /// The callbacks since the last call, by name.
  std::string calls() {
    std::string text;
    for (const component::Callback callback : log) (text += to_string(callback)) += ' ';
    log.clear();
    return text;
  }

  component::Callback fails = component::Callback::none;  ///< this callback fails
  component::CycleTime last;
  std::atomic<std::uint64_t> executions{0};
  std::vector<component::Callback> log;  ///< at most its reserved size

 private:
  void note(component::Callback callback) noexcept {
    if (log.size() < log.capacity()) log.push_back(callback);
  }
  Status answer(component::Callback callback) noexcept {
    note(callback);
    if (callback == fails) return fail(probe_error);
    return {};
  }
};

}  // namespace takt::test
