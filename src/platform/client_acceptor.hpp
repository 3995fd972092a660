// Accepts TCP clients for a server, whose thread runs the io_context.
#pragma once

#include <asio.hpp>
#include <cstdint>
#include <functional>
#include <string>

#include "takt/core/setup_error.hpp"

namespace takt::platform {

/// One listening socket. If no file descriptor is left, new clients wait in the kernel's queue.
class ClientAcceptor {
 public:
  using Welcome = std::function<void(asio::ip::tcp::socket&&)>;

  explicit ClientAcceptor(asio::io_context& io) : io_(&io), acceptor_(io), timer_(io) {}

  /// Starts to listen, and returns the port. Errors: bad_address (it is not numeric); listen_failed with the
  /// system's reason.
  [[nodiscard]] SetupResult<std::uint16_t> open(const std::string& address, std::uint16_t port);
  /// Calls `welcome` with the non-blocking socket of each client.
  void start(Welcome welcome);
  void close();

 private:
  void wait_for_clients();
  void wait_for_descriptors();
  [[nodiscard]] bool accept_all();

  asio::io_context* io_;
  asio::ip::tcp::acceptor acceptor_;
  asio::ip::tcp protocol_ = asio::ip::tcp::v4();
  asio::steady_timer timer_;
  Welcome welcome_;
};

}  // namespace takt::platform
