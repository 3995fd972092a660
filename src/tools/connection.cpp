#include "tools/connection.hpp"

#include <fmt/format.h>

#include "tools/commands.hpp"

namespace takt::tools {

void Address::add_options(CLI::App& command) {
  command.add_option("--host", host, "Host on which `takt run` runs")->capture_default_str();
  command.add_option("--port", port, "Its port")->capture_default_str();
}

void exit_with(const SetupError& error) {
  fmt::print(stderr, "takt: {}\n", error.message);
  throw CLI::RuntimeError(exit_failed);
}

void exit_with(const motion::RequestError& error) {
  if (!error.rejection) exit_with(static_cast<const SetupError&>(error));
  fmt::print(stderr, "rejected: {}\n", to_text(*error.rejection));
  throw CLI::RuntimeError(exit_failed);
}

MotionClient connect_or_exit(const Address& address, motion::GreetingReply* greeting) {
  auto stream = platform::TcpStream::connect(address.host, address.port, answer_time);
  if (!stream) exit_with(stream.error());
  MotionClient client(std::move(*stream), platform::SteadyClock());
  auto said = client.greeting(answer_time);
  if (!said) exit_with(said.error());
  if (greeting != nullptr) *greeting = *std::move(said);
  return client;
}

std::string to_text(const motion::Rejection& why) {
  return fmt::format("{} ({})", why.message, motion::reason_name(why.reason));
}

}  // namespace takt::tools
