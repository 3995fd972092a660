#include "takt/robot/bus_plan.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "takt/can/canopen/pdo.hpp"
#include "takt/can/cia402/process_data.hpp"
#include "takt/can/hubo.hpp"
#include "takt/can/servo.hpp"
#include "takt/robot/cia402_setup.hpp"

namespace takt::robot {
namespace {

namespace hubo = can::hubo;
namespace servo = can::servo;
namespace canopen = can::canopen;

constexpr can::FrameFormat classic{};
constexpr can::FrameFormat fd{.fd = true, .bit_rate_switch = true};

class Planner {
 public:
  Planner(const RobotDescription& description, std::size_t bus) : description_(&description), bus_(bus) {
    plan_.rates = {description.buses[bus].bit_rate, description.buses[bus].data_bit_rate};
    plan_.period = description.period;
  }

  BusPlan plan(std::span<const HuboSensorPlace> sensors) {
    switch (description_->buses[bus_].protocol) {
      case Protocol::hubo:
        plan_hubo(sensors);
        break;
      case Protocol::servo:
        plan_servo();
        break;
      case Protocol::cia402:
        plan_cia402();
        break;
    }
    return std::move(plan_);
  }

 private:
  template <class Visitor>
  void for_each_joint(Visitor visit) const {
    for (const JointDescription& joint : description_->joints) {
      if (joint.bus == bus_) visit(joint);
    }
  }
  void command(std::size_t length, can::FrameFormat format = classic) {
    plan_.commands.push_back({format, static_cast<std::uint8_t>(length), plan_.period});
  }
  void reply(std::size_t length, can::FrameFormat format = classic) {
    plan_.replies.push_back({format, static_cast<std::uint8_t>(length), plan_.period});
  }
  void listen_to(std::uint32_t id) { plan_.filters.push_back({.id = id}); }

  // ---- Hubo boards

  void plan_hubo(std::span<const HuboSensorPlace> sensors) {
    constexpr std::size_t status_request = 3;
    constexpr std::size_t longest_status = 8;
    std::set<std::uint8_t> boards;
    for_each_joint([&](const JointDescription& joint) {
      if (boards.insert(joint.board).second) plan_board(joint);
    });
    if (!boards.empty()) {  // one of them in each cycle
      command(status_request);
      reply(longest_status);
    }
    for (const HuboSensorPlace& place : sensors) {
      if (place.bus == bus_ && HuboSensor::exists(place.sensor)) plan_sensor(HuboSensor(place.sensor));
    }
  }
  void plan_board(const JointDescription& joint) {
    constexpr std::size_t encoder_request = 3;
    struct Lengths {
      std::size_t reference;
      std::array<std::size_t, 2> encoders;  ///< 0: it answers in one piece
    };
    constexpr auto lengths_of = [](hubo::BoardKind kind) -> Lengths {
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
    };
    const Lengths lengths = lengths_of(joint.board_kind);
    command(lengths.reference);
    for (const std::size_t length : lengths.encoders) {
      if (length == 0) continue;
      command(encoder_request);
      reply(length);
    }
    listen_to(hubo::encoder_base + joint.board);
    listen_to(hubo::status_base + joint.board);
  }
  void plan_sensor(const HuboSensor& sensor) {
    sensor.ask([this](const auto& request) {
      command(can::encode(request, hubo::Dialect::podo).value_or(can::Frame{}).length);
      reply(can::max_classic_length);
    });
    for (const std::uint32_t base : {hubo::force_base, hubo::inertial_base})
      listen_to(base + sensor.number());
  }

  // ---- Servo drives

  void plan_servo() {
    std::array<std::size_t, servo::group_count> slots{};
    for_each_joint([&](const JointDescription& joint) {
      std::size_t& used = slots[servo::group_of(joint.board)];
      used = std::max(used, servo::slot_of(joint.board) + std::size_t{1});
      reply(servo::detail::reply_bytes, fd);
      listen_to(servo::reply_base + joint.board);
    });
    for (const std::size_t used : slots) {
      if (used > 0) command(servo::detail::command_lengths[used], fd);
    }
  }

  // ---- CiA 402 drives

  void plan_cia402() {
    using Direction = canopen::PdoDirection;
    constexpr std::uint8_t heartbeat = 1;
    bool any = false;
    for_each_joint([&](const JointDescription& joint) {
      any = true;
      command(can::cia402::pdo_1_length);
      reply(can::cia402::pdo_1_length);
      listen_to(canopen::pdo_id(Direction::transmit, 1, joint.board));
      if (joint.rated_effort > 0) {
        command(can::cia402::pdo_2_length);
        reply(can::cia402::pdo_2_length);
        listen_to(canopen::pdo_id(Direction::transmit, 2, joint.board));
      }
      plan_.replies.push_back({classic, heartbeat, Cia402Timing{}.heartbeat});
      for (const std::uint32_t base :
           {canopen::sdo_reply_base, canopen::heartbeat_base, canopen::emergency_base})
        listen_to(base + joint.board);
    });
    if (!any) return;
    command(0);  // SYNC
    plan_.commands.push_back(
        {classic, heartbeat, cia402_watchdog(description_->period, description_->overrun_limit) / 4});
  }

  const RobotDescription* description_;
  std::size_t bus_;
  BusPlan plan_;
};

double load_of(const can::PlannedFrame& frame, can::BitRates rates) {
  const auto load = can::bus_load({&frame, 1}, rates, frame.period);
  return load ? load->worst.utilisation : 0;
}
double load_of(std::span<const can::PlannedFrame> frames, can::BitRates rates) {
  double sum = 0;
  for (const can::PlannedFrame& frame : frames) sum += load_of(frame, rates);
  return sum;
}

}  // namespace

double BusPlan::load() const { return load_of(commands, rates) + load_of(replies, rates); }

double BusPlan::fitting_rate() const {
  double of_cycle = 0;
  double of_others = 0;
  for (const auto& frames : {commands, replies}) {
    for (const can::PlannedFrame& frame : frames)
      (frame.period == period ? of_cycle : of_others) += load_of(frame, rates);
  }
  if (of_others >= largest_bus_load || of_cycle <= 0) return 0;
  return (largest_bus_load - of_others) / of_cycle / to_seconds(period);
}

std::size_t BusPlan::frames_per_cycle() const {
  std::size_t sum = 0;
  for (const can::PlannedFrame& frame : commands) sum += frame.count;
  return sum;
}

BusPlan plan_bus(const RobotDescription& description, std::size_t bus,
                 std::span<const HuboSensorPlace> sensors) {
  if (bus >= description.buses.size()) return {};
  return Planner(description, bus).plan(sensors);
}

}  // namespace takt::robot
