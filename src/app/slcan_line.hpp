// An slcan adapter behind a serial line, as KeptPort takes it.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "takt/app/bus.hpp"
#include "takt/can/slcan_bus.hpp"
#include "takt/platform/serial_line.hpp"
#include "takt/platform/steady_clock.hpp"

namespace takt::app {

/// Its functions, opening and destruction apart, are real-time safe.
class SlcanLine {
 public:
  /// Opens the line, sees to it that an adapter answers, sets its bit rate and opens its channel: up to 1 s. Errors:
  /// bad_bit_rate, no_fd_adapter, no_adapter, adapter_refuses, and those of platform::SerialLine::open().
  static SetupResult<std::unique_ptr<SlcanLine>> open(const BusAddress& address, const BusRequest& request);
  /// Closes the adapter's channel, so that it acknowledges no frame for a program that is gone.
  ~SlcanLine();
  SlcanLine(const SlcanLine&) = delete;
  SlcanLine& operator=(const SlcanLine&) = delete;

  std::size_t send(std::span<const can::Frame> frames) noexcept { return bus_.send(frames); }
  /// An adapter passes every frame on: those that no filter passes are dropped here.
  std::size_t receive(std::span<can::Frame> frames) noexcept;
  [[nodiscard]] bool broken() const noexcept { return !line_.status(); }
  [[nodiscard]] static bool off() noexcept { return false; }  // the protocol does not say

 private:
  SlcanLine(platform::SerialLine line, std::vector<can::Filter> filters) noexcept
      : line_(std::move(line)), filters_(std::move(filters)) {}

  platform::SerialLine line_;
  platform::SteadyClock clock_;
  can::SlcanBus<platform::SerialLine, platform::SteadyClock> bus_{line_, clock_};
  std::vector<can::Filter> filters_;  ///< none: everything passes
};

}  // namespace takt::app
