// Explores the latest values, of one or several writers and readers: each value is whole, and no reader goes
// back. Also plants weaker memory orders, which the explorer must find.
#include <doctest/doctest.h>

#include <array>
#include <set>
#include <string>

#include "shm/model/proofs.hpp"
#include "takt/shm/broadcast_value.hpp"
#include "takt/shm/latest_value.hpp"
#include "takt/shm/shared_value.hpp"

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

// A value of one word, so that only value and ticket can be torn apart. A torn pair makes an old value look
// new.
TEST_CASE("model: latest value of several writers, one of whom laps a reader") {
  Explorer explorer;
  using Value = SharedValue<std::uintptr_t, 2, Machine, 2>;  // few attempts, as above
  Value value;
  constexpr std::uintptr_t other = 1000;
  const auto write = [&](std::uintptr_t first, std::uintptr_t last, std::size_t owner_slot) {
    Value::Writer writer(value, owner_slot);
    for (std::uintptr_t number = first; number <= last; ++number) writer.write(number);
  };
  const auto read = [&] {
    Value::Reader reader(value);
    std::array<std::uintptr_t, 2> last{};
    std::uintptr_t number = 0;
    for (int attempt = 0; attempt < 2; ++attempt) {
      if (reader.read_new(number) != Freshness::new_data) continue;
      std::uintptr_t& newest = last[number >= other ? 1 : 0];
      Explorer::require(number > newest, "new data is not newer");
      newest = number;
      Explorer::observe(static_cast<std::int64_t>(number));
    }
  };
  explorer.check([](const Observed&) { return std::string(); });

  SUBCASE("alone") {
    explorer.thread([&] { write(1, 3, 0); });
    explorer.thread(read);
    prove(explorer);
  }
  SUBCASE("while another writes") {
    explorer.thread([&] { write(1, 3, 0); });
    explorer.thread([&] { write(other, other, 1); });
    explorer.thread(read);
    prove(explorer);
  }
  SUBCASE("and dies anywhere, so that another takes its owner slot") {
    explorer.mortal_thread([&] { write(1, 2, 0); }, [&] { write(101, 102, 0); });
    explorer.thread(read);
    prove(explorer);
  }
}

// The run is too short for a writer to lap a reader, so weaker orders of the words stay undetected here.
TEST_CASE("model: latest value with two writers, one of whom answers the other") {
  Explorer explorer;
  using Value = SharedValue<WideMessage, 2, Machine, 2>;  // few attempts, as above
  Value value;
  using Reader = Value::Reader;
  constexpr std::uintptr_t answer = 100;
  const auto write = [&](std::size_t owner_slot, std::uintptr_t number) {
    Value::Writer(value, owner_slot).write(WideMessage::of(number));
  };
  const auto answer_once = [&] {
    auto message = WideMessage::of(0);
    if (Reader(value).read_new(message) == Freshness::new_data) write(1, answer + message.value);
  };
  const auto read = [&] {
    Reader reader(value);
    auto message = WideMessage::of(0);
    std::uintptr_t last = 0;
    for (int attempt = 0; attempt < 2; ++attempt) {
      const Freshness freshness = reader.read_new(message);
      Explorer::require(message.whole(), "torn");
      Explorer::require((freshness == Freshness::new_data) == (message.value != last),
                        "wrong about new and old");
      Explorer::require((freshness == Freshness::none) == (message.value == 0), "wrong about none");
      if (message.value < last && last > answer) {
        Explorer::require(message.value > last - answer, "what was answered came after the answer");
      } else {
        Explorer::require(message.value >= last, "new data is not newer");
      }
      last = message.value;
    }
    Explorer::observe(static_cast<std::int64_t>(last));
  };
  std::set<std::int64_t> seen;
  explorer.check([&](const Observed& observed) -> std::string {
    seen.insert(observed.back().begin(), observed.back().end());
    return "";
  });

  SUBCASE("nobody dies") {
    explorer.thread([&] {
      write(0, 1);
      write(0, 2);
    });
    explorer.thread(answer_once);
    explorer.thread(read);
    CHECK(found_mistakes(explorer) >= 2);
    CHECK(seen == std::set<std::int64_t>{0, 1, 2, 101, 102});
  }
  SUBCASE("a writer dies anywhere, and another takes its owner slot") {
    explorer.mortal_thread([&] { write(0, 1); }, [&] { write(0, 2); });
    explorer.thread(answer_once);
    explorer.thread(read);
    CHECK(found_mistakes(explorer) >= 2);
    CHECK(seen == std::set<std::int64_t>{0, 1, 2, 101, 102});
  }
}
