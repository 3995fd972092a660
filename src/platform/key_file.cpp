#include "takt/platform/key_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "platform/descriptor.hpp"

namespace takt::platform {
namespace {

using detail::Descriptor;
using detail::text_of;

/// Checks the owner, mode and size of the open file. Returns the key's size in bytes.
SetupResult<std::size_t> check(int descriptor, const std::string& path, std::span<const std::size_t> sizes) {
  struct stat about {};
  if (::fstat(descriptor, &about) != 0) {
    return fail(Errc::no_key_file, fmt::format("{}: {}", path, text_of(errno)));
  }
  if (!S_ISREG(about.st_mode)) return fail(Errc::key_file_size, fmt::format("{}: not a regular file", path));
  if (about.st_uid != ::geteuid()) {
    return fail(Errc::key_file_owner, fmt::format("{}: belongs to user {}, not to {}, who runs this program",
                                                  path, about.st_uid, ::geteuid()));
  }
  const unsigned mode = about.st_mode & 07777;
  if ((mode & 077) != 0) {
    return fail(Errc::key_file_mode,
                fmt::format("{0}: has mode {1:04o}; only its owner may read or write a key: chmod 600 {0}",
                            path, mode));
  }
  const auto size = static_cast<std::size_t>(about.st_size);
  if (std::find(sizes.begin(), sizes.end(), size) == sizes.end()) {
    return fail(Errc::key_file_size,
                fmt::format("{}: has {} bytes; a key has {}", path, size, fmt::join(sizes, " or ")));
  }
  return size;
}

bool read_whole(int descriptor, std::span<std::uint8_t> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::read(descriptor, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
  return true;
}

bool write_whole(int descriptor, std::span<const std::uint8_t> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(descriptor, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
  return ::fsync(descriptor) == 0;
}

}  // namespace

SetupResult<void> read_key_file(const std::string& path, std::span<std::uint8_t> key) {
  const std::size_t size = key.size();
  if (auto read = read_key_file(path, key, std::span(&size, 1)); !read) return tl::unexpected(read.error());
  return {};
}

SetupResult<std::size_t> read_key_file(const std::string& path, std::span<std::uint8_t> key,
                                       std::span<const std::size_t> sizes) {
  std::fill(key.begin(), key.end(), std::uint8_t{0});
  // O_NONBLOCK, because open() would wait for ever on a pipe of this name.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file.is_open()) return fail(Errc::no_key_file, fmt::format("{}: {}", path, text_of(errno)));
  auto size = check(file.get(), path, sizes);
  if (!size) return size;
  if (*size > key.size() || !read_whole(file.get(), key.first(*size))) {
    std::fill(key.begin(), key.end(), std::uint8_t{0});
    return fail(Errc::no_key_file, fmt::format("{}: cannot be read", path));
  }
  return size;
}

SetupResult<void> write_key_file(const std::string& path, std::span<const std::uint8_t> key) {
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR));
  if (!file.is_open()) {
    const Errc code = errno == EEXIST ? Errc::key_file_exists : Errc::key_file_failed;
    return fail(code, fmt::format("{}: {}", path, text_of(errno)));
  }
  if (!write_whole(file.get(), key)) {
    const std::string why = text_of(errno);
    ::unlink(path.c_str());
    return fail(Errc::key_file_failed, fmt::format("{}: {}", path, why));
  }
  return {};
}

Status fill_random(std::span<std::uint8_t> bytes) noexcept {
  while (!bytes.empty()) {
    const ssize_t count = ::getrandom(bytes.data(), bytes.size(), 0);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fail(Errc::no_randomness);
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
  return {};
}

}  // namespace takt::platform
