#include "takt/platform/cyclic_can.hpp"

#include <linux/can/bcm.h>
#include <sys/socket.h>

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "platform/can_socket.hpp"
#include "platform/kernel_frame.hpp"

namespace takt::platform {
namespace {

using detail::text_of;

canid_t name_of(const CyclicMessage& message) noexcept {
  return message.id | (message.extended ? CAN_EFF_FLAG : 0U);
}

bool is_name(const CyclicMessage& message) noexcept {
  return message.id <= (message.extended ? can::max_extended_id : can::max_standard_id);
}

/// The kernel counts in microseconds, up to 400 days.
bool is_rhythm(Duration period) noexcept {
  using namespace std::chrono_literals;
  return period >= 1us && period % 1us == Duration(0) && period <= 400 * 24h;
}

bcm_timeval to_timeval(Duration duration) noexcept {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(duration);
  return {static_cast<long>(seconds.count()),
          static_cast<long>((duration - seconds) / std::chrono::microseconds(1))};
}

bcm_msg_head head_of(std::uint32_t operation, const CyclicMessage& message) noexcept {
  bcm_msg_head head;
  std::memset(&head, 0, sizeof head);  // a struct with a flexible array has no initialiser in C++
  head.opcode = operation;
  head.flags = message.fd ? CAN_FD_FRAME : 0;
  head.can_id = name_of(message);
  return head;
}

}  // namespace

struct CyclicCan::State {
  struct Cycle {
    CyclicMessage message;
    std::size_t frames = 0;
  };

  detail::Descriptor socket;
  bool fd = false;
  std::vector<Cycle> cycles{};
  std::array<std::uint8_t, sizeof(bcm_msg_head) + max_frames * CANFD_MTU> buffer{};

  [[nodiscard]] Status write(bcm_msg_head head, std::size_t frame_bytes, Errc failure) noexcept;
  [[nodiscard]] Result<std::size_t> encode(std::span<const can::Frame> frames) noexcept;
  [[nodiscard]] std::vector<Cycle>::iterator find(const CyclicMessage& message) noexcept {
    return std::ranges::find(cycles, message, &Cycle::message);
  }
};

/// Sends the head, and the frames behind it in the buffer, to the kernel.
Status CyclicCan::State::write(bcm_msg_head head, std::size_t frame_bytes, Errc failure) noexcept {
  std::memcpy(buffer.data(), &head, sizeof head);
  if (::send(socket.get(), buffer.data(), sizeof head + frame_bytes, MSG_DONTWAIT) < 0) return fail(failure);
  return {};
}

/// Writes the frames behind the head; returns their bytes. Errors: bad_cycle.
Result<std::size_t> CyclicCan::State::encode(std::span<const can::Frame> frames) noexcept {
  if (frames.empty() || frames.size() > max_frames || (frames[0].fd && !fd)) return fail(Errc::bad_cycle);
  std::size_t bytes = 0;
  detail::KernelFrame encoded{};
  for (const can::Frame& frame : frames) {
    const std::size_t size = frame.fd == frames[0].fd ? detail::to_kernel(frame, encoded) : 0;
    if (size == 0) return fail(Errc::bad_cycle);
    std::memcpy(&buffer[sizeof(bcm_msg_head) + bytes], encoded.data(), size);
    bytes += size;
  }
  return bytes;
}

SetupResult<CyclicCan> CyclicCan::open(const std::string& interface, bool fd) {
  auto socket = detail::open_can_socket(interface, SOCK_DGRAM, CAN_BCM, {.fd = fd});
  if (!socket) return tl::unexpected(socket.error());
  sockaddr_can address{};
  address.can_family = AF_CAN;
  address.can_ifindex = socket->interface_index;
  if (::connect(socket->descriptor.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return fail(Errc::can_failed, fmt::format("{}: {}", interface, text_of(errno)));
  }
  auto state = std::make_unique<State>();
  state->socket = std::move(socket->descriptor);
  state->fd = fd;
  return CyclicCan(std::move(state));
}

CyclicCan::CyclicCan(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}
CyclicCan::CyclicCan(CyclicCan&&) noexcept = default;
CyclicCan& CyclicCan::operator=(CyclicCan&&) noexcept = default;
CyclicCan::~CyclicCan() = default;

int CyclicCan::descriptor() const noexcept { return state_->socket.get(); }

Status CyclicCan::start(std::span<const can::Frame> frames, Duration period) {
  const auto bytes = state_->encode(frames);
  if (!bytes || !is_rhythm(period)) return fail(Errc::bad_cycle);
  const CyclicMessage message{frames[0].id, frames[0].extended, frames[0].fd};
  if (const auto running = state_->find(message); running != state_->cycles.end()) {
    // The kernel can shorten a cycle but not lengthen it.
    const Status status = stop(message);
    if (!status) return status;
  }
  bcm_msg_head head = head_of(TX_SETUP, message);
  head.flags |= SETTIMER | STARTTIMER;
  head.ival2 = to_timeval(period);
  head.nframes = static_cast<std::uint32_t>(frames.size());
  state_->cycles.reserve(state_->cycles.size() + 1);
  const Status status = state_->write(head, *bytes, Errc::can_failed);
  if (status) state_->cycles.push_back({message, frames.size()});
  return status;
}

Status CyclicCan::update(std::span<const can::Frame> frames) noexcept {
  const auto bytes = state_->encode(frames);
  if (!bytes) return fail(bytes.error());
  const CyclicMessage message{frames[0].id, frames[0].extended, frames[0].fd};
  const auto cycle = state_->find(message);
  if (cycle == state_->cycles.end())
    return fail(Errc::no_such_cycle);  // the kernel would start a cycle without a period
  if (frames.size() > cycle->frames) return fail(Errc::bad_cycle);
  bcm_msg_head head = head_of(TX_SETUP, message);
  head.nframes = static_cast<std::uint32_t>(frames.size());
  const Status status = state_->write(head, *bytes, Errc::can_failed);
  if (status) cycle->frames = frames.size();
  return status;
}

Status CyclicCan::stop(const CyclicMessage& message) noexcept {
  const auto cycle = state_->find(message);
  if (cycle == state_->cycles.end()) return fail(Errc::no_such_cycle);
  state_->cycles.erase(cycle);
  return state_->write(head_of(TX_DELETE, message), 0, Errc::no_such_cycle);
}

Status CyclicCan::watch(const CyclicMessage& message, Duration timeout) noexcept {
  if (!is_name(message) || !is_rhythm(timeout)) return fail(Errc::bad_cycle);
  bcm_msg_head head = head_of(RX_SETUP, message);
  head.flags |= SETTIMER | STARTTIMER | RX_ANNOUNCE_RESUME;
  head.ival1 = to_timeval(timeout);
  // A content filter without bits, so changed content causes no event.
  head.nframes = 1;
  const std::size_t size = message.fd ? CANFD_MTU : CAN_MTU;
  std::fill_n(state_->buffer.begin() + sizeof head, size, std::uint8_t{0});
  return state_->write(head, size, Errc::can_failed);
}

Status CyclicCan::unwatch(const CyclicMessage& message) noexcept {
  return state_->write(head_of(RX_DELETE, message), 0, Errc::no_such_cycle);
}

std::size_t CyclicCan::receive(std::span<CyclicEvent> events) noexcept {
  std::size_t given = 0;
  int retries = 3;  // the socket first reports earlier faults of its interface
  while (given < events.size()) {
    const ssize_t got = ::recv(descriptor(), state_->buffer.data(), state_->buffer.size(), MSG_DONTWAIT);
    if (got < 0 && (errno == EINTR || errno == ENETDOWN) && retries-- > 0) continue;
    if (got < static_cast<ssize_t>(sizeof(bcm_msg_head))) break;
    bcm_msg_head head;
    std::memcpy(&head, state_->buffer.data(), sizeof head);
    if (head.opcode != RX_TIMEOUT && head.opcode != RX_CHANGED) continue;
    events[given].message = {head.can_id & can::max_extended_id, (head.can_id & CAN_EFF_FLAG) != 0,
                             (head.flags & CAN_FD_FRAME) != 0};
    events[given].is_silent = head.opcode == RX_TIMEOUT;
    ++given;
  }
  return given;
}

}  // namespace takt::platform
