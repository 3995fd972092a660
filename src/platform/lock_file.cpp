#include "platform/lock_file.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <fmt/format.h>
#include <cerrno>
#include <mutex>

namespace takt::platform::detail {
namespace {

/// The open lock files of this process, for the child of a fork. Never destroyed: a fork may come while the process ends.
struct All {
  std::mutex mutex;
  LockFile* first = nullptr;
};
All& all() {
  static All& made = *new All;
  return made;
}

struct flock byte_lock(std::int64_t byte, short type) noexcept {
  struct flock lock {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = byte;
  lock.l_len = 1;
  return lock;
}

}  // namespace

std::unique_ptr<LockFile> LockFile::reopen(int descriptor, bool writable) {
  const std::string path = fmt::format("/proc/self/fd/{}", descriptor);
  int opened = ::open(path.c_str(), (writable ? O_RDWR : O_RDONLY) | O_CLOEXEC);
  if (opened < 0 && errno == EACCES) opened = ::fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
  if (opened < 0) return nullptr;
  return std::unique_ptr<LockFile>(new LockFile(opened));
}

LockFile::LockFile(int descriptor) : descriptor_(descriptor) {
  static const int registered = ::pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
  static_cast<void>(registered);  // fails only without memory; then children share their parents' locks
  All& files = all();
  const std::lock_guard lock(files.mutex);
  next_ = files.first;
  link_ = &files.first;
  if (next_ != nullptr) next_->link_ = &next_;
  files.first = this;
}

LockFile::~LockFile() {
  const std::lock_guard lock(all().mutex);
  *link_ = next_;
  if (next_ != nullptr) next_->link_ = link_;
  if (descriptor_ >= 0) ::close(descriptor_);
}

bool LockFile::take(std::int64_t byte, Lock kind) noexcept {
  struct flock lock = byte_lock(byte, kind == Lock::shared ? F_RDLCK : F_WRLCK);
  return ::fcntl(descriptor_, F_OFD_SETLK, &lock) == 0;
}

void LockFile::give_back(std::int64_t byte) noexcept {
  struct flock lock = byte_lock(byte, F_UNLCK);
  ::fcntl(descriptor_, F_OFD_SETLK, &lock);
}

void LockFile::before_fork() noexcept { all().mutex.lock(); }
void LockFile::after_fork_in_parent() noexcept { all().mutex.unlock(); }
void LockFile::after_fork_in_child() noexcept {
  for (LockFile* file = all().first; file != nullptr; file = file->next_) {
    ::close(file->descriptor_);
    file->descriptor_ = -1;
  }
  all().mutex.unlock();
}

bool is_locked(int descriptor, std::int64_t byte) noexcept {
  struct flock lock = byte_lock(byte, F_WRLCK);
  return ::fcntl(descriptor, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

}  // namespace takt::platform::detail
