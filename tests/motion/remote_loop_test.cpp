// A motion server in another process than the loop. Its clients and joints must see no difference.
#include "takt/motion/remote_loop.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "motion/link_ends.hpp"
#include "motion/split_bench.hpp"
#include "support/random.hpp"

namespace {

using namespace takt::motion;
using namespace takt::test;
using Form = SplitBench::Form;
using Json = nlohmann::json;

/// Lines that clients might send to the arm: sensible ones, absurd ones, and conflicting ones.
class Crowd {
 public:
  explicit Crowd(const takt::robot::RobotDescription& robot, std::uint64_t salt)
      : robot_(&robot), random_(generator(salt)) {}

  std::vector<Line> lines(std::size_t count, std::uint64_t cycles) {
    std::vector<Line> lines;
    std::uint64_t cycle = 0;
    for (std::size_t i = 0; i < count; ++i) {
      // Sometimes many lines at once.
      if (pick(3) != 0) cycle += static_cast<std::uint64_t>(pick(static_cast<int>(2 * cycles / count)));
      lines.push_back({cycle, line(static_cast<int>(i), cycle), static_cast<takt::ClientId>(1 + pick(1))});
    }
    return lines;
  }

 private:
  int pick(int most) { return static_cast<int>(uniform_int(random_, 0, most)); }

  std::string line(int id, std::uint64_t cycle) {
    Json line{{"id", id}};
    switch (pick(11)) {
      case 0:
        line["cancel"] = pick(1) == 0 ? Json::object() : Json{{"goal", pick(20)}};
        break;
      case 1:
        line["speed"] = {{"goal", pick(10)}, {"scale", uniform(random_, 0, 1)}};
        break;
      case 2:
        line[pick(2) == 0 ? "estop" : "reset"] = Json::object();
        if (line.contains("estop")) line["estop"] = {{"category", 2}};
        break;
      case 3:
        line["reset"] = Json::object();
        break;
      case 4:
      case 5:
        line["setpoint"] = {
            {"joint_names", {name(0)}}, {"positions", {position(0)}}, {"timeout", uniform(random_, 0.01, 1)}};
        break;
      case 6:
      case 7:
      case 8:
        line["move"] = move();
        break;
      default:
        line["trajectory"] = trajectory(cycle);
    }
    return line.dump();
  }

  std::string name(std::size_t joint) { return robot_->joints[joint].name; }
  double position(std::size_t joint) {
    const auto& limits = robot_->joints[joint].limits;
    const double middle = robot_->joints[joint].plant.start;
    const double reach = pick(20) == 0 ? 10 : 0.5;
    return pick(20) == 0 ? limits.position_max : middle + uniform(random_, -reach, reach);
  }

  Json joints(std::size_t& first, std::size_t& last) {
    first = static_cast<std::size_t>(pick(5));
    last = first + static_cast<std::size_t>(pick(static_cast<int>(5 - first)));
    Json names = Json::array();
    for (std::size_t j = first; j <= last; ++j) names.push_back(name(j));
    return names;
  }

  Json move() {
    std::size_t first = 0;
    std::size_t last = 0;
    Json move{{"joint_names", joints(first, last)}};
    for (std::size_t j = first; j <= last; ++j) move["positions"].push_back(position(j));
    if (pick(2) == 0) move["duration"] = uniform(random_, 0.1, 3);
    if (pick(1) == 0) move["fit"] = true;
    if (pick(2) == 0) move["when_busy"] = pick(1) == 0 ? "queue" : "reject";
    if (pick(2) == 0)
      move["limits"] = {{"velocity", {uniform(random_, 0.1, 1)}}, {"jerk", {uniform(random_, 1, 50)}}};
    if (pick(3) == 0)
      move["path_tolerance"] = Json::array({{{"name", name(first)}, {"position", uniform(random_, 0, 0.3)}}});
    return move;
  }

  Json trajectory(std::uint64_t cycle) {
    std::size_t first = 0;
    std::size_t last = 0;
    Json trajectory{{"joint_names", joints(first, last)}, {"fit", pick(3) != 0}};
    const int points = pick(10) == 0 ? 600 : 1 + pick(20);
    const bool timed = pick(4) != 0;
    double time = 0;
    for (int i = 0; i < points; ++i) {
      Json positions = Json::array();
      for (std::size_t j = first; j <= last; ++j) positions.push_back(position(j));
      time += uniform(random_, 0.02, 0.5);
      Json point{{"positions", positions}};
      if (timed) point["time_from_start"] = time;
      trajectory["points"].push_back(point);
    }
    if (timed && pick(3) == 0)
      trajectory["start"] = static_cast<double>(cycle) * 0.005 + uniform(random_, -1, 3);
    if (pick(4) == 0) trajectory["through"] = pick(1) == 0 ? "stop" : "cubic";
    return trajectory;
  }

  const takt::robot::RobotDescription* robot_;
  std::mt19937_64 random_;
};

std::string move_all(double by, double duration) {
  const auto robot = arm6();
  Json move{{"duration", duration}};
  for (const auto& joint : robot.joints) {
    move["joint_names"].push_back(joint.name);
    move["positions"].push_back(joint.plant.start + by);
  }
  return Json{{"id", "all"}, {"move", move}}.dump();
}

bool contains(const std::vector<std::string>& lines, std::initializer_list<std::string_view> all) {
  for (const std::string& line : lines) {
    bool has_all = true;
    for (const std::string_view part : all) has_all = has_all && line.find(part) != std::string::npos;
    if (has_all) return true;
  }
  return false;
}

bool at_rest(const Snapshot& state) {
  for (std::size_t i = 0; i < state.joint_count; ++i) {
    if (state.joints[i].reference.velocity != 0 || state.joints[i].goal != 0) return false;
  }
  return true;
}

TEST_CASE("clients and joints cannot tell a server at the other end of a link from one beside the loop") {
  for (std::size_t i = 0; i < count(20); ++i) {
    CAPTURE(i);
    const auto robot = arm6();
    const std::vector<Line> lines = Crowd(robot, i).lines(60, 3000);
    const Course together = SplitBench(robot, Form::together).play(lines, 3000);
    const Course split = SplitBench(robot, Form::split).play(lines, 3000);
    for (std::size_t k = 0; k < std::min(split.lines.size(), together.lines.size()); ++k)
      REQUIRE(split.lines[k] == together.lines[k]);
    REQUIRE(split.lines.size() == together.lines.size());
    REQUIRE(split.references == together.references);
    CHECK(together.counters.accepted > 5);
  }
}

TEST_CASE("a trajectory that is many times as long as the link goes through it") {
  const std::vector<Line> lines{{10, long_way(3000)}};
  const Course together = SplitBench(arm6(), Form::together).play(lines, 2000);
  const Course split = SplitBench(arm6(), Form::split).play(lines, 2000);
  CHECK(split.lines == together.lines);
  CHECK(split.references == together.references);
  CHECK_MESSAGE(contains(split.lines, {"accepted", "long"}), split.lines.front());
}

TEST_CASE("a server that falls silent leaves joints that come to rest, with the reason for it") {
  SplitBench bench(arm6(), Form::split);
  bench.each_cycle = [&](std::uint64_t cycle) { bench.server_lives = cycle < 300; };
  bool moved = false;
  std::uint64_t rested = 0;
  const auto watch = bench.each_cycle;
  bench.each_cycle = [&](std::uint64_t cycle) {
    watch(cycle);
    if (cycle == 290) moved = !at_rest(bench.state);
    if (cycle > 300 && rested == 0 && at_rest(bench.state)) rested = cycle;
  };
  bench.play({{10, move_all(0.5, 10)}}, 2000);
  CHECK(moved);
  CHECK(bench.gateway.end() == LinkEnd::silent);
  CHECK(rested > 300);
  CHECK(rested < 300 + 1000 + 500);  // a second of silence, then the stop
  bool told = false;
  for (const Event& event : bench.events)
    told = told || (event.state == GoalState::preempted && event.reason == Errc::client_lost);
  CHECK(told);
}

TEST_CASE("a pause of the computer is no silence of the other side, whichever goes on first") {
  for (const bool server_first : {false, true}) {
    CAPTURE(server_first);
    Ends ends;
    for (int pauses = 0; pauses < 3; ++pauses) {
      ends.now += std::chrono::seconds(5);
      if (server_first) {
        ends.remote.poll(ends.now);
      } else {
        ends.gateway.poll(ends.now);
      }
      REQUIRE(ends.remote.attached());
      REQUIRE(ends.gateway.attached());
      for (int i = 0; i < 10; ++i) ends.poll();
    }
  }
}

TEST_CASE(
    "a server that comes after another works at once, and hears nothing of what its predecessor began") {
  SplitBench bench(arm6(), Form::split);
  std::unique_ptr<Server> next;
  std::size_t before = 0;
  bench.each_cycle = [&](std::uint64_t cycle) {
    if (cycle != 300) return;
    // The old server vanishes during a motion; the new one has its own channels.
    bench.gateway.detach();
    bench.remote.detach();
    Request* request = nullptr;
    while (bench.beside_server.requests.try_pop(request)) {
    }
    Event event;
    while (bench.beside_server.events.try_pop(event)) {
    }
    before = bench.course.lines.size();
    auto fresh = std::make_unique<Server>(bench.robot, bench.beside_server.requests,
                                          bench.beside_server.events, bench.beside_server.state);
    std::swap(bench.server, fresh);
    bench.server->connected(1, bench.clock.now());
    bench.connect();
  };
  const Course course = bench.play({{10, move_all(0.5, 10)}, {302, move_all(0.3, 3)}}, 5000);
  const std::vector<std::string> after(course.lines.begin() + static_cast<std::ptrdiff_t>(before),
                                       course.lines.end());
  CHECK_FALSE(contains(after, {"client_lost"}));
  CHECK(contains(after, {"accepted", "\"goal\":1"}));
  CHECK(contains(after, {"result", "\"goal\":1", "succeeded"}));
  // They are two goals in the loop.
  bool has_second = false;
  for (const Event& event : bench.events) has_second = has_second || event.goal == 2;
  CHECK(has_second);
}

TEST_CASE(
    "when the loop is lost, clients are told what became of their goals, and the next loop takes over") {
  SplitBench bench(arm6(), Form::split);
  bench.each_cycle = [&](std::uint64_t cycle) {
    if (cycle == 300) bench.remote.detach();
    if (cycle == 600) bench.connect();
  };
  const Course course =
      bench.play({{10, move_all(0.5, 10)}, {400, move_all(0.1, 2)}, {1700, move_all(0.2, 2)}}, 5000);
  CHECK(contains(course.lines, {"result", "\"goal\":1", "aborted", "loop_lost"}));
  CHECK(contains(course.lines, {"rejected", "robot_not_ready", "stopped"}));
  CHECK(contains(course.lines, {"result", "\"goal\":2", "succeeded"}));
}

TEST_CASE("a loop that runs another robot is not worked with, and one server works with a loop at a time") {
  const auto robot = arm6();
  Channels channels;
  Channels mine;
  auto link = std::make_unique<Link>();
  RequestGateway gateway(robot, channels);
  gateway.attach(*link);
  auto other = robot;
  other.joints[2].limits.velocity *= 0.5;
  RemoteLoop stranger(other, mine);
  CHECK(stranger.attach(*link).error() == Errc::other_robot);
  CHECK_FALSE(gateway.has_server());
  RemoteLoop first(robot, mine);
  CHECK(first.attach(*link));
  RemoteLoop second(robot, mine);
  CHECK(second.attach(*link).error() == Errc::loop_taken);
  link->loop.layout = link_layout + 1;
  CHECK(second.attach(*link).error() == Errc::other_version);
}

TEST_CASE("a stop overtakes a trajectory that is under way, which is recalled") {
  Ends ends;
  ends.hand_over_trajectory(1, 5000);
  ends.poll();
  CHECK(ends.cycle().empty());
  ends.hand_over(RequestKind::reset);
  ends.hand_over(RequestKind::emergency_stop);
  ends.poll();
  ends.poll();
  const auto taken = ends.cycle();
  REQUIRE(taken.size() == 1);
  CHECK(taken[0]->kind == RequestKind::emergency_stop);
  const auto events = ends.events();
  REQUIRE(events.size() == 2);
  for (const Event& event : events) {
    CHECK(event.state == GoalState::rejected);
    CHECK(event.reason == Errc::recalled);
  }
  CHECK(events[0].retired == ends.requests[0].get());
  for (int i = 0; i < 20; ++i) ends.poll();
  CHECK(ends.cycle().empty());
  ends.hand_over_trajectory(2, 5000);  // replaces the rest of the first
  for (int i = 0; i < 100; ++i) ends.poll();
  const auto next = ends.cycle();
  REQUIRE(next.size() == 1);
  CHECK(next[0]->goal == 2);
}

TEST_CASE("a cancel recalls a motion that is under way, and has found it") {
  Ends ends;
  ends.hand_over_trajectory(7, 5000);
  ends.hand_over(RequestKind::speed, 3);
  ends.hand_over(RequestKind::cancel, 7);
  ends.poll();
  ends.poll();
  const auto taken = ends.cycle();
  REQUIRE(taken.size() == 2);
  CHECK(taken[0]->kind == RequestKind::cancel);
  CHECK(taken[1]->kind == RequestKind::speed);
  Event answer;
  answer.goal = 7;
  answer.state = GoalState::rejected;
  answer.reason = Errc::unknown_goal;
  answer.retired = taken[0];
  REQUIRE(ends.loop.events.try_push(answer));
  ends.poll();
  ends.poll();
  const auto events = ends.events();
  REQUIRE(events.size() == 2);
  CHECK(events[0].reason == Errc::recalled);
  CHECK(events[1].state == GoalState::succeeded);
  CHECK(events[1].retired == ends.requests[2].get());
}

TEST_CASE("however many requests wait, a stop reaches the loop in the cycle after the next at most") {
  Ends ends;
  for (int round = 0; round < 5; ++round) {
    for (int i = 0; i < 8; ++i) ends.hand_over(RequestKind::speed, 3);
    ends.poll();
  }
  ends.hand_over(RequestKind::emergency_stop);
  ends.poll();
  std::vector<Request*> seen;
  for (int cycle = 0; cycle < 2; ++cycle) {
    for (Request* request : ends.cycle()) seen.push_back(request);
    ends.poll();
  }
  bool has_stop = false;
  for (const Request* request : seen) has_stop = has_stop || request->kind == RequestKind::emergency_stop;
  CHECK(has_stop);
}

TEST_CASE("however many notes wait, a stop reaches the loop after a few looks of the gateway") {
  Ends ends;
  for (int round = 0; round < 40; ++round) {
    for (int i = 0; i < 1024; ++i) ends.remote.note(Mark{"x"});
    ends.remote.poll(ends.now);
  }
  ends.hand_over(RequestKind::emergency_stop);
  ends.remote.poll(ends.now);
  std::vector<Request*> taken;
  int looks = 0;
  for (; taken.empty() && looks < 10; ++looks) {
    ends.gateway.poll(ends.now);
    taken = ends.cycle();
  }
  CAPTURE(looks);
  REQUIRE(taken.size() == 1);
  CHECK(taken[0]->kind == RequestKind::emergency_stop);
  // Notes do not block other requests either, and most of them arrive.
  for (int round = 0; round < 20; ++round) ends.poll();
  CHECK(ends.marks.size() > 1024);
}

TEST_CASE("the loop's side is called when there is something for it, and only then") {
  Ends ends;
  ends.poll();
  CHECK(ends.calls == 0);
  CHECK_FALSE(ends.gateway.has_requests());
  ends.hand_over(RequestKind::emergency_stop);
  ends.remote.poll(ends.now);
  CHECK(ends.calls == 1);
  CHECK(ends.gateway.has_requests());
  ends.gateway.poll(ends.now);
  CHECK_FALSE(ends.gateway.has_requests());
  CHECK(ends.cycle().size() == 1);
  ends.poll();
  CHECK(ends.calls == 1);
}

TEST_CASE("both sides want to look again when there is something to be seen") {
  Ends ends;
  const takt::Duration idle = std::chrono::milliseconds(10);
  const takt::Duration period = ends.robot.period;
  Snapshot state = ready_state(ends.robot);
  state.time = ends.now;
  state.loop.busy = period / 10;
  ends.loop.state.write(state);
  // Poll just after the next cycle, repeatedly while it is late, and rarely while the loop stands still.
  CHECK(ends.gateway.poll(ends.now) == period + period / 10);
  CHECK(ends.gateway.poll(ends.now + period) == period / 10);
  CHECK(ends.gateway.poll(ends.now + 2 * period) < period / 10);
  CHECK(ends.gateway.poll(ends.now + 20 * period) == idle);
  CHECK(ends.remote.poll(ends.now) > idle);
  ends.hand_over(RequestKind::reset);
  CHECK(ends.remote.poll(ends.now) < period);  // an answer is due
  CHECK(ends.remote.poll(ends.now + 20 * period) > idle);
  ends.remote.detach();
  ends.gateway.detach();
  ends.gateway.poll(ends.now);
  CHECK(ends.gateway.poll(ends.now) == idle);
}

TEST_CASE("marks, and what the server refuses, are told where the loop is, also beside a long request") {
  Ends ends;
  ends.hand_over_trajectory(1, 5000);
  ends.remote.note(Mark{"before"});
  ends.poll();
  ends.remote.note(Mark{std::string(max_mark_text, 'x')});
  for (const std::string& none : {std::string(), std::string("\n"), std::string(max_mark_text + 1, 'x')})
    ends.remote.note(Mark{none});  // would look like a malicious server
  ends.remote.note(Refusal{.reason = Errc::position_limit, .value = std::numeric_limits<double>::infinity()});
  ends.remote.note(Refusal{.reason = Errc::position_limit, .joint = 2, .time = 1, .value = 2, .limit = 3});
  for (int i = 0; i < 200; ++i) ends.poll();
  CHECK(ends.marks == std::vector<std::string>{"before", std::string(max_mark_text, 'x')});
  REQUIRE(ends.refusals.size() == 1);
  CHECK(ends.refusals[0].reason == Errc::position_limit);
  CHECK(ends.refusals[0].joint == 2);
  CHECK(ends.refusals[0].limit == 3);
  CHECK(ends.cycle().size() == 1);  // the long request is complete
  // The gateway's own refusals are reported, too.
  auto impossible = std::make_unique<Request>();
  impossible->kind = RequestKind::speed;
  impossible->speed = 2;
  ends.hand_over(std::move(impossible));
  ends.poll();
  REQUIRE(ends.refusals.size() == 2);
  CHECK(ends.refusals[1].reason == Errc::out_of_domain);
  ends.remote.detach();
  ends.remote.note(Mark{"to nobody"});
  CHECK(ends.gateway.end() == LinkEnd::none);
}

TEST_CASE(
    "whoever finds that the server is gone stops its goals at once, whenever the gateway is polled next") {
  Ends ends;
  ends.gateway.detach();
  const auto taken = ends.cycle();
  REQUIRE(taken.size() == 1);
  CHECK(taken[0]->kind == RequestKind::cancel);
  CHECK(taken[0]->reason == Errc::client_lost);
}

}  // namespace
