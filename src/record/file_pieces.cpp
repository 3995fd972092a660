#include "record/file_pieces.hpp"

#include <fmt/format.h>

namespace takt::record {

SetupResult<bool> FilePieces::read(std::uint64_t size) {
  // Moves fewer bytes than were taken, so any number of put_back() costs little.
  if (next_ >= buffer_.size() - next_) {
    buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(next_));
    next_ = 0;
  }
  piece_size_ = 0;
  for (bool is_end = false; !is_end && buffer_.size() - next_ < size;) {
    const std::size_t have = buffer_.size();
    const std::uint64_t missing = size - (have - next_);
    buffer_.resize(have + static_cast<std::size_t>(std::min(missing, step)));
    const auto got = source_->read(std::span(buffer_).subspan(have));
    is_end = !got || *got < buffer_.size() - have;
    buffer_.resize(have + got.value_or(0));
    if (!got) return tl::unexpected<SetupError>(got.error());
  }
  piece_size_ = static_cast<std::size_t>(std::min<std::uint64_t>(size, buffer_.size() - next_));
  next_ += piece_size_;
  return piece_size_ == size;
}

tl::unexpected<SetupError> FilePieces::damage(std::uint64_t position, Errc code,
                                              std::string_view part) const {
  return fail(code, fmt::format("{}byte {}: {}{}{}", name_, position, describe(code),
                                part.empty() ? "" : ": ", part));
}

}  // namespace takt::record
