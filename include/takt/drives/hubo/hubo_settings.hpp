// The settings of a joint on a Hubo board besides its address: "drive": {"board_kind": "hand"}.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "takt/can/hubo/frame.hpp"
#include "takt/robot/description.hpp"

namespace takt::drives {

/// In the order of can::hubo::BoardKind.
inline constexpr std::array<std::string_view, 4> hubo_board_kind_names{"two_channel", "hybrid", "neck",
                                                                       "hand"};

/// The kind of the joint's board; two_channel by default.
[[nodiscard]] inline can::hubo::BoardKind hubo_board_kind(const robot::JointDescription& joint) {
  const std::string_view name = joint.drive.word("board_kind").value_or(hubo_board_kind_names[0]);
  for (std::size_t i = 1; i < hubo_board_kind_names.size(); ++i) {
    if (name == hubo_board_kind_names[i]) return static_cast<can::hubo::BoardKind>(i);
  }
  return can::hubo::BoardKind::two_channel;
}
/// Sets the kind of the joint's board.
inline void set_hubo_board_kind(robot::JointDescription& joint, can::hubo::BoardKind kind) {
  joint.drive.set("board_kind", std::string(hubo_board_kind_names[static_cast<std::size_t>(kind)]));
}

}  // namespace takt::drives
