// Sends a recorded log to buses again, at the recorded times, or faster or slower, on any clock.
//
//     auto log = *candump::LogFile::open("drive.log");
//     platform::SteadyClock clock;
//
//     const std::vector<candump::Route<Bus>> routes{{*candump::InterfaceName::create("can0"), &bus}};
//     auto replay = *candump::make_replay(log, std::span(routes), clock, 2.0);  // twice as fast
//     replay.run();                                                   // or step() in your own loop
//
// Frames that are not sent are counted by reason. Real-time safe if the source is; a file is not.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>

#include "takt/can/candump.hpp"
#include "takt/core/time.hpp"

namespace takt::can::candump {

/// A source of log lines; nullopt at the end.
// clang-format off
template <class S>
concept LogSource = requires(S& source) {
  { source.next() } -> std::same_as<std::optional<LineResult<LogEntry>>>;
};
// clang-format on

/// The bus that receives the frames of one recorded interface.
template <CanBus Bus>
struct Route {
  InterfaceName interface;
  Bus* bus = nullptr;
};

/// The counters of a replay.
struct ReplayCounters {
  std::uint64_t sent = 0;
  std::uint64_t no_room = 0;       ///< the bus did not take the frame; it is not repeated
  std::uint64_t unrouted = 0;      ///< frames of an interface without a bus
  std::uint64_t error_frames = 0;  ///< error frames, which cannot be sent
  std::uint64_t backwards = 0;     ///< stamped before the previous frame; sent at once
  std::uint64_t bad_lines = 0;

  friend bool operator==(const ReplayCounters&, const ReplayCounters&) = default;
};

/// Replays one log. The first frame is due at the start; each later frame is due after its recorded delay
/// divided by the speed. Source, buses, routes and clock must outlive it.
template <LogSource Source, CanBus Bus, Clock C>
class Replay {
 public:
  /// Sends all frames that are due. Returns when the next frame is due; nullopt at the end of the log.
  std::optional<Time> step() {
    while (advance()) {
      const Time due = due_time();
      if (due > clock_->now()) return due;
      send();
    }
    return std::nullopt;
  }
  /// Replays to the end of the log; sleeps between the frames.
  void run() {
    while (const auto due = step()) clock_->sleep_until(*due);
  }

  /// Returns the counts since the start.
  [[nodiscard]] const ReplayCounters& counters() const noexcept { return counters_; }
  /// The first line that could not be parsed.
  [[nodiscard]] const std::optional<LineError>& first_bad_line() const noexcept { return first_bad_line_; }

 private:
  template <LogSource S, CanBus B, Clock K>
  friend Result<Replay<S, B, K>> make_replay(S& source, std::span<const Route<B>> routes, K& clock,
                                             double speed) noexcept;

  Replay(Source& source, std::span<const Route<Bus>> routes, C& clock, double speed) noexcept
      : source_(&source), routes_(routes), clock_(&clock), speed_(speed) {}

  /// Returns whether there is a frame to send.
  [[nodiscard]] bool advance() {
    while (!pending_) {
      const auto line = source_->next();
      if (!line) return false;
      if (*line) {
        begin(**line);
      } else {
        ++counters_.bad_lines;
        if (!first_bad_line_) first_bad_line_ = line->error();
      }
    }
    return true;
  }
  void begin(const LogEntry& entry) noexcept {
    pending_ = entry;
    const Time stamp = entry.frame.stamp;
    if (!started_) {
      started_ = true;
      start_ = clock_->now();
      first_stamp_ = last_stamp_ = stamp;
    }
    if (stamp < last_stamp_) ++counters_.backwards;
    last_stamp_ = stamp;
  }
  [[nodiscard]] Time due_time() const noexcept {
    // Stamps of a log are not negative, so their difference fits.
    const Duration recorded = pending_->frame.stamp - first_stamp_;
    const Duration scaled = speed_ == 1 ? recorded : from_seconds(to_seconds(recorded) / speed_);
    if (scaled <= Duration(0)) return start_;
    return scaled > Time::max() - std::max(start_, Time{}) ? Time::max() : start_ + scaled;
  }
  void send() noexcept {
    const LogEntry entry = *pending_;
    pending_.reset();
    if (entry.frame.error) {
      ++counters_.error_frames;
      return;
    }
    for (const Route<Bus>& route : routes_) {
      if (route.bus == nullptr || route.interface != entry.interface) continue;
      ++(route.bus->send({&entry.frame, 1}) == 1 ? counters_.sent : counters_.no_room);
      return;
    }
    ++counters_.unrouted;
  }

  Source* source_;
  std::span<const Route<Bus>> routes_;
  C* clock_;
  double speed_;
  bool started_ = false;
  Time start_{};
  Time first_stamp_{};
  Time last_stamp_{};
  std::optional<LogEntry> pending_;
  ReplayCounters counters_;
  std::optional<LineError> first_bad_line_;
};

/// Makes a replay; the first step() starts it. Error: out_of_range (the speed is not positive and finite).
template <LogSource Source, CanBus Bus, Clock C>
[[nodiscard]] Result<Replay<Source, Bus, C>> make_replay(Source& source, std::span<const Route<Bus>> routes,
                                                         C& clock, double speed = 1) noexcept {
  if (!(speed > 0 && speed <= std::numeric_limits<double>::max())) return fail(Errc::out_of_range);
  return Replay<Source, Bus, C>(source, routes, clock, speed);
}

}  // namespace takt::can::candump
