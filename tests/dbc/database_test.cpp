// Tests the run-time database against the signal kernel, signal by signal. Inputs are random messages of
// every layout, and the files of this folder. Multiplexing, short frames and J1939 are tested by hand-made
// examples.
#include "takt/dbc/database.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>
#include <vector>

#include "support/random.hpp"
#include "support/rt_guard.hpp"
#include "support/source_dir.hpp"

using namespace takt;
using namespace takt::can;
using dbc::Database;
using dbc::MessageCodec;

namespace {

const std::string folder = TAKT_SOURCE_DIR "/tests/dbc/";
using Data = std::vector<std::uint8_t>;

Database load(const std::string& name) {
  auto dbc = Database::load(folder + name);
  REQUIRE_MESSAGE(dbc.has_value(), dbc.error().message);
  return std::move(*dbc);
}

Database parse(const std::string& text) {
  auto dbc = Database::parse(text);
  REQUIRE_MESSAGE(dbc.has_value(), dbc.error().message);
  return std::move(*dbc);
}

/// A J1939 file with two messages.
Database trucks() {
  return parse(
      "BU_: A\n"
      "BO_ 2364540158 EEC1: 8 A\n"
      " SG_ speed : 24|16@1+ (0.125,0) [0|8031.875] \"rpm\" A\n"
      " SG_ torque : 16|8@1+ (1,-125) [-125|125] \"%\" A\n"
      " SG_ lamp : 0|2@1+ (1,0) [0|3] \"\" A\n"
      " SG_ mode : 7|4@0+ (1,0) [0|15] \"\" A\n"
      " SG_ wide : 40|24@1+ (1,0) [0|0] \"\" A\n"
      "BO_ 2565807872 TSC1: 8 A\n"  // 0x18EF1F00 without bit 31: PF 0xEF has a destination
      " SG_ request : 0|8@1- (1,0) [0|0] \"\" A\n"
      " SG_ flag : 8|1@1+ (1,0) [0|0] \"\" A\n"
      "BA_DEF_ \"ProtocolType\" STRING ;\nBA_ \"ProtocolType\" \"J1939\";\n");
}

/// Nested multiplexing: root selects a by 0-1 and b by 2; b selects c and d by 5, and d by 7.
Database two_levels() {
  return parse(
      "BU_: A\n"
      "BO_ 5 M: 8 A\n"
      " SG_ root M : 7|8@0+ (1,0) [0|0] \"\" A\n"
      " SG_ a m0 : 16|8@1+ (1,0) [0|0] \"\" A\n"
      " SG_ b m2M : 8|8@1- (1,0) [0|0] \"\" A\n"
      " SG_ c m5 : 24|8@1+ (1,0) [0|0] \"\" A\n"
      " SG_ d m5 : 32|8@1+ (1,0) [0|0] \"\" A\n"
      " SG_ always : 56|8@1+ (0.5,0) [0|0] \"\" A\n"
      "SG_MUL_VAL_ 5 a root 0-1;\nSG_MUL_VAL_ 5 b root 2-2;\n"
      "SG_MUL_VAL_ 5 c b 5-5;\nSG_MUL_VAL_ 5 d b 5-5, 7-7, 200-255;\n");
}

BitField random_field(std::mt19937_64& random, std::size_t bytes) {
  const auto bits = static_cast<std::int64_t>(8 * bytes);
  for (;;) {
    BitField field;
    field.start = static_cast<std::uint16_t>(test::uniform_int(random, 0, bits - 1));
    field.length = static_cast<std::uint8_t>(test::uniform_int(random, 1, std::min<std::int64_t>(64, bits)));
    field.order = random() % 2 == 0 ? ByteOrder::little : ByteOrder::big;
    field.type = static_cast<NumberType>(random() % 4);
    if (field.type == NumberType::float32) field.length = 32;
    if (field.type == NumberType::float64) field.length = 64;
    if (fits(field, bytes)) return field;
  }
}

/// A message whose signals share no bits.
dbc::Message random_message(std::mt19937_64& random) {
  dbc::Message message;
  message.name = "M";
  message.id = 7;
  message.length = static_cast<std::uint16_t>(random() % 3 == 0 ? test::uniform_int(random, 1, 70)
                                                                : test::uniform_int(random, 1, 8));
  for (int i = 0; i < 12; ++i) {
    dbc::Signal signal;
    signal.name = "s" + std::to_string(i);
    signal.coding.field = random_field(random, message.length);
    signal.coding.scale = test::uniform(random, -2, 2);
    signal.coding.offset = test::uniform(random, -100, 100);
    const bool is_free = std::none_of(
        message.signals.begin(), message.signals.end(),
        [&](const dbc::Signal& other) { return overlap(signal.coding.field, other.coding.field); });
    if (is_free) message.signals.push_back(signal);
  }
  return message;
}

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

/// Returns whether all selectors above a signal select it, computed bit by bit.
bool is_there(const dbc::Message& message, const dbc::Signal& signal, const Data& data) {
  if (!signal.selected_by) return true;
  const dbc::Signal& selector = message.signals[*signal.selected_by];
  const std::uint64_t number = extract(selector.coding.field, data).value();
  return is_there(message, selector, data) &&
         std::any_of(
             signal.selected_for.begin(), signal.selected_for.end(),
             [&](const dbc::NumberRange& range) { return range.first <= number && number <= range.last; });
}

Data any_data(std::mt19937_64& random, std::size_t size) {
  Data data(size);
  for (std::uint8_t& byte : data) byte = static_cast<std::uint8_t>(random());
  return data;
}

}  // namespace

TEST_CASE("a database decodes and encodes as the kernel does, whatever the layout") {
  auto random = test::generator(610);
  const std::size_t cases = test::count(3000);
  for (std::size_t i = 0; i < cases; ++i) {
    dbc::File file;
    file.messages.push_back(random_message(random));
    const auto dbc = Database::make(file);
    REQUIRE(dbc.has_value());
    const MessageCodec& message = dbc->messages().front();
    const auto& signals = message.description().signals;
    const Data data = any_data(random, message.length());
    std::vector<double> values(signals.size());
    std::vector<Presence> presence(signals.size());
    REQUIRE(message.decode(data, values, presence));
    for (std::size_t s = 0; s < signals.size(); ++s) {
      CAPTURE(i);
      REQUIRE(presence[s] == Presence::value);
      REQUIRE(same(values[s], decode(signals[s].coding, data).value()));
    }

    for (const Overflow overflow : {Overflow::error, Overflow::clamp, Overflow::wrap}) {
      for (std::size_t s = 0; s < signals.size(); ++s) {
        const SignalCoding& coding = signals[s].coding;
        const double reach = std::ldexp(1.0, coding.field.length) * (overflow == Overflow::error ? 0.4 : 0.6);
        values[s] = test::uniform(random, 0, reach) * coding.scale + coding.offset;
      }
      Data expected(message.length(), 0);
      Data encoded(message.length() + 2, 0xA5);
      Status status{};
      for (std::size_t s = 0; s < signals.size(); ++s) {
        const auto bits = to_bits(signals[s].coding, values[s], overflow);
        if (bits) {
          REQUIRE(insert(signals[s].coding.field, expected, *bits));
        } else if (status) {
          status = fail(bits.error());
        }
      }
      REQUIRE(message.encode_into(encoded, values, overflow).has_value() == status.has_value());
      if (!status) std::fill(expected.begin(), expected.end(), std::uint8_t{0xA5});  // nothing was written
      expected.resize(encoded.size(), 0xA5);
      REQUIRE(encoded == expected);
    }
  }
}

TEST_CASE("scales at both ends of the range of double decode as the kernel does") {
  const Database dbc = parse(
      "BO_ 1 M: 8 A\n"
      " SG_ high : 48|16@1+ (1e-300,0) [0|0] \"\" A\n"
      " SG_ low : 0|16@1- (1.5e-308,0) [0|0] \"\" A\n"
      " SG_ large : 16|8@1- (1e300,0) [0|0] \"\" A\n"
      "BO_ 2 N: 8 A\n"
      " SG_ top : 63|1@1+ (1e-200,-0.0) [0|0] \"\" A\n"
      " SG_ most : 7|63@0+ (3,1) [0|0] \"\" A\n");
  auto random = test::generator(617);
  for (std::size_t i = 0; i < test::count(200); ++i) {
    const Data data = any_data(random, 8);
    for (const MessageCodec& message : dbc.messages()) {
      const auto& signals = message.description().signals;
      std::vector<double> values(signals.size());
      REQUIRE(message.decode(data, values));
      for (std::size_t s = 0; s < signals.size(); ++s)
        REQUIRE(std::bit_cast<std::uint64_t>(values[s]) ==
                std::bit_cast<std::uint64_t>(decode(signals[s].coding, data).value()));
    }
  }
}

TEST_CASE("all messages of the files decode as the kernel does, of multiplexed ones what is there") {
  auto random = test::generator(611);
  for (const std::string name : {"features.dbc", "vendor.dbc"}) {
    const Database dbc = load(name);
    for (const MessageCodec& message : dbc.messages()) {
      std::size_t decoded = 0;
      for (int i = 0; i < 2000; ++i) {
        Data data = any_data(random, message.length());
        if (!data.empty() && i % 2 == 0) data[0] = static_cast<std::uint8_t>(random() % 3);
        std::vector<double> values(message.signal_count());
        std::vector<Presence> presence(message.signal_count());
        if (!message.decode(data, values, presence)) continue;
        ++decoded;
        for (std::size_t s = 0; s < values.size(); ++s) {
          const dbc::Signal& signal = message.description().signals[s];
          CAPTURE(signal.name);
          const bool there = is_there(message.description(), signal, data);
          REQUIRE((presence[s] != Presence::not_selected) == there);
          if (presence[s] == Presence::value) {
            REQUIRE(same(values[s], decode(signal.coding, data).value()));
          } else {
            REQUIRE(std::isnan(values[s]));
          }
        }
        // Decoded values encode to the same bits, if each number has its own double.
        const bool is_exact =
            std::none_of(message.description().signals.begin(), message.description().signals.end(),
                         [](const dbc::Signal& signal) { return signal.coding.field.length > 50; });
        if (!is_exact || message.is_j1939()) continue;
        Data again(message.length());
        REQUIRE(message.encode_into(again, values, Overflow::wrap));  // which ignores the range
        std::vector<double> values_again(values.size());
        REQUIRE(message.decode(again, values_again));
        for (std::size_t s = 0; s < values.size(); ++s) REQUIRE(same(values[s], values_again[s]));
      }
      CHECK(decoded > 0);
    }
  }
}

TEST_CASE("only what the selectors choose is decoded; a number that chooses nothing is an error") {
  const Database dbc = two_levels();
  const MessageCodec& message = *dbc.find("M");
  std::vector<double> values(6);
  const auto decode = [&](std::uint8_t root, std::uint8_t b) {
    std::fill(values.begin(), values.end(), -1);
    return message.decode(Data{root, b, 10, 20, 30, 0, 0, 8}, values);
  };
  const auto are_there = [&](std::vector<int> expected) {
    std::vector<int> there;
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (!std::isnan(values[i])) there.push_back(static_cast<int>(i));
    }
    return there == expected;
  };
  REQUIRE(decode(1, 5));
  CHECK(are_there({0, 1, 5}));
  CHECK(values[1] == 10);
  CHECK(values[5] == 4);
  REQUIRE(decode(2, 5));
  CHECK(are_there({0, 2, 3, 4, 5}));
  CHECK(values[4] == 30);
  REQUIRE(decode(2, 7));
  CHECK(are_there({0, 2, 4, 5}));
  REQUIRE(decode(2, 0xFF));  // -1 as a signed number: selectors compare bits
  CHECK(are_there({0, 2, 4, 5}));
  CHECK(values[2] == -1);

  CHECK(decode(3, 5).error() == Errc::unknown_selector);
  CHECK(decode(2, 6).error() == Errc::unknown_selector);
  CHECK(decode(2, 0).error() == Errc::unknown_selector);
  CHECK(values == std::vector<double>(6, -1.0));  // nothing was written
}

TEST_CASE("of a multiplexed message only what the selectors choose is encoded") {
  const Database dbc = two_levels();
  const MessageCodec& message = *dbc.find("M");
  const double unused = std::nan("");
  Data data(8, 0xEE);
  REQUIRE(message.encode_into(data, std::vector<double>{1, 77, unused, unused, unused, 2}));
  CHECK(data == Data{1, 0, 77, 0, 0, 0, 0, 4});
  REQUIRE(message.encode_into(data, std::vector<double>{2, unused, 7, unused, 99, 0}));
  CHECK(data == Data{2, 7, 0, 0, 99, 0, 0, 0});
  CHECK(message.encode_into(data, std::vector<double>{2, 1, 6, 1, 1, 1}).error() == Errc::unknown_selector);
  CHECK(message.encode_into(data, std::vector<double>{2, 1, unused, 1, 1, 1}).error() == Errc::not_finite);
  CHECK(message.encode_into(data, std::vector<double>{2, 1, 7, 1, 256, 1}).error() == Errc::out_of_range);
  CHECK(data == Data{2, 7, 0, 0, 99, 0, 0, 0});
}

namespace {

/// A selector with texts for numbers that select nothing, and states beyond the ranges.
Database states() {
  return parse(
      "BU_: A\nBO_ 5 M: 8 A\n"
      " SG_ page M : 0|8@1- (1,0) [0|0] \"\" A\n"
      " SG_ first m0 : 8|8@1+ (1,0) [0|0] \"\" A\n"
      " SG_ second m2 : 8|8@1- (1,0) [-10|10] \"\" A\n"
      " SG_ speed : 16|8@1+ (0.1,0) [0|20] \"m/s\" A\n"
      " SG_ angle : 31|8@0- (-0.5,3) [-47|53] \"deg\" A\n"
      " SG_ wide : 32|32@1+ (1,0) [0|100] \"\" A\n"
      "VAL_ 5 page 0 \"first\" 3 \"idle\" -1 \"none\" 4 \"service\" ;\n"
      "VAL_ 5 speed 253 \"init\" 254 \"error\" 7 \"slow\" ;\n"
      "VAL_ 5 angle -128 \"lost\" 500 \"outside the field\" ;\n"
      "VAL_ 5 wide 4294967295 \"error\" ;\n");
}

}  // namespace

TEST_CASE("a selector's number that has a text but no signals leaves what is always there") {
  const Database dbc = states();
  const MessageCodec& message = *dbc.find("M");
  std::vector<double> values(6);
  std::vector<Presence> presence(6);
  for (const std::uint8_t page : Data{3, 4, 0xFF}) {
    REQUIRE(message.decode(Data{page, 9, 100, 0, 1, 0, 0, 0}, values, presence));
    CHECK(values[3] == 10);
    CHECK(values[5] == 1);
    CHECK(presence == std::vector<Presence>{Presence::value, Presence::not_selected, Presence::not_selected,
                                            Presence::value, Presence::value, Presence::value});
    Data data(8);
    REQUIRE(message.encode_into(data, values));
    CHECK(data == Data{page, 0, 100, 0, 1, 0, 0, 0});
  }
  for (const std::uint8_t page : Data{1, 5, 0xFE})
    CHECK(message.decode(Data{page, 0, 0, 0, 0, 0, 0, 0}, values).error() == Errc::unknown_selector);
  REQUIRE(message.decode(Data{2, 9, 0, 0, 0, 0, 0, 0}, values));
  CHECK(values[2] == 9);
}

TEST_CASE("a state of the value table beyond the range is sent, and the range still judges all else") {
  const Database dbc = states();
  const MessageCodec& message = *dbc.find("M");
  CHECK(std::ranges::equal(message.states(3), std::vector<std::uint64_t>{253, 254}));
  for (const Overflow overflow : {Overflow::error, Overflow::clamp, Overflow::wrap}) {
    Data data(8);
    const double error = *message.value_of(3, "error");
    REQUIRE(message.encode_into(data, std::vector<double>{0, 1, 0, error, 67, 4294967295.0}, overflow));
    CHECK(data == Data{0, 1, 254, 0x80, 0xFF, 0xFF, 0xFF, 0xFF});
    REQUIRE(message.encode_into(data, std::vector<double>{0, 1, 0, 25.4, 0, 5},
                                overflow));  // as a decimal number
    CHECK(data[2] == 254);
  }
  const auto code = [&](double speed, double angle) {
    Data data(8);
    std::size_t refused = 0;
    const Status status =
        message.encode_into(data, std::vector<double>{0, 1, 0, speed, angle, 5}, Overflow::error, refused);
    CHECK((status || (status.error() == Errc::out_of_range && refused == (angle == 0 ? 3U : 4U))));
    return status.has_value();
  };
  CHECK(code(20, 0));
  CHECK(code(25.3, 0));
  for (const double speed : {20.1, 25.2, 25.31, 25.39, 25.5}) CHECK_FALSE(code(speed, 0));
  CHECK_FALSE(code(1, 66.5));
  Data data(8);
  REQUIRE(message.encode_into(data, std::vector<double>{0, 1, 0, 25.39, 0, 5}, Overflow::clamp));
  CHECK(data[2] == 200);
}

TEST_CASE("what is refused is named: the signal, its value and what is allowed") {
  const Database dbc = states();
  const MessageCodec& message = *dbc.find("M");
  const auto why = [&](std::vector<double> values) {
    const auto refusal = message.explain(values);
    return refusal ? refusal->message : "";
  };
  CHECK(why({0, 1, 0, 1, 1, 1}).empty());
  CHECK(
      why({0, 1, 0, 21, 1, 1}) ==
      "message M, signal speed: 21 cannot be sent; allowed are 0 to 20 m/s, or 25.3 (init), or 25.4 (error)");
  CHECK(why({2, 0, 11, 1, 1, 1}) == "message M, signal second: 11 cannot be sent; allowed are -10 to 10");
  CHECK(why({1, 0, 0, 1, 1, 1}) == "message M, signal page: 1 selects no signal of the message");
  CHECK(why({0, std::nan(""), 0, 1, 1, 1}) ==
        "message M, signal first: nan cannot be sent; allowed are 0 to 255");
  CHECK(why({0, 1}) == "message M: 2 values are given for 6 signals");
  CHECK(message.explain(std::vector<double>{0, 1, 0, 21, 1, 1})->signal == 3);
  const Database cut = parse(
      "BU_: A\nBO_ 1 M: 1 A\n SG_ a : 0|8@1+ (1,0) [0|0] \"\" A\n"
      " SG_ b : 8|8@1+ (1,0) [0|0] \"\" A\n");
  CHECK(cut.find("M")->explain(std::vector<double>{1, 1})->message ==
        "message M, signal b: it does not lie within the 1 bytes of the message");
}

TEST_CASE("numbers of the fields and their labels are as the file has them") {
  const Database dbc = states();
  const MessageCodec& message = *dbc.find("M");
  std::vector<std::int64_t> numbers(6);
  std::vector<Presence> presence(6);
  REQUIRE(message.decode_numbers(Data{0, 7, 254, 0x80, 0xFF, 0xFF, 0xFF, 0xFF}, numbers, presence));
  CHECK(numbers == std::vector<std::int64_t>{0, 7, 0, 254, -128, 4294967295});
  CHECK(presence[2] == Presence::not_selected);
  CHECK(message.label(3, numbers[3]) == "error");
  CHECK(message.label(4, numbers[4]) == "lost");
  CHECK(message.label(0, -1) == "none");
  CHECK(message.label(3, 1).empty());
  CHECK(message.label(6, 0).empty());
  CHECK(message.value_of(4, "lost") == 67);
  CHECK_FALSE(message.value_of(4, "outside the field").has_value());
  CHECK_FALSE(message.value_of(4, "nothing").has_value());
  REQUIRE(message.decode_numbers(Data{0, 7, 1}, numbers, presence, dbc::ShortFrame::complete_signals));
  CHECK(presence[4] == Presence::cut_off);
  CHECK(message.decode_numbers(Data{0}, numbers, presence).error() == Errc::wrong_length);
  CHECK(message.decode_numbers(Data(8, 1), numbers, presence).error() == Errc::unknown_selector);
  CHECK(message.decode_numbers(Data(8, 0), std::span(numbers).first(5), presence).error() ==
        Errc::wrong_count);

  const Database truck = trucks();
  REQUIRE(truck.find("EEC1")->decode_numbers(Data(8, 0xFE), numbers, presence));
  CHECK(numbers[1] == 0xFE);
  CHECK(presence[1] == Presence::error_indicator);
}

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

TEST_CASE("what is no data frame, and spans that are too small, are refused") {
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

TEST_CASE("J1939: a message is known by its parameter group, whoever sends it and however urgent it is") {
  const Database dbc = trucks();
  const MessageCodec* const speed = dbc.find("EEC1");
  const MessageCodec* const control = dbc.find("TSC1");
  CHECK(dbc.find(0x0CF004FE, true) == speed);
  CHECK(dbc.find(0x18F00421, true) == speed);
  CHECK(dbc.find(0x0CF00500, true) == nullptr);
  CHECK(dbc.find(0x0DF00400, true) == nullptr);  // another data page
  CHECK(dbc.find(0x0CF004FE, false) == nullptr);
  REQUIRE(control->description().id == 0x18EF1F00);
  CHECK(dbc.find(0x0CEF0033, true) == control);  // another destination
  Frame frame = *make_frame(0x18F00421, Data(8, 0), true);
  CHECK(speed->is_mine(frame));
  CHECK_FALSE(control->is_mine(frame));

  for (const MessageCodec* message : {speed, control}) {  // the filter passes this message only
    for (const std::uint32_t id :
         {0x18F00421U, 0x0CF004FEU, 0x0CF00500U, 0x0DF00400U, 0x0CEF0033U, 0x18EE1F00U}) {
      for (const bool extended : {false, true}) {
        frame.id = id;
        frame.extended = extended;
        CHECK(message->filter().passes(id, extended) == message->is_mine(frame));
      }
    }
  }
}

TEST_CASE(
    "J1939: of several messages of one parameter group, only the whole identifier tells which one it is") {
  const Database dbc = parse(
      "BU_: A B\n"
      "BO_ 2565799936 FromA: 8 A\n SG_ speed : 0|16@1+ (1,0) [0|0] \"\" B\n"
      "BO_ 2565799937 FromB: 8 B\n SG_ pressure : 0|16@1+ (1,0) [0|0] \"\" A\n"
      "BA_DEF_ \"ProtocolType\" STRING ;\nBA_ \"ProtocolType\" \"J1939\";\n");
  const MessageCodec& a = dbc.messages()[0];
  const MessageCodec& b = dbc.messages()[1];
  std::vector<Frame> frames;
  for (const std::uint32_t id : {a.description().id, b.description().id, a.description().id + 2})
    frames.push_back(*make_frame(id, Data(8, static_cast<std::uint8_t>(id & 0xF)), true));
  for (const MessageCodec* message : {&a, &b}) {
    for (const Frame& frame : frames) {
      const bool is_found = dbc.find(frame) == message;
      CHECK(is_found == (frame.id == message->description().id));
      CHECK(message->is_mine(frame) == is_found);
      CHECK(message->filter().passes(frame.id, true) == is_found);
    }
    double column[3] = {};
    const auto batch = message->decode_batch(frames, column, 3);
    REQUIRE(batch.has_value());
    CHECK(batch->rows == 1);
    CHECK(column[0] == 0x101 * (message->description().id & 0xF));
  }
}

TEST_CASE("J1939: not available, error and reserved numbers are no values") {
  const Database dbc = trucks();
  const MessageCodec& message = *dbc.find("EEC1");
  std::vector<double> values(5);
  std::vector<Presence> presence(5);
  const auto decode = [&](Data data) { REQUIRE(message.decode(data, values, presence)); };

  decode({0x01, 0, 0xFA, 0xFF, 0xFA, 0xFF, 0xFF, 0xFA});  // the largest values
  CHECK(values[0] == doctest::Approx(8031.875));
  CHECK(values[1] == 125);
  CHECK(values[2] == 1);
  CHECK(values[4] == 0xFAFFFF);
  CHECK(std::count(presence.begin(), presence.end(), Presence::value) == 5);

  decode({0xFE, 0, 0xFE, 0x00, 0xFE, 0x12, 0x34, 0xFE});
  CHECK(presence == std::vector<Presence>{Presence::error_indicator, Presence::error_indicator,
                                          Presence::error_indicator, Presence::not_available,
                                          Presence::error_indicator});
  decode(Data(8, 0xFF));
  CHECK(presence == std::vector<Presence>(5, Presence::not_available));
  CHECK(std::all_of(values.begin(), values.end(), [](double value) { return std::isnan(value); }));
  decode({0, 0, 0xFB, 0xFF, 0xFD, 0, 0, 0xFC});
  CHECK(presence[0] == Presence::reserved);
  CHECK(presence[1] == Presence::reserved);
  CHECK(presence[4] == Presence::reserved);

  Data data(8);
  const double none = std::nan("");
  REQUIRE(message.encode_into(data, std::vector<double>{1000, none, none, 3, none}));
  CHECK(data == Data{0x3F, 0xFF, 0xFF, 0x40, 0x1F, 0xFF, 0xFF, 0xFF});
  CHECK(message.encode_into(data, std::vector<double>{8032, 0, 0, 0, 0}).error() == Errc::out_of_range);
  REQUIRE(message.encode_into(data, std::vector<double>{9e9, 999, 3, 0, 1e9}, Overflow::clamp));
  decode(data);
  CHECK(values[0] == doctest::Approx(8031.875));
  CHECK(values[1] == 125);
  CHECK(values[2] == 1);
  CHECK(values[4] == 0xFAFFFF);

  // Signed numbers and single bits have no J1939 codes.
  const MessageCodec& control = *dbc.find("TSC1");
  REQUIRE(control.decode(Data(8, 0xFF), values));
  CHECK(values[0] == -1);
  CHECK(values[1] == 1);
  CHECK(control.encode_into(data, std::vector<double>{none, 1}).error() == Errc::not_finite);
}

TEST_CASE("a message of J1939 that is longer than a frame is decoded from what its transport has joined") {
  const Database dbc = parse(
      "BU_: A\nBO_ 2566834430 DM1: 200 A\n SG_ last : 1592|8@1- (1,0) [0|0] \"\" A\n"
      " SG_ early : 9|16@1+ (1,0) [0|0] \"\" A\n"
      "BA_DEF_ \"ProtocolType\" STRING ;\nBA_ \"ProtocolType\" \"J1939\";\n");
  const MessageCodec& message = *dbc.find("DM1");
  Data data(200, 2);
  data.back() = 0xFE;
  std::vector<double> values(2);
  REQUIRE(message.decode(data, values));
  CHECK(values == std::vector<double>{-2, 0x0101});
  CHECK(message.encode(values).error() == Errc::payload_too_long);
  REQUIRE(message.encode_into(data, values));
  REQUIRE(message.decode(data, values));
  CHECK(values == std::vector<double>{-2, 0x0101});
  CHECK(message.decode(std::span(data).first(64), values, dbc::ShortFrame::complete_signals));
  CHECK(std::isnan(values[0]));
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
  CHECK(is_refused(with([](auto& m) { m.length = 1786; }), "too long"));
  CHECK(is_refused(with([](auto& m) { m.signals[0].coding.field.length = 0; }), "no place"));
  CHECK(is_refused(with([](auto& m) { m.signals[0].coding.scale = 0; }), "scale"));
  CHECK(is_refused(with([](auto& m) { m.signals[0].selected_by = 1; }), "belong together"));
  CHECK(is_refused(with([](auto& m) {
                     m.signals[0].selected_by = 2;
                     m.signals[0].selected_for = {{0, 0}};
                   }),
                   "not in the message"));
  CHECK(is_refused(with([](auto& m) {
                     m.signals[0].selected_by = 0;
                     m.signals[0].selected_for = {{0, 0}};
                   }),
                   "hangs on itself"));
  CHECK(is_refused(with([](auto& m) {
                     m.signals[0].selected_by = 1;
                     m.signals[0].selected_for = {{3, 4}, {4, 5}};
                   }),
                   "rising order"));
  dbc::File twice;
  twice.messages = {message, message};
  CHECK_FALSE(Database::make(twice).has_value());
}

TEST_CASE("multiplexing whose tables would be too large is refused") {
  dbc::Message message;
  message.name = "M";
  message.length = 8;
  dbc::Signal selector;
  selector.name = "selector";
  selector.coding.field = {0, 32};
  message.signals.push_back(selector);
  for (std::uint64_t i = 0; i < 4000; ++i) {
    dbc::Signal signal;
    signal.name = "s" + std::to_string(i);
    signal.selected_by = 0;
    signal.selected_for = {{i, 5000}};
    message.signals.push_back(signal);
  }
  dbc::File file;
  file.messages.push_back(message);
  const auto dbc = Database::make(file);
  REQUIRE_FALSE(dbc.has_value());
  CHECK(dbc.error().message == "message M: its multiplexing is too large");
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
