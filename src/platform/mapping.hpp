// The memory of a segment, for as long as anybody in this process uses it.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <memory>
#include <span>
#include <utility>

#include "platform/descriptor.hpp"
#include "platform/lock_file.hpp"

namespace takt::platform::detail {

class Mapping {
 public:
  /// `presence` is the lock that says that we have a named segment.
  Mapping(Descriptor file, std::unique_ptr<LockFile> presence, void* address, std::size_t bytes) noexcept
      : file_(std::move(file)), presence_(std::move(presence)), address_(address), bytes_(bytes) {}
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping() { ::munmap(address_, bytes_); }

  [[nodiscard]] std::span<std::byte> memory() const noexcept {
    return {static_cast<std::byte*>(address_), bytes_};
  }
  [[nodiscard]] int descriptor() const noexcept { return file_.get(); }

 private:
  Descriptor file_;
  std::unique_ptr<LockFile> presence_;
  void* address_;
  std::size_t bytes_;
};

}  // namespace takt::platform::detail
