// A source of bytes for readers of recordings. Not real-time safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "takt/core/setup_error.hpp"

namespace takt::record {

/// A source of bytes.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;
  /// Fills `into` as far as possible and returns the number of bytes. It returns fewer only at the end.
  /// Errors: read_failed, with the reason.
  [[nodiscard]] virtual SetupResult<std::size_t> read(std::span<std::uint8_t> into) = 0;

 protected:
  ByteSource() = default;
};

/// Opens a file. Errors: cannot_open, with the file's name and the reason.
[[nodiscard]] SetupResult<std::unique_ptr<ByteSource>> open_file(const std::string& path);

/// Reads from memory, which must outlive the source.
[[nodiscard]] std::unique_ptr<ByteSource> read_memory(std::span<const std::uint8_t> bytes);

}  // namespace takt::record
