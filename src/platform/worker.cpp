#include "takt/platform/worker.hpp"

#include <system_error>
#include <utility>

namespace takt::platform {

Worker::Worker() {
  try {
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error&) {
    // operator() checks joinable() and runs the task itself.
  }
}

Worker::~Worker() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void Worker::operator()(std::function<void()> work) {
  if (!thread_.joinable()) return work();
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(work));
  }
  changed_.notify_one();
}

void Worker::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return ended_ || !waiting_.empty(); });
    if (ended_) return;
    const std::function<void()> work = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    work();
    lock.lock();
  }
}

}  // namespace takt::platform
