// The contents of a recording: the structs of its records, and how a lane's ring holds them until the
// recorder makes messages of them. A record in a ring is its type, as RecordType, then the values named
// there, as they are in memory.
//
// Times are nanoseconds of the robot's clock, angles are radians. Two lanes fill a file
// (record/recorder.hpp): the records of one lane are in order, the lanes interleave. Each struct lists its
// fields once (core/fields.hpp); the schemas of the messages come from that list. All of it is real-time
// safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

#include "takt/core/fields.hpp"
#include "takt/core/time.hpp"

namespace takt::record {

/// Constants of the format. Sizes are in bytes.
inline constexpr std::size_t max_metadata_size = std::size_t{1} << 20;
/// Bytes of a mark's text; the recorder cuts off the rest.
inline constexpr std::size_t max_mark_size = 1024;

/// The reader rejects times and durations beyond this (about 36 years), so sums of a few cannot overflow.
inline constexpr Duration time_bound{std::int64_t{1} << 60};

/// The type of a record and its payload.
enum class RecordType : std::uint64_t {
  cycle = 1,   ///< Cycle, then one JointSample per joint of the metadata
  event = 2,   ///< GoalEvent
  buses = 3,   ///< Time, then one BusSample per bus of the metadata
  loop = 4,    ///< LoopTotals: counts since the start; the last record is valid
  mark = 5,    ///< Time, then the text in UTF-8
  sample = 6,  ///< SampleHeader, then the value of a topic
};

/// One period of the loop.
struct Cycle {
  Time time{};                     ///< nominal time of the cycle
  Duration lateness{};             ///< wake-up time minus due time
  Duration busy{};                 ///< of the previous cycle: from wake-up to the end of its work
  std::uint8_t robot_state = 0;    ///< index into Metadata::robot_states
  std::uint8_t reason_joint = 0;   ///< the joint of the reason, if it has one
  std::uint16_t reason = 0;        ///< key of Metadata::reasons: why the robot stops; 0: no fault
  std::uint32_t active_goals = 0;  ///< number of goals that are running

  TAKT_FIELDS(Cycle, time, lateness, busy, robot_state, reason_joint, reason, active_goals)
  friend constexpr bool operator==(const Cycle&, const Cycle&) = default;
};

/// One joint in one period. For linear joints rad means m.
struct JointSample {
  double command = 0;             ///< rad: reference of the goal, before any limiter
  double reference_position = 0;  ///< rad: reference sent to the drive
  double reference_velocity = 0;  ///< rad/s
  double measured_position = 0;   ///< rad; NaN before the drive was heard
  double measured_velocity = 0;   ///< rad/s; NaN likewise
  std::uint64_t goal = 0;         ///< the goal that owns the joint; 0: none
  double measured_effort = 0;     ///< N m or N; NaN if the drive does not report it

  TAKT_FIELDS(JointSample, command, reference_position, reference_velocity, measured_position,
              measured_velocity, goal, measured_effort)
  friend constexpr bool operator==(const JointSample&, const JointSample&) = default;
};

/// A goal changed its state, or the server answered a request.
struct GoalEvent {
  Time at{};                 ///< nominal time of the cycle, or the server's clock
  std::uint64_t goal = 0;    ///< number of the goal
  std::uint8_t state = 0;    ///< index into Metadata::goal_states
  std::uint8_t joint = 0;    ///< the joint of the reason, if it has one
  std::uint16_t reason = 0;  ///< key of Metadata::reasons; 0: none
  double time = 0;           ///< s from the goal's start, if the reason has a time
  double value = 0;          ///< the rejected value, if the reason has one
  double limit = 0;          ///< the limit of that value
  Time received{};           ///< arrival of the request's last byte; 0: unknown
  Time handed_over{};        ///< when the request entered the loop's ring; 0: unknown
  Time first_reference{};    ///< when the first reference was written to the bus; 0: not yet

  TAKT_FIELDS(GoalEvent, at, goal, state, joint, reason, time, value, limit, received, handed_over,
              first_reference)
  friend constexpr bool operator==(const GoalEvent&, const GoalEvent&) = default;
};

/// One bus, in one bus record.
struct BusSample {
  double load = 0;            ///< busy share of the time since the previous record, 0 to 1
  std::uint64_t frames = 0;   ///< frames carried since the start of the loop
  std::uint64_t refused = 0;  ///< frames rejected for lack of room since the start of the loop

  TAKT_FIELDS(BusSample, load, frames, refused)
  friend constexpr bool operator==(const BusSample&, const BusSample&) = default;
};

/// The loop's own counts since its start. They stay correct if the recorder dropped cycles.
struct LoopTotals {
  Time time{};
  std::uint64_t cycles = 0;    ///< completed periods
  std::uint64_t overruns = 0;  ///< missed periods

  TAKT_FIELDS(LoopTotals, time, cycles, overruns)
  friend constexpr bool operator==(const LoopTotals&, const LoopTotals&) = default;
};

/// The time and the topic of a value.
struct SampleHeader {
  Time time{};
  std::size_t topic = 0;  ///< its index in RecorderOptions::topics
};

/// Counts of the whole recording.
struct EndTotals {
  std::uint64_t records = 0;  ///< records in the file, or in the files
  std::uint64_t dropped = 0;  ///< records lost because a lane or the disk was full

  friend constexpr bool operator==(const EndTotals&, const EndTotals&) = default;
};

// ---- a record in a ring ----

/// Puts values one behind the other, as they are in memory. Real-time safe.
class RecordWriter {
 public:
  /// The caller provides room for all values.
  explicit RecordWriter(std::byte* to) noexcept : at_(to) {}

  /// Puts one value.
  template <class T>
  requires std::is_trivially_copyable_v<T>
  void put(const T& value) noexcept {
    std::memcpy(at_, &value, sizeof(T));
    at_ += sizeof(T);
  }
  /// Puts bytes as they are.
  void put_bytes(std::span<const std::uint8_t> bytes) noexcept {
    if (!bytes.empty()) std::memcpy(at_, bytes.data(), bytes.size());
    at_ += bytes.size();
  }

 private:
  std::byte* at_;
};

/// Takes them back, in the same order. Real-time safe.
class RecordReader {
 public:
  explicit RecordReader(std::span<const std::byte> record) noexcept : rest_(record) {}

  /// A default value behind the end.
  template <class T>
  requires std::is_trivially_copyable_v<T>
  [[nodiscard]] T take() noexcept {
    T value{};
    if (rest_.size() < sizeof(T)) return value;
    std::memcpy(&value, rest_.data(), sizeof(T));
    rest_ = rest_.subspan(sizeof(T));
    return value;
  }
  /// All that is left.
  [[nodiscard]] std::span<const std::uint8_t> rest() const noexcept {
    return {reinterpret_cast<const std::uint8_t*>(rest_.data()), rest_.size()};
  }

 private:
  std::span<const std::byte> rest_;
};

}  // namespace takt::record
