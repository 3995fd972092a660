// Files of tests, and what a reader finds in them.
#pragma once

#include <doctest/doctest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <type_traits>
#include <variant>
#include <vector>

#include "takt/record/reader.hpp"

namespace takt::test::recordings {

using namespace takt::record;

using Bytes = std::vector<std::uint8_t>;

/// A file name of this process. The file is removed when the test ends.
class ScratchFile {
 public:
  ScratchFile() : path_(std::filesystem::temp_directory_path() / ("takt_recording_" + unique())) {}
  ~ScratchFile() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;
  [[nodiscard]] std::string path() const { return path_.string(); }
  [[nodiscard]] Bytes bytes() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

 private:
  static std::string unique() {
    static int count = 0;
    return std::to_string(std::filesystem::hash_value(std::filesystem::current_path()) ^
                          std::hash<std::thread::id>{}(std::this_thread::get_id())) +
           "_" + std::to_string(++count);
  }
  std::filesystem::path path_;
};

/// A folder of this process, likewise.
class ScratchFolder {
 public:
  ScratchFolder() { std::filesystem::create_directories(place_.path()); }
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(place_.path(), ignored);
  }
  [[nodiscard]] std::string file(const std::string& name) const { return place_.path() + "/" + name; }

 private:
  ScratchFile place_;
};

/// A record with its own data, for comparing written and read records.
struct Owned {
  Record record;
  std::vector<JointSample> joints;
  std::vector<BusSample> buses;
  std::string text;

  explicit Owned(const Record& from) : record(from) {
    if (const auto* cycle = std::get_if<CycleRecord>(&from))
      joints.assign(cycle->joints.begin(), cycle->joints.end());
    if (const auto* bus = std::get_if<BusRecord>(&from)) buses.assign(bus->buses.begin(), bus->buses.end());
    if (const auto* mark = std::get_if<MarkRecord>(&from)) text = mark->text;
  }

  friend bool operator==(const Owned& a, const Owned& b) {
    if (a.record.index() != b.record.index() || a.joints != b.joints || a.buses != b.buses ||
        a.text != b.text) {
      return false;
    }
    return std::visit(
        [&](const auto& left) {
          using T = std::decay_t<decltype(left)>;
          const auto& right = std::get<T>(b.record);
          if constexpr (std::is_same_v<T, CycleRecord>) {
            return left.cycle == right.cycle;
          } else if constexpr (std::is_same_v<T, SampleRecord>) {
            return left.topic == right.topic && left.time == right.time;
          } else if constexpr (std::is_same_v<T, BusRecord> || std::is_same_v<T, MarkRecord>) {
            return left.time == right.time;
          } else {
            return left == right;
          }
        },
        a.record);
  }
};

/// All records until the end or the first error.
struct ReadBack {
  std::vector<Owned> records;
  bool truncated = false;
  std::size_t lost = 0;  ///< parts of the file
  std::optional<SetupError> error;
};

inline ReadBack read_all(std::span<const std::uint8_t> bytes) {
  ReadBack result;
  auto reader = Reader::from_bytes(bytes);
  if (!reader) {
    result.error = reader.error();
    return result;
  }
  while (true) {
    const auto record = reader->next();
    if (!record) {
      result.error = record.error();
      CHECK(reader->next().error().error == result.error->error);  // the error repeats
      return result;
    }
    if (*record == nullptr) break;
    result.records.emplace_back(**record);
  }
  result.truncated = reader->truncated();
  result.lost = reader->lost().size();
  return result;
}

}  // namespace takt::test::recordings
