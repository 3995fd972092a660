#include "takt/dbc/database.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace takt::dbc {
namespace {

/// Returns the mistake in a description that no file could contain; empty if it is valid.
std::string mistake_in(const Message& message) {
  const std::vector<Signal>& signals = message.signals;
  if (message.id > (message.extended ? can::max_extended_id : can::max_standard_id))
    return fmt::format("the identifier {:#x} has more than {} bits", message.id, message.extended ? 29 : 11);
  if (message.length > dbc::max_message_length)
    return fmt::format("the message has {} bytes; at most {} are allowed", message.length,
                       dbc::max_message_length);
  if (signals.size() > dbc::max_signals_in_message)
    return fmt::format("the message has {} signals; at most {} are allowed", signals.size(),
                       dbc::max_signals_in_message);
  for (const Signal& signal : signals) {
    const auto refuse = [&](std::string_view why) { return fmt::format("signal {}: {}", signal.name, why); };
    if (!can::fits(signal.coding.field, dbc::max_message_length + sizeof(std::uint64_t)))
      return refuse("its bits do not lie within a message of the allowed length");
    if (!can::is_finite(signal.coding.scale) || signal.coding.scale == 0 ||
        !can::is_finite(signal.coding.offset))
      return refuse("its scale must be finite and not 0, and its offset finite");
    if (signal.selected_by.has_value() == signal.selected_for.empty())
      return refuse("it must have both a selector and selector values, or neither");
    const auto is_falling = [](const NumberRange& a, const NumberRange& b) {
      return a.first > a.last || b.first > b.last || b.first <= a.last;
    };
    if (std::adjacent_find(signal.selected_for.begin(), signal.selected_for.end(), is_falling) !=
            signal.selected_for.end() ||
        (!signal.selected_for.empty() && signal.selected_for[0].first > signal.selected_for[0].last))
      return refuse("the values of its selector are not in increasing order");
    const Signal* at = &signal;
    for (std::size_t depth = 0; at->selected_by; ++depth) {
      if (*at->selected_by >= signals.size() || depth == dbc::max_multiplex_depth)
        return refuse("its selector is not in the message, depends on itself, or depends on too many others");
      at = &signals[*at->selected_by];
    }
  }
  return {};
}

}  // namespace

SetupResult<Database> Database::load(const std::string& path, Strictness strictness) {
  auto reading = dbc::load(path, strictness);
  if (!reading) return tl::unexpected<SetupError>(std::move(reading).error());
  return build(std::move(*reading));
}

SetupResult<Database> Database::parse(std::string_view text, Strictness strictness) {
  auto reading = dbc::parse(text, strictness);
  if (!reading) return tl::unexpected<SetupError>(std::move(reading).error());
  return build(std::move(*reading));
}

SetupResult<Database> Database::make(File file) { return build(Reading{std::move(file), {}, 0, 0}); }

namespace {

/// The number of messages of each parameter group.
std::map<std::uint32_t, std::size_t> group_sizes(const File& file) {
  std::map<std::uint32_t, std::size_t> sizes;
  for (const Message& message : file.messages) {
    if (message.extended) ++sizes[can::j1939_group_of(message.id)];
  }
  return sizes;
}

}  // namespace

SetupResult<Database> Database::build(Reading reading) {
  Database database(std::move(reading));
  const File& file = database.file();
  const auto refuse = [](const Message& message, std::string_view why) {
    return fail(can::Errc::bad_dbc, fmt::format("message {}: {}", message.name, why));
  };
  if (file.messages.size() > dbc::max_messages)
    return fail(can::Errc::bad_dbc, fmt::format("the file has {} messages; at most {} are allowed",
                                                file.messages.size(), dbc::max_messages));
  std::size_t rows_left = max_table_rows;
  const std::map<std::uint32_t, std::size_t> sizes = group_sizes(file);
  database.standard_.assign(can::max_standard_id + 1, none);
  database.messages_.reserve(file.messages.size());
  for (const Message& message : file.messages) {
    if (const std::string mistake = mistake_in(message); !mistake.empty()) return refuse(message, mistake);
    MessageCodec made(file, message);
    if (!made.build(rows_left))
      return refuse(message, fmt::format("its multiplexing exceeds the {} table rows allowed in a file",
                                         max_table_rows));
    rows_left -= std::min(rows_left, made.rows_.size());
    const auto index = static_cast<std::uint32_t>(database.messages_.size());
    if (!message.extended) {
      if (database.standard_[message.id] != none)
        return refuse(message, "another message has this identifier");
      database.standard_[message.id] = index;
    } else {
      database.extended_.push_back({message.id, index});
      const std::uint32_t group = can::j1939_group_of(message.id);
      if (made.is_j1939_ && sizes.at(group) == 1) {
        made.id_mask_ = can::j1939_group_mask(message.id);
        database.parameter_groups_.push_back({group, index});
      }
    }
    database.messages_.push_back(std::move(made));
  }
  const auto is_before = [](const Key& a, const Key& b) { return a.id < b.id; };
  std::stable_sort(database.extended_.begin(), database.extended_.end(), is_before);
  std::stable_sort(database.parameter_groups_.begin(), database.parameter_groups_.end(), is_before);
  const auto same = std::adjacent_find(database.extended_.begin(), database.extended_.end(),
                                       [](const Key& a, const Key& b) { return a.id == b.id; });
  if (same != database.extended_.end())
    return refuse(file.messages[same->message], "another message has this identifier");
  return database;
}

std::uint32_t Database::look_up(const std::vector<Key>& keys, std::uint32_t id) noexcept {
  const auto found =
      std::partition_point(keys.begin(), keys.end(), [&](const Key& key) { return key.id < id; });
  return found != keys.end() && found->id == id ? found->message : none;
}

const MessageCodec* Database::find(std::uint32_t id, bool extended) const noexcept {
  std::uint32_t message = none;
  if (extended) {
    message = look_up(extended_, id);
    if (message == none && id <= can::max_extended_id)
      message = look_up(parameter_groups_, can::j1939_group_of(id));
  } else if (id < standard_.size()) {
    message = standard_[id];
  }
  return message == none ? nullptr : &messages_[message];
}

const MessageCodec* Database::find(std::string_view name) const noexcept {
  const auto found = std::find_if(messages_.begin(), messages_.end(), [&](const MessageCodec& message) {
    return message.description().name == name;
  });
  return found == messages_.end() ? nullptr : &*found;
}

}  // namespace takt::dbc
