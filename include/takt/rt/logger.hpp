// Log entries of real-time code. An entry costs some stores: no text is made, no lock taken, nothing written.
// record/log_writer.hpp makes lines of the entries on another thread.
//
//     rt::Logger logger;                                                           // set-up
//     rt::LogStatement<double, double> strong{rt::LogLevel::warning,
//                                             "the force is {} N, the limit {} N"};
//     logger.set_time(tick.due);                                                   // in the loop
//     if (force > limit) logger.log(strong, tip, force, limit);
//
// A component keeps its statements as members and calls log(strong_, force, limit), which adds its name.
//
// The compiler checks that a text has a "{}" for each argument. Arguments are numbers, truth values, errors,
// and TextId for names.
//
// Each statement has a limit, by default ten entries a second. An entry beyond it is suppressed and counted;
// the next entry tells how many were. An entry that finds the ring full is dropped and counted.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>

#include "takt/core/error.hpp"
#include "takt/core/time.hpp"
#include "takt/rt/text_id.hpp"
#include "takt/shm/spsc_ring.hpp"

namespace takt::rt {

/// The numbers are those of Foxglove's log messages.
enum class LogLevel : std::uint8_t { debug = 1, info = 2, warning = 3, error = 4, fatal = 5 };

/// The name of a level: "debug", "info", "warning", "error", "fatal".
[[nodiscard]] constexpr std::string_view to_string(LogLevel level) noexcept {
  constexpr std::array<std::string_view, 5> names{"debug", "info", "warning", "error", "fatal"};
  const auto index = static_cast<std::size_t>(level) - 1;
  return index < names.size() ? names[index] : "unknown";
}

inline constexpr std::size_t max_log_arguments = 5;

/// The value of an argument, as it waits in the ring.
struct LogArgument {
  enum class Kind : std::uint8_t { integer, natural, number, truth, text, error };
  std::uint64_t bits = 0;
  Kind kind{};
};

/// A type that an entry can have as argument.
template <class T>
concept Loggable =
    std::is_arithmetic_v<T> || std::same_as<T, TextId> || std::same_as<T, Error> || ErrorCode<T>;

/// Packs an argument.
template <Loggable T>
[[nodiscard]] constexpr LogArgument to_log_argument(T value) noexcept {
  using Kind = LogArgument::Kind;
  if constexpr (std::same_as<T, bool>) {
    return {value ? 1U : 0U, Kind::truth};
  } else if constexpr (std::floating_point<T>) {
    return {std::bit_cast<std::uint64_t>(static_cast<double>(value)), Kind::number};
  } else if constexpr (std::signed_integral<T>) {
    return {static_cast<std::uint64_t>(std::int64_t{value}), Kind::integer};
  } else if constexpr (std::integral<T>) {
    return {std::uint64_t{value}, Kind::natural};
  } else if constexpr (std::same_as<T, TextId>) {
    return {value.number, Kind::text};
  } else {
    const Error error(value);
    return {std::uint64_t{static_cast<std::uint16_t>(error.room)} << 16 | error.code, Kind::error};
  }
}

/// One entry.
struct LogRecord {
  Time time{};                   ///< of the cycle
  TextId source;                 ///< who logs: a component; the empty text: the loop itself
  TextId text;                   ///< with a "{}" for each argument
  std::uint32_t suppressed = 0;  ///< entries of this statement before, beyond its limit
  LogLevel level = LogLevel::info;
  std::uint8_t count = 0;  ///< arguments
  std::array<LogArgument, max_log_arguments> arguments{};
};

/// The most entries of one statement.
struct LogLimit {
  std::uint32_t entries = 10;
  Duration interval = std::chrono::seconds(1);
};

/// The number of "{}" in a text; std::nullopt if it has other braces.
[[nodiscard]] constexpr std::optional<std::size_t> count_placeholders(std::string_view text) noexcept {
  std::size_t count = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '{' && text[i] != '}') continue;
    if (text.substr(i, 2) != "{}") return std::nullopt;
    ++count;
    ++i;
  }
  return count;
}

/// A literal with so many "{}". The compiler refuses any other.
template <std::size_t count>
class LogText {
 public:
  // NOLINTNEXTLINE(google-explicit-constructor): a literal is a text
  consteval LogText(const char* literal) : text_(literal) {
    if (count_placeholders(text_) != count) throw "a text has a {} for each argument, and no other braces";
  }
  /// A text that the compiler does not know, from another language; std::nullopt if it does not fit. It must
  /// live until the statement is made.
  [[nodiscard]] static constexpr std::optional<LogText> parse(std::string_view text) noexcept {
    if (count_placeholders(text) != count) return std::nullopt;
    return LogText(text, Checked{});
  }
  /// The literal.
  [[nodiscard]] constexpr std::string_view text() const noexcept { return text_; }

 private:
  struct Checked {};
  constexpr LogText(std::string_view text, Checked) noexcept : text_(text) {}

  std::string_view text_;
};

/// A place in the code that logs. Its owner keeps it; one thread uses it.
template <Loggable... Arguments>
requires(sizeof...(Arguments) <= max_log_arguments) class LogStatement {
 public:
  /// Set-up: the process keeps the text (text_id.hpp), also after a plug-in is unloaded.
  LogStatement(LogLevel level, LogText<sizeof...(Arguments)> text, LogLimit limit = {})
      : text_(intern(text.text())), limit_(limit), level_(level) {}

 private:
  friend class Logger;

  /// Whether one more entry is within the limit at this time.
  [[nodiscard]] bool admits(Time now) noexcept {
    if (now - began_ >= limit_.interval || now < began_ || is_first_) {
      is_first_ = false;
      began_ = now;
      entries_ = 0;
    }
    if (entries_ == limit_.entries) {
      ++suppressed_;
      return false;
    }
    ++entries_;
    return true;
  }

  TextId text_;
  LogLimit limit_;
  LogLevel level_;
  bool is_first_ = true;
  Time began_{};  ///< of the interval
  std::uint32_t entries_ = 0;
  std::uint32_t suppressed_ = 0;
};

/// The entries of one thread. Its functions are real-time safe, except the constructor.
class Logger {
 public:
  /// Allocates a ring for so many entries, rounded up to a power of two.
  explicit Logger(std::size_t capacity = 1024) : ring_(capacity) {}
  Logger(const Logger&) = delete;
  Logger& operator=(const Logger&) = delete;

  // ---- the thread that logs ----

  /// The time of the entries from now on: that of the cycle.
  void set_time(Time now) noexcept { now_ = now; }
  /// Logs an entry. Returns whether the ring took it.
  template <Loggable... Arguments>
  bool log(LogStatement<Arguments...>& statement, TextId source,
           std::type_identity_t<Arguments>... arguments) noexcept {
    if (!statement.admits(now_)) {
      count(suppressed_);
      return false;
    }
    const LogRecord entry{.time = now_,
                          .source = source,
                          .text = statement.text_,
                          .suppressed = statement.suppressed_,
                          .level = statement.level_,
                          .count = sizeof...(Arguments),
                          .arguments = {to_log_argument(arguments)...}};
    if (!ring_.try_push(entry)) {
      count(dropped_);
      return false;
    }
    statement.suppressed_ = 0;
    return true;
  }

  // ---- any thread ----

  /// Entries that found the ring full.
  [[nodiscard]] std::uint64_t dropped() const noexcept { return dropped_.load(std::memory_order_relaxed); }
  /// Entries beyond the limits of their statements.
  [[nodiscard]] std::uint64_t suppressed() const noexcept {
    return suppressed_.load(std::memory_order_relaxed);
  }

  // ---- one thread that writes ----

  /// Takes the oldest entries. Returns their number.
  [[nodiscard]] std::size_t take(std::span<LogRecord> entries) noexcept { return ring_.pop(entries); }

 private:
  static void count(std::atomic<std::uint64_t>& of) noexcept {
    // relaxed: only this thread writes the count, and it publishes no other data.
    of.store(of.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }

  shm::SpscRing<LogRecord> ring_;
  Time now_{};
  std::atomic<std::uint64_t> dropped_{0};
  std::atomic<std::uint64_t> suppressed_{0};
};

}  // namespace takt::rt
