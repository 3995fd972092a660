#include "record/recording_file.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "record/recording_messages.hpp"
#include "takt/record/error.hpp"

namespace takt::record {

std::string numbered_path(const std::string& path, std::size_t number) {
  const std::filesystem::path first(path);
  const std::string name = first.stem().string() + "." + std::to_string(number) + first.extension().string();
  return (first.parent_path() / name).string();
}

std::size_t next_free_number(const std::string& path, std::size_t number) {
  std::error_code ignored;
  while (std::filesystem::exists(numbered_path(path, number), ignored)) ++number;
  return number;
}

SetupResult<std::unique_ptr<RecordingFile>> RecordingFile::create(std::string path,
                                                                  const McapDefinitions& definitions,
                                                                  Rotation rotation) {
  std::unique_ptr<RecordingFile> created(new RecordingFile(std::move(path), definitions, rotation));
  if (created->begin_file("wbe")) return created;
  return fail(created->file_ ? Errc::write_failed : Errc::cannot_open, *created->failure_);
}

bool RecordingFile::begin_file(const char* mode) {
  file_.reset(std::fopen(path_.c_str(), mode));
  if (!file_) {
    fail_with(errno);
    return false;
  }
  // Without a buffer of its own: what is written comes in large pieces, and is there or not.
  std::setvbuf(file_.get(), nullptr, _IONBF, 0);
  size_ = 0;
  mcap_.emplace(*definitions_);
  return write_whole(mcap_->begin());
}

bool RecordingFile::is_full(const PackedChunk& chunk) const {
  if (!mcap_->has_chunks()) return false;
  if (rotation_.bytes != 0 && mcap_->size() + chunk.bytes.size() > rotation_.bytes) return true;
  const auto after = static_cast<std::uint64_t>(rotation_.after.count());
  return after != 0 && chunk.start >= mcap_->start() + after;
}

/// Completes the current file. If the next one cannot begin, the recording goes on in the current one.
/// Files of an earlier recording keep their content: the next free number is taken.
bool RecordingFile::begin_next_file() {
  const std::size_t number = next_free_number(first_path_, number_ + 1);
  RecordingFile next(numbered_path(first_path_, number), *definitions_, rotation_);
  if (!next.begin_file("wbxe")) {
    if (!failure_) failure_ = next.failure_;
    return false;
  }
  finish({continues_metadata, {{"file", std::filesystem::path(next.path_).filename().string()}}});
  path_ = next.path_;
  file_ = std::move(next.file_);
  size_ = next.size_;
  mcap_ = std::move(next.mcap_);
  number_ = number;
  return true;
}

bool RecordingFile::write(const PackedChunk& chunk) {
  if (is_full(chunk)) static_cast<void>(begin_next_file());
  if (!write_whole(chunk.bytes)) return false;
  mcap_->wrote(chunk);
  return true;
}

void RecordingFile::finish(const McapMetadata& last) {
  static_cast<void>(write_whole(mcap_->end(last)));
  // The system may report a full disk only here.
  if (std::fclose(file_.release()) != 0) fail_with(errno);
}

bool RecordingFile::write_whole(std::span<const std::uint8_t> bytes) {
  if (std::fwrite(bytes.data(), 1, bytes.size(), file_.get()) == bytes.size()) {
    size_ += bytes.size();
    return true;
  }
  fail_with(errno);
  // Without the part that was written, the next piece follows the one before.
  std::error_code ignored;
  std::filesystem::resize_file(path_, size_, ignored);
  std::clearerr(file_.get());
  static_cast<void>(std::fseek(file_.get(), static_cast<long>(size_), SEEK_SET));
  return false;
}

void RecordingFile::fail_with(int os_error) {
  if (!failure_) failure_ = path_ + ": " + std::strerror(os_error);
}

}  // namespace takt::record
