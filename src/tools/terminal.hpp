// What a program has of its terminal: keys as they are hit, and its columns.
#pragma once

#include <termios.h>

#include <cstddef>
#include <optional>

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

/// Of the terminal that our output is; 80 if it does not say.
[[nodiscard]] std::size_t terminal_columns();

}  // namespace takt::tools
