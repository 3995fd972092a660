#include "takt/component/service.hpp"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <thread>

#include "component/at_boundary.hpp"

namespace takt::component {
namespace {

/// Services are connected one at a time, in the callers' threads.
std::mutex& services_lock() {
  static std::mutex lock;
  return lock;
}

}  // namespace

ServicePort::ServicePort(Component& component, std::string name, std::string_view interface_name,
                         bool provided)
    : component_(&component), name_(std::move(name)), interface_(interface_name), provided_(provided) {
  component.services_.push_back(this);
}

ServicePort::~ServicePort() { std::erase(component_->services_, this); }

std::string ServicePort::full_name() const { return component_->name() + "." + name_; }

ProvidedServiceBase::~ProvidedServiceBase() {
  {
    const std::scoped_lock lock(services_lock());
    for (RequiredServiceBase* client : clients_) {
      // A client that is stuck keeps a pointer that it must not use. There is nobody to tell.
      static_cast<void>(client->set_object(nullptr, default_patience));
      client->provider_ = nullptr;
    }
  }
  while (!wait_for_calls(default_patience)) continue;
}

bool ProvidedServiceBase::wait_for_calls(Duration patience) const {
  using WallClock = std::chrono::steady_clock;
  const auto deadline = WallClock::now() + std::clamp(patience, Duration(0), time_reach);
  // acquire: all that the calls did is visible.
  while (calls_.load(std::memory_order_acquire) != 0) {
    if (WallClock::now() >= deadline) return false;
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  return true;
}

RequiredServiceBase::~RequiredServiceBase() {
  const std::scoped_lock lock(services_lock());
  if (provider_ != nullptr) std::erase(provider_->clients_, this);
}

std::vector<RequiredServiceBase*> ProvidedServiceBase::clients() const {
  const std::scoped_lock lock(services_lock());
  return clients_;
}

ProvidedServiceBase* RequiredServiceBase::provider() const {
  const std::scoped_lock lock(services_lock());
  return provider_;
}

Status RequiredServiceBase::set_object(void* object, Duration patience) {
  const auto set = [this, object]() noexcept -> Status {
    object_ = object;
    return {};
  };
  return at_boundary(component(), set, patience);
}

SetupResult<void> connect(ProvidedServiceBase& provider, RequiredServiceBase& client, Duration patience) {
  const std::string names = provider.full_name() + " -> " + client.full_name();
  if (provider.interface_name() != client.interface_name()) {
    return takt::fail(Errc::wrong_type,
                      names + ": the provider has \"" + std::string(provider.interface_name()) +
                          "\", and the client needs \"" + std::string(client.interface_name()) + "\"");
  }
  const std::scoped_lock lock(services_lock());
  if (const Status status = client.set_object(provider.object_, patience); !status)
    return takt::fail(status.error(), names + ": " + std::string(describe(Errc{status.error().code})));
  if (client.provider_ != nullptr) std::erase(client.provider_->clients_, &client);
  client.provider_ = &provider;
  provider.clients_.push_back(&client);
  return {};
}

Status disconnect(RequiredServiceBase& client, Duration patience) {
  const std::scoped_lock lock(services_lock());
  if (client.provider_ == nullptr) return {};
  if (const Status status = client.set_object(nullptr, patience); !status) return status;
  std::erase(client.provider_->clients_, &client);
  client.provider_ = nullptr;
  return {};
}

namespace service_detail {

DeferredCall::DeferredCall(const RequiredServiceBase& client) {
  const std::scoped_lock lock(services_lock());
  provider_ = client.provider_;
  // relaxed: the lock orders it before the provider's end.
  if (provider_ != nullptr) provider_->calls_.fetch_add(1, std::memory_order_relaxed);
}

DeferredCall::~DeferredCall() {
  // release: the provider's end sees all that the call did.
  if (provider_ != nullptr) provider_->calls_.fetch_sub(1, std::memory_order_release);
}

void* DeferredCall::object() const noexcept { return provider_ != nullptr ? provider_->object() : nullptr; }

Status DeferredCall::run(std::function<Status()> call, Duration patience) const {
  return at_boundary(
      provider_->component(), [call = std::move(call)]() noexcept -> Status { return call(); }, patience);
}

}  // namespace service_detail

}  // namespace takt::component
