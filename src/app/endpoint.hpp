// "ADDRESS:PORT" of a command line or a description.
#pragma once

#include <charconv>
#include <optional>
#include <string>
#include <system_error>

#include "takt/platform/udp_socket.hpp"

namespace takt::app {

/// "127.0.0.1:18003", "[::1]:18003"; std::nullopt for another text. The address itself is not checked.
[[nodiscard]] inline std::optional<platform::UdpEndpoint> parse_endpoint(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos) return std::nullopt;
  platform::UdpEndpoint endpoint;
  endpoint.address = text.substr(0, colon);
  if (endpoint.address.starts_with('[') && endpoint.address.ends_with(']'))
    endpoint.address = endpoint.address.substr(1, endpoint.address.size() - 2);
  const char* const end = text.data() + text.size();
  const auto port = std::from_chars(text.data() + colon + 1, end, endpoint.port);
  if (port.ec != std::errc() || port.ptr != end) return std::nullopt;
  return endpoint;
}

}  // namespace takt::app
