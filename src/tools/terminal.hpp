// What a program has of its terminal: keys as they are hit, and its size.
#pragma once

#include <termios.h>

#include <cstddef>
#include <optional>
#include <string>

namespace takt::tools {

/// Whether our standard input is a terminal that a shell has given to others meanwhile (&): whoever reads it or sets it is stopped
/// then (SIGTTIN, SIGTTOU).
[[nodiscard]] bool in_background();

/// A terminal that gives each key at once and does not show it, ^Z too: a program that sleeps drives nothing to a stand. As it was
/// before, in the end. Without a terminal, or in the background, nothing.
class RawTerminal {
 public:
  RawTerminal();
  RawTerminal(const RawTerminal&) = delete;
  RawTerminal& operator=(const RawTerminal&) = delete;
  ~RawTerminal();

 private:
  std::optional<termios> before_;
};

/// What is typed, or comes through a pipe; never waited for. Of a terminal, nothing as long as we are in its background.
class TypedText {
 public:
  /// The next of it, at most as much as a person types in a cycle: a device that never ends does not hold the caller.
  [[nodiscard]] std::string take();

 private:
  bool ended_ = false;
};

/// Of the terminal that our output is; 80 and 24 if it does not say.
[[nodiscard]] std::size_t terminal_columns();
[[nodiscard]] std::size_t terminal_rows();

}  // namespace takt::tools
