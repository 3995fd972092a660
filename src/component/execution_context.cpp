#include "takt/component/execution_context.hpp"

#include <algorithm>
#include <utility>

namespace takt::component {
namespace {

[[nodiscard]] bool is_valid(const Placement& placement) noexcept {
  return placement.divisor > 0 && placement.phase < placement.divisor && placement.budget >= Duration(0);
}

}  // namespace

/// A switch while it is applied. It outlives a caller that gives up.
struct ExecutionContext::SwitchJob {
  Switch request;
  std::vector<Arrival*> arrivals;  ///< one for each migration
  SwitchResult result;
};

ExecutionContext::ExecutionContext(ContextConfig config) : config_(std::move(config)) {
  slots_.reserve(config_.max_components);
}

ExecutionContext::~ExecutionContext() {
  adopt();
  for (Slot& slot : slots_) slot.row.component->context_.store(nullptr, std::memory_order_release);
}

// ---- slots: the context's thread ----

ExecutionContext::Slot* ExecutionContext::find(const Component* component) noexcept {
  const auto place =
      std::find_if(slots_.begin(), slots_.end(), [&](const Slot& s) { return s.row.component == component; });
  return place == slots_.end() ? nullptr : &*place;
}

std::uint32_t ExecutionContext::wait_of(const Placement& placement) const noexcept {
  const auto now = static_cast<std::uint32_t>(index_ % placement.divisor);
  return (placement.phase + placement.divisor - now) % placement.divisor;
}

CycleTime ExecutionContext::time_of(const Slot& slot) const noexcept {
  return {now_, config_.period * slot.row.placement.divisor, measured_, index_};
}

void ExecutionContext::insert(const Slot& slot) noexcept {
  const auto place = std::upper_bound(slots_.begin(), slots_.end(), slot, [](const Slot& a, const Slot& b) {
    return a.row.placement.order < b.row.placement.order;
  });
  slots_.insert(place, slot);  // within the reserved capacity
}

void ExecutionContext::erase(Slot* slot) noexcept { slots_.erase(slots_.begin() + (slot - slots_.data())); }

void ExecutionContext::adopt() noexcept {
  // relaxed: the exchange orders; an arrival that this load misses waits for the next boundary.
  if (arrivals_.load(std::memory_order_relaxed) == nullptr) return;
  // acquire: the component's last callbacks in its former context are visible here.
  Arrival* newest = arrivals_.exchange(nullptr, std::memory_order_acquire);
  Arrival* arrival = nullptr;
  while (newest != nullptr) {
    Arrival* older = std::exchange(newest->next, arrival);
    arrival = std::exchange(newest, older);
  }
  while (arrival != nullptr) {
    Arrival* next = arrival->next;
    Slot slot = arrival->slot;
    slot.wait = wait_of(slot.row.placement);
    --reserved_;
    insert(slot);
    call_back(*find(slot.row.component), Callback::on_rate_change);
    unsettled_ = unsettled_ || slot.failing || slot.retiring;
    // release: a caller may free the arrival now.
    arrival->over.store(true, std::memory_order_release);
    arrival = next;
  }
}

// ---- callbacks and transitions: the context's thread ----

Status ExecutionContext::call_back(Slot& slot, Callback callback) noexcept {
  Component& component = *slot.row.component;
  const CycleTime time = time_of(slot);
  // relaxed: only a watchdog reads it, and only to name the component.
  at_.store(&component, std::memory_order_relaxed);
  Status status;
  switch (callback) {
    case Callback::on_activate:
      status = component.on_activate(time);
      break;
    case Callback::on_deactivate:
      component.on_deactivate(time);
      break;
    case Callback::on_abort:
      component.on_abort(time);
      break;
    case Callback::on_reset:
      status = component.on_reset(time);
      break;
    case Callback::on_startup:
      component.on_startup(time);
      break;
    case Callback::on_shutdown:
      component.on_shutdown(time);
      break;
    case Callback::on_rate_change:
      component.on_rate_change(time);
      break;
    default:
      break;
  }
  at_.store(nullptr, std::memory_order_relaxed);
  return status;
}

void ExecutionContext::set_state(Slot& slot, ComponentState state, Error reason) noexcept {
  slot.row.state = state;
  slot.row.error = reason;
  slot.failing = slot.retiring = false;
  slot.row.component->set_state(state, reason);
}

Status ExecutionContext::transit(Slot& slot, Transition transition, Error reason) noexcept {
  const auto row = find_transition(slot.row.state, transition);
  if (!row) return fail(Errc::wrong_state);
  for (const Callback callback : row->callbacks) {
    const Status status = call_back(slot, callback);
    if (status) continue;
    const bool enters_error =
        row->if_it_fails == ComponentState::error && slot.row.state != ComponentState::error;
    set_state(slot, row->if_it_fails, status.error());
    if (enters_error) call_back(slot, Callback::on_abort);
    return status;
  }
  set_state(slot, row->to, reason);
  return {};
}

void ExecutionContext::failed(Slot& slot, Error reason) noexcept {
  slot.failing = true;
  slot.row.error = reason;
  unsettled_ = true;
}

/// Does what the last cycle left for the beginning of this one.
void ExecutionContext::settle(Slot& slot) noexcept {
  if (slot.failing) {
    (void)transit(slot, Transition::fail, slot.row.error);
  } else if (slot.retiring) {
    (void)transit(slot, Transition::deactivate);
  }
}

// ---- the cycle ----

Status ExecutionContext::start(Time now) noexcept {
  if (const Status status = calls_.acquire(); !status) return status;
  now_ = now;
  measured_ = {};
  adopt();
  for (Slot& slot : slots_) call_back(slot, Callback::on_startup);
  calls_.end_cycle();
  return {};
}

void ExecutionContext::run_cycle(Time now, Duration measured) noexcept {
  transitions(now, measured);
  execute();
  state_update();
}

void ExecutionContext::stop(Time now) noexcept {
  calls_.begin_cycle();
  now_ = now;
  adopt();
  for (Slot& slot : slots_) call_back(slot, Callback::on_shutdown);
  // relaxed: the release of the runner publishes it to the next one.
  stop_.store(false, std::memory_order_relaxed);
  calls_.release();
}

void ExecutionContext::transitions(Time now, Duration measured) noexcept {
  begin_boundary(now, measured);
  apply_requests();
}

void ExecutionContext::begin_boundary(Time now, Duration measured) noexcept {
  calls_.begin_cycle();
  now_ = now;
  measured_ = measured;
  adopt();
  settle_all();
}

void ExecutionContext::settle_all() noexcept {
  if (!unsettled_) return;
  unsettled_ = false;
  for (Slot& slot : slots_) settle(slot);
}

void ExecutionContext::execute() noexcept {
  CycleTime time{now_, config_.period, measured_, index_};
  for (Slot& slot : slots_) {
    slot.due = slot.wait == 0;
    if (!slot.due) {
      --slot.wait;
      continue;
    }
    slot.wait = slot.row.placement.divisor - 1;
    if (slot.row.state == ComponentState::inactive) continue;
    Component& component = *slot.row.component;
    time.period = config_.period * slot.row.placement.divisor;
    at_.store(&component, std::memory_order_relaxed);
    if (slot.row.state == ComponentState::error) {
      component.on_error(time);
    } else {
      execute(slot, time);
    }
  }
}

void ExecutionContext::execute(Slot& slot, const CycleTime& time) noexcept {
  if (slot.row.placement.budget > Duration(0) && clock_ != nullptr) return execute_with_budget(slot, time);
  ++slot.row.executions;
  if (const Status status = slot.row.component->on_execute(time); !status) failed(slot, status.error());
}

void ExecutionContext::execute_with_budget(Slot& slot, const CycleTime& time) noexcept {
  Participant& row = slot.row;
  ++row.executions;
  const Time before = clock_->now();
  const Status status = row.component->on_execute(time);
  row.last = clock_->now() - before;
  row.longest = std::max(row.longest, row.last);
  if (!status) failed(slot, status.error());
  if (row.last <= row.placement.budget) return;
  ++row.over_budget;
  if (row.placement.over_budget == BudgetAction::error && !slot.failing) failed(slot, Errc::over_budget);
  if (row.placement.over_budget == BudgetAction::deactivate) slot.retiring = unsettled_ = true;
}

void ExecutionContext::state_update() noexcept {
  const CycleTime base{now_, config_.period, measured_, index_};
  for (Slot& slot : slots_) {
    if (!slot.due || slot.failing || slot.row.state != ComponentState::active) continue;
    CycleTime time = base;
    time.period = config_.period * slot.row.placement.divisor;
    at_.store(slot.row.component, std::memory_order_relaxed);
    if (const Status status = slot.row.component->on_state_update(time); !status)
      failed(slot, status.error());
  }
  at_.store(nullptr, std::memory_order_relaxed);
  ++index_;
  // release: who sees the count sees what the cycle did.
  cycles_.store(index_, std::memory_order_release);
  calls_.end_cycle();
}

// ---- for a manager ----

bool ExecutionContext::settle() noexcept {
  if (!unsettled_) return false;
  settle_all();
  return true;
}

Status ExecutionContext::lead(Component& component, Transition transition) noexcept {
  Slot* slot = find(&component);
  if (slot == nullptr) return fail(Errc::not_a_participant);
  const Status status = transit(*slot, transition);
  if (!status && transition == Transition::activate && slot->row.state == ComponentState::error)
    set_state(*slot, ComponentState::inactive);
  return status;
}

Status ExecutionContext::end(Component& component, Error reason) noexcept {
  Slot* slot = find(&component);
  if (slot == nullptr) return fail(Errc::not_a_participant);
  return transit(*slot, Transition::fail, reason);
}

Status ExecutionContext::execute_now(Component& component) noexcept {
  Slot* slot = find(&component);
  if (slot == nullptr) return fail(Errc::not_a_participant);
  if (slot->row.state != ComponentState::active) return fail(Errc::wrong_state);
  execute(*slot, time_of(*slot));
  return {};
}

// ---- requests ----

SetupResult<void> ExecutionContext::add(Component& component, const Placement& placement, Duration patience) {
  if (!is_valid(placement))
    return fail(Errc::bad_rate, "the divisor must be positive and the phase below it");
  if (component.state() == ComponentState::created) {
    if (auto made = component.initialize(); !made) return made;
  }
  const Status status = calls_.run(
      [this, &component, placement]() noexcept -> Status {
        adopt();
        if (component.state() != ComponentState::inactive) return fail(Errc::wrong_state);
        if (slots_.size() + reserved_ >= config_.max_components) return fail(Errc::too_many_components);
        ExecutionContext* none = nullptr;
        if (!component.context_.compare_exchange_strong(none, this, std::memory_order_acq_rel))
          return fail(Errc::already_participates);
        Slot slot;
        slot.row.component = &component;
        slot.row.placement = placement;
        slot.wait = wait_of(placement);
        insert(slot);
        if (is_running()) call_back(*find(&component), Callback::on_startup);
        return {};
      },
      patience);
  if (status) return {};
  return fail(status.error(), component.name() + " cannot join the context " + name());
}

Status ExecutionContext::remove(Component& component, Duration patience) {
  return calls_.run(
      [this, &component]() noexcept -> Status {
        adopt();
        Slot* slot = find(&component);
        if (slot == nullptr) return fail(Errc::not_a_participant);
        settle(*slot);
        if (slot->row.state == ComponentState::active) return fail(Errc::wrong_state);
        if (is_running()) call_back(*slot, Callback::on_shutdown);
        erase(slot);
        component.context_.store(nullptr, std::memory_order_release);
        return {};
      },
      patience);
}

// The new component is activated before it is connected. So a failure touches nothing of the old one.
Status ExecutionContext::replace(Component& old, Component& fresh, Handover& handover) noexcept {
  adopt();
  Slot* slot = find(&old);
  if (slot == nullptr) return fail(Errc::not_a_participant);
  settle(*slot);
  if (fresh.state() != ComponentState::inactive) return fail(Errc::wrong_state);
  ExecutionContext* none = nullptr;
  if (!fresh.context_.compare_exchange_strong(none, this, std::memory_order_acq_rel))
    return fail(Errc::already_participates);
  const bool was_active = slot->row.state == ComponentState::active;
  Slot next = *slot;
  next.row.component = &fresh;
  set_state(next, ComponentState::inactive);
  if (is_running()) call_back(next, Callback::on_startup);
  if (was_active) {
    if (const Status status = transit(next, Transition::activate); !status) {
      set_state(next, ComponentState::inactive);
      if (is_running()) call_back(next, Callback::on_shutdown);
      fresh.context_.store(nullptr, std::memory_order_release);
      return status;
    }
  }
  handover.perform();
  if (was_active) (void)transit(*slot, Transition::deactivate);
  if (is_running()) call_back(*slot, Callback::on_shutdown);
  *slot = next;
  old.context_.store(nullptr, std::memory_order_release);
  return {};
}

/// For the destructor of a component.
void ExecutionContext::forget(const Component& component) {
  const Component* gone = &component;
  (void)calls_.run(
      [this, gone]() noexcept -> Status {
        adopt();
        if (Slot* slot = find(gone)) erase(slot);
        return {};
      },
      default_patience);
}

Status ExecutionContext::activate(Component& component, Duration patience) {
  return request(component, Transition::activate, patience);
}

Status ExecutionContext::deactivate(Component& component, Duration patience) {
  return request(component, Transition::deactivate, patience);
}

Status ExecutionContext::reset(Component& component, Duration patience) {
  return request(component, Transition::reset, patience);
}

Status ExecutionContext::request(Component& component, Transition transition, Duration patience) {
  return calls_.run(
      [this, &component, transition]() noexcept -> Status {
        adopt();
        Slot* slot = find(&component);
        if (slot == nullptr) return fail(Errc::not_a_participant);
        settle(*slot);
        return transit(*slot, transition);
      },
      patience);
}

Status ExecutionContext::place(Component& component, const Placement& placement, Duration patience) {
  if (!is_valid(placement)) return fail(Errc::bad_rate);
  return calls_.run(
      [this, &component, placement]() noexcept -> Status {
        adopt();
        const Slot* found = find(&component);
        if (found == nullptr) return fail(Errc::not_a_participant);
        Slot slot = *found;
        erase(find(&component));
        slot.row.placement = placement;
        slot.wait = wait_of(placement);
        insert(slot);
        call_back(*find(&component), Callback::on_rate_change);
        return {};
      },
      patience);
}

Status ExecutionContext::set_period(Duration period, Duration patience) {
  if (period <= Duration(0)) return fail(Errc::bad_rate);
  return calls_.run(
      [this, period]() noexcept -> Status {
        if (is_running()) return fail(Errc::already_running);
        config_.period = period;
        for (Slot& slot : slots_) call_back(slot, Callback::on_rate_change);
        return {};
      },
      patience);
}

Result<std::vector<Participant>> ExecutionContext::participants(Duration patience) {
  auto rows = std::make_shared<std::vector<Participant>>();
  rows->reserve(config_.max_components);
  const Status status = calls_.run(
      [this, rows]() noexcept -> Status {
        adopt();
        for (const Slot& slot : slots_) rows->push_back(slot.row);  // within the reserved capacity
        return {};
      },
      patience);
  if (!status) return fail(status.error());
  return std::move(*rows);
}

Result<rt::LoopStatistics> ExecutionContext::loop_statistics(Duration patience) {
  auto copy = std::make_shared<rt::LoopStatistics>();
  const Status status = calls_.run(
      [this, copy]() noexcept -> Status {
        if (statistics_ != nullptr) *copy = *statistics_;
        return {};
      },
      patience);
  if (!status) return fail(status.error());
  return *copy;
}

// ---- switches ----

/// Keeps a slot free for a migration. The context's own thread counts the reservations.
auto ExecutionContext::expect_arrival(Duration patience) -> Result<Arrival*> {
  const Status status = calls_.run(
      [this]() noexcept -> Status {
        adopt();
        if (slots_.size() + reserved_ >= config_.max_components) return fail(Errc::too_many_components);
        ++reserved_;
        return {};
      },
      patience);
  if (!status) return fail(status.error());
  const std::lock_guard lock(expected_mutex_);
  // acquire: the context's thread touches an arrival no more once it is over.
  std::erase_if(expected_, [](const auto& old) { return old->over.load(std::memory_order_acquire); });
  return expected_.emplace_back(std::make_unique<Arrival>()).get();
}

void ExecutionContext::withdraw(Arrival* arrival) {
  calls_.run_later([this]() noexcept -> Status {
    --reserved_;
    return {};
  });
  arrival->over.store(true, std::memory_order_release);
}

// A target reserves a slot first. Then this context decides in one boundary: the migrating components leave
// it and are handed over, which cannot fail any more. Each runs in its target from the target's next boundary
// on.
SwitchResult ExecutionContext::apply(const Switch& request, Duration patience) {
  auto job = std::make_shared<SwitchJob>();
  job->request = request;
  for (const Migration& migration : request.migrate) {
    const bool can_move = migration.to != nullptr && migration.to != this && is_valid(migration.placement);
    const Result<Arrival*> arrival =
        can_move ? migration.to->expect_arrival(patience) : Result<Arrival*>(fail(Errc::bad_rate));
    if (!arrival) {
      withdraw_all(*job);
      return {fail(arrival.error()), migration.component, {}};
    }
    job->arrivals.push_back(*arrival);
  }
  const Status status = calls_.run(
      [this, job]() noexcept -> Status {
        adopt();
        settle_all();
        job->result.status = check(*job, job->result.culprit);
        if (job->result.status) perform(*job);
        return job->result.status;
      },
      patience);
  if (!status) {
    if (status.error() == Errc::stuck) return {status, nullptr, {}};  // the outcome is unknown
    withdraw_all(*job);
    return {status, job->result.culprit, job->result.cause};
  }
  for (const Migration& migration : request.migrate) migration.to->settle_arrivals(patience);
  return {};
}

void ExecutionContext::withdraw_all(const SwitchJob& job) {
  for (std::size_t i = 0; i < job.arrivals.size(); ++i) job.request.migrate[i].to->withdraw(job.arrivals[i]);
}

/// Waits for the adoption. A context that does not answer in time adopts at its next boundary.
void ExecutionContext::settle_arrivals(Duration patience) {
  (void)calls_.run(
      [this]() noexcept -> Status {
        adopt();
        return {};
      },
      patience);
}

Status ExecutionContext::check(const SwitchJob& job, Component*& culprit) noexcept {
  const Switch& request = job.request;
  const auto count = [](const std::vector<Component*>& list, const Component* component) {
    return std::count(list.begin(), list.end(), component);
  };
  const auto is_restarted = [&](const Component* component) {
    return count(request.deactivate, component) == 1;
  };
  for (Component* component : request.deactivate) {
    culprit = component;
    Slot* slot = find(component);
    if (slot == nullptr) return fail(Errc::not_a_participant);
    if (count(request.deactivate, component) != 1) return fail(Errc::named_twice);
    if (slot->row.state != ComponentState::active) return fail(Errc::wrong_state);
  }
  for (Component* component : request.activate) {
    culprit = component;
    Slot* slot = find(component);
    if (slot == nullptr) return fail(Errc::not_a_participant);
    if (count(request.activate, component) != 1) return fail(Errc::named_twice);
    if (slot->row.state != ComponentState::inactive && !is_restarted(component))
      return fail(Errc::wrong_state);
  }
  for (const Migration& migration : request.migrate) {
    culprit = migration.component;
    if (find(migration.component) == nullptr) return fail(Errc::not_a_participant);
    const auto same = [&](const Migration& m) { return m.component == migration.component; };
    if (std::count_if(request.migrate.begin(), request.migrate.end(), same) != 1)
      return fail(Errc::named_twice);
  }
  culprit = nullptr;
  return {};
}

void ExecutionContext::perform(SwitchJob& job) noexcept {
  const Switch& request = job.request;
  for (Component* component : request.deactivate) (void)transit(*find(component), Transition::deactivate);
  for (std::size_t i = 0; i < request.activate.size(); ++i) {
    Slot& slot = *find(request.activate[i]);
    const Status status = transit(slot, Transition::activate);
    if (status) continue;
    job.result = {fail(Errc::rolled_back), slot.row.component, status.error()};
    set_state(slot, ComponentState::inactive);
    roll_back(job, i);
    return;
  }
  for (std::size_t i = 0; i < request.migrate.size(); ++i) {
    const Migration& migration = request.migrate[i];
    Slot* slot = find(migration.component);
    Arrival* arrival = job.arrivals[i];
    arrival->slot = *slot;
    arrival->slot.row.placement = migration.placement;
    erase(slot);
    // release: requests that find the new context also find the effects of this one.
    migration.component->context_.store(migration.to, std::memory_order_release);
    migration.to->push(arrival);
  }
}

void ExecutionContext::push(Arrival* arrival) noexcept {
  Arrival* first = arrivals_.load(std::memory_order_relaxed);
  // release: the adopting thread sees the slot, and all that the component has done.
  do {
    arrival->next = first;
  } while (
      !arrivals_.compare_exchange_weak(first, arrival, std::memory_order_release, std::memory_order_relaxed));
  calls_.ring();
}

/// Restores the states from before the switch, in the reverse order.
void ExecutionContext::roll_back(SwitchJob& job, std::size_t activated) noexcept {
  const Switch& request = job.request;
  while (activated-- > 0) (void)transit(*find(request.activate[activated]), Transition::deactivate);
  for (std::size_t i = request.deactivate.size(); i-- > 0;) {
    if (transit(*find(request.deactivate[i]), Transition::activate)) continue;
    job.result.status = fail(Errc::rollback_failed);
    job.result.culprit = request.deactivate[i];
  }
}

}  // namespace takt::component
