// The wire protocol: every message there and back, and every error of a line.
#include "takt/motion/wire.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <limits>

#include "motion/wire_support.hpp"
#include "support/random.hpp"

namespace {

using namespace takt;
using namespace takt::motion;
using takt::trajectory::Through;

ClientMessage parsed(std::string_view line) {
  const auto message = parse_client_message(line);
  if (!message) FAIL(line << " -> " << message.error().why.message);
  return *message;
}

Errc refused(std::string_view line) {
  const auto message = parse_client_message(line);
  if (message) return Errc{};
  CHECK_FALSE(message.error().why.message.empty());
  return message.error().why.reason;
}

std::string message_of(std::string_view line) {
  const auto message = parse_client_message(line);
  return message ? "" : message.error().why.message;
}

TEST_CASE("golden requests: the text of the manual means what it says") {
  const auto full = parsed(
      R"({"id":1,"trajectory":{"joint_names":["a","b"],"header":{"stamp":{"sec":0,"nanosec":0},"frame_id":""},
          "points":[{"time_from_start":0.5,"positions":[1.25,-2],"velocities":[0,1],"accelerations":[0,2],"effort":[]},
                    {"time_from_start":{"sec":1,"nanosec":500000000},"positions":[1,2],"velocities":[0,0],"accelerations":[0,0]}],
          "through":"smooth","fit":true,"at_end":"stop","on_disconnect":"continue","when_busy":"queue",
          "limits":{"velocity":1,"acceleration":[5,6],"jerk":100}}})");
  CHECK(full.id == "1");
  TrajectoryMessage expected;
  expected.joints.names = {"a", "b"};
  expected.points = {{0.5, {1.25, -2}, {0, 1}, {0, 2}}, {1.5, {1, 2}, {0, 0}, {0, 0}}};
  expected.through = Through::smooth;
  expected.fit = true;
  expected.at_end = AtEnd::stop;
  expected.on_disconnect = OnDisconnect::proceed;
  expected.when_busy = WhenBusy::queue;
  expected.limits = {{1}, {5, 6}, {100}};
  CHECK(std::get<TrajectoryMessage>(full.body) == expected);

  const auto ros1 = parsed(
      R"({"trajectory":{"group":"arm","points":[{"time_from_start":{"secs":2,"nsecs":1},"positions":[1],
                              "velocities":[],"accelerations":[]}]}})");
  CHECK(std::get<TrajectoryMessage>(ros1.body).points[0].time == 2.000000001);

  const auto later = parsed(
      R"({"trajectory":{"group":"arm","start":12.5,"points":[{"time_from_start":1,"positions":[1]}]}})");
  CHECK(std::get<TrajectoryMessage>(later.body).start == 12.5);
  const auto at_once =
      parsed(R"({"trajectory":{"group":"arm","start":0,"points":[{"time_from_start":1,"positions":[1]}]}})");
  CHECK_FALSE(std::get<TrajectoryMessage>(at_once.body).start);

  const auto untimed =
      parsed(R"({"trajectory":{"group":"arm","points":[{"positions":[1]},{"positions":[2]}]}})");
  CHECK_FALSE(std::get<TrajectoryMessage>(untimed.body).timed);
  CHECK(std::get<TrajectoryMessage>(untimed.body).points[1].positions == std::vector<double>{2});
  CHECK(std::get<TrajectoryMessage>(ros1.body).points[0].velocities.empty());
  CHECK_FALSE(std::get<TrajectoryMessage>(ros1.body).through);

  MoveMessage move;
  move.joints.names = {"elbow"};
  move.positions = {1.2};
  move.duration = 2;
  CHECK(std::get<MoveMessage>(
            parsed(R"({"move":{"joint_names":["elbow"],"positions":[1.2],"duration":2}})").body) == move);
  move.duration.reset();
  move.synchronisation = takt::trajectory::Synchronisation::phase;
  CHECK(std::get<MoveMessage>(
            parsed(R"({"move":{"joint_names":["elbow"],"positions":[1.2],"synchronise":"phase"}})").body) ==
        move);
  CHECK(to_line(ClientMessage{"", move}) ==
        "{\"move\":{\"joint_names\":[\"elbow\"],\"positions\":[1.2],\"synchronise\":\"phase\"}}\n");

  const auto setpoint = parsed(
      R"({"id":"s","setpoint":{"joint_names":["elbow"],"positions":[1.2],"velocities":[0.1],"timeout":0.2}})");
  CHECK(setpoint.id == "\"s\"");
  CHECK(std::get<SetpointMessage>(setpoint.body).timeout == 0.2);

  CHECK(std::get<CancelMessage>(parsed(R"({"cancel":{"goal":3}})").body).goal == 3);
  CHECK(std::get<CancelMessage>(parsed(R"({"cancel":{}})").body).goal == 0);
  CHECK(std::get<CancelMessage>(parsed(R"({"cancel":{}})").body).stop == StopAt::now);
  CHECK(std::get<CancelMessage>(parsed(R"({"cancel":{"stop":"path"}})").body).stop == StopAt::path);
  CHECK(std::get<SpeedMessage>(parsed(R"({"speed":{"goal":3,"scale":0.5}})").body) == SpeedMessage{3, 0.5});
  CHECK(std::get<SpeedMessage>(parsed(R"({"speed":{"goal":0,"scale":0}})").body) == SpeedMessage{0, 0});
  CHECK(std::get<SpeedMessage>(parsed(R"({"speed":{"scale":1}})").body) == SpeedMessage{0, 1});
  CHECK(std::holds_alternative<StateMessage>(parsed(R"({"state":{}})").body));
  CHECK(std::get<SubscribeMessage>(parsed(R"({"subscribe":{"rate":10}})").body).rate == 10);
  CHECK(std::get<EmergencyStopMessage>(parsed(R"({"estop":{}})").body).category == StopCategory::category_1);
  CHECK(std::get<EmergencyStopMessage>(parsed(R"({"estop":{"category":0}})").body).category ==
        StopCategory::category_0);
  CHECK(std::holds_alternative<ResetMessage>(parsed("  {\"reset\":{}}\r").body));
  CHECK(std::get<ControllersMessage>(parsed(R"({"controllers": {"list": {}}})").body).request ==
        R"({"list":{}})");
}

TEST_CASE("golden replies, byte for byte") {
  AcceptedReply accepted;
  accepted.id = "1";
  accepted.goal = 3;
  accepted.duration = 2.5;
  accepted.joint_names = {"elbow"};
  accepted.latency = LatencyReply{812.4, 1034.9};
  CHECK(to_line(accepted) == R"({"accepted":{"id":1,"goal":3,"duration":2.5,"joint_names":["elbow"],)"
                             R"("latency_us":{"handover_to_reference":812.4,"receive_to_reference":1034.9}}})"
                             "\n");
  CHECK(to_line(AcceptedReply{}) == "{\"accepted\":{}}\n");

  RejectedReply rejected;
  rejected.id = "\"x\"";
  rejected.why = {Errc::acceleration_limit, "elbow: too fast", "elbow", 0.07, 6.87, 5.0};
  CHECK(
      to_line(rejected) ==
      R"({"rejected":{"id":"x","reason":"acceleration_limit","message":"elbow: too fast","joint":"elbow","time":0.07,)"
      R"("value":6.87,"limit":5.0}})"
      "\n");

  CHECK(to_line(ResultReply{"", 3, GoalState::succeeded, {}}) ==
        "{\"result\":{\"goal\":3,\"state\":\"succeeded\"}}\n");
  CHECK(
      to_line(FeedbackReply{3, 0.5, 2, 0.25, {1}, {2}}) ==
      R"({"feedback":{"goal":3,"state":"active","time":0.5,"duration":2.0,"fraction":0.25,"reference":[1.0],"measured":[2.0]}})"
      "\n");
  CHECK(to_line(ErrorReply{{Errc::malformed, "no", "", {}, {}, {}}}) ==
        "{\"error\":{\"reason\":\"malformed\",\"message\":\"no\"}}\n");

  const auto robot = takt::test::arm6();
  const std::string hello = to_line(greeting(robot));
  CHECK(hello.rfind(R"({"takt":{"version":")", 0) == 0);
  CHECK(hello.find(R"("protocol":1,"robot":"arm6","period":0.001,"joints":["shoulder_pan_joint",)") !=
        std::string::npos);
}

TEST_CASE("every request survives being written and read") {
  auto random = takt::test::generator(3);
  const auto number = [&] {
    // Any finite double: random bits.
    for (;;) {
      const std::uint64_t bits = random();
      double value = 0;
      std::memcpy(&value, &bits, sizeof value);
      if (std::isfinite(value)) return value;
    }
  };
  for (std::size_t i = 0; i < takt::test::count(300); ++i) {
    TrajectoryMessage trajectory;
    const auto joints = static_cast<std::size_t>(takt::test::uniform_int(random, 1, 5));
    for (std::size_t j = 0; j < joints; ++j)
      trajectory.joints.names.push_back("j\"\\/\u00e9" + std::to_string(j));
    double time = 0;
    for (auto points = takt::test::uniform_int(random, 1, 5); points > 0; --points) {
      PointMessage point;
      point.time = time += takt::test::uniform(random, 0.01, 1);
      for (std::size_t j = 0; j < joints; ++j) {
        point.positions.push_back(number());
        point.velocities.push_back(number());
        point.accelerations.push_back(number());
      }
      trajectory.points.push_back(std::move(point));
    }
    trajectory.fit = i % 2 == 0;
    if (i % 7 == 0) {
      trajectory.timed = false;
      for (PointMessage& point : trajectory.points) point = {0, point.positions, {}, {}};
    }
    trajectory.at_end = static_cast<AtEnd>(i % 2);
    trajectory.on_disconnect = static_cast<OnDisconnect>(i % 2);
    trajectory.when_busy = static_cast<WhenBusy>(i % 3);
    if (trajectory.when_busy != WhenBusy::queue && i % 5 == 0)
      trajectory.start = takt::test::uniform(random, 1, 1e6);
    trajectory.limits.jerk.assign(1, takt::test::uniform(random, 0.1, 1e9));
    if (i % 3 != 0) trajectory.through = static_cast<Through>(i % 5);
    trajectory.tolerances.goal_time = i % 2 == 0 ? 0 : takt::test::uniform(random, -10, 10);
    if (i % 4 == 0)
      trajectory.tolerances.path = {{"j", number(), number(), -std::abs(number())}, {"k", 0, 0, 0}};
    if (i % 5 == 0) trajectory.tolerances.goal = {{"j", 0, number(), 0}};
    const ClientMessage message{std::to_string(i), trajectory};
    const std::string line = to_line(message);
    CHECK(line.find('\n') == line.size() - 1);
    CHECK(parsed(line) == message);
  }
  MoveMessage move;
  move.joints.group = "arm";
  move.positions = {0.1, 1e-310, -0.0};
  move.tolerances.goal = {{"j", 0.25, -1, 0}};
  CHECK(parsed(to_line(ClientMessage{"", move})) == ClientMessage{"", move});
  SetpointMessage setpoint;
  setpoint.joints.group = "arm";
  setpoint.positions = {std::numeric_limits<double>::max()};
  setpoint.velocities = {std::numeric_limits<double>::denorm_min()};
  CHECK(parsed(to_line(ClientMessage{"\"id\"", setpoint})) == ClientMessage{"\"id\"", setpoint});
  for (const ClientMessage& message :
       {ClientMessage{"1.5", CancelMessage{7}}, ClientMessage{"", CancelMessage{}},
        ClientMessage{"", CancelMessage{0, StopAt::path}}, ClientMessage{"2", SpeedMessage{3, 0.25}},
        ClientMessage{"", SpeedMessage{}}, ClientMessage{"", StateMessage{}},
        ClientMessage{"", SubscribeMessage{12.5}},
        ClientMessage{"", EmergencyStopMessage{StopCategory::category_2}}, ClientMessage{"", ResetMessage{}},
        ClientMessage{"9", MarkMessage{"run 3"}},
        ClientMessage{"5", ControllersMessage{R"({"switch":{"start":["a\\n"],"timeout":0.1}})"}}}) {
    CHECK(parsed(to_line(message)) == message);
  }
}

TEST_CASE("a reason of a newer server costs no result") {
  const auto message = parse_server_message(
      R"({"result":{"goal":3,"state":"aborted","reason":"from_the_future","message":"why"}})");
  REQUIRE(message);
  const auto& result = std::get<ResultReply>(*message);
  CHECK(result.state == GoalState::aborted);
  CHECK(result.why.reason == Errc::unknown_reason);
  CHECK(result.why.message == "why");
}

TEST_CASE("every reply survives being written and read") {
  auto robot = takt::test::mhubo();
  AcceptedReply accepted{"\"a\"", 5, GoalState::active, 1.5, {"x", "y"}, LatencyReply{1, 2}};
  const ServerMessage replies[] = {
      greeting(robot),
      accepted,
      AcceptedReply{},
      AcceptedReply{"1", 6, GoalState::pending, {}, {"x"}, {}},
      AcceptedReply{
          "1", 6, GoalState::active, 1, {}, {}, Rejection{Errc::velocity_limit, "m", "j", {}, 2.0, 1.0}},
      ResultReply{
          "1", 6, GoalState::succeeded, {}, Rejection{Errc::acceleration_limit, "m", "j", {}, 2.0, 1.0}},
      RejectedReply{"2", {Errc::start_mismatch, "m", "j", 0.0, 1.0, 2.0}},
      FeedbackReply{3, 0.1, 0.2, 0.5, {0.1, 0.2}, {0.3, 0.4}},
      FeedbackReply{3, 0.1, 0.2, 0.5, {0.1, 0.2}, {0.3, 0.4}, 0.3, 0.02},
      FeedbackReply{3, 0.1, 0.2, 0.5, {}, {}, 1, 0, GoalState::preempting},
      ResultReply{"1", 3, GoalState::aborted, {Errc::following_error, "m", "j", {}, 1.0, 2.0}, {}, 0.5},
      ResultReply{"", 4, GoalState::preempted, {}},
      ErrorReply{{Errc::malformed, "m", "", {}, {}, {}}},
      ControllersReply{"\"c\"", R"({"list":[{"name":"tip","value":null}]})"},
      ControllersReply{"", R"({"start":{}})"},
  };
  for (const ServerMessage& reply : replies) {
    const auto back = parse_server_message(to_line(reply));
    if (!back) FAIL(back.error().message);
    CHECK(back->index() == reply.index());
    CHECK(to_line(*back) == to_line(reply));
  }
  Snapshot snapshot = takt::test::ready_state(robot);
  snapshot.reason = Errc::drive_silent;
  snapshot.reason_joint = 2;
  snapshot.reason_value = 0.03;
  snapshot.reason_limit = 0.02;
  snapshot.joints[1].goal = 9;
  snapshot.hardware.frames_starved = 12;
  snapshot.hardware.starved.insert(1);
  snapshot.hardware.starved.insert(4);
  snapshot.joints[4].fault = 1;
  snapshot.joints[1].feedback_age = 0.1;
  snapshot.joints[2].feedback_age = -1;
  robot.mimics = {{.name = "finger", .joint = 1, .multiplier = -2, .offset = 0.5}};
  snapshot.joints[1].measured_position = 0.75;
  snapshot.joints[1].measured_velocity = 3;
  StateReply state = state_reply(snapshot, robot);
  CHECK(state.mimics == std::vector{MimicReply{"finger", -1, -6}});
  CHECK(state.joint == robot.joints[2].name);
  CHECK(state.message == robot.joints[2].name + ": a drive does not answer (0.03 s, limit 0.02 s)");
  CHECK(state.value == 0.03);
  REQUIRE(state.faults.size() == 1);
  CHECK(state.faults[0] == FaultReply{robot.joints[4].name, 1, "jam"});
  state.goals = {{9, GoalState::active}, {10, GoalState::pending}};
  CHECK(state.starved == std::vector{robot.joints[1].name, robot.joints[4].name});
  state.id = "4";
  const auto back = parse_server_message(to_line(state));
  REQUIRE(back);
  CHECK(to_line(*back) == to_line(state));
  CHECK(std::get<StateReply>(*back).drive[0] == "ready");
  REQUIRE(std::get<StateReply>(*back).age_ms.size() == robot.joints.size());
  CHECK(std::get<StateReply>(*back).age_ms[1] == 100);
  CHECK(std::get<StateReply>(*back).age_ms[2] == -1);
  CHECK(std::get<StateReply>(*back).starved == state.starved);
  CHECK(std::get<StateReply>(*back).bus.frames_starved == 12);
  CHECK(std::get<StateReply>(*back).goals == state.goals);
  CHECK(std::get<StateReply>(*back).faults == state.faults);
  CHECK(std::get<StateReply>(*back).mimics == state.mimics);
}

TEST_CASE("a greeting tells the limits of each joint, and what its positions are measured in") {
  auto robot = takt::test::arm6();
  robot.joints[1].kind = takt::robot::JointKind::linear;
  robot.joints[1].limits.effort = std::numeric_limits<double>::infinity();
  const auto back = parse_server_message(to_line(greeting(robot)));
  REQUIRE(back);
  const auto& limits = std::get<GreetingReply>(*back).limits;
  REQUIRE(limits.size() == 6);
  for (std::size_t i = 0; i < limits.size(); ++i) CHECK(limits[i].limits == robot.joints[i].limits);
  CHECK(limits[0].unit == "rad");
  CHECK(limits[1].unit == "m");
  for (const char* text : {R"([])", R"([{"position":[1]}])", R"([{"velocity":"x"}])", R"({})", R"([1])"}) {
    CAPTURE(text);
    const std::string line = std::string(R"({"takt":{"protocol":1,"limits":)") + text + "}}";
    CHECK(parse_server_message(line).has_value() == (std::string(text) == "[]"));
  }
}

TEST_CASE("the state of a robot says why it is stopped, for how long its loop was away, and how to go on") {
  const auto robot = takt::test::mhubo();
  Snapshot snapshot = takt::test::ready_state(robot);
  CHECK(describe_state(snapshot, robot) == "ready");
  snapshot.state = RobotState::stopped;
  snapshot.reason = Errc::loop_overrun;
  snapshot.reason_value = 40;
  snapshot.reason_limit = 20;
  const std::string reset = R"(. To continue: `takt reset` (or {"reset":{}}))";
  CHECK(describe_state(snapshot, robot) ==
        "stopped: the loop missed more periods in a row than the robot allows (40 periods, 0.2 s; limit 20 "
        "periods, "
        "0.1 s)" +
            reset);
  snapshot.reason = Errc::drive_fault;
  snapshot.reason_value = 1;
  CHECK(describe_state(snapshot, robot) == "stopped: RSP: a drive reports a fault (0x1): jam" + reset);
  snapshot.state = RobotState::starting;
  CHECK(describe_state(snapshot, robot) == "starting: RSP: a drive reports a fault (0x1): jam" + reset);
  snapshot.reason = Errc::drive_silent;  // it may come by itself
  CHECK(describe_state(snapshot, robot).find("reset") == std::string::npos);
  snapshot.state = RobotState::stopped;
  snapshot.reason = Errc::bus_down;
  snapshot.reason_value = snapshot.reason_limit = 0;
  CHECK(describe_state(snapshot, robot) ==
        "stopped: RSP: the bus of a drive is down: right (virtual). To continue when the bus is back: `takt "
        "reset` (or "
        "{\"reset\":{}})");
  snapshot.reason = Errc::loop_lost;
  CHECK(describe_state(snapshot, robot).find("reset") == std::string::npos);
}

TEST_CASE("every reason has a name that leads back to it") {
#define TAKT_CHECK(code, number, text) CHECK(reason_from_name(reason_name(Errc::code)) == Errc::code);
  TAKT_MOTION_ERRORS(TAKT_CHECK)
#undef TAKT_CHECK
  CHECK_FALSE(reason_from_name("no_such_reason"));
}

TEST_CASE("what is not JSON, or not a message, is malformed") {
  for (const char* line : {"",
                           " ",
                           "{",
                           "{\"trajectory\":",
                           "[]",
                           "null",
                           "7",
                           "\"state\"",
                           "{\"state\":{}} x",
                           "{\"state\":{}}{\"state\":{}}",
                           "{\"state\":{},}",
                           "{'state':{}}",
                           "{\"state\":{}, \"state\":{}}",
                           "{\"id\":{},\"state\":{}}",
                           "{\"state\":[]}",
                           "{\"state\":{\"now\":1}}",
                           "{\"state\":{},\"reset\":{}}",
                           "{\"id\":null,\"state\":{}}",
                           "{\"state\":null}",
                           "{\"\xff\":{}}",
                           "{\"state\":{\"\xc0\xaf\":1}}",
                           "{\"id\":\"\\ud800\",\"state\":{}}",
                           "GET / HTTP/1.1",
                           "\x01\x02\x03",
                           "{\"estop\":{\"category\":3}}",
                           "{\"estop\":{\"category\":-1}}",
                           "{\"estop\":{\"category\":1.5}}",
                           "{\"cancel\":{\"goal\":0}}",
                           "{\"cancel\":{\"stop\":\"later\"}}",
                           "{\"speed\":{\"goal\":3}}",
                           "{\"speed\":{\"scale\":1.1}}",
                           "{\"speed\":{\"scale\":-0.1}}",
                           "{\"speed\":{\"scale\":\"fast\"}}",
                           "{\"cancel\":{\"goal\":\"all\"}}",
                           "{\"subscribe\":{}}",
                           "{\"mark\":{\"text\":\"\"}}",
                           "{\"subscribe\":{\"rate\":1001}}",
                           "{\"subscribe\":{\"rate\":-1}}"}) {
    CAPTURE(line);
    CHECK(refused(line) == Errc::malformed);
  }
  CHECK(refused("{}") == Errc::unknown_request);
  CHECK(refused("{\"id\":1}") == Errc::unknown_request);
  CHECK(refused("{\"id\":1,\"dance\":{}}") == Errc::unknown_request);
  // the request's id is known even if it is rejected
  CHECK(parse_client_message("{\"id\":5,\"dance\":{}}").error().id == "5");
  CHECK(parse_client_message("{\"id\":5,\"dance\":{}}").error().is_object);
  CHECK_FALSE(parse_client_message("[5]").error().is_object);
}

TEST_CASE("deep nesting is refused without recursion") {
  CHECK(refused(std::string(1'000'000, '[')) == Errc::malformed);
  std::string objects;
  for (int i = 0; i < 100'000; ++i) objects += "{\"a\":";
  CHECK(refused(objects) == Errc::malformed);
  CHECK(message_of(std::string(40, '[') + std::string(40, ']')).find("32") != std::string::npos);
}

TEST_CASE("numbers that are not finite are called so, in every way of saying them") {
  for (const char* number : {"1e999", "-1e999", "NaN", "Infinity", "-Infinity", "nan", "inf", "null",
                             "\"NaN\"", "\"Infinity\"", "\"-inf\"", "\"-Infinity\"", "\".nan\""}) {
    CAPTURE(number);
    CHECK(refused(std::string(R"({"move":{"joint_names":["a"],"positions":[)") + number + "]}}") ==
          Errc::not_finite);
    CHECK(refused(std::string(R"({"move":{"joint_names":["a"],"positions":[1],"duration":)") + number +
                  "}}") == Errc::not_finite);
  }
  CHECK(message_of(R"({"trajectory":{"joint_names":["a"],"points":[{"positions":[0],"time_from_start":1},
                   {"positions":[1e999],"time_from_start":2}]}})")
            .rfind("/trajectory/points/1/positions/0", 0) == 0);
  for (const char* number :
       {"\"1\"", "true", "{}", "[1]", "\"\"", "0x10", "1.", ".5", "+1", "01", "1e", "--1"}) {
    CAPTURE(number);
    CHECK(refused(std::string(R"({"move":{"joint_names":["a"],"positions":[)") + number + "]}}") ==
          Errc::malformed);
  }
}

TEST_CASE("trajectories that cannot be one are refused by name and place") {
  const auto with_points = [](const std::string& points) {
    return R"({"trajectory":{"joint_names":["a","b"],"points":)" + points + "}}";
  };
  CHECK(refused(with_points("[]")) == Errc::no_waypoints);
  CHECK(refused(with_points("{}")) == Errc::malformed);
  CHECK(refused(with_points(R"([{"positions":[1,2]},{"time_from_start":1,"positions":[1,2]}])")) ==
        Errc::malformed);
  CHECK(refused(with_points(R"([{"time_from_start":1,"positions":[1,2]},{"positions":[1,2]}])")) ==
        Errc::malformed);
  CHECK(refused(with_points(R"([{"positions":[1,2],"velocities":[1,2]}])")) == Errc::malformed);
  for (const std::string options :
       {R"("start":-1)", R"("start":"now")", R"("start":1,"when_busy":"queue")"}) {
    CHECK(refused(R"({"trajectory":{"group":"a",)" + options +
                  R"(,"points":[{"time_from_start":1,"positions":[1]}]}})") == Errc::malformed);
  }
  CHECK(refused(R"({"move":{"group":"a","positions":[1],"duration":1,"synchronise":"phase"}})") ==
        Errc::malformed);
  CHECK(refused(with_points(R"([{"time_from_start":1}])")) == Errc::malformed);
  CHECK(refused(with_points(R"([{"time_from_start":-1,"positions":[1,2]}])")) == Errc::malformed);
  CHECK(refused(with_points(R"([{"time_from_start":0,"positions":[1,2]}])")) == Errc::times_not_increasing);
  CHECK(refused(with_points(R"([{"time_from_start":{"sec":1},"positions":[1,2]}])")) == Errc::malformed);
  CHECK(refused(with_points(R"([{"time_from_start":{"sec":1,"nsecs":1},"positions":[1,2]}])")) ==
        Errc::malformed);
  CHECK(refused(with_points(R"([{"time_from_start":{"sec":1,"nanosec":1000000000},"positions":[1,2]}])")) ==
        Errc::malformed);
  CHECK(refused(with_points(R"([{"time_from_start":1,"positions":[1,2],"velocities":[1]}])")) ==
        Errc::wrong_size);
  CHECK(refused(with_points(
            R"([{"time_from_start":1,"positions":[1,2]},{"time_from_start":2,"positions":[1]}])")) ==
        Errc::wrong_size);
  CHECK(
      refused(with_points(
          R"([{"time_from_start":1,"positions":[1,2],"velocities":[1,1]},{"time_from_start":2,"positions":[1,1]}])")) ==
      Errc::wrong_size);
  CHECK(refused(with_points(R"([{"time_from_start":1,"positions":[1,2],"accelerations":[1,1]}])")) ==
        Errc::malformed);
  CHECK(refused(with_points(R"([{"time_from_start":1,"positions":[1,2],"effort":[1,1]}])")) ==
        Errc::malformed);
  CHECK(refused(with_points(R"([{"time_from_start":1,"positions":[1,2],"speed":1}])")) == Errc::malformed);
  const std::string not_rising =
      with_points(R"([{"time_from_start":1,"positions":[1,2]},{"time_from_start":1,"positions":[1,2]}])");
  CHECK(refused(not_rising) == Errc::times_not_increasing);
  CHECK(message_of(not_rising).rfind("/trajectory/points/1", 0) == 0);

  CHECK(refused(R"({"trajectory":{"points":[{"time_from_start":1,"positions":[1]}]}})") == Errc::malformed);
  CHECK(
      refused(
          R"({"trajectory":{"joint_names":["a"],"group":"b","points":[{"time_from_start":1,"positions":[1]}]}})") ==
      Errc::malformed);
  CHECK(
      refused(
          R"({"trajectory":{"joint_names":["a","a"],"points":[{"time_from_start":1,"positions":[1,1]}]}})") ==
      Errc::duplicate_joint);
  CHECK(refused(R"({"trajectory":{"joint_names":[],"points":[{"time_from_start":1,"positions":[]}]}})") ==
        Errc::malformed);
  CHECK(refused(R"({"trajectory":{"joint_names":[1],"points":[{"time_from_start":1,"positions":[1]}]}})") ==
        Errc::malformed);
  CHECK(
      refused(
          R"({"trajectory":{"group":"a","through":"fast","points":[{"time_from_start":1,"positions":[1]}]}})") ==
      Errc::malformed);
  CHECK(
      refused(
          R"({"trajectory":{"group":"a","limits":{"velocity":0},"points":[{"time_from_start":1,"positions":[1]}]}})") ==
      Errc::malformed);
  CHECK(
      refused(
          R"({"trajectory":{"group":"a","limits":{"speed":1},"points":[{"time_from_start":1,"positions":[1]}]}})") ==
      Errc::malformed);

  std::string wide = R"({"move":{"group":"a","positions":[)";
  for (int i = 0; i < 64; ++i) wide += "1,";
  CHECK(refused(wide + "1]}}") == Errc::wrong_size);

  std::string many;
  for (int i = 1; i <= 10'001; ++i)
    many += (i > 1 ? "," : "") + std::string("{\"time_from_start\":") + std::to_string(i) +
            ",\"positions\":[1,2]}";
  CHECK(refused(with_points("[" + many + "]")) == Errc::too_many_waypoints);
  CHECK(refused(with_points("[" + many.substr(0, many.rfind(",{")) + "]")) == Errc{});
}

TEST_CASE("a file for sending may be a bare trajectory with notes for people") {
  const auto planned = takt::test::planned_ur_trajectory();
  CHECK(planned.points.size() == 5);
  CHECK(planned.joints.names[2] == "elbow_joint");
  CHECK_FALSE(planned.through);
  CHECK(parse_motion_file("{\"move\":{\"group\":\"arm\",\"positions\":[1]}}"));
  const auto broken = parse_motion_file("{\n\"joint_names\":[\"a\"],\n\"points\":[,]}");
  REQUIRE_FALSE(broken);
  CHECK(broken.error().why.message.rfind("line 3", 0) == 0);
}

TEST_CASE("mutated requests and replies are understood or refused, never more") {
  auto random = takt::test::generator(5);
  const std::string seeds[] = {
      R"({"id":1,"trajectory":{"joint_names":["a","b"],"points":[{"time_from_start":0.5,"positions":[1.25,-2],"velocities":[0,1]},{"time_from_start":{"sec":1,"nanosec":5},"positions":[1,2],"velocities":[0,0]}],"fit":true,"limits":{"velocity":1,"jerk":[1,2]},"goal_tolerance":[{"name":"a","position":0.5}],"goal_time_tolerance":{"sec":-1,"nanosec":7}}})",
      R"({"id":"x","setpoint":{"joint_names":["a"],"positions":[1.2],"timeout":0.2}})",
      R"({"accepted":{"id":1,"goal":3,"duration":2.5,"joint_names":["a"],"latency_us":{"handover_to_reference":1.5,"receive_to_reference":2}}})",
      to_line(state_reply(takt::test::ready_state(takt::test::arm6()), takt::test::arm6()))};
  for (std::size_t i = 0; i < takt::test::count(10'000); ++i) {
    std::string line = seeds[i % std::size(seeds)];
    for (auto edits = takt::test::uniform_int(random, 1, 3); edits > 0; --edits) {
      const auto at = static_cast<std::size_t>(
          takt::test::uniform_int(random, 0, static_cast<std::int64_t>(line.size()) - 1));
      switch (takt::test::uniform_int(random, 0, 2)) {
        case 0:
          line[at] = static_cast<char>(takt::test::uniform_int(random, 0, 255));
          break;
        case 1:
          line.erase(at, static_cast<std::size_t>(takt::test::uniform_int(random, 1, 8)));
          break;
        default:
          line.insert(at, line.substr(at / 2, 8));
          break;
      }
      if (line.empty()) line = " ";
    }
    if (const auto message = parse_client_message(line)) {
      const auto again = parse_client_message(to_line(*message));
      REQUIRE(again);
      REQUIRE(*again == *message);
    }
    if (const auto reply = parse_server_message(line)) REQUIRE(parse_server_message(to_line(*reply)));
  }
}

}  // namespace
