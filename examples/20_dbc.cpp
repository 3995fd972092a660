// Messages of a DBC file on a bus: a brake sends its pressure a hundred times a second, with a counter and a
// checksum. The vehicle's computer checks each frame, and notices a damaged and a lost one. In virtual time,
// so each run prints the same.
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <span>
#include <string>

#include "takt/dbc/database.hpp"
#include "takt/dbc/protection.hpp"
#include "takt/sim/virtual_can_bus.hpp"

using namespace takt;
using namespace std::chrono_literals;

namespace {

// Programs usually read a file: dbc::Database::load("brake.dbc").
constexpr const char* description = R"(
BU_: Brake Computer
BO_ 291 BrakeStatus: 8 Brake
 SG_ Crc : 0|8@1+ (1,0) [0|255] "" Computer
 SG_ Count : 8|4@1+ (1,0) [0|15] "" Computer
 SG_ Pressure : 16|16@1+ (0.01,0) [0|200] "bar" Computer
)";

}  // namespace

int main() {
  const auto dbc = dbc::Database::parse(description);
  const auto rule = dbc::parse_protection_rule("BrakeStatus:Count:Crc:crc8_j1850");
  if (!dbc || !rule) return 1;
  auto sender = dbc::Protection::create(*dbc, *rule);
  auto receiver = dbc::Protection::create(*dbc, *rule);
  if (!sender || !receiver) return 1;
  const dbc::MessageCodec& status = sender->message();
  const std::size_t pressure = *status.find_signal("Pressure");

  sim::VirtualCanBus bus({.nominal = 500'000});
  auto brake = bus.connect(), computer = bus.connect();
  std::array<double, 3> values{};
  int noticed = 0;
  Time now{};
  for (int cycle = 0; cycle < 10; ++cycle, now += 10ms) {
    values[pressure] = 20 + 5 * std::sin(cycle);
    auto frame = status.encode(values);
    if (!frame || !sender->protect(*frame)) return 1;
    if (cycle == 3) frame->data[2] ^= 1;  // damaged on its way
    if (cycle != 6) brake.send({&*frame, 1});
    bus.advance(now + 5ms);

    std::array<can::Frame, 4> received;
    for (const can::Frame& one : std::span(received).first(computer.receive(received))) {
      if (!status.is_mine(one)) continue;
      const auto verdict = receiver->check(one);
      const std::string text(describe(verdict));
      std::array<double, 3> read{};
      if (verdict == dbc::ProtectionVerdict::good && status.decode(one, read))
        std::printf("%2d0 ms: %5.2f bar, %s\n", cycle, read[pressure], text.c_str());
      else
        std::printf("%2d0 ms: %s\n", cycle, text.c_str());
      noticed += verdict == dbc::ProtectionVerdict::good ? 0 : 1;
    }
  }
  return noticed == 3 ? 0 : 1;  // the damaged frame, the gap that it leaves, and the lost one
}
