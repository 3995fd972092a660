// The HTTP request that opens a WebSocket connection, and the answer to it.
#pragma once

#include <string>
#include <string_view>

#include "takt/platform/web_socket.hpp"

namespace takt::platform {

/// The answer to a request.
struct HandshakeAnswer {
  bool is_accepted = false;
  std::string subprotocol;  ///< empty: none
  std::string text;         ///< the HTTP response
};

/// Answers a whole request, which ends with an empty line. Any bytes are safe. A rejection is 400, 403
/// (origin or host) or 426 (version).
[[nodiscard]] HandshakeAnswer answer_request(std::string_view request, const WebSocketOptions& options);

/// A rejection with a status such as "400 Bad Request" and a sentence for people.
[[nodiscard]] HandshakeAnswer rejected_request(std::string_view status, std::string_view reason);

}  // namespace takt::platform
