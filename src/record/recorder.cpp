#include "takt/record/recorder.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

namespace takt::record {

SetupResult<std::unique_ptr<Recorder>> Recorder::create(const std::string& path, const Metadata& metadata,
                                                        const RecorderOptions& options) {
  const std::string json = to_json(metadata);
  // Rejects metadata that the reader would reject.
  if (auto parsed = parse_metadata(json); !parsed)
    return tl::unexpected<SetupError>(std::move(parsed.error()));
  File file(std::fopen(path.c_str(), "wbe"));
  if (!file) return fail(Errc::cannot_open, path + ": " + std::strerror(errno));

  std::vector<std::uint8_t> header(header_size + json.size());
  ByteWriter writer(header);
  writer.bytes(magic);
  writer.little(format_version);
  writer.little(std::uint16_t{0});
  writer.little(static_cast<std::uint32_t>(json.size()));
  writer.bytes({reinterpret_cast<const std::uint8_t*>(json.data()), json.size()});
  if (std::fwrite(header.data(), 1, header.size(), file.get()) != header.size() ||
      std::fflush(file.get()) != 0) {
    return fail(Errc::write_failed, path + ": " + std::strerror(errno));
  }
  return std::unique_ptr<Recorder>(new Recorder(path, std::move(file), metadata, options));
}

Recorder::Recorder(std::string path, File file, const Metadata& metadata, const RecorderOptions& options)
    : loop_(options.loop_ring_bytes, metadata.joints.size(), metadata.buses.size()),
      server_(options.server_ring_bytes, metadata.joints.size(), metadata.buses.size()),
      path_(std::move(path)),
      file_(std::move(file)) {}

Recorder::~Recorder() { static_cast<void>(finish()); }

Status Recorder::start(Duration interval) {
  const std::lock_guard lock(mutex_);
  if (thread_.joinable() || finished_) return takt::fail(Errc::already_running);
  thread_ = std::thread([this, interval] {
    std::unique_lock own(mutex_);
    while (!stop_) {
      drain_locked();
      wake_.wait_for(own, interval, [this] { return stop_; });
    }
  });
  return {};
}

Status Recorder::drain() {
  const std::lock_guard lock(mutex_);
  drain_locked();
  if (failure_) return takt::fail(failure_->error);
  return {};
}

Status Recorder::status() const {
  const std::lock_guard lock(mutex_);
  if (failure_) return takt::fail(failure_->error);
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
  const auto totals = [&] { return EndTotals{records_, loop_.dropped() + server_.dropped()}; };
  if (!finished_) {
    finished_ = true;
    drain_locked();
    std::array<std::uint8_t, record_header_size + fields_size<EndTotals>()> record{};
    ByteWriter writer(record);
    writer.little(static_cast<std::uint32_t>(fields_size<EndTotals>()));
    writer.little(static_cast<std::uint32_t>(RecordType::end));
    write_fields(writer, totals());
    write_locked(record);
    // The last write may fail here: the system often reports a full disk only on close.
    if (std::fclose(file_.release()) != 0) fail_locked(errno);
  }
  if (failure_) return tl::unexpected<SetupError>(*failure_);
  return totals();
}

void Recorder::drain_locked() {
  drain_locked(server_);
  drain_locked(loop_);
  if (file_ && !failure_ && std::fflush(file_.get()) != 0) fail_locked(errno);
}

void Recorder::drain_locked(Lane& lane) {
  shm::ByteConsumer& ring = lane.ring_.consumer();
  while (const auto piece = ring.peek()) {
    write_locked({reinterpret_cast<const std::uint8_t*>(piece->data()), piece->size()});
    if (!failure_) ++records_;
    ring.release();
  }
}

void Recorder::write_locked(std::span<const std::uint8_t> bytes) {
  if (!file_ || failure_) return;
  if (std::fwrite(bytes.data(), 1, bytes.size(), file_.get()) != bytes.size()) fail_locked(errno);
}

void Recorder::fail_locked(int os_error) {
  if (!failure_) failure_ = SetupError{Errc::write_failed, path_ + ": " + std::strerror(os_error)};
}

}  // namespace takt::record
