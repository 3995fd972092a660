// Checks texts from outside for UTF-8, character by character.
#pragma once

#include <cstddef>
#include <string_view>

namespace takt {

/// The number of bytes of the first character of `text` by RFC 3629; 0 if it is malformed. `text` must not be
/// empty.
[[nodiscard]] std::size_t utf8_length(std::string_view text) noexcept;

[[nodiscard]] bool is_utf8(std::string_view text) noexcept;

/// Whether a well-formed character is a control character: U+0000 to U+001F, and U+007F to U+009F.
[[nodiscard]] bool is_control(std::string_view character) noexcept;

}  // namespace takt
