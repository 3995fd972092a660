#include "record/file_pieces.hpp"

#include <fmt/format.h>

namespace takt::record {

SetupResult<bool> FilePieces::read(std::uint64_t size) {
  piece_.clear();
  while (piece_.size() < size) {
    const std::size_t have = piece_.size();
    piece_.resize(static_cast<std::size_t>(std::min(size, have + step)));
    const auto got = source_->read(std::span(piece_).subspan(have));
    if (!got) return tl::unexpected<SetupError>(got.error());
    if (*got == piece_.size() - have) continue;
    piece_.resize(have + *got);
    return false;
  }
  return true;
}

tl::unexpected<SetupError> FilePieces::damage(std::uint64_t position, Errc code,
                                              std::string_view part) const {
  return fail(code, fmt::format("{}byte {}: {}{}{}", name_, position, describe(code),
                                part.empty() ? "" : ": ", part));
}

}  // namespace takt::record
