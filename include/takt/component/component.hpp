// A component: the unit that takt runs. Devices and controllers are components. It derives from
// Component:
//
//     struct Counter final : takt::component::Component {
//       static constexpr takt::component::ComponentMetadata about{
//           .type = "Counter", .version = "1.0.0", .vendor = "you", .category = "example",
//           .description = "Counts its cycles."};
//       Counter() : Component(about, "counter") {}
//
//       takt::Status on_execute(const takt::component::CycleTime&) noexcept override {
//         ++count;
//         return {};
//       }
//       int count = 0;
//     };
//
// An execution context (execution_context.hpp) calls it. The callbacks of the cycle run in the context's
// thread and must be real-time safe. They answer with a Status; an error leads to the state error. A
// component participates in one context at a time, and can migrate to another between two cycles.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "takt/component/error.hpp"
#include "takt/component/life_cycle.hpp"
#include "takt/component/parameter.hpp"
#include "takt/core/error.hpp"
#include "takt/core/setup_error.hpp"
#include "takt/core/time.hpp"
#include "takt/rt/logger.hpp"
#include "takt/rt/text_id.hpp"

namespace takt::component {

class ExecutionContext;
class KeptStateBase;
class Port;
class ServicePort;

/// The description of a component, for people and tools. A type declares it as a constant.
struct ComponentMetadata {
  std::string_view type;     ///< unique in a program: "Follower"
  std::string_view version;  ///< "1.2.0"
  std::string_view vendor;
  std::string_view category;     ///< "control", "sensor", "vehicle"
  std::string_view description;  ///< one sentence
};

/// The times of one cycle, as a component sees them.
struct CycleTime {
  Time time{};          ///< nominal time of the cycle
  Duration period{};    ///< since the component's previous cycle, by its rate; 0 in contexts without a period
  Duration measured{};  ///< since the context's previous cycle, measured
  std::uint64_t index = 0;  ///< cycles of the context before this one
};

/// Whether this is a name of a component: 1 to 31 letters, digits, '_', '-' or '.'.
[[nodiscard]] constexpr bool is_valid_name(std::string_view name) noexcept {
  if (name.empty() || name.size() > 31) return false;
  for (const char c : name) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (!letter && !(c >= '0' && c <= '9') && c != '_' && c != '-' && c != '.') return false;
  }
  return true;
}

/// The base of all components. Its address is its identity, so it cannot be copied or moved.
class Component {
 public:
  /// `metadata` must outlive the component. The name is unique among the components of a program.
  Component(const ComponentMetadata& metadata, std::string name)
      : metadata_(&metadata), name_(std::move(name)), name_id_(rt::intern(name_)) {}
  Component(const Component&) = delete;
  Component& operator=(const Component&) = delete;
  /// Leaves the context, without a callback. While a thread runs that context, remove() must come before: the
  /// cycle must not meet a component that is half destroyed.
  virtual ~Component();

  // ---- set-up: called once, outside the cycle; may allocate and throw ----

  /// Prepares the component. An error leaves it created, and the caller gets the explanation.
  [[nodiscard]] virtual SetupResult<void> on_initialize() { return {}; }
  /// Ends the component for good.
  virtual void on_finalize() noexcept {}
  /// Judges a change of parameters by their proposed() values. Outside the cycle, which may run meanwhile.
  [[nodiscard]] virtual SetupResult<void> on_check() { return {}; }

  // ---- the context's thread; real-time safe ----

  /// The context starts or stops, in any state of the component.
  virtual void on_startup(const CycleTime& /*cycle*/) noexcept {}
  virtual void on_shutdown(const CycleTime& /*cycle*/) noexcept {}
  /// The component becomes active. An error leads to the state error.
  [[nodiscard]] virtual Status on_activate(const CycleTime& /*cycle*/) noexcept { return {}; }
  /// One cycle of an active component.
  [[nodiscard]] virtual Status on_execute(const CycleTime& /*cycle*/) noexcept { return {}; }
  /// The end of one cycle: all components of the context have executed.
  [[nodiscard]] virtual Status on_state_update(const CycleTime& /*cycle*/) noexcept { return {}; }
  /// The component stops being active, also on its way to the state error.
  virtual void on_deactivate(const CycleTime& /*cycle*/) noexcept {}
  /// The component enters the state error.
  virtual void on_abort(const CycleTime& /*cycle*/) noexcept {}
  /// One cycle in the state error.
  virtual void on_error(const CycleTime& /*cycle*/) noexcept {}
  /// A reset is requested. An error keeps the state error.
  [[nodiscard]] virtual Status on_reset(const CycleTime& /*cycle*/) noexcept { return {}; }
  /// The component's rate has changed, for example by a migration.
  virtual void on_rate_change(const CycleTime& /*cycle*/) noexcept {}
  /// Parameters have changed: derives from them what the cycle uses.
  virtual void on_parameters() noexcept {}

  // ---- what it is; any thread ----

  /// The name, unique in the program.
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  /// The number of the name, for traces.
  [[nodiscard]] rt::TextId name_id() const noexcept { return name_id_; }
  /// What it is.
  [[nodiscard]] const ComponentMetadata& metadata() const noexcept { return *metadata_; }
  /// The present state.
  [[nodiscard]] ComponentState state() const noexcept { return state_.load(std::memory_order_acquire); }
  /// The context in which it participates; null: none.
  [[nodiscard]] ExecutionContext* context() const noexcept {
    return context_.load(std::memory_order_acquire);
  }
  /// The reason of the state error; Room::none in other states.
  [[nodiscard]] Error error() const noexcept {
    const std::uint32_t bits = error_.load(std::memory_order_relaxed);
    return {static_cast<Room>(bits >> 16), static_cast<std::uint16_t>(bits)};
  }
  /// The ports, in the order of their declaration (port.hpp).
  [[nodiscard]] std::span<Port* const> ports() const noexcept { return ports_; }
  /// The one with this name; null: none.
  [[nodiscard]] Port* find_port(std::string_view name) const noexcept;
  /// The services, provided and required (service.hpp).
  [[nodiscard]] std::span<ServicePort* const> services() const noexcept { return services_; }
  /// The one with this name; null: none.
  [[nodiscard]] ServicePort* find_service(std::string_view name) const noexcept;
  /// The state that a successor takes over (kept_state.hpp).
  [[nodiscard]] std::span<KeptStateBase* const> kept_states() const noexcept { return kept_; }
  /// The parameters (parameter.hpp).
  [[nodiscard]] ParameterSet& parameters() noexcept { return parameters_; }
  [[nodiscard]] const ParameterSet& parameters() const noexcept { return parameters_; }

  /// Leads from created to inactive. add() of a context does it if it was not done. Not real-time safe.
  /// Errors: wrong_state; threw; bad_name and bad_value (of the
  /// component, a port or a parameter); those of on_initialize().
  [[nodiscard]] SetupResult<void> initialize();
  /// Leads to finalised. Not real-time safe. Errors: wrong_state (active); already_participates.
  [[nodiscard]] Status finalize() noexcept;

 protected:
  /// Logs an entry with the component as its source, if the context has a logger (rt/logger.hpp). Only in
  /// callbacks of the cycle; real-time safe.
  template <rt::Loggable... Arguments>
  void log(rt::LogStatement<Arguments...>& statement, std::type_identity_t<Arguments>... arguments) noexcept {
    if (rt::Logger* const to = logger()) to->log(statement, name_id_, arguments...);
  }

 private:
  friend class ExecutionContext;
  friend class KeptStateBase;
  friend class Port;
  friend class ServicePort;

  [[nodiscard]] SetupResult<void> check_names() const;
  [[nodiscard]] rt::Logger* logger() const noexcept;

  // Only the thread that runs or has borrowed the context changes the state.
  //
  // release: a thread that sees the state also sees the effects of the callbacks before.
  void set_state(ComponentState state, Error error = {}) noexcept {
    error_.store(std::uint32_t{static_cast<std::uint16_t>(error.room)} << 16 | error.code,
                 std::memory_order_relaxed);
    state_.store(state, std::memory_order_release);
  }

  const ComponentMetadata* metadata_;
  std::string name_;
  rt::TextId name_id_;
  std::vector<Port*> ports_;
  std::vector<ServicePort*> services_;
  std::vector<KeptStateBase*> kept_;
  ParameterSet parameters_{*this};
  std::atomic<ComponentState> state_{ComponentState::created};
  std::atomic<std::uint32_t> error_{0};
  std::atomic<ExecutionContext*> context_{nullptr};
  std::atomic<std::uint32_t> slot_{0};  ///< its place in the context that holds it; a hint for any other
};

}  // namespace takt::component
