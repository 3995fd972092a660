#include "takt/shm/joint_image.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <thread>
#include <vector>

#include "support/random.hpp"
#include "support/rt_guard.hpp"
#include "takt/shm/joint_client.hpp"
#include "takt/shm/joint_hub.hpp"
#include "takt/shm/layout.hpp"

using namespace takt;
using namespace takt::shm;

namespace {

constexpr std::size_t joints = 6;
constexpr std::size_t owner_slot_count = 4;
constexpr Duration period{1'000'000};
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

JointSet set_of(std::initializer_list<std::size_t> members) {
  JointSet set;
  for (const std::size_t joint : members) set.insert(joint);
  return set;
}

JointReference position_reference(double position, double velocity = 0) {
  return {{position, velocity, 0}, 0, JointMode::position};
}

JointSet owned_by(const JointImage& image, std::size_t owner_slot) {
  JointSet set;
  for (std::size_t joint = 0; joint < image.joints; ++joint) {
    if (image.owner[joint] == owner_slot) set.insert(joint);
  }
  return set;
}

/// A robot whose drives follow at once, with its hub and the shared memory.
class Robot {
 public:
  explicit Robot(const std::array<JointSafety, joints>& safety = {}, std::uint32_t silent_cycles = 5)
      : safety_(safety), options_{period, silent_cycles} {
    for (std::size_t joint = 0; joint < joints; ++joint)
      measured_[joint].position = 0.1 * static_cast<double>(joint);
    start_hub();
  }

  void start_hub() {
    hub_.emplace(JointHub::make(memory_.image, memory_.owner_slots, safety_, options_).value());
  }
  void cycle() {
    take();
    publish();
  }
  void take() { references_ = hub_->take(); }
  void publish() {
    for (std::size_t joint = 0; joint < joints; ++joint) drive(measured_[joint], references_[joint]);
    now_ += period;
    hub_->publish(now_, measured_);
  }

  [[nodiscard]] JointClient client(std::uint8_t owner_slot, std::uint32_t session = 1) {
    return JointClient(BroadcastValue<JointImage>::Reader(memory_.image),
                       {&memory_.owner_slots[owner_slot], owner_slot}, session);
  }
  /// A client that owns the joints, has seen the grant, and holds them in position mode.
  [[nodiscard]] JointClient owner(std::uint8_t owner_slot, JointSet set, std::uint32_t session = 1) {
    JointClient client = this->client(owner_slot, session);
    client.want(set);
    for (int i = 0; i < 2; ++i) {
      REQUIRE(client.update() == Freshness::new_data);
      client.publish(now_);
      cycle();
    }
    REQUIRE(client.update() == Freshness::new_data);
    REQUIRE(client.owned() == set);
    set.for_each([&](std::size_t joint) {
      REQUIRE(client.set(joint, position_reference(client.reference(joint).motion.position)));
    });
    client.publish(now_);
    cycle();
    return client;
  }

  [[nodiscard]] const JointImage& image() const { return hub_->image(); }
  [[nodiscard]] JointSet owned(std::size_t owner_slot) const { return owned_by(image(), owner_slot); }
  [[nodiscard]] const JointReference& reference(std::size_t joint) const { return references_[joint]; }
  [[nodiscard]] Time now() const { return now_; }
  [[nodiscard]] JointImageMemory<owner_slot_count>& memory() { return memory_; }
  std::array<JointMeasurement, joints>& measured() { return measured_; }

 private:
  static void drive(JointMeasurement& joint, const JointReference& reference) {
    joint.velocity = reference.mode == JointMode::off ? 0 : reference.motion.velocity;
    if (reference.mode == JointMode::position) joint.position = reference.motion.position;
    if (reference.mode == JointMode::velocity) joint.position += joint.velocity * to_seconds(period);
  }

  std::array<JointSafety, joints> safety_;
  JointHubOptions options_;
  JointImageMemory<owner_slot_count> memory_;
  std::optional<JointHub> hub_;
  std::array<JointMeasurement, joints> measured_{};
  std::span<const JointReference> references_;
  Time now_{};
};

/// An owner slot that can send any command.
class RawOwnerSlot {
 public:
  RawOwnerSlot(Robot& robot, std::uint8_t owner_slot)
      : robot_(&robot), writer_(robot.memory().owner_slots[owner_slot]) {
    command.session = 1;
  }
  void send() {
    ++command.heartbeat;
    send_again();
  }
  void send_again() {
    command.seen = robot_->image().cycle;
    writer_.write(command);
  }
  OwnerCommand command;

 private:
  Robot* robot_;
  LatestWriter<OwnerCommand> writer_;
};

/// Whether exactly the granted and driven joints have an owner.
bool is_coherent(const JointImage& image) {
  bool coherent = true;
  for (std::size_t joint = 0; joint < image.joints; ++joint) {
    const bool is_owned =
        image.phase[joint] == JointPhase::granted || image.phase[joint] == JointPhase::driven;
    coherent = coherent && (is_owned ? image.owner[joint] < image.slots : image.owner[joint] == no_owner);
  }
  return coherent;
}

}  // namespace

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

TEST_CASE("what is wanted anew is granted as a whole or not at all, and the answer names who is in the way") {
  Robot robot;
  robot.cycle();
  JointClient first = robot.owner(0, set_of({2, 3}));
  JointClient second = robot.owner(1, set_of({5}));
  const auto both = [&] {
    for (JointClient* client : {&first, &second}) {
      (void)client->update();
      client->publish(robot.now());
    }
    robot.cycle();
  };
  second.want(set_of({1, 3, 4, 5}));
  both();
  CHECK(robot.owned(1) == set_of({5}));
  CHECK(robot.image().answer[1] == OwnerSlotAnswer::refused);
  CHECK(robot.image().refused_joint[1] == 3);
  CHECK(robot.image().owner[1] == no_owner);

  SUBCASE("until what was in the way is let go of, in that very cycle") {
    first.want(set_of({2}));
    both();
    CHECK(robot.owned(0) == set_of({2}));
    CHECK(robot.owned(1) == set_of({1, 3, 4, 5}));
    CHECK(robot.image().answer[1] == OwnerSlotAnswer::granted);
  }
  SUBCASE("a smaller wish is fulfilled at once") {
    second.want(set_of({1, 5}));
    both();
    CHECK(robot.owned(1) == set_of({1, 5}));
  }
  SUBCASE("two that want what the other has are both refused, and keep what they have") {
    first.want(set_of({2, 3, 5}));
    for (int i = 0; i < 20; ++i) both();
    CHECK(robot.owned(0) == set_of({2, 3}));
    CHECK(robot.owned(1) == set_of({5}));
    CHECK(robot.image().answer[0] == OwnerSlotAnswer::refused);
    CHECK(robot.image().answer[1] == OwnerSlotAnswer::refused);
    CHECK(robot.image().refused_joint[0] == 5);
  }
}

TEST_CASE("a command that says it has seen an image that is yet to come is not good news") {
  Robot robot;
  robot.cycle();
  RawOwnerSlot owner_slot(robot, 1);
  LatestWriter<OwnerCommand> writer(robot.memory().owner_slots[1]);
  OwnerCommand& command = owner_slot.command;
  command.wanted = set_of({0});
  command.set(0, position_reference(3));
  for (const std::uint64_t ahead : {std::uint64_t{1}, std::uint64_t{2}, ~std::uint64_t{0} / 2}) {
    CAPTURE(ahead);
    ++command.heartbeat;
    command.seen = robot.image().cycle + ahead;
    writer.write(command);
    robot.cycle();
    CHECK(robot.owned(1).empty());
    CHECK(robot.image().session[1] == 0);
  }
  ++command.heartbeat;
  command.seen = robot.image().cycle;
  writer.write(command);
  robot.cycle();
  CHECK(robot.owned(1) == set_of({0}));
  CHECK(robot.image().phase[0] == JointPhase::granted);
}

TEST_CASE("a owner slot that never owned a joint, or let go of all, loses nothing by silence") {
  Robot robot({}, 3);
  robot.cycle();
  JointClient watcher = robot.client(0);
  (void)watcher.update();
  watcher.publish(robot.now());
  JointClient former = robot.owner(1, set_of({2}));
  former.want({});
  (void)former.update();
  former.publish(robot.now());
  for (int i = 0; i < 10; ++i) robot.cycle();
  for (const std::size_t owner_slot : {0u, 1u}) {
    CAPTURE(owner_slot);
    CHECK(robot.image().session[owner_slot] == 1);
    CHECK(robot.image().lost[owner_slot] == 0);
    CHECK(robot.image().answer[owner_slot] == OwnerSlotAnswer::none);
  }
}

TEST_CASE("of two that ask for the same joints in one cycle the lower owner slot has them, whole") {
  Robot robot;
  robot.cycle();
  std::array<JointClient, 2> clients{robot.client(3), robot.client(1)};
  clients[0].want(set_of({0, 1, 2}));
  clients[1].want(set_of({2, 3, 4}));
  for (JointClient& client : clients) {
    (void)client.update();
    client.publish(robot.now());
  }
  robot.cycle();
  CHECK(robot.owned(1) == set_of({2, 3, 4}));
  CHECK(robot.owned(3).empty());
  CHECK(robot.image().refused_joint[3] == 2);
}

TEST_CASE("an owner loses its joints after exactly as many silent cycles as are allowed, and one") {
  for (const std::uint32_t allowed : {0u, 1u, 2u, 7u, 100u}) {
    CAPTURE(allowed);
    Robot robot({}, allowed);
    robot.cycle();
    JointClient client = robot.owner(1, set_of({0, 4}));
    for (int i = 0; i < 3; ++i) {  // each command arrives in the last cycle before the timeout
      for (std::uint32_t cycle = 0; cycle < allowed; ++cycle) robot.cycle();
      CHECK(robot.owned(1) == set_of({0, 4}));
      (void)client.update();
      client.publish(robot.now());
      robot.cycle();
    }
    for (std::uint32_t cycle = 0; cycle < allowed; ++cycle) {
      robot.cycle();
      CHECK(robot.owned(1) == set_of({0, 4}));
    }
    robot.cycle();
    CHECK(robot.owned(1).empty());
    CHECK(robot.image().owner[0] == no_owner);
    CHECK(robot.image().answer[1] == OwnerSlotAnswer::silent);
    CHECK(robot.image().lost[1] == 1);
    for (int i = 0; i < 10; ++i) robot.cycle();
    CHECK(robot.image().lost[1] == 1);
  }
}

TEST_CASE("a heartbeat that stands still is silence, one that runs over is not") {
  Robot robot({}, 5);
  robot.cycle();
  RawOwnerSlot owner_slot(robot, 0);
  owner_slot.command.wanted = set_of({1});
  owner_slot.command.heartbeat = 0xffffffff - 10;
  for (int i = 0; i < 20; ++i) {
    owner_slot.send();
    for (int silent = 0; silent < 4; ++silent) robot.cycle();
    CHECK(robot.image().owner[1] == 0);
  }
  CHECK(owner_slot.command.heartbeat == 9);
  owner_slot.send();
  robot.cycle();
  for (int i = 0; i < 6; ++i) {
    CHECK(robot.image().owner[1] == 0);
    owner_slot.send_again();
    robot.cycle();
  }
  CHECK(robot.image().owner[1] == no_owner);
  for (int i = 0; i < 10; ++i) {
    owner_slot.send_again();
    robot.cycle();
    CHECK(robot.image().owner[1] == no_owner);
  }
  owner_slot.send();
  robot.cycle();
  CHECK(robot.image().owner[1] == 0);
}

TEST_CASE(
    "a command with a number that is none is named, the last good one holds, and after a while it is "
    "silence") {
  const JointReference good{{0.5, 0.25, 0.125}, 1, JointMode::position};
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const std::array<JointReference, 5> bad{{{{not_a_number, 0, 0}, 0, JointMode::position},
                                           {{0, infinity, 0}, 0, JointMode::position},
                                           {{0, 0, -infinity}, 0, JointMode::velocity},
                                           {{0, 0, 0}, not_a_number, JointMode::effort},
                                           {{0, 0, 0}, 0, static_cast<JointMode>(4)}}};
  enum class End { good_again, let_go, silence };
  for (const End end : {End::good_again, End::let_go, End::silence}) {
    for (std::size_t kind = 0; kind < bad.size(); ++kind) {
      CAPTURE(kind);
      Robot robot({}, 5);
      robot.cycle();
      RawOwnerSlot owner_slot(robot, 2);
      owner_slot.command.wanted = set_of({1, 4});
      owner_slot.command.set(1, good);
      owner_slot.command.set(4, good);
      for (int i = 0; i < 3; ++i) {
        owner_slot.send();
        robot.cycle();
      }
      REQUIRE(robot.reference(4) == good);
      owner_slot.command.set(4, bad[kind]);
      owner_slot.command.position[1] = 0.75;
      for (std::uint32_t i = 1; i <= 4; ++i) {
        owner_slot.send();
        robot.cycle();
        CHECK(robot.reference(4) == good);
        CHECK(robot.reference(1) == good);  // a command is accepted or rejected as a whole
        CHECK(robot.image().error[2] == (kind == 4 ? Errc::unknown_mode : Errc::bad_reference));
        CHECK(robot.image().error_joint[2] == 4);
        CHECK(robot.image().rejected[2] == i);
        CHECK(robot.owned(2) == set_of({1, 4}));
      }
      robot.cycle();
      CHECK(robot.image().rejected[2] == 4);  // each one is counted once
      CHECK(robot.owned(2) == set_of({1, 4}));
      if (end == End::good_again) owner_slot.command.set(4, good);
      if (end == End::let_go) owner_slot.command.wanted = set_of({1});
      owner_slot.send();
      robot.cycle();
      if (end == End::silence) {
        CHECK(robot.owned(2).empty());
        CHECK(robot.reference(4) == position_reference(0.5));
      } else {
        CHECK(robot.owned(2) == owner_slot.command.wanted);
        CHECK(robot.image().error[2] == Errc{});
        CHECK(robot.reference(1).motion.position == 0.75);
      }
    }
  }
}

TEST_CASE("joints that the robot does not have cannot be wanted") {
  Robot robot;
  robot.cycle();
  RawOwnerSlot owner_slot(robot, 0);
  for (const std::size_t beyond : {joints, max_joints - 1}) {
    owner_slot.command.wanted = set_of({0, beyond});
    owner_slot.send();
    robot.cycle();
    CHECK(robot.image().error[0] == Errc::unknown_joint);
    CHECK(robot.image().error_joint[0] == beyond);
    CHECK(robot.owned(0).empty());
  }
}

TEST_CASE("a joint whose owner is gone does what is safe") {
  constexpr double speed = 2;
  std::array<JointSafety, joints> safety;
  safety[0] = {SafeBehaviour::hold};
  safety[1] = {SafeBehaviour::hold, 0.5, speed};
  safety[2] = {SafeBehaviour::release};
  const JointSet all = set_of({0, 1, 2});
  Robot robot(safety, 5);
  robot.cycle();
  JointClient client = robot.owner(0, all);
  JointReference last{{0.9, 3, 4}, 5, JointMode::position};
  SUBCASE("from mode position") {}
  SUBCASE("from mode velocity") { last.mode = JointMode::velocity; }
  SUBCASE("from mode effort") { last.mode = JointMode::effort; }
  SUBCASE("from mode off") { last.mode = JointMode::off; }
  all.for_each([&](std::size_t joint) { REQUIRE(client.set(joint, last)); });
  client.publish(robot.now());
  for (int i = 0; i < 6; ++i) robot.cycle();
  all.for_each([&](std::size_t joint) {
    CHECK(robot.reference(joint).mode == last.mode);
    CHECK(robot.image().owner[joint] == 0);
  });
  std::array<double, joints> before{};
  for (std::size_t joint = 0; joint < joints; ++joint) before[joint] = robot.measured()[joint].position;

  int cycles = 0;
  do {
    const double moved_from = robot.reference(1).motion.position;
    robot.take();
    ++cycles;
    if (last.mode == JointMode::position || cycles > 1)
      CHECK(std::abs(robot.reference(1).motion.position - moved_from) <=
            speed * to_seconds(period) * (1 + 1e-9));
    all.for_each([&](std::size_t joint) {
      CHECK(robot.image().owner[joint] == no_owner);
      CHECK(robot.reference(joint).effort == 0);
      CHECK(robot.reference(joint).motion.acceleration == 0);
    });
    CHECK(robot.reference(0).motion.velocity == 0);
    CHECK(robot.reference(2).mode == JointMode::off);
    if (last.mode == JointMode::velocity) {
      CHECK(robot.reference(0).mode == JointMode::velocity);
    } else if (last.mode == JointMode::off) {
      CHECK(robot.reference(0).mode == JointMode::off);
      CHECK(robot.reference(1).mode == JointMode::off);
    } else {
      CHECK(robot.reference(0) == position_reference(before[0]));
    }
    robot.publish();
  } while (robot.image().phase[1] == JointPhase::returning && cycles < 10'000);
  if (last.mode == JointMode::off) {
    CHECK(cycles == 1);
  } else {
    CHECK(robot.reference(1) == position_reference(0.5));
    CHECK(cycles == std::ceil(std::abs(before[1] - 0.5) / (speed * to_seconds(period)) - 1e-9));
  }
}

TEST_CASE("a joint that is let go of is safe too, and one that is taken over at once is held in between") {
  std::array<JointSafety, joints> safety;
  safety.fill({SafeBehaviour::hold, -1, 1});
  Robot robot(safety, 5);
  robot.cycle();
  JointClient first = robot.owner(0, set_of({0, 1}));
  JointClient second = robot.client(3);
  second.want(set_of({1}));
  first.want({});
  (void)second.update();
  (void)first.update();
  const JointReference before = robot.reference(1);
  second.publish(robot.now());
  first.publish(robot.now());
  robot.cycle();
  CHECK(robot.image().phase[0] == JointPhase::returning);
  CHECK(robot.reference(0).motion.position < 0);
  CHECK(robot.image().owner[1] == 3);
  CHECK(robot.reference(1) == before);
}

TEST_CASE(
    "a joint on its way to its safe position can be claimed, and its new owner starts from where it is "
    "then") {
  std::array<JointSafety, joints> safety;
  safety.fill({SafeBehaviour::hold, 5, 1});
  Robot robot(safety, 2);
  robot.cycle();
  { (void)robot.owner(0, set_of({3})); }
  for (int i = 0; i < 100; ++i) robot.cycle();
  REQUIRE(robot.image().phase[3] == JointPhase::returning);
  JointClient next = robot.client(1);
  next.want(set_of({3}));
  REQUIRE(next.update() == Freshness::new_data);
  next.publish(robot.now());
  robot.cycle();
  const JointReference held = robot.reference(3);
  CHECK(held == position_reference(held.motion.position));
  for (int i = 0; i < 2; ++i) {  // for any number of cycles
    robot.cycle();
    CHECK(robot.reference(3) == held);
  }
  REQUIRE(next.update() == Freshness::new_data);
  CHECK(next.granted() == set_of({3}));
  CHECK(next.reference(3) == held);
}

TEST_CASE("a reference from before the grant is not followed") {
  Robot robot({}, 3);
  robot.cycle();
  JointClient client = robot.owner(0, set_of({2}));
  for (int i = 0; i < 10; ++i) robot.cycle();  // it is paused and misses these images
  CHECK(robot.image().owner[2] == no_owner);
  const JointReference held = robot.reference(2);
  CHECK(client.set(2, position_reference(100)));
  for (int i = 0; i < 5; ++i) {
    client.publish(robot.now());
    robot.cycle();
    CHECK(robot.image().owner[2] == 0);
    CHECK(robot.reference(2) == held);
  }
  CHECK(client.update() == Freshness::new_data);
  CHECK(client.granted() == set_of({2}));
  CHECK(client.reference(2) == held);
}

TEST_CASE("asking for more does not disturb what is owned") {
  Robot robot;
  robot.cycle();
  JointClient client = robot.owner(0, set_of({0}));
  client.want(set_of({0, 1}));
  for (int i = 1; i < 10; ++i) {
    CHECK(client.set(0, position_reference(0.01 * i)));
    client.publish(robot.now());
    robot.cycle();
    CHECK(robot.reference(0).motion.position == 0.01 * i);
    if (i % 3 == 0) (void)client.update();
  }
  CHECK(client.owned() == set_of({0, 1}));
}

TEST_CASE("a process that starts anew in its owner slot has lost the joints of the one before it") {
  std::array<JointSafety, joints> safety;
  safety.fill({SafeBehaviour::hold, 5, 1});
  Robot robot(safety);
  robot.cycle();
  { (void)robot.owner(0, set_of({2, 3}), 10); }
  const JointReference before = robot.reference(2);
  JointClient client = robot.client(0, 11);
  CHECK(client.update() == Freshness::new_data);
  CHECK(client.owned().empty());
  client.want(set_of({2}));
  client.publish(robot.now());
  robot.cycle();
  CHECK(robot.image().session[0] == 11);
  CHECK(robot.owned(0) == set_of({2}));
  CHECK(robot.reference(2) == before);
  CHECK(robot.image().phase[2] == JointPhase::granted);
  CHECK(robot.image().phase[3] == JointPhase::returning);
  CHECK(client.update() == Freshness::new_data);
  CHECK(client.granted() == set_of({2}));
}

TEST_CASE(
    "a hub that starts anew goes on with what was applied, and grants what is asked of it, not of the one "
    "before") {
  std::array<JointSafety, joints> safety;
  safety[2] = {SafeBehaviour::hold, 5, 1};
  Robot robot(safety);
  robot.cycle();
  JointClient alive = robot.owner(0, set_of({0}));
  JointClient dead = robot.owner(1, set_of({1, 2}));
  CHECK(alive.update() == Freshness::new_data);
  CHECK(alive.set(0, position_reference(0.5, 1)));
  alive.publish(robot.now());
  robot.cycle();
  const std::uint64_t cycle = robot.image().cycle;
  dead.publish(robot.now());
  alive.publish(robot.now());
  const double before = robot.reference(2).motion.position;

  robot.start_hub();
  robot.cycle();
  CHECK(robot.image().cycle == cycle + 1);
  CHECK(robot.image().started == cycle + 1);
  CHECK(robot.image().owner[0] == no_owner);
  CHECK(robot.reference(0) == position_reference(0.5));
  CHECK(robot.reference(1).mode == JointMode::position);
  CHECK(robot.reference(2).motion.position == doctest::Approx(before + 0.001).epsilon(1e-12));
  alive.publish(robot.now());  // it has not seen the loss yet
  robot.cycle();
  CHECK(robot.image().owner[0] == no_owner);
  CHECK(robot.image().session[0] == 0);

  CHECK(alive.update() == Freshness::new_data);
  CHECK(alive.image().started == cycle + 1);
  CHECK(alive.owned().empty());
  CHECK(alive.set(0, position_reference(7)).error() == Errc::not_owner);
  alive.publish(robot.now());
  robot.cycle();
  CHECK(robot.image().owner[0] == 0);
  CHECK(alive.update() == Freshness::new_data);
  CHECK(alive.granted() == set_of({0}));
  CHECK(alive.reference(0) == position_reference(0.5));
  for (int i = 0; i < 100; ++i) robot.cycle();
  CHECK(robot.image().owner[1] == no_owner);  // an owner slot without a command gets no joint
}

TEST_CASE("a hub that starts anew believes no number that is none, and no image of another robot") {
  Robot robot;
  robot.cycle();
  { (void)robot.owner(0, set_of({0, 1})); }
  JointImage image = robot.image();
  SUBCASE("numbers") {
    image.ref_position[0] = not_a_number;
    image.position[1] = not_a_number;
    robot.memory().image.write(image);
    robot.start_hub();
    robot.cycle();
    CHECK(robot.reference(0).mode == JointMode::off);
    CHECK(robot.reference(1).mode == JointMode::position);
    CHECK(std::isfinite(robot.image().position[1]));
  }
  SUBCASE("joints") {
    image.joints = 5;
    robot.memory().image.write(image);
    robot.start_hub();
    robot.cycle();
    CHECK(robot.reference(0).mode == JointMode::off);
    CHECK(robot.image().cycle == image.cycle + 1);
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

TEST_CASE(
    "whatever bytes a owner slot holds, joints of others are not touched, and what is applied is a number") {
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
