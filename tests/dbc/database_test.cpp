// Tests how the run-time database finds messages, and how it decodes and encodes frames and columns. It
// refuses short frames, small spans and impossible descriptions.
#include "takt/dbc/database.hpp"

#include <doctest/doctest.h>

#include <array>
#include <chrono>
#include <cmath>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "dbc/databases.hpp"
#include "support/rt_guard.hpp"

using namespace takt;
using namespace takt::can;
using namespace takt::test::databases;
using dbc::MessageCodec;

TEST_CASE("a short frame is an error, or gives the signals that it holds whole") {
  const Database dbc = load("features.dbc");
  const MessageCodec& message = *dbc.find("MotorStatus");
  Frame frame = *make_frame(256, Data{0x10, 0x00, 0xFF, 0xFF, 0x50, 0, 0, 0});
  std::vector<double> values(6);
  std::vector<Presence> presence(6);
  frame.length = 4;  // the bytes beyond the length stay in the frame's memory
  CHECK(message.decode(frame, values).error() == Errc::wrong_length);
  REQUIRE(message.decode(frame, values, presence, dbc::ShortFrame::complete_signals));
  CHECK(values[0] == doctest::Approx(0.4));
  CHECK(presence[0] == Presence::value);
  CHECK(presence[2] == Presence::cut_off);
  CHECK(std::isnan(values[2]));
  frame.length = 3;  // one byte of the second signal is missing
  REQUIRE(message.decode(frame, values, presence, dbc::ShortFrame::complete_signals));
  CHECK(presence[1] == Presence::cut_off);
  for (std::size_t size = 0; size < 8; ++size) {
    const Data data(size, 1);
    REQUIRE(message.decode(data, values, presence, dbc::ShortFrame::complete_signals));
    CHECK((presence[0] == Presence::value) == (size >= 2));
    CHECK(message.decode(data, values, presence).error() == Errc::wrong_length);
  }

  const Database nested = two_levels();
  REQUIRE(nested.find("M")->decode(Data{2}, values, presence, dbc::ShortFrame::complete_signals));
  CHECK(values[0] == 2);
  CHECK(presence[2] == Presence::cut_off);
  CHECK(presence[4] == Presence::not_selected);
  REQUIRE(nested.find("M")->decode(Data{}, values, presence, dbc::ShortFrame::complete_signals));
  CHECK(presence[0] == Presence::cut_off);
}

TEST_CASE("other frames than data frames, and spans that are too small, are refused") {
  const Database dbc = load("features.dbc");
  const MessageCodec& message = *dbc.find("MotorStatus");
  Frame frame = *make_frame(256, Data(8, 0));
  std::vector<double> values(6);
  std::vector<Presence> presence(6);
  CHECK(message.decode(frame, std::span(values).first(5)).error() == Errc::wrong_count);
  CHECK(message.decode(frame, values, std::span(presence).first(5)).error() == Errc::wrong_count);
  CHECK(message.encode_into(frame.data, std::span(values).first(5)).error() == Errc::wrong_count);
  CHECK(message.encode_into(std::span(frame.data).first(7), values).error() == Errc::wrong_length);
  frame.remote = true;
  CHECK(message.decode(frame, values).error() == Errc::wrong_format);
  frame.remote = false;
  frame.error = true;  // the number of an error frame is no identifier
  CHECK(message.decode(frame, values).error() == Errc::wrong_format);
  CHECK_FALSE(message.is_mine(frame));
  CHECK(dbc.find(frame) == nullptr);
  frame.error = false;
  frame.length = 200;  // longer than any frame on a bus
  CHECK(message.decode(frame, values));
}

TEST_CASE("messages are found by identifier, name and frame") {
  const Database dbc = load("features.dbc");
  CHECK(dbc.find(256, false) == dbc.find("MotorStatus"));
  CHECK(dbc.find(*make_frame(257, Data{})) == dbc.find("Multiplexed"));
  CHECK(dbc.find(512, true) == dbc.find("Nested"));
  CHECK(dbc.find(512, false) == nullptr);
  CHECK(dbc.find(256, true) == nullptr);
  CHECK(dbc.find(0xFFFF'FFFF, true) == nullptr);
  CHECK(dbc.find(0xFFFF'FFFF, false) == nullptr);
  CHECK(dbc.find("nothing") == nullptr);
  CHECK(dbc.find("MotorStatus")->cycle_time() == std::chrono::milliseconds(10));
  CHECK(dbc.find("Floats")->is_fd());

  Database moved = load("features.dbc");
  const MessageCodec* const before = moved.find("MotorStatus");
  const Database after = std::move(moved);
  CHECK(after.find("MotorStatus") == before);
  CHECK(before->description().name == "MotorStatus");
}

TEST_CASE("frames are encoded with their identifier and format") {
  const Database dbc = load("features.dbc");
  const auto nested = dbc.find("Nested")->encode(std::vector<double>{1, 0, 7, 0, 500});
  REQUIRE(nested.has_value());
  CHECK(*nested == *make_frame(512, Data{1, 7, 0xF4, 0x01, 0, 0, 0, 0}, true));
  const auto floats = dbc.find("Floats")->encode(std::vector<double>{1.5, 3, 0, 0, 0, 1});
  REQUIRE(floats.has_value());
  CHECK(floats->fd);
  CHECK(floats->length == 64);
  CHECK(floats->data[63] == 0x80);
  CHECK(floats->data[2] == 0xC0);
}

TEST_CASE("many frames are decoded into columns") {
  const Database dbc = load("features.dbc");
  const MessageCodec& message = *dbc.find("MotorStatus");
  std::vector<Frame> frames;
  for (int i = 0; i < 10; ++i) {
    frames.push_back(*make_frame(i % 2 == 0 ? 256 : 257, Data(8, static_cast<std::uint8_t>(i))));
    frames.back().stamp = time_from_nanoseconds(i);
  }
  frames[4].length = 3;
  constexpr std::size_t rows = 3;
  std::vector<double> columns(6 * rows), values(6);
  std::vector<Time> stamps(rows);
  const auto batch = message.decode_batch(frames, columns, rows, stamps);
  REQUIRE(batch.has_value());
  CHECK(batch->frames == 7);
  CHECK(batch->rows == rows);
  CHECK(batch->refused == 1);
  CHECK(to_nanoseconds(stamps[2]) == 6);
  for (std::size_t row = 0; row < rows; ++row) {
    REQUIRE(message.decode(frames[static_cast<std::size_t>(to_nanoseconds(stamps[row]))], values));
    for (std::size_t i = 0; i < 6; ++i) CHECK(columns[i * rows + row] == values[i]);
  }
  CHECK(message.decode_batch(frames, columns, rows + 1).error() == Errc::wrong_count);
  CHECK(message.decode_batch(frames, columns, rows, std::span(stamps).first(2)).error() == Errc::wrong_count);
  CHECK(message.decode_batch(frames, {}, 0)->frames == 0);
}

TEST_CASE("descriptions that no file could give are refused") {
  dbc::Message message;
  message.name = "M";
  message.length = 8;
  dbc::Signal signal;
  signal.name = "s";
  message.signals = {signal, signal};
  const auto is_refused = [](const dbc::Message& one, const std::string& why) {
    dbc::File file;
    file.messages = {one};
    const auto dbc = Database::make(file);
    return !dbc && dbc.error().error == Errc::bad_dbc && dbc.error().message.find(why) != std::string::npos;
  };
  CHECK_FALSE(is_refused(message, ""));
  const auto with = [&](auto change) {
    dbc::Message changed = message;
    change(changed);
    return changed;
  };
  CHECK(is_refused(with([](auto& m) { m.id = 0x800; }), "identifier"));
  CHECK(is_refused(with([](auto& m) { m.length = 1786; }), "at most 1785"));
  CHECK(
      is_refused(with([](auto& m) { m.signals[0].coding.field.length = 0; }), "do not lie within a message"));
  CHECK(is_refused(with([](auto& m) { m.signals[0].coding.scale = 0; }), "scale"));
  CHECK(is_refused(with([](auto& m) { m.signals[0].selected_by = 1; }), "or neither"));
  CHECK(is_refused(with([](auto& m) {
                     m.signals[0].selected_by = 2;
                     m.signals[0].selected_for = {{0, 0}};
                   }),
                   "not in the message"));
  CHECK(is_refused(with([](auto& m) {
                     m.signals[0].selected_by = 0;
                     m.signals[0].selected_for = {{0, 0}};
                   }),
                   "depends on itself"));
  CHECK(is_refused(with([](auto& m) {
                     m.signals[0].selected_by = 1;
                     m.signals[0].selected_for = {{3, 4}, {4, 5}};
                   }),
                   "increasing order"));
  dbc::File twice;
  twice.messages = {message, message};
  CHECK_FALSE(Database::make(twice).has_value());
}

TEST_CASE("finding, decoding and encoding keep the rules of the loop") {
  const Database dbc = load("features.dbc");
  const Database nested = two_levels();
  const Database truck = trucks();
  const std::vector<Frame> frames(16, *make_frame(256, Data(8, 3)));
  std::vector<double> values(8), columns(6 * 16);
  std::vector<Presence> presence(8);
  const Data data{2, 5, 1, 2, 3, 4, 5, 6};
  const std::vector<double> too_fast{1e9, 0, 0, 0, 0, 0};
  std::vector<std::int64_t> numbers(8);
  std::array<std::uint8_t, 8> sent{};
  std::size_t refused = 0;
  const Frame truck_frame = *make_frame(0x18F00421, data, true);

  test::RtGuard guard;
  bool ok = true;
  for (int i = 0; i < 100; ++i) {
    const MessageCodec* const message = dbc.find(frames[0]);
    ok = ok && message != nullptr && message->decode(frames[0], values) && message->encode(values);
    ok = ok && message->decode_batch(frames, columns, 16)->rows == 16;
    const MessageCodec* const pages = nested.find(5, false);
    ok = ok && pages->decode(data, values, presence) && pages->encode(values);
    ok = ok && pages->decode_numbers(data, numbers, presence) && pages->label(0, numbers[0]).empty();
    ok = ok && !message->encode_into(sent, too_fast, Overflow::error, refused) && refused == 0;
    ok = ok && !pages->decode(std::span(data).first(3), values, presence);
    ok =
        ok && truck.find(truck_frame)->decode(truck_frame, values) && truck.find(truck_frame)->encode(values);
  }
  CHECK(guard.report() == "");
  CHECK(ok);
}
