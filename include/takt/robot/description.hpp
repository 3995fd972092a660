// The description of a robot: its buses, its joints with their limits and addresses, and its groups of
// joints. Everything that differs between robots is here; no code depends on a particular robot.
// robot/description_json.hpp documents the JSON form.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "takt/core/fields.hpp"
#include "takt/core/joint.hpp"
#include "takt/core/time.hpp"
#include "takt/robot/controller_config.hpp"
#include "takt/robot/drive_settings.hpp"
#include "takt/rt/periodic_loop.hpp"

namespace takt::robot {

class DriveProtocol;

/// How a joint moves. It decides the unit of its positions.
enum class JointKind : std::uint8_t {
  rotary,
  linear,
  continuous,  ///< rotary without end stops: it takes the shorter direction. Its position limits are
               ///< those of the position words on its bus
};

/// "rad" or "m".
[[nodiscard]] constexpr std::string_view position_unit(JointKind kind) noexcept {
  return kind == JointKind::linear ? "m" : "rad";
}

/// One CAN bus.
struct BusDescription {
  std::string name;
  const DriveProtocol* protocol = nullptr;  ///< of its drives (robot/drive_protocol.hpp, drives/registry.hpp)
  /// Where the bus is: "can0" (SocketCAN), "slcan:/dev/ttyACM0", or "virtual", with simulated drives.
  std::string interface = "virtual";
  std::uint32_t bit_rate = 1'000'000;       ///< bit/s, arbitration phase
  std::uint32_t data_bit_rate = 5'000'000;  ///< bit/s, data phase of FD frames with bit-rate switch

  TAKT_FIELDS(BusDescription, name, protocol, interface, bit_rate, data_bit_rate)
};

/// The physical joint behind a simulated drive; a linear joint has m and N. Ignored on real buses.
struct PlantDescription {
  double inertia = 0.1;           ///< kg m^2 at the joint (kg for linear joints)
  double viscous_friction = 0.2;  ///< N m s/rad
  double coulomb_friction = 0.2;  ///< N m
  double torque_limit = 50;       ///< N m
  double bandwidth = 60;          ///< rad/s: closed-loop bandwidth of the drive's own position servo
  double start = 0;               ///< rad: the joint's position when the simulation starts
};

/// One joint: its limits, and its drive on a bus.
struct JointDescription {
  std::string name;
  JointKind kind = JointKind::rotary;  ///< of a linear joint, read m for rad and N for N m below
  JointLimits limits;
  /// After a stop of the robot. Either way, a drive that is silent, faulty or off its reference again is
  /// powered off.
  SafeBehaviour safe = SafeBehaviour::hold;
  /// With SafeBehaviour::hold: a drive that is silent keeps power and gets its last position, unseen.
  bool keep_commanding = false;
  /// Encoder counts per rad (per m for linear joints); a negative number reverses the direction.
  double counts_per_radian = 1;
  /// N m at the joint when its drive gives its rated torque, or a finger its largest. 0: the drive takes
  /// positions only.
  double rated_effort = 0;
  std::size_t bus = 0;           ///< index into RobotDescription::buses
  std::uint8_t board = 0;        ///< board number or node id
  std::uint8_t channel = 0;      ///< motor on that board; 0 for drives that are nodes of their own
  DriveSettings drive;           ///< further settings of its protocol
  double following_error = 0.2;  ///< rad: |reference - measured| beyond this stops the robot
  double goal_tolerance = 0.02;  ///< rad: a goal succeeds when the joint is this close to its end
  PlantDescription plant;

  TAKT_FIELDS(JointDescription, name, kind, limits, safe, keep_commanding, counts_per_radian, rated_effort,
              bus, board, channel, drive, following_error, goal_tolerance, plant)

  /// The largest distance of an allowed position from zero, rad.
  [[nodiscard]] double farthest_position() const noexcept {
    return std::max(std::abs(limits.position_min), std::abs(limits.position_max));
  }
};

/// A joint without a drive. It follows a joint of the robot, as the second finger of a gripper does:
/// position = multiplier * position of that joint + offset. robot/joint_coupling.hpp computes its state.
struct MimicDescription {
  std::string name;
  JointKind kind = JointKind::rotary;  ///< of a linear joint, read m for rad below
  std::size_t joint = 0;               ///< the followed joint: an index into RobotDescription::joints
  double multiplier = 1;  ///< rad of this joint for each rad of the followed joint (per m if that is linear)
  double offset = 0;      ///< rad: the position of this joint when the followed joint is at 0

  TAKT_FIELDS(MimicDescription, name, kind, joint, multiplier, offset)
};

/// The mechanism of a transmission. control/transmission.hpp has the equations.
enum class TransmissionKind : std::uint8_t {
  simple,        ///< one actuator, one joint
  differential,  ///< two actuators move one joint together, and the other joint against each other
  four_bar,      ///< two actuators at the base; the first one also moves the second joint
};

/// A joint of a transmission.
struct TransmissionJoint {
  std::size_t joint = 0;  ///< index into RobotDescription::joints
  double reduction = 1;   ///< of the gear at the joint; negative reverses the direction; never 0
  double offset = 0;      ///< rad (m for linear joints): the position of the joint at actuator position 0

  TAKT_FIELDS(TransmissionJoint, joint, reduction, offset)
};

/// An actuator of a transmission.
struct TransmissionActuator {
  std::string name;
  double reduction = 1;  ///< of the gear at the actuator; negative reverses the direction; never 0

  TAKT_FIELDS(TransmissionActuator, name, reduction)
};

/// The mechanism between joints and the actuators that move them. The drive of a joint moves the actuator at
/// the same place of the lists, and gets its commands. Of such a joint, counts_per_radian is per rad of the
/// actuator; all other numbers are the joint's own. See robot/actuator_space.hpp.
struct TransmissionDescription {
  std::string name;
  TransmissionKind kind = TransmissionKind::simple;
  std::vector<TransmissionJoint> joints;        ///< one for a simple transmission, otherwise two
  std::vector<TransmissionActuator> actuators;  ///< as many as joints

  TAKT_FIELDS(TransmissionDescription, name, kind, joints, actuators)
};

/// The number of joints, and of actuators, of a transmission.
[[nodiscard]] constexpr std::size_t joint_count(TransmissionKind kind) noexcept {
  return kind == TransmissionKind::simple ? 1 : 2;
}

/// A named set of joints.
struct GroupDescription {
  std::string name;
  std::vector<std::size_t> joints;  ///< indices into RobotDescription::joints

  TAKT_FIELDS(GroupDescription, name, joints)
};

/// A vehicle that is a device of the robot (robot/vehicle_device.hpp), and the way to it.
struct RobotVehicle {
  std::string name;         ///< of the device
  std::string file;         ///< path of its description (robot/vehicle_description.hpp)
  std::string local{};      ///< own ADDRESS:PORT, the address in numbers
  std::string peer{};       ///< the vehicle's; empty: only a simulated one is possible
  std::string send_to{};    ///< where it receives; empty: at `peer`
  std::string key{};        ///< path of the file with its key; empty: frames have no authentication
  std::uint8_t key_id = 1;  ///< the key's number, as the vehicle has it

  TAKT_FIELDS(RobotVehicle, name, file, local, peer, send_to, key, key_id)
};

/// The devices of a robot. Nothing above them differs.
enum class DeviceVariant : std::uint8_t {
  real,       ///< drives on the interfaces of their buses
  simulated,  ///< simulated drives; all buses are virtual
  recorded,   ///< a recording, which gives what was read (app/replay.hpp)
};

/// The robot.
struct RobotDescription {
  std::string name;
  Duration period{5'000'000};                           ///< of the control loop
  rt::OverrunPolicy overrun = rt::OverrunPolicy::skip;  ///< what the loop does when it is late
  std::uint32_t overrun_limit = 20;  ///< periods: missing more in a row stops the robot; 0 = missing any
  /// A drive that leaves the requests of this time unanswered stops the robot. Requests count, not the clock:
  /// see silence_limit().
  Duration feedback_timeout{50'000'000};
  Duration goal_time{1'000'000'000};  ///< a goal may take so long to settle after its last waypoint
  DeviceVariant devices = DeviceVariant::real;
  std::string recording{};  ///< path of the recording, for DeviceVariant::recorded
  /// Drives get power. If not, none ever does: their feedback flows, and the robot never becomes ready.
  bool power = true;
  std::vector<BusDescription> buses;
  std::vector<JointDescription> joints;
  std::vector<GroupDescription> groups;
  std::vector<MimicDescription> mimics;                ///< joints that follow others
  std::vector<TransmissionDescription> transmissions;  ///< a joint is in at most one of them
  std::vector<ControllerDescription> controllers;      ///< besides the trajectory controller
  std::vector<RobotVehicle> vehicles;                  ///< bases that are driven over datagrams

  TAKT_FIELDS(RobotDescription, name, period, overrun, overrun_limit, feedback_timeout, goal_time, devices,
              recording, power, buses, joints, groups, mimics, transmissions, controllers, vehicles)

  /// The feedback timeout as a number of requests, one in each executed cycle; at least 1. A drive that
  /// leaves so many in a row unanswered is silent. A loop that paused sent no requests, so its pause does not
  /// count.
  [[nodiscard]] std::uint32_t silence_limit() const noexcept {
    if (period <= Duration(0)) return 1;
    constexpr Duration::rep most = std::numeric_limits<std::uint32_t>::max();
    return static_cast<std::uint32_t>(std::clamp<Duration::rep>(feedback_timeout / period, 1, most));
  }

  /// Index of the joint with this name; std::nullopt if there is none.
  [[nodiscard]] std::optional<std::size_t> find_joint(std::string_view joint) const noexcept {
    for (std::size_t i = 0; i < joints.size(); ++i) {
      if (joints[i].name == joint) return i;
    }
    return std::nullopt;
  }
  /// The group with this name; null if there is none.
  [[nodiscard]] const GroupDescription* find_group(std::string_view group) const noexcept {
    for (const GroupDescription& candidate : groups) {
      if (candidate.name == group) return &candidate;
    }
    return nullptr;
  }
};

}  // namespace takt::robot
