// Trajectories of the C API: a thin layer over the room trajectory/.
#include "trajectory.hpp"

#include <array>
#include <cmath>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "boundary.hpp"
#include "takt/motion/error.hpp"
#include "takt/motion/wire.hpp"
#include "takt/trajectory/limits.hpp"
#include "takt/trajectory/stop.hpp"
#include "takt/trajectory/through.hpp"
#include "takt/trajectory/timing.hpp"

using takt::fail;
using takt::JointLimits;
using takt::max_joints;
using takt::Result;
using takt::Status;
using takt::capi::Errc;
using takt::capi::guarded;
using takt::capi::to_status;
using takt::trajectory::Quantity;
using takt::trajectory::Through;
using takt::trajectory::Timed;
using takt::trajectory::Trajectory;
using takt::trajectory::Violation;

namespace takt::capi {

Result<std::optional<Through>> read_through(std::int32_t through) noexcept {
  switch (through) {
    case TAKT_THROUGH_DEFAULT:
      return std::nullopt;
    case TAKT_THROUGH_STOP:
      return Through::stop;
    case TAKT_THROUGH_GIVEN:
      return Through::given;
    case TAKT_THROUGH_SMOOTH:
      return Through::smooth;
    case TAKT_THROUGH_CUBIC:
      return Through::cubic;
    case TAKT_THROUGH_MONOTONE:
      return Through::monotone;
    default:
      return fail(Errc::bad_argument);
  }
}

Status check_shape(const takt_waypoints& waypoints) noexcept {
  if (waypoints.positions == nullptr) return fail(Errc::null_pointer);
  if (waypoints.joints == 0 || waypoints.joints > max_joints) return fail(trajectory::Errc::wrong_size);
  if (waypoints.count > std::vector<double>().max_size() / waypoints.joints) return fail(Errc::out_of_memory);
  return {};
}

Result<LimitsOfAll> read_limits(std::size_t expected, const takt_joint_limits* limits,
                                std::size_t joints) noexcept {
  if (limits == nullptr) return fail(Errc::null_pointer);
  if (joints != expected) return fail(takt::trajectory::Errc::wrong_size);
  LimitsOfAll all;
  for (; all.count < joints; ++all.count) {
    if (Status status = check_limits(limits[all.count]); !status) return fail(status.error());
    all.storage[all.count] = to_joint_limits(limits[all.count]);
  }
  return all;
}

Result<LimitsOfAll> read_limits(const takt_trajectory* trajectory, const takt_joint_limits* limits,
                                std::size_t joints) noexcept {
  if (trajectory == nullptr) return fail(Errc::null_pointer);
  return read_limits(trajectory->motion.joints(), limits, joints);
}

void write_violation(const Violation& found, takt_violation* violation) noexcept {
  write_struct(violation, {0, static_cast<std::int32_t>(found.quantity) + TAKT_QUANTITY_POSITION, found.joint,
                           from_seconds(found.time).count(), found.value, found.limit});
}

Status hand_over(Result<Trajectory> motion, takt_trajectory** trajectory) {
  if (!motion) return fail(motion.error());
  *trajectory = std::make_unique<takt_trajectory>(takt_trajectory{*std::move(motion)}).release();
  return {};
}

}  // namespace takt::capi

namespace {

using takt::capi::LimitsOfAll;
using takt::capi::read_limits;

takt::motion::Errc reason(Quantity quantity) noexcept {
  switch (quantity) {
    case Quantity::position:
      return takt::motion::Errc::position_limit;
    case Quantity::velocity:
      return takt::motion::Errc::velocity_limit;
    case Quantity::acceleration:
      return takt::motion::Errc::acceleration_limit;
    case Quantity::jerk:
      return takt::motion::Errc::jerk_limit;
  }
  return takt::motion::Errc::malformed;
}

Status report(const std::optional<Violation>& found, takt_violation* violation) noexcept {
  if (!found) return {};
  takt::capi::write_violation(*found, violation);
  return fail(reason(found->quantity));
}

/// Returns the seconds since the first time. The difference is taken in integers, so that large stamps lose
/// no precision.
Result<std::vector<double>> read_times(std::span<const std::int64_t> times_ns) {
  std::vector<double> times(times_ns.size());
  for (std::size_t k = 0; k < times.size(); ++k) {
    std::int64_t elapsed = 0;
    if (__builtin_sub_overflow(times_ns[k], times_ns[0], &elapsed)) {
      return fail(takt::trajectory::Errc::out_of_domain);
    }
    times[k] = takt::capi::seconds(elapsed);
  }
  return times;
}

Result<Trajectory> make_trajectory(const takt_waypoints& from) {
  if (from.times_ns == nullptr) return fail(Errc::null_pointer);
  if (Status status = takt::capi::check_shape(from); !status) return fail(status.error());
  const auto mode = takt::capi::read_through(from.through);
  if (!mode) return fail(mode.error());
  const Through otherwise = from.velocities != nullptr ? Through::given : Through::smooth;
  const auto times = read_times({from.times_ns, from.count});
  if (!times) return fail(times.error());

  const std::size_t numbers = from.count * from.joints;
  const auto matrix = [&](const double* data) {
    return data == nullptr ? std::span<const double>() : std::span(data, numbers);
  };
  const takt::trajectory::Waypoints waypoints{from.joints, *times, matrix(from.positions),
                                              matrix(from.velocities), matrix(from.accelerations)};
  return through(waypoints, mode->value_or(otherwise));
}

Result<Timed> make_trajectory_within(const takt_waypoints& from, const takt_joint_limits* limits,
                                     std::size_t joints) {
  if (Status status = takt::capi::check_shape(from); !status) return fail(status.error());
  const auto mode = takt::capi::read_through(from.through);
  if (!mode) return fail(mode.error());
  const auto all = read_limits(from.joints, limits, joints);
  if (!all) return fail(all.error());
  const auto times = read_times({from.times_ns, from.times_ns == nullptr ? 0 : from.count});
  if (!times) return fail(times.error());
  const takt::trajectory::Waypoints waypoints{
      from.joints, *times, std::span(from.positions, from.count * from.joints), {}, {}};
  return through_within(waypoints, mode->value_or(Through::smooth), all->span());
}

/// Finds violations that no slow-down cures: positions out of range, and motion of a joint with a limit of
/// zero.
std::optional<Violation> incurable(const Trajectory& motion, LimitsOfAll limits) noexcept {
  constexpr double unlimited = std::numeric_limits<double>::infinity();
  for (JointLimits& joint : limits.storage) {
    for (double* bound : {&joint.velocity, &joint.acceleration, &joint.jerk}) {
      if (*bound > 0) *bound = unlimited;
    }
  }
  return find_violation(motion, limits.span());
}

Status fit(Trajectory& motion, const LimitsOfAll& limits, double* factor,
           takt_violation* violation) noexcept {
  const double slowdown = required_slowdown(motion, limits.span());
  if (!std::isfinite(slowdown)) {
    const auto found = incurable(motion, limits);
    return found ? report(found, violation) : fail(takt::trajectory::Errc::out_of_domain);
  }
  if (Status status = motion.slow_down(slowdown); !status) return status;
  if (factor != nullptr) *factor = slowdown;
  return {};
}

}  // namespace

void takt_waypoints_init(takt_waypoints* waypoints, std::size_t size) {
  takt::capi::init_struct(waypoints, size);
}

void takt_violation_init(takt_violation* violation, std::size_t size) {
  takt::capi::init_struct(violation, size);
}

std::int32_t takt_trajectory_create(const takt_waypoints* waypoints, takt_trajectory** trajectory) {
  return guarded([&]() -> Status {
    if (trajectory == nullptr) return fail(Errc::null_pointer);
    const auto from = takt::capi::read_struct(waypoints);
    if (!from) return fail(from.error());
    return takt::capi::hand_over(make_trajectory(*from), trajectory);
  });
}

std::int32_t takt_trajectory_create_within(const takt_waypoints* waypoints, const takt_joint_limits* limits,
                                           std::size_t joints, std::int32_t* through,
                                           takt_trajectory** trajectory) {
  return guarded([&]() -> Status {
    if (trajectory == nullptr) return fail(Errc::null_pointer);
    const auto from = takt::capi::read_struct(waypoints);
    if (!from) return fail(from.error());
    auto timed = make_trajectory_within(*from, limits, joints);
    if (!timed) return fail(timed.error());
    if (Status status = takt::capi::hand_over(std::move(timed->trajectory), trajectory); !status)
      return status;
    const std::int32_t asked = from->through == TAKT_THROUGH_DEFAULT ? TAKT_THROUGH_SMOOTH : from->through;
    if (through != nullptr) *through = timed->mode == Through::stop ? TAKT_THROUGH_STOP : asked;
    return {};
  });
}

void takt_trajectory_destroy(takt_trajectory* trajectory) { delete trajectory; }

std::size_t takt_trajectory_joints(const takt_trajectory* trajectory) {
  return trajectory == nullptr ? 0 : trajectory->motion.joints();
}

std::int64_t takt_trajectory_duration_ns(const takt_trajectory* trajectory) {
  return trajectory == nullptr ? 0 : takt::capi::nanoseconds_not_before(trajectory->motion.duration());
}

std::int32_t takt_trajectory_sample(const takt_trajectory* trajectory, takt_cursor* cursor,
                                    std::int64_t time_ns, std::size_t joints, double* positions,
                                    double* velocities, double* accelerations) {
  if (trajectory == nullptr || cursor == nullptr) return to_status(Errc::null_pointer);
  if (joints != trajectory->motion.joints()) return to_status(takt::trajectory::Errc::wrong_size);
  std::array<double, max_joints> unwanted;
  const auto column = [&](double* wanted) {
    return std::span(wanted != nullptr ? wanted : unwanted.data(), joints);
  };
  takt::trajectory::Cursor at{static_cast<std::size_t>(cursor->segment)};
  trajectory->motion.sample(takt::capi::seconds(time_ns), at, column(positions), column(velocities),
                            column(accelerations));
  cursor->segment = at.segment;
  return TAKT_OK;
}

std::int32_t takt_trajectory_check(const takt_trajectory* trajectory, const takt_joint_limits* limits,
                                   std::size_t joints, takt_violation* violation) {
  if (Status status = takt::capi::check_size(violation); !status) return to_status(status);
  const auto all = read_limits(trajectory, limits, joints);
  if (!all) return to_status(all.error());
  return to_status(report(find_violation(trajectory->motion, all->span()), violation));
}

std::int32_t takt_trajectory_fit(takt_trajectory* trajectory, const takt_joint_limits* limits,
                                 std::size_t joints, double* factor, takt_violation* violation) {
  if (Status status = takt::capi::check_size(violation); !status) return to_status(status);
  const auto all = read_limits(trajectory, limits, joints);
  if (!all) return to_status(all.error());
  return to_status(fit(trajectory->motion, *all, factor, violation));
}

std::int32_t takt_trajectory_slow_down(takt_trajectory* trajectory, double factor) {
  if (trajectory == nullptr) return to_status(Errc::null_pointer);
  return to_status(trajectory->motion.slow_down(factor));
}

std::int32_t takt_trajectory_append_stop(takt_trajectory* trajectory, const takt_joint_limits* limits,
                                         std::size_t joints) {
  const auto all = read_limits(trajectory, limits, joints);
  if (!all) return to_status(all.error());
  return guarded([&]() -> Status {
    Trajectory longer = trajectory->motion;  // the original stays whole if memory runs out
    if (Status status = append_stop(longer, all->span()); !status) return status;
    trajectory->motion = std::move(longer);
    return {};
  });
}

std::int32_t takt_trajectory_to_json(const takt_trajectory* trajectory, const char* const* joint_names,
                                     char* text, std::size_t size, std::size_t* length) {
  return guarded([&]() -> Status {
    if (trajectory == nullptr || joint_names == nullptr || (text == nullptr && size != 0)) {
      return fail(Errc::null_pointer);
    }
    std::vector<std::string> names;
    for (std::size_t j = 0; j < trajectory->motion.joints(); ++j) {
      if (joint_names[j] == nullptr) return fail(Errc::null_pointer);
      names.emplace_back(joint_names[j]);
    }
    const std::string json =
        takt::motion::to_joint_trajectory(takt::motion::to_message(trajectory->motion, std::move(names)));
    if (length != nullptr) *length = json.size();
    if (json.size() >= size) return fail(Errc::buffer_too_small);
    std::memcpy(text, json.c_str(), json.size() + 1);
    return {};
  });
}
