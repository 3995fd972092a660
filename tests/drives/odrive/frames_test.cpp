// The frames of CANSimple: the bytes of its description, every value encoded and decoded, and rejected
// frames.
#include "drives/odrive/frames.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <random>
#include <vector>

using namespace takt;
using namespace takt::drives;
using can::Errc;

namespace {

constexpr std::uint8_t node = 3;

std::vector<int> bytes_of(const can::Frame& frame) {
  const auto payload = frame.payload();
  return {payload.begin(), payload.end()};
}
can::Frame frame(std::uint32_t id, std::initializer_list<std::uint8_t> bytes) {
  return can::make_frame(id, std::vector<std::uint8_t>(bytes)).value();
}
template <class Message>
Result<Message> read(const can::Frame& frame) {
  return can::decode<Message>(odrive_frame::of_node_0(frame));
}

}  // namespace

TEST_CASE("the frames of the protocol's examples, byte by byte") {
  using odrive_frame::of_node;
  const auto position = of_node(node, odrive::SetPosition{2.5, 0.5, -0.25}).value();
  CHECK(position.id == 0x06C);
  CHECK(bytes_of(position) == std::vector<int>{0x00, 0x00, 0x20, 0x40, 0xF4, 0x01, 0x06, 0xFF});

  using Mode = odrive::SetMode;
  const auto mode = of_node(node, Mode{Mode::Control::position, Mode::Input::passthrough}).value();
  CHECK(mode.id == 0x06B);
  CHECK(bytes_of(mode) == std::vector<int>{3, 0, 0, 0, 1, 0, 0, 0});

  const auto state = of_node(node, odrive::SetState{odrive::SetState::State::closed_loop}).value();
  CHECK(state.id == 0x067);
  CHECK(bytes_of(state) == std::vector<int>{8, 0, 0, 0});

  const auto limits = of_node(node, odrive::SetLimits{10, 20}).value();
  CHECK(limits.id == 0x06F);
  CHECK(bytes_of(limits) == std::vector<int>{0x00, 0x00, 0x20, 0x41, 0x00, 0x00, 0xA0, 0x41});

  const OdriveScale direct(1 / (2 * std::numbers::pi));
  const auto velocity = of_node(node, odrive::SetVelocity{direct.turns(1), 0}).value();
  CHECK(velocity.id == 0x06D);
  CHECK(bytes_of(velocity) == std::vector<int>{0x83, 0xF9, 0x22, 0x3E, 0, 0, 0, 0});

  const auto question = odrive_frame::ask<odrive::Estimate>(node);
  CHECK(question.id == 0x069);
  CHECK(question.remote);
  CHECK(question.length == 0);

  const auto heartbeat = read<odrive::Heartbeat>(frame(0x061, {0, 0, 0, 2, 1, 0, 0, 0})).value();
  CHECK(heartbeat.errors == 0x200'0000);
  CHECK(heartbeat.state == odrive::Heartbeat::State::idle);
  CHECK(heartbeat.result == odrive::Heartbeat::Result::ok);
  CHECK_FALSE(heartbeat.trajectory_done);
}

TEST_CASE("the state is in the same byte of all heartbeats since firmware 0.5.1") {
  const auto state_of = [](std::initializer_list<std::uint8_t> bytes) {
    return read<odrive::Heartbeat>(frame(0x061, bytes)).value().state;
  };
  using State = odrive::Heartbeat::State;
  CHECK(state_of({0, 0, 0, 0, 8, 0, 0, 0}) == State::closed_loop);     // 0.5.1: 32 bits
  CHECK(state_of({0, 0, 0, 0, 8, 0, 0, 0x80}) == State::closed_loop);  // 0.5.3: the trajectory is done
  CHECK(state_of({0x40, 0, 0, 0, 1, 1, 1, 1}) == State::idle);  // 0.5.6: errors of motor, encoder, controller
}

TEST_CASE("every message is read as it was written, for every node") {
  std::mt19937 random(20'261'123);
  std::uniform_real_distribution<double> number(-1000, 1000);
  for (int i = 0; i < 2000; ++i) {
    const auto any = static_cast<std::uint8_t>(random() % (odrive_frame::last_node + 1U));
    const odrive::Estimate said{static_cast<float>(number(random)), static_cast<float>(number(random))};
    const auto sent = odrive_frame::of_node(any, said).value();
    CHECK(odrive_frame::node_of(sent) == any);
    CHECK(read<odrive::Estimate>(sent).value() == said);

    const odrive::SetPosition told{static_cast<float>(number(random)), std::round(number(random)) / 1000,
                                   std::round(number(random)) / 1000};
    const auto back = read<odrive::SetPosition>(odrive_frame::of_node(any, told).value()).value();
    CHECK(back.position == told.position);
    CHECK(back.velocity == doctest::Approx(told.velocity).epsilon(1e-12));
    CHECK(back.torque == doctest::Approx(told.torque).epsilon(1e-12));
  }
}

TEST_CASE("values that a frame cannot carry are refused by name") {
  using odrive_frame::of_node;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  CHECK(of_node(node, odrive::SetPosition{1, 32.768, 0}).error() == Errc::out_of_range);
  CHECK(of_node(node, odrive::SetVelocity{std::nan(""), 0}).error() == Errc::not_finite);
  CHECK(of_node(node, odrive::SetTorque{infinity}).error() == Errc::not_finite);
  CHECK(of_node(node, odrive::SetTorque{1e39}).error() == Errc::out_of_range);
  CHECK(read<odrive::Heartbeat>(frame(0x061, {0, 0, 0, 0, 1, 0, 0})).error() == Errc::wrong_length);
  CHECK(read<odrive::Estimate>(frame(0x069, {})).error() == Errc::wrong_length);
  CHECK(read<odrive::Estimate>(odrive_frame::ask<odrive::Estimate>(node)).error() == Errc::wrong_format);
}

TEST_CASE("a gear turns, turns back, and neither makes nor loses power") {
  std::mt19937 random(20'261'124);
  std::uniform_real_distribution<double> number(-50, 50);
  for (int i = 0; i < 1000; ++i) {
    const double turns_per_unit = number(random) + (number(random) > 0 ? 60 : -60);
    const OdriveScale scale(turns_per_unit);
    const double position = number(random);
    const double velocity = number(random);
    const double effort = number(random);
    CHECK(scale.joint(scale.turns(position)) == doctest::Approx(position));
    CHECK(scale.effort(scale.torque(effort)) == doctest::Approx(effort));
    const double motor_power = scale.torque(effort) * scale.turns(velocity) * 2 * std::numbers::pi;
    CHECK(motor_power == doctest::Approx(effort * velocity));
  }
}
