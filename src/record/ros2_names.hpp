// Names and definitions as ROS 2 has them. A topic of takt has a controller's and a port's names, as in
// "/variables/base.odometry"; ROS 2 allows no points there. The definitions of takt's own messages have the
// unit and the meaning of each field as comments, and each code as a constant. Not real-time safe.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "record/mcap.hpp"
#include "takt/record/metadata.hpp"

namespace takt::record {

/// The entry of a channel's metadata with takt's name of the topic, if ROS 2 does not allow that name.
inline constexpr const char* channel_topic = "takt_topic";

/// A topic as ROS 2 allows it: "/variables/base/odometry" for "/variables/base.odometry". Words have letters,
/// digits and single underscores, and begin with a letter.
[[nodiscard]] std::string ros2_topic(std::string_view topic);
/// Takt's name of a channel's topic.
[[nodiscard]] std::string_view takt_topic(const McapChannel& channel);

/// The meaning of a field.
struct FieldNote {
  std::string_view field;
  std::string_view text;    ///< "ns of the robot's clock"
  std::string constants{};  ///< lines before the field: "uint8 STATE_READY=1\n"
};
[[nodiscard]] std::vector<FieldNote> cycle_notes(const Metadata& metadata);
[[nodiscard]] std::vector<FieldNote> event_notes(const Metadata& metadata);
[[nodiscard]] std::vector<FieldNote> bus_notes();
[[nodiscard]] std::vector<FieldNote> loop_notes();

/// A definition with the notes on its fields.
[[nodiscard]] std::string with_notes(std::string_view definition, std::span<const FieldNote> notes);
/// A definition without comments and constants, which do not change the messages.
[[nodiscard]] std::string without_notes(std::string_view definition);

}  // namespace takt::record
