// A request for the loop as bytes. The motion server writes it, and the loop's process reads it. Every number
// arrives unchanged to the bit. A trajectory may be long, so the writer splits a request into records of
// bounded length. The RequestReader joins them, at a cost per record that grows with the record's length
// only.
//
// The reader runs beside the loop and trusts nothing. It repeats each check that the planner made:
//
// * joints, sizes, numbers and times are valid;
// * limits are no looser than the robot's;
// * a trajectory has no jumps, keeps those limits between its waypoints too, and ends at rest;
// * setpoints lie within the limits.
//
// A malicious writer can therefore request any motion that the robot allows, and no other.
//
// A record is little-endian; an f64 is its 64 bits. One request holds n joints, in the order of their
// numbers:
//
//   request   u8 1, u64 number, u8 kind, u64 goal, u64 joints, u8 flags, i64 start, u8 synchronisation,
//
//             u32 first_waypoint, f64 may_gain, f64 goal_time, u8 category, f64 speed, u16 reason,
//             i64 received, i64 handed_over,
//
//             if the flags say so: limits (6n f64), path and goal tolerances (3n f64 each);
//
//             setpoint: i64 timeout, f64 positions[n], velocities[n];
//             trajectory: u32 segments, f64 end[3n], and
//
//   segments  f64 end_time, f64 rate, f64 coefficients[6][n]
//   more      u8 2, u64 number, segments
//
//   mark      u8 3, text
//   refusal   u8 4, u16 reason, u8 joint, f64 time, f64 value, f64 limit
//
// Marks and refusals are for a recording, not for the loop.
//
// Not real-time safe: it allocates. Use each object from one thread at a time.
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

/// Whether a time of the other process is within 146 years of its clock's epoch. Differences to local times
/// then cannot overflow.
[[nodiscard]] bool is_moderate(Time time) noexcept;

/// The longest record, in bytes. The beginning of a request for max_joints joints, with one segment, fits.
inline constexpr std::size_t max_request_record = std::size_t{16} << 10;

/// The most segments of a planned trajectory: its waypoints, a lead before the first and a stop after the
/// last.
inline constexpr std::size_t default_max_segments = default_max_waypoints + 32 * max_joints;

/// The highest goal number of one server, which counts from 1. The bound leaves numbers for later servers.
inline constexpr GoalId max_goal = GoalId{1} << 32;

/// Whether the request has one entry per joint in every list, as the planner makes it. Only such a request
/// can be written.
[[nodiscard]] bool is_complete(const Request& request) noexcept;

/// Writes one request. It must be is_complete() and must not change meanwhile. If the derivatives of its
/// trajectory may step, the writer omits that permission and the reader refuses the trajectory.
class RequestWriter {
 public:
  /// Argument `number`: the server's own number of the request.
  RequestWriter(const Request& request, std::uint64_t number) noexcept
      : request_(&request), number_(number) {}

  /// Writes the next record into `room`, at least max_request_record bytes, and returns its length in bytes.
  /// Do not call it after done().
  [[nodiscard]] std::size_t write(std::span<std::uint8_t> room) noexcept;
  /// Whether all records were written.
  [[nodiscard]] bool done() const noexcept;
  /// The server's number of the request.
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

/// Why a request does not reach the loop, in the terms of an Event.
struct Refusal {
  Errc reason{};           ///< why it is refused
  std::uint8_t joint = 0;  ///< the joint that it concerns; 0 if none
  trajectory::Quantity quantity{};
  double time = 0;   ///< s from the trajectory's start
  double value = 0;  ///< the value found
  double limit = 0;  ///< the value allowed
};

/// The numbers of a rejection, without its text. An unknown joint becomes 0, and so does a number that is not
/// finite.
[[nodiscard]] Refusal to_refusal(const Rejection& why, const robot::RobotDescription& robot);

/// A mark that a client set in the recording.
struct Mark {
  std::string text;  ///< 1 to max_mark_text bytes of UTF-8, without control characters
};
/// The most bytes in a mark's text.
inline constexpr std::size_t max_mark_text = 128;

/// A note for the recording: a mark, or a request that the server refused itself.
using Note = std::variant<Mark, Refusal>;

/// Whether the note is one that a server can send: the mark's text is valid, the refusal's numbers are
/// finite.
[[nodiscard]] bool is_valid(const Note& note) noexcept;

/// Writes the record of a note into `room`, at least max_request_record bytes, and returns its length in
/// bytes. The note must be is_valid().
[[nodiscard]] std::size_t write_note(const Note& note, std::span<std::uint8_t> room) noexcept;

/// The result of reading a record: a complete request, a refused one, or a note.
struct TakenRequest {
  std::uint64_t number = 0;          ///< the server's number of the request
  std::unique_ptr<Request> request;  ///< null: more records of this request must follow
  std::optional<Refusal> refusal;    ///< the loop must not get the request, which may be incomplete
  std::optional<Note> note;          ///< set if the record was a note
};

/// Joins records to requests and validates them.
class RequestReader {
 public:
  /// The robot must outlive the reader. Argument `max_segments`: of one trajectory.
  explicit RequestReader(const robot::RobotDescription& robot,
                         std::size_t max_segments = default_max_segments);

  /// Sets the robot's present state. As in the planner, a joint that was seen outside its limits may stay
  /// there. Start times are compared with the time of this state.
  void see(const Snapshot& state) noexcept;

  /// Reads the next record. While one long request is incomplete, short ones may arrive and be completed;
  /// another long one replaces it.
  ///
  /// Refusals: unknown_request, unknown_joint, unknown_goal (0, or above max_goal), wrong_size, not_finite,
  /// out_of_domain, times_not_increasing, not_continuous, no_waypoints, too_many_waypoints,
  /// not_at_rest_at_end, limit_above_robot, start_too_far, position_limit, velocity_limit,
  /// acceleration_limit, jerk_limit.
  ///
  /// Error: malformed (the bytes are not a record). The reader is then unchanged.
  [[nodiscard]] Result<TakenRequest> take(std::span<const std::uint8_t> record);

 private:
  /// A request with missing segments.
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

  /// The allowed positions of a joint.
  struct Range {
    double min = 0;
    double max = 0;
  };

  const robot::RobotDescription* robot_;
  std::size_t max_segments_;
  Time now_{};
  std::vector<Range> ranges_;
  std::optional<Open> open_;
  std::uint64_t dropped_ = 0;  ///< number of the request whose further segments are skipped; 0 = none
  std::vector<double> coefficients_;
};

}  // namespace takt::motion
