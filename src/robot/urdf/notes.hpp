// Collects the notes of an import: those of one tag with the same reason become one note with several names.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "takt/robot/urdf.hpp"

namespace takt::robot {

class UrdfNotes {
 public:
  void add(std::string_view tag, std::string_view name, std::string_view reason) {
    const auto [place, is_new] = places_.try_emplace({std::string(tag), std::string(reason)}, notes_.size());
    if (is_new) notes_.push_back({std::string(tag), std::string(reason), {}});
    if (!name.empty()) notes_[place->second].names.emplace_back(name);
  }
  [[nodiscard]] std::vector<UrdfNote> take() { return std::move(notes_); }

 private:
  std::vector<UrdfNote> notes_;
  std::map<std::pair<std::string, std::string>, std::size_t> places_;
};

}  // namespace takt::robot
