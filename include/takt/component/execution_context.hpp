// An execution context runs components, in a thread of the caller's choice. Each cycle has three sweeps over
// the components, in their order:
//
//   1 transitions    failures of the last cycle, then all requests and migrations that have arrived
//   2 execute        on_execute() of active components that are due, on_error() of those in the state error
//   3 state update   on_state_update() of the active ones, after all have executed
//
// The context does not know the time. drivers.hpp runs it periodically, on events, by ticks, or in virtual
// time. Requests may come from any thread at any time. They take effect at the next cycle boundary, in the
// context's thread, and answer within a bounded time. Without a thread that runs the context, they take
// effect at once, in the caller's thread.
//
// The cycle is real-time safe: it neither allocates, locks nor waits.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "takt/component/boundary_calls.hpp"
#include "takt/component/callers_mutex.hpp"
#include "takt/component/component.hpp"
#include "takt/component/placement.hpp"
#include "takt/core/error.hpp"
#include "takt/core/setup_error.hpp"
#include "takt/core/time.hpp"
#include "takt/rt/logger.hpp"
#include "takt/rt/periodic_loop.hpp"
#include "takt/rt/tracer.hpp"

namespace takt::component {

/// A component in a context, as data.
struct Participant {
  Component* component = nullptr;
  ComponentState state = ComponentState::inactive;
  Error error;  ///< reason of the state error
  Placement placement;
  std::uint64_t executions = 0;   ///< calls of on_execute() in this context
  std::uint64_t over_budget = 0;  ///< of them, those beyond the budget
  Duration last{};                ///< duration of the last on_execute(), if it has a budget
  Duration longest{};             ///< of the longest one
};

/// The component moves to another context and keeps its state.
struct Migration {
  Component* component = nullptr;
  ExecutionContext* to = nullptr;
  Placement placement;
};

/// A set of changes that take effect together: all in one boundary of one context, or none.
struct Switch {
  std::vector<Component*> deactivate;  ///< active ones, in this order
  /// Inactive ones, in this order. A component in both lists restarts.
  std::vector<Component*> activate;
  std::vector<Migration> migrate;  ///< inactive, active or failed ones
};

/// The result of a switch.
struct SwitchResult {
  Status status;
  Component* culprit = nullptr;  ///< which component a request or callback failed for; null: none
  Error cause;                   ///< what its callback answered, for rolled_back and rollback_failed
};

/// The configuration of a context.
struct ContextConfig {
  std::string name = "main";
  Duration period{};  ///< nominal, for CycleTime::period; 0: none
  std::size_t max_components = 128;
};

/// Tells the time for budgets. Real-time safe.
class BudgetClock {
 public:
  virtual ~BudgetClock() = default;
  /// The present time, of any epoch.
  [[nodiscard]] virtual Time now() noexcept = 0;
};

/// Runs components. See the top of this file.
class ExecutionContext {
 public:
  explicit ExecutionContext(ContextConfig config = {});
  ExecutionContext(const ExecutionContext&) = delete;
  ExecutionContext& operator=(const ExecutionContext&) = delete;
  /// No thread may run the context any more. Its components participate in no context then.
  ~ExecutionContext();

  // ---- requests: any thread, but not from inside the cycle; bounded; not real-time safe ----
  //
  // Each returns the errors of BoundaryCalls::run() besides its own.

  /// Lets a component participate, as inactive. Initializes it first if it is created.
  /// Errors: already_participates, too_many_components, bad_rate, wrong_state (finalised); those of
  /// Component::initialize().
  [[nodiscard]] SetupResult<void> add(Component& component, const Placement& placement = {},
                                      Duration patience = default_patience);
  /// Ends the participation. Errors: not_a_participant, wrong_state (active).
  [[nodiscard]] Status remove(Component& component, Duration patience = default_patience);

  /// Leads an inactive component to active. If on_activate() fails, the component is in the state error.
  /// Errors: not_a_participant, wrong_state; that of on_activate().
  [[nodiscard]] Status activate(Component& component, Duration patience = default_patience);
  /// Leads an active component to inactive. Errors: not_a_participant, wrong_state.
  [[nodiscard]] Status deactivate(Component& component, Duration patience = default_patience);
  /// Leads a failed component to inactive. Errors: not_a_participant, wrong_state; that of on_reset().
  [[nodiscard]] Status reset(Component& component, Duration patience = default_patience);
  /// Changes order, rate and budget. Errors: not_a_participant, bad_rate.
  [[nodiscard]] Status place(Component& component, const Placement& placement,
                             Duration patience = default_patience);

  /// Applies a set of changes in one boundary, or none of them. If an activation fails, the components return
  /// to their previous states. The failed one becomes inactive after on_abort(). Those activated before it
  /// become inactive, and those deactivated before it active. A component whose return fails is in the state
  /// error.
  ///
  /// Errors: not_a_participant, wrong_state, named_twice, bad_rate, too_many_components (of a target);
  /// rolled_back, rollback_failed.
  [[nodiscard]] SwitchResult apply(const Switch& request, Duration patience = default_patience);

  /// How many components participants() copies in one boundary, so that no listing makes a cycle long.
  static constexpr std::size_t rows_per_boundary = 64;
  /// The components, in their order. With more than rows_per_boundary, the rows are of successive cycles.
  [[nodiscard]] Result<std::vector<Participant>> participants(Duration patience = default_patience);

  /// The statistics of the loop that runs the context: cycles, missed periods, lateness, work. Zeros without
  /// a periodic loop. A boundary copies them, which takes about a microsecond.
  [[nodiscard]] Result<rt::LoopStatistics> loop_statistics(Duration patience = default_patience);

  /// Runs `call() noexcept -> Status` between two cycles, in the context's thread (boundary_calls.hpp).
  template <class Call>
  [[nodiscard]] Status call(Call call, Duration patience = default_patience) {
    return calls_.run(std::move(call), patience);
  }

  /// The state of a component here; created for a stranger. Any thread; real-time safe.
  [[nodiscard]] ComponentState state_of(const Component& component) const noexcept {
    return component.context() == this ? component.state() : ComponentState::created;
  }

  // ---- running it: one thread; real-time safe ----

  /// Makes this thread the context's. Calls on_startup() of all components. Errors: already_running.
  [[nodiscard]] Status start(Time now) noexcept;
  /// One cycle, between start() and stop(). `now` is its nominal time; `measured` the time since the cycle
  /// before.
  void run_cycle(Time now, Duration measured) noexcept;
  /// Calls on_shutdown() of all components, and lets another thread start the context.
  void stop(Time now) noexcept;

  /// The three sweeps of run_cycle(), for composites.
  void transitions(Time now, Duration measured) noexcept;
  void execute() noexcept;
  void state_update() noexcept;

  /// The two halves of transitions(): what the last cycle left; then the requests that have come.
  void begin_boundary(Time now, Duration measured) noexcept;
  void apply_requests() noexcept { calls_.apply(); }

  // For a manager, between begin_boundary() and the end of the cycle.

  /// Leads components that failed, or must retire, to their next state now, instead of at the next cycle.
  /// Returns whether there was any.
  bool settle() noexcept;
  /// One transition at once. A component whose activation fails becomes inactive again, as in a switch.
  /// Errors: not_a_participant, wrong_state; that of the callback.
  [[nodiscard]] Status lead(Component& component, Transition transition) noexcept;
  /// Leads an active component to the state error, for this reason. Errors: not_a_participant, wrong_state.
  [[nodiscard]] Status end(Component& component, Error reason) noexcept;
  /// Lets an initialized component participate, as inactive, at a boundary. Errors: as add().
  [[nodiscard]] Status add_now(Component& component, const Placement& placement) noexcept;
  /// Ends the participation, at a boundary. Errors: as remove().
  [[nodiscard]] Status remove_now(Component& component) noexcept;
  /// Gives the components the orders 0, 1, 2, ..., at a boundary. `order` has all that participate.
  void reorder(std::span<const Component* const> order) noexcept;
  /// Executes an active component out of its turn, because it was activated after execute(). Errors:
  /// not_a_participant, wrong_state.
  [[nodiscard]] Status execute_now(Component& component) noexcept;

  /// Between two cycles: applies what the last cycle left and the requests that have come. Executes nothing.
  /// Returns whether a component became active or arrived, and so may have missed an event.
  bool serve(Time now) noexcept;
  /// Whether there was a wake() since the last call.
  bool take_event() noexcept {
    // acquire: the cycle sees what was written before the event.
    return event_.exchange(false, std::memory_order_acquire);
  }

  /// Asks the driver to stop after the present cycle. Any thread.
  void request_stop() noexcept {
    stop_.store(true, std::memory_order_seq_cst);
    calls_.ring();
  }
  /// Whether a stop was requested, also before the start. stop() clears it.
  [[nodiscard]] bool stop_requested() const noexcept { return stop_.load(std::memory_order_seq_cst); }

  // ---- what it is; any thread; real-time safe ----

  /// The name from the configuration.
  [[nodiscard]] const std::string& name() const noexcept { return config_.name; }
  /// The nominal period; 0: none.
  [[nodiscard]] Duration period() const noexcept { return config_.period; }
  /// Changes the nominal period, while no thread runs the context. Errors: already_running; bad_rate (not
  /// positive).
  [[nodiscard]] Status set_period(Duration period, Duration patience = default_patience);
  [[nodiscard]] bool is_running() const noexcept { return calls_.is_running(); }
  /// The number of cycles since the context exists.
  [[nodiscard]] std::uint64_t cycles() const noexcept { return cycles_.load(std::memory_order_acquire); }
  /// The component whose callback runs at this moment; null: none. For a watchdog.
  [[nodiscard]] const Component* running_component() const noexcept {
    return at_.load(std::memory_order_relaxed);
  }
  /// Who wakes the context's thread after a request; null: nobody. Only the context's thread sets it. When it
  /// returns, nobody uses the former one.
  void set_wake(Wake* wake) noexcept { calls_.set_wake(wake); }
  /// Tells that there is an event: a context that runs on events executes a cycle.
  void wake() const noexcept {
    event_.store(true, std::memory_order_release);
    calls_.ring();
  }
  /// Ends the sleep of the context's thread. Alone, it is no event.
  void ring() const noexcept { calls_.ring(); }
  /// The witness of calls with a note (boundary_calls.hpp); null: none. No other thread uses the context
  /// meanwhile.
  void set_witness(CallWitness* witness) noexcept { calls_.set_witness(witness); }
  /// The clock of the budgets; null: none, so budgets are not measured. Only the context's thread sets it,
  /// or a thread that is alone with the context.
  void set_budget_clock(BudgetClock* clock) noexcept { clock_ = clock; }
  /// The statistics of the loop that runs it; null: none. Likewise.
  void set_loop_statistics(const rt::LoopStatistics* statistics) noexcept { statistics_ = statistics; }

  /// Records the callbacks of each component in the present cycle as a span; null: not. Only the context's
  /// thread sets it, between two cycles.
  void set_tracer(rt::Tracer* tracer) noexcept { tracer_ = tracer; }
  /// The logger of its components; null: none. Only the context's thread sets it, or a thread that is alone
  /// with the context.
  void set_logger(rt::Logger* logger) noexcept { logger_ = logger; }
  /// The time of the present cycle, or of the last one. Only the context's thread.
  [[nodiscard]] Time now() const noexcept { return now_; }
  /// The logger, at the time of the present cycle; null: none. Only the context's thread.
  [[nodiscard]] rt::Logger* logger() noexcept {
    if (logger_ != nullptr) logger_->set_time(now_);
    return logger_;
  }

  /// What happens between the activation of a new component and the deactivation of the old one.
  struct Handover {
    virtual ~Handover() = default;
    /// Real-time safe.
    virtual void perform() noexcept = 0;
  };
  /// For component::replace(), at a boundary of the context: `fresh` takes the slot of `old`. Real-time safe.
  /// Errors: not_a_participant, wrong_state, already_participates; that of on_activate().
  [[nodiscard]] Status replace(Component& old, Component& fresh, Handover& handover) noexcept;

 private:
  friend class Component;

  struct Slot {
    Participant row;
    std::uint32_t wait = 0;  ///< cycles until it is due
    bool due = false;        ///< in this cycle
    bool failing = false;    ///< leads to the transition fail, at the beginning of the next cycle
    bool retiring = false;   ///< leads to deactivate, likewise
  };
  /// A component on its way from another context. The target owns it, and frees it outside the cycle.
  struct Arrival {
    Slot slot;
    Arrival* next = nullptr;
    std::atomic<bool> over{false};  ///< adopted, or withdrawn
  };
  struct SwitchJob;

  [[nodiscard]] Slot* find(const Component* component) noexcept;
  void number_slots(std::size_t first) noexcept;
  [[nodiscard]] std::uint32_t wait_of(const Placement& placement) const noexcept;
  [[nodiscard]] CycleTime time_of(const Slot& slot) const noexcept;
  void insert(const Slot& slot) noexcept;
  void erase(Slot* slot) noexcept;
  void adopt() noexcept;
  void forget(const Component& component);
  void settle(Slot& slot) noexcept;
  void settle_all() noexcept;

  [[nodiscard]] Status transit(Slot& slot, Transition transition, Error reason = {}) noexcept;
  Status call_back(Slot& slot, Callback callback) noexcept;
  void set_state(Slot& slot, ComponentState state, Error reason = {}) noexcept;
  void failed(Slot& slot, Error reason) noexcept;
  void execute(Slot& slot, const CycleTime& time) noexcept;
  void execute_with_budget(Slot& slot, const CycleTime& time) noexcept;

  [[nodiscard]] Status check(const SwitchJob& job, Component*& culprit) noexcept;
  void perform(SwitchJob& job) noexcept;
  void roll_back(SwitchJob& job, std::size_t activated) noexcept;
  [[nodiscard]] Result<Arrival*> expect_arrival(Duration patience);
  void withdraw(Arrival* arrival);
  static void withdraw_all(const SwitchJob& job);
  void settle_arrivals(Duration patience);
  void push(Arrival* arrival) noexcept;
  [[nodiscard]] Status request(Component& component, Transition transition, Duration patience);

  ContextConfig config_;
  BoundaryCalls calls_;
  std::vector<Slot> slots_;   ///< reserved at construction
  std::size_t reserved_ = 0;  ///< slots for migrations that were prepared
  std::uint64_t layout_ = 0;  ///< changes of slots_ so far
  std::atomic<Arrival*> arrivals_{nullptr};
  CallersMutex expected_mutex_;                     ///< callers only
  std::vector<std::unique_ptr<Arrival>> expected_;  ///< arrivals that are not over, and some that are
  BudgetClock* clock_ = nullptr;
  const rt::LoopStatistics* statistics_ = nullptr;
  rt::Tracer* tracer_ = nullptr;
  rt::Logger* logger_ = nullptr;
  Time now_{};
  Duration measured_{};
  std::uint64_t index_ = 0;
  bool unsettled_ = false;  ///< a slot is failing or retiring
  bool joined_ = false;     ///< a component became active or arrived, since serve() began
  std::atomic<std::uint64_t> cycles_{0};
  std::atomic<const Component*> at_{nullptr};
  mutable std::atomic<bool> event_{false};
  std::atomic<bool> stop_{false};
};

}  // namespace takt::component
