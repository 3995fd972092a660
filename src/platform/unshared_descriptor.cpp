#include "platform/unshared_descriptor.hpp"

#include <pthread.h>

#include <utility>

namespace takt::platform::detail {
namespace {

/// Head of the list of all objects. Protected by fork_mutex().
UnsharedDescriptor* first = nullptr;

}  // namespace

std::mutex& fork_mutex() {
  // Never destroyed, because fork() may come during the exit of the process.
  static std::mutex& made = *new std::mutex;
  return made;
}

UnsharedDescriptor::UnsharedDescriptor(Descriptor file) : file_(std::move(file)) {
  static const int registered = ::pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
  static_cast<void>(registered);  // fails only without memory; then children share their parents' files
  const std::lock_guard lock(fork_mutex());
  next_ = first;
  link_ = &first;
  if (next_ != nullptr) next_->link_ = &next_;
  first = this;
}

UnsharedDescriptor::~UnsharedDescriptor() {
  if (link_ == nullptr) return;
  const std::lock_guard lock(fork_mutex());
  *link_ = next_;
  if (next_ != nullptr) next_->link_ = link_;
}

void UnsharedDescriptor::before_fork() noexcept { fork_mutex().lock(); }
void UnsharedDescriptor::after_fork_in_parent() noexcept { fork_mutex().unlock(); }
void UnsharedDescriptor::after_fork_in_child() noexcept {
  for (UnsharedDescriptor* one = first; one != nullptr; one = one->next_) one->file_ = Descriptor();
  fork_mutex().unlock();
}

}  // namespace takt::platform::detail
