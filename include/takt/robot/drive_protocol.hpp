// A drive protocol as the rest of takt sees it: what a description may say of its drives, what they put on a bus, their faults in
// words, the master that moves them, and their simulated twins. Each protocol is one folder of src/drives/, and this one class.
//
// A protocol is a constant: it has no state, lives as long as the program, and may be used from any thread. Nothing here is for
// the real-time path; the Hardware that connect() makes is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "takt/core/setup_error.hpp"
#include "takt/core/time.hpp"
#include "takt/robot/bus_plan.hpp"
#include "takt/robot/can_port.hpp"
#include "takt/robot/description.hpp"
#include "takt/robot/hardware.hpp"

namespace takt::sim {
class DriveBus;
}

namespace takt::robot {

/// One thing that a description may say of a drive, under "drive": a number within limits, or one of some words.
struct SettingRule {
  std::string_view key;
  double least = 0;  ///< of a number
  double most = 0;
  std::span<const std::string_view> words{};  ///< allowed ones; none: the setting is a number
  bool required = false;
};

/// The numbers that address a joint on a bus.
struct AddressRule {
  std::uint8_t first_board = 1;
  std::uint8_t last_board = 127;
  std::uint8_t last_channel = 0;
};

/// Where a description contradicts itself: the key of the joint, as "safe", and a sentence.
using Complain = std::function<void(std::string_view key, std::string reason)>;

class DriveProtocol {
 public:
  virtual ~DriveProtocol() = default;
  DriveProtocol(const DriveProtocol&) = delete;
  DriveProtocol& operator=(const DriveProtocol&) = delete;

  /// As descriptions name it: "servo".
  [[nodiscard]] virtual std::string_view name() const noexcept = 0;
  /// Whether its frames are CAN FD, and so its buses have a data bit rate.
  [[nodiscard]] virtual bool has_fd_frames() const noexcept { return false; }
  /// Whether a joint must say its counts_per_radian. Else they default to 1, and only their sign counts: the direction.
  [[nodiscard]] virtual bool has_counts() const noexcept { return true; }
  [[nodiscard]] virtual std::span<const SettingRule> settings() const noexcept { return {}; }
  [[nodiscard]] virtual AddressRule addresses(const JointDescription& joint) const = 0;
  /// How far from zero the protocol's words reach, rad or m. The joint's settings and counts are read.
  [[nodiscard]] virtual double reach(const JointDescription& joint) const = 0;
  /// The longest pause of its master that a drive can be told to wait for. None: any.
  [[nodiscard]] virtual std::optional<Duration> longest_pause() const { return std::nullopt; }
  /// Complains about a joint whose settings contradict each other or those of the joints before it, `robot.joints`.
  virtual void check(const RobotDescription& robot, const JointDescription& joint,
                     const Complain& complain) const;

  /// Adds the frames of a bus that speaks this protocol, and the identifiers that its master listens to.
  virtual void plan(const RobotDescription& robot, std::size_t bus, BusPlan& plan) const = 0;
  /// JointFeedback::fault for people: "no command came before the watchdog ran out".
  [[nodiscard]] virtual std::string describe_fault(std::uint32_t fault) const = 0;

  /// The master of all drives of this protocol: one port for each bus of the description, null for those of other protocols.
  /// Joints of other protocols are left untouched. The ports must outlive the hardware. Errors: those of robot/error.hpp.
  [[nodiscard]] virtual SetupResult<std::unique_ptr<Hardware>> connect(
      const RobotDescription& robot, std::span<CanPort* const> ports) const = 0;
  /// A simulated bus of this protocol, without drives as yet.
  [[nodiscard]] virtual std::unique_ptr<sim::DriveBus> simulate(const RobotDescription& robot,
                                                                std::size_t bus, Time start) const = 0;

 protected:
  DriveProtocol() = default;
};

/// Whether a bus speaks the protocol of this name.
[[nodiscard]] inline bool speaks(const BusDescription& bus, std::string_view protocol) noexcept {
  return bus.protocol != nullptr && bus.protocol->name() == protocol;
}

}  // namespace takt::robot
