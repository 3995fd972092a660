// Fuzzes rtnetlink answers with any bytes: they are parsed, or rejected with a named error, and a parsed
// answer can be judged.
#include <cstddef>
#include <cstdint>
#include <span>

#include "support/fuzz_frames.hpp"
#include "takt/platform/can_interface.hpp"

using namespace takt;
using takt::test::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto interface = platform::read_link_message({data, size});
  if (!interface) {
    require(interface.error().room == Room::platform);
    return 0;
  }
  const auto verdict = platform::check_can_interface(*interface, {.bit_rate = 1'000'000});
  require(verdict.has_value() || !verdict.error().message.empty());
  return 0;
}
