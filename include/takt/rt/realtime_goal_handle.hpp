// A goal that a real-time loop works on for a client on another thread. The loop reports feedback and, once,
// the end of the goal. The other thread calls run_non_realtime() now and then, which delivers them.
//
//     takt::rt::RealtimeGoalHandle<Result, Feedback> goal;
//     if (goal.cancel_requested()) goal.set_canceled(result);   // the loop
//     goal.set_feedback({error});
//     const bool over = goal.run_non_realtime(                  // the other thread
//         [&](const Feedback& feedback) { client.send(feedback); },
//         [&](takt::rt::GoalOutcome outcome, const Result& result) { client.finish(outcome, result); });
//
// The owner of the handle is the other thread: it keeps the handle until run_non_realtime() returned true and
// the loop no longer uses it. To pass the handle to the loop, put a std::shared_ptr into a RealtimeBuffer.
#pragma once

#include <atomic>
#include <cstdint>
#include <type_traits>

#include "takt/shm/latest_value.hpp"
#include "takt/shm/memory.hpp"

namespace takt::rt {

/// How a goal ended. motion::GoalState has the same words, but calls a canceled goal `preempted`.
enum class GoalOutcome : std::uint8_t { succeeded, aborted, canceled };

/// For goals whose end has no result, or that give no feedback.
struct NoGoalData {};

/// The exchange between the loop that works on a goal and the thread of its client. Two shm::LatestValue
/// carry the newest feedback and the end.
template <class Result = NoGoalData, class Feedback = NoGoalData>
class RealtimeGoalHandle {
  static_assert(std::is_trivially_copyable_v<Result> && std::is_trivially_copyable_v<Feedback>,
                "the loop writes them, and must neither allocate nor free");

 public:
  RealtimeGoalHandle() = default;
  RealtimeGoalHandle(const RealtimeGoalHandle&) = delete;
  RealtimeGoalHandle& operator=(const RealtimeGoalHandle&) = delete;

  // For the loop. Wait-free and real-time safe.

  /// Ends the goal. Returns false without effect if it has ended: the first end counts.
  bool set_succeeded(const Result& result = {}) noexcept { return end(GoalOutcome::succeeded, result); }
  /// As set_succeeded().
  bool set_aborted(const Result& result = {}) noexcept { return end(GoalOutcome::aborted, result); }
  /// As set_succeeded(). The goal may be canceled without a request.
  bool set_canceled(const Result& result = {}) noexcept { return end(GoalOutcome::canceled, result); }

  /// Replaces the feedback. Returns false without effect if the goal has ended.
  bool set_feedback(const Feedback& feedback) noexcept {
    if (realtime_.end.has_ended) return false;
    feedback_.write({feedback, ++realtime_.end.feedbacks});
    return true;
  }

  /// Whether the client wants the goal to end. Any thread may call it.
  [[nodiscard]] bool cancel_requested() const noexcept {
    // acquire: pairs with request_cancel(), so that what its caller wrote before is visible.
    return cancel_.load(std::memory_order_acquire);
  }

  // For the other thread. Waits for nothing.

  /// Asks the loop to end the goal. Any thread may call it.
  void request_cancel() noexcept { cancel_.store(true, std::memory_order_release); }

  /// Calls on_feedback(const Feedback&) if there is new feedback, and then on_end(GoalOutcome, const Result&)
  /// if the goal has ended; each at most once per report. The last feedback comes before the end. Returns
  /// whether the end was delivered, now or before.
  template <class OnFeedback, class OnEnd>
  requires std::is_invocable_v<OnFeedback&, const Feedback&> &&
      std::is_invocable_v<OnEnd&, GoalOutcome, const Result&>
  bool run_non_realtime(OnFeedback&& on_feedback, OnEnd&& on_end) {
    // The end is looked up first: once it is visible, so is all feedback from before it.
    const bool ends_now = end_.update() != shm::Freshness::none && !other_.end.has_ended;
    if (feedback_.update() == shm::Freshness::new_data) {
      const Numbered& feedback = feedback_.value();
      other_.end.overwritten += feedback.number - other_.end.seen - 1;
      other_.end.seen = feedback.number;
      on_feedback(feedback.value);
    }
    if (ends_now) {
      other_.end.has_ended = true;
      on_end(end_.value().outcome, end_.value().result);
    }
    return other_.end.has_ended;
  }

  /// Feedback that newer feedback replaced before it was delivered.
  [[nodiscard]] std::uint64_t overwritten_feedback() const noexcept { return other_.end.overwritten; }

 private:
  struct End {
    GoalOutcome outcome{};
    Result result{};
  };
  struct Numbered {
    Feedback value{};
    std::uint64_t number = 0;
  };
  struct Realtime {
    bool has_ended = false;
    std::uint64_t feedbacks = 0;
  };
  struct Other {
    bool has_ended = false;
    std::uint64_t seen = 0;  // the number of the last delivered feedback
    std::uint64_t overwritten = 0;
  };

  bool end(GoalOutcome outcome, const Result& result) noexcept {
    if (realtime_.end.has_ended) return false;
    realtime_.end.has_ended = true;
    end_.write({outcome, result});
    return true;
  }

  std::atomic<bool> cancel_{false};
  shm::LatestValue<End> end_;
  shm::LatestValue<Numbered> feedback_;
  shm::OwnLine<Realtime> realtime_;
  shm::OwnLine<Other> other_;
};

}  // namespace takt::rt
