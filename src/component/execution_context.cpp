#include "takt/component/execution_context.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "rt/traced.hpp"

namespace takt::component {

ExecutionContext::ExecutionContext(ContextConfig config) : config_(std::move(config)) {
  slots_.reserve(config_.max_components);
}

ExecutionContext::~ExecutionContext() {
  adopt();
  for (Slot& slot : slots_) slot.row.component->context_.store(nullptr, std::memory_order_release);
}

// ---- slots: the context's thread ----

ExecutionContext::Slot* ExecutionContext::find(const Component* component) noexcept {
  if (component == nullptr) return nullptr;
  // relaxed: this thread wrote the place of each component in the list, and a stranger's place fits none.
  const std::size_t place = component->slot_.load(std::memory_order_relaxed);
  return place < slots_.size() && slots_[place].row.component == component ? &slots_[place] : nullptr;
}

/// Tells the components from `first` on where they are.
void ExecutionContext::number_slots(std::size_t first) noexcept {
  for (std::size_t i = first; i < slots_.size(); ++i)
    slots_[i].row.component->slot_.store(static_cast<std::uint32_t>(i), std::memory_order_relaxed);
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
  const auto inserted = slots_.insert(place, slot);  // within the reserved capacity
  ++layout_;
  number_slots(static_cast<std::size_t>(inserted - slots_.begin()));
}

void ExecutionContext::erase(Slot* slot) noexcept {
  const auto place = slot - slots_.data();
  slots_.erase(slots_.begin() + place);
  ++layout_;
  number_slots(static_cast<std::size_t>(place));
}

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
    joined_ = true;
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
  joined_ = joined_ || state == ComponentState::active;
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

bool ExecutionContext::serve(Time now) noexcept {
  joined_ = false;
  transitions(now, measured_);
  calls_.end_cycle();
  return joined_;
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
  rt::traced(tracer_, slot.row.component->name_id(), [&] {
    if (slot.row.placement.budget > Duration(0) && clock_ != nullptr) return execute_with_budget(slot, time);
    ++slot.row.executions;
    if (const Status status = slot.row.component->on_execute(time); !status) failed(slot, status.error());
  });
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
    rt::traced(tracer_, slot.row.component->name_id(), [&] {
      if (const Status status = slot.row.component->on_state_update(time); !status)
        failed(slot, status.error());
    });
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

Status ExecutionContext::add_now(Component& component, const Placement& placement) noexcept {
  adopt();
  if (!placement.is_valid()) return fail(Errc::bad_rate);
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
}

Status ExecutionContext::remove_now(Component& component) noexcept {
  adopt();
  Slot* slot = find(&component);
  if (slot == nullptr) return fail(Errc::not_a_participant);
  settle(*slot);
  if (slot->row.state == ComponentState::active) return fail(Errc::wrong_state);
  if (is_running()) call_back(*slot, Callback::on_shutdown);
  erase(slot);
  component.context_.store(nullptr, std::memory_order_release);
  return {};
}

void ExecutionContext::reorder(std::span<const Component* const> order) noexcept {
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (Slot* slot = find(order[i])) slot->row.placement.order = static_cast<int>(i);
  }
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    // Each swap brings one slot to its place, and none away from it. So this ends, whatever the list says.
    for (;;) {
      const auto place = static_cast<std::size_t>(slots_[i].row.placement.order);
      if (place >= slots_.size() || slots_[place].row.placement.order == static_cast<int>(place)) break;
      std::swap(slots_[i], slots_[place]);
    }
  }
  ++layout_;
  number_slots(0);
}

// ---- requests ----

SetupResult<void> ExecutionContext::add(Component& component, const Placement& placement, Duration patience) {
  if (!placement.is_valid())
    return fail(Errc::bad_rate, "the divisor must be positive and the phase below it");
  if (component.state() == ComponentState::created) {
    if (auto made = component.initialize(); !made) return made;
  }
  const Status status = calls_.run(
      [this, &component, placement]() noexcept { return add_now(component, placement); }, patience);
  if (status) return {};
  return fail(status.error(), component.name() + " cannot join the context " + name());
}

Status ExecutionContext::remove(Component& component, Duration patience) {
  return calls_.run([this, &component]() noexcept { return remove_now(component); }, patience);
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
  ++layout_;
  number_slots(static_cast<std::size_t>(slot - slots_.data()));
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
  if (!placement.is_valid()) return fail(Errc::bad_rate);
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
  struct Copy {
    std::vector<Participant> rows;
    std::uint64_t layout = 0;
    bool complete = false;
  };
  auto copy = std::make_shared<Copy>();
  copy->rows.reserve(config_.max_components);
  const auto copy_some = [this, copy]() noexcept -> Status {
    adopt();
    if (copy->layout != layout_) copy->rows.clear();  // the list has changed between two boundaries
    copy->layout = layout_;
    const std::size_t end = std::min(copy->rows.size() + rows_per_boundary, slots_.size());
    while (copy->rows.size() < end) copy->rows.push_back(slots_[copy->rows.size()].row);  // reserved
    copy->complete = end == slots_.size();
    return {};
  };
  const auto give_up = std::chrono::steady_clock::now() + std::clamp(patience, Duration(0), time_reach);
  for (bool first = true; !copy->complete; first = false) {
    if (!first && std::chrono::steady_clock::now() > give_up) return fail(Errc::timed_out);
    if (const Status status = calls_.run(copy_some, patience); !status) return fail(status.error());
  }
  return std::move(copy->rows);
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

}  // namespace takt::component
