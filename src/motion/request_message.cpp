#include "takt/motion/request_message.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "json/strict.hpp"
#include "takt/core/fields.hpp"
#include "takt/trajectory/brake.hpp"
#include "takt/trajectory/domain.hpp"
#include "takt/trajectory/limits.hpp"
#include "takt/trajectory/tolerances.hpp"

namespace takt::motion {
namespace {

enum RecordType : std::uint8_t {
  request_record = 1,
  segments_record = 2,
  mark_record = 3,
  refusal_record = 4,
};

enum Flag : std::uint8_t {
  spares_others = 1,
  starts_here = 2,
  has_start = 4,
  may_be_late = 8,
  on_path = 16,
  has_limits = 32,
  has_path_tolerance = 64,
  has_goal_tolerance = 128,
};

/// The largest magnitude of a time. Differences of such times cannot overflow.
constexpr std::int64_t largest_time = std::int64_t{1} << 62;  // ns

constexpr std::size_t segment_size(std::size_t joints) { return 8 * (2 + 6 * joints); }
static_assert(200 + 8 * max_joints * (6 + 3 + 3 + 3) + segment_size(max_joints) <= max_request_record);

std::uint8_t flags_of(const Request& request) noexcept {
  const auto flag = [](bool set, Flag bit) { return set ? unsigned{bit} : 0U; };
  return static_cast<std::uint8_t>(
      flag(request.spares_others, spares_others) | flag(request.starts_here, starts_here) |
      flag(request.start.has_value(), has_start) | flag(request.may_be_late, may_be_late) |
      flag(request.on_path, on_path) | flag(!request.limits.empty(), has_limits) |
      flag(!request.path_tolerance.empty(), has_path_tolerance) |
      flag(!request.goal_tolerance.empty(), has_goal_tolerance));
}

Refusal refusal(Errc reason) { return {.reason = reason}; }

double finite_or_zero(double number) noexcept { return std::isfinite(number) ? number : 0; }

/// A refusal that concerns a joint of the robot.
Refusal refusal(Errc reason, std::size_t joint, double value, double limit) {
  return {.reason = reason,
          .joint = static_cast<std::uint8_t>(joint),
          .value = finite_or_zero(value),
          .limit = finite_or_zero(limit)};
}

Errc errc_of(Error error) {
  switch (static_cast<trajectory::Errc>(error.code)) {
    case trajectory::Errc::not_finite:
      return Errc::not_finite;
    case trajectory::Errc::times_not_increasing:
      return Errc::times_not_increasing;
    case trajectory::Errc::not_continuous:
      return Errc::not_continuous;
    case trajectory::Errc::wrong_size:
      return Errc::wrong_size;
    default:
      return Errc::out_of_domain;
  }
}

Time read_time(ByteReader& reader) { return time_from_nanoseconds(reader.little<std::int64_t>()); }

}  // namespace

bool is_moderate(Time time) noexcept { return std::abs(to_nanoseconds(time) / 2) <= largest_time / 2; }

// ---- writing ----------------------------------------------------------------------------------------------

bool is_complete(const Request& request) noexcept {
  const std::size_t joints = request.joints.size();
  const auto fits = [joints](std::size_t size) noexcept { return size == 0 || size == joints; };
  return fits(request.limits.size()) && fits(request.path_tolerance.size()) &&
         fits(request.goal_tolerance.size()) &&
         (request.kind != RequestKind::trajectory || request.trajectory.joints() == joints);
}

bool RequestWriter::done() const noexcept {
  return begun_ && (!has_trajectory() || next_segment_ == request_->trajectory.segments());
}

std::size_t RequestWriter::write(std::span<std::uint8_t> room) noexcept {
  ByteWriter writer(room);
  writer.little<std::uint8_t>(begun_ ? segments_record : request_record);
  writer.little(number_);
  if (!begun_) write_request(writer);
  begun_ = true;
  if (has_trajectory()) write_segments(writer);
  return writer.position();
}

void RequestWriter::write_request(ByteWriter& writer) noexcept {
  const Request& request = *request_;
  const auto number = [&writer](double value) { writer.little(value); };
  const auto named = [&number](std::string_view, double value) { number(value); };
  writer.little(static_cast<std::uint8_t>(request.kind));
  writer.little(request.goal);
  writer.little(request.joints.bits());
  writer.little(flags_of(request));
  writer.little(to_nanoseconds(request.start.value_or(Time{})));
  writer.little(static_cast<std::uint8_t>(request.synchronisation));
  writer.little(static_cast<std::uint32_t>(request.first_waypoint));
  writer.little(request.may_gain);
  writer.little(request.goal_time);
  writer.little(static_cast<std::uint8_t>(request.category));
  writer.little(request.speed);
  writer.little(static_cast<std::uint16_t>(request.reason));
  writer.little(to_nanoseconds(request.received));
  writer.little(to_nanoseconds(request.handed_over));
  for (const JointLimits& limits : request.limits) for_each_field(limits, named);
  for (const auto* list : {&request.path_tolerance, &request.goal_tolerance}) {
    for (const trajectory::JointTolerance& tolerance : *list) for_each_field(tolerance, named);
  }
  const std::size_t joints = request.joints.size();
  if (request.kind == RequestKind::setpoint) {
    writer.little(std::int64_t{request.setpoint.timeout.count()});
    for (const auto& column : {request.setpoint.positions, request.setpoint.velocities})
      std::for_each_n(column.begin(), joints, number);
  }
  if (!has_trajectory()) return;
  const trajectory::Trajectory& trajectory = request.trajectory;
  writer.little(static_cast<std::uint32_t>(trajectory.segments()));
  for (std::size_t c = 0; c < joints; ++c) {
    const MotionState end = trajectory.knot(trajectory.segments(), c);
    for_each_field(end, named);
  }
}

void RequestWriter::write_segments(ByteWriter& writer) noexcept {
  const trajectory::Trajectory& trajectory = request_->trajectory;
  const std::size_t size = segment_size(trajectory.joints());
  while (next_segment_ < trajectory.segments() && writer.position() + size <= max_request_record) {
    writer.little(trajectory.knot_time(next_segment_ + 1));
    writer.little(trajectory::StoredTrajectory::rate(trajectory, next_segment_));
    const auto rows = trajectory.rows(next_segment_++);
    for (std::size_t k = 0; k < 6; ++k) {
      for (std::size_t c = 0; c < rows.joints; ++c) writer.little(rows.coefficients[k * rows.stride + c]);
    }
  }
}

Refusal to_refusal(const Rejection& why, const robot::RobotDescription& robot) {
  return {.reason = why.reason,
          .joint = static_cast<std::uint8_t>(robot.find_joint(why.joint).value_or(0)),
          .time = finite_or_zero(why.time.value_or(0)),
          .value = finite_or_zero(why.value.value_or(0)),
          .limit = finite_or_zero(why.limit.value_or(0))};
}

static_assert(max_mark_text == json::max_name);
bool is_valid(const Note& note) noexcept {
  if (const auto* mark = std::get_if<Mark>(&note)) return json::is_name(mark->text);
  const auto* why = std::get_if<Refusal>(&note);
  return why != nullptr && std::isfinite(why->time) && std::isfinite(why->value) && std::isfinite(why->limit);
}

std::size_t write_note(const Note& note, std::span<std::uint8_t> room) noexcept {
  ByteWriter writer(room);
  if (const auto* mark = std::get_if<Mark>(&note)) {
    writer.little<std::uint8_t>(mark_record);
    for (const char c : mark->text) writer.little(static_cast<std::uint8_t>(c));
  } else if (const auto* refusal = std::get_if<Refusal>(&note)) {
    writer.little<std::uint8_t>(refusal_record);
    writer.little(static_cast<std::uint16_t>(refusal->reason));
    writer.little(refusal->joint);
    for (const double number : {refusal->time, refusal->value, refusal->limit}) writer.little(number);
  }
  return writer.position();
}

// ---- reading ----------------------------------------------------------------------------------------------

RequestReader::RequestReader(const robot::RobotDescription& robot, std::size_t max_segments)
    : robot_(&robot), max_segments_(max_segments) {
  for (const robot::JointDescription& joint : robot.joints)
    ranges_.push_back({joint.limits.position_min, joint.limits.position_max});
}

void RequestReader::see(const Snapshot& state) noexcept {
  now_ = state.time;
  for (std::size_t i = 0; i < ranges_.size(); ++i) {
    ranges_[i].min = std::min(ranges_[i].min, state.joints[i].reference.position);
    ranges_[i].max = std::max(ranges_[i].max, state.joints[i].reference.position);
  }
}

Result<TakenRequest> RequestReader::take(std::span<const std::uint8_t> record) {
  ByteReader reader(record);
  const auto type = reader.little<std::uint8_t>();
  if (record.size() > max_request_record) return fail(Errc::malformed);
  if (type == request_record) return take_request(reader);
  if (type == segments_record) return take_segments(reader);
  if (type == mark_record) return take_mark(reader);
  if (type == refusal_record) return take_refusal(reader);
  return fail(Errc::malformed);
}

Result<TakenRequest> RequestReader::take_mark(ByteReader& reader) {
  if (reader.remaining() > max_mark_text) return fail(Errc::malformed);
  const auto text = reader.bytes(reader.remaining());
  TakenRequest taken;
  taken.note = Mark{std::string(text.begin(), text.end())};
  if (!is_valid(*taken.note)) return fail(Errc::malformed);
  return taken;
}

Result<TakenRequest> RequestReader::take_refusal(ByteReader& reader) const {
  Refusal refusal;
  refusal.reason = static_cast<Errc>(reader.little<std::uint16_t>());
  refusal.joint = reader.little<std::uint8_t>();
  for (double* number : {&refusal.time, &refusal.value, &refusal.limit}) *number = reader.little<double>();
  const bool is_known = refusal.reason == Errc{} || reason_name(refusal.reason) != "unknown";
  if (!reader.ok() || reader.remaining() != 0 || !is_known || refusal.joint >= robot_->joints.size())
    return fail(Errc::malformed);
  TakenRequest taken;
  taken.note = refusal;
  if (!is_valid(*taken.note)) return fail(Errc::malformed);
  return taken;
}

Result<TakenRequest> RequestReader::take_request(ByteReader& reader) {
  TakenRequest taken;
  taken.number = reader.little<std::uint64_t>();
  taken.request = std::make_unique<Request>();
  Request& request = *taken.request;
  const auto number = [&reader](double& value) { value = reader.little<double>(); };
  const auto named = [&number](std::string_view, double& value) { number(value); };
  request.kind = static_cast<RequestKind>(reader.little<std::uint8_t>());
  request.goal = reader.little<std::uint64_t>();
  request.joints = JointSet::from_bits(reader.little<std::uint64_t>());
  const auto flags = reader.little<std::uint8_t>();
  const Time start = read_time(reader);
  if ((flags & has_start) != 0) request.start = start;
  request.spares_others = (flags & spares_others) != 0;
  request.starts_here = (flags & starts_here) != 0;
  request.may_be_late = (flags & may_be_late) != 0;
  request.on_path = (flags & on_path) != 0;
  request.synchronisation = static_cast<trajectory::Synchronisation>(reader.little<std::uint8_t>());
  request.first_waypoint = reader.little<std::uint32_t>();
  number(request.may_gain);
  number(request.goal_time);
  request.category = static_cast<StopCategory>(reader.little<std::uint8_t>());
  number(request.speed);
  request.reason = static_cast<Errc>(reader.little<std::uint16_t>());
  request.received = read_time(reader);
  request.handed_over = read_time(reader);
  const std::size_t joints = request.joints.size();
  if ((flags & has_limits) != 0) request.limits.resize(joints);
  if ((flags & has_path_tolerance) != 0) request.path_tolerance.resize(joints);
  if ((flags & has_goal_tolerance) != 0) request.goal_tolerance.resize(joints);
  for (JointLimits& limits : request.limits) for_each_field(limits, named);
  for (auto* list : {&request.path_tolerance, &request.goal_tolerance}) {
    for (trajectory::JointTolerance& tolerance : *list) for_each_field(tolerance, named);
  }
  if (request.kind == RequestKind::setpoint) {
    request.setpoint.timeout = Duration(reader.little<std::int64_t>());
    for (auto* column : {&request.setpoint.positions, &request.setpoint.velocities})
      std::for_each_n(column->begin(), joints, number);
  }
  if (!reader.ok() || taken.number == 0) return fail(Errc::malformed);
  if (request.kind == RequestKind::trajectory) return take_trajectory(reader, std::move(taken));
  if (reader.remaining() != 0) return fail(Errc::malformed);
  taken.refusal = check(request);
  return taken;
}

Result<TakenRequest> RequestReader::take_trajectory(ByteReader& reader, TakenRequest taken) {
  const std::size_t joints = taken.request->joints.size();
  const std::size_t segments = reader.little<std::uint32_t>();
  std::vector<MotionState> end(joints);
  for (MotionState& state : end)
    for_each_field(state, [&reader](std::string_view, double& value) { value = reader.little<double>(); });
  if (!reader.ok() || reader.remaining() % segment_size(joints) != 0) return fail(Errc::malformed);
  const std::size_t here = reader.remaining() / segment_size(joints);
  if (here > segments) return fail(Errc::malformed);
  taken.refusal = check(*taken.request);
  if (!taken.refusal && segments == 0) taken.refusal = refusal(Errc::no_waypoints);
  if (!taken.refusal && segments > max_segments_) taken.refusal = refusal(Errc::too_many_waypoints);
  if (!taken.refusal && (taken.request->first_waypoint == 0 || taken.request->first_waypoint > segments))
    taken.refusal = refusal(Errc::wrong_size);
  if (here < segments) open_.reset();  // the server gave up the previous one
  if (!taken.refusal) {
    Open open{taken.number, std::move(taken.request), segments, std::move(end), {joints, segments}};
    taken.refusal = append_segments(reader, open);
    if (!taken.refusal && here == segments) return complete(open);
    if (!taken.refusal) {
      open_ = std::move(open);
      return TakenRequest{taken.number, nullptr, {}, {}};
    }
    taken.request = std::move(open.request);
  }
  if (here < segments) dropped_ = taken.number;
  return taken;
}

Result<TakenRequest> RequestReader::take_segments(ByteReader& reader) {
  const auto number = reader.little<std::uint64_t>();
  if (!reader.ok() || number == 0) return fail(Errc::malformed);
  if (number == dropped_) return TakenRequest{number, nullptr, {}, {}};
  if (!open_ || open_->number != number) return fail(Errc::malformed);
  const std::size_t size = segment_size(open_->request->joints.size());
  const std::size_t here = reader.remaining() / size;
  const std::size_t missing = open_->segments - open_->trajectory.trajectory().segments();
  if (here == 0 || here > missing || reader.remaining() % size != 0) return fail(Errc::malformed);
  if (const auto why = append_segments(reader, *open_)) {
    dropped_ = number;
    TakenRequest taken{number, std::move(open_->request), why, {}};
    open_.reset();
    return taken;
  }
  if (here < missing) return TakenRequest{number, nullptr, {}, {}};
  TakenRequest taken = complete(*open_);
  open_.reset();
  return taken;
}

std::optional<Refusal> RequestReader::append_segments(ByteReader& reader, Open& open) {
  const std::size_t first = open.trajectory.trajectory().segments();
  coefficients_.resize(6 * open.request->joints.size());
  while (reader.remaining() != 0) {
    const auto end_time = reader.little<double>();
    const auto rate = reader.little<double>();
    for (double& c : coefficients_) c = reader.little<double>();
    if (Status appended = open.trajectory.append(end_time, rate, coefficients_); !appended) {
      Refusal why = refusal(errc_of(appended.error()));
      why.time = finite_or_zero(end_time);
      return why;
    }
  }
  return check_segments(open, first);
}

/// A trajectory that begins beyond its limits first returns within them, as the planner allows. This concerns
/// the part up to the waypoint at which it joins the requested motion. The loop plays that part only from
/// exactly its first state.
std::optional<Refusal> RequestReader::check_segments(const Open& open, std::size_t first) const {
  const trajectory::Trajectory& trajectory = open.trajectory.trajectory();
  std::vector<JointLimits> raised = open.request->limits;
  for (std::size_t c = 0; c < raised.size(); ++c)
    raised[c] = trajectory::raised_for(trajectory.knot(0, c), raised[c]);
  const std::size_t joined = std::max(first, open.request->first_waypoint);
  auto violation = open.trajectory.find_violation(raised, first, open.request->first_waypoint);
  if (!violation)
    violation = open.trajectory.find_violation(open.request->limits, joined, trajectory.segments());
  if (!violation) return std::nullopt;
  Refusal why = refusal(limit_of(violation->quantity), open.request->joints.at(violation->joint),
                        violation->value, violation->limit);
  why.quantity = violation->quantity;
  why.time = finite_or_zero(violation->time);
  return why;
}

TakenRequest RequestReader::complete(Open& open) {
  TakenRequest taken{open.number, std::move(open.request), {}, {}};
  if (Status ended = open.trajectory.end_at(open.end); !ended)
    taken.refusal = refusal(errc_of(ended.error()));
  for (std::size_t c = 0; c < open.end.size(); ++c) {
    const MotionState& end = open.end[c];
    if (!taken.refusal && (end.velocity != 0 || end.acceleration != 0))
      taken.refusal = refusal(Errc::not_at_rest_at_end, taken.request->joints.at(c), end.velocity, 0);
  }
  taken.request->trajectory = open.trajectory.take();
  taken.request->lead = trajectory::PointToPoint<>(open.end.size());
  return taken;
}

// ---- what the loop trusts ---------------------------------------------------------------------------------

std::optional<Refusal> RequestReader::check(const Request& request) const {
  const bool known = request.kind <= RequestKind::accept_positions &&
                     request.category <= StopCategory::category_2 &&
                     request.synchronisation <= trajectory::Synchronisation::phase &&
                     (request.reason == Errc{} || reason_name(request.reason) != "unknown");
  if (!known) return refusal(Errc::unknown_request);
  if (!is_moderate(request.received) || !is_moderate(request.handed_over))
    return refusal(Errc::out_of_domain);
  if (request.joints != (request.joints & JointSet::first(robot_->joints.size())))
    return refusal(Errc::unknown_joint);
  if (!(request.speed >= 0 && request.speed <= 1)) return refusal(Errc::out_of_domain);
  if (request.goal > max_goal) return refusal(Errc::unknown_goal);
  if (!begins_goal(request.kind)) return std::nullopt;
  if (request.goal == 0) return refusal(Errc::unknown_goal);
  if (request.joints.empty()) return refusal(Errc::wrong_size);
  if (const auto why = check_limits(request)) return why;
  return request.kind == RequestKind::setpoint ? check_setpoint(request) : check_trajectory(request);
}

std::optional<Refusal> RequestReader::check_limits(const Request& request) const {
  if (request.limits.size() != request.joints.size()) return refusal(Errc::wrong_size);
  std::optional<Refusal> why;
  std::size_t column = 0;
  request.joints.for_each([&](std::size_t joint) {
    const JointLimits& limits = request.limits[column++];
    const JointLimits& own = robot_->joints[joint].limits;
    const Range& range = ranges_[joint];
    const double rounding = 2 * trajectory::limit_slack * (own.position_max - own.position_min);
    const auto refuse_unless = [&](bool good, double value, double limit) {
      if (!good && !why) why = refusal(Errc::limit_above_robot, joint, value, limit);
    };
    // These comparisons are false for a NaN, so it is refused.
    refuse_unless(limits.position_min >= range.min - rounding, limits.position_min, range.min);
    refuse_unless(limits.position_max <= range.max + rounding, limits.position_max, range.max);
    refuse_unless(limits.position_min <= limits.position_max, limits.position_min, limits.position_max);
    for (const auto member :
         {&JointLimits::velocity, &JointLimits::acceleration, &JointLimits::jerk, &JointLimits::effort})
      refuse_unless(limits.*member > 0 && limits.*member <= own.*member, limits.*member, own.*member);
  });
  return why;
}

std::optional<Refusal> RequestReader::check_setpoint(const Request& request) const {
  const Setpoint& setpoint = request.setpoint;
  if (setpoint.timeout <= Duration(0) || setpoint.timeout > from_seconds(trajectory::max_duration))
    return refusal(Errc::out_of_domain);
  std::optional<Refusal> why;
  std::size_t column = 0;
  request.joints.for_each([&](std::size_t joint) {
    const double position = setpoint.positions[column];
    const double velocity = setpoint.velocities[column];
    const JointLimits& own = robot_->joints[joint].limits;
    const double nearest = position > own.position_max ? own.position_max : own.position_min;
    if (!(position >= own.position_min && position <= own.position_max)) {
      why = refusal(Errc::position_limit, joint, position, nearest);
    } else if (!(std::abs(velocity) <= request.limits[column].velocity)) {
      why = refusal(Errc::velocity_limit, joint, velocity, request.limits[column].velocity);
    }
    ++column;
  });
  return why;
}

std::optional<Refusal> RequestReader::check_trajectory(const Request& request) const {
  if (!trajectory::check_tolerances<double>(
          {request.path_tolerance, request.goal_tolerance, request.goal_time}))
    return refusal(Errc::out_of_domain);
  if (!(std::abs(request.may_gain) <= trajectory::max_duration)) return refusal(Errc::out_of_domain);
  if (!request.start) return std::nullopt;
  const Duration farthest = from_seconds(trajectory::max_duration);
  if (!is_moderate(*request.start) || !is_moderate(now_)) return refusal(Errc::start_too_far);
  const Duration ahead = *request.start - now_;
  if (ahead <= farthest && ahead >= -farthest) return std::nullopt;
  Refusal why = refusal(Errc::start_too_far);
  why.value = to_seconds(ahead);
  why.limit = trajectory::max_duration;
  return why;
}

}  // namespace takt::motion
