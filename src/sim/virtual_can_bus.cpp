#include "takt/sim/virtual_can_bus.hpp"

#include <algorithm>
#include <bit>

#include "takt/can/bits.hpp"

namespace takt::sim {
namespace {

/// The bits of the arbitration field in the order of the wire, first bit highest. The lower number wins the
/// bus, since a zero is dominant. A base frame wins over an extended frame with the same first 11 bits, a
/// data frame over its remote request.
std::uint32_t arbitration_key(const can::Frame& frame) noexcept {
  const std::uint32_t remote = frame.remote ? 1 : 0;
  if (!frame.extended) return frame.id << 21 | remote << 20;
  constexpr std::uint32_t substitute_and_extension = 3u << 19;
  return (frame.id >> 18) << 21 | substitute_and_extension | (frame.id & 0x3ffff) << 1 | remote;
}

constexpr std::uint32_t bit(std::size_t node) noexcept { return 1u << node; }

/// Calls visit(node) for each node of a set.
template <class Visitor>
void for_each(std::uint32_t nodes, Visitor visit) noexcept {
  for (; nodes != 0; nodes &= nodes - 1) visit(static_cast<std::size_t>(std::countr_zero(nodes)));
}

// An error flag of six bits, the other nodes' flags (six more, since they see it only then), and the
// delimiter of eight.
constexpr std::uint32_t error_frame_bits = 6 + 6 + 8;
// Without other nodes no flag answers. This flag replaces the delimiter of the acknowledgement and the seven
// bits of the frame's end.
constexpr std::uint32_t lonely_error_frame_bits = 6 + 8;
constexpr std::uint32_t bits_after_acknowledge = 1 + 7;
constexpr std::uint32_t gap_bits = 3;

/// Whether a bus can carry the frame. Too long identifiers, lengths without a length code, and contradicting
/// flags exist only in memory. Error frames go only from a controller to its own host.
bool exists_on_a_bus(const can::Frame& frame) noexcept {
  if (frame.error) return false;
  if (frame.id > (frame.extended ? can::max_extended_id : can::max_standard_id)) return false;
  if (frame.fd) return !frame.remote && can::fd_lengths[can::fd_length_code(frame.length)] == frame.length;
  return !frame.bit_rate_switch && !frame.error_state && frame.length <= can::max_classic_length;
}

}  // namespace

VirtualCanBus::VirtualCanBus(BusRates rates, Time start)
    : rates_(rates),
      gap_(nominal_time(gap_bits)),
      run_(nominal_time(can::recovery_run_bits)),
      suspend_(nominal_time(can::suspend_bits)),
      start_(start),
      now_(start),
      idle_from_(start) {
  nodes_.reserve(max_nodes);
}

VirtualCanBus::Port VirtualCanBus::connect(NodeCapacity capacity) {
  if (nodes_.size() == max_nodes) return Port();
  const std::size_t node = nodes_.size();
  nodes_.push_back(Node{FrameQueue(capacity.transmit), FrameQueue(capacity.receive)});
  if (capacity.receive > 0) listening_ |= bit(node);
  present_ |= bit(node);
  return Port(*this, node);
}

Duration VirtualCanBus::nominal_time(std::uint32_t bits) const noexcept {
  return can::transmission_time(can::FrameBits{bits, 0}, rates_.nominal, rates_.data);
}

Duration VirtualCanBus::duration_of(const can::Frame& frame) const noexcept {
  return can::transmission_time(frame, rates_.nominal, rates_.data);
}

// ---- Time

const can::Frame* VirtualCanBus::step(Time limit) noexcept {
  for (;;) {
    if (!transmitting_) {
      const Time start = next_start();
      if (recovering_ != 0 && bring_back(std::min(start, limit))) continue;
      if (waiting_ == 0 || start > limit) break;
      now_ = start;
      start_transmission();
    }
    if (end_ > limit) break;
    now_ = end_;
    if (const can::Frame* frame = finish_transmission()) return frame;
  }
  now_ = std::max(now_, limit);
  return nullptr;
}

/// Start of the next frame, if the nodes stay as they are.
Time VirtualCanBus::next_start() const noexcept {
  if (waiting_ == 0) return Time::max();
  const Time start = std::max(now_, idle_from_);
  return waiting_ == suspended_ ? std::max(start, suspended_until_) : start;
}

/// The node whose frame starts now.
std::size_t VirtualCanBus::arbitrate() const noexcept {
  std::uint64_t lowest = ~std::uint64_t{0};
  std::size_t winner = 0;
  for_each(now_ < suspended_until_ ? waiting_ & ~suspended_ : waiting_, [&](std::size_t node) noexcept {
    if (nodes_[node].key >= lowest) return;  // of equal identifiers, the node connected first
    lowest = nodes_[node].key;
    winner = node;
  });
  return winner;
}

void VirtualCanBus::start_transmission() noexcept {
  sender_ = arbitrate();
  on_wire_ = nodes_[sender_].transmit.front();
  if (on_wire_.fd && nodes_[sender_].faults.is_passive()) on_wire_.error_state = true;
  const Duration duration = duration_of(on_wire_);
  fate_ = decide();
  end_ = now_ + duration - gap_;
  if (fate_ == Fate::unacknowledged) {
    end_ += nominal_time(lonely_error_frame_bits) - nominal_time(bits_after_acknowledge);
  } else if (fate_ != Fate::good) {
    end_ += nominal_time(error_frame_bits);
  }
  idle_from_ = end_ + gap_;
  counted_.busy += idle_from_ - now_;
  if (recovering_ != 0) count_recessive_runs();
  transmitting_ = true;
}

VirtualCanBus::Fate VirtualCanBus::decide() noexcept {
  const NodeSet others = present_ & ~bit(sender_);
  misread_ = misreading_ & others;
  NodeSet destroying = 0;
  for_each(misread_, [&](std::size_t node) noexcept {
    if (--nodes_[node].misread == 0) misreading_ &= ~bit(node);
    if (!nodes_[node].faults.is_passive()) destroying |= bit(node);
  });
  if (others == 0) return Fate::unacknowledged;
  if (corrupt_ > 0) {
    --corrupt_;
    return Fate::corrupted;
  }
  if (nodes_[sender_].corrupt > 0) {
    --nodes_[sender_].corrupt;
    return Fate::corrupted;
  }
  if (destroying != 0) return Fate::misread;
  return others == misread_ ? Fate::unacknowledged : Fate::good;
}

/// Ends the frame on the wire. Returns it if it reached the other nodes.
const can::Frame* VirtualCanBus::finish_transmission() noexcept {
  transmitting_ = false;
  for_each(recovering_, [&](std::size_t node) noexcept {  // its end is a run of recessive bits
    nodes_[node].runs_left -= std::min(nodes_[node].runs_left, 1U);
    nodes_[node].recessive_from = idle_from_;
  });
  const can::Frame* completed = nullptr;
  if (fate_ == Fate::good) {
    completed = complete();
  } else {
    ++(fate_ == Fate::unacknowledged ? counted_.unacknowledged : counted_.corrupted);
    sender_failed();
    receivers_failed();
  }
  suspended_ = nodes_[sender_].faults.is_passive() ? bit(sender_) : 0;
  suspended_until_ = idle_from_ + suspend_;
  return completed;
}

const can::Frame* VirtualCanBus::complete() noexcept {
  on_wire_.stamp = now_;
  on_wire_.stamp_source = can::StampSource::bus;
  nodes_[sender_].transmit.pop();
  refresh(sender_);
  change_faults(sender_, {}, [](can::FaultConfinement& faults) noexcept { faults.sent(); });
  ++counted_.frames;
  if (!on_wire_.extended) ++frames_by_id_[on_wire_.id];
  if (lose_ > 0) {
    --lose_;
    ++counted_.lost;
    return nullptr;
  }
  if (misread_ != 0) receivers_failed();  // error-passive ones, whose flags no node sees
  for_each(troubled_ & present_ & ~misread_ & ~bit(sender_), [&](std::size_t node) noexcept {
    change_faults(node, {}, [](can::FaultConfinement& faults) noexcept { faults.received(); });
  });
  deliver(on_wire_);
  return &on_wire_;
}

void VirtualCanBus::deliver(const can::Frame& frame) noexcept {
  for_each(listening_ & present_ & ~misread_ & ~bit(sender_), [&](std::size_t node) noexcept {
    if (!nodes_[node].receive.push(frame)) ++counted_.overflows;
  });
}

// ---- Errors

void VirtualCanBus::sender_failed() noexcept {
  can::BusReport report;
  report.bus_error = true;
  if (fate_ == Fate::unacknowledged) {
    report.no_acknowledge = true;
    change_faults(sender_, report, [](can::FaultConfinement& faults) noexcept { faults.not_acknowledged(); });
  } else {
    report.protocol_error = can::ProtocolError{.bit = true, .sending = true};
    change_faults(sender_, report, [](can::FaultConfinement& faults) noexcept { faults.send_failed(); });
  }
}

/// A node that destroyed a frame by misreading it counts the error; the others saw six equal bits of its
/// flag.
void VirtualCanBus::receivers_failed() noexcept {
  can::BusReport report;
  report.bus_error = true;
  const bool all_saw_it = fate_ == Fate::corrupted || fate_ == Fate::misread;
  for_each(all_saw_it ? present_ & ~bit(sender_) : misread_, [&](std::size_t node) noexcept {
    const bool is_misread = (misread_ & bit(node)) != 0;
    const bool is_to_blame = fate_ == Fate::misread && is_misread && !nodes_[node].faults.is_passive();
    report.protocol_error = is_misread ? can::ProtocolError{.field = can::FrameField::checksum}
                                       : can::ProtocolError{.stuff = true};
    change_faults(node, report, [is_to_blame](can::FaultConfinement& faults) noexcept {
      if (is_to_blame) return faults.misread();
      faults.receive_failed();
    });
  });
}

/// Changes a node's counters, and sends it an error frame: the errors of `report` if a counter grew, the
/// state if it changed. An error without an effect is not reported. Otherwise a node alone on the bus would
/// receive nothing else.
template <class Change>
void VirtualCanBus::change_faults(std::size_t node, can::BusReport report, Change change) noexcept {
  Node& changed = nodes_[node];
  const can::FaultConfinement before = changed.faults;
  change(changed.faults);
  if (changed.faults == before) return;
  const can::ErrorCounters counters = changed.faults.counters();
  if (counters.receive > 0) {
    troubled_ |= bit(node);
  } else {
    troubled_ &= ~bit(node);
  }
  if (changed.faults.state() != before.state()) report.state = changed.faults.state();
  if (report.state == can::BusState::bus_off) go_off(node);
  if (!changed.wants_error_frames || !(report.state || report.bus_error || report.restarted)) return;
  report.counters = counters;
  can::Frame frame = can::make_error_frame(report);
  frame.stamp = now_;
  frame.stamp_source = can::StampSource::bus;
  if (!changed.receive.push(frame)) ++counted_.overflows;
}

/// After too many errors the node leaves the bus. Its driver drops the transmit queue, as Linux does: its
/// frames would be outdated after the recovery.
void VirtualCanBus::go_off(std::size_t node) noexcept {
  counted_.discarded += nodes_[node].transmit.clear();
  refresh(node);
  if (nodes_[node].recovers_by_itself) recover(node);
}

// ---- Recovery from bus-off

void VirtualCanBus::recover(std::size_t node) noexcept {
  if (!nodes_[node].faults.is_bus_off() || (recovering_ & bit(node)) != 0) return;
  nodes_[node].runs_left = can::recovery_runs;
  nodes_[node].recessive_from = std::max(now_, idle_from_);
  recovering_ |= bit(node);
}

void VirtualCanBus::set_automatic_recovery(std::size_t node, bool automatic) noexcept {
  nodes_[node].recovers_by_itself = automatic;
  if (automatic) recover(node);
}

/// Brings back the first node that recovers while the bus is idle up to `limit`; false if there is none.
bool VirtualCanBus::bring_back(Time limit) noexcept {
  Time first = Time::max();
  std::size_t found = 0;
  for_each(recovering_, [&](std::size_t node) noexcept {
    const Time done = nodes_[node].recessive_from + nodes_[node].runs_left * run_;
    if (done >= first) return;
    first = done;
    found = node;
  });
  if (first > limit) return false;
  now_ = std::max(now_, first);
  recovering_ &= ~bit(found);
  can::BusReport report;
  report.restarted = true;
  change_faults(found, report, [](can::FaultConfinement& faults) noexcept { faults.recovered(); });
  refresh(found);
  return true;
}

/// A frame starts, and ends the recessive bits.
void VirtualCanBus::count_recessive_runs() noexcept {
  for_each(recovering_, [&](std::size_t node) noexcept {
    nodes_[node].runs_left -= static_cast<std::uint32_t>((now_ - nodes_[node].recessive_from) / run_);
  });
}

// ---- The nodes' ends

std::size_t VirtualCanBus::send(std::size_t node, std::span<const can::Frame> frames) noexcept {
  std::size_t taken = 0;
  const bool is_off = nodes_[node].faults.is_bus_off();
  for (const can::Frame& frame : frames) {
    if (is_off) break;
    if (!exists_on_a_bus(frame)) {
      ++counted_.invalid;
    } else if (!nodes_[node].transmit.push(frame)) {
      break;
    }
    ++taken;
  }
  counted_.refused += frames.size() - taken;
  refresh(node);
  return taken;
}

std::size_t VirtualCanBus::receive(std::size_t node, std::span<can::Frame> frames) noexcept {
  FrameQueue& queue = nodes_[node].receive;
  std::size_t count = 0;
  for (; count < frames.size() && !queue.empty(); ++count) {
    frames[count] = queue.front();
    queue.pop();
  }
  return count;
}

void VirtualCanBus::set_connected(std::size_t node, bool connected) noexcept {
  nodes_[node].connected = connected;
  refresh(node);
}

void VirtualCanBus::misread_next(std::size_t node, std::uint32_t count) noexcept {
  nodes_[node].misread += count;
  if (nodes_[node].misread > 0) misreading_ |= bit(node);
}

/// Updates the node's part on the bus and in the next arbitration, by its plug, its faults and its queue.
void VirtualCanBus::refresh(std::size_t node) noexcept {
  Node& changed = nodes_[node];
  const bool is_present = changed.connected && !changed.faults.is_bus_off();
  present_ = is_present ? present_ | bit(node) : present_ & ~bit(node);
  if (is_present && !changed.transmit.empty()) {
    changed.key = arbitration_key(changed.transmit.front());
    waiting_ |= bit(node);
  } else {
    waiting_ &= ~bit(node);
  }
}

BusStatistics VirtualCanBus::statistics() const noexcept {
  BusStatistics statistics = counted_;
  statistics.elapsed = now_ - start_;
  // The frame on the wire was counted whole at its start.
  if (idle_from_ > now_) statistics.busy -= idle_from_ - now_;
  return statistics;
}

}  // namespace takt::sim
