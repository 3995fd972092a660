// The compression zstd for recordings, from libzstd: the component takt::zstd, where that library is
// installed. A recording takes about a sixth of its bytes with it.
#pragma once

#include <memory>

#include "takt/record/compression.hpp"

namespace takt::record {

/// The compression "zstd", at a fast level: about 600 MB/s. Not real-time safe.
[[nodiscard]] std::unique_ptr<Compression> make_zstd();

}  // namespace takt::record
