// A CAN bus in memory, exact to the bit. Waiting frames win the bus by their identifiers. A frame occupies
// the bus for the time of its stuffed bits at the chosen bit rates, and reaches all other nodes at its end.
// Time passes only by step() and advance(), so a run is the same on every machine. No allocation after the
// nodes are connected; all else is real-time safe.
//
// Its nodes fail as controllers do (can/fault_confinement.hpp):
//
// * A destroyed frame is sent again, and counts against its sender and receivers.
// * A frame that no other node acknowledges is sent again and again.
// * A node with many errors becomes error-passive, then bus-off, and loses its queued frames.
// * After recover(), a bus-off node returns when 128 runs of 11 recessive bits have passed.
//
// Not simulated: errors within an error frame, overload frames, and wires that reach only some nodes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "takt/can/bus_state.hpp"
#include "takt/can/fault_confinement.hpp"
#include "takt/can/frame.hpp"
#include "takt/core/time.hpp"

namespace takt::sim {

/// The bit rates of a bus, in bit/s.
struct BusRates {
  std::uint32_t nominal = 1'000'000;  ///< arbitration phase, and all of a classic frame
  std::uint32_t data = 5'000'000;     ///< data phase of FD frames with bit-rate switch
};

/// The queue lengths of a node, in frames. A node that only sends needs no receive queue.
struct NodeCapacity {
  std::size_t transmit = 64;
  std::size_t receive = 256;
};

/// Counters of a bus, from its start on. Take the difference of two readings for the figures of an interval.
struct BusStatistics {
  Duration elapsed{};                ///< time since the start
  Duration busy{};                   ///< part of it with frames, error frames and the gaps after them
  std::uint64_t frames = 0;          ///< completed on the wire
  std::uint64_t refused = 0;         ///< no room in a transmit queue
  std::uint64_t invalid = 0;         ///< not a valid CAN frame: taken and dropped
  std::uint64_t lost = 0;            ///< completed, but hidden from all receivers by lose_next()
  std::uint64_t corrupted = 0;       ///< destroyed on the wire, and sent again
  std::uint64_t unacknowledged = 0;  ///< sent without another node to acknowledge them, and sent again
  std::uint64_t discarded = 0;       ///< dropped from a queue when the node went bus-off
  std::uint64_t overflows = 0;       ///< dropped because a receive queue was full

  /// Share of the time in which the bus was busy, 0..1.
  [[nodiscard]] double load() const noexcept {
    return elapsed.count() > 0 ? static_cast<double>(busy.count()) / static_cast<double>(elapsed.count()) : 0;
  }
  friend bool operator==(const BusStatistics&, const BusStatistics&) = default;
};

/// The bus. One thread uses the bus and all its ports. A port is a small handle that must not outlive the
/// bus.
class VirtualCanBus {
 public:
  /// The most nodes that a bus can have.
  static constexpr std::size_t max_nodes = 32;

  /// One node's end of the bus; satisfies can::CanBus. Its transmit queue is first in, first out, as in a
  /// driver: only its oldest frame takes part in arbitration.
  class Port {
   public:
    Port() = default;
    /// Queues frames at the bus's present time. Returns how many were taken.
    std::size_t send(std::span<const can::Frame> frames) noexcept {
      return bus_ ? bus_->send(node_, frames) : 0;
    }
    /// Copies received frames, oldest first; their stamp is the end of the frame on the bus. Returns how
    /// many.
    std::size_t receive(std::span<can::Frame> frames) noexcept {
      return bus_ ? bus_->receive(node_, frames) : 0;
    }
    /// Whether this node sent the frame that the last step() returned. A node does not receive it.
    [[nodiscard]] bool sent_last() const noexcept { return bus_ && bus_->sender_ == node_; }
    /// Plugs the node in or out. An unplugged node neither sends nor receives; its queue waits.
    void set_connected(bool connected) noexcept {
      if (bus_) bus_->set_connected(node_, connected);
    }

    /// The node's error state: active, passive or off the bus.
    [[nodiscard]] can::BusState state() const noexcept {
      return bus_ ? bus_->nodes_[node_].faults.state() : can::BusState::active;
    }
    /// Returns the node's error counters; zeros without a bus.
    [[nodiscard]] can::ErrorCounters error_counters() const noexcept {
      return bus_ ? bus_->nodes_[node_].faults.counters() : can::ErrorCounters{};
    }
    /// Whether the node receives an error frame (can/bus_state.hpp) when its counters grow or its state
    /// changes.
    void set_error_frames(bool wanted) noexcept {
      if (bus_) bus_->nodes_[node_].wants_error_frames = wanted;
    }
    /// Starts the recovery of a node that is bus-off. No effect on others.
    void recover() noexcept {
      if (bus_) bus_->recover(node_);
    }
    /// Whether the node starts its recovery from bus-off by itself.
    void set_automatic_recovery(bool automatic) noexcept {
      if (bus_) bus_->set_automatic_recovery(node_, automatic);
    }
    /// Destroys the next `count` transmissions of this node, as a broken transceiver would.
    void corrupt_next(std::uint32_t count) noexcept {
      if (bus_) bus_->nodes_[node_].corrupt += count;
    }
    /// Makes this node see errors in the next `count` frames of other nodes. It destroys these frames; an
    /// error-passive node only fails to receive them.
    void misread_next(std::uint32_t count) noexcept {
      if (bus_) bus_->misread_next(node_, count);
    }

   private:
    friend class VirtualCanBus;
    Port(VirtualCanBus& bus, std::size_t node) noexcept : bus_(&bus), node_(node) {}
    VirtualCanBus* bus_ = nullptr;
    std::size_t node_ = 0;
  };

  /// A bus without nodes at time `start`. A rate of 0 is taken as 1 bit/s. Allocates.
  explicit VirtualCanBus(BusRates rates = {}, Time start = Time{});
  VirtualCanBus(const VirtualCanBus&) = delete;
  VirtualCanBus& operator=(const VirtualCanBus&) = delete;

  /// Adds a node. Returns a port without a bus, which takes no frames, if there are max_nodes already.
  /// Allocates.
  [[nodiscard]] Port connect(NodeCapacity capacity = {});

  /// The time up to which everything was simulated.
  [[nodiscard]] Time now() const noexcept { return now_; }

  /// Lets time pass up to the end of the next frame, at most to `limit`. Returns that frame, valid until the
  /// next call; or nullptr at `limit`. Lost and corrupted frames are not returned.
  const can::Frame* step(Time limit) noexcept;

  /// Lets time pass up to `to`; a time in the past changes nothing.
  void advance(Time to) noexcept {
    while (step(to) != nullptr) {
    }
  }

  /// Makes the next `count` frames reach no node; their senders see no error.
  void lose_next(std::uint32_t count) noexcept { lose_ += count; }
  /// Destroys the next `count` transmissions of any node at their last bit. An error frame follows, and they
  /// are sent again.
  void corrupt_next(std::uint32_t count) noexcept { corrupt_ += count; }

  /// The counters up to now().
  [[nodiscard]] BusStatistics statistics() const noexcept;
  /// Number of completed frames with this 11-bit identifier; 0 for larger numbers.
  [[nodiscard]] std::uint64_t frames_with_id(std::uint32_t id) const noexcept {
    return id < frames_by_id_.size() ? frames_by_id_[id] : 0;
  }
  /// Time of this frame on the bus, with stuff bits and the gap of three bits after it. Exact, rounded up to
  /// 1 ns.
  [[nodiscard]] Duration duration_of(const can::Frame& frame) const noexcept;

 private:
  /// A queue of frames whose storage is allocated once.
  class FrameQueue {
   public:
    explicit FrameQueue(std::size_t capacity) : frames_(capacity) {}
    [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
    [[nodiscard]] const can::Frame& front() const noexcept { return frames_[first_]; }
    bool push(const can::Frame& frame) noexcept {
      if (size_ == frames_.size()) return false;
      const std::size_t end = first_ + size_;
      frames_[end < frames_.size() ? end : end - frames_.size()] = frame;
      ++size_;
      return true;
    }
    void pop() noexcept {
      first_ = first_ + 1 == frames_.size() ? 0 : first_ + 1;
      --size_;
    }
    /// Empties the queue. Returns how many frames it had.
    std::size_t clear() noexcept { return std::exchange(size_, 0); }

   private:
    std::vector<can::Frame> frames_;
    std::size_t first_ = 0;
    std::size_t size_ = 0;
  };
  struct Node {
    FrameQueue transmit;
    FrameQueue receive;
    std::uint32_t key = 0;  // of the oldest frame to transmit
    bool connected = true;
    bool wants_error_frames = false;
    bool recovers_by_itself = false;
    std::uint32_t corrupt = 0;    // its next transmissions to destroy
    std::uint32_t misread = 0;    // the next frames of others to misread
    std::uint32_t runs_left = 0;  // runs of recessive bits until it has recovered from bus-off
    Time recessive_from{};        // start of the present run
    can::FaultConfinement faults{};
  };
  /// A set of nodes, one bit each.
  using NodeSet = std::uint32_t;
  /// The result of the frame on the wire. It is decided at the frame's start; nodes that come or go meanwhile
  /// do not change it.
  enum class Fate : std::uint8_t { good, corrupted, misread, unacknowledged };

  std::size_t send(std::size_t node, std::span<const can::Frame> frames) noexcept;
  std::size_t receive(std::size_t node, std::span<can::Frame> frames) noexcept;
  void set_connected(std::size_t node, bool connected) noexcept;
  void set_automatic_recovery(std::size_t node, bool automatic) noexcept;
  void misread_next(std::size_t node, std::uint32_t count) noexcept;
  void recover(std::size_t node) noexcept;
  void refresh(std::size_t node) noexcept;

  [[nodiscard]] Time next_start() const noexcept;
  [[nodiscard]] std::size_t arbitrate() const noexcept;
  void start_transmission() noexcept;
  [[nodiscard]] Fate decide() noexcept;
  const can::Frame* finish_transmission() noexcept;
  const can::Frame* complete() noexcept;
  void deliver(const can::Frame& frame) noexcept;
  void sender_failed() noexcept;
  void receivers_failed() noexcept;
  bool bring_back(Time limit) noexcept;
  void count_recessive_runs() noexcept;
  template <class Change>
  void change_faults(std::size_t node, can::BusReport report, Change change) noexcept;
  void go_off(std::size_t node) noexcept;
  [[nodiscard]] Duration nominal_time(std::uint32_t bits) const noexcept;

  BusRates rates_;
  Duration gap_;      // the three bits between frames
  Duration run_;      // a run of recessive bits
  Duration suspend_;  // the pause of an error-passive sender
  Time start_;
  Time now_;
  Time idle_from_;          // the end of the gap after the last frame
  Time end_{};              // of the frame on the wire
  Time suspended_until_{};  // when the node in suspended_ may send again
  std::size_t sender_ = 0;
  bool transmitting_ = false;
  Fate fate_ = Fate::good;  // of the frame on the wire
  NodeSet waiting_ = 0;     // have something to send
  NodeSet listening_ = 0;   // have a receive queue
  NodeSet present_ = 0;     // are connected and not bus-off: they acknowledge
  NodeSet suspended_ = 0;   // the error-passive sender of the last frame
  NodeSet troubled_ = 0;    // have receive errors
  NodeSet misreading_ = 0;  // will misread the next frame
  NodeSet misread_ = 0;     // have misread the frame on the wire
  NodeSet recovering_ = 0;  // are recovering from bus-off
  std::uint32_t lose_ = 0;
  std::uint32_t corrupt_ = 0;
  BusStatistics counted_{};
  std::vector<Node> nodes_;
  can::Frame on_wire_{};
  std::array<std::uint32_t, 2048> frames_by_id_{};
};

static_assert(can::CanBus<VirtualCanBus::Port>);

}  // namespace takt::sim
