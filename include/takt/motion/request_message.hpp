// A request for the loop as bytes and back: how the motion server hands it to a loop in another process. Every number arrives bit by
// bit as it was. A trajectory may be long, so a request goes out as records of bounded length, which a RequestReader puts together
// one by one: no record costs it more time than its own length.
//
// The reader works where the loop runs and believes nothing. What the loop trusts a request with because the planner made it is
// checked again: joints, sizes, numbers and times; limits no looser than the robot's; a trajectory that does not jump, keeps those
// limits between its waypoints too and ends at rest; set-points within the limits. Whoever writes the records can ask for any
// motion that the robot allows, and for no other.
//
// A record, least significant byte first, f64 as its bits:
//
//   request   u8 1, u64 number, u8 kind, u64 goal, u64 joints, u8 flags, i64 start, u8 synchronisation, u32 first_waypoint,
//             f64 may_gain, f64 goal_time, u8 category, f64 speed, u16 reason, i64 received, i64 handed_over,
//             then, for n joints, in the order of their numbers
//             limits (6n f64), tolerances of the path and of the goal (3n f64 each), as far as the flags say so;
//             of a set-point i64 timeout, f64 positions[n], velocities[n]; of a trajectory u32 segments, f64 end[3n], and
//   segments  (of the request, or u8 2, u64 number, then more of them): f64 end_time, f64 rate, f64 coefficients[6][n]
//
//   mark      u8 3, then its text
//   refusal   u8 4, u16 reason, u8 joint, f64 time, f64 value, f64 limit
//
// The last two are for a recording and not for the loop: what else the server did.
//
// Allocates; for the side without deadlines. One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "takt/core/bytes.hpp"
#include "takt/core/error.hpp"
#include "takt/core/time.hpp"
#include "takt/motion/request.hpp"
#include "takt/motion/snapshot.hpp"
#include "takt/motion/wire.hpp"
#include "takt/robot/description.hpp"
#include "takt/trajectory/stored.hpp"

namespace takt::motion {

/// Whether a time of the other process is within 146 years of its clock's epoch: its differences from our own do not overflow.
[[nodiscard]] bool is_moderate(Time time) noexcept;

/// No record is longer: the beginning of a request for max_joints joints, with one segment, fits.
inline constexpr std::size_t max_request_record = std::size_t{16} << 10;

/// A planned trajectory may have this many segments: those of its waypoints, and what leads to the first and stops after the last.
inline constexpr std::size_t default_max_segments = default_max_waypoints + 32 * max_joints;

/// A server counts its goals from 1, and not beyond this: the numbers of those that come after it must not run out.
inline constexpr GoalId max_goal = GoalId{1} << 32;

/// Whether a request has one of each for each joint, as a planner makes it: only then it can be written.
[[nodiscard]] bool is_complete(const Request& request) noexcept;

/// Writes one request that is_complete(), and must not change meanwhile. A trajectory whose derivatives may step is written as one that does not
/// say so, and refused by the reader.
class RequestWriter {
 public:
  RequestWriter(const Request& request, std::uint64_t number) noexcept
      : request_(&request), number_(number) {}

  /// The next record into `room`, at least max_request_record bytes; how long it is. Not after done().
  [[nodiscard]] std::size_t write(std::span<std::uint8_t> room) noexcept;
  [[nodiscard]] bool done() const noexcept;
  [[nodiscard]] std::uint64_t number() const noexcept { return number_; }

 private:
  void write_request(ByteWriter& writer) noexcept;
  void write_segments(ByteWriter& writer) noexcept;
  [[nodiscard]] bool has_trajectory() const noexcept { return request_->kind == RequestKind::trajectory; }

  const Request* request_;
  std::uint64_t number_;
  bool begun_ = false;
  std::size_t next_segment_ = 0;
};

/// Why a request does not reach the loop, as an Event says it.
struct Refusal {
  Errc reason{};
  std::uint8_t joint = 0;
  trajectory::Quantity quantity{};
  double time = 0;   ///< s from the trajectory's start
  double value = 0;  ///< what was found
  double limit = 0;  ///< what is allowed
};

/// What the server tells a client, without the words. A joint that the robot does not have is 0, as is a number that is not finite.
[[nodiscard]] Refusal to_refusal(const Rejection& why, const robot::RobotDescription& robot);

/// A mark of a client.
struct Mark {
  std::string text;  ///< 1 to max_mark_text bytes of UTF-8 without control characters, as a MarkMessage's
};
inline constexpr std::size_t max_mark_text = 128;

/// What a recording is told: a mark, or that the server refused a request itself.
using Note = std::variant<Mark, Refusal>;

/// Whether it is one that a server has: a mark's text is as said, a refusal's numbers are finite.
[[nodiscard]] bool is_valid(const Note& note) noexcept;

/// The record of a note that is_valid() into `room`, at least max_request_record bytes; how long it is.
[[nodiscard]] std::size_t write_note(const Note& note, std::span<std::uint8_t> room) noexcept;

/// A request that is complete, or refused; or a note.
struct TakenRequest {
  std::uint64_t number = 0;
  std::unique_ptr<Request> request;  ///< null: the record was taken in, and more of its request is to come
  std::optional<Refusal> refusal;    ///< the request is not for the loop, and may be incomplete
  std::optional<Note> note;          ///< instead of a request
};

class RequestReader {
 public:
  /// The robot must outlive the reader.
  explicit RequestReader(const robot::RobotDescription& robot,
                         std::size_t max_segments = default_max_segments);

  /// Where the robot is now. A joint that was seen outside its limits may be asked to stay there, as the planner allows; and starts
  /// are measured from here.
  void see(const Snapshot& state) noexcept;

  /// Takes in the next record. One long request may be under way while short ones are completed; another long one takes its place.
  /// Refusals: unknown_request, unknown_joint, unknown_goal (0, or beyond max_goal), wrong_size, not_finite, out_of_domain, times_not_increasing,
  /// not_continuous, no_waypoints, too_many_waypoints, not_at_rest_at_end, limit_above_robot, start_too_far, position_limit,
  /// velocity_limit, acceleration_limit, jerk_limit. Error: malformed, the bytes are no record; the reader is as it was.
  [[nodiscard]] Result<TakenRequest> take(std::span<const std::uint8_t> record);

 private:
  /// A request whose segments are still coming.
  struct Open {
    std::uint64_t number = 0;
    std::unique_ptr<Request> request;
    std::size_t segments = 0;
    std::vector<MotionState> end;
    trajectory::StoredTrajectory trajectory;
  };

  [[nodiscard]] Result<TakenRequest> take_request(ByteReader& reader);
  [[nodiscard]] Result<TakenRequest> take_segments(ByteReader& reader);
  [[nodiscard]] static Result<TakenRequest> take_mark(ByteReader& reader);
  [[nodiscard]] Result<TakenRequest> take_refusal(ByteReader& reader) const;
  [[nodiscard]] Result<TakenRequest> take_trajectory(ByteReader& reader, TakenRequest taken);
  [[nodiscard]] std::optional<Refusal> append_segments(ByteReader& reader, Open& open);
  [[nodiscard]] std::optional<Refusal> check_segments(const Open& open, std::size_t first) const;
  [[nodiscard]] std::optional<Refusal> check(const Request& request) const;
  [[nodiscard]] std::optional<Refusal> check_limits(const Request& request) const;
  [[nodiscard]] std::optional<Refusal> check_setpoint(const Request& request) const;
  [[nodiscard]] std::optional<Refusal> check_trajectory(const Request& request) const;
  [[nodiscard]] TakenRequest complete(Open& open);

  /// Where a joint may be asked to be.
  struct Range {
    double min = 0;
    double max = 0;
  };

  const robot::RobotDescription* robot_;
  std::size_t max_segments_;
  Time now_{};
  std::vector<Range> ranges_;
  std::optional<Open> open_;
  std::uint64_t dropped_ = 0;  ///< number of the request whose further segments are of no interest; 0 = none
  std::vector<double> coefficients_;
};

}  // namespace takt::motion
