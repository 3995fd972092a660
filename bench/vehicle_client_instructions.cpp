// The cost of driving a vehicle in instructions.
#include <array>
#include <chrono>
#include <cstdint>
#include <span>

#include "instructions.hpp"
#include "takt/core/bytes.hpp"
#include "takt/vehicle/client.hpp"
#include "takt/vehicle/status_frame.hpp"

namespace takt::bench {
namespace {

using namespace takt::vehicle;

/// One period of a client: a status frame of twelve systems in, a command in, a control frame out.
const Kernel client("vehicle/client_cycle", [](Counter& count) {
  ClientConfiguration c;
  c.units = provisional_units;
  c.payload = ByteOrder::big;
  auto driver = *VehicleClient<secure::PlainChannel>::make(c, {});
  StatusFrame status;
  for (const SystemLayout& layout : furbot_layouts.systems())
    keep(status.set(layout.system, SystemState::running));
  std::array<std::uint8_t, 132> bytes{};
  keep(encode_status(status, bytes));
  std::array<std::uint8_t, VehicleClient<secure::PlainChannel>::max_datagram> out{};
  std::uint32_t ms = 0;
  count([&] {
    ms += 10;
    ByteWriter(std::span(bytes).subspan(4)).big(ms);
    const Time now(std::chrono::milliseconds{ms});
    keep(driver.receive(bytes, now));
    keep(driver.drive({0.1, 0.2, 0}, now));
    keep(driver.poll(now, out));
    keep(out);
  });
});

}  // namespace
}  // namespace takt::bench
