// Either end of a link against invalid data from the other end, or from its memory.
#include <doctest/doctest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "motion/link_ends.hpp"
#include "support/random.hpp"

namespace {

using namespace takt::motion;
using namespace takt::test;

TEST_CASE("nothing is taken from a server that means something else by the bytes of a link") {
  Ends ends;
  const auto link = std::make_unique<Link>();
  ends.gateway.attach(*link);
  REQUIRE(ends.cycle().size() == 1);  // the server before is lost
  REQUIRE(ends.remote.attach(*link));
  ends.hand_over(RequestKind::speed, 3);
  ends.remote.poll(ends.now);
  link->server.layout = link_layout + 1;
  CHECK_FALSE(ends.gateway.has_requests());
  ends.gateway.poll(ends.now);
  CHECK(ends.gateway.end() == LinkEnd::other_version);
  const auto taken = ends.cycle();
  REQUIRE(taken.size() == 1);
  CHECK(taken[0]->reason == Errc::client_lost);
}

TEST_CASE(
    "a server that takes back that it is there is lost: its goals stop, and nobody else gets its link") {
  for (const std::uint64_t word : {std::uint64_t{0}, link_layout + 1}) {
    CAPTURE(word);
    Ends ends;
    ends.link->server.layout = word;
    ends.gateway.poll(ends.now);
    CHECK(ends.gateway.has_server());
    CHECK(ends.gateway.end() == LinkEnd::malformed);
    const auto taken = ends.cycle();
    REQUIRE(taken.size() == 1);
    CHECK(taken[0]->kind == RequestKind::cancel);
    CHECK(taken[0]->reason == Errc::client_lost);
    Channels channels;
    RemoteLoop next(ends.robot, channels);
    CHECK(next.attach(*ends.link).error() == Errc::loop_taken);
    const auto link = std::make_unique<Link>();
    ends.gateway.attach(*link);
    CHECK_FALSE(ends.gateway.has_server());
  }
}

TEST_CASE("however a server numbers its goals, the goals of the next one are heard of") {
  Ends ends;
  const auto begin_goal = [&](GoalId goal) -> Request* {
    auto request = std::make_unique<Request>();
    request->kind = RequestKind::setpoint;
    request->goal = goal;
    request->joints = takt::JointSet::first(1);
    request->limits = {ends.robot.joints[0].limits};
    request->setpoint.timeout = std::chrono::seconds(1);
    request->setpoint.positions[0] = ends.robot.joints[0].plant.start;
    ends.hand_over(std::move(request));
    ends.poll();
    const auto taken = ends.cycle();
    return taken.empty() ? nullptr : taken[0];
  };
  for (const GoalId absurd : {max_goal + 1, GoalId{1} << 53, std::numeric_limits<GoalId>::max()}) {
    CAPTURE(absurd);
    CHECK(begin_goal(absurd) == nullptr);
    ends.poll();
    ends.poll();
    const auto events = ends.events();
    REQUIRE(events.size() == 1);
    CHECK(events[0].reason == Errc::unknown_goal);
    CHECK(events[0].goal == absurd);
  }
  Request* last = begin_goal(max_goal);
  REQUIRE(last != nullptr);
  CHECK(last->goal == max_goal);
  const auto link = std::make_unique<Link>();
  ends.gateway.attach(*link);
  REQUIRE(ends.cycle().size() == 1);  // the server before is lost
  REQUIRE(ends.remote.attach(*link));
  Request* first = begin_goal(1);
  REQUIRE(first != nullptr);
  CHECK(first->goal == max_goal + 1);
  Event begun;
  begun.goal = first->goal;
  begun.state = GoalState::active;
  REQUIRE(ends.loop.events.try_push(begun));
  ends.events();
  ends.poll();
  ends.poll();
  const auto events = ends.events();
  REQUIRE(events.size() == 1);
  CHECK(events[0].goal == 1);
}

TEST_CASE("bytes that are no request end the link, and all goals stop") {
  Ends ends;
  takt::shm::ByteProducer forger(ends.link->requests, ends.link->request_memory.data(), Link::request_bytes);
  const std::vector<std::byte> nonsense(100, std::byte{7});
  REQUIRE(forger.try_write(nonsense));
  ends.gateway.poll(ends.now);
  CHECK(ends.gateway.end() == LinkEnd::malformed);
  const auto taken = ends.cycle();
  REQUIRE(taken.size() == 1);
  CHECK(taken[0]->kind == RequestKind::cancel);
  CHECK(taken[0]->goal == 0);
  CHECK(taken[0]->reason == Errc::client_lost);
  ends.poll();
  CHECK_FALSE(ends.remote.attached());
}

TEST_CASE("a loop that answers a request before it was sent is not listened to") {
  Ends ends;
  ends.link->loop.taken = 0U - static_cast<std::uint32_t>(max_requests_per_cycle);  // everything must wait
  ends.hand_over(RequestKind::reset);
  ends.hand_over(RequestKind::cancel);
  ends.remote.poll(ends.now);
  takt::shm::RingProducer<LinkEvent> forger(ends.link->events, ends.link->event_memory.data(),
                                            Link::event_count);
  for (const std::uint64_t number : {1U, 2U}) {
    LinkEvent answer;
    answer.request = number;
    REQUIRE(forger.try_push(answer));
  }
  ends.remote.poll(ends.now);
  CHECK(ends.events().empty());
  ends.link->loop.taken = 0;
  ends.poll();
  CHECK(ends.cycle().size() == 2);
}

TEST_CASE(
    "a loop that says more than the server takes has to wait, and nothing that it said is lost at its end") {
  Ends ends;
  takt::shm::RingProducer<LinkEvent> forger(ends.link->events, ends.link->event_memory.data(),
                                            Link::event_count);
  LinkEvent event;
  const auto fill = [&] {
    while (forger.try_push(event)) ++event.event.goal;
    ends.remote.poll(ends.now += std::chrono::milliseconds(1));
  };
  for (int i = 0; i < 20; ++i) fill();
  const auto most = Link::event_count + ends.server.events.capacity();
  CHECK(event.event.goal <= most + 1);  // and one held by the gateway
  ends.link->loop.over = 1;
  ends.remote.poll(ends.now);
  CHECK_FALSE(ends.remote.attached());
  std::vector<GoalId> goals;
  for (int i = 0; i < 3; ++i) {
    for (const Event& taken : ends.events()) goals.push_back(taken.goal);
    ends.remote.poll(ends.now);
  }
  REQUIRE(goals.size() == event.event.goal);
  for (std::size_t i = 0; i < goals.size(); ++i) REQUIRE(goals[i] == i);
}

TEST_CASE("an event or a state that the server could not look at without harm is not taken from a loop") {
  Ends ends;
  takt::shm::RingProducer<LinkEvent> forger(ends.link->events, ends.link->event_memory.data(),
                                            Link::event_count);
  const auto says = [&](const auto& change) {
    LinkEvent event;
    change(event.event);
    REQUIRE(forger.try_push(event));
    ends.remote.poll(ends.now);
    return !ends.events().empty();
  };
  CHECK(says([](Event& event) { event.first_reference = takt::Time{std::chrono::hours(1)}; }));
  CHECK_FALSE(says([](Event& event) { event.first_reference = takt::Time::min(); }));
  CHECK_FALSE(says([](Event& event) { event.received = takt::Time::max(); }));
  CHECK_FALSE(says([](Event& event) { event.handed_over = takt::Time::max(); }));
  CHECK_FALSE(says([](Event& event) { event.duration = -1; }));
  CHECK_FALSE(says([](Event& event) {
    event.reason = Errc::drive_fault;  // its value is a code
    event.value = -1;
  }));
  Snapshot state = ready_state(ends.robot);
  state.time = takt::Time::min();
  ends.link->state.write(state);
  ends.remote.poll(ends.now);
  ends.server.state.update();
  CHECK(ends.server.state.value().time == takt::Time{});
}

TEST_CASE("whatever stands in the memory of a link, both ends carry on within it") {
  auto random = generator(77);
  for (std::size_t i = 0; i < count(300); ++i) {
    Ends ends;
    ends.hand_over_trajectory(1, 100);
    auto* bytes = reinterpret_cast<unsigned char*>(ends.link.get());
    for (int k = 0; k < 50; ++k) {
      ends.poll();
      for (int n = 0; n < 20; ++n) {
        const bool near_front = uniform_int(random, 0, 1) == 0;
        const auto most = static_cast<std::int64_t>(near_front ? 4096 : sizeof(Link) - 1);
        bytes[uniform_int(random, 0, most)] = static_cast<unsigned char>(uniform_int(random, 0, 255));
      }
      for (Request* request : ends.cycle()) {
        Event event;
        event.goal = request->goal;
        event.state = GoalState::rejected;
        event.retired = request;
        REQUIRE(ends.loop.events.try_push(event));
      }
      for (const Event& event : ends.events()) REQUIRE(event.joint < ends.robot.joints.size());
    }
  }
}

}  // namespace
