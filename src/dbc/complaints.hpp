// Collects the messages of a DBC reader: a limited number of warnings, and the one error that ends the
// reading.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "takt/dbc/file.hpp"

namespace takt::dbc {

class Complaints {
 public:
  explicit Complaints(Strictness strictness) noexcept : strictness_(strictness) {}

  [[nodiscard]] bool is_strict() const noexcept { return strictness_ == Strictness::strict; }
  [[nodiscard]] bool has_failed() const noexcept { return error_.has_value(); }
  [[nodiscard]] const Warning& error() const noexcept { return *error_; }
  [[nodiscard]] std::vector<Warning> take_warnings() noexcept { return std::move(warnings_); }
  [[nodiscard]] std::size_t more_warnings() const noexcept { return more_warnings_; }

  /// Reports a fatal mistake, or one that is fatal in strict mode.
  void refuse(TextPosition place, std::string text) {
    if (!error_) error_ = Warning{place, std::move(text)};
  }
  /// Reports a skipped part that is legal and common in good files.
  void warn(TextPosition place, std::string text) {
    if (warnings_.size() < max_warnings) {
      warnings_.push_back({place, std::move(text)});
    } else {
      ++more_warnings_;
    }
  }
  /// Reports a mistake.
  void complain(TextPosition place, std::string text) {
    if (is_strict()) return refuse(place, std::move(text));
    warn(place, std::move(text));
  }

 private:
  Strictness strictness_;
  std::optional<Warning> error_;
  std::vector<Warning> warnings_;
  std::size_t more_warnings_ = 0;
};

}  // namespace takt::dbc
