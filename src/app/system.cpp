#include "takt/app/system.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "app/system_parts.hpp"
#include "takt/app/shared_ports.hpp"
#include "takt/component/service.hpp"
#include "takt/describe.hpp"
#include "takt/platform/steady_clock.hpp"

namespace takt::app {

using component::Component;
using component::ComponentState;
using component::ExecutionContext;
using component::InPortBase;
using component::OutPortBase;
using component::ProvidedServiceBase;
using component::RequiredServiceBase;

namespace {

/// Time for a request while the system starts: a loaded machine may be slow.
constexpr Duration start_patience = std::chrono::seconds(5);

/// The name of a connection's exchange in the segment.
std::string exchange_name(std::size_t index) { return fmt::format("c{}", index); }

template <class P>
std::string names_of(std::span<P* const> parts) {
  std::string names;
  for (const P* part : parts) names += (names.empty() ? "" : ", ") + part->name();
  return names.empty() ? "none" : names;
}

}  // namespace

std::pair<std::string_view, std::string_view> split_name(std::string_view full_name) noexcept {
  const std::size_t point = full_name.rfind('.');
  if (point == std::string_view::npos) return {full_name, {}};
  return {full_name.substr(0, point), full_name.substr(point + 1)};
}

std::string segment_name(const SystemDescription& description) { return "takt-" + description.name; }

// ---- finding ----

Component* ComponentSystem::Parts::find(std::string_view name) const noexcept {
  if (const std::size_t slash = name.find('/'); slash != std::string_view::npos) {
    for (const auto& runner : robots) {
      if (runner->robot && runner->description.name == name.substr(0, slash))
        return runner->robot->manager().find(name.substr(slash + 1));
    }
    return nullptr;
  }
  for (const Part& part : components) {
    if (part.component->name() == name) return part.component.get();
  }
  return nullptr;
}

ComponentSystem::Parts::Part* ComponentSystem::Parts::find_part(std::string_view name) noexcept {
  for (Part& part : components) {
    if (part.component->name() == name) return &part;
  }
  return nullptr;
}

ExecutionContext* ComponentSystem::Parts::find_context(std::string_view name) const noexcept {
  for (const auto& runner : runners) {
    if (runner->description.name == name) return &runner->context;
  }
  auto* composite = dynamic_cast<component::Composite*>(find(name));
  return composite != nullptr ? &composite->inner() : nullptr;
}

template <class P>
SetupResult<P*> ComponentSystem::Parts::find_port(std::string_view full_name) const {
  const auto [component_name, port_name] = split_name(full_name);
  Component* owner = find(component_name);
  if (owner == nullptr)
    return fail(component::Errc::no_such_component,
                fmt::format("\"{}\": there is no component \"{}\"", full_name, component_name));
  auto* port = dynamic_cast<P*>(owner->find_port(port_name));
  if (port != nullptr) return port;
  constexpr std::string_view kind = std::is_same_v<P, InPortBase> ? "in-port" : "out-port";
  return fail(component::Errc::no_such_port,
              fmt::format("\"{}\": {} has no {} \"{}\"; its ports: {}", full_name, component_name, kind,
                          port_name, names_of(owner->ports())));
}

template <class P>
SetupResult<P*> ComponentSystem::Parts::find_service(std::string_view full_name) const {
  const auto [component_name, service_name] = split_name(full_name);
  Component* owner = find(component_name);
  if (owner == nullptr)
    return fail(component::Errc::no_such_component,
                fmt::format("\"{}\": there is no component \"{}\"", full_name, component_name));
  component::ServicePort* service = owner->find_service(service_name);
  constexpr bool provided = std::is_same_v<P, ProvidedServiceBase>;
  if (service != nullptr && service->is_provided() == provided) return static_cast<P*>(service);
  return fail(component::Errc::no_such_service,
              fmt::format("\"{}\": {} {} no service \"{}\"; its services: {}", full_name, component_name,
                          provided ? "provides" : "requires", service_name, names_of(owner->services())));
}

template SetupResult<InPortBase*> ComponentSystem::Parts::find_port(std::string_view) const;
template SetupResult<OutPortBase*> ComponentSystem::Parts::find_port(std::string_view) const;

namespace {

/// Wakes a context of another process.
struct ProcessBell final : component::Wake {
  explicit ProcessBell(platform::EventBell&& inherited) noexcept : bell(std::move(inherited)) {}
  void ring() noexcept override { bell.ring(); }
  platform::EventBell bell;
};

}  // namespace

SetupResult<void> ComponentSystem::Parts::adopt_bells() {
  for (const auto& [context, descriptor] : options.bells) {
    auto bell = platform::EventBell::adopt(descriptor);
    if (!bell) return fail(bell.error().error, context + ": " + bell.error().message);
    bells[context] = std::make_shared<ProcessBell>(std::move(*bell));
  }
  return {};
}

bool ComponentSystem::Parts::is_elsewhere(std::string_view full_name) const {
  const std::string_view name = split_name(full_name).first;
  if (find(name) != nullptr) return false;
  const auto is_its = [name](const auto& runner) {
    return !runner->robot && name.starts_with(runner->description.name + "/");
  };
  if (std::ranges::any_of(robots, is_its)) return true;
  return lost.contains(name) ||
         (!options.process.empty() && !description.process_of(name).empty() && !is_ours(name));
}

std::shared_ptr<component::Wake> ComponentSystem::Parts::bell_of(std::string_view port) const {
  const ContextDescription* context = description.context_of(split_name(port).first);
  const auto bell = context != nullptr ? bells.find(context->name) : bells.end();
  return bell != bells.end() ? bell->second : nullptr;
}

// ---- making ----

SetupResult<void> ComponentSystem::Parts::make() {
  std::string mistakes;
  const auto note = [&](const std::string& where, const std::string& reason) {
    mistakes += (mistakes.empty() ? "" : "\n") + where + ": " + reason;
  };
  for (std::size_t i = 0; i < description.libraries.size(); ++i) {
    if (auto loaded = library->load(description.libraries[i], options.folders); !loaded)
      note(fmt::format("/libraries/{}", i), loaded.error().message);
  }
  for (const ContextDescription& context : description.contexts) {
    if (is_ours(context.name) && !context.robot) runners.push_back(std::make_unique<Runner>(context));
  }
  for (std::size_t i = 0; i < description.contexts.size(); ++i) {
    const ContextDescription& context = description.contexts[i];
    if (!is_ours(context.name) || !context.robot) continue;
    robots.push_back(std::make_unique<RobotRunner>(context));
    if (auto made = make_robot(*robots.back()); !made)
      note(fmt::format("/contexts/{}/file", i), made.error().message);
  }
  for (std::size_t i = 0; i < description.components.size(); ++i) {
    const ComponentDescription& wanted = description.components[i];
    if (!is_ours(wanted.context)) continue;
    const std::string where = fmt::format("/components/{}", i);
    auto made = make_component(wanted);
    if (!made) {
      lost.insert(wanted.name);
      note(where + (wanted.recording.empty() ? "/type" : "/file"), made.error().message);
      continue;
    }
    component::ParameterSet& parameters = (*made)->parameters();
    if (auto set = parameters.set(wanted.parameters, "launch"); !set)
      note(where + "/parameters", set.error().message);
    for (const auto& [name, values] : wanted.sets) {
      if (auto defined = parameters.define(name, values); !defined)
        note(fmt::format("{}/sets/{}", where, name), defined.error().message);
    }
    components.push_back({&wanted, std::move(*made)});
  }
  for (std::size_t i = 0; i < description.connections.size(); ++i) {
    const ConnectionDescription& wanted = description.connections[i];
    const std::string where = fmt::format("/connections/{}", i);
    if (description.is_recorded(split_name(wanted.to).first)) continue;
    for (const std::string* end : {&wanted.from, &wanted.to}) {
      if (end->find('/') != std::string::npos && description.process_of(split_name(wanted.from).first) !=
                                                     description.process_of(split_name(wanted.to).first))
        note(where, fmt::format("\"{}\" is a port of a robot, which connects within its process", *end));
    }
    OutPortBase* from = nullptr;
    InPortBase* to = nullptr;
    if (!is_elsewhere(wanted.from)) {
      auto found = find_port<OutPortBase>(wanted.from);
      if (found) from = *found;
      if (!found) note(where + "/from", found.error().message);
    }
    if (!is_elsewhere(wanted.to)) {
      auto found = find_port<InPortBase>(wanted.to);
      if (found) to = *found;
      if (!found) note(where + "/to", found.error().message);
    }
    if (from != nullptr && to != nullptr && from->schema() != to->schema()) {
      note(where, fmt::format("{} has \"{}\", and {} wants \"{}\"", wanted.from, from->schema(), wanted.to,
                              to->schema()));
    }
  }
  for (std::size_t i = 0; i < description.services.size(); ++i) {
    const ServiceDescription& wanted = description.services[i];
    const std::string where = fmt::format("/services/{}", i);
    if (is_elsewhere(wanted.from) && is_elsewhere(wanted.to)) continue;
    const auto from = find_service<ProvidedServiceBase>(wanted.from);
    const auto to = find_service<RequiredServiceBase>(wanted.to);
    if (!from && !lost.contains(split_name(wanted.from).first)) note(where + "/from", from.error().message);
    if (!to && !lost.contains(split_name(wanted.to).first)) note(where + "/to", to.error().message);
    if (from && to && (*from)->interface_name() != (*to)->interface_name()) {
      note(where, fmt::format("{} provides \"{}\", and {} requires \"{}\"", wanted.from,
                              (*from)->interface_name(), wanted.to, (*to)->interface_name()));
    }
  }
  make_recorders(note);
  if (!mistakes.empty()) return fail(component::Errc::bad_system, mistakes);
  return {};
}

SetupResult<std::optional<platform::Segment>> ComponentSystem::make_segment() const {
  const Parts& parts = *parts_;
  std::vector<std::string> names;
  std::vector<shm::Declaration> wanted;
  const auto& connections = parts.description.connections;
  names.reserve(connections.size());
  for (std::size_t i = 0; i < connections.size(); ++i) {
    const auto process_of = [&](const std::string& full_name) {
      return parts.description.process_of(split_name(full_name).first);
    };
    if (process_of(connections[i].from) == process_of(connections[i].to)) continue;
    if (parts.description.is_recorded(split_name(connections[i].to).first)) continue;
    const auto from = parts.find_port<OutPortBase>(connections[i].from);
    if (!from) return tl::unexpected<SetupError>(from.error());
    names.push_back(exchange_name(i));
    wanted.push_back((*from)->declare(connections[i].options.buffering, connections[i].options.capacity));
    wanted.back().name = names.back();
  }
  if (wanted.empty()) return std::optional<platform::Segment>();
  // A system of this name that was killed has left its segment.
  static_cast<void>(platform::Segment::remove_unused(segment_name(parts.description)));
  auto segment = platform::Segment::create(segment_name(parts.description), wanted);
  if (!segment) return tl::unexpected<SetupError>(std::move(segment.error()));
  return std::optional<platform::Segment>(std::move(*segment));
}

// ---- starting ----

SetupResult<void> ComponentSystem::Parts::connect_one(std::size_t index) {
  const ConnectionDescription& wanted = description.connections[index];
  const bool from_here = find(split_name(wanted.from).first) != nullptr;
  const bool to_here = find(split_name(wanted.to).first) != nullptr;
  if ((!from_here && !to_here) || description.is_recorded(split_name(wanted.to).first)) return {};
  SetupResult<component::Connection> made = component::Connection();
  if (from_here && to_here) {
    made = component::connect(**find_port<OutPortBase>(wanted.from), **find_port<InPortBase>(wanted.to),
                              wanted.options);
  } else if (options.segment == nullptr) {
    return fail(component::Errc::bad_system,
                fmt::format("{} -> {} needs memory between processes", wanted.from, wanted.to));
  } else if (from_here) {
    made = app::connect(**find_port<OutPortBase>(wanted.from), *options.segment, exchange_name(index),
                        wanted.options.wakes ? bell_of(wanted.to) : nullptr);
  } else {
    made = app::connect(*options.segment, exchange_name(index), **find_port<InPortBase>(wanted.to),
                        wanted.options.order);
  }
  if (!made) return tl::unexpected<SetupError>(std::move(made.error()));
  wires.push_back({wanted.from, wanted.to, nullptr, std::move(*made)});
  return {};
}

SetupResult<void> ComponentSystem::Parts::connect_all() {
  for (std::size_t i = 0; i < description.connections.size(); ++i) {
    if (auto made = connect_one(i); !made) return made;
  }
  for (const ServiceDescription& wanted : description.services) {
    const auto from = find_service<ProvidedServiceBase>(wanted.from);
    const auto to = find_service<RequiredServiceBase>(wanted.to);
    if (!from || !to) continue;
    if (auto made = component::connect(**from, **to); !made) return made;
  }
  return {};
}

SetupResult<void> ComponentSystem::Parts::set_up() {
  if (auto connected = connect_all(); !connected) return connected;
  for (const Part& part : components) {
    ExecutionContext* context = find_context(part.description->context);
    if (auto added = context->add(*part.component, part.description->placement); !added)
      return fail(added.error().error, part.component->name() + ": " + added.error().message);
  }
  for (const Recording& recording : recordings) {
    if (auto opened = open(recording); !opened) return opened;
  }
  for (const auto& player : players) {
    if (auto begun = player->begin(is_virtual); !begun) return begun;
  }
  return open_log();
}

SetupResult<void> ComponentSystem::Parts::start_threads() {
  for (const auto& owned : runners) {
    Runner& runner = *owned;
    if (runner.description.period == Duration(0)) {
      const auto bell = options.bells.find(runner.description.name);
      auto waiter = platform::EventWaiter::create({}, bell == options.bells.end() ? -1 : bell->second);
      if (!waiter) return tl::unexpected<SetupError>(waiter.error());
      runner.waiter.emplace(std::move(*waiter));
    }
    runner.thread = std::make_unique<component::ContextThread>(
        runner.context, runner.description.thread, [&runner]() -> Status {
          const Status status = runner.waiter
                                    ? component::run_on_events(runner.context, runner.clock, *runner.waiter,
                                                               runner.ticks, runner.description.silence)
                                    : component::run_periodically(runner.context, runner.clock,
                                                                  {.period = runner.description.period});
          runner.ended = true;
          return status;
        });
  }
  start_robots();
  watchdog = std::thread([this] { watch(); });
  await_contexts();
  return {};
}

/// Before its thread runs it, a context has no time, and would activate components at the time 0.
void ComponentSystem::Parts::await_contexts() {
  const Time latest = platform::SteadyClock().now() + start_patience;
  for (const auto& runner : runners) {
    while (!runner->context.is_running() && !runner->ended && platform::SteadyClock().now() < latest)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

SetupResult<void> ComponentSystem::Parts::activate_all() {
  for (const Part& part : components) {
    if (!part.description->active) continue;
    ExecutionContext* context = part.component->context();
    if (const Status status = context->activate(*part.component, start_patience); !status) {
      return fail(status.error(), fmt::format("{} cannot be activated: {}", part.component->name(),
                                              std::string(describe(status.error()))));
    }
  }
  return {};
}

SetupResult<void> ComponentSystem::start() {
  if (!parts_->robots.empty() && !parts_->options.opens_robots)
    return fail(component::Errc::bad_system, "the system was made to be checked: opens_robots is false");
  parts_->began = parts_->now();
  parts_->began_unix = parts_->began + parts_->epoch();
  SetupResult<void> done = parts_->set_up();
  if (done) done = parts_->start_threads();
  if (done) done = parts_->activate_all();
  if (!done) parts_->stop(std::chrono::seconds(2));
  return done;
}

SetupResult<void> ComponentSystem::run_virtual(Duration duration) {
  Parts& parts = *parts_;
  if (!parts.robots.empty())
    return fail(component::Errc::bad_system,
                parts.robots.front()->description.name + " is a robot, which runs in wall time only");
  parts.is_virtual = true;
  if (auto done = parts.set_up(); !done) return done;
  component::VirtualTime time;
  for (const auto& runner : parts.runners) {
    // Without a period, a context runs at its longest silence.
    const Duration period =
        runner->description.period > Duration(0) ? runner->description.period : runner->description.silence;
    if (const Status status = time.add(runner->context, period); !status)
      return fail(status.error(), runner->description.name + ": " + std::string(describe(status.error())));
  }
  if (auto done = parts.activate_all(); !done) return done;
  time.run_until(time.now() + duration);
  parts.virtual_now = time.now();
  parts.look(Time{});
  return {};
}

// ---- changing ----

SetupResult<component::Replacement> ComponentSystem::Parts::replace(Part& part, std::string_view type,
                                                                    std::string_view who) {
  auto fresh = library->make(type, part.component->name());
  if (!fresh) return tl::unexpected<SetupError>(std::move(fresh.error()));
  auto done = component::replace(*part.component, **fresh, who, request_patience);
  const bool is_stuck = !done && done.error().error == component::Errc::stuck;
  const std::scoped_lock lock(watchdog_mutex);
  if (done || (*fresh)->context() != nullptr) std::swap(part.component, *fresh);
  if (is_stuck) stuck_components.push_back(std::move(*fresh));
  if (!done && !is_stuck && done.error().error.room != Room::component)
    done.error().message += ": " + std::string(describe(done.error().error));
  return done;
}

// ---- ending ----

bool ComponentSystem::Parts::stop(Duration patience) {
  {
    const std::scoped_lock lock(watchdog_mutex);
    watchdog_ends = true;
  }
  watchdog_end.notify_all();
  if (watchdog.joinable()) watchdog.join();
  for (auto part = components.rbegin(); part != components.rend(); ++part) {
    Component& component = *part->component;
    if (component.state() == ComponentState::active && component.context() != nullptr)
      static_cast<void>(component.context()->deactivate(component, patience));
  }
  bool whole = stop_robots(patience);
  for (auto runner = runners.rbegin(); runner != runners.rend(); ++runner) {
    if (!(*runner)->thread) continue;
    (*runner)->context.request_stop();
    const auto deadline = std::chrono::steady_clock::now() + patience;
    while (!(*runner)->ended && std::chrono::steady_clock::now() < deadline)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    whole = whole && (*runner)->ended;
  }
  if (!whole) return false;
  for (const auto& runner : runners) {
    if (!runner->thread) continue;
    static_cast<void>(runner->thread->stop());
    runner->thread.reset();
  }
  wires.clear();
  finish_files();
  return true;
}

bool ComponentSystem::stop(Duration patience) { return parts_->stop(patience); }

// ---- the watchdog ----

void ComponentSystem::Parts::report(std::string text) {
  if (log) log->write(now(), rt::LogLevel::warning, {}, text);
  const std::scoped_lock lock(report_mutex);
  if (reports.size() < 256) reports.push_back(std::move(text));
}

void ComponentSystem::Parts::look(Time now) {
  for (const auto& runner : robots) {
    if (runner->thread.joinable()) look_at(*runner);
  }
  for (const auto& owned : runners) {
    Runner& runner = *owned;
    const Component* running = runner.context.running_component();
    const std::uint64_t cycle = runner.context.cycles();
    if (running == nullptr || running != runner.suspect || cycle != runner.suspect_cycle) {
      if (runner.reported) report(runner.description.name + " runs again");
      runner.suspect = running;
      runner.suspect_cycle = cycle;
      runner.suspect_since = now;
      runner.reported = false;
    } else if (!runner.reported && now - runner.suspect_since >= runner.description.stuck_after) {
      runner.reported = true;
      report(fmt::format("{}: a callback of {} has not returned for {:.1f} s", runner.description.name,
                         running->name(), to_seconds(now - runner.suspect_since)));
    }
  }
  stuck = std::any_of(runners.begin(), runners.end(), [](const auto& runner) { return runner->reported; });
  must_end = std::any_of(runners.begin(), runners.end(), [](const auto& runner) {
    return runner->reported && runner->description.when_stuck == WhenStuck::end_process;
  });
  for (Part& part : components) {
    const ComponentState state = part.component->state();
    if (state == part.last_state) continue;
    if (state == ComponentState::error) {
      report(fmt::format("{} has failed: {}", part.component->name(),
                         std::string(describe(part.component->error()))));
    } else if (part.last_state == ComponentState::error) {
      report(fmt::format("{} is {}", part.component->name(), component::to_string(state)));
    }
    part.last_state = state;
  }
}

void ComponentSystem::Parts::watch() {
  platform::HybridClock clock;
  std::unique_lock lock(watchdog_mutex);
  while (!watchdog_end.wait_for(lock, std::chrono::milliseconds(20), [this] { return watchdog_ends; }))
    look(clock.now());
}

// ---- the system ----

SetupResult<std::unique_ptr<ComponentSystem>> ComponentSystem::create(const SystemDescription& description,
                                                                      ComponentLibrary& library,
                                                                      const SystemOptions& options) {
  auto parts = std::make_unique<Parts>();
  parts->description = description;
  parts->options = options;
  parts->library = &library;
  if (auto adopted = parts->adopt_bells(); !adopted) return tl::unexpected<SetupError>(adopted.error());
  if (auto made = parts->make(); !made) return tl::unexpected<SetupError>(std::move(made.error()));
  return std::unique_ptr<ComponentSystem>(new ComponentSystem(std::move(parts)));
}

ComponentSystem::ComponentSystem(std::unique_ptr<Parts> parts) noexcept : parts_(std::move(parts)) {}

ComponentSystem::~ComponentSystem() {
  // A thread that is stuck still uses all of it.
  if (!parts_->stop(std::chrono::seconds(2))) static_cast<void>(parts_.release());
}

std::optional<std::string> ComponentSystem::next_report() {
  const std::scoped_lock lock(parts_->report_mutex);
  if (parts_->reports.empty()) return std::nullopt;
  std::string text = std::move(parts_->reports.front());
  parts_->reports.pop_front();
  return text;
}

bool ComponentSystem::is_stuck() const noexcept { return parts_->stuck; }
bool ComponentSystem::must_end() const noexcept { return parts_->must_end; }

Component* ComponentSystem::find(std::string_view name) const noexcept { return parts_->find(name); }

}  // namespace takt::app
