// The joints of a robot on CiA 402 drives over CANopen, behind the Hardware seam, over any CAN bus: in cyclic synchronous position,
// and those that have a JointDescription::rated_effort in cyclic synchronous velocity and torque as well, as
// JointCommand::mode says, cycle by cycle.
//
// Each cycle and bus, in this order: SYNC, at which all drives latch their positions and take over the
// references of the cycle before; the master's heartbeat when it is due; at most one frame of some drive's start-up
// (drives/cia402/cia402_master.hpp), drive after drive, so that configuring one never delays the others; and the receive PDOs of every
// drive that runs. PDOs that the bus has no room for are sent first among those of the next cycle. The next read() takes in the
// answers. Velocity is the difference of positions from SYNC to SYNC, smoothed.
//
// A drive outlasts every pause of the master's heartbeat that the robot's overrun limit allows (at least 50 ms). After a longer
// pause it stops by itself, if it has the objects 1016h and 6007h. A drive of velocities or efforts without them is rejected
// (cia402_fault::not_configured). JointFeedback::fault holds the code of the drive's latest emergency and the
// bits of cia402_fault. JointDescription::board is the node, 1 to 126;
// counts_per_radian are the drive's position units, and in one second its velocity units. Bus time at 1 Mbit/s, at worst: 250 us
// for each drive, 480 us for one that takes velocities and efforts, and 55 us for SYNC, so three drives, or one, fit a
// classic bus at 1 kHz.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "takt/can/canopen/emergency.hpp"
#include "takt/can/canopen/nmt.hpp"
#include "takt/can/canopen/pdo.hpp"
#include "takt/can/canopen/sync.hpp"
#include "takt/core/setup_error.hpp"
#include "takt/drives/cia402/cia402_master.hpp"
#include "takt/drives/cia402/cia402_setup.hpp"
#include "takt/robot/bus_exchange.hpp"
#include "takt/robot/description.hpp"
#include "takt/robot/drive_protocol.hpp"
#include "takt/robot/error.hpp"
#include "takt/robot/hardware.hpp"

namespace takt::drives {

/// Joints on buses of another protocol are left untouched, so that several kinds of hardware can share one
/// robot.
template <can::CanBus Bus>
class Cia402Hardware final : public robot::Hardware {
 public:
  using Emergencies = can::canopen::EmergencyHistory<32>;

  /// One bus for each entry of description.buses, in its order; those of another protocol may be null. The
  /// buses must outlive the hardware. `homes` says which drives look for their home before they are ready. Allocates. Errors:
  /// no_such_bus, bad_address, duplicate_address (also two homes of one joint), bad_scale (of the rated effort and a home, too),
  /// too_many_joints, no_such_joint (of a home).
  [[nodiscard]] static SetupResult<std::unique_ptr<Cia402Hardware>> create(
      const robot::RobotDescription& description, std::span<Bus* const> buses,
      std::span<const Cia402Home> homes = {}) {
    if (description.joints.size() > max_joints)
      return fail(robot::Errc::too_many_joints, "at most 64 joints");
    if (auto exist = check_homes(description, homes); !exist)
      return tl::unexpected<SetupError>(std::move(exist.error()));
    std::vector<BusPlan> plans(description.buses.size());
    for (std::size_t i = 0; i < description.joints.size(); ++i) {
      const robot::JointDescription& joint = description.joints[i];
      if (joint.bus >= description.buses.size()) return fail(robot::Errc::no_such_bus, joint.name);
      if (!robot::speaks(description.buses[joint.bus], "cia402")) continue;
      if (joint.bus >= buses.size() || buses[joint.bus] == nullptr)
        return fail(robot::Errc::no_such_bus, joint.name);
      if (auto added = plans[joint.bus].add(joint, i, description, homes); !added)
        return fail(added.error(), joint.name);
    }
    std::unique_ptr<Cia402Hardware> hardware(new Cia402Hardware);
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
        if (drive.joint < feedback.size()) drive.master.report(feedback[drive.joint]);
      }
    }
  }

  void write(Time now, std::span<const robot::JointCommand> commands) noexcept override {
    for (BusState& bus : buses_) {
      bus.exchange.put(bus.sync_slot, now, can::canopen::Sync{});
      if (bus.heartbeat.due(now)) {
        bus.exchange.put_rare(
            bus.heartbeat_slot, now,
            can::canopen::Heartbeat{cia402_master_node, can::canopen::NmtState::operational});
      }
      for (Drive& drive : bus.plan.drives) {
        if (drive.joint < commands.size()) command(bus, drive, commands[drive.joint], now);
      }
      if (bus.exchange.takes_orders()) serve_one(bus, now);
      bus.exchange.flush(now, counters_);
    }
  }

  [[nodiscard]] robot::HardwareCounters counters() const noexcept override { return counters_; }
  [[nodiscard]] std::uint64_t starved(std::size_t joint) const noexcept override {
    std::uint64_t sum = 0;
    for (const BusState& bus : buses_) sum += bus.exchange.starved(joint);
    return sum;
  }
  void ask_identity() noexcept override {
    for (BusState& bus : buses_) {
      for (Drive& drive : bus.plan.drives) drive.master.ask_identity();
    }
  }
  [[nodiscard]] std::string identity(std::size_t joint) const override {
    const Cia402Master* const master = drive(joint);
    return master != nullptr ? to_string(master->identity()) : std::string();
  }
  /// References that were no numbers, or of a mode that the drive is not set up for: never sent. In their place the last good
  /// position holds, and a velocity or an effort is 0.
  [[nodiscard]] std::uint64_t references_rejected() const noexcept { return references_rejected_; }
  /// What the drives of all buses shouted, oldest first.
  [[nodiscard]] const Emergencies& emergencies() const noexcept { return emergencies_; }
  /// The drive of a joint: its state, and which part of its configuration it refused. nullptr where there is none.
  [[nodiscard]] const Cia402Master* drive(std::size_t joint) const noexcept {
    for (const BusState& bus : buses_) {
      for (const Drive& drive : bus.plan.drives) {
        if (drive.joint == joint) return &drive.master;
      }
    }
    return nullptr;
  }

 private:
  struct Drive {
    Cia402Master master;
    std::size_t joint = 0;
    std::size_t pdo_1_slot = 0;
    std::size_t pdo_2_slot = 0;
  };
  // SYNC and the heartbeat before all else: the drives of the whole bus depend on them.
  static constexpr std::uint32_t for_all = 0;
  static constexpr std::uint32_t for_one = 1;

  /// An SDO or NMT frame is complete as it comes from its master.
  struct Complete {
    can::Frame frame;
    friend Status encode_into(can::Frame& out, const Complete& complete) noexcept {
      out = complete.frame;
      return {};
    }
  };

  static SetupResult<void> check_homes(const robot::RobotDescription& description,
                                       std::span<const Cia402Home> homes) {
    for (const Cia402Home& home : homes) {
      const bool is_here = home.joint < description.joints.size() &&
                           description.joints[home.joint].bus < description.buses.size() &&
                           robot::speaks(description.buses[description.joints[home.joint].bus], "cia402");
      if (!is_here) return fail(robot::Errc::no_such_joint, "home of joint " + std::to_string(home.joint));
      if (std::ranges::count(homes, home.joint, &Cia402Home::joint) > 1)
        return fail(robot::Errc::duplicate_address, "homes of joint " + std::to_string(home.joint));
    }
    return {};
  }

  /// The drives of one bus, found by node.
  struct BusPlan {
    std::vector<Drive> drives;
    std::array<std::uint8_t, can::canopen::max_node + 1> index{};  ///< position in `drives` + 1; 0 = none

    Status add(const robot::JointDescription& joint, std::size_t number,
               const robot::RobotDescription& description, std::span<const Cia402Home> homes) {
      if (!can::canopen::is_node(joint.board) || joint.board == cia402_master_node || joint.channel != 0)
        return takt::fail(robot::Errc::bad_address);
      if (index[joint.board] != 0) return takt::fail(robot::Errc::duplicate_address);
      Cia402Setup setup{.node = joint.board,
                        .counts_per_radian = joint.counts_per_radian,
                        .rated_effort = joint.rated_effort,
                        .watchdog = cia402_watchdog(description.period, description.overrun_limit)};
      setup.timing.period = description.period;
      setup.timing.silence = description.feedback_timeout;
      const auto home = std::ranges::find(homes, number, &Cia402Home::joint);
      if (home != homes.end()) setup.home = *home;
      if (!setup.is_good()) return takt::fail(robot::Errc::bad_scale);
      drives.push_back(Drive{Cia402Master(setup), number, 0, 0});
      index[joint.board] = static_cast<std::uint8_t>(drives.size());
      return {};
    }
    [[nodiscard]] Drive* find(std::uint32_t node) noexcept {
      return node >= index.size() || index[node] == 0 ? nullptr : &drives[index[node] - 1U];
    }
  };
  struct BusState {
    BusState(Bus& bus, BusPlan drives, const robot::RobotDescription& description)
        : exchange(bus, 2 * drives.drives.size() + 3, 1, description.period, description.feedback_timeout),
          plan(std::move(drives)),
          heartbeat(cia402_watchdog(description.period, description.overrun_limit) / 4) {
      JointSet joints;
      for (const Drive& drive : plan.drives) joints.insert(drive.joint);
      sync_slot = exchange.add(joints, for_all);
      heartbeat_slot = exchange.add(joints, for_all);
      for (Drive& drive : plan.drives) {
        JointSet joint;
        joint.insert(drive.joint);
        if (drive.master.has_second_pdo()) drive.pdo_2_slot = exchange.add(joint, for_one);
        drive.pdo_1_slot = exchange.add(joint, for_one);
      }
    }

    robot::BusExchange<Bus> exchange;
    BusPlan plan;
    can::canopen::HeartbeatTimer heartbeat;
    std::size_t sync_slot = 0;
    std::size_t heartbeat_slot = 0;
    std::size_t served = 0;
  };

  Cia402Hardware() = default;

  /// Puts the drive's command of this cycle; it replaces an earlier one.
  void command(BusState& bus, Drive& drive, const robot::JointCommand& joint, Time now) noexcept {
    const auto command = drive.master.command(joint, references_rejected_);
    const std::uint8_t node = drive.master.node();
    const bool has_second = drive.master.has_second_pdo();
    if (command) {
      if (has_second) bus.exchange.put(drive.pdo_2_slot, now, can::cia402::ReceivePdo2{node, *command});
      bus.exchange.put(drive.pdo_1_slot, now, can::cia402::ReceivePdo1{node, *command});
    } else {
      if (has_second) bus.exchange.withdraw(drive.pdo_2_slot);
      bus.exchange.withdraw(drive.pdo_1_slot);
    }
  }

  /// One frame of start-up per cycle and bus, the drives in turn. No frame of it ever replaces another.
  void serve_one(BusState& bus, Time now) noexcept {
    const std::size_t count = bus.plan.drives.size();
    for (std::size_t i = 0; i < count; ++i) {
      bus.served = bus.served + 1 < count ? bus.served + 1 : 0;
      Cia402Master& master = bus.plan.drives[bus.served].master;
      if (!master.wants_service(now)) continue;
      if (const auto frame = master.service(now)) {
        bus.exchange.order(now, for_one, Complete{*frame});
        return;
      }
    }
  }

  void take_in(BusState& bus, const can::Frame& frame, Time time) noexcept {
    Drive* const drive = frame.extended || frame.id > can::max_standard_id
                             ? nullptr
                             : bus.plan.find(frame.id & can::canopen::max_node);
    const std::optional<Status> understood = drive != nullptr ? hear(*drive, frame, time) : std::nullopt;
    if (!understood) {
      ++counters_.frames_unexpected;
    } else if (!*understood) {
      ++counters_.frames_malformed;
    }
  }

  /// What became of a frame of this drive; nothing if it is of no service that is listened to.
  [[nodiscard]] std::optional<Status> hear(Drive& drive, const can::Frame& frame, Time time) noexcept {
    const std::uint32_t service = frame.id & ~std::uint32_t{can::canopen::max_node};
    if (service == pdo_id(can::canopen::PdoDirection::transmit, 1, 0))
      return drive.master.heard_pdo(frame, time);
    if (service == pdo_id(can::canopen::PdoDirection::transmit, 2, 0))
      return drive.master.heard_second_pdo(frame);
    if (service == can::canopen::sdo_reply_base) return drive.master.heard_sdo(frame);
    if (service == can::canopen::heartbeat_base) {
      const auto heartbeat = can::canopen::decode_heartbeat(frame);
      if (!heartbeat) return takt::fail(heartbeat.error());
      drive.master.heard(*heartbeat, time);
      return Status{};
    }
    if (service == can::canopen::emergency_base) {
      const auto emergency = can::canopen::decode_emergency(frame);
      if (!emergency) return takt::fail(emergency.error());
      drive.master.heard(*emergency);
      emergencies_.add(*emergency, time);
      return Status{};
    }
    return std::nullopt;
  }

  std::vector<BusState> buses_;
  robot::HardwareCounters counters_;
  Emergencies emergencies_;
  std::uint64_t references_rejected_ = 0;
};

}  // namespace takt::drives
