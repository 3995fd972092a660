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
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "drives/mit/master.hpp"
#include "drives/mit/setup.hpp"
#include "takt/core/setup_error.hpp"
#include "takt/robot/bus_exchange.hpp"
#include "takt/robot/description.hpp"
#include "takt/robot/drive_protocol.hpp"
#include "takt/robot/error.hpp"
#include "takt/robot/hardware.hpp"

namespace takt::drives::mit {

/// Joints on buses of another protocol are left untouched, so that several kinds of hardware can share one
/// robot.
template <can::CanBus Bus>
class Hardware final : public robot::Hardware {
 public:
  /// Creates the hardware. `buses`: one for each entry of description.buses, in its order; those of another
  /// protocol may be null. The buses must outlive the hardware. Allocates. Errors: no_such_bus, bad_address,
  /// duplicate_address, bad_scale, too_many_joints; bad_value of the room can for settings that setup_of()
  /// rejects.
  [[nodiscard]] static SetupResult<std::unique_ptr<Hardware>> create(
      const robot::RobotDescription& description, std::span<Bus* const> buses) {
    using robot::Errc;
    if (description.joints.size() > max_joints) return fail(Errc::too_many_joints, "at most 64 joints");
    std::vector<std::vector<Drive>> drives(description.buses.size());
    for (std::size_t i = 0; i < description.joints.size(); ++i) {
      const robot::JointDescription& joint = description.joints[i];
      if (joint.bus >= description.buses.size()) return fail(Errc::no_such_bus, joint.name);
      if (!robot::speaks(description.buses[joint.bus], "mit")) continue;
      if (joint.bus >= buses.size() || buses[joint.bus] == nullptr)
        return fail(Errc::no_such_bus, joint.name);
      if (const auto added = add(drives[joint.bus], description, i); !added)
        return fail(added.error(), joint.name);
    }
    std::unique_ptr<Hardware> hardware(new Hardware(description.silence_limit()));
    for (std::size_t i = 0; i < drives.size(); ++i) {
      if (drives[i].empty()) continue;
      hardware->buses_.emplace_back(*buses[i], std::move(drives[i]), description);
    }
    return hardware;
  }

  void read(Time now, std::span<robot::JointFeedback> feedback) noexcept override {
    for (BusState& bus : buses_) {
      bus.exchange.receive(now, counters_,
                           [&](const can::Frame& frame, Time time) noexcept { take_in(bus, frame, time); });
      for (Drive& drive : bus.drives) {
        drive.master.check_silence(silence_limit_);
        if (drive.joint < feedback.size()) drive.master.report(feedback[drive.joint]);
      }
    }
  }

  void write(Time now, std::span<const JointCommand> commands) noexcept override {
    for (BusState& bus : buses_) {
      for (Drive& drive : bus.drives) {
        if (drive.joint >= commands.size()) continue;
        if (const auto frame = drive.master.command(commands[drive.joint], references_rejected_))
          bus.exchange.put(drive.slot, now, Complete{*frame});
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
  [[nodiscard]] std::string identity(std::size_t joint) const override {
    for (const BusState& bus : buses_) {
      for (const Drive& drive : bus.drives) {
        if (drive.joint == joint) return identity_of(drive.master.said_ranges());
      }
    }
    return {};
  }
  /// Number of rejected references: NaN or infinity. They are never sent; the last good one is held instead.
  [[nodiscard]] std::uint64_t references_rejected() const noexcept { return references_rejected_; }

 private:
  struct Drive {
    Master master;
    std::size_t joint = 0;
    std::size_t slot = 0;
  };
  struct BusState {
    BusState(Bus& bus, std::vector<Drive> drives_on_it, const robot::RobotDescription& description)
        : exchange(bus, drives_on_it.size(), 0, description.period, description.feedback_timeout),
          drives(std::move(drives_on_it)) {
      for (Drive& drive : drives) {
        JointSet joint;
        joint.insert(drive.joint);
        drive.slot = exchange.add(joint);
      }
    }

    robot::BusExchange<Bus> exchange;
    std::vector<Drive> drives;
  };
  /// Passes on a frame, which its master has already encoded.
  struct Complete {
    can::Frame frame;
    friend Status encode_into(can::Frame& out, const Complete& complete) noexcept {
      out = complete.frame;
      return {};
    }
  };

  explicit Hardware(std::uint32_t silence_limit) : silence_limit_(silence_limit) {}

  static Status add(std::vector<Drive>& drives, const robot::RobotDescription& description,
                    std::size_t number) {
    using robot::Errc;
    const robot::JointDescription& joint = description.joints[number];
    const auto setup = setup_of(joint);
    if (!setup) return takt::fail(setup.error());
    if (joint.board < 1 || joint.board > last_id(setup->vendor) || joint.channel != 0)
      return takt::fail(Errc::bad_address);
    if (!std::isfinite(joint.counts_per_radian) || joint.counts_per_radian == 0)
      return takt::fail(Errc::bad_scale);
    const auto is_same = [&](const Drive& other) { return other.master.setup().id == joint.board; };
    if (std::any_of(drives.begin(), drives.end(), is_same)) return takt::fail(Errc::duplicate_address);
    drives.push_back(Drive{Master(*setup, timeout_of(description), description.period), number, 0});
    return {};
  }

  void take_in(BusState& bus, const can::Frame& frame, Time time) noexcept {
    const auto is_from = [&frame](const Drive& drive) { return drive.master.is_from_drive(frame); };
    const auto drive = std::find_if(bus.drives.begin(), bus.drives.end(), is_from);
    if (drive == bus.drives.end()) {
      ++counters_.frames_unexpected;
    } else if (!drive->master.heard(frame, time)) {
      ++counters_.frames_malformed;
    }
  }

  std::vector<BusState> buses_;
  robot::HardwareCounters counters_;
  std::uint64_t references_rejected_ = 0;
  std::uint32_t silence_limit_;
};

}  // namespace takt::drives::mit
