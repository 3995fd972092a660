#include "takt/drives/cia402/cia402_drive.hpp"

#include <algorithm>

#include "takt/can/canopen/emergency.hpp"
#include "takt/can/canopen/sync.hpp"

namespace takt::drives {

namespace canopen = can::canopen;
using canopen::NmtCommand;
using canopen::NmtState;
using Object = Cia402Object;

Cia402Drive::Cia402Drive(std::uint8_t node, const Cia402DriveOptions& options, Time start,
                         const robot::JointDescription& joint) noexcept
    : node_(node),
      options_(options),
      ticks_(start, node),
      now_(start),
      boot_due_(start + options.boot_time),
      objects_(node),
      motor_(joint),
      server_(node) {}

void Cia402Drive::boot() noexcept {
  objects_.reset(node_);
  motor_.reset();
  server_.reset();
  nmt_ = NmtState::boot_up;
  boot_due_ = now_ + options_.boot_time;
  heartbeat_due_ = master_due_ = Time::max();
  received_.fill({});
  syncs_.fill(0);
  pending_count_ = 0;
  error_said_ = 0;
}

// ---- What comes

bool Cia402Drive::accepts(const can::Frame& frame) const noexcept {
  if (frame.id == canopen::nmt_id || frame.id == canopen::sync_id) return true;
  if (frame.id == canopen::sdo_request_base + node_) return true;
  if (master() != 0 && frame.id == canopen::heartbeat_base + master()) return true;
  for (std::size_t i = 0; i < Cia402Objects::pdos; ++i) {
    if (objects_.receive_pdo(i).in_use() && frame.id == objects_.receive_pdo(i).frame_id()) return true;
  }
  return false;
}

void Cia402Drive::receive(const can::Frame& frame) noexcept {
  if (silent_) return;
  advance(frame.stamp);
  if (nmt_ == NmtState::boot_up && frame.id != canopen::nmt_id) return;  // deaf until it has started
  if (!frame.is_data() || frame.extended || frame.fd) {
    ++ignored_;
  } else if (frame.id == canopen::nmt_id) {
    obey(frame);
  } else if (frame.id == canopen::sync_id) {
    synchronise();
  } else if (frame.id == canopen::sdo_request_base + node_) {
    answer_sdo(frame);
  } else if (frame.id == canopen::heartbeat_base + master()) {
    const Duration limit = std::chrono::milliseconds(objects_[Object::consumer_heartbeat] & 0xFFFFU);
    master_due_ = limit.count() > 0 ? now_ + limit : Time::max();
  } else {
    take_pdo(frame);
  }
}

void Cia402Drive::obey(const can::Frame& frame) noexcept {
  const auto message = canopen::decode_nmt(frame);
  if (!message) {
    ++ignored_;
    return;
  }
  if (message->node != canopen::all_nodes && message->node != node_) return;
  const bool resets =
      message->command == NmtCommand::reset_node || message->command == NmtCommand::reset_communication;
  if (resets) {
    boot();
  } else if (nmt_ != NmtState::boot_up) {
    set_nmt(message->command == NmtCommand::start  ? NmtState::operational
            : message->command == NmtCommand::stop ? NmtState::stopped
                                                   : NmtState::pre_operational);
  }
}

void Cia402Drive::set_nmt(NmtState state) noexcept {
  if (nmt_ == NmtState::operational && state != nmt_ && objects_[Object::connection_option] != 0) {
    motor_.lose_connection();
  }
  nmt_ = state;
}

void Cia402Drive::answer_sdo(const can::Frame& request) noexcept {
  if (nmt_ == NmtState::stopped) return;
  if (disturbance_.sdo_abort != canopen::SdoAbort::none) {
    const can::Frame refusal = canopen::detail::sdo_frame(
        canopen::sdo_reply_base + node_, canopen::detail::abort_command, canopen::detail::address_in(request),
        static_cast<std::uint32_t>(disturbance_.sdo_abort));
    return queue(refusal, options_.reply_delay);
  }
  const std::uint32_t heartbeat_before = objects_[Object::producer_heartbeat];
  motor_.report(objects_, ticks_.since(now_));
  const auto answer = server_.receive(request, objects_);
  if (!answer) {
    ++ignored_;
  } else if (*answer) {
    queue(**answer, options_.reply_delay);
  }
  while (const auto segment = server_.poll()) queue(*segment, options_.reply_delay);
  motor_.obey(objects_);
  if (objects_[Object::producer_heartbeat] != heartbeat_before) start_heartbeat();
}

void Cia402Drive::start_heartbeat() noexcept {
  const Duration period = std::chrono::milliseconds(objects_[Object::producer_heartbeat]);
  const bool says_it = period.count() > 0 && !disturbance_.heartbeat_lost;
  heartbeat_due_ = says_it ? now_ + period : Time::max();
}

void Cia402Drive::take_pdo(const can::Frame& frame) noexcept {
  if (nmt_ != NmtState::operational) return;
  for (std::size_t i = 0; i < Cia402Objects::pdos; ++i) {
    const auto& pdo = objects_.receive_pdo(i);
    if (!pdo.in_use() || pdo.frame_id() != frame.id) continue;
    Received& received = received_[i];
    received.length = std::min<std::uint8_t>(frame.length, 8);
    std::copy_n(frame.data.begin(), received.length, received.data.begin());
    received.fresh = true;
    if (pdo.at_sync()) continue;
    take_over(i);
    motor_.obey(objects_);
  }
}

void Cia402Drive::take_over(std::size_t pdo) noexcept {
  Received& received = received_[pdo];
  received.fresh = false;
  const auto data = std::span<const std::uint8_t>(received.data).first(received.length);
  if (!objects_.unpack(objects_.receive_pdo(pdo), data)) ++ignored_;
}

void Cia402Drive::synchronise() noexcept {
  if (nmt_ != NmtState::operational) return;
  bool news = false;
  for (std::size_t i = 0; i < Cia402Objects::pdos; ++i) {
    if (!received_[i].fresh) continue;
    take_over(i);
    news = true;
  }
  if (news) motor_.obey(objects_);
  motor_.report(objects_, ticks_.since(now_));
  for (std::size_t i = 0; i < Cia402Objects::pdos; ++i) {
    const auto& pdo = objects_.transmit_pdo(i);
    if (!pdo.in_use() || !pdo.at_sync() || ++syncs_[i] < pdo.type) continue;
    syncs_[i] = 0;
    queue_pdo(i, options_.reply_delay);
  }
}

// ---- What goes

void Cia402Drive::queue(const can::Frame& frame, Duration delay) noexcept {
  if (pending_count_ == pending_.size()) {
    ++ignored_;
    return;
  }
  pending_[pending_count_++] = {now_ + delay + disturbance_.late, frame};
}

void Cia402Drive::queue_pdo(std::size_t pdo, Duration delay) noexcept {
  can::Frame frame;
  frame.id = objects_.transmit_pdo(pdo).frame_id();
  frame.length = static_cast<std::uint8_t>(
      objects_.pack(objects_.transmit_pdo(pdo), std::span<std::uint8_t>(frame.data).first<8>()));
  std::copy_n(frame.data.begin(), last_sent_[pdo].size(), last_sent_[pdo].begin());
  queue(frame, delay);
}

Time Cia402Drive::next_send() const noexcept {
  if (silent_) return Time::max();
  Time due = std::min(nmt_ == NmtState::boot_up ? boot_due_ : Time::max(), heartbeat_due_);
  for (std::size_t i = 0; i < pending_count_; ++i) due = std::min(due, pending_[i].due);
  return due;
}

can::Frame Cia402Drive::take_frame() noexcept {
  const Time due = next_send();
  if (nmt_ == NmtState::boot_up && boot_due_ == due) {
    nmt_ = NmtState::pre_operational;
    motor_.started();
    return canopen::encode(canopen::Heartbeat{node_, NmtState::boot_up}).value_or(can::Frame{});
  }
  for (std::size_t i = 0; i < pending_count_; ++i) {
    if (pending_[i].due != due) continue;
    const can::Frame frame = pending_[i].frame;
    std::move(pending_.begin() + static_cast<std::ptrdiff_t>(i) + 1,
              pending_.begin() + static_cast<std::ptrdiff_t>(pending_count_),
              pending_.begin() + static_cast<std::ptrdiff_t>(i));
    --pending_count_;
    return frame;
  }
  heartbeat_due_ += std::chrono::milliseconds(objects_[Object::producer_heartbeat]);
  return canopen::encode(canopen::Heartbeat{node_, nmt_}).value_or(can::Frame{});
}

// ---- What happens meanwhile

void Cia402Drive::advance(Time to) noexcept {
  for (; ticks_.next() <= to; ticks_.pass()) run(ticks_.next());
  now_ = std::max(now_, to);
}

void Cia402Drive::run(Time tick) noexcept {
  now_ = std::max(now_, tick);
  watch_master();
  motor_.tick(objects_);
  say_what_changed();
}

void Cia402Drive::watch_master() noexcept {
  if (now_ < master_due_) return;
  master_due_ = Time::max();
  if (objects_[Object::connection_option] != 0) motor_.lose_connection();
}

void Cia402Drive::say_what_changed() noexcept {
  if (silent_ || nmt_ == NmtState::boot_up || nmt_ == NmtState::stopped) return;
  if (motor_.error() != error_said_) {
    error_said_ = motor_.error();
    const std::uint8_t bits = error_said_ == 0 ? 0 : canopen::error_register::generic;
    objects_.set(Object::error_register, bits);
    if (const auto frame = canopen::encode(canopen::Emergency{node_, error_said_, bits, {}}))
      queue(*frame, {});
  }
  if (nmt_ != NmtState::operational) return;
  for (std::size_t i = 0; i < Cia402Objects::pdos; ++i) {
    const auto& pdo = objects_.transmit_pdo(i);
    if (!pdo.in_use() || pdo.at_sync()) continue;
    std::array<std::uint8_t, 8> data{};
    (void)objects_.pack(pdo, data);
    if (data != last_sent_[i]) queue_pdo(i, {});
  }
}

void Cia402Drive::inject(sim::JointFault fault) noexcept {
  motor_.inject(fault, ticks_.since(now_));
  const bool was_silent = silent_;
  silent_ = fault == sim::JointFault::silent;
  if (was_silent || silent_) boot();
}

void Cia402Drive::disturb(const Cia402Disturbance& disturbance) noexcept {
  disturbance_ = disturbance;
  motor_.set_refuses_mode(disturbance.mode_refused);
  start_heartbeat();
}

}  // namespace takt::drives
