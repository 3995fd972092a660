// The cost of the vehicle's frames in instructions.
#include <array>

#include "instructions.hpp"
#include "takt/core/siphash.hpp"
#include "takt/secure/envelope.hpp"
#include "takt/vehicle/control_frame.hpp"
#include "takt/vehicle/status_frame.hpp"

namespace takt::bench {
namespace {

using namespace takt::secure;
using namespace takt::vehicle;

/// All twelve systems: checks, and reading of the three typed blocks.
const Kernel status("vehicle/status_decode_132B", [](Counter& count) {
  StatusFrame sent;
  for (const SystemLayout& layout : furbot_layouts.systems())
    keep(sent.set(layout.system, SystemState::running));
  std::array<std::uint8_t, 132> bytes{};
  keep(encode_status(sent, bytes));
  StatusFrame got;
  count([&] {
    keep(decode_into(got, bytes));
    keep(got.traction());
    keep(got.steering());
    keep(got.battery());
  });
});

const Kernel control("vehicle/control_encode", [](Counter& count) {
  ControlFrame frame{1, 2, 3, 4};
  std::array<std::uint8_t, control_frame_bytes> bytes{};
  count([&] {
    keep(frame);
    keep(encode_control(frame, bytes, ByteOrder::big));
    keep(bytes);
  });
});

/// A control frame in its envelope.
const Kernel verified("vehicle/verify_68B_siphash", [](Counter& count) {
  const SipHash128 key(std::array<std::uint8_t, SipHash128::key_size>{1, 2, 3});
  const std::array<std::uint8_t, control_frame_bytes> payload{};
  std::array<std::uint8_t, control_frame_bytes + envelope_overhead> datagram{};
  keep(write_envelope(key, {EnvelopeKind::command, 1, 2, 3, Time{}, payload}, datagram));
  count([&] { keep(is_genuine(key, datagram)); });
});

}  // namespace
}  // namespace takt::bench
