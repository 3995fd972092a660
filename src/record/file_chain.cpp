#include "record/file_chain.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <system_error>
#include <utility>

#include "record/recording_file.hpp"

namespace takt::record {
namespace {

/// Missing files beyond which nobody looks for a later one.
constexpr std::size_t max_missing = 1000;
constexpr std::size_t max_file_number = 1'000'000'000;

/// "run.2.mcap" is the file 2 of "run.mcap", and that is the file 0 of itself.
std::pair<std::string, std::size_t> without_number(const std::filesystem::path& path) {
  const std::string stem = path.stem().string();
  const std::size_t dot = stem.rfind('.');
  std::size_t number = 0;
  if (dot == std::string::npos || dot == 0) return {path.string(), 0};
  const char* end = stem.data() + stem.size();
  const auto [stop, error] = std::from_chars(stem.data() + dot + 1, end, number);
  if (error != std::errc{} || stop != end || number > max_file_number) return {path.string(), 0};
  return {(path.parent_path() / (stem.substr(0, dot) + path.extension().string())).string(), number};
}

bool exists(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

}  // namespace

FileChain::FileChain(std::vector<std::string> paths, bool is_fixed)
    : paths_(std::move(paths)), path_(paths_.front()), is_fixed_(is_fixed) {}

std::vector<std::string> FileChain::candidates(const std::string& named) const {
  std::vector<std::string> found;
  if (is_fixed_) {
    if (number_ + 1 < paths_.size()) found.push_back(paths_[number_ + 1]);
    return found;
  }
  const auto [first, own_number] = without_number(paths_.front());
  std::size_t from = named.empty() ? 0 : without_number(named).second;
  if (from <= number_) from = std::max(number_, own_number) + 1;
  for (std::size_t number = from; number <= from + max_missing; ++number) {
    for (const std::string& base : {paths_.front(), first}) {
      std::string path = numbered_path(base, number);
      if (exists(path) && std::ranges::find(found, path) == found.end()) found.push_back(std::move(path));
    }
  }
  return found;
}

void FileChain::go_to(const std::string& path) {
  path_ = path;
  number_ = is_fixed_ ? number_ + 1 : without_number(path).second;
}

bool FileChain::is_meant(const std::string& named, const std::string& path) {
  const std::size_t number = without_number(named).second;
  return number > 0 && without_number(path).second == number;
}

}  // namespace takt::record
