// The compression of a recording's chunks. The library has none built in; the component takt::zstd brings one
// (record/zstd.hpp). Not real-time safe: the recorder's thread compresses.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace takt::record {

/// One compression. One thread at a time may use it.
class Compression {
 public:
  virtual ~Compression() = default;
  Compression(const Compression&) = delete;
  Compression& operator=(const Compression&) = delete;

  /// The name that MCAP gives it, such as "zstd".
  [[nodiscard]] virtual std::string_view name() const noexcept = 0;
  /// Replaces `packed` by the compressed bytes. Returns false if that failed; the recorder then writes the
  /// bytes as they are.
  [[nodiscard]] virtual bool compress(std::span<const std::uint8_t> bytes,
                                      std::vector<std::uint8_t>& packed) = 0;
  /// Fills `bytes` exactly. Returns false if `packed` is damaged or holds another number of bytes. Any input
  /// is safe.
  [[nodiscard]] virtual bool decompress(std::span<const std::uint8_t> packed,
                                        std::span<std::uint8_t> bytes) = 0;

 protected:
  Compression() = default;
};

}  // namespace takt::record
