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
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "takt/can/servo.hpp"
#include "takt/core/setup_error.hpp"
#include "takt/drives/servo/servo_master.hpp"
#include "takt/robot/bus_exchange.hpp"
#include "takt/robot/description.hpp"
#include "takt/robot/drive_protocol.hpp"
#include "takt/robot/error.hpp"
#include "takt/robot/hardware.hpp"

namespace takt::drives {

/// The master of all servo drives of a robot. It leaves the joints on buses of other protocols untouched, so
/// that several kinds of hardware can share one robot. One thread; real-time safe after create().
template <can::CanBus Bus>
class ServoHardware final : public robot::Hardware {
 public:
  /// Creates the hardware. `buses`: one for each entry of description.buses, in its order; those of another
  /// protocol may be null. The buses must outlive the hardware. Allocates. Errors: no_such_bus, bad_address,
  /// duplicate_address, bad_scale, too_many_joints.
  [[nodiscard]] static SetupResult<std::unique_ptr<ServoHardware>> create(
      const robot::RobotDescription& description, std::span<Bus* const> buses) {
    if (description.joints.size() > max_joints)
      return fail(robot::Errc::too_many_joints, "at most 64 joints");
    std::vector<BusPlan> plans(description.buses.size());
    for (std::size_t i = 0; i < description.joints.size(); ++i) {
      const robot::JointDescription& joint = description.joints[i];
      if (joint.bus >= description.buses.size()) return fail(robot::Errc::no_such_bus, joint.name);
      if (!robot::speaks(description.buses[joint.bus], "servo")) continue;
      if (joint.bus >= buses.size() || buses[joint.bus] == nullptr)
        return fail(robot::Errc::no_such_bus, joint.name);
      if (auto added = plans[joint.bus].add(joint, i); !added) return fail(added.error(), joint.name);
    }
    std::unique_ptr<ServoHardware> hardware(new ServoHardware(description));
    for (std::size_t i = 0; i < plans.size(); ++i) {
      if (plans[i].drives.empty()) continue;
      hardware->buses_.emplace_back(*buses[i], std::move(plans[i]), description);
    }
    return hardware;
  }

  void read(Time now, std::span<robot::JointFeedback> feedback) noexcept override {
    for (BusState& bus : buses_) {
      bus.exchange.receive(now, counters_,
                           [&](const can::Frame& frame, Time time) noexcept { take_in(bus, frame, time); });
      for (Drive& drive : bus.plan.drives) {
        drive.master.check_silence(silence_limit_);
        if (drive.joint < feedback.size()) drive.master.report(feedback[drive.joint]);
      }
    }
  }

  void write(Time now, std::span<const JointCommand> commands) noexcept override {
    ++sequence_;
    for (BusState& bus : buses_) {
      std::array<can::servo::GroupCommand, can::servo::group_count> groups{};
      for (Drive& drive : bus.plan.drives) {
        if (drive.joint >= commands.size()) continue;
        const std::uint8_t node = drive.master.node();
        groups[can::servo::group_of(node)].slots[can::servo::slot_of(node)] =
            drive.master.command(commands[drive.joint], references_rejected_);
      }
      for (std::uint8_t i = 0; i < can::servo::group_count; ++i) {
        if (bus.plan.groups[i].empty()) continue;
        groups[i].group = i;
        groups[i].sequence = sequence_;
        groups[i].watchdog = watchdog_;
        // Can be encoded: the masters send finite numbers only, and create() checked the nodes.
        bus.exchange.put(bus.slots[i], now, groups[i]);
      }
      bus.exchange.flush(now, counters_);
    }
  }

  [[nodiscard]] robot::HardwareCounters counters() const noexcept override { return counters_; }
  [[nodiscard]] std::uint64_t starved(std::size_t joint) const noexcept override {
    std::uint64_t sum = 0;
    for (const BusState& bus : buses_) sum += bus.exchange.starved(joint);
    return sum;
  }
  /// Number of rejected references: NaN, infinity, or another mode than position. They are never sent; the
  /// last good one is held instead.
  [[nodiscard]] std::uint64_t references_rejected() const noexcept { return references_rejected_; }

 private:
  struct Drive {
    ServoMaster master;
    std::size_t joint = 0;
  };
  /// The drives of one bus, found by node.
  struct BusPlan {
    std::vector<Drive> drives;
    std::array<std::uint8_t, can::servo::max_node + 1>
        index{};                                             ///< position in `drives` + 1; 0 = no such drive
    std::array<JointSet, can::servo::group_count> groups{};  ///< the joints of each

    Status add(const robot::JointDescription& joint, std::size_t number) {
      if (!can::servo::is_node(joint.board) || joint.channel != 0)
        return takt::fail(robot::Errc::bad_address);
      if (!std::isfinite(joint.counts_per_radian) || joint.counts_per_radian == 0)
        return takt::fail(robot::Errc::bad_scale);
      if (index[joint.board] != 0) return takt::fail(robot::Errc::duplicate_address);
      drives.push_back(Drive{ServoMaster(joint.board, joint.counts_per_radian < 0), number});
      index[joint.board] = static_cast<std::uint8_t>(drives.size());
      groups[can::servo::group_of(joint.board)].insert(number);
      return {};
    }
    [[nodiscard]] Drive* find(std::uint32_t node) noexcept {
      return node >= index.size() || index[node] == 0 ? nullptr : &drives[index[node] - 1U];
    }
  };
  struct BusState {
    BusState(Bus& bus, BusPlan drives, const robot::RobotDescription& description)
        : exchange(bus, can::servo::group_count, 0, description.period, description.feedback_timeout),
          plan(std::move(drives)) {
      for (std::size_t i = 0; i < slots.size(); ++i) {
        if (!plan.groups[i].empty()) slots[i] = exchange.add(plan.groups[i]);
      }
    }

    robot::BusExchange<Bus> exchange;
    BusPlan plan;
    std::array<std::size_t, can::servo::group_count> slots{};  ///< for each group
  };

  explicit ServoHardware(const robot::RobotDescription& description)
      : silence_limit_(description.silence_limit()), watchdog_(watchdog_of(description)) {}

  /// Watchdog in ms. The drives wait a little longer than the loop, which wakes at most overrun_limit + 1.5
  /// periods after the last time. Hence the loop reports its own overrun first.
  static std::uint8_t watchdog_of(const robot::RobotDescription& description) noexcept {
    constexpr Duration millisecond{1'000'000};
    const Duration watchdog = (Duration::rep{description.overrun_limit} + 3) * description.period;
    return static_cast<std::uint8_t>(
        std::clamp<Duration::rep>((watchdog + millisecond - Duration(1)) / millisecond, 5, 255));
  }

  void take_in(BusState& bus, const can::Frame& frame, Time time) noexcept {
    Drive* const drive = frame.extended || frame.id < can::servo::reply_base
                             ? nullptr
                             : bus.plan.find(frame.id - can::servo::reply_base);
    if (drive == nullptr) {
      ++counters_.frames_unexpected;
    } else if (const auto reply = can::servo::decode_reply(frame)) {
      drive->master.heard(*reply, time);
    } else {
      ++counters_.frames_malformed;
    }
  }

  std::vector<BusState> buses_;
  robot::HardwareCounters counters_;
  std::uint64_t references_rejected_ = 0;
  std::uint32_t silence_limit_;
  std::uint8_t watchdog_;
  std::uint8_t sequence_ = 0;
};

}  // namespace takt::drives
