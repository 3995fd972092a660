// Explores the broadcast ring, which many readers share. Also plants weaker memory orders, which the explorer
// must find.
#include <doctest/doctest.h>

#include <set>
#include <string>
#include <vector>

#include "shm/model/proofs.hpp"
#include "takt/shm/broadcast_ring.hpp"

using namespace takt;
using namespace takt::shm;
using namespace takt::test::model;

TEST_CASE("model: broadcast ring, two messages of space") {
  Explorer explorer;
  BasicBroadcastCount<Machine> count;
  BroadcastSlot<WideMessage, Machine> slots[2];
  constexpr std::uintptr_t successors = 101;
  const auto write = [&](std::uintptr_t first, std::uintptr_t last) {
    BroadcastWriter<WideMessage, Machine> writer(count, slots, 2);
    for (std::uintptr_t value = first; value <= last; ++value) writer.write(WideMessage::of(value));
  };
  const auto read = [&](BroadcastStart start, int times) {
    BroadcastReader<WideMessage, Machine> reader(count, slots, 2, start);
    WideMessage message;
    std::uint64_t last = 0;
    std::uint64_t missed = 0;
    for (int attempt = 0; attempt < times; ++attempt) {
      if (!reader.try_read(message)) continue;
      Explorer::require(message.whole(), "torn");
      const std::uint64_t value = message.value;
      const std::uint64_t skipped = reader.missed() - missed;
      if (last == 0) {
        Explorer::require(skipped < value, "missed a message that never was");
      } else if (value < successors || last >= successors) {
        Explorer::require(value == last + 1 + skipped, "lost, doubled or out of order");
      } else {
        Explorer::require(skipped >= value - successors, "a message of the second writer was lost");
      }
      last = value;
      missed = reader.missed();
      Explorer::observe(static_cast<std::int64_t>(value));
    }
  };
  std::set<std::int64_t> seen;
  explorer.check([&](const Observed& observed) -> std::string {
    seen.insert(observed.back().begin(), observed.back().end());
    return "";
  });

  SUBCASE("from the oldest, writes that lap the reader") {
    explorer.thread([&] { write(1, 4); });
    explorer.thread([&] { read(BroadcastStart::oldest, 2); });
    prove(explorer);
    CHECK(seen == std::set<std::int64_t>{1, 2, 3, 4});
  }
  SUBCASE("the writer dies anywhere, and another takes over") {
    explorer.mortal_thread([&] { write(1, 2); }, [&] { write(successors, successors + 1); });
    explorer.thread([&] { read(BroadcastStart::newest, 2); });
    prove(explorer);
    CHECK(seen == std::set<std::int64_t>{1, 2, 101, 102});
  }
}
