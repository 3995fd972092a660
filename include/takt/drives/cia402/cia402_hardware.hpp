// The joints of a robot on CiA 402 drives over CANopen, over any CAN bus, as a robot::Hardware. Drives run in
// cyclic synchronous position mode. Joints with a JointDescription::rated_effort can also run in cyclic
// synchronous velocity and torque mode; JointCommand::mode chooses in each cycle.
//
// In each cycle it sends, on each bus, in this order:
//
// * SYNC, at which all drives latch their positions and apply the references of the previous cycle;
// * the master's heartbeat, when it is due;
// * at most one frame of one drive's start-up, or of a question to it. The drives take turns, so configuring
//   one never delays the others (drives/cia402/cia402_master.hpp);
// * the receive PDOs of every running drive. PDOs without room on the bus go first among those of the next
//   cycle.
//
// The next read() takes in the answers. Velocity is the smoothed difference of positions from SYNC to SYNC.
//
// A drive outlasts every pause of the master's heartbeat that the robot's overrun limit allows (at least 50
// ms). After a longer pause it stops by itself, if it has the objects 1016h and 6007h. A drive with velocity
// and torque modes but without these objects is rejected (cia402_fault::not_configured). JointFeedback::fault
// holds the code of the drive's latest emergency, or of its object 603Fh, and the bits of cia402_fault.
// JointDescription::board is the node, 1 to 126. JointDescription::counts_per_radian are the drive's position
// units, and per second its velocity units.
//
// The worst-case bus time at 1 Mbit/s is 55 us for SYNC and 250 us for each drive, or 480 us with velocity
// and torque. Hence three drives, or one with velocity and torque, fit a classic bus at 1 kHz.
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

/// The master of all CiA 402 drives of a robot. It leaves the joints on buses of other protocols untouched,
/// so that several kinds of hardware can share one robot. One thread; real-time safe after create().
template <can::CanBus Bus>
class Cia402Hardware final : public robot::Hardware {
 public:
  using Emergencies = can::canopen::EmergencyHistory<32>;

  /// Creates the hardware. `buses`: one for each entry of description.buses, in its order; those of another
  /// protocol may be null. The buses must outlive the hardware. `homes`: the drives that search their home
  /// before they are ready. Allocates. Errors: no_such_bus, bad_address, duplicate_address (also two homes of
  /// one joint), bad_scale (also of the rated effort and of a home), too_many_joints, no_such_joint (of a
  /// home).
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

  void write(Time now, std::span<const JointCommand> commands) noexcept override {
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
  /// Number of rejected references: NaN or infinity, or a mode for which the drive is not set up. They are
  /// never sent. Instead the last good position holds, and a velocity or an effort is 0.
  [[nodiscard]] std::uint64_t references_rejected() const noexcept { return references_rejected_; }
  /// Emergencies that the drives of all buses sent, oldest first.
  [[nodiscard]] const Emergencies& emergencies() const noexcept { return emergencies_; }
  /// The drive of a joint, with its state and the part of its configuration that it refused; nullptr if there
  /// is none.
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
  // SYNC and the heartbeat go first: all drives of the bus depend on them.
  static constexpr std::uint32_t for_all = 0;
  static constexpr std::uint32_t for_one = 1;

  /// Passes on an SDO or NMT frame, which its master has already encoded.
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

  /// Sets the drive's command of this cycle; it replaces an earlier one.
  void command(BusState& bus, Drive& drive, const JointCommand& joint, Time now) noexcept {
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

  /// Sends one start-up frame per cycle and bus, the drives in turn. No start-up frame replaces another.
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

  /// Passes a frame to its drive. Returns the result; std::nullopt for a frame that the master does not use.
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
