// The joints of a robot in shared memory: the reference, the state and the owner of each joint. Several
// motion processes move different joints of one robot at the same time. One real-time process, the hub
// (joint_hub.hpp), applies their references and alone decides which process owns which joint. Everything here
// is real-time safe.
//
//   motion process -- OwnerCommand, each cycle --> its owner slot --> hub: take(), drive joints, publish()
//   any process    <-- JointImage, each cycle of the hub ------------------/
//
// The rules:
//
// * A joint has at most one owner, an owner slot.
// * A command lists all joints that its process wants. The newly wanted ones form a group. The hub grants the
//   whole group in one cycle, or none of it if another process owns one of its joints. The image then names
//   that joint and its owner.
// * The hub tries a group again with each command. It processes releases first, then the owner slots in
//   order. No process waits.
// * A process keeps its joints while it asks for more. If two processes want each other's joints, both are
//   refused until one releases.
// * A granted joint stands still until its owner has seen the grant. Each command contains the last image
//   cycle that its process has read, and the hub ignores references from before the grant. So the first
//   applied reference can start from the joint's current one (JointClient does this).
// * A joint follows its JointSafety and is free at once in three cases. Its owner releases it, its owner
//   restarts (another session), or its owner is silent for more than `silent_cycles` of the hub.
// * An owner slot counts as silent in a cycle when its command is missing, stale or invalid. A command is
//   stale if it repeats the heartbeat. It is invalid if it contains NaN or infinity, or follows an image that
//   this hub has not published.
// * During silence the last valid command holds. The silence of an owner slot without joints is not reported.
//
// Memory: one BroadcastValue<JointImage>, which only the hub writes and others may map read-only. Each owner
// slot has one LatestMemory<OwnerCommand>, which its process and the hub write. Zeroed memory is an empty
// image. At most one hub, and one process per owner slot, may run at a time; the segment's locks enforce it.
// The successor of a dead process continues over the memory as it is.
//
// Trust: a process at an owner slot maps the segment for writing. So it could also write the image and the
// commands of others. No other process then leaves the memory or waits, and the hub rejects NaN and infinity.
// But the ownership of joints is safe only among processes of the same trust. Give other processes only the
// image, read-only.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

#include "takt/core/fields.hpp"
#include "takt/core/joint.hpp"
#include "takt/shm/broadcast_value.hpp"
#include "takt/shm/error.hpp"
#include "takt/shm/exchange.hpp"
#include "takt/shm/latest_value.hpp"

namespace takt::shm {

/// The largest number of processes that can move joints of one robot.
inline constexpr std::size_t max_joint_slots = 32;

/// In place of an owner slot: the joint has no owner.
inline constexpr std::uint8_t no_owner = 0xff;

/// The mode of a reference: a CommandMode, or off. The owner of a joint asks for nothing else. The control
/// process makes a JointCommand of it, whose want_power also depends on the drive's state and faults.
enum class JointMode : std::uint8_t {
  off,       ///< drive off
  position,  ///< reach the position; velocity, acceleration and effort are feed-forward
  velocity,  ///< move at the velocity; acceleration and effort are feed-forward
  effort,    ///< apply the effort
};
static_assert(static_cast<int>(JointMode::position) == static_cast<int>(CommandMode::position) + 1 &&
                  static_cast<int>(JointMode::velocity) == static_cast<int>(CommandMode::velocity) + 1 &&
                  static_cast<int>(JointMode::effort) == static_cast<int>(CommandMode::effort) + 1,
              "JointMode is off, and then the CommandModes in their order");

/// The mode's name; empty for an unknown number.
[[nodiscard]] constexpr std::string_view to_string(JointMode mode) noexcept {
  switch (mode) {
    case JointMode::off:
      return "off";
    case JointMode::position:
      return "position";
    case JointMode::velocity:
      return "velocity";
    case JointMode::effort:
      return "effort";
  }
  return "";
}

/// The reference of one joint in rad, rad/s, rad/s^2 and N m; in m, m/s, m/s^2 and N for linear joints.
struct JointReference {
  MotionState motion;  ///< position, velocity and acceleration
  double effort = 0;   ///< N m or N
  JointMode mode = JointMode::off;

  friend constexpr bool operator==(const JointReference&, const JointReference&) = default;
};

/// The measured state of one joint in rad, rad/s and N m; in m, m/s and N for linear joints.
struct JointMeasurement {
  double position = 0;
  double velocity = 0;
  double effort = 0;
};

/// Checks a reference. Errors: unknown_mode; bad_reference (a number is NaN or infinite, even one that the
/// mode does not use).
[[nodiscard]] inline Status check(const JointReference& reference) noexcept {
  if (reference.mode > JointMode::effort) return fail(Errc::unknown_mode);
  const MotionState& motion = reference.motion;
  for (const double number : {motion.position, motion.velocity, motion.acceleration, reference.effort}) {
    if (!std::isfinite(number)) return fail(Errc::bad_reference);
  }
  return {};
}

/// The command of a motion process, sent through its owner slot in each of its cycles.
struct OwnerCommand {
  std::uint32_t session = 0;    ///< this start of the process: not 0, and not the number of the start before
  std::uint32_t heartbeat = 0;  ///< differs in each command
  std::uint64_t seen = 0;       ///< cycle of the newest image that the process has read
  std::int64_t stamp = 0;       ///< ns on the clock of the process
  JointSet wanted;              ///< joints to keep and joints to get
  std::array<double, max_joints> position{};
  std::array<double, max_joints> velocity{};
  std::array<double, max_joints> acceleration{};
  std::array<double, max_joints> effort{};
  std::array<JointMode, max_joints> mode{};

  TAKT_FIELDS(OwnerCommand, session, heartbeat, seen, stamp, wanted, position, velocity, acceleration, effort,
              mode)

  /// The reference of one joint, which must be below max_joints.
  [[nodiscard]] JointReference reference(std::size_t joint) const noexcept {
    return {{position[joint], velocity[joint], acceleration[joint]}, effort[joint], mode[joint]};
  }
  /// Sets the reference of one joint, which must be below max_joints.
  void set(std::size_t joint, const JointReference& to) noexcept {
    position[joint] = to.motion.position;
    velocity[joint] = to.motion.velocity;
    acceleration[joint] = to.motion.acceleration;
    effort[joint] = to.effort;
    mode[joint] = to.mode;
  }
};
static_assert(std::is_trivially_copyable_v<OwnerCommand> && std::is_standard_layout_v<OwnerCommand> &&
              sizeof(OwnerCommand) == 32 + max_joints * (4 * 8 + 1));

/// The state of a joint's ownership.
enum class JointPhase : std::uint8_t {
  resting,    ///< no owner: off, or held
  returning,  ///< no owner: moving to its safe position
  granted,    ///< held until its new owner has seen the grant
  driven,     ///< follows its owner
};

/// The phase's name; empty for an unknown number.
[[nodiscard]] constexpr std::string_view to_string(JointPhase phase) noexcept {
  switch (phase) {
    case JointPhase::resting:
      return "resting";
    case JointPhase::returning:
      return "returning";
    case JointPhase::granted:
      return "granted";
    case JointPhase::driven:
      return "driven";
  }
  return "";
}

/// The hub's answer to an owner slot.
enum class OwnerSlotAnswer : std::uint8_t {
  none,     ///< it wants no joints, or has not sent a valid command
  granted,  ///< it owns all joints that it wants
  refused,  ///< another process owns the newly wanted joint `refused_joint`
  silent,   ///< it lost its joints because it was silent
};

/// The answer's name; empty for an unknown number.
[[nodiscard]] constexpr std::string_view to_string(OwnerSlotAnswer answer) noexcept {
  switch (answer) {
    case OwnerSlotAnswer::none:
      return "none";
    case OwnerSlotAnswer::granted:
      return "granted";
    case OwnerSlotAnswer::refused:
      return "refused";
    case OwnerSlotAnswer::silent:
      return "silent";
  }
  return "";
}

/// The robot at one cycle of the hub: one array per quantity, with one row per joint or owner slot.
struct JointImage {
  std::uint64_t cycle = 0;    ///< of the hub; a successor continues the count
  std::uint64_t started = 0;  ///< first cycle of this hub; it identifies the hub
  std::int64_t stamp = 0;     ///< time of the measurements, ns on the hub's clock
  std::uint32_t joints = 0;   ///< joint rows in use
  std::uint32_t slots = 0;    ///< owner slot rows in use
  // Measured. After a measurement with NaN or infinity the previous one stays.
  std::array<double, max_joints> position{};
  std::array<double, max_joints> velocity{};
  std::array<double, max_joints> effort{};
  // The applied reference. In modes other than position, its position is the measured one.
  std::array<double, max_joints> ref_position{};
  std::array<double, max_joints> ref_velocity{};
  std::array<double, max_joints> ref_acceleration{};
  std::array<double, max_joints> ref_effort{};
  std::array<double, max_joints> safe{};            ///< safe position
  std::array<std::uint64_t, max_joints> granted{};  ///< cycle in which the joint got its owner
  std::array<JointMode, max_joints> mode{};         ///< of the applied reference
  std::array<std::uint8_t, max_joints> owner{};     ///< owner slot, or no_owner
  std::array<JointPhase, max_joints> phase{};
  // One row per owner slot. From its last valid command:
  std::array<std::int64_t, max_joint_slots> sent{};      ///< its time stamp
  std::array<std::uint32_t, max_joint_slots> session{};  ///< 0: no valid command yet
  std::array<std::uint32_t, max_joint_slots> heartbeat{};
  // From the hub:
  std::array<std::uint32_t, max_joint_slots> lost{};        ///< how often it lost its joints by silence
  std::array<std::uint32_t, max_joint_slots> rejected{};    ///< number of invalid commands
  std::array<Errc, max_joint_slots> error{};                ///< error of the last command, or 0
  std::array<std::uint8_t, max_joint_slots> error_joint{};  ///< joint of that error
  std::array<OwnerSlotAnswer, max_joint_slots> answer{};
  std::array<std::uint8_t, max_joint_slots> refused_joint{};  ///< joint of OwnerSlotAnswer::refused

  TAKT_FIELDS(JointImage, cycle, started, stamp, joints, slots, position, velocity, effort, ref_position,
              ref_velocity, ref_acceleration, ref_effort, safe, granted, mode, owner, phase, sent, session,
              heartbeat, lost, rejected, error, error_joint, answer, refused_joint)

  /// The applied reference of one joint, which must be below max_joints.
  [[nodiscard]] JointReference reference(std::size_t joint) const noexcept {
    return {
        {ref_position[joint], ref_velocity[joint], ref_acceleration[joint]}, ref_effort[joint], mode[joint]};
  }
};

/// The byte ranges of an image that its joints and owner slots use. All other bytes never change.
[[nodiscard]] inline auto pieces_in_use(const JointImage& image) noexcept {
  constexpr std::size_t scalars = 5;
  std::array<Piece, 1 + field_count<JointImage> - scalars> pieces;
  pieces[0] = {0, offsetof(JointImage, position)};
  std::size_t count = 1;
  for_each_field<scalars>(image, [&]<class T>(std::string_view, const T& column) {
    static_assert(max_joints != max_joint_slots);
    const auto* first = reinterpret_cast<const std::byte*>(column.data());
    const std::uint32_t rows = std::tuple_size_v<T> == max_joints ? image.joints : image.slots;
    pieces[count++] = {static_cast<std::size_t>(first - reinterpret_cast<const std::byte*>(&image)),
                       rows * sizeof(column[0])};
  });
  return pieces;
}
static_assert(std::is_trivially_copyable_v<JointImage> && std::is_standard_layout_v<JointImage> &&
              sizeof(JointImage) == 32 + max_joints * (9 * 8 + 3) + max_joint_slots * (8 + 4 * 4 + 2 + 3));

/// The memory of an image with `owner_slot_count` owner slots in one piece, for the threads of one process.
template <std::size_t owner_slot_count>
struct JointImageMemory {
  static_assert(owner_slot_count >= 1 && owner_slot_count <= max_joint_slots);
  BroadcastValue<JointImage> image;
  std::array<LatestMemory<OwnerCommand>, owner_slot_count> owner_slots;
};

/// The memory of an owner slot and its number.
struct JointSlot {
  LatestMemory<OwnerCommand>* memory = nullptr;
  std::uint8_t number = 0;
};

/// In a layout (layout.hpp) a joint image is two exchanges. So any process may read the image, and only the
/// owner slots need writable memory.
///
///     const std::array wanted = {declare<BroadcastValue<JointImage>>("joints"),
///                                declare<JointSlots>("joint_slots", 1, owner_slots)};
///
/// The hub is the producer of the image and the consumer of the owner slots. A motion process is the producer
/// at one owner slot.
struct JointSlots {};

template <>
struct ExchangeTraits<JointSlots> {
  using Element = OwnerCommand;
  using Producer = JointSlot;
  using Consumer = std::span<LatestMemory<OwnerCommand>>;
  static constexpr Kind kind = Kind::joint_image;
  static constexpr bool consumer_writes = true;

  [[nodiscard]] static constexpr Extent extent(Extent wanted) noexcept {
    return {1, std::clamp<std::uint32_t>(wanted.producers, 1, max_joint_slots), 1};
  }
  [[nodiscard]] static constexpr std::uint64_t bytes(const Extent& extent) noexcept {
    return extent.producers * sizeof(LatestMemory<OwnerCommand>);
  }
  [[nodiscard]] static Producer producer(std::byte* memory, const Extent& extent,
                                         std::uint32_t owner_slot) noexcept {
    return {&consumer(memory, extent, 0)[owner_slot], static_cast<std::uint8_t>(owner_slot)};
  }
  [[nodiscard]] static Consumer consumer(std::byte* memory, const Extent& extent, std::uint32_t) noexcept {
    return {&detail::object_at<LatestMemory<OwnerCommand>>(memory), extent.producers};
  }
};

}  // namespace takt::shm
