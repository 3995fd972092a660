// Services: a component provides a C++ interface, and others require it, by name:
//
//     struct Gripper {
//       static constexpr std::string_view service_name = "Gripper/1";  // the number rises with the interface
//       virtual takt::Status close(double force) noexcept = 0;          // N
//     };
//
//     takt::component::ProvidedService<Gripper> gripper{*this, "gripper", *this};   // in the provider
//     takt::component::RequiredService<Gripper> gripper{*this, "gripper"};          // in the client
//
//     if (Gripper* direct = gripper.get()) (void)direct->close(10);  // at once, in this thread
//     takt::Status done = gripper.call([](Gripper& g) noexcept { return g.close(10); });  // deferred
//
// A direct call runs in the caller's thread, so both components must be in one context, or the interface must
// be safe for threads. A deferred call runs between two cycles of the provider, and waits for a bounded time.
// A struct of C function pointers with a service_name is an interface, too.
#pragma once

#include <atomic>
#include <concepts>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "takt/component/boundary_calls.hpp"
#include "takt/component/error.hpp"
#include "takt/core/error.hpp"
#include "takt/core/setup_error.hpp"

namespace takt::component {

class Component;

/// An interface that can be a service.
template <class I>
concept ServiceInterface = requires {
  { I::service_name } -> std::convertible_to<std::string_view>;
};

/// What provided and required services have in common.
class ServicePort {
 public:
  ServicePort(const ServicePort&) = delete;
  ServicePort& operator=(const ServicePort&) = delete;

  /// The name, unique among the services of the component.
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  /// The name of the interface.
  [[nodiscard]] std::string_view interface_name() const noexcept { return interface_; }
  /// The component that provides or requires it.
  [[nodiscard]] Component& component() const noexcept { return *component_; }
  /// Whether the component provides it.
  [[nodiscard]] bool is_provided() const noexcept { return provided_; }
  /// "component.service".
  [[nodiscard]] std::string full_name() const;

 protected:
  ServicePort(Component& component, std::string name, std::string_view interface_name, bool provided);
  ~ServicePort();

 private:
  Component* component_;
  std::string name_;
  std::string_view interface_;
  bool provided_;
};

class RequiredServiceBase;

namespace service_detail {
class DeferredCall;
}  // namespace service_detail

/// A provided service of any interface.
class ProvidedServiceBase : public ServicePort {
 public:
  /// The object that implements the interface.
  [[nodiscard]] void* object() const noexcept { return object_; }
  /// The connected clients. For set-up and tools.
  [[nodiscard]] std::vector<RequiredServiceBase*> clients() const;
  /// Waits until no deferred call is under way. Returns false if one is, after this time. Not real-time safe.
  [[nodiscard]] bool wait_for_calls(Duration patience) const;

 protected:
  ProvidedServiceBase(Component& component, std::string name, std::string_view interface_name, void* object)
      : ServicePort(component, std::move(name), interface_name, true), object_(object) {}
  /// Disconnects all clients at boundaries of their contexts. Waits for deferred calls under way, which are
  /// bounded by their patience.
  ~ProvidedServiceBase();

 private:
  friend class RequiredServiceBase;
  friend class service_detail::DeferredCall;
  friend SetupResult<void> connect(ProvidedServiceBase&, RequiredServiceBase&, Duration);
  friend Status disconnect(RequiredServiceBase&, Duration);

  void* object_;
  std::vector<RequiredServiceBase*> clients_;  ///< under the lock of services
  std::atomic<std::uint32_t> calls_{0};        ///< deferred ones under way
};

/// A required service of any interface.
class RequiredServiceBase : public ServicePort {
 public:
  /// The provider; null: none. For set-up and tools.
  [[nodiscard]] ProvidedServiceBase* provider() const;

 protected:
  RequiredServiceBase(Component& component, std::string name, std::string_view interface_name)
      : ServicePort(component, std::move(name), interface_name, false) {}
  ~RequiredServiceBase();

  void* object_ = nullptr;                   ///< changes at boundaries of the component
  ProvidedServiceBase* provider_ = nullptr;  ///< under the lock of services

 private:
  friend class ProvidedServiceBase;
  friend class service_detail::DeferredCall;
  friend SetupResult<void> connect(ProvidedServiceBase&, RequiredServiceBase&, Duration);
  friend Status disconnect(RequiredServiceBase&, Duration);

  [[nodiscard]] Status set_object(void* object, Duration patience);
};

/// Connects a client with a provider at the next boundary of the client; the former provider is replaced. Not
/// real-time safe. Errors: wrong_type (the message has both interfaces); those of BoundaryCalls::run().
[[nodiscard]] SetupResult<void> connect(ProvidedServiceBase& provider, RequiredServiceBase& client,
                                        Duration patience = default_patience);
/// Disconnects a client at its next boundary. Not real-time safe. Errors: those of BoundaryCalls::run().
[[nodiscard]] Status disconnect(RequiredServiceBase& client, Duration patience = default_patience);

/// A service that the component provides by `object`, for example by itself.
template <ServiceInterface I>
class ProvidedService final : public ProvidedServiceBase {
 public:
  /// Adds the service to the component. `object` must live as long. Not real-time safe.
  ProvidedService(Component& component, std::string name, I& object)
      : ProvidedServiceBase(component, std::move(name), I::service_name, &object) {}
};

/// A service that the component needs.
template <ServiceInterface I>
class RequiredService final : public RequiredServiceBase {
 public:
  /// Adds the need to the component. Not real-time safe.
  RequiredService(Component& component, std::string name)
      : RequiredServiceBase(component, std::move(name), I::service_name) {}

  /// The interface for direct calls; null without a provider. Real-time safe. Only the thread that runs the
  /// component calls it, and uses the pointer until its next boundary.
  [[nodiscard]] I* get() const noexcept { return static_cast<I*>(object_); }

  /// Runs `call(I&) noexcept -> Status` between two cycles of the provider. Not real-time safe; from any
  /// thread but those of contexts. `call` holds values, not references to the caller's stack. Errors:
  /// not_connected; those of BoundaryCalls::run() and of `call`.
  template <class Call>
  requires std::is_nothrow_invocable_r_v<Status, Call&, I&>
  [[nodiscard]] Status call(Call call, Duration patience = default_patience) const;
};

namespace service_detail {

/// A deferred call. The provider exists until it ends.
class DeferredCall {
 public:
  explicit DeferredCall(const RequiredServiceBase& client);
  DeferredCall(const DeferredCall&) = delete;
  DeferredCall& operator=(const DeferredCall&) = delete;
  ~DeferredCall();

  /// The provider's object; null: there is no provider.
  [[nodiscard]] void* object() const noexcept;
  [[nodiscard]] Status run(std::function<Status()> call, Duration patience) const;

 private:
  ProvidedServiceBase* provider_;
};

}  // namespace service_detail

template <ServiceInterface I>
template <class Call>
requires std::is_nothrow_invocable_r_v<Status, Call&, I&> Status RequiredService<I>::call(Call call,
                                                                                          Duration patience)
const {
  const service_detail::DeferredCall deferred(*this);
  if (deferred.object() == nullptr) return fail(Errc::not_connected);
  return deferred.run([object = static_cast<I*>(deferred.object()),
                       call = std::move(call)]() mutable { return call(*object); },
                      patience);
}

}  // namespace takt::component
