// A clock that is chosen at run time, for the loop of app::Robot. ClockOf wraps any Clock.
#pragma once

#include <utility>

#include "takt/core/time.hpp"

namespace takt::app {

/// The interface of such a clock.
class RunClock {
 public:
  virtual ~RunClock() = default;
  RunClock(const RunClock&) = delete;
  RunClock& operator=(const RunClock&) = delete;

  /// The present time. Real-time safe.
  [[nodiscard]] virtual Time now() noexcept = 0;
  /// Blocks until `time`. Real-time safe.
  virtual void sleep_until(Time time) noexcept = 0;

 protected:
  RunClock() = default;
};

/// A RunClock made of a Clock; the constructor's arguments are the Clock's.
template <Clock C>
class ClockOf final : public RunClock {
 public:
  template <class... Arguments>
  explicit ClockOf(Arguments&&... arguments) : clock_(std::forward<Arguments>(arguments)...) {}

  [[nodiscard]] Time now() noexcept override { return clock_.now(); }
  void sleep_until(Time time) noexcept override { clock_.sleep_until(time); }
  /// The wrapped clock.
  [[nodiscard]] C& clock() noexcept { return clock_; }

 private:
  C clock_;
};

static_assert(Clock<RunClock>);

}  // namespace takt::app
