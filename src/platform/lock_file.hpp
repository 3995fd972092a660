// Locks on single bytes of a file that belong to one open file of one process: the kernel gives them back when that is closed,
// also by the process's death (F_OFD_SETLK). A child of fork() would share the open file, and with it the locks; so it is closed in
// every child.
//
// The kernel tells open files apart, not those who lock through them. Where a process cannot open the file anew, all of its locks
// are on one open file; therefore the process itself remembers which bytes it has, and refuses them to a second one.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "platform/descriptor.hpp"
#include "platform/unshared_descriptor.hpp"

namespace takt::platform::detail {

enum class Lock : std::uint8_t { shared, exclusive };

/// Which byte of a segment's file stands for what; the bytes' contents do not matter.
inline constexpr std::int64_t presence_byte = 0;  ///< shared by all who have a named segment
[[nodiscard]] constexpr std::int64_t seat_byte(std::uint32_t seat) noexcept { return std::int64_t{1} + seat; }

/// By which a file is known, however often it is open.
struct FileId {
  dev_t device = 0;
  ino_t number = 0;
};

class LockFile {
 public:
  /// Opens the file of `descriptor` once more. Where that is not permitted (the memory of another user, who passed it on) it shares
  /// the open file: what came was opened for us alone. Null, with errno, when neither can be.
  [[nodiscard]] static std::unique_ptr<LockFile> reopen(int descriptor, bool writable);

  LockFile(const LockFile&) = delete;
  LockFile& operator=(const LockFile&) = delete;
  ~LockFile();

  /// Takes the lock, or changes its kind, without waiting. False, with errno: EAGAIN when somebody else has it.
  [[nodiscard]] bool take(std::int64_t byte, Lock kind);
  void give_back(std::int64_t byte) noexcept;

  /// False in a child after fork().
  [[nodiscard]] bool is_open() const noexcept { return file_.is_open(); }
  [[nodiscard]] int descriptor() const noexcept { return file_.get(); }
  /// Whether it shares the open file that it was made from.
  [[nodiscard]] bool is_shared() const noexcept { return shared_; }

 private:
  LockFile(Descriptor file, FileId id, bool shared) : file_(std::move(file)), id_(id), shared_(shared) {}

  UnsharedDescriptor file_;
  FileId id_;
  bool shared_;
};

/// Which lock others, or another LockFile of ours, have on the byte. Writes nothing, needs no right to write.
[[nodiscard]] std::optional<Lock> lock_on(int descriptor, std::int64_t byte) noexcept;

}  // namespace takt::platform::detail
