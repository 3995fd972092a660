#include "tools/open_recording.hpp"

#ifdef TAKT_WITH_ZSTD
#include "takt/record/zstd.hpp"
#endif

namespace takt::tools {

record::Compression* recording_compression() {
#ifdef TAKT_WITH_ZSTD
  static const std::unique_ptr<record::Compression> zstd = record::make_zstd();
  return zstd.get();
#else
  return nullptr;
#endif
}

SetupResult<record::Reader> open_recording(const RecordingPlace& place, bool pass_over_damage) {
  record::ReaderOptions options;
  if (record::Compression* zstd = recording_compression()) options.compressions.push_back(zstd);
  options.topic = place.topic;
  options.pass_over_damage = pass_over_damage;
  std::vector<std::string> paths{place.path};
  paths.insert(paths.end(), place.further.begin(), place.further.end());
  return record::Reader::open_rotated(paths, options);
}

}  // namespace takt::tools
