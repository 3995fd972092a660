// Calls into the thread that runs a context, between two of its cycles. The caller waits for a bounded time.
// The context's thread neither allocates, frees nor waits: one load per cycle while there is no call.
//
// Calls run in the order in which they were posted. If no thread runs the context, the caller borrows it: it
// runs all waiting calls itself, and no thread can start the context meanwhile.
//
// A caller may note what its calls are for. The context's witness, such as a recorder, gets the note in the
// moment in which the call took effect:
//
//     const component::NotedCalls noted({0, R"({"unload":{"name":"tip"}})"});
//     manager.unload("tip");
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "takt/component/callers_mutex.hpp"
#include "takt/component/error.hpp"
#include "takt/core/error.hpp"
#include "takt/core/time.hpp"

namespace takt::component {

/// Wakes the thread of a context. Real-time safe.
class Wake {
 public:
  virtual ~Wake() = default;
  /// May be called from any thread.
  virtual void ring() noexcept = 0;
};

/// The purpose of a call, as its caller and the witness understand it.
struct CallNote {
  std::size_t kind = 0;
  std::string text;
};

/// Sees the calls that have a note. Real-time safe.
class CallWitness {
 public:
  virtual ~CallWitness() = default;
  /// A call with this note has succeeded. Called in the context's thread, or by a caller that borrows the
  /// idle context.
  virtual void ran(const CallNote& note) noexcept = 0;
};

/// While it exists, all calls that its thread makes have the note. An inner one replaces an outer one.
class NotedCalls {
 public:
  explicit NotedCalls(CallNote note);
  ~NotedCalls();
  NotedCalls(const NotedCalls&) = delete;
  NotedCalls& operator=(const NotedCalls&) = delete;

 private:
  std::shared_ptr<const CallNote> note_;
  const std::shared_ptr<const CallNote>* outer_;
};

/// The default time that a caller waits for a context.
inline constexpr Duration default_patience = std::chrono::milliseconds(500);

/// The calls of one context, and which thread runs it.
class BoundaryCalls {
 public:
  /// The most calls that wait at a time.
  static constexpr std::uint32_t max_pending = 256;

  BoundaryCalls() = default;
  BoundaryCalls(const BoundaryCalls&) = delete;
  BoundaryCalls& operator=(const BoundaryCalls&) = delete;

  // ---- the caller: any thread, but not from inside the cycle; not real-time safe ----

  /// Runs `call() noexcept -> Status` at the next boundary and returns its status. `call` is moved to the
  /// heap, because it may outlive a caller that gives up: it holds values, not references to the caller's
  /// stack.
  ///
  /// Errors: timed_out (`call` did not run and will not); busy; those of `call`. stuck: it is running, for
  /// longer than the patience again. own_thread: the caller is inside a cycle or another call.
  template <class Call>
  requires std::is_nothrow_invocable_r_v<Status, Call&>
  [[nodiscard]] Status run(Call call, Duration patience = default_patience) {
    return run(std::make_unique<NodeOf<Call>>(std::move(call)), patience);
  }

  /// Runs `call() noexcept -> Status` at some boundary, without waiting for it. Its status is lost.
  template <class Call>
  requires std::is_nothrow_invocable_r_v<Status, Call&>
  void run_later(Call call) { run_later(std::unique_ptr<Node>(new NodeOf<Call>(std::move(call)))); }

  /// The witness of the calls; null: none. It must outlive them. Only while no other thread uses the context.
  void set_witness(CallWitness* witness) noexcept { witness_ = witness; }

  /// Who is rung after a call was posted; null: nobody. Only the context's thread sets it. When it returns,
  /// nobody uses the former one, which may then end. Not real-time safe: it waits for rings under way.
  void set_wake(Wake* wake) noexcept;
  /// Rings, if somebody listens. Any thread; real-time safe.
  // seq_cst, here, in set_wake() and for the request to stop. So a thread that sets its waiter, and then sees
  // no request to stop, is rung by that request. And a ring either finds the new waiter, or is seen under
  // way.
  void ring() const noexcept {
    ringing_.fetch_add(1, std::memory_order_seq_cst);
    if (Wake* wake = wake_.load(std::memory_order_seq_cst)) wake->ring();
    // release: the ring is over for the thread that waits in set_wake().
    ringing_.fetch_sub(1, std::memory_order_release);
  }

  // ---- the context's thread; real-time safe ----

  /// Makes this thread the one that runs the context, and begins callbacks. Errors: already_running.
  [[nodiscard]] Status acquire() noexcept;
  /// The beginning of callbacks: until end_cycle(), a request of this thread is refused.
  void begin_cycle() noexcept {
    mark_thread();
    busy_ = true;
  }
  /// Runs the calls that came since the last boundary.
  void apply() noexcept {
    // relaxed: the exchange in take() orders; a call that this load misses waits for the next boundary.
    if (posted_.load(std::memory_order_relaxed) != nullptr) take();
  }
  /// The end of callbacks: until begin_cycle(), the context's own thread may call run(), too.
  void end_cycle() noexcept { busy_ = false; }
  /// Runs the last calls, and lets others run the context.
  void release() noexcept;
  /// Whether a thread runs the context.
  [[nodiscard]] bool is_running() const noexcept {
    return runner_.load(std::memory_order_acquire) == Runner::thread;
  }

 private:
  enum class Runner : std::uint8_t { none, borrower, thread };
  /// posted --> running --> done; or, if the caller gives up, posted --> cancelled --> released.
  enum class Progress : std::uint8_t { posted, running, done, cancelled, released };

  struct Node {
    virtual ~Node() = default;
    virtual Status invoke() noexcept = 0;

    Node* next = nullptr;
    Status status;
    std::shared_ptr<const CallNote> note;  ///< null: none; its caller frees it
    std::atomic<Progress> progress{Progress::posted};
  };
  template <class Call>
  struct NodeOf final : Node {
    explicit NodeOf(Call to_call) : call(std::move(to_call)) {}
    Status invoke() noexcept override { return call(); }
    Call call;
  };

  [[nodiscard]] Status run(std::unique_ptr<Node> node, Duration patience);
  void run_later(std::unique_ptr<Node> node);
  void mark_thread() noexcept;
  void post(Node* node) noexcept;
  void take() noexcept;
  [[nodiscard]] bool borrow() noexcept;
  void give_back() noexcept;
  void abandon(std::unique_ptr<Node> node);

  std::atomic<Node*> posted_{nullptr};
  std::atomic<std::uint32_t> pending_{0};
  std::atomic<Runner> runner_{Runner::none};
  /// The thread that runs or has borrowed the context, as the address of one of its variables.
  std::atomic<const void*> thread_{nullptr};
  bool busy_ = false;  ///< that thread is inside a cycle or a call; only it asks
  CallWitness* witness_ = nullptr;
  std::atomic<Wake*> wake_{nullptr};
  mutable std::atomic<std::uint32_t> ringing_{0};  ///< rings under way
  CallersMutex abandoned_mutex_;                   ///< callers only
  std::vector<std::unique_ptr<Node>>
      abandoned_;  ///< of callers that gave up, until the context lets go of them
};

}  // namespace takt::component
