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
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "takt/can/canopen/emergency.hpp"
#include "takt/can/canopen/nmt.hpp"
#include "takt/can/canopen/pdo.hpp"
#include "takt/can/canopen/sync.hpp"
#include "takt/core/setup_error.hpp"
#include "takt/drives/bus_masters.hpp"
#include "takt/drives/cia402/cia402_master.hpp"
#include "takt/drives/cia402/cia402_setup.hpp"
#include "takt/robot/description.hpp"
#include "takt/robot/error.hpp"
#include "takt/robot/hardware.hpp"

namespace takt::drives {

/// The master of the CiA 402 drives on one bus, for BusMasters.
class Cia402BusMaster {
 public:
  static constexpr std::string_view protocol = "cia402";
  /// The drives that search their home before they are ready.
  using Options = std::span<const Cia402Home>;
  using Emergencies = can::canopen::EmergencyHistory<32>;

  /// Errors: no_such_joint (of a home), duplicate_address (two homes of one joint).
  [[nodiscard]] static SetupResult<void> check(const robot::RobotDescription& description, Options homes) {
    for (const Cia402Home& home : homes) {
      const bool is_here = home.joint < description.joints.size() &&
                           description.joints[home.joint].bus < description.buses.size() &&
                           robot::speaks(description.buses[description.joints[home.joint].bus], protocol);
      if (!is_here) return fail(robot::Errc::no_such_joint, "home of joint " + std::to_string(home.joint));
      if (std::ranges::count(homes, home.joint, &Cia402Home::joint) > 1)
        return fail(robot::Errc::duplicate_address, "homes of joint " + std::to_string(home.joint));
    }
    return {};
  }

  Cia402BusMaster(const robot::RobotDescription& description, std::size_t /*bus*/, Options homes)
      : homes_(homes.begin(), homes.end()),
        heartbeat_(cia402_watchdog(description.period, description.overrun_limit) / 4) {}

  /// Errors: bad_address, duplicate_address, bad_scale (also of the rated effort and of a home).
  [[nodiscard]] Status add(const robot::RobotDescription& description, std::size_t number) {
    const robot::JointDescription& joint = description.joints[number];
    if (!can::canopen::is_node(joint.board) || joint.board == cia402_master_node || joint.channel != 0)
      return takt::fail(robot::Errc::bad_address);
    Cia402Setup setup{.node = joint.board,
                      .counts_per_radian = joint.counts_per_radian,
                      .rated_effort = joint.rated_effort,
                      .watchdog = cia402_watchdog(description.period, description.overrun_limit)};
    setup.timing.period = description.period;
    setup.timing.silence = description.feedback_timeout;
    const auto home = std::ranges::find(homes_, number, &Cia402Home::joint);
    if (home != homes_.end()) setup.home = *home;
    if (!setup.is_good()) return takt::fail(robot::Errc::bad_scale);
    return drives_.add(joint.board, {Cia402Master(setup), number});
  }
  /// What its drives need of the bus.
  [[nodiscard]] BusDemand demand() const noexcept {
    return drives_.size() == 0 ? BusDemand{} : BusDemand{2 * drives_.size() + 3, 1};
  }
  /// Adds a slot for each of its frames.
  template <class Exchange>
  void open(Exchange& exchange) {
    JointSet joints;
    for (const Drive& drive : drives_) joints.insert(drive.joint);
    sync_slot_ = exchange.add(joints, for_all);
    heartbeat_slot_ = exchange.add(joints, for_all);
    for (Drive& drive : drives_) {
      if (drive.master.has_second_pdo()) drive.pdo_2_slot = exchange.add(drive.joint, for_one);
      drive.pdo_1_slot = exchange.add(drive.joint, for_one);
    }
  }

  /// Takes in a frame that ended on the bus at `time`.
  [[nodiscard]] Heard hear(const can::Frame& frame, Time time) noexcept {
    Drive* const drive = frame.extended || frame.id > can::max_standard_id
                             ? nullptr
                             : drives_.find(frame.id & can::canopen::max_node);
    const std::optional<Status> understood =
        drive != nullptr ? hear(drive->master, frame, time) : std::nullopt;
    if (!understood) return Heard::unexpected;
    return *understood ? Heard::understood : Heard::malformed;
  }
  /// Gives the joints what their drives said. Once per cycle, after the frames.
  void report(std::span<robot::JointFeedback> feedback) noexcept {
    for (const Drive& drive : drives_) {
      if (drive.joint < feedback.size()) drive.master.report(feedback[drive.joint]);
    }
  }
  /// Puts the frames of a cycle into the exchange.
  template <class Exchange>
  void command(Exchange& exchange, Time now, std::span<const JointCommand> commands) noexcept {
    exchange.put(sync_slot_, now, can::canopen::Sync{});
    if (heartbeat_.due(now)) {
      exchange.put_rare(heartbeat_slot_, now,
                        can::canopen::Heartbeat{cia402_master_node, can::canopen::NmtState::operational});
    }
    for (Drive& drive : drives_) {
      if (drive.joint < commands.size()) command(exchange, now, drive, commands[drive.joint]);
    }
    if (exchange.takes_orders()) serve_one(exchange, now);
  }
  /// References that were not sent.
  [[nodiscard]] std::uint64_t rejected() const noexcept { return rejected_; }
  /// As robot::Hardware::ask_identity().
  void ask_identity() noexcept {
    for (Drive& drive : drives_) drive.master.ask_identity();
  }
  /// As robot::Hardware::identity().
  [[nodiscard]] std::string identity(std::size_t joint) const {
    const Cia402Master* const master = drive(joint);
    return master != nullptr ? to_string(master->identity()) : std::string();
  }

  /// Emergencies that the drives sent, oldest first.
  [[nodiscard]] const Emergencies& emergencies() const noexcept { return emergencies_; }
  /// The drive of a joint, with its state and the part of its configuration that it refused; null if there is
  /// none.
  [[nodiscard]] const Cia402Master* drive(std::size_t joint) const noexcept {
    const Drive* const found = drives_.of_joint(joint);
    return found != nullptr ? &found->master : nullptr;
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

  /// Sets the drive's command of this cycle; it replaces an earlier one.
  template <class Exchange>
  void command(Exchange& exchange, Time now, Drive& drive, const JointCommand& joint) noexcept {
    const auto command = drive.master.command(joint, rejected_);
    const std::uint8_t node = drive.master.node();
    const bool has_second = drive.master.has_second_pdo();
    if (command) {
      if (has_second) exchange.put(drive.pdo_2_slot, now, can::cia402::ReceivePdo2{node, *command});
      exchange.put(drive.pdo_1_slot, now, can::cia402::ReceivePdo1{node, *command});
    } else {
      if (has_second) exchange.withdraw(drive.pdo_2_slot);
      exchange.withdraw(drive.pdo_1_slot);
    }
  }

  /// Sends one start-up frame per cycle, the drives in turn. No start-up frame replaces another.
  template <class Exchange>
  void serve_one(Exchange& exchange, Time now) noexcept {
    for (std::size_t i = 0; i < drives_.size(); ++i) {
      served_ = served_ + 1 < drives_.size() ? served_ + 1 : 0;
      Cia402Master& master = drives_[served_].master;
      if (!master.wants_service(now)) continue;
      if (const auto frame = master.service(now)) return exchange.order(now, for_one, *frame);
    }
  }

  /// Passes a frame to its drive. Returns the result; std::nullopt for a frame that the master does not use.
  [[nodiscard]] std::optional<Status> hear(Cia402Master& master, const can::Frame& frame,
                                           Time time) noexcept {
    const std::uint32_t service = frame.id & ~std::uint32_t{can::canopen::max_node};
    if (service == pdo_id(can::canopen::PdoDirection::transmit, 1, 0)) return master.heard_pdo(frame, time);
    if (service == pdo_id(can::canopen::PdoDirection::transmit, 2, 0)) return master.heard_second_pdo(frame);
    if (service == can::canopen::sdo_reply_base) return master.heard_sdo(frame);
    if (service == can::canopen::heartbeat_base) {
      const auto heartbeat = can::canopen::decode_heartbeat(frame);
      if (!heartbeat) return takt::fail(heartbeat.error());
      master.heard(*heartbeat, time);
      return Status{};
    }
    if (service == can::canopen::emergency_base) {
      const auto emergency = can::canopen::decode_emergency(frame);
      if (!emergency) return takt::fail(emergency.error());
      master.heard(*emergency);
      emergencies_.add(*emergency, time);
      return Status{};
    }
    return std::nullopt;
  }

  std::vector<Cia402Home> homes_;
  can::canopen::HeartbeatTimer heartbeat_;
  DrivesByNode<Drive, can::canopen::max_node> drives_;
  Emergencies emergencies_;
  std::size_t sync_slot_ = 0;
  std::size_t heartbeat_slot_ = 0;
  std::size_t served_ = 0;
  std::uint64_t rejected_ = 0;
};

/// The CiA 402 drives of a robot.
template <can::CanBus Bus>
using Cia402Hardware = BusMasters<Bus, Cia402BusMaster>;

}  // namespace takt::drives
