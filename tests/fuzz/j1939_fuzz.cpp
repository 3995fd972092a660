// Fuzzes J1939 with any frames, of a few devices and of hostile ones, at any times. A receiver keeps within
// its sessions, and messages have the announced length. A sender and an address claim send only frames that a
// bus can carry. When all devices are silent, every session ends.
#include <chrono>
#include <span>

#include "support/fuzz_frames.hpp"
#include "takt/can/bits.hpp"
#include "takt/can/j1939_address.hpp"
#include "takt/can/j1939_sender.hpp"

using namespace takt;
using namespace takt::can;
using namespace takt::can::j1939;
using takt::test::require;

namespace {

constexpr std::uint8_t us = 0x10;

/// Mostly a frame of the transport protocol or an address claim between few devices; otherwise any frame.
Frame next_message(std::span<const std::uint8_t>& bytes) {
  const std::uint8_t kind = bytes.front();
  Frame frame = test::next_frame(bytes);
  if (kind < 0x20) return frame;
  constexpr std::array<std::uint32_t, 4> groups = {pgn_transport_management, pgn_transport_data,
                                                   pgn_address_claimed, pgn_request};
  constexpr std::array<std::uint8_t, 4> devices = {0x20, 0x21, us, 0xFE};
  constexpr std::array<std::uint8_t, 2> destinations = {us, broadcast_address};
  frame = Frame{.stamp = {}, .length = 8, .extended = true, .data = frame.data};
  frame.id = *encode_id(
      {7, groups[frame.data[0] >> 7 | (kind >> 4 & 2U)], devices[kind & 3U], destinations[kind >> 2 & 1U]});
  if (bytes.size() >= 8) {
    std::copy_n(bytes.begin(), 8, frame.data.begin());
    bytes = bytes.subspan(8);
  }
  return frame;
}

void check_event(const TransportEvent& event) {
  require(event.source <= max_address && event.source != us);
  require(event.aborted.has_value() == event.message.empty());
  if (event.aborted) return;
  require(event.message.size() >= min_transport_length && event.message.size() <= max_message_length);
}
void check_sent(const Frame& frame) { require(is_message(frame) && frame_bits(frame).total() >= 67); }

struct Device {
  TransportReceiver<3> receiver{us};
  TransportSender sender{us};
  AddressClaim claim = *AddressClaim::create({.identity = 77, .arbitrary_address = true}, us);

  void step(const Frame& frame, Time now) {
    if (const auto event = receiver.receive(frame, now)) check_event(*event);
    sender.receive(frame, now);
    claim.receive(frame, now);
    drain(now);
    require(receiver.open_sessions() <= 3);
  }
  void drain(Time now) {
    sender.poll(now);
    while (const auto event = receiver.poll(now)) check_event(*event);
    while (const auto frame = receiver.next_frame()) check_sent(*frame);
    for (int i = 0; i < 256; ++i) {
      const auto frame = sender.next_frame(now);
      if (!frame) break;
      check_sent(*frame);
      require(i < 255 + 1);
    }
    while (const auto frame = claim.next_frame(now)) check_sent(*frame);
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::span<const std::uint8_t> bytes(data, std::min<std::size_t>(size, 4096));
  Device device;
  Time now{};
  device.claim.start(now);
  const std::array<std::uint8_t, 100> message{};
  while (!bytes.empty()) {
    if (!device.sender.is_busy()) {
      const std::uint8_t to = bytes.front() % 8 == 0 ? broadcast_address : std::uint8_t{0x20};
      require(device.sender.start(0xFECA, to, message, now).has_value());
    }
    now += std::chrono::milliseconds(bytes.front() % 16 == 0 ? 400 : 1);
    device.step(next_message(bytes), now);
    if (const auto address = device.claim.address()) require(*address <= max_address);
  }
  device.drain(now + std::chrono::seconds(2));
  require(device.receiver.open_sessions() == 0);
  return 0;
}
