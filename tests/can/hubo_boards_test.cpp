// Tests the frames of all Hubo boards and sensors, settings and replies. Compares bytes with the protocol's
// description, random values in round trips, and the rejection of frames of other formats.
#include <doctest/doctest.h>

#include <cmath>
#include <concepts>
#include <limits>
#include <numbers>
#include <type_traits>
#include <vector>

#include "support/random.hpp"
#include "takt/can/hubo.hpp"

using namespace takt;
using namespace takt::can;
using namespace takt::can::hubo;

namespace {

Frame classic(std::uint32_t id, std::vector<std::uint8_t> bytes) { return *make_frame(id, bytes); }

template <class Word = std::uint8_t>
Word any(std::mt19937_64& random) {
  return static_cast<Word>(random());
}

/// Makes a random valid message of each type.
struct AnyMessage {
  std::mt19937_64 random = test::generator(11);

  std::uint8_t board() { return below(max_board + 1); }
  std::uint8_t channel() { return below(max_channels); }
  std::uint8_t below(int end) { return static_cast<std::uint8_t>(test::uniform_int(random, 0, end - 1)); }
  bool coin() { return (random() & 1U) != 0; }
  Rotation rotation() { return coin() ? Rotation::clockwise : Rotation::counterclockwise; }
  std::uint16_t word() { return any<std::uint16_t>(random); }
  std::int32_t counts() { return any<std::int32_t>(random); }
};

/// Encodes and decodes a message and compares. Shorter frames and frames of another kind or identifier must
/// be rejected.
template <class Message, class... Options>
void check_both_ways(const Message& message, Options... options) {
  Frame frame;
  REQUIRE(encode_into(frame, message, options...).has_value());
  Message back{};
  REQUIRE(decode_into(back, frame, options...).has_value());
  REQUIRE(back == message);
  const auto refused = [&](auto change) {
    Frame bad = frame;
    change(bad);
    Message unchanged = message;
    const bool is_refused = !decode_into(unchanged, bad, options...);
    REQUIRE(unchanged == message);
    return is_refused;
  };
  REQUIRE(refused([](Frame& bad) { bad.extended = true; }));
  REQUIRE(refused([](Frame& bad) { bad.fd = true; }));
  REQUIRE(refused([](Frame& bad) { bad.remote = true; }));
  REQUIRE(refused([](Frame& bad) { bad.error = true; }));
  REQUIRE(refused([](Frame& bad) { bad.id = 0x7FF; }));
  REQUIRE(refused([](Frame& bad) { bad.length = 0; }));
  REQUIRE(refused([](Frame& bad) { bad.length = 1; }));
  REQUIRE(refused([](Frame& bad) { bad.length = 255; }));
}

template <class Message, class... Options>
Errc refusal(const Message& message, Options... options) {
  Frame frame;
  frame.id = 0x123;
  const Status status = encode_into(frame, message, options...);
  REQUIRE(!status.has_value());
  CHECK(frame.id == 0x123);  // the frame is unchanged
  for (int i = 1; i <= 15; ++i) {
    if (status.error() == static_cast<Errc>(i)) return static_cast<Errc>(i);
  }
  return Errc{};
}

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

}  // namespace

TEST_CASE("references of wrists, necks and fingers are the bytes that the boards know") {
  CHECK(*encode(HybridReference{0x24, -0x010203, {5, -7}}) == classic(0x034, {0x03, 0x02, 0x81, 0x05, 0x87}));
  CHECK(*encode(NeckReference{{0x0123, 0, 4095}}) == classic(0x032, {0x23, 0x01, 0x00, 0x00, 0xFF, 0x0F}));
  CHECK(*encode(DutyStop{3}) == classic(0x001, {3, 0x0D, 0}));
  CHECK(*encode(DutyCommand{3, DutyUnit::percent, {{{50, Rotation::clockwise}, {100}}}}) ==
        classic(0x001, {3, 0x0D, 1, 1, 50, 0, 100, 0}));
  CHECK(*encode(DutyCommand{3, DutyUnit::per_mille, {{{1000, Rotation::clockwise}, {0x123}}}}) ==
        classic(0x001, {3, 0x0D, 3, 0x31, 0xE8, 0x10, 0x23}));
  CHECK(*encode(FingerDuty{0x24, {1, -2, 100, -100, 0}}, BoardKind::hand) ==
        classic(0x001, {0x24, 0x0D, 1, 0x01, 0x82, 0x64, 0xE4, 0x00}));
  CHECK(*encode(FingerDuty{0x24, {1, -2, 3}}, BoardKind::hybrid) ==
        classic(0x001, {0x24, 0x0D, 1, 0x01, 0x82, 0x03}));
}

TEST_CASE("requests and orders of every kind are the bytes that the boards know") {
  CHECK(*encode(current_request(7)) == classic(0x001, {7, 0x04}));
  CHECK(*encode(control_mode(7, ControlMode::hybrid)) == classic(0x001, {7, 0x10, 2}));
  CHECK(*encode(switching_mode(7, false)) == classic(0x001, {7, 0x13, 1}));  // hubo-ach sends no argument
  CHECK(*encode(alarm(7, 2)) == classic(0x001, {7, 0x82, 2}));
  CHECK(*encode(beep(7, 15)) == classic(0x001, {7, 0x83, 15}));
  CHECK(*encode(power_request()) == classic(0x001, {0x0E, 0xE0}));
  CHECK(*encode(parameter_request(7, ParameterPage::c, 1)) == classic(0x001, {7, 0x24, 9}));
  CHECK(parameter_type(ParameterPage::a, 3) == 24);
  CHECK(parameter_type(ParameterPage::f, 2) == 18);
  CHECK(parameter_type(ParameterPage::g) == 20);
  CHECK(parameter_type(ParameterPage::i) == 22);

  CHECK(*encode(SensorRequest{1, SensorQuery::force_scaled}, Dialect::ach) == classic(0x002, {1, 0x12}));
  CHECK(*encode(SensorRequest{2, SensorQuery::tilt_scaled}, Dialect::podo) == classic(0x003, {2, 0x22}));
  CHECK(*encode(InertialRequest{3}, Dialect::ach) == classic(0x002, {3, 0, 1}));
  CHECK(*encode(SensorCommand{1, SensorOrder::null_force}) == classic(0x001, {0x30, 0x81, 0x00}));
  CHECK(*encode(SensorCommand{2, SensorOrder::null_tilt}) == classic(0x001, {0x31, 0x81, 0x04}));
  CHECK(*encode(SensorCommand{3, SensorOrder::null_inertial}) == classic(0x001, {0x32, 0x81}));
  CHECK(*encode(SensorCommand{6, SensorOrder::initialise}) == classic(0x001, {0x35, 0xFA, 0xAA}));
}

TEST_CASE("settings are the bytes that the boards know") {
  CHECK(*encode(Gains{5, GainLoop::position, 1, 0x0102, 0x0304, 0x0506}) ==
        classic(0x001, {5, 0x08, 0x02, 0x01, 0x04, 0x03, 0x06, 0x05}));
  CHECK(*encode(Gains{5, GainLoop::current, 0, 1, 2, 3}) == classic(0x001, {5, 0x09, 1, 0, 2, 0, 3, 0}));
  CHECK(*encode(DeadZone{5, 1, 9}) == classic(0x001, {5, 0x21, 9}));
  CHECK(*encode(HomeSearch{5, 1, 3, Rotation::counterclockwise, -2}) ==
        classic(0x001, {5, 0x31, 3, 1, 0xFE, 0xFF, 0xFF, 0xFF}));
  CHECK(*encode(EncoderResolution{5, 1, 4000, true, Rotation::clockwise}) ==
        classic(0x001, {5, 0x39, 0xA0, 0xCF}));
  CHECK(*encode(MotionLimits{5, 1, 0x0102, 0x0304}) == classic(0x001, {5, 0x41, 2, 1, 4, 3}));
  CHECK(*encode(PositionLimit{5, 1, LimitSide::lower, true, false, -1}) ==
        classic(0x001, {5, 0x51, 1, 0xFF, 0xFF, 0xFF, 0xFF}));
  CHECK(*encode(PositionLimit{5, 0, LimitSide::upper, true, true, 1}) ==
        classic(0x001, {5, 0x56, 3, 1, 0, 0, 0}));
  CHECK(*encode(HomeMotion{5, 1, 2, 3, 4, HomeMode::jam, 50}) == classic(0x001, {5, 0x61, 2, 3, 4, 2, 50}));
  CHECK(*encode(GainOverride{5, {50, 100}, 1000}) == classic(0x001, {5, 0x6F, 50, 100, 0xE8, 0x03}));
  CHECK(*encode(JamLimits{5, 1, 2, {3, 4}}) == classic(0x001, {5, 0xF2, 1, 0, 2, 0, 3, 4}));
  CHECK(*encode(ErrorBounds{5, 1, 2, 3}) == classic(0x001, {5, 0xF3, 1, 0, 2, 0, 3, 0}));
}

TEST_CASE("replies of every kind are read as the boards write them") {
  CHECK(*decode<HybridEncoders>(classic(0x084, {0xFF, 0xFF, 1, 0, 0, 0x80})) ==
        HybridEncoders{0x24, {-1, 1, -32768}});
  CHECK(*decode<NeckEncoders>(classic(0x082, {0, 0, 0, 0x08, 0, 0x10})) ==
        NeckEncoders{0x22, {0, 2048, 4096}});
  CHECK(neck_radians(2048) == 0);
  CHECK(neck_radians(0) == -std::numbers::pi);
  CHECK(*decode<HandEncoders>(classic(0x084, {1, 0, 2, 0, 3, 0})) == HandEncoders{0x24, 0, {1, 2, 3}});
  CHECK(*decode<HandEncoders>(classic(0x084, {4, 0, 5, 0})) == HandEncoders{0x24, 1, {4, 5, 0}});

  ShortStatusReply status{0x24, {}};
  status.motors[0] = {true, true, false, false, 0, fault::jam};
  status.motors[2] = {false, false, true, true, 0, fault::pwm_saturated | fault::big_error | fault::encoder};
  CHECK(*decode<ShortStatusReply>(classic(0x174, {0x13, 0x00, 0xEC}), BoardKind::hybrid) == status);

  const auto two = *decode<CurrentReply>(classic(0x1C5, {0xFF, 0x01, 35, 0x07}), BoardKind::two_channel);
  CHECK(two.amperes[0] == doctest::Approx(10.23));
  CHECK(two.amperes[1] == doctest::Approx(0.05));
  CHECK(two.temperature == 35);
  const auto three = *decode<CurrentReply>(classic(0x1E4, {250, 125, 40, 25}), BoardKind::hybrid);
  CHECK(three.amperes == std::array<double, 5>{1, 0.5, 0.1, 0, 0});
  const auto five = *decode<CurrentReply>(classic(0x1E4, {250, 1, 2, 99, 3, 4}), BoardKind::hand);
  CHECK(five.amperes == std::array<double, 5>{0.25, 0.001, 0.002, 0.003, 0.004});
  CHECK(!five.temperature.has_value());

  const auto force = *decode<ForceTorque>(classic(0x041, {0x9C, 0xFF, 100, 0, 0xF6, 0xFF, 1, 2}));
  CHECK(force == ForceTorque{1, -1, 1, -1});
  const auto tilt = *decode<Tilt>(classic(0x052, {0x28, 0x23, 0, 0, 0xEE, 0x02}));
  CHECK(tilt.roll == doctest::Approx(std::numbers::pi / 2));
  CHECK(tilt.z == 1);
  const auto inertial = *decode<Inertial>(classic(0x053, {0, 0, 0x28, 0x23, 0x50, 0x46, 0, 0}));
  CHECK(inertial.pitch == doctest::Approx(std::numbers::pi / 2));
  CHECK(inertial.roll_rate == doctest::Approx(std::numbers::pi));
  const auto power = *decode<PowerReply>(classic(0x06E, {0xC0, 0x12, 0x64, 0, 0xE0, 0x01}));
  CHECK(power == PowerReply{48, 1, 48});
}

TEST_CASE("parameters come in pages, whose halves of numbers are put together") {
  MotorParameters motor;
  motor.home_offset = -123'456;
  motor.lower_limit = -654'321;
  motor.upper_limit = 0x12345678;
  motor.largest_pwm = 7;
  motor.resolution = 4000;
  motor.motor_direction = Rotation::clockwise;
  CHECK(*encode(motor, std::uint8_t{5}, ParameterPage::d) == classic(0x1C5, {0x34, 0x12, 0, 0, 0, 0, 7, 0}));
  MotorParameters read;
  for (const ParameterPage page : {ParameterPage::d, ParameterPage::b, ParameterPage::a, ParameterPage::c,
                                   ParameterPage::f, ParameterPage::e}) {
    REQUIRE(decode_into(read, *encode(motor, std::uint8_t{5}, page), page).has_value());
  }
  CHECK(read == motor);
  Frame frame;
  CHECK(!encode_into(frame, motor, 5, ParameterPage::g).has_value());
  CHECK(!decode_into(read, *encode(motor, std::uint8_t{5}, ParameterPage::a), ParameterPage::h).has_value());

  BoardParameters board{1, 2, 3, {4, 5}, 6, 7, 8, 9, 10, 11, 12};
  BoardParameters known;
  for (const ParameterPage page : {ParameterPage::i, ParameterPage::g, ParameterPage::h}) {
    REQUIRE(decode_into(known, *encode(board, std::uint8_t{5}, page), page).has_value());
  }
  CHECK(known == board);
  CHECK(*encode(board, std::uint8_t{5}, ParameterPage::g) == classic(0x1C5, {0, 0, 1, 0, 2, 0, 3, 0}));
  CHECK(!encode_into(frame, board, 5, ParameterPage::a).has_value());
}

TEST_CASE("every sent command is received") {
  AnyMessage m;
  for (std::size_t i = 0; i < test::count(2'000); ++i) {
    const auto reference =
        static_cast<std::int32_t>(test::uniform_int(m.random, -max_reference, max_reference));
    check_both_ways(HybridReference{
        m.board(),
        reference,
        {static_cast<std::int8_t>(m.below(255) - 127), static_cast<std::int8_t>(m.below(255) - 127)}});
    const auto neck_word = [&] { return static_cast<std::uint16_t>(m.word() & 0xFFFU); };
    check_both_ways(NeckReference{{neck_word(), neck_word(), neck_word()}});
    check_both_ways(DutyStop{m.board()});
    for (const DutyUnit unit : {DutyUnit::percent, DutyUnit::per_mille}) {
      const int end = unit == DutyUnit::percent ? 101 : 1001;
      const auto duty = [&] {
        return MotorDuty{static_cast<std::uint16_t>(test::uniform_int(m.random, 0, end - 1)), m.rotation()};
      };
      check_both_ways(DutyCommand{m.board(), unit, {duty(), duty()}});
    }
    for (const BoardKind kind : {BoardKind::hybrid, BoardKind::neck, BoardKind::hand}) {
      FingerDuty fingers{m.board(), {}};
      ShortStatusReply status{m.board(), {}};
      CurrentReply currents{m.board(), {}, {}};
      for (std::size_t k = 0; k < channels_of(kind); ++k) {
        fingers.percent[k] = static_cast<std::int8_t>(m.below(201) - 100);
        const std::uint32_t faults = (m.coin() ? fault::jam : 0) | (m.coin() ? fault::encoder : 0);
        status.motors[k] = {m.coin(), m.coin(), m.coin(), m.coin(), 0, faults};
        currents.amperes[k] = m.below(255) / (kind == BoardKind::hand ? 1000.0 : 250.0);
      }
      if (kind != BoardKind::hand) currents.temperature = any(m.random);
      check_both_ways(fingers, kind);
      check_both_ways(status, kind);
      check_both_ways(currents, kind);
    }
    check_both_ways(
        CurrentReply{m.board(), {(m.word() & 0x3FFU) / 100.0, (m.word() & 0x3FFU) / 100.0}, any(m.random)},
        BoardKind::two_channel);
    const auto word16 = [&] { return any<std::int16_t>(m.random); };
    check_both_ways(HybridEncoders{m.board(), {word16(), word16(), word16()}});
    check_both_ways(NeckEncoders{m.board(), {m.word(), m.word(), m.word()}});
    check_both_ways(HandEncoders{m.board(), 0, {word16(), word16(), word16()}});
    check_both_ways(HandEncoders{m.board(), 1, {word16(), word16(), 0}});

    check_both_ways(Gains{m.board(), m.coin() ? GainLoop::current : GainLoop::position, m.below(2), m.word(),
                          m.word(), m.word()});
    check_both_ways(DeadZone{m.board(), m.below(4), any(m.random)});
    check_both_ways(HomeSearch{m.board(), m.channel(), any(m.random), m.rotation(), m.counts()});
    check_both_ways(EncoderResolution{m.board(), m.channel(), static_cast<std::uint16_t>(m.word() & 0x3FFFU),
                                      m.coin(), m.rotation()});
    check_both_ways(MotionLimits{m.board(), m.channel(), m.word(), m.word()});
    check_both_ways(PositionLimit{m.board(), m.channel(), m.coin() ? LimitSide::upper : LimitSide::lower,
                                  m.coin(), m.coin(), m.counts()});
    check_both_ways(HomeMotion{m.board(), m.channel(), any(m.random), any(m.random), any(m.random),
                               static_cast<HomeMode>(m.below(3)), m.below(101)});
    check_both_ways(GainOverride{m.board(), {any(m.random), any(m.random)}, m.word()});
    check_both_ways(JamLimits{m.board(), m.word(), m.word(), {any(m.random), any(m.random)}});
    check_both_ways(ErrorBounds{m.board(), m.word(), m.word(), m.word()});

    const auto tens = [&] { return static_cast<double>(word16()); };
    const double unit = std::numbers::pi / 18'000;
    for (const std::uint8_t sensor : {std::uint8_t{1}, std::uint8_t{2}, std::uint8_t{6}, std::uint8_t{7}}) {
      check_both_ways(ForceTorque{sensor, tens() / 100, tens() / 100, tens() / 10});
      check_both_ways(SensorCommand{sensor, SensorOrder::null_force});
      check_both_ways(SensorCommand{sensor, SensorOrder::initialise});
      for (const Dialect dialect : {Dialect::ach, Dialect::podo})
        check_both_ways(SensorRequest{sensor, SensorQuery::gyro_temperature}, dialect);
    }
    check_both_ways(SensorCommand{2, SensorOrder::null_tilt});
    check_both_ways(SensorCommand{4, SensorOrder::null_inertial});
    check_both_ways(InertialRequest{5}, Dialect::podo);
    check_both_ways(PowerReply{tens() / 100, tens() / 100, tens() / 10});
    // Radians come back within the rounding of the division; the units are the same.
    const Inertial inertial{3, tens() * unit, tens() * unit, tens() * unit, tens() * unit};
    const Inertial back = *decode<Inertial>(*encode(inertial));
    REQUIRE(*encode(back) == *encode(inertial));
    REQUIRE(std::abs(back.pitch_rate - inertial.pitch_rate) < 1e-12);
    const Tilt tilt{1, tens() * unit, tens() * unit, tens() / 750};
    REQUIRE(*encode(*decode<Tilt>(*encode(tilt))) == *encode(tilt));
  }
}

TEST_CASE("numbers are clamped to their field or refused, and what is no number is never sent") {
  static_assert(*to_finger_current(0.05) == 5 && *to_finger_current(-0.05) == -5);
  static_assert(*to_finger_current(3) == max_finger_current && *to_finger_current(-3) == -max_finger_current);
  static_assert(*to_neck_word(0) == 2048 && *to_neck_word(10) == 4095 && *to_neck_word(-10) == 0);
  static_assert(to_sign_magnitude8(-128) == 0xFF && from_sign_magnitude8(0x80) == 0);
  for (const double bad : {not_a_number, infinity, -infinity, 1.7e308}) {
    CHECK(to_finger_current(bad).error() == Errc::not_finite);
    CHECK(refusal(ForceTorque{1, 0, bad, 0}) == Errc::not_finite);
    CHECK(refusal(Tilt{1, bad, 0, 0}) == Errc::not_finite);
    CHECK(refusal(Inertial{3, 0, 0, 0, bad}) == Errc::not_finite);
    CHECK(refusal(PowerReply{0, bad, 0}) == Errc::not_finite);
    CHECK(refusal(CurrentReply{1, {bad}, {}}, BoardKind::two_channel) == Errc::not_finite);
  }
  CHECK(to_neck_word(not_a_number).error() == Errc::not_finite);
  CHECK(decode<ForceTorque>(*encode(ForceTorque{1, 1e6, -1e6, 0}))->torque_y == -327.68);
  CHECK(decode<CurrentReply>(*encode(CurrentReply{1, {99, -1}, {}}, BoardKind::two_channel),
                             BoardKind::two_channel)
            ->amperes[0] == doctest::Approx(10.23));

  CHECK(refusal(NeckReference{{0, 4096, 0}}) == Errc::out_of_range);
  CHECK(refusal(DutyCommand{1, DutyUnit::percent, {{{101}, {0}}}}) == Errc::out_of_range);
  CHECK(refusal(DutyCommand{1, DutyUnit::per_mille, {{{0}, {1001}}}}) == Errc::out_of_range);
  CHECK(refusal(FingerDuty{1, {0, 0, -101}}, BoardKind::hybrid) == Errc::out_of_range);
  CHECK(refusal(HandEncoders{1, 2, {}}) == Errc::out_of_range);
  CHECK(refusal(Gains{1, GainLoop::position, 2, 0, 0, 0}) == Errc::out_of_range);
  CHECK(refusal(DeadZone{1, 4, 0}) == Errc::out_of_range);  // its code would request a parameter
  CHECK(refusal(EncoderResolution{1, 0, 0x4000, false, {}}) == Errc::out_of_range);
  CHECK(refusal(HomeMotion{1, 5, 0, 0, 0, {}, 0}) == Errc::out_of_range);
  CHECK(refusal(HomeMotion{1, 0, 0, 0, 0, {}, 101}) == Errc::out_of_range);
  for (const std::uint8_t board : {std::uint8_t{0x30}, std::uint8_t{0xFF}}) {
    CHECK(refusal(HybridReference{board, 0, {}}) == Errc::unknown_node);
    CHECK(refusal(Gains{board, {}, 0, 0, 0, 0}) == Errc::unknown_node);
    CHECK(refusal(DutyStop{board}) == Errc::unknown_node);
    CHECK(refusal(HybridEncoders{board, {}}) == Errc::unknown_node);
  }
  CHECK(refusal(SensorRequest{3, SensorQuery::force_scaled}, Dialect::ach) == Errc::unknown_node);
  CHECK(refusal(SensorRequest{1, static_cast<SensorQuery>(0x7F)}, Dialect::ach) == Errc::bad_value);
  CHECK(refusal(InertialRequest{1}, Dialect::ach) == Errc::unknown_node);
  CHECK(refusal(SensorCommand{6, SensorOrder::null_tilt}) == Errc::unknown_node);
  CHECK(refusal(ForceTorque{0, 0, 0, 0}) == Errc::unknown_node);
}

namespace {

template <class Message>
concept SentWithoutMoreAdo = requires(Frame& frame, const Message& message) {
  encode_into(frame, message);
};

}  // namespace

TEST_CASE("a board is given another number by those only who say that they mean it") {
  static_assert(SentWithoutMoreAdo<ErrorBounds> && !SentWithoutMoreAdo<Renumber>);
  static_assert(!std::is_convertible_v<std::initializer_list<int>, PermanentChange>);
  CHECK(*encode(Renumber{5, 6, 1}, PermanentChange{}) == classic(0x001, {5, 0xF0, 6, 1}));
  CHECK(refusal(Renumber{5, 0x30, 1}, PermanentChange{}) == Errc::out_of_range);
  CHECK(*decode<Renumber>(classic(0x001, {5, 0xF0, 6, 1})) == Renumber{5, 6, 1});
}

TEST_CASE("of codes that follow each other none is taken for another") {
  for (unsigned code = 0; code < 256; ++code) {
    const Frame frame = classic(0x001, {5, static_cast<std::uint8_t>(code), 1, 1, 0, 0, 0, 0});
    int understood = 0;
    understood += decode_command(frame).has_value();
    understood += decode<Gains>(frame).has_value() + decode<DeadZone>(frame).has_value();
    understood += decode<HomeSearch>(frame).has_value() + decode<EncoderResolution>(frame).has_value();
    understood += decode<MotionLimits>(frame).has_value() + decode<PositionLimit>(frame).has_value();
    understood += decode<HomeMotion>(frame).has_value() + decode<GainOverride>(frame).has_value();
    understood += decode<JamLimits>(frame).has_value() + decode<ErrorBounds>(frame).has_value();
    understood += decode<Renumber>(frame).has_value() + decode<DutyCommand>(frame).has_value();
    CAPTURE(code);
    CHECK(understood <= 1);
  }
}

TEST_CASE("what an answer means is what was asked, one question for each board at a time") {
  using namespace std::chrono_literals;
  Asked asked(10ms);
  const Frame answer = classic(0x1C5, {0, 0, 0, 0, 0, 0, 0, 0});
  CHECK(!asked.answered(answer, Time(0ms)).has_value());  // no request was sent
  CHECK(asked.ask(current_request(5), Time(0ms)));
  CHECK(!asked.ask(parameter_request(5, ParameterPage::a), Time(1ms)));
  CHECK(asked.ask(parameter_request(6, ParameterPage::b, 1), Time(1ms)));
  CHECK(asked.ask(status_request(5), Time(1ms)));  // its answer is unambiguous
  CHECK(asked.answered(answer, Time(2ms)) == current_request(5));
  CHECK(!asked.answered(answer, Time(2ms)).has_value());  // only once
  CHECK(asked.answered(classic(0x1C6, {0, 0, 0, 0, 0, 0, 0, 0}), Time(3ms)) ==
        parameter_request(6, ParameterPage::b, 1));

  CHECK(asked.ask(current_request(5), Time(10ms)));
  CHECK(!asked.answered(answer, Time(21ms)).has_value());  // too late
  CHECK(asked.ask(current_request(5), Time(30ms)));
  CHECK(asked.ask(parameter_request(5, ParameterPage::h), Time(41ms)));  // after the timeout
  CHECK(asked.answered(answer, Time(42ms)) == parameter_request(5, ParameterPage::h));
  CHECK(!asked.answered(classic(0x175, {0, 0, 0, 0, 0, 0, 0, 0}), Time(42ms)).has_value());
  CHECK(asked.ask(current_request(0x30), Time(50ms)));
}

TEST_CASE("any bytes are refused or understood, and what is understood is sent as it came") {
  auto random = test::generator(12);
  const auto again = [](const Frame& frame, auto message, auto... options) {
    if (!decode_into(message, frame, options...)) return;
    Frame sent;
    REQUIRE(encode_into(sent, message, options...).has_value());
    auto back = message;
    REQUIRE(decode_into(back, sent, options...).has_value());
    REQUIRE(back == message);
  };
  for (std::size_t i = 0; i < test::count(20'000); ++i) {
    Frame frame;
    frame.id = test::uniform_int(random, 0, 1) != 0 ? 0x001 : static_cast<std::uint32_t>(random() & 0x1FF);
    frame.length = static_cast<std::uint8_t>(test::uniform_int(random, 0, 9));
    for (std::uint8_t& byte : frame.data) byte = any(random);
    again(frame, HybridReference{});
    again(frame, NeckReference{});
    again(frame, DutyCommand{});
    again(frame, FingerDuty{}, BoardKind::hand);
    again(frame, HybridEncoders{});
    again(frame, HandEncoders{});
    again(frame, ShortStatusReply{}, BoardKind::hand);
    again(frame, CurrentReply{}, BoardKind::two_channel);
    again(frame, Gains{});
    again(frame, HomeSearch{});
    again(frame, HomeMotion{});
    again(frame, SensorRequest{}, Dialect::podo);
    again(frame, SensorCommand{});
    again(frame, ForceTorque{});
    again(frame, PowerReply{});
  }
}
