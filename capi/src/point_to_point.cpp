// Point-to-point motions of the C API. A loop makes, plans and samples them in the caller's memory.
#include "takt/trajectory/point_to_point.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <type_traits>

#include "boundary.hpp"
#include "takt/trajectory/assemble.hpp"
#include "takt/trajectory/error.hpp"
#include "trajectory.hpp"

using takt::fail;
using takt::max_joints;
using takt::MotionState;
using takt::Status;
using takt::capi::Errc;
using takt::capi::guarded;
using takt::capi::to_status;
using takt::trajectory::DirectionalLimits;
using takt::trajectory::Synchronisation;

using Motion = takt::trajectory::PointToPoint<takt::trajectory::borrowed_extent>;

/// The work space of the planner follows in the same memory.
struct takt_point_to_point {
  Motion motion;
};
// An object in the caller's memory is never destroyed.
static_assert(std::is_trivially_destructible_v<takt_point_to_point> &&
              std::is_trivially_destructible_v<Motion::Transfer> &&
              std::is_trivially_destructible_v<Motion::Profile>);
static_assert(alignof(takt_point_to_point) >= alignof(Motion::Transfer) &&
              alignof(Motion::Transfer) == alignof(Motion::Profile));

namespace {

std::optional<Synchronisation> read_synchronisation(std::int32_t how) noexcept {
  if (how == TAKT_SYNCHRONISE_TIME) return Synchronisation::time;
  if (how == TAKT_SYNCHRONISE_PHASE) return Synchronisation::phase;
  return std::nullopt;
}

}  // namespace

void takt_directional_limits_init(takt_directional_limits* limits, const takt_joint_limits* both_directions) {
  if (limits == nullptr || both_directions == nullptr) return;
  *limits = {-both_directions->velocity, both_directions->velocity, -both_directions->acceleration,
             both_directions->acceleration, both_directions->jerk};
}

std::size_t takt_point_to_point_size(std::size_t joints) {
  if (joints == 0 || joints > max_joints) return 0;
  return sizeof(takt_point_to_point) + joints * (sizeof(Motion::Transfer) + sizeof(Motion::Profile));
}
std::size_t takt_point_to_point_align() { return alignof(takt_point_to_point); }

std::int32_t takt_point_to_point_init_in(void* memory, std::size_t size, std::size_t joints,
                                         takt_point_to_point** motion) {
  if (motion == nullptr) return to_status(Errc::null_pointer);
  const std::size_t needed = takt_point_to_point_size(joints);
  if (needed == 0) return to_status(takt::trajectory::Errc::wrong_size);
  if (Status status = takt::capi::check_memory(memory, size, needed, alignof(takt_point_to_point)); !status)
    return to_status(status);
  auto* const transfers =
      reinterpret_cast<Motion::Transfer*>(static_cast<std::byte*>(memory) + sizeof(takt_point_to_point));
  auto* const profiles = reinterpret_cast<Motion::Profile*>(transfers + joints);
  std::uninitialized_value_construct_n(transfers, joints);
  std::uninitialized_value_construct_n(profiles, joints);
  *motion = new (memory) takt_point_to_point{Motion({transfers, joints}, {profiles, joints})};
  return TAKT_OK;
}

std::int32_t takt_point_to_point_plan(takt_point_to_point* motion, const takt_motion_state* start,
                                      const takt_motion_state* target, const takt_directional_limits* limits,
                                      std::size_t joints, std::int32_t synchronisation,
                                      std::int64_t at_least_ns) {
  if (motion == nullptr || start == nullptr || target == nullptr || limits == nullptr)
    return to_status(Errc::null_pointer);
  if (joints != motion->motion.joints()) return to_status(takt::trajectory::Errc::wrong_size);
  const auto how = read_synchronisation(synchronisation);
  if (!how) return to_status(Errc::bad_argument);
  std::array<MotionState, max_joints> from, to;
  std::array<DirectionalLimits, max_joints> within;
  for (std::size_t j = 0; j < joints; ++j) {
    from[j] = {start[j].position, start[j].velocity, start[j].acceleration};
    to[j] = {target[j].position, target[j].velocity, target[j].acceleration};
    within[j] = {limits[j].velocity_min, limits[j].velocity_max, limits[j].acceleration_min,
                 limits[j].acceleration_max, limits[j].jerk};
  }
  const auto own = [joints](auto& all) { return std::span(all).first(joints); };
  return to_status(
      motion->motion.plan(own(from), own(to), own(within), *how, takt::capi::seconds(at_least_ns)));
}

std::int32_t takt_point_to_point_get(const takt_point_to_point* motion, std::int64_t* duration_ns,
                                     std::int32_t* fits) {
  if (motion == nullptr) return to_status(Errc::null_pointer);
  if (duration_ns != nullptr) *duration_ns = takt::capi::nanoseconds_not_before(motion->motion.duration());
  if (fits != nullptr) *fits = motion->motion.fits() ? 1 : 0;
  return TAKT_OK;
}

std::int32_t takt_point_to_point_sample(const takt_point_to_point* motion, std::int64_t time_ns,
                                        std::size_t joints, double* positions, double* velocities,
                                        double* accelerations) {
  if (motion == nullptr) return to_status(Errc::null_pointer);
  if (joints != motion->motion.joints()) return to_status(takt::trajectory::Errc::wrong_size);
  std::array<double, max_joints> unwanted;
  const auto column = [&](double* wanted) {
    return std::span(wanted != nullptr ? wanted : unwanted.data(), joints);
  };
  motion->motion.sample(takt::capi::seconds(time_ns), column(positions), column(velocities),
                        column(accelerations));
  return TAKT_OK;
}

std::int32_t takt_point_to_point_to_trajectory(const takt_point_to_point* motion,
                                               takt_trajectory** trajectory) {
  return guarded([&]() -> Status {
    if (motion == nullptr || trajectory == nullptr) return fail(Errc::null_pointer);
    return takt::capi::hand_over(to_trajectory(motion->motion), trajectory);
  });
}
