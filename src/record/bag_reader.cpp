#include "record/bag_reader.hpp"

#include <fmt/format.h>

#include <limits>
#include <string>
#include <tuple>

namespace takt::record {
namespace {

constexpr std::uint64_t word = sizeof(std::uint32_t);

/// Calls on_field(name, value) for each field. Returns false if the bytes are no list of fields.
template <class OnField>
bool read_fields(std::span<const std::uint8_t> bytes, OnField on_field) {
  ByteReader reader(bytes);
  while (reader.ok() && reader.remaining() > 0) {
    const std::string_view field = take_text(reader);
    const std::size_t equals = field.find('=');
    if (!reader.ok() || equals == std::string_view::npos) return false;
    on_field(field.substr(0, equals), as_bytes(field.substr(equals + 1)));
  }
  return reader.ok();
}

/// A number of a field; false if the field has another size.
template <class Number>
void take_number(std::span<const std::uint8_t> value, Number& number, bool& is_good) {
  if (value.size() != sizeof(Number)) is_good = false;
  number = ByteReader(value).little<Number>();
}

}  // namespace

const McapSchema* BagReader::schema(const McapChannel& channel) const noexcept {
  const auto found = connections_.find(channel.id);
  return found == connections_.end() ? nullptr : &found->second.schema;
}

void BagReader::know_definitions_of(const MessageSource& other) {
  if (const auto* same = dynamic_cast<const BagReader*>(&other)) connections_ = same->connections_;
}

SetupResult<BagReader::Header> BagReader::read_header(std::span<const std::uint8_t> bytes) const {
  Header header;
  bool is_good = true;
  const bool are_fields = read_fields(bytes, [&](std::string_view name, std::span<const std::uint8_t> value) {
    if (name == "op" && value.size() == 1) header.op = static_cast<Op>(value[0]);
    if (name == "conn") take_number(value, header.connection, is_good);
    if (name == "size") take_number(value, header.size, is_good);
    if (name == "count") header.count = ByteReader(value).little<std::uint32_t>();
    if (name == "index_pos") take_number(value, header.index_at, is_good);
    if (name == "topic") header.topic = as_text(value);
    if (name == "type") header.type = as_text(value);
    if (name == "message_definition") header.definition = as_text(value);
    if (name == "compression") header.compression = as_text(value);
    if (name != "time") return;
    if (value.size() != 2 * word) is_good = false;
    ByteReader time(value);
    header.seconds = time.little<std::uint32_t>();
    header.nanoseconds = time.little<std::uint32_t>();
  });
  if (!are_fields || !is_good) return damage(Errc::record_too_short, "a header");
  return header;
}

/// Reads a size and so many bytes. Returns false if the file ends before.
SetupResult<bool> BagReader::read_sized() {
  auto whole = file_.read(word);
  if (!whole || !*whole) return whole;
  const auto size = ByteReader(file_.piece()).little<std::uint32_t>();
  if (size > max_file_record)
    return damage(Errc::record_too_long, fmt::format("{} bytes, at most {}", size, max_file_record));
  record_size_ += word + size;
  return file_.read(size);
}

SetupResult<BagReader::Found> BagReader::next_record() {
  position_ += std::exchange(record_size_, 0);
  auto whole = read_sized();
  if (!whole) return tl::unexpected<SetupError>(std::move(whole.error()));
  is_cut_ = !*whole && (record_size_ > 0 || !file_.piece().empty());
  if (!*whole) return Found::end;
  const Bytes header_bytes(file_.piece().begin(), file_.piece().end());
  if (header_bytes.empty() && index_at_ >= position_ + record_size_) return go_to_index();
  whole = read_sized();
  if (!whole) return tl::unexpected<SetupError>(std::move(whole.error()));
  is_cut_ = !*whole;
  if (!*whole) return Found::end;
  const auto header = read_header(header_bytes);
  if (!header) return tl::unexpected<SetupError>(header.error());
  if (header->op == Op::bag) index_at_ = header->index_at;
  if (header->op == Op::index) count_lost(header->count);
  if (header->op != Op::chunk) return take(*header, file_.piece());
  begin_chunk();
  if (auto opened = open_chunk(*header, file_.piece()); !opened) lose_chunk(std::move(opened.error()));
  return Found::nothing;
}

/// Some writers leave zeros before the index. They are no record, and nothing is lost.
SetupResult<BagReader::Found> BagReader::go_to_index() {
  record_size_ = index_at_ - position_;
  const auto whole = file_.skip(record_size_ - word, [](std::span<const std::uint8_t>) {});
  if (!whole) return tl::unexpected<SetupError>(whole.error());
  is_cut_ = !*whole;
  return *whole ? Found::nothing : Found::end;
}

SetupResult<BagReader::Found> BagReader::next_in_chunk() {
  ByteReader reader{std::span(chunk_).subspan(in_chunk_)};
  const auto header_bytes = reader.bytes(reader.little<std::uint32_t>());
  const auto data = reader.bytes(reader.little<std::uint32_t>());
  if (!reader.ok()) return damage(Errc::bad_chunk, "a record ends behind the chunk");
  in_chunk_ += reader.position();
  const auto header = read_header(header_bytes);
  if (!header) return tl::unexpected<SetupError>(header.error());
  if (header->op == Op::chunk) return damage(Errc::bad_chunk, "it holds a chunk");
  return take(*header, data);
}

SetupResult<BagReader::Found> BagReader::take(const Header& header, std::span<const std::uint8_t> data) {
  if (header.op == Op::message) return take_message(header, data);
  if (header.op != Op::connection) return Found::nothing;
  if (auto taken = take_connection(header, data); !taken)
    return tl::unexpected<SetupError>(std::move(taken.error()));
  return Found::nothing;
}

SetupResult<BagReader::Found> BagReader::take_message(const Header& header,
                                                      std::span<const std::uint8_t> data) {
  const auto connection = connections_.find(header.connection);
  if (connection == connections_.end())
    return damage(Errc::unknown_channel, fmt::format("connection {}", header.connection));
  constexpr std::uint64_t second = 1'000'000'000;
  message_ = {&connection->second.channel, header.seconds * second + header.nanoseconds, data};
  return Found::message;
}

SetupResult<void> BagReader::take_connection(const Header& header, std::span<const std::uint8_t> data) {
  // The data is a header too: that with which the publisher connected.
  const auto publisher = read_header(data);
  if (!publisher) return tl::unexpected<SetupError>(publisher.error());
  if (header.connection > std::numeric_limits<std::uint16_t>::max())
    return damage(Errc::unknown_channel, fmt::format("connection {}, at most {}", header.connection,
                                                     std::numeric_limits<std::uint16_t>::max()));
  Connection made;
  made.channel.id = static_cast<std::uint16_t>(header.connection);
  made.channel.topic = header.topic;
  made.channel.encoding = "ros1";
  made.schema.name = publisher->type;
  made.schema.encoding = "ros1msg";
  made.schema.text = publisher->definition;
  const auto [known, is_new] = connections_.try_emplace(header.connection, made);
  if (!is_new && std::tie(known->second.channel, known->second.schema) != std::tie(made.channel, made.schema))
    return damage(Errc::definition_changed, fmt::format("connection {}", header.connection));
  return keep(is_new ? header.topic.size() + data.size() : 0);
}

SetupResult<void> BagReader::open_chunk(const Header& header, std::span<const std::uint8_t> data) {
  if (header.compression != "none") {
    return damage(Errc::unsupported_compression,
                  fmt::format("\"{}\"; rosbag decompress makes a bag without", header.compression));
  }
  if (data.size() != header.size) return damage(Errc::bad_chunk, "its two sizes differ");
  chunk_.assign(data.begin(), data.end());
  in_chunk_ = 0;
  return {};
}

}  // namespace takt::record
