// A two-way stream of bytes: a TCP connection, a serial line, a pipe, a pair of buffers in a test. This is
// only the concept; implementations are in platform/.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

#include "takt/core/error.hpp"
#include "takt/core/time.hpp"

namespace takt {

/// A stream whose calls wait at most `timeout` (negative counts as zero).
/// * send(bytes, timeout) sends all bytes or fails. After a failure the stream is unusable.
/// * receive(bytes, timeout) reads at least one byte and at most bytes.size(). It returns 0 at the timeout.
///   The end of the stream is an error.
template <class S>
concept ByteStream = requires(S& stream, std::span<const std::uint8_t> out, std::span<std::uint8_t> in,
                              Duration timeout) {
  { stream.send(out, timeout) } -> std::same_as<Status>;
  { stream.receive(in, timeout) } -> std::same_as<Result<std::size_t>>;
};

/// The end of such a stream for a loop; its functions never wait.
/// * write(bytes) takes as many bytes from the front as there is room for, and returns how many.
/// * read(bytes) returns the received bytes, at most bytes.size(), and how many.
/// * A broken stream takes and returns nothing. Each type reports this in its own way.
// clang-format off
template <class P>
concept BytePort = requires(P& port, std::span<const std::uint8_t> out, std::span<std::uint8_t> in) {
  { port.write(out) } noexcept -> std::same_as<std::size_t>;
  { port.read(in) } noexcept -> std::same_as<std::size_t>;
};
// clang-format on

}  // namespace takt
