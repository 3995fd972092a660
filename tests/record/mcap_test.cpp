// MCAP as such: files of other programs, and their joint states.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "record/crc32.hpp"
#include "record/mcap_files.hpp"
#include "support/random.hpp"
#include "takt/record/reader.hpp"

using namespace takt;
using namespace takt::record;
using namespace takt::test::mcap;

namespace {

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

namespace {

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
