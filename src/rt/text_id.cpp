#include "takt/rt/text_id.hpp"

#include <deque>
#include <map>
#include <mutex>
#include <string>

namespace takt::rt {
namespace {

struct Table {
  Table() {
    for (const std::string_view text : {"", "sleep", "cycle", "overrun"}) number_of(text);
  }
  std::uint32_t number_of(std::string_view text) {
    if (const auto found = numbers.find(text); found != numbers.end()) return found->second;
    const auto number = static_cast<std::uint32_t>(texts.size());
    numbers.emplace(texts.emplace_back(text), number);
    return number;
  }

  std::mutex mutex;
  std::deque<std::string> texts;  // a deque, because views of its elements stay valid while it grows
  std::map<std::string_view, std::uint32_t> numbers;
};

/// Made at its first use, and never destroyed: a thread may name a text while the process ends.
Table& table() {
  static Table& only = *new Table;
  return only;
}

}  // namespace

TextId intern(std::string_view text) {
  Table& all = table();
  const std::lock_guard lock(all.mutex);
  return {all.number_of(text)};
}

std::string_view text_of(TextId id) {
  Table& all = table();
  const std::lock_guard lock(all.mutex);
  return id.number < all.texts.size() ? std::string_view(all.texts[id.number]) : std::string_view();
}

}  // namespace takt::rt
