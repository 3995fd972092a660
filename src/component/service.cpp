#include "takt/component/service.hpp"

#include <algorithm>
#include <mutex>

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
  const std::scoped_lock lock(services_lock());
  for (RequiredServiceBase* client : clients_) {
    // A client that is stuck keeps a pointer that it must not use. There is nobody to tell.
    static_cast<void>(client->set_object(nullptr, default_patience));
    client->provider_ = nullptr;
  }
}

RequiredServiceBase::~RequiredServiceBase() {
  const std::scoped_lock lock(services_lock());
  if (provider_ != nullptr) std::erase(provider_->clients_, this);
}

const ProvidedServiceBase* RequiredServiceBase::provider() const {
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

Provider provider_of(const RequiredServiceBase& client) {
  const ProvidedServiceBase* provider = client.provider();
  if (provider == nullptr) return {};
  return {&provider->component(), provider->object()};
}

Status run_at_boundary(Component& component, std::function<Status()> call, Duration patience) {
  return at_boundary(
      component, [call = std::move(call)]() noexcept -> Status { return call(); }, patience);
}

}  // namespace service_detail

}  // namespace takt::component
