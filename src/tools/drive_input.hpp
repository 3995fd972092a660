// Where the twists of `takt drive` come from: keys, or a file.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "takt/core/setup_error.hpp"
#include "takt/core/time.hpp"
#include "takt/mobile/pose.hpp"
#include "takt/mobile/twist_limiter.hpp"

namespace takt::tools {

/// What a key asks for, beside a twist.
enum class DriveKey { none, stop_at_once, stop, recover, quit };

/// Keys change the twist by steps; one that no such key nor '.' confirmed for `hold` seconds is none any more, for ever, as whoever
/// drives may have fallen asleep. Any other key, as of somebody who hits the keyboard in a hurry, ends it; one that a terminal tells
/// by an escape sequence, as an arrow, is one key. Keys that stop do so with caps lock too.
class KeyDriver {
 public:
  /// m/s, m/s, rad/s, s.
  KeyDriver(double forward, double backward, double rotation, double hold)
      : forward_(forward), backward_(backward), rotation_(rotation), hold_(hold) {}

  DriveKey press(char key, Time now);
  [[nodiscard]] mobile::Twist twist(Time now) const;

 private:
  static constexpr double steps = 8;  ///< from none to all

  /// Whether it goes on with an escape sequence. That comes at once: nobody types it.
  bool continues_escape(char key, Time now);

  double forward_;
  double backward_;
  double rotation_;
  double hold_;
  mobile::Twist twist_{};
  std::optional<Time> pressed_;
  char escape_ = 0;  ///< of an escape sequence that has begun, what tells how it goes on: ESC, [ or O
  Time escaped_{};   ///< when it began
};

/// The twists of a file: one in a line, with the second at which it begins, of the time in which the vehicle may be driven. The
/// last is the end.
class TwistScript {
 public:
  struct Line {
    double at = 0;  ///< s
    mobile::Twist twist{};
  };

  /// Errors: the file cannot be read, or a line is none: malformed.
  [[nodiscard]] static SetupResult<TwistScript> load(const std::string& path);

  /// At this second.
  [[nodiscard]] mobile::Twist twist(double at) const;
  /// How many of them are beyond these limits.
  [[nodiscard]] std::ptrdiff_t beyond(const mobile::TwistLimiter::Limits& limits) const;
  [[nodiscard]] bool ended(double at) const { return at >= lines_.back().at; }

 private:
  std::vector<Line> lines_;  ///< one at least, in the order of time
};

}  // namespace takt::tools
