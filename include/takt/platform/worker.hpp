// A thread that does pieces of work for another one, so that what takes long holds up nobody who waits for an answer.
//
//     platform::Worker worker;
//     motion::ServerOptions options;
//     options.executor = std::ref(worker);
//
// Not real-time safe: allocates, locks, and starts a thread.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace takt::platform {

class Worker {
 public:
  /// Starts the thread. Where the system gives none, whoever asks for work does it.
  Worker();
  /// Waits for the piece that is being done; what was not begun is dropped.
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// Has `work`, which must not throw, done after everything before it. From any thread.
  void operator()(std::function<void()> work);

 private:
  void run();

  std::mutex mutex_;  ///< of all below but the thread
  std::condition_variable changed_;
  std::deque<std::function<void()>> waiting_;
  bool ended_ = false;
  std::thread thread_;
};

}  // namespace takt::platform
