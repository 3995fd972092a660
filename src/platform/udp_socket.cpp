#include "takt/platform/udp_socket.hpp"

#include <fmt/format.h>
#include <linux/filter.h>
#include <linux/sock_diag.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <algorithm>
#include <array>
#include <asio/ip/udp.hpp>
#include <bit>
#include <cerrno>
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
  constexpr int unused = 0;
  return set_option(socket, SO_ATTACH_FILTER, closed) &&
         ::bind(socket, local.data(), static_cast<socklen_t>(local.size())) == 0 &&
         ::connect(socket, peer.data(), static_cast<socklen_t>(peer.size())) == 0 &&
         set_option(socket, SO_DETACH_FILTER, unused);
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

/// Whether a call waits for the first datagram: as long as the socket's SO_RCVTIMEO says.
enum class Wait { no, yes };

/// Like recvmmsg(), but only what is asked for is prepared.
int read_batch(int socket, std::span<Datagram> datagrams, Wait wait) noexcept {
  std::array<iovec, UdpSocket::batch> parts;
  std::array<mmsghdr, UdpSocket::batch> headers;
  for (std::size_t i = 0; i < datagrams.size(); ++i) {
    parts[i] = {datagrams[i].buffer.data(), datagrams[i].buffer.size()};
    headers[i] = {};
    headers[i].msg_hdr.msg_iov = &parts[i];
    headers[i].msg_hdr.msg_iovlen = 1;
  }
  const int flags = MSG_TRUNC | (wait == Wait::yes ? MSG_WAITFORONE : MSG_DONTWAIT);
  const int got = ::recvmmsg(socket, headers.data(), static_cast<unsigned>(datagrams.size()), flags, nullptr);
  for (std::size_t i = 0; got > 0 && i < static_cast<std::size_t>(got); ++i)
    datagrams[i].size = headers[i].msg_len;
  return got;
}

/// How many came, or -1 with errno. A size is that of the whole datagram, also of one that did not fit.
int read(int socket, std::span<Datagram> datagrams, Wait wait) noexcept {
  if (datagrams.size() > 1) return read_batch(socket, datagrams, wait);
  Datagram& one = datagrams.front();
  const int flags = MSG_TRUNC | (wait == Wait::yes ? 0 : MSG_DONTWAIT);
  const ssize_t size = ::recv(socket, one.buffer.data(), one.buffer.size(), flags);
  if (size < 0) return -1;
  one.size = static_cast<std::size_t>(size);
  return 1;
}

}  // namespace

SetupResult<UdpSocket> UdpSocket::open(const UdpConfig& config) {
  const auto local = endpoint_of(config.local);
  if (!local) return tl::unexpected(local.error());
  const auto peer = endpoint_of(config.peer);
  if (!peer) return tl::unexpected(peer.error());
  UdpSocket socket(::socket(local->protocol().family(), SOCK_DGRAM | SOCK_CLOEXEC, 0), config.busy_poll);
  if (socket.descriptor_ < 0 || !connect(socket.descriptor_, *local, *peer)) {
    std::string why = detail::text_of(errno);
    if (local->address().is_loopback() && !peer->address().is_loopback())
      why +=
          ": no other machine is reached from a loopback address; the local one has to be that of an "
          "interface";
    return fail(Errc::udp_failed, fmt::format("{}:{} to {}:{}: {}", config.local.address, config.local.port,
                                              config.peer.address, config.peer.port, why));
  }
  return socket;
}

UdpSocket& UdpSocket::operator=(UdpSocket&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(busy_poll_, other.busy_poll_);
  std::swap(nap_, other.nap_);
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
  if (datagrams.empty()) return 0;
  if (timeout <= Duration(0)) return take(datagrams);
  const SteadyClock clock;
  const Time deadline = detail::deadline_after(clock.now(), timeout);
  std::size_t got = busy_poll_ ? 0 : nap(datagrams, timeout);
  while (got == 0) {
    const Duration left = deadline - clock.now();
    if (left <= Duration(0)) break;
    if (!busy_poll_) wait_until_readable(descriptor_, left);
    got = take(datagrams);
  }
  return got;
}

/// Sleeps in the receiving call itself, which saves a call. Its limit is kept in ticks of the kernel's, and it may be an eighth and
/// two of them late: so it is half of the time-out or less, and none of a short one. A power of two seldom has to be set anew.
std::size_t UdpSocket::nap(std::span<Datagram> datagrams, Duration timeout) noexcept {
  constexpr Duration shortest = std::chrono::milliseconds(30);
  constexpr Duration longest = std::chrono::hours(1);
  const auto half = static_cast<std::uint64_t>(std::min(timeout, longest).count()) / 2;
  const Duration limit(std::bit_floor(half));
  if (limit < shortest) return 0;
  if (limit != nap_) {
    const auto seconds = std::chrono::floor<std::chrono::seconds>(limit);
    timeval time{};
    time.tv_sec = static_cast<std::time_t>(seconds.count());
    time.tv_usec = static_cast<suseconds_t>((limit - seconds) / std::chrono::microseconds(1));
    if (!set_option(descriptor_, SO_RCVTIMEO, time)) return 0;
    nap_ = limit;
  }
  const int got = read(descriptor_, datagrams, Wait::yes);
  if (got < 0) count_error();
  return got > 0 ? keep_whole(datagrams.first(static_cast<std::size_t>(got))) : 0;
}

/// Takes what is there, without waiting.
std::size_t UdpSocket::take(std::span<Datagram> datagrams) noexcept {
  std::size_t given = 0;
  std::size_t most = batch;  // of those that are too long, and of errors
  while (given == 0 && most > 0) {
    const int got = read(descriptor_, datagrams, Wait::no);
    if (got >= 0) {
      const auto came = static_cast<std::size_t>(got);
      given = keep_whole(datagrams.first(came));
      most -= std::min(most, std::max<std::size_t>(came, 1));
    } else if (count_error()) {
      --most;
    } else {
      break;
    }
  }
  return given;
}

/// Of a call that gave nothing: whether it was something else that kept it from giving. What became of a datagram that we sent
/// (ECONNREFUSED and its like) is told once, and hides those that came.
bool UdpSocket::count_error() noexcept {
  if (errno == EAGAIN || errno == EWOULDBLOCK) return false;
  if (errno != EINTR) ++counters_.unreachable;
  return true;
}

/// Moves those that fit to the front; returns how many.
std::size_t UdpSocket::keep_whole(std::span<Datagram> datagrams) noexcept {
  std::size_t kept = 0;
  for (Datagram& datagram : datagrams) {
    if (datagram.size <= datagram.buffer.size()) {
      std::swap(datagrams[kept++], datagram);
    } else {
      ++counters_.too_long;
      datagram.size = 0;
    }
  }
  counters_.received += kept;
  return kept;
}

UdpCounters UdpSocket::counters() const noexcept {
  UdpCounters counters = counters_;
  std::array<std::uint32_t, SK_MEMINFO_VARS> memory{};
  socklen_t size = sizeof memory;
  if (::getsockopt(descriptor_, SOL_SOCKET, SO_MEMINFO, memory.data(), &size) == 0)
    counters.dropped = memory[SK_MEMINFO_DROPS];
  return counters;
}

std::uint16_t UdpSocket::local_port() const noexcept {
  Endpoint local;
  auto size = static_cast<socklen_t>(local.capacity());
  if (::getsockname(descriptor_, local.data(), &size) != 0) return 0;
  return local.port();
}

}  // namespace takt::platform
