// An in-port whose samples become too old. It ignores bad samples, so that the last good one stays.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "takt/component/port.hpp"
#include "takt/core/time.hpp"
#include "takt/shm/exchange.hpp"

namespace takt::controllers {

/// Receives samples of type T. The age of a sample counts from its arrival, because a foreign stamp may be of
/// another clock. For the thread that runs the component.
template <class T>
class TimedInput {
 public:
  /// Samples that one call takes at most: a longer queue is read over several cycles.
  static constexpr std::size_t most_samples = 64;

  /// Adds the port to the component. Not real-time safe.
  TimedInput(component::Component& owner, std::string name) : port_(owner, std::move(name)) {}

  /// Forgets all samples, also those that wait. For on_activate(): they were meant for an earlier run.
  /// Real-time safe.
  void discard() noexcept {
    for (std::size_t i = 0; i < most_samples && is_new(); ++i) {
    }
    has_sample_ = false;
  }

  /// The newest sample that `accepts(sample)` takes; null: there is none, or it is older than `timeout`
  /// seconds (0: never). Others are counted. Real-time safe.
  template <class Accepts>
  [[nodiscard]] const T* newest(Time now, double timeout, const Accepts& accepts) noexcept {
    for (std::size_t i = 0; i < most_samples && is_new(); ++i) {
      if (!accepts(port_.value())) {
        rejected_ += 1;
        continue;
      }
      sample_ = port_.value();
      arrived_ = now;
      has_sample_ = true;
    }
    if (has_sample_ && timeout > 0 && to_seconds(now - arrived_) > timeout) has_sample_ = false;
    return has_sample_ ? &sample_ : nullptr;
  }

  /// The port, for connections.
  [[nodiscard]] component::InPort<T>& port() noexcept { return port_; }
  /// The number of samples that were not accepted, as a number to publish.
  [[nodiscard]] const double& rejected() const noexcept { return rejected_; }

 private:
  [[nodiscard]] bool is_new() noexcept { return port_.read() == shm::Freshness::new_data; }

  component::InPort<T> port_;
  T sample_{};
  Time arrived_{};
  bool has_sample_ = false;
  double rejected_ = 0;
};

}  // namespace takt::controllers
