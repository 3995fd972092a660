// Tests the run-time database against the signal kernel, signal by signal. The messages are random ones of
// every layout, and those of this folder's files.
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "dbc/databases.hpp"
#include "support/random.hpp"

using namespace takt;
using namespace takt::can;
using namespace takt::test::databases;
using dbc::MessageCodec;

namespace {

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

TEST_CASE("a database decodes and encodes as the kernel does, for every layout") {
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
      std::size_t sent = 0;
      const bool is_exact =
          !message.is_j1939() &&
          std::none_of(message.description().signals.begin(), message.description().signals.end(),
                       [](const dbc::Signal& signal) { return signal.coding.field.length > 50; });
      for (int i = 0; i < 2000; ++i) {
        Data data = any_data(random, message.length());
        if (!data.empty() && i % 2 == 0) data[0] = static_cast<std::uint8_t>(random() % 3);
        std::vector<double> values(message.signal_count());
        std::vector<Presence> presence(message.signal_count());
        REQUIRE(message.decode(data, values, presence));
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
        if (!is_exact) continue;
        Data again(message.length());
        const Status encoded = message.encode_into(again, values, Overflow::wrap);  // which ignores the range
        REQUIRE((encoded || encoded.error() == Errc::unknown_selector));
        if (!encoded) continue;
        ++sent;
        std::vector<double> values_again(values.size());
        REQUIRE(message.decode(again, values_again));
        for (std::size_t s = 0; s < values.size(); ++s) REQUIRE(same(values[s], values_again[s]));
      }
      if (is_exact) CHECK(sent > 0);
    }
  }
}
