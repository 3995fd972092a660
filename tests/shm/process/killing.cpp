#include "shm/process/killing.hpp"

#include <doctest/doctest.h>

#include "support/random.hpp"

namespace takt::test {

std::string verdict(const Ledger& ledger) {
  const char* const broken = ledger.broken;
  return broken == nullptr ? "" : broken + (" at " + std::to_string(ledger.where));
}

void kill_at_random(std::vector<Role>& roles, const Ledger& ledger, std::uint64_t kills,
                    const std::function<bool(std::size_t)>& after_kill) {
  auto random = generator(roles.size());
  for (Role& role : roles) role.start();
  for (std::uint64_t done = 0; done < kills && ledger.broken == nullptr;) {
    const bool all = uniform_int(random, 0, 3) == 0;
    const auto victim =
        static_cast<std::size_t>(uniform_int(random, 0, static_cast<std::int64_t>(roles.size()) - 1));
    for (const Role& role : roles) {
      INFO(role.name << " after " << done << " kills: " << role.diary->calls.load() << " calls");
      REQUIRE((role.works() || ledger.broken != nullptr));
    }
    sleep_for(std::chrono::nanoseconds(uniform_int(random, 50'000, 2'000'000)));
    for (std::size_t i = 0; i < roles.size(); ++i) {
      if (!all && i != victim) continue;
      REQUIRE(roles[i].child->kill() == killed);
      ++roles[i].kills;
      ++done;
    }
    for (std::size_t i = 0; i < roles.size(); ++i) {
      if (!all && i != victim) REQUIRE(roles[i].lives());
    }
    REQUIRE(after_kill(all ? roles.size() : victim));
    for (std::size_t i = 0; i < roles.size(); ++i) {
      if (all || i == victim) roles[i].start();
    }
  }
  for (const Role& role : roles) CHECK((ledger.broken != nullptr || role.works()));
  for (Role& role : roles) CHECK(role.child->kill() == killed);
  for (const Role& role : roles) {
    MESSAGE(role.name << ": killed " << role.kills << " times, " << role.diary->calls.load() << " calls");
  }
}

}  // namespace takt::test
