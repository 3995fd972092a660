// A program's terminal: single keys without Enter, and the terminal's size.
#pragma once

#include <termios.h>

#include <cstddef>
#include <optional>
#include <string>

namespace takt::tools {

/// Whether this program runs in the background (&) of the terminal that is its standard input. Reading or
/// setting the terminal then stops the program (SIGTTIN, SIGTTOU).
[[nodiscard]] bool in_background();

/// Sets the terminal to give each key at once, without echo; the destructor restores it. Without a terminal,
/// or in the background, it does nothing. ^Z is a key as well: a suspended program cannot brake a vehicle.
class RawTerminal {
 public:
  RawTerminal();
  RawTerminal(const RawTerminal&) = delete;
  RawTerminal& operator=(const RawTerminal&) = delete;
  ~RawTerminal();

 private:
  std::optional<termios> before_;
};

/// Reads standard input, a terminal or a pipe, without waiting. In the background of the terminal it reads
/// nothing.
class TypedText {
 public:
  /// The next bytes, empty if there are none. At most as many as a person types in a cycle, so an endless
  /// input cannot hold the caller.
  [[nodiscard]] std::string take();

 private:
  bool ended_ = false;
};

/// The size of the terminal at standard output; 80 columns and 24 rows if it is unknown.
[[nodiscard]] std::size_t terminal_columns();
[[nodiscard]] std::size_t terminal_rows();

}  // namespace takt::tools
