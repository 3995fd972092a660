// What a joint board needs of takt: references arrive in CAN frames, are interpolated by quintics, and encoder counts go back.
// Only its symbols are looked at: see compile.sh.
#include <array>
#include <cstdint>

#include "takt/can/hubo.hpp"
#include "takt/core/time.hpp"
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

void follow(const takt::can::hubo::Reference& reference, float now) {
  const Quintic::State start = motion.at(now);
  Quintic::State end;
  end.position = static_cast<float>(reference.counts[0]) / counts_per_radian;
  motion = Quintic::between(start, end, period);
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
    set_point = static_cast<std::int32_t>(motion.at(now).position * counts_per_radian);
    now += 0.001F;
    takt::can::hubo::EncoderReply reply{board, {encoder, 0}};
    if (!takt::can::hubo::encode_into(mailbox, reply)) return 1;
  }
}
