// Switches of an execution context: checked, applied and undone at one boundary.
#include <algorithm>
#include <functional>
#include <utility>

#include "takt/component/execution_context.hpp"

namespace takt::component {

/// A switch while it is applied. It outlives a caller that gives up.
struct ExecutionContext::SwitchJob {
  Switch request;
  std::vector<Arrival*> arrivals;  ///< one for each migration
  std::vector<bool> restarts;      ///< for each activation: it is deactivated, too
  SwitchResult result;
};

namespace {

/// The first component that is twice in the list; null: none.
Component* named_twice(std::vector<Component*> list) {
  std::ranges::sort(list, std::less<>());
  const auto twice = std::ranges::adjacent_find(list);
  return twice == list.end() ? nullptr : *twice;
}

}  // namespace

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
  std::vector<Component*> migrates;
  for (const Migration& migration : request.migrate) migrates.push_back(migration.component);
  for (const auto& list : {request.deactivate, request.activate, migrates}) {
    if (Component* twice = named_twice(list)) return {fail(Errc::named_twice), twice, {}};
  }
  auto job = std::make_shared<SwitchJob>();
  job->request = request;
  std::vector<Component*> stopped = request.deactivate;
  std::ranges::sort(stopped, std::less<>());
  for (Component* component : request.activate)
    job->restarts.push_back(std::ranges::binary_search(stopped, component, std::less<>()));
  for (const Migration& migration : request.migrate) {
    const bool can_move = migration.to != nullptr && migration.to != this && migration.placement.is_valid();
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
  for (Component* component : request.deactivate) {
    culprit = component;
    Slot* slot = find(component);
    if (slot == nullptr) return fail(Errc::not_a_participant);
    if (slot->row.state != ComponentState::active) return fail(Errc::wrong_state);
  }
  for (std::size_t i = 0; i < request.activate.size(); ++i) {
    culprit = request.activate[i];
    Slot* slot = find(culprit);
    if (slot == nullptr) return fail(Errc::not_a_participant);
    if (slot->row.state != ComponentState::inactive && !job.restarts[i]) return fail(Errc::wrong_state);
  }
  for (const Migration& migration : request.migrate) {
    culprit = migration.component;
    if (find(migration.component) == nullptr) return fail(Errc::not_a_participant);
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
