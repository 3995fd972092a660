// A file descriptor that is closed by its owner's end, and what system calls say when they fail.
#pragma once

#include <unistd.h>

#include <string>
#include <system_error>
#include <utility>

namespace takt::platform::detail {

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) noexcept : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }

  [[nodiscard]] int get() const noexcept { return number_; }
  [[nodiscard]] bool is_open() const noexcept { return number_ >= 0; }
  /// It is the caller's from now on.
  [[nodiscard]] int release() noexcept { return std::exchange(number_, -1); }

 private:
  int number_ = -1;
};

/// "Permission denied" and its like, for an errno.
[[nodiscard]] inline std::string text_of(int number) {
  return std::error_code(number, std::generic_category()).message();
}

}  // namespace takt::platform::detail
