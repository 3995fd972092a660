// Writes MCAP. Messages are gathered in chunks, which are packed in memory, then written as a whole. So a
// file that ends anywhere holds all chunks before its end. Not real-time safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "record/crc32.hpp"
#include "record/growing_bytes.hpp"
#include "record/mcap.hpp"
#include "takt/record/compression.hpp"

namespace takt::record {

/// A chunk as it stands in a file, followed by its message indexes.
struct PackedChunk {
  Bytes bytes;
  std::uint64_t start = 0;  ///< ns: the first and the last log time
  std::uint64_t end = 0;
  std::uint64_t chunk_size = 0;                          ///< bytes of the chunk's record; the indexes follow
  std::uint64_t compressed_size = 0;                     ///< bytes of its messages in the file
  std::uint64_t uncompressed_size = 0;                   ///< bytes of its messages
  std::string compression;                               ///< as MCAP names it; empty: none
  std::map<std::uint16_t, std::uint64_t> index_offsets;  ///< per channel: of its index in `bytes`
  std::map<std::uint16_t, std::uint64_t> counts;         ///< messages per channel
};

/// Gathers messages and packs them.
class ChunkBuilder {
 public:
  /// Without a compression, chunks are as they are. It must outlive the builder.
  explicit ChunkBuilder(Compression* compression) : compression_(compression) {}

  /// Appends a message. `log_time` is in ns.
  void add(std::uint16_t channel, std::uint64_t log_time, std::span<const std::uint8_t> data);

  [[nodiscard]] bool empty() const noexcept { return messages_.empty(); }
  /// Bytes of the messages so far.
  [[nodiscard]] std::size_t size() const noexcept { return messages_.size(); }
  /// The log times of the messages so far, in ns.
  [[nodiscard]] std::uint64_t start() const noexcept { return start_; }
  [[nodiscard]] std::uint64_t end() const noexcept { return end_; }

  /// Packs the messages and begins the next chunk.
  [[nodiscard]] PackedChunk pack();

 private:
  struct Place {
    std::uint64_t log_time;
    std::uint64_t offset;
  };

  Compression* compression_;
  Buffer messages_;
  Bytes compressed_;
  std::map<std::uint16_t, std::vector<Place>> places_;
  std::map<std::uint16_t, std::uint32_t> sequences_;
  std::uint64_t start_ = 0;
  std::uint64_t end_ = 0;
};

/// The definitions that a file has before its messages.
struct McapDefinitions {
  std::string library;
  std::vector<McapSchema> schemas;
  std::vector<McapChannel> channels;
  std::vector<McapMetadata> metadata;
};

/// One file: gives its bytes, in order, and remembers what its index needs. The caller writes each piece as a
/// whole or not at all, and says so by taken().
class McapFile {
 public:
  /// The definitions must outlive the file.
  explicit McapFile(const McapDefinitions& definitions) : definitions_(&definitions) {}

  /// The beginning: header, schemas, channels, metadata.
  [[nodiscard]] Bytes begin();
  /// Notes that this chunk was written at the end of the file.
  void wrote(const PackedChunk& chunk);
  /// The end: one more metadata record, the summary, the footer.
  [[nodiscard]] Bytes end(const McapMetadata& last) const;

  /// Bytes written so far.
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
  /// The first log time, in ns. Only with a chunk.
  [[nodiscard]] std::uint64_t start() const noexcept { return chunks_.front().start; }
  [[nodiscard]] bool has_chunks() const noexcept { return !chunks_.empty(); }

 private:
  struct Chunk {
    std::uint64_t start;
    std::uint64_t end;
    std::uint64_t offset;
    std::uint64_t size;
    std::uint64_t index_size;
    std::uint64_t compressed_size;
    std::uint64_t uncompressed_size;
    std::string compression;
    std::map<std::uint16_t, std::uint64_t> index_offsets;
  };
  struct MetadataPlace {
    std::uint64_t offset;
    std::uint64_t size;
    std::string name;
  };

  void append_statistics(Bytes& bytes, std::size_t metadata) const;
  void append_chunk_index(Bytes& bytes, const Chunk& chunk) const;

  const McapDefinitions* definitions_;
  std::uint64_t size_ = 0;
  Crc32 crc_;
  std::vector<Chunk> chunks_;
  std::vector<MetadataPlace> metadata_;
  std::map<std::uint16_t, std::uint64_t> counts_;
};

}  // namespace takt::record
