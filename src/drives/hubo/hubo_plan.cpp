#include "takt/drives/hubo/hubo_plan.hpp"

#include <array>
#include <set>

#include "takt/can/hubo.hpp"
#include "takt/drives/hubo/hubo_settings.hpp"

namespace takt::drives {
namespace {

namespace hubo = can::hubo;

struct Lengths {
  std::size_t reference;
  std::array<std::size_t, 2> encoders;  ///< 0: it answers in one piece
};

constexpr Lengths lengths_of(hubo::BoardKind kind) {
  switch (kind) {
    case hubo::BoardKind::two_channel:
      break;
    case hubo::BoardKind::hybrid:
      return {5, {6, 0}};
    case hubo::BoardKind::neck:
      return {6, {6, 0}};
    case hubo::BoardKind::hand:
      return {8, {6, 4}};
  }
  return {6, {8, 0}};
}

void plan_board(const robot::JointDescription& joint, robot::BusPlan& plan) {
  constexpr std::size_t encoder_request = 3;
  const Lengths lengths = lengths_of(hubo_board_kind(joint));
  plan.command(lengths.reference);
  for (const std::size_t length : lengths.encoders) {
    if (length == 0) continue;
    plan.command(encoder_request);
    plan.reply(length);
  }
  plan.listen_to(hubo::encoder_base + joint.board);
  plan.listen_to(hubo::status_base + joint.board);
  plan.listen_to(hubo::current_base + joint.board);  // what the board is, if it is asked
}

}  // namespace

void plan_hubo_boards(const robot::RobotDescription& robot, std::size_t bus, robot::BusPlan& plan) {
  constexpr std::size_t status_request = 3;
  constexpr std::size_t longest_status = 8;
  std::set<std::uint8_t> boards;
  for (const robot::JointDescription& joint : robot.joints) {
    if (joint.bus == bus && boards.insert(joint.board).second) plan_board(joint, plan);
  }
  if (boards.empty()) return;
  plan.command(status_request);  // one board in each cycle
  plan.reply(longest_status);
}

void plan_hubo_sensors(std::span<const HuboSensorPlace> sensors, std::size_t bus, robot::BusPlan& plan) {
  for (const HuboSensorPlace& place : sensors) {
    if (place.bus != bus || !HuboSensor::exists(place.sensor)) continue;
    HuboSensor(place.sensor).ask([&plan](const auto& request) {
      plan.command(can::encode(request, hubo::Dialect::podo).value_or(can::Frame{}).length);
      plan.reply(can::max_classic_length);
    });
    for (const std::uint32_t base : {hubo::force_base, hubo::inertial_base})
      plan.listen_to(base + place.sensor);
  }
}

}  // namespace takt::drives
