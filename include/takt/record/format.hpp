// The recording format: what the loop did, cycle by cycle, in one file that any language can read. Everything
// is little-endian and written byte by byte.
//
//   header    8 bytes   89 54 41 4b 54 0d 0a 1a ("\x89TAKT\r\n\x1a"), by which text-mode copies are noticed
//             u16       version; a file of another version cannot be read
//             u16       0
//             u32       size of the metadata
//             ...       metadata: JSON (record/metadata.hpp), with the names and types of all fields below
//   records   u32       size of the payload, at most max_record_size
//             u32       type (RecordType)
//             ...       payload: the fields of the structs below in the order of their fields() functions
//
// A reader skips records of unknown type and ignores what follows the fields that it knows, so that later
// editions may add both without a new version. The last record is `end`; a file without it was cut off. Times
// are nanoseconds of the robot's clock, angles radians. Two lanes feed a file (record/recorder.hpp): records
// of one lane are in order, the lanes interleave.
//
// Each struct has one function, fields(), that names its fields; writer, reader and the layout in the
// metadata all use it. Encoding is real-time safe.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "takt/core/bytes.hpp"
#include "takt/core/time.hpp"

namespace takt::record {

inline constexpr std::array<std::uint8_t, 8> magic{0x89, 'T', 'A', 'K', 'T', '\r', '\n', 0x1a};
inline constexpr std::uint16_t format_version = 1;
inline constexpr std::size_t header_size = magic.size() + 8;
inline constexpr std::size_t record_header_size = 8;
inline constexpr std::size_t max_metadata_size = std::size_t{1} << 20;
inline constexpr std::size_t max_record_size = std::size_t{1} << 16;
inline constexpr std::size_t max_mark_size = 1024;  ///< bytes of a mark's text; the rest is cut off

/// Times and durations beyond this (about 36 years) are refused by the reader, so that sums of a few cannot
/// overflow.
inline constexpr Duration time_bound{std::int64_t{1} << 60};

enum class RecordType : std::uint32_t {
  cycle =
      1,  ///< Cycle, then one JointSample for each joint of the metadata, then one JointSample::Added for each
  event = 2,  ///< GoalEvent
  buses = 3,  ///< BusHeader, then one BusSample for each bus of the metadata
  loop = 4,   ///< LoopTotals: cumulative, the last one counts
  mark = 5,   ///< MarkHeader, then the text in UTF-8
  end = 6,    ///< EndTotals
};

/// One period of the loop.
struct Cycle {
  Time time{};                    ///< nominal time of the cycle
  Duration lateness{};            ///< woken minus due
  Duration busy{};                ///< of the cycle before: from wake-up to the end of its work
  std::uint8_t robot_state = 0;   ///< Metadata::robot_states
  std::uint8_t reason_joint = 0;  ///< the joint that the reason is about, where it is about one
  std::uint16_t reason = 0;       ///< Metadata::reasons: why the robot stops or is stopped, 0 = no fault
  std::uint32_t active_goals = 0;

  template <class Self, class Visitor>
  static constexpr void fields(Self& self, Visitor&& field) {
    field("time", self.time);
    field("lateness", self.lateness);
    field("busy", self.busy);
    field("robot_state", self.robot_state);
    field("reason_joint", self.reason_joint);
    field("reason", self.reason);
    field("active_goals", self.active_goals);
  }
  friend constexpr bool operator==(const Cycle&, const Cycle&) = default;
};

/// One joint in one period.
struct JointSample {
  double command = 0;             ///< rad: what the goal asks for, before any limiter
  double reference_position = 0;  ///< rad: what was sent to the drive
  double reference_velocity = 0;  ///< rad/s
  double measured_position = 0;   ///< rad
  double measured_velocity = 0;   ///< rad/s
  std::uint64_t goal = 0;         ///< the goal that owns the joint, 0 = none
  double measured_effort = 0;     ///< N m or N, of drives that tell it; else 0

  template <class Self, class Visitor>
  static constexpr void fields(Self& self, Visitor&& field) {
    field("command", self.command);
    field("reference_position", self.reference_position);
    field("reference_velocity", self.reference_velocity);
    field("measured_position", self.measured_position);
    field("measured_velocity", self.measured_velocity);
    field("goal", self.goal);
  }
  /// The fields of a later edition stand behind the others of all joints, where an earlier reader ignores them.
  struct Added;
  friend constexpr bool operator==(const JointSample&, const JointSample&) = default;
};

/// What JointSample has beyond its fields().
struct JointSample::Added {
  double measured_effort = 0;

  template <class Self, class Visitor>
  static constexpr void fields(Self& self, Visitor&& field) {
    field("measured_effort", self.measured_effort);
  }
};

/// A goal changed its state, or a request was answered.
struct GoalEvent {
  Time at{};  ///< when it happened: the cycle's nominal time, or the server's clock
  std::uint64_t goal = 0;
  std::uint8_t state = 0;    ///< Metadata::goal_states
  std::uint8_t joint = 0;    ///< which joint the reason is about, where it is about one
  std::uint16_t reason = 0;  ///< Metadata::reasons; 0 = none
  double time = 0;           ///< s from the goal's start, where the reason has a time
  double value = 0;          ///< what was found, where the reason has a value
  double limit = 0;          ///< what is allowed
  Time received{};           ///< when the request's last byte arrived; 0 = not known
  Time handed_over{};        ///< when the request entered the loop's ring; 0 = not known
  Time first_reference{};    ///< when the first reference had been written to the bus; 0 = none yet

  template <class Self, class Visitor>
  static constexpr void fields(Self& self, Visitor&& field) {
    field("at", self.at);
    field("goal", self.goal);
    field("state", self.state);
    field("joint", self.joint);
    field("reason", self.reason);
    field("time", self.time);
    field("value", self.value);
    field("limit", self.limit);
    field("received", self.received);
    field("handed_over", self.handed_over);
    field("first_reference", self.first_reference);
  }
  friend constexpr bool operator==(const GoalEvent&, const GoalEvent&) = default;
};

struct BusHeader {
  Time time{};

  template <class Self, class Visitor>
  static constexpr void fields(Self& self, Visitor&& field) {
    field("time", self.time);
  }
  friend constexpr bool operator==(const BusHeader&, const BusHeader&) = default;
};

/// One bus since the bus record before.
struct BusSample {
  double load = 0;            ///< part of the time that the bus was busy since the record before, 0 to 1
  std::uint64_t frames = 0;   ///< carried since the start of the loop
  std::uint64_t refused = 0;  ///< not sent for want of room since the start of the loop

  template <class Self, class Visitor>
  static constexpr void fields(Self& self, Visitor&& field) {
    field("load", self.load);
    field("frames", self.frames);
    field("refused", self.refused);
  }
  friend constexpr bool operator==(const BusSample&, const BusSample&) = default;
};

/// The loop's own counts since its start. They stay right when cycles of the recording were dropped.
struct LoopTotals {
  Time time{};
  std::uint64_t cycles = 0;
  std::uint64_t overruns = 0;  ///< periods that were missed altogether

  template <class Self, class Visitor>
  static constexpr void fields(Self& self, Visitor&& field) {
    field("time", self.time);
    field("cycles", self.cycles);
    field("overruns", self.overruns);
  }
  friend constexpr bool operator==(const LoopTotals&, const LoopTotals&) = default;
};

/// Begins a section of an experiment, which lasts until the next mark. An empty text ends a section and
/// begins none.
struct MarkHeader {
  Time time{};

  template <class Self, class Visitor>
  static constexpr void fields(Self& self, Visitor&& field) {
    field("time", self.time);
  }
  friend constexpr bool operator==(const MarkHeader&, const MarkHeader&) = default;
};

/// What was recorded in all.
struct EndTotals {
  std::uint64_t records = 0;  ///< written before this one
  std::uint64_t dropped = 0;  ///< lost because a lane was full

  template <class Self, class Visitor>
  static constexpr void fields(Self& self, Visitor&& field) {
    field("records", self.records);
    field("dropped", self.dropped);
  }
  friend constexpr bool operator==(const EndTotals&, const EndTotals&) = default;
};

// ---- fields to bytes and back ----

namespace detail {

struct FieldWriter {
  ByteWriter& writer;
  template <WireNumber T>
  constexpr void operator()(std::string_view, T value) const noexcept {
    writer.little(value);
  }
  constexpr void operator()(std::string_view, Time value) const noexcept {
    writer.little(to_nanoseconds(value));
  }
  constexpr void operator()(std::string_view, Duration value) const noexcept {
    writer.little(std::int64_t{value.count()});
  }
};

struct FieldReader {
  ByteReader& reader;
  bool& times_ok;
  template <WireNumber T>
  constexpr void operator()(std::string_view, T& value) const noexcept {
    value = reader.little<T>();
  }
  constexpr void operator()(std::string_view, Time& value) const noexcept { value = Time(duration()); }
  constexpr void operator()(std::string_view, Duration& value) const noexcept { value = duration(); }

 private:
  [[nodiscard]] constexpr Duration duration() const noexcept {
    const Duration value{reader.little<std::int64_t>()};
    if (value <= time_bound && value >= -time_bound) return value;
    times_ok = false;
    return Duration{};
  }
};

struct FieldSizer {
  std::size_t& size;
  template <class T>
  constexpr void operator()(std::string_view, const T&) const noexcept {
    size += sizeof(T);
  }
};

}  // namespace detail

template <class Fields>
constexpr void write_fields(ByteWriter& writer, const Fields& fields) noexcept {
  Fields::fields(fields, detail::FieldWriter{writer});
}

/// Reads the fields; `times_ok` becomes false (and the field zero) when a time lies beyond time_bound.
template <class Fields>
[[nodiscard]] constexpr Fields read_fields(ByteReader& reader, bool& times_ok) noexcept {
  Fields fields;
  Fields::fields(fields, detail::FieldReader{reader, times_ok});
  return fields;
}

/// Bytes of the fields of one struct.
template <class Fields>
[[nodiscard]] constexpr std::size_t fields_size() noexcept {
  std::size_t size = 0;
  const Fields fields;
  Fields::fields(fields, detail::FieldSizer{size});
  return size;
}

inline constexpr std::size_t cycle_size = fields_size<Cycle>();
inline constexpr std::size_t joint_sample_size = fields_size<JointSample>();
inline constexpr std::size_t joint_sample_added_size = fields_size<JointSample::Added>();
inline constexpr std::size_t bus_sample_size = fields_size<BusSample>();
static_assert(cycle_size == 32 && joint_sample_size == 48 && bus_sample_size == 24);
static_assert(fields_size<GoalEvent>() == 68);

}  // namespace takt::record
