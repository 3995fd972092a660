// Texts and lists of texts that a caller may leave out.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "error.hpp"
#include "takt/core/error.hpp"

namespace takt::capi {

[[nodiscard]] inline std::string text_or_nothing(const char* text) { return text == nullptr ? "" : text; }

/// The texts of a list. Errors: null_pointer.
[[nodiscard]] inline Result<std::vector<std::string>> read_texts(const char* const* texts,
                                                                 std::size_t count) {
  if (texts == nullptr && count != 0) return fail(Errc::null_pointer);
  std::vector<std::string> read;
  for (const char* text : std::span(texts, count)) {
    if (text == nullptr) return fail(Errc::null_pointer);
    read.emplace_back(text);
  }
  return read;
}

}  // namespace takt::capi
