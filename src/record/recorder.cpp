#include "takt/record/recorder.hpp"

#include <algorithm>
#include <chrono>
#include <deque>
#include <set>
#include <utility>

#include "record/mcap_writer.hpp"
#include "record/recording_file.hpp"
#include "record/recording_messages.hpp"
#include "record/ros2_names.hpp"

namespace takt::record {
namespace {

constexpr std::size_t chunk_bytes = std::size_t{1} << 20;
constexpr std::uint64_t chunk_time = 1'000'000'000;  // ns

tl::unexpected<SetupError> bad_topic(const std::string& topic) {
  return fail(Errc::bad_topic, "topic \"" + topic + "\": " + std::string(describe(Errc::bad_topic)));
}

SetupResult<void> check_topics(std::span<const Topic> topics) {
  for (const Topic& topic : topics) {
    const bool is_valid = !topic.type.empty() && !topic.topic.empty() &&
                          (topic.schema.empty() || shm::parse_schema(topic.schema).has_value()) &&
                          (!topic.has_text || (!topic.schema.empty() && !topic.is_list)) &&
                          (topic.definition.empty() || (topic.schema.empty() && !topic.is_list));
    if (!is_valid || topics.size() > max_topics) return bad_topic(topic.topic);
  }
  return {};
}

/// No two channels have one topic; takt's own are among them.
SetupResult<void> check_names(const McapDefinitions& definitions) {
  std::set<std::string_view> names;
  for (const McapChannel& channel : definitions.channels) {
    const std::string_view topic = takt_topic(channel);
    if (!names.insert(topic).second) return bad_topic(std::string(topic));
  }
  return {};
}

}  // namespace

/// Makes messages of the records, gathers them, and writes what belongs into the file.
struct Recorder::Output {
  Output(const Metadata& metadata, const RecorderOptions& options)
      : messages(metadata, options.topics),
        chunk(options.compression),
        around_stops(static_cast<std::uint64_t>(options.around_stops.count())) {}

  void add(std::span<const std::byte> record) {
    using SteadyClock = std::chrono::steady_clock;
    if (chunk.empty()) chunk_began = SteadyClock::now();
    messages.add(record, chunk);
    ++in_chunk;
    if (messages.stops() != stops) {
      stops = messages.stops();
      keep_until = chunk.end() + around_stops;
    }
    if (chunk.size() >= chunk_bytes || chunk.end() - chunk.start() >= chunk_time) pack();
  }

  /// So that a quiet recording also reaches the disk.
  void pack_after(Duration age) {
    if (!chunk.empty() && std::chrono::steady_clock::now() - chunk_began >= age) pack();
  }

  void pack() {
    if (chunk.empty()) return;
    held.push_back({chunk.pack(), std::exchange(in_chunk, 0)});
    const std::uint64_t newest = held.back().chunk.end;
    if (around_stops == 0 || (stops != 0 && held.back().chunk.start <= keep_until)) {
      for (const Held& each : held) write(each);
      held.clear();
    }
    while (!held.empty() && held.front().chunk.end + around_stops < newest) held.pop_front();
  }

  [[nodiscard]] SetupResult<EndTotals> finish(std::uint64_t dropped) {
    pack();
    const EndTotals totals{written, dropped + lost};
    file->finish(
        {totals_metadata,
         {{"records", std::to_string(totals.records)}, {"dropped", std::to_string(totals.dropped)}}});
    if (!file->failure()) return totals;
    return fail(Errc::write_failed, *file->failure() + "; " + std::to_string(lost) + " records are lost, " +
                                        std::to_string(written) + " are in the file");
  }

  struct Held {
    PackedChunk chunk;
    std::uint64_t records = 0;
  };
  void write(const Held& each) { (file->write(each.chunk) ? written : lost) += each.records; }

  RecordingMessages messages;
  std::unique_ptr<RecordingFile> file;
  ChunkBuilder chunk;
  std::chrono::steady_clock::time_point chunk_began{};
  std::uint64_t in_chunk = 0;  ///< records
  std::deque<Held> held;       ///< waits for a stop
  std::uint64_t around_stops;  ///< ns
  std::uint64_t stops = 0;
  std::uint64_t keep_until = 0;  ///< log time
  std::uint64_t written = 0;     ///< records
  std::uint64_t lost = 0;        ///< records
  std::optional<SetupResult<EndTotals>> result;
};

SetupResult<std::unique_ptr<Recorder>> Recorder::create(const std::string& path, const Metadata& metadata,
                                                        const RecorderOptions& options) {
  // Rejects metadata that the reader would reject.
  if (auto parsed = parse_metadata(to_json(metadata)); !parsed)
    return tl::unexpected<SetupError>(std::move(parsed.error()));
  if (auto checked = check_topics(options.topics); !checked)
    return tl::unexpected<SetupError>(std::move(checked.error()));
  auto output = std::make_unique<Output>(metadata, options);
  if (auto checked = check_names(output->messages.definitions()); !checked)
    return tl::unexpected<SetupError>(std::move(checked.error()));
  auto file = RecordingFile::create(path, output->messages.definitions(),
                                    {options.rotate_bytes, options.rotate_after});
  if (!file) return tl::unexpected<SetupError>(std::move(file.error()));
  output->file = std::move(*file);
  return std::unique_ptr<Recorder>(new Recorder(std::move(output), metadata, options));
}

Recorder::Recorder(std::unique_ptr<Output> output, const Metadata& metadata, const RecorderOptions& options)
    : loop_(options.loop_ring_bytes, metadata.joints.size(), metadata.buses.size()),
      server_(options.server_ring_bytes, metadata.joints.size(), metadata.buses.size()),
      log_(options.log_ring_bytes, metadata.joints.size(), metadata.buses.size()),
      output_(std::move(output)) {}

Recorder::~Recorder() { static_cast<void>(finish()); }

Status Recorder::start(Duration interval) {
  const std::lock_guard lock(mutex_);
  if (thread_.joinable() || finished_) return takt::fail(Errc::already_running);
  thread_ = std::thread([this, interval] {
    std::unique_lock own(mutex_);
    while (!stop_) {
      drain_locked();
      output_->pack_after(Duration(chunk_time));
      wake_.wait_for(own, interval, [this] { return stop_; });
    }
  });
  return {};
}

Status Recorder::drain() {
  const std::lock_guard lock(mutex_);
  drain_locked();
  return status_locked();
}

Status Recorder::status() const {
  const std::lock_guard lock(mutex_);
  return status_locked();
}

Status Recorder::status_locked() const {
  if (output_->file->failure()) return takt::fail(Errc::write_failed);
  return {};
}

SetupResult<EndTotals> Recorder::finish() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();

  const std::lock_guard lock(mutex_);
  if (!std::exchange(finished_, true)) {
    drain_locked();
    output_->result = output_->finish(loop_.dropped() + server_.dropped() + log_.dropped());
  }
  return *output_->result;
}

void Recorder::drain_locked() {
  if (output_->result) return;
  for (Lane* lane : {&log_, &server_, &loop_}) drain_locked(*lane);
}

void Recorder::drain_locked(Lane& lane) {
  shm::ByteConsumer& ring = lane.ring_.consumer();
  while (const auto piece = ring.peek()) {
    output_->add(*piece);
    ring.release();
  }
}

}  // namespace takt::record
