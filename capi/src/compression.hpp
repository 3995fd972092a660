// The compression of recordings that this library was built with.
#pragma once

#include "takt/record/compression.hpp"
#include "takt/record/reader.hpp"

#ifdef TAKT_WITH_ZSTD
#include <memory>

#include "takt/record/zstd.hpp"
#endif

namespace takt::capi {

/// Null: none.
[[nodiscard]] inline record::Compression* recording_compression() {
#ifdef TAKT_WITH_ZSTD
  static const std::unique_ptr<record::Compression> zstd = record::make_zstd();
  return zstd.get();
#else
  return nullptr;
#endif
}

/// Options of a reader of recordings that may have this compression.
[[nodiscard]] inline record::ReaderOptions reader_options() {
  record::ReaderOptions options;
  if (record::Compression* compression = recording_compression()) options.compressions.push_back(compression);
  return options;
}

}  // namespace takt::capi
