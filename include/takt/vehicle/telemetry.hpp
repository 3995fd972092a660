// What is known of a vehicle: the last block of each of its systems, and how old it is. A frame that says nothing of a system
// leaves what was known of it, which grows older; what is older than `freshness` is stale, and says nothing of the present.
//
//     Telemetry telemetry = *Telemetry::make({.required = {System::traction, System::steering}});
//     telemetry.receive(frame, now);                                            // the bytes of a status frame
//     if (const auto traction = telemetry.fresh_traction(now)) ...
//     if (const StopReason reason = telemetry.check(now); reason.cause != StopCause::none) ...     // may not be driven
//
// Frames are put into order by their stamps, and their age counts from when they were sent (stamp_order.hpp): one that was held
// back on its way is old when it comes, and one that was overtaken changes nothing.
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

/// What became of the status frames, since the start.
struct TelemetryCounters {
  std::uint64_t taken = 0;           ///< the newest when they came
  std::uint64_t lost = 0;            ///< gaps in the stamps, in periods, without those that came late
  std::uint64_t late = 0;            ///< overtaken by another
  std::uint64_t duplicated = 0;      ///< came already
  std::uint64_t impossible = 0;      ///< with a stamp that cannot be
  std::uint64_t restarts = 0;        ///< times that the vehicle's stamps began anew after a silence
  std::uint64_t malformed = 0;       ///< refused by the decoder
  std::uint64_t unknown_blocks = 0;  ///< of systems that the layouts do not know

  friend constexpr bool operator==(const TelemetryCounters&, const TelemetryCounters&) = default;
};

/// A value; every function is real-time safe. Times as for StampOrder.
class Telemetry {
 public:
  struct Configuration {
    /// The vehicle may be driven only while all of these run. The more of them, the sooner it stops.
    SystemSet required = furbot_systems;
    Duration freshness = std::chrono::milliseconds(100);  ///< older is stale
    Duration period = std::chrono::milliseconds(10);  ///< of the status frames, to count those that are lost
    const Layouts* layouts = &furbot_layouts;         ///< kept: it lives longer. Not nullptr
  };

  /// Errors: out_of_range (freshness or period not above zero), unknown_system (a required one is not in the layouts), bad_layout
  /// (one frame cannot hold all systems).
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

  /// Takes a status frame. Errors: those of decode_status(); late, duplicate, impossible_stamp: nothing changes then but a counter.
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
        // Older ones may have come before: nobody remembers.
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

  /// As before the first frame, but for the counters.
  constexpr void forget() noexcept {
    begin_anew();
    begun_ = false;
    order_ = StampOrder(c_.freshness);
  }

  /// Why the vehicle may not be driven, by what is known of it now; StopCause::none if it may.
  [[nodiscard]] constexpr StopReason check(Time now) const noexcept {
    if (age(now) > c_.freshness) return {StopCause::telemetry_silent, {}};
    for (std::uint32_t left = c_.required.bits(); left != 0; left &= left - 1) {
      const auto system = static_cast<System>(std::countr_zero(left));
      if (!fresh(system, now)) return {StopCause::system_stale, system};
      if (state(system) != SystemState::running) return {StopCause::system_not_running, system};
    }
    return {};
  }

  /// How old the newest frame is; Duration::max() before the first.
  [[nodiscard]] constexpr Duration age(Time now) const noexcept {
    return begun_ ? order_.age(order_.newest(), now) : Duration::max();
  }
  /// The same of the last block of a system.
  [[nodiscard]] constexpr Duration age(System system, Time now) const noexcept {
    return last_.has(system) ? order_.age(sent_[static_cast<std::uint8_t>(system)], now) : Duration::max();
  }
  /// When the last block of a system was sent, on the vehicle's own clock, which is zero at its first frame since it began (see
  /// restarts): what lies between two blocks is not blurred by the network. Nothing before the first block.
  [[nodiscard]] constexpr std::optional<Duration> sent(System system) const noexcept {
    if (!last_.has(system)) return std::nullopt;
    return sent_[static_cast<std::uint8_t>(system)];
  }
  [[nodiscard]] constexpr bool fresh(System system, Time now) const noexcept {
    return age(system, now) <= c_.freshness;
  }

  /// The last state of a system, however old; unknown before the first.
  [[nodiscard]] constexpr SystemState state(System system) const noexcept { return last_.state(system); }

  /// The last block of each system, however old: ask age() or fresh() with it.
  [[nodiscard]] constexpr const StatusFrame& last() const noexcept { return last_; }

  /// Nothing if they are stale.
  [[nodiscard]] constexpr std::optional<Traction> fresh_traction(Time now) const noexcept {
    return fresh(System::traction, now) ? last_.traction() : std::nullopt;
  }
  [[nodiscard]] constexpr std::optional<Steering> fresh_steering(Time now) const noexcept {
    return fresh(System::steering, now) ? last_.steering() : std::nullopt;
  }
  [[nodiscard]] constexpr std::optional<Battery> fresh_battery(Time now) const noexcept {
    return fresh(System::battery, now) ? last_.battery() : std::nullopt;
  }

  [[nodiscard]] constexpr const TelemetryCounters& counters() const noexcept { return counters_; }

 private:
  explicit constexpr Telemetry(const Configuration& c) noexcept
      : c_(c), order_(c.freshness), frame_(*c.layouts), last_(*c.layouts) {}

  /// What was known is of a sender that is no more.
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
      // There is room: make() has seen to it that all systems fit into one frame.
      if (last_.set(system, frame_.bytes(system))) sent_[i] = order_.newest();
    }
    last_.stamp = frame_.stamp;
  }

  Configuration c_;
  StampOrder order_;
  bool begun_ = false;
  StatusFrame frame_;  ///< the one that has come just now
  StatusFrame last_;
  std::array<Duration, max_systems> sent_{};  ///< the blocks of last_
  TelemetryCounters counters_;
};

}  // namespace takt::vehicle
