#include "takt/component/boundary_calls.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

namespace takt::component {
namespace {

/// Its address identifies the thread.
thread_local char this_thread = 0;

/// The note of this thread's calls; null: none.
thread_local const std::shared_ptr<const CallNote>* this_note = nullptr;

using WallClock = std::chrono::steady_clock;

}  // namespace

NotedCalls::NotedCalls(CallNote note)
    : note_(std::make_shared<const CallNote>(std::move(note))), outer_(std::exchange(this_note, &note_)) {}

NotedCalls::~NotedCalls() { this_note = outer_; }

// A caller posts its call, and then waits until it has run: in the context's thread, or in a thread that
// borrows the idle context. So a call that is posted while the context stops is never forgotten.
Status BoundaryCalls::run(std::unique_ptr<Node> node, Duration patience) {
  // relaxed: only a store of this thread itself can be found equal.
  const bool is_own = thread_.load(std::memory_order_relaxed) == &this_thread;
  if (is_own && busy_) return fail(Errc::own_thread);
  // relaxed: the count only bounds the work of one boundary.
  if (pending_.fetch_add(1, std::memory_order_relaxed) >= max_pending) {
    pending_.fetch_sub(1, std::memory_order_relaxed);
    return fail(Errc::busy);
  }
  if (this_note != nullptr) node->note = *this_note;
  post(node.get());
  ring();
  patience = std::clamp(patience, Duration(0), time_reach);  // so that no sum overflows
  const auto deadline = WallClock::now() + patience;
  for (;;) {
    // acquire: the status, and all that the call did, are visible.
    if (node->progress.load(std::memory_order_acquire) == Progress::done) return node->status;
    if (is_own) {
      take();
      continue;
    }
    if (borrow()) {
      take();
      give_back();
      continue;
    }
    const auto now = WallClock::now();
    if (now >= deadline) {
      Progress progress = Progress::posted;
      // relaxed: a cancelled call has done nothing that anybody could see.
      if (node->progress.compare_exchange_strong(progress, Progress::cancelled, std::memory_order_relaxed)) {
        abandon(std::move(node));
        return fail(Errc::timed_out);
      }
      if (progress == Progress::running && now >= deadline + patience) {
        abandon(std::move(node));
        return fail(Errc::stuck);
      }
    }
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

void BoundaryCalls::run_later(std::unique_ptr<Node> node) {
  pending_.fetch_add(1, std::memory_order_relaxed);
  Node* call = node.get();
  abandon(std::move(node));
  post(call);
  ring();
  if (borrow()) {
    take();
    give_back();
  }
}

void BoundaryCalls::set_wake(Wake* wake) noexcept {
  wake_.store(wake, std::memory_order_seq_cst);
  while (ringing_.load(std::memory_order_seq_cst) != 0) std::this_thread::yield();
}

void BoundaryCalls::post(Node* node) noexcept {
  Node* first = posted_.load(std::memory_order_relaxed);
  // release: who takes the list sees the call.
  do {
    node->next = first;
  } while (!posted_.compare_exchange_weak(first, node, std::memory_order_release, std::memory_order_relaxed));
}

void BoundaryCalls::take() noexcept {
  const bool was_busy = std::exchange(busy_, true);
  Node* newest = posted_.exchange(nullptr, std::memory_order_acquire);
  Node* oldest = nullptr;
  while (newest != nullptr) {
    Node* next = std::exchange(newest->next, oldest);
    oldest = std::exchange(newest, next);
  }
  while (oldest != nullptr) {
    // The caller may free the node once it is done or released, so it is not touched after that.
    Node* node = std::exchange(oldest, oldest->next);
    pending_.fetch_sub(1, std::memory_order_relaxed);
    Progress progress = Progress::posted;
    // relaxed: the exchange above has made the call visible; a cancelled call needs no order.
    if (node->progress.compare_exchange_strong(progress, Progress::running, std::memory_order_relaxed)) {
      node->status = node->invoke();
      if (node->note != nullptr && node->status && witness_ != nullptr) witness_->ran(*node->note);
      node->progress.store(Progress::done, std::memory_order_release);
    } else {
      node->progress.store(Progress::released, std::memory_order_release);
    }
  }
  busy_ = was_busy;
}

// acquire and release on the runner: the runner sees the effects of the runner before it.
bool BoundaryCalls::borrow() noexcept {
  Runner none = Runner::none;
  if (!runner_.compare_exchange_strong(none, Runner::borrower, std::memory_order_acquire)) return false;
  mark_thread();
  return true;
}

void BoundaryCalls::give_back() noexcept {
  thread_.store(nullptr, std::memory_order_relaxed);
  runner_.store(Runner::none, std::memory_order_release);
}

void BoundaryCalls::mark_thread() noexcept { thread_.store(&this_thread, std::memory_order_relaxed); }

Status BoundaryCalls::acquire() noexcept {
  // A borrower gives back after a few calls, so this loop ends.
  for (;;) {
    Runner none = Runner::none;
    if (runner_.compare_exchange_weak(none, Runner::thread, std::memory_order_acquire)) break;
    if (none == Runner::thread) return fail(Errc::already_running);
    std::this_thread::yield();
  }
  begin_cycle();
  return {};
}

void BoundaryCalls::release() noexcept {
  take();
  busy_ = false;
  give_back();
}

void BoundaryCalls::abandon(std::unique_ptr<Node> node) {
  const std::lock_guard lock(abandoned_mutex_);
  std::erase_if(abandoned_, [](const std::unique_ptr<Node>& old) {
    const Progress progress = old->progress.load(std::memory_order_acquire);
    return progress == Progress::done || progress == Progress::released;
  });
  abandoned_.push_back(std::move(node));
}

}  // namespace takt::component
