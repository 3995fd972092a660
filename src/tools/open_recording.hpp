// Opens recordings with every compression that this program was built with.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "takt/core/setup_error.hpp"
#include "takt/record/compression.hpp"
#include "takt/record/reader.hpp"

namespace takt::tools {

/// A file with a recording, or its files.
struct RecordingPlace {
  // NOLINTNEXTLINE(google-explicit-constructor): a path is a place
  RecordingPlace(std::string its_path, std::string its_topic = {})
      : path(std::move(its_path)), topic(std::move(its_topic)) {}
  /// `paths`: at least one, as of record::Reader::open_rotated().
  explicit RecordingPlace(std::vector<std::string> paths, std::string its_topic = {})
      : path(paths.front()), further(paths.begin() + 1, paths.end()), topic(std::move(its_topic)) {}

  std::string path;
  std::vector<std::string> further{};
  std::string topic;  ///< record::ReaderOptions::topic
};

/// The compression of recordings; null if the program was built without libzstd.
[[nodiscard]] record::Compression* recording_compression();

/// Files that continue the recording are read, too. A caller that passes over damage tells Reader::lost().
/// Errors: those of record::Reader::open_rotated().
[[nodiscard]] SetupResult<record::Reader> open_recording(const RecordingPlace& place,
                                                         bool pass_over_damage = false);

}  // namespace takt::tools
