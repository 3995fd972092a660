#include "app/port_recorder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "app/recorded_devices.hpp"
#include "record/recording_file.hpp"

namespace takt::app {
namespace {

/// Samples of a ring: of a 10 kHz port for five periods. Large values get fewer, so that a ring has a few
/// mebibytes.
std::uint32_t capacity_for(std::size_t value_bytes) {
  constexpr std::size_t most_bytes = std::size_t{4} << 20;
  return static_cast<std::uint32_t>(std::clamp<std::size_t>(most_bytes / (value_bytes + 16), 8, 1024));
}

}  // namespace

std::string free_path(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return path;
  return record::numbered_path(path, record::next_free_number(path, 1));
}

SetupResult<void> PortRecorder::add(const std::string& name, component::OutPortBase& port) {
  const std::string own = component::is_valid_name(name) ? name : std::to_string(ports_.size());
  auto in = component::OpaqueInPort::create(*this, own, port.schema());
  if (!in) return tl::unexpected<SetupError>(std::move(in.error()));
  // Circular: a recorder that is late loses values, and refuses none.
  auto made = component::connect(
      port, **in,
      {.buffering = component::Buffering::circular, .capacity = capacity_for((*in)->value_bytes())});
  if (!made) return tl::unexpected<SetupError>(std::move(made.error()));
  ports_.push_back({name, std::move(*in), std::move(*made)});
  return {};
}

SetupResult<void> PortRecorder::open(const std::string& path, const record::Metadata& metadata,
                                     record::Compression* compression, bool writes_itself) {
  record::RecorderOptions options;
  options.compression = compression;
  for (const Port& port : ports_)
    options.topics.push_back({"/ports/" + port.name, message_type(port.name), port.in->schema()});
  path_ = free_path(path);
  auto created = record::Recorder::create(path_, metadata, options);
  if (!created) return tl::unexpected<SetupError>(std::move(created.error()));
  recorder_ = std::move(*created);
  writes_itself_ = writes_itself;
  if (!writes_itself) static_cast<void>(recorder_->start());
  return {};
}

SetupResult<std::string> PortRecorder::finish() {
  if (!recorder_) return std::string();
  const auto totals = recorder_->finish();
  if (!totals) return fail(totals.error().error, path_ + ": " + totals.error().message);
  std::uint64_t lost = totals->dropped;
  for (const Port& port : ports_) lost += port.in->missed();
  recorder_.reset();
  return fmt::format("recorded {} values in {}, {} lost", totals->records, path_, lost);
}

Status PortRecorder::on_execute(const component::CycleTime&) noexcept {
  for (std::size_t i = 0; i < ports_.size(); ++i) {
    component::OpaqueInPort& in = *ports_[i].in;
    // A writer that is faster than this loop does not keep it.
    for (std::uint32_t left = component::max_samples; left > 0; --left) {
      if (in.read() != shm::Freshness::new_data) break;
      const auto* bytes = reinterpret_cast<const std::uint8_t*>(in.value());
      recorder_->loop().sample(i, in.stamp(), {bytes, in.value_bytes()});
    }
  }
  if (writes_itself_) static_cast<void>(recorder_->drain());
  return {};
}

}  // namespace takt::app
