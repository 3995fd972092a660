// Tests multiplexed messages by examples computed by hand: only selected signals are decoded and encoded.
// Tables that would be too large are refused.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "dbc/databases.hpp"

using namespace takt;
using namespace takt::can;
using namespace takt::test::databases;
using dbc::MessageCodec;

TEST_CASE("only what the selectors choose is decoded; a number that chooses nothing leaves the rest") {
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

  REQUIRE(decode(3, 5));
  CHECK(are_there({0, 5}));
  CHECK(values[5] == 4);
  for (const std::uint8_t unknown : Data{6, 0}) {
    REQUIRE(decode(2, unknown));
    CHECK(are_there({0, 2, 5}));
  }
}

TEST_CASE("only the signals that the selectors choose are encoded") {
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
  CHECK(dbc.error().message.rfind("message M: its multiplexing exceeds the ", 0) == 0);
}
