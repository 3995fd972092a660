// A thread that runs an execution context until it is stopped.
//
//     takt::component::ExecutionContext context({.name = "control"});
//     takt::platform::SteadyClock clock;
//     takt::component::ContextThread thread(context, {}, [&] {
//       return takt::component::run_periodically(context, clock, {.period = std::chrono::milliseconds(1)});
//     });
//
// Not real-time safe: it starts a thread. The context's cycles are.
#pragma once

#include <functional>
#include <string>
#include <thread>
#include <utility>

#include "takt/component/execution_context.hpp"
#include "takt/core/error.hpp"
#include "takt/core/setup_error.hpp"
#include "takt/rt/thread_setup.hpp"

namespace takt::component {

/// Runs a context in a thread of its own. The destructor stops it.
class ContextThread {
 public:
  /// Starts the thread. It prepares itself as `thread` says, and calls `run`, one of the drivers.
  ContextThread(ExecutionContext& context, rt::ThreadConfig thread, std::function<Status()> run)
      : context_(&context), thread_([this, config = std::move(thread), body = std::move(run)] {
          if (auto setup = rt::set_up_thread(config); setup) {
            text_ = setup->text();
            status_ = body();
          } else {
            text_ = setup.error().message;
            status_ = fail(setup.error().error);
          }
        }) {}
  ContextThread(const ContextThread&) = delete;
  ContextThread& operator=(const ContextThread&) = delete;
  ~ContextThread() { (void)stop(); }

  /// Asks the context to stop, and waits for the thread. Returns the driver's status, or that of the thread's
  /// set-up. A callback that never returns keeps it
  /// waiting: ExecutionContext::running_component() names it.
  Status stop() {
    if (thread_.joinable()) {
      context_->request_stop();
      thread_.join();
    }
    return status_;
  }

  /// What the set-up of the thread achieved, for people. Valid after stop().
  [[nodiscard]] const std::string& set_up() const noexcept { return text_; }

 private:
  ExecutionContext* context_;
  std::string text_;
  Status status_;
  std::thread thread_;
};

}  // namespace takt::component
