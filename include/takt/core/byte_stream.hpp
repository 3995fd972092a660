// A two-way stream of bytes: a TCP connection, a serial line, a pipe, a pair of buffers in a test. Plain
// concept; what implements it lives in platform/.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

#include "takt/core/error.hpp"
#include "takt/core/time.hpp"

namespace takt {

/// Neither function blocks longer than `timeout` (negative counts as zero).
///   send(bytes, timeout)      sends all of them, or fails; after a failure the stream is of no more use
///   receive(bytes, timeout)   takes what has come, at least one byte, at most bytes.size(); 0 means that none came in time.
///                             The other side's end is an error
template <class S>
concept ByteStream = requires(S& stream, std::span<const std::uint8_t> out, std::span<std::uint8_t> in,
                              Duration timeout) {
  { stream.send(out, timeout) } -> std::same_as<Status>;
  { stream.receive(in, timeout) } -> std::same_as<Result<std::size_t>>;
};

/// The end of such a stream for a loop: neither function waits.
///   write(bytes)   takes bytes from the front, as many as there is room for; returns how many
///   read(bytes)    gives what has come, at most bytes.size(); returns how many
/// A stream that is broken takes and gives nothing any more; how it says so is its own.
// clang-format off
template <class P>
concept BytePort = requires(P& port, std::span<const std::uint8_t> out, std::span<std::uint8_t> in) {
  { port.write(out) } noexcept -> std::same_as<std::size_t>;
  { port.read(in) } noexcept -> std::same_as<std::size_t>;
};
// clang-format on

}  // namespace takt
