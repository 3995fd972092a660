#include "platform/lock_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>
#include <algorithm>
#include <cerrno>
#include <mutex>
#include <vector>

namespace takt::platform::detail {
namespace {

/// A byte that a LockFile of this process has locked exclusively.
struct Held {
  FileId id;
  std::int64_t byte;
  const LockFile* by;
};

/// Protected by fork_mutex(). Never destroyed, because an owner slot may be released during the exit of the
/// process.
std::vector<Held>& all_held() {
  static auto& made = *new std::vector<Held>;
  return made;
}

/// Ignores the locks of the parent in a child of fork(), where their files are closed.
bool is_held(FileId id, std::int64_t byte) {
  return std::any_of(all_held().begin(), all_held().end(), [&](const Held& one) {
    return one.id.device == id.device && one.id.number == id.number && one.byte == byte && one.by->is_open();
  });
}

std::optional<FileId> id_of(int descriptor) noexcept {
  struct stat about {};
  if (::fstat(descriptor, &about) != 0) return std::nullopt;
  return FileId{about.st_dev, about.st_ino};
}

struct flock byte_lock(std::int64_t byte, short type) noexcept {
  struct flock lock {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = byte;
  lock.l_len = 1;
  return lock;
}

void unlock(int descriptor, std::int64_t byte) noexcept {
  struct flock lock = byte_lock(byte, F_UNLCK);
  ::fcntl(descriptor, F_OFD_SETLK, &lock);
}

}  // namespace

std::unique_ptr<LockFile> LockFile::reopen(int descriptor, bool writable) {
  const std::string path = fmt::format("/proc/self/fd/{}", descriptor);
  Descriptor opened(::open(path.c_str(), (writable ? O_RDWR : O_RDONLY) | O_CLOEXEC));
  const bool shared = !opened.is_open() && errno == EACCES;
  if (shared) opened = Descriptor(::fcntl(descriptor, F_DUPFD_CLOEXEC, 0));
  if (!opened.is_open()) return nullptr;
  const auto id = id_of(opened.get());
  if (!id) return nullptr;
  return std::unique_ptr<LockFile>(new LockFile(std::move(opened), *id, shared));
}

LockFile::~LockFile() {
  const std::lock_guard lock(fork_mutex());
  auto& held = all_held();
  // Closing the file is not enough, because another descriptor may share the open file.
  for (const Held& one : held) {
    if (one.by == this && is_open()) unlock(descriptor(), one.byte);
  }
  held.erase(std::remove_if(held.begin(), held.end(), [&](const Held& one) { return one.by == this; }),
             held.end());
}

bool LockFile::take(std::int64_t byte, Lock kind) {
  const std::lock_guard guard(fork_mutex());
  if (kind == Lock::exclusive && is_held(id_, byte)) {
    errno = EAGAIN;
    return false;
  }
  struct flock lock = byte_lock(byte, kind == Lock::shared ? F_RDLCK : F_WRLCK);
  if (::fcntl(descriptor(), F_OFD_SETLK, &lock) != 0) return false;
  if (kind == Lock::exclusive) all_held().push_back({id_, byte, this});
  return true;
}

void LockFile::give_back(std::int64_t byte) noexcept {
  const std::lock_guard lock(fork_mutex());
  unlock(descriptor(), byte);
  auto& held = all_held();
  held.erase(std::remove_if(held.begin(), held.end(),
                            [&](const Held& one) { return one.by == this && one.byte == byte; }),
             held.end());
}

std::optional<Lock> lock_on(int descriptor, std::int64_t byte) noexcept {
  struct flock lock = byte_lock(byte, F_WRLCK);
  if (::fcntl(descriptor, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK) {
    return lock.l_type == F_WRLCK ? Lock::exclusive : Lock::shared;
  }
  const auto id = id_of(descriptor);
  const std::lock_guard guard(fork_mutex());
  return id && is_held(*id, byte) ? std::optional(Lock::exclusive) : std::nullopt;
}

}  // namespace takt::platform::detail
