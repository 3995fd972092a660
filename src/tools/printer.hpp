// Output of a program that has better things to do than to wait for its reader: a terminal that was stopped, or a full pipe, keeps
// a thread waiting that does nothing else.
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

  /// Writes to these two. What was written to them by other means is to be flushed before. Starts the thread.
  explicit Printer(int output = STDOUT_FILENO, int errors = STDERR_FILENO);
  /// Waits a second at most for what is left to be written; the rest is never seen.
  ~Printer();
  Printer(const Printer&) = delete;
  Printer& operator=(const Printer&) = delete;

  /// Has `text` written after all before it. Where max_waiting texts wait it is dropped; how many were is said before the next that
  /// is not. From any thread that has no deadlines: allocates, and locks, but waits for no reader.
  void print(std::string text);
  /// The same, as an error.
  void print_error(std::string text);
  /// False once the reader of the output, not of the errors, is gone: a pipe's other end was closed. The program gets no SIGPIPE.
  [[nodiscard]] bool has_reader() const noexcept;
  /// After the last print: waits as the destructor does. 0 if the output, not the errors, took all; else errno of the first that it
  /// did not take, or ETIMEDOUT.
  [[nodiscard]] int end();

 private:
  struct Queue;

  int errors_;
  std::shared_ptr<Queue> queue_;  ///< the thread's, too: it may have to be left behind
  std::thread thread_;
};

}  // namespace takt::tools
