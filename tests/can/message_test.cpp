// Tests typed messages against the run-time signal kernel on random frames and values, and multiplexing
// against a plain implementation. Also tests the rejection of invalid layouts, frames and values.
#include "takt/can/message.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <chrono>
#include <cmath>
#include <limits>
#include <vector>

#include "support/random.hpp"
#include "support/rt_guard.hpp"

using namespace takt;
using namespace takt::can;

namespace {

using enum ByteOrder;
using enum NumberType;

/// A field of every type, in one classic frame.
struct MotorStatus {
  enum class State : std::uint8_t { off, ready, fault = 7 };

  double position = 0;
  float current = 0;
  State state = State::off;
  bool limit = false;
  std::int8_t counter = 0;

  static constexpr MessageSpec message{
      .name = "MotorStatus", .id = 0x181, .length = 7, .cycle_time = std::chrono::milliseconds(1)};
  static constexpr std::tuple signals{
      bind(&MotorStatus::position, {"Position", {{0, 24, little, signed_integer}, 1e-4, 0, -50, 50}, "rad"}),
      bind(&MotorStatus::current, {"Current", {{31, 12, big, signed_integer}, 0.01, 1}, "A"}),
      bind(&MotorStatus::state, {"State", {{40, 3, little}}}),
      bind(&MotorStatus::limit, {"Limit", {{43, 1, little}}}),
      bind(&MotorStatus::counter, {"Counter", {{55, 6, big, signed_integer}, 1, 0, -20, 20}})};

  friend constexpr bool operator==(const MotorStatus&, const MotorStatus&) = default;
};
static_assert(is_valid_message<MotorStatus>);

/// A CAN FD frame with fields across its words.
struct Wide {
  double nine_bytes = 0;
  double real = 0;
  float single = 0;
  std::uint64_t exact = 0;
  std::int64_t exact_signed = 0;
  double last = 0;

  static constexpr MessageSpec message{
      .name = "Wide", .id = 0x1FABCDE, .length = 48, .format = {true, true, true}};
  static constexpr std::tuple signals{
      bind(&Wide::nine_bytes, {"NineBytes", {{3, 64, little, signed_integer}, 0.5}}),
      bind(&Wide::real, {"Real", {{74, 64, big, float64}, 2, 1}}),
      bind(&Wide::single, {"Single", {{149, 32, little, float32}}}),
      bind(&Wide::exact, {"Exact", {{191, 64, big}}}),
      bind(&Wide::exact_signed, {"ExactSigned", {{249, 64, little, signed_integer}}}),
      bind(&Wide::last, {"Last", {{383, 8, big}, -0.5, 100}})};

  friend constexpr bool operator==(const Wide&, const Wide&) = default;
};

/// Nested multiplexers in both byte orders; pages share their bits.
struct Diagnosis {
  std::uint8_t page = 0;
  double temperature = -1;
  double voltage = -1;
  std::uint8_t sub = 0;
  double first = -1;
  double second = -1;
  double always = -1;

  static constexpr MessageSpec message{.name = "Diagnosis", .id = 0x300, .length = 8};
  static constexpr std::tuple signals{
      bind(&Diagnosis::first, {"First", {{32, 16}, 0.5}, "", when("Sub", 0)}),
      bind(&Diagnosis::sub, {"Sub", {{31, 4, big}}, "", when("Page", 2)}),
      bind(&Diagnosis::page, {"Page", {{3, 4, big}}}),
      bind(&Diagnosis::temperature, {"Temperature", {{24, 8}, 1, -40}, "degC", when("Page", 1)}),
      bind(&Diagnosis::voltage, {"Voltage", {{24, 16}, 0.01}, "V", when("Page", {{3, 5}, {9, 9}})}),
      bind(&Diagnosis::second, {"Second", {{39, 16, big}, 0.25}, "", when("Sub", {{1, 2}})}),
      bind(&Diagnosis::always, {"Always", {{56, 8}}})};

  friend constexpr bool operator==(const Diagnosis&, const Diagnosis&) = default;
};

/// A list of signals without members.
struct Raw {
  static constexpr MessageSpec message{
      .name = "Raw", .id = 0x18FEF100, .length = 8, .format = {true}, .id_mask = 0x03FF'FF00};
  static constexpr std::array signals{SignalSpec{"A", {{0, 12}, 0.125}},
                                      SignalSpec{"B", {{19, 20, big}, 3, -7}}};
};

/// The form of generated headers: a table, with the members beside it. It has ten bytes, a length that no
/// frame has. It also has a selector state that selects nothing, and states beyond a range.
struct Listed {
  enum class Mode : std::uint8_t { off, on, error = 15 };

  std::uint8_t page = 0;
  double speed = 0;
  Mode mode = Mode::off;
  std::int16_t current = 0;

  static constexpr MessageSpec message{
      .name = "Listed", .id = 7, .length = 10, .format = {false, true, true}};
  static constexpr std::array<std::uint64_t, 1> page_states{3};
  static constexpr std::array<std::uint64_t, 2> speed_states{254, 255};
  static constexpr std::array<std::uint64_t, 1> mode_states{15};
  static constexpr std::array<std::uint64_t, 1> current_states{0x8000};
  static constexpr std::array<SignalSpec, 4> signals{
      {{"Page", {{0, 4}}, "", {}, page_states},
       {"Speed", {{8, 8}, 0.1, 0, 0, 20}, "m/s", {}, speed_states},
       {"Mode", {{4, 4}, 1, 0, 0, 1}, "", {}, mode_states},
       {"Current", {{71, 16, big, signed_integer}, 1, 0, -100, 100}, "A", when("Page", 1), current_states}}};
  using Members = can::Members<&Listed::page, &Listed::speed, &Listed::mode, &Listed::current>;

  friend constexpr bool operator==(const Listed&, const Listed&) = default;
};
static_assert(is_valid_message<Listed>);

/// A message that needs the transport of J1939.
struct Long {
  double last = 0;

  static constexpr MessageSpec message{
      .name = "Long", .id = 0x18FECAFE, .length = 200, .format = {true}, .j1939 = true};
  static constexpr std::array<SignalSpec, 1> signals{{{"Last", {{1592, 8}, 0.5}}}};
  using Members = can::Members<&Long::last>;
};

std::vector<std::uint8_t> random_bytes(std::mt19937_64& random, std::size_t count) {
  std::vector<std::uint8_t> bytes(count);  // on the heap, where an address sanitizer guards its end
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random());
  return bytes;
}

/// Finds the signals of a frame by looking up names each time.
template <class T>
std::vector<bool> plain_presence(std::span<const std::uint8_t> data) {
  std::vector<bool> there(signal_count<T>, false);
  const auto find = [](std::string_view name) {
    std::size_t i = 0;
    while (signals_of<T>[i].name != name) ++i;
    return i;
  };
  for (std::size_t round = 0; round < signal_count<T>; ++round) {
    for (std::size_t i = 0; i < signal_count<T>; ++i) {
      const Selection& selection = signals_of<T>[i].selection;
      if (selection.always()) {
        there[i] = true;
        continue;
      }
      const std::size_t multiplexer = find(selection.multiplexer);
      const std::uint64_t selector = *extract(signals_of<T>[multiplexer].signal.field, data);
      for (std::size_t k = 0; k < selection.count; ++k) {
        if (there[multiplexer] && selector >= selection.ranges[k].low &&
            selector <= selection.ranges[k].high) {
          there[i] = true;
        }
      }
    }
  }
  return there;
}

/// Whether each selector of a frame with these signals selects one.
template <class T>
bool all_select(const std::vector<bool>& there) {
  for (std::size_t m = 0; m < signal_count<T>; ++m) {
    bool is_multiplexer = false;
    bool selects = false;
    for (std::size_t i = 0; i < signal_count<T>; ++i) {
      if (signals_of<T>[i].selection.multiplexer != signals_of<T>[m].name) continue;
      is_multiplexer = true;
      selects = selects || there[i];
    }
    if (there[m] && is_multiplexer && !selects) return false;
  }
  return true;
}

bool same(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b) || (a != a && b != b);
}

template <class T>
void check_decoding(std::mt19937_64& random) {
  const std::vector<std::uint8_t> bytes = random_bytes(random, T::message.length);
  const std::vector<bool> there = plain_presence<T>(bytes);
  Values<T> values;
  values.fill(12345);
  REQUIRE(decode_values<T>(values, bytes));
  for (std::size_t i = 0; i < signal_count<T>; ++i) {
    CAPTURE(signals_of<T>[i].name);
    if (there[i]) {
      REQUIRE(same(values[i], *can::decode(signals_of<T>[i].signal, bytes)));
    } else {
      REQUIRE(std::isnan(values[i]));
    }
  }
}

/// Random values: mostly in the range of the fields, sometimes beyond it, sometimes NaN or infinity.
template <class T>
Values<T> random_values(std::mt19937_64& random) {
  Values<T> values;
  for (std::size_t i = 0; i < signal_count<T>; ++i) {
    const SignalCoding& signal = signals_of<T>[i].signal;
    const bool is_float = signal.field.type > NumberType::signed_integer;
    const double span = is_float ? 1e6 : std::ldexp(1.0, signal.field.length) * std::abs(signal.scale);
    values[i] = test::uniform(random, -0.2, 1) * span + signal.offset;
    if (test::uniform_int(random, 0, 20) == 0) values[i] *= 1e3;
    if (test::uniform_int(random, 0, 100) == 0) values[i] = std::numeric_limits<double>::quiet_NaN();
    if (test::uniform_int(random, 0, 100) == 0) values[i] = 1e300;
  }
  return values;
}

/// The same by the run-time kernel, signal by signal, multiplexers first.
template <class T>
Status plain_encode(Data<T>& data, const Values<T>& values, Overflow overflow) {
  data = {};
  for (std::size_t depth = 0; depth < 3; ++depth) {
    for (std::size_t i = 0; i < signal_count<T>; ++i) {
      if (detail::depth_of(signals_of<T>, i) != depth) continue;
      const std::vector<bool> there = plain_presence<T>(data);
      if (depth > 0 && !there[i]) continue;
      const Status status = can::encode(signals_of<T>[i].signal, data, values[i], overflow);
      if (!status) return status;
    }
  }
  if (!all_select<T>(plain_presence<T>(data))) return fail(Errc::unknown_selector);
  return {};
}

template <class T, Overflow overflow>
void check_encoding(const Values<T>& values) {
  Data<T> expected{};
  Data<T> data{};
  const Status plain = plain_encode<T>(expected, values, overflow);
  const Status status = encode_values<T, overflow>(data, values);
  REQUIRE(status.has_value() == plain.has_value());
  if (status) {
    REQUIRE(data == expected);
  } else {
    REQUIRE(status.error() == plain.error());
  }
}

template <class T>
void check_equality(std::size_t cases, std::uint64_t salt) {
  auto random = test::generator(salt);
  for (std::size_t i = 0; i < cases; ++i) {
    check_decoding<T>(random);
    const Values<T> values = random_values<T>(random);
    check_encoding<T, Overflow::error>(values);
    check_encoding<T, Overflow::clamp>(values);
    check_encoding<T, Overflow::wrap>(values);
  }
}

/// Checks that a decoded message is unchanged after encoding and decoding.
template <class T>
void check_round_trip(std::uint64_t salt) {
  auto random = test::generator(salt);
  std::size_t seen = 0;
  for (std::size_t i = 0; i < test::count(20'000); ++i) {
    const std::vector<std::uint8_t> bytes = random_bytes(random, T::message.length);
    const Result<T> message = can::decode<T>(bytes);
    if (!message) continue;
    const Result<Frame> frame = can::encode(*message);
    if (!frame) continue;  // beyond the range of a signal, or NaN
    ++seen;
    REQUIRE(frame->length == T::message.length);
    REQUIRE(carries<T>(*frame));
    REQUIRE(*can::decode<T>(*frame) == *message);
  }
  REQUIRE(seen > 100);
}

constexpr SignalSpec plain(std::string_view name, BitField field, Selection selection = {}) {
  return {name, {field}, "", selection};
}
constexpr MessageFault fault_of(std::initializer_list<SignalSpec> signals, MessageSpec message = {}) {
  return find_fault(message, {signals.begin(), signals.size()});
}

}  // namespace

TEST_CASE("typed messages and signals known at run time agree for all bytes and values") {
  check_equality<MotorStatus>(test::count(5'000), 1);
  check_equality<Wide>(test::count(5'000), 2);
  check_equality<Diagnosis>(test::count(5'000), 3);
  check_equality<Raw>(test::count(5'000), 4);
}

TEST_CASE("what is decoded is encoded and decoded again as it was") {
  check_round_trip<MotorStatus>(5);
  check_round_trip<Wide>(6);
  check_round_trip<Diagnosis>(7);
}

TEST_CASE("vectors worked out by hand, in constant expressions") {
  constexpr Data<MotorStatus> expected = {0x98, 0x3A, 0x00, 0xF3, 0x80, 0x0F, 0xFC};
  constexpr MotorStatus status{1.5, -1.0F, MotorStatus::State::fault, true, -1};
  constexpr auto data = [&] {
    Data<MotorStatus> bytes{};
    return encode_into(bytes, status) ? bytes : Data<MotorStatus>{};
  }();
  static_assert(data[0] == 0x98 && data[1] == 0x3A && data[2] == 0x00);
  CHECK(data == expected);
  static_assert(*can::decode<MotorStatus>(*can::encode(status)) == status);
  static_assert((*can::encode(status)).id == 0x181 && (*can::encode(status)).length == 7);
  static_assert(signals_of<MotorStatus>[1].unit == "A");
}

TEST_CASE("frames that are not the message are refused, each by its name, and change nothing") {
  const Frame good = *can::encode(MotorStatus{1.5});
  const auto refusal = [](const Frame& frame) {
    MotorStatus message{.position = 77};
    const Status status = decode_into(message, frame);
    CHECK(message.position == 77);
    CHECK(!can::decode<MotorStatus>(frame).has_value());
    return status.error();
  };
  Frame bad = good;
  bad.id = 0x182;
  CHECK(refusal(bad) == Errc::unexpected_id);
  bad = good;
  bad.remote = true;
  CHECK(refusal(bad) == Errc::wrong_format);
  bad = good;
  bad.error = true;
  CHECK(refusal(bad) == Errc::wrong_format);
  bad = good;
  bad.extended = true;
  CHECK(refusal(bad) == Errc::wrong_format);
  for (std::uint8_t length = 0; length < 7; ++length) {
    bad = good;
    bad.length = length;
    CHECK(refusal(bad) == Errc::wrong_length);
  }
  Frame padded = good;
  padded.fd = true;
  padded.length = 8;
  CHECK(can::decode<MotorStatus>(padded)->position == 1.5);
  Frame j1939;
  j1939.extended = true;
  j1939.id = 0x0CFEF1A5;  // another priority, another source address
  CHECK(carries<Raw>(j1939));
  j1939.id = 0x0CFEF2A5;
  CHECK(!carries<Raw>(j1939));
}

TEST_CASE("a visitor is handed the messages that it takes, the others are not even decoded") {
  const Frame status = can::encode(MotorStatus{.position = 1.5}).value();
  double position = 0;
  auto visitor = [&](const MotorStatus& message) { position = message.position; };
  CHECK(decode_for<MotorStatus>(visitor, status));
  CHECK(position == 1.5);
  CHECK(decode_for<Diagnosis>(visitor, status));
  CHECK(decode_for<MotorStatus>(visitor,
                                can::encode(Diagnosis{.page = 1, .temperature = 0, .always = 0}).value())
            .error() == Errc::unexpected_id);
  CHECK(position == 1.5);
}

TEST_CASE("only what the multiplexer selects is decoded and sent") {
  Diagnosis page_one{.page = 1, .temperature = 25, .always = 3};
  page_one.voltage = std::numeric_limits<double>::quiet_NaN();  // not checked
  const Frame frame = can::encode(page_one).value();
  const Diagnosis got = can::decode<Diagnosis>(frame).value();
  CHECK(got.temperature == 25);
  CHECK(got.voltage == -1);
  CHECK(got.first == -1);
  CHECK(got.always == 3);
  static_assert(is_selected<&Diagnosis::temperature>(Diagnosis{.page = 1}));
  CHECK(is_selected<&Diagnosis::page>(got));
  CHECK(is_selected<&Diagnosis::temperature>(got));
  CHECK(!is_selected<&Diagnosis::voltage>(got));
  CHECK(is_selected<&Diagnosis::first>(Diagnosis{.page = 2, .sub = 0}));
  CHECK(!is_selected<&Diagnosis::first>(Diagnosis{.page = 2, .sub = 1}));
  CHECK(!is_selected<&Diagnosis::first>(Diagnosis{.page = 1, .sub = 0}));
  CHECK(can::encode(Diagnosis{.page = 7, .always = 3}).error() == Errc::unknown_selector);
  CHECK(can::encode(Diagnosis{.page = 2, .sub = 3, .always = 3}).error() == Errc::unknown_selector);
  CHECK(can::encode(Diagnosis{.page = 9, .voltage = 1, .sub = 3, .always = 3}).has_value());
  Frame unknown = frame;
  unknown.data[0] = 0x0F;
  const Diagnosis rest = can::decode<Diagnosis>(unknown).value();
  CHECK((rest.page == 0x0F && rest.temperature == -1 && rest.always == 3));
}

TEST_CASE("members that are integers are exact, and overflow by the same policies") {
  Wide wide;
  wide.exact = 0xFFFF'FFFF'FFFF'FFFE;
  wide.exact_signed = std::numeric_limits<std::int64_t>::min() + 1;
  wide.last = 100;
  CHECK(can::decode<Wide>(*can::encode(wide)).value() == wide);
  const auto sent = [](auto policy, std::int8_t counter) {
    return can::decode<MotorStatus>(can::encode<policy()>(MotorStatus{.counter = counter}).value())->counter;
  };
  constexpr std::integral_constant<Overflow, Overflow::clamp> clamp;
  constexpr std::integral_constant<Overflow, Overflow::wrap> wrap;
  CHECK(can::encode(MotorStatus{.counter = 21}).error() == Errc::out_of_range);
  CHECK(can::encode(MotorStatus{.counter = -21}).error() == Errc::out_of_range);
  CHECK(sent(clamp, 100) == 20);
  CHECK(sent(clamp, -100) == -20);
  CHECK(sent(wrap, 21) == 21);
  CHECK(sent(wrap, 33) == -31);
  const auto nowhere = static_cast<MotorStatus::State>(8);
  CHECK(can::encode(MotorStatus{.state = nowhere}).error() == Errc::out_of_range);
  Frame frame;
  frame.id = 5;
  CHECK(encode_into(frame, MotorStatus{.position = 51}).error() == Errc::out_of_range);
  CHECK(frame.id == 5);
  CHECK(can::encode(MotorStatus{.current = std::numeric_limits<float>::infinity()}).error() ==
        Errc::not_finite);
  CHECK(can::decode<MotorStatus>(*can::encode<Overflow::clamp>(MotorStatus{.position = 51}))->position == 50);
}

TEST_CASE("invalid layouts are reported, each by its name") {
  static_assert(fault_of({plain("A", {0, 8}), plain("B", {8, 8})}) == MessageFault::none);
  static_assert(fault_of({plain("A", {0, 8}), plain("B", {7, 8})}) == MessageFault::overlap);
  static_assert(fault_of({plain("A", {0, 8}), plain("A", {8, 8})}) == MessageFault::name);
  static_assert(fault_of({plain("", {0, 8})}) == MessageFault::name);
  static_assert(fault_of({plain("A", {60, 5})}) == MessageFault::signal);
  static_assert(fault_of({{"A", {{0, 8}, 0}}}) == MessageFault::signal);
  static_assert(fault_of({{"A", {{0, 8}, 1, 0, 0, 256}}}) == MessageFault::signal);
  static_assert(fault_of({}, {.id = 0x800}) == MessageFault::id);
  static_assert(fault_of({}, {.id = 0x800, .format = {true}}) == MessageFault::none);
  static_assert(fault_of({}, {.length = 12}) == MessageFault::length);
  static_assert(fault_of({}, {.length = 12, .format = {false, true}}) == MessageFault::none);
  static_assert(fault_of({}, {.length = 9, .format = {false, true}}) == MessageFault::none);
  static_assert(fault_of({}, {.length = 65, .format = {false, true}}) == MessageFault::length);
  static_assert(fault_of({}, {.length = 1785, .format = {true}, .j1939 = true}) == MessageFault::none);
  static_assert(fault_of({}, {.length = 1786, .format = {true}, .j1939 = true}) == MessageFault::length);
  static constexpr std::array<std::uint64_t, 1> wide{256};
  static_assert(fault_of({{"A", {{0, 8}}, "", {}, wide}}) == MessageFault::signal);
  static_assert(fault_of({plain("A", {0, 8}, when("M", 1))}) == MessageFault::multiplexer);
  static_assert(fault_of({plain("A", {0, 8}, when("B", 1)), plain("B", {8, 8}, when("A", 1))}) ==
                MessageFault::multiplexer);
  static_assert(fault_of({plain("M", {0, 32, little, float32}), plain("A", {32, 8}, when("M", 1))}) ==
                MessageFault::multiplexer);
  static_assert(fault_of({plain("M", {0, 4}), plain("A", {8, 8}, when("M", 16))}) == MessageFault::selector);
  static_assert(fault_of({plain("M", {0, 4}), plain("A", {8, 8}, when("M", {{3, 2}}))}) ==
                MessageFault::selector);
  static_assert(fault_of({plain("M", {0, 4}), plain("A", {8, 8}, when("M", 1)),
                          plain("B", {8, 8}, when("M", 2))}) == MessageFault::none);
  static_assert(fault_of({plain("M", {0, 4}), plain("A", {8, 8}, when("M", {{1, 2}})),
                          plain("B", {8, 8}, when("M", 2))}) == MessageFault::overlap);
  static_assert(fault_of({plain("M", {0, 4}), plain("A", {8, 8}, when("M", 1)), plain("B", {8, 8})}) ==
                MessageFault::overlap);
}

TEST_CASE("coding a message keeps the rules of the loop") {
  bool ok = true;
  Frame frame;
  test::RtGuard guard;
  for (int i = 0; i < 100; ++i) {
    Diagnosis diagnosis{.page = 1, .temperature = 1.0 * i, .always = 1};
    ok = ok && encode_into(frame, diagnosis) && decode_into(diagnosis, frame);
    ok = ok && encode_into<Overflow::clamp>(frame, Wide{.last = 1e6}).has_value();
  }
  ok = ok && !can::encode(MotorStatus{.position = 1e6});
  CHECK(guard.report() == "");
  CHECK(ok);
}

TEST_CASE("members beside a table are coded as members in a tuple, in frames of any length") {
  const Listed listed{.page = 1, .speed = 12.3, .mode = Listed::Mode::on, .current = -2};
  const Frame frame = can::encode(listed).value();
  CHECK(frame.length == 12);
  CHECK(frame.data[0] == 0x11);
  CHECK(frame.data[1] == 123);
  CHECK((frame.data[8] == 0xFF && frame.data[9] == 0xFE && frame.data[10] == 0));
  CHECK(can::decode<Listed>(frame).value() == listed);
  CHECK(can::decode<Listed>(frame.payload().first(10)).value() == listed);
  CHECK(can::decode<Listed>(frame.payload().first(9)).error() == Errc::wrong_length);
  CHECK(is_selected<&Listed::current>(listed));
}

TEST_CASE("a message of J1939 that needs its transport is coded in data, not in a frame") {
  Data<Long> data{};
  REQUIRE(encode_into(data, Long{-0.0}));
  data[199] = 7;
  CHECK(can::decode<Long>(data).value().last == 3.5);
  CHECK(can::encode(Long{}).error() == Errc::payload_too_long);
  Frame frame = *make_frame(Long::message.id, std::vector<std::uint8_t>(8, 0), true);
  CHECK(can::decode<Long>(frame).error() == Errc::wrong_length);
}

TEST_CASE("states beyond the range are sent by who says exactly them") {
  const auto speed_byte = [](double speed, auto policy) {
    const Result<Frame> frame = can::encode<decltype(policy)::value>(Listed{.page = 3, .speed = speed});
    return frame ? int{frame->data[1]} : -int{frame.error().code};
  };
  using Refuse = std::integral_constant<Overflow, Overflow::error>;
  using Clamp = std::integral_constant<Overflow, Overflow::clamp>;
  CHECK(speed_byte(20, Refuse{}) == 200);
  CHECK(speed_byte(25.4, Refuse{}) == 254);
  CHECK(speed_byte(25.5, Clamp{}) == 255);
  CHECK(speed_byte(25.45, Clamp{}) == 200);
  CHECK(speed_byte(25.3, Refuse{}) == -int{Error(Errc::out_of_range).code});

  Listed listed{.page = 1, .mode = Listed::Mode::error, .current = -32768};
  const Frame frame = can::encode(listed).value();
  CHECK(can::decode<Listed>(frame).value() == listed);
  listed.current = -32767;
  CHECK(can::encode(listed).error() == Errc::out_of_range);
}

TEST_CASE("a selector's state that selects nothing leaves what is always there") {
  std::vector<std::uint8_t> data(10, 0);
  data[0] = 3;
  data[1] = 50;
  const Listed got = can::decode<Listed>(data).value();
  CHECK((got.page == 3 && got.speed == 5 && got.current == 0));
  CHECK(can::encode(got).has_value());
  data[0] = 2;
  CHECK(can::decode<Listed>(data).value().speed == 5);
  CHECK(can::encode(Listed{.page = 2}).error() == Errc::unknown_selector);
}
