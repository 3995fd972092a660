// Recordings of the C API: record::Recorder and record::Reader with plain structures.
#include "takt/record.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "boundary.hpp"
#include "compression.hpp"
#include "takt/app/loop_metadata.hpp"
#include "takt/motion/error.hpp"
#include "takt/record/reader.hpp"
#include "takt/record/recorder.hpp"
#include "takt/shm/error.hpp"
#include "takt/shm/schema.hpp"

namespace motion = takt::motion;
namespace record = takt::record;
using takt::fail;
using takt::Result;
using takt::Status;
using takt::capi::check_size;
using takt::capi::Errc;
using takt::capi::guarded;
using takt::capi::refuse;
using takt::capi::to_duration;
using takt::capi::to_status;
using takt::capi::to_time;
using takt::capi::write_struct;

struct takt_recorder {
  std::vector<std::string> schemas{};      // of the topics, which the recorder refers to
  std::vector<std::size_t> value_sizes{};  // of the topics; 0: any
  std::size_t joints = 0;
  std::optional<takt::Time> last_cycle{};
  std::unique_ptr<record::Recorder> recorder{};
};

struct takt_recording {
  record::Reader reader;
  std::vector<takt_joint_sample> joints{};  // of the last cycle
  std::string name{};                       // of the last mark or topic
};

namespace {

constexpr std::int64_t default_period_ns = 1'000'000;
constexpr std::int32_t robot_states = TAKT_ROBOT_DOWN + 1;

static_assert(offsetof(takt_joint_sample, goal) == offsetof(record::JointSample, goal) &&
              offsetof(takt_joint_sample, measured_effort) == offsetof(record::JointSample, measured_effort));

[[nodiscard]] takt_cycle_sample to_c(const record::Cycle& cycle) noexcept {
  return {cycle.time.time_since_epoch().count(), cycle.lateness.count(), cycle.busy.count(),
          cycle.robot_state, cycle.active_goals};
}

[[nodiscard]] Result<record::Metadata> read_metadata(const takt_recorder_options& options) {
  if (options.joint_count > TAKT_MAX_JOINTS) return fail(Errc::bad_argument);
  if (options.joints == nullptr && options.joint_count != 0) return fail(Errc::null_pointer);
  record::Metadata made = takt::app::loop_metadata();
  made.robot = options.robot != nullptr ? options.robot : "robot";
  made.period = to_duration(options.period_ns != 0 ? options.period_ns : default_period_ns);
  if (made.period <= takt::Duration(0)) return fail(Errc::bad_argument);
  for (std::size_t i = 0; i < options.joint_count; ++i) {
    if (options.joints[i] == nullptr) return fail(Errc::null_pointer);
    made.joints.emplace_back(options.joints[i]);
  }
  if (options.created != nullptr) made.created = options.created;
  made.epoch = to_duration(options.epoch_ns);
  return made;
}

[[nodiscard]] Status add_topics(const takt_recorder_options& options, takt_recorder& recorder,
                                std::vector<record::Topic>& topics) {
  if (options.topics == nullptr && options.topic_count != 0) return fail(Errc::null_pointer);
  if (options.topic_count > record::max_topics) return fail(Errc::bad_argument);
  recorder.schemas.reserve(options.topic_count);  // the topics refer to them
  for (const takt_topic& topic : std::span(options.topics, options.topic_count)) {
    if (topic.topic == nullptr || topic.type == nullptr) return fail(Errc::null_pointer);
    const std::string& schema = recorder.schemas.emplace_back(topic.schema != nullptr ? topic.schema : "");
    const auto fields = takt::shm::parse_schema(schema);
    recorder.value_sizes.push_back(fields ? (*fields).bytes : 0);
    topics.push_back({.topic = topic.topic, .type = topic.type, .schema = schema});
  }
  return {};
}

/// Whether the reader of the file will take this time.
[[nodiscard]] constexpr bool is_in_range(std::int64_t nanoseconds) noexcept {
  constexpr std::int64_t bound = record::time_bound.count();
  return nanoseconds >= -bound && nanoseconds <= bound;
}

/// Whether the record that `write` wrote fitted into the ring.
template <class Write>
[[nodiscard]] std::int32_t written(record::Lane& lane, Write&& write) noexcept {
  const std::uint64_t before = lane.dropped();
  write();
  return lane.dropped() == before ? TAKT_OK : to_status(takt::shm::Errc::full);
}

/// Writes a record of the file to the caller's, or tells that the caller has no use for it.
class ToC {
 public:
  ToC(takt_recording& recording, takt_record& to) noexcept : recording_(&recording), to_(&to) {}

  bool operator()(const record::CycleRecord& read) const {
    begin(TAKT_RECORD_CYCLE, read.cycle.time);
    recording_->joints.clear();
    for (const record::JointSample& joint : read.joints)
      recording_->joints.push_back(std::bit_cast<takt_joint_sample>(joint));
    to_->cycle = to_c(read.cycle);
    to_->joints = recording_->joints.data();
    to_->joint_count = recording_->joints.size();
    return true;
  }
  bool operator()(const record::GoalEvent& read) const {
    begin(TAKT_RECORD_GOAL, read.at);
    to_->goal = read.goal;
    to_->goal_state = read.state <= TAKT_GOAL_RECALLED ? read.state : -1;
    to_->goal_reason = read.reason == 0 ? TAKT_OK : to_status(static_cast<motion::Errc>(read.reason));
    return true;
  }
  bool operator()(const record::MarkRecord& read) const {
    begin(TAKT_RECORD_MARK, read.time, read.text);
    return true;
  }
  bool operator()(const record::SampleRecord& read) const {
    begin(TAKT_RECORD_VALUE, read.time, read.topic);
    to_->message = read.message.data();
    to_->message_size = read.message.size();
    return true;
  }
  bool operator()(const record::BusRecord&) const noexcept { return false; }
  bool operator()(const record::LoopTotals&) const noexcept { return false; }

 private:
  void begin(takt_record_kind kind, takt::Time time, std::string_view name = {}) const {
    recording_->name = name;
    *to_ = {};
    to_->kind = kind;
    to_->time_ns = time.time_since_epoch().count();
    to_->name = recording_->name.c_str();
  }

  takt_recording* recording_;
  takt_record* to_;
};

}  // namespace

// ---- writing ----

void takt_recorder_options_init(takt_recorder_options* options, std::size_t size) {
  takt::capi::init_struct(options, size);
}

std::int32_t takt_recorder_create(const char* path, const takt_recorder_options* options,
                                  takt_recorder** recorder, char* text, std::size_t size) {
  return guarded(text, size, [&]() -> Status {
    if (path == nullptr || recorder == nullptr) return fail(Errc::null_pointer);
    const auto chosen = takt::capi::read_optional(options);
    if (!chosen) return fail(chosen.error());
    if ((chosen->uncompressed != 0 && chosen->uncompressed != 1) || chosen->rotate_after_ns < 0)
      return fail(Errc::bad_argument);
    const auto metadata = read_metadata(*chosen);
    if (!metadata) return fail(metadata.error());
    auto made = std::make_unique<takt_recorder>();
    record::RecorderOptions writing;
    if (Status status = add_topics(*chosen, *made, writing.topics); !status) return status;
    if (chosen->uncompressed == 0) writing.compression = takt::capi::recording_compression();
    if (chosen->ring_bytes != 0) writing.loop_ring_bytes = chosen->ring_bytes;
    writing.rotate_bytes = chosen->rotate_bytes;
    writing.rotate_after = to_duration(chosen->rotate_after_ns);
    auto created = record::Recorder::create(path, *metadata, writing);
    if (!created) return refuse(created.error(), text, size);
    made->joints = chosen->joint_count;
    made->recorder = std::move(*created);
    if (Status status = made->recorder->start(); !status) return status;
    *recorder = made.release();
    return {};
  });
}

std::int32_t takt_recorder_cycle(takt_recorder* recorder, const takt_cycle_sample* cycle,
                                 const takt_joint_sample* joints, std::size_t joint_count) {
  if (recorder == nullptr || cycle == nullptr || (joints == nullptr && joint_count != 0))
    return to_status(Errc::null_pointer);
  if (joint_count != recorder->joints || cycle->state < 0 || cycle->state >= robot_states ||
      !is_in_range(cycle->time_ns) || !is_in_range(cycle->lateness_ns) || !is_in_range(cycle->busy_ns) ||
      (recorder->last_cycle && to_time(cycle->time_ns) <= *recorder->last_cycle))
    return to_status(Errc::bad_argument);
  recorder->last_cycle = to_time(cycle->time_ns);
  record::Lane& lane = recorder->recorder->loop();
  const record::Cycle made{.time = to_time(cycle->time_ns),
                           .lateness = to_duration(cycle->lateness_ns),
                           .busy = to_duration(cycle->busy_ns),
                           .robot_state = static_cast<std::uint8_t>(cycle->state),
                           .active_goals = cycle->active_goals};
  return written(lane, [&]() noexcept {
    lane.cycle(made, [&](std::size_t i) noexcept { return std::bit_cast<record::JointSample>(joints[i]); });
  });
}

std::int32_t takt_recorder_sample(takt_recorder* recorder, std::size_t topic, std::int64_t time_ns,
                                  const void* value, std::size_t size) {
  if (recorder == nullptr || (value == nullptr && size != 0)) return to_status(Errc::null_pointer);
  if (topic >= recorder->value_sizes.size() || !is_in_range(time_ns)) return to_status(Errc::bad_argument);
  const std::size_t expected = recorder->value_sizes[topic];
  constexpr std::size_t most = std::numeric_limits<std::uint32_t>::max();  // of a length in CDR
  if (size > most || (expected != 0 && size != expected)) return to_status(Errc::bad_argument);
  record::Lane& lane = recorder->recorder->loop();
  return written(lane, [&]() noexcept {
    lane.sample(topic, to_time(time_ns), {static_cast<const std::uint8_t*>(value), size});
  });
}

std::int32_t takt_recorder_mark(takt_recorder* recorder, std::int64_t time_ns, const char* name) {
  if (recorder == nullptr || name == nullptr) return to_status(Errc::null_pointer);
  if (!is_in_range(time_ns)) return to_status(Errc::bad_argument);
  const std::string_view text(name, ::strnlen(name, record::max_mark_size));
  record::Lane& lane = recorder->recorder->loop();
  return written(lane, [&]() noexcept { lane.mark(to_time(time_ns), text); });
}

std::int32_t takt_recorder_finish(takt_recorder* recorder, takt_recorder_totals* totals, char* text,
                                  std::size_t size) {
  return guarded(text, size, [&]() -> Status {
    if (recorder == nullptr) return fail(Errc::null_pointer);
    const auto ended = recorder->recorder->finish();
    if (!ended) return refuse(ended.error(), text, size);
    if (totals != nullptr) *totals = {ended->records, ended->dropped};
    return {};
  });
}

void takt_recorder_destroy(takt_recorder* recorder) { delete recorder; }

// ---- reading ----

void takt_record_init(takt_record* record, std::size_t size) { takt::capi::init_struct(record, size); }

std::int32_t takt_recording_open(const char* path, takt_recording** recording, char* text, std::size_t size) {
  return guarded(text, size, [&]() -> Status {
    if (path == nullptr || recording == nullptr) return fail(Errc::null_pointer);
    auto opened = record::Reader::open_rotated({path}, takt::capi::reader_options());
    if (!opened) return refuse(opened.error(), text, size);
    *recording = std::make_unique<takt_recording>(takt_recording{std::move(*opened)}).release();
    return {};
  });
}

std::size_t takt_recording_joint_count(const takt_recording* recording) {
  return recording != nullptr ? recording->reader.metadata().joints.size() : 0;
}

const char* takt_recording_joint_name(const takt_recording* recording, std::size_t joint) {
  return joint < takt_recording_joint_count(recording) ? recording->reader.metadata().joints[joint].c_str()
                                                       : nullptr;
}

std::int32_t takt_recording_next(takt_recording* recording, takt_record* record, char* text,
                                 std::size_t size) {
  return guarded(text, size, [&]() -> Status {
    if (recording == nullptr || record == nullptr) return fail(Errc::null_pointer);
    if (Status status = check_size(record); !status) return status;
    takt_record made{};
    made.name = "";
    while (true) {
      const auto next = recording->reader.next();
      if (!next) return refuse(next.error(), text, size);
      if (*next == nullptr || std::visit(ToC(*recording, made), **next)) break;
    }
    write_struct(record, made);
    return {};
  });
}

std::int32_t takt_recording_truncated(const takt_recording* recording) {
  return recording != nullptr && recording->reader.truncated() ? 1 : 0;
}

void takt_recording_close(takt_recording* recording) { delete recording; }
