#include "tools/shm_view.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <iterator>
#include <span>

#include "tools/shm_words.hpp"

namespace takt::tools {
namespace {

using shm::Exchange;
using shm::Kind;
using shm::Layout;
using Memory = std::span<const std::byte>;

/// A word of the memory; 0 if its place does not exist, as in a corrupted directory.
std::uint32_t word_at(Memory memory, std::size_t at) {
  if (at > memory.size() || memory.size() - at < sizeof(std::uint32_t)) return 0;
  if (reinterpret_cast<std::uintptr_t>(memory.data() + at) % sizeof(std::uint32_t) != 0) return 0;
  // acquire: later reads see what was written before the word.
  return reinterpret_cast<const std::atomic<std::uint32_t>*>(memory.data() + at)
      ->load(std::memory_order_acquire);
}

/// Bytes that another process may be writing; std::nullopt if they would lie beyond the end.
std::optional<std::vector<std::byte>> copy_of(Memory memory, std::size_t at, std::size_t bytes) {
  const std::size_t whole = (bytes + 3) / 4 * 4;
  if (at > memory.size() || whole > memory.size() - at) return std::nullopt;
  std::vector<std::byte> copy(whole);
  for (std::size_t i = 0; i < whole; i += 4) {
    const std::uint32_t word = word_at(memory, at + i);
    std::memcpy(copy.data() + i, &word, sizeof word);
  }
  copy.resize(bytes);
  return copy;
}

std::size_t round_up(std::size_t bytes, std::size_t unit) { return (bytes + unit - 1) / unit * unit; }

ExchangeProgress progress_of_ring(Memory memory, std::uint32_t capacity) {
  // Reads the consumer's index first: the producer's can then only have grown.
  const std::uint32_t released = word_at(memory, offsetof(shm::RingIndexes, released));
  const std::uint32_t written = word_at(memory, offsetof(shm::RingIndexes, written));
  return {written, std::min(written - released, capacity)};
}

/// Of a SlotRing: complete messages after the released ones.
ExchangeProgress progress_of_slots(Memory memory, std::uint32_t capacity) {
  const std::size_t stride = (memory.size() - std::min(memory.size(), shm::interference_size)) / capacity;
  const std::uint32_t released = word_at(memory, 0);
  std::uint32_t waiting = 0;
  while (waiting < capacity) {
    const std::size_t slot = (released + waiting) & (capacity - 1);
    if (word_at(memory, shm::interference_size + slot * stride / 4 * 4) != released + waiting + 1) break;
    ++waiting;
  }
  return {released + waiting, waiting};
}

/// Of a BroadcastValue: the newer of its two versions, which increase by 2.
std::uint32_t broadcast_version(Memory memory) {
  const std::uint32_t first = word_at(memory, 0);
  const std::uint32_t second = word_at(memory, memory.size() / 2);
  if (first % 2 != 0 || first == 0) return second % 2 != 0 ? 0 : second;
  if (second % 2 != 0 || second == 0) return first;
  return second - first - 1 < 0x7fffffff ? second : first;
}

std::optional<std::vector<std::byte>> broadcast_value(Memory memory, std::size_t bytes) {
  for (int attempt = 0; attempt < 16; ++attempt) {
    const std::uint32_t version = broadcast_version(memory);
    if (version == 0) continue;
    const std::size_t slot = version / 2 % 2 * (memory.size() / 2);
    auto copy = copy_of(memory, slot + sizeof(std::uintptr_t), bytes);
    if (word_at(memory, slot) == version) return copy;
  }
  return std::nullopt;
}

/// The place of the first slot, and the slot's size, in a LatestMemory of such elements.
std::size_t latest_slot(const Exchange& exchange) {
  return std::max<std::size_t>(shm::cache_line, exchange.element_alignment);
}
std::size_t latest_stride(const Exchange& exchange) {
  return round_up(exchange.element_bytes, latest_slot(exchange));
}

/// The slot that is not being written, unless the roles change twice meanwhile: good enough for display.
std::optional<std::vector<std::byte>> latest_value(const Exchange& exchange, Memory memory) {
  using State = shm::detail::LatestState;
  for (int attempt = 0; attempt < 16; ++attempt) {
    const std::uint32_t state = word_at(memory, 0);
    if ((state & State::written) == 0) return std::nullopt;
    const std::size_t slot = State::slot_in_between(state);
    auto copy =
        copy_of(memory, latest_slot(exchange) + slot * latest_stride(exchange), exchange.element_bytes);
    if (word_at(memory, 0) == state) return copy;
  }
  return std::nullopt;
}

template <class T>
T number_at(const std::byte* place) {
  T number{};
  std::memcpy(&number, place, sizeof number);
  return number;
}

nlohmann::ordered_json scalar_at(Scalar type, const std::byte* place) {
  switch (type) {
    case Scalar::u8:
      return number_at<std::uint8_t>(place);
    case Scalar::u16:
      return number_at<std::uint16_t>(place);
    case Scalar::u32:
      return number_at<std::uint32_t>(place);
    case Scalar::u64:
      return number_at<std::uint64_t>(place);
    case Scalar::i8:
      return number_at<std::int8_t>(place);
    case Scalar::i16:
      return number_at<std::int16_t>(place);
    case Scalar::i32:
      return number_at<std::int32_t>(place);
    case Scalar::i64:
      return number_at<std::int64_t>(place);
    case Scalar::f32:
      return number_at<float>(place);
    case Scalar::f64:
      return number_at<double>(place);
  }
  return nullptr;
}

std::string schema_of(const Layout& layout, const Exchange& exchange) {
  std::array<char, shm::max_schema> text{};
  return std::string(layout.schema(exchange, text).value_or(""));
}

/// The values of an exchange by owner slot, with the schema's names; null for an owner slot without a value.
std::vector<nlohmann::ordered_json> plain_values(const Layout& layout, const Exchange& exchange) {
  std::vector<nlohmann::ordered_json> decoded;
  const std::string text = schema_of(layout, exchange);
  const auto schema = shm::parse_schema(text);
  if (!schema) return decoded;
  for (std::uint32_t owner_slot = 0; owner_slot < values_of(exchange); ++owner_slot) {
    const auto value = value_of(layout, exchange, owner_slot);
    decoded.push_back(value ? decode(*schema, *value) : nlohmann::ordered_json());
  }
  return decoded;
}

/// The rows in use of the joint image in this segment; all rows without one.
RowsInUse rows_of(const Layout& layout) {
  for (const Exchange& exchange : layout.exchanges()) {
    for (const nlohmann::ordered_json& value : plain_values(layout, exchange)) {
      if (const auto rows = rows_in_use(schema_of(layout, exchange), value)) return *rows;
    }
  }
  return {};
}

/// The values of an exchange as text.
std::vector<nlohmann::ordered_json> decoded_values(const Layout& layout, const Exchange& exchange) {
  auto values = plain_values(layout, exchange);
  const std::string schema = schema_of(layout, exchange);
  const RowsInUse rows = rows_of(layout);
  for (nlohmann::ordered_json& value : values) put_words(schema, rows, value);
  return values;
}

/// "0.25, -1" or "driving": numbers with few digits.
std::string field_text(const nlohmann::ordered_json& field) {
  if (field.is_string()) return field.get<std::string>();
  if (field.is_number_float()) return fmt::format("{:.6g}", field.get<double>());
  if (!field.is_array()) return field.dump();
  std::string text;
  for (const nlohmann::ordered_json& one : field) text += (text.empty() ? "" : ", ") + field_text(one);
  return text;
}

std::string heartbeat_text(const platform::OwnerSlotStatus& status) {
  if (!status.since_heartbeat) return "-";
  return fmt::format("{} ms ago",
                     std::chrono::duration_cast<std::chrono::milliseconds>(*status.since_heartbeat).count());
}

std::string state_text(const platform::OwnerSlotStatus& status) {
  if (status.alive) return "alive";
  return status.owner.pid == 0 ? "free" : "dead";
}

}  // namespace

ExchangeProgress progress_of(const Layout& layout, const Exchange& exchange) {
  const Memory memory = layout.memory_of(exchange);
  switch (exchange.kind) {
    case Kind::ring:
    case Kind::byte_ring:
      return progress_of_ring(memory, exchange.extent.capacity);
    case Kind::slot_ring:
      return progress_of_slots(memory, exchange.extent.capacity);
    case Kind::broadcast_ring:
      return {word_at(memory, 0), std::nullopt};
    case Kind::broadcast:
      return {broadcast_version(memory) / 2, std::nullopt};
    case Kind::latest:
      return {std::nullopt, shm::detail::LatestState::is_new(word_at(memory, 0)) ? 1 : 0};
    case Kind::raw:
    case Kind::joint_image:
      break;
  }
  return {};
}

std::uint32_t values_of(const Exchange& exchange) {
  if (exchange.kind == Kind::latest || exchange.kind == Kind::broadcast) return 1;
  return exchange.kind == Kind::joint_image ? exchange.extent.producers : 0;
}

std::optional<std::vector<std::byte>> value_of(const Layout& layout, const Exchange& exchange,
                                               std::uint32_t owner_slot) {
  const Memory memory = layout.memory_of(exchange);
  if (exchange.kind == Kind::broadcast) return broadcast_value(memory, exchange.element_bytes);
  if (values_of(exchange) <= owner_slot) return std::nullopt;
  // The owner slots of a joint image are consecutive latest values.
  const std::size_t each = memory.size() / values_of(exchange);
  return latest_value(exchange, memory.subspan(owner_slot * each, each));
}

nlohmann::ordered_json decode(const shm::Fields& schema, const std::vector<std::byte>& value) {
  if (value.size() != schema.bytes) return nullptr;
  auto object = nlohmann::ordered_json::object();
  for (const shm::Field& field : schema.all()) {
    if (field.is_padding()) continue;
    const std::byte* place = value.data() + field.offset;
    auto& decoded = object[std::string(field.name)];
    if (!field.is_array) {
      decoded = scalar_at(field.type, place);
      continue;
    }
    decoded = nlohmann::ordered_json::array();
    for (std::uint32_t i = 0; i < field.count; ++i) {
      decoded.push_back(scalar_at(field.type, place + std::size_t{i} * bytes_of(field.type)));
    }
  }
  return object;
}

std::string owner_slot_place(const Layout& layout, std::uint32_t owner_slot) {
  for (const Exchange& exchange : layout.exchanges()) {
    if (owner_slot < exchange.first_owner_slot) continue;
    const std::uint32_t producers = exchange.extent.producers;
    const std::uint32_t index = owner_slot - exchange.first_owner_slot;
    if (index < producers) return fmt::format("{} producer {}", exchange.name(), index);
    if (index < producers + exchange.extent.consumers) {
      return fmt::format("{} consumer {}", exchange.name(), index - producers);
    }
  }
  return "segment";
}

nlohmann::ordered_json segment_json(const platform::Segment& segment, Time now) {
  const Layout& layout = segment.layout();
  nlohmann::ordered_json json = {{"segment", segment.name()},
                                 {"bytes", layout.size()},
                                 {"epoch", fmt::format("{:016x}", layout.epoch())}};
  auto& owner_slots = json["owner_slots"] = nlohmann::ordered_json::array();
  for (std::uint32_t i = 0; i < layout.owner_slots(); ++i) {
    const platform::OwnerSlotStatus status = segment.owner_slot_status(i, now);
    owner_slots.push_back({{"place", owner_slot_place(layout, i)},
                           {"alive", status.alive},
                           {"pid", status.owner.pid},
                           {"start_time", status.owner.start_time},
                           {"epoch", fmt::format("{:016x}", status.owner.epoch)},
                           {"takeovers", status.takeovers},
                           {"heartbeat_age", nullptr}});
    if (status.since_heartbeat) owner_slots.back()["heartbeat_age"] = to_seconds(*status.since_heartbeat);
  }
  auto& exchanges = json["exchanges"] = nlohmann::ordered_json::array();
  for (const Exchange& exchange : layout.exchanges()) {
    exchanges.push_back({{"name", exchange.name()},
                         {"kind", kind_name(exchange.kind)},
                         {"schema", schema_of(layout, exchange)},
                         {"element_bytes", exchange.element_bytes},
                         {"capacity", exchange.extent.capacity},
                         {"producers", exchange.extent.producers},
                         {"consumers", exchange.extent.consumers},
                         {"offset", exchange.offset},
                         {"bytes", exchange.bytes}});
    auto& one = exchanges.back();
    const ExchangeProgress progress = progress_of(layout, exchange);
    if (progress.written) one["written"] = *progress.written;
    if (progress.waiting) one["waiting"] = *progress.waiting;
    if (values_of(exchange) != 0) one["values"] = decoded_values(layout, exchange);
  }
  return json;
}

std::string segment_text(const platform::Segment& segment, Time now) {
  const Layout& layout = segment.layout();
  std::string text;
  const auto out = std::back_inserter(text);
  fmt::format_to(out, "segment {}   {} bytes   epoch {:016x}\n\n", segment.name(), layout.size(),
                 layout.epoch());
  std::size_t width = 5;
  for (std::uint32_t i = 0; i < layout.owner_slots(); ++i)
    width = std::max(width, owner_slot_place(layout, i).size());
  fmt::format_to(out, "{:<{}}  {:>10}  {:<5}  {:>14}  {}\n", "slot", width, "process", "state", "heartbeat",
                 "takeovers");
  for (std::uint32_t i = 0; i < layout.owner_slots(); ++i) {
    const platform::OwnerSlotStatus status = segment.owner_slot_status(i, now);
    fmt::format_to(out, "{:<{}}  {:>10}  {:<5}  {:>14}  {}\n", owner_slot_place(layout, i), width,
                   status.owner.pid == 0 ? "-" : std::to_string(status.owner.pid), state_text(status),
                   heartbeat_text(status), status.takeovers);
  }
  for (const Exchange& exchange : layout.exchanges()) {
    fmt::format_to(out, "\n{}: {} of {}, \"{}\", {} bytes at {}\n", exchange.name(), kind_name(exchange.kind),
                   exchange.extent.capacity, schema_of(layout, exchange), exchange.bytes, exchange.offset);
    const ExchangeProgress progress = progress_of(layout, exchange);
    if (progress.written) fmt::format_to(out, "  {} written", *progress.written);
    if (progress.waiting) fmt::format_to(out, "  {} waiting", *progress.waiting);
    if (progress.written || progress.waiting) text += '\n';
    const auto values = decoded_values(layout, exchange);
    for (std::size_t owner_slot = 0; owner_slot < values.size(); ++owner_slot) {
      if (values.size() > 1) fmt::format_to(out, "  of slot {}:\n", owner_slot);
      if (values[owner_slot].is_null()) text += "  (no value)\n";
      for (const auto& [name, field] : values[owner_slot].items())
        fmt::format_to(out, "  {}  {}\n", name, field_text(field));
    }
  }
  return text;
}

}  // namespace takt::tools
