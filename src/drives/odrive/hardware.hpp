// The joints of a robot on ODrives, over any CAN bus, as a robot::Hardware. The start-up sequence is in
// drives/odrive/master.hpp.
//
// In each cycle every drive gets a request for its estimate, and its set-point or one step of its start-up.
// The next read() takes in the answers. So the bus never has more frames than drives/odrive/protocol.cpp
// plans. Drives also send estimates by themselves, at their own rate. The requests synchronise the estimates
// with the loop, and show which drives are silent.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "drives/odrive/frames.hpp"
#include "drives/odrive/master.hpp"
#include "drives/odrive/setup.hpp"
#include "takt/core/setup_error.hpp"
#include "takt/robot/bus_exchange.hpp"
#include "takt/robot/description.hpp"
#include "takt/robot/drive_protocol.hpp"
#include "takt/robot/error.hpp"
#include "takt/robot/hardware.hpp"

namespace takt::drives {

/// Joints on buses of another protocol are left untouched.
template <can::CanBus Bus>
class OdriveHardware final : public robot::Hardware {
 public:
  /// Creates the hardware. `buses`: one for each entry of description.buses, in its order; those of another
  /// protocol may be null. The buses must outlive the hardware. Allocates. Errors: no_such_bus, bad_address,
  /// duplicate_address, bad_scale, too_many_joints.
  [[nodiscard]] static SetupResult<std::unique_ptr<OdriveHardware>> create(
      const robot::RobotDescription& description, std::span<Bus* const> buses) {
    using robot::Errc;
    if (description.joints.size() > max_joints) return fail(Errc::too_many_joints, "at most 64 joints");
    std::vector<std::vector<Drive>> drives(description.buses.size());
    for (std::size_t i = 0; i < description.joints.size(); ++i) {
      const robot::JointDescription& joint = description.joints[i];
      if (joint.bus >= description.buses.size()) return fail(Errc::no_such_bus, joint.name);
      if (!speaks(description.buses[joint.bus], "odrive")) continue;
      if (joint.bus >= buses.size() || buses[joint.bus] == nullptr)
        return fail(Errc::no_such_bus, joint.name);
      if (auto added = add(drives[joint.bus], joint, i, patience_of(description)); !added)
        return fail(added.error(), joint.name);
    }
    std::unique_ptr<OdriveHardware> hardware(new OdriveHardware);
    for (std::size_t i = 0; i < drives.size(); ++i) {
      if (!drives[i].empty()) hardware->buses_.emplace_back(*buses[i], std::move(drives[i]), description);
    }
    return hardware;
  }

  void read(Time now, std::span<robot::JointFeedback> feedback) noexcept override {
    for (BusState& bus : buses_) {
      bus.exchange.receive(now, counters_,
                           [&](const can::Frame& frame, Time time) noexcept { take_in(bus, frame, time); });
      for (Drive& drive : bus.drives) {
        drive.master.check_silence();
        if (drive.joint < feedback.size()) drive.master.report(feedback[drive.joint]);
      }
    }
  }

  void write(Time now, std::span<const JointCommand> commands) noexcept override {
    for (BusState& bus : buses_) {
      const bool takes_orders = bus.exchange.takes_orders();
      for (Drive& drive : bus.drives) {
        if (drive.joint >= commands.size()) continue;
        drive.master.command(commands[drive.joint], references_rejected_);
        if (takes_orders) {
          if (const auto order = drive.master.order()) bus.exchange.order(now, 0, Complete{*order});
        }
        if (const auto set_point = drive.master.set_point()) {
          bus.exchange.put(drive.set_point_slot, now, Complete{*set_point});
        } else {
          bus.exchange.withdraw(drive.set_point_slot);
        }
        bus.exchange.put(drive.request_slot, now,
                         Complete{odrive_frame::ask<odrive::Estimate>(drive.master.node())});
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
        if (drive.joint == joint && drive.master.version()) return odrive_identity(*drive.master.version());
      }
    }
    return {};
  }
  /// Number of rejected references: NaN, infinity, or a mode that the drive does not have. They are never
  /// sent.
  [[nodiscard]] std::uint64_t references_rejected() const noexcept { return references_rejected_; }

 private:
  struct Drive {
    OdriveMaster master;
    std::size_t joint = 0;
    std::size_t set_point_slot = 0;
    std::size_t request_slot = 0;
  };
  struct BusState {
    /// Answers of each drive in a cycle: its estimate, at times another one, the heartbeat, an answer of its
    /// start-up.
    static constexpr std::size_t answers = 4;

    BusState(Bus& bus, std::vector<Drive> its_drives, const robot::RobotDescription& description)
        : exchange(bus, answers * its_drives.size(), its_drives.size(), description.period,
                   description.feedback_timeout),
          drives(std::move(its_drives)) {
      for (std::size_t i = 0; i < drives.size(); ++i) {
        Drive& drive = drives[i];
        index[drive.master.node()] = static_cast<std::uint8_t>(i + 1);
        JointSet joint;
        joint.insert(drive.joint);
        drive.set_point_slot = exchange.add(joint);
        drive.request_slot = exchange.add(joint);
      }
    }
    [[nodiscard]] Drive* find(std::uint32_t node) noexcept {
      return node >= index.size() || index[node] == 0 ? nullptr : &drives[index[node] - 1U];
    }

    robot::BusExchange<Bus> exchange;
    std::vector<Drive> drives;
    std::array<std::uint8_t, odrive_frame::last_node + 1> index{};  ///< position in `drives` + 1; 0 = none
  };

  /// A frame as the exchange takes it.
  struct Complete {
    can::Frame frame;
    friend Status encode_into(can::Frame& out, const Complete& complete) noexcept {
      out = complete.frame;
      return {};
    }
  };

  OdriveHardware() = default;

  static OdrivePatience patience_of(const robot::RobotDescription& description) noexcept {
    constexpr Duration five_heartbeats{500'000'000};
    const std::uint32_t answers = description.silence_limit();
    const Duration period = std::max(description.period, Duration(1));
    return {answers, std::max(answers, static_cast<std::uint32_t>(five_heartbeats / period) + 1)};
  }

  static Status add(std::vector<Drive>& drives, const robot::JointDescription& joint, std::size_t number,
                    const OdrivePatience& patience) {
    using robot::Errc;
    if (joint.board > odrive_frame::last_node || joint.channel != 0) return takt::fail(Errc::bad_address);
    if (std::ranges::any_of(drives, [&](const Drive& other) { return other.master.node() == joint.board; }))
      return takt::fail(Errc::duplicate_address);
    const auto setup = odrive_setup(joint);
    if (!setup) return takt::fail(Errc::bad_scale);
    drives.push_back(Drive{OdriveMaster(*setup, patience), number, 0, 0});
    return {};
  }

  void take_in(BusState& bus, const can::Frame& frame, Time time) noexcept {
    Drive* const drive = frame.extended ? nullptr : bus.find(odrive_frame::node_of(frame));
    if (drive == nullptr) {
      ++counters_.frames_unexpected;
    } else if (const Status taken = drive->master.heard(frame, time); !taken) {
      ++(taken.error() == can::Errc::unexpected_id ? counters_.frames_unexpected
                                                   : counters_.frames_malformed);
    }
  }

  std::vector<BusState> buses_;
  robot::HardwareCounters counters_;
  std::uint64_t references_rejected_ = 0;
};

}  // namespace takt::drives
