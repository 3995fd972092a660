// Locks on single bytes of a file that belong to one open file of one process: the kernel gives them back when that is closed,
// also by the process's death, and no other open file of the same process interferes (F_OFD_SETLK). A child of fork() would share
// the open file, and with it the locks; so it is closed in every child.
#pragma once

#include <cstdint>
#include <memory>

namespace takt::platform::detail {

enum class Lock : std::uint8_t { shared, exclusive };

/// Which byte of a segment's file stands for what; the bytes' contents do not matter.
inline constexpr std::int64_t presence_byte = 0;  ///< shared by all who have a named segment
[[nodiscard]] constexpr std::int64_t seat_byte(std::uint32_t seat) noexcept { return std::int64_t{1} + seat; }

class LockFile {
 public:
  /// Opens the file of `descriptor` once more. Where that is not permitted (the memory of another user, who passed it on) it shares
  /// the open file: what came was opened for us alone. Null, with errno, when neither can be.
  [[nodiscard]] static std::unique_ptr<LockFile> reopen(int descriptor, bool writable);

  LockFile(const LockFile&) = delete;
  LockFile& operator=(const LockFile&) = delete;
  ~LockFile();

  /// Takes the lock, or changes its kind, without waiting. False, with errno: EAGAIN when somebody else has it.
  [[nodiscard]] bool take(std::int64_t byte, Lock kind) noexcept;
  void give_back(std::int64_t byte) noexcept;

  /// False in a child after fork().
  [[nodiscard]] bool is_open() const noexcept { return descriptor_ >= 0; }
  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }

 private:
  explicit LockFile(int descriptor);
  static void before_fork() noexcept;
  static void after_fork_in_parent() noexcept;
  static void after_fork_in_child() noexcept;

  int descriptor_;
  LockFile* next_ = nullptr;  // of all of this process
  LockFile** link_ = nullptr;
};

/// Whether anybody has a lock on the byte, seen from another open file. Writes nothing, needs no right to write.
[[nodiscard]] bool is_locked(int descriptor, std::int64_t byte) noexcept;

}  // namespace takt::platform::detail
