// Random switches, failures, stops, loans, fallbacks and lost devices against the model of the rules. A judge
// sees what the drives get in each cycle.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <source_location>
#include <string>
#include <thread>
#include <vector>

#include "robot/managed.hpp"
#include "robot/manager_model.hpp"
#include "support/random.hpp"

using namespace takt;
using namespace takt::robot;
using test::Group;
using test::group;
using test::has;
using test::Managed;
using test::ManagerModel;
using test::Mistake;
using test::model_joints;
using test::ModelController;

namespace {

constexpr std::size_t controllers = 10;
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double zombie_effort = 77;

[[nodiscard]] std::string name_of(std::size_t i) { return "c" + std::to_string(i); }
[[nodiscard]] std::string joint_name(std::size_t j) { return std::string(1, static_cast<char>('a' + j)); }

/// Drives whose change of modes takes some cycles, with a state that controllers read.
struct Board final : Device {
  static constexpr component::ComponentMetadata about{.type = "Board",
                                                      .version = "1.0.0",
                                                      .vendor = "test",
                                                      .category = "device",
                                                      .description = "Changes modes, and fails."};
  Board() : Device(about, "board") {}
  SetupResult<void> on_declare(Declarations& declarations) override {
    return declarations.state("board/level", "", level);
  }
  Status on_execute(const component::CycleTime&) noexcept override { return answer; }
  double level = 0;
  Status answer;
};

struct ModeBoard final : Device {
  static constexpr component::ComponentMetadata about{.type = "ModeBoard",
                                                      .version = "1.0.0",
                                                      .vendor = "test",
                                                      .category = "device",
                                                      .description = "Changes modes."};
  ModeBoard() : Device(about, "modes") {}
  SetupResult<void> on_declare(Declarations&) override { return {}; }
  [[nodiscard]] bool drives(std::size_t) const noexcept override { return true; }
  ModeProgress perform(std::span<const ModeChange> changes) noexcept override {
    ModeProgress all = ModeProgress::done;
    for (const ModeChange& change : changes) {
      Row& row = rows[change.joint];
      if (row.mode != change.mode) row = {change.mode, delay};
      if (row.left > 0) all = ModeProgress::ongoing;
    }
    return all;
  }
  Status on_execute(const component::CycleTime&) noexcept override {
    for (Row& row : rows) row.left = std::max(row.left - 1, 0);  // also if nobody asks any more
    return {};
  }
  struct Row {
    CommandMode mode = CommandMode::position;
    int left = 0;
  };
  std::array<Row, model_joints> rows;
  int delay = 0;
};

/// A controller that commands what the model says that it does.
struct Actor final : Controller {
  static constexpr component::ComponentMetadata about{.type = "Actor",
                                                      .version = "1.0.0",
                                                      .vendor = "test",
                                                      .category = "controller",
                                                      .description = "Commands in all modes."};
  Actor(std::size_t number, const ModelController& of, bool by_interface)
      : Controller(about, name_of(number)), own(of), per_interface(by_interface), self(number) {}

  SetupResult<void> on_configure(Resources& resources) override {
    const std::array<std::string, 3> words = {"/position", "/velocity", "/effort"};
    for (std::size_t j = 0; j < model_joints; ++j) {
      for (unsigned bit = 0; bit < 3; ++bit) {
        if ((own.parts[j] >> bit & 1U) == 0) continue;
        if (per_interface && !own.lends) {
          handles[bit].push_back(resources.claim(joint_name(j) + words[bit]).value());
          if (bit == 0) places.push_back(resources.state(joint_name(j) + "/position").value());
          continue;
        }
        const auto mode = static_cast<CommandMode>(bit);
        const ClaimKind kind = own.lends ? ClaimKind::lending : ClaimKind::exclusive;
        joints[bit].push_back(resources.claim_joint(joint_name(j), mode, kind).value());
      }
    }
    for (std::size_t f = 0; f < controllers; ++f) {
      if (has(own.followers, f)) inputs.push_back(resources.claim(name_of(f) + "/in").value());
    }
    if (own.uses_device) seen = resources.state("board/level").value();
    input = resources.input("in", "").value();
    return {};
  }
  Status on_activate(const component::CycleTime&) noexcept override {
    return refuses ? fail(Errc::device_refuses) : Status{};
  }
  Status on_execute(const component::CycleTime&) noexcept override {
    ++executions;
    saw_nan = saw_nan || !std::isfinite(input.get());
    if (!own.quiet)
      command(bad ? not_a_number : 1e-5, bad ? not_a_number : 0.05,
              bad ? not_a_number : ManagerModel::effort_of(self));
    return result;
  }
  /// It must not command any more.
  void on_error(const component::CycleTime&) noexcept override { command(0.5, 1, zombie_effort); }
  [[nodiscard]] bool works_in_stop() const noexcept override { return own.rides; }

  void command(double step, double velocity, double effort) noexcept {
    for (Joint* joint : joints[0]) joint->follow({joint->reference().position + step, 0, 0});
    for (Joint* joint : joints[1]) joint->set_velocity(velocity);
    for (Joint* joint : joints[2]) joint->set_effort(effort);
    if (own.pushes) {
      for (const auto& list : joints) {
        for (Joint* joint : list) joint->set_effort(effort);
      }
    }
    for (std::size_t k = 0; k < places.size(); ++k) handles[0][k].set(places[k].get() + step);
    for (CommandHandle& handle : handles[1]) handle.set(velocity);
    for (CommandHandle& handle : handles[2]) handle.set(effort);
    for (CommandHandle& handle : inputs) handle.set(velocity);
  }

  const ModelController own;
  const bool per_interface;
  const std::size_t self;
  std::array<std::vector<Joint*>, 3> joints;
  std::array<std::vector<CommandHandle>, 3> handles;
  std::vector<StateHandle> places;
  std::vector<CommandHandle> inputs;
  StateHandle seen;
  InputHandle input;
  Status result;
  bool bad = false, refuses = false, saw_nan = false;
  int executions = 0;
};

/// Runs calls in a thread of its own.
class Caller {
 public:
  ~Caller() {
    over_ = true;
    thread_.join();
  }
  void begin(std::function<void()> call) {
    call_ = std::move(call);
    busy_.store(true, std::memory_order_release);
  }
  [[nodiscard]] bool busy() const { return busy_.load(std::memory_order_acquire); }

 private:
  void run() {
    while (!over_) {
      if (!busy()) {
        std::this_thread::yield();
        continue;
      }
      call_();
      busy_.store(false, std::memory_order_release);
    }
  }
  std::function<void()> call_;
  std::atomic<bool> busy_{false}, over_{false};
  std::thread thread_{[this] { run(); }};
};

[[nodiscard]] RobotDescription wide_robot() {
  std::vector<std::string> names;
  for (std::size_t j = 0; j < model_joints; ++j) names.push_back(joint_name(j));
  RobotDescription robot = test::robot_of(names);
  for (JointDescription& joint : robot.joints) {
    joint.limits.position_min = -1e6;
    joint.limits.position_max = 1e6;
  }
  return robot;
}

class World {
 public:
  explicit World(std::uint64_t salt, Mistake mistake = Mistake::none, Caller* caller = nullptr)
      : random_(test::generator(salt)),
        caller_(caller),
        managed_(wide_robot(),
                 {.claims = salt % 2 == 0 ? ClaimPolicy::per_joint : ClaimPolicy::per_interface}) {
    model_.mistake = mistake;
    model_.per_interface = salt % 2 != 0;
    REQUIRE(managed_.manager.add(board_).has_value());
    REQUIRE(managed_.manager.add(modes_).has_value());
    for (std::size_t i = 0; i < controllers; ++i) add(i);
    model_.find_order();
    Caller* const caller_later = std::exchange(caller_, nullptr);
    for (int i = 0; i < 3; ++i) switch_some(SwitchPolicy::best_effort);  // before the robot is ready
    caller_ = caller_later;
    get_ready();
    settle();
  }

  /// One operation. Returns the line at which manager and model differ for the first time; 0: they agree.
  [[nodiscard]] std::uint32_t step() {
    board_delay(0);
    model_.touched = {};
    model_.refuses = one_in(4) ? group(any()) : 0;
    for (std::size_t i = 0; i < controllers; ++i) actors_[i]->refuses = has(model_.refuses, i);
    const auto choice = pick(0, 19);
    if (choice < 9) {
      switch_some(choice < 6 ? SwitchPolicy::strict : SwitchPolicy::best_effort);
    } else if (choice < 12) {
      fail_some(false);
    } else if (choice < 14) {
      fail_some(true);
    } else if (choice == 14) {
      finish_one();
    } else if (choice == 15) {
      reset_one();
    } else if (choice == 16) {
      model_.device_lost ? return_device() : lose_device();
    } else if (!model_.suspended && choice < 18) {
      stop();
    } else if (model_.suspended) {
      one_in(5) ? stop() : resume();
    }
    settle();
    compare();
    return differs_at_;
  }

 private:
  using Indices = ManagerModel::Indices;

  [[nodiscard]] std::int64_t pick(std::int64_t low, std::int64_t high) {
    return test::uniform_int(random_, low, high);
  }
  [[nodiscard]] bool one_in(std::int64_t n) { return pick(1, n) == 1; }
  [[nodiscard]] std::size_t any() { return static_cast<std::size_t>(pick(0, controllers - 1)); }
  [[nodiscard]] Indices some() {
    Indices list;
    const auto count = pick(0, 3);
    while (std::ssize(list) < count) {
      const std::size_t i = any();
      if (std::ranges::find(list, i) == list.end()) list.push_back(i);
    }
    return list;
  }

  void add(std::size_t i) {
    ModelController own;
    own.lends = one_in(4);
    for (std::size_t j = 0; j < model_joints; ++j) {
      if (!one_in(3)) continue;
      own.parts[j] = 1U << static_cast<unsigned>(pick(0, 2));
      if (model_.per_interface && !own.lends && one_in(3)) own.parts[j] |= static_cast<unsigned>(pick(1, 7));
    }
    for (std::size_t k = 0; k < i; ++k) {
      if (one_in(8)) own.followers |= group(k);
    }
    if (i > 0 && one_in(2)) own.fallbacks = group(static_cast<std::size_t>(pick(0, std::int64_t(i) - 1)));
    own.rides = one_in(3);
    own.uses_device = one_in(5);
    own.quiet = one_in(6);
    own.pushes = !model_.per_interface && !own.quiet && one_in(3);
    ControllerConfig config;
    for (std::size_t k = 0; k < i; ++k) {
      if (has(own.fallbacks, k)) config.fallbacks.push_back(name_of(k));
    }
    auto actor = std::make_shared<Actor>(i, own, model_.per_interface);
    REQUIRE(managed_.manager.load(actor, config).has_value());
    actors_.push_back(std::move(actor));
    model_.all.push_back(own);
  }

  // ---- operations: the model's, then the manager's

  void switch_some(SwitchPolicy policy) {
    Indices start = some();
    Indices stop = some();
    SwitchRequest request{.policy = policy};
    for (const std::size_t i : start) request.start.push_back(name_of(i));
    for (const std::size_t i : stop) request.stop.push_back(name_of(i));
    const bool accepted = model_.change(start, stop, policy == SwitchPolicy::best_effort);
    ask([&] { agree(managed_.manager.switch_controllers(request).has_value() == accepted); });
  }

  void fail_some(bool by_command) {
    Group who = group(any());
    const bool slow = !model_.suspended && one_in(3);
    if (slow) {
      board_delay(static_cast<int>(pick(1, 3)));
    } else if (one_in(2)) {
      who |= group(any());
    }
    model_.fail(who, by_command);
    for (std::size_t i = 0; i < controllers; ++i) {
      actors_[i]->bad = by_command && has(who, i);
      if (!by_command && has(who, i)) actors_[i]->result = fail(Errc::device_lost);
    }
    cycle(true);
    for (const auto& actor : actors_) {
      actor->bad = false;
      actor->result = {};
    }
  }

  void finish_one() {
    const std::size_t i = any();
    model_.finish(i);
    actors_[i]->result = fail(Errc::finished);
    cycle(true);
    actors_[i]->result = {};
  }

  void reset_one() {
    const std::size_t i = any();
    const bool failed = std::exchange(model_.all[i].failed, false);
    ask([&] { agree(managed_.manager.reset_controller(name_of(i)).has_value() == failed); });
  }

  void lose_device() {
    model_.lose_device();
    board_.answer = fail(Errc::device_lost);
    cycle(true);
    board_.answer = {};
  }

  void return_device() {
    model_.device_lost = false;
    ask([&] { agree(managed_.manager.reset_device("board").has_value()); });
    cycle(true);
  }

  void stop() {
    const auto category = static_cast<StopCategory>(pick(0, 2));
    const bool protective = one_in(4);
    model_.suspend();
    ask([&] {
      agree(managed_.manager
                .request_stop(protective ? StopCategory::category_2 : category,
                              protective ? FaultReason::protective_stop : FaultReason::emergency_stop)
                .has_value());
    });
    for (int i = 0; i < 1000 && state() != RobotState::stopped; ++i) cycle(i == 0);
    agree(state() == RobotState::stopped);
  }

  void resume() {
    if (one_in(2)) board_delay(static_cast<int>(pick(0, 3)));
    managed_.begin();
    agree(managed_.manager.reset().result == Supervisor::ResetAnswer::Result::done);
    managed_.end();
    judge(true);
    get_ready();
  }

  void get_ready() {
    model_.resume();
    for (int i = 0; i < 100 && state() != RobotState::ready; ++i) cycle(true);
    agree(state() == RobotState::ready);
  }

  /// Calls the manager: directly between two cycles, or from the caller's thread while the cycle runs.
  void ask(const std::function<void()>& call) {
    if (caller_ == nullptr) return call();
    caller_->begin(call);
    while (caller_->busy()) {
      cycle(true);
      std::this_thread::yield();
    }
  }

  // ---- the judge

  [[nodiscard]] RobotState state() const { return managed_.manager.supervisor().state(); }
  void board_delay(int cycles) { modes_.delay = cycles; }

  void cycle(bool changes) {
    managed_.cycle();
    judge(changes);
  }

  /// The cycles in which changes of modes may go on, then one in which all must be as the model says.
  void settle() {
    for (int i = 0; i <= 2 * modes_.delay; ++i) cycle(true);
    remember();
    cycle(false);
  }

  void remember() {
    for (std::size_t j = 0; j < model_joints; ++j) before_[j] = model_.drive(j);
  }

  /// `changes`: the cycle may be before the operation, or amid a change of modes.
  void judge(bool changes) {
    const bool may_differ =
        changes && (caller_ != nullptr || modes_.delay > 0 || state() == RobotState::starting);
    for (std::size_t j = 0; j < model_joints; ++j) {
      const JointCommand& now = managed_.drives.commands[j];
      const JointCommand& last = last_[j];
      const JointFeedback& seen = managed_.drives.feedback[j];
      const ManagerModel::Drive after = model_.drive(j);
      const bool is_powered = now.want_power || model_.mistake == Mistake::power_is_ignored;
      if (!is_powered) {
        agree(now.position == seen.position && now.velocity == 0 && now.acceleration == 0 && now.effort == 0);
      } else {
        const bool starts = state() == RobotState::starting;
        bool fits = is_of(now, after);
        fits = fits || (changes && (starts || model_.touched[j]) && is_rest(now));
        fits = fits || (may_differ && (is_of(now, before_[j]) || is_of(now, model_.drive(j, active()))));
        if (model_.mistake == Mistake::effort_stays && !after.driven && !changes)
          fits = now.effort == kept_[j];
        agree(fits);
        if (after.driven) kept_[j] = after.effort;
      }
      // Each mode was changed before it is sent.
      if (now.mode == CommandMode::effort) agree(modes_.rows[j].mode == CommandMode::effort);
      // Within the limits from one cycle to the next.
      constexpr double period = 0.001, slack = 1 + 1e-6;
      agree(std::abs(now.position - last.position) <= 2 * period * slack + 1e-12);
      if (now.want_power && last.want_power)
        agree(std::abs(now.velocity - last.velocity) <= 10 * period * slack + 1e-12);
      agree(std::abs(now.acceleration) <= 10 * slack);
      last_[j] = now;
    }
    for (std::size_t i = 0; i < controllers; ++i) {
      const Actor& actor = *actors_[i];
      agree(actor.executions - std::exchange(executions_[i], actor.executions) <= 1);
      agree(!actor.saw_nan);
      if (!is_active(i)) continue;
      for (std::size_t f = 0; f < controllers; ++f) agree(!has(actor.own.followers, f) || is_active(f));
    }
  }

  [[nodiscard]] bool is_active(std::size_t i) const {
    return actors_[i]->state() == component::ComponentState::active;
  }
  [[nodiscard]] Group active() const {
    Group active = 0;
    for (std::size_t i = 0; i < controllers; ++i) active |= is_active(i) ? group(i) : 0;
    return active;
  }
  /// Whether the drive gets what its owners command.
  [[nodiscard]] static bool is_of(const JointCommand& now, const ManagerModel::Drive& drive) {
    if (!drive.driven) return is_rest(now);
    return 1U << static_cast<unsigned>(now.mode) == drive.mode && now.effort == drive.effort;
  }
  [[nodiscard]] static bool is_rest(const JointCommand& now) {
    return now.mode != CommandMode::effort && now.effort == 0;
  }

  void compare() {
    using component::ComponentState;
    for (std::size_t i = 0; i < controllers; ++i) {
      const ModelController& own = model_.all[i];
      agree(actors_[i]->state() == (own.failed   ? ComponentState::error
                                    : own.active ? ComponentState::active
                                                 : ComponentState::inactive));
      bool is_led = false;
      for (std::size_t k = 0; k < controllers; ++k)
        is_led = is_led || (is_active(k) && !actors_[k]->own.quiet && has(actors_[k]->own.followers, i));
      agree(actors_[i]->input.driven() == is_led);
    }
    for (std::size_t j = 0; j < model_joints; ++j)
      agree((managed_.manager.joints()[j].owner() == nobody) == (model_.drive(j).owners == 0));
    while (managed_.manager.next_event()) {
    }
  }

  /// The line of the first comparison that fails is what a failure shows.
  void agree(bool does, std::source_location at = std::source_location::current()) {
    if (!does && differs_at_ == 0) differs_at_ = at.line();
  }

  std::mt19937_64 random_;
  Caller* caller_;
  std::uint32_t differs_at_ = 0;
  Board board_;
  ModeBoard modes_;
  Managed managed_;
  ManagerModel model_;
  std::vector<std::shared_ptr<Actor>> actors_;
  std::array<JointCommand, model_joints> last_{};
  std::array<ManagerModel::Drive, model_joints> before_{};
  std::array<double, model_joints> kept_{};
  std::array<int, controllers> executions_{};
};

constexpr std::size_t operations_of_a_world = 500;

void run_worlds(std::size_t operations, Caller* caller) {
  for (std::size_t done = 0; done < operations; done += operations_of_a_world) {
    World world(done / operations_of_a_world, Mistake::none, caller);
    for (std::size_t i = 0; i < operations_of_a_world; ++i) {
      CAPTURE(done + i);
      REQUIRE(world.step() == 0);
    }
  }
}

}  // namespace

TEST_CASE(
    "random switches, failures, stops and loans give the drives what the "
    "rules say") {
  run_worlds(test::count(100000), nullptr);
}

TEST_CASE("the same from another thread, while the cycle runs") {
  Caller caller;
  run_worlds(test::count(10000, 10), &caller);
}

TEST_CASE("the comparison finds a model that breaks a rule") {
  for (const Mistake mistake :
       {Mistake::rollback_forgets, Mistake::chain_survives, Mistake::fallback_waits, Mistake::claims_overlap,
        Mistake::chain_resumes_in_part, Mistake::fallback_clears_first, Mistake::leader_rides_alone,
        Mistake::lender_pays, Mistake::effort_stays, Mistake::mode_stays, Mistake::power_is_ignored}) {
    CAPTURE(static_cast<int>(mistake));
    bool found = false;
    for (std::uint64_t salt = 0; salt < 10'000 && !found; ++salt) {
      World world(salt, mistake);
      for (std::size_t i = 0; i < operations_of_a_world && !found; ++i) found = world.step() != 0;
    }
    CHECK(found);
  }
}
