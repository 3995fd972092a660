// Bounded stops of the C API: real-time objects in the caller's memory.
#include "takt/trajectory/stop.hpp"

#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>

#include "boundary.hpp"
#include "takt/trajectory/domain.hpp"

using takt::Status;
using takt::capi::Errc;
using takt::capi::to_status;

struct takt_stop {
  takt::trajectory::StopMotion motion;
};
// An object in the caller's memory is never destroyed.
static_assert(std::is_trivially_destructible_v<takt_stop>);

std::size_t takt_stop_size() { return sizeof(takt_stop); }
std::size_t takt_stop_align() { return alignof(takt_stop); }

std::int32_t takt_stop_init_in(void* memory, std::size_t size, const takt_motion_state* state,
                               const takt_joint_limits* limits, takt_stop** stop) {
  if (state == nullptr || limits == nullptr || stop == nullptr) return to_status(Errc::null_pointer);
  if (Status status = takt::capi::check_memory(memory, size, sizeof(takt_stop), alignof(takt_stop)); !status)
    return to_status(status);
  const takt::MotionState from{state->position, state->velocity, state->acceleration};
  if (Status status = takt::trajectory::check_state(from); !status) return to_status(status);
  if (Status status = takt::capi::check_limits(*limits); !status) return to_status(status);
  *stop = new (memory) takt_stop{takt::trajectory::plan_stop(from, takt::capi::to_joint_limits(*limits))};
  return TAKT_OK;
}

std::int32_t takt_stop_get(const takt_stop* stop, std::int64_t* duration_ns, double* distance,
                           std::int32_t* fits) {
  if (stop == nullptr) return to_status(Errc::null_pointer);
  if (duration_ns != nullptr) *duration_ns = takt::capi::nanoseconds_not_before(stop->motion.duration);
  if (distance != nullptr) *distance = stop->motion.distance;
  if (fits != nullptr) *fits = stop->motion.fits ? 1 : 0;
  return TAKT_OK;
}

std::int32_t takt_stop_sample(const takt_stop* stop, std::int64_t time_ns, takt_motion_state* state) {
  if (stop == nullptr || state == nullptr) return to_status(Errc::null_pointer);
  const takt::MotionState at = stop->motion.at(takt::capi::seconds(time_ns));
  *state = {at.position, at.velocity, at.acceleration};
  return TAKT_OK;
}
