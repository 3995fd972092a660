// How a J1939 device claims and keeps its address (SAE J1939-81). It claims an address, yields to lower NAMEs
// and answers requests. If its NAME permits that, it claims another address after it lost one. Sans-I/O:
// frames and the time go in, frames come out.
//
//     auto claim = *AddressClaim::create(name, 0x80);
//     claim.start(now);
//
//     // Each cycle:
//     for (const Frame& frame : received) claim.receive(frame, now);
//     while (const auto frame = claim.next_frame(now)) bus.send({&*frame, 1});
//     if (const auto address = claim.address()) send_as(*address);  // it may be used
//
// The device must not receive its own frames; a claim with its own NAME is ignored. The commanded address is
// not supported. Real-time safe. One thread.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>

#include "takt/can/j1939.hpp"
#include "takt/core/time.hpp"

namespace takt::can::j1939 {

/// The time for which an address may be contested before it may be used.
inline constexpr Duration claim_time = std::chrono::milliseconds(250);

/// The address claim of one device.
class AddressClaim {
 public:
  enum class State : std::uint8_t {
    idle,      ///< not started
    claiming,  ///< an address is claimed; others may still contest it
    claimed,   ///< the address may be used
    lost,      ///< no address left: the device may only answer requests, from the null address
  };

  /// Arguments: the device's NAME and its preferred address, 0 to 253. Errors: those of encode_name(),
  /// out_of_range (the address is above 253).
  [[nodiscard]] static constexpr Result<AddressClaim> create(const Name& name,
                                                             std::uint8_t preferred) noexcept {
    const auto number = encode_name(name);
    if (!number) return fail(number.error());
    if (preferred > max_address) return fail(Errc::out_of_range);
    return AddressClaim(*number, preferred);
  }

  /// Claims the preferred address, from any state.
  constexpr void start(Time now) noexcept {
    taken_ = {};
    claim(preferred_, now);
  }

  /// Takes a received frame. Frames other than claims and requests for claims are ignored.
  constexpr void receive(const Frame& frame, Time now) noexcept {
    if (state_ == State::idle || !is_message(frame)) return;
    const Id id = decode_id(frame.id);
    if (id.pgn == pgn_address_claimed && frame.length == 8) {
      contest(id.source, load_little<8>(frame.data.data()), now);
    } else if (id.pgn == pgn_request && frame.length >= 3 &&
               load_little<3>(frame.data.data()) == pgn_address_claimed &&
               (id.destination == broadcast_address || id.destination == address_)) {
      if (!answers_) answer(state_ == State::lost ? now + delay() : now);
    }
  }

  /// Returns the next frame that is due at `now`, if any. Call it until it returns nothing.
  [[nodiscard]] constexpr std::optional<Frame> next_frame(Time now) noexcept {
    if (state_ == State::claiming && said_ && now - said_at_ >= claim_time) state_ = State::claimed;
    if (!answers_ || now < answer_at_) return std::nullopt;
    answers_ = false;
    if (!said_) said_at_ = now;
    said_ = true;
    std::array<std::uint8_t, 8> data{};
    store_little<8>(data.data(), name_);
    return *make_frame({.pgn = pgn_address_claimed, .source = address_}, data);
  }

  /// Returns the progress of the claim.
  [[nodiscard]] constexpr State state() const noexcept { return state_; }
  /// Returns the address that may be used; nullopt without one.
  [[nodiscard]] constexpr std::optional<std::uint8_t> address() const noexcept {
    return state_ == State::claimed ? std::optional(address_) : std::nullopt;
  }

 private:
  static constexpr std::uint8_t first_arbitrary = 128;
  static constexpr std::uint8_t last_arbitrary = 247;

  constexpr AddressClaim(std::uint64_t name, std::uint8_t preferred) noexcept
      : name_(name), preferred_(preferred) {}

  constexpr void claim(std::uint8_t address, Time now) noexcept {
    address_ = address;
    state_ = State::claiming;
    said_ = false;
    answer(now);
  }

  /// Another device claims this address.
  constexpr void contest(std::uint8_t address, std::uint64_t name, Time now) noexcept {
    if (name == name_ || address > max_address) return;
    if (address != address_) {
      set_taken(address);
    } else if (name_ < name) {
      answer(now);  // the claim again: the other one gives way
    } else {
      set_taken(address);
      give_way(now);
    }
  }
  constexpr void give_way(Time now) noexcept {
    constexpr std::uint64_t arbitrary_address_bit = std::uint64_t{1} << 63;
    if ((name_ & arbitrary_address_bit) != 0) {
      for (unsigned address = first_arbitrary; address <= last_arbitrary; ++address) {
        if (!is_taken(address)) return claim(static_cast<std::uint8_t>(address), now);
      }
    }
    address_ = null_address;
    state_ = State::lost;
    answer(now + delay());
  }
  constexpr void answer(Time at) noexcept {
    answers_ = true;
    answer_at_ = at;
  }
  /// Devices without an address send frames with the same identifier. A delay of 0 to 153 ms separates their
  /// answers.
  [[nodiscard]] constexpr Duration delay() const noexcept {
    return std::chrono::microseconds(600) * static_cast<int>(name_ * 0x9E37'79B9'7F4A'7C15U >> 56);
  }

  [[nodiscard]] constexpr bool is_taken(unsigned address) const noexcept {
    return (taken_[address / 64] >> (address % 64) & 1U) != 0;
  }
  constexpr void set_taken(unsigned address) noexcept {
    taken_[address / 64] |= std::uint64_t{1} << (address % 64);
  }

  std::uint64_t name_;
  std::uint8_t preferred_;
  std::uint8_t address_ = null_address;
  State state_ = State::idle;
  bool said_ = false;  ///< the claim was sent; before that, no device could contest it
  Time said_at_{};
  bool answers_ = false;  ///< a claim is due at answer_at_
  Time answer_at_{};
  std::array<std::uint64_t, 4> taken_{};  ///< addresses that other devices claimed, one bit each
};

}  // namespace takt::can::j1939
