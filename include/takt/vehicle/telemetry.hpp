// The last block of each of a vehicle's systems, and its age. A frame without a block of a system leaves that
// system's last block, whose age grows. Data older than `freshness` are stale: they say nothing about the
// present.
//
//     Telemetry telemetry = *Telemetry::make({.required = {System::traction, System::steering}});
//     telemetry.receive(frame, now);  // the bytes of a status frame
//
//     if (const auto traction = telemetry.fresh_traction(now)) count(traction->left_speed);
//     if (const StopReason reason = telemetry.check(now); reason.cause != StopCause::none) stop(reason);
//
// The stamps order the frames, and the age counts from a frame's sending (stamp_order.hpp). A delayed frame
// is old at its arrival. An overtaken frame changes nothing.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <span>

#include "takt/core/error.hpp"
#include "takt/core/time.hpp"
#include "takt/vehicle/error.hpp"
#include "takt/vehicle/stamp_order.hpp"
#include "takt/vehicle/status_frame.hpp"
#include "takt/vehicle/stop_cause.hpp"
#include "takt/vehicle/system_layout.hpp"
#include "takt/vehicle/systems.hpp"

namespace takt::vehicle {

/// Counters of the status frames since the start.
struct TelemetryCounters {
  std::uint64_t taken = 0;       ///< frames that were the newest at their arrival
  std::uint64_t lost = 0;        ///< missing frames, by the gaps in the stamps; late arrivals are subtracted
  std::uint64_t late = 0;        ///< overtaken frames
  std::uint64_t duplicated = 0;  ///< frames that were already received
  std::uint64_t impossible = 0;  ///< frames with an impossible stamp
  std::uint64_t restarts = 0;    ///< times that the stamps began again after a silence
  std::uint64_t malformed = 0;   ///< frames that the decoder refused
  std::uint64_t unknown_blocks = 0;  ///< blocks of systems that the layouts do not have

  friend constexpr bool operator==(const TelemetryCounters&, const TelemetryCounters&) = default;
};

/// A value; every function is real-time safe. Times: see StampOrder.
class Telemetry {
 public:
  /// The parameters of the telemetry.
  struct Configuration {
    /// The vehicle may be driven only while all these systems run. Fewer systems mean fewer stops.
    SystemSet required = furbot_systems;
    Duration freshness = std::chrono::milliseconds(100);  ///< older data are stale
    Duration period = std::chrono::milliseconds(10);      ///< of the status frames, for counting lost ones
    const Layouts* layouts = &furbot_layouts;             ///< must outlive this object; not nullptr
  };

  /// Checks the configuration. Errors: out_of_range (freshness or period not above zero), unknown_system (a
  /// required one is not in the layouts), bad_layout (all systems together exceed one frame).
  [[nodiscard]] static constexpr Result<Telemetry> make(const Configuration& c) noexcept {
    if (c.freshness <= Duration(0) || c.period < std::chrono::milliseconds(1))
      return fail(Errc::out_of_range);
    std::size_t bytes = status_header_bytes;
    SystemSet known;
    for (const SystemLayout& layout : c.layouts->systems()) {
      bytes += layout.length + 2U;
      known.insert(layout.system);
    }
    if (bytes > max_status_bytes) return fail(Errc::bad_layout);
    if (!known.contains(c.required)) return fail(Errc::unknown_system);
    return Telemetry(c);
  }

  /// Takes a status frame that arrived at `now`. Errors: those of decode_status(); late, duplicate,
  /// impossible_stamp. On error only a counter changes.
  constexpr Status receive(std::span<const std::uint8_t> frame, Time now) noexcept {
    if (const Status decoded = decode_into(frame_, frame, *c_.layouts); !decoded) {
      ++counters_.malformed;
      return decoded;
    }
    const Duration before = order_.newest();
    switch (order_.admit(frame_.stamp, now)) {
      case Arrival::newest:
        count_gap(order_.newest() - before);
        break;
      case Arrival::first:
        begin_anew();
        break;
      case Arrival::late:
        ++counters_.late;
        // Older missing frames are out of the window, so their arrival is not known.
        if (stamp_difference(last_.stamp, frame_.stamp) < std::chrono::milliseconds(StampOrder::window) &&
            counters_.lost > 0)
          --counters_.lost;
        return fail(Errc::late);
      case Arrival::duplicate:
        ++counters_.duplicated;
        return fail(Errc::duplicate);
      case Arrival::impossible:
        ++counters_.impossible;
        return fail(Errc::impossible_stamp);
    }
    keep_blocks();
    return {};
  }

  /// Returns to the state before the first frame, except for the counters.
  constexpr void forget() noexcept {
    begin_anew();
    begun_ = false;
    order_ = StampOrder(c_.freshness);
  }

  /// Why the vehicle may not be driven at `now`; StopCause::none if it may.
  [[nodiscard]] constexpr StopReason check(Time now) const noexcept {
    if (age(now) > c_.freshness) return {StopCause::telemetry_silent, {}};
    for (std::uint32_t left = c_.required.bits(); left != 0; left &= left - 1) {
      const auto system = static_cast<System>(std::countr_zero(left));
      if (!fresh(system, now)) return {StopCause::system_stale, system};
      if (state(system) != SystemState::running) return {StopCause::system_not_running, system};
    }
    return {};
  }

  /// The age of the newest frame; Duration::max() before the first.
  [[nodiscard]] constexpr Duration age(Time now) const noexcept {
    return begun_ ? order_.age(order_.newest(), now) : Duration::max();
  }
  /// The age of a system's last block; Duration::max() before the first.
  [[nodiscard]] constexpr Duration age(System system, Time now) const noexcept {
    return last_.has(system) ? order_.age(sent_[static_cast<std::uint8_t>(system)], now) : Duration::max();
  }
  /// When a system's last block was sent, on the vehicle's clock, which is zero at its first frame since its
  /// last restart. Differences of these times are free of network jitter. Nothing before the first block.
  [[nodiscard]] constexpr std::optional<Duration> sent(System system) const noexcept {
    if (!last_.has(system)) return std::nullopt;
    return sent_[static_cast<std::uint8_t>(system)];
  }
  /// Whether the system's last block is at most `freshness` old.
  [[nodiscard]] constexpr bool fresh(System system, Time now) const noexcept {
    return age(system, now) <= c_.freshness;
  }

  /// The last state of a system, of any age; unknown before the first.
  [[nodiscard]] constexpr SystemState state(System system) const noexcept { return last_.state(system); }

  /// The last block of each system, of any age. Check the age with age() or fresh().
  [[nodiscard]] constexpr const StatusFrame& last() const noexcept { return last_; }

  /// The last block in raw counts; nothing if it is stale.
  [[nodiscard]] constexpr std::optional<Traction> fresh_traction(Time now) const noexcept {
    return fresh(System::traction, now) ? last_.traction() : std::nullopt;
  }
  /// As fresh_traction(), of the steering.
  [[nodiscard]] constexpr std::optional<Steering> fresh_steering(Time now) const noexcept {
    return fresh(System::steering, now) ? last_.steering() : std::nullopt;
  }
  /// As fresh_traction(), of the battery.
  [[nodiscard]] constexpr std::optional<Battery> fresh_battery(Time now) const noexcept {
    return fresh(System::battery, now) ? last_.battery() : std::nullopt;
  }

  /// The counters since the start.
  [[nodiscard]] constexpr const TelemetryCounters& counters() const noexcept { return counters_; }

 private:
  explicit constexpr Telemetry(const Configuration& c) noexcept
      : c_(c), order_(c.freshness), frame_(*c.layouts), last_(*c.layouts) {}

  /// The blocks of a sender before its restart are obsolete.
  constexpr void begin_anew() noexcept {
    if (begun_) ++counters_.restarts;
    begun_ = true;
    last_ = StatusFrame(*c_.layouts);
  }

  constexpr void count_gap(Duration gap) noexcept {
    const auto periods = (gap + c_.period / 2) / c_.period;
    if (periods > 1) counters_.lost += static_cast<std::uint64_t>(periods) - 1;
  }

  constexpr void keep_blocks() noexcept {
    ++counters_.taken;
    counters_.unknown_blocks += frame_.unknown_blocks();
    for (std::uint32_t left = frame_.present().bits(); left != 0; left &= left - 1) {
      const auto i = static_cast<std::uint8_t>(std::countr_zero(left));
      const auto system = static_cast<System>(i);
      // There is always room: make() has checked that all systems fit into one frame.
      if (last_.set(system, frame_.bytes(system))) sent_[i] = order_.newest();
    }
    last_.stamp = frame_.stamp;
  }

  Configuration c_;
  StampOrder order_;
  bool begun_ = false;
  StatusFrame frame_;  ///< the frame being received
  StatusFrame last_;
  std::array<Duration, max_systems> sent_{};  ///< when the blocks of last_ were sent
  TelemetryCounters counters_;
};

}  // namespace takt::vehicle
