// MCAP as such: files of other programs, and each kind of damage.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "record/cdr.hpp"
#include "record/crc32.hpp"
#include "record/joint_state_message.hpp"
#include "record/mcap_writer.hpp"
#include "record/message_source.hpp"
#include "support/random.hpp"
#include "takt/record/reader.hpp"

using namespace takt;
using namespace takt::record;

namespace {

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

McapDefinitions definitions() {
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
Bytes file_of(const std::vector<Message>& messages, Compression* compression = nullptr) {
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
ReadBack read_back(std::span<const std::uint8_t> bytes, const std::vector<Compression*>& compressions = {}) {
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

Bytes from_hex(std::string_view hex) {
  Bytes bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes.push_back(static_cast<std::uint8_t>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16)));
  return bytes;
}

}  // namespace

TEST_CASE("the checksum is that of zlib, however the bytes are cut") {
  CHECK(crc32(as_bytes("123456789")) == 0xCBF43926);  // the check value of CRC-32 catalogues
  CHECK(crc32({}) == 0);
  auto random = test::generator();
  Bytes bytes(1000);
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random());
  for (int i = 0; i < 100; ++i) {
    const auto cut = static_cast<std::size_t>(test::uniform_int(random, 0, 1000));
    Crc32 crc;
    crc.add(std::span(bytes).first(cut));
    crc.add(std::span(bytes).subspan(cut));
    CHECK(crc.value() == crc32(bytes));
  }
}

TEST_CASE("a file of MCAP's own writer is read") {
  // One message {"q":1}, byte for byte as @mcap/core 2.2.2 writes it.
  const Bytes golden = from_hex(
      "894d434150300d0a01090000000000000000000000010000007406a000000000000000e803000000000000e803000000000000"
      "780000"
      "00000000008b7f7bab000000007800000000000000032a000000000000000100010000004a0a0000006a736f6e736368656d61"
      "11000000"
      "7b2274797065223a226f626a656374227d04160000000000000001000100020000002f6a040000006a736f6e00000000051d00"
      "00000000"
      "0000010000000000e803000000000000e8030000000000007b2271223a317d0716000000000000000100100000"
      "00e80300000000000052000000000000000f0400000000000000dc6ebed9032a000000000000000100010000004a0a0000006a"
      "736f6e73"
      "6368656d61110000007b2274797065223a226f626a656374227d04160000000000000001000100020000002f6a040000006a73"
      "6f6e0000"
      "00000b38000000000000000100000000000000010001000000000000000000000001000000e803000000000000e80300000000"
      "00000a00"
      "000001000100000000000000084a00000000000000e803000000000000e8030000000000001a00000000000000a90000000000"
      "00000a00"
      "00000100c3000000000000001f0000000000000000000000780000000000000078000000000000000e110000000000000003ef"
      "00000000"
      "00000033000000000000000e11000000000000000422010000000000001f000000000000000e11000000000000000b41010000"
      "00000000"
      "41000000000000000e11000000000000000882010000000000005300000000000000021400000000000000ef00000000000000"
      "d5010000"
      "00000000e00ab332894d434150300d0a");
  const ReadBack back = read_back(golden);
  REQUIRE_FALSE(back.error);
  CHECK_FALSE(back.truncated);
  REQUIRE(back.messages.size() == 1);
  CHECK(back.messages[0].time == 1000);
  CHECK(back.messages[0].data == R"({"q":1})");
}

TEST_CASE("messages come back, compressed or not") {
  std::vector<Message> messages;
  for (std::uint64_t i = 0; i < 35; ++i) messages.push_back({1, 1000 - i, fmt::format("{{\"q\":{}}}", i)});
  Twice twice;
  for (Compression* compression : {static_cast<Compression*>(nullptr), static_cast<Compression*>(&twice)}) {
    const ReadBack back = read_back(file_of(messages, compression), {&twice});
    REQUIRE_FALSE(back.error);
    REQUIRE(back.messages.size() == messages.size());
    for (std::size_t i = 0; i < messages.size(); ++i) {
      CHECK(back.messages[i].time == messages[i].time);
      CHECK(back.messages[i].data == messages[i].data);
    }
  }
  const ReadBack unknown = read_back(file_of(messages, &twice));
  REQUIRE(unknown.error);
  CHECK(unknown.error->error == Errc::unsupported_compression);
  CHECK(unknown.error->message.find("\"twice\"") != std::string::npos);
}

TEST_CASE("each kind of damage has its name and its byte") {
  const Bytes whole = file_of({{1, 5, "{}"}, {1, 6, "{}"}});
  const auto find = [&](McapOpcode opcode, std::size_t after = mcap_magic.size()) {
    std::size_t at = mcap_magic.size();
    while (at < after || whole[at] != static_cast<std::uint8_t>(opcode)) {
      std::uint64_t size = 0;
      std::memcpy(&size, &whole[at + 1], sizeof(size));
      at += mcap_prefix + size;
    }
    return at;
  };
  const auto with = [&](const std::function<void(Bytes&)>& change) {
    Bytes bytes = whole;
    change(bytes);
    const ReadBack back = read_back(bytes);
    REQUIRE((back.error || back.lost.size() == 1));
    return back.error ? *back.error : back.lost[0].reason;
  };
  const std::size_t chunk = find(McapOpcode::chunk);
  const std::size_t content = chunk + mcap_prefix;
  CHECK(with([](Bytes& b) { b[0] = 'T'; }).error == Errc::not_a_recording);
  CHECK(with([](Bytes& b) { b.push_back(0); }).error == Errc::data_after_end);
  CHECK(with([&](Bytes& b) { b[chunk + 8] = 1; }).error == Errc::record_too_long);
  CHECK(with([&](Bytes& b) { b[content + 16 + 7] = 1; }).error == Errc::record_too_long);  // a bomb
  CHECK(with([&](Bytes& b) { ++b[content + 16]; }).error == Errc::bad_chunk);              // another size
  CHECK(with([&](Bytes& b) { ++b[content + 24]; }).error == Errc::checksum_mismatch);
  CHECK(with([&](Bytes& b) { ++b[find(McapOpcode::metadata) + mcap_prefix + 18]; }).error ==
        Errc::checksum_mismatch);
  CHECK(with([&](Bytes& b) { ++b[find(McapOpcode::data_end) + mcap_prefix]; }).error ==
        Errc::checksum_mismatch);
  const std::size_t message = content + 40;
  const auto in_chunk = [&](const std::function<void(Bytes&)>& change) {
    return with([&](Bytes& b) {
      change(b);
      put(b, content + 24, std::uint32_t{0});  // no checksum
      put(b, find(McapOpcode::data_end) + mcap_prefix, std::uint32_t{0});
    });
  };
  CHECK(in_chunk([&](Bytes& b) { b[message + mcap_prefix] = 9; }).error == Errc::unknown_channel);
  CHECK(in_chunk([&](Bytes& b) { put(b, message + 1, std::uint64_t{1} << 40); }).error == Errc::bad_chunk);
  CHECK(in_chunk([&](Bytes& b) { put(b, message + 1, std::uint64_t{3}); }).error == Errc::record_too_short);
  CHECK(in_chunk([&](Bytes& b) { b[message] = 6; }).error == Errc::bad_chunk);  // a chunk in a chunk
  CHECK(with([&](Bytes& b) { b[chunk + 8] = 1; }).message.find(fmt::format("byte {}: ", chunk)) == 0);

  Bytes twice = whole;  // the first schema again, with another name
  const std::size_t schema = find(McapOpcode::schema);
  const std::size_t next = find(McapOpcode::schema, schema + 1);
  Bytes copy(whole.begin() + static_cast<std::ptrdiff_t>(schema),
             whole.begin() + static_cast<std::ptrdiff_t>(next));
  copy[mcap_prefix + 6] = 'k';
  twice.insert(twice.begin() + static_cast<std::ptrdiff_t>(chunk), copy.begin(), copy.end());
  CHECK(read_back(twice).error->error == Errc::definition_changed);
}

TEST_CASE("a wrong bit in a chunk costs that chunk, and the reader tells what is lost") {
  std::vector<Message> messages;
  for (std::uint64_t i = 0; i < 50; ++i) messages.push_back({1, 1000 + i, fmt::format("{{\"q\":{}}}", i)});
  Twice twice;
  for (Compression* compression : {static_cast<Compression*>(nullptr), static_cast<Compression*>(&twice)}) {
    const Bytes whole = file_of(messages, compression);
    const std::string_view text = as_text(std::span(whole));
    // The size of a chunk tells its first byte from other bytes of the same value.
    std::size_t at = mcap_magic.size();
    std::vector<std::pair<std::size_t, std::size_t>> chunks;  // byte and size
    while (at + mcap_prefix < text.size() && whole[at] != static_cast<std::uint8_t>(McapOpcode::data_end)) {
      std::uint64_t size = 0;
      std::memcpy(&size, &whole[at + 1], sizeof(size));
      if (whole[at] == static_cast<std::uint8_t>(McapOpcode::chunk))
        chunks.emplace_back(at, mcap_prefix + size);
      at += mcap_prefix + size;
    }
    REQUIRE(chunks.size() == 5);
    for (std::size_t chunk = 0; chunk < chunks.size(); ++chunk) {
      Bytes bytes = whole;
      // Of two neighbours, both compressions use one.
      for (std::size_t i = 0; i < 2; ++i) bytes[chunks[chunk].first + chunks[chunk].second / 2 + i] ^= 4;
      const ReadBack back = read_back(bytes, {&twice});
      CHECK_FALSE(back.error);
      CHECK_FALSE(back.truncated);
      REQUIRE(back.messages.size() == 40);
      CHECK(back.messages[10 * chunk % 40].time == 1000 + (chunk == 4 ? 0 : 10 * (chunk + 1)));
      REQUIRE(back.lost.size() == 1);
      const LostPart& lost = back.lost[0];
      CHECK(lost.reason.message.find(fmt::format("byte {}: ", chunks[chunk].first)) == 0);
      CHECK(lost.size == chunks[chunk].second);
      CHECK(lost.chunk == chunk + 1);
      CHECK(lost.messages == 10);
      CHECK(lost.from == time_from_nanoseconds(static_cast<std::int64_t>(1000 + 10 * chunk)));
      CHECK(lost.until == time_from_nanoseconds(static_cast<std::int64_t>(1009 + 10 * chunk)));
    }
  }
}

namespace {

std::string joint_state(const std::vector<std::string>& names, const std::vector<double>& positions,
                        const std::vector<double>& efforts) {
  CdrWriter writer;
  write_joint_state(writer, {0, "", names, positions, {}, efforts});
  return std::string(as_text(writer.message()));
}

/// The same message in big endian, for texts of 7 letters and NUL.
std::string big_endian(double position) {
  std::string bytes("\0\0\0\0", 4);
  const auto number = [&](auto value) {
    while ((bytes.size() - 4) % sizeof(value) != 0) bytes += '\0';
    std::array<char, sizeof(value)> raw{};
    std::memcpy(raw.data(), &value, sizeof(value));
    bytes.append(raw.rbegin(), raw.rend());
  };
  number(std::uint32_t{7}), number(std::uint32_t{8});  // the stamp
  number(std::uint32_t{1}), bytes += '\0';             // the frame
  number(std::uint32_t{1}), number(std::uint32_t{6});  // the names
  bytes += std::string("elbow\0", 6);
  number(std::uint32_t{1}), number(position);
  number(std::uint32_t{0}), number(std::uint32_t{0});
  return bytes;
}

/// Of the first joint, by time in ns; and what the reader says of the rest.
struct Positions {
  std::vector<std::pair<std::int64_t, double>> rows;
  std::vector<LeftOut> left_out;
  std::string error;
};
Positions positions_of(const std::vector<Message>& messages) {
  Positions found;
  const Bytes bytes = file_of(messages);
  auto reader = Reader::from_bytes(bytes, {.topic = "/joint_states"});
  if (!reader) {
    found.error = reader.error().message;
    return found;
  }
  while (true) {
    const auto record = reader->next();
    REQUIRE(record);
    if (*record == nullptr) break;
    const auto& cycle = std::get<CycleRecord>(**record);
    found.rows.emplace_back(to_nanoseconds(cycle.cycle.time), cycle.joints[0].measured_position);
  }
  found.left_out = reader->left_out();
  return found;
}

}  // namespace

TEST_CASE("a reader passes over damage only if it is told to") {
  std::vector<Message> messages;
  for (std::uint64_t i = 0; i < 30; ++i) messages.push_back({2, i, joint_state({"elbow"}, {1}, {})});
  Bytes bytes = file_of(messages);
  const std::string_view text = as_text(std::span(bytes));
  bytes[text.find("elbow", text.size() / 3)] ^= 1;
  const auto strict = Reader::from_bytes(bytes);
  REQUIRE_FALSE(strict);
  CHECK(strict.error().error == Errc::checksum_mismatch);
  auto reader = Reader::from_bytes(bytes, {.pass_over_damage = true});
  REQUIRE(reader);
  std::size_t rows = 0;
  for (auto record = reader->next(); record && *record != nullptr; record = reader->next()) ++rows;
  CHECK(rows == 20);
  REQUIRE(reader->lost().size() == 1);
  CHECK(reader->lost()[0].text(Time{}).find("left out, 10 messages, from 0.000 s to 0.000 s") !=
        std::string::npos);
}

TEST_CASE("messages of other programs come in the order of their times") {
  auto random = test::generator(33);
  for (int round = 0; round < 20; ++round) {
    std::vector<Message> messages;
    std::vector<std::pair<std::int64_t, double>> expected;
    for (std::uint64_t i = 0; i < 50; ++i) {
      messages.push_back({2, 100 + i, joint_state({"elbow"}, {static_cast<double>(i)}, {})});
      expected.emplace_back(100 + i, static_cast<double>(i));
    }
    std::shuffle(messages.begin(), messages.end(), random);
    const Positions found = positions_of(messages);
    CHECK(found.rows == expected);
    CHECK(found.left_out.empty());
  }
  // Two messages of one time are one record; what is told twice is said.
  const Positions same = positions_of({{2, 5, joint_state({"elbow"}, {1}, {})},
                                       {2, 5, joint_state({"knee"}, {2}, {})},
                                       {2, 5, joint_state({"elbow"}, {3}, {})}});
  CHECK(same.rows == std::vector<std::pair<std::int64_t, double>>{{5, 3}});
  REQUIRE(same.left_out.size() == 1);
  CHECK(same.left_out[0].messages == 1);
  CHECK(same.left_out[0].text().find("/joint_states: 1 messages: another message of the same time") == 0);
}

TEST_CASE("what can be read of a joint state is read, and the rest has its reason") {
  const Positions big = positions_of({{2, 5, big_endian(0.25)}, {2, 6, big_endian(-1)}});
  CHECK(big.error == "");
  CHECK(big.rows == std::vector<std::pair<std::int64_t, double>>{{5, 0.25}, {6, -1}});

  const Positions shorter = positions_of({{2, 5, joint_state({"elbow", "knee"}, {1, 2}, {3})}});
  CHECK(shorter.rows == std::vector<std::pair<std::int64_t, double>>{{5, 1}});
  REQUIRE(shorter.left_out.size() == 1);
  CHECK(shorter.left_out[0].reason == "`effort` has 1 numbers for 2 names");

  const Positions nameless = positions_of({{2, 5, joint_state({}, {1, 2}, {})}});
  CHECK(nameless.error.find("/joint_states (sensor_msgs/msg/JointState; 1 messages: `name` is empty") !=
        std::string::npos);
  const Positions mixed =
      positions_of({{2, 5, joint_state({"elbow"}, {1}, {})}, {2, 6, joint_state({}, {2}, {})}});
  CHECK(mixed.rows.size() == 1);
  REQUIRE(mixed.left_out.size() == 1);
  CHECK(mixed.left_out[0].messages == 1);
  const Positions other = positions_of({{2, 5, std::string("\0\7\0\0", 4)}});
  CHECK(other.error.find("its CDR is of the kind 00 07; 00 00 and 00 01 can be read") != std::string::npos);
}

TEST_CASE("joint states of other programs are read as cycles") {
  const auto cdr = [](const std::vector<std::string>& names, const std::vector<double>& numbers) {
    return joint_state(names, numbers, numbers);
  };
  const std::vector<Message> messages{
      {1, 1'000'000, R"({"name":["x"],"position":[0.5],"velocity":[null]})"},
      {2, 1'000'000, cdr({"elbow", "knee"}, {1, 2})},
      {2, 3'000'000, cdr({"knee"}, {3})},
      {2, 2'000'000, cdr({"knee"}, {9})},  // late
      {2, 8'000'000, cdr({"hip", "elbow"}, {4, 5})},
  };
  const Bytes bytes = file_of(messages);
  auto reader = Reader::from_bytes(bytes, {.topic = "/joint_states"});
  REQUIRE(reader);
  CHECK_FALSE(reader->is_own());
  CHECK(reader->metadata().robot == "/joint_states");
  CHECK(reader->metadata().joints == std::vector<std::string>{"elbow", "knee", "hip"});
  CHECK(reader->metadata().period == std::chrono::milliseconds(1));
  std::vector<std::vector<double>> rows;
  for (auto record = reader->next(); record && *record != nullptr; record = reader->next()) {
    const auto& cycle = std::get<CycleRecord>(**record);
    auto& row = rows.emplace_back();
    row.push_back(static_cast<double>(to_nanoseconds(cycle.cycle.time)) * 1e-6);
    for (const JointSample& joint : cycle.joints) {
      row.push_back(joint.measured_position);
      CHECK(std::isnan(joint.command));
      CHECK(std::isnan(joint.measured_velocity));
    }
  }
  REQUIRE(rows.size() == 4);
  CHECK(reader->left_out().empty());
  CHECK(rows[1][2] == 9);
  CHECK(rows[3] == std::vector<double>{8, 5, 3, 4});
  CHECK(std::isnan(rows[0][3]));

  auto json = Reader::from_bytes(bytes);  // the first topic with joint states
  REQUIRE(json);
  CHECK(json->metadata().robot == "/j");
  const auto first = json->next();
  REQUIRE(first);
  CHECK(std::get<CycleRecord>(**first).joints[0].measured_position == 0.5);

  const auto none = Reader::from_bytes(file_of({{1, 5, "{}"}}));
  REQUIRE_FALSE(none);
  CHECK(none.error().error == Errc::no_joint_states);
  CHECK(none.error().message.find("/j") != std::string::npos);
}
