#include "takt/sim/virtual_can_bus.hpp"

#include <algorithm>
#include <bit>

#include "takt/can/bits.hpp"

namespace takt::sim {
namespace {

/// The bits of the arbitration field in the order of the wire, first bit highest: the lower number wins the
/// bus, since a zero is dominant. A base frame beats the extended frame with the same first 11 bits, a data
/// frame beats its remote request.
std::uint32_t arbitration_key(const can::Frame& frame) noexcept {
  const std::uint32_t remote = frame.remote ? 1 : 0;
  if (!frame.extended) return frame.id << 21 | remote << 20;
  constexpr std::uint32_t substitute_and_extension = 3u << 19;
  return (frame.id >> 18) << 21 | substitute_and_extension | (frame.id & 0x3ffff) << 1 | remote;
}

constexpr std::uint32_t bit(std::size_t node) noexcept { return 1u << node; }

// An error flag of six bits, answered by the other nodes' (six more, as they see it only then), and the
// delimiter of eight.
constexpr std::uint32_t error_frame_bits = 6 + 6 + 8;
constexpr std::uint32_t gap_bits = 3;

/// Whether a bus can carry the frame at all. Identifiers too long, lengths that no length code stands for,
/// and flags that contradict each other exist only in memory; error frames are what a controller tells its own host.
bool exists_on_a_bus(const can::Frame& frame) noexcept {
  if (frame.error) return false;
  if (frame.id > (frame.extended ? can::max_extended_id : can::max_standard_id)) return false;
  if (frame.fd) return !frame.remote && can::fd_lengths[can::fd_length_code(frame.length)] == frame.length;
  return !frame.bit_rate_switch && !frame.error_state && frame.length <= can::max_classic_length;
}

}  // namespace

VirtualCanBus::VirtualCanBus(BusRates rates, Time start)
    : rates_(rates), gap_(nominal_time(gap_bits)), start_(start), now_(start), idle_from_(start) {
  nodes_.reserve(max_nodes);
}

VirtualCanBus::Port VirtualCanBus::connect(NodeCapacity capacity) {
  if (nodes_.size() == max_nodes) return Port();
  const std::size_t node = nodes_.size();
  nodes_.push_back(Node{FrameQueue(capacity.transmit), FrameQueue(capacity.receive)});
  if (capacity.receive > 0) listening_ |= bit(node);
  return Port(*this, node);
}

Duration VirtualCanBus::nominal_time(std::uint32_t bits) const noexcept {
  return can::transmission_time(can::FrameBits{bits, 0}, rates_.nominal, rates_.data);
}

Duration VirtualCanBus::duration_of(const can::Frame& frame) const noexcept {
  return can::transmission_time(frame, rates_.nominal, rates_.data);
}

const can::Frame* VirtualCanBus::step(Time limit) noexcept {
  for (;;) {
    if (!transmitting_) {
      const Time start = std::max(now_, idle_from_);
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

void VirtualCanBus::start_transmission() noexcept {
  std::uint64_t lowest = ~std::uint64_t{0};
  for (std::uint32_t rest = waiting_; rest != 0; rest &= rest - 1) {
    const auto node = static_cast<std::size_t>(std::countr_zero(rest));
    if (nodes_[node].key >= lowest) continue;  // of equal identifiers, the node connected first
    lowest = nodes_[node].key;
    sender_ = node;
  }
  const Duration duration = duration_of(nodes_[sender_].transmit.front());
  end_ = now_ + duration - gap_;
  idle_from_ = now_ + duration;
  corrupting_ = corrupt_ > 0;
  if (corrupting_) {
    --corrupt_;
    end_ += nominal_time(error_frame_bits);
    idle_from_ = end_ + gap_;
  }
  counted_.busy += idle_from_ - now_;
  transmitting_ = true;
}

const can::Frame* VirtualCanBus::finish_transmission() noexcept {
  transmitting_ = false;
  if (corrupting_) {
    ++counted_.corrupted;
    return nullptr;
  }
  delivered_ = nodes_[sender_].transmit.front();
  delivered_.stamp = now_;
  delivered_.stamp_source = can::StampSource::bus;
  nodes_[sender_].transmit.pop();
  refresh(sender_);
  ++counted_.frames;
  if (!delivered_.extended) ++frames_by_id_[delivered_.id];
  if (lose_ > 0) {
    --lose_;
    ++counted_.lost;
    return nullptr;
  }
  deliver(sender_, delivered_);
  return &delivered_;
}

void VirtualCanBus::deliver(std::size_t sender, const can::Frame& frame) noexcept {
  for (std::uint32_t rest = listening_ & ~bit(sender); rest != 0; rest &= rest - 1) {
    Node& node = nodes_[static_cast<std::size_t>(std::countr_zero(rest))];
    if (node.connected && !node.receive.push(frame)) ++counted_.overflows;
  }
}

std::size_t VirtualCanBus::send(std::size_t node, std::span<const can::Frame> frames) noexcept {
  std::size_t taken = 0;
  for (const can::Frame& frame : frames) {
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

/// Brings the node's part in the next arbitration up to date with its queue.
void VirtualCanBus::refresh(std::size_t node) noexcept {
  Node& changed = nodes_[node];
  if (changed.connected && !changed.transmit.empty()) {
    changed.key = arbitration_key(changed.transmit.front());
    waiting_ |= bit(node);
  } else {
    waiting_ &= ~bit(node);
  }
}

BusStatistics VirtualCanBus::statistics() const noexcept {
  BusStatistics statistics = counted_;
  statistics.elapsed = now_ - start_;
  // The frame on the wire was counted whole when it began.
  if (idle_from_ > now_) statistics.busy -= idle_from_ - now_;
  return statistics;
}

}  // namespace takt::sim
