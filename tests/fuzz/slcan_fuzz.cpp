// Fuzzes the bytes of a serial adapter. The decoded items do not depend on how the bytes are split. A decoded
// frame survives encoding and decoding. A bus on such a line returns only frames that a bus can carry.
#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "support/fuzz_frames.hpp"
#include "takt/can/bits.hpp"
#include "takt/can/slcan_bus.hpp"
#include "takt/core/manual_clock.hpp"

using namespace takt;
using namespace takt::can;
using takt::test::require;

namespace {

/// Gives a fuzzer's bytes in pieces, whose sizes are also fuzzed, and takes a few bytes at a time.
struct FuzzedPort {
  std::size_t write(std::span<const std::uint8_t> out) noexcept {
    return std::min<std::size_t>(out.size(), 5);
  }
  std::size_t read(std::span<std::uint8_t> in) noexcept {
    const std::size_t piece = bytes.empty() ? 0 : 1 + bytes.front() % 64;
    const std::size_t given = std::min({bytes.size(), in.size(), piece});
    std::copy_n(bytes.begin(), given, in.begin());
    bytes = bytes.subspan(given);
    return given;
  }
  std::span<const std::uint8_t> bytes;
};

void check_item(const slcan::Item& item) {
  if (item.kind != slcan::Item::Kind::frame) return;
  require(frame_bits(item.frame).total() >= 47);
  const auto line = slcan::encode_line(item.frame, item.adapter_ms);
  require(line && *slcan::decode_line(line->text().substr(0, line->text().size() - 1)) == item);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span<const std::uint8_t> bytes(data, std::min<std::size_t>(size, 4096));
  slcan::Decoder whole;
  slcan::Decoder single;
  std::uint64_t frames = 0;
  std::span<const std::uint8_t> rest = bytes;
  std::size_t fed = 0;
  while (const auto item = whole.next(rest)) {
    check_item(*item);
    if (item->kind == slcan::Item::Kind::frame) ++frames;
    for (bool found = false; !found; ++fed) {
      require(fed < bytes.size());
      std::span<const std::uint8_t> one = bytes.subspan(fed, 1);
      const auto same = single.next(one);
      if (same) require(*same == *item);
      found = same.has_value();
    }
  }

  FuzzedPort port{bytes};
  ManualClock clock;
  SlcanBus bus(port, clock);
  std::array<Frame, 3> received;
  std::uint64_t count = 0;
  while (!port.bytes.empty()) {
    const std::size_t got = bus.receive(received);
    count += bus.send(std::span(received).first(got));
  }
  while (const std::size_t got = bus.receive(received)) count += got;
  require(count <= frames && bus.counters().received == frames && bus.counters().invalid == 0);
  require(bus.counters().malformed == whole.counters().malformed);
  return 0;
}
