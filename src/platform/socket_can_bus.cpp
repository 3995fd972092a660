#include "takt/platform/socket_can_bus.hpp"

#include <linux/can/error.h>
#include <linux/can/raw.h>
#include <linux/net_tstamp.h>
#include <net/if.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>
#include <utility>
#include <vector>

#include "platform/can_socket.hpp"
#include "platform/kernel_frame.hpp"
#include "takt/can/stamp_clock.hpp"
#include "takt/platform/steady_clock.hpp"

namespace takt::platform {
namespace {

using detail::text_of;

constexpr std::size_t batch = SocketCanBus::batch;

template <class T>
bool set_option(int socket, int level, int name, const T& value) noexcept {
  return ::setsockopt(socket, level, name, &value, sizeof value) == 0;
}

/// Whether an errno means that the interface is down or gone.
bool is_lost_link(int error) noexcept { return error == ENETDOWN || error == ENODEV || error == ENXIO; }

/// Sets the kernel's filters. Returns false, with errno, if it refuses.
bool apply_filters(int socket, std::span<const can::Filter> wanted) {
  std::vector<can::Filter> memory(wanted.begin(), wanted.end());
  if (memory.empty()) memory = {{.mask = 0}, {.mask = 0, .extended = true}};
  std::vector<can_filter> filters;
  for (const can::Filter& filter : can::merge_filters(memory)) {
    const std::uint32_t width = filter.extended ? can::max_extended_id : can::max_standard_id;
    filters.push_back(
        {filter.id | (filter.extended ? CAN_EFF_FLAG : 0U), (filter.mask & width) | CAN_EFF_FLAG});
  }
  return ::setsockopt(socket, SOL_CAN_RAW, CAN_RAW_FILTER, filters.data(),
                      static_cast<socklen_t>(filters.size() * sizeof(can_filter))) == 0;
}

/// Sets all options except the binding. Returns false, with errno, if the kernel refuses.
bool set_options(int socket, const SocketCanOptions& options) {
  constexpr int on = 1;
  constexpr int stamps = SOF_TIMESTAMPING_RX_SOFTWARE | SOF_TIMESTAMPING_SOFTWARE |
                         SOF_TIMESTAMPING_RX_HARDWARE | SOF_TIMESTAMPING_RAW_HARDWARE;
  constexpr can_err_mask_t all_errors = CAN_ERR_MASK;
  return apply_filters(socket, options.filters) &&
         set_option(socket, SOL_CAN_RAW, CAN_RAW_ERR_FILTER, all_errors) &&
         set_option(socket, SOL_SOCKET, SO_TIMESTAMPING, stamps) &&
         set_option(socket, SOL_SOCKET, SO_RXQ_OVFL, on) &&
         (!options.fd || set_option(socket, SOL_CAN_RAW, CAN_RAW_FD_FRAMES, on)) &&
         (!options.confirm || set_option(socket, SOL_CAN_RAW, CAN_RAW_RECV_OWN_MSGS, on)) &&
         (options.receive_buffer <= 0 || set_option(socket, SOL_SOCKET, SO_RCVBUF, options.receive_buffer));
}

/// One moment on the clock of the kernel's stamps and on ours.
struct Moment {
  std::int64_t real = 0;
  Time steady{};

  static Moment now() noexcept {
    timespec real{};
    clock_gettime(CLOCK_REALTIME, &real);
    return {detail::nanoseconds_of(real).value_or(0), SteadyClock().now()};
  }
};

/// Buffers for one system call.
struct Batch {
  struct alignas(cmsghdr) Control : std::array<std::uint8_t, detail::control_bytes> {};

  Batch() noexcept {
    for (std::size_t i = 0; i < batch; ++i) {
      parts[i] = {bytes[i].data(), bytes[i].size()};
      headers[i].msg_hdr.msg_iov = &parts[i];
      headers[i].msg_hdr.msg_iovlen = 1;
    }
  }

  std::array<detail::KernelFrame, batch> bytes{};
  std::array<Control, batch> control{};
  std::array<iovec, batch> parts{};
  std::array<mmsghdr, batch> headers{};
};

}  // namespace

struct SocketCanBus::State {
  detail::Descriptor socket;
  int interface_index = 0;
  bool fd = false;
  bool deliver_error_frames = false;
  SocketCanCounters counters{};
  can::BusHealth health{};
  can::StampClock hardware_clock{};
  std::uint32_t last_dropped = 0;
  Batch incoming{};
  Batch outgoing{};

  std::size_t send(std::span<const can::Frame> frames) noexcept;
  std::size_t encode(std::span<const can::Frame> frames) noexcept;
  std::size_t write(std::size_t count, int& error) noexcept;
  void count_refused(std::uint64_t count, int error) noexcept;

  std::size_t receive(std::span<can::Frame> frames) noexcept;
  std::size_t read(std::size_t wanted) noexcept;
  bool take(std::size_t i, const Moment& now, can::Frame& frame) noexcept;
  void stamp(can::Frame& frame, const detail::Ancillary& told, const Moment& now) noexcept;
  /// A frame reached the wire, so the controller is not bus-off, even if the report of its restart was lost.
  void note_traffic() noexcept {
    if (health.state == can::BusState::bus_off) health.state = can::BusState::active;
  }
};

// ---- Sending

std::size_t SocketCanBus::State::send(std::span<const can::Frame> frames) noexcept {
  std::size_t taken = 0;
  while (taken < frames.size()) {
    const std::size_t count = encode(frames.subspan(taken));
    int error = count == 0 ? EINVAL : 0;
    const std::size_t sent = write(count, error);
    counters.sent += sent;
    taken += sent;
    if (error == EINVAL) {  // the frame does not fit the interface; it must not block the next ones
      ++counters.unsendable;
      ++taken;
    } else if (error != 0) {
      count_refused(frames.size() - taken, error);
      break;
    }
  }
  return taken;
}

/// Encodes frames up to the first invalid one; returns their number.
std::size_t SocketCanBus::State::encode(std::span<const can::Frame> frames) noexcept {
  std::size_t count = 0;
  for (const can::Frame& frame : frames.first(std::min(frames.size(), batch))) {
    const std::size_t size = frame.fd && !fd ? 0 : detail::to_kernel(frame, outgoing.bytes[count]);
    if (size == 0) break;
    outgoing.parts[count].iov_len = size;
    ++count;
  }
  return count;
}

/// Sends encoded frames. Returns how many the kernel accepted, and in `error` why it stopped.
std::size_t SocketCanBus::State::write(std::size_t count, int& error) noexcept {
  std::size_t sent = 0;
  int retries = 2;  // the socket reports a past fault of its interface once
  while (sent < count) {
    const int taken =
        ::sendmmsg(socket.get(), &outgoing.headers[sent], static_cast<unsigned>(count - sent), MSG_DONTWAIT);
    if (taken > 0) {
      sent += static_cast<std::size_t>(taken);
      continue;
    }
    if (is_lost_link(errno)) ++counters.link_losses;
    if ((errno != EINTR && errno != ENETDOWN) || retries-- == 0) {
      error = errno;
      break;
    }
  }
  return sent;
}

void SocketCanBus::State::count_refused(std::uint64_t count, int error) noexcept {
  switch (error) {
    case ENOBUFS:
    case EAGAIN:
      counters.full += count;
      break;
    default:
      (is_lost_link(error) ? counters.no_link : counters.refused) += count;
  }
}

// ---- Receiving

std::size_t SocketCanBus::State::receive(std::span<can::Frame> frames) noexcept {
  std::size_t given = 0;
  std::size_t most = frames.size() + batch;  // bounds the work under a flood of error frames
  while (given < frames.size() && most > 0) {
    const std::size_t wanted = std::min({frames.size() - given, most, batch});
    const std::size_t got = read(wanted);
    const Moment now = Moment::now();
    for (std::size_t i = 0; i < got; ++i) {
      if (take(i, now, frames[given])) ++given;
    }
    if (got < wanted) break;
    most -= got;
  }
  counters.received += given;
  return given;
}

/// Fills the front of `incoming`; returns the number of frames received.
std::size_t SocketCanBus::State::read(std::size_t wanted) noexcept {
  for (std::size_t i = 0; i < wanted; ++i) {
    incoming.headers[i].msg_hdr.msg_control = incoming.control[i].data();
    incoming.headers[i].msg_hdr.msg_controllen = incoming.control[i].size();
  }
  for (int attempt = 0; attempt < 3; ++attempt) {
    const int got = ::recvmmsg(socket.get(), incoming.headers.data(), static_cast<unsigned>(wanted),
                               MSG_DONTWAIT, nullptr);
    if (got >= 0) return static_cast<std::size_t>(got);
    if (is_lost_link(errno)) ++counters.link_losses;
    // The socket reports a past fault of its interface before the queued frames, so try again.
    if (errno != EINTR && errno != ENETDOWN && errno != ENODEV) break;
  }
  return 0;
}

/// Decodes frame i of `incoming`. Returns false if it is not for the caller.
bool SocketCanBus::State::take(std::size_t i, const Moment& now, can::Frame& frame) noexcept {
  const msghdr& header = incoming.headers[i].msg_hdr;
  const detail::Ancillary told =
      detail::read_ancillary(std::span<const std::uint8_t>(incoming.control[i])
                                 .first(std::min(header.msg_controllen, incoming.control[i].size())));
  if (told.dropped) {
    // Both counts wrap at 2^32, so the difference is right.
    counters.dropped += *told.dropped - std::exchange(last_dropped, *told.dropped);
  }
  if ((header.msg_flags & MSG_CONFIRM) != 0) {
    ++counters.confirmed;
    note_traffic();
    return false;
  }
  const std::size_t size = std::min<std::size_t>(incoming.headers[i].msg_len, incoming.bytes[i].size());
  const auto decoded = detail::from_kernel(std::span<const std::uint8_t>(incoming.bytes[i]).first(size));
  if (!decoded) {
    ++counters.malformed;
    return false;
  }
  if (decoded->error) {
    if (const auto report = can::decode_bus_report(*decoded)) health.note(*report);
    if (!deliver_error_frames) return false;
  } else {
    note_traffic();
  }
  frame = *decoded;
  stamp(frame, told, now);
  return true;
}

void SocketCanBus::State::stamp(can::Frame& frame, const detail::Ancillary& told,
                                const Moment& now) noexcept {
  const std::int64_t age = std::max<std::int64_t>(now.real - told.software_stamp.value_or(now.real), 0);
  frame.stamp = now.steady - Duration(age);
  frame.stamp_source = can::StampSource::software;
  if (told.hardware_stamp) {
    frame.stamp = hardware_clock.to_local(*told.hardware_stamp, frame.stamp);
    frame.stamp_source = can::StampSource::hardware;
  }
}

/// The length of the send queue; 0 if the kernel does not report it.
std::size_t queue_length_of(int socket, int interface_index) noexcept {
  ifreq request{};
  request.ifr_ifindex = interface_index;
  const bool told =
      ::ioctl(socket, SIOCGIFNAME, &request) == 0 && ::ioctl(socket, SIOCGIFTXQLEN, &request) == 0;
  return told && request.ifr_qlen > 0 ? static_cast<std::size_t>(request.ifr_qlen) : 0;
}

// ---- The class

SetupResult<SocketCanBus> SocketCanBus::open(const std::string& interface, const SocketCanOptions& options) {
  auto socket = detail::open_can_socket(interface, SOCK_RAW, CAN_RAW,
                                        {.fd = options.fd,
                                         .bit_rate = options.bit_rate,
                                         .data_bit_rate = options.data_bit_rate,
                                         .frames_per_cycle = options.frames_per_cycle});
  if (!socket) return tl::unexpected(socket.error());
  const int descriptor = socket->descriptor.get();
  sockaddr_can address{};
  address.can_family = AF_CAN;
  address.can_ifindex = socket->interface_index;
  // Filters are set before bind(), so no unwanted frame enters the queue.
  if (!set_options(descriptor, options) ||
      ::bind(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return fail(Errc::can_failed, fmt::format("{}: {}", interface, text_of(errno)));
  }
  auto state = std::make_unique<State>();
  state->socket = std::move(socket->descriptor);
  state->interface_index = socket->interface_index;
  state->fd = options.fd;
  state->deliver_error_frames = options.deliver_error_frames;
  return SocketCanBus(std::move(state));
}

SocketCanBus::SocketCanBus(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}
SocketCanBus::SocketCanBus(SocketCanBus&&) noexcept = default;
SocketCanBus& SocketCanBus::operator=(SocketCanBus&&) noexcept = default;
SocketCanBus::~SocketCanBus() = default;

std::size_t SocketCanBus::send(std::span<const can::Frame> frames) noexcept { return state_->send(frames); }
std::size_t SocketCanBus::receive(std::span<can::Frame> frames) noexcept { return state_->receive(frames); }
const SocketCanCounters& SocketCanBus::counters() const noexcept { return state_->counters; }
const can::BusHealth& SocketCanBus::health() const noexcept { return state_->health; }
int SocketCanBus::descriptor() const noexcept { return state_->socket.get(); }

Status SocketCanBus::set_filters(std::span<const can::Filter> filters) {
  if (!apply_filters(descriptor(), filters)) return fail(Errc::can_failed);
  return {};
}

LinkState SocketCanBus::link() const noexcept {
  ifreq request{};
  request.ifr_ifindex = state_->interface_index;
  // The name may have changed. A removed interface has none.
  if (::ioctl(descriptor(), SIOCGIFNAME, &request) != 0) return LinkState::gone;
  if (::ioctl(descriptor(), SIOCGIFFLAGS, &request) != 0) return LinkState::gone;
  return (request.ifr_flags & IFF_UP) != 0 ? LinkState::up : LinkState::down;
}

std::size_t SocketCanBus::queue_length() const noexcept {
  return queue_length_of(descriptor(), state_->interface_index);
}

std::uint32_t wait_any(std::span<const SocketCanBus* const> buses, Time deadline) noexcept {
  if (buses.size() > max_waited_buses) return 0;
  std::array<pollfd, max_waited_buses> entries{};
  for (std::size_t i = 0; i < buses.size(); ++i) entries[i] = {buses[i]->descriptor(), POLLIN, 0};
  const Duration left = std::max(deadline - SteadyClock().now(), Duration(0));
  const auto seconds = std::chrono::floor<std::chrono::seconds>(left);
  timespec limit{};
  limit.tv_sec = static_cast<std::time_t>(seconds.count());
  limit.tv_nsec = static_cast<long>((left - seconds).count());
  if (::ppoll(entries.data(), static_cast<nfds_t>(buses.size()), &limit, nullptr) <= 0) return 0;
  std::uint32_t ready = 0;
  for (std::size_t i = 0; i < buses.size(); ++i) {
    if (entries[i].revents != 0) ready |= std::uint32_t{1} << i;
  }
  return ready;
}

}  // namespace takt::platform
