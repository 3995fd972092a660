#include "tools/vehicle_recording.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <system_error>
#include <variant>

#include "record/cdr.hpp"
#include "takt/app/error.hpp"
#include "takt/platform/steady_clock.hpp"
#include "takt/record/error.hpp"
#include "takt/shm/schema.hpp"
#include "takt/version.hpp"
#include "tools/open_recording.hpp"

namespace takt::tools {
namespace {

constexpr const char* received_topic = "/vehicle/received";
/// Their indices in RecorderOptions::topics.
enum TopicIndex : std::size_t { received_index, odometry_index, status_index, command_index };

template <class T>
record::Topic topic_of(const char* name, const char* type) {
  return {.topic = name, .type = type, .schema = shm::schema_text<T>()};
}

template <class T>
std::span<const std::uint8_t> bytes_of(const T& value) noexcept {
  return {reinterpret_cast<const std::uint8_t*>(&value), sizeof(value)};
}

Duration epoch() {
  const auto unix_time = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<Duration>(unix_time) - platform::SteadyClock().now().time_since_epoch();
}

/// So that damage is named before the drive.
SetupResult<void> read_whole(const std::string& path) {
  auto reader = open_recording(path);
  if (!reader) return tl::unexpected<SetupError>(std::move(reader.error()));
  for (;;) {
    const auto found = reader->next();
    if (!found) return tl::unexpected<SetupError>(found.error());
    if (*found == nullptr) return {};
  }
}

}  // namespace

SetupResult<VehicleRecording> VehicleRecording::open(const std::string& path,
                                                     const robot::VehicleDescription& description) {
  // It may be the one that is played.
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored))
    return fail(record::Errc::cannot_open,
                path + ": the file exists already: move it, or choose another name");
  record::Metadata metadata;
  metadata.robot = description.name;
  metadata.period = description.drive.client.telemetry.period;
  metadata.takt_version = TAKT_VERSION;
  metadata.epoch = epoch();
  record::RecorderOptions options;
  options.compression = recording_compression();
  options.topics = {{.topic = received_topic, .type = "takt/msg/Bytes"},
                    topic_of<vehicle::OdometryEstimate>("/vehicle/odometry", "takt/msg/OdometryEstimate"),
                    topic_of<VehicleStatus>("/vehicle/status", "takt/msg/VehicleStatus"),
                    topic_of<VehicleCommand>("/vehicle/command", "takt/msg/VehicleCommand")};
  auto recorder = record::Recorder::create(path, metadata, options);
  if (!recorder) return tl::unexpected<SetupError>(std::move(recorder.error()));
  static_cast<void>((*recorder)->start());
  return VehicleRecording(path, std::move(*recorder));
}

void VehicleRecording::received(std::span<const std::uint8_t> payload, Time now) noexcept {
  recorder_->loop().sample(received_index, now, payload);
}

void VehicleRecording::write(const vehicle::OdometryEstimate& estimate, Time now) noexcept {
  recorder_->loop().sample(odometry_index, now, bytes_of(estimate));
}

void VehicleRecording::write(const DriveView& view) noexcept {
  const VehicleCommand command{view.commanded, view.command.steering, view.command.throttle,
                               view.command.brake};
  recorder_->loop().sample(status_index, view.time, bytes_of(status_of(view)));
  recorder_->loop().sample(command_index, view.time, bytes_of(command));
}

SetupResult<std::string> VehicleRecording::finish() {
  const auto totals = recorder_->finish();
  if (!totals) return tl::unexpected<SetupError>(totals.error());
  if (totals->dropped > 0) {
    return fail(record::Errc::write_failed,
                fmt::format("{} lacks {} of {} values: the disk was too slow or full", path_, totals->dropped,
                            totals->records + totals->dropped));
  }
  return fmt::format("recorded {} values in {}, 0 lost", totals->records, path_);
}

SetupResult<RecordedVehicle> RecordedVehicle::open(const std::string& path, Time start) {
  if (auto whole = read_whole(path); !whole) return tl::unexpected<SetupError>(std::move(whole.error()));
  auto reader = open_recording(path);
  if (!reader) return tl::unexpected<SetupError>(std::move(reader.error()));
  RecordedVehicle vehicle(std::move(*reader));
  vehicle.start_ = start;
  if (auto read = vehicle.read_next(); !read) return tl::unexpected<SetupError>(std::move(read.error()));
  if (vehicle.payload_.empty())
    return fail(record::Errc::bad_message,
                fmt::format("{}: there is no topic {}, or it has no messages: takt drive --record makes one",
                            path, received_topic));
  return vehicle;
}

SetupResult<void> RecordedVehicle::read_next() {
  payload_.clear();
  for (;;) {
    const auto found = reader_.next();
    if (!found) return tl::unexpected<SetupError>(found.error());
    if (*found == nullptr) return {};
    const auto* sample = std::get_if<record::SampleRecord>(*found);
    if (sample == nullptr || sample->topic != received_topic) continue;
    record::CdrReader message(sample->message);
    const auto bytes = message.array(message.length(1), 1);
    if (!message.ok() || bytes.empty()) continue;
    if (!ahead_) ahead_ = start_ - sample->time;
    due_ = sample->time + *ahead_;
    payload_.assign(bytes.begin(), bytes.end());
    return {};
  }
}

Result<std::size_t> RecordedVehicle::poll(Time now, std::span<std::uint8_t> out) {
  if (payload_.empty() || due_ > now) return std::size_t{0};
  const std::size_t size = std::min(payload_.size(), out.size());
  std::copy_n(payload_.begin(), size, out.begin());
  static_cast<void>(read_next());
  return size;
}

}  // namespace takt::tools
