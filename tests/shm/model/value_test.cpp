// Explores the latest values, of one or several writers and readers: each value is whole, and no reader goes
// back. Also plants weaker memory orders, which the explorer must find.
#include <doctest/doctest.h>

#include <array>
#include <set>
#include <string>

#include "shm/model/proofs.hpp"
#include "takt/shm/broadcast_value.hpp"
#include "takt/shm/latest_value.hpp"

using namespace takt;
using namespace takt::shm;
using namespace takt::test::model;

namespace {

/// A reader of a latest value must see whole values, none older than before, correctly reported as new or
/// old.
template <class AnyMessage, class Reader>
void read_some(Reader&& reader, int times) {
  auto message = AnyMessage::of(0);
  auto last = message.value;
  for (int attempt = 0; attempt < times; ++attempt) {
    const Freshness freshness = reader.read(message);
    Explorer::require(message.whole(), "torn");
    if (freshness == Freshness::new_data) Explorer::require(message.value > last, "new data is not newer");
    if (freshness == Freshness::old_data)
      Explorer::require(message.value == last, "old data is not the last read");
    if (freshness == Freshness::none) Explorer::require(last == 0, "data became none");
    last = message.value;
    Explorer::observe(static_cast<std::int64_t>(last));
  }
}

}  // namespace

TEST_CASE("model: latest value for one reader") {
  Explorer explorer;
  LatestMemory<Message, Machine> memory;
  explorer.share(memory.slots, sizeof(memory.slots));
  const auto write = [&](std::uint32_t first, std::uint32_t last) {
    LatestWriter<Message, Machine> writer(memory);
    for (std::uint32_t value = first; value <= last; ++value) writer.write(Message::of(value));
  };
  const auto read = [&](int times) { read_some<Message>(LatestReader<Message, Machine>(memory), times); };
  std::set<std::int64_t> last_read;
  explorer.check([&](const Observed& observed) -> std::string {
    for (const auto& reader : observed) {
      if (!reader.empty()) last_read.insert(reader.back());
    }
    return "";
  });

  SUBCASE("two threads") {
    explorer.thread([&] { write(1, 4); });
    explorer.thread([&] { read(3); });
    prove(explorer);
    CHECK(last_read == std::set<std::int64_t>{0, 1, 2, 3, 4});
  }
  SUBCASE("the writer dies anywhere, and another takes over") {
    explorer.mortal_thread([&] { write(1, 4); }, [&] { write(101, 102); });
    explorer.thread([&] { read(3); });
    prove(explorer);
    CHECK(last_read == std::set<std::int64_t>{0, 1, 2, 3, 4, 101, 102});
  }
  SUBCASE("the reader dies anywhere, and another takes over, who finds at least as new a value") {
    explorer.thread([&] { write(1, 4); });
    explorer.mortal_thread([&] { read(3); }, [&] { read(2); });
    explorer.check([&](const Observed& observed) -> std::string {
      if (observed[2].empty() || observed[1].empty()) return "";
      return observed[2].back() < observed[1].back() ? "a value was lost with the reader" : "";
    });
    prove(explorer);
  }
}

TEST_CASE("model: latest value for many readers") {
  Explorer explorer;
  using Value = BroadcastValue<WideMessage, Machine,
                               3>;  // few attempts, so all orders in which they fail are explored
  Value value;
  const auto write = [&](std::uintptr_t first, std::uintptr_t last) {
    Value::Writer writer(value);
    for (std::uintptr_t number = first; number <= last; ++number) writer.write(WideMessage::of(number));
  };
  const auto read = [&] { read_some<WideMessage>(Value::Reader(value), 2); };
  explorer.check([](const Observed&) { return std::string(); });

  SUBCASE("one reader, writes that lap it") {
    explorer.thread([&] { write(1, 3); });
    explorer.thread(read);
    prove(explorer);
  }
  SUBCASE("the writer dies anywhere, and another takes over") {
    explorer.mortal_thread([&] { write(1, 2); }, [&] { write(101, 102); });
    explorer.thread(read);
    prove(explorer);
  }
}
