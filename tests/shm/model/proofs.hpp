// Messages that detect a torn copy, the rules that a consumer's messages must keep, and the proof that no
// memory order is stronger than necessary. The models of all exchanges share them.
#pragma once

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "shm/model/explorer.hpp"
#include "takt/shm/memory.hpp"

namespace takt::test::model {

using shm::cache_line;

/// A message that detects a torn copy.
template <class Word>
struct BasicMessage {
  Word value = 0;
  Word inverse = static_cast<Word>(~Word{0});
  static BasicMessage of(Word value) { return {value, static_cast<Word>(~value)}; }
  [[nodiscard]] bool whole() const { return inverse == static_cast<Word>(~value); }
};
using Message = BasicMessage<std::uint32_t>;
/// A message of a whole cache line, for which a producer keeps no copy of its index.
struct alignas(cache_line) LongMessage : Message {
  std::byte rest[cache_line - sizeof(Message)] = {};  ///< no padding: its value would be part of the state
  static LongMessage of(std::uint32_t value) { return {Message::of(value)}; }
};
using WideMessage = BasicMessage<std::uintptr_t>;  // two words, for exchanges that copy words

using Observed = std::vector<std::vector<std::int64_t>>;

/// Explores, and counts the planted weaker memory orders that are found.
inline std::size_t found_mistakes(Explorer& explorer) {
  const auto verdict = explorer.explore();
  CHECK(verdict.violation == "");
  CHECK(verdict.runs > 1);
  MESSAGE(verdict.states << " states, " << verdict.runs << " ends");
  std::size_t found = 0;
  for (const auto& mutation : explorer.mutations()) {
    if (!explorer.explore(mutation).violation.empty()) {
      ++found;
    } else {
      MESSAGE("not found: " << mutation.site.file << ":" << mutation.site.line);
    }
  }
  return found;
}

/// Explores. Then plants every weaker memory order, which must be found, so no order is stronger than
/// necessary.
inline void prove(Explorer& explorer) {
  const std::size_t found = found_mistakes(explorer);
  CHECK(found == explorer.mutations().size());
  CHECK(found >= 2);
}

/// Checks that each producer's messages are 1, 2, 3 ..., all of the first before any of the second. With
/// `again`, a message may come twice where the second consumer starts.
inline std::string in_order(const std::vector<std::int64_t>& received) {
  for (std::size_t i = 0; i < received.size(); ++i) {
    const std::int64_t before = i == 0 ? 0 : received[i - 1];
    if (received[i] != before + 1 && received[i] != 101) return "lost, doubled or out of order";
  }
  return "";
}

/// Checks a consumer that died and its successor: no message is lost, and repeated messages are in order.
inline std::string handed_over(const std::vector<std::int64_t>& first,
                               const std::vector<std::int64_t>& second) {
  const std::string wrong = in_order(first);
  if (!wrong.empty() || second.empty()) return wrong;
  const std::int64_t last = first.empty() ? 0 : first.back();
  if (second.front() < 1 || second.front() > last + 1) return "a message was lost with the consumer";
  for (std::size_t i = 1; i < second.size(); ++i) {
    if (second[i] != second[i - 1] + 1) return "lost, doubled or out of order";
  }
  return "";
}

}  // namespace takt::test::model
