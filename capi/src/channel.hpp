// The channel of the C API, for its clients and simulated vehicles.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>

#include "takt.h"
#include "takt/core/error.hpp"
#include "takt/core/siphash.hpp"
#include "takt/core/time.hpp"
#include "takt/secure/channel.hpp"
#include "takt/secure/client_channel.hpp"
#include "takt/secure/server_channel.hpp"

namespace takt::capi {

using ClientChannel = secure::ClientChannel<SipHash128>;
using ServerChannel = secure::ServerChannel<SipHash128>;
using AnyChannel = std::variant<secure::PlainChannel, ClientChannel, ServerChannel>;

/// The caller's channel, whichever kind it is, for the objects that send through it.
class BorrowedChannel {
 public:
  static constexpr std::size_t overhead = ClientChannel::overhead;
  static constexpr std::size_t max_handshake = ClientChannel::max_handshake;

  explicit BorrowedChannel(AnyChannel& channel) noexcept : channel_(&channel) {}

  [[nodiscard]] Result<secure::Opened> open(std::span<const std::uint8_t> datagram, Time now) noexcept {
    return std::visit([&](auto& channel) { return channel.open(datagram, now); }, *channel_);
  }
  [[nodiscard]] Result<std::size_t> seal(std::span<const std::uint8_t> payload, secure::Urgency urgency,
                                         Time now, std::span<std::uint8_t> out) noexcept {
    return std::visit([&](auto& channel) { return channel.seal(payload, urgency, now, out); }, *channel_);
  }
  [[nodiscard]] bool established(Time now) const noexcept {
    return std::visit([&](const auto& channel) { return channel.established(now); }, *channel_);
  }
  [[nodiscard]] Time next_handshake() const noexcept {
    return std::visit([](const auto& channel) { return channel.next_handshake(); }, *channel_);
  }
  [[nodiscard]] Result<std::size_t> poll_handshake(Time now, std::span<std::uint8_t> out) noexcept {
    return std::visit([&](auto& channel) { return channel.poll_handshake(now, out); }, *channel_);
  }

 private:
  AnyChannel* channel_;
};

}  // namespace takt::capi

struct takt_channel {
  takt::capi::AnyChannel channel;
};
