// What carries datagrams to and from one peer: a UDP socket, a pair of queues in a test. Plain concept; what
// implements it lives in platform/.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "takt/core/time.hpp"

namespace takt {

/// Datagrams may be lost, late, doubled and out of order, but never in part, and never joined.
///   send(bytes)               hands one over without waiting; false if there was no room or no way for it
///   receive(buffer, timeout)  the size of the next one, which is now in the buffer; nothing if none came in time (negative
///                             counts as zero). One of no bytes is a datagram, too. What does not fit is not given in part
// clang-format off
template <class T>
concept DatagramTransport = requires(T& transport, std::span<const std::uint8_t> bytes, std::span<std::uint8_t> buffer,
                                     Duration timeout) {
  { transport.send(bytes) } noexcept -> std::same_as<bool>;
  { transport.receive(buffer, timeout) } noexcept -> std::same_as<std::optional<std::size_t>>;
};
// clang-format on

}  // namespace takt
