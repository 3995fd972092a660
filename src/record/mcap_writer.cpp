#include "record/mcap_writer.hpp"

#include <algorithm>
#include <limits>
#include <string_view>

namespace takt::record {
namespace {

/// Appends a record whose content fill(bytes) appends.
template <class Fill>
void append_record(Bytes& bytes, McapOpcode opcode, Fill&& fill) {
  append(bytes, static_cast<std::uint8_t>(opcode));
  const std::size_t size_at = bytes.size();
  append(bytes, std::uint64_t{0});
  const std::size_t from = bytes.size();
  fill(bytes);
  put(bytes, size_at, std::uint64_t{bytes.size() - from});
}

void append_text(Bytes& bytes, std::string_view text) {
  append(bytes, static_cast<std::uint32_t>(text.size()));
  append(bytes, text);
}

/// Appends a list with its size in bytes before it.
template <class Fill>
void append_list(Bytes& bytes, Fill&& fill) {
  const std::size_t size_at = bytes.size();
  append(bytes, std::uint32_t{0});
  fill(bytes);
  put(bytes, size_at, static_cast<std::uint32_t>(bytes.size() - size_at - sizeof(std::uint32_t)));
}

void append_texts(Bytes& bytes, const std::map<std::string, std::string>& texts) {
  append_list(bytes, [&](Bytes& list) {
    for (const auto& [key, value] : texts) {
      append_text(list, key);
      append_text(list, value);
    }
  });
}

void append_numbers(Bytes& bytes, const std::map<std::uint16_t, std::uint64_t>& numbers) {
  append_list(bytes, [&](Bytes& list) {
    for (const auto& [channel, number] : numbers) {
      append(list, channel);
      append(list, number);
    }
  });
}

void append_schema(Bytes& bytes, const McapSchema& schema) {
  append_record(bytes, McapOpcode::schema, [&](Bytes& content) {
    append(content, schema.id);
    append_text(content, schema.name);
    append_text(content, schema.encoding);
    append_text(content, schema.text);
  });
}

void append_channel(Bytes& bytes, const McapChannel& channel) {
  append_record(bytes, McapOpcode::channel, [&](Bytes& content) {
    append(content, channel.id);
    append(content, channel.schema);
    append_text(content, channel.topic);
    append_text(content, channel.encoding);
    append_texts(content, channel.metadata);
  });
}

void append_metadata(Bytes& bytes, const McapMetadata& metadata) {
  append_record(bytes, McapOpcode::metadata, [&](Bytes& content) {
    append_text(content, metadata.name);
    append_texts(content, metadata.entries);
  });
}

}  // namespace

void ChunkBuilder::add(std::uint16_t channel, std::uint64_t log_time, std::span<const std::uint8_t> data) {
  start_ = messages_.empty() ? log_time : std::min(start_, log_time);
  end_ = messages_.empty() ? log_time : std::max(end_, log_time);
  places_[channel].push_back({log_time, messages_.size()});
  constexpr std::size_t head = sizeof(channel) + sizeof(std::uint32_t) + 2 * sizeof(log_time);
  messages_.put(static_cast<std::uint8_t>(McapOpcode::message));
  messages_.put(std::uint64_t{head + data.size()});
  messages_.put(channel);
  messages_.put(++sequences_[channel]);
  messages_.put(log_time);
  messages_.put(log_time);  // the publish time
  messages_.put(data);
}

PackedChunk ChunkBuilder::pack() {
  PackedChunk chunk;
  chunk.start = start_;
  chunk.end = end_;
  chunk.uncompressed_size = messages_.size();
  std::span<const std::uint8_t> packed = messages_.bytes();
  if (compression_ != nullptr && compression_->compress(messages_.bytes(), compressed_)) {
    chunk.compression = compression_->name();
    packed = compressed_;
  }
  chunk.compressed_size = packed.size();
  append_record(chunk.bytes, McapOpcode::chunk, [&](Bytes& content) {
    append(content, start_);
    append(content, end_);
    append(content, chunk.uncompressed_size);
    append(content, crc32(messages_.bytes()));
    append_text(content, chunk.compression);
    append(content, chunk.compressed_size);
    append(content, packed);
  });
  chunk.chunk_size = chunk.bytes.size();
  for (auto& [channel, places] : places_) {
    if (places.empty()) continue;
    chunk.index_offsets[channel] = chunk.bytes.size();
    chunk.counts[channel] = places.size();
    append_record(chunk.bytes, McapOpcode::message_index, [&, id = channel, &all = places](Bytes& content) {
      append(content, id);
      append_list(content, [&](Bytes& list) {
        for (const Place& place : all) {
          append(list, place.log_time);
          append(list, place.offset);
        }
      });
    });
    places.clear();
  }
  messages_.clear();
  return chunk;
}

Bytes McapFile::begin() {
  Bytes bytes(mcap_magic.begin(), mcap_magic.end());
  append_record(bytes, McapOpcode::header, [&](Bytes& content) {
    append_text(content, "");  // no profile: that of ROS 2 demands more than messages need
    append_text(content, definitions_->library);
  });
  for (const McapSchema& schema : definitions_->schemas) append_schema(bytes, schema);
  for (const McapChannel& channel : definitions_->channels) append_channel(bytes, channel);
  for (const McapMetadata& metadata : definitions_->metadata) {
    const std::size_t offset = bytes.size();
    append_metadata(bytes, metadata);
    metadata_.push_back({offset, bytes.size() - offset, metadata.name});
  }
  size_ = bytes.size();
  crc_.add(bytes);
  return bytes;
}

void McapFile::wrote(const PackedChunk& chunk) {
  Chunk entry{chunk.start,
              chunk.end,
              size_,
              chunk.chunk_size,
              chunk.bytes.size() - chunk.chunk_size,
              chunk.compressed_size,
              chunk.uncompressed_size,
              chunk.compression,
              chunk.index_offsets};
  for (auto& [channel, offset] : entry.index_offsets) offset += size_;
  chunks_.push_back(std::move(entry));
  for (const auto& [channel, count] : chunk.counts) counts_[channel] += count;
  size_ += chunk.bytes.size();
  crc_.add(chunk.bytes);
}

Bytes McapFile::end(const McapMetadata& last) const {
  Bytes bytes;
  std::vector<MetadataPlace> metadata = metadata_;
  append_metadata(bytes, last);
  metadata.push_back({size_, bytes.size(), last.name});
  Crc32 data_crc = crc_;
  data_crc.add(bytes);
  append_record(bytes, McapOpcode::data_end, [&](Bytes& content) { append(content, data_crc.value()); });

  // The summary: groups of records of one kind, then where each group is.
  const std::size_t summary = bytes.size();
  Bytes offsets;
  const auto group = [&](McapOpcode opcode, auto&& fill) {
    const std::size_t from = bytes.size();
    fill();
    if (bytes.size() == from) return;
    append_record(offsets, McapOpcode::summary_offset, [&](Bytes& content) {
      append(content, static_cast<std::uint8_t>(opcode));
      append(content, size_ + from);
      append(content, std::uint64_t{bytes.size() - from});
    });
  };
  group(McapOpcode::schema, [&] {
    for (const McapSchema& schema : definitions_->schemas) append_schema(bytes, schema);
  });
  group(McapOpcode::channel, [&] {
    for (const McapChannel& channel : definitions_->channels) append_channel(bytes, channel);
  });
  group(McapOpcode::statistics, [&] { append_statistics(bytes, metadata.size()); });
  group(McapOpcode::chunk_index, [&] {
    for (const Chunk& chunk : chunks_) append_chunk_index(bytes, chunk);
  });
  group(McapOpcode::metadata_index, [&] {
    for (const MetadataPlace& place : metadata) {
      append_record(bytes, McapOpcode::metadata_index, [&](Bytes& content) {
        append(content, place.offset);
        append(content, place.size);
        append_text(content, place.name);
      });
    }
  });
  const std::size_t summary_offsets = bytes.size();
  append(bytes, std::span<const std::uint8_t>(offsets));
  append_record(bytes, McapOpcode::footer, [&](Bytes& content) {
    append(content, size_ + summary);
    append(content, size_ + summary_offsets);
    // The checksum covers the summary and the footer up to the checksum, with a size that is not there yet.
    put(content, content.size() - 2 * sizeof(std::uint64_t) - sizeof(std::uint64_t), std::uint64_t{20});
    append(content, crc32(std::span(content).subspan(summary)));
  });
  append(bytes, std::span<const std::uint8_t>(mcap_magic));
  return bytes;
}

void McapFile::append_statistics(Bytes& bytes, std::size_t metadata) const {
  std::uint64_t messages = 0;
  for (const auto& [channel, count] : counts_) messages += count;
  std::uint64_t start = chunks_.empty() ? 0 : std::numeric_limits<std::uint64_t>::max();
  std::uint64_t end = 0;
  for (const Chunk& chunk : chunks_) {
    start = std::min(start, chunk.start);
    end = std::max(end, chunk.end);
  }
  append_record(bytes, McapOpcode::statistics, [&](Bytes& content) {
    append(content, messages);
    append(content, static_cast<std::uint16_t>(definitions_->schemas.size()));
    append(content, static_cast<std::uint32_t>(definitions_->channels.size()));
    append(content, std::uint32_t{0});  // attachments
    append(content, static_cast<std::uint32_t>(metadata));
    append(content, static_cast<std::uint32_t>(chunks_.size()));
    append(content, start);
    append(content, end);
    append_numbers(content, counts_);
  });
}

void McapFile::append_chunk_index(Bytes& bytes, const Chunk& chunk) const {
  append_record(bytes, McapOpcode::chunk_index, [&](Bytes& content) {
    append(content, chunk.start);
    append(content, chunk.end);
    append(content, chunk.offset);
    append(content, chunk.size);
    append_numbers(content, chunk.index_offsets);
    append(content, chunk.index_size);
    append_text(content, chunk.compression);
    append(content, chunk.compressed_size);
    append(content, chunk.uncompressed_size);
  });
}

}  // namespace takt::record
