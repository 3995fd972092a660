// Tests J1939 by examples computed by hand: messages are found by their parameter group, and reserved numbers
// are no values. Long messages are decoded after their transport has joined them.
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

TEST_CASE("J1939: a message is found by its parameter group, for any source and priority") {
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

TEST_CASE("J1939: the whole identifier distinguishes several messages of one parameter group") {
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
