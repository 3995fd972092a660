// The identity of a CiA 402 drive: the identity object 1018h and the software version 100Ah, read by SDO one
// after the other. They are optional. An object that the drive rejects, or answers against the rules, stays
// unknown.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "takt/can/canopen/sdo_client.hpp"
#include "takt/core/time.hpp"

namespace takt::drives {

/// The objects that the drive has reported.
struct Cia402Identity {
  static constexpr std::size_t longest_software = 64;

  std::optional<std::uint32_t> vendor{};          ///< 1018h:1, a number that CiA registers
  std::optional<std::uint32_t> product{};         ///< 1018h:2
  std::optional<std::uint32_t> revision{};        ///< 1018h:3
  std::array<char, longest_software> software{};  ///< 100Ah: any bytes
  std::size_t software_length = 0;                ///< 0: unknown
};

/// The text for people: "vendor 0x2ef, product 0x10, revision 0x10002, software 2.10". Only printable ASCII;
/// empty if nothing is known. Allocates.
[[nodiscard]] std::string to_string(const Cia402Identity& identity);

/// Reads the objects through its own SDO client, one frame per call of poll(). Real-time safe. Do not move it
/// while it is busy.
class Cia402IdentityReader {
 public:
  /// `timeout` holds for each answer.
  constexpr Cia402IdentityReader(std::uint8_t node, Duration timeout) noexcept : client_(node, timeout) {}

  /// Begins to read; earlier results are dropped.
  constexpr void start() noexcept {
    identity_ = {};
    next_ = 0;
    state_ = can::canopen::SdoState::busy;
    begin_next();
  }

  /// done: the drive has answered for each object. aborted: one answer did not arrive, and the remaining
  /// objects were not requested.
  [[nodiscard]] constexpr can::canopen::SdoState state() const noexcept { return state_; }
  /// The objects read so far.
  [[nodiscard]] constexpr const Cia402Identity& identity() const noexcept { return identity_; }

  /// See can::canopen::SdoClient.
  [[nodiscard]] constexpr std::optional<can::Frame> poll(Time now) noexcept {
    const auto frame = client_.poll(now);
    follow();
    return frame;
  }
  /// Returns whether a frame is to be sent at `now`.
  [[nodiscard]] constexpr bool wants_to_send(Time now) const noexcept { return client_.wants_to_send(now); }
  /// Processes an answer of the node. Errors: as SdoClient::receive().
  constexpr Status receive(const can::Frame& frame) noexcept {
    const Status status = client_.receive(frame);
    follow();
    return status;
  }

 private:
  static constexpr std::array<can::canopen::Address, 4> objects{
      {{0x1018, 1}, {0x1018, 2}, {0x1018, 3}, {0x100A, 0}}};

  constexpr void begin_next() noexcept {
    if (next_ == objects.size()) {
      state_ = can::canopen::SdoState::done;
    } else {
      const bool is_number = next_ + 1 < objects.size();
      client_.upload(objects[next_], std::span(room_).first(is_number ? 4 : room_.size()));
    }
  }
  constexpr void follow() noexcept {
    using can::canopen::SdoState;
    if (state_ != SdoState::busy || client_.state() == SdoState::busy) return;
    if (client_.state() == SdoState::done) take();
    if (client_.abort() == can::canopen::SdoAbort::timeout) {
      state_ = SdoState::aborted;
    } else {
      ++next_;
      begin_next();
    }
  }
  constexpr void take() noexcept {
    const auto read = client_.received();
    if (next_ + 1 == objects.size()) {
      for (std::size_t i = 0; i < read.size(); ++i) identity_.software[i] = static_cast<char>(read[i]);
      identity_.software_length = read.size();
    } else if (read.size() == 4) {
      (next_ == 0   ? identity_.vendor
       : next_ == 1 ? identity_.product
                    : identity_.revision) = client_.number();
    }
  }

  can::canopen::SdoClient client_;
  std::array<std::uint8_t, Cia402Identity::longest_software> room_{};
  Cia402Identity identity_{};
  std::size_t next_ = 0;
  can::canopen::SdoState state_ = can::canopen::SdoState::idle;
};

}  // namespace takt::drives
