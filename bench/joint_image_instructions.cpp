// The cost of one cycle of joints in shared memory. For the hub: four processes that move five joints each,
// and report in every cycle. For one of these processes: its whole cycle.
#include <cstdlib>
#include <vector>

#include "instructions.hpp"
#include "takt/shm/joint_client.hpp"
#include "takt/shm/joint_hub.hpp"

namespace takt::bench {
namespace {

using namespace takt::shm;

constexpr std::size_t joints = 20;
constexpr std::size_t owner_slot_count = 4;

class SharedRobot {
 public:
  SharedRobot() {
    for (std::size_t owner_slot = 0; owner_slot < owner_slot_count; ++owner_slot) {
      clients_.emplace_back(
          BroadcastValue<JointImage>::Reader(memory_.image),
          JointSlot{&memory_.owner_slots[owner_slot], static_cast<std::uint8_t>(owner_slot)}, 1);
      clients_.back().want(JointSet::first(5 * (owner_slot + 1)) - JointSet::first(5 * owner_slot));
    }
    for (int i = 0; i < 3; ++i) {
      run_hub();
      for (JointClient& client : clients_) run(client);
    }
    if (clients_.back().owned().size() != 5) std::abort();
  }

  void run_clients() {
    for (JointClient& client : clients_) run(client);
  }
  void only_speak() {
    for (JointClient& client : clients_) client.publish(Time{});
  }
  void run_hub() {
    const auto references = hub_.take();
    for (std::size_t joint = 0; joint < joints; ++joint)
      measured_[joint].position = references[joint].motion.position;
    hub_.publish(Time{}, measured_);
  }

 private:
  static void run(JointClient& client) {
    (void)client.update();
    client.owned().for_each([&](std::size_t joint) {
      JointReference next = client.reference(joint);
      next.mode = JointMode::position;
      next.motion.position += 1e-3;
      (void)client.set(joint, next);
    });
    client.publish(Time{});
  }

  JointImageMemory<owner_slot_count> memory_;
  JointHub hub_ =
      JointHub::make(memory_.image, memory_.owner_slots, std::vector<JointSafety>(joints)).value();
  std::vector<JointClient> clients_;
  std::vector<JointMeasurement> measured_{joints};
};

const Kernel hub("shm/joint_hub_cycle_20_joints_4_owner_slots", [](Counter& count) {
  SharedRobot robot;
  count([&] {
    robot.only_speak();  // not part of the hub, and only a small part of the cost
    robot.run_hub();
  });
});

const Kernel all("shm/joint_hub_and_4_clients_cycle_20_joints", [](Counter& count) {
  SharedRobot robot;
  count([&] {
    robot.run_clients();
    robot.run_hub();
  });
});

}  // namespace
}  // namespace takt::bench
