// A service that talks with many clients in lines of text. The concept separates the protocol from the
// carrier of bytes (platform/line_server.hpp for TCP, or a test). The protocol receives lines and the time
// and returns lines; it never sees a socket. The carrier never interprets a line.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "takt/core/time.hpp"

namespace takt {

/// The number of a connection. It is never reused for another connection.
using ClientId = std::uint64_t;

/// The longest line that a carrier takes, in bytes without its '\n': 10 000 waypoints of 64 joints, with 12
/// characters a number.
inline constexpr std::size_t max_line_bytes = std::size_t{8} << 20;

/// The reason for which a carrier drops a client.
enum class LineFault : std::uint8_t {
  too_long,          ///< a line longer than the limit
  too_slow,          ///< a line that was not completed in time
  too_many_clients,  ///< no room for another connection
};

/// Bytes for one client, and whether the carrier must close the connection after them.
struct LineOutput {
  /// The receiver of the bytes.
  ClientId client = 0;
  std::string bytes;
  /// Whether to close the connection after the bytes.
  bool close = false;
};

/// Answers clients that send lines of text. All calls come from one thread, and `now` never decreases.
/// * connected(client, now): a client has connected. take_output() returns the greeting, if any.
/// * received(client, line, now): one line, without its '\n'.
/// * refused(client, fault, now): the carrier is about to close this connection. The service may send a last
///   line that explains why. With too_many_clients the carrier calls neither connected() nor disconnected()
///   for it.
/// * disconnected(client, now): no more input comes from the client, and no more output reaches it.
/// * owes(client): whether more output for the client will follow. For that time the carrier keeps a client
///   connected that has ended its input.
/// * poll(now): does the work that is due. The carrier calls it after every batch of lines and disconnections
///   with a fresh `now`. It also calls it at the latest after the time that the last call returned.
/// * take_output(): the output in order. The carrier calls it after every call above.
template <class S>
concept LineService = requires(S& service, ClientId client, std::string_view line, LineFault fault,
                               Time now) {
  service.connected(client, now);
  service.received(client, line, now);
  service.refused(client, fault, now);
  service.disconnected(client, now);
  { service.owes(client) } -> std::same_as<bool>;
  { service.poll(now) } -> std::same_as<Duration>;
  { service.take_output() } -> std::same_as<std::vector<LineOutput>>;
};

}  // namespace takt
