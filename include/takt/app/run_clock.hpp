// A clock that is chosen when the program runs, for the one loop of app::Robot. ClockOf makes one of any Clock of yours.
#pragma once

#include <utility>

#include "takt/core/time.hpp"

namespace takt::app {

class RunClock {
 public:
  virtual ~RunClock() = default;
  RunClock(const RunClock&) = delete;
  RunClock& operator=(const RunClock&) = delete;

  [[nodiscard]] virtual Time now() noexcept = 0;
  virtual void sleep_until(Time time) noexcept = 0;

 protected:
  RunClock() = default;
};

template <Clock C>
class ClockOf final : public RunClock {
 public:
  template <class... Arguments>
  explicit ClockOf(Arguments&&... arguments) : clock_(std::forward<Arguments>(arguments)...) {}

  [[nodiscard]] Time now() noexcept override { return clock_.now(); }
  void sleep_until(Time time) noexcept override { clock_.sleep_until(time); }
  [[nodiscard]] C& clock() noexcept { return clock_; }

 private:
  C clock_;
};

static_assert(Clock<RunClock>);

}  // namespace takt::app
