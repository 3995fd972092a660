// Requests as records and back, unchanged to the bit, and every invalid record.
#include "takt/motion/request_message.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "motion/wire_support.hpp"
#include "support/random.hpp"
#include "takt/motion/link.hpp"
#include "takt/motion/planner.hpp"
#include "takt/shm/schema.hpp"
#include "takt/trajectory/limits.hpp"

namespace {

using namespace takt;
using namespace takt::motion;
using namespace takt::test;
using takt::JointLimits;

using Record = std::vector<std::uint8_t>;

std::vector<Record> to_records(const Request& request, std::uint64_t number = 1) {
  std::vector<Record> records;
  RequestWriter writer(request, number);
  while (!writer.done()) {
    Record& record = records.emplace_back(max_request_record);
    record.resize(writer.write(record));
  }
  return records;
}

/// The last result that completes something.
TakenRequest read(RequestReader& reader, const std::vector<Record>& records) {
  TakenRequest last;
  for (const Record& record : records) {
    auto taken = reader.take(record);
    REQUIRE(taken);
    if (taken->request) last = std::move(*taken);
  }
  return last;
}

std::unique_ptr<Request> planned(const TrajectoryMessage& message,
                                 const takt::robot::RobotDescription& robot) {
  auto request = plan(message, robot, ready_state(robot));
  REQUIRE(request);
  (*request)->goal = 3;
  return std::move(*request);
}

TrajectoryMessage through(const takt::robot::RobotDescription& robot, int points, double step = 0.05) {
  TrajectoryMessage message;
  for (const auto& joint : robot.joints) message.joints.names.push_back(joint.name);
  for (int i = 1; i <= points; ++i) {
    PointMessage& point = message.points.emplace_back();
    point.time = step * i;
    for (const auto& joint : robot.joints)
      point.positions.push_back(joint.plant.start + 0.02 * std::sin(0.02 * i));
  }
  message.at_end = AtEnd::stop;
  return message;
}

RequestReader reader_of(const takt::robot::RobotDescription& robot) {
  RequestReader reader(robot);
  reader.see(ready_state(robot));
  return reader;
}

TEST_CASE("a note arrives as it was said, and what is none is refused") {
  const auto robot = arm6();
  RequestReader reader = reader_of(robot);
  const auto record_of = [](const Note& note) {
    Record record(max_request_record);
    record.resize(write_note(note, record));
    return record;
  };
  for (const std::string& text : {std::string("t"), std::string("there"),
                                  std::string("\u00b0 \u2212 \U0001f916"), std::string(max_mark_text, 'x')}) {
    const auto taken = reader.take(record_of(Mark{text}));
    REQUIRE((taken && taken->note));
    CHECK_FALSE(taken->request);
    CHECK(std::get<Mark>(*taken->note).text == text);
  }
  const Refusal refusal{.reason = Errc::jerk_limit, .joint = 5, .time = 0.5, .value = -1, .limit = 1e9};
  const Record good = record_of(refusal);
  const auto taken = reader.take(good);
  REQUIRE((taken && taken->note));
  const auto& same = std::get<Refusal>(*taken->note);
  CHECK(same.reason == refusal.reason);
  CHECK(same.joint == refusal.joint);
  CHECK(same.time == refusal.time);
  CHECK(same.value == refusal.value);
  CHECK(same.limit == refusal.limit);

  const auto is_malformed = [&](const Record& record) {
    return reader.take(record).error() == Errc::malformed;
  };
  Record mark = record_of(Mark{std::string(max_mark_text, 'x')});
  mark.push_back('x');
  CHECK(is_malformed(mark));
  for (const std::string& text :
       {std::string(), std::string("a\nb"), std::string(1, '\0'), std::string("\x7f"), std::string("\xff"),
        std::string("cut \xe2\x88"), std::string("\xc0\xaf"), std::string("\u009b31m")}) {
    CHECK_FALSE(is_valid(Mark{text}));
    CHECK(is_malformed(record_of(Mark{text})));
  }
  for (const double number : {std::numeric_limits<double>::quiet_NaN(), HUGE_VAL, -HUGE_VAL}) {
    for (double Refusal::*member : {&Refusal::time, &Refusal::value, &Refusal::limit}) {
      Refusal absurd = refusal;
      absurd.*member = number;
      CHECK_FALSE(is_valid(absurd));
      CHECK(is_malformed(record_of(absurd)));
    }
    Rejection why;
    why.time = why.value = why.limit = number;
    CHECK(is_valid(to_refusal(why, robot)));
  }
  for (std::size_t size = 0; size < good.size(); ++size)
    CHECK(is_malformed(Record(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size))));
  Record joint = good;
  joint[3] = 6;
  CHECK(is_malformed(joint));
  Record reason = good;
  reason[2] = 0x7f;
  CHECK(is_malformed(reason));
}

TEST_CASE("a request as bytes does not change without Link::version") {
  takt::trajectory::StoredTrajectory stored(2, 2);
  const std::vector<double> rows{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  REQUIRE(stored.append(0.5, 2, rows));
  Request request;
  request.kind = RequestKind::trajectory;
  request.goal = 7;
  request.joints = takt::JointSet::first(2);
  request.trajectory = stored.take();
  request.limits = {{-1, 1, 2, 3, 4, 5}, {-6, 6, 7, 8, 9, 10}};
  request.path_tolerance = {{1, 2, 3}, {4, 5, 6}};
  request.goal_time = 0.25;
  request.start = takt::time_from_nanoseconds(99);
  std::string bytes;
  for (const Record& record : to_records(request)) bytes.append(record.begin(), record.end());
  request = {};
  request.kind = RequestKind::setpoint;
  request.joints = takt::JointSet::first(3);
  request.setpoint.positions = {1, 2, 3};
  request.setpoint.velocities = {4, 5, 6};
  request.setpoint.timeout = std::chrono::seconds(1);
  for (const Record& record : to_records(request)) bytes.append(record.begin(), record.end());
  // Another hash means that these bytes changed their meaning. Then raise Link::version and update both
  // numbers here.
  CHECK(takt::fnv1a(bytes) == 2853841423547011277);
  CHECK(Link::version == 2);
}

TEST_CASE("a request is to the bit what it was before, however many records it takes") {
  const auto robot = arm6();
  for (const int points : {1, 2, 40, 41, 42, 43, 700}) {
    CAPTURE(points);
    const auto request = planned(through(robot, points), robot);
    request->start = takt::time_from_nanoseconds(123'456'789);
    request->received = takt::time_from_nanoseconds(5);
    request->handed_over = takt::time_from_nanoseconds(6);
    request->spares_others = request->may_be_late = true;
    request->may_gain = 0.1;
    const auto records = to_records(*request, 99);
    RequestReader reader = reader_of(robot);
    const TakenRequest taken = read(reader, records);
    REQUIRE(taken.request);
    CHECK_FALSE(taken.refusal);
    CHECK(taken.number == 99);
    CHECK(to_records(*taken.request, 99) == records);
    CHECK(taken.request->start == request->start);
    CHECK(taken.request->lead.joints() == robot.joints.size());
    takt::trajectory::Cursor a;
    takt::trajectory::Cursor b;
    std::vector<double> own(18);
    std::vector<double> other(18);
    const auto sample = [](const Request& of, double t, takt::trajectory::Cursor& cursor,
                           std::span<double> to) {
      of.trajectory.sample(t, cursor, to.subspan(0, 6), to.subspan(6, 6), to.subspan(12, 6));
    };
    for (double t = -0.1; t < request->trajectory.duration() + 0.1; t += 0.003) {
      sample(*request, t, a, own);
      sample(*taken.request, t, b, other);
      REQUIRE(own == other);
    }
  }
}

TEST_CASE("every other kind of request arrives as it was") {
  const auto robot = arm6();
  RequestReader reader = reader_of(robot);
  for (const auto kind : {RequestKind::cancel, RequestKind::speed, RequestKind::emergency_stop,
                          RequestKind::reset, RequestKind::shutdown, RequestKind::accept_positions}) {
    Request request;
    request.kind = kind;
    request.goal = 7;
    request.on_path = true;
    request.speed = 0.25;
    request.category = StopCategory::category_0;
    request.reason = Errc::client_lost;
    const TakenRequest taken = read(reader, to_records(request));
    REQUIRE(taken.request);
    CHECK_FALSE(taken.refusal);
    CHECK(taken.request->kind == kind);
    CHECK(taken.request->goal == 7);
    CHECK(taken.request->on_path);
    CHECK(taken.request->speed == 0.25);
    CHECK(taken.request->category == StopCategory::category_0);
    CHECK(taken.request->reason == Errc::client_lost);
  }
  SetpointMessage message;
  message.joints.names = {"elbow_joint", "wrist_1_joint"};
  message.positions = {1.2, -0.5};
  message.velocities = {0.1, 0};
  auto request = plan(message, robot, ready_state(robot));
  REQUIRE(request);
  (*request)->goal = 1;
  const TakenRequest taken = read(reader, to_records(**request));
  REQUIRE(taken.request);
  CHECK_FALSE(taken.refusal);
  CHECK(taken.request->setpoint.positions == (*request)->setpoint.positions);
  CHECK(taken.request->setpoint.velocities == (*request)->setpoint.velocities);
  CHECK(taken.request->setpoint.timeout == (*request)->setpoint.timeout);
}

TEST_CASE("what a planner would not let pass is refused by name") {
  const auto robot = arm6();
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  struct Case {
    Errc reason;
    std::function<void(Request&)> spoil;
  };
  const std::vector<Case> cases{
      {Errc::unknown_goal, [](Request& r) { r.goal = 0; }},
      {Errc::unknown_goal, [](Request& r) { r.goal = ~GoalId{0}; }},
      {Errc::unknown_request, [](Request& r) { r.category = static_cast<StopCategory>(9); }},
      {Errc::unknown_request, [](Request& r) { r.reason = static_cast<Errc>(9999); }},
      {Errc::out_of_domain, [](Request& r) { r.speed = nan; }},
      {Errc::out_of_domain, [](Request& r) { r.speed = 1.5; }},
      {Errc::out_of_domain, [](Request& r) { r.may_gain = nan; }},
      {Errc::out_of_domain, [](Request& r) { r.goal_time = -1; }},
      {Errc::out_of_domain, [](Request& r) { r.received = takt::Time::min(); }},
      {Errc::out_of_domain, [](Request& r) { r.goal_tolerance[0].position = nan; }},
      {Errc::start_too_far, [](Request& r) { r.start = takt::Time::min(); }},
      {Errc::start_too_far, [](Request& r) { r.start = takt::Time::max(); }},
      {Errc::wrong_size, [](Request& r) { r.limits.clear(); }},
      {Errc::wrong_size, [](Request& r) { r.first_waypoint = 0; }},
      {Errc::wrong_size, [](Request& r) { r.first_waypoint = 100; }},
      {Errc::limit_above_robot, [](Request& r) { r.limits[2].velocity *= 1.0001; }},
      {Errc::limit_above_robot, [](Request& r) { r.limits[2].velocity = nan; }},
      {Errc::limit_above_robot, [](Request& r) { r.limits[2].jerk = 0; }},
      {Errc::limit_above_robot, [](Request& r) { r.limits[5].position_max += 0.01; }},
      {Errc::limit_above_robot, [](Request& r) { r.limits[5].position_min = nan; }},
      {Errc::velocity_limit, [](Request& r) { r.limits[1].velocity = 1e-3; }},
      {Errc::no_waypoints,
       [](Request& r) { r.trajectory = takt::trajectory::Trajectory(std::vector<takt::MotionState>(6)); }},
  };
  for (std::size_t i = 0; i < cases.size(); ++i) {
    CAPTURE(i);
    const auto request = planned(through(robot, 20), robot);
    cases[i].spoil(*request);
    RequestReader reader = reader_of(robot);
    const TakenRequest taken = read(reader, to_records(*request));
    REQUIRE(taken.refusal);
    CHECK(taken.refusal->reason == cases[i].reason);
    CHECK(is_valid(*taken.refusal));
  }
}

/// The offset of segment k in a request record of one segment or more, for n joints.
std::size_t offset_of_segment(const Record& record, std::size_t segments_in_it, std::size_t k,
                              std::size_t n) {
  return record.size() - (segments_in_it - k) * 8 * (2 + 6 * n);
}

void put(Record& record, std::size_t at, double value) {
  takt::ByteWriter(std::span(record).subspan(at, 8)).little(value);
}

TEST_CASE("a trajectory that jumps, runs backwards or does not end at rest is refused by name") {
  const auto robot = arm6();
  const auto request = planned(through(robot, 10), robot);
  const auto records = to_records(*request);
  REQUIRE(records.size() == 1);
  const std::size_t segments = request->trajectory.segments();
  const auto spoilt = [&](std::size_t segment, std::size_t number, double value) {
    std::vector<Record> copy = records;
    put(copy[0], offset_of_segment(copy[0], segments, segment, 6) + 8 * number, value);
    RequestReader reader = reader_of(robot);
    const TakenRequest taken = read(reader, copy);
    return taken.refusal ? taken.refusal->reason : Errc{};
  };
  const double infinity = std::numeric_limits<double>::infinity();
  CHECK(spoilt(3, 0, 0.0) == Errc::times_not_increasing);
  CHECK(spoilt(3, 0, infinity) == Errc::not_finite);
  CHECK(spoilt(3, 1, -1) == Errc::out_of_domain);
  CHECK(spoilt(3, 1, 2) == Errc::out_of_domain);               // does not match the rate of its times
  CHECK(spoilt(3, 2, 0.5) == Errc::not_continuous);            // a position
  CHECK(spoilt(3, 2 + 6, 0.5) == Errc::not_continuous);        // a velocity
  CHECK(spoilt(3, 2 + 12, 0.5) == Errc::not_continuous);       // an acceleration
  CHECK(spoilt(3, 2 + 18, std::nan("")) == Errc::not_finite);  // a jerk
  CHECK(spoilt(segments - 1, 2 + 18, 1e-3) != Errc{});         // does not match the end
  CHECK(spoilt(0, 2, request->trajectory.knot(0, 0).position + 0.01) == Errc::not_continuous);
}

TEST_CASE("what rounding lets a short segment last longer than its polynomial is held to the limits, too") {
  const auto robot = arm6();
  const std::vector<JointLimits> limits{robot.joints[0].limits};
  const auto last = [&](const std::vector<double>& coefficients, double lasts) {
    takt::trajectory::StoredTrajectory stored(1, 2);
    REQUIRE(stored.append(1.0, 1.0, std::vector<double>{0.5, 0, 0, 0, 0, 0}));
    const auto appended = stored.append(1.0 + lasts, 1e12, coefficients);
    return !appended || stored.find_violation(limits, 0, 2);
  };
  const double ulp = std::numeric_limits<double>::epsilon();
  CHECK_FALSE(last({0.5, 0, 0, 0, 0, 0}, 4502 * ulp));  // 1e-12 s
  CHECK(last({0.5, 0, 0, 0, 0, 0}, 1e-6));              // larger than any rounding
  CHECK(last({0.5, 0, 0, 1e-9, 0, 0}, 4505 * ulp));     // more than a thousand times the allowed velocity
}

TEST_CASE("a joint that stands outside its limits may stay there, and nowhere farther out") {
  const auto robot = arm6();
  Snapshot state = ready_state(robot);
  const double outside = robot.joints[5].limits.position_max + 0.01;
  state.joints[5].reference.position = outside;
  MoveMessage move;
  move.joints.names = {robot.joints[5].name};
  move.positions = {robot.joints[5].limits.position_max - 0.5};
  auto request = plan(move, robot, state);
  REQUIRE(request);
  (*request)->goal = 1;
  RequestReader reader(robot);
  CHECK(read(reader, to_records(**request)).refusal->reason == Errc::limit_above_robot);
  reader.see(state);
  CHECK_FALSE(read(reader, to_records(**request)).refusal);
  (*request)->limits[0].position_max += 0.01;
  CHECK(read(reader, to_records(**request)).refusal->reason == Errc::limit_above_robot);
}

TEST_CASE("short requests come between the records of a long one, and a second long one takes its place") {
  const auto robot = arm6();
  RequestReader reader = reader_of(robot);
  const auto first = planned(through(robot, 500), robot);
  const auto second = planned(through(robot, 400), robot);
  const auto records = to_records(*first, 1);
  const auto others = to_records(*second, 2);
  REQUIRE(records.size() > 4);
  Request stop;
  stop.kind = RequestKind::emergency_stop;
  CHECK_FALSE(reader.take(records[0])->request);
  CHECK(reader.take(to_records(stop, 3)[0])->number == 3);
  CHECK_FALSE(reader.take(records[1])->request);
  CHECK_FALSE(reader.take(others[0])->request);
  CHECK(reader.take(records[2]).error() == Errc::malformed);
  const TakenRequest taken = read(reader, {others.begin() + 1, others.end()});
  REQUIRE(taken.request);
  CHECK_FALSE(taken.refusal);
  CHECK(taken.number == 2);
}

TEST_CASE("the rest of a request that was refused is passed over") {
  const auto robot = arm6();
  RequestReader reader = reader_of(robot);
  const auto request = planned(through(robot, 500), robot);
  request->limits[0].velocity = 1e-9;
  const auto records = to_records(*request, 1);
  const auto first = reader.take(records[0]);
  REQUIRE(first);
  REQUIRE(first->refusal);
  CHECK(first->refusal->reason == Errc::velocity_limit);
  for (std::size_t i = 1; i < records.size(); ++i) {
    const auto taken = reader.take(records[i]);
    REQUIRE(taken);
    CHECK_FALSE(taken->request);
  }
}

TEST_CASE("a trajectory has no more segments than the reader allows") {
  const auto robot = arm6();
  RequestReader reader(robot, 100);
  const auto request = planned(through(robot, 200), robot);
  CHECK(reader.take(to_records(*request)[0])->refusal->reason == Errc::too_many_waypoints);
}

TEST_CASE("requests whose bytes were changed are refused, or keep every limit all the same") {
  const auto robot = arm6();
  auto random = generator(5);
  std::size_t accepted = 0;
  for (std::size_t i = 0; i < count(5000); ++i) {
    const auto request = planned(through(robot, 1 + static_cast<int>(i % 30)), robot);
    auto records = to_records(*request);
    for (Record& record : records) {
      for (int k = 0; k < 2; ++k) {
        const auto at =
            static_cast<std::size_t>(uniform_int(random, 0, static_cast<std::int64_t>(record.size()) - 1));
        record[at] = static_cast<std::uint8_t>(record[at] ^ (1U << uniform_int(random, 0, 7)));
      }
      if (uniform_int(random, 0, 9) == 0) record.resize(record.size() / 2);
    }
    RequestReader reader = reader_of(robot);
    for (const Record& record : records) {
      const auto taken = reader.take(record);
      if (!taken || !taken->request || taken->refusal) continue;
      const Request& made = *taken->request;
      if (made.kind != RequestKind::trajectory) continue;
      ++accepted;
      std::vector<JointLimits> own;
      made.joints.for_each([&](std::size_t joint) { own.push_back(robot.joints[joint].limits); });
      CHECK_FALSE(find_violation(made.trajectory, own));
      REQUIRE(made.trajectory.joints() == made.joints.size());
    }
  }
  CHECK(accepted > 0);
}

}  // namespace
