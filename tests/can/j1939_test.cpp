// Tests identifiers and NAMEs of J1939 against hand calculation, in both directions. Tests devices that
// compete for addresses on a bus without errors.
#include "takt/can/j1939.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <set>
#include <vector>

#include "support/random.hpp"
#include "takt/can/j1939_address.hpp"

using namespace takt;
using namespace takt::can;
using namespace takt::can::j1939;
using namespace std::chrono_literals;

namespace {

using Addresses = std::array<std::uint8_t, 3>;
constexpr std::array<std::uint8_t, 3> ask_for_claims = {0x00, 0xEE, 0x00};

Frame claim_of(std::uint64_t name, std::uint8_t address) {
  std::array<std::uint8_t, 8> data{};
  store_little<8>(data.data(), name);
  return *j1939::make_frame({.pgn = pgn_address_claimed, .source = address}, data);
}
std::uint64_t name_in(const Frame& frame) { return load_little<8>(frame.data.data()); }
std::uint8_t source_of(const Frame& frame) { return decode_id(frame.id).source; }

AddressClaim device(std::uint32_t identity, std::uint8_t preferred, bool arbitrary = false) {
  return *AddressClaim::create({.identity = identity, .arbitrary_address = arbitrary}, preferred);
}

/// Each device receives the frames of all others, in steps of 1 ms.
void run(std::vector<AddressClaim>& devices, Time& now, Duration duration) {
  for (const Time end = now + duration; now < end; now += 1ms) {
    for (std::size_t from = 0; from < devices.size(); ++from) {
      while (const auto frame = devices[from].next_frame(now)) {
        for (std::size_t to = 0; to < devices.size(); ++to) {
          if (to != from) devices[to].receive(*frame, now);
        }
      }
    }
  }
}

}  // namespace

TEST_CASE("an identifier says priority, group, source and destination") {
  CHECK(decode_id(0x0CF0'0400) == Id{3, 0xF004, 0x00, broadcast_address});  // engine controller 1
  CHECK(decode_id(0x18EA'FF17) == Id{6, pgn_request, 0x17, 0xFF});
  CHECK(decode_id(0x18EE'FF80) == Id{6, pgn_address_claimed, 0x80, 0xFF});  // and not group 0xEEFF
  CHECK(decode_id(0x1DEF'2103) == Id{7, 0x1EF00, 0x03, 0x21});
  CHECK(encode_id({6, pgn_address_claimed, 0x80, 0xFF}) == 0x18EE'FF80);
  CHECK(encode_id({8, 0, 0, 0}).error() == Errc::out_of_range);
  CHECK(encode_id({0, 0x40000, 0, 0}).error() == Errc::out_of_range);
  CHECK(encode_id({6, 0xEE01, 0, 0}).error() == Errc::bad_value);
  CHECK(encode_id({6, 0xF004, 0, 0}).error() == Errc::bad_value);
  auto random = test::generator(65);
  for (std::size_t i = 0; i < test::count(100'000); ++i) {
    const auto id = static_cast<std::uint32_t>(random()) & max_extended_id;
    REQUIRE(encode_id(decode_id(id)) == id);
  }
}

TEST_CASE("a NAME is the number that its fields make") {
  const Name name{.identity = 0x12345,
                  .manufacturer = 0x7FF,
                  .ecu_instance = 5,
                  .function_instance = 3,
                  .function = 0xAB,
                  .vehicle_system = 0x11,
                  .system_instance = 9,
                  .industry_group = 2,
                  .arbitrary_address = true};
  CHECK(encode_name(name) == 0xA922'AB1D'FFE1'2345);
  CHECK(encode_name({.identity = 1U << 21}).error() == Errc::out_of_range);
  CHECK(encode_name({.manufacturer = 1U << 11}).error() == Errc::out_of_range);
  CHECK(encode_name({.industry_group = 8}).error() == Errc::out_of_range);
  auto random = test::generator(66);
  for (std::size_t i = 0; i < test::count(100'000); ++i) {
    const std::uint64_t number = random() & ~(std::uint64_t{1} << 48);
    REQUIRE(encode_name(decode_name(number)) == number);
  }
}

TEST_CASE("an uncontested address may be used after 250 ms") {
  AddressClaim claim = device(7, 0x80);
  Time now{};
  CHECK(!claim.next_frame(now));
  claim.start(now);
  const auto frame = claim.next_frame(now);
  REQUIRE(frame.has_value());
  CHECK(frame->id == 0x18EE'FF80);
  CHECK(name_in(*frame) == 7);
  CHECK(!claim.next_frame(now + claim_time - 1ns));
  CHECK(!claim.address());
  CHECK(!claim.next_frame(now + claim_time));
  CHECK(claim.address() == 0x80);

  AddressClaim late = device(7, 0x80);
  late.start({});
  CHECK(late.next_frame(Time(1s)).has_value());  // its time begins with the first transmission
  CHECK(!late.next_frame(Time(1s) + claim_time - 1ns));
  CHECK(!late.address());
  CHECK(!late.next_frame(Time(1s) + claim_time));
  CHECK(late.address() == 0x80);
  CHECK(AddressClaim::create({}, 254).error() == Errc::out_of_range);
}

TEST_CASE("of two devices the lower NAME keeps the address, in either order of arrival") {
  for (const bool lower_first : {true, false}) {
    std::vector<AddressClaim> devices = {device(lower_first ? 1 : 2, 0x20),
                                         device(lower_first ? 2 : 1, 0x20)};
    Time now{};
    devices[0].start(now);
    run(devices, now, 300ms);
    CHECK(devices[0].address() == 0x20);
    devices[1].start(now);
    run(devices, now, 600ms);
    CHECK(devices[lower_first ? 0 : 1].address() == 0x20);
    CHECK(!devices[lower_first ? 1 : 0].address());
    CHECK(devices[lower_first ? 1 : 0].state() == AddressClaim::State::lost);
  }
}

TEST_CASE("devices that can take any address all get one of their own") {
  std::vector<AddressClaim> devices;
  for (std::uint32_t i = 0; i < 100; ++i) devices.push_back(device(1000 - i, 0x80, true));
  Time now{};
  for (AddressClaim& claim : devices) {
    claim.start(now);
    run(devices, now, 3ms);
  }
  run(devices, now, 2s);
  std::set<std::uint8_t> addresses;
  for (const AddressClaim& claim : devices) {
    REQUIRE(claim.address().has_value());
    addresses.insert(*claim.address());
  }
  CHECK(addresses.size() == devices.size());
  CHECK(devices.back().address() == 0x80);  // the device with the lowest NAME
}

TEST_CASE("a device without an address says so, when it lost it and when it is asked, and not all at once") {
  std::set<Duration> delays;
  for (std::uint32_t identity = 100; identity < 110; ++identity) {
    AddressClaim claim = device(identity, 0x20);
    Time now{};
    claim.start(now);
    CHECK(claim.next_frame(now).has_value());
    claim.receive(claim_of(1, 0x20), now);
    std::optional<Frame> frame;
    for (; !(frame = claim.next_frame(now)); now += 100us) REQUIRE(now < Time(154ms));
    CHECK(source_of(*frame) == null_address);
    CHECK(name_in(*frame) == identity);
    delays.insert(now.time_since_epoch());
    claim.receive(*j1939::make_frame({.pgn = pgn_request, .source = 1, .destination = 0xFF}, ask_for_claims),
                  now);
    CHECK(claim.next_frame(now + 154ms).has_value());
  }
  CHECK(delays.size() > 7);
}

TEST_CASE("who asks for claims gets them, and others' addresses are not taken") {
  AddressClaim claim = device(500, 0x20, true);
  Time now{};
  claim.start(now);
  CHECK(claim.next_frame(now).has_value());
  for (const std::uint8_t destination : Addresses{0x20, 0xFF, 0x21}) {
    claim.receive(
        *j1939::make_frame({.pgn = pgn_request, .source = 1, .destination = destination}, ask_for_claims),
        now);
    CHECK(claim.next_frame(now).has_value() == (destination != 0x21));
  }
  claim.receive(claim_of(500 | std::uint64_t{1} << 63, 0x20), now);  // its own NAME
  CHECK(!claim.next_frame(now));
  for (unsigned address = 128; address <= 247; ++address) {
    if (address != 200) claim.receive(claim_of(address, static_cast<std::uint8_t>(address)), now);
  }
  claim.receive(claim_of(1, 0x20), now);
  CHECK(source_of(*claim.next_frame(now)) == 200);
  CHECK(!claim.next_frame(now + 250ms));
  CHECK(claim.address() == 200);
  claim.receive(claim_of(2, 200), now + 250ms);
  CHECK(claim.state() == AddressClaim::State::lost);
}
