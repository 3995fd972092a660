// The rules of manager.hpp and controller.hpp as a plain model: who runs, who owns a joint, and what its
// drive gets. It shares no code with the manager.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace takt::test {

/// A rule that a wrong model breaks. The comparison must find it.
enum class Mistake {
  none,
  rollback_forgets,       ///< those that a failed switch had stopped stay stopped
  chain_survives,         ///< a failure ends its controller alone
  fallback_waits,         ///< no fallback begins
  claims_overlap,         ///< two owners of one joint
  chain_resumes_in_part,  ///< at an activation that fails, the rest of its chain runs
  fallback_clears_first,  ///< owners end for a fallback that cannot start
  leader_rides_alone,     ///< a leader works in a stop without its follower
  lender_pays,            ///< a borrower's NaN ends the lender
  effort_stays,           ///< a joint keeps the effort of an owner that has ended
  mode_stays,             ///< a joint keeps the mode of an owner that has ended, beside another
  power_is_ignored,       ///< a joint without power gets its owner's commands
};

inline constexpr std::size_t model_joints = 4;

/// A set of controllers, one bit each.
using Group = std::uint32_t;
[[nodiscard]] constexpr Group group(std::size_t i) noexcept { return Group{1} << i; }
[[nodiscard]] constexpr bool has(Group set, std::size_t i) noexcept { return (set & group(i)) != 0; }

/// A controller: what it is, and its state by the rules.
struct ModelController {
  std::array<unsigned, model_joints> parts{};  ///< bits: 1 position, 2 velocity, 4 effort
  Group followers = 0;
  Group fallbacks = 0;  ///< at most one
  bool lends = false, rides = false, uses_device = false;
  bool quiet = false;   ///< commands nothing
  bool pushes = false;  ///< adds an effort as feed-forward

  bool wanted = false, active = false, failed = false;
  bool stands_in = false;   ///< a fallback of the stop
  std::uint64_t since = 0;  ///< its place in the order of wishes; a stop of the robot keeps it
};

class ManagerModel {
 public:
  using Indices = std::vector<std::size_t>;

  /// What the drive of a joint gets.
  struct Drive {
    bool driven = false;
    unsigned mode = 1;  ///< as a part
    double effort = 0;
    Group owners = 0;
    std::uint64_t since = 0;  ///< of the newest owner
    friend bool operator==(const Drive&, const Drive&) = default;
  };

  std::vector<ModelController> all;
  Indices order;  ///< leaders before followers
  bool per_interface = false;
  bool suspended = true;
  bool device_lost = false;
  Group refuses = 0;  ///< those whose activation fails
  /// The joints of all that an operation starts or ends, also for a moment. They may rest meanwhile.
  std::array<bool, model_joints> touched{};
  Mistake mistake = Mistake::none;

  [[nodiscard]] static double effort_of(std::size_t i) { return 1 + 0.25 * static_cast<double>(i); }

  void find_order() {
    order.clear();
    const auto is_placed = [&](std::size_t i) { return std::ranges::find(order, i) != order.end(); };
    while (order.size() < all.size()) {
      for (std::size_t i = 0; i < all.size(); ++i) {
        const bool waits = any([&](std::size_t k) { return has(all[k].followers, i) && !is_placed(k); });
        if (is_placed(i) || waits) continue;
        order.push_back(i);
        break;
      }
    }
  }

  [[nodiscard]] Drive drive(std::size_t joint) const {
    Group active = 0;
    for (std::size_t i = 0; i < all.size(); ++i) active |= all[i].active ? group(i) : 0;
    return drive(joint, active);
  }

  /// The same while only these are active yet.
  [[nodiscard]] Drive drive(std::size_t joint, Group active) const {
    Drive drive;
    const auto claims = [&](std::size_t i) { return has(active, i) && all[i].parts[joint] != 0; };
    std::size_t lender = all.size();
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (!claims(i)) continue;
      if (!all[i].lends) drive.owners |= group(i);
      if (all[i].lends && (lender == all.size() || all[i].since < all[lender].since)) lender = i;
    }
    if (drive.owners == 0 && lender < all.size()) drive.owners = group(lender);
    unsigned parts = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (!has(drive.owners, i)) continue;
      parts |= all[i].parts[joint];
      drive.since = std::max(drive.since, all[i].since);
      if (all[i].quiet) continue;
      drive.driven = true;
      if ((all[i].parts[joint] & 4) != 0 || all[i].pushes) drive.effort = effort_of(i);
    }
    if (mistake == Mistake::mode_stays && drive.owners != 0) {
      for (std::size_t i = 0; i < all.size(); ++i) {
        if (!has(active, i) && all[i].since != 0 && !all[i].lends) parts |= all[i].parts[joint];
      }
    }
    drive.mode = parts == 0 ? 1 : 1U << static_cast<unsigned>(std::countr_zero(parts));
    return drive;
  }

  // ---- operations: each answers whether the manager accepts it

  /// The lists lose what a best effort leaves out.
  [[nodiscard]] bool change(Indices& start, Indices& stop, bool best) {
    if (!is_allowed(start, stop, best)) return false;
    for (const std::size_t i : stop) set(i, false);
    if (suspended) {
      for (const std::size_t i : start) wish(i);
      return true;
    }
    if (std::ranges::none_of(start, [&](std::size_t i) { return has(refuses, i); })) {
      for (const std::size_t i : start) set(i, true);
      return true;
    }
    for (const std::size_t i : start) touch(i);
    if (mistake == Mistake::rollback_forgets) return false;
    for (const std::size_t i : stop) wish(i);
    start_waiting();
    return false;
  }

  /// All of these fail in one cycle, and those that start in it as a fallback.
  void fail(Group who, bool by_command) {
    Group failing = 0;
    std::uint64_t executed = 0;  // what began before has executed
    const auto fails = [&](std::size_t i) {
      return has(who, i) && all[i].wanted && all[i].active && !all[i].failed && all[i].since > executed &&
             (!by_command || commands(i));
    };
    do {
      failing = 0;
      for (std::size_t i = 0; i < all.size(); ++i) {
        if (fails(i)) failing |= group(i);
      }
      executed = clock_;
      Group pays = 0;
      for (std::size_t i = 0; i < all.size(); ++i) {
        if (!has(failing, i)) continue;
        if (by_command && mistake == Mistake::lender_pays) pays |= lenders_to(i);
        all[i].failed = true;
      }
      for (const std::size_t i : order) {
        if (has(failing | pays, i)) end(chain(group(i)));
      }
      for (const std::size_t i : order) {
        if (has(failing, i)) start_fallbacks(i);
      }
    } while (failing != 0);
  }

  void finish(std::size_t i) {
    if (all[i].active) end(chain(group(i)));
  }

  void lose_device() {
    device_lost = true;
    Group users = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i].uses_device && all[i].wanted) users |= group(i);
    }
    for (const std::size_t i : order) {
      if (has(users, i)) end(chain(group(i)));
    }
    for (const std::size_t i : order) {
      if (has(users, i)) start_fallbacks(i);
    }
  }

  void suspend() {
    suspended = true;
    Group stays = 0;
    for (auto i = order.rbegin(); i != order.rend(); ++i) {
      const bool led = (all[*i].followers & ~stays) == 0 || mistake == Mistake::leader_rides_alone;
      if (all[*i].active && all[*i].rides && led) stays |= group(*i);
    }
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i].active != has(stays, i)) touch(i);
      all[i].active = has(stays, i);
    }
    for (const std::size_t i : order) {
      if (all[i].wanted && !all[i].active) start_fallbacks(i);
    }
  }

  void resume() {
    suspended = false;
    start_waiting();
  }

 private:
  template <class Is>
  [[nodiscard]] bool any(Is&& is) const {
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (is(i)) return true;
    }
    return false;
  }

  void touch(std::size_t i) {
    for (std::size_t j = 0; j < model_joints; ++j) touched[j] = touched[j] || all[i].parts[j] != 0;
  }

  void wish(std::size_t i) {
    touch(i);
    all[i].wanted = true;
    all[i].since = ++clock_;
  }

  void set(std::size_t i, bool runs) {
    if (runs && !all[i].wanted) wish(i);
    touch(i);
    all[i].wanted = all[i].active = runs;
    all[i].stands_in = false;
  }

  void end(Group who) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (has(who, i)) set(i, false);
    }
  }

  [[nodiscard]] bool commands(std::size_t i) const {
    if (all[i].quiet) return false;
    bool owns = all[i].followers != 0;
    for (std::size_t j = 0; j < model_joints; ++j) owns = owns || has(drive(j).owners, i);
    return owns;
  }

  [[nodiscard]] Group lenders_to(std::size_t borrower) const {
    Group lenders = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      for (std::size_t j = 0; j < model_joints; ++j) {
        if (all[i].active && all[i].lends && all[i].parts[j] != 0 && !all[borrower].lends &&
            all[borrower].parts[j] != 0)
          lenders |= group(i);
      }
    }
    return lenders;
  }

  [[nodiscard]] bool conflict(std::size_t a, std::size_t b) const {
    if ((all[a].followers & all[b].followers) != 0) return true;
    if (all[a].lends || all[b].lends) return false;
    for (std::size_t j = 0; j < model_joints; ++j) {
      const unsigned pa = all[a].parts[j];
      const unsigned pb = all[b].parts[j];
      if (per_interface ? (pa & pb) != 0 : pa != 0 && pb != 0) return true;
    }
    return false;
  }

  /// These and all wanted ones that are chained with them.
  [[nodiscard]] Group chain(Group first) const {
    for (bool grows = mistake != Mistake::chain_survives; grows;) {
      grows = false;
      for (std::size_t i = 0; i < all.size(); ++i) {
        if (!all[i].wanted || has(first, i)) continue;
        const bool is_led = any([&](std::size_t k) { return has(first, k) && has(all[k].followers, i); });
        if (!is_led && (all[i].followers & first) == 0) continue;
        first |= group(i);
        grows = true;
      }
    }
    return first;
  }

  [[nodiscard]] bool is_allowed(Indices& start, Indices& stop, bool best) const {
    const auto in = [](const Indices& list, std::size_t i) {
      return std::ranges::find(list, i) != list.end();
    };
    bool clean = std::erase_if(stop, [&](std::size_t i) { return !all[i].wanted; }) == 0;
    const auto wrong = [&](std::size_t i) { return all[i].failed || (all[i].wanted && !in(stop, i)); };
    clean = std::erase_if(start, wrong) == 0 && clean;
    if (!clean && !best) return false;
    const auto place = [&](std::size_t i) { return std::ranges::find(order, i) - order.begin(); };
    std::ranges::sort(start, std::greater<>{}, place);
    std::ranges::sort(stop, {}, place);
    for (std::size_t k = 0; k < start.size(); ++k) {
      const auto goes_on = [&](std::size_t i) {
        const auto self = start.begin() + static_cast<std::ptrdiff_t>(k);
        return i != *self && ((all[i].wanted && !in(stop, i)) || std::find(start.begin(), self, i) != self);
      };
      const bool is_taken = any([&](std::size_t i) { return goes_on(i) && conflict(i, start[k]); });
      if (!is_taken || mistake == Mistake::claims_overlap) continue;
      if (!best) return false;
      start.erase(start.begin() + static_cast<std::ptrdiff_t>(k--));
    }
    Group would_run = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (in(start, i) || (all[i].wanted && !in(stop, i))) would_run |= group(i);
    }
    Group ends = 0;  // also those that start again
    for (const std::size_t i : stop) ends |= group(i);
    const auto is_torn = [&](std::size_t i) {
      const bool goes_on = all[i].wanted && !has(ends, i);
      return has(would_run, i) &&
             ((all[i].followers & ~would_run) != 0 || (goes_on && (all[i].followers & ends) != 0));
    };
    if (any(is_torn)) return false;
    return !device_lost || std::ranges::none_of(start, [&](std::size_t i) { return all[i].uses_device; });
  }

  void start_fallbacks(std::size_t of) {
    if (mistake == Mistake::fallback_waits) return;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (!has(all[of].fallbacks, i) || all[i].failed || all[i].wanted || (suspended && !all[i].rides))
        continue;
      wish(i);
      start_all({i}, true);
      all[i].stands_in = all[i].wanted && suspended;
    }
  }

  /// Chain by chain.
  void start_waiting() {
    Group tried = 0;
    for (auto i = order.rbegin(); i != order.rend(); ++i) {
      if (!all[*i].wanted || all[*i].active || has(tried, *i)) continue;
      const Group linked = chain(group(*i));
      Indices list;
      for (auto k = order.rbegin(); k != order.rend(); ++k) {
        if (has(linked, *k) && !all[*k].active) list.push_back(*k);
      }
      for (const std::size_t k : list) tried |= group(k);
      start_all(list, false);
    }
  }

  /// All of them, or none. If they can start, those in the way end with their chains.
  void start_all(const Indices& list, bool displaces) {
    Group starts = 0;
    for (const std::size_t i : list) starts |= group(i);
    Group in_way = 0;
    for (std::size_t k = 0; k < all.size(); ++k) {
      if (!all[k].active || has(starts, k) || !(displaces || all[k].stands_in)) continue;
      if (std::ranges::any_of(list, [&](std::size_t i) { return conflict(i, k); })) in_way |= group(k);
    }
    in_way = in_way == 0 ? 0 : chain(in_way);
    bool can = (in_way & starts) == 0;
    for (const std::size_t i : list) {
      for (std::size_t f = 0; f < all.size(); ++f) {
        if (has(all[i].followers, f) && !has(starts, f)) can = can && all[f].active && !has(in_way, f);
      }
      can = can && !(all[i].uses_device && device_lost) && !has(refuses, i);
    }
    if (can || mistake == Mistake::fallback_clears_first) end(in_way);
    for (const std::size_t i : list) {
      set(i, can || (mistake == Mistake::chain_resumes_in_part && !displaces && !has(refuses, i)));
    }
  }

  std::uint64_t clock_ = 0;
};

}  // namespace takt::test
