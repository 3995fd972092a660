// Input that neither end ever sends, to both ends, while the vehicle is driven. It has every truncation and
// bit flip of genuine datagrams, wrong lengths, duplicate systems, and datagrams of 64 KiB, a hundred
// thousand a second. Each is counted by its error, and the drive goes on.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/client_rig.hpp"
#include "support/adversary.hpp"
#include "support/random.hpp"

using namespace takt;
using namespace std::chrono_literals;
using secure::EnvelopeKind;
using secure::PlainChannel;
using test::SecureRig;
using vehicle::Errc;
using vehicle::SupervisorState;
using vehicle::System;

namespace {

using Bytes = std::vector<std::uint8_t>;
using PlainRig = test::ClientRig<PlainChannel, PlainChannel>;

constexpr std::size_t longest_datagram = 65507, longest_span = 65536;
constexpr vehicle::DriveCommand ahead{0.1, 0.6, 0};

PlainRig plain_rig() { return PlainRig(PlainChannel{}, PlainChannel{}); }

template <class Rig>
void get_going(Rig& rig) {
  rig.wait(3s);
  rig.drive(ahead, 3s);
  REQUIRE(rig.client.state() == SupervisorState::driving);
  REQUIRE(rig.plant().speed() > 1.5);
}

/// The next datagram of the vehicle, or of its client.
template <class Rig>
Bytes next_status(Rig& rig) {
  rig.now = std::max(rig.now, rig.machine.next_send());
  const std::size_t size = rig.machine.poll(rig.now, rig.bytes).value();
  REQUIRE(size > 0);
  return {rig.bytes.begin(), rig.bytes.begin() + static_cast<std::ptrdiff_t>(size)};
}
template <class Rig>
Bytes next_control(Rig& rig) {
  rig.now = std::max(rig.now, rig.client.next_send());
  const std::size_t size = rig.client.poll(rig.now, rig.bytes).value();
  REQUIRE(size > 0);
  return {rig.bytes.begin(), rig.bytes.begin() + static_cast<std::ptrdiff_t>(size)};
}

/// Calls it with each truncation of this datagram, then with each inverted bit.
template <class Try>
void change(const Bytes& genuine, Try&& attempt) {
  for (std::size_t size = 0; size < genuine.size(); ++size)
    attempt(Bytes(genuine.begin(), genuine.begin() + static_cast<std::ptrdiff_t>(size)));
  for (std::size_t bit = 0; bit < 8 * genuine.size(); ++bit) {
    Bytes flipped = genuine;
    flipped[bit / 8] = static_cast<std::uint8_t>(flipped[bit / 8] ^ 1U << bit % 8);
    attempt(flipped);
  }
}

std::uint64_t accounted(const vehicle::TelemetryCounters& counters) {
  return counters.taken + counters.late + counters.duplicated + counters.impossible + counters.malformed;
}

/// A status frame that claims so many blocks.
Bytes status_header(std::uint8_t count) { return {'A', 'T', 'S', 'F', 0, 0, 0x17, 0x70, count, 0, 0, 0}; }

/// Blocks of unknown systems, to the end of the frame.
Bytes unknown_systems(std::uint8_t count, std::size_t size) {
  Bytes bytes = status_header(count);
  while (bytes.size() + 2 <= size) bytes.insert(bytes.end(), {200, 0});
  bytes.resize(size);
  return bytes;
}

/// Random bytes after this beginning.
Bytes noise(std::mt19937_64& random, Bytes begin, std::size_t size) {
  begin.reserve(size);
  while (begin.size() < size) begin.push_back(static_cast<std::uint8_t>(random()));
  return begin;
}

/// The header of an envelope with a correct length.
Bytes envelope(std::mt19937_64& random, EnvelopeKind kind, std::uint64_t session, std::size_t size) {
  Bytes bytes(secure::envelope_header);
  ByteWriter writer(bytes);
  writer.big(std::uint16_t{0x544b});
  writer.big(std::uint8_t{1});
  writer.big(static_cast<std::uint8_t>(kind));
  writer.big(std::uint8_t{1});
  writer.big(std::uint8_t{0});
  writer.big(static_cast<std::uint16_t>(size - secure::envelope_overhead));
  writer.big(session);
  writer.big(std::uint64_t{1} << 60);
  writer.big(std::int64_t{6'000'000'000});
  return noise(random, bytes, size);
}

std::uint64_t session_of(const Bytes& datagram) { return secure::parse_envelope(datagram)->session; }

}  // namespace

TEST_CASE(
    "plain: each truncation and each flipped bit of a status frame is refused by name, or is another frame") {
  PlainRig rig = plain_rig();
  get_going(rig);
  const Bytes genuine = next_status(rig);
  std::size_t refused = 0, believed = 0;
  change(genuine, [&](const Bytes& changed) {
    auto client = rig.client;
    const auto before = client.telemetry().counters();
    const auto taken = client.receive(changed, rig.now);
    EXPECT(accounted(client.telemetry().counters()) == accounted(before) + (changed.empty() ? 0 : 1));
    if (changed.empty()) return;  // it is accepted, and has no effect
    const auto decoded = vehicle::decode_status(changed);
    EXPECT((decoded || taken.error() == decoded.error()));
    if (!taken) {
      ++refused;
      EXPECT(client.telemetry().last() == rig.client.telemetry().last());
      EXPECT(client.state() == SupervisorState::driving);
      EXPECT(client.command() == rig.client.command());
    } else {
      ++believed;
      const bool well = client.telemetry().check(rig.now).cause == vehicle::StopCause::none;
      EXPECT((client.state() == SupervisorState::driving) == well);
    }
  });
  CHECK(refused + believed + 1 == 9 * genuine.size());
  CHECK(refused > genuine.size() + 8 * (4 + 1 + 12));  // at least magic, count and lengths
  CHECK(rig.client.receive(genuine, rig.now));
}

TEST_CASE(
    "plain: lengths that lie, systems twice and wrong counts are refused by name, and the drive goes on") {
  PlainRig rig = plain_rig();
  get_going(rig);
  const Bytes genuine = next_status(rig);
  const auto before = rig.client.telemetry().counters();
  const auto last = rig.client.telemetry().last();
  std::uint64_t malformed = 0;
  const auto refuse = [&](const Bytes& bytes, Errc first, Errc second) {
    const auto taken = rig.client.receive(bytes, rig.now);
    EXPECT(!taken);
    EXPECT((taken.error() == first || taken.error() == second));
    EXPECT(rig.client.telemetry().counters().malformed == before.malformed + ++malformed);
  };
  for (std::size_t at = vehicle::status_header_bytes; at < genuine.size(); at += 2U + genuine[at + 1]) {
    for (unsigned length = 0; length < 256; ++length) {
      Bytes lying = genuine;
      lying[at + 1] = static_cast<std::uint8_t>(length);
      if (lying != genuine) refuse(lying, Errc::bad_len, Errc::truncated_tlv);
    }
    for (std::uint8_t system = 0; system < 12; ++system) {
      Bytes twice = genuine;
      twice[at] = system;
      if (twice != genuine) refuse(twice, Errc::duplicate_sid, Errc::bad_len);
    }
    Bytes again = genuine;
    ++again[8];
    const auto block = std::span(genuine).subspan(at, 2U + genuine[at + 1]);
    again.insert(again.end(), block.begin(), block.end());
    refuse(again, Errc::duplicate_sid, Errc::duplicate_sid);
  }
  for (unsigned count = 0; count < 256; ++count) {
    Bytes miscounted = genuine;
    miscounted[8] = static_cast<std::uint8_t>(count);
    if (miscounted != genuine) refuse(miscounted, Errc::count_mismatch, Errc::count_mismatch);
  }
  CHECK(rig.client.telemetry().last() == last);
  CHECK(rig.client.state() == SupervisorState::driving);
  CHECK(rig.client.receive(genuine, rig.now));
  rig.drive(ahead, 1s);
  CHECK(rig.client.state() == SupervisorState::driving);
}

TEST_CASE(
    "plain: each truncation and each other size of a control frame is refused, and so is a flipped magic") {
  PlainRig rig = plain_rig();
  get_going(rig);
  const Bytes genuine = next_control(rig);
  const auto before = rig.machine.counters();
  const auto obeyed = rig.machine.controller().counters().obeyed;
  std::uint64_t malformed = 0;
  change(genuine, [&](const Bytes& changed) {
    if (changed.empty() || vehicle::decode_control(changed, vehicle::ByteOrder::big)) return;
    const auto taken = rig.machine.receive(changed, rig.now);
    const Errc why = changed.size() < genuine.size() ? Errc::too_short : Errc::bad_magic;
    EXPECT(taken.error() == why);
    ++malformed;
  });
  CHECK(malformed == genuine.size() - 1 + 32);
  CHECK(rig.machine.counters().malformed == before.malformed + malformed);
  CHECK(rig.machine.controller().counters().obeyed == obeyed);
  CHECK(rig.machine.receive(genuine, rig.now));
  CHECK(rig.machine.controller().counters().obeyed == obeyed + 1);
}

TEST_CASE(
    "secure: no truncation and no flipped bit of any frame is believed, and each is counted by its name") {
  SecureRig rig = test::secure_rig();
  get_going(rig);
  const Bytes status = next_status(rig), control = next_control(rig);
  const auto check = [&](const Bytes& genuine, auto& end) {
    const auto before = end.channel().refused();
    const auto refused = end.counters().refused;
    std::array<std::uint64_t, 32> names{};
    change(genuine, [&](const Bytes& changed) {
      const auto taken = end.receive(changed, rig.now);
      EXPECT(!taken);
      if (!taken && taken.error().code < names.size()) ++names[taken.error().code];
    });
    CHECK(end.counters().refused == refused + 9 * genuine.size());
    for (std::size_t code = 1; code < names.size(); ++code)
      EXPECT(end.channel().refused()(static_cast<secure::Errc>(code)) ==
             before(static_cast<secure::Errc>(code)) + names[code]);
    CHECK(names[static_cast<std::size_t>(secure::Errc::too_short)] == secure::envelope_overhead);
    CHECK(names[static_cast<std::size_t>(secure::Errc::bad_magic)] == 16);
    CHECK(names[static_cast<std::size_t>(secure::Errc::unknown_session)] >= 64);
    CHECK(names[static_cast<std::size_t>(secure::Errc::bad_tag)] >= 8 * (genuine.size() - 16));
    CHECK(end.receive(genuine, rig.now));
  };
  const auto taken = rig.client.telemetry().counters().taken;
  const auto obeyed = rig.machine.controller().counters().obeyed;
  check(status, rig.client);
  check(control, rig.machine);
  CHECK(rig.client.telemetry().counters().taken == taken + 1);
  CHECK(rig.client.telemetry().counters().malformed == 0);
  CHECK(rig.machine.controller().counters().obeyed == obeyed + 1);
  CHECK(rig.client.state() == SupervisorState::driving);
}

TEST_CASE(
    "plain: datagrams of 64 KiB are refused by name at both ends, whatever they begin with, and the drive "
    "goes on") {
  auto random = test::generator(64);
  PlainRig rig = plain_rig();
  get_going(rig);
  PlainRig later = rig;
  const Bytes status = next_status(later);
  std::uint64_t count = 0;
  for (const std::size_t size : {longest_datagram, longest_span}) {
    Bytes more = status;  // a whole frame first
    more.resize(size);
    for (const Bytes& bytes :
         {Bytes(size), noise(random, {}, size), noise(random, status_header(255), size),
          unknown_systems(255, size), unknown_systems(static_cast<std::uint8_t>((size - 12) / 2), size), more,
          noise(random, {'A', 'T', 'C', 'F'}, size), envelope(random, EnvelopeKind::command, 7, size)}) {
      REQUIRE(bytes.size() == size);
      CHECK(vehicle::decode_status(bytes).error() == Errc::too_long);
      CHECK(rig.client.receive(bytes, rig.now).error() == Errc::too_long);
      CHECK(rig.machine.receive(bytes, rig.now).error() == Errc::bad_len);
      ++count;
    }
  }
  CHECK(rig.client.telemetry().counters().malformed == count);
  CHECK(rig.machine.counters().malformed == count);
  // As many systems as fit into a frame are counted; a claim of 255 is not believed.
  const auto before = rig.client.telemetry().counters();
  CHECK(rig.client.receive(unknown_systems(255, vehicle::max_status_bytes), rig.now).error() ==
        Errc::count_mismatch);
  Bytes full = unknown_systems(122, vehicle::max_status_bytes);
  std::copy_n(status.begin() + 4, 4, full.begin() + 4);
  CHECK(rig.client.receive(full, rig.now));
  CHECK(rig.client.telemetry().counters().unknown_blocks == before.unknown_blocks + 122);
  rig.drive(ahead, 1s);
  CHECK(rig.client.state() == SupervisorState::driving);
  CHECK(rig.client.counters().missed == 0);
}

TEST_CASE(
    "secure: datagrams of 64 KiB are refused by name at both ends, whatever they begin with, and the drive "
    "goes on") {
  auto random = test::generator(65);
  SecureRig rig = test::secure_rig();
  get_going(rig);
  const std::uint64_t session = session_of(next_control(rig));
  rig.wait(1ms);
  const auto client_before = rig.client.counters().refused, machine_before = rig.machine.counters().refused;
  std::uint64_t count = 0;
  const auto refuse = [&](const Bytes& bytes, secure::Errc of_client, secure::Errc of_machine) {
    const auto client_named = rig.client.channel().refused()(of_client);
    const auto machine_named = rig.machine.channel().refused()(of_machine);
    CHECK(rig.client.receive(bytes, rig.now).error() == of_client);
    CHECK(rig.machine.receive(bytes, rig.now).error() == of_machine);
    CHECK(rig.client.channel().refused()(of_client) == client_named + 1);
    CHECK(rig.machine.channel().refused()(of_machine) == machine_named + 1);
    ++count;
  };
  for (const std::size_t size : {longest_datagram, longest_span}) {
    refuse(Bytes(size), secure::Errc::bad_magic, secure::Errc::bad_magic);
    refuse(unknown_systems(255, size), secure::Errc::bad_magic, secure::Errc::bad_magic);
    refuse(envelope(random, EnvelopeKind::hello, session, size), secure::Errc::unexpected_kind,
           secure::Errc::wrong_length);
    refuse(envelope(random, EnvelopeKind::challenge, 0, size), secure::Errc::wrong_length,
           secure::Errc::unexpected_kind);
    refuse(envelope(random, EnvelopeKind::confirm, session, size), secure::Errc::unexpected_kind,
           secure::Errc::wrong_length);
    refuse(envelope(random, EnvelopeKind::command, session, size), secure::Errc::unexpected_kind,
           secure::Errc::bad_tag);
    refuse(envelope(random, EnvelopeKind::command, session + 1, size), secure::Errc::unexpected_kind,
           secure::Errc::unknown_session);
    refuse(envelope(random, EnvelopeKind::stop, session, size), secure::Errc::unexpected_kind,
           secure::Errc::bad_tag);
    refuse(envelope(random, EnvelopeKind::report, session, size), secure::Errc::bad_tag,
           secure::Errc::unexpected_kind);
    refuse(envelope(random, EnvelopeKind::report, session + 1, size), secure::Errc::unknown_session,
           secure::Errc::unexpected_kind);
    Bytes lying = envelope(random, EnvelopeKind::stop, session, size);
    lying[6] = lying[7] = 0xFF;
    refuse(lying, secure::Errc::wrong_length, secure::Errc::wrong_length);
    Bytes strange = envelope(random, EnvelopeKind::stop, session, size);
    strange[3] = 255;
    refuse(strange, secure::Errc::wrong_version, secure::Errc::wrong_version);
    strange[3] = static_cast<std::uint8_t>(EnvelopeKind::stop);
    strange[4] = 9;
    refuse(strange, secure::Errc::unknown_key, secure::Errc::unknown_key);
  }
  CHECK(rig.client.counters().refused == client_before + count);
  CHECK(rig.machine.counters().refused == machine_before + count);
  rig.drive(ahead, 1s);
  CHECK(rig.client.state() == SupervisorState::driving);
  CHECK(rig.client.counters().missed == 0);
}

TEST_CASE(
    "a hundred thousand datagrams of garbage a second, into each end: all are counted, and no frame is "
    "missed") {
  auto random = test::generator(66);
  const auto check = [&](auto rig, auto refused_by_client, auto refused_by_machine) {
    get_going(rig);
    const auto sent = rig.client.counters();
    const auto taken = rig.client.telemetry().counters().taken;
    const auto obeyed = rig.machine.controller().counters().obeyed;
    const auto client_before = refused_by_client(rig), machine_before = refused_by_machine(rig);
    for (int ms = 0; ms < 1000; ++ms) {
      for (int i = 0; i < 100; ++i) {
        Bytes bytes(static_cast<std::size_t>(test::uniform_int(random, 1, 200)));
        for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random());
        EXPECT(!rig.client.receive(bytes, rig.now));
        EXPECT(!rig.machine.receive(bytes, rig.now));
      }
      if (ms % 20 == 0) EXPECT(rig.client.drive(ahead, rig.now));
      rig.tick();
    }
    CHECK(refused_by_client(rig) == client_before + 100'000);
    CHECK(refused_by_machine(rig) == machine_before + 100'000);
    CHECK(rig.client.counters().sent == sent.sent + 100);
    CHECK(rig.client.counters().missed == sent.missed);
    CHECK(rig.client.telemetry().counters().taken == taken + 100);
    CHECK(rig.machine.controller().counters().obeyed == obeyed + 100);
    CHECK(rig.client.state() == SupervisorState::driving);
  };
  check(
      plain_rig(), [](auto& rig) { return rig.client.telemetry().counters().malformed; },
      [](auto& rig) { return rig.machine.counters().malformed; });
  check(
      test::secure_rig(), [](auto& rig) { return rig.client.counters().refused; },
      [](auto& rig) { return rig.machine.counters().refused; });
}
