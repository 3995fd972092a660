// Tests counters and checksums of messages: published checksums of each kind, what a receiver notices, and
// rules that do not fit their message.
#include "takt/dbc/protection.hpp"

#include <doctest/doctest.h>

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "dbc/databases.hpp"
#include "support/random.hpp"
#include "support/rt_guard.hpp"

using namespace takt;
using namespace takt::dbc;
using test::databases::Data;

namespace {

dbc::Database brakes() {
  return test::databases::parse(
      "BU_: A\nBO_ 291 Brake: 8 A\n"
      " SG_ Crc : 0|8@1+ (1,0) [0|0] \"\" A\n"
      " SG_ Count : 8|4@1+ (1,0) [0|0] \"\" A\n"
      " SG_ Flags : 12|4@1+ (1,0) [0|0] \"\" A\n"
      " SG_ Pressure : 16|16@1+ (0.1,0) [0|0] \"bar\" A\n"
      " SG_ BigCrc : 39|8@0+ (1,0) [0|0] \"\" A\n"
      " SG_ BigCount : 47|12@0+ (1,0) [0|0] \"\" A\n"
      "BO_ 292 Bad: 4 A\n"
      " SG_ Half : 4|8@1+ (1,0) [0|0] \"\" A\n"
      " SG_ Signed : 0|8@1- (1,0) [0|0] \"\" A\n"
      " SG_ Bit : 0|1@1+ (1,0) [0|0] \"\" A\n"
      " SG_ Page M : 16|8@1+ (1,0) [0|0] \"\" A\n"
      " SG_ Paged m1 : 24|8@1+ (1,0) [0|0] \"\" A\n"
      "BO_ 2564554495 Long: 100 A\n"
      " SG_ Crc : 0|8@1+ (1,0) [0|0] \"\" A\n"
      " SG_ Count : 8|8@1+ (1,0) [0|0] \"\" A\n");
}

Protection protection_of(const dbc::Database& dbc, const std::string& rule) {
  const auto parsed = parse_protection_rule(rule);
  REQUIRE_MESSAGE(parsed.has_value(), parsed.error().message);
  auto protection = Protection::create(dbc, *parsed);
  REQUIRE_MESSAGE(protection.has_value(), protection.error().message);
  return *protection;
}

std::uint8_t checksum(ChecksumKind kind, const Data& data, std::uint16_t data_id = 0) {
  return checksum_of(kind, data, data.size(), data_id);
}

}  // namespace

TEST_CASE("checksums are those of the standards") {
  // AUTOSAR, Specification of CRC Routines: the examples of each CRC.
  const std::vector<Data> examples{{0, 0, 0, 0},
                                   {0xF2, 0x01, 0x83},
                                   {0x0F, 0xAA, 0x00, 0x55},
                                   {0x00, 0xFF, 0x55, 0x11},
                                   {0x33, 0x22, 0x55, 0xAA, 0xBB, 0xCC, 0xDD, 0xEE, 0xFF},
                                   {0x92, 0x6B, 0x55},
                                   {0xFF, 0xFF, 0xFF, 0xFF}};
  constexpr std::array<std::uint8_t, 7> j1850{0x59, 0x37, 0x79, 0xB8, 0xCB, 0x8C, 0x74};
  constexpr std::array<std::uint8_t, 7> h2f{0x12, 0xC2, 0xC6, 0x77, 0x11, 0x33, 0x6C};
  for (std::size_t i = 0; i < examples.size(); ++i) {
    CHECK(checksum(ChecksumKind::crc8_j1850, examples[i]) == j1850[i]);
    CHECK(checksum(ChecksumKind::crc8_2f, examples[i]) == h2f[i]);
  }
  CHECK(checksum(ChecksumKind::sum, {0x80, 0x81, 0x02}) == 0x03);
  CHECK(checksum(ChecksumKind::exclusive_or, {0xF0, 0x3C, 0x01}) == 0xCD);
  CHECK(checksum(ChecksumKind::sum, {}) == 0);
  // AUTOSAR, E2E Protocol Specification, profile 1 with both bytes of data ID 0x123.
  CHECK(checksum(ChecksumKind::e2e_profile_1, {0, 0, 0, 0, 0, 0, 0}, 0x123) == 0xCC);
  CHECK(checksum(ChecksumKind::e2e_profile_1, {1, 0, 0, 0, 0, 0, 0}, 0x123) == 0x91);
  // The byte of the checksum itself does not count, wherever it is.
  const Data data{0x92, 0x6B, 0x55};
  for (std::size_t place = 0; place <= data.size(); ++place) {
    Data with = data;
    with.insert(with.begin() + static_cast<std::ptrdiff_t>(place), 0xA5);
    CHECK(checksum_of(ChecksumKind::crc8_2f, with, place) == 0x33);
  }
}

TEST_CASE("a sender counts and sums, and a receiver notices every change") {
  const dbc::Database dbc = brakes();
  auto random = test::generator(91);
  for (const std::string rule :
       {"Brake:Count:Crc:sum", "Brake:Count:Crc:exclusive_or", "Brake:Count:Crc:crc8_j1850",
        "Brake:Count:BigCrc:crc8_2f", "Brake:BigCount:Crc:sum", "Brake:Count:Crc:e2e_profile_1:0x123"}) {
    CAPTURE(rule);
    Protection sender = protection_of(dbc, rule);
    Protection receiver = protection_of(dbc, rule);
    for (int i = 0; i < 5000; ++i) {
      auto frame = *can::make_frame(291, Data(8, static_cast<std::uint8_t>(random())));
      REQUIRE(sender.protect(frame));
      can::Frame changed = frame;
      changed.data[random() % 8] ^= static_cast<std::uint8_t>(1U << random() % 8);
      REQUIRE(receiver.check(changed) == ProtectionVerdict::wrong_checksum);
      REQUIRE(receiver.check(frame) == ProtectionVerdict::good);
    }
  }
}

TEST_CASE("only the signals of the rule are written, and E2E counts to 14") {
  const dbc::Database dbc = brakes();
  Protection sender = protection_of(dbc, "Brake:Count:Crc:e2e_profile_1:291");
  for (int i = 0; i < 32; ++i) {
    auto frame = *can::make_frame(291, Data{0xFF, 0xAF, 1, 2, 3, 4, 5, 6});
    REQUIRE(sender.protect(frame));
    CHECK(frame.data[1] == (0xA0 | i % 15));
    CHECK(std::vector(frame.data.begin() + 2, frame.data.begin() + 8) == Data{1, 2, 3, 4, 5, 6});
  }
  Protection receiver = protection_of(dbc, "Brake:Count:Crc:e2e_profile_1:291");
  auto frame = *can::make_frame(291, Data{0, 15, 0, 0, 0, 0, 0, 0});
  frame.data[0] = checksum_of(ChecksumKind::e2e_profile_1, frame.payload(), 0, 291);
  CHECK(receiver.check(frame) == ProtectionVerdict::wrong_counter);
  Protection foreign = protection_of(dbc, "Brake:Count:Crc:e2e_profile_1:292");
  CHECK(foreign.check(frame) == ProtectionVerdict::wrong_checksum);
}

TEST_CASE("repeated and lost frames are told from the next ones, and wrong ones change nothing") {
  const dbc::Database dbc = brakes();
  const std::string rule = "Brake:Count:Crc:crc8_j1850";
  Protection sender = protection_of(dbc, rule);
  Protection receiver = protection_of(dbc, rule);
  std::vector<can::Frame> frames(20, *can::make_frame(291, Data(8)));
  for (can::Frame& frame : frames) REQUIRE(sender.protect(frame));
  using enum ProtectionVerdict;
  CHECK(receiver.check(frames[3]) == good);  // the first one that is heard
  CHECK(receiver.check(frames[4]) == good);
  CHECK(receiver.check(frames[4]) == repeated);
  CHECK(receiver.check(frames[5]) == good);
  CHECK(receiver.check(frames[8]) == frames_lost);
  CHECK(receiver.check(frames[9]) == good);
  can::Frame odd = frames[12];
  odd.length = 7;
  CHECK(receiver.check(odd) == wrong_length);
  odd.length = 8;
  odd.data[7] = 1;
  CHECK(receiver.check(odd) == wrong_checksum);
  odd.remote = true;
  CHECK(receiver.check(odd) == wrong_length);
  for (std::size_t i = 10; i < frames.size(); ++i) CHECK(receiver.check(frames[i]) == good);  // also 15, 0

  can::Frame other = frames[0];
  other.id = 292;
  CHECK(sender.protect(other).error() == can::Errc::unexpected_id);
  other = frames[0];
  other.length = 7;
  CHECK(sender.protect(other).error() == can::Errc::wrong_length);
  other.remote = true;
  CHECK(sender.protect(other).error() == can::Errc::wrong_format);
  other = frames[0];
  REQUIRE(sender.protect(other));
  CHECK((other.data[1] & 0x0F) == 20 % 16);  // refused frames were not counted
}

TEST_CASE("a wrong rule is named, with what is allowed") {
  const dbc::Database dbc = brakes();
  CHECK(parse_protection_rule("M:A:B:e2e_profile_1:0x12F") ==
        ProtectionRule{"M", "A", "B", ChecksumKind::e2e_profile_1, 0x12F});
  for (const char* const text :
       {"", "M", "M:A:B", "M:A:B:crc", "M:A:B:sum:1", "M:A:B:e2e_profile_1",
        "M:A:B:e2e_profile_1:", "M:A:B:e2e_profile_1:65536", "M:A:B:e2e_profile_1:-1",
        "M:A:B:e2e_profile_1:0x", "M:A:B:e2e_profile_1:1:2"}) {
    CAPTURE(text);
    const auto rule = parse_protection_rule(text);
    REQUIRE(!rule.has_value());
    CHECK(rule.error().error == can::Errc::bad_value);
    CHECK(rule.error().message.find("MESSAGE:COUNTER:CHECKSUM:KIND") != std::string::npos);
  }
  for (const auto& [rule, text] : std::vector<std::pair<std::string, std::string>>{
           {"No:Count:Crc:sum", "no message No"},
           {"Brake:No:Crc:sum", "no signal No for the counter"},
           {"Brake:Count:No:sum", "no signal No for the checksum"},
           {"Brake:Crc:Crc:sum", "Crc of message Brake: it overlaps the checksum"},
           {"Brake:Count:Pressure:sum", "one whole byte"},
           {"Brake:BigCount:Crc:e2e_profile_1:1", "has 4 bits"},
           {"Bad:Page:Half:sum", "one whole byte"},
           {"Bad:Page:Signed:sum", "must be unsigned"},
           {"Bad:Paged:Page:sum", "not multiplexed"},
           {"Bad:Bit:Page:sum", "2 to 16 bits"},
           {"Long:Count:Crc:sum", "longer than a frame"}}) {
    const std::string wrong = rule;
    CAPTURE(wrong);
    const auto protection = Protection::create(dbc, *parse_protection_rule(rule));
    REQUIRE(!protection.has_value());
    CHECK_MESSAGE(protection.error().message.find(text) != std::string::npos, protection.error().message);
  }
}

TEST_CASE("filling and checking do not allocate") {
  const dbc::Database dbc = brakes();
  Protection sender = protection_of(dbc, "Brake:Count:Crc:crc8_j1850");
  Protection receiver = sender;
  auto frame = *can::make_frame(291, Data(8));
  test::RtGuard guard;
  std::size_t good = 0;
  for (int i = 0; i < 1000; ++i) {
    if (sender.protect(frame) && receiver.check(frame) == ProtectionVerdict::good) ++good;
  }
  CHECK(guard.report() == "");
  CHECK(good == 1000);
}
