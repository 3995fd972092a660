// The joints of a robot on takt's CAN FD servo drives, over any CAN bus, as a robot::Hardware: the master's
// side of can/servo.hpp. In each cycle it sends one command frame to every group of drives on each bus; the
// next read() takes in their replies. The start-up sequence of a drive is in drives/servo/servo_master.hpp.
//
// The protocol has the scale: only the sign of JointDescription::counts_per_radian counts, the direction.
// JointFeedback::fault holds can::servo::Fault, and servo_power_lost. The drives' watchdog is 3 periods
// longer than the robot's overrun limit (at least 5 ms, at most 255 ms). A drive that is not addressed for so
// long stops by itself, with the fault reference_lost.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "takt/can/servo.hpp"
#include "takt/core/joint.hpp"
#include "takt/drives/bus_masters.hpp"
#include "takt/drives/servo/servo_master.hpp"
#include "takt/robot/description.hpp"
#include "takt/robot/error.hpp"
#include "takt/robot/hardware.hpp"

namespace takt::drives {

/// The master of the servo drives on one bus, for BusMasters.
class ServoBusMaster {
 public:
  static constexpr std::string_view protocol = "servo";
  using Options = NoOptions;

  ServoBusMaster(const robot::RobotDescription& description, std::size_t /*bus*/, const Options&) noexcept
      : silence_limit_(description.silence_limit()), watchdog_(watchdog_of(description)) {}

  /// Errors: bad_address, duplicate_address, bad_scale.
  [[nodiscard]] Status add(const robot::RobotDescription& description, std::size_t number) {
    const robot::JointDescription& joint = description.joints[number];
    if (!can::servo::is_node(joint.board) || joint.channel != 0) return takt::fail(robot::Errc::bad_address);
    if (!std::isfinite(joint.counts_per_radian) || joint.counts_per_radian == 0)
      return takt::fail(robot::Errc::bad_scale);
    groups_[can::servo::group_of(joint.board)].joints.insert(number);
    return drives_.add(joint.board, {ServoMaster(joint.board, joint.counts_per_radian < 0), number});
  }
  /// What its drives need of the bus.
  [[nodiscard]] BusDemand demand() const noexcept {
    return {.replies = drives_.size() == 0 ? std::size_t{0} : std::size_t{can::servo::group_count}};
  }
  /// Adds a slot for each of its frames.
  template <class Exchange>
  void open(Exchange& exchange) {
    for (Group& group : groups_) {
      if (!group.joints.empty()) group.slot = exchange.add(group.joints);
    }
  }

  /// Takes in a frame that ended on the bus at `time`.
  [[nodiscard]] Heard hear(const can::Frame& frame, Time time) noexcept {
    Drive* const drive = frame.extended || frame.id < can::servo::reply_base
                             ? nullptr
                             : drives_.find(frame.id - can::servo::reply_base);
    if (drive == nullptr) return Heard::unexpected;
    const auto reply = can::servo::decode_reply(frame);
    if (!reply) return Heard::malformed;
    drive->master.heard(*reply, time);
    return Heard::understood;
  }
  /// Gives the joints what their drives said. Once per cycle, after the frames.
  void report(std::span<robot::JointFeedback> feedback) noexcept {
    for (Drive& drive : drives_) {
      drive.master.check_silence(silence_limit_);
      if (drive.joint < feedback.size()) drive.master.report(feedback[drive.joint]);
    }
  }
  /// Puts the frames of a cycle into the exchange.
  template <class Exchange>
  void command(Exchange& exchange, Time now, std::span<const JointCommand> commands) noexcept {
    ++sequence_;
    std::array<can::servo::GroupCommand, can::servo::group_count> orders{};
    for (Drive& drive : drives_) {
      if (drive.joint >= commands.size()) continue;
      const std::uint8_t node = drive.master.node();
      orders[can::servo::group_of(node)].slots[can::servo::slot_of(node)] =
          drive.master.command(commands[drive.joint], rejected_);
    }
    for (std::uint8_t i = 0; i < can::servo::group_count; ++i) {
      if (groups_[i].joints.empty()) continue;
      orders[i].group = i;
      orders[i].sequence = sequence_;
      orders[i].watchdog = watchdog_;
      // Can be encoded: the masters send finite numbers only, and add() checked the nodes.
      exchange.put(groups_[i].slot, now, orders[i]);
    }
  }
  /// References that were not sent.
  [[nodiscard]] std::uint64_t rejected() const noexcept { return rejected_; }

 private:
  struct Drive {
    ServoMaster master;
    std::size_t joint = 0;
  };
  struct Group {
    JointSet joints;
    std::size_t slot = 0;
  };

  /// Watchdog in ms. The drives wait a little longer than the loop, which wakes at most overrun_limit + 1.5
  /// periods after the last time. Hence the loop reports its own overrun first.
  static std::uint8_t watchdog_of(const robot::RobotDescription& description) noexcept {
    constexpr Duration millisecond{1'000'000};
    const Duration watchdog = (Duration::rep{description.overrun_limit} + 3) * description.period;
    return static_cast<std::uint8_t>(
        std::clamp<Duration::rep>((watchdog + millisecond - Duration(1)) / millisecond, 5, 255));
  }

  std::uint32_t silence_limit_;
  std::uint8_t watchdog_;
  std::uint8_t sequence_ = 0;
  DrivesByNode<Drive, can::servo::max_node> drives_;
  std::array<Group, can::servo::group_count> groups_{};
  std::uint64_t rejected_ = 0;
};

/// The servo drives of a robot.
template <can::CanBus Bus>
using ServoHardware = BusMasters<Bus, ServoBusMaster>;

}  // namespace takt::drives
