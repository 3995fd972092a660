// A file descriptor that is closed in every child of fork(). The kernel keeps locks and listening sockets
// while any process has the open file. So a child must not have it.
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
  UnsharedDescriptor* next_ = nullptr;  // list of all objects of this process
  UnsharedDescriptor** link_ = nullptr;
};

/// fork() holds this mutex, so the data that it protects is consistent in the child.
[[nodiscard]] std::mutex& fork_mutex();

}  // namespace takt::platform::detail
