#include "takt/platform/tcp_stream.hpp"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fmt/format.h>
#include <algorithm>
#include <cerrno>
#include <memory>

#include "platform/descriptor.hpp"
#include "platform/wait_for.hpp"
#include "takt/platform/steady_clock.hpp"

namespace takt::platform {
namespace {

using detail::text_of;
using detail::wait_for;

/// Connects until `deadline`. Returns 0, or the errno of the failure.
int connect_before(int descriptor, const addrinfo& address, Time deadline) {
  if (::connect(descriptor, address.ai_addr, address.ai_addrlen) == 0) return 0;
  if (errno != EINPROGRESS) return errno;
  if (!wait_for(descriptor, POLLOUT, deadline)) return ETIMEDOUT;
  int error = 0;
  socklen_t size = sizeof error;
  if (::getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &size) != 0) return errno;
  return error;
}

}  // namespace

SetupResult<TcpStream> TcpStream::connect(const std::string& host, std::uint16_t port, Duration timeout) {
  const auto failed = [&](const std::string& why) {
    return fail(Errc::connect_failed, fmt::format("{}:{}: {}", host, port, why));
  };
  addrinfo wanted{};
  wanted.ai_family = AF_UNSPEC;
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (const int error = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &wanted, &found);
      error != 0) {
    return failed(::gai_strerror(error));
  }
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(found, ::freeaddrinfo);
  int last_error = EADDRNOTAVAIL;
  const SteadyClock clock;
  for (const addrinfo* address = found; address != nullptr; address = address->ai_next) {
    TcpStream stream(::socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (stream.descriptor_ < 0) {
      last_error = errno;
      continue;
    }
    last_error = connect_before(stream.descriptor_, *address, clock.now() + timeout);
    if (last_error != 0) continue;
    const int yes = 1;
    ::setsockopt(stream.descriptor_, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    return stream;
  }
  return failed(text_of(last_error));
}

TcpStream::~TcpStream() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Status TcpStream::send(std::span<const std::uint8_t> bytes, Duration timeout) {
  const Time deadline = SteadyClock().now() + timeout;
  while (!bytes.empty()) {
    const ssize_t sent = ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent >= 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(sent));
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      if (!wait_for(descriptor_, POLLOUT, deadline)) return fail(Errc::send_failed);
    } else if (errno != EINTR) {
      return fail(Errc::send_failed);
    }
  }
  return {};
}

Result<std::size_t> TcpStream::receive(std::span<std::uint8_t> bytes, Duration timeout) {
  const Time deadline = SteadyClock().now() + timeout;
  for (;;) {
    const ssize_t got = ::recv(descriptor_, bytes.data(), bytes.size(), 0);
    if (got > 0) return static_cast<std::size_t>(got);
    if (got == 0) return fail(Errc::connection_closed);
    if (errno == EAGAIN || errno == EWOULDBLOCK) {
      if (!wait_for(descriptor_, POLLIN, deadline)) return std::size_t{0};
    } else if (errno == ECONNRESET) {
      return fail(Errc::connection_closed);
    } else if (errno != EINTR) {
      return fail(Errc::receive_failed);
    }
  }
}

}  // namespace takt::platform
