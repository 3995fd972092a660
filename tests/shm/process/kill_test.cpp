// Kills writers and readers in all roles (kill -9) at random moments. The survivors continue, no message is
// torn, no committed message is lost, and a successor continues over the memory as it is. The option
// --count=N sets the number of kills.
#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "shm/process/exchanges.hpp"
#include "shm/process/killing.hpp"
#include "shm/process/process.hpp"
#include "support/random.hpp"

using namespace takt;
using namespace takt::test;

namespace {

// ------------------------------------------------------------------------------------------ queues

/// The high bits of a sequence number identify the producer.
constexpr std::uint64_t of_lane(std::size_t lane, std::uint64_t sequence) {
  return std::uint64_t{lane} << 48 | sequence;
}
constexpr std::size_t lane_of(std::uint64_t sequence) { return sequence >> 48; }

/// A batch is certain once all of its messages are.
template <class Queue>
[[noreturn]] void produce(typename Queue::Memory& memory, std::size_t lane, Diary& diary) {
  typename Queue::Sender sender(memory, lane);
  Patience patience;
  std::uint64_t sequence = diary.sequence;
  std::uint64_t certain = diary.certain;
  std::array<typename Queue::Message, Queue::batch> messages;
  for (;; ++diary.calls) {
    diary.sequence = sequence + messages.size();
    for (std::size_t i = 0; i < messages.size(); ++i) {
      messages[i] = Queue::Message::of(of_lane(lane, sequence + i + 1), certain + i);
    }
    const std::size_t sent = sender.send(messages);
    sent == 0 ? patience.lost() : patience.won();
    sequence += sent;
    certain += sent;
    diary.certain = certain;
  }
}

template <class Queue>
class Consumer {
 public:
  /// One diary per lane.
  Consumer(typename Queue::Memory& memory, std::span<Diary> diaries, Ledger& ledger)
      : receiver_(memory), diaries_(diaries), ledger_(&ledger) {
    for (Diary& diary : diaries) {
      lanes_.emplace_back(diary, ledger, Queue::capacity);
      if (Queue::receivers > 1) lanes_.back().forget();
    }
  }

  std::size_t consume() {
    for (Diary& diary : diaries_) diary.in_hands = Queue::in_hands;
    const std::size_t count = receiver_.receive([&](const auto& message) {
      const std::size_t lane = lane_of(message.sequence);
      if (lane >= lanes_.size()) return ledger_->complain("torn", message.sequence);
      if constexpr (requires { receiver_.missed(); }) lanes_[lane].set_missed(receiver_.missed());
      lanes_[lane].see(message);
    });
    for (Diary& diary : diaries_) diary.in_hands = 0;
    ++diaries_[0].calls;
    return count;
  }

 private:
  typename Queue::Receiver receiver_;
  std::span<Diary> diaries_;
  Ledger* ledger_;
  std::vector<StreamCheck> lanes_;
};

template <class Queue>
std::string run_queue(std::uint64_t kills) {
  const Shared<typename Queue::Memory> memory;
  const Shared<Ledger> ledger;
  std::vector<Role> roles(Queue::senders + Queue::receivers);
  for (std::size_t i = 0; i < Queue::senders; ++i) {
    Diary& diary = ledger->writers[i];
    roles[i] = {"producer", [&, i] { produce<Queue>(*memory, i, diary); }, &diary};
  }
  static_assert(Queue::senders == 1 || Queue::receivers == 1);
  for (std::size_t i = 0; i < Queue::receivers; ++i) {
    const std::span<Diary> diaries(&ledger->readers[i], Queue::senders);
    roles[Queue::senders + i] = {"consumer",
                                 [&, diaries] {
                                   if (Queue::receivers > 1) memory.forbid_writing();
                                   Consumer<Queue> consumer(*memory, diaries, *ledger);
                                   Patience patience;
                                   for (;;) consumer.consume() == 0 ? patience.lost() : patience.won();
                                 },
                                 &diaries[0]};
  }
  kill_at_random(roles, *ledger, kills, [&](std::size_t victim) {
    // All messages of a dead producer reach every surviving consumer.
    if (victim >= Queue::senders) return true;
    const Diary& producer = ledger->writers[victim];
    for (std::size_t i = 0; i < Queue::receivers; ++i) {
      const Diary& diary = ledger->readers[victim + i];
      const auto has_arrived = [&] {
        return ledger->broken != nullptr || diary.certain + 1 >= producer.certain;
      };
      if (!eventually(has_arrived)) return false;
    }
    return true;
  });

  // All messages that were left in the queue arrive.
  std::array<std::uint64_t, Queue::senders> in_hands;
  for (std::size_t i = 0; i < Queue::senders; ++i) in_hands[i] = ledger->readers[i].in_hands;
  Consumer<Queue> consumer(*memory, {&ledger->readers[0], Queue::senders}, *ledger);
  while (consumer.consume() != 0) {
  }
  for (std::size_t i = 0; i < Queue::senders; ++i) {
    const std::uint64_t certain = ledger->writers[i].certain;
    MESSAGE(certain << " messages");
    if (ledger->readers[i].certain + 1 + in_hands[i] < certain)
      ledger->complain("the last messages are lost", certain);
  }
  return verdict(*ledger);
}

// ------------------------------------------------------------------------------------------ values

/// A value's ordinal is the owner slot of its writer.
template <class Exchange>
[[noreturn]] void write_values(typename Exchange::Memory& memory, std::size_t owner_slot, Diary& diary) {
  typename Exchange::Writer writer(memory, owner_slot);
  for (std::uint64_t sequence = diary.sequence;; ++diary.calls) {
    diary.sequence = ++sequence;
    writer.write(Exchange::Value::of(sequence, owner_slot));
    diary.certain = sequence;
  }
}

template <class Exchange>
[[noreturn]] void read_values(typename Exchange::Memory& memory, Diary& diary, Ledger& ledger) {
  typename Exchange::Reader reader(memory);
  typename Exchange::Value value = Exchange::Value::of(0);
  bool first = true;
  for (;; ++diary.calls) {
    const shm::Freshness freshness = reader.read(value);
    if (freshness == shm::Freshness::none) {
      // A reader may find no value at first (BroadcastValue::Reader::read()).
      if (diary.sequence != 0 && (!first || Exchange::readers == 1))
        ledger.complain("data became none", diary.sequence);
      continue;
    }
    if (!value.whole() || value.ordinal >= Exchange::writers) {
      ledger.complain("torn", value.sequence);
      continue;
    }
    Count& newest = diary.newest[value.ordinal];
    if (value.sequence < newest) ledger.complain("older than what was read before", value.sequence);
    if (freshness == shm::Freshness::old_data) {
      if (first || value.sequence != newest) ledger.complain("not old", value.sequence);
      continue;
    }
    // The last value that a dead reader read may be new to its successor.
    if (!first && value.sequence == newest) ledger.complain("not new", value.sequence);
    first = false;
    newest = value.sequence;
    ++diary.sequence;
  }
}

template <class Exchange>
std::string run_value(std::uint64_t kills) {
  const Shared<typename Exchange::Memory> memory;
  const Shared<Ledger> ledger;
  std::vector<Role> roles(Exchange::writers + Exchange::readers);
  for (std::size_t i = 0; i < Exchange::writers; ++i) {
    Diary& diary = ledger->writers[i];
    roles[i] = {"writer", [&, i] { write_values<Exchange>(*memory, i, diary); }, &diary};
  }
  for (std::size_t i = 0; i < Exchange::readers; ++i) {
    Diary& diary = ledger->readers[i];
    roles[Exchange::writers + i] = {"reader",
                                    [&] {
                                      if (Exchange::readers > 1) memory.forbid_writing();
                                      read_values<Exchange>(*memory, diary, *ledger);
                                    },
                                    &diary};
  }
  kill_at_random(roles, *ledger, kills, [&](std::size_t victim) {
    // Survivors read every committed value of a dead writer, unless another writer has written since.
    for (std::size_t i = 0; victim == 0 && Exchange::writers == 1 && i < Exchange::readers; ++i) {
      // A torn value of a dead writer never satisfies this condition.
      const auto has_arrived = [&] {
        return ledger->broken != nullptr || ledger->readers[i].newest[0] >= ledger->writers[0].certain;
      };
      if (!eventually(has_arrived)) return false;
    }
    return true;
  });
  return verdict(*ledger);
}

std::uint64_t kills() { return count(40, 10); }

/// A planted mistake: a value without protection, written in place.
struct Unprotected {
  using Value = Message<256>;
  struct Memory {
    std::atomic<bool> any{false};
    std::array<Count, sizeof(Value) / 8> words{};
  };
  struct Writer {
    Writer(Memory& memory, std::size_t) : to(&memory) {}
    void write(const Value& value) {
      std::array<std::uint64_t, sizeof(Value) / 8> words;
      std::memcpy(words.data(), &value, sizeof(value));
      for (std::size_t i = 0; i < words.size(); ++i) to->words[i].store(words[i], std::memory_order_relaxed);
      to->any = true;
    }
    Memory* to;
  };
  struct Reader {
    explicit Reader(const Memory& memory) : from(&memory) {}
    shm::Freshness read(Value& value) {
      if (!from->any) return shm::Freshness::none;
      std::array<std::uint64_t, sizeof(Value) / 8> words;
      for (std::size_t i = 0; i < words.size(); ++i)
        words[i] = from->words[i].load(std::memory_order_relaxed);
      const std::uint64_t last = value.sequence;
      std::memcpy(static_cast<void*>(&value), words.data(), sizeof(value));
      return value.sequence == last ? shm::Freshness::old_data : shm::Freshness::new_data;
    }
    const Memory* from;
  };
  static constexpr std::size_t writers = 1;
  static constexpr std::size_t readers = 1;
};

/// A planted mistake: a ring whose producer publishes a message before it is complete.
struct Hasty : test::Ring<Message<1024>, 16> {
  struct Sender {
    Sender(Memory& memory, std::size_t) : to(&memory) {}
    std::size_t send(std::span<const Message> messages) {
      const std::uint32_t written = to->indexes.written;
      if (written - to->indexes.released >= capacity) return 0;
      to->indexes.written = written + 1;
      std::memcpy(&to->slots[written % capacity * sizeof(Message)], &messages[0], sizeof(Message));
      return 1;
    }
    Memory* to;
  };
};

}  // namespace

TEST_CASE("exchanges that tear or lose messages are detected") {
  CHECK(run_value<Unprotected>(10'000) != "");
  CHECK(run_queue<Hasty>(10'000) != "");
}

TEST_CASE("kill -9: ring") { CHECK(run_queue<test::Ring<Message<64>, 64>>(kills()) == ""); }
TEST_CASE("kill -9: ring, in batches") {
  CHECK(run_queue<test::RingInBatches<Message<64>, 64>>(kills()) == "");
}
TEST_CASE("kill -9: ring of large messages") {
  CHECK(run_queue<test::Ring<Message<1024>, 16>>(kills()) == "");
}
TEST_CASE("kill -9: slot ring") { CHECK(run_queue<test::SlotRing<Message<56>, 64>>(kills()) == ""); }
TEST_CASE("kill -9: byte ring") { CHECK(run_queue<test::ByteRing<Message<64>, 4096>>(kills()) == ""); }
TEST_CASE("kill -9: broadcast ring") {
  CHECK(run_queue<test::BroadcastRing<Message<56>, 64>>(kills()) == "");
}
TEST_CASE("kill -9: latest value") { CHECK(run_value<test::LatestValue<Message<256>>>(kills()) == ""); }
TEST_CASE("kill -9: broadcast value") { CHECK(run_value<test::BroadcastValue<Message<256>>>(kills()) == ""); }
