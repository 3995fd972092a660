// What a joint board needs of takt: references arrive in CAN frames, are interpolated by quintics and followed by a PID whose stiffness
// another frame may set, and encoder counts go back.
// When no reference has come for a while, it goes to its rest position by itself.
// Only its symbols are looked at: see compile.sh.
#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "takt/can/hubo.hpp"
#include "takt/can/signal.hpp"
#include "takt/control/pid.hpp"
#include "takt/core/time.hpp"
#include "takt/trajectory/point_to_point.hpp"
#include "takt/trajectory/quintic.hpp"

namespace {

using Quintic = takt::trajectory::BasicQuintic<float>;

constexpr std::uint8_t board = 3;
constexpr float counts_per_radian = 1000.0F;
constexpr float period =
    0.005F;  // of the references; the board moves on a grid of a millisecond between them

takt::can::Frame mailbox;     // of the CAN controller
volatile std::int32_t drive;  // its current, in mA
volatile std::int32_t encoder;

Quintic motion;

using Pid = takt::control::BasicPid<float>;
Pid pid;
constexpr std::uint32_t stiffness_id = 0x123;
constexpr takt::can::Signal stiffness{
    .field = {.start = 15, .length = 12, .order = takt::can::ByteOrder::big}, .scale = 0.01};  // A/rad

constexpr float patience = 0.1F;  // s without a reference
constexpr takt::trajectory::BasicDirectionalLimits<float> limits{-1, 1, -4, 4, 40};
takt::trajectory::BasicPointToPoint<float, 1> way_to_rest;

float measured() { return static_cast<float>(encoder) / counts_per_radian; }

void drive_to(float position) {
  const auto current = pid.step(position, measured(), 0.001F);
  drive = static_cast<std::int32_t>(1000 * current.value);
}

void stiffen(const takt::can::Frame& frame) {
  const std::span data = frame.data;
  const auto proportional = static_cast<float>(takt::can::decode<stiffness>(data.first<8>()));
  if (auto other =
          Pid::make({.proportional = proportional, .derivative = 0.1F, .output_min = -5, .output_max = 5}))
    pid = *other;
}

void follow(const takt::can::hubo::Reference& reference, float now) {
  const Quintic::State start = motion.at(std::min(now, period));
  Quintic::State end;
  end.position = static_cast<float>(reference.counts[0]) / counts_per_radian;
  motion = Quintic::between(start, end, period);
}

void go_to_rest() {
  const Quintic::State start{motion.at(period).position, 0, 0};
  const Quintic::State rest{};
  if (!way_to_rest.plan({&start, 1}, {&rest, 1}, {&limits, 1})) return;
  for (float t = 0; t < way_to_rest.duration(); t += 0.001F) {
    drive_to(way_to_rest.joint(0).at(t).position);
  }
  motion = Quintic();
}

}  // namespace

int main() {
#ifdef TAKT_PLANTED_ALLOCATION
  drive = *new std::int32_t(7);
#endif
  float now = 0;
  while (true) {
    asm volatile("" : "+m"(mailbox));  // here the controller writes and sends it
    if (const auto reference = takt::can::hubo::decode_reference(mailbox)) {
      follow(*reference, now);
      now = 0;
    }
    if (mailbox.id == stiffness_id && mailbox.length == 8) stiffen(mailbox);
    drive_to(motion.at(std::min(now, period)).position);
    if (now > patience) {
      go_to_rest();
      now = 0;
    }
    now += 0.001F;
    takt::can::hubo::EncoderReply reply{board, {encoder, 0}};
    if (!takt::can::hubo::encode_into(mailbox, reply)) return 1;
  }
}
