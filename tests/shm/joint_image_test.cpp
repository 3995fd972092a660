// Tests the joint image and the hub that writes it: a client reads the applied references and the
// measurements. Also the layout that holds both, and the rules of the loop.
#include "takt/shm/joint_image.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstring>
#include <limits>
#include <span>
#include <vector>

#include "shm/joint_robot.hpp"
#include "support/rt_guard.hpp"
#include "takt/shm/layout.hpp"

using namespace takt;
using namespace takt::shm;
using namespace takt::test::joint_robot;

TEST_CASE("an image of zeros is empty, and a hub over it has every joint off where it is") {
  JointImageMemory<2> memory;
  std::memset(static_cast<void*>(&memory), 0, sizeof(memory));
  JointClient client(BroadcastValue<JointImage>::Reader(memory.image), {&memory.owner_slots[0], 0}, 7);
  CHECK(client.update() == Freshness::none);
  CHECK(client.owned().empty());

  const std::array<JointSafety, 2> safety{{{SafeBehaviour::hold, 1, 0.5}, {SafeBehaviour::release}}};
  JointHub hub = JointHub::make(memory.image, memory.owner_slots, safety).value();
  for (int i = 0; i < 100; ++i) {
    for (const JointReference& reference : hub.take()) CHECK(reference.mode == JointMode::off);
    hub.publish(Time{}, std::array<JointMeasurement, 2>{{{0.25, 0, 0}, {-1, 0, 0}}});
  }
  CHECK(client.update() == Freshness::new_data);
  CHECK(client.image().cycle == 100);
  CHECK(client.image().started == 1);
  CHECK(client.image().joints == 2);
  CHECK(client.image().slots == 2);
  CHECK(client.image().reference(0).motion.position == 0.25);
  CHECK(client.image().position[1] == -1);
  CHECK(client.image().safe[0] == 1);
  CHECK(client.image().owner[1] == no_owner);
}

TEST_CASE("a hub is refused that has nothing to do or impossible safe behaviours") {
  JointImageMemory<2> memory;
  std::vector<JointSafety> safety(max_joints);
  const auto error = [&](std::span<LatestMemory<OwnerCommand>> owner_slots, JointHubOptions options = {}) {
    return JointHub::make(memory.image, owner_slots, safety, options).error();
  };
  CHECK(JointHub::make(memory.image, memory.owner_slots, safety));
  CHECK(error(std::span(memory.owner_slots).first(0)) == Errc::bad_extent);
  CHECK(error(memory.owner_slots, {Duration(0), 1}) == Errc::out_of_domain);
  for (const double wrong : {not_a_number, std::numeric_limits<double>::infinity(), -1.0}) {
    safety[9].speed = wrong;
    CHECK(error(memory.owner_slots) == Errc::out_of_domain);
  }
  safety[9] = {SafeBehaviour::hold, not_a_number, 1};
  CHECK(error(memory.owner_slots) == Errc::out_of_domain);
  safety.resize(max_joints + 1);
  CHECK(error(memory.owner_slots) == Errc::bad_extent);
  safety.clear();
  CHECK(error(memory.owner_slots) == Errc::bad_extent);
}

TEST_CASE("a process is given joints, starts from where they are, and moves them") {
  Robot robot;
  robot.cycle();
  JointClient client = robot.client(2);
  client.want(set_of({1, 3}));
  CHECK(client.update() == Freshness::new_data);
  CHECK(client.set(1, position_reference(9)).error() == Errc::not_owner);
  client.publish(robot.now());
  robot.cycle();
  CHECK(robot.image().owner[1] == 2);
  CHECK(robot.image().phase[3] == JointPhase::granted);
  CHECK(robot.image().answer[2] == OwnerSlotAnswer::granted);

  CHECK(client.update() == Freshness::new_data);
  CHECK(client.owned() == set_of({1, 3}));
  CHECK(client.granted() == set_of({1, 3}));
  CHECK(client.answer() == OwnerSlotAnswer::granted);
  CHECK(client.reference(3).motion.position == robot.measured()[3].position);
  CHECK(client.set(3, position_reference(0.35, 1.5)));
  CHECK(client.set(0, position_reference(9)).error() == Errc::not_owner);
  client.publish(time_from_nanoseconds(77));
  robot.cycle();
  CHECK(robot.reference(3) == position_reference(0.35, 1.5));
  CHECK(robot.reference(1).mode == JointMode::off);  // unchanged until the owner commands otherwise
  CHECK(robot.reference(0).mode == JointMode::off);
  CHECK(robot.image().phase[3] == JointPhase::driven);
  CHECK(robot.image().reference(3) == position_reference(0.35, 1.5));
  CHECK(robot.image().position[3] == 0.35);
  CHECK(robot.image().sent[2] == 77);
  CHECK(robot.image().stamp == to_nanoseconds(robot.now()));
  CHECK(client.update() == Freshness::new_data);
  CHECK(client.granted().empty());
  CHECK(client.reference(3) == position_reference(0.35, 1.5));
}

TEST_CASE("every number of a reference arrives, in every mode") {
  Robot robot;
  robot.cycle();
  JointClient client = robot.owner(0, set_of({0, 5}));
  for (const JointMode mode : {JointMode::position, JointMode::velocity, JointMode::effort, JointMode::off}) {
    const JointReference said{{1, 2, 3}, 4, mode};
    CHECK(client.set(5, said));
    client.publish(robot.now());
    robot.measured()[5].position = 0.75;
    robot.publish();
    robot.take();
    JointReference expected = said;
    if (mode != JointMode::position) expected.motion.position = robot.measured()[5].position;
    CHECK(robot.reference(5) == expected);
    CHECK(robot.reference(0).mode == JointMode::position);
  }
}

TEST_CASE("an image is read as its hub has it, to the byte, also over what a hub of more joints has left") {
  JointImageMemory<owner_slot_count> memory;
  BroadcastValue<JointImage>::Reader reader(memory.image);
  for (const std::size_t count : {max_joints, std::size_t{1}, std::size_t{7}}) {
    const std::vector<JointSafety> safety(count, {SafeBehaviour::hold, 0.5, 0});
    JointHub hub = JointHub::make(memory.image, memory.owner_slots, safety).value();
    for (int i = 0; i < 6; ++i) {
      (void)hub.take();
      hub.publish(Time{}, std::vector<JointMeasurement>(count, {0.25 + i, -1.0 * i, 1.0 + i}));
      JointImage image;
      REQUIRE(reader.read_new(image) == Freshness::new_data);
      CHECK(std::memcmp(&image, &hub.image(), sizeof image) == 0);
    }
  }
}

TEST_CASE("a measurement that is no number, or is missing, leaves the one before") {
  Robot robot;
  robot.cycle();
  robot.measured()[1].position = not_a_number;
  robot.cycle();
  CHECK(robot.image().position[1] == 0.1);
  CHECK(robot.image().reference(1).motion.position == 0.1);
  robot.take();
  JointHub hub =
      JointHub::make(robot.memory().image, robot.memory().owner_slots, std::array<JointSafety, joints>{})
          .value();
  hub.publish(robot.now(), {});
  CHECK(hub.image().position[2] == 0.2);
  hub.publish(robot.now(), std::vector<JointMeasurement>(max_joints + 1, {7, 7, 7}));
  CHECK(hub.image().position[5] == 7);
  CHECK(hub.image().position[6] == 0);
}

TEST_CASE("a layout holds an image, which anybody may read, and its owner slots") {
  const std::array wanted{declare<BroadcastValue<JointImage>>("joints"),
                          declare<JointSlots>("joint_slots", 1, 3)};
  std::vector<Line> memory(lines_for(Layout::bytes(wanted).value()) + 1);
  const std::size_t misaligned =
      reinterpret_cast<std::uintptr_t>(memory.data()) % interference_size / sizeof(Line);
  const std::span<std::byte> bytes(memory[misaligned].bytes, (memory.size() - misaligned) * sizeof(Line));
  const Layout layout = Layout::write(bytes, wanted, 5).value();
  CHECK(layout.producer<JointSlots>("joint_slots", 3).error() == Errc::no_such_slot);

  const Layout reading = Layout::read_only(bytes).value();
  CHECK(reading.producer<JointSlots>("joint_slots", 1).error() == Errc::read_only);
  JointClient client(reading.consumer<BroadcastValue<JointImage>>("joints").value(),
                     layout.producer<JointSlots>("joint_slots", 2).value(), 1);
  JointHub hub =
      JointHub::make(*layout.producer<BroadcastValue<JointImage>>("joints").value(),
                     layout.consumer<JointSlots>("joint_slots").value(), std::array<JointSafety, joints>{})
          .value();
  client.want(set_of({4}));
  for (int i = 0; i < 3; ++i) {
    (void)hub.take();
    hub.publish(Time{}, {});
    CHECK(client.update() == Freshness::new_data);
    client.publish(Time{});
  }
  CHECK(client.owned() == set_of({4}));
  CHECK(hub.image().owner[4] == 2);
  CHECK(hub.image().slots == 3);
}

TEST_CASE("hub and processes keep the rules of the loop") {
  std::array<JointSafety, joints> safety;
  safety.fill({SafeBehaviour::hold, 0.5, 1});
  Robot robot(safety, 3);
  robot.cycle();
  std::array<JointClient, 2> clients{robot.client(0), robot.client(1)};
  test::RtGuard guard;
  bool ok = true;
  for (int i = 0; i < 1000; ++i) {
    clients[0].want(i % 100 < 50 ? set_of({0, 1}) : set_of({3}));
    clients[1].want(set_of({1, 2}));
    for (JointClient& client : clients) {
      if (i % 50 > 40) continue;
      (void)client.update();
      client.owned().for_each([&](std::size_t joint) {
        const double number = i % 70 == 0 ? not_a_number : 0.001 * i;
        ok = client.set(joint, position_reference(number)).has_value() == (i % 70 != 0) && ok;
      });
      client.publish(robot.now());
    }
    robot.cycle();
  }
  CHECK(guard.report() == "");
  CHECK(ok);
}
