// Fuzzes control frames of a vehicle with any bytes: rejected, or re-encoded to the same bytes, in both byte
// orders. The SI values are finite, and convert back to the same counts where a command may request them.
#include "takt/vehicle/control_frame.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "support/require.hpp"
#include "takt/vehicle/units.hpp"

using namespace takt;
using namespace takt::vehicle;
using takt::test::require;

namespace {

void check_units(const ControlFrame& frame) {
  static const Units units = *Units::make(provisional_units);
  const DriveCommand command = units.command(frame);
  require(std::isfinite(command.steering) && std::isfinite(command.throttle) && std::isfinite(command.brake));
  const auto again = units.control(command, frame.stamp);
  const bool may_be_asked = std::abs(command.throttle) <= 1 && command.brake <= 1;
  require(again.has_value() == may_be_asked);
  if (again) require(*again == frame);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span bytes(data, size);
  for (const ByteOrder order : {ByteOrder::big, ByteOrder::little}) {
    const auto frame = decode_control(bytes, order);
    if (!frame) continue;
    std::array<std::uint8_t, control_frame_bytes> out{};
    require(encode_control(*frame, out, order) == bytes.size());
    require(std::equal(bytes.begin(), bytes.end(), out.begin()));
    check_units(*frame);
  }
  return 0;
}
