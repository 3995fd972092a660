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

/// The position nearest to the wanted one that is in the range, or not further outside than the joint is, and
/// that the velocity limit lets the joint reach within a period.
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
    undo(*std::exchange(pending_, nullptr), 0);
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
  now_ = now;
  ++cycle_;
  controllers_.begin_boundary(now, measured);
  device_context_.transitions(now, measured);
  rt::traced(tracer_, steps_.read, [this] { read_devices(); });
  rt::traced(tracer_, steps_.judge, [&] { judge(missed); });
}

void Manager::judge(std::uint64_t missed) noexcept {
  for (Joint& joint : joints_) {
    keep_finite(feedback_[joint.index_], supervisor_.feedback()[joint.index_]);
    // A joint in another mode has no position to keep.
    if (joint.sent_mode_ != CommandMode::position) joint.reference_.position = joint.feedback_->position;
    references_[joint.index_] = joint.reference_;
  }
  move_mimics();
  const auto fault = supervisor_.begin(feedback_, missed, references_);
  if (supervisor_.any_restarts()) restart_joints();
  if (fault) suspend();
  if (suspended_ && supervisor_.state() == RobotState::ready) resume();
}

void Manager::restart_joints() noexcept {
  for (Joint& joint : joints_) {
    if (!supervisor_.restarts(joint.index_)) continue;
    joint.reference_ = {joint.feedback_->position, 0, 0};
    joint.stop_.end();
    joint.driven_ = joint.was_driven_ = false;
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

void Manager::read_devices() noexcept {
  device_context_.execute();
  const bool any_failed = device_context_.settle();
  for (DeviceRow& row : devices_) {
    if (row.lost) {
      retry(row);
    } else if (any_failed && row.device->state() == ComponentState::error) {
      lose(row);
    }
  }
}

void Manager::lose(DeviceRow& row) noexcept {
  row.lost = true;
  row.lost_at = cycle_;
  emit(ManagerEvent::Kind::device_lost, *row.device, row.device->error());
  const auto index = static_cast<std::size_t>(&row - devices_.data());
  for (Entry* entry : running_) {
    const bool uses = std::ranges::find(entry->devices, index) != entry->devices.end();
    if (uses && entry->wanted) fall_back(*entry, Errc::device_lost);
  }
}

void Manager::retry(DeviceRow& row) noexcept {
  Device& device = *row.device;
  if (device.state() == ComponentState::active) {  // somebody else has reset it
    row.lost = false;
  } else if (row.retry != 0 && (cycle_ - row.lost_at) % row.retry == 0) {
    if (device.state() == ComponentState::error && !device_context_.lead(device, Transition::reset)) return;
    row.lost = !device_context_.lead(device, Transition::activate);
  }
  if (!row.lost) emit(ManagerEvent::Kind::device_returned, device);
}

// ---- stops ----

void Manager::stop_robot(const RobotFault& fault, StopCategory category) noexcept {
  if (category == StopCategory::category_0) supervisor_.power_off();
  supervisor_.stop(fault, category != StopCategory::category_2);
  suspend();
  if (category != StopCategory::category_0) return;
  for (Joint& joint : joints_) {
    joint.driven_ = joint.was_driven_ = false;
    joint.stop_.end();
  }
}

void Manager::shut_down() noexcept {
  if (supervisor_.shut_down()) suspend();
}

/// Deactivates all controllers that do not work in a stop. Their joints come to rest in this cycle.
void Manager::suspend() noexcept {
  suspended_ = true;
  if (pending_ != nullptr) continue_switch();
  for (Entry* entry : running_) {
    if (entry->wanted && is_active(*entry) && !entry->controller->works_in_stop()) deactivate(*entry);
  }
  for (Entry* entry : running_) {
    if (entry->wanted && !is_active(*entry)) start_fallbacks(*entry, false);
  }
}

/// Activates those that are to run: followers first.
void Manager::resume() noexcept {
  suspended_ = false;
  for (std::size_t i = running_.size(); i-- > 0;) {
    Entry& entry = *running_[i];
    if (!entry.wanted || is_active(entry)) continue;
    make_room(entry);  // a fallback of the stop
    const Status status = activate(entry);
    if (status) continue;
    want(entry, false);
    emit(ManagerEvent::Kind::activation_failed, *entry.controller, status.error());
  }
}

// ---- 3 switch, 4 control ----

void Manager::control() noexcept {
  rt::traced(tracer_, steps_.switching, [this] { apply_requests(); });
  rt::traced(tracer_, steps_.control, [this] { execute_controllers(); });
  rt::traced(tracer_, steps_.protect, [this] { protect_commands(); });
  rt::traced(tracer_, steps_.limit, [this] { move_joints(); });
  const bool moving = std::ranges::any_of(joints_, [](const Joint& joint) { return joint.stop_.moving(); });
  supervisor_.settle(moving);
}

void Manager::apply_requests() noexcept {
  controllers_.apply_requests();
  if (pending_ != nullptr) continue_switch();
}

void Manager::execute_controllers() noexcept {
  controllers_.execute();
  settle_failures();
}

bool Manager::is_active(const Entry& entry) const noexcept {
  return entry.controller->state() == ComponentState::active;
}

/// Gives the controller what it claims, and activates it. If that fails, it owns nothing.
Status Manager::activate(Entry& entry) noexcept {
  if (!has_devices(entry)) return fail(Errc::device_lost);
  take(entry);
  const Status status = controllers_.lead(*entry.controller, Transition::activate);
  if (!status) give_back(entry);
  return status;
}

void Manager::deactivate(Entry& entry) noexcept {
  (void)controllers_.lead(*entry.controller, Transition::deactivate);
  give_back(entry);
}

void Manager::take(Entry& entry) noexcept {
  for (const auto& claim : entry.joints) {
    Joint& joint = joints_[claim.joint];
    if (claim.kind == ClaimKind::lending && joint.owner_ != nobody) {
      joint.lender_ = entry.number;  // it is lent already
      entry.controller->on_lent(claim.joint);
      continue;
    }
    CommandMode mode = claim.mode;
    // A first command of one part, such as a feed-forward, must find no stale other part.
    if (joint.owner_ == nobody) joint.wanted_ = {{joint.reference_.position, 0, 0}, 0};
    if (joint.owner_ != nobody) {
      joint.lender_ = joint.owner_;
      Entry& other = *by_number_[joint.lender_];
      const auto its = std::ranges::find(other.joints, claim.joint, &Entry::JointClaim::joint);
      // Two exclusive owners share the joint, by a policy that permits it: the lowest mode is the drive's.
      if (its->kind == ClaimKind::exclusive) mode = std::min(mode, joint.mode_);
      if (its->kind == ClaimKind::lending) {
        joint.wanted_ = {{joint.reference_.position, 0, 0}, 0};
        other.controller->on_lent(claim.joint);
      }
    }
    joint.owner_ = entry.number;
    joint.mode_ = mode;
    joint.trusted_ = entry.controller->keeps_limits();
    joint.driven_ = false;
  }
  for (const std::size_t cell : entry.cells) {
    cells_[cell].owner = entry.number;
    *cells_[cell].driven = false;
  }
}

void Manager::give_back(Entry& entry) noexcept {
  for (const auto& claim : entry.joints) give_back(joints_[claim.joint], entry.number);
  for (const std::size_t cell : entry.cells) {
    if (cells_[cell].owner != entry.number) continue;
    cells_[cell].owner = nobody;
    *cells_[cell].driven = false;
  }
}

void Manager::give_back(Joint& joint, std::uint16_t owner) noexcept {
  if (joint.lender_ == owner) joint.lender_ = nobody;
  if (joint.owner_ != owner) return;
  joint.driven_ = false;
  joint.owner_ = std::exchange(joint.lender_, nobody);
  joint.mode_ = CommandMode::position;
  joint.trusted_ = false;
  if (joint.owner_ == nobody) return;
  Entry& lender = *by_number_[joint.owner_];
  const auto claim = std::ranges::find(lender.joints, joint.index_, &Entry::JointClaim::joint);
  joint.mode_ = claim->mode;
  joint.trusted_ = lender.controller->keeps_limits();
  lender.controller->on_returned(joint.index_);
}

void Manager::want(Entry& entry, bool wanted) noexcept {
  entry.wanted.store(wanted, std::memory_order_relaxed);
  // release: a plan that sees the count sees the wish. Only the cycle counts.
  wishes_.store(wishes_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
}

// ---- failures ----

/// Ends the chains of all controllers that failed in this cycle.
void Manager::settle_failures() noexcept {
  if (!controllers_.settle()) return;
  for (Entry* entry : running_) {
    if (!entry->wanted || is_active(*entry)) continue;
    const bool failed = entry->controller->state() == ComponentState::error;
    if (!failed && suspended_) continue;
    if (failed && entry->controller->error() == Errc::finished) {
      (void)controllers_.lead(*entry->controller, Transition::reset);
      emit(ManagerEvent::Kind::controller_ended, *entry->controller);
      end_chain(*entry, Errc::finished);
      continue;
    }
    if (failed) emit(ManagerEvent::Kind::controller_failed, *entry->controller, entry->controller->error());
    fall_back(*entry, Errc::group_failed);
  }
}

/// Ends a controller with its chain; then its fallbacks begin.
void Manager::fall_back(Entry& entry, Error reason) noexcept {
  end_chain(entry, reason);
  start_fallbacks(entry, true);
}

/// Ends a controller and all that it is chained with.
void Manager::end_chain(Entry& entry, Error reason) noexcept {
  chain_.assign(1, &entry);  // within the reserved capacity
  entry.in_chain = true;
  for (std::size_t i = 0; i < chain_.size(); ++i) {
    for (Entry* other : chain_[i]->neighbours) {
      if (other->in_chain || !other->wanted) continue;
      other->in_chain = true;
      chain_.push_back(other);
    }
  }
  for (Entry* other : chain_) other->in_chain = false;
  std::ranges::sort(chain_, {}, &Entry::place);  // leaders first
  for (Entry* other : chain_) {
    if (!other->wanted) continue;
    want(*other, false);
    if (is_active(*other)) {
      deactivate(*other);
      emit(ManagerEvent::Kind::controller_ended, *other->controller, reason);
    } else {
      give_back(*other);
    }
  }
}

/// Starts the fallbacks of a controller that has ended, in their order, as far as they can start.
void Manager::start_fallbacks(const Entry& entry, bool execute) noexcept {
  for (Entry* fallback : entry.fallbacks) {
    const bool fits = !suspended_ || fallback->controller->works_in_stop();
    if (!fits || fallback->controller->state() != ComponentState::inactive || !has_devices(*fallback))
      continue;
    make_room(*fallback);
    // Its chain must run already.
    if (!std::ranges::all_of(fallback->followers, [&](const Entry* e) { return is_active(*e); })) continue;
    if (const Status status = activate(*fallback); !status) {
      emit(ManagerEvent::Kind::activation_failed, *fallback->controller, status.error());
      continue;
    }
    want(*fallback, true);
    emit(ManagerEvent::Kind::fallback_started, *fallback->controller);
    // It runs in this cycle, too.
    if (execute) (void)controllers_.execute_now(*fallback->controller);
  }
}

/// Ends the controllers that own what this one claims, with their chains.
void Manager::make_room(const Entry& entry) noexcept {
  const auto evict = [&](std::uint16_t number) {
    const bool is_other = number != nobody && number != entry.number && is_active(*by_number_[number]);
    if (is_other) end_chain(*by_number_[number], Errc::claimed);
    return is_other;
  };
  for (const auto& claim : entry.joints) {
    if (claim.kind == ClaimKind::lending) continue;
    // A joint that two share goes from one to the other, and whoever lends it keeps lending it.
    while (owns_alone(joints_[claim.joint]) && evict(joints_[claim.joint].owner_)) {
    }
  }
  for (const std::size_t cell : entry.cells) (void)evict(cells_[cell].owner);
}

/// Whether all devices that the controller uses are active.
bool Manager::has_devices(const Entry& entry) const noexcept {
  return std::ranges::all_of(entry.devices, [&](std::size_t index) {
    return devices_[index].device->state() == ComponentState::active;
  });
}

/// Whether the joint's owner claims it for itself.
bool Manager::owns_alone(const Joint& joint) const noexcept {
  if (joint.owner_ == nobody) return false;
  const auto& its = by_number_[joint.owner_]->joints;
  const auto claim = std::ranges::find(its, joint.index_, &Entry::JointClaim::joint);
  return claim != its.end() && claim->kind == ClaimKind::exclusive;
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

void Manager::move_joints() noexcept {
  for (Joint& joint : joints_) move(joint);
  if (!has_blame_) return;
  has_blame_ = false;
  for (Entry* entry : running_) {
    if (!std::exchange(entry->blamed, false) || !is_active(*entry)) continue;
    (void)controllers_.end(*entry->controller, Errc::command_not_finite);
    emit(ManagerEvent::Kind::controller_failed, *entry->controller, Errc::command_not_finite);
    fall_back(*entry, Errc::group_failed);
  }
}

void Manager::move(Joint& joint) noexcept {
  if (joint.driven_ && !obey(joint)) {
    joint.driven_ = false;
    blame(joint.owner_);
  }
  if (joint.driven_) {
    joint.stop_.end();
  } else {
    if (joint.was_driven_) begin_rest(joint);
    if (joint.stop_.moving()) joint.stop_.step(joint.reference_, joint.limits_, robot_.period);
  }
  joint.was_driven_ = joint.driven_;
  // No drive holds the joint: its reference follows the measured position, so switching on causes no jump.
  if (!supervisor_.holds(joint.index_) && joint.feedback_->heard)
    joint.reference_ = {joint.feedback_->position, 0, 0};
}

/// Takes over the command within the joint's limits. Returns false if it is not finite.
bool Manager::obey(Joint& joint) noexcept {
  const Joint::Wanted& wanted = joint.wanted_;
  MotionState& reference = joint.reference_;
  if (!std::isfinite(wanted.effort) || !trajectory::is_in_domain(wanted.motion)) return false;
  joint.sent_mode_ = joint.mode_;
  joint.effort_ = std::clamp(wanted.effort, -joint.limits_.effort, joint.limits_.effort);
  if (joint.mode_ == CommandMode::effort) {
    reference = {joint.feedback_->position, joint.feedback_->velocity, 0};
    if (joint.limiter_) joint.effort_ = joint.limiter_->effort(wanted.effort, reference).value;
    return true;
  }
  if (joint.limiter_ && !joint.trusted_) return limit(joint, wanted.motion);
  const bool by_velocity = joint.mode_ == CommandMode::velocity;
  MotionState motion = within_rates(wanted.motion, joint.limits_);
  if (by_velocity) motion.position = joint.feedback_->position;
  const bool fits = by_velocity ? can_brake(motion, joint.limits_)
                                : is_near(motion.position, reference.position, joint.limits_, period_);
  if (!fits && joint.limiter_) return limit(joint, motion);
  if (!fits && by_velocity) motion.velocity = 0;
  if (!fits && !by_velocity)
    motion.position = nearest(motion.position, reference.position, joint.limits_, period_);
  reference = motion;
  return true;
}

/// Leads the reference toward a command within all limits. Returns false if the reference is not finite.
bool Manager::limit(Joint& joint, const MotionState& wanted) noexcept {
  // The limiter goes on from what was sent. A joint in velocity mode is where it was measured.
  if (!joint.limiter_->reset(joint.reference_)) return false;
  joint.reference_ =
      (joint.mode_ == CommandMode::velocity ? joint.limiter_->toward_velocity(wanted.velocity, period_)
                                            : joint.limiter_->follow(wanted, period_))
          .value;
  return true;
}

/// The joint has no command any more: it comes to rest from the reference that was sent last.
void Manager::begin_rest(Joint& joint) noexcept {
  joint.effort_ = 0;
  if (joint.sent_mode_ == CommandMode::effort) joint.sent_mode_ = CommandMode::position;
  joint.stop_.begin(joint.reference_, joint.limits_);
}

void Manager::blame(std::uint16_t owner) noexcept {
  if (owner == nobody) return;
  by_number_[owner]->blamed = true;
  has_blame_ = true;
}

void Manager::protect_commands() noexcept {
  for (CommandCell& cell : cells_) {
    if (cell.value == nullptr) continue;
    if (*cell.driven) {
      if (std::isfinite(*cell.value)) {
        cell.last = *cell.value;
        continue;
      }
      *cell.value = cell.last;
      *cell.driven = false;
      blame(cell.owner);
    }
    if (cell.safe == SafeValue::hold || *cell.value == 0) continue;
    const double step =
        cell.safe == SafeValue::zero ? std::numeric_limits<double>::infinity() : cell.rate * period_;
    *cell.value = std::abs(*cell.value) <= step ? 0 : *cell.value - std::copysign(step, *cell.value);
  }
}

// ---- 7 write, 8 publish ----

void Manager::write() noexcept {
  rt::traced(tracer_, steps_.write, [this] {
    const bool clears = supervisor_.clears_faults();
    for (const Joint& joint : joints_) {
      const MotionState& reference = joint.reference_;
      commands_[joint.index_] = {reference.position,
                                 reference.velocity,
                                 reference.acceleration,
                                 supervisor_.powers(joint.index_),
                                 clears,
                                 joint.sent_mode_,
                                 joint.effort_};
    }
    device_context_.state_update();
  });
}

void Manager::publish() noexcept {
  rt::traced(tracer_, steps_.publish, [this] { controllers_.state_update(); });
}

}  // namespace takt::robot
