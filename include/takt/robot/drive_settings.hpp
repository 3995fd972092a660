// The settings of one drive besides its address: numbers and words by name. DriveProtocol::settings() tells
// which ones a protocol allows. For set-up: allocates.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "takt/core/finite_math.hpp"

namespace takt::robot {

/// A list of settings, each with a unique key.
class DriveSettings {
 public:
  using Value = std::variant<double, std::string>;
  using Setting = std::pair<std::string, Value>;

  /// Sets the value of a key, and replaces an older one.
  void set(std::string_view key, Value value) {
    const auto place =
        std::find_if(list_.begin(), list_.end(), [key](const Setting& s) { return s.first == key; });
    if (place == list_.end()) {
      list_.emplace_back(key, std::move(value));
    } else {
      place->second = std::move(value);
    }
  }
  /// The number of this key; std::nullopt if the key is absent or holds a word.
  [[nodiscard]] std::optional<double> number(std::string_view key) const {
    const double* value = find<double>(key);
    return value == nullptr ? std::nullopt : std::optional(*value);
  }
  /// The word of this key; std::nullopt if the key is absent or holds a number.
  [[nodiscard]] std::optional<std::string_view> word(std::string_view key) const {
    const std::string* value = find<std::string>(key);
    return value == nullptr ? std::nullopt : std::optional<std::string_view>(*value);
  }
  /// All settings, in the order of their first set().
  [[nodiscard]] const std::vector<Setting>& list() const noexcept { return list_; }

 private:
  template <class T>
  [[nodiscard]] const T* find(std::string_view key) const {
    for (const auto& [name, value] : list_) {
      if (name == key) return std::get_if<T>(&value);
    }
    return nullptr;
  }

  std::vector<Setting> list_;
};

}  // namespace takt::robot
