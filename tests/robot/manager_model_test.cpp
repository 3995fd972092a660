// Random switches, failures, stops and lost devices against a plain model of claims, chains and rollback.
#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "robot/managed.hpp"
#include "support/random.hpp"

using namespace takt;
using namespace takt::robot;
using test::Managed;
using test::Probe;

namespace {

constexpr std::size_t joints = 6;
constexpr std::size_t controllers = 12;
const std::vector<std::string> joint_names = {"a", "b", "c", "d", "e", "f"};

/// A controller, and its state by the rules in manager.hpp.
struct Model {
  std::set<std::size_t> claims;
  std::set<std::size_t> followers;
  std::vector<std::size_t> fallbacks;
  bool runs = false;
  bool failed = false;
};

/// A rule that a wrong model breaks. The comparison must find it.
enum class Mistake { none, rollback_forgets, chain_survives, fallback_waits, claims_overlap };

class World {
 public:
  explicit World(std::uint64_t salt, Mistake mistake = Mistake::none)
      : random_(test::generator(salt)), mistake_(mistake), managed_(test::robot_of(joint_names)) {
    for (std::size_t i = 0; i < controllers; ++i) add(i);
    managed_.make_ready();
  }

  /// One operation. Returns whether manager and model agree, until they first do not.
  [[nodiscard]] bool step() {
    const auto choice = test::uniform_int(random_, 0, 9);
    if (choice < 6) {
      switch_some(choice < 4 ? SwitchPolicy::strict : SwitchPolicy::best_effort);
    } else if (choice < 8) {
      fail_one();
    } else if (choice == 8) {
      reset_one();
    } else {
      stop_and_reset();
    }
    managed_.cycle();
    compare();
    return agrees_;
  }

 private:
  [[nodiscard]] static std::string name(std::size_t i) { return "c" + std::to_string(i); }

  void add(std::size_t i) {
    Model model;
    for (std::size_t j = 0; j < joints; ++j) {
      if (test::uniform_int(random_, 0, 4) == 0) model.claims.insert(j);
    }
    for (std::size_t k = 0; k < i; ++k) {
      if (test::uniform_int(random_, 0, 9) == 0 && !is_led(k)) model.followers.insert(k);
    }
    if (i > 0 && test::uniform_int(random_, 0, 2) == 0)
      model.fallbacks.push_back(static_cast<std::size_t>(test::uniform_int(random_, 0, std::int64_t(i) - 1)));
    ControllerConfig config;
    for (const std::size_t f : model.fallbacks) config.fallbacks.push_back(name(f));
    auto probe = std::make_shared<Probe>(name(i), [model](Probe&, Resources& resources) -> SetupResult<void> {
      for (const std::size_t j : model.claims)
        REQUIRE(resources.claim_joint(joint_names[j], CommandMode::position).has_value());
      for (const std::size_t f : model.followers) REQUIRE(resources.claim(name(f) + "/in").has_value());
      REQUIRE(resources.input("in", "").has_value());
      return {};
    });
    REQUIRE(managed_.manager.load(probe, config).has_value());
    probes_.push_back(std::move(probe));
    models_.push_back(std::move(model));
  }

  [[nodiscard]] bool is_led(std::size_t k) const {
    return std::ranges::any_of(models_, [&](const Model& m) { return m.followers.contains(k); });
  }
  [[nodiscard]] bool share(std::size_t a, std::size_t b) const {
    return std::ranges::any_of(models_[a].claims,
                               [&](std::size_t j) { return models_[b].claims.contains(j); });
  }
  [[nodiscard]] std::vector<std::size_t> some() {
    std::vector<std::size_t> list;
    const auto count = test::uniform_int(random_, 0, 3);
    while (std::ssize(list) < count) {
      const auto i = static_cast<std::size_t>(test::uniform_int(random_, 0, controllers - 1));
      if (std::ranges::find(list, i) == list.end()) list.push_back(i);
    }
    return list;
  }

  /// The outcome of a switch by the written rules; the lists lose what a best effort leaves out.
  [[nodiscard]] bool allowed(std::vector<std::size_t>& start, std::vector<std::size_t>& stop,
                             bool best) const {
    const auto in = [](const std::vector<std::size_t>& list, std::size_t i) {
      return std::ranges::find(list, i) != list.end();
    };
    bool all = std::erase_if(stop, [&](std::size_t i) { return !models_[i].runs; }) == 0;
    all = std::erase_if(
              start, [&](std::size_t i) { return models_[i].failed || (models_[i].runs && !in(stop, i)); }) ==
              0 &&
          all;
    if (!all && !best) return false;
    // Those loaded last start last, because leaders do.
    std::ranges::sort(start, {}, [&](std::size_t i) { return order_of(i); });
    for (std::size_t k = 0; k < start.size(); ++k) {
      const auto goes_on = [&](std::size_t i) {
        const bool before = std::find(start.begin(), start.begin() + std::ptrdiff_t(k), i) !=
                            start.begin() + std::ptrdiff_t(k);
        return i != start[k] && ((models_[i].runs && !in(stop, i)) || before);
      };
      bool conflict = false;
      for (std::size_t i = 0; i < controllers; ++i) conflict = conflict || (goes_on(i) && share(i, start[k]));
      // Two leaders of one follower also claim the same.
      for (std::size_t i = 0; i < controllers; ++i) {
        for (const std::size_t f : models_[start[k]].followers)
          conflict = conflict || (goes_on(i) && models_[i].followers.contains(f));
      }
      if (!conflict || mistake_ == Mistake::claims_overlap) continue;
      if (!best) return false;
      start.erase(start.begin() + std::ptrdiff_t(k--));
    }
    const auto would_run = [&](std::size_t i) { return in(start, i) || (models_[i].runs && !in(stop, i)); };
    for (const std::size_t i : start) {
      for (const std::size_t f : models_[i].followers) {
        if (!would_run(f)) return false;
      }
    }
    for (std::size_t i = 0; i < controllers; ++i) {
      for (const std::size_t f : models_[i].followers) {
        if (would_run(i) && in(stop, f) && !in(start, f)) return false;
      }
    }
    return true;
  }

  /// The place in the order of starts: followers first, among equals the later loaded.
  [[nodiscard]] std::ptrdiff_t order_of(std::size_t i) { return const_cast<const World*>(this)->order_of(i); }
  [[nodiscard]] std::ptrdiff_t order_of(std::size_t i) const {
    std::vector<std::size_t> order;
    while (order.size() < controllers) {
      for (std::size_t k = 0; k < controllers; ++k) {
        const auto placed = [&](std::size_t x) { return std::ranges::find(order, x) != order.end(); };
        bool leaders_placed = true;
        for (std::size_t l = 0; l < controllers; ++l)
          leaders_placed = leaders_placed && (!models_[l].followers.contains(k) || placed(l));
        if (placed(k) || !leaders_placed) continue;
        order.push_back(k);
        break;
      }
    }
    return order.end() - std::ranges::find(order, i);
  }

  void switch_some(SwitchPolicy policy) {
    std::vector<std::size_t> start = some();
    std::vector<std::size_t> stop = some();
    SwitchRequest request{.policy = policy};
    for (const std::size_t i : start) request.start.push_back(name(i));
    for (const std::size_t i : stop) request.stop.push_back(name(i));
    const bool fits = allowed(start, stop, policy == SwitchPolicy::best_effort);
    // One of them may refuse to start.
    std::size_t refuses = controllers;
    if (!start.empty() && test::uniform_int(random_, 0, 3) == 0) refuses = start[0];
    if (refuses < controllers) probes_[refuses]->activation = fail(Errc::device_refuses);
    const auto done = managed_.manager.switch_controllers(request);
    if (refuses < controllers) {
      const bool was_stopped = std::ranges::find(stop, refuses) != stop.end();
      // It refuses again on the way back, so it stays inactive.
      if (fits && was_stopped) models_[refuses].runs = false;
      probes_[refuses]->activation = {};
    }
    agree(done.has_value() == (fits && refuses == controllers));
    if (fits && !done && mistake_ == Mistake::rollback_forgets) {
      for (const std::size_t i : stop) models_[i].runs = false;
    }
    if (!done) return;
    for (const std::size_t i : stop) models_[i].runs = false;
    for (const std::size_t i : start) models_[i].runs = true;
  }

  void end_chain(std::size_t first) {
    std::set<std::size_t> chain = {first};
    for (bool grows = mistake_ != Mistake::chain_survives; grows;) {
      grows = false;
      for (std::size_t i = 0; i < controllers; ++i) {
        if (!models_[i].runs || chain.contains(i)) continue;
        const auto linked = [&](std::size_t k) {
          return models_[i].followers.contains(k) || models_[k].followers.contains(i);
        };
        if (std::ranges::any_of(chain, linked)) grows = chain.insert(i).second;
      }
    }
    for (const std::size_t i : chain) models_[i].runs = false;
  }

  void fail_one() {
    const auto i = static_cast<std::size_t>(test::uniform_int(random_, 0, controllers - 1));
    if (!models_[i].runs) return;
    probes_[i]->execution = fail(Errc::device_lost);
    managed_.cycle();
    probes_[i]->execution = {};
    models_[i].failed = true;
    end_chain(i);
    if (mistake_ == Mistake::fallback_waits) return;
    for (const std::size_t f : models_[i].fallbacks) {
      if (models_[f].runs || models_[f].failed) continue;
      for (std::size_t other = 0; other < controllers; ++other) {
        const bool shares_follower = std::ranges::any_of(
            models_[f].followers, [&](std::size_t x) { return models_[other].followers.contains(x); });
        if (models_[other].runs && (share(other, f) || shares_follower)) end_chain(other);
      }
      models_[f].runs =
          std::ranges::all_of(models_[f].followers, [&](std::size_t x) { return models_[x].runs; });
    }
  }

  void reset_one() {
    const auto i = static_cast<std::size_t>(test::uniform_int(random_, 0, controllers - 1));
    agree(managed_.manager.reset_controller(name(i)).has_value() == models_[i].failed);
    models_[i].failed = false;
  }

  void stop_and_reset() {
    REQUIRE(managed_.manager.request_stop(StopCategory::category_2).has_value());
    managed_.cycles(3);
    managed_.begin();
    REQUIRE(managed_.manager.reset().result == Supervisor::ResetAnswer::Result::done);
    managed_.end();
    managed_.cycles(2);
  }

  void compare() {
    std::vector<std::set<std::size_t>> owners(joints);
    for (std::size_t i = 0; i < controllers; ++i) {
      const component::ComponentState expected = models_[i].failed ? component::ComponentState::error
                                                 : models_[i].runs ? component::ComponentState::active
                                                                   : component::ComponentState::inactive;
      agree(probes_[i]->state() == expected);
      if (!models_[i].runs) continue;
      for (const std::size_t j : models_[i].claims) owners[j].insert(i);
    }
    for (std::size_t j = 0; j < joints; ++j) {
      agree(owners[j].size() <= 1);
      agree((managed_.manager.joints()[j].owner() == nobody) == owners[j].empty());
    }
  }

  void agree(bool does) { agrees_ = agrees_ && does; }

  std::mt19937_64 random_;
  Mistake mistake_;
  bool agrees_ = true;
  Managed managed_;
  std::vector<std::shared_ptr<Probe>> probes_;
  std::vector<Model> models_;
};

}  // namespace

TEST_CASE("random switches, failures and stops leave the states and owners that the rules say") {
  const std::size_t operations = test::count(100000);
  for (std::size_t done = 0; done < operations; done += 500) {
    World world(done);
    for (std::size_t i = 0; i < 500; ++i) {
      CAPTURE(done + i);
      REQUIRE(world.step());
    }
  }
}

TEST_CASE("the comparison finds a model that breaks a rule") {
  for (const Mistake mistake : {Mistake::rollback_forgets, Mistake::chain_survives, Mistake::fallback_waits,
                                Mistake::claims_overlap}) {
    CAPTURE(static_cast<int>(mistake));
    bool found = false;
    for (std::uint64_t salt = 0; salt < 100 && !found; ++salt) {
      World world(salt, mistake);
      for (std::size_t i = 0; i < 500 && !found; ++i) found = !world.step();
    }
    CHECK(found);
  }
}
