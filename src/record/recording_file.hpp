// The files of a recording. Each piece is written as a whole or not at all. The next file follows one that is
// full. Not real-time safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "record/mcap_writer.hpp"
#include "takt/core/setup_error.hpp"
#include "takt/core/time.hpp"

namespace takt::record {

/// When the next file begins; 0: never.
struct Rotation {
  std::uint64_t bytes = 0;
  Duration after{};
};

/// "run.2.mcap" of "run.mcap" and 2.
[[nodiscard]] std::string numbered_path(const std::string& path, std::size_t number);
/// The least number from `number` on whose numbered_path() does not exist.
[[nodiscard]] std::size_t next_free_number(const std::string& path, std::size_t number);

/// The files of one recording.
class RecordingFile {
 public:
  /// Creates or truncates the first file; further files take the next free number. The definitions must
  /// outlive this. Errors: cannot_open, write_failed.
  [[nodiscard]] static SetupResult<std::unique_ptr<RecordingFile>> create(std::string path,
                                                                          const McapDefinitions& definitions,
                                                                          Rotation rotation);

  /// Returns false if the chunk did not fit: then it is not in the file, as if it had not been.
  [[nodiscard]] bool write(const PackedChunk& chunk);
  /// Completes and closes the file, with this metadata at its end.
  void finish(const McapMetadata& last);

  /// The first error, with the file's name.
  [[nodiscard]] const std::optional<std::string>& failure() const noexcept { return failure_; }

 private:
  struct CloseFile {
    void operator()(std::FILE* file) const noexcept { std::fclose(file); }
  };
  using File = std::unique_ptr<std::FILE, CloseFile>;

  RecordingFile(std::string path, const McapDefinitions& definitions, Rotation rotation)
      : first_path_(path), path_(std::move(path)), definitions_(&definitions), rotation_(rotation) {}

  [[nodiscard]] bool begin_file(const char* mode);
  [[nodiscard]] bool is_full(const PackedChunk& chunk) const;
  [[nodiscard]] bool begin_next_file();
  [[nodiscard]] bool write_whole(std::span<const std::uint8_t> bytes);
  void fail_with(int os_error);

  std::string first_path_;
  std::string path_;
  const McapDefinitions* definitions_;
  Rotation rotation_;
  std::size_t number_ = 0;
  File file_;
  std::optional<McapFile> mcap_;
  std::uint64_t size_ = 0;  ///< bytes in the file
  std::optional<std::string> failure_;
};

}  // namespace takt::record
