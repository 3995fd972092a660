// The cycle of the manager. All of it is real-time safe.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "robot/manager_parts.hpp"
#include "rt/traced.hpp"

namespace takt::robot {

using component::ComponentState;
using component::Transition;

namespace {

/// A drive that reports NaN or infinity has reported nothing. So it falls silent, in time.
void keep_finite(JointFeedback& now, const JointFeedback& before) noexcept {
  // x - x is 0 for a finite x, and NaN for any other.
  const double sum =
      (now.position - now.position) + (now.velocity - now.velocity) + (now.effort - now.effort);
  if (sum == 0) return;
  now.position = before.position;
  now.velocity = before.velocity;
  now.effort = before.effort;
  now.has_effort = before.has_effort;
  now.stamp = before.stamp;
  now.heard = before.heard;
}

// What holds for the commands of every controller, also of one that keeps its limits by itself. A motion may
// exceed a limit by the fraction that a checked trajectory may. A limit that is NaN limits nothing.

constexpr double slack = trajectory::limit_slack;

double within(double value, double limit) noexcept {
  return std::abs(value) > limit * (1 + slack) ? std::copysign(limit, value) : value;
}

/// The motion with velocity and acceleration within their limits.
MotionState within_rates(const MotionState& motion, const JointLimits& limits) noexcept {
  return {motion.position, within(motion.velocity, limits.velocity),
          within(motion.acceleration, limits.acceleration)};
}

/// The position nearest to the wanted one that the joint may have and can reach. It is in the range, or not
/// further outside than the joint is. The velocity limit lets the joint reach it within a period.
double nearest(double wanted, double from, const JointLimits& limits, double period) noexcept {
  const double inside =
      std::min(std::max(wanted, std::min(limits.position_min, from)), std::max(limits.position_max, from));
  const double reach = limits.velocity * period;
  return std::abs(inside - from) > reach * (1 + slack) ? from + std::copysign(reach, inside - from) : inside;
}

/// Whether nearest() would not change the position, up to rounding.
bool is_near(double wanted, double from, const JointLimits& limits, double period) noexcept {
  const double range = limits.position_max - limits.position_min;
  const double spare = slack * (std::isfinite(range) ? range : 1);
  return !(wanted < limits.position_min - spare) && !(wanted > limits.position_max + spare) &&
         !(std::abs(wanted - from) > limits.velocity * period * (1 + slack) + slack * period);
}

/// Whether a joint that moves so outward can stop inside its range, with its acceleration limit.
bool can_brake(const MotionState& motion, const JointLimits& limits) noexcept {
  const double v = motion.velocity;
  const double stops_at = motion.position + v * std::abs(v) / (2 * limits.acceleration);
  return v > 0 ? !(stops_at > limits.position_max) : v < 0 ? !(stops_at < limits.position_min) : true;
}

}  // namespace

Status Manager::start(Time now) noexcept {
  if (const Status status = device_context_.start(now); !status) return status;
  if (const Status status = controllers_.start(now); !status) {
    device_context_.stop(now);
    return status;
  }
  now_ = last_woke_ = now;
  return {};
}

void Manager::stop(Time now) noexcept {
  if (pending_ != nullptr) {
    pending_->error = Errc::switch_timed_out;
    undo(*std::exchange(pending_, nullptr));
  }
  controllers_.stop(now);
  device_context_.stop(now);
}

rt::Verdict Manager::cycle(const rt::Tick& tick) noexcept {
  set_tracer(tick.tracer);
  begin(tick.due, tick.woke - std::exchange(last_woke_, tick.woke), tick.missed);
  control();
  write();
  publish();
  return supervisor_.state() == RobotState::down ? rt::Verdict::stop : rt::Verdict::proceed;
}

// ---- 1 read, 2 judge ----

void Manager::begin(Time now, Duration measured, std::uint64_t missed) noexcept {
  const Duration gap = now - std::exchange(now_, now);
  ++cycle_;
  controllers_.begin_boundary(now, measured);
  device_context_.transitions(now, measured);
  rt::traced(tracer_, steps_.read, [this] { read_devices(); });
  rt::traced(tracer_, steps_.judge, [&] {
    settle_failures();  // of step 8
    judge(missed, gap);
  });
}

void Manager::judge(std::uint64_t missed, Duration gap) noexcept {
  // A loop that catches up was late, but its nominal time has no gap, and its motion keeps up with the
  // drives.
  if (missed > 0 && gap > robot_.period) begin_pause(missed);
  for (JointRecord& joint : joints_) {
    keep_finite(feedback_[joint.index], supervisor_.feedback()[joint.index]);
    // A joint in another mode has no position to keep.
    if (joint.sent_mode != CommandMode::position) joint.reference.position = joint.feedback->position;
    references_[joint.index] = joint.reference;
  }
  move_mimics();
  const auto fault = supervisor_.begin(feedback_, missed, references_);
  if (supervisor_.any_restarts()) restart_joints();
  if (any_pauses_) pass_pause(gap);
  if (fault) {
    stop_devices(StopCategory::category_1);
    suspend();
  }
  if (suspended_ && supervisor_.state() == RobotState::ready) {
    tell_ready();
    resume();
  }
}

void Manager::restart_joints() noexcept {
  for (JointRecord& joint : joints_) {
    if (!supervisor_.restarts(joint.index)) continue;
    release(joint);
    const bool freezes = supervisor_.freezes(joint.index);
    joint.reference = {freezes ? joint.reference.position : joint.feedback->position, 0, 0};
    joint.stop.end();
    joint.waits = false;
  }
}

void Manager::move_mimics() noexcept {
  if (followers_[0].empty()) return;
  for (std::size_t i = 0; i < joints_.size(); ++i) {
    coupled_[0][i] = feedback_[i].position;
    coupled_[1][i] = feedback_[i].velocity;
  }
  mimics_.positions(coupled_[0], followers_[0]);
  mimics_.rates(coupled_[1], followers_[1]);
}

// ---- stops ----

void Manager::stop_robot(const RobotFault& fault, StopCategory category) noexcept {
  if (category == StopCategory::category_0) supervisor_.power_off();
  supervisor_.stop(fault, category != StopCategory::category_2);
  stop_devices(category);
  suspend();
}

void Manager::shut_down() noexcept {
  if (!supervisor_.shut_down()) return;
  stop_devices(StopCategory::category_1);
  suspend();
}

/// Deactivates all controllers, except those that work in a stop together with all that they command. Their
/// joints come to rest in this cycle.
void Manager::suspend() noexcept {
  suspended_ = true;
  if (pending_ != nullptr) continue_switch();
  // Followers come last in the list.
  for (std::size_t i = running_.size(); i-- > 0;) {
    Entry& entry = *running_[i];
    entry.starts_by = 0;
    entry.marked = is_active(entry) && entry.controller->works_in_stop() &&
                   std::ranges::all_of(entry.followers, &Entry::marked);
  }
  for (Entry* entry : running_) {
    const bool stays = std::exchange(entry->marked, false);
    if (entry->wanted && is_active(*entry) && !stays) deactivate(*entry);
  }
  for (Entry* entry : running_) {
    if (entry->wanted && !is_active(*entry)) start_fallbacks(*entry);
  }
}

/// Starts those that are to run.
void Manager::resume() noexcept {
  suspended_ = false;
  for (Entry* entry : running_) {
    if (!entry->wanted || is_active(*entry)) continue;
    if (entry->starts_by == 0) {
      wait_to_start(*entry);
    } else {  // a fallback of the stop that has not started yet
      give_back(*entry);
      want(*entry, false, Origin::user);
    }
  }
  start_waiting();
}

// ---- 3 switch, 4 control ----

void Manager::control() noexcept {
  rt::traced(tracer_, steps_.switching, [this] { apply_requests(); });
  rt::traced(tracer_, steps_.control, [this] { execute_controllers(); });
  rt::traced(tracer_, steps_.protect, [this] { protect_commands(); });
  rt::traced(tracer_, steps_.limit, [this] {
    for (JointRecord& joint : joints_) move(joint);
  });
  const bool moving = any_device_moves() ||
                      std::ranges::any_of(joints_, [](const auto& joint) { return joint.stop.moving(); });
  const RobotState before = supervisor_.state();
  supervisor_.settle(moving);
  if (supervisor_.state() != before) {  // it may have removed the power
    for (JointRecord& joint : joints_) follow_unpowered(joint);
  }
  executed_ = false;
}

void Manager::apply_requests() noexcept {
  controllers_.apply_requests();
  if (pending_ != nullptr) continue_switch();
  start_waiting();
  change_modes();
}

void Manager::execute_controllers() noexcept {
  controllers_.execute();
  executed_ = true;
  settle_failures();
}

bool Manager::is_active(const Entry& entry) const noexcept {
  return entry.controller->state() == ComponentState::active;
}

void Manager::deactivate(Entry& entry) noexcept {
  (void)controllers_.lead(*entry.controller, Transition::deactivate);
  give_back(entry);
}

// ---- owners ----

/// Gives the controller what it claims.
void Manager::take(Entry& entry) noexcept {
  Controller& controller = *entry.controller;
  for (Joint& claim : controller.joints_) {
    Joint** place = &claim.record_->claims;  // the newest first
    while (*place != nullptr && by_number_[(*place)->number_]->since > entry.since) place = &(*place)->next_;
    claim.next_ = std::exchange(*place, &claim);
    hand_over(*claim.record_, 0);
  }
  controller.gate_.open = true;
  for (const std::size_t cell : entry.cells) {
    cells_[cell].owner = entry.number;
    *cells_[cell].driven = false;
  }
}

/// Ends all that the controller owns.
void Manager::give_back(Entry& entry) noexcept {
  Controller& controller = *entry.controller;
  for (Joint& claim : controller.joints_) {
    JointRecord& joint = *claim.record_;
    Joint** place = &joint.claims;
    while (*place != nullptr && *place != &claim) place = &(*place)->next_;
    if (*place == nullptr) continue;
    *place = claim.next_;
    claim.lent_ = false;
    if (std::exchange(claim.gate_.open, false)) hand_over(joint, claim.parts_);
  }
  controller.gate_.open = false;
  for (const std::size_t cell : entry.cells) {
    if (cells_[cell].owner != entry.number) continue;
    cells_[cell].owner = nobody;
    *cells_[cell].driven = false;
  }
}

/// Gives a joint to all its exclusive claims, or else to the oldest lending one. `ended`: the parts of an
/// owner that has ended.
void Manager::hand_over(JointRecord& joint, unsigned ended) noexcept {
  const Joint* lender = nullptr;
  bool is_exclusive = false;
  for (const Joint* claim = joint.claims; claim != nullptr; claim = claim->next_) {
    is_exclusive = is_exclusive || claim->kind_ == ClaimKind::exclusive;
    lender = claim;
  }
  const auto owns = [&](const Joint& claim) {
    return is_exclusive ? claim.kind_ == ClaimKind::exclusive : &claim == lender;
  };
  bool is_driven = false;  // by an owner that goes on
  unsigned parts = 0;
  joint.owner = nobody;
  joint.trusted = true;
  for (const Joint* claim = joint.claims; claim != nullptr; claim = claim->next_) {
    if (!owns(*claim)) continue;
    is_driven = is_driven || (claim->gate_.open && claim->gate_.passed);
    parts |= claim->parts_;
    joint.trusted = joint.trusted && claim->controller_->keeps_limits();
    if (joint.owner == nobody) joint.owner = claim->number_;
  }
  if (!is_driven) {
    release(joint);
  } else {
    MotionState& motion = joint.wanted.motion;
    if ((ended & Joint::part_of(CommandMode::position)) != 0) motion.position = joint.reference.position;
    if ((ended & Joint::part_of(CommandMode::velocity)) != 0) motion.velocity = 0;
    if ((ended & Joint::part_of(CommandMode::effort)) != 0) joint.wanted.effort = 0;
    if ((ended & Joint::acceleration_part) != 0) motion.acceleration = 0;
  }
  joint.mode = Joint::mode_of(parts);
  check_mode(joint);
  for (Joint* claim = joint.claims; claim != nullptr; claim = claim->next_) {
    if (!std::exchange(claim->gate_.open, owns(*claim))) claim->gate_.passed = false;
    if (claim->gate_.open != claim->lent_) continue;
    claim->lent_ = !claim->gate_.open;
    if (claim->lent_) {
      claim->controller_->on_lent(joint.index);
    } else {
      claim->controller_->on_returned(joint.index);
    }
  }
}

/// Ends every command to the joint: the one way to do it. It comes to rest from the reference that was sent
/// last, without effort.
void Manager::release(JointRecord& joint) noexcept {
  joint.driven = joint.catches_up = false;
  joint.wanted = {{joint.reference.position, 0, 0}, 0};
  joint.effort = 0;
  if (joint.sent_mode == CommandMode::effort) joint.sent_mode = CommandMode::position;
  if (std::exchange(joint.was_driven, false)) joint.stop.begin(joint.reference, joint.limits);
}

void Manager::want(Entry& entry, bool wanted, Origin origin) noexcept {
  entry.starts_by = 0;
  entry.displaces = false;
  entry.origin = origin;
  entry.wanted.store(wanted, std::memory_order_relaxed);
  entry.since = wishes_.load(std::memory_order_relaxed);
  // release: a plan that sees the count sees the wish. Only the cycle counts.
  wishes_.store(wishes_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
}

// ---- failures ----

/// Ends the chains of all controllers that failed. Then their fallbacks begin, and those that fail at once
/// end likewise. A fallback is loaded before what it stands in for, so this ends.
void Manager::settle_failures() noexcept {
  for (bool any = true; std::exchange(any, false);) {
    (void)controllers_.settle();
    for (Entry* entry : running_) {
      Controller& controller = *entry->controller;
      if (std::exchange(controller.refused_, false) && is_active(*entry))
        (void)controllers_.end(controller, Errc::command_not_finite);
      const bool failed = controller.state() == ComponentState::error;
      const bool retired = !suspended_ && entry->starts_by == 0 && !is_active(*entry);
      entry->falls_back = entry->wanted && (failed || retired);
      any = any || entry->falls_back;
    }
    if (any) fall_back(Errc::group_failed);
  }
}

/// Ends all controllers that fall back, with their chains; then their fallbacks begin.
void Manager::fall_back(Error reason) noexcept {
  for (Entry* entry : running_) {
    if (!entry->falls_back) continue;
    Controller& controller = *entry->controller;
    const bool failed = controller.state() == ComponentState::error;
    const bool finished = failed && controller.error() == Errc::finished;
    if (finished) {
      entry->falls_back = false;
      (void)controllers_.lead(controller, Transition::reset);
      emit(ManagerEvent::Kind::controller_ended, controller);
    } else if (failed) {
      emit(ManagerEvent::Kind::controller_failed, controller, controller.error());
    }
    end_chain(*entry, finished ? Errc::finished : reason);
  }
  for (Entry* entry : running_) {
    if (std::exchange(entry->falls_back, false)) start_fallbacks(*entry);
  }
}

/// Ends a controller and all that it is chained with.
void Manager::end_chain(Entry& first, Error reason) noexcept {
  chain_.assign(1, &first);  // within the reserved capacity
  first.marked = true;
  mark_chains();
  end_marked(reason);
}

/// Adds to `chain_` all wanted controllers that are chained with those in it, and marks them.
void Manager::mark_chains() noexcept {
  for (std::size_t i = 0; i < chain_.size(); ++i) {
    for (Entry* other : chain_[i]->neighbours) {
      if (other->marked || !other->wanted) continue;
      other->marked = true;
      chain_.push_back(other);
    }
  }
}

/// Ends all in `chain_`, leaders first.
void Manager::end_marked(Error reason) noexcept {
  std::ranges::sort(chain_, {}, &Entry::place);
  for (Entry* entry : chain_) {
    entry->marked = false;
    if (!entry->wanted) continue;
    if (is_active(*entry)) {
      if (executed_) entry->ended_at = cycle_;
      deactivate(*entry);
      emit(ManagerEvent::Kind::controller_ended, *entry->controller, reason);
    } else {
      give_back(*entry);
    }
    want(*entry, false, Origin::user);
  }
}

/// Starts the fallbacks of a controller that has ended, in their order, as far as they can start. After step
/// 4 they execute at once, except those that ended after they had executed in this cycle.
void Manager::start_fallbacks(const Entry& entry) noexcept {
  for (Entry* fallback : entry.fallbacks) {
    const bool fits = !suspended_ || fallback->controller->works_in_stop();
    if (!fits || fallback->wanted || fallback->controller->state() != ComponentState::inactive) continue;
    want(*fallback, true, suspended_ ? Origin::stop_fallback : Origin::fallback);
    fallback->displaces = true;
    wait_to_start(*fallback);
    starting_.assign(1, fallback);
    attempt_to_start();
    if (executed_ && is_active(*fallback) && fallback->ended_at != cycle_)
      (void)controllers_.execute_now(*fallback->controller);
  }
}

/// Whether all devices that the controller uses are active.
bool Manager::has_devices(const Entry& entry) const noexcept {
  return std::ranges::all_of(entry.devices, [&](std::size_t index) {
    return devices_[index].device->state() == ComponentState::active;
  });
}

void Manager::emit(ManagerEvent::Kind kind, const component::Component& component, Error error) noexcept {
  // A reader that is too slow loses the newest.
  (void)events_.try_push({now_, kind, std::string_view(component.name()), error});
  rt::Logger* const logger = controllers_.logger();
  if (logger == nullptr) return;
  const rt::TextId text = event_log_.kinds[static_cast<std::size_t>(kind)];
  if (error.room != Room::none)
    logger->log(event_log_.failure, component.name_id(), text, error);
  else
    logger->log(event_log_.change, component.name_id(), text);
}

// ---- 5 limit, 6 protect ----

void Manager::move(JointRecord& joint) noexcept {
  if (joint.driven && supervisor_.holds(joint.index) && joint.prepared_at != cycle_ &&
      joint.changes_until == 0) {
    joint.stop.end();
    joint.was_driven = true;
    obey(joint);
  } else {
    if (joint.driven || joint.was_driven) release(joint);
    if (joint.stop.moving() && !joint.waits) joint.stop.step(joint.reference, joint.limits, robot_.period);
    joint.wanted.motion = {joint.reference.position, 0, 0};
  }
  follow_unpowered(joint);
}

/// If no drive holds the joint, its reference follows the measured position, so switching on causes no jump.
void Manager::follow_unpowered(JointRecord& joint) noexcept {
  if (supervisor_.holds(joint.index)) return;
  if (joint.driven) release(joint);
  if (!joint.feedback->heard) return;
  joint.reference = {joint.feedback->position, 0, 0};
  joint.stop.end();
}

/// Takes over the command within the joint's limits.
void Manager::obey(JointRecord& joint) noexcept {
  const JointRecord::Wanted& wanted = joint.wanted;
  MotionState& reference = joint.reference;
  joint.sent_mode = joint.mode;
  joint.effort = std::clamp(wanted.effort, -joint.limits.effort, joint.limits.effort);
  if (joint.waits && joint.mode == CommandMode::position) return;
  if (joint.mode == CommandMode::effort) {
    reference = {joint.feedback->position, joint.feedback->velocity, 0};
    if (joint.limiter) joint.effort = joint.limiter->effort(wanted.effort, reference).value;
    return;
  }
  joint.catches_up = joint.catches_up && joint.mode == CommandMode::position && joint.limiter;
  if (joint.limiter && (!joint.trusted || joint.catches_up)) return limit(joint, wanted.motion);
  const bool by_velocity = joint.mode == CommandMode::velocity;
  MotionState motion = within_rates(wanted.motion, joint.limits);
  if (by_velocity) motion.position = joint.feedback->position;
  const bool fits = by_velocity ? can_brake(motion, joint.limits)
                                : motion == wanted.motion &&
                                      is_near(motion.position, reference.position, joint.limits, period_);
  if (!fits && joint.limiter) {
    joint.catches_up = !by_velocity;  // the command goes on meanwhile
    return limit(joint, wanted.motion);
  }
  if (!fits && by_velocity) motion.velocity = 0;
  if (!fits && !by_velocity)
    motion.position = nearest(motion.position, reference.position, joint.limits, period_);
  reference = motion;
}

/// Leads the reference toward a command within all limits.
void Manager::limit(JointRecord& joint, const MotionState& wanted) noexcept {
  // The limiter goes on from what was sent. A joint in velocity mode is where it was measured.
  if (!joint.limiter->reset(joint.reference)) return;
  const MotionState before =
      std::exchange(joint.reference, (joint.mode == CommandMode::velocity
                                          ? joint.limiter->toward_velocity(wanted.velocity, period_)
                                      : joint.catches_up ? joint.limiter->rejoin(wanted, period_)
                                                         : joint.limiter->follow(wanted, period_))
                                         .value);
  joint.catches_up = joint.catches_up && !(joint.reference == wanted);
  // A trusted command may have left more acceleration than the limiter can end in time.
  const double velocity = within(joint.reference.velocity, joint.limits.velocity);
  if (velocity == joint.reference.velocity ||
      within(before.velocity, joint.limits.velocity) != before.velocity)
    return;
  joint.reference = {before.position + velocity * period_, velocity, 0};
}

void Manager::protect_commands() noexcept {
  for (CommandCell& cell : cells_) {
    if (cell.value == nullptr || *cell.driven || cell.safe == SafeValue::hold || *cell.value == 0) continue;
    const double step =
        cell.safe == SafeValue::zero ? std::numeric_limits<double>::infinity() : cell.rate * period_;
    *cell.value = std::abs(*cell.value) <= step ? 0 : *cell.value - std::copysign(step, *cell.value);
  }
}

// ---- 7 write, 8 publish ----

void Manager::write() noexcept {
  rt::traced(tracer_, steps_.write, [this] {
    const bool clears = supervisor_.clears_faults();
    for (const JointRecord& joint : joints_) {
      const MotionState& reference = joint.reference;
      commands_[joint.index] = {reference.position,
                                reference.velocity,
                                reference.acceleration,
                                supervisor_.powers(joint.index),
                                clears,
                                joint.sent_mode,
                                joint.effort};
    }
    device_context_.state_update();
  });
}

void Manager::publish() noexcept {
  rt::traced(tracer_, steps_.publish, [this] { controllers_.state_update(); });
}

}  // namespace takt::robot
