// MCAP files of other programs for tests, and what is read of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "record/cdr.hpp"
#include "record/joint_state_message.hpp"
#include "record/mcap_writer.hpp"
#include "record/message_source.hpp"
#include "takt/record/compression.hpp"

namespace takt::test::mcap {

using namespace takt::record;

/// A compression that anybody can check: each byte twice.
class Twice final : public Compression {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "twice"; }
  [[nodiscard]] bool compress(std::span<const std::uint8_t> bytes,
                              std::vector<std::uint8_t>& packed) override {
    packed.clear();
    for (const std::uint8_t byte : bytes) packed.insert(packed.end(), 2, byte);
    return true;
  }
  [[nodiscard]] bool decompress(std::span<const std::uint8_t> packed,
                                std::span<std::uint8_t> bytes) override {
    if (packed.size() != 2 * bytes.size()) return false;
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = packed[2 * i];
    return true;
  }
};

inline McapDefinitions definitions() {
  McapDefinitions made;
  made.library = "test";
  made.schemas = {{1, "j", "jsonschema", R"({"type":"object"})"}, {2, joint_state_name, "ros2msg", "..."}};
  made.channels = {{1, 1, "/j", "json"}, {2, 2, "/joint_states", "cdr"}};
  made.metadata = {{"notes", {{"who", "me"}}}};
  return made;
}

/// A file with these messages, a chunk for each ten.
struct Message {
  std::uint16_t channel = 1;
  std::uint64_t time = 0;
  std::string data;
};
inline Bytes file_of(const std::vector<Message>& messages, Compression* compression = nullptr) {
  const McapDefinitions all = definitions();
  McapFile file(all);
  Bytes bytes = file.begin();
  ChunkBuilder builder(compression);
  const auto pack = [&] {
    const PackedChunk chunk = builder.pack();
    append(bytes, std::span<const std::uint8_t>(chunk.bytes));
    file.wrote(chunk);
  };
  for (std::size_t i = 0; i < messages.size(); ++i) {
    builder.add(messages[i].channel, messages[i].time, as_bytes(messages[i].data));
    if (i % 10 == 9) pack();
  }
  if (!builder.empty()) pack();
  append(bytes, std::span<const std::uint8_t>(file.end({"last", {}})));
  return bytes;
}

struct ReadBack {
  std::vector<Message> messages;
  std::optional<SetupError> error;
  bool truncated = false;
  std::vector<LostPart> lost;
};
inline ReadBack read_back(std::span<const std::uint8_t> bytes,
                          const std::vector<Compression*>& compressions = {}) {
  ReadBack back;
  auto source = open_messages(read_memory(bytes), "", compressions);
  if (!source) {
    back.error = source.error();
    return back;
  }
  while (true) {
    const auto message = (*source)->next();
    if (!message) back.error = message.error();
    if (!message || *message == nullptr) break;
    back.messages.push_back(
        {(*message)->channel->id, (*message)->log_time, std::string(as_text((*message)->data))});
  }
  back.truncated = (*source)->truncated();
  back.lost = (*source)->lost();
  return back;
}

inline std::string joint_state(const std::vector<std::string>& names, const std::vector<double>& positions,
                               const std::vector<double>& efforts) {
  CdrWriter writer;
  write_joint_state(writer, {0, "", names, positions, {}, efforts});
  return std::string(as_text(writer.message()));
}

}  // namespace takt::test::mcap
