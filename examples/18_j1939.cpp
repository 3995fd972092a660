// Two J1939 devices on one bus: the pump and the display of a machine. Both want address 80h. The pump has
// the lower NAME and keeps it, so the display takes another one. Then the pump sends a text of 39 bytes, in
// packets that the display requests. In virtual time, so each run prints the same.
#include <array>
#include <chrono>
#include <cstdio>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "takt/can/j1939_address.hpp"
#include "takt/can/j1939_sender.hpp"
#include "takt/can/j1939_transport.hpp"
#include "takt/sim/virtual_can_bus.hpp"

using namespace takt;
using namespace std::chrono_literals;
namespace j1939 = can::j1939;

namespace {

constexpr std::uint32_t pgn_text = 0xFECA;
constexpr std::string_view text = "filter full, change it within 50 hours.";

/// A device with its address, its long messages and its plug.
struct Device {
  Device(sim::VirtualCanBus::Port plug, j1939::AddressClaim its_claim) : port(plug), claim(its_claim) {}

  void cycle(Time now) {
    std::array<can::Frame, 16> frames;
    const std::size_t count = port.receive(frames);
    for (const can::Frame& frame : std::span(frames).first(count)) {
      claim.receive(frame, now);
      if (sender) sender->receive(frame, now);
      if (!receiver) continue;
      if (const auto event = receiver->receive(frame, now); event && !event->aborted)
        heard.assign(event->message.begin(), event->message.end());
    }
    if (sender) sender->poll(now);
    const auto send = [this](const can::Frame& frame) { port.send({&frame, 1}); };
    while (const auto frame = claim.next_frame(now)) send(*frame);
    while (const auto frame = sender ? sender->next_frame(now) : std::nullopt) send(*frame);
    while (const auto frame = receiver ? receiver->next_frame() : std::nullopt) send(*frame);
  }

  sim::VirtualCanBus::Port port;
  j1939::AddressClaim claim;
  std::optional<j1939::TransportSender> sender;
  std::optional<j1939::TransportReceiver<2>> receiver;
  std::string heard;
};

}  // namespace

int main() {
  sim::VirtualCanBus bus({.nominal = 250'000});
  const auto claim_of = [](std::uint32_t number) {
    return j1939::AddressClaim::create({.identity = number, .arbitrary_address = true}, 0x80);
  };
  const auto pump_claim = claim_of(1), display_claim = claim_of(2);
  if (!pump_claim || !display_claim) return 1;
  Device pump(bus.connect(), *pump_claim), display(bus.connect(), *display_claim);
  Time now{};
  const auto run = [&](Duration length) {
    for (const Time end = now + length; now < end; now += 1ms) {
      bus.advance(now);
      pump.cycle(now);
      display.cycle(now);
    }
  };

  pump.claim.start(now);
  display.claim.start(now);
  run(1s);
  const auto from = pump.claim.address(), to = display.claim.address();
  if (!from || !to) return 1;
  std::printf("the pump has address %02x, the display %02x\n", *from, *to);

  pump.sender.emplace(*from);
  display.receiver.emplace(*to);
  const std::span bytes(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
  if (!pump.sender->start(pgn_text, *to, bytes, now)) return 1;
  run(1s);
  std::printf("the display shows: %s\n", display.heard.c_str());
  return pump.sender->state() == j1939::TransportSender::State::done && display.heard == text ? 0 : 1;
}
