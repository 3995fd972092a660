// A file descriptor that its owner's destructor closes, and the texts of failed system calls.
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
  /// Passes the descriptor to the caller, who must close it.
  [[nodiscard]] int release() noexcept { return std::exchange(number_, -1); }

 private:
  int number_ = -1;
};

/// The text of an errno, such as "Permission denied".
[[nodiscard]] inline std::string text_of(int number) {
  return std::error_code(number, std::generic_category()).message();
}

}  // namespace takt::platform::detail
