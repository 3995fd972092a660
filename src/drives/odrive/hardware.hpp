// The joints of a robot on ODrives, over any CAN bus, as a robot::Hardware. The start-up sequence is in
// drives/odrive/master.hpp.
//
// In each cycle every drive gets a request for its estimate, and its set-point or one step of its start-up.
// The next read() takes in the answers. So the bus never has more frames than drives/odrive/protocol.cpp
// plans. Drives also send estimates by themselves, at their own rate. The requests synchronise the estimates
// with the loop, and show which drives are silent.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "drives/odrive/frames.hpp"
#include "drives/odrive/master.hpp"
#include "drives/odrive/setup.hpp"
#include "takt/drives/bus_masters.hpp"
#include "takt/robot/description.hpp"
#include "takt/robot/error.hpp"
#include "takt/robot/hardware.hpp"

namespace takt::drives {

/// The master of the ODrives on one bus, for BusMasters.
class OdriveBusMaster {
 public:
  static constexpr std::string_view protocol = "odrive";
  using Options = NoOptions;

  OdriveBusMaster(const robot::RobotDescription& description, std::size_t /*bus*/, const Options&) noexcept
      : patience_(patience_of(description)) {}

  /// Errors: bad_address, duplicate_address, bad_scale.
  [[nodiscard]] Status add(const robot::RobotDescription& description, std::size_t number) {
    const robot::JointDescription& joint = description.joints[number];
    if (joint.channel != 0) return takt::fail(robot::Errc::bad_address);
    const auto setup = odrive_setup(joint);
    if (!setup) return takt::fail(robot::Errc::bad_scale);
    return drives_.add(joint.board, {OdriveMaster(*setup, patience_), number});
  }
  /// What its drives need of the bus.
  [[nodiscard]] BusDemand demand() const noexcept {
    // Of each drive: its estimate, at times another one, the heartbeat, an answer of its start-up.
    constexpr std::size_t answers = 4;
    return {answers * drives_.size(), drives_.size()};
  }
  /// Adds a slot for each of its frames.
  template <class Exchange>
  void open(Exchange& exchange) {
    for (Drive& drive : drives_) {
      drive.set_point_slot = exchange.add(drive.joint);
      drive.request_slot = exchange.add(drive.joint);
    }
  }

  /// Takes in a frame that ended on the bus at `time`.
  [[nodiscard]] Heard hear(const can::Frame& frame, Time time) noexcept {
    Drive* const drive = frame.extended ? nullptr : drives_.find(odrive_frame::node_of(frame));
    if (drive == nullptr) return Heard::unexpected;
    const Status taken = drive->master.heard(frame, time);
    if (taken) return Heard::understood;
    return taken.error() == can::Errc::unexpected_id ? Heard::unexpected : Heard::malformed;
  }
  /// Gives the joints what their drives said. Once per cycle, after the frames.
  void report(std::span<robot::JointFeedback> feedback) noexcept {
    for (Drive& drive : drives_) {
      drive.master.check_silence();
      if (drive.joint < feedback.size()) drive.master.report(feedback[drive.joint]);
    }
  }
  /// Puts the frames of a cycle into the exchange.
  template <class Exchange>
  void command(Exchange& exchange, Time now, std::span<const JointCommand> commands) noexcept {
    const bool takes_orders = exchange.takes_orders();
    for (Drive& drive : drives_) {
      if (drive.joint >= commands.size()) continue;
      drive.master.command(commands[drive.joint], rejected_);
      if (takes_orders) {
        if (const auto order = drive.master.order()) exchange.order(now, 0, *order);
      }
      if (const auto set_point = drive.master.set_point()) {
        exchange.put(drive.set_point_slot, now, *set_point);
      } else {
        exchange.withdraw(drive.set_point_slot);
      }
      exchange.put(drive.request_slot, now, odrive_frame::ask<odrive::Estimate>(drive.master.node()));
    }
  }
  /// References that were not sent.
  [[nodiscard]] std::uint64_t rejected() const noexcept { return rejected_; }
  /// As robot::Hardware::identity().
  [[nodiscard]] std::string identity(std::size_t joint) const {
    const Drive* const drive = drives_.of_joint(joint);
    return drive != nullptr && drive->master.version() ? odrive_identity(*drive->master.version())
                                                       : std::string();
  }

 private:
  struct Drive {
    OdriveMaster master;
    std::size_t joint = 0;
    std::size_t set_point_slot = 0;
    std::size_t request_slot = 0;
  };

  static OdrivePatience patience_of(const robot::RobotDescription& description) noexcept {
    constexpr Duration five_heartbeats{500'000'000};
    const std::uint32_t answers = description.silence_limit();
    const Duration period = std::max(description.period, Duration(1));
    return {answers, std::max(answers, static_cast<std::uint32_t>(five_heartbeats / period) + 1)};
  }

  OdrivePatience patience_;
  DrivesByNode<Drive, odrive_frame::last_node> drives_;
  std::uint64_t rejected_ = 0;
};

/// The ODrives of a robot.
template <can::CanBus Bus>
using OdriveHardware = BusMasters<Bus, OdriveBusMaster>;

}  // namespace takt::drives
