#include "takt/component/execution_context.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "component/probe.hpp"
#include "support/random.hpp"
#include "support/rt_guard.hpp"
#include "takt/component/drivers.hpp"

using namespace takt;
using namespace takt::component;
using takt::test::Probe;
using takt::test::probe_error;

namespace {

constexpr Duration ms = std::chrono::milliseconds(1);

void run_cycle(ExecutionContext& context) noexcept {
  context.run_cycle(Time(ms * static_cast<int>(context.cycles())), ms);
}

/// Runs cycles of 1 ms.
void run(ExecutionContext& context, int cycles = 1) {
  REQUIRE(context.start(Time{}));
  for (int i = 0; i < cycles; ++i) run_cycle(context);
  context.stop(Time{});
}

/// A context whose thread is that of the test.
struct Running {
  explicit Running(ContextConfig config = {}) : context(std::move(config)) { REQUIRE(context.start(Time{})); }
  ~Running() { context.stop(Time{}); }
  ExecutionContext context;
};

}  // namespace

TEST_CASE("a component goes through its life cycle") {
  Probe probe;
  ExecutionContext context;
  CHECK(probe.state() == ComponentState::created);
  CHECK(context.state_of(probe) == ComponentState::created);
  REQUIRE(context.add(probe));
  CHECK(context.state_of(probe) == ComponentState::inactive);
  REQUIRE(context.activate(probe));
  CHECK(probe.calls() == "on_activate ");
  run(context, 2);
  CHECK(probe.calls() == "on_execute on_state_update on_execute on_state_update ");
  REQUIRE(context.deactivate(probe));
  CHECK(probe.calls() == "on_deactivate ");
  run(context);
  CHECK(probe.calls() == "");
  REQUIRE(context.remove(probe));
  CHECK(context.state_of(probe) == ComponentState::created);  // a stranger
  REQUIRE(probe.finalize());
  CHECK(probe.calls() == "on_finalize ");
  CHECK(probe.state() == ComponentState::finalised);
  CHECK(context.add(probe).error().error == Errc::wrong_state);
}

TEST_CASE("every transition that the table has not is refused, in every state") {
  const auto reach = [](ExecutionContext& context, Probe& probe, ComponentState state) {
    REQUIRE(context.add(probe));
    if (state == ComponentState::inactive) return;
    REQUIRE(context.activate(probe));
    if (state == ComponentState::active) return;
    probe.fails = Callback::on_execute;
    run(context, 2);
    probe.fails = Callback::none;
  };
  for (const ComponentState state :
       {ComponentState::inactive, ComponentState::active, ComponentState::error}) {
    for (const Transition transition : {Transition::activate, Transition::deactivate, Transition::reset}) {
      CAPTURE(to_string(state));
      CAPTURE(to_string(transition));
      ExecutionContext context;
      Probe probe;
      reach(context, probe, state);
      REQUIRE(probe.state() == state);
      const Status status = transition == Transition::activate     ? context.activate(probe)
                            : transition == Transition::deactivate ? context.deactivate(probe)
                                                                   : context.reset(probe);
      const auto row = find_transition(state, transition);
      CHECK(status.has_value() == row.has_value());
      if (!row) CHECK(status.error() == Errc::wrong_state);
      CHECK(probe.state() == (row ? row->to : state));
      if (probe.state() == ComponentState::active) REQUIRE(context.deactivate(probe));
    }
  }
}

TEST_CASE("a failure in the cycle leads to the state error at the beginning of the next cycle") {
  for (const Callback failing : {Callback::on_execute, Callback::on_state_update}) {
    ExecutionContext context;
    Probe probe;
    REQUIRE(context.add(probe));
    REQUIRE(context.activate(probe));
    (void)probe.calls();
    probe.fails = failing;
    run(context);
    CHECK(probe.calls() == (failing == Callback::on_execute ? "on_execute " : "on_execute on_state_update "));
    CHECK(probe.state() == ComponentState::active);
    run(context);
    CHECK(probe.calls() == "on_deactivate on_abort on_error ");
    CHECK(probe.state() == ComponentState::error);
    CHECK(probe.error() == probe_error);
    CHECK(context.activate(probe).error() == Errc::wrong_state);
    REQUIRE(context.reset(probe));
    CHECK(probe.calls() == "on_reset ");
    CHECK(probe.error() == Error{});
  }
}

TEST_CASE("a failed activation leads to the state error, a failed reset keeps it") {
  ExecutionContext context;
  Probe probe;
  REQUIRE(context.add(probe));
  probe.fails = Callback::on_activate;
  CHECK(context.activate(probe).error() == probe_error);
  CHECK(probe.calls() == "on_activate on_abort ");
  CHECK(probe.state() == ComponentState::error);
  probe.fails = Callback::on_reset;
  CHECK(context.reset(probe).error() == probe_error);
  CHECK(probe.state() == ComponentState::error);
}

TEST_CASE("an on_initialize that throws or fails leaves the component created, and says why") {
  struct Thrower : Probe {
    SetupResult<void> on_initialize() override { throw std::runtime_error("no arm"); }
  } thrower;
  ExecutionContext context;
  const auto added = context.add(thrower);
  REQUIRE_FALSE(added);
  CHECK(added.error().error == Errc::threw);
  CHECK(added.error().message.find("no arm") != std::string::npos);
  CHECK(thrower.state() == ComponentState::created);

  Probe unnamed("two words");
  CHECK(context.add(unnamed).error().error == Errc::bad_name);
}

TEST_CASE("all components execute before any updates its state, in their order") {
  struct Ordered : Probe {
    Ordered(std::string name, std::string& to_record) : Probe(std::move(name)), record(&to_record) {}
    Status on_execute(const CycleTime&) noexcept override {
      *record += "x" + name();
      return {};
    }
    Status on_state_update(const CycleTime&) noexcept override {
      *record += "u" + name();
      return {};
    }
    std::string* record;
  };
  std::string record;
  Ordered a("a", record), b("b", record), c("c", record);
  ExecutionContext context;
  REQUIRE(context.add(c, {.order = 2}));
  REQUIRE(context.add(a, {.order = 1}));
  REQUIRE(context.add(b, {.order = 1}));  // equal: in the order of arrival
  for (Ordered* one : {&a, &b, &c}) REQUIRE(context.activate(*one));
  run(context);
  CHECK(record == "xaxbxcuaubuc");
}

TEST_CASE("a component runs by its divisor and phase, whenever it joined") {
  auto random = test::generator(2101);
  for (int i = 0; i < 50; ++i) {
    ExecutionContext context({.period = ms});
    run(context, static_cast<int>(test::uniform_int(random, 0, 20)));
    Probe probe;
    const auto divisor = static_cast<std::uint32_t>(test::uniform_int(random, 1, 7));
    const auto phase = static_cast<std::uint32_t>(test::uniform_int(random, 0, divisor - 1));
    REQUIRE(context.add(probe, {.divisor = divisor, .phase = phase}));
    REQUIRE(context.activate(probe));
    for (int cycle = 0; cycle < 30; ++cycle) {
      const std::uint64_t index = context.cycles();
      const std::uint64_t before = probe.executions;
      run(context);
      CHECK(probe.executions - before == (index % divisor == phase ? 1 : 0));
    }
    CHECK(probe.last.period == ms * divisor);
  }
  Probe probe;
  CHECK(ExecutionContext().add(probe, {.divisor = 0}).error().error == Errc::bad_rate);
  CHECK(ExecutionContext().add(probe, {.divisor = 2, .phase = 2}).error().error == Errc::bad_rate);
}

TEST_CASE("a context accepts its number of components, each component one context") {
  ExecutionContext context({.max_components = 2}), other;
  Probe a("a"), b("b"), c("c");
  REQUIRE(context.add(a));
  CHECK(other.add(a).error().error == Errc::already_participates);
  REQUIRE(context.add(b));
  CHECK(context.add(c).error().error == Errc::too_many_components);
  CHECK(context.remove(c).error() == Errc::not_a_participant);
  REQUIRE(context.activate(a));
  CHECK(context.remove(a).error() == Errc::wrong_state);
}

TEST_CASE("a component beyond its budget is counted, deactivated or failed") {
  struct SlowClock final : BudgetClock {
    Time now() noexcept override { return time += ms; }
    Time time{};
  } clock;
  for (const BudgetAction action : {BudgetAction::count, BudgetAction::deactivate, BudgetAction::error}) {
    ExecutionContext context;
    context.set_budget_clock(&clock);
    Probe probe;
    REQUIRE(context.add(probe, {.budget = ms / 2, .over_budget = action}));
    REQUIRE(context.activate(probe));
    run(context, 2);
    const Participant row = context.participants()->at(0);
    CHECK(row.longest == ms);
    CHECK(row.over_budget == (action == BudgetAction::count ? 2 : 1));
    CHECK(row.state == (action == BudgetAction::count        ? ComponentState::active
                        : action == BudgetAction::deactivate ? ComponentState::inactive
                                                             : ComponentState::error));
    if (action == BudgetAction::error) CHECK(row.error == Errc::over_budget);
  }
}

TEST_CASE("a switch applies all of its changes or restores the previous states") {
  ExecutionContext context;
  Probe a("a"), b("b"), c("c"), stranger("d");
  for (Probe* probe : {&a, &b, &c}) REQUIRE(context.add(*probe));
  REQUIRE(context.activate(a));
  const auto states = [&] {
    return std::string(to_string(a.state())) + ' ' + std::string(to_string(b.state())) + ' ' +
           std::string(to_string(c.state()));
  };

  c.fails = Callback::on_activate;
  SwitchResult result = context.apply({.deactivate = {&a}, .activate = {&b, &c}, .migrate = {}});
  CHECK(result.status.error() == Errc::rolled_back);
  CHECK(result.culprit == &c);
  CHECK(result.cause == probe_error);
  CHECK(states() == "active inactive inactive");
  CHECK(b.calls() == "on_activate on_deactivate ");
  CHECK(c.calls() == "on_activate on_abort ");

  a.fails = Callback::on_activate;  // it cannot return
  result = context.apply({.deactivate = {&a}, .activate = {&b, &c}, .migrate = {}});
  CHECK(result.status.error() == Errc::rollback_failed);
  CHECK(result.culprit == &a);
  CHECK(states() == "error inactive inactive");
  a.fails = c.fails = Callback::none;
  REQUIRE(context.reset(a));

  CHECK(context.apply({.deactivate = {}, .activate = {&a, &a}, .migrate = {}}).status.error() ==
        Errc::named_twice);
  CHECK(context.apply({.deactivate = {&b}, .activate = {&a}, .migrate = {}}).status.error() ==
        Errc::wrong_state);
  CHECK(context.apply({.deactivate = {}, .activate = {&a, &stranger}, .migrate = {}}).status.error() ==
        Errc::not_a_participant);
  CHECK(states() == "inactive inactive inactive");

  CHECK(context.apply({.deactivate = {}, .activate = {&a, &b}, .migrate = {}}).status);
  (void)a.calls();
  CHECK(context.apply({.deactivate = {&a}, .activate = {&a}, .migrate = {}}).status);  // a restart
  CHECK(a.calls() == "on_deactivate on_activate ");
  CHECK(states() == "active active inactive");
}

TEST_CASE("a component migrates with its state, and its target has room or nothing happens") {
  ExecutionContext from({.name = "from", .period = ms}), to({.name = "to", .max_components = 1});
  Probe a("a"), b("b");
  REQUIRE(from.add(a));
  REQUIRE(from.add(b));
  REQUIRE(from.activate(a));
  REQUIRE(from.activate(b));
  CHECK(from.apply({.deactivate = {}, .activate = {}, .migrate = {{&a, &to, {}}, {&b, &to, {}}}})
            .status.error() == Errc::too_many_components);
  CHECK(from.participants()->size() == 2);
  REQUIRE(from.apply({.deactivate = {}, .activate = {}, .migrate = {{&a, &to, {}}}}).status);
  CHECK(a.context() == &to);
  CHECK(to.state_of(a) == ComponentState::active);
  CHECK(from.state_of(a) == ComponentState::created);
  CHECK(a.calls() == "on_activate on_rate_change ");  // neither deactivated nor activated
  CHECK(from.apply({.deactivate = {}, .activate = {}, .migrate = {{&b, &to, {}}}}).status.error() ==
        Errc::too_many_components);
  CHECK(from.apply({.deactivate = {}, .activate = {}, .migrate = {{&b, &from, {}}}}).status.error() ==
        Errc::bad_rate);
}

TEST_CASE("a request from inside the cycle, or to a context without cycles, is refused in bounded time") {
  Running running;
  struct Asks : Probe {
    Status on_execute(const CycleTime& /*cycle*/) noexcept override {
      answer = context()->deactivate(*this);
      return {};
    }
    Status answer;
  } probe;
  REQUIRE(running.context.add(probe));  // between two cycles, its own thread may ask
  REQUIRE(running.context.activate(probe));
  run_cycle(running.context);
  CHECK(probe.answer.error() == Errc::own_thread);
  Status status;
  std::thread([&] { status = running.context.call([]() noexcept -> Status { return {}; }, ms); }).join();
  CHECK(status.error() == Errc::timed_out);
  CHECK(running.context.start(Time{}).error() == Errc::already_running);
}

TEST_CASE("the cycle neither allocates, locks nor enters the kernel while requests arrive") {
  ExecutionContext context({.period = ms}), other({.name = "other"});
  std::array<Probe, 8> probes;
  for (Probe& probe : probes) REQUIRE(context.add(probe));
  std::atomic<bool> ready = false, done = false;
  std::string report = "not run";
  std::thread loop([&] {
    REQUIRE(context.start(Time{}));
    test::RtGuard guard;
    ready = true;
    while (!done) run_cycle(context);
    guard.disarm();
    report = guard.report();
    context.stop(Time{});
  });
  while (!ready) std::this_thread::yield();
  auto random = test::generator(2102);
  const auto patience = std::chrono::seconds(60);
  for (std::size_t i = 0; i < test::count(1000); ++i) {
    Probe& probe = probes[static_cast<std::size_t>(test::uniform_int(random, 0, 7))];
    switch (test::uniform_int(random, 0, 4)) {
      case 0:
        (void)context.activate(probe, patience);
        break;
      case 1:
        (void)context.deactivate(probe, patience);
        break;
      case 2:
        if (context.apply({.deactivate = {}, .activate = {}, .migrate = {{&probe, &other, {}}}}, patience)
                .status)
          CHECK(other.apply({.deactivate = {}, .activate = {}, .migrate = {{&probe, &context, {}}}}, patience)
                    .status);
        break;
      case 3:
        (void)context.place(probe, {.order = static_cast<int>(i % 5)}, patience);
        break;
      default:
        CHECK(context.participants(patience)->size() == probes.size());
    }
  }
  done = true;
  loop.join();
  CHECK(report == "");
}

TEST_CASE("a witness sees the note of each call that has succeeded, in its cycle and in the cycle's thread") {
  struct Witness final : CallWitness {
    explicit Witness(ExecutionContext& its_context) : context(&its_context) { seen.reserve(100); }
    void ran(const CallNote& note) noexcept override {
      seen.push_back({note.kind, note.text.size(), context->cycles(), std::this_thread::get_id()});
    }
    struct Seen {
      std::size_t kind;
      std::size_t bytes;
      std::uint64_t cycle;
      std::thread::id thread;
    };
    ExecutionContext* context;
    std::vector<Seen> seen;  ///< at most its reserved size
  };
  ExecutionContext context({.period = ms});
  Witness witness(context);
  context.set_witness(&witness);
  Probe probe;
  const auto ask = [&](std::size_t kind, auto&& call) {
    const NotedCalls noted({kind, std::string(10 * kind, 'x')});
    return call();
  };
  // Without a thread that runs the context, it is the caller's.
  CHECK(ask(1, [&] { return context.add(probe).has_value(); }));
  CHECK_FALSE(ask(2, [&] { return context.deactivate(probe).has_value(); }));
  CHECK(context.activate(probe).has_value());
  REQUIRE(witness.seen.size() == 1);
  CHECK(witness.seen[0].kind == 1);
  CHECK(witness.seen[0].bytes == 10);
  CHECK(witness.seen[0].thread == std::this_thread::get_id());

  std::atomic<bool> ready = false, done = false;
  std::string report = "not run";
  std::thread loop([&] {
    REQUIRE(context.start(Time{}));
    test::RtGuard guard;
    ready = true;
    while (!done) run_cycle(context);
    guard.disarm();
    report = guard.report();
    context.stop(Time{});
  });
  while (!ready) std::this_thread::yield();
  const auto patience = std::chrono::seconds(60);
  const std::uint64_t before = context.cycles();
  CHECK(ask(3, [&] { return context.deactivate(probe, patience).has_value(); }));
  CHECK(ask(4, [&] { return ask(5, [&] { return context.activate(probe, patience).has_value(); }); }));
  const std::uint64_t after = context.cycles();
  const auto thread = loop.get_id();
  done = true;
  loop.join();
  CHECK(report == "");
  REQUIRE(witness.seen.size() == 3);
  CHECK(witness.seen[1].kind == 3);
  CHECK(witness.seen[2].kind == 5);
  for (std::size_t i = 1; i < 3; ++i) {
    CHECK(witness.seen[i].thread == thread);
    CHECK(witness.seen[i].cycle >= before);
    CHECK(witness.seen[i].cycle <= after);
  }
}

TEST_CASE("no callback may ask its own context, whichever it is") {
  struct Asks : Probe {
    using Probe::Probe;
    void on_startup(const CycleTime&) noexcept override { ask(); }
    void on_shutdown(const CycleTime&) noexcept override { ask(); }
    void on_abort(const CycleTime&) noexcept override { ask(); }
    void on_rate_change(const CycleTime&) noexcept override { ask(); }
    void ask() noexcept {
      ++asked;
      if (context()->place(*this, {.order = asked}).has_value()) ++granted;
    }
    int asked = 0;
    int granted = 0;
  };
  ExecutionContext context({.name = "from"}), other({.name = "to"});
  Asks a("a"), b("b");
  REQUIRE(context.add(a));
  REQUIRE(context.add(b));
  REQUIRE(context.activate(a));
  a.fails = Callback::on_execute;
  run(context, 2);  // starts, fails, aborts, stops
  REQUIRE(context.apply({.deactivate = {}, .activate = {}, .migrate = {{&a, &other, {}}}}).status);
  CHECK(a.asked == 4);
  CHECK(a.granted + b.granted == 0);
}

TEST_CASE("components that migrate together arrive in the order of the request") {
  ExecutionContext from, to;
  Probe a("a"), b("b"), c("c");
  for (Probe* probe : {&a, &b, &c}) REQUIRE(from.add(*probe));
  REQUIRE(
      from.apply({.deactivate = {}, .activate = {}, .migrate = {{&b, &to, {}}, {&a, &to, {}}, {&c, &to, {}}}})
          .status);
  const auto rows = to.participants();
  REQUIRE(rows);
  CHECK((*rows)[0].component == &b);
  CHECK((*rows)[1].component == &a);
  CHECK((*rows)[2].component == &c);
}

TEST_CASE("a failure of the last cycle is not lost in a switch") {
  ExecutionContext context;
  Probe probe;
  REQUIRE(context.add(probe));
  REQUIRE(context.activate(probe));
  probe.fails = Callback::on_execute;
  run(context);
  CHECK(context.apply({.deactivate = {&probe}, .activate = {}, .migrate = {}}).status.error() ==
        Errc::wrong_state);
  CHECK(probe.state() == ComponentState::error);
}

TEST_CASE("a component and its context may end in any order") {
  auto context = std::make_unique<ExecutionContext>();
  auto first = std::make_unique<Probe>("first");
  Probe second("second");
  REQUIRE(context->add(*first));
  REQUIRE(context->add(second));
  REQUIRE(context->activate(*first));
  first.reset();
  CHECK(context->participants()->size() == 1);
  run(*context);
  context.reset();
  CHECK(second.context() == nullptr);
}

TEST_CASE("a composite runs its components in its own cycle, while it is active") {
  ExecutionContext context({.period = ms});
  Composite group("group");
  Probe probe;
  REQUIRE(context.add(group));
  REQUIRE(group.inner().add(probe));
  REQUIRE(group.inner().activate(probe));
  run(context);
  CHECK(probe.executions == 0);
  REQUIRE(context.activate(group));
  run(context, 3);
  CHECK(probe.executions == 3);
  REQUIRE(context.deactivate(group));
  run(context);
  CHECK(probe.executions == 3);
}

TEST_CASE("a listing copies a bounded number of components in one cycle, and lists all of them in order") {
  constexpr std::size_t count = 500;
  ExecutionContext context({.name = "many", .max_components = count + 1});
  std::vector<std::unique_ptr<Probe>> probes;
  for (std::size_t i = 0; i < count; ++i) {
    auto& probe = *probes.emplace_back(std::make_unique<Probe>("p" + std::to_string(i)));
    REQUIRE(context.add(probe, {.order = static_cast<int>(i * 7 % count)}));
    REQUIRE(context.activate(probe));
  }
  REQUIRE(context.start(Time{}));
  std::atomic<bool> over{false};
  Result<std::vector<Participant>> rows;
  std::thread caller([&] {
    rows = context.participants(std::chrono::minutes(1));
    over = true;
  });
  while (!over) {
    run_cycle(context);
    std::this_thread::yield();
  }
  caller.join();
  context.stop(Time{});
  REQUIRE(rows);
  REQUIRE(rows->size() == count);
  // Each component executes in each cycle, so equal counts were copied in the same one.
  std::size_t most = 0, same = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const Participant& row = (*rows)[i];
    CHECK(row.placement.order == static_cast<int>(i));
    same = i > 0 && row.executions == (*rows)[i - 1].executions ? same + 1 : 1;
    most = std::max(most, same);
  }
  CHECK(most <= ExecutionContext::rows_per_boundary);
}

TEST_CASE("a context finds its components after any order of additions, removals, placements and switches") {
  auto random = test::generator(2111);
  ExecutionContext context({.name = "one", .max_components = 8}), other({.name = "other"});
  std::vector<std::unique_ptr<Probe>> probes;
  for (int i = 0; i < 12; ++i) probes.push_back(std::make_unique<Probe>("p" + std::to_string(i)));
  std::array<bool, 12> inside{};
  std::array<int, 12> orders{};
  for (std::size_t i = 0; i < test::count(3000); ++i) {
    const auto k = static_cast<std::size_t>(test::uniform_int(random, 0, 11));
    Probe& probe = *probes[k];
    const int order = static_cast<int>(test::uniform_int(random, -3, 3));
    const auto size = static_cast<std::size_t>(std::count(inside.begin(), inside.end(), true));
    switch (test::uniform_int(random, 0, 3)) {
      case 0:
        if (probe.context() == &other) REQUIRE(other.remove(probe));
        CHECK(context.add(probe, {.order = order}).has_value() == (!inside[k] && size < 8));
        if (!inside[k] && size < 8) orders[k] = order;
        inside[k] = inside[k] || size < 8;
        break;
      case 1:
        CHECK(context.remove(probe).has_value() == inside[k]);
        inside[k] = false;
        break;
      case 2:
        CHECK(context.place(probe, {.order = order}).has_value() == inside[k]);
        orders[k] = order;
        break;
      default:
        CHECK(bool(context.apply({.deactivate = {}, .activate = {}, .migrate = {{&probe, &other, {}}}})
                       .status) == inside[k]);
        inside[k] = false;
    }
    const auto rows = context.participants();
    REQUIRE(rows);
    CHECK(rows->size() == static_cast<std::size_t>(std::count(inside.begin(), inside.end(), true)));
    CHECK(std::is_sorted(rows->begin(), rows->end(), [](const Participant& a, const Participant& b) {
      return a.placement.order < b.placement.order;
    }));
    for (const Participant& row : *rows) {
      const auto of =
          std::find_if(probes.begin(), probes.end(), [&](const auto& p) { return p.get() == row.component; });
      const auto number = static_cast<std::size_t>(of - probes.begin());
      CHECK(inside[number]);
      CHECK(row.placement.order == orders[number]);
    }
  }
}

TEST_CASE("a reordering ends, and keeps all components, also if its list is incomplete") {
  ExecutionContext context({.name = "few", .max_components = 4});
  Probe a("a"), b("b"), c("c");
  for (Probe* probe : {&a, &b, &c}) REQUIRE(context.add(*probe, {.order = probe == &c ? 2 : 1}));
  context.reorder(std::array<const Component*, 2>{&b, &b});
  const auto rows = context.participants();
  REQUIRE(rows);
  CHECK(rows->size() == 3);
}
