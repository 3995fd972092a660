#include "platform/client_acceptor.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "takt/core/time.hpp"
#include "takt/platform/error.hpp"

namespace takt::platform {

using asio::ip::tcp;

namespace {
constexpr Duration accept_pause = std::chrono::milliseconds(100);  // pause without file descriptors
}

SetupResult<std::uint16_t> ClientAcceptor::open(const std::string& address, std::uint16_t port) {
  asio::error_code error;
  const asio::ip::address place = asio::ip::make_address(address, error);
  if (error) return fail(Errc::bad_address, fmt::format("\"{}\" is not a numeric address", address));
  const tcp::endpoint endpoint(place, port);
  protocol_ = endpoint.protocol();
  acceptor_.open(protocol_, error);
  if (!error) ::fcntl(acceptor_.native_handle(), F_SETFD, FD_CLOEXEC);
  if (!error) acceptor_.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error) acceptor_.bind(endpoint, error);
  if (!error) acceptor_.listen(asio::socket_base::max_listen_connections, error);
  if (!error) acceptor_.non_blocking(true, error);
  const tcp::endpoint bound = error ? tcp::endpoint() : acceptor_.local_endpoint(error);
  if (!error) return bound.port();
  close();
  return fail(Errc::listen_failed, fmt::format("{}:{}: {}", address, port, error.message()));
}

void ClientAcceptor::start(Welcome welcome) {
  welcome_ = std::move(welcome);
  wait_for_clients();
}

void ClientAcceptor::close() {
  asio::error_code ignored;
  acceptor_.close(ignored);
}

void ClientAcceptor::wait_for_clients() {
  acceptor_.async_wait(tcp::acceptor::wait_read, [this](const asio::error_code& error) {
    if (error) return;
    if (accept_all())
      wait_for_clients();
    else
      wait_for_descriptors();
  });
}

void ClientAcceptor::wait_for_descriptors() {
  timer_.expires_after(accept_pause);
  timer_.async_wait([this](const asio::error_code& error) {
    if (!error) wait_for_clients();
  });
}

/// Accepts all waiting connections. Returns false if the system has no descriptors or memory left.
bool ClientAcceptor::accept_all() {
  for (;;) {
    const int descriptor =
        ::accept4(acceptor_.native_handle(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (descriptor < 0) {
      if (errno == EINTR || errno == ECONNABORTED) continue;
      return errno == EAGAIN || errno == EWOULDBLOCK;
    }
    tcp::socket socket(*io_);
    asio::error_code error;
    socket.assign(protocol_, descriptor, error);
    if (error) {
      ::close(descriptor);
      continue;
    }
    socket.non_blocking(true, error);
    socket.set_option(tcp::no_delay(true), error);
    welcome_(std::move(socket));
  }
}

}  // namespace takt::platform
