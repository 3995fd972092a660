// A file that is read in pieces whose sizes it tells itself. Memory grows with the bytes that come, not with
// the sizes that are claimed. Not real-time safe.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "record/growing_bytes.hpp"
#include "takt/core/setup_error.hpp"
#include "takt/record/byte_source.hpp"
#include "takt/record/error.hpp"

namespace takt::record {

/// One file. Its name begins every error message.
class FilePieces {
 public:
  FilePieces(std::unique_ptr<ByteSource> source, std::string name)
      : source_(std::move(source)), name_(std::move(name)) {}

  /// Reads the next `size` bytes. Returns false if the file ends before; the piece has what there is.
  [[nodiscard]] SetupResult<bool> read(std::uint64_t size);
  /// Shortens the piece. The next read() begins with the bytes that it lost.
  void put_back(std::size_t count) noexcept {
    next_ -= count;
    piece_size_ -= count;
  }
  /// Passes over the next `size` bytes, piece by piece. Returns false if the file ends before.
  template <class OnPiece>
  [[nodiscard]] SetupResult<bool> skip(std::uint64_t size, OnPiece on_piece) {
    for (std::uint64_t left = size; left > 0;) {
      const std::uint64_t part = std::min(left, step);
      auto whole = read(part);
      if (!whole || !*whole) return whole;
      on_piece(piece());
      left -= part;
    }
    return true;
  }
  /// The bytes of the last read().
  [[nodiscard]] std::span<const std::uint8_t> piece() const noexcept {
    return std::span(buffer_).subspan(next_ - piece_size_, piece_size_);
  }

  /// An error at a byte of the file. A part names what is wrong there.
  [[nodiscard]] tl::unexpected<SetupError> damage(std::uint64_t position, Errc code,
                                                  std::string_view part) const;

 private:
  static constexpr std::uint64_t step = std::uint64_t{1} << 20;

  std::unique_ptr<ByteSource> source_;
  std::string name_;
  Bytes buffer_;
  std::size_t next_ = 0;  ///< in the buffer: where the next piece begins
  std::size_t piece_size_ = 0;
};

}  // namespace takt::record
