// Hostile owner slots, random processes and threads try to break the rules of ownership. A joint has one
// owner at most, groups are granted whole, and no reference jumps or is NaN.
#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <cmath>
#include <cstring>
#include <optional>
#include <thread>
#include <vector>

#include "shm/joint_robot.hpp"
#include "support/random.hpp"

using namespace takt;
using namespace takt::shm;
using namespace takt::test::joint_robot;

TEST_CASE("random bytes in an owner slot change no joint of others, and applied references are finite") {
  auto random = test::generator(81);
  std::array<JointSafety, joints> safety;
  safety.fill({SafeBehaviour::hold, 0.5, 1});
  Robot robot(safety, 3);
  robot.cycle();
  JointClient client = robot.owner(1, set_of({0, 1}));
  const std::size_t rounds = test::count(20'000);
  std::size_t owned_by_hostile = 0;
  for (std::size_t round = 0; round < rounds; ++round) {
    for (const std::size_t owner_slot : {0u, 2u, 3u}) {
      auto* bytes = reinterpret_cast<unsigned char*>(&robot.memory().owner_slots[owner_slot]);
      if (owner_slot == 3) {  // a plausible claim, with any numbers
        OwnerCommand command;
        command.session = static_cast<std::uint32_t>(random());
        command.heartbeat = static_cast<std::uint32_t>(random());
        command.seen = random() % 2 == 0 ? random() : robot.image().cycle;
        command.wanted = JointSet::from_bits(random() & 0x3f);
        for (std::size_t joint = 0; joint < joints; ++joint) {
          std::uint64_t number = random() % 4 == 0 ? random() : 0x7fefffffffffffff - random() % 9;
          std::memcpy(&command.position[joint], &number, 8);
          command.mode[joint] = static_cast<JointMode>(random() % 16 == 0 ? random() : random() % 4);
        }
        LatestWriter<OwnerCommand>(robot.memory().owner_slots[owner_slot]).write(command);
        continue;
      }
      for (int i = 0; i < 8; ++i) {
        const std::uint64_t word = random();
        const std::size_t place = random() % (sizeof(robot.memory().owner_slots[0]) / 8) * 8;
        std::memcpy(bytes + place, &word, 8);
      }
      const auto word = static_cast<std::uint32_t>(random() % 3 == 0 ? random() : random() % 64);
      std::memcpy(bytes, &word, 4);
    }
    REQUIRE(client.update() == Freshness::new_data);
    const JointReference said = position_reference(1e-4 * static_cast<double>(round));
    REQUIRE(client.owned() == set_of({0, 1}));
    REQUIRE(client.set(1, said));
    client.publish(robot.now());
    robot.take();
    bool good = robot.reference(1) == said && is_coherent(robot.image());
    for (std::size_t joint = 0; joint < joints; ++joint) good = good && check(robot.reference(joint));
    REQUIRE(good);
    if (!robot.owned(3).empty()) ++owned_by_hostile;
    robot.publish();
  }
  CHECK(owned_by_hostile > 0);
}

TEST_CASE(
    "in any order of processes that start, want, pause, lie and die: one owner at most, whole groups or "
    "nothing") {
  auto random = test::generator(82);
  const auto one_in = [&](std::uint64_t n) { return random() % n == 0; };
  for (std::size_t run = 0; run < test::count(200); ++run) {
    CAPTURE(run);
    const auto allowed = static_cast<std::uint32_t>(random() % 6);
    std::array<JointSafety, joints> safety;
    safety.fill({SafeBehaviour::hold, 0.5, 1});
    Robot robot(safety, allowed);
    robot.cycle();
    struct Process {
      std::optional<JointClient> client;
      std::uint32_t session = 0;
      JointSet wanted;
      bool spoke = false;        // it sent a command to this hub since the last cycle
      std::uint64_t silent = 0;  // cycles
    };
    std::array<Process, owner_slot_count> processes;
    std::uint32_t sessions = 0;
    for (int cycle = 0; cycle < 300; ++cycle) {
      CAPTURE(cycle);
      std::array<std::uint32_t, owner_slot_count> heard_before{};
      std::array<JointSet, owner_slot_count> owned_before{};
      for (std::size_t owner_slot = 0; owner_slot < owner_slot_count; ++owner_slot) {
        owned_before[owner_slot] = robot.owned(owner_slot);
        heard_before[owner_slot] = robot.image().session[owner_slot];
      }
      for (std::size_t owner_slot = 0; owner_slot < owner_slot_count; ++owner_slot) {
        Process& process = processes[owner_slot];
        process.spoke = false;
        if (!process.client || one_in(60)) {
          process.session = ++sessions;
          process.client = robot.client(static_cast<std::uint8_t>(owner_slot), process.session);
          process.wanted = {};
        }
        if (one_in(3)) continue;
        if (one_in(8)) process.wanted = JointSet::from_bits(random() & random() & 0x3f);
        process.client->want(process.wanted);
        (void)process.client->update();
        process.client->owned().for_each([&](std::size_t joint) {
          JointReference next = process.client->reference(joint);
          next.mode = JointMode::position;
          next.motion.position += test::uniform(random, -1e-3, 1e-3);
          REQUIRE(process.client->set(joint, next));
        });
        process.client->publish(robot.now());
        process.spoke = true;
      }
      std::array<JointReference, joints> before{};
      for (std::size_t joint = 0; joint < joints; ++joint) before[joint] = robot.image().reference(joint);
      robot.take();
      const JointImage& image = robot.image();
      REQUIRE(is_coherent(image));
      JointSet held_through;
      for (std::size_t owner_slot = 0; owner_slot < owner_slot_count; ++owner_slot) {
        Process& process = processes[owner_slot];
        process.silent = process.spoke ? 0 : process.silent + 1;
        const JointSet now = owned_by(image, owner_slot);
        const bool same = heard_before[owner_slot] == process.session;
        if (!process.spoke) {
          // Without a command, an owner slot loses joints only by a timeout and gets none.
          REQUIRE(now == (process.silent > allowed ? JointSet() : owned_before[owner_slot]));
          held_through = held_through | now;
          continue;
        }
        const JointSet kept = same ? owned_before[owner_slot] & process.wanted : JointSet();
        const bool all = now == process.wanted;
        const bool none = now == kept;
        REQUIRE((all || none));
        REQUIRE(image.answer[owner_slot] == (process.wanted.empty() ? OwnerSlotAnswer::none
                                             : all                  ? OwnerSlotAnswer::granted
                                                                    : OwnerSlotAnswer::refused));
        if (!all) {
          const std::size_t joint = image.refused_joint[owner_slot];
          REQUIRE((process.wanted - kept).contains(joint));
          REQUIRE(image.owner[joint] != no_owner);
          REQUIRE(image.owner[joint] != owner_slot);
        }
      }
      // No reference jumps, neither by an owner's steps nor by the safe behaviour.
      for (std::size_t joint = 0; joint < joints; ++joint) {
        REQUIRE(check(robot.reference(joint)));
        REQUIRE(std::abs(robot.reference(joint).motion.position - before[joint].motion.position) <=
                1e-3 * (1 + 1e-9) * static_cast<double>(owner_slot_count));
      }
      robot.publish();
      if (one_in(100)) {
        robot.start_hub();
        robot.cycle();
        for (Process& process : processes) process.silent = 0;
      }
    }
  }
}

TEST_CASE("four threads: each process sees one owner per joint, and moves only its own") {
  Robot robot({}, 1'000'000);
  robot.cycle();
  std::atomic<bool> done{false};
  std::atomic<int> wrong{0};
  std::atomic<int> turns{0};
  std::vector<std::thread> processes;
  for (std::uint8_t owner_slot = 0; owner_slot < 3; ++owner_slot) {
    processes.emplace_back([&, owner_slot] {
      JointClient client = robot.client(owner_slot);
      for (int i = 0; !done; ++i) {
        (void)client.update();
        if (!is_coherent(client.image())) ++wrong;
        client.owned().for_each([&](std::size_t joint) {
          if (client.image().phase[joint] == JointPhase::driven &&
              client.image().ref_effort[joint] != 1.0 + owner_slot)
            ++wrong;
          if (!client.set(joint, {{0, 0, 0}, 1.0 + owner_slot, JointMode::effort})) ++wrong;
        });
        if (!client.granted().empty()) ++turns;
        client.want(i % 8 < 4 ? set_of({owner_slot, std::size_t{owner_slot} + 1}) : JointSet());
        client.publish(Time{});
        std::this_thread::yield();
      }
    });
  }
  for (std::size_t i = 0; i < test::count(20'000) || turns < 100; ++i) {
    robot.take();
    robot.publish();
    if (i % 16 == 0) std::this_thread::yield();
  }
  done = true;
  for (std::thread& process : processes) process.join();
  CHECK(wrong == 0);
}
