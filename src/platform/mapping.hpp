// The memory of a segment, mapped while any object in this process uses it.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "platform/descriptor.hpp"
#include "platform/lock_file.hpp"
#include "platform/unshared_descriptor.hpp"

namespace takt::platform::detail {

class Mapping {
 public:
  /// `presence` is the lock that marks a named segment as in use.
  Mapping(Descriptor file, std::unique_ptr<LockFile> presence, void* address, std::size_t bytes) noexcept
      : file_(std::move(file)), presence_(std::move(presence)), address_(address), bytes_(bytes) {}
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping() {
    // In a child without this memory, another mapping may be at the address.
    if (descriptor() >= 0) ::munmap(address_, bytes_);
  }

  /// Keeps the memory and the descriptor from children of fork(). For locks on the mapped file itself: a
  /// child would hold them by its mapping too. An access to the memory in the child faults (SIGSEGV).
  void keep_from_children() {
    if (unshared_) return;
    unshared_.emplace(std::move(file_));
    ::madvise(address_, bytes_, MADV_DONTFORK);
  }

  [[nodiscard]] std::span<std::byte> memory() const noexcept {
    return {static_cast<std::byte*>(address_), bytes_};
  }
  [[nodiscard]] int descriptor() const noexcept { return unshared_ ? unshared_->get() : file_.get(); }

 private:
  Descriptor file_;
  std::optional<UnsharedDescriptor> unshared_;  // holds the file if children must not have it
  std::unique_ptr<LockFile> presence_;
  void* address_;
  std::size_t bytes_;
};

}  // namespace takt::platform::detail
