// Tests that the three front ends of the signal kernel agree, for each message of our DBC files. They are the
// typed message of takt_add_dbc(), the run-time database, and direct use of the kernel, signal by signal.
// They must decode random bytes to the same values, and encode random values to the same bytes or error,
// under each policy. A million messages: ROOM=dbc_typed tests/run.sh --cases 1000000.
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "features.hpp"
#include "hostile.hpp"
#include "j1939.hpp"
#include "support/random.hpp"
#include "support/source_dir.hpp"
#include "takt/dbc/database.hpp"
#include "vendor.hpp"
#include "wide.hpp"

using namespace takt;
using namespace takt::can;
using dbc::Database;
using dbc::MessageCodec;

namespace {

using Bytes = std::vector<std::uint8_t>;  // on the heap, where an address sanitizer guards its end
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

Database load(const std::string& name) {
  auto dbc = Database::load(TAKT_SOURCE_DIR "/tests/dbc/" + name);
  REQUIRE_MESSAGE(dbc.has_value(), dbc.error().message);
  return std::move(*dbc);
}

bool same(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b) ||
         (std::isnan(a) && std::isnan(b));
}

/// Returns 0 on success.
std::uint16_t code_of(const Status& status) { return status ? std::uint16_t{0} : status.error().code; }

// ---- the kernel, signal by signal, from the description of the file

/// The J1939 codes by the standard's table: 0xFB.. to 0xFF.. for bytes, the last two numbers for a few bits.
bool is_value(const MessageCodec& message, BitField field, std::uint64_t bits) {
  if (!message.is_j1939() || field.type != NumberType::unsigned_integer) return true;
  switch (field.length) {
    case 8:
      return bits < 0xFB;
    case 16:
      return bits < 0xFB00;
    case 24:
      return bits < 0xFB0000;
    case 32:
      return bits < 0xFB000000;
    default:
      return field.length < 2 || field.length > 32 || bits < (std::uint64_t{1} << field.length) - 2;
  }
}

bool is_there(const MessageCodec& message, std::size_t i, const Bytes& data) {
  const dbc::Message& description = message.description();
  const dbc::Signal& signal = description.signals[i];
  if (!signal.selected_by) return true;
  const std::uint64_t number = extract(description.signals[*signal.selected_by].coding.field, data).value();
  bool is_chosen = false;
  for (const dbc::NumberRange& range : signal.selected_for) {
    is_chosen = is_chosen || (range.first <= number && number <= range.last);
  }
  return is_chosen && is_there(message, *signal.selected_by, data);
}

/// Returns whether the value table has a text for the bits of a signal.
bool is_named(const MessageCodec& message, std::size_t i, std::uint64_t bits) {
  const dbc::Signal& signal = message.description().signals[i];
  const BitField field = signal.coding.field;
  if (field.type > NumberType::signed_integer) return false;
  const std::int64_t number = field.type == NumberType::signed_integer
                                  ? detail::sign_extended(bits, field.length)
                                  : static_cast<std::int64_t>(bits);
  return std::any_of(signal.values.begin(), signal.values.end(),
                     [&](const dbc::ValueText& value) { return value.value == number; });
}

/// Returns whether each selector in the frame selects a signal or has a text.
bool knows_selectors(const MessageCodec& message, const Bytes& data) {
  for (std::size_t i = 0; i < message.signal_count(); ++i) {
    bool is_selector = false;
    bool has_chosen = false;
    for (std::size_t k = 0; k < message.signal_count(); ++k) {
      if (message.description().signals[k].selected_by != i) continue;
      is_selector = true;
      has_chosen = has_chosen || is_there(message, k, data);
    }
    if (is_selector && !has_chosen && is_there(message, i, data) &&
        !is_named(message, i, extract(message.description().signals[i].coding.field, data).value()))
      return false;
  }
  return true;
}

std::uint16_t plain_decode(const MessageCodec& message, const Bytes& data, std::vector<double>& values) {
  for (std::size_t i = 0; i < message.signal_count(); ++i) {
    const SignalCoding& coding = message.description().signals[i].coding;
    const bool has_value =
        is_there(message, i, data) && is_value(message, coding.field, extract(coding.field, data).value());
    values[i] = has_value ? can::decode(coding, data).value() : nan;
  }
  return 0;
}

Result<std::uint64_t> plain_bits(const MessageCodec& message, std::size_t i, double value,
                                 Overflow overflow) {
  const SignalCoding& coding = message.description().signals[i].coding;
  // A state is sent unchanged if the value equals it within a millionth of a step.
  const double number = to_number(coding, value);
  const double whole = std::nearbyint(number);
  if (std::abs(number - whole) <= 1e-6 && std::abs(whole) < 1e15) {
    const auto bits =
        static_cast<std::uint64_t>(static_cast<std::int64_t>(whole)) & detail::mask_of(coding.field.length);
    if (is_named(message, i, bits) && detail::number_of(coding.field, bits) == whole) return bits;
  }
  const std::uint64_t all = detail::mask_of(coding.field.length);
  if (is_value(message, coding.field, all)) return to_bits(coding, value, overflow);
  if (std::isnan(value)) return all;
  std::uint64_t most = all;
  while (!is_value(message, coding.field, most)) most = most > 0xFFFF ? most - 0x10000 : most - 1;
  while (is_value(message, coding.field, most + 1)) ++most;
  Result<std::uint64_t> bits = to_bits(coding, value, overflow);
  if (!bits || *bits <= most) return bits;
  if (overflow == Overflow::clamp) return most;
  return fail(Errc::out_of_range);
}

std::uint16_t plain_encode(const MessageCodec& message, Bytes& data, const std::vector<double>& values,
                           Overflow overflow) {
  data.assign(data.size(), message.is_j1939() ? 0xFF : 0);
  std::vector<bool> is_written(message.signal_count(), false);
  for (std::size_t depth = 0; depth <= dbc::max_multiplex_depth; ++depth) {
    for (std::size_t i = 0; i < message.signal_count(); ++i) {
      const dbc::Signal& signal = message.description().signals[i];
      const bool is_due = !signal.selected_by || is_written[*signal.selected_by];
      if (is_written[i] || !is_due || !is_there(message, i, data)) continue;
      const auto bits = plain_bits(message, i, values[i], overflow);
      if (!bits) return bits.error().code;
      REQUIRE(insert(signal.coding.field, data, *bits));
      is_written[i] = true;
    }
  }
  return knows_selectors(message, data) ? std::uint16_t{0}
                                        : static_cast<std::uint16_t>(Errc::unknown_selector);
}

// ---- random messages

Bytes random_bytes(std::mt19937_64& random, std::size_t count) {
  Bytes bytes(count);
  for (std::uint8_t& byte : bytes)
    byte = static_cast<std::uint8_t>(random() % 3 == 0 ? random() % 8 : random());
  if (random() % 8 == 0) bytes.assign(count, 0xFF);
  return bytes;
}

/// A random value in the range of a field, also between its numbers.
double random_value(std::mt19937_64& random, const SignalCoding& coding) {
  if (coding.field.type > NumberType::signed_integer) return test::uniform(random, -1e6, 1e6);
  const NumberLimits limits = number_limits(coding);
  double number = test::uniform(random, limits.low, limits.high);
  if (random() % 2 == 0) number = std::floor(number) + (random() % 4 == 0 ? 0.5 : 0);  // a tie
  if (random() % 16 == 0) number = random() % 2 == 0 ? limits.low : limits.high;
  return number * coding.scale + coding.offset;
}

double wild_value(std::mt19937_64& random, const SignalCoding& coding) {
  const double wild[] = {
      std::floor(test::uniform(random, 200, 256)) * coding.scale + coding.offset,  // possibly a state
      nan,
      std::numeric_limits<double>::infinity(),
      1e300,
      -1e300,
      -coding.scale,
      1.5 * (number_limits(coding.field).high + 1) * coding.scale + coding.offset,
      to_physical(coding, detail::mask_of(coding.field.length)),
      9.3e18};
  return wild[random() % std::size(wild)];
}

// ---- the comparison

template <class T>
void check_decoding(const MessageCodec& message, std::mt19937_64& random) {
  const Bytes data = random_bytes(random, message.length());
  std::vector<double> plain(message.signal_count(), 7);
  std::vector<double> looked_up(message.signal_count(), 7);
  Values<T> typed;
  typed.fill(7);
  const std::uint16_t code = plain_decode(message, data, plain);
  REQUIRE(code_of(message.decode(data, looked_up)) == code);
  REQUIRE(code_of(decode_values<T>(typed, data)) == code);
  for (std::size_t i = 0; i < plain.size(); ++i) {
    CAPTURE(signals_of<T>[i].name);
    REQUIRE(same(looked_up[i], plain[i]));
    REQUIRE(same(typed[i], plain[i]));
  }
  if (code != 0) return;

  // Members hold the same values; an integer or an enum holds the number in the field. Encoding must restore
  // the data.
  T members{};
  REQUIRE(decode_into(members, data));
  if (const Result<Frame> frame = can::encode<Overflow::wrap>(members); frame) {
    REQUIRE(frame->length == fd_lengths[fd_length_code(message.length())]);
    REQUIRE(can::decode<T>(*frame).has_value());
  }
  const auto check_member = [&]<std::size_t I>(std::integral_constant<std::size_t, I>) {
    constexpr SignalCoding coding = signals_of<T>[I].signal;
    const auto value = members.*member_of<T, I>;
    if (!is_there(message, I, data)) return;
    const std::uint64_t bits = extract(coding.field, data).value();
    if constexpr (std::is_floating_point_v<std::remove_const_t<decltype(value)>>) {
      REQUIRE(same(value, plain[I]));
    } else {
      REQUIRE((static_cast<std::uint64_t>(value) & detail::mask_of(coding.field.length)) == bits);
    }
  };
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    (check_member(std::integral_constant<std::size_t, I>{}), ...);
  }
  (std::make_index_sequence<signal_count<T>>{});
}

template <class T, Overflow overflow>
void check_encoding(const MessageCodec& message, const std::vector<double>& values) {
  Bytes plain(message.length());
  Bytes looked_up(message.length());
  Data<T> typed{};
  Values<T> typed_values{};
  for (std::size_t i = 0; i < values.size(); ++i) typed_values[i] = values[i];
  const std::uint16_t code = plain_encode(message, plain, values, overflow);
  REQUIRE(code_of(message.encode_into(looked_up, values, overflow)) == code);
  REQUIRE(code_of(encode_values<T, overflow>(typed, typed_values)) == code);
  if (code != 0) return;
  REQUIRE(looked_up == plain);
  REQUIRE(Bytes(typed.begin(), typed.end()) == plain);
}

template <class T>
void check_encoding(const MessageCodec& message, std::mt19937_64& random) {
  // At most one mistake: of several, the front ends may report different ones.
  std::vector<double> values(message.signal_count());
  const auto& signals = message.description().signals;
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = random_value(random, signals[i].coding);
  std::vector<double> known(values.size(), nan);
  const Bytes data = random_bytes(random, message.length());
  if (knows_selectors(message, data) && plain_decode(message, data, known) == 0) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (signals[i].is_selector && !std::isnan(known[i])) values[i] = known[i];
    }
    if (!values.empty() && random() % 2 == 0) {
      const std::size_t i = random() % values.size();
      if (!signals[i].is_selector) values[i] = wild_value(random, signals[i].coding);
    }
  }
  check_encoding<T, Overflow::error>(message, values);
  check_encoding<T, Overflow::clamp>(message, values);
  check_encoding<T, Overflow::wrap>(message, values);
}

/// Tests each type of the tuple against the message of the file with its name; returns their number.
template <class... T>
std::size_t check_all(const Database& dbc, std::tuple<T...>*, std::uint64_t salt) {
  std::mt19937_64 random = test::generator(salt);
  const std::size_t cases =
      test::count(2000) / 16 + 1;  // for about 16 messages, so that the sum is the requested number
  const auto check = [&]<class Message>(Message*) {
    CAPTURE(Message::message.name);
    const MessageCodec* message = dbc.find(Message::message.name);
    REQUIRE(message != nullptr);
    for (std::size_t i = 0; i < cases; ++i) {
      check_decoding<Message>(*message, random);
      check_encoding<Message>(*message, random);
    }
  };
  (check(static_cast<T*>(nullptr)), ...);
  return sizeof...(T);
}

}  // namespace

TEST_CASE("typed messages, the database and the kernel code the same") {
  CHECK(check_all(load("features.dbc"), static_cast<typed::features::Messages*>(nullptr), 1) == 5);
  CHECK(check_all(load("vendor.dbc"), static_cast<typed::vendor::Messages*>(nullptr), 2) == 2);
  CHECK(check_all(load("hostile.dbc"), static_cast<typed::hostile::Messages*>(nullptr), 3) == 6);
  CHECK(check_all(load("j1939.dbc"), static_cast<typed::j1939::Messages*>(nullptr), 4) == 5);
  CHECK(check_all(load("wide.dbc"), static_cast<typed::wide::Messages*>(nullptr), 5) == 4);
}
