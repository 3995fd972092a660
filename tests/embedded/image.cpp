// The program of a joint board, as far as takt is concerned. References arrive in CAN frames. Quintics
// interpolate them, and a PID follows, whose stiffness another frame may set. Encoder counts go back. When
// references stop, the joint moves to its rest position. At power-up it moves there past a clear position,
// along a trajectory of fixed size that is made, checked and sampled here. The joint also steers a vehicle:
// control frames lead it, and status frames answer. First, one message goes through each exchange without
// heap, between two cores, or an interrupt and the main loop. compile.sh looks only at the symbols.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "takt/can/hubo.hpp"
#include "takt/can/signal.hpp"
#include "takt/control/pid.hpp"
#include "takt/core/time.hpp"
#include "takt/shm/broadcast_ring.hpp"
#include "takt/shm/byte_ring.hpp"
#include "takt/shm/latest_value.hpp"
#include "takt/shm/slot_ring.hpp"
#include "takt/trajectory/fixed_trajectory.hpp"
#include "takt/trajectory/limits.hpp"
#include "takt/trajectory/point_to_point.hpp"
#include "takt/trajectory/quintic.hpp"
#include "takt/vehicle/status_frame.hpp"
#include "takt/vehicle/units.hpp"

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
constexpr takt::can::SignalCoding stiffness{
    .field = {.start = 15, .length = 12, .order = takt::can::ByteOrder::big}, .scale = 0.01};  // A/rad

constexpr float patience = 0.1F;  // s without a reference
constexpr takt::trajectory::BasicDirectionalLimits<float> limits{-1, 1, -4, 4, 40};
takt::trajectory::BasicPointToPoint<float, 1> way_to_rest;

constexpr float clear_position = 0.5F;
constexpr takt::BasicJointLimits<float> home_limits{-1, 1, 2, 10, 100};
takt::trajectory::BasicFixedTrajectory<float, 1, 2> way_home;

/// What one core or interrupt tells another. All of it lies in zeroed RAM.
struct Report {
  std::uint32_t number;
  float position;
};
constexpr std::uint32_t slots = 4;
takt::shm::LatestValue<Report> latest;
takt::shm::BroadcastCount stream_count;
takt::shm::BroadcastSlot<Report> stream[slots];
std::atomic<std::uint32_t> queue_released;
takt::shm::Slot<Report> queue[slots];
takt::shm::RingIndexes records;
alignas(8) std::byte record_memory[64];

bool exchanges_work(const Report& sent) {
  using takt::shm::Freshness;
  bool ok = true;
  Report got{};
  const auto arrived = [&] { return got.number == sent.number; };

  latest.write(sent);
  ok = ok && latest.read(got) == Freshness::new_data && arrived();

  takt::shm::BroadcastReader<Report> stream_reader(stream_count, stream, slots,
                                                   takt::shm::BroadcastStart::newest);
  takt::shm::BroadcastWriter<Report>(stream_count, stream, slots).write(sent);
  ok = ok && stream_reader.try_read(got) && arrived();

  takt::shm::SlotProducer<Report> queue_in(queue_released, queue, slots);
  takt::shm::SlotConsumer<Report> queue_out(queue_released, queue, slots);
  ok = ok && queue_in.try_push(sent) && queue_out.try_pop(got) && arrived();

  takt::shm::ByteProducer records_in(records, record_memory, sizeof(record_memory));
  takt::shm::ByteConsumer records_out(records, record_memory, sizeof(record_memory));
  ok = ok && records_in.try_write(std::as_bytes(std::span(&sent, 1)));
  const auto record = records_out.peek();
  return ok && record && record->size() == sizeof(sent);
}

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

/// At rest at the clear position and at the rest position; slower than planned where the limits ask for it.
takt::Status go_home() {
  constexpr std::array times{0.0F, 0.5F, 1.0F};
  const std::array positions{measured(), clear_position, 0.0F};
  if (const auto made = way_home.assign_stops({1, times, positions, {}, {}}); !made) return made;
  const std::span way_limits(&home_limits, 1);
  if (takt::trajectory::find_violation(way_home, way_limits)) {
    const float slowdown = takt::trajectory::required_slowdown(way_home, way_limits);
    if (const auto slowed = way_home.slow_down(slowdown); !slowed)
      return slowed;  // a position is out of range
  }
  takt::trajectory::Cursor cursor;
  for (float t = 0; t < way_home.duration(); t += 0.001F) {
    float position = 0, velocity = 0, acceleration = 0;
    way_home.sample(t, cursor, {&position, 1}, {&velocity, 1}, {&acceleration, 1});
    drive_to(position);
  }
  return {};
}

using Units = takt::vehicle::BasicUnits<float>;
constexpr Units::Configuration vehicle_units{.speed = 0.01F,
                                             .angle = 0.001F,
                                             .odometer = 0.001F,
                                             .steer = 0.001F,
                                             .full_throttle = 100,
                                             .full_brake = 100};
std::uint8_t datagram[takt::vehicle::max_status_bytes];  // of the Ethernet controller
std::size_t datagram_bytes;
takt::vehicle::StatusFrame told;

/// Follows the control frame, and writes the state of the steering into its place. Errors: those of the
/// frame; own ones for NaN.
takt::Status serve_vehicle(const Units& units, const takt::vehicle::ControlFrame& control, float now) {
  const Quintic::State start = motion.at(std::min(now, period));
  const Quintic::State end{units.command(control).steering, 0, 0};
  motion = Quintic::between(start, end, period);
  const auto angle = takt::vehicle::to_counts(measured(), units.configuration().angle);
  if (!angle) return takt::fail(angle.error());
  told.stamp = control.stamp;
  const takt::vehicle::Steering steering{static_cast<std::int32_t>(takt::vehicle::SystemState::running),
                                         *angle, control.steer};
  if (const auto set = told.set(steering); !set) return set;
  const auto size = takt::vehicle::encode_status(told, datagram);
  datagram_bytes = size.value_or(0);
  return {};
}

}  // namespace

int main() {
#ifdef TAKT_PLANTED_ALLOCATION
  drive = *new std::int32_t(7);
#endif
  if (!exchanges_work({static_cast<std::uint32_t>(encoder), measured()})) return 2;
  const auto units = Units::make(vehicle_units);
  if (!units) return 3;
  if (!go_home()) return 5;
  float now = 0;
  while (true) {
    asm volatile("" : "+m"(mailbox));  // here the controller writes and sends it
    if (const auto reference = takt::can::hubo::decode_reference(mailbox)) {
      follow(*reference, now);
      now = 0;
    }
    if (mailbox.id == stiffness_id && mailbox.length == 8) stiffen(mailbox);
    asm volatile("" : "+m"(datagram), "+m"(datagram_bytes));
    if (const auto control = takt::vehicle::decode_control(
            std::span(datagram).first(std::min<std::size_t>(datagram_bytes, sizeof(datagram))),
            takt::vehicle::ByteOrder::big)) {
      if (!serve_vehicle(*units, *control, now)) return 4;
      now = 0;
    }
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
