// The common part of the commands that request a motion (takt move, takt send): their options, and the wait
// for its end.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>

#include "takt/motion/wire.hpp"
#include "tools/connection.hpp"

namespace takt::tools {

struct MotionOptions {
  Address address;
  bool fit = false;
  std::optional<motion::WhenBusy> when_busy;
  std::optional<double> velocity;      ///< rad/s or m/s
  std::optional<double> acceleration;  ///< rad/s^2 or m/s^2
  double timeout = 3600;               ///< s

  /// Must live as long as the command parses.
  void add_options(CLI::App& command);

  /// Overrides the message's values by the given options.
  template <class Message>
  void apply(Message& message) const {
    message.fit = message.fit || fit;
    if (when_busy) message.when_busy = *when_busy;
    if (velocity) message.limits.velocity = {*velocity};
    if (acceleration) message.limits.acceleration = {*acceleration};
  }
};

/// The last lines of help of such a command.
inline constexpr const char* motion_footer =
    "Exit code: 0 the goal succeeded, 1 it was rejected or ended otherwise, 2 an argument or a file is "
    "wrong.\n"
    "Ctrl-C here ends the connection, and with it the motion";

/// Requests a motion, shows its progress on a terminal, and prints its result. After the timeout it stops the
/// goal; one with on_disconnect: continue goes on, and it prints so. Ends the program with exit_failed unless
/// the goal succeeded.
void move_or_exit(const MotionOptions& options, const motion::ClientMessage& message);

}  // namespace takt::tools
