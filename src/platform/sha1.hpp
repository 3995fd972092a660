// SHA-1 and base64, for the handshake of WebSocket alone. SHA-1 is broken for signatures; the handshake only
// proves that the server speaks the protocol.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace takt::platform {

/// The digest by FIPS 180-4.
[[nodiscard]] std::array<std::uint8_t, 20> sha1(std::string_view text);

/// Base64 by RFC 4648, section 4, with padding.
[[nodiscard]] std::string base64(std::span<const std::uint8_t> bytes);

}  // namespace takt::platform
