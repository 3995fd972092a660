// A thread that executes long tasks for another thread, so that they do not delay its answers.
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

/// One thread and its queue of tasks.
class Worker {
 public:
  /// Starts the thread. If the system has none left, operator() executes the tasks in the calling thread.
  Worker();
  /// Waits for the running task. Drops the tasks that have not started.
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// Queues `work`, which must not throw. Tasks run in the order of their calls. Any thread may call it.
  void operator()(std::function<void()> work);

 private:
  void run();

  /// Protects the members below, except the thread.
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> waiting_;
  bool ended_ = false;
  std::thread thread_;
};

}  // namespace takt::platform
