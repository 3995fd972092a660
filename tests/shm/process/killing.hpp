// What the tests that kill have in common: processes that are killed and started again, what they say of themselves, and what is
// checked of it.
//
// What is checked of a queue. A producer numbers each message before it sends it (`sequence`), and counts what it knows to be sent
// (`certain`, after send() returned); both are words of their own in shared memory, from which a successor goes on. So a message
// that a dead producer had numbered and not counted may have arrived or not; all others must. A message carries as its `ordinal`
// how many certain ones came before it. A consumer notes the last message that it has seen, each time. Then:
//   * sequences rise: nothing comes twice or out of order;
//   * from one message to the next the ordinal rises by 1 at most: nothing certain is missing.
// Except that a successor of a consumer may see again what its predecessor had seen and not given back, at most the ring's
// capacity; and where messages are given back before they were noted, those that the dead consumer had in its hands are missing.
// Of a broadcast ring those are missing of which the reader is told that it missed them, and what a reader's successor came too
// late for.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "shm/process/process.hpp"
#include "takt/shm/memory.hpp"

namespace takt::test {

using Count = std::atomic<std::uint64_t>;

/// What a process says of itself; on lines of its own.
struct alignas(shm::apart) Diary {
  Count calls{0};                 // of the exchange
  Count sequence{0};              // the last that was numbered by a writer, or seen by a reader
  Count certain{0};               // a writer's: how many are known to be sent; a reader's: the last ordinal
  Count in_hands{0};              // a reader's: how many it may have taken and not noted
  std::array<Count, 2> newest{};  // a reader's of a value: the newest from each writer
  Count takeovers{0};             // how often its seat had belonged to one who died
};

/// What all processes of a test share besides the exchange.
struct Ledger {
  /// By a reader that finds a rule broken. The processes are copies of one, so a text has one address in all of them.
  void complain(const char* rule, std::uint64_t number) {
    where = number;
    broken = rule;
  }
  std::array<Diary, 2> writers;
  std::array<Diary, 2> readers;
  std::atomic<const char*> broken{nullptr};
  Count where{0};
};

/// The rule that was found broken; empty: none.
std::string verdict(const Ledger& ledger);

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

  /// It is not known what the predecessor's successor may see next.
  void forget() { in_hands_ = ~std::uint64_t{0} / 2; }
  /// So many in all were missed, as the receiver says.
  void set_missed(std::uint64_t missed) { in_hands_ += missed - std::exchange(missed_, missed); }

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
  std::uint64_t missed_ = 0;
  bool first_ = true;
};

/// A process that is killed and started again.
struct Role {
  std::string name;
  std::function<void()> body;  // never returns
  Diary* diary;
  std::uint64_t kills = 0;
  std::optional<Child> child{};

  /// Its calls return.
  [[nodiscard]] bool lives() const { return changes(diary->calls); }
  /// Its calls have something to do.
  [[nodiscard]] bool works() const { return changes(diary->sequence); }
  static bool changes(const Count& count) {
    const std::uint64_t before = count;
    return eventually([&] { return count != before; });
  }
  void start() {
    child.emplace([this]() -> int {
      body();
      return 1;
    });
  }
};

/// Kills and restarts, one at a time or all, and checks that the others go on; after_kill() is told who was killed, or as many as
/// there are for all, and says whether all is well. Then kills all.
void kill_at_random(std::vector<Role>& roles, const Ledger& ledger, std::uint64_t kills,
                    const std::function<bool(std::size_t)>& after_kill);

}  // namespace takt::test
