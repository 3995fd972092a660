// Output that never blocks its caller. If a terminal is stopped or a pipe is full, only a thread of the
// printer waits.
#pragma once

#include <unistd.h>

#include <cstddef>
#include <memory>
#include <string>
#include <thread>

namespace takt::tools {

class Printer {
 public:
  static constexpr std::size_t max_waiting = 256;

  /// Writes to these two streams. Flush earlier output to them before. Starts the thread.
  explicit Printer(int output = STDOUT_FILENO, int errors = STDERR_FILENO);
  /// Waits at most one second for the remaining output; the rest is lost.
  ~Printer();
  Printer(const Printer&) = delete;
  Printer& operator=(const Printer&) = delete;

  /// Queues `text` after all earlier ones. With max_waiting texts in the queue it is dropped; the next text
  /// is preceded by the number of dropped ones. For any thread without deadlines: allocates and locks, but
  /// never waits for a reader.
  void print(std::string text);
  /// The same for the error stream.
  void print_error(std::string text);
  /// False once the output's reader is gone: the other end of the pipe was closed. The program gets no
  /// SIGPIPE. The error stream does not count.
  [[nodiscard]] bool has_reader() const noexcept;
  /// Call it after the last print: waits as the destructor does. Returns 0 if all output was written,
  /// otherwise the errno of the first failure, or ETIMEDOUT. The error stream does not count.
  [[nodiscard]] int end();

 private:
  struct Queue;

  int errors_;
  std::shared_ptr<Queue> queue_;  ///< shared with the thread, which may outlive this object
  std::thread thread_;
};

}  // namespace takt::tools
