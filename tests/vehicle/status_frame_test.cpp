// The status frame: bytes written by hand, every field there and back over random frames, and every kind of
// invalid frame.
#include "takt/vehicle/status_frame.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <vector>

#include "support/random.hpp"
#include "support/rt_guard.hpp"

using namespace takt;
using namespace takt::vehicle;

namespace {

using Bytes = std::vector<std::uint8_t>;

Bytes header(std::uint8_t count) { return {'A', 'T', 'S', 'F', 0x01, 0x02, 0x03, 0x04, count, 0, 0, 0}; }

Bytes operator+(Bytes a, const Bytes& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

const Bytes traction_block{3,    17, 2,    1,    0, 24,   0xFF, 0xF0, 0,   100,
                           0x80, 0,  0x7F, 0xFF, 1, 0x12, 0x34, 0x56, 0x78};
const Bytes steering_block{4, 5, 2, 0xFF, 0xFE, 0x01, 0x00};
const Bytes battery_block{1, 8, 2, 200, 0x04, 0xD2, 0xFF, 0xFF, 40, 60};

Bytes encoded(const StatusFrame& status) {
  std::array<std::uint8_t, max_status_bytes> bytes{};
  const auto size = encode_status(status, bytes);
  REQUIRE(size.has_value());
  return {bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(*size)};
}

template <class Random>
StatusFrame any_status(Random& random, bool full) {
  StatusFrame status;
  status.stamp = static_cast<std::uint32_t>(random());
  for (const SystemLayout& layout : furbot_layouts.systems()) {
    if (!full && random() % 4 == 0) continue;
    Bytes block(layout.length);
    for (auto& byte : block) byte = static_cast<std::uint8_t>(random());
    REQUIRE(status.set(layout.system, block).has_value());
  }
  return status;
}

Error refused(const Bytes& bytes) {
  const auto status = decode_status(bytes);
  return status ? Error() : status.error();
}

}  // namespace

TEST_CASE("the known blocks are read from these bytes") {
  const auto status = decode_status(header(3) + traction_block + steering_block + battery_block);
  REQUIRE(status.has_value());
  CHECK(status->stamp == 0x01020304);
  CHECK(status->present() == SystemSet{System::traction, System::steering, System::battery});
  CHECK(status->traction() == Traction{2, 1, 24, -16, 100, -32768, 32767, 1, 0x12345678});
  CHECK(status->steering() == Steering{2, -2, 256});
  CHECK(status->battery() == Battery{2, 200, 1234, 65535, 40, 60});
  CHECK(status->state(System::traction) == SystemState::running);
  CHECK(status->bytes(System::steering).size() == 5);
  CHECK(status->bytes(System::steering)[2] == 0xFE);
  CHECK(status->value(System::battery, "current") == 1234);
  CHECK(status->unknown_blocks() == 0);
}

TEST_CASE("a system without a block is unknown") {
  const auto status = decode_status(header(1) + steering_block);
  REQUIRE(status.has_value());
  CHECK_FALSE(status->has(System::traction));
  CHECK_FALSE(status->traction().has_value());
  CHECK(status->state(System::traction) == SystemState::unknown);
  CHECK(status->bytes(System::traction).empty());
  CHECK_FALSE(status->value(System::traction, "speed").has_value());
  CHECK_FALSE(status->value(System::steering, "speed").has_value());
  CHECK(status->state(static_cast<System>(255)) == SystemState::unknown);
}

TEST_CASE("a frame without blocks is one, and a full one has 132 bytes") {
  CHECK(decode_status(header(0))->present().empty());
  auto random = test::generator(1);
  CHECK(encoded(any_status(random, true)).size() == 132);
}

TEST_CASE("every field of random frames is decoded as it was encoded") {
  auto random = test::generator(2);
  for (std::size_t i = 0; i < test::count(500); ++i) {
    const StatusFrame sent = any_status(random, i % 2 == 0);
    const auto got = decode_status(encoded(sent));
    REQUIRE(got.has_value());
    CHECK(*got == sent);
    StatusFrame rebuilt;
    rebuilt.stamp = got->stamp;
    bool good = got->present() == sent.present();
    for (const SystemLayout& layout : furbot_layouts.systems()) {
      if (!got->has(layout.system)) continue;
      good = good && rebuilt.set(layout.system, sent.bytes(layout.system)).has_value();
      for (const SystemField& field : layout.fields) {
        const auto value = got->value(layout.system, field);
        good = good && value.has_value() && rebuilt.set(layout.system, field.name, *value).has_value();
      }
    }
    if (const auto block = got->traction()) good = good && rebuilt.set(*block).has_value();
    if (const auto block = got->steering()) good = good && rebuilt.set(*block).has_value();
    if (const auto block = got->battery()) good = good && rebuilt.set(*block).has_value();
    CHECK(good);
    CHECK(rebuilt == sent);
  }
}

TEST_CASE("the order of the blocks makes no difference") {
  auto random = test::generator(4);
  for (std::size_t i = 0; i < test::count(200); ++i) {
    const StatusFrame ordered = any_status(random, true);
    std::vector<SystemLayout> layouts(furbot_layouts.systems().begin(), furbot_layouts.systems().end());
    std::shuffle(layouts.begin(), layouts.end(), random);
    Bytes shuffled = header(12);
    for (const SystemLayout& layout : layouts) {
      const auto block = ordered.bytes(layout.system);
      shuffled = shuffled + Bytes{static_cast<std::uint8_t>(layout.system), layout.length} +
                 Bytes(block.begin(), block.end());
    }
    const auto got = decode_status(shuffled);
    REQUIRE(got.has_value());
    CHECK(encoded(*got) == shuffled);
    CHECK(got->present() == furbot_systems);
    CHECK(got->traction() == ordered.traction());
    CHECK(got->steering() == ordered.steering());
    CHECK(got->battery() == ordered.battery());
    for (const SystemLayout& layout : layouts)
      CHECK(std::ranges::equal(got->bytes(layout.system), ordered.bytes(layout.system)));
  }
}

TEST_CASE("blocks of unknown systems are skipped, counted, and kept") {
  const Bytes unknown{12, 3, 1, 2, 3, 255, 0};
  const Bytes frame = header(4) + unknown + steering_block + Bytes{12, 1, 9};
  const auto status = decode_status(frame);
  REQUIRE(status.has_value());
  CHECK(status->unknown_blocks() == 3);
  CHECK(status->steering() == Steering{2, -2, 256});
  CHECK(encoded(*status) == frame);
}

TEST_CASE("a frame with wrong counts or lengths is refused by name and changes nothing") {
  const Bytes good = header(2) + steering_block + traction_block;
  StatusFrame status;
  REQUIRE(decode_into(status, good).has_value());
  const StatusFrame before = status;
  const auto leaves_alone = [&](const Bytes& bytes, Errc why) {
    const auto decoded = decode_into(status, bytes);
    return !decoded && decoded.error() == why && status == before && refused(bytes) == why;
  };
  for (std::size_t size = 0; size < status_header_bytes; ++size)
    CHECK(
        leaves_alone(Bytes(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size)), Errc::too_short));
  CHECK(leaves_alone(Bytes(max_status_bytes + 1), Errc::too_long));
  CHECK(leaves_alone(Bytes(65507, 'A'), Errc::too_long));
  for (std::size_t bit = 0; bit < 32; ++bit) {
    Bytes flipped = good;
    flipped[bit / 8] = static_cast<std::uint8_t>(flipped[bit / 8] ^ (1U << bit % 8));
    CHECK(leaves_alone(flipped, Errc::bad_magic));
  }
  CHECK(leaves_alone(header(1) + Bytes{4}, Errc::truncated_tlv));
  CHECK(leaves_alone(header(1) + Bytes{4, 5, 1, 2, 3, 4}, Errc::truncated_tlv));
  CHECK(leaves_alone(header(1) + Bytes{200, 0xFF, 0}, Errc::truncated_tlv));
  CHECK(leaves_alone(header(1) + Bytes{4, 4, 1, 2, 3, 4}, Errc::bad_len));
  CHECK(leaves_alone(header(1) + Bytes{4, 6, 1, 2, 3, 4, 5, 6}, Errc::bad_len));
  CHECK(leaves_alone(header(1) + Bytes{4, 0}, Errc::bad_len));
  CHECK(leaves_alone(header(2) + steering_block + steering_block, Errc::duplicate_sid));
  CHECK(leaves_alone(header(0) + steering_block, Errc::count_mismatch));
  CHECK(leaves_alone(header(9) + steering_block, Errc::count_mismatch));
  auto random = test::generator(5);
  Bytes full = encoded(any_status(random, true));
  full[8] = 11;
  CHECK(leaves_alone(full, Errc::count_mismatch));
}

TEST_CASE(
    "every truncation and every bit flip of a full frame is decoded to itself or refused, within the rules "
    "of the loop") {
  auto random = test::generator(3);
  const Bytes full = encoded(any_status(random, true));
  std::array<std::uint8_t, max_status_bytes> out{};
  std::size_t accepted = 0, wrong = 0;
  const auto check = [&](std::span<const std::uint8_t> bytes) {
    const auto status = decode_status(bytes);
    if (!status) return;
    ++accepted;
    const auto size = encode_status(*status, out);
    // The padding is written as zeros.
    if (!size || *size != bytes.size() || !std::equal(bytes.begin() + 12, bytes.end(), out.begin() + 12))
      ++wrong;
  };
  Bytes flipped = full;
  test::RtGuard guard;
  for (std::size_t size = 0; size < full.size(); ++size) check(std::span(full).first(size));
  CHECK(accepted == 0);  // the count in the header does not match
  for (std::size_t bit = 0; bit < 8 * full.size(); ++bit) {
    const auto mask = static_cast<std::uint8_t>(1U << bit % 8);
    flipped[bit / 8] = static_cast<std::uint8_t>(flipped[bit / 8] ^ mask);
    check(flipped);
    flipped[bit / 8] = full[bit / 8];
  }
  CHECK(guard.report() == "");
  CHECK(wrong == 0);
  CHECK(accepted >= 8 * (96 + 4 + 3));  // any bit of stamp, padding and payloads may change
}

TEST_CASE("in a whole frame, too, each id and each length counts") {
  auto random = test::generator(6);
  const Bytes full = encoded(any_status(random, true));
  std::size_t at = status_header_bytes;
  for (const SystemLayout& layout : furbot_layouts.systems()) {
    for (unsigned bit = 0; bit < 8; ++bit) {
      Bytes flipped = full;
      flipped[at + 1] = static_cast<std::uint8_t>(flipped[at + 1] ^ (1U << bit));
      CHECK(refused(flipped) != Error());
      flipped = full;
      flipped[at] = static_cast<std::uint8_t>(flipped[at] ^ (1U << bit));
      if (furbot_systems.contains(static_cast<System>(flipped[at]))) {
        CHECK(refused(flipped) != Error());
      } else {
        const auto status = decode_status(flipped);
        REQUIRE(status.has_value());
        CHECK(status->unknown_blocks() == 1);
        CHECK_FALSE(status->has(layout.system));
      }
    }
    at += layout.length + 2U;
  }
}

TEST_CASE("a status that does not fit is refused and changes nothing") {
  StatusFrame status;
  CHECK(status.set(System::steering, Bytes(4)).error() == Errc::bad_len);
  CHECK(status.set(static_cast<System>(12), Bytes(4)).error() == Errc::unknown_system);
  CHECK(status.set(System::steering, "current_angle", 32768).error() == Errc::out_of_range);
  CHECK(status.set(System::battery, "current", -1).error() == Errc::out_of_range);
  CHECK(status.set(System::battery, "colour", 1).error() == Errc::unknown_field);
  CHECK(status.set(Steering{2, 0, -32769}).error() == Errc::out_of_range);
  CHECK(status == StatusFrame{});
  CHECK(status.set(System::steering, SystemState::running).has_value());
  CHECK(status.steering() == Steering{2, 0, 0});
  std::array<std::uint8_t, 18> small{};
  CHECK(encode_status(status, small).error() == Errc::no_room);
  CHECK(small == std::array<std::uint8_t, 18>{});
  std::array<std::uint8_t, 19> enough{};
  CHECK(encode_status(status, enough) == 19);
}

TEST_CASE("a frame takes blocks as long as they fit to the byte") {
  constexpr std::size_t room = max_status_bytes - status_header_bytes;
  for (const std::size_t left : {0U, 1U, 6U, 7U}) {
    const std::size_t length = room - left - 2;
    auto status = decode_status(header(1) + Bytes{99, static_cast<std::uint8_t>(length)} + Bytes(length));
    REQUIRE(status.has_value());
    const StatusFrame before = *status;
    const auto set = status->set(Steering{2, 3, 4});
    CHECK(set.has_value() == (left >= 7));
    if (set) {
      CHECK(encoded(*status).size() == max_status_bytes);
      CHECK(decode_status(encoded(*status))->steering() == Steering{2, 3, 4});
    } else {
      CHECK(set.error() == Errc::no_room);
      CHECK(*status == before);
    }
  }
}

TEST_CASE("a compiler can decode") {
  static constexpr std::array<std::uint8_t, 19> bytes{'A', 'T', 'S', 'F', 0, 0, 0, 7, 1, 0,
                                                      0,   0,   4,   5,   3, 0, 1, 0, 2};
  static_assert((*decode_status(bytes)).steering() == Steering{3, 1, 2});
  static_assert((*decode_status(bytes)).state(System::steering) == SystemState::halted);
}
