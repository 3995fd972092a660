// A two-way stream of bytes: a TCP connection, a serial line, a pipe, a pair of buffers in a test. Plain concept; what implements
// it lives in platform/.
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

}  // namespace takt
