// A file descriptor that no child of fork() has. What the kernel ties to an open file (a lock, a listening socket) lasts for as long
// as anybody has that file open; so a child that lives on must not have it.
#pragma once

#include <mutex>

#include "platform/descriptor.hpp"

namespace takt::platform::detail {

class UnsharedDescriptor {
 public:
  UnsharedDescriptor() = default;
  explicit UnsharedDescriptor(Descriptor file);
  UnsharedDescriptor(const UnsharedDescriptor&) = delete;
  UnsharedDescriptor& operator=(const UnsharedDescriptor&) = delete;
  ~UnsharedDescriptor();

  /// -1 in a child after fork().
  [[nodiscard]] int get() const noexcept { return file_.get(); }
  [[nodiscard]] bool is_open() const noexcept { return file_.is_open(); }

 private:
  static void before_fork() noexcept;
  static void after_fork_in_parent() noexcept;
  static void after_fork_in_child() noexcept;

  Descriptor file_;
  UnsharedDescriptor* next_ = nullptr;  // of all of this process
  UnsharedDescriptor** link_ = nullptr;
};

/// Nobody else has it while this process forks: what it guards is whole in the child.
[[nodiscard]] std::mutex& fork_mutex();

}  // namespace takt::platform::detail
