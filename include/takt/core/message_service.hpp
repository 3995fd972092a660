// A service that talks with many clients in whole messages, text or binary. The concept separates the
// protocol from the carrier of bytes (platform/web_socket_server.hpp, or a test). The protocol receives
// messages and the time and returns messages; it never sees a socket. The carrier never interprets a message.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "takt/core/line_service.hpp"
#include "takt/core/time.hpp"

namespace takt {

/// The two kinds of messages. A text is valid UTF-8.
enum class MessageKind : std::uint8_t { text, binary };

/// One message for one client.
struct MessageOutput {
  /// The receiver of the message.
  ClientId client = 0;
  /// Text or binary.
  MessageKind kind = MessageKind::text;
  std::string bytes;
  /// A sample of a stream: the carrier drops the oldest ones for a slow client. All others are delivered, or
  /// the carrier closes the connection.
  bool is_sample = false;
};

/// Answers clients that send messages. All calls come from one thread, and `now` never decreases.
/// * connected(client, now): a client has connected. take_output() returns the greeting, if any.
/// * received(client, kind, bytes, now): one whole message.
/// * disconnected(client, now): no more input comes from the client, and no more output reaches it.
/// * poll(now): does the work that is due. The carrier calls it after every batch of messages, and at the
///   latest after the time that the last call returned.
/// * take_output(): the output in order. The carrier calls it after every call above.
template <class S>
concept MessageService = requires(S& service, ClientId client, MessageKind kind, std::string_view bytes,
                                  Time now) {
  service.connected(client, now);
  service.received(client, kind, bytes, now);
  service.disconnected(client, now);
  { service.poll(now) } -> std::same_as<Duration>;
  { service.take_output() } -> std::same_as<std::vector<MessageOutput>>;
};

}  // namespace takt
