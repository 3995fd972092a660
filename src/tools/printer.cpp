#include "tools/printer.hpp"

#include <poll.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstddef>
#include <deque>
#include <mutex>
#include <string_view>
#include <utility>

namespace takt::tools {

namespace {

constexpr std::chrono::seconds patience_at_end{1};

/// Writes without stdio, whose lock the end of the program would wait for. Gives up on failure. Returns 0, or
/// errno.
int write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(file, text.data(), text.size());
    if (written < 0 && errno != EINTR) return errno;
    if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

/// Blocked in this thread: the kernel sends it to the writing one.
void block_pipe_signal() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

}  // namespace

struct Printer::Queue {
  explicit Queue(int output_file) : output(output_file) {}

  struct Text {
    int file;
    std::string text;
  };

  const int output;
  std::atomic<bool> has_reader{true};  ///< relaxed: it orders no other data
  std::mutex mutex;                    ///< guards everything below
  std::condition_variable changed;
  std::deque<Text> waiting;
  std::size_t dropped = 0;
  int failure = 0;  ///< errno of the first text that was not written
  bool ending = false;
  bool ended = false;

  void push(int file, std::string text) {
    const std::scoped_lock lock(mutex);
    if (waiting.size() >= max_waiting) {
      ++dropped;
      return;
    }
    if (const std::size_t lost = std::exchange(dropped, 0); lost != 0)
      text.insert(0, "(" + std::to_string(lost) + " messages dropped because nobody read them)\n");
    waiting.push_back({file, std::move(text)});
    changed.notify_all();
  }

  void run() {
    block_pipe_signal();
    std::unique_lock lock(mutex);
    while (true) {
      changed.wait(lock, [this] { return ending || !waiting.empty(); });
      if (waiting.empty()) break;
      const Text next = std::move(waiting.front());
      waiting.pop_front();
      lock.unlock();
      const int error = write_all(next.file, next.text);
      if (error == EPIPE && next.file == output) has_reader.store(false, std::memory_order_relaxed);
      lock.lock();
      if (failure == 0 && next.file == output) failure = error;
    }
    ended = true;
    changed.notify_all();
  }

  /// ETIMEDOUT if not all was written in time, else `failure`.
  int end() {
    std::unique_lock lock(mutex);
    ending = true;
    changed.notify_all();
    return changed.wait_for(lock, patience_at_end, [this] { return ended; }) ? failure : ETIMEDOUT;
  }
};

Printer::Printer(int output, int errors)
    : errors_(errors), queue_(std::make_shared<Queue>(output)), thread_([queue = queue_] { queue->run(); }) {}

Printer::~Printer() {
  if (queue_->end() != ETIMEDOUT) {
    thread_.join();
  } else {
    thread_.detach();  // the reader may never read again
  }
}

int Printer::end() { return queue_->end(); }

void Printer::print(std::string text) { queue_->push(queue_->output, std::move(text)); }

void Printer::print_error(std::string text) { queue_->push(errors_, std::move(text)); }

bool Printer::has_reader() const noexcept {
  // Polls the pipe: a program without output would not notice its reader's end by writing.
  pollfd output{queue_->output, 0, 0};
  return queue_->has_reader.load(std::memory_order_relaxed) &&
         !(::poll(&output, 1, 0) > 0 && (output.revents & POLLERR) != 0);
}

}  // namespace takt::tools
