// The interface of a drive protocol. It covers the settings in a description, the frames on a bus, and the
// faults as text. It creates the master and the simulated drives. Each protocol is one folder of src/drives/
// with one such class.
//
// A protocol is a constant object: it has no state, lives as long as the program, and may be used from any
// thread. Only its function coast(), and the Hardware that connect() creates, are for the real-time path.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "takt/can/frame.hpp"
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

/// A setting of a drive that a description may have under "drive": a number within limits, or one of some
/// words.
struct SettingRule {
  std::string_view key;
  double least = 0;  ///< of a number
  double most = 0;
  std::span<const std::string_view> words{};  ///< allowed words; empty: the setting is a number
  bool required = false;
};

/// The range of the numbers that address a joint on a bus.
struct AddressRule {
  std::uint8_t first_board = 1;   ///< smallest board number or node id
  std::uint8_t last_board = 127;  ///< largest board number or node id
  std::uint8_t last_channel = 0;  ///< largest channel; the smallest is 0
};

/// What one frame shows of the drive that sent it.
struct DriveSighting {
  std::uint8_t board = 0;
  std::uint8_t channels = 1;  ///< its motors
  std::string text{};         ///< "firmware 0.6.10", in printable ASCII; may be empty
  DriveSettings settings{};   ///< of those under "drive", the ones that the frame tells
};

/// Reports a contradiction in a description: the key within the joint, such as "safe", and the reason as a
/// sentence.
using Complain = std::function<void(std::string_view key, std::string reason)>;

/// One drive protocol. Programs may add their own (drives/registry.hpp).
class DriveProtocol {
 public:
  virtual ~DriveProtocol() = default;
  DriveProtocol(const DriveProtocol&) = delete;
  DriveProtocol& operator=(const DriveProtocol&) = delete;

  /// The name in descriptions: "servo".
  [[nodiscard]] virtual std::string_view name() const noexcept = 0;
  /// Whether it sends CAN FD frames. Its buses then have a data bit rate.
  [[nodiscard]] virtual bool has_fd_frames() const noexcept { return false; }
  /// Whether a joint needs counts_per_radian. If not, the default is 1, and only the sign counts: the
  /// direction.
  [[nodiscard]] virtual bool has_counts() const noexcept { return true; }
  /// The settings that a joint may have under "drive".
  [[nodiscard]] virtual std::span<const SettingRule> settings() const noexcept { return {}; }
  /// The addresses that this joint may have. Reads the joint's settings.
  [[nodiscard]] virtual AddressRule addresses(const JointDescription& joint) const = 0;
  /// The largest position, either way from zero, that the frames can carry, rad or m. Reads the joint's
  /// settings and counts.
  [[nodiscard]] virtual double reach(const JointDescription& joint) const = 0;
  /// Whether the drive of this joint takes commands in this mode. By default: positions, and all modes if the
  /// joint has a rated effort.
  [[nodiscard]] virtual bool takes(const JointDescription& joint, CommandMode mode) const noexcept {
    return mode == CommandMode::position || joint.rated_effort > 0;
  }
  /// The longest pause of the master that a drive can be configured to outlast. std::nullopt: any pause.
  [[nodiscard]] virtual std::optional<Duration> longest_pause() const { return std::nullopt; }
  /// What the drive of a joint follows `time` after it got `reference`, while no further one comes. By
  /// default the same reference: the drive holds it. Real-time safe.
  [[nodiscard]] virtual MotionState coast(const RobotDescription& /*robot*/,
                                          const JointDescription& /*joint*/, const MotionState& reference,
                                          Duration /*time*/) const noexcept {
    return reference;
  }
  /// Calls `complain` for a joint whose settings contradict each other, or those of the joints before it in
  /// `robot.joints`.
  virtual void check(const RobotDescription& robot, const JointDescription& joint,
                     const Complain& complain) const;

  /// Adds the frames of a bus with this protocol to the plan, and the identifiers that its master receives.
  virtual void plan(const RobotDescription& robot, std::size_t bus, BusPlan& plan) const = 0;
  /// JointFeedback::fault as text: "no command came before the watchdog ran out".
  [[nodiscard]] virtual std::string describe_fault(std::uint32_t fault) const = 0;

  /// Creates the master of all drives of this protocol. `ports`: one for each bus of the description; null
  /// for buses of other protocols. Joints of other protocols are left untouched. The ports must outlive the
  /// hardware. Errors: those of robot/error.hpp.
  [[nodiscard]] virtual SetupResult<std::unique_ptr<Hardware>> connect(
      const RobotDescription& robot, std::span<CanPort* const> ports) const = 0;
  /// Creates a simulated bus of this protocol. It has no drives yet.
  [[nodiscard]] virtual std::unique_ptr<sim::DriveBus> simulate(const RobotDescription& robot,
                                                                std::size_t bus, Time start) const = 0;

  /// Frames that ask every address of a bus what is there, for a scan. No frame may move a drive, or switch
  /// it on. Only if the bus `is_quiet`, so that no other master holds a drive on it, a frame may switch
  /// drives off. Empty: the protocol has no such question.
  [[nodiscard]] virtual std::vector<can::Frame> questions(bool /*is_quiet*/) const { return {}; }
  /// The drive that a frame shows; std::nullopt if no drive of this protocol sends it. Any frame is safe.
  [[nodiscard]] virtual std::optional<DriveSighting> sight(const can::Frame& /*frame*/) const {
    return std::nullopt;
  }

 protected:
  DriveProtocol() = default;
};

/// Whether a bus has the protocol of this name.
[[nodiscard]] inline bool speaks(const BusDescription& bus, std::string_view protocol) noexcept {
  return bus.protocol != nullptr && bus.protocol->name() == protocol;
}

}  // namespace takt::robot
