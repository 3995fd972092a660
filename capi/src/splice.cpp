// Trajectories of the C API that are made from others.
#include "takt/trajectory/splice.hpp"

#include <cstddef>
#include <span>
#include <utility>

#include "boundary.hpp"
#include "takt/core/joint.hpp"
#include "takt/trajectory/assemble.hpp"
#include "takt/trajectory/error.hpp"
#include "takt/trajectory/stop.hpp"
#include "trajectory.hpp"

using takt::fail;
using takt::Status;
using takt::capi::Errc;
using takt::capi::guarded;
using takt::capi::hand_over;
using takt::capi::seconds;

namespace {

Status make_splice(const takt_trajectory* running, const takt_trajectory* next,
                   const takt_splice_options* options, const takt_joint_limits* limits, std::size_t joints,
                   takt_splice* splice, takt_violation* violation, takt_trajectory** result) {
  if (next == nullptr || result == nullptr) return fail(Errc::null_pointer);
  for (const Status& status : {takt::capi::check_size(splice), takt::capi::check_size(violation)}) {
    if (!status) return status;
  }
  const auto how = takt::capi::read_struct(options);
  if (!how) return fail(how.error());
  if (how->reserved != 0) return fail(Errc::bad_argument);
  const auto all = takt::capi::read_limits(running, limits, joints);
  if (!all) return fail(all.error());
  const std::span columns(how->joints, how->joints == nullptr ? 0 : next->motion.joints());
  auto made = takt::trajectory::splice(running->motion, seconds(how->at_ns), next->motion,
                                       seconds(how->start_ns), all->span(), columns);
  if (!made) return fail(made.error());
  if (Status status = hand_over(std::move(made->trajectory), result); !status) return status;
  takt::capi::write_struct(
      splice, {0, made->violation ? 0 : 1, made->waypoint, takt::from_seconds(made->joins).count(),
               takt::from_seconds(made->delay).count()});
  if (made->violation) takt::capi::write_violation(*made->violation, violation);
  return {};
}

Status make_stop(const takt_trajectory* trajectory, std::int64_t at_ns, const takt_joint_limits* limits,
                 std::size_t joints, std::int32_t* fits, takt_violation* violation,
                 takt_trajectory** result) {
  if (result == nullptr) return fail(Errc::null_pointer);
  if (Status status = takt::capi::check_size(violation); !status) return status;
  const auto all = takt::capi::read_limits(trajectory, limits, joints);
  if (!all) return fail(all.error());
  auto stopped = takt::trajectory::stop_each(trajectory->motion, seconds(at_ns), all->span());
  if (!stopped) return fail(stopped.error());
  if (Status status = hand_over(std::move(stopped->trajectory), result); !status) return status;
  if (fits != nullptr) *fits = stopped->violation ? 0 : 1;
  if (stopped->violation) takt::capi::write_violation(*stopped->violation, violation);
  return {};
}

}  // namespace

void takt_splice_options_init(takt_splice_options* options, std::size_t size) {
  takt::capi::init_struct(options, size);
}

void takt_splice_init(takt_splice* splice, std::size_t size) { takt::capi::init_struct(splice, size); }

std::int32_t takt_trajectory_select(const takt_trajectory* trajectory, const std::size_t* selected,
                                    std::size_t count, takt_trajectory** result) {
  return guarded([&]() -> Status {
    if (trajectory == nullptr || selected == nullptr || result == nullptr) return fail(Errc::null_pointer);
    if (count > takt::max_joints) return fail(takt::trajectory::Errc::wrong_size);
    return hand_over(select(trajectory->motion, std::span(selected, count)), result);
  });
}

std::int32_t takt_trajectory_part(const takt_trajectory* trajectory, std::int64_t from_ns, std::int64_t to_ns,
                                  takt_trajectory** result) {
  return guarded([&]() -> Status {
    if (trajectory == nullptr || result == nullptr) return fail(Errc::null_pointer);
    return hand_over(part(trajectory->motion, seconds(from_ns), seconds(to_ns)), result);
  });
}

std::int32_t takt_trajectory_stop_each(const takt_trajectory* trajectory, std::int64_t at_ns,
                                       const takt_joint_limits* limits, std::size_t joints,
                                       std::int32_t* fits, takt_violation* violation,
                                       takt_trajectory** result) {
  return guarded([&] { return make_stop(trajectory, at_ns, limits, joints, fits, violation, result); });
}

std::int32_t takt_trajectory_splice(const takt_trajectory* running, const takt_trajectory* next,
                                    const takt_splice_options* options, const takt_joint_limits* limits,
                                    std::size_t joints, takt_splice* splice, takt_violation* violation,
                                    takt_trajectory** result) {
  return guarded(
      [&] { return make_splice(running, next, options, limits, joints, splice, violation, result); });
}
