#include "takt/record/byte_source.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "takt/record/error.hpp"

namespace takt::record {
namespace {

class FileSource final : public ByteSource {
 public:
  FileSource(std::string path, std::FILE* file) : path_(std::move(path)), file_(file) {}
  ~FileSource() override { std::fclose(file_); }

  SetupResult<std::size_t> read(std::span<std::uint8_t> into) override {
    const std::size_t count = std::fread(into.data(), 1, into.size(), file_);
    if (count < into.size() && std::ferror(file_) != 0)
      return fail(Errc::read_failed, path_ + ": " + std::strerror(errno));
    return count;
  }

 private:
  std::string path_;
  std::FILE* file_;
};

class MemorySource final : public ByteSource {
 public:
  explicit MemorySource(std::span<const std::uint8_t> bytes) : rest_(bytes) {}

  SetupResult<std::size_t> read(std::span<std::uint8_t> into) override {
    const std::size_t count = std::min(into.size(), rest_.size());
    std::copy_n(rest_.begin(), count, into.begin());
    rest_ = rest_.subspan(count);
    return count;
  }

 private:
  std::span<const std::uint8_t> rest_;
};

}  // namespace

SetupResult<std::unique_ptr<ByteSource>> open_file(const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "rbe");
  if (file == nullptr) return fail(Errc::cannot_open, path + ": " + std::strerror(errno));
  return std::make_unique<FileSource>(path, file);
}

std::unique_ptr<ByteSource> read_memory(std::span<const std::uint8_t> bytes) {
  return std::make_unique<MemorySource>(bytes);
}

}  // namespace takt::record
