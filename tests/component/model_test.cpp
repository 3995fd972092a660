// Random requests, failures and cycles against a plain model of the life cycle, which knows neither the table
// nor the contexts' code.
#include <doctest/doctest.h>

#include <array>
#include <string>
#include <vector>

#include "component/probe.hpp"
#include "support/random.hpp"
#include "takt/component/execution_context.hpp"

using namespace takt;
using namespace takt::component;
using takt::test::Probe;

namespace {

/// One component as the model sees it.
struct Model {
  std::string state = "inactive";
  int context = 0;  ///< index of the context; -1: none
  bool failing = false;
  Callback fails = Callback::none;
  std::string calls;  ///< expected

  bool call(Callback callback) {
    (calls += to_string(callback)) += ' ';
    return callback != fails;
  }
  void to_error() {
    state = "error";
    failing = false;
    (void)call(Callback::on_abort);
  }
  void settle() {
    if (!failing) return;
    (void)call(Callback::on_deactivate);
    to_error();
  }
  bool activate() {
    if (state != "inactive") return false;
    if (!call(Callback::on_activate)) {
      to_error();
      return false;
    }
    state = "active";
    return true;
  }
  bool deactivate() {
    if (state != "active") return false;
    (void)call(Callback::on_deactivate);
    state = "inactive";
    failing = false;
    return true;
  }
  bool reset() {
    if (state != "error") return false;
    if (!call(Callback::on_reset)) return false;
    state = "inactive";
    return true;
  }
  void execute() {
    if (state == "active") failing = !call(Callback::on_execute);
    if (state == "error") (void)call(Callback::on_error);
  }
  void update() {
    if (state == "active" && !failing) failing = !call(Callback::on_state_update);
  }
};

constexpr std::size_t components = 5;

}  // namespace

TEST_CASE("random requests, failures and cycles have the results of a plain model") {
  auto random = test::generator(2120);
  const auto pick = [&](std::int64_t most) {
    return static_cast<std::size_t>(test::uniform_int(random, 0, most));
  };
  std::array<ExecutionContext, 2> contexts;
  std::array<Probe, components> probes;
  std::array<Model, components> models;
  for (Probe& probe : probes) REQUIRE(contexts[0].add(probe));
  const std::array may_fail = {Callback::none,
                               Callback::none,
                               Callback::on_activate,
                               Callback::on_execute,
                               Callback::on_state_update,
                               Callback::on_reset};

  const auto settle_here = [&](std::size_t here) {
    for (Model& model : models) {
      if (model.context == static_cast<int>(here)) model.settle();
    }
  };
  const std::size_t operations = test::count(100000, 10);
  for (std::size_t i = 0; i < operations; ++i) {
    const std::size_t which = pick(components - 1);
    Probe& probe = probes[which];
    Model& model = models[which];
    const std::size_t here = pick(1);
    const bool is_here = model.context == static_cast<int>(here);
    ExecutionContext& context = contexts[here];
    switch (pick(7)) {
      case 0:
        if (is_here) model.settle();
        CHECK(context.activate(probe).has_value() == (is_here && model.activate()));
        break;
      case 1:
        if (is_here) model.settle();
        CHECK(context.deactivate(probe).has_value() == (is_here && model.deactivate()));
        break;
      case 2:
        if (is_here) model.settle();
        CHECK(context.reset(probe).has_value() == (is_here && model.reset()));
        break;
      case 3: {  // a switch of two components, perhaps the same one
        settle_here(here);
        Probe& other = probes[pick(components - 1)];
        Model& other_model = models[static_cast<std::size_t>(&other - probes.data())];
        const bool both_here = is_here && other_model.context == static_cast<int>(here);
        const bool valid =
            both_here && model.state == "active" && (other_model.state == "inactive" || &probe == &other);
        const SwitchResult result =
            context.apply({.deactivate = {&probe}, .activate = {&other}, .migrate = {}});
        bool done = valid;
        if (valid) {
          (void)model.deactivate();
          if (!other_model.activate()) {
            done = false;
            other_model.state = "inactive";
            const bool returned = model.activate();
            CHECK(result.status.error() == (returned ? Errc::rolled_back : Errc::rollback_failed));
          }
        }
        CHECK(result.status.has_value() == done);
        break;
      }
      case 4: {  // a migration
        settle_here(here);
        const bool done =
            context.apply({.deactivate = {}, .activate = {}, .migrate = {{&probe, &contexts[1 - here], {}}}})
                .status.has_value();
        CHECK(done == is_here);
        if (!done) break;
        model.context = static_cast<int>(1 - here);
        (void)model.call(Callback::on_rate_change);
        break;
      }
      case 5:
        probe.fails = model.fails = may_fail[pick(may_fail.size() - 1)];
        break;
      default: {
        REQUIRE(context.start(Time{}));
        context.run_cycle(Time{}, Duration{});
        context.stop(Time{});
        const auto each_here = [&](auto&& act) {
          for (Model& one : models) {
            if (one.context == static_cast<int>(here)) act(one);
          }
        };
        each_here([](Model& one) { one.settle(); });
        each_here([](Model& one) { one.execute(); });
        each_here([](Model& one) { one.update(); });
      }
    }
    for (std::size_t c = 0; c < components; ++c) {
      CAPTURE(i);
      CHECK(probes[c].calls() == models[c].calls);
      models[c].calls.clear();
      REQUIRE(to_string(probes[c].state()) == models[c].state);
      REQUIRE(probes[c].context() == &contexts[static_cast<std::size_t>(models[c].context)]);
    }
  }
}
