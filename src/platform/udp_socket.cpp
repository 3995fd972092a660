#include "takt/platform/udp_socket.hpp"

#include <fmt/format.h>
#include <linux/filter.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <asio/ip/udp.hpp>
#include <cerrno>
#include <cstring>
#include <ctime>

#include "platform/deadline.hpp"
#include "platform/descriptor.hpp"
#include "takt/platform/steady_clock.hpp"

namespace takt::platform {
namespace {

using Endpoint = asio::ip::udp::endpoint;

SetupResult<Endpoint> endpoint_of(const UdpEndpoint& wanted) {
  std::error_code error;
  const auto address = asio::ip::make_address(wanted.address, error);
  if (error) return fail(Errc::bad_address, fmt::format("'{}' is no address in numbers", wanted.address));
  return Endpoint(address, wanted.port);
}

template <class T>
bool set_option(int socket, int name, const T& value) noexcept {
  return ::setsockopt(socket, SOL_SOCKET, name, &value, sizeof value) == 0;
}

/// False, with errno, if the kernel refuses. What strangers send between the binding and the connecting is not taken.
bool connect(int socket, const Endpoint& local, const Endpoint& peer) noexcept {
  sock_filter nothing = BPF_STMT(BPF_RET | BPF_K, 0);
  const sock_fprog closed{1, &nothing};
  constexpr int on = 1;
  return set_option(socket, SO_RXQ_OVFL, on) && set_option(socket, SO_ATTACH_FILTER, closed) &&
         ::bind(socket, local.data(), static_cast<socklen_t>(local.size())) == 0 &&
         ::connect(socket, peer.data(), static_cast<socklen_t>(peer.size())) == 0 &&
         set_option(socket, SO_DETACH_FILTER, on);
}

void wait_until_readable(int socket, Duration limit) noexcept {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(limit);
  timespec left{};
  left.tv_sec = static_cast<std::time_t>(seconds.count());
  left.tv_nsec = static_cast<long>((limit - seconds).count());
  pollfd entry{socket, POLLIN, 0};
  // Whatever it returns, the caller looks again.
  static_cast<void>(::ppoll(&entry, 1, &left, nullptr));
}

/// What one call of the kernel gives. Only what is asked for is set: there are many calls for one datagram.
struct Batch {
  struct alignas(cmsghdr) Control : std::array<std::uint8_t, CMSG_SPACE(sizeof(std::uint32_t))> {};

  explicit Batch(std::span<const Datagram> datagrams) noexcept {
    for (std::size_t i = 0; i < datagrams.size(); ++i) {
      parts[i] = {datagrams[i].buffer.data(), datagrams[i].buffer.size()};
      headers[i] = {};
      headers[i].msg_hdr.msg_iov = &parts[i];
      headers[i].msg_hdr.msg_iovlen = 1;
      headers[i].msg_hdr.msg_control = control[i].data();
      headers[i].msg_hdr.msg_controllen = control[i].size();
    }
  }

  std::array<Control, UdpSocket::batch> control;
  std::array<iovec, UdpSocket::batch> parts;
  std::array<mmsghdr, UdpSocket::batch> headers;
};

/// How many datagrams the socket had lost when this one came, modulo 2^32; nothing if none.
std::optional<std::uint32_t> dropped_before(const msghdr& header) noexcept {
  const cmsghdr* told = CMSG_FIRSTHDR(&header);
  if (told == nullptr || told->cmsg_level != SOL_SOCKET || told->cmsg_type != SO_RXQ_OVFL)
    return std::nullopt;
  std::uint32_t dropped = 0;
  std::memcpy(&dropped, CMSG_DATA(told), sizeof dropped);
  return dropped;
}

}  // namespace

SetupResult<UdpSocket> UdpSocket::open(const UdpConfig& config) {
  const auto local = endpoint_of(config.local);
  if (!local) return tl::unexpected(local.error());
  const auto peer = endpoint_of(config.peer);
  if (!peer) return tl::unexpected(peer.error());
  UdpSocket socket(::socket(local->protocol().family(), SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0),
                   config.busy_poll);
  if (socket.descriptor_ < 0 || !connect(socket.descriptor_, *local, *peer)) {
    const std::string why = detail::text_of(errno);
    return fail(Errc::udp_failed, fmt::format("{}:{} to {}:{}: {}", config.local.address, config.local.port,
                                              config.peer.address, config.peer.port, why));
  }
  return socket;
}

UdpSocket& UdpSocket::operator=(UdpSocket&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(busy_poll_, other.busy_poll_);
  std::swap(last_dropped_, other.last_dropped_);
  std::swap(counters_, other.counters_);
  return *this;
}

UdpSocket::~UdpSocket() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

bool UdpSocket::send(std::span<const std::uint8_t> bytes) noexcept {
  // A socket tells once, instead of sending, that nobody was there for an earlier datagram.
  for (int attempt = 0; attempt < 3; ++attempt) {
    if (::send(descriptor_, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL) >= 0) {
      ++counters_.sent;
      return true;
    }
    if (errno == ECONNREFUSED) {
      ++counters_.unreachable;
    } else if (errno != EINTR) {
      break;
    }
  }
  ++counters_.refused;
  return false;
}

std::optional<std::size_t> UdpSocket::receive(std::span<std::uint8_t> buffer, Duration timeout) noexcept {
  Datagram one{buffer};
  if (receive(std::span(&one, 1), timeout) == 0) return std::nullopt;
  return one.size;
}

std::size_t UdpSocket::receive(std::span<Datagram> datagrams, Duration timeout) noexcept {
  datagrams = datagrams.first(std::min(datagrams.size(), batch));
  std::size_t got = take(datagrams);
  if (got > 0 || datagrams.empty() || timeout <= Duration(0)) return got;
  const SteadyClock clock;
  const Time deadline = detail::deadline_after(clock.now(), timeout);
  while (got == 0) {
    const Duration left = deadline - clock.now();
    if (left <= Duration(0)) break;
    if (!busy_poll_) wait_until_readable(descriptor_, left);
    got = take(datagrams);
  }
  return got;
}

/// Takes what is there, without waiting.
std::size_t UdpSocket::take(std::span<Datagram> datagrams) noexcept {
  std::size_t given = 0;
  std::size_t most = batch;  // of those that are too long, and of errors
  while (given == 0 && most > 0 && !datagrams.empty()) {
    Batch incoming(datagrams);
    const int got = ::recvmmsg(descriptor_, incoming.headers.data(), static_cast<unsigned>(datagrams.size()),
                               MSG_DONTWAIT, nullptr);
    if (got > 0) {
      const auto came = static_cast<std::size_t>(got);
      for (std::size_t i = 0; i < came; ++i) {
        if (keep(datagrams[i], incoming.headers[i])) std::swap(datagrams[given++], datagrams[i]);
      }
      most -= std::min(most, came);
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      break;
    } else {
      if (errno != EINTR)
        ++counters_.unreachable;  // what became of one that we sent: ECONNREFUSED and its like
      --most;
    }
  }
  counters_.received += given;
  return given;
}

/// Whether the datagram is whole.
bool UdpSocket::keep(Datagram& datagram, const mmsghdr& header) noexcept {
  if (const auto dropped = dropped_before(header.msg_hdr))
    counters_.dropped += *dropped - std::exchange(last_dropped_, *dropped);
  if ((header.msg_hdr.msg_flags & MSG_TRUNC) != 0) {
    ++counters_.too_long;
    return false;
  }
  datagram.size = header.msg_len;
  return true;
}

std::uint16_t UdpSocket::local_port() const noexcept {
  Endpoint local;
  auto size = static_cast<socklen_t>(local.capacity());
  if (::getsockname(descriptor_, local.data(), &size) != 0) return 0;
  return local.port();
}

}  // namespace takt::platform
