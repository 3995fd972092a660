#include "takt/record/reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

namespace takt::record {
namespace {

class FileSource final : public Reader::Source {
 public:
  FileSource(std::string path, std::FILE* file) : path_(std::move(path)), file_(file) {}
  ~FileSource() override { std::fclose(file_); }

  SetupResult<std::size_t> read(std::span<std::uint8_t> into) override {
    const std::size_t count = std::fread(into.data(), 1, into.size(), file_);
    if (count < into.size() && std::ferror(file_) != 0) {
      return fail(Errc::read_failed, path_ + ": " + std::strerror(errno));
    }
    return count;
  }

 private:
  std::string path_;
  std::FILE* file_;
};

class MemorySource final : public Reader::Source {
 public:
  explicit MemorySource(std::span<const std::uint8_t> bytes) : rest_(bytes) {}

  SetupResult<std::size_t> read(std::span<std::uint8_t> into) override {
    const std::size_t count = std::min(into.size(), rest_.size());
    std::copy_n(rest_.begin(), count, into.begin());
    rest_ = rest_.subspan(count);
    return count;
  }

 private:
  std::span<const std::uint8_t> rest_;
};

}  // namespace

SetupResult<Reader> Reader::open(const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "rbe");
  if (file == nullptr) return fail(Errc::cannot_open, path + ": " + std::strerror(errno));
  return create(std::make_unique<FileSource>(path, file), path + ": ");
}

SetupResult<Reader> Reader::from_bytes(std::span<const std::uint8_t> bytes) {
  return from_source(std::make_unique<MemorySource>(bytes));
}

SetupResult<Reader> Reader::from_source(std::unique_ptr<Source> source) {
  return create(std::move(source), "");
}

SetupResult<Reader> Reader::create(std::unique_ptr<Source> source, std::string name) {
  Reader reader(std::move(source), std::move(name));
  if (auto header = reader.read_header(); !header)
    return tl::unexpected<SetupError>(std::move(header.error()));
  return reader;
}

tl::unexpected<SetupError> Reader::damage(Errc code, std::string_view detail) const {
  return fail(code, fmt::format("{}byte {}: {}{}{}", name_, position_, describe(code),
                                detail.empty() ? "" : ": ", detail));
}

/// Reads the next `size` bytes into the buffer. Returns false if the source ends before. Memory grows with
/// the received bytes, not with `size`.
SetupResult<bool> Reader::fill(std::size_t size) {
  constexpr std::size_t step = max_record_size;
  buffer_.clear();
  while (buffer_.size() < size) {
    const std::size_t have = buffer_.size();
    buffer_.resize(std::min(size, have + step));
    const auto got = source_->read(std::span(buffer_).subspan(have));
    if (!got) return tl::unexpected<SetupError>(got.error());
    if (*got < buffer_.size() - have) {
      buffer_.resize(have + *got);
      return false;
    }
  }
  return true;
}

SetupResult<void> Reader::read_header() {
  auto whole = fill(header_size);
  if (!whole) return tl::unexpected<SetupError>(std::move(whole.error()));
  ByteReader header(buffer_);
  const auto found = header.bytes(magic.size());
  if (!*whole || !std::equal(found.begin(), found.end(), magic.begin(), magic.end())) {
    return damage(Errc::not_a_recording);
  }
  const auto version = header.little<std::uint16_t>();
  header.skip(2);
  const auto size = header.little<std::uint32_t>();
  position_ = magic.size();
  if (version != format_version) {
    return damage(Errc::unsupported_version,
                  fmt::format("version {}; this program reads version {}", version, format_version));
  }
  if (size > max_metadata_size) return damage(Errc::metadata_too_long, fmt::format("{} bytes", size));
  position_ = header_size;
  whole = fill(size);
  if (!whole) return tl::unexpected<SetupError>(std::move(whole.error()));
  if (!*whole) return damage(Errc::bad_metadata, "the file ends within the metadata");
  auto metadata = parse_metadata({reinterpret_cast<const char*>(buffer_.data()), buffer_.size()});
  if (!metadata) return damage(Errc::bad_metadata, metadata.error().message);
  metadata_ = std::move(*metadata);
  joints_.resize(metadata_.joints.size());
  buses_.resize(metadata_.buses.size());
  position_ += size;
  return {};
}

SetupResult<const Record*> Reader::next() {
  if (failure_) return tl::unexpected<SetupError>(*failure_);
  while (!at_end_) {
    const auto known = next_into_record();
    if (!known) {
      failure_ = known.error();
      return tl::unexpected<SetupError>(*failure_);
    }
    if (*known) return &record_;
  }
  return nullptr;
}

/// Reads one record. Returns false if its type is unknown or the file ended.
SetupResult<bool> Reader::next_into_record() {
  auto whole = fill(record_header_size);
  if (!whole) return tl::unexpected<SetupError>(std::move(whole.error()));
  if (end_) {
    if (!buffer_.empty()) return damage(Errc::data_after_end);
    at_end_ = true;
    return false;
  }
  if (!*whole) {
    at_end_ = true;
    return false;
  }
  ByteReader header(buffer_);
  const auto size = header.little<std::uint32_t>();
  const auto type = static_cast<RecordType>(header.little<std::uint32_t>());
  if (size > max_record_size) return damage(Errc::record_too_long, fmt::format("{} bytes", size));
  whole = fill(size);
  if (!whole) return tl::unexpected<SetupError>(std::move(whole.error()));
  if (!*whole) {
    at_end_ = true;
    return false;
  }
  auto known = decode(type, buffer_);
  if (!known) return known;
  if (type != RecordType::end) ++records_;
  position_ += record_header_size + size;
  return known;
}

SetupResult<bool> Reader::decode(RecordType type, std::span<const std::uint8_t> payload) {
  ByteReader reader(payload);
  bool times_ok = true;
  switch (type) {
    case RecordType::cycle: {
      const auto cycle = read_fields<Cycle>(reader, times_ok);
      for (JointSample& joint : joints_) {
        joint = {};
        read_fields<0, JointSample::first_edition>(reader, joint, times_ok);
      }
      if (reader.remaining() >= joints_.size() * joint_sample_added_size) {  // false for an older edition
        for (JointSample& joint : joints_) read_fields<JointSample::first_edition>(reader, joint, times_ok);
      }
      if (reader.ok() && times_ok) {
        if (last_cycle_ && cycle.time <= *last_cycle_) return damage(Errc::time_not_rising);
        last_cycle_ = cycle.time;
      }
      record_ = CycleRecord{cycle, joints_};
      break;
    }
    case RecordType::event:
      record_ = read_fields<GoalEvent>(reader, times_ok);
      break;
    case RecordType::buses: {
      const auto header = read_fields<BusHeader>(reader, times_ok);
      for (BusSample& bus : buses_) bus = read_fields<BusSample>(reader, times_ok);
      record_ = BusRecord{header.time, buses_};
      break;
    }
    case RecordType::loop:
      record_ = read_fields<LoopTotals>(reader, times_ok);
      break;
    case RecordType::mark: {
      const auto header = read_fields<MarkHeader>(reader, times_ok);
      const auto text = reader.bytes(std::min(reader.remaining(), max_mark_size));
      record_ = MarkRecord{header.time, {reinterpret_cast<const char*>(text.data()), text.size()}};
      break;
    }
    case RecordType::end: {
      const auto totals = read_fields<EndTotals>(reader, times_ok);
      if (reader.ok() && totals.records != records_) {
        return damage(Errc::totals_mismatch,
                      fmt::format("{} in the end record, {} read", totals.records, records_));
      }
      if (reader.ok()) end_ = totals;
      record_ = totals;
      break;
    }
    default:
      return false;
  }
  if (!reader.ok()) return damage(Errc::record_too_short, fmt::format("{} bytes", payload.size()));
  if (!times_ok) return damage(Errc::time_out_of_range);
  return true;
}

}  // namespace takt::record
