// The messages of a recording: which topics it has, and how the records of a lane (record/format.hpp) become
// messages. Writer and reader share it.
//
//   /joints/measured, /joints/reference, /joints/command   sensor_msgs/msg/JointState
//   /cycle             takt/msg/Cycle, with the goal of each joint; the last message of a cycle
//   /events            takt/msg/GoalEvent
//   /buses/NAME        takt/msg/Bus
//   /loop              takt/msg/LoopTotals
//   /marks             takt/msg/Mark
//   the further topics of RecorderOptions
//
// Not real-time safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "record/cdr.hpp"
#include "record/mcap.hpp"
#include "record/mcap_writer.hpp"
#include "record/message_form.hpp"
#include "takt/record/format.hpp"
#include "takt/record/metadata.hpp"
#include "takt/record/recorder.hpp"

namespace takt::record {

/// One bus at one time, as a message.
struct BusMessage {
  Time time{};
  double load = 0;
  std::uint64_t frames = 0;
  std::uint64_t refused = 0;
  TAKT_FIELDS(BusMessage, time, load, frames, refused)
};

/// The ids of a recording's channels.
namespace channels {
inline constexpr std::uint16_t measured = 1;
inline constexpr std::uint16_t reference = 2;
inline constexpr std::uint16_t command = 3;
inline constexpr std::uint16_t cycle = 4;
inline constexpr std::uint16_t event = 5;
inline constexpr std::uint16_t loop = 6;
inline constexpr std::uint16_t mark = 7;
inline constexpr std::uint16_t first_bus = 8;  ///< then the other buses, then the further topics
}  // namespace channels

/// The names of the metadata records.
inline constexpr const char* recording_metadata = "takt";
inline constexpr const char* totals_metadata = "takt_totals";
inline constexpr const char* continues_metadata = "takt_continues";  ///< instead of the totals
/// The entry of a channel's metadata with the schema of its values (shm/schema.hpp).
inline constexpr const char* channel_schema = "takt_schema";

/// The forms of the fixed messages.
struct MessageForms {
  MessageForm cycle = MessageForm::of<Cycle>();
  MessageForm event = MessageForm::of<GoalEvent>();
  MessageForm bus = MessageForm::of<BusMessage>();
  MessageForm loop = MessageForm::of<LoopTotals>();

  [[nodiscard]] std::string cycle_definition() const { return cycle.definition() + "uint64[] goals\n"; }
  [[nodiscard]] static std::string mark_definition() { return "int64 time\nstring text\n"; }
};

/// Makes messages of records.
class RecordingMessages {
 public:
  RecordingMessages(const Metadata& metadata, std::span<const Topic> topics);

  /// The schemas, channels and metadata of the file.
  [[nodiscard]] const McapDefinitions& definitions() const noexcept { return definitions_; }

  /// Adds the messages of one record, as it lies in a lane's ring.
  void add(std::span<const std::byte> record, ChunkBuilder& chunk);

  /// The cycles whose robot had another reason to stop than before, and had one.
  [[nodiscard]] std::uint64_t stops() const noexcept { return stops_; }

 private:
  struct FurtherTopic {
    MessageForm form;
    std::string frame;
    bool is_opaque;
    bool is_list;
    bool has_text;
    bool is_message;
  };

  void define(const Metadata& metadata, std::span<const Topic> topics);
  [[nodiscard]] std::uint64_t log_time(Time time) const noexcept;
  void send(std::uint16_t channel, Time time, ChunkBuilder& chunk);
  void add_cycle(RecordReader& reader, ChunkBuilder& chunk);
  void add_buses(RecordReader& reader, ChunkBuilder& chunk);
  void add_mark(RecordReader& reader, ChunkBuilder& chunk);
  void add_sample(RecordReader& reader, ChunkBuilder& chunk);

  McapDefinitions definitions_;
  MessageForms forms_;
  std::vector<FurtherTopic> topics_;
  std::string robot_;
  std::vector<std::string> joints_;
  std::size_t buses_;
  Duration epoch_;
  CdrWriter writer_;
  // One number of each joint.
  std::vector<double> positions_;
  std::vector<double> velocities_;
  std::vector<double> references_;
  std::vector<double> reference_velocities_;
  std::vector<double> commands_;
  std::vector<double> efforts_;
  std::vector<std::uint64_t> goals_;
  std::uint16_t reason_ = 0;
  std::uint64_t stops_ = 0;
};

}  // namespace takt::record
