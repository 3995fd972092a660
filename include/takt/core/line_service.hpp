// A service that talks with many clients in lines of text: the concept between a protocol, which takes lines
// and the time and gives lines back, and whoever carries the bytes (platform/line_server.hpp for TCP, a test
// by hand). The protocol never sees a socket, the carrier never reads a line.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "takt/core/time.hpp"

namespace takt {

/// Numbers a connection; never used again for another one.
using ClientId = std::uint64_t;

/// Why a carrier gives up on a client before the service has seen a whole line of it.
enum class LineFault : std::uint8_t {
  too_long,          ///< a line beyond the cap
  too_slow,          ///< a line that was begun and not ended in time
  too_many_clients,  ///< no room for one more connection
};

/// Bytes for one client, and whether the connection is to be closed after them.
struct LineOutput {
  ClientId client = 0;
  std::string bytes;
  bool close = false;
};

/// All calls come from one thread, `now` never goes backwards.
///   connected(client, now)            a client is there; what the service says first comes out of take_output()
///   received(client, line, now)       one line, without its '\n'
///   refused(client, fault, now)       the carrier will close this connection; the service may explain why in a last line.
///                                     With too_many_clients, connected() was never called and disconnected() will not be
///   disconnected(client, now)         nothing more comes from it and nothing more reaches it
///   owes(client)                      whether more output for it will come; the carrier keeps a client that has ended its
///                                     input connected for that time
///   poll(now)                         does what is due; called after every batch of lines and disconnections with
///                                     a fresh `now`, and at the latest after the time that the last call returned
///   take_output()                     what is to be sent, in order; the carrier asks after every call above
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
