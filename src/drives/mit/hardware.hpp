// The joints of a robot on MIT-mode drives of any vendor, over any CAN bus, as a robot::Hardware. In each
// cycle it sends one frame to every drive; the next read() takes in their replies. The start-up sequence of a
// drive is in drives/mit/master.hpp.
//
// Of JointDescription::counts_per_radian only the sign counts, the direction. A silent master has different
// effects. A Damiao switches itself off, with the error D, after 3 periods more than the robot's overrun
// limit (at least 5 ms). A cheetah is limp after 25 ms. A CubeMars probably goes on with its last command.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "drives/mit/master.hpp"
#include "drives/mit/setup.hpp"
#include "takt/drives/bus_masters.hpp"
#include "takt/robot/description.hpp"
#include "takt/robot/error.hpp"
#include "takt/robot/hardware.hpp"

namespace takt::drives::mit {

/// The master of the drives on one bus, for BusMasters.
class BusMaster {
 public:
  static constexpr std::string_view protocol = "mit";
  using Options = NoOptions;

  BusMaster(const robot::RobotDescription& description, std::size_t /*bus*/, const Options&) noexcept
      : silence_limit_(description.silence_limit()) {}

  /// Errors: bad_address, duplicate_address, bad_scale; bad_value of the room can for settings that
  /// setup_of() rejects.
  [[nodiscard]] Status add(const robot::RobotDescription& description, std::size_t number) {
    using robot::Errc;
    const robot::JointDescription& joint = description.joints[number];
    const auto setup = setup_of(joint);
    if (!setup) return takt::fail(setup.error());
    if (joint.board < 1 || joint.board > last_id(setup->vendor) || joint.channel != 0)
      return takt::fail(Errc::bad_address);
    if (!std::isfinite(joint.counts_per_radian) || joint.counts_per_radian == 0)
      return takt::fail(Errc::bad_scale);
    return drives_.add(joint.board, {Master(*setup, timeout_of(description), description.period), number});
  }
  /// What its drives need of the bus.
  [[nodiscard]] BusDemand demand() const noexcept { return {.replies = drives_.size()}; }
  /// Adds a slot for each of its frames.
  template <class Exchange>
  void open(Exchange& exchange) {
    for (Drive& drive : drives_) drive.slot = exchange.add(drive.joint);
  }

  /// Takes in a frame that ended on the bus at `time`.
  [[nodiscard]] Heard hear(const can::Frame& frame, Time time) noexcept {
    const auto is_from = [&frame](const Drive& drive) { return drive.master.is_from_drive(frame); };
    const auto drive = std::find_if(drives_.begin(), drives_.end(), is_from);
    if (drive == drives_.end()) return Heard::unexpected;
    return drive->master.heard(frame, time) ? Heard::understood : Heard::malformed;
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
    for (Drive& drive : drives_) {
      if (drive.joint >= commands.size()) continue;
      if (const auto frame = drive.master.command(commands[drive.joint], rejected_))
        exchange.put(drive.slot, now, *frame);
    }
  }
  /// References that were not sent.
  [[nodiscard]] std::uint64_t rejected() const noexcept { return rejected_; }
  /// As robot::Hardware::identity().
  [[nodiscard]] std::string identity(std::size_t joint) const {
    const Drive* const drive = drives_.of_joint(joint);
    return drive != nullptr ? identity_of(drive->master.said_ranges()) : std::string();
  }

 private:
  struct Drive {
    Master master;
    std::size_t joint = 0;
    std::size_t slot = 0;
  };

  std::uint32_t silence_limit_;
  DrivesByNode<Drive, last_id(Vendor::cubemars)> drives_;
  std::uint64_t rejected_ = 0;
};

/// The MIT-mode drives of a robot.
template <can::CanBus Bus>
using Hardware = BusMasters<Bus, BusMaster>;

}  // namespace takt::drives::mit
