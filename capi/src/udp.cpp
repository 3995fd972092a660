// UDP sockets of the C API: platform/udp_socket.hpp.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "boundary.hpp"
#include "takt/platform/udp_socket.hpp"

using takt::fail;
using takt::Status;
using takt::capi::Errc;
using takt::capi::guarded;
using takt::capi::to_duration;
using takt::capi::to_status;
using takt::platform::Datagram;
using takt::platform::UdpEndpoint;
using takt::platform::UdpSocket;
namespace platform = takt::platform;

struct takt_udp_socket {
  UdpSocket socket;
};

namespace {

static_assert(TAKT_UDP_BATCH == UdpSocket::batch);

UdpEndpoint to_endpoint(const char* address, std::uint16_t port) {
  UdpEndpoint endpoint;
  if (address != nullptr) endpoint.address = address;
  endpoint.port = port;
  return endpoint;
}

/// The most bytes of a receive buffer: no datagram is longer.
std::span<std::uint8_t> room(std::uint8_t* buffer, std::size_t size) noexcept {
  return {buffer, std::min<std::size_t>(size, 65536)};
}

}  // namespace

void takt_udp_options_init(takt_udp_options* options, std::size_t size) {
  takt::capi::init_struct(options, size);
}

std::int32_t takt_udp_open(const takt_udp_options* options, takt_udp_socket** socket, char* why,
                           std::size_t size) {
  return guarded(why, size, [&]() -> Status {
    if (socket == nullptr) return fail(Errc::null_pointer);
    const auto o = takt::capi::read_struct(options);
    if (!o) return fail(o.error());
    if (o->reserved != 0) return fail(Errc::bad_argument);
    auto opened = UdpSocket::open({.local = to_endpoint(o->local_address, o->local_port),
                                   .peer = to_endpoint(o->peer_address, o->peer_port),
                                   .busy_poll = o->busy_poll != 0});
    if (!opened) {
      takt::capi::write_text(opened.error().message, why, size);
      return fail(opened.error().error);
    }
    *socket = std::make_unique<takt_udp_socket>(takt_udp_socket{std::move(*opened)}).release();
    return {};
  });
}

void takt_udp_close(takt_udp_socket* socket) { delete socket; }

std::int32_t takt_udp_send(takt_udp_socket* socket, const std::uint8_t* datagram, std::size_t bytes) {
  if (socket == nullptr || (datagram == nullptr && bytes > 0)) return to_status(Errc::null_pointer);
  return socket->socket.send({datagram, bytes}) ? TAKT_OK : to_status(platform::Errc::send_failed);
}

std::int32_t takt_udp_receive(takt_udp_socket* socket, std::int64_t timeout_ns, std::uint8_t* buffer,
                              std::size_t size, std::size_t* bytes) {
  if (socket == nullptr || bytes == nullptr || (buffer == nullptr && size > 0))
    return to_status(Errc::null_pointer);
  const auto received = socket->socket.receive(room(buffer, size), to_duration(timeout_ns));
  if (!received) return to_status(Errc::timeout);
  *bytes = *received;
  return TAKT_OK;
}

std::int32_t takt_udp_receive_batch(takt_udp_socket* socket, std::int64_t timeout_ns,
                                    takt_udp_datagram* datagrams, std::size_t count, std::size_t* received) {
  if (socket == nullptr || datagrams == nullptr || received == nullptr) return to_status(Errc::null_pointer);
  if (count == 0) return to_status(Errc::bad_argument);
  const std::span mine(datagrams, std::min(count, UdpSocket::batch));
  std::array<Datagram, UdpSocket::batch> own;
  for (std::size_t i = 0; i < mine.size(); ++i) {
    if (mine[i].buffer == nullptr && mine[i].size > 0) return to_status(Errc::null_pointer);
    own[i].buffer = room(mine[i].buffer, mine[i].size);
  }
  const std::size_t number =
      socket->socket.receive(std::span(own).first(mine.size()), to_duration(timeout_ns));
  if (number == 0) return to_status(Errc::timeout);
  for (std::size_t i = 0; i < mine.size(); ++i)
    mine[i] = {own[i].buffer.data(), own[i].buffer.size(), own[i].size};
  *received = number;
  return TAKT_OK;
}

void takt_udp_counters_init(takt_udp_counters* counters, std::size_t size) {
  takt::capi::init_struct(counters, size);
}

std::int32_t takt_udp_get_counters(const takt_udp_socket* socket, takt_udp_counters* counters) {
  if (socket == nullptr || counters == nullptr) return to_status(Errc::null_pointer);
  if (const Status size = takt::capi::check_size(counters); !size) return to_status(size);
  const platform::UdpCounters counted = socket->socket.counters();
  takt_udp_counters now{};
  now.sent = counted.sent;
  now.refused = counted.refused;
  now.unreachable = counted.unreachable;
  now.received = counted.received;
  now.too_long = counted.too_long;
  now.dropped = counted.dropped;
  now.foreign = counted.foreign;
  takt::capi::write_struct(counters, now);
  return TAKT_OK;
}

std::uint16_t takt_udp_local_port(const takt_udp_socket* socket) {
  return socket == nullptr ? 0 : socket->socket.local_port();
}

std::uint16_t takt_udp_sender_port(const takt_udp_socket* socket) {
  return socket == nullptr ? 0 : socket->socket.sender_port();
}

std::int32_t takt_udp_settle(takt_udp_socket* socket, std::uint16_t port) {
  if (socket == nullptr) return to_status(Errc::null_pointer);
  if (port == 0 || !socket->socket.is_open_to_any_port()) return to_status(Errc::bad_argument);
  return socket->socket.settle(port) ? TAKT_OK : to_status(platform::Errc::udp_failed);
}

std::int32_t takt_udp_descriptor(const takt_udp_socket* socket) {
  return socket == nullptr ? -1 : socket->socket.descriptor();
}
