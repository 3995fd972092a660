// Lists of names in one text parameter: "shoulder, elbow".
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace takt::controllers {

/// The names in a list with commas, in their order. Spaces around a name and empty names are dropped. Not
/// real-time safe.
[[nodiscard]] inline std::vector<std::string> names_in(std::string_view list) {
  std::vector<std::string> names;
  while (!list.empty()) {
    const std::size_t comma = list.find(',');
    std::string_view name = list.substr(0, comma);
    while (name.starts_with(' ')) name.remove_prefix(1);
    while (name.ends_with(' ')) name.remove_suffix(1);
    if (!name.empty()) names.emplace_back(name);
    list.remove_prefix(comma == std::string_view::npos ? list.size() : comma + 1);
  }
  return names;
}

}  // namespace takt::controllers
