// Tests the serial-line protocol against lines from Lawicel's manual, round trips of random frames, and bad
// lines in a stream. A scripted port limits how many bytes it takes and gives.
#include "takt/can/slcan.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "support/random.hpp"
#include "support/rt_guard.hpp"
#include "takt/can/slcan_bus.hpp"
#include "takt/core/manual_clock.hpp"

using namespace takt;
using namespace takt::can;
using slcan::Item;

namespace {

std::vector<std::uint8_t> bytes_of(std::string_view text) { return {text.begin(), text.end()}; }

std::vector<Item> decode_all(slcan::Decoder& decoder, std::string_view text) {
  const auto bytes = bytes_of(text);
  std::span<const std::uint8_t> rest(bytes);
  std::vector<Item> items;
  while (const auto item = decoder.next(rest)) items.push_back(*item);
  return items;
}

Frame frame_of(std::string_view line) {
  const auto item = slcan::decode_line(line);
  REQUIRE(item.has_value());
  REQUIRE(item->kind == Item::Kind::frame);
  return item->frame;
}

Frame random_frame(std::mt19937_64& random) {
  Frame frame;
  frame.extended = random() % 2 == 0;
  frame.fd = random() % 2 == 0;
  frame.bit_rate_switch = frame.fd && random() % 2 == 0;
  frame.remote = !frame.fd && random() % 4 == 0;
  frame.id = static_cast<std::uint32_t>(random()) & (frame.extended ? max_extended_id : max_standard_id);
  frame.length = frame.fd ? fd_lengths[random() % 16] : static_cast<std::uint8_t>(random() % 9);
  if (!frame.remote) {
    std::generate_n(frame.data.begin(), frame.length, [&] { return static_cast<std::uint8_t>(random()); });
  }
  return frame;
}

/// A port that takes `room` bytes in all, `step` bytes at a time, and gives `step` bytes at a time.
struct ScriptedPort {
  std::size_t write(std::span<const std::uint8_t> bytes) noexcept {
    const std::size_t taken = std::min({bytes.size(), room, step});
    for (const std::uint8_t byte : bytes.first(taken)) written += static_cast<char>(byte);
    room -= taken;
    return taken;
  }
  std::size_t read(std::span<std::uint8_t> bytes) noexcept {
    const std::size_t given = std::min({bytes.size(), incoming.size() - position, step});
    std::copy_n(incoming.begin() + static_cast<std::ptrdiff_t>(position), given, bytes.begin());
    position += given;
    return given;
  }

  std::string written;
  std::string incoming;
  std::size_t position = 0;
  std::size_t room = 1'000'000;
  std::size_t step = 1'000'000;
};

}  // namespace

TEST_CASE("frames are the lines of the manual") {
  const std::array<std::uint8_t, 3> data = {0x11, 0x22, 0xA3};
  CHECK(slcan::encode_line(*make_frame(0x100, data))->text() == "t10031122A3\r");
  CHECK(slcan::encode_line(*make_frame(0x1ABCDEF0, data, true), 0x1234)->text() == "T1ABCDEF031122A31234\r");
  Frame remote = *make_frame(0x55, {});
  remote.remote = true;
  remote.length = 3;
  CHECK(slcan::encode_line(remote)->text() == "r0553\r");
  remote.extended = true;
  CHECK(slcan::encode_line(remote)->text() == "R000000553\r");
  Frame fd = *make_fd_frame(0x7FF, std::array<std::uint8_t, 9>{1, 2, 3, 4, 5, 6, 7, 8, 9});
  CHECK(slcan::encode_line(fd)->text() == "b7FF9010203040506070809000000\r");
  fd.bit_rate_switch = false;
  fd.extended = true;
  CHECK(slcan::encode_line(fd)->text() == "D000007FF9010203040506070809000000\r");
  CHECK(slcan::set_bit_rate(1'000'000)->text() == "S8\r");
  CHECK(slcan::set_bit_rate(10'000)->text() == "S0\r");
  CHECK(slcan::set_bit_rate(999).error() == Errc::out_of_range);
  constexpr Result<Item> read = slcan::decode_line("t1232DEad");
  static_assert(read.has_value());
  CHECK(read->frame == *make_frame(0x123, std::array<std::uint8_t, 2>{0xDE, 0xAD}));
}

TEST_CASE("any frame that has a line comes back from it") {
  auto random = test::generator(61);
  for (std::size_t i = 0; i < test::count(20'000); ++i) {
    const Frame frame = random_frame(random);
    const auto stamp =
        random() % 2 == 0 ? std::optional<std::uint16_t>(random() % slcan::stamp_period) : std::nullopt;
    const auto line = slcan::encode_line(frame, stamp);
    REQUIRE(line.has_value());
    REQUIRE(line->text().size() <= slcan::max_line);
    slcan::Decoder decoder;
    const auto items = decode_all(decoder, line->text());
    REQUIRE(items.size() == 1);
    REQUIRE(items[0].kind == Item::Kind::frame);
    REQUIRE(items[0].frame == frame);
    REQUIRE(items[0].adapter_ms == stamp);
  }
}

TEST_CASE("frames that no line can say are refused") {
  Frame frame;
  frame.id = 0x800;
  CHECK(slcan::encode_line(frame).error() == Errc::id_too_large);
  frame.id = 1;
  frame.length = 9;
  CHECK(slcan::encode_line(frame).error() == Errc::wrong_length);
  frame.length = 0;
  frame.remote = frame.fd = true;
  CHECK(slcan::encode_line(frame).error() == Errc::wrong_format);
  frame.fd = false;
  CHECK(slcan::encode_line(frame, slcan::stamp_period).error() == Errc::out_of_range);
  frame.error = true;
  CHECK(slcan::encode_line(frame).error() == Errc::wrong_format);
  frame = {.id = 1, .bit_rate_switch = true};  // would decode without this flag
  CHECK(slcan::encode_line(frame).error() == Errc::wrong_format);
  frame = {.id = 1, .error_state = true};
  CHECK(slcan::encode_line(frame).error() == Errc::wrong_format);
  frame.fd = true;
  CHECK(slcan::encode_line(frame).has_value());
}

TEST_CASE("answers and commands are distinguished from frames and from each other") {
  slcan::Decoder decoder;
  const auto items = decode_all(decoder, "\rz\rZ\r\aFA4\rF\rS6\rO\rL\rC\rZ1\rt1230\r\n\r");
  using Kind = Item::Kind;
  const std::vector<Kind> kinds = {Kind::done,    Kind::transmitted, Kind::transmitted, Kind::refused,
                                   Kind::status,  Kind::command,     Kind::command,     Kind::command,
                                   Kind::command, Kind::command,     Kind::command,     Kind::frame,
                                   Kind::done};
  REQUIRE(items.size() == kinds.size());
  for (std::size_t i = 0; i < kinds.size(); ++i) CHECK(items[i].kind == kinds[i]);
  CHECK(items[4].status ==
        slcan::AdapterStatus{.error_warning = true, .error_passive = true, .bus_error = true});
  CHECK(items[6].command == 'S');
  CHECK(items[6].argument == 6);
  CHECK(decoder.counters() == slcan::Decoder::Counters{});
  for (unsigned flags = 0; flags < 256; ++flags) {
    const auto known = static_cast<std::uint8_t>(flags & ~0x10U);
    CHECK(slcan::encode_status(slcan::decode_status(known)) == known);
  }
  CHECK(slcan::encode_line(items[4].status).text() == "FA4\r");
}

TEST_CASE("lines that say nothing are refused by name") {
  for (const std::string_view line :
       {"t",     "t12",    "t123", "t1231", "t12310", "t1231001", "t12310012345", "t1230EA60",
        "t123g", "r12331", "x",    "S",     "S9",     "S66",      "Z2",           "z0",
        "F1",    "F123",   "Fgg",  "O1",    " t1230", "t1230 ",   "T1234567",     "d123"}) {
    CAPTURE(line);
    const auto item = slcan::decode_line(line);
    REQUIRE(!item.has_value());
    CHECK(item.error() == Errc::bad_line);
  }
  CHECK(slcan::decode_line("t8000").error() == Errc::id_too_large);
  CHECK(slcan::decode_line("T200000000").error() == Errc::id_too_large);
  CHECK(slcan::decode_line("t1239000000000000000000").error() == Errc::wrong_length);
  CHECK(frame_of("d123F" + std::string(128, 'a')).length == 64);
}

TEST_CASE("after garbage the next line is read, and what was refused is counted") {
  slcan::Decoder decoder;
  CHECK(decode_all(decoder, "t12\x80\xFF#\rt1231AA\r").size() == 1);
  CHECK(decoder.counters() == slcan::Decoder::Counters{.malformed = 1});
  CHECK(decode_all(decoder, std::string(100'000, 't') + "\rt1231AA\r").size() == 1);
  CHECK(decoder.counters() == slcan::Decoder::Counters{.malformed = 1, .too_long = 1});
  const auto items =
      decode_all(decoder, "t123\at1231AA\r");  // BEL in the middle: the line before it was cut off
  REQUIRE(items.size() == 2);
  CHECK(items[0].kind == Item::Kind::refused);
  CHECK(items[1].frame == frame_of("t1231AA"));
  CHECK(decoder.counters() == slcan::Decoder::Counters{.malformed = 2, .too_long = 1});
}

TEST_CASE("however the bytes come, the items are the same") {
  auto random = test::generator(62);
  for (std::size_t i = 0; i < test::count(300); ++i) {
    std::string text;
    for (int line = 0; line < 20; ++line) {
      text += slcan::encode_line(random_frame(random))->text();
      if (random() % 4 == 0) text += std::string(random() % 300, static_cast<char>(random())) + "\r";
      if (random() % 8 == 0) text += '\a';
    }
    slcan::Decoder whole;
    const auto expected = decode_all(whole, text);
    slcan::Decoder pieces;
    std::vector<Item> items;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t size = std::min<std::size_t>(1 + random() % 40, text.size() - at);
      for (const Item& item : decode_all(pieces, std::string_view(text).substr(at, size)))
        items.push_back(item);
      at += size;
    }
    REQUIRE(items == expected);
    REQUIRE(pieces.counters() == whole.counters());
  }
}

TEST_CASE("a bus opens its adapter, sends lines and receives stamped frames") {
  ScriptedPort port;
  ManualClock clock(time_from_nanoseconds(5));
  SlcanBus bus(port, clock);
  static_assert(CanBus<decltype(bus)>);
  CHECK(bus.open(500'000).has_value());
  CHECK(port.written == "C\rC\rS6\rO\r");  // no empty line: CANables repeat their last frame after one
  CHECK(bus.open(123).error() == Errc::out_of_range);
  port.written.clear();
  const std::array frames = {frame_of("t1231AA"), frame_of("T000001231BB")};
  CHECK(bus.send(frames) == 2);
  CHECK(port.written == "t1231AA\rT000001231BB\r");

  port.incoming = "\r\r\at7FF0\rz\rnonsense\rO\rF40\rt0010\r";
  std::array<Frame, 8> in;
  REQUIRE(bus.receive(in) == 2);
  CHECK(in[0].id == 0x7FF);
  CHECK(in[1].id == 1);
  CHECK(in[0].stamp == time_from_nanoseconds(5));
  CHECK(in[0].stamp_source == StampSource::software);
  CHECK(bus.status() == slcan::AdapterStatus{.arbitration_lost = true});
  CHECK(bus.counters() ==
        SlcanCounters{.sent = 2, .received = 2, .refusals = 1, .unexpected = 1, .malformed = 1});
}

TEST_CASE(
    "a line that takes little at a time gets whole frames, and the frames that do not fit are refused and "
    "counted") {
  ScriptedPort port;
  port.step = 3;
  port.room = 10;
  ManualClock clock;
  SlcanBus<ScriptedPort, ManualClock, slcan::max_line> bus(port, clock);
  std::vector<Frame> frames(30, frame_of("t1238" + std::string(16, 'A')));  // lines of 22 bytes
  const std::size_t taken = bus.send(frames);
  CHECK(taken == (10 + slcan::max_line) / 22);
  CHECK(bus.counters().no_room == frames.size() - taken);
  std::size_t commands = 0;
  Status status;
  for (; (status = bus.close()).has_value(); ++commands) REQUIRE(commands < slcan::max_line);
  CHECK(status.error() == Errc::no_room);
  port.room = 1'000'000;
  bus.flush();
  CHECK(bus.waiting() == 0);
  slcan::Decoder decoder;
  CHECK(decode_all(decoder, port.written).size() == taken + commands);
  CHECK(decoder.counters() == slcan::Decoder::Counters{});
  Frame impossible;
  impossible.length = 65;
  CHECK(bus.send({&impossible, 1}) == 1);
  CHECK(bus.counters().invalid == 1);
}

TEST_CASE("a flood without a frame does not hold a receiver up, and few places lose no frame") {
  ScriptedPort port;
  ManualClock clock;
  SlcanBus bus(port, clock);
  port.incoming = std::string(1'000'000, '\r');
  std::array<Frame, 4> in;
  CHECK(bus.receive(in) == 0);
  CHECK(port.position < 2000);
  port = {};
  for (int i = 0; i < 10; ++i) port.incoming += "t0001" + std::string(1, static_cast<char>('0' + i)) + "0\r";
  port.step = 7;
  std::size_t count = 0;
  while (const std::size_t got = bus.receive(std::span(in).first(3))) {
    for (std::size_t i = 0; i < got; ++i) CHECK(in[i].data[0] == 16 * count++);
  }
  CHECK(count == 10);
}

TEST_CASE("a bus that is copied goes on where the first one was") {
  ScriptedPort port;
  ManualClock clock;
  SlcanBus bus(port, clock);
  port.incoming = "t0010\rt0020\rt00";
  std::array<Frame, 1> in;
  CHECK(bus.receive(in) == 1);
  auto copy = std::make_unique<SlcanBus<ScriptedPort, ManualClock>>(bus);
  bus = SlcanBus(port, clock);
  port.incoming += "30\r";
  CHECK((copy->receive(in) == 1 && in[0].id == 2));
  CHECK((copy->receive(in) == 1 && in[0].id == 3));
}

TEST_CASE("nothing of it allocates or waits") {
  ScriptedPort port;
  port.written.reserve(100'000);
  for (int i = 0; i < 100; ++i) port.incoming += "t1232AABB\rgarbage\r\a";
  ManualClock clock;
  SlcanBus bus(port, clock);
  std::array<Frame, 16> frames;
  test::RtGuard guard;
  while (const std::size_t count = bus.receive(frames)) bus.send(std::span(frames).first(count));
  CHECK(guard.report() == "");
  CHECK(bus.counters().sent == 100);
}
