// Switches: the plan outside the cycle, and its application inside.
#include <algorithm>
#include <chrono>
#include <optional>
#include <thread>
#include <utility>

#include "robot/manager_parts.hpp"
#include "takt/robot/drive_protocol.hpp"

namespace takt::robot {
namespace {

template <class T>
[[nodiscard]] bool contains(const std::vector<T>& list, const T& item) noexcept {
  return std::ranges::find(list, item) != list.end();
}

}  // namespace

// ---- the plan ----

SetupResult<void> Manager::switch_controllers(const SwitchRequest& request) {
  const std::lock_guard lock(mutex_);
  auto planned = plan(request);
  if (!planned) return tl::unexpected<SetupError>(std::move(planned.error()));
  const std::shared_ptr<SwitchJob> job = *planned;
  std::erase_if(jobs_, [](const auto& old) { return old->done.load(std::memory_order_acquire); });
  jobs_.push_back(job);
  const Status begun = controllers_.call([this, job = job.get()]() noexcept { return begin_switch(*job); });
  if (!begun) {
    job->done.store(true, std::memory_order_release);
    return fail(begun.error(), "the switch was not applied");
  }
  // The cycle bounds the time by the request's timeout; a caller whose cycle has stopped gives up later.
  const auto give_up = std::chrono::steady_clock::now() + request.timeout + component::default_patience;
  while (!job->done.load(std::memory_order_acquire) && std::chrono::steady_clock::now() < give_up)
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  if (!job->done.load(std::memory_order_acquire))
    return fail(component::Errc::stuck, "the cycle has stopped during the switch; its outcome is unknown");
  if (job->error.room == Room::none) return {};
  return fail(job->error, job->culprit == nullptr ? "the switch was undone"
                                                  : job->culprit->name() + " could not be activated");
}

SetupResult<std::shared_ptr<Manager::SwitchJob>> Manager::plan(const SwitchRequest& request) {
  auto job = std::make_shared<SwitchJob>();
  job->timeout = request.timeout;
  // acquire: all wishes that it counts are visible to the plan.
  job->wishes = wishes_.load(std::memory_order_acquire);
  const bool may_drop = request.policy == SwitchPolicy::best_effort;
  SetupResult<void> step = name_all(request, *job);
  if (step) step = check_claims(*job, may_drop);
  if (step) step = check_chains(*job);
  if (step) step = prepare_devices(*job);
  if (!step) return tl::unexpected<SetupError>(std::move(step.error()));
  return job;
}

/// Finds the controllers, and puts them into the order of the switch: leaders stop first, and start last.
SetupResult<void> Manager::name_all(const SwitchRequest& request, SwitchJob& job) const {
  const bool may_drop = request.policy == SwitchPolicy::best_effort;
  const auto collect = [&](const std::vector<std::string>& names,
                           std::vector<Entry*>& list) -> SetupResult<void> {
    for (const std::string& name : names) {
      Entry* entry = find_entry(name);
      if (entry != nullptr && !contains(list, entry)) {
        list.push_back(entry);
      } else if (!may_drop) {
        return fail(entry == nullptr ? Error(Errc::no_such_controller) : Error(component::Errc::named_twice),
                    "\"" + name + "\" is " + (entry == nullptr ? "not loaded" : "named twice"));
      }
    }
    return {};
  };
  if (auto found = collect(request.stop, job.stop); !found) return found;
  if (auto found = collect(request.start, job.start); !found) return found;
  const auto drop = [&](std::vector<Entry*>& list, auto&& is_wrong, const char* why) -> SetupResult<void> {
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (!is_wrong(*list[i])) continue;
      if (!may_drop) return fail(Errc::wrong_state, list[i]->controller->name() + why);
      list.erase(list.begin() + static_cast<std::ptrdiff_t>(i--));
    }
    return {};
  };
  const auto is_stopped = [](const Entry& e) { return !e.wanted.load(std::memory_order_relaxed); };
  if (auto all = drop(job.stop, is_stopped, " does not run"); !all) return all;
  const auto cannot_start = [&](Entry& e) {
    return e.controller->state() == component::ComponentState::error ||
           (!is_stopped(e) && !contains(job.stop, &e));
  };
  if (auto all = drop(job.start, cannot_start, " runs already, or has failed and needs a reset"); !all)
    return all;
  const std::vector<Entry*> order = in_chain_order();
  const auto place = [&](Entry* entry) { return std::ranges::find(order, entry) - order.begin(); };
  std::ranges::sort(job.stop, {}, place);
  std::ranges::sort(job.start, std::greater<>{}, place);
  return {};
}

/// What two controllers both claim for themselves, if anything.
std::optional<std::string> Manager::conflict(const Entry& owner, const Entry& claimant) const {
  for (const auto& mine : claimant.joints) {
    if (mine.kind == ClaimKind::lending) continue;
    const auto theirs = std::ranges::find(owner.joints, mine.joint, &Entry::JointClaim::joint);
    if (theirs == owner.joints.end() || theirs->kind == ClaimKind::lending) continue;
    if (options_.claims == ClaimPolicy::per_joint) return joints_[mine.joint].name();
    for (const auto& a : claimant.needs.joints) {
      for (const auto& b : owner.needs.joints) {
        if (a.joint == mine.joint && b.joint == mine.joint && a.mode == b.mode && a.sets_mode == b.sets_mode)
          return joints_[mine.joint].name();
      }
    }
  }
  for (const std::size_t cell : claimant.cells) {
    if (!contains(owner.cells, cell)) continue;
    const auto row =
        std::ranges::find(table_.commands(), cells_[cell].value, &InterfaceTable::CommandRow::value);
    return row->name;
  }
  return std::nullopt;
}

/// Compares the claims of those that start with the claims of all that would run.
SetupResult<void> Manager::check_claims(SwitchJob& job, bool may_drop) const {
  const auto goes_on = [&](const Entry* entry) {
    return entry->wanted.load(std::memory_order_relaxed) && !contains(job.stop, const_cast<Entry*>(entry));
  };
  for (std::size_t i = 0; i < job.start.size(); ++i) {
    const Entry* claimant = job.start[i];
    for (const auto& other : entries_) {
      const auto before = job.start.begin() + static_cast<std::ptrdiff_t>(i);
      const bool starts_too = std::find(job.start.begin(), before, other.get()) != before;
      if (other.get() == claimant || (!goes_on(other.get()) && !starts_too)) continue;
      const auto shared = conflict(*other, *claimant);
      if (!shared) continue;
      const ClaimConflict found{*shared, other->controller->name(), claimant->controller->name()};
      if (options_.permits && options_.permits(found)) continue;
      if (!may_drop) {
        return fail(Errc::claimed, "\"" + *shared + "\" belongs to " + other->controller->name() + ", and " +
                                       claimant->controller->name() + " claims it too; stop one of them");
      }
      job.start.erase(job.start.begin() + static_cast<std::ptrdiff_t>(i--));
      break;
    }
  }
  return {};
}

/// A leader needs its followers, and a follower with a leader cannot stop alone.
SetupResult<void> Manager::check_chains(const SwitchJob& job) const {
  const auto would_run = [&](Entry* entry) {
    if (contains(job.start, entry)) return true;
    return entry->wanted.load(std::memory_order_relaxed) && !contains(job.stop, entry);
  };
  for (Entry* entry : job.start) {
    for (Entry* follower : entry->followers) {
      if (would_run(follower)) continue;
      return fail(Errc::chain_incomplete, entry->controller->name() + " commands inputs of " +
                                              follower->controller->name() +
                                              ", which would not run; start both");
    }
  }
  for (Entry* entry : job.stop) {
    if (contains(job.start, entry)) continue;
    for (Entry* leader : entry->leaders) {
      if (!would_run(leader)) continue;
      return fail(Errc::in_use, leader->controller->name() + " commands inputs of " +
                                    entry->controller->name() + "; stop both");
    }
  }
  return {};
}

SetupResult<void> Manager::prepare_devices(SwitchJob& job) {
  for (const Entry* entry : job.start) {
    for (const std::size_t device : entry->devices) {
      if (devices_[device].device->state() == component::ComponentState::active) continue;
      return fail(Errc::device_lost, entry->controller->name() + " uses the device " +
                                         devices_[device].device->name() + ", which is not active");
    }
    for (const auto& claim : entry->joints) {
      const JointDescription& joint = robot_.joints[claim.joint];
      const DriveProtocol* protocol =
          joint.bus < robot_.buses.size() ? robot_.buses[joint.bus].protocol : nullptr;
      if (protocol != nullptr && !protocol->takes(joint, claim.mode)) {
        return fail(Errc::device_refuses, entry->controller->name() + " commands " + joint.name + " by " +
                                              std::string(to_string(claim.mode)) +
                                              ", and its drive takes positions only");
      }
      job.changes.push_back({claim.joint, claim.mode});
    }
  }
  for (const DeviceRow& row : devices_) {
    std::vector<ModeChange> its;
    std::ranges::copy_if(job.changes, std::back_inserter(its),
                         [&](const ModeChange& change) { return row.device->drives(change.joint); });
    if (its.empty()) continue;
    if (auto prepared = row.device->prepare(its); !prepared)
      return fail(Errc::device_refuses, row.device->name() + ": " + prepared.error().message);
  }
  return {};
}

// ---- its application, in the cycle ----

/// Stops what is to stop, and begins the change of modes. Nothing is changed if the plan does not fit any
/// more, because a controller has failed or a fallback has started since.
Status Manager::begin_switch(SwitchJob& job) noexcept {
  // relaxed: the count is of this thread.
  if (pending_ != nullptr || job.wishes != wishes_.load(std::memory_order_relaxed))
    return fail(Errc::changed_meanwhile);
  for (Entry* entry : job.stop) {
    deactivate(*entry);
    want(*entry, false);
  }
  if (suspended_) {
    for (Entry* entry : job.start) want(*entry, true);
    job.done.store(true, std::memory_order_release);
    return {};
  }
  job.deadline = cycle_ + static_cast<std::uint64_t>(std::max<Duration::rep>(job.timeout / robot_.period, 1));
  pending_ = &job;
  continue_switch();
  return {};
}

/// Asks the devices until the modes have changed. Then all controllers start in this cycle.
void Manager::continue_switch() noexcept {
  SwitchJob& job = *pending_;
  const ModeProgress progress = suspended_ ? ModeProgress::failed : perform(job);
  if (progress == ModeProgress::ongoing && cycle_ < job.deadline) return;
  pending_ = nullptr;
  if (progress == ModeProgress::done) return finish_switch(job);
  job.error = suspended_                         ? Errc::changed_meanwhile
              : progress == ModeProgress::failed ? Errc::device_refuses
                                                 : Errc::switch_timed_out;
  undo(job, 0);
}

void Manager::finish_switch(SwitchJob& job) noexcept {
  for (std::size_t i = 0; i < job.start.size(); ++i) {
    Entry& entry = *job.start[i];
    if (const Status status = activate(entry); !status) {
      job.error = status.error();
      job.culprit = entry.controller.get();
      return undo(job, i);
    }
    want(entry, true);
  }
  job.done.store(true, std::memory_order_release);
}

/// Returns to the controllers from before the switch. `started`: of its starts, those that are active.
void Manager::undo(SwitchJob& job, std::size_t started) noexcept {
  while (started-- > 0) {
    deactivate(*job.start[started]);
    want(*job.start[started], false);
  }
  for (std::size_t i = job.stop.size(); i-- > 0;) {
    Entry& entry = *job.stop[i];
    want(entry, true);
    if (suspended_) continue;
    const Status back = activate(entry);
    if (back) continue;
    want(entry, false);
    emit(ManagerEvent::Kind::activation_failed, *entry.controller, back.error());
  }
  job.done.store(true, std::memory_order_release);
}

ModeProgress Manager::perform(const SwitchJob& job) noexcept {
  ModeProgress all = ModeProgress::done;
  for (const DeviceRow& row : devices_) {
    const bool concerned = std::ranges::any_of(
        job.changes, [&](const ModeChange& change) { return row.device->drives(change.joint); });
    if (!concerned) continue;
    const ModeProgress progress = row.device->perform(job.changes);
    if (progress == ModeProgress::failed) return progress;
    if (progress == ModeProgress::ongoing) all = progress;
  }
  return all;
}

}  // namespace takt::robot
