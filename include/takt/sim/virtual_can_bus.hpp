// A CAN bus in memory, true to the bit: frames that wait at several nodes win the bus by their identifier,
// occupy it for exactly as long as their stuffed bits take at the chosen bit rates, and reach every other
// node at the end. Time passes only when the owner says so (sim/clocked_can_port.hpp lets a clock say it), so a
// run is the same on every machine. Nothing allocates after the nodes are connected; all else is real-time safe.
//
// Its nodes fail as controllers do (can/fault_confinement.hpp): a frame that is destroyed is sent again and counts against
// its sender and its receivers, a frame that no other node acknowledges is sent again and again, a node that fails too
// often becomes error-passive and then bus-off, loses what it had queued, and comes back after 128 runs of 11 recessive
// bits when it is told to. What is not simulated: errors in the very bits of an error frame, overload frames, and wires
// that reach some of the nodes only.
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

/// How many frames a node can keep. A node that only sends, or whose owner watches the bus itself, needs no
/// receive queue.
struct NodeCapacity {
  std::size_t transmit = 64;
  std::size_t receive = 256;
};

/// What a bus counts, from its start on. Differences of two readings give the figures of the time between
/// them.
struct BusStatistics {
  Duration elapsed{};           ///< time since the start
  Duration busy{};              ///< of that, with frames, error frames and the gaps that must follow them
  std::uint64_t frames = 0;     ///< completed on the wire
  std::uint64_t refused = 0;    ///< no room in a transmit queue
  std::uint64_t invalid = 0;    ///< not a frame that a bus can carry: taken and dropped
  std::uint64_t lost = 0;       ///< completed, but kept from all receivers by lose_next()
  std::uint64_t corrupted = 0;  ///< destroyed on the wire, and sent again
  std::uint64_t unacknowledged = 0;  ///< sent with no other node there to acknowledge them, and sent again
  std::uint64_t discarded = 0;       ///< thrown away unsent when their node went bus-off
  std::uint64_t overflows = 0;       ///< dropped at a node whose receive queue was full

  /// The share of the time in which the bus was busy, 0 to 1.
  [[nodiscard]] double load() const noexcept {
    return elapsed.count() > 0 ? static_cast<double>(busy.count()) / static_cast<double>(elapsed.count()) : 0;
  }
  friend bool operator==(const BusStatistics&, const BusStatistics&) = default;
};

/// The bus. Single-threaded: whoever advances it also uses its ports. A port is a small handle on the bus and
/// must not outlive it.
class VirtualCanBus {
 public:
  static constexpr std::size_t max_nodes = 32;

  /// One node's end of the bus; satisfies can::CanBus. Its transmit queue is first in, first out, as a
  /// driver's is: only its oldest frame takes part in the arbitration.
  class Port {
   public:
    Port() = default;
    /// Takes frames for transmission from the bus's present time on; returns how many found room.
    std::size_t send(std::span<const can::Frame> frames) noexcept {
      return bus_ ? bus_->send(node_, frames) : 0;
    }
    /// Frames of the other nodes whose end the bus has reached, oldest first, each with its end as stamp.
    std::size_t receive(std::span<can::Frame> frames) noexcept {
      return bus_ ? bus_->receive(node_, frames) : 0;
    }
    /// A node whose plug is out neither sends nor receives; what it has queued waits.
    void set_connected(bool connected) noexcept {
      if (bus_) bus_->set_connected(node_, connected);
    }

    /// Whether the node is still on the bus, and what its error counters say.
    [[nodiscard]] can::BusState state() const noexcept {
      return bus_ ? bus_->nodes_[node_].faults.state() : can::BusState::active;
    }
    [[nodiscard]] can::ErrorCounters error_counters() const noexcept {
      return bus_ ? bus_->nodes_[node_].faults.counters() : can::ErrorCounters{};
    }
    /// From now on the node receives an error frame (can/bus_state.hpp) whenever its counters grow or its state changes.
    void set_error_frames(bool wanted) noexcept {
      if (bus_) bus_->nodes_[node_].wants_error_frames = wanted;
    }
    /// Begins the way back of a node that is bus-off; changes nothing for others.
    void recover() noexcept {
      if (bus_) bus_->recover(node_);
    }
    /// From now on the node begins its way back from bus-off by itself.
    void set_automatic_recovery(bool automatic) noexcept {
      if (bus_) bus_->set_automatic_recovery(node_, automatic);
    }
    /// The next `count` transmissions of this node are destroyed, as by a broken transceiver.
    void corrupt_next(std::uint32_t count) noexcept {
      if (bus_) bus_->nodes_[node_].corrupt += count;
    }
    /// The next `count` frames of others look wrong to this node: it destroys them, unless it is error-passive, when it
    /// misses them alone.
    void misread_next(std::uint32_t count) noexcept {
      if (bus_) bus_->misread_next(node_, count);
    }

   private:
    friend class VirtualCanBus;
    Port(VirtualCanBus& bus, std::size_t node) noexcept : bus_(&bus), node_(node) {}
    VirtualCanBus* bus_ = nullptr;
    std::size_t node_ = 0;
  };

  /// Rates of zero are taken as one bit per second. Allocates.
  explicit VirtualCanBus(BusRates rates = {}, Time start = Time{});
  VirtualCanBus(const VirtualCanBus&) = delete;
  VirtualCanBus& operator=(const VirtualCanBus&) = delete;

  /// Adds a node; a port that belongs to no bus (and takes no frame) once max_nodes are there. Allocates.
  [[nodiscard]] Port connect(NodeCapacity capacity = {});

  /// The time up to which everything has happened.
  [[nodiscard]] Time now() const noexcept { return now_; }

  /// Lets time pass up to the end of the next frame that completes, but not beyond `limit`. Returns that
  /// frame, which stays valid until the next call, or nullptr when the bus stands at `limit`. Lost and
  /// corrupted frames complete unseen.
  const can::Frame* step(Time limit) noexcept;

  /// Lets time pass up to `to`; a time in the past changes nothing.
  void advance(Time to) noexcept {
    while (step(to) != nullptr) {
    }
  }

  /// The next `count` frames complete without reaching any node, and their senders do not know.
  void lose_next(std::uint32_t count) noexcept { lose_ += count; }
  /// The next `count` transmissions, whoever's, are destroyed at their last bit, answered by an error frame, and
  /// tried again.
  void corrupt_next(std::uint32_t count) noexcept { corrupt_ += count; }

  [[nodiscard]] BusStatistics statistics() const noexcept;
  /// Frames with this 11-bit identifier that completed; 0 for any other number.
  [[nodiscard]] std::uint64_t frames_with_id(std::uint32_t id) const noexcept {
    return id < frames_by_id_.size() ? frames_by_id_[id] : 0;
  }
  /// How long this frame occupies the bus, the gap of three bits after it included. Exact, stuff bits
  /// counted; rounded up to 1 ns.
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
    /// Returns how many there were.
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
    std::uint32_t corrupt = 0;    // of its next transmissions
    std::uint32_t misread = 0;    // of the next frames of others
    std::uint32_t runs_left = 0;  // of recessive bits that a node on its way back from bus-off has yet to see
    Time recessive_from{};        // where it began to count the present one
    can::FaultConfinement faults{};
  };
  /// Nodes as a set, one bit each.
  using NodeSet = std::uint32_t;
  /// What becomes of the frame on the wire. Decided as it starts; nodes that come or go meanwhile change nothing.
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
  NodeSet recovering_ = 0;  // are on their way back from bus-off
  std::uint32_t lose_ = 0;
  std::uint32_t corrupt_ = 0;
  BusStatistics counted_{};
  std::vector<Node> nodes_;
  can::Frame on_wire_{};
  std::array<std::uint32_t, 2048> frames_by_id_{};
};

static_assert(can::CanBus<VirtualCanBus::Port>);

}  // namespace takt::sim
