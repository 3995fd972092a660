#include "record/mcap_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace takt::record {
namespace {

constexpr std::size_t index_head = 6;    // bytes of a message index before its entries
constexpr std::size_t index_entry = 16;  // bytes for each message

std::map<std::string, std::string> take_texts(ByteReader& reader) {
  ByteReader list(reader.bytes(reader.little<std::uint32_t>()));
  std::map<std::string, std::string> texts;
  while (list.ok() && list.remaining() > 0) {
    const std::string_view key = take_text(list);
    texts[std::string(key)] = take_text(list);
  }
  return texts;
}

}  // namespace

McapReader::McapReader(FilePieces file, std::vector<Compression*> compressions)
    : MessageSource(std::move(file), mcap_magic.size()), compressions_(std::move(compressions)) {
  crc_.add(mcap_magic);
}

const McapSchema* McapReader::schema(const McapChannel& channel) const noexcept {
  const auto found = schemas_.find(channel.schema);
  return found == schemas_.end() ? nullptr : &found->second;
}

void McapReader::know_definitions_of(const MessageSource& other) {
  const auto* same = dynamic_cast<const McapReader*>(&other);
  if (same == nullptr) return;
  schemas_ = same->schemas_;
  channels_ = same->channels_;
}

SetupResult<McapReader::Found> McapReader::next_record() {
  position_ += std::exchange(record_size_, 0);
  auto whole = file_.read(mcap_prefix);
  if (!whole) return tl::unexpected<SetupError>(std::move(whole.error()));
  if (!*whole) return Found::end;
  const std::uint64_t size = McapFrame(file_.piece()).size;
  file_.put_back(mcap_prefix);
  // With the beginning of the next record, which tells whether the size can be right.
  whole = file_.read(mcap_prefix + std::min(size, max_file_record) + mcap_look_ahead);
  if (!whole) return tl::unexpected<SetupError>(std::move(whole.error()));
  const McapFrame frame(file_.piece());
  if (!frame.is_sound(has_chunks())) return pass_over_damage(frame);
  if (size > max_file_record) return pass_over_long(frame);
  if (!frame.is_whole()) return Found::end;
  file_.put_back(frame.behind.size());
  record_size_ = mcap_prefix + size;
  const std::uint32_t crc = crc_.value();
  crc_.add(file_.piece());
  if (frame.opcode == McapOpcode::data_end) {
    const auto expected = ByteReader(frame.content).little<std::uint32_t>();
    // Of what is lost already, the checksum tells nothing new.
    if (expected != 0 && expected != crc && lost().empty())
      lose(damage(Errc::checksum_mismatch, "the data before it").value());
    return Found::nothing;
  }
  if (frame.opcode == McapOpcode::footer) {
    if (auto end = finish(); !end) return tl::unexpected<SetupError>(std::move(end.error()));
    return Found::end;
  }
  if (frame.opcode == McapOpcode::chunk) begin_chunk(frame.content);
  auto found = take(frame.opcode, frame.content);
  const bool is_only_this_lost = !found && (found.error().error == Error(Errc::unknown_channel) ||
                                            found.error().error == Error(Errc::record_too_short));
  if (!is_only_this_lost) return found;
  lose(std::move(found.error()));
  return Found::nothing;
}

/// Notes that a chunk begins, and its times, if the file tells them.
void McapReader::begin_chunk(std::span<const std::uint8_t> content) {
  MessageSource::begin_chunk();
  ByteReader reader(content);
  const auto first = reader.little<std::uint64_t>();
  const auto last = reader.little<std::uint64_t>();
  if (reader.ok()) chunk_times_.emplace(time_of(first), time_of(last));
}

/// Goes on behind a record that is longer than memory allows. An attachment is no loss: nobody reads it.
SetupResult<McapReader::Found> McapReader::pass_over_long(const McapFrame& frame) {
  const std::uint64_t rest = frame.size - frame.content.size();
  record_size_ = mcap_prefix + frame.size;
  SetupError reason =
      damage(Errc::record_too_long, fmt::format("{} bytes, at most {}", frame.size, max_file_record)).value();
  if (frame.opcode == McapOpcode::chunk) {
    begin_chunk(frame.content);
    lose_chunk(std::move(reason));
  } else if (frame.opcode != McapOpcode::attachment) {
    lose(std::move(reason));
  }
  const auto add_to_crc = [this](std::span<const std::uint8_t> piece) { crc_.add(piece); };
  add_to_crc(file_.piece());
  const auto whole = file_.skip(rest, add_to_crc);
  if (!whole) return tl::unexpected<SetupError>(whole.error());
  if (*whole) return Found::nothing;
  record_size_ = 0;
  return Found::end;
}

/// Goes on behind a record whose opcode or size is wrong. At the end of a file, it may only be cut off.
SetupResult<McapReader::Found> McapReader::pass_over_damage(const McapFrame& frame) {
  const bool has_wrong_opcode =
      frame.opcode == McapOpcode::chunk ? frame.fits_any() : frame.has_form_of_chunk();
  const bool is_chunk = (frame.opcode == McapOpcode::chunk) != has_wrong_opcode;
  if (is_chunk) begin_chunk(frame.content);
  SetupError reason =
      damage(Errc::bad_record, fmt::format("opcode {}, {} bytes", static_cast<int>(frame.opcode), frame.size))
          .value();
  if (has_wrong_opcode && frame.is_whole()) {
    record_size_ = mcap_prefix + frame.size;
    file_.put_back(frame.behind.size());
  } else {
    const auto found = find_record();
    if (!found) return tl::unexpected<SetupError>(found.error());
    if (!*found) return Found::end;
  }
  is_chunk ? lose_chunk(std::move(reason)) : lose(std::move(reason));
  return Found::nothing;
}

/// Goes from behind the first byte of the piece to the next record. Returns false if none follows.
SetupResult<bool> McapReader::find_record() {
  constexpr std::size_t step = std::size_t{1} << 20;
  std::uint64_t passed = 1;
  file_.put_back(file_.piece().size() - 1);
  while (true) {
    const auto whole = file_.read(2 * step);  // records up to one step are recognised
    if (!whole) return tl::unexpected<SetupError>(whole.error());
    const auto piece = file_.piece();
    const std::size_t places = *whole ? step : piece.size();
    for (std::size_t i = 0; i < places; ++i) {
      if (!is_record(piece.subspan(i))) continue;
      file_.put_back(piece.size() - i);
      record_size_ = passed + i;
      return true;
    }
    if (!*whole) return false;
    file_.put_back(piece.size() - step);
    passed += step;
  }
}

/// Whether bytes anywhere in the file are a record. Those in a chunk are none: only its checksum proves them.
bool McapReader::is_record(std::span<const std::uint8_t> bytes) const {
  if (!can_begin_record(bytes)) return false;
  const McapFrame frame(bytes);
  switch (frame.opcode) {
    case McapOpcode::chunk:
      return frame.has_form_of_chunk();
    case McapOpcode::footer:
      return frame.is_whole() && frame.fits(McapOpcode::footer) &&
             as_text(frame.behind).starts_with(as_text(mcap_magic));
    case McapOpcode::schema:
    case McapOpcode::channel:
      return !has_chunks() && frame.is_followed();
    case McapOpcode::message:
      return !has_chunks() && frame.is_whole() && frame.size >= mcap_message_head &&
             channels_.contains(ByteReader(frame.content).little<std::uint16_t>()) &&
             can_begin_record(frame.behind);
    default:
      return frame.is_followed();
  }
}

SetupResult<McapReader::Found> McapReader::take(McapOpcode opcode, std::span<const std::uint8_t> content) {
  const ByteReader reader(content);
  SetupResult<void> done;
  switch (opcode) {
    case McapOpcode::message:
      return take_message(reader);
    case McapOpcode::schema:
      done = take_schema(reader);
      break;
    case McapOpcode::channel:
      done = take_channel(reader);
      break;
    case McapOpcode::metadata:
      done = take_metadata(reader);
      break;
    case McapOpcode::chunk:
      if (auto opened = open_chunk(reader); !opened) lose_chunk(std::move(opened.error()));
      break;
    case McapOpcode::message_index:
      count_lost((content.size() - std::min(content.size(), index_head)) / index_entry);
      break;
    default:
      break;
  }
  if (!done) return tl::unexpected<SetupError>(std::move(done.error()));
  return Found::nothing;
}

SetupResult<McapReader::Found> McapReader::next_in_chunk() {
  ByteReader reader{std::span(chunk_).subspan(in_chunk_)};
  const auto opcode = static_cast<McapOpcode>(reader.little<std::uint8_t>());
  const auto size = reader.little<std::uint64_t>();
  if (!reader.ok() || size > reader.remaining())
    return damage(Errc::bad_chunk, "a record ends behind the chunk");
  const auto content = reader.bytes(static_cast<std::size_t>(size));
  in_chunk_ += mcap_prefix + content.size();
  if (opcode == McapOpcode::chunk) return damage(Errc::bad_chunk, "it holds a chunk");
  if (opcode == McapOpcode::metadata || opcode == McapOpcode::message_index) return Found::nothing;
  return take(opcode, content);
}

SetupResult<McapReader::Found> McapReader::take_message(ByteReader reader) {
  const auto id = reader.little<std::uint16_t>();
  reader.skip(sizeof(std::uint32_t));  // sequence
  message_.log_time = reader.little<std::uint64_t>();
  reader.skip(sizeof(std::uint64_t));  // publish time
  if (!reader.ok()) return damage(Errc::record_too_short, "a message");
  const auto channel = channels_.find(id);
  if (channel == channels_.end()) return damage(Errc::unknown_channel, fmt::format("channel {}", id));
  message_.channel = &channel->second;
  message_.data = reader.bytes(reader.remaining());
  return Found::message;
}

SetupResult<void> McapReader::take_schema(ByteReader reader) {
  McapSchema schema;
  schema.id = reader.little<std::uint16_t>();
  schema.name = take_text(reader);
  schema.encoding = take_text(reader);
  schema.text = take_text(reader);
  if (!reader.ok() || schema.id == 0) return damage(Errc::record_too_short, "a schema");
  const auto [known, is_new] = schemas_.try_emplace(schema.id, schema);
  if (!is_new && known->second != schema)
    return damage(Errc::definition_changed, fmt::format("schema {}", schema.id));
  return keep(is_new ? reader.position() : 0);
}

SetupResult<void> McapReader::take_channel(ByteReader reader) {
  McapChannel channel;
  channel.id = reader.little<std::uint16_t>();
  channel.schema = reader.little<std::uint16_t>();
  channel.topic = take_text(reader);
  channel.encoding = take_text(reader);
  channel.metadata = take_texts(reader);
  if (!reader.ok()) return damage(Errc::record_too_short, "a channel");
  if (channel.schema != 0 && !schemas_.contains(channel.schema))
    return damage(Errc::unknown_channel,
                  fmt::format("channel {} has no schema {}", channel.id, channel.schema));
  const auto [known, is_new] = channels_.try_emplace(channel.id, channel);
  if (!is_new && known->second != channel)
    return damage(Errc::definition_changed, fmt::format("channel {}", channel.id));
  return keep(is_new ? reader.position() : 0);
}

SetupResult<void> McapReader::take_metadata(ByteReader reader) {
  const std::string_view name = take_text(reader);
  auto entries = take_texts(reader);
  if (!reader.ok()) return damage(Errc::record_too_short, "metadata");
  metadata_[std::string(name)] = std::move(entries);
  return keep(reader.position());
}

SetupResult<void> McapReader::open_chunk(ByteReader reader) {
  reader.skip(2 * sizeof(std::uint64_t));  // its times
  const auto size = reader.little<std::uint64_t>();
  const auto checksum = reader.little<std::uint32_t>();
  const std::string_view compression = take_text(reader);
  const auto packed = reader.bytes(static_cast<std::size_t>(reader.little<std::uint64_t>()));
  if (!reader.ok()) return damage(Errc::record_too_short, "a chunk");
  if (size > max_file_record) {
    return damage(Errc::record_too_long,
                  fmt::format("a chunk of {} bytes; write chunks of at most {}", size, max_file_record));
  }
  in_chunk_ = 0;
  if (auto unpacked = unpack(compression, packed, size); !unpacked) return unpacked;
  if (checksum != 0 && checksum != crc32(chunk_)) return damage(Errc::checksum_mismatch, "a chunk");
  return {};
}

SetupResult<void> McapReader::unpack(std::string_view compression, std::span<const std::uint8_t> packed,
                                     std::uint64_t size) {
  chunk_.clear();
  if (compression.empty()) {
    if (packed.size() != size) return damage(Errc::bad_chunk, "its two sizes differ");
    chunk_.assign(packed.begin(), packed.end());
    return {};
  }
  const auto known = std::find_if(compressions_.begin(), compressions_.end(),
                                  [&](const Compression* each) { return each->name() == compression; });
  if (known == compressions_.end()) {
    return damage(Errc::unsupported_compression,
                  fmt::format("\"{}\"; this program reads chunks{} without compression", compression,
                              compressions_.empty() ? "" : " with zstd and"));
  }
  chunk_.resize(static_cast<std::size_t>(size));
  if ((*known)->decompress(packed, chunk_)) return {};
  chunk_.clear();
  return damage(Errc::bad_chunk, fmt::format("{} finds other than {} bytes", compression, size));
}

/// After the footer: the magic, and nothing more.
SetupResult<void> McapReader::finish() {
  position_ += std::exchange(record_size_, 0);
  auto whole = file_.read(mcap_magic.size());
  if (!whole) return tl::unexpected<SetupError>(std::move(whole.error()));
  if (!*whole || !std::equal(mcap_magic.begin(), mcap_magic.end(), file_.piece().begin())) return {};
  position_ += mcap_magic.size();
  whole = file_.read(1);
  if (!whole) return tl::unexpected<SetupError>(std::move(whole.error()));
  if (!file_.piece().empty()) return damage(Errc::data_after_end);
  complete_ = true;
  return {};
}

}  // namespace takt::record
