// takt's headers and its library give the same numbers, although only this program is compiled for a
// processor with fused multiply-add: neither of them fuses.
#include <takt/can/message.hpp>
#include <takt/dbc/database.hpp>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "drive.hpp"

int main() {
  const auto dbc = takt::dbc::Database::load(DBC_FILE);
  if (!dbc) return EXIT_FAILURE;
  std::vector<double> values(1);
  int differ = 0;
  constexpr int frames = 65'536;
  for (int raw = 0; raw < frames; ++raw) {
    const takt::can::Frame frame{.id = 386, .length = 2, .data = {std::uint8_t(raw), std::uint8_t(raw >> 8)}};
    const takt::dbc::MessageCodec* message = dbc->find(frame);
    if (message == nullptr || !message->decode(frame, values)) return EXIT_FAILURE;
    const auto typed = takt::can::decode<robot::drive::Temperature>(frame);
    if (!typed) return EXIT_FAILURE;
    differ += typed->celsius == values[0] ? 0 : 1;
  }
  std::printf("%d of %d decoded values differ between takt's headers and its library\n", differ, frames);
  return differ == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
