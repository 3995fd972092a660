// The files of a rotated recording, in order: run.mcap, run.1.mcap, ... Each file names the next one at its
// end. Not real-time safe.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace takt::record {

/// The place of a reader in the files.
class FileChain {
 public:
  /// One file alone; "": no file.
  [[nodiscard]] static FileChain alone(std::string path) { return FileChain({std::move(path)}, true); }
  /// A file, and those that follow it in its folder.
  [[nodiscard]] static FileChain from(std::string path) { return FileChain({std::move(path)}, false); }
  /// These files and no other ones, in this order.
  [[nodiscard]] static FileChain of(std::vector<std::string> paths) {
    return FileChain(std::move(paths), true);
  }

  [[nodiscard]] const std::string& present() const noexcept { return path_; }
  /// Whether these files and no other ones are read.
  [[nodiscard]] bool is_fixed() const noexcept { return is_fixed_; }
  /// Where the next file may be, the likeliest place first. `named`: the name that the present file gives it;
  /// empty: none, because its end is missing.
  [[nodiscard]] std::vector<std::string> candidates(const std::string& named) const;
  /// Makes one of the candidates the present file.
  void go_to(const std::string& path);
  /// Whether the present file's name for the next one means this file. Files may be renamed together.
  [[nodiscard]] static bool is_meant(const std::string& named, const std::string& path);

 private:
  FileChain(std::vector<std::string> paths, bool is_fixed);

  std::vector<std::string> paths_;  ///< of from(): the first
  std::string path_;
  std::size_t number_ = 0;  ///< in paths_, or in the file's name
  bool is_fixed_;
};

}  // namespace takt::record
