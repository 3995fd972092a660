// The sources of twists for `takt drive` and `takt teleop`: keys, or a file.
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

/// The request of a key, besides a twist.
enum class DriveKey { none, stop_at_once, stop, recover, quit };

/// Keys change the twist in steps. A twist expires, for good, after `hold` seconds without one of these keys
/// or '.': the driver may have fallen asleep. Any other key ends it at once, as a panicked driver would want.
/// An escape sequence, such as an arrow, counts as one key. Keys that stop also work with caps lock.
class KeyDriver {
 public:
  /// m/s, m/s, rad/s, s.
  KeyDriver(double forward, double backward, double rotation, double hold)
      : forward_(forward), backward_(backward), rotation_(rotation), hold_(hold) {}

  DriveKey press(char key, Time now);
  [[nodiscard]] mobile::Twist twist(Time now) const;

 private:
  static constexpr double steps = 8;  ///< from zero to the largest twist

  /// Whether the next byte belongs to an escape sequence. It comes at once, faster than a person types.
  bool continues_escape(char key, Time now);

  double forward_;
  double backward_;
  double rotation_;
  double hold_;
  mobile::Twist twist_{};
  std::optional<Time> pressed_;
  char escape_ = 0;  ///< last byte of an unfinished escape sequence: ESC, [ or O
  Time escaped_{};   ///< when it began
};

/// The twists of a file, one per line, with its start in seconds. Only the time in which the vehicle may be
/// driven counts. The last line is the end.
class TwistScript {
 public:
  struct Line {
    double at = 0;  ///< s
    mobile::Twist twist{};
  };

  /// Errors: the file cannot be read; malformed, for a bad line.
  [[nodiscard]] static SetupResult<TwistScript> load(const std::string& path);

  /// The twist at this second.
  [[nodiscard]] mobile::Twist twist(double at) const;
  /// Number of twists beyond these limits.
  [[nodiscard]] std::ptrdiff_t beyond(const mobile::TwistLimiter::Limits& limits) const;
  [[nodiscard]] bool ended(double at) const { return at >= lines_.back().at; }

 private:
  std::vector<Line> lines_;  ///< at least one, in the order of time
};

}  // namespace takt::tools
