// Kills the hub of a robot's joints and its motion processes (kill -9) at random moments. The survivors
// continue. A dead owner's joints start their safe behaviour within the configured cycles and can be granted
// again. The next hub continues from the memory as it is. --count=N sets the number of kills.
//
// The checks: all numbers follow from a few. A measurement follows from the hub's cycle. A reference follows
// from its owner slot and the session and heartbeat of its command. So a reader of an image detects a mix of
// two publications, or a reference from two commands. The hub's process compares each image with the previous
// one, also across the death of a hub. A joint moves only by its owner's commands or towards its safe
// position, and otherwise stands still.
#include <doctest/doctest.h>
#include <sched.h>

#include <array>
#include <cmath>
#include <cstring>
#include <new>
#include <string>
#include <vector>

#include "shm/process/exchanges.hpp"
#include "shm/process/killing.hpp"
#include "shm/process/process.hpp"
#include "support/random.hpp"
#include "takt/shm/joint_client.hpp"
#include "takt/shm/joint_hub.hpp"

using namespace takt;
using namespace takt::test;

namespace {

constexpr std::size_t owner_slots = 2;
constexpr std::size_t joints = 7;
constexpr shm::JointHubOptions options{.period = Duration(1'000'000), .silent_cycles = 2000};
using Memory = shm::JointImageMemory<owner_slots>;
using Image = shm::BroadcastValue<shm::JointImage>;

/// Each owner slot has one joint of each kind. Both sometimes want the last joint.
constexpr shm::JointSafety stays{SafeBehaviour::hold, 0, 0};
constexpr shm::JointSafety returns{SafeBehaviour::hold, 0.25, 2};
constexpr shm::JointSafety falls{SafeBehaviour::release, 0, 0};
constexpr std::array<shm::JointSafety, joints> safety = {stays,   returns, falls,  stays,
                                                         returns, falls,   returns};
constexpr std::array own_joints = {JointSet::from_bits(0b0000111), JointSet::from_bits(0b0111000)};
constexpr JointSet shared_joint = JointSet::from_bits(0b1000000);

/// Planted mistakes that the test must find.
enum class Mistake : std::uint8_t {
  none,
  patient_hub,    // waits too long for a silent owner
  forgetful_hub,  // clears the memory at its start
  hasty_client,   // overwrites the command that is being read
};

/// A number from -1 to 1.
double number(std::uint64_t from) {
  return static_cast<double>(static_cast<std::int64_t>(mix(from))) * 0x1p-63;
}

shm::JointReference reference_of(std::size_t owner_slot, std::uint32_t session, std::uint32_t heartbeat,
                                 std::size_t joint) {
  const std::uint64_t from = mix(std::uint64_t{session} << 32 | heartbeat) + mix(owner_slot * joints + joint);
  return {{number(from), number(from + 1), number(from + 2)}, number(from + 3), shm::JointMode::position};
}

shm::JointMeasurement measurement_of(std::uint64_t cycle, std::size_t joint) {
  const std::uint64_t from = mix(cycle) + joint;
  return {number(from), number(from + 1), number(from + 2)};
}

/// The rule that an image breaks, or null.
const char* flaw_of(const shm::JointImage& image) {
  for (std::size_t joint = 0; joint < joints; ++joint) {
    const auto measured = measurement_of(image.cycle, joint);
    if (image.position[joint] != measured.position || image.velocity[joint] != measured.velocity ||
        image.effort[joint] != measured.effort)
      return "the image is torn";
    if (image.phase[joint] != shm::JointPhase::driven) continue;
    const std::size_t owner_slot = image.owner[joint];
    if (owner_slot >= owner_slots) return "a joint is driven by nobody";
    if (image.reference(joint) !=
        reference_of(owner_slot, image.session[owner_slot], image.heartbeat[owner_slot], joint))
      return "a reference is not of its owner's last command";
  }
  return nullptr;
}

/// The rule that a joint without an owner breaks, or null.
const char* flaw_at_rest(const shm::JointImage& before, const shm::JointImage& now, std::size_t joint) {
  const shm::JointReference was = before.reference(joint);
  const shm::JointReference is = now.reference(joint);
  const bool returns_now = now.phase[joint] == shm::JointPhase::returning;
  const bool is_granted = now.phase[joint] == shm::JointPhase::granted;
  if (is.motion.acceleration != 0 || is.effort != 0) return "a joint that nobody moves is pushed";
  if (!returns_now && is.motion.velocity != 0) return "a joint that stands has a velocity";
  if (safety[joint].behaviour == SafeBehaviour::release && !is_granted && is.mode != shm::JointMode::off)
    return "a joint is not released";
  if (is.mode == shm::JointMode::off) {
    return is.motion.position == now.position[joint] ? nullptr
                                                     : "a joint that is off is not where it was measured";
  }
  if (safety[joint].speed == 0 || is_granted)
    return is.motion.position == was.motion.position ? nullptr : "a joint moves that nobody moves";
  const double step = safety[joint].speed * to_seconds(options.period);
  const double far = std::abs(safety[joint].position - was.motion.position);
  const double left = std::abs(safety[joint].position - is.motion.position);
  return std::abs(left - std::max(far - step, 0.0)) < 1e-12 ? nullptr
                                                            : "a joint does not return as it should";
}

/// The rule that an image breaks, given the previous one, or null.
const char* flaw_of(const shm::JointImage& before, const shm::JointImage& now) {
  if (now.cycle != before.cycle + 1) return "the hub's cycles do not go on";
  for (std::size_t joint = 0; joint < joints; ++joint) {
    if (now.phase[joint] != shm::JointPhase::driven) {
      if (const char* const flaw = flaw_at_rest(before, now, joint)) return flaw;
    } else if (now.granted[joint] != before.granted[joint]) {
      return "a joint is driven before its owner knows that it is";
    }
  }
  return nullptr;
}

[[noreturn]] void run_hub(Memory& memory, Diary& diary, Ledger& ledger, Mistake mistake) {
  shm::JointImage before;
  if (Image::Reader(memory.image).read(before) == shm::Freshness::none && diary.sequence != 0)
    ledger.complain("a dead hub has left no image", diary.sequence);
  if (mistake == Mistake::forgetful_hub) new (&memory) Memory;
  auto with = options;
  if (mistake == Mistake::patient_hub) with.silent_cycles *= 2;
  auto hub = shm::JointHub::make(memory.image, memory.owner_slots, safety, with).value();
  std::array<shm::JointMeasurement, joints> measured;
  for (;; ++diary.calls) {
    (void)hub.take();
    const std::uint64_t cycle = hub.image().cycle;
    for (std::size_t joint = 0; joint < joints; ++joint) measured[joint] = measurement_of(cycle, joint);
    hub.publish(time_from_nanoseconds(0), measured);
    if (const char* const flaw = flaw_of(before, hub.image())) ledger.complain(flaw, cycle);
    before = hub.image();
    diary.sequence = cycle;
    // A cycle takes no time here. On a busy machine thousands of them would fit into one time slice, and
    // every owner would time out.
    if (cycle % 256 == 0) ::sched_yield();
  }
}

/// `sequence` counts the cycles in which it owned its joints and they followed.
[[noreturn]] void move_joints(Memory& memory, std::uint8_t owner_slot, Diary& diary, Ledger& ledger,
                              Mistake mistake) {
  const auto session = static_cast<std::uint32_t>(++diary.takeovers);
  shm::LatestMemory<shm::OwnerCommand> elsewhere;
  auto* const place = mistake == Mistake::hasty_client ? &elsewhere : &memory.owner_slots[owner_slot];
  shm::JointClient client(Image::Reader(memory.image), {place, owner_slot}, session);
  const JointSet own = own_joints[owner_slot];
  for (std::uint32_t heartbeat = 1;; ++heartbeat, ++diary.calls) {
    if (client.update() == shm::Freshness::new_data) {
      if (const char* const flaw = flaw_of(client.image())) ledger.complain(flaw, client.image().cycle);
    }
    bool moves = (own - client.owned()).empty();
    client.want(moves && heartbeat / 64 % 2 == 0 ? own | shared_joint : own);
    client.owned().for_each([&](std::size_t joint) {
      if (!client.set(joint, reference_of(owner_slot, session, heartbeat, joint)))
        ledger.complain("an owner may not say what its joint does", joint);
      moves = moves && client.image().phase[joint] == shm::JointPhase::driven;
    });
    client.publish(time_from_nanoseconds(0));
    if (place == &elsewhere)
      std::memcpy(static_cast<void*>(&memory.owner_slots[owner_slot]), &elsewhere, sizeof elsewhere);
    if (moves) ++diary.sequence;
  }
}

[[noreturn]] void watch(const Memory& memory, Diary& diary, Ledger& ledger) {
  Image::Reader reader(memory.image);
  shm::JointImage image;
  std::uint64_t last = 0;
  for (;; ++diary.calls) {
    if (reader.read(image) != shm::Freshness::new_data) {
      continue;
    }
    if (const char* const flaw = flaw_of(image)) ledger.complain(flaw, image.cycle);
    if (image.cycle < last) ledger.complain("an image is older than what was read before", image.cycle);
    last = image.cycle;
    ++diary.sequence;
  }
}

/// Checks the joints of a dead owner while the hub lives.
void check_joints_are_free(const Memory& memory, std::size_t owner_slot, Ledger& ledger) {
  Image::Reader reader(memory.image);
  shm::JointImage image;
  REQUIRE(eventually([&] { return reader.read(image) == shm::Freshness::new_data; }));
  // The next take() may still find a command. Then follow `silent_cycles` without one, and the take() in
  // which the owner loses its joints.
  const std::uint64_t deadline = image.cycle + 1 + options.silent_cycles + 1;
  REQUIRE(eventually([&] {
    (void)reader.read(image);
    return image.cycle >= deadline;
  }));
  for (std::size_t joint = 0; joint < joints; ++joint) {
    if (image.owner[joint] == owner_slot) ledger.complain("a dead owner has kept a joint", image.cycle);
  }
}

std::string run_joints(std::uint64_t kills, Mistake mistake = Mistake::none) {
  const Shared<Memory> memory;
  const Shared<Ledger> ledger;
  std::vector<Role> roles;
  for (std::uint8_t owner_slot = 0; owner_slot < owner_slots; ++owner_slot) {
    Diary& diary = ledger->writers[owner_slot];
    const Mistake its = owner_slot == 0 ? mistake : Mistake::none;
    roles.push_back({"motion process",
                     [&, owner_slot, its] { move_joints(*memory, owner_slot, diary, *ledger, its); },
                     &diary});
  }
  roles.push_back(
      {"hub", [&] { run_hub(*memory, ledger->readers[0], *ledger, mistake); }, &ledger->readers[0]});
  roles.push_back({"watcher",
                   [&] {
                     memory.forbid_writing();
                     watch(*memory, ledger->readers[1], *ledger);
                   },
                   &ledger->readers[1]});
  kill_at_random(roles, *ledger, kills, [&](std::size_t victim) {
    if (victim < owner_slots) check_joints_are_free(*memory, victim, *ledger);
    return true;
  });
  return verdict(*ledger);
}

}  // namespace

TEST_CASE("hubs and motion processes that break the rules of a robot's joints are detected") {
  CHECK(run_joints(1'000, Mistake::patient_hub) != "");
  CHECK(run_joints(1'000, Mistake::forgetful_hub) != "");
  CHECK(run_joints(1'000, Mistake::hasty_client) != "");
}

TEST_CASE("kill -9: joints of a robot") { CHECK(run_joints(count(40, 10)) == ""); }
