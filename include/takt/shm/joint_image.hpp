// The heart of a robot in shared memory: what every joint is asked to do, what it does, and who may ask. Several motion processes
// move the joints of one robot at once, each its own; one real-time process, the hub (joint_hub.hpp), applies what they ask and
// is the only one that decides who owns what. Everything here is real-time safe.
//
//     motion process -- JointCommand, once per its cycle --> its seat --> hub: take(), drive the joints, publish()
//     anybody        <-- JointImage, once per cycle of the hub --------------------------/
//
// The rules:
// * A joint has at most one owner, a seat. A seat asks for joints by naming all that it wants in each of its commands. Those that
//   it does not own yet are one group: it is given all of them in one cycle of the hub, or none, as long as one of them has another
//   owner; then the image tells which one and whose it is. Nobody ever waits: the group is tried again with each command, in the
//   order of the seats, after all that was released in the same cycle is free. A seat that owns joints keeps them while it asks
//   for more, so two that each want what the other has both go on being refused, until one of them lets go.
// * A joint that was granted stands still until its owner has seen that it was: each command says which cycle of the hub its
//   sender had seen, and references from before the grant are not followed. So the first one that is can start from where the
//   joint's reference is (JointClient does it).
// * A joint whose owner lets go of it, starts anew (another session) or is silent for more than `silent_cycles` of the hub does
//   what its JointSafety says, and is free at once.
// * Silence is the lack of good news: no command, the same heartbeat again, a command made before this hub began or after an image
//   that it has not published yet, or one that has a number that is none. The last good command holds until then. A seat that owns
//   nothing has nothing to lose: its silence is not told.
//
// Memory: one BroadcastValue<JointImage>, which only the hub writes and others may map read-only, and for each seat one
// LatestMemory<JointCommand>, which its process and the hub write. Zeroed memory is an empty image. At most one hub and one process
// per seat at a time (the segment's locks see to it); whoever comes after one that died goes on over the memory as it is.
//
// Trust: a process with a seat maps the segment so that it can write, and so could write into the image and into other seats'
// commands. Whatever it writes, nobody leaves the memory or waits for it, and the hub refuses what is no number; but who moves
// which joint is safe only among processes of the same trust. Others get the image alone, read-only.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

#include "takt/core/joint.hpp"
#include "takt/shm/broadcast_value.hpp"
#include "takt/shm/error.hpp"
#include "takt/shm/exchange.hpp"
#include "takt/shm/latest_value.hpp"

namespace takt::shm {

/// The most processes that can move joints of one robot.
inline constexpr std::size_t max_joint_seats = 32;

/// In place of a seat: the joint is nobody's.
inline constexpr std::uint8_t no_owner = 0xff;

/// What a reference asks of a joint.
enum class JointMode : std::uint8_t {
  off,       ///< drive off
  position,  ///< be at the position; velocity, acceleration and effort are feed-forward
  velocity,  ///< move at the velocity; acceleration and effort are feed-forward
  effort,    ///< exert the effort
};

/// The mode's name for people; empty for an unknown number. Real-time safe, like the functions below.
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

/// What one joint is asked to do. rad, rad/s, rad/s^2 and N m; m and N for linear joints.
struct JointReference {
  MotionState motion;
  double effort = 0;
  JointMode mode = JointMode::off;

  friend constexpr bool operator==(const JointReference&, const JointReference&) = default;
};

/// What was measured of one joint. rad, rad/s and N m; m, m/s and N for linear joints.
struct JointMeasurement {
  double position = 0;
  double velocity = 0;
  double effort = 0;
};

/// Errors: unknown_mode; bad_reference (a number is NaN or infinite, also one that the mode does not use).
[[nodiscard]] inline Status check(const JointReference& reference) noexcept {
  if (reference.mode > JointMode::effort) return fail(Errc::unknown_mode);
  const MotionState& motion = reference.motion;
  for (const double number : {motion.position, motion.velocity, motion.acceleration, reference.effort}) {
    if (!std::isfinite(number)) return fail(Errc::bad_reference);
  }
  return {};
}

/// What a motion process says in each of its cycles, in its seat.
struct JointCommand {
  std::uint32_t session =
      0;  ///< of this start of the process: any number but 0 that the one before it did not have
  std::uint32_t heartbeat = 0;  ///< another one in each command
  std::uint64_t seen = 0;       ///< cycle of the newest image that the process had read
  std::int64_t stamp = 0;       ///< ns on the clock of the process
  JointSet wanted;  ///< the joints that it owns and wants to keep, and those that it wants to have
  std::array<double, max_joints> position{};
  std::array<double, max_joints> velocity{};
  std::array<double, max_joints> acceleration{};
  std::array<double, max_joints> effort{};
  std::array<JointMode, max_joints> mode{};

  [[nodiscard]] JointReference reference(std::size_t joint) const noexcept {
    return {{position[joint], velocity[joint], acceleration[joint]}, effort[joint], mode[joint]};
  }
  void set(std::size_t joint, const JointReference& to) noexcept {
    position[joint] = to.motion.position;
    velocity[joint] = to.motion.velocity;
    acceleration[joint] = to.motion.acceleration;
    effort[joint] = to.effort;
    mode[joint] = to.mode;
  }
};
static_assert(std::is_trivially_copyable_v<JointCommand> && std::is_standard_layout_v<JointCommand> &&
              sizeof(JointCommand) == 32 + max_joints * (4 * 8 + 1));

/// What a joint is about.
enum class JointPhase : std::uint8_t {
  resting,    ///< nobody's: off, or held
  returning,  ///< nobody's: on its way to its safe position
  granted,    ///< held until its new owner has seen that it was granted
  driven,     ///< follows its owner
};

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

/// What the hub has told a seat.
enum class SeatAnswer : std::uint8_t {
  none,     ///< it wants nothing, or was never heard
  granted,  ///< it owns all that it wants
  refused,  ///< of those that it wants anew, joint `refused_joint` has another owner
  silent,   ///< it has lost its joints by silence
};

[[nodiscard]] constexpr std::string_view to_string(SeatAnswer answer) noexcept {
  switch (answer) {
    case SeatAnswer::none:
      return "none";
    case SeatAnswer::granted:
      return "granted";
    case SeatAnswer::refused:
      return "refused";
    case SeatAnswer::silent:
      return "silent";
  }
  return "";
}

/// The robot at one cycle of the hub: a column for each thing, with a row for each joint or seat.
struct JointImage {
  std::uint64_t cycle = 0;    ///< of the hub, goes on when another hub takes over
  std::uint64_t started = 0;  ///< the first cycle of this hub: another number is another hub
  std::int64_t stamp = 0;     ///< ns on the clock of the hub: when it was measured
  std::uint32_t joints = 0;   ///< rows that are in use
  std::uint32_t seats = 0;
  // Measured; a joint whose measurement was no number keeps the one before.
  std::array<double, max_joints> position{};
  std::array<double, max_joints> velocity{};
  std::array<double, max_joints> effort{};
  // The reference that is applied. In other modes than position, its position is the measured one.
  std::array<double, max_joints> ref_position{};
  std::array<double, max_joints> ref_velocity{};
  std::array<double, max_joints> ref_acceleration{};
  std::array<double, max_joints> ref_effort{};
  std::array<double, max_joints> safe{};            ///< safe position
  std::array<std::uint64_t, max_joints> granted{};  ///< cycle in which the joint got its owner
  std::array<JointMode, max_joints> mode{};
  std::array<std::uint8_t, max_joints> owner{};  ///< seat, or no_owner
  std::array<JointPhase, max_joints> phase{};
  // One row for each seat: of its last good command ...
  std::array<std::int64_t, max_joint_seats> sent{};      ///< its time stamp
  std::array<std::uint32_t, max_joint_seats> session{};  ///< 0: never heard
  std::array<std::uint32_t, max_joint_seats> heartbeat{};
  // ... and what became of the seat.
  std::array<std::uint32_t, max_joint_seats> lost{};      ///< how often it lost its joints by silence
  std::array<std::uint32_t, max_joint_seats> rejected{};  ///< commands with something wrong
  std::array<Errc, max_joint_seats> error{};              ///< what was wrong with the last command, or 0
  std::array<std::uint8_t, max_joint_seats> error_joint{};
  std::array<SeatAnswer, max_joint_seats> answer{};
  std::array<std::uint8_t, max_joint_seats> refused_joint{};

  [[nodiscard]] JointReference reference(std::size_t joint) const noexcept {
    return {
        {ref_position[joint], ref_velocity[joint], ref_acceleration[joint]}, ref_effort[joint], mode[joint]};
  }
};

/// What of an image is in use with so many joints and seats: nothing else in it ever changes.
[[nodiscard]] inline std::array<Piece, 22> pieces_in_use(const JointImage& image) noexcept {
  const auto piece = [&](const auto& column, std::uint32_t rows) -> Piece {
    const auto* first = reinterpret_cast<const std::byte*>(column.data());
    return {static_cast<std::size_t>(first - reinterpret_cast<const std::byte*>(&image)),
            rows * sizeof(column[0])};
  };
  const auto of_joints = [&](const auto& column) { return piece(column, image.joints); };
  const auto of_seats = [&](const auto& column) { return piece(column, image.seats); };
  return {Piece{0, offsetof(JointImage, position)},
          of_joints(image.position),
          of_joints(image.velocity),
          of_joints(image.effort),
          of_joints(image.ref_position),
          of_joints(image.ref_velocity),
          of_joints(image.ref_acceleration),
          of_joints(image.ref_effort),
          of_joints(image.safe),
          of_joints(image.granted),
          of_joints(image.mode),
          of_joints(image.owner),
          of_joints(image.phase),
          of_seats(image.sent),
          of_seats(image.session),
          of_seats(image.heartbeat),
          of_seats(image.lost),
          of_seats(image.rejected),
          of_seats(image.error),
          of_seats(image.error_joint),
          of_seats(image.answer),
          of_seats(image.refused_joint)};
}
static_assert(std::is_trivially_copyable_v<JointImage> && std::is_standard_layout_v<JointImage> &&
              sizeof(JointImage) == 32 + max_joints * (9 * 8 + 3) + max_joint_seats * (8 + 4 * 4 + 2 + 3));

/// The memory of an image with so many seats, in one piece: for the threads of one process.
template <std::size_t seat_count>
struct JointImageMemory {
  static_assert(seat_count >= 1 && seat_count <= max_joint_seats);
  BroadcastValue<JointImage> image;
  std::array<LatestMemory<JointCommand>, seat_count> seats;
};

/// A seat and its number.
struct JointSeat {
  LatestMemory<JointCommand>* memory = nullptr;
  std::uint8_t number = 0;
};

/// In a layout (layout.hpp) a joint image is two exchanges, so that everybody may read the image but only seats are written:
///
///     const std::array wanted = {declare<BroadcastValue<JointImage>>("joints"), declare<JointSeats>("joint_seats", 1, seats)};
///
/// The hub is the producer of the image and the consumer of the seats; a motion process is the producer at one seat.
struct JointSeats {};

template <>
struct Schema<JointCommand> {
  static constexpr std::string_view text =
      "session u32, heartbeat u32, seen u64, stamp i64, wanted u64, position f64[64], velocity f64[64], "
      "acceleration f64[64], effort f64[64], mode u8[64]";
};

template <>
struct Schema<JointImage> {
  static constexpr std::string_view text =
      "cycle u64, started u64, stamp i64, joints u32, seats u32, position f64[64], velocity f64[64], effort "
      "f64[64], "
      "ref_position f64[64], ref_velocity f64[64], ref_acceleration f64[64], ref_effort f64[64], safe "
      "f64[64], granted u64[64], "
      "mode u8[64], owner u8[64], phase u8[64], sent i64[32], session u32[32], heartbeat u32[32], lost "
      "u32[32], "
      "rejected u32[32], error u16[32], error_joint u8[32], answer u8[32], refused_joint u8[32]";
};

template <>
struct ExchangeTraits<JointSeats> {
  using Element = JointCommand;
  using Producer = JointSeat;
  using Consumer = std::span<LatestMemory<JointCommand>>;
  static constexpr Kind kind = Kind::joint_image;
  static constexpr bool consumer_writes = true;

  [[nodiscard]] static constexpr Extent extent(Extent wanted) noexcept {
    return {1, std::clamp<std::uint32_t>(wanted.producers, 1, max_joint_seats), 1};
  }
  [[nodiscard]] static constexpr std::uint64_t bytes(const Extent& extent) noexcept {
    return extent.producers * sizeof(LatestMemory<JointCommand>);
  }
  [[nodiscard]] static Producer producer(std::byte* memory, const Extent& extent,
                                         std::uint32_t seat) noexcept {
    return {&consumer(memory, extent, 0)[seat], static_cast<std::uint8_t>(seat)};
  }
  [[nodiscard]] static Consumer consumer(std::byte* memory, const Extent& extent, std::uint32_t) noexcept {
    return {&detail::object_at<LatestMemory<JointCommand>>(memory), extent.producers};
  }
};

}  // namespace takt::shm
