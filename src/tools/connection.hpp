// Shared by the client sub-commands: the server's address, and its answers as text and exit codes.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>

#include "takt/core/setup_error.hpp"
#include "takt/motion/client.hpp"
#include "takt/platform/steady_clock.hpp"
#include "takt/platform/tcp_stream.hpp"

namespace takt::tools {

using MotionClient = motion::Client<platform::TcpStream, platform::SteadyClock>;

/// --host and --port of a sub-command.
struct Address {
  std::string host = "127.0.0.1";
  std::uint16_t port = motion::default_port;

  void add_options(CLI::App& command);
};

/// Timeout of a server's answer.
inline constexpr Duration answer_time = std::chrono::seconds(5);

/// Connects and reads the greeting into *greeting, if that is not null. On failure prints the error on stderr
/// and ends the program with exit_failed.
MotionClient connect_or_exit(const Address& address, motion::GreetingReply* greeting = nullptr);

/// Prints the error on stderr and ends the program with exit_failed.
[[noreturn]] void exit_with(const SetupError& error);
[[noreturn]] void exit_with(const motion::RequestError& error);

/// "elbow: ..." with the reason's name, for people.
std::string to_text(const motion::Rejection& why);

}  // namespace takt::tools
