// Tests value tables: labels, selectors with texts but without signals, and states beyond a signal's range.
// The range still rejects every other value.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "dbc/databases.hpp"

using namespace takt;
using namespace takt::can;
using namespace takt::test::databases;
using dbc::MessageCodec;

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
  for (const std::uint8_t page : Data{1, 5, 0xFE}) {
    REQUIRE(message.decode(Data{page, 9, 100, 0, 1, 0, 0, 0}, values));
    CHECK(values[3] == 10);
    CHECK(std::isnan(values[1]));
    Data data(8);
    CHECK(message.encode_into(data, values).error() == Errc::unknown_selector);
  }
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

TEST_CASE("a rejection names the signal, its value and the allowed values") {
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
  REQUIRE(message.decode_numbers(Data(8, 1), numbers, presence));
  CHECK(presence[1] == Presence::not_selected);
  CHECK(presence[3] == Presence::value);
  CHECK(message.decode_numbers(Data(8, 0), std::span(numbers).first(5), presence).error() ==
        Errc::wrong_count);

  const Database truck = trucks();
  REQUIRE(truck.find("EEC1")->decode_numbers(Data(8, 0xFE), numbers, presence));
  CHECK(numbers[1] == 0xFE);
  CHECK(presence[1] == Presence::error_indicator);
}
