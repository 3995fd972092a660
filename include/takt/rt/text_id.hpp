// Numbers for texts, so that a loop can name things in a few bytes: the spans of a trace, the lines of a log.
// The table belongs to the process. It keeps each text once and never forgets one, so a number that waits in
// a ring stays valid after its component was unloaded.
#pragma once

#include <cstdint>
#include <string_view>

namespace takt::rt {

/// The number of a text.
struct TextId {
  std::uint32_t number = 0;  ///< 0: the empty text

  [[nodiscard]] friend constexpr bool operator==(TextId, TextId) noexcept = default;
};

// The table begins with the names of a loop's own spans.
inline constexpr TextId sleep_text{1};    ///< "sleep": until the cycle is due
inline constexpr TextId cycle_text{2};    ///< "cycle": its work
inline constexpr TextId overrun_text{3};  ///< "overrun": periods without a cycle before this one

/// The number of this text, which is the same for equal texts. Keeps a copy of a new one. Any thread; locks
/// and allocates, so it is for set-up.
[[nodiscard]] TextId intern(std::string_view text);

/// The text of a number that intern() gave; empty for any other. It stays valid until the process ends. Any
/// thread; locks.
[[nodiscard]] std::string_view text_of(TextId id);

}  // namespace takt::rt
