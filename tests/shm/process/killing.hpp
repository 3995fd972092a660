// The common part of the tests that kill processes: killing, restarting, the processes' diaries, and their
// checks.
//
// The checks of a queue: a producer numbers each message before it sends it (`sequence`). After send()
// returned, it counts the message as sent (`certain`). Both are words in shared memory, from which a
// successor continues. So a message that a dead producer had numbered but not counted may have arrived or
// not; all others must arrive. A message's `ordinal` is the number of certain messages before it. A consumer
// records the last message that it has seen. The rules:
//
// * Sequences rise: no message comes twice or out of order.
// * From one message to the next the ordinal rises by at most 1: no certain message is missing.
//
// The exceptions:
//
// * A consumer's successor may read again what its predecessor had read but not given back, at most the
//   ring's capacity.
// * If messages are given back before they are recorded, those in the hands of a dead consumer are missing.
// * In a broadcast ring, the messages that the reader counts as missed are missing, and those before a
//   reader's successor starts.
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

/// The diary of a process, on its own cache lines.
struct alignas(shm::interference_size) Diary {
  Count calls{0};                 // calls of the exchange
  Count sequence{0};              // last message that a writer numbered or a reader saw
  Count certain{0};               // writer: messages known to be sent; reader: the last ordinal
  Count in_hands{0};              // reader: messages that it may have taken and not recorded
  std::array<Count, 2> newest{};  // reader of a value: the newest from each writer
  Count takeovers{0};             // how often it took over from a dead process
};

/// The memory that all processes of a test share, beside the exchange.
struct Ledger {
  /// A reader calls it when a rule is broken. The processes are forks of one, so a text has the same address
  /// in all of them.
  void complain(const char* rule, std::uint64_t number) {
    where = number;
    broken = rule;
  }
  std::array<Diary, 2> writers;
  std::array<Diary, 2> readers;
  std::atomic<const char*> broken{nullptr};
  Count where{0};
};

/// The broken rule; empty if none.
std::string verdict(const Ledger& ledger);

/// Checks received messages. The first ones of a consumer's life may have been seen before.
class StreamCheck {
 public:
  StreamCheck(Diary& diary, Ledger& ledger, std::uint64_t capacity)
      : diary_(&diary),
        ledger_(&ledger),
        capacity_(capacity),
        sequence_(diary.sequence),
        ordinal_(diary.certain),
        in_hands_(diary.in_hands) {}

  /// Allows any gap before the next message.
  void forget() { in_hands_ = ~std::uint64_t{0} / 2; }
  /// `missed` messages in total, as the receiver counts them.
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

  /// Whether its calls return.
  [[nodiscard]] bool lives() const { return changes(diary->calls); }
  /// Whether its calls move messages.
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

/// Kills and restarts the roles, one at a time or all, and checks that the others continue. Calls
/// after_kill() with the index of the killed role, or roles.size() for all; it returns whether its checks
/// passed. Kills all roles at the end.
void kill_at_random(std::vector<Role>& roles, const Ledger& ledger, std::uint64_t kills,
                    const std::function<bool(std::size_t)>& after_kill);

}  // namespace takt::test
