#include "takt/platform/udp_socket.hpp"

#include <fmt/format.h>
#include <linux/filter.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <algorithm>
#include <array>
#include <asio/ip/udp.hpp>
#include <bit>
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
  if (error)
    return fail(Errc::bad_address,
                fmt::format("'{}' is not a numeric address, such as 127.0.0.1 or ::1", wanted.address));
  return Endpoint(address, wanted.port);
}

/// Converts an address to the kernel's form.
template <class Address>
Address address_of(const Endpoint& endpoint) noexcept {
  Address address;
  address.size = static_cast<std::uint32_t>(endpoint.size());
  std::memcpy(address.bytes.data(), endpoint.data(), endpoint.size());
  return address;
}

template <class T>
bool set_option(int socket, int name, const T& value) noexcept {
  return ::setsockopt(socket, SOL_SOCKET, name, &value, sizeof value) == 0;
}

/// Binds and connects. Returns false, with errno, if the kernel refuses. Datagrams of other senders that
/// arrive in between are dropped.
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
  // The result is ignored because the caller checks again.
  static_cast<void>(::ppoll(&entry, 1, &left, nullptr));
}

/// The port has the same offset in both address families.
static_assert(offsetof(sockaddr_in, sin_port) == offsetof(sockaddr_in6, sin6_port));
static_assert(sizeof(sockaddr_in6) == 28);

template <class Bytes>
void set_port(Bytes& bytes, std::uint16_t port) noexcept {
  const in_port_t network = htons(port);
  std::memcpy(bytes.data() + offsetof(sockaddr_in, sin_port), &network, sizeof network);
}
template <class Bytes>
[[nodiscard]] std::uint16_t port_of(const Bytes& bytes) noexcept {
  in_port_t network = 0;
  std::memcpy(&network, bytes.data() + offsetof(sockaddr_in, sin_port), sizeof network);
  return ntohs(network);
}

/// Opens a second socket at the address and port of a connected one. It receives the datagrams of all other
/// senders. The port is shared only during this call, so no other program can join.
int open_beside(int socket, const Endpoint& local) noexcept {
  constexpr int on = 1, off = 0, least_memory = 0;
  detail::Descriptor beside(::socket(local.protocol().family(), SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const bool bound = beside.is_open() && set_option(beside.get(), SO_RCVBUF, least_memory) &&
                     set_option(socket, SO_REUSEPORT, on) && set_option(beside.get(), SO_REUSEPORT, on) &&
                     ::bind(beside.get(), local.data(), static_cast<socklen_t>(local.size())) == 0;
  const int error = errno;
  const bool private_again =
      set_option(socket, SO_REUSEPORT, off) && (!bound || set_option(beside.get(), SO_REUSEPORT, off));
  if (!bound || !private_again) {
    errno = bound ? errno : error;
    return -1;
  }
  return beside.release();
}

/// The number of datagrams that the kernel dropped because the queue was full.
std::uint64_t drops_of(int socket) noexcept {
  std::array<std::uint32_t, SK_MEMINFO_VARS> memory{};
  socklen_t size = sizeof memory;
  const bool known = ::getsockopt(socket, SOL_SOCKET, SO_MEMINFO, memory.data(), &size) == 0;
  return known ? memory[SK_MEMINFO_DROPS] : 0;
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
          ": a loopback address reaches no other machine; the local address must be that of a network "
          "interface";
    return fail(Errc::udp_failed, fmt::format("{}:{} to {}:{}: {}", config.local.address, config.local.port,
                                              config.peer.address, config.peer.port, why));
  }
  Route& route = socket.route_;
  route.peer = address_of<Address>(*peer);
  route.any_port = config.peer.port == 0;
  if (config.destination) {
    const auto destination = endpoint_of(*config.destination);
    if (!destination) return tl::unexpected(destination.error());
    if (destination->protocol() != local->protocol())
      return fail(Errc::bad_address, fmt::format("{} and {} must be both IPv4 or both IPv6",
                                                 config.local.address, config.destination->address));
    route.destination = address_of<Address>(*destination);
    route.is_given = true;
  }
  if (config.watch_strangers) {
    socket.watch_ = open_beside(socket.descriptor_, Endpoint(local->address(), socket.local_port()));
    if (socket.watch_ < 0)
      return fail(Errc::udp_failed,
                  fmt::format("{}:{}: the second socket cannot be opened: {}", config.local.address,
                              config.local.port, detail::text_of(errno)));
  }
  return socket;
}

UdpSocket& UdpSocket::operator=(UdpSocket&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(busy_poll_, other.busy_poll_);
  std::swap(watch_, other.watch_);
  std::swap(nap_, other.nap_);
  std::swap(route_, other.route_);
  std::swap(strangers_, other.strangers_);
  std::swap(counters_, other.counters_);
  return *this;
}

UdpSocket::~UdpSocket() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (watch_ >= 0) ::close(watch_);
}

void UdpSocket::answer(std::uint16_t port) noexcept {
  if (!is_open_to_any_port() || route_.is_given) return;
  route_.destination = route_.peer;
  set_port(route_.destination.bytes, port);
}

bool UdpSocket::settle(std::uint16_t port) noexcept {
  if (!is_open_to_any_port() || port == 0) return false;
  Address settled = route_.peer;
  set_port(settled.bytes, port);
  if (::connect(descriptor_, reinterpret_cast<const sockaddr*>(settled.bytes.data()), settled.size) != 0)
    return false;
  if (!route_.is_given) route_.destination = {};
  route_.settled = port;
  return true;
}

bool UdpSocket::send(std::span<const std::uint8_t> bytes) noexcept {
  if (is_open_to_any_port() && route_.destination.size == 0) {  // otherwise the kernel would send to port 0
    ++counters_.refused;
    return false;
  }
  // Instead of sending, the socket reports once that an earlier datagram reached no receiver.
  for (int attempt = 0; attempt < 3; ++attempt) {
    const auto* const to = route_.destination.size > 0
                               ? reinterpret_cast<const sockaddr*>(route_.destination.bytes.data())
                               : nullptr;
    if (::sendto(descriptor_, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL, to,
                 route_.destination.size) >= 0) {
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

/// Receives datagrams. Returns their number, or -1 with errno. With `wait`, it waits for the first up to
/// SO_RCVTIMEO. `size` is the size of the whole datagram, even if it did not fit.
int UdpSocket::read(std::span<Datagram> datagrams, bool wait) noexcept {
  std::array<iovec, batch> parts;
  std::array<mmsghdr, batch> headers;
  std::array<std::array<unsigned char, sizeof(sockaddr_in6)>, batch> senders;
  if (datagrams.size() == 1 && !route_.any_port) {
    Datagram& one = datagrams.front();
    const int flags = MSG_TRUNC | (wait ? 0 : MSG_DONTWAIT);
    const ssize_t size = ::recv(descriptor_, one.buffer.data(), one.buffer.size(), flags);
    if (size < 0) return -1;
    one.size = static_cast<std::size_t>(size);
    return 1;
  }
  for (std::size_t i = 0; i < datagrams.size(); ++i) {
    parts[i] = {datagrams[i].buffer.data(), datagrams[i].buffer.size()};
    headers[i] = {};
    headers[i].msg_hdr.msg_iov = &parts[i];
    headers[i].msg_hdr.msg_iovlen = 1;
    if (!route_.any_port) continue;
    headers[i].msg_hdr.msg_name = senders[i].data();
    headers[i].msg_hdr.msg_namelen = sizeof(sockaddr_in6);
  }
  const int flags = MSG_TRUNC | (wait ? MSG_WAITFORONE : MSG_DONTWAIT);
  const int got =
      ::recvmmsg(descriptor_, headers.data(), static_cast<unsigned>(datagrams.size()), flags, nullptr);
  for (std::size_t i = 0; got > 0 && i < static_cast<std::size_t>(got); ++i) {
    datagrams[i].size = headers[i].msg_len;
    datagrams[i].port = route_.any_port ? port_of(senders[i]) : std::uint16_t{0};
  }
  return got;
}

/// Sleeps inside the receiving call, which saves a system call. The kernel counts SO_RCVTIMEO in ticks and
/// may be late by an eighth plus two ticks. So the sleep is at most half of the timeout, and short timeouts
/// use none. Rounding to a power of two makes setsockopt() calls rare.
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
  const int got = read(datagrams, true);
  if (got < 0) count_error();
  return got > 0 ? keep_whole(datagrams.first(static_cast<std::size_t>(got))) : 0;
}

/// Takes the datagrams that have arrived, without waiting.
std::size_t UdpSocket::take(std::span<Datagram> datagrams) noexcept {
  std::size_t given = 0;
  std::size_t most = batch;  // bounds the work for long datagrams and errors
  while (given == 0 && most > 0) {
    const int got = read(datagrams, false);
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

/// Counts the error of a failed receive. Returns whether receiving can continue. The kernel reports the fate
/// of a sent datagram (such as ECONNREFUSED) once, in place of received datagrams.
bool UdpSocket::count_error() noexcept {
  if (errno == EAGAIN || errno == EWOULDBLOCK) return false;
  if (errno != EINTR) ++counters_.unreachable;
  return true;
}

/// Moves valid datagrams from the settled port to the front; returns their number.
std::size_t UdpSocket::keep_whole(std::span<Datagram> datagrams) noexcept {
  std::size_t kept = 0;
  for (Datagram& datagram : datagrams) {
    const bool foreign = route_.settled != 0 && datagram.port != route_.settled;
    if (!foreign && datagram.size <= datagram.buffer.size()) {
      route_.sender = datagram.port;
      std::swap(datagrams[kept++], datagram);
    } else {
      ++(foreign ? counters_.foreign : counters_.too_long);
      datagram.size = 0;
    }
  }
  counters_.received += kept;
  return kept;
}

UdpStrangers UdpSocket::strangers() noexcept {
  std::array<std::uint8_t, 1> byte{};
  Endpoint sender;
  for (std::size_t i = 0; watch_ >= 0 && i < batch; ++i) {
    auto size = static_cast<socklen_t>(sender.capacity());
    if (::recvfrom(watch_, byte.data(), byte.size(), MSG_DONTWAIT, sender.data(), &size) < 0) break;
    sender.resize(size);
    ++strangers_.datagrams;
    strangers_.last = {sender.address().to_string(), sender.port()};
  }
  UdpStrangers all = strangers_;
  if (watch_ >= 0) all.datagrams += drops_of(watch_);
  return all;
}

UdpCounters UdpSocket::counters() const noexcept {
  UdpCounters counters = counters_;
  counters.dropped = drops_of(descriptor_);
  return counters;
}

std::uint16_t UdpSocket::local_port() const noexcept {
  Endpoint local;
  auto size = static_cast<socklen_t>(local.capacity());
  if (::getsockname(descriptor_, local.data(), &size) != 0) return 0;
  return local.port();
}

}  // namespace takt::platform
