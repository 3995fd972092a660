// What a joint board needs of takt: references arrive in CAN frames, are interpolated by quintics, and encoder counts go back.
// When no reference has come for a while, it goes to its rest position by itself.
// Only its symbols are looked at: see compile.sh.
#include <algorithm>
#include <array>
#include <cstdint>

#include "takt/can/hubo.hpp"
#include "takt/core/time.hpp"
#include "takt/trajectory/point_to_point.hpp"
#include "takt/trajectory/quintic.hpp"

namespace {

using Quintic = takt::trajectory::BasicQuintic<float>;

constexpr std::uint8_t board = 3;
constexpr float counts_per_radian = 1000.0F;
constexpr float period =
    0.005F;  // of the references; the board moves on a grid of a millisecond between them

takt::can::Frame mailbox;         // of the CAN controller
volatile std::int32_t set_point;  // of the drive
volatile std::int32_t encoder;

Quintic motion;

constexpr float patience = 0.1F;  // s without a reference
constexpr takt::trajectory::BasicDirectionalLimits<float> limits{-1, 1, -4, 4, 40};
takt::trajectory::BasicPointToPoint<float, 1> way_to_rest;

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
    set_point = static_cast<std::int32_t>(way_to_rest.joint(0).at(t).position * counts_per_radian);
  }
  motion = Quintic();
}

}  // namespace

int main() {
#ifdef TAKT_PLANTED_ALLOCATION
  set_point = *new std::int32_t(7);
#endif
  float now = 0;
  while (true) {
    asm volatile("" : "+m"(mailbox));  // here the controller writes and sends it
    if (const auto reference = takt::can::hubo::decode_reference(mailbox)) {
      follow(*reference, now);
      now = 0;
    }
    set_point = static_cast<std::int32_t>(motion.at(std::min(now, period)).position * counts_per_radian);
    if (now > patience) {
      go_to_rest();
      now = 0;
    }
    now += 0.001F;
    takt::can::hubo::EncoderReply reply{board, {encoder, 0}};
    if (!takt::can::hubo::encode_into(mailbox, reply)) return 1;
  }
}
