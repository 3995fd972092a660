// The key "devices" of robots: "real", "simulated", or "recorded:" and a path.
#pragma once

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "json/strict.hpp"
#include "robot/description_words.hpp"
#include "takt/robot/description.hpp"

namespace takt::robot {

/// Whether a text of a description may be the path of a file.
[[nodiscard]] inline bool is_path(std::string_view text) {
  constexpr std::size_t longest_path = 1024;  // bytes
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 0x7f; };
  return !text.empty() && text.size() <= longest_path && std::ranges::none_of(text, is_control);
}

/// Reads the key, if it is there, into the members `devices` and `recording` of a description.
inline void read_devices(json::Object& object, json::Mistakes& mistakes, RobotDescription& description) {
  const json::Value* value = object.find("devices");
  if (value == nullptr) return;
  const std::string text = value->is_string() ? value->get<std::string>() : std::string();
  if (text.starts_with(recorded_devices) && is_path(text.substr(recorded_devices.size()))) {
    description.devices = DeviceVariant::recorded;
    description.recording = text.substr(recorded_devices.size());
    return;
  }
  for (const auto& [word, variant] : device_variants) {
    if (text != word) continue;
    description.devices = variant;
    return;
  }
  mistakes.add(object.at("devices"),
               json::text_of(*value) +
                   " is not \"real\", \"simulated\", or \"recorded:\" and the path of a recording");
}

/// The path of a recording begins at the folder of the description's file.
inline void locate_recording(RobotDescription& description, const std::string& file) {
  if (!description.recording.empty())
    description.recording = (std::filesystem::path(file).parent_path() / description.recording).string();
}

}  // namespace takt::robot
