// Switches: the plan outside the cycle, and its application inside.
#include <algorithm>
#include <chrono>
#include <functional>
#include <limits>
#include <optional>
#include <thread>
#include <utility>

#include "robot/manager_parts.hpp"
#include "takt/robot/drive_protocol.hpp"

namespace takt::robot {
namespace {

/// For a change of modes that no switch asked for.
constexpr Duration patience = std::chrono::seconds(1);

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
  for (const Joint& mine : claimant.controller->joints_) {
    for (const Joint& theirs : owner.controller->joints_) {
      if (mine.record_ == theirs.record_ && excludes(mine, theirs)) return mine.name();
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

/// A leader needs its followers. A follower with a leader cannot stop alone, not even to start again.
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
    for (Entry* leader : entry->leaders) {
      if (!leader->wanted.load(std::memory_order_relaxed) || contains(job.stop, leader)) continue;
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
    for (const Joint& claim : entry->controller->joints_) {
      const JointDescription& joint = robot_.joints[claim.index()];
      const CommandMode mode = Joint::mode_of(claim.parts_);
      const DriveProtocol* protocol =
          joint.bus < robot_.buses.size() ? robot_.buses[joint.bus].protocol : nullptr;
      if (protocol == nullptr || protocol->takes(joint, mode)) continue;
      return fail(Errc::device_refuses, entry->controller->name() + " commands " + joint.name + " by " +
                                            std::string(to_string(mode)) +
                                            ", and its drive takes positions only");
    }
  }
  job.changes = planned_changes(job);
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

/// The modes of all joints that those who start will own.
std::vector<ModeChange> Manager::planned_changes(const SwitchJob& job) const {
  std::vector<unsigned> owned(joints_.size());    // parts of exclusive claims
  std::vector<unsigned> lending(joints_.size());  // parts of the first lending claim
  std::vector<bool> starts(joints_.size());
  std::vector<bool> lends(joints_.size());
  const auto add = [&](const Entry& entry, bool is_new) {
    for (const Joint& claim : entry.controller->joints_) {
      const std::size_t joint = claim.index();
      const bool is_exclusive = claim.kind_ == ClaimKind::exclusive;
      if (is_new && is_exclusive) starts[joint] = true;
      if (is_new && !is_exclusive && lending[joint] == 0) lends[joint] = true;
      if (is_exclusive) owned[joint] |= claim.parts_;
      if (!is_exclusive && lending[joint] == 0) lending[joint] = claim.parts_;
    }
  };
  for (const auto& entry : entries_) {
    if (entry->wanted.load(std::memory_order_relaxed) && !contains(job.stop, entry.get())) add(*entry, false);
  }
  for (const Entry* entry : job.start) add(*entry, true);
  std::vector<ModeChange> changes;
  for (std::size_t joint = 0; joint < joints_.size(); ++joint) {
    const unsigned parts = owned[joint] != 0 ? owned[joint] : lending[joint];
    if (starts[joint] || (lends[joint] && owned[joint] == 0))
      changes.push_back({joint, Joint::mode_of(parts)});
  }
  return changes;
}

// ---- its application, in the cycle ----

/// Stops what is to stop, and begins the change of modes. Nothing is changed if the plan does not fit any
/// more, because a controller has failed or a fallback has started since.
Status Manager::begin_switch(SwitchJob& job) noexcept {
  // relaxed: the count is of this thread.
  if (pending_ != nullptr || job.wishes != wishes_.load(std::memory_order_relaxed))
    return fail(Errc::changed_meanwhile);
  for (Entry* entry : running_) {
    if (entry->origin == Origin::fallback) entry->origin = Origin::user;  // the plan knew it
  }
  for (Entry* entry : job.stop) {
    deactivate(*entry);
    want(*entry, false, Origin::user);
  }
  job.wishes = wishes_.load(std::memory_order_relaxed);
  if (suspended_) {
    for (Entry* entry : job.start) want(*entry, true, Origin::user);
    job.done.store(true, std::memory_order_release);
    return {};
  }
  job.deadline = deadline_after(job.timeout);
  pending_ = &job;
  continue_switch();
  return {};
}

/// Asks the devices until the modes have changed. Then all controllers start in this cycle.
void Manager::continue_switch() noexcept {
  SwitchJob& job = *pending_;
  Launch outcome{ModeProgress::failed, Errc::changed_meanwhile};
  if (!suspended_ && job.wishes == wishes_.load(std::memory_order_relaxed))
    outcome = launch(job.start, job.changes, job.deadline);
  if (outcome.progress == ModeProgress::ongoing) return;
  pending_ = nullptr;
  if (outcome.progress == ModeProgress::failed) {
    job.error = outcome.error;
    if (outcome.culprit != nullptr) job.culprit = outcome.culprit->controller.get();
    return undo(job);
  }
  for (Entry* entry : job.start) {
    want(*entry, true, Origin::user);
    take(*entry);
  }
  job.done.store(true, std::memory_order_release);
}

/// Returns to the controllers from before the switch.
void Manager::undo(SwitchJob& job) noexcept {
  for (Entry* entry : job.stop) {
    want(*entry, true, Origin::user);
    if (!suspended_) wait_to_start(*entry);
  }
  start_waiting();
  job.done.store(true, std::memory_order_release);
}

// ---- starts, in the cycle ----

std::uint64_t Manager::deadline_after(Duration timeout) const noexcept {
  return cycle_ + static_cast<std::uint64_t>(std::max<Duration::rep>(timeout / robot_.period, 1));
}

/// Lets the devices change the modes, then activates the controllers in their order: all, or none. They own
/// nothing yet.
Manager::Launch Manager::launch(std::span<Entry* const> list, std::span<const ModeChange> changes,
                                std::uint64_t deadline) noexcept {
  const auto lost = std::ranges::find_if(list, [&](const Entry* entry) { return !has_devices(*entry); });
  const bool has_all = lost == list.end();
  const ModeProgress progress = has_all ? perform(changes) : ModeProgress::failed;
  const bool waits = progress == ModeProgress::ongoing && cycle_ < deadline;
  for (const ModeChange& change : changes) {
    JointRecord& joint = joints_[change.joint];
    if (waits) joint.prepared_at = cycle_;
    check_mode(joint);
  }
  if (waits) return {ModeProgress::ongoing};
  if (!has_all) return {ModeProgress::failed, Errc::device_lost, *lost};
  if (progress != ModeProgress::done) {
    const bool refused = progress == ModeProgress::failed;
    return {ModeProgress::failed, refused ? Errc::device_refuses : Errc::switch_timed_out};
  }
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Status status = controllers_.lead(*list[i]->controller, component::Transition::activate);
    if (status) continue;
    const Entry* culprit = list[i];
    while (i-- > 0) (void)controllers_.lead(*list[i]->controller, component::Transition::deactivate);
    return {ModeProgress::failed, status.error(), culprit};
  }
  return {};
}

void Manager::wait_to_start(Entry& entry) noexcept {
  entry.starts_by = deadline_after(patience);
  any_waits_ = true;
}

/// Attempts to start all that wait, chain by chain.
void Manager::start_waiting() noexcept {
  if (!std::exchange(any_waits_, false)) return;
  for (std::size_t i = running_.size(); i-- > 0;) {
    Entry& first = *running_[i];
    if (first.starts_by == 0) continue;
    any_waits_ = any_waits_ || first.tried_at == cycle_;
    if (first.tried_at == cycle_) continue;
    chain_.assign(1, &first);
    first.marked = true;
    mark_chains();
    starting_.clear();
    for (Entry* entry : chain_) {
      entry->marked = false;
      if (entry->starts_by != 0) starting_.push_back(entry);
    }
    std::ranges::sort(starting_, std::greater<>{}, &Entry::place);  // followers first
    attempt_to_start();
  }
}

/// Starts the controllers in `starting_`: all, or none. Those in the way end, if they start.
void Manager::attempt_to_start() noexcept {
  Launch outcome{ModeProgress::failed, mark_in_way()};
  if (outcome.error.room == Room::none) {
    collect_changes();
    outcome = launch(starting_, changes_, starting_.front()->starts_by);
  }
  if (outcome.progress != ModeProgress::done) {
    for (Entry* entry : chain_) entry->marked = false;
  }
  if (outcome.progress == ModeProgress::ongoing) {
    any_waits_ = true;
    for (Entry* entry : starting_) entry->tried_at = cycle_;
    return;
  }
  const bool done = outcome.progress == ModeProgress::done;
  if (done) end_marked(Errc::claimed);
  for (Entry* entry : starting_) {
    const Controller& controller = *entry->controller;
    if (done) {
      take(*entry);
      if (entry->displaces) emit(ManagerEvent::Kind::fallback_started, controller);
      entry->displaces = false;
      entry->starts_by = 0;
      continue;
    }
    give_back(*entry);
    want(*entry, false, Origin::user);
    const bool is_cause = outcome.culprit == nullptr || outcome.culprit == entry;
    emit(is_cause ? ManagerEvent::Kind::activation_failed : ManagerEvent::Kind::controller_ended, controller,
         is_cause ? outcome.error : Error(Errc::group_failed));
  }
}

/// Lists in `chain_` the chains of all that own what `starting_` claims and that would end for it. Errors:
/// claimed, by somebody who does not end; chain_incomplete.
Error Manager::mark_in_way() noexcept {
  chain_.clear();
  bool is_free = true;
  for (const Entry* entry : starting_) {
    const auto meet = [&](std::uint16_t number) {
      Entry& owner = *by_number_[number];
      const bool ends = entry->displaces || owner.origin == Origin::stop_fallback;
      if (ends && !std::exchange(owner.marked, true)) chain_.push_back(&owner);
      // A user's switch has compared all others.
      is_free = is_free && (owner.marked || owner.origin == Origin::user);
    };
    for (const Joint& mine : entry->controller->joints_) {
      for (const Joint* theirs = mine.record_->claims; theirs != nullptr; theirs = theirs->next_) {
        if (excludes(mine, *theirs)) meet(theirs->number_);
      }
    }
    for (const std::size_t cell : entry->cells) {
      if (cells_[cell].owner != nobody) meet(cells_[cell].owner);
    }
  }
  mark_chains();
  if (!is_free) return Errc::claimed;
  const auto goes_on = [&](Entry* follower) { return is_active(*follower) || contains(starting_, follower); };
  const auto is_whole = [&](const Entry* entry) {
    return !entry->marked && std::ranges::all_of(entry->followers, goes_on);
  };
  return std::ranges::all_of(starting_, is_whole) ? Error{} : Error(Errc::chain_incomplete);
}

/// Whether both claim the same for themselves.
bool Manager::excludes(const Joint& mine, const Joint& theirs) const noexcept {
  return mine.kind_ == ClaimKind::exclusive && theirs.kind_ == ClaimKind::exclusive &&
         (options_.claims == ClaimPolicy::per_joint || (mine.parts_ & theirs.parts_) != 0);
}

/// The modes of the joints that `starting_` claims, once all that wait have started and those who are marked
/// have ended. So two that share a joint ask for the same mode.
void Manager::collect_changes() noexcept {
  constexpr unsigned listed = 128, gets_owner = 64;
  const auto add = [](JointRecord& joint, unsigned bits) {
    joint.plan = static_cast<std::uint8_t>(joint.plan | bits);
  };
  changes_.clear();
  for (const Entry* entry : starting_) {
    for (const Joint& claim : entry->controller->joints_) {
      JointRecord& joint = *claim.record_;
      if (joint.plan == 0) {
        changes_.push_back({joint.index, CommandMode::position});
        joint.heir = std::numeric_limits<std::uint64_t>::max();
      }
      add(joint, listed);
      for (const Joint* other = joint.claims; other != nullptr; other = other->next_) {
        const Entry& owner = *by_number_[other->number_];
        if (owner.marked) continue;
        if (other->kind_ == ClaimKind::exclusive)
          add(joint, other->parts_);
        else
          joint.heir = std::min(joint.heir, owner.since);
      }
    }
  }
  for (Entry* entry : running_) {
    if (entry->starts_by == 0) continue;
    const bool starts = contains(starting_, entry);
    for (const Joint& claim : entry->controller->joints_) {
      JointRecord& joint = *claim.record_;
      if (joint.plan == 0) continue;
      if (claim.kind_ == ClaimKind::exclusive)
        add(joint, claim.parts_ | (starts ? gets_owner : 0U));
      else
        joint.heir = std::min(joint.heir, entry->since);
    }
  }
  for (const Entry* entry : starting_) {
    for (const Joint& claim : entry->controller->joints_) {
      JointRecord& joint = *claim.record_;
      if (joint.plan == listed && joint.heir == entry->since) add(joint, claim.parts_ | gets_owner);
    }
  }
  std::erase_if(changes_, [&](ModeChange& change) {
    JointRecord& joint = joints_[change.joint];
    const unsigned plan = std::exchange(joint.plan, std::uint8_t{0});
    change.mode = Joint::mode_of(plan);
    const bool is_ready = joint.claims != nullptr && change.mode == joint.device && !joint.is_changing;
    return (plan & gets_owner) == 0 || is_ready;
  });
}

// ---- modes, in the cycle ----

ModeProgress Manager::perform(std::span<const ModeChange> changes) noexcept {
  ModeProgress all = ModeProgress::done;
  for (const DeviceRow& row : devices_) {
    its_changes_.clear();
    for (const ModeChange& change : changes) {
      if (row.device->drives(change.joint)) its_changes_.push_back(change);
    }
    if (its_changes_.empty() || all == ModeProgress::failed) continue;
    const ModeProgress progress = row.device->perform(its_changes_);
    if (progress != ModeProgress::done) all = progress;
  }
  for (const ModeChange& change : changes) {
    JointRecord& joint = joints_[change.joint];
    joint.device = change.mode;
    joint.is_changing = all != ModeProgress::done;
  }
  return all;
}

/// Whether the device of a joint has to follow its owners: one of them has ended, or a borrower.
void Manager::check_mode(JointRecord& joint) noexcept {
  const bool follows = joint.claims != nullptr && (joint.mode != joint.device || joint.is_changing);
  joint.changes_until = follows ? deadline_after(patience) : 0;
  modes_change_ = modes_change_ || follows;
}

/// Lets the devices of such joints change the mode. If one refuses, the owners end.
void Manager::change_modes() noexcept {
  if (!std::exchange(modes_change_, false)) return;
  for (JointRecord& joint : joints_) {
    if (joint.changes_until == 0) continue;
    const ModeChange change{joint.index, joint.mode};
    const ModeProgress progress = joint.prepared_at == cycle_ ? ModeProgress::ongoing : perform({&change, 1});
    if (progress == ModeProgress::ongoing && cycle_ < joint.changes_until) {
      modes_change_ = true;
      continue;
    }
    joint.changes_until = 0;
    if (progress == ModeProgress::done) continue;
    const bool refused = progress == ModeProgress::failed;
    for (const Joint* claim = joint.claims; claim != nullptr; claim = claim->next_) {
      if (!claim->gate_.open) continue;
      (void)controllers_.end(*claim->controller_, refused ? Errc::device_refuses : Errc::switch_timed_out);
    }
  }
  settle_failures();
}

}  // namespace takt::robot
