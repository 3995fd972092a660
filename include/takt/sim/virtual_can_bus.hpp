// A CAN bus in memory, true to the bit: frames that wait at several nodes win the bus by their identifier,
// occupy it for exactly as long as their stuffed bits take at the chosen bit rates, and reach every other
// node at the end. Time passes only when the owner says so, so a run is the same on every machine. Nothing
// allocates after the nodes are connected; all else is real-time safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

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
  std::uint64_t corrupted = 0;  ///< destroyed by corrupt_next() and sent again
  std::uint64_t overflows = 0;  ///< dropped at a node whose receive queue was full

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
  /// The next `count` transmissions are destroyed at their last bit, answered by an error frame, and tried
  /// again.
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
  };

  std::size_t send(std::size_t node, std::span<const can::Frame> frames) noexcept;
  std::size_t receive(std::size_t node, std::span<can::Frame> frames) noexcept;
  void set_connected(std::size_t node, bool connected) noexcept;
  void refresh(std::size_t node) noexcept;
  void start_transmission() noexcept;
  const can::Frame* finish_transmission() noexcept;
  void deliver(std::size_t sender, const can::Frame& frame) noexcept;
  [[nodiscard]] Duration nominal_time(std::uint32_t bits) const noexcept;

  BusRates rates_;
  Duration gap_;  // the three bits between frames
  Time start_;
  Time now_;
  Time idle_from_;  // the end of the gap after the last frame
  Time end_{};      // of the frame on the wire
  std::size_t sender_ = 0;
  bool transmitting_ = false;
  bool corrupting_ = false;
  std::uint32_t waiting_ = 0;    // nodes with something to send, one bit each
  std::uint32_t listening_ = 0;  // nodes with a receive queue
  std::uint32_t lose_ = 0;
  std::uint32_t corrupt_ = 0;
  BusStatistics counted_{};
  std::vector<Node> nodes_;
  can::Frame delivered_{};
  std::array<std::uint32_t, 2048> frames_by_id_{};
};

static_assert(can::CanBus<VirtualCanBus::Port>);

}  // namespace takt::sim
