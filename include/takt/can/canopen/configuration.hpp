// Configures one node by a list of SDO writes, one after the other, until one fails. Real-time safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "takt/can/canopen/sdo_client.hpp"

namespace takt::can::canopen {

/// Works through a list of writes with its own client; one frame for each call of poll().
class Configurator {
 public:
  constexpr Configurator(std::uint8_t node, Duration timeout) noexcept : client_(node, timeout) {}

  /// Starts with the first write. The list `writes` must stay in place until all are done.
  constexpr void start(std::span<const ObjectWrite> writes) noexcept {
    writes_ = writes;
    done_ = 0;
    state_ = SdoState::busy;
    begin_next();
  }

  /// The state: idle before start(); aborted if a write failed that is not optional. That write is current().
  [[nodiscard]] constexpr SdoState state() const noexcept { return state_; }
  /// The reason after SdoState::aborted.
  [[nodiscard]] constexpr SdoAbort abort() const noexcept { return client_.abort(); }
  /// The current or the failed write; null when all are done.
  [[nodiscard]] constexpr const ObjectWrite* current() const noexcept {
    return done_ < writes_.size() ? &writes_[done_] : nullptr;
  }

  /// As SdoClient::poll().
  [[nodiscard]] constexpr std::optional<Frame> poll(Time now) noexcept {
    const auto frame = client_.poll(now);
    follow();
    return frame;
  }
  /// Returns whether a frame is to be sent at `now`.
  [[nodiscard]] constexpr bool wants_to_send(Time now) const noexcept { return client_.wants_to_send(now); }
  /// Processes an answer of the node. Errors: as SdoClient::receive().
  constexpr Status receive(const Frame& frame) noexcept {
    const Status status = client_.receive(frame);
    follow();
    return status;
  }

 private:
  constexpr void begin_next() noexcept {
    if (done_ == writes_.size()) {
      state_ = SdoState::done;
    } else if (!client_.download(writes_[done_])) {
      state_ = SdoState::aborted;
    }
  }
  constexpr void follow() noexcept {
    if (state_ != SdoState::busy || client_.state() == SdoState::busy) return;
    if (client_.state() == SdoState::aborted && !excused()) {
      state_ = SdoState::aborted;
      return;
    }
    ++done_;
    begin_next();
  }
  [[nodiscard]] constexpr bool excused() const noexcept {
    const SdoAbort why = client_.abort();
    return writes_[done_].optional && (why == SdoAbort::no_such_object || why == SdoAbort::no_such_subindex ||
                                       why == SdoAbort::read_only || why == SdoAbort::unsupported_access);
  }

  SdoClient client_;
  std::span<const ObjectWrite> writes_{};
  std::size_t done_ = 0;
  SdoState state_ = SdoState::idle;
};

}  // namespace takt::can::canopen
