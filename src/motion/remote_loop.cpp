#include "takt/motion/remote_loop.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "takt/robot/fingerprint.hpp"

namespace takt::motion {
namespace {

/// The poll interval while an answer is due. It comes with the first cycle that sees the request, or with the
/// next.
constexpr Duration answer_poll = std::chrono::microseconds(200);
constexpr int cycles_to_answer = 3;

/// Notes that may wait for room in the link.
constexpr std::size_t max_notes = 1024;
/// Notes are sent only while this much of the link is free. A stop must wait for the bytes before it, and
/// many notes take longer to read than one long request.
constexpr std::uint32_t room_for_notes = Link::request_bytes / 2;

/// Whether the server can process the event safely.
bool is_plausible(const Event& event, const robot::RobotDescription& robot) noexcept {
  const bool has_code = event.reason == Errc::drive_fault;
  return event.state <= GoalState::recalled && event.joint < robot.joints.size() &&
         event.quantity <= trajectory::Quantity::jerk && event.duration >= 0 &&
         (!has_code || (event.value >= 0 && event.value <= std::numeric_limits<std::uint32_t>::max())) &&
         is_moderate(event.received) && is_moderate(event.handed_over) && is_moderate(event.first_reference);
}

bool is_plausible(const Snapshot& state, const robot::RobotDescription& robot) noexcept {
  return state.state <= RobotState::down && state.joint_count == robot.joints.size() &&
         is_moderate(state.time) && std::isfinite(state.reason_value) && std::isfinite(state.reason_limit) &&
         std::all_of(state.joints.begin(), state.joints.end(),
                     [](const JointSnapshot& joint) { return joint.drive <= DriveState::no_bus; });
}

}  // namespace

RemoteLoop::RemoteLoop(const robot::RobotDescription& robot, Channels& channels, RemoteLoopOptions options)
    : robot_(&robot),
      channels_(&channels),
      options_(std::move(options)),
      fingerprint_(robot::fingerprint(robot)),
      heartbeat_(options_.silence) {
  latest_.joint_count = static_cast<std::uint8_t>(robot.joints.size());
}

Status RemoteLoop::attach(Link& link) {
  detach();
  // Relaxed: written before the memory was handed out.
  if (link.loop.layout.load(std::memory_order_relaxed) != link_layout) return fail(Errc::other_version);
  if (link.loop.robot.load(std::memory_order_relaxed) != fingerprint_) return fail(Errc::other_robot);
  // Relaxed: a single word.
  if (link.loop.over.load(std::memory_order_relaxed) != 0) return fail(Errc::loop_taken);
  // Relaxed: it selects one server, and no other data depends on it.
  if (link.server.layout.exchange(link_layout, std::memory_order_relaxed) != 0) return fail(Errc::loop_taken);
  link_ = &link;
  requests_.emplace(link.requests, link.request_memory.data(), Link::request_bytes);
  events_.emplace(link.events, link.event_memory.data(), Link::event_count);
  state_.emplace(link.state);
  heartbeat_.reset();
  sent_ = 0;
  return {};
}

void RemoteLoop::detach() {
  if (link_ == nullptr) return;
  link_ = nullptr;
  sending_.reset();
  notes_.clear();
  urgent_.clear();
  waiting_.clear();
  while (!borrowed_.empty()) {
    const auto& [number, borrowed] = *borrowed_.begin();
    reject(number, Errc::loop_lost, borrowed.runs ? GoalState::aborted : GoalState::rejected);
  }
  latest_.state = RobotState::stopped;
  latest_.reason = Errc::loop_lost;
  latest_.active_goals = 0;
  for (JointSnapshot& joint : latest_.joints) joint.goal = 0;
  channels_->state.write(latest_);
}

Duration RemoteLoop::poll(Time now) {
  if (link_ != nullptr) {
    // Relaxed: heartbeats, and no other data depends on them. `over` is read first and handled last, because
    // messages before the end still count.
    const bool over = link_->loop.over.load(std::memory_order_relaxed) != 0;
    const bool alive = heartbeat_.is_alive(link_->loop.beat.load(std::memory_order_relaxed), now);
    link_->server.beat.store(++beat_, std::memory_order_relaxed);
    const bool ends = over || !alive;
    take_events(ends);
    take_state();
    if (ends) detach();
  }
  push_events();
  take_requests();
  send_requests();
  push_events();
  if (std::exchange(has_sent_, false)) {
    sent_at_ = now;
    if (options_.on_sent) options_.on_sent();
  }
  return sending_ ? Duration(0) : until_answer(now);
}

Duration RemoteLoop::until_answer(Time now) const {
  const bool is_waited_for = !borrowed_.empty() || !notes_.empty();
  const bool is_due = is_waited_for && now - sent_at_ <= cycles_to_answer * robot_->period;
  return is_due ? answer_poll : Duration::max();
}

// ---- to the loop ------------------------------------------------------------------------------------------

void RemoteLoop::take_requests() {
  Request* request = nullptr;
  while (channels_->requests.try_pop(request)) {
    send_requests();  // requests that may go first and are not overtaken
    const std::uint64_t number = ++last_number_;
    Borrowed& borrowed = borrowed_[number] = {request};
    if (link_ == nullptr) {
      reject(number, Errc::loop_lost);
    } else if (!is_complete(*request)) {
      reject(number, Errc::wrong_size);
    } else if (request->kind == RequestKind::emergency_stop) {
      recall(*request, borrowed);
      const auto is_stop = [this](std::uint64_t other) {
        return borrowed_.at(other).request->kind == RequestKind::emergency_stop;
      };
      urgent_.insert(std::find_if_not(urgent_.begin(), urgent_.end(), is_stop), number);
    } else if (request->kind == RequestKind::cancel) {
      recall(*request, borrowed);
      urgent_.push_back(number);
    } else {
      waiting_.push_back(number);
    }
  }
}

/// Recalls the requests that a stop or a cancel overtakes and that must not follow it.
void RemoteLoop::recall(const Request& overtaking, Borrowed& by) {
  const auto is_recalled = [&](const Request& request) {
    if (overtaking.kind == RequestKind::emergency_stop) return true;
    return begins_goal(request.kind) && (overtaking.goal == 0 || overtaking.goal == request.goal);
  };
  const auto take_back = [&](std::uint64_t number) {
    if (!is_recalled(*borrowed_.at(number).request)) return false;
    reject(number, Errc::recalled);
    by.stopped = true;
    return true;
  };
  if (sending_ && take_back(sending_->number())) sending_.reset();
  for (const std::uint64_t number : std::exchange(waiting_, {})) {
    if (!take_back(number)) waiting_.push_back(number);
  }
}

/// Returns a request that the loop does not have, or has lost.
void RemoteLoop::reject(std::uint64_t number, Errc reason, GoalState state) {
  Request* request = borrowed_.at(number).request;
  Event event;
  event.goal = request->goal;
  event.state = state;
  event.reason = reason;
  event.received = request->received;
  event.handed_over = request->handed_over;
  event.retired = request;
  incoming_.push_back(event);
  borrowed_.erase(number);
}

/// Sends a stop at once, and other requests as soon as the loop has room for them in its next cycle.
void RemoteLoop::send_requests() {
  if (link_ == nullptr) return;
  while (!urgent_.empty()) {
    Borrowed& borrowed = borrowed_.at(urgent_.front());
    const Request& request = *borrowed.request;
    if (request.kind != RequestKind::emergency_stop && !may_send()) break;
    // It is short: one record, between two records of a long request.
    const auto room = requests_->try_reserve(max_request_record);
    if (!room) return;
    RequestWriter writer(request, urgent_.front());
    requests_->commit(writer.write({reinterpret_cast<std::uint8_t*>(room->data()), room->size()}));
    borrowed.begun = true;
    urgent_.pop_front();
    ++sent_;
    has_sent_ = true;
  }
  send_notes();
  while (true) {
    if (!sending_) {
      if (waiting_.empty() || !may_send()) return;
      Borrowed& borrowed = borrowed_.at(waiting_.front());
      borrowed.begun = true;
      sending_.emplace(*borrowed.request, waiting_.front());
      waiting_.pop_front();
    }
    if (!send_record()) return;
  }
}

void RemoteLoop::note(Note note) {
  if (link_ != nullptr && is_valid(note) && notes_.size() < max_notes) notes_.push_back(std::move(note));
}

void RemoteLoop::send_notes() {
  while (!notes_.empty() && requests_->free_bytes() > room_for_notes) {
    const auto room = requests_->try_reserve(max_request_record);
    if (!room) return;
    requests_->commit(
        write_note(notes_.front(), {reinterpret_cast<std::uint8_t*>(room->data()), room->size()}));
    notes_.pop_front();
    has_sent_ = true;
  }
}

bool RemoteLoop::may_send() const noexcept {
  // Relaxed: a single number.
  return sent_ - link_->loop.taken.load(std::memory_order_relaxed) < max_requests_per_cycle;
}

bool RemoteLoop::send_record() {
  const auto room = requests_->try_reserve(max_request_record);
  if (!room) return false;
  requests_->commit(sending_->write({reinterpret_cast<std::uint8_t*>(room->data()), room->size()}));
  has_sent_ = true;
  if (!sending_->done()) return true;
  sending_.reset();
  ++sent_;
  return true;
}

// ---- to the server ----------------------------------------------------------------------------------------

/// Takes events, but leaves those in the link for which the server has no room. So a loop that sends
/// endlessly cannot use more memory here. With `all`, it takes the last events of an ended link in any case.
void RemoteLoop::take_events(bool all) {
  LinkEvent event;
  for (std::size_t i = 0; i < events_->capacity(); ++i) {
    push_events();
    if ((!all && !incoming_.empty()) || !events_->try_pop(event)) return;
    take(event);
  }
}

void RemoteLoop::take(LinkEvent in) {
  Event& event = in.event;
  event.retired = nullptr;
  if (!is_plausible(event, *robot_)) return;
  if (in.request == 0) {
    const auto first = std::find_if(borrowed_.begin(), borrowed_.end(), [&](const auto& entry) {
      const Borrowed& borrowed = entry.second;
      return borrowed.begun && begins_goal(borrowed.request->kind) && borrowed.request->goal == event.goal;
    });
    if (first != borrowed_.end()) first->second.runs = true;
    incoming_.push_back(event);
    return;
  }
  const auto found = borrowed_.find(in.request);
  if (found == borrowed_.end() || !found->second.begun) return;
  if (sending_ && sending_->number() == in.request) {  // rejected before it was sent completely
    sending_.reset();
    ++sent_;
  }
  if (found->second.stopped && event.reason == Errc::unknown_goal) {
    event.state = GoalState::succeeded;
    event.reason = Errc{};
  }
  event.retired = found->second.request;
  borrowed_.erase(found);
  incoming_.push_back(event);
}

void RemoteLoop::take_state() {
  Snapshot state;
  if (state_->read_new(state) != shm::Freshness::new_data || !is_plausible(state, *robot_)) return;
  latest_ = state;
  channels_->state.write(latest_);
}

void RemoteLoop::push_events() {
  while (!incoming_.empty() && channels_->events.try_push(incoming_.front())) incoming_.pop_front();
}

}  // namespace takt::motion
