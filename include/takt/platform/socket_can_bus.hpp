// A CAN interface of Linux (SocketCAN) as a can::CanBus: classic and FD frames, taken in batches, each with the best stamp that
// there is, filtered by the kernel; what the controller reports of its bus becomes its health.
//
//     const robot::BusPlan plan = robot::plan_bus(robot, 0);   // or filters and numbers of your own
//     auto bus = platform::SocketCanBus::open("can0", {.filters = plan.filters, .frames_per_cycle = plan.frames_per_cycle()});
//     if (!bus) return complain(bus.error().message);
//     platform::wait_any(std::array{&*bus, &*other}, deadline);
//     const std::size_t got = bus->receive(frames);
//
// Nothing is queued here: what the kernel has no room for is refused and counted, and a setpoint that is refused is replaced by
// the next one. An interface that goes down and comes up again is used on; one that is unplugged must be opened again.
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

struct SocketCanOptions {
  bool fd = false;  ///< FD frames besides classic ones; the interface must be set up for them
  /// bit/s that the interface must run at. 0: not checked. Virtual interfaces have no bit rate
  std::uint32_t bit_rate = 0;
  std::uint32_t data_bit_rate = 0;         ///< the same for the data of FD frames; counts with `fd` only
  std::span<const can::Filter> filters{};  ///< what is received; none: everything. They are merged to few
  /// Counts which of our frames were on the wire. Needs each identifier that is sent to pass the filters.
  bool confirm = false;
  /// Frames that one send() hands over; 0: not checked. An interface with a shorter queue (txqueuelen, usually 10) is rejected
  std::size_t frames_per_cycle = 0;
  bool deliver_error_frames = false;  ///< receive() gives them too: for logs. They always go into the health
  int receive_buffer =
      0;  ///< bytes, of which the kernel takes some hundreds for a frame; 0: the system's default
};

enum class LinkState : std::uint8_t {
  up,
  down,  ///< the interface is switched off: send and receive go on when it is on again
  gone,  ///< the interface was removed, its adapter unplugged: nothing will ever come
};

/// From the opening on.
struct SocketCanCounters {
  std::uint64_t sent = 0;        ///< taken by the kernel
  std::uint64_t confirmed = 0;   ///< of these, on the wire; only with SocketCanOptions::confirm
  std::uint64_t full = 0;        ///< refused: no room in a queue of the kernel (ENOBUFS, EAGAIN)
  std::uint64_t unsendable = 0;  ///< taken and dropped: not a frame, or not one of this interface
  std::uint64_t no_link = 0;     ///< refused: the interface was down or gone
  /// How often the kernel told, in send() or receive(), that the interface was down or gone. Frames may pass again by now
  std::uint64_t link_losses = 0;
  std::uint64_t refused = 0;    ///< refused by the kernel for any other reason
  std::uint64_t received = 0;   ///< given to the caller
  std::uint64_t dropped = 0;    ///< lost by the kernel, because nobody received in time
  std::uint64_t malformed = 0;  ///< from the kernel, but no frame
};

/// Satisfies can::CanBus. One thread at a time. send() and receive() never wait, allocate nothing, and cost one system call for
/// each `batch` frames.
///
/// Stamps are on the clock of SteadyClock (CLOCK_MONOTONIC), never in the future. With a controller that stamps, they are of
/// StampSource::hardware: its clock is brought onto ours by the smallest latency seen (can/stamp_clock.hpp). Otherwise they are
/// the kernel's, of CLOCK_REALTIME, moved by the present difference of the two clocks: right unless somebody sets the time
/// between the frame and receive().
class SocketCanBus {
 public:
  static constexpr std::size_t batch = 32;

  /// `interface` is its name, as "can0". Errors, with a message that names it and the command that mends it: no_can, no_permission,
  /// no_such_can_interface, not_can, can_interface_down, wrong_can_bit_rate, no_can_fd, can_queue_too_short, can_bus_off,
  /// bad_link_message, can_failed. Not real-time safe.
  [[nodiscard]] static SetupResult<SocketCanBus> open(const std::string& interface,
                                                      const SocketCanOptions& options = {});
  SocketCanBus(SocketCanBus&&) noexcept;
  SocketCanBus& operator=(SocketCanBus&&) noexcept;
  ~SocketCanBus();

  /// Takes frames in order; returns how many. Those of counters().unsendable are taken, too, as they must not block the others.
  std::size_t send(std::span<const can::Frame> frames) noexcept;

  /// Frames that have arrived, oldest first; returns how many. Less than asked for does not mean that there are no more: of what
  /// is not a frame for the caller (confirmations, error frames), it reads a bounded number, too.
  std::size_t receive(std::span<can::Frame> frames) noexcept;

  /// Replaces SocketCanOptions::filters. Frames that have passed the old ones may still come. Errors: can_failed. Not real-time
  /// safe.
  [[nodiscard]] Status set_filters(std::span<const can::Filter> filters);

  /// Asks the kernel: two system calls, none of which waits for the bus.
  [[nodiscard]] LinkState link() const noexcept;
  /// How many frames wait in the kernel at most (txqueuelen); 0 when the interface is gone.
  [[nodiscard]] std::size_t queue_length() const noexcept;
  [[nodiscard]] const SocketCanCounters& counters() const noexcept;
  /// By the controller's error frames that receive() has read. A frame on the wire ends bus-off as well.
  [[nodiscard]] const can::BusHealth& health() const noexcept;
  /// For a poll of the caller's own.
  [[nodiscard]] int descriptor() const noexcept;

 private:
  struct State;
  explicit SocketCanBus(std::unique_ptr<State> state) noexcept;
  std::unique_ptr<State> state_;
};

static_assert(can::CanBus<SocketCanBus>);

inline constexpr std::size_t max_waited_buses = 32;

/// Waits until a bus has something for receive(), or until `deadline` (of SteadyClock). Bit i of the result: bus i has. 0: the time
/// is over, or a signal came, or there are more than max_waited_buses. Real-time safe: waiting is its one system call.
[[nodiscard]] std::uint32_t wait_any(std::span<const SocketCanBus* const> buses, Time deadline) noexcept;

}  // namespace takt::platform
