// The compression zstd for recordings, from libzstd: the component takt::zstd, where that library is
// installed. A recording takes about a third of its bytes with it.
#pragma once

#include <memory>

#include "takt/record/compression.hpp"

namespace takt::record {

/// The compression "zstd", at libzstd's fastest positive level. Not real-time safe.
[[nodiscard]] std::unique_ptr<Compression> make_zstd();

}  // namespace takt::record
