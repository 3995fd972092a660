// An slcan adapter on a serial line, as a Bus of KeptPort.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "takt/app/bus.hpp"
#include "takt/can/slcan_bus.hpp"
#include "takt/platform/serial_line.hpp"
#include "takt/platform/steady_clock.hpp"

namespace takt::app {

/// Real-time safe, except opening and destruction.
class SlcanLine {
 public:
  /// Opens the line, waits for an answer of the adapter, sets its bit rate and opens its channel; this takes
  /// up to 7 s. Errors: bad_bit_rate, no_fd_adapter, no_adapter, adapter_refuses, and those of
  /// platform::SerialLine::open().
  static SetupResult<std::unique_ptr<SlcanLine>> open(const BusAddress& address, const BusRequest& request);
  /// Closes the adapter's channel, so that it acknowledges no frames without a program.
  ~SlcanLine();
  SlcanLine(const SlcanLine&) = delete;
  SlcanLine& operator=(const SlcanLine&) = delete;

  std::size_t send(std::span<const can::Frame> frames) noexcept { return bus_.send(frames); }
  /// An adapter passes on every frame; frames outside the filters are dropped here.
  std::size_t receive(std::span<can::Frame> frames) noexcept;
  [[nodiscard]] bool broken() const noexcept { return !line_.status(); }
  [[nodiscard]] static bool off() noexcept { return false; }  // the protocol does not report it
  /// Frames that the adapter refused by BEL.
  [[nodiscard]] std::uint64_t unacknowledged() const noexcept { return bus_.counters().refusals; }

 private:
  SlcanLine(platform::SerialLine line, std::vector<can::Filter> filters) noexcept
      : line_(std::move(line)), filters_(std::move(filters)) {}

  platform::SerialLine line_;
  platform::SteadyClock clock_;
  can::SlcanBus<platform::SerialLine, platform::SteadyClock> bus_{line_, clock_};
  std::vector<can::Filter> filters_;  ///< empty: everything passes
};

}  // namespace takt::app
