// Carries datagrams to and from one peer: a UDP socket, or a pair of queues in a test. This is only the
// concept; implementations are in platform/.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "takt/core/time.hpp"

namespace takt {

/// Sends and receives datagrams, which may be lost, late, duplicated or reordered, but never split or joined.
/// * send(bytes) hands over one datagram without waiting; false if there was no room or no route.
/// * receive(buffer, timeout) waits at most `timeout` (negative counts as zero). It copies the next datagram
///   to the buffer and returns its size, or nothing at the timeout. An empty datagram counts too. A datagram
///   that does not fit is never returned in part.
// clang-format off
template <class T>
concept DatagramTransport = requires(T& transport, std::span<const std::uint8_t> bytes, std::span<std::uint8_t> buffer,
                                     Duration timeout) {
  { transport.send(bytes) } noexcept -> std::same_as<bool>;
  { transport.receive(buffer, timeout) } noexcept -> std::same_as<std::optional<std::size_t>>;
};
// clang-format on

}  // namespace takt
