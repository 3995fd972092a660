#include "takt/motion/planner.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "motion/planning_task.hpp"
#include "takt/trajectory/assemble.hpp"
#include "takt/trajectory/brake.hpp"
#include "takt/trajectory/directional_limits.hpp"
#include "takt/trajectory/domain.hpp"
#include "takt/trajectory/joint_at_fault.hpp"
#include "takt/trajectory/limits.hpp"
#include "takt/trajectory/point_to_point.hpp"
#include "takt/trajectory/stop.hpp"
#include "takt/trajectory/through.hpp"
#include "takt/trajectory/timing.hpp"
#include "takt/trajectory/tolerances.hpp"
#include "takt/trajectory/trajectory.hpp"

namespace takt::motion {
namespace {

using namespace planning;
using trajectory::Through;

/// A trajectory with a slower end counts as ending at rest. Reason: rounding errors of planners.
constexpr double rest_velocity = 1e-6;      // rad/s
constexpr double rest_acceleration = 1e-4;  // rad/s^2
/// `fit` slows a motion down by this factor per step, and by at most longest_stretch, until the joined
/// motions keep the limits.
constexpr double stretch_step = 1.05;
constexpr double longest_stretch = 1000;
/// Raises a computed bound above its rounding error, so that a motion made for the bound passes the check.
constexpr double margin = 1 + 1e-10;

/// A motion, and how the loop may join it; see Request.
struct Motion {
  Trajectory trajectory;
  std::size_t first_waypoint = 1;
  double may_gain = 0;
};

std::unique_ptr<Request> to_request(Task&& task, Motion&& motion, WhenBusy when_busy) {
  auto request = std::make_unique<Request>();
  request->kind = RequestKind::trajectory;
  request->joints = task.columns.joints;
  request->trajectory = std::move(motion.trajectory);
  request->lead = trajectory::PointToPoint<>(task.columns.size());
  request->limits = std::move(task.limits);
  request->path_tolerance = std::move(task.path_tolerance);
  request->goal_tolerance = std::move(task.goal_tolerance);
  request->goal_time = task.goal_time;
  request->spares_others = when_busy == WhenBusy::reject;
  request->first_waypoint = motion.first_waypoint;
  request->may_gain = motion.may_gain;
  request->may_be_late = task.fit;
  return request;
}
/// The waypoints of a trajectory message in the robot's joint order. The first is the present reference.
class Waypoints {
 public:
  static Outcome<Waypoints> from(const Task& task, const TrajectoryMessage& message) {
    Waypoints waypoints(task.columns.size());
    const bool has_velocities = !message.points.front().velocities.empty();
    waypoints.through_ = message.through.value_or(has_velocities ? Through::given : Through::smooth);
    if (waypoints.through_ == Through::given && !has_velocities) {
      return reject(Errc::malformed, "through \"given\" needs velocities at the waypoints");
    }
    waypoints.timed_ = message.timed;
    waypoints.add_start(task);
    for (const PointMessage& point : message.points) {
      const auto index = static_cast<std::size_t>(&point - message.points.data());
      if (auto done = check_sizes(task, point, index); !done) return reject(done.error());
      const bool leads_on = index == 0 && message.points.size() > 1;
      const bool is_start = message.timed ? point.time == 0 : leads_on && check_start(task, point);
      if (is_start) {
        if (auto done = check_start(task, point); !done) return reject(done.error());
      } else {
        if (auto done = waypoints.add(task, point); !done) return reject(done.error());
      }
    }
    waypoints.settle_end();
    return waypoints;
  }

  /// A motion without times starts from rest, whatever the joints do.
  [[nodiscard]] bool starts_as_asked(const Task& task) const { return timed_ || task.starts_at_rest(); }

  [[nodiscard]] Outcome<Trajectory> build(const Task& task) const {
    if (!timed_) {
      const trajectory::Waypoints untimed{joints_, {}, positions_, {}, {}};
      auto motion = trajectory::through_within(untimed, through_, task.limits);
      if (!motion) return reject(task, motion.error(), trajectory::joint_at_fault(untimed, task.limits));
      return std::move(motion->trajectory);
    }
    // Velocity zero at each waypoint is one choice of "given", and keeps the start's own velocity.
    const Through mode = through_ == Through::stop ? Through::given : through_;
    const trajectory::Waypoints timed{joints_, times_, positions_, velocities_, accelerations_};
    auto motion = trajectory::through(timed, mode);
    if (!motion) return reject(task, motion.error(), trajectory::joint_at_fault(timed, mode));
    return std::move(*motion);
  }

 private:
  explicit Waypoints(std::size_t joints) : joints_(joints) {}

  void add_start(const Task& task) {
    times_.push_back(0);
    for (const MotionState& state : task.start) {
      positions_.push_back(state.position);
      velocities_.push_back(state.velocity);
      accelerations_.push_back(state.acceleration);
    }
  }

  static Outcome<void> check_start(const Task& task, const PointMessage& point) {
    for (std::size_t c = 0; c < task.columns.size(); ++c) {
      const double from = task.start[c].position;
      const double wanted = target(task, c, point.positions[task.columns.from_message[c]], from);
      const double distance = std::abs(wanted - from);
      const double tolerance = task.joint(c).goal_tolerance;
      if (distance <= tolerance) continue;
      Rejection why;
      why.reason = Errc::start_mismatch;
      why.joint = task.joint(c).name;
      why.message = fmt::format("{}: the first waypoint, at time 0, is at {:.6g}, but the joint is at {:.6g}",
                                why.joint, wanted, task.start[c].position);
      why.time = 0;
      why.value = distance;
      why.limit = tolerance;
      return reject(std::move(why));
    }
    return {};
  }

  Outcome<void> add(const Task& task, const PointMessage& point) {
    times_.push_back(point.time);
    for (std::size_t c = 0; c < task.columns.size(); ++c) {
      const std::size_t from = task.columns.from_message[c];
      const double before = positions_[positions_.size() - joints_];
      const double position = target(task, c, point.positions[from], before);
      if (auto done = check_target(task, c, position, point.time); !done) return done;
      const bool rests = through_ == Through::stop;
      positions_.push_back(position);
      velocities_.push_back(rests || point.velocities.empty() ? 0 : point.velocities[from]);
      accelerations_.push_back(rests || point.accelerations.empty() ? 0 : point.accelerations[from]);
    }
    return {};
  }

  void settle_end() {
    for (std::size_t i = velocities_.size() - joints_; i < velocities_.size(); ++i) {
      if (std::abs(velocities_[i]) <= rest_velocity && std::abs(accelerations_[i]) <= rest_acceleration) {
        velocities_[i] = 0;
        accelerations_[i] = 0;
      }
    }
  }

  std::size_t joints_;
  Through through_ = Through::smooth;
  bool timed_ = true;
  std::vector<double> times_;
  std::vector<double> positions_;  // rows of joints_ numbers, as the two below
  std::vector<double> velocities_;
  std::vector<double> accelerations_;
};

/// The index of a joint that moves at the end; nothing if all are at rest.
std::optional<std::size_t> moving_at_end(const Trajectory& motion) {
  for (std::size_t c = 0; c < motion.joints(); ++c) {
    const MotionState end = motion.knot(motion.segments(), c);
    if (end.velocity != 0 || end.acceleration != 0) return c;
  }
  return std::nullopt;
}

/// Adds a stop after the motion's end if the request asks for it.
Outcome<void> add_stop(Trajectory& motion, const Task& task, AtEnd at_end) {
  if (at_end != AtEnd::stop) return {};
  const std::size_t end = motion.segments();
  if (Status stopped = append_stop(motion, task.limits); !stopped)
    return reject(task, stopped.error(), trajectory::joint_at_fault(motion, end, task.limits));
  return {};
}

std::vector<MotionState> states_at(const Trajectory& motion, std::size_t knot) {
  std::vector<MotionState> states;
  for (std::size_t c = 0; c < motion.joints(); ++c) states.push_back(motion.knot(knot, c));
  return states;
}

/// The same states on a motion that is slower by this factor.
std::vector<MotionState> slowed(std::vector<MotionState> states, double factor) {
  for (MotionState& state : states) {
    state.velocity /= factor;
    state.acceleration /= factor * factor;
  }
  return states;
}

/// Appends another motion's segments, beginning with the one at `knot`.
Outcome<void> append(Trajectory& motion, const Trajectory& other, std::size_t knot) {
  motion.reserve(motion.segments() + other.segments() - knot);
  std::vector<trajectory::Quintic> pieces(other.joints());
  for (std::size_t k = knot; k < other.segments(); ++k) {
    for (std::size_t c = 0; c < pieces.size(); ++c) pieces[c] = other.piece(k, c);
    if (Status done = motion.append(pieces, states_at(other, k + 1)); !done) return reject(done.error());
  }
  return {};
}

/// Finds a position out of range, which no lower speed can correct.
std::optional<Violation> find_position_violation(const Task& task, const Trajectory& motion) {
  std::vector<JointLimits> range(task.limits.size());
  for (std::size_t c = 0; c < range.size(); ++c) {
    range[c].position_min = task.limits[c].position_min;
    range[c].position_max = task.limits[c].position_max;
  }
  return find_violation(motion, range);
}

/// Slows a motion down uniformly until it keeps the limits; without fit it does not. From rest it slows the
/// whole motion. From a moving start it slows the part after the first waypoint, to which a jerk-limited
/// motion leads. It continues until that motion and the stop after the end stay in range, too.
class Fitting {
 public:
  Fitting(const Task& task, const Trajectory& motion, AtEnd at_end)
      : task_(task), at_end_(at_end), from_(task.starts_at_rest() ? 0 : 1), lead_(task.columns.size()) {
    first_time_ = motion.knot_time(from_);
    rest_ = Trajectory(states_at(motion, from_));
    appended_ = append(rest_, motion, from_);
    for (const JointLimits& limits : task.limits) bounds_.push_back(trajectory::both_ways(limits));
  }

  [[nodiscard]] Outcome<Motion> run() {
    if (!appended_) return reject(appended_.error());
    if (const auto violation = find_position_violation(task_, rest_)) return reject_rest(*violation);
    double needed = required_slowdown(rest_, task_.limits);
    if (needed > 1) needed *= margin;
    for (double slower = 1; slower <= longest_stretch; slower *= stretch_step) {
      const double stretch = needed * slower;
      if (stretch > 1 && !task_.fit) break;
      failure_ = {};
      if (is_joined(stretch) && stops(stretch)) return build(stretch);
    }
    if (task_.starts_at_rest()) return reject(std::move(failure_));
    failure_.reason = Errc::joint_already_moving;
    failure_.message =
        "the joints are moving, and no motion from their present state fits the limits at any speed: " +
        failure_.message;
    return reject(std::move(failure_));
  }

 private:
  [[nodiscard]] bool is_joined(double stretch) {
    if (from_ == 0) return true;
    const auto ends = slowed(states_at(rest_, 0), stretch);
    const Status planned =
        lead_.plan(task_.start, ends, bounds_, trajectory::Synchronisation::time, first_time_ * stretch);
    if (!planned)
      return fails(reject(task_, planned.error(), lead_.joint_at_fault(task_.start, ends, bounds_)));
    if (!task_.fit && lead_.duration() > first_time_) return false;
    const auto violation = keep_in_range(lead_, raised_for_start(task_));
    return !violation || fails(reject(task_, *violation));
  }

  [[nodiscard]] bool stops(double stretch) {
    Trajectory stop(slowed(states_at(rest_, rest_.segments()), stretch));
    if (auto done = add_stop(stop, task_, at_end_); !done) return fails(reject(done.error()));
    const auto violation = find_position_violation(task_, stop);
    return !violation || fails(reject(task_, *violation));
  }

  [[nodiscard]] bool fails(const tl::unexpected<Rejection>& why) {
    failure_ = why.value();
    return false;
  }

  [[nodiscard]] Outcome<Motion> build(double stretch) {
    if (Status done = rest_.slow_down(stretch); !done) return reject(done.error());
    if (auto done = add_stop(rest_, task_, at_end_); !done) return reject(done.error());
    if (const auto violation = find_violation(rest_, task_.limits)) return reject_rest(*violation);
    if (from_ == 0) return Motion{std::move(rest_)};
    auto lead = to_trajectory(lead_);
    if (!lead) return reject(lead.error());
    const std::size_t first_waypoint = lead->segments();
    if (auto done = append(*lead, rest_, 0); !done) return reject(done.error());
    return Motion{std::move(*lead), first_waypoint, lead_.duration() - first_time_ * stretch};
  }

  [[nodiscard]] tl::unexpected<Rejection> reject_rest(Violation violation) const {
    auto why = reject(task_, rest_, violation);
    if (from_ != 0) *why.value().time += first_time_;
    return why;
  }

  const Task& task_;
  AtEnd at_end_;
  std::size_t from_;       ///< the knot at which the slowed part begins
  double first_time_ = 0;  ///< s: the planned time of that knot
  Trajectory rest_;        ///< the motion from that knot on
  Outcome<void> appended_;
  std::vector<trajectory::DirectionalLimits> bounds_;
  trajectory::PointToPoint<> lead_;
  Rejection failure_;
};

Outcome<Motion> build_trajectory(const Task& task, const Waypoints& waypoints, AtEnd at_end) {
  auto motion = waypoints.build(task);
  if (!motion) return reject(std::move(motion).error());
  if (!waypoints.starts_as_asked(task)) return Fitting(task, *motion, at_end).run();
  Motion whole{*motion};
  auto violation = find_violation(*motion, task.limits);
  if (!violation) {
    if (auto done = add_stop(whole.trajectory, task, at_end); !done) return reject(done.error());
    violation = find_violation(whole.trajectory, task.limits);
    if (!violation) return whole;
  }
  if (task.fit) return Fitting(task, *motion, at_end).run();
  if (!task.starts_at_rest()) {  // a quintic to the first waypoint is not the only option
    if (auto fitted = Fitting(task, *motion, at_end).run()) return fitted;
  }
  return reject(task, whole.trajectory, *violation);
}

/// Builds the fastest motion within the limits that takes at least `at_least` seconds.
Outcome<Motion> build_fastest(const Task& task, const std::vector<MotionState>& ends, double at_least,
                              trajectory::Synchronisation synchronisation) {
  std::vector<trajectory::DirectionalLimits> bounds;
  for (const JointLimits& limits : task.limits) bounds.push_back(trajectory::both_ways(limits));
  trajectory::PointToPoint<> fastest(ends.size());
  const double shortest = std::max(at_least, to_seconds(task.robot->period));
  if (Status done = fastest.plan(task.start, ends, bounds, synchronisation, shortest); !done)
    return reject(task, done.error(), fastest.joint_at_fault(task.start, ends, bounds, synchronisation));
  if (const auto violation = keep_in_range(fastest, raised_for_start(task))) return reject(task, *violation);
  auto motion = to_trajectory(fastest);
  if (!motion) return reject(motion.error());
  const std::size_t end = motion->segments();
  return Motion{std::move(*motion), end, fastest.duration() - at_least};
}

/// Builds one quintic of this duration. If it exceeds the limits, and with fit, builds the motion with the
/// nearest possible duration.
Outcome<Motion> build_quintic(const Task& task, const std::vector<MotionState>& ends, double duration) {
  Trajectory motion(task.start);
  if (Status appended = motion.append(ends, duration); !appended) return reject(appended.error());
  const auto violation = find_violation(motion, task.limits);
  if (!violation) return Motion{std::move(motion)};
  if (task.fit) return build_fastest(task, ends, duration, trajectory::Synchronisation::time);
  return reject(task, motion, *violation);
}

template <class Message>
std::optional<Rejection> find_mistake_in_targets(std::string_view place, const Message& message,
                                                 const RobotDescription& robot) {
  auto columns = find_joints(message.joints, robot);
  if (!columns) return columns.error();
  Task task{&robot, place, std::move(*columns), {}, {}, false};
  const auto check = [&](const std::vector<double>& positions, double time) -> Outcome<void> {
    for (std::size_t c = 0; c < task.columns.size(); ++c) {
      // The start of a continuous joint, and so its target, is checked when the motion is planned.
      const double position = target(task, c, positions[task.columns.from_message[c]], 0);
      if (auto done = check_target(task, c, position, time); !done) return done;
    }
    return {};
  };
  if constexpr (requires { message.tolerances; }) {
    if (auto done = set_tolerances(task, message.tolerances); !done) return done.error();
  }
  if constexpr (requires { message.points; }) {
    for (std::size_t i = 0; i < message.points.size(); ++i) {
      const PointMessage& point = message.points[i];
      if (auto done = check_sizes(task, point, i); !done) return done.error();
      if (message.timed && point.time == 0) continue;  // checked when the motion is planned
      if (auto done = check(point.positions, point.time); !done) return done.error();
    }
  } else {
    if (auto done = check_size(task, message.positions.size(), "positions"); !done) return done.error();
    if (auto done = check(message.positions, 0); !done) return done.error();
  }
  return std::nullopt;
}

}  // namespace

std::optional<Rejection> find_mistake(const TrajectoryMessage& message, const RobotDescription& robot) {
  return find_mistake_in_targets("trajectory", message, robot);
}

std::optional<Rejection> find_mistake(const MoveMessage& message, const RobotDescription& robot) {
  return find_mistake_in_targets("move", message, robot);
}

std::optional<Rejection> find_mistake(const SetpointMessage& message, const RobotDescription& robot) {
  return find_mistake_in_targets("setpoint", message, robot);
}

Plan plan(const TrajectoryMessage& message, const RobotDescription& robot, const Snapshot& state) {
  auto task = begin("trajectory", message.joints, message.limits, message.fit, robot, state);
  if (!task) return reject(std::move(task).error());
  if (auto done = set_tolerances(*task, message.tolerances); !done) return reject(done.error());
  if (message.points.empty()) return reject(Errc::no_waypoints, std::string(describe(Errc::no_waypoints)));
  task->fit = task->fit || !message.timed;
  if (message.start && message.timed && message.points.front().time == 0) {
    if (auto done = start_at(*task, message.points.front()); !done) return reject(done.error());
  }
  const auto waypoints = Waypoints::from(*task, message);
  if (!waypoints) return reject(waypoints.error());
  auto motion = build_trajectory(*task, *waypoints, message.at_end);
  if (!motion) return reject(std::move(motion).error());
  if (const auto moving = moving_at_end(motion->trajectory)) {
    const MotionState end = motion->trajectory.knot(motion->trajectory.segments(), *moving);
    Rejection why;
    why.reason = Errc::not_at_rest_at_end;
    why.joint = task->joint(*moving).name;
    why.time = motion->trajectory.duration();
    why.value = end.velocity;
    why.limit = 0;
    why.message = fmt::format(
        "{}: the trajectory ends at {:.6g} {unit}/s and {:.6g} {unit}/s^2; end at rest, or set "
        "\"at_end\":\"stop\"",
        why.joint, *why.value, end.acceleration,
        fmt::arg("unit", robot::position_unit(task->joint(*moving).kind)));
    return reject(std::move(why));
  }
  auto request = to_request(std::move(*task), std::move(*motion), message.when_busy);
  request->starts_here = message.timed && message.points.front().time == 0;
  if (message.start) request->start = Time{} + from_seconds(*message.start);
  return request;
}

Plan plan(const MoveMessage& message, const RobotDescription& robot, const Snapshot& state) {
  auto task = begin("move", message.joints, message.limits, message.fit, robot, state);
  if (!task) return reject(std::move(task).error());
  if (auto done = check_size(*task, message.positions.size(), "positions"); !done)
    return reject(done.error());

  if (auto done = set_tolerances(*task, message.tolerances); !done) return reject(done.error());

  std::vector<MotionState> ends;
  for (std::size_t c = 0; c < task->columns.size(); ++c) {
    const double from = task->start[c].position;
    const double position = target(*task, c, message.positions[task->columns.from_message[c]], from);
    if (auto done = check_target(*task, c, position, message.duration.value_or(0)); !done)
      return reject(done.error());
    ends.push_back({position, 0, 0});
  }
  task->fit = task->fit || !message.duration;
  auto motion = message.duration ? build_quintic(*task, ends, *message.duration)
                                 : build_fastest(*task, ends, 0, message.synchronisation);
  if (!motion) return reject(std::move(motion).error());
  auto request = to_request(std::move(*task), std::move(*motion), message.when_busy);
  request->synchronisation = message.synchronisation;
  return request;
}

Plan plan(const SetpointMessage& message, const RobotDescription& robot, const Snapshot& state) {
  auto task = begin("setpoint", message.joints, {}, false, robot, state);
  if (!task) return reject(std::move(task).error());
  if (auto done = check_size(*task, message.positions.size(), "positions"); !done)
    return reject(done.error());
  if (!message.velocities.empty()) {
    if (auto done = check_size(*task, message.velocities.size(), "velocities"); !done)
      return reject(done.error());
  }
  auto request = std::make_unique<Request>();
  request->kind = RequestKind::setpoint;
  request->joints = task->columns.joints;
  request->setpoint.timeout = from_seconds(message.timeout);
  for (std::size_t c = 0; c < task->columns.size(); ++c) {
    const std::size_t from = task->columns.from_message[c];
    const double position = target(*task, c, message.positions[from], task->start[c].position);
    if (auto done = check_target(*task, c, position, 0); !done) return reject(done.error());
    request->setpoint.positions[c] = position;
    if (message.velocities.empty()) continue;
    const double velocity = message.velocities[from];
    if (const double limit = task->limits[c].velocity; !(std::abs(velocity) <= limit)) {
      Rejection why;
      why.reason = Errc::velocity_limit;
      why.joint = task->joint(c).name;
      why.message =
          fmt::format("{}: velocity {:.6g} is beyond the limit of {:.6g}", why.joint, velocity, limit);
      why.value = velocity;
      why.limit = limit;
      return reject(std::move(why));
    }
    request->setpoint.velocities[c] = velocity;
  }
  request->limits = std::move(task->limits);
  return request;
}

}  // namespace takt::motion
