// kill -9 of writers and readers, at random moments, in all roles: those who survive go on, nothing is torn, nothing that was
// committed is lost, and a successor works on the memory as it is. --count=N for another number of kills than in an ordinary run.
//
// What is checked of a queue. A producer numbers each message before it sends it (`sequence`), and counts what it knows to be sent
// (`certain`, after send() returned); both are words of their own in shared memory, from which a successor goes on. So a message
// that a dead producer had numbered and not counted may have arrived or not; all others must. A message carries as its `ordinal`
// how many certain ones came before it. A consumer notes the last message that it has seen, each time. Then:
//   * sequences rise: nothing comes twice or out of order;
//   * from one message to the next the ordinal rises by 1 at most: nothing certain is missing.
// Except that a successor of a consumer may see again what its predecessor had seen and not given back, at most the ring's
// capacity; and where messages are given back before they were noted, those that the dead consumer had in its hands are missing.
#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "shm/process/exchanges.hpp"
#include "shm/process/process.hpp"
#include "support/random.hpp"

using namespace takt;
using namespace takt::test;

namespace {

using Count = std::atomic<std::uint64_t>;

/// What a process says of itself; on lines of its own.
struct alignas(shm::apart) Diary {
  Count calls{0};     // of the exchange
  Count sequence{0};  // the last that was numbered by a writer, or seen by a reader
  Count certain{0};   // a writer's: how many are known to be sent; a reader's: the last ordinal
  Count in_hands{0};  // a reader's: how many it may have taken and not noted
};

/// What all processes of a test share besides the exchange.
struct Ledger {
  /// By a reader that finds a rule broken. The processes are copies of one, so a text has one address in all of them.
  void complain(const char* rule, std::uint64_t number) {
    where = number;
    broken = rule;
  }
  Diary writer;
  std::array<Diary, 2> readers;
  std::atomic<const char*> broken{nullptr};
  Count where{0};
};

/// A process that is killed and started again.
struct Role {
  std::string name;
  std::function<void()> body;  // never returns
  Diary* diary;
  std::uint64_t kills = 0;
  Child child{};

  /// Its calls return.
  [[nodiscard]] bool lives() const { return changes(diary->calls); }
  /// Its calls have something to do.
  [[nodiscard]] bool works() const { return changes(diary->sequence); }
  static bool changes(const Count& count) {
    const std::uint64_t before = count;
    return eventually([&] { return count != before; });
  }
  void start() {
    child = Child([this]() -> int {
      body();
      return 1;
    });
  }
};

void check(const Ledger& ledger) {
  const char* const broken = ledger.broken;
  const std::string rule = broken == nullptr ? "" : broken;
  CAPTURE(ledger.where.load());
  CHECK(rule == "");
}

/// Kills and restarts, one at a time or all, and checks that the others go on. Then kills all.
void run(std::vector<Role>& roles, const Ledger& ledger, std::uint64_t kills,
         const std::function<bool(std::size_t)>& after_kill) {
  auto random = generator(roles.size());
  for (Role& role : roles) role.start();
  for (std::uint64_t done = 0; done < kills && ledger.broken == nullptr;) {
    const bool all = uniform_int(random, 0, 3) == 0;
    const auto victim =
        static_cast<std::size_t>(uniform_int(random, 0, static_cast<std::int64_t>(roles.size()) - 1));
    for (const Role& role : roles) REQUIRE(role.works());
    sleep_for(std::chrono::nanoseconds(uniform_int(random, 50'000, 2'000'000)));
    for (std::size_t i = 0; i < roles.size(); ++i) {
      if (!all && i != victim) continue;
      REQUIRE(roles[i].child.end());
      ++roles[i].kills;
      ++done;
    }
    for (std::size_t i = 0; i < roles.size(); ++i) {
      if (!all && i != victim) REQUIRE(roles[i].lives());
    }
    REQUIRE(after_kill(all ? roles.size() : victim));
    for (std::size_t i = 0; i < roles.size(); ++i) {
      if (all || i == victim) roles[i].start();
    }
  }
  for (Role& role : roles) CHECK(role.child.end());
  check(ledger);
  for (const Role& role : roles) {
    MESSAGE(role.name << ": killed " << role.kills << " times, " << role.diary->calls.load() << " calls");
  }
}

// ------------------------------------------------------------------------------------------------------------ queues

/// A batch is certain when all of it is.
template <class Queue>
[[noreturn]] void produce(typename Queue::Memory& memory, Diary& diary) {
  typename Queue::Sender sender(memory);
  Patience patience;
  std::uint64_t sequence = diary.sequence;
  std::uint64_t certain = diary.certain;
  std::array<typename Queue::Message, Queue::batch> messages;
  for (;; ++diary.calls) {
    diary.sequence = sequence + messages.size();
    for (std::size_t i = 0; i < messages.size(); ++i) {
      messages[i] = Queue::Message::of(sequence + i + 1, certain + i);
    }
    const std::size_t sent = sender.send(messages);
    sent == 0 ? patience.lost() : patience.won();
    sequence += sent;
    certain += sent;
    diary.certain = certain;
  }
}

/// Checks messages as they come; `first` of a consumer's life may be among those that were seen before.
class StreamCheck {
 public:
  StreamCheck(Diary& diary, Ledger& ledger, std::uint64_t capacity)
      : diary_(&diary),
        ledger_(&ledger),
        capacity_(capacity),
        sequence_(diary.sequence),
        ordinal_(diary.certain),
        in_hands_(diary.in_hands) {}

  template <class Message>
  void see(const Message& message) {
    if (!message.whole()) ledger_->complain("torn", message.sequence);
    if (message.sequence > sequence_) {
      if (message.ordinal > ordinal_ + 1 + in_hands_)
        ledger_->complain("a committed message is lost", message.sequence);
    } else if (!first_) {
      ledger_->complain("doubled or out of order", message.sequence);
    } else if (message.ordinal + capacity_ < ordinal_) {
      ledger_->complain("too far back after a restart", message.sequence);
    }
    first_ = false;
    in_hands_ = 0;
    sequence_ = message.sequence;
    ordinal_ = message.ordinal;
    if (sequence_ > diary_->sequence) {
      diary_->certain = ordinal_;
      diary_->sequence = sequence_;
    }
  }

 private:
  Diary* diary_;
  Ledger* ledger_;
  std::uint64_t capacity_;
  std::uint64_t sequence_;
  std::uint64_t ordinal_;
  std::uint64_t in_hands_;
  bool first_ = true;
};

template <class Queue>
std::size_t consume_some(typename Queue::Receiver& receiver, StreamCheck& check, Diary& diary) {
  if (Queue::in_hands != 0) diary.in_hands = Queue::in_hands;
  const std::size_t count = receiver.receive([&](const auto& message) { check.see(message); });
  diary.in_hands = 0;
  ++diary.calls;
  return count;
}

template <class Queue>
void test_queue(std::uint64_t kills) {
  const Shared<typename Queue::Memory> memory;
  const Shared<Ledger> ledger;
  std::vector<Role> roles(2);
  roles[0] = {"producer", [&] { produce<Queue>(*memory, ledger->writer); }, &ledger->writer};
  roles[1] = {"consumer",
              [&] {
                Diary& diary = ledger->readers[0];
                typename Queue::Receiver receiver(*memory);
                StreamCheck check(diary, *ledger, Queue::capacity);
                Patience patience;
                for (;;) consume_some<Queue>(receiver, check, diary) == 0 ? patience.lost() : patience.won();
              },
              &ledger->readers[0]};
  run(roles, *ledger, kills, [&](std::size_t victim) {
    // What a dead producer had sent reaches a consumer that survives.
    return victim != 0 ||
           eventually([&] { return ledger->readers[0].certain + 1 >= ledger->writer.certain; });
  });

  // What they left behind is all there.
  Diary& diary = ledger->readers[0];
  const std::uint64_t in_hands = diary.in_hands;
  typename Queue::Receiver receiver(*memory);
  StreamCheck stream(diary, *ledger, Queue::capacity);
  while (consume_some<Queue>(receiver, stream, diary) != 0) {
  }
  check(*ledger);
  CHECK(diary.certain + 1 + in_hands >= ledger->writer.certain);
  MESSAGE(ledger->writer.certain.load() << " messages");
}

// ------------------------------------------------------------------------------------------------------------ values

template <class Exchange>
[[noreturn]] void write_values(typename Exchange::Memory& memory, Diary& diary) {
  typename Exchange::Writer writer(memory);
  for (std::uint64_t sequence = diary.sequence;; ++diary.calls) {
    diary.sequence = ++sequence;
    writer.write(Exchange::Value::of(sequence));
    diary.certain = sequence;
  }
}

template <class Exchange>
[[noreturn]] void read_values(typename Exchange::Memory& memory, Diary& diary, Ledger& ledger) {
  typename Exchange::Reader reader(memory);
  typename Exchange::Value value = Exchange::Value::of(0);
  bool first = true;
  for (;; ++diary.calls) {
    const std::uint64_t last = diary.sequence;
    const shm::Freshness freshness = reader.read(value);
    if (freshness == shm::Freshness::none) {
      if (last != 0) ledger.complain("data became none", last);
      continue;
    }
    if (!value.whole()) ledger.complain("torn", value.sequence);
    if (value.sequence < last) ledger.complain("older than what was read before", value.sequence);
    // What a dead reader read last is new to its successor.
    if (!first && (value.sequence == last) != (freshness == shm::Freshness::old_data)) {
      ledger.complain("neither new nor old", value.sequence);
    }
    first = false;
    diary.sequence = value.sequence;
  }
}

template <class Exchange>
void test_value(std::uint64_t kills) {
  const Shared<typename Exchange::Memory> memory;
  const Shared<Ledger> ledger;
  std::vector<Role> roles(1 + Exchange::readers);
  roles[0] = {"writer", [&] { write_values<Exchange>(*memory, ledger->writer); }, &ledger->writer};
  for (std::size_t i = 0; i < Exchange::readers; ++i) {
    Diary& diary = ledger->readers[i];
    roles[1 + i] = {"reader", [&] { read_values<Exchange>(*memory, diary, *ledger); }, &diary};
  }
  run(roles, *ledger, kills, [&](std::size_t victim) {
    // What a dead writer had committed reaches those who survive.
    for (std::size_t i = 0; victim == 0 && i < Exchange::readers; ++i) {
      if (!eventually([&] { return ledger->readers[i].sequence >= ledger->writer.certain; })) return false;
    }
    return true;
  });
  MESSAGE(ledger->writer.certain.load() << " values");
}

std::uint64_t kills() { return count(40, 8); }

}  // namespace

TEST_CASE("kill -9: ring") { test_queue<test::Ring<Message<64>, 64>>(kills()); }
TEST_CASE("kill -9: ring, in batches") { test_queue<test::RingInBatches<Message<64>, 64>>(kills()); }
TEST_CASE("kill -9: ring of large messages") { test_queue<test::Ring<Message<1024>, 16>>(kills()); }
TEST_CASE("kill -9: byte ring") { test_queue<test::ByteRing<Message<64>, 4096>>(kills()); }
TEST_CASE("kill -9: latest value") { test_value<test::LatestValue<Message<256>>>(kills()); }
TEST_CASE("kill -9: broadcast value") { test_value<test::BroadcastValue<Message<256>>>(kills()); }
