#include "takt/motion/request_gateway.hpp"

#include <algorithm>
#include <utility>

#include "takt/robot/fingerprint.hpp"

namespace takt::motion {
namespace {

/// The bytes of records per poll, so that events and the state do not wait long. A short record counts as
/// `least_record` bytes, because its work is the same. A stop behind a long request that fills the link is
/// taken at once.
constexpr std::size_t bytes_at_once = Link::request_bytes;
constexpr std::size_t least_record = 64;

/// The highest goal number in the loop. JSON must represent it exactly.
constexpr GoalId highest_goal = GoalId{1} << 53;

/// The poll interval without a server: the longest delay until one is noticed.
constexpr Duration longest_wait = std::chrono::milliseconds(10);
/// The shortest wait for a late cycle. Cycles differ in length.
constexpr Duration late_poll = std::chrono::microseconds(50);

std::span<const std::uint8_t> as_octets(std::span<const std::byte> bytes) noexcept {
  return {reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()};
}

}  // namespace

RequestGateway::RequestGateway(const robot::RobotDescription& robot, Channels& channels,
                               GatewayOptions options)
    : robot_(&robot),
      channels_(&channels),
      options_(std::move(options)),
      fingerprint_(robot::fingerprint(robot)),
      heartbeat_(options_.silence) {}

void RequestGateway::attach(Link& link) {
  detach();
  link_ = &link;
  end_ = LinkEnd::none;
  has_server_ = false;
  requests_.emplace(link.requests, link.request_memory.data(), Link::request_bytes);
  events_.emplace(link.events, link.event_memory.data(), Link::event_count);
  reader_.emplace(*robot_, options_.max_segments);
  heartbeat_.reset();
  handled_ = 0;
  ++session_;
  before_ = latest_;
  // Relaxed: the memory is handed out later, and no other data depends on these words.
  link.loop.robot.store(fingerprint_, std::memory_order_relaxed);
  link.loop.layout.store(link_layout, std::memory_order_relaxed);
  if (channels_->state.update() != shm::Freshness::none) forward_state();
}

std::uint64_t RequestGateway::layout_of_server() const noexcept {
  // Relaxed: a single word.
  return link_ != nullptr ? link_->server.layout.load(std::memory_order_relaxed) : 0;
}

/// Accepts the server's layout once. Later values in that word cannot make the gateway forget the server's
/// goals.
void RequestGateway::see_server() {
  if (link_ == nullptr) return;
  const std::uint64_t layout = layout_of_server();
  if (layout == link_layout) {
    has_server_ = true;
  } else if (has_server_) {
    finish(LinkEnd::malformed);
  } else if (layout != 0) {
    has_server_ = true;
    finish(LinkEnd::other_version);
  }
}

void RequestGateway::detach() { finish(LinkEnd::detached); }

void RequestGateway::finish(LinkEnd end) {
  if (link_ == nullptr) return;
  // Relaxed: a single word.
  link_->loop.over.store(1, std::memory_order_relaxed);
  link_ = nullptr;
  end_ = end;
  requests_.reset();
  events_.reset();
  reader_.reset();
  outgoing_.clear();
  for (const Request* request : std::exchange(pending_, {})) owned_.erase(request);
  auto stop = std::make_unique<Request>();
  stop->kind = RequestKind::cancel;
  stop->reason = Errc::client_lost;
  own(std::move(stop), 0);
  push_requests();  // now: the time of the next poll() is unknown
}

Duration RequestGateway::poll(Time now) {
  now_ = now;
  see_server();
  if (serves()) {
    // Relaxed: a heartbeat, and no other data depends on it.
    if (!heartbeat_.is_alive(link_->server.beat.load(std::memory_order_relaxed), now))
      finish(LinkEnd::silent);
  }
  take_events();
  // Read the state after the events and send it before them, so that it includes their effects.
  if (channels_->state.update() == shm::Freshness::new_data && link_ != nullptr) forward_state();
  send_events();
  push_requests();
  const bool more = take_requests(now);
  push_requests();
  report();
  if (more) return Duration(0);
  return serves() || !pending_.empty() ? until_next_cycle(now) : longest_wait;
}

/// When the loop's next cycle will be published, if it takes as long as the last.
Duration RequestGateway::until_next_cycle(Time now) const {
  const Snapshot& last = channels_->state.value();
  const Duration left = last.time + robot_->period + last.loop.lateness + last.loop.busy - now;
  // If the loop does not run, poll less often.
  return left < -robot_->period ? longest_wait : std::clamp(left, late_poll, longest_wait);
}

// ---- to the server ----------------------------------------------------------------------------------------

void RequestGateway::take_events() {
  Event event;
  for (std::size_t i = 0; i < channels_->events.capacity() && channels_->events.try_pop(event); ++i)
    forward(event);
  if (outgoing_.size() > options_.max_unread) finish(LinkEnd::unread);
}

void RequestGateway::forward(Event event) {
  LinkEvent out;
  if (const auto owned = owned_.find(event.retired); owned != owned_.end()) {
    const bool is_mine = owned->second.number != 0 && owned->second.session == session_;
    out.request = owned->second.number;
    owned_.erase(owned);
    if (!is_mine) return;
  } else if (event.goal <= before_) {
    return;
  }
  if (link_ == nullptr) return;
  event.retired = nullptr;
  if (event.goal != 0) event.goal -= before_;
  out.event = event;
  outgoing_.push_back(out);
}

void RequestGateway::forward_state() {
  Snapshot state = channels_->state.value();
  reader_->see(state);
  for (JointSnapshot& joint : state.joints) joint.goal = joint.goal > before_ ? joint.goal - before_ : 0;
  link_->state.write(state);
}

void RequestGateway::send_events() {
  while (link_ != nullptr && !outgoing_.empty() && events_->try_push(outgoing_.front()))
    outgoing_.pop_front();
}

/// Tells the server how many of its requests do not wait for the loop any more.
void RequestGateway::report() {
  if (link_ == nullptr) return;
  shm::SpscRing<Request*>& ring = channels_->requests;
  const auto waiting = static_cast<std::uint32_t>(ring.capacity() - ring.free_slots());
  // Relaxed: single numbers.
  link_->loop.taken.store(handled_ - std::min(waiting, handled_), std::memory_order_relaxed);
  link_->loop.beat.store(++beat_, std::memory_order_relaxed);
}

// ---- to the loop ------------------------------------------------------------------------------------------

bool RequestGateway::has_requests() noexcept {
  // Take no more requests while some wait for room in the loop's ring.
  return layout_of_server() == link_layout && pending_.empty() &&
         (requests_->peek() || requests_->is_broken());
}

/// Returns true if it stopped before everything was read.
bool RequestGateway::take_requests(Time now) {
  for (std::size_t bytes = 0; bytes < bytes_at_once;) {
    if (!serves()) return false;
    if (!pending_.empty()) return false;  // the loop has to make room first
    const auto record = requests_->peek();
    if (!record) {
      if (requests_->is_broken()) finish(LinkEnd::malformed);
      return false;
    }
    bytes += std::max(record->size(), least_record);
    auto taken = reader_->take(as_octets(*record));
    requests_->release();
    if (!taken) {
      finish(LinkEnd::malformed);
      return false;
    }
    if (taken->note) take(*taken->note, now);
    if (taken->request) take(std::move(*taken), now);
    push_requests();
  }
  return true;
}

void RequestGateway::take(const Note& note, Time now) const {
  if (const auto* mark = std::get_if<Mark>(&note); mark != nullptr && options_.on_mark)
    options_.on_mark(now, mark->text);
  if (const auto* why = std::get_if<Refusal>(&note)) refused(*why, now);
}

void RequestGateway::refused(const Refusal& why, Time now) const {
  if (options_.on_refusal) options_.on_refusal(now, why);
}

void RequestGateway::take(TakenRequest&& taken, Time now) {
  Request& request = *taken.request;
  if (!taken.refusal && request.goal > highest_goal - before_)
    taken.refusal = Refusal{.reason = Errc::unknown_goal};
  if (!taken.refusal) {
    if (request.goal != 0) request.goal += before_;
    if (begins_goal(request.kind)) latest_ = std::max(latest_, request.goal);
    return own(std::move(taken.request), taken.number);
  }
  ++handled_;
  const Refusal& why = *taken.refusal;
  refused(why, now);
  LinkEvent out;
  out.request = taken.number;
  out.event.goal = request.goal;
  out.event.state = GoalState::rejected;
  out.event.reason = why.reason;
  out.event.joint = why.joint;
  out.event.quantity = why.quantity;
  out.event.time = why.time;
  out.event.value = why.value;
  out.event.limit = why.limit;
  out.event.received = request.received;
  out.event.handed_over = request.handed_over;
  outgoing_.push_back(out);
}

void RequestGateway::own(std::unique_ptr<Request> request, std::uint64_t number) {
  Request* raw = request.get();
  owned_[raw] = {std::move(request), number, session_};
  pending_.push_back(raw);
}

void RequestGateway::push_requests() {
  while (!pending_.empty()) {
    const Owned& owned = owned_[pending_.front()];
    const bool is_mine = owned.number != 0 && owned.session == session_;
    if (channels_->requests.free_slots() == 0) return;
    if (options_.on_hand_over) options_.on_hand_over(now_, *pending_.front());
    static_cast<void>(
        channels_->requests.try_push(pending_.front()));  // there is room: no other thread pushes
    pending_.pop_front();
    if (is_mine) ++handled_;
  }
}

}  // namespace takt::motion
