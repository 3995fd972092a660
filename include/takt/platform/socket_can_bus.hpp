// A CAN interface of Linux (SocketCAN) as a can::CanBus. It moves classic and FD frames in batches and stamps
// each with the best available time. The kernel filters them. Error frames of the controller determine the
// bus health.
//
//     const robot::BusPlan plan = robot::plan_bus(robot, 0);   // or your own filters and numbers
//     auto bus = platform::SocketCanBus::open(
//         "can0", {.filters = plan.filters, .frames_per_cycle = plan.frames_per_cycle()});
//     if (!bus) return complain(bus.error().message);
//     const std::uint32_t ready = platform::wait_any(std::array{&*bus, &*other}, deadline);
//     const std::size_t got = bus->receive(frames);
//
// This class queues nothing. If the kernel has no room, a frame is rejected and counted; the next setpoint
// replaces a rejected one. The bus continues after its interface went down and up again. After the adapter
// was unplugged, open it again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "takt/can/bus_state.hpp"
#include "takt/can/filter.hpp"
#include "takt/can/frame.hpp"
#include "takt/core/setup_error.hpp"
#include "takt/core/time.hpp"
#include "takt/platform/error.hpp"

namespace takt::platform {

/// How to open an interface.
struct SocketCanOptions {
  bool fd = false;  ///< FD frames and classic ones; the interface must be set up for FD
  /// Required bit rate in bit/s. 0: not checked. Virtual interfaces have no bit rate.
  std::uint32_t bit_rate = 0;
  std::uint32_t data_bit_rate = 0;         ///< bit/s of the data of FD frames; used only with `fd`
  std::span<const can::Filter> filters{};  ///< frames to receive; empty: all. They are merged into few
  /// Counts our frames that reached the wire. Each sent identifier must pass the filters.
  bool confirm = false;
  /// Frames of one send(); 0: not checked. open() rejects an interface with a shorter queue (txqueuelen,
  /// usually 10).
  std::size_t frames_per_cycle = 0;
  bool deliver_error_frames = false;  ///< receive() returns error frames too, for logs
  /// Bytes; the kernel uses some hundreds per frame. 0: the system's default.
  int receive_buffer = 0;
};

/// The state of the network interface.
enum class LinkState : std::uint8_t {
  up,
  down,  ///< switched off; send() and receive() work again when it is up
  gone,  ///< removed or unplugged; it never comes back for this object
};

/// Counts since open().
struct SocketCanCounters {
  std::uint64_t sent = 0;        ///< accepted by the kernel
  std::uint64_t confirmed = 0;   ///< of the sent frames, those that reached the wire; only with `confirm`
  std::uint64_t full = 0;        ///< rejected: a kernel queue had no room (ENOBUFS, EAGAIN)
  std::uint64_t unsendable = 0;  ///< accepted and dropped: no valid frame for this interface
  std::uint64_t no_link = 0;     ///< rejected: the interface was down or gone
  /// How often send() or receive() met a down or removed interface. It may work again by now.
  std::uint64_t link_losses = 0;
  std::uint64_t refused = 0;    ///< rejected by the kernel for any other reason
  std::uint64_t received = 0;   ///< returned to the caller
  std::uint64_t dropped = 0;    ///< lost by the kernel because receive() came too late
  std::uint64_t malformed = 0;  ///< from the kernel, but not a valid frame
};

/// Satisfies can::CanBus. One thread at a time may use it. send() and receive() are real-time safe. They
/// never wait or allocate, and make one system call per `batch` frames.
///
/// Time stamps are on CLOCK_MONOTONIC (SteadyClock), and never in the future. Stamps of the controller are
/// marked StampSource::hardware; the smallest latency seen maps its clock to ours (can/stamp_clock.hpp).
/// Without them the kernel's stamps are used. They are on CLOCK_REALTIME and shifted by the current
/// difference of the clocks. Such a stamp is wrong if the time is set between the frame and receive().
class SocketCanBus {
 public:
  /// Frames per system call.
  static constexpr std::size_t batch = 32;

  /// Opens `interface`, a name such as "can0". Not real-time safe.
  ///
  /// Errors: no_can, no_permission, no_such_can_interface, not_can, can_interface_down, wrong_can_bit_rate,
  /// no_can_fd, can_queue_too_short, can_bus_off, bad_link_message, can_failed. The message contains the
  /// interface and the command that fixes it.
  [[nodiscard]] static SetupResult<SocketCanBus> open(const std::string& interface,
                                                      const SocketCanOptions& options = {});
  SocketCanBus(SocketCanBus&&) noexcept;
  SocketCanBus& operator=(SocketCanBus&&) noexcept;
  ~SocketCanBus();

  /// Sends frames in order and returns how many it consumed. It also consumes unsendable frames (see the
  /// counters), so they do not block the others.
  std::size_t send(std::span<const can::Frame> frames) noexcept;

  /// Copies arrived frames, oldest first, and returns their number. More may be waiting even if it is less
  /// than frames.size(). The reason: confirmations and error frames also use up the bounded number of reads.
  std::size_t receive(std::span<can::Frame> frames) noexcept;

  /// Replaces SocketCanOptions::filters. Frames that passed the old filters may still arrive. Errors:
  /// can_failed. Not real-time safe.
  [[nodiscard]] Status set_filters(std::span<const can::Filter> filters);

  /// The state of the interface, by two system calls that do not wait for the bus.
  [[nodiscard]] LinkState link() const noexcept;
  /// The largest number of frames waiting in the kernel (txqueuelen); 0 if the interface is gone.
  [[nodiscard]] std::size_t queue_length() const noexcept;
  /// Counts since open().
  [[nodiscard]] const SocketCanCounters& counters() const noexcept;
  /// Health by the error frames that receive() has read. A frame that reaches the wire also ends bus-off.
  [[nodiscard]] const can::BusHealth& health() const noexcept;
  /// For the caller's own poll().
  [[nodiscard]] int descriptor() const noexcept;

 private:
  struct State;
  explicit SocketCanBus(std::unique_ptr<State> state) noexcept;
  std::unique_ptr<State> state_;
};

static_assert(can::CanBus<SocketCanBus>);

/// Largest number of buses for wait_any().
inline constexpr std::size_t max_waited_buses = 32;

/// Waits until a bus has frames for receive(), or until `deadline` (SteadyClock). Bit i of the result is set
/// if bus i has. Returns 0 at the deadline, after a signal, or for more than max_waited_buses. Real-time
/// safe: its only system call is the wait.
[[nodiscard]] std::uint32_t wait_any(std::span<const SocketCanBus* const> buses, Time deadline) noexcept;

}  // namespace takt::platform
