#include "takt/component/replacement.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "component/link.hpp"
#include "takt/component/drivers.hpp"
#include "takt/component/kept_state.hpp"
#include "takt/component/service.hpp"

namespace takt::component {

KeptStateBase::KeptStateBase(Component& component, std::string name, std::string_view schema,
                             std::span<std::byte> bytes)
    : component_(&component), name_(std::move(name)), schema_(schema), bytes_(bytes) {
  component.kept_.push_back(this);
}

KeptStateBase::~KeptStateBase() { std::erase(component_->kept_, this); }

namespace port_detail {

/// One connection of the old component, and its new ends. Only the ends of that component change.
struct Reconnection {
  std::shared_ptr<Link> link;
  OutPortBase* from = nullptr;  ///< the new out-port, if the old component writes
  InPortBase* to = nullptr;     ///< the new in-port, if it reads
  std::unique_ptr<SinkBase> sink;
  std::unique_ptr<SourceBase> source;

  void move_sink() noexcept;
  void move_source() noexcept;
};

/// The ports of both components that take part, and their connections. Made outside the cycle; the boundary
/// only moves pointers and copies.
struct PortExchange {
  std::vector<std::pair<OutPortBase*, OutPortBase*>> outs;  ///< old, new
  std::vector<std::pair<InPortBase*, InPortBase*>> ins;     ///< old, new
  std::vector<Reconnection> reconnections;

  [[nodiscard]] static SetupResult<PortExchange> prepare(const Component& old, const Component& fresh) {
    PortExchange exchange;
    for (Port* port : old.ports()) {
      const auto& links = Link::links_of(*port);
      if (links.empty()) continue;
      Port* successor = fresh.find_port(port->name());
      if (successor == nullptr) {
        return takt::fail(Errc::no_such_port, port->full_name() +
                                                  " is connected, and the new component has no "
                                                  "such port; cut the connection first");
      }
      if (auto added = exchange.add(*port, *successor); !added)
        return tl::unexpected<SetupError>(std::move(added.error()));
    }
    return exchange;
  }

  /// At the boundary of the component that is replaced.
  void perform() noexcept {
    for (const auto& [old, fresh] : outs) Link::take_over(*old, *fresh);
    for (const auto& [old, fresh] : ins) Link::take_over(*old, *fresh);
    for (Reconnection& one : reconnections) {
      if (one.sink && one.link->writes) one.move_sink();
      if (one.source && one.link->reads) one.move_source();
    }
    for (const auto& [old, fresh] : ins) Link::sources_of(*fresh).sort();
  }

  /// After the boundary: the connections know their new ports. Errors: those of at_boundary() for writers
  /// that wake this component.
  [[nodiscard]] Status settle(Duration patience) {
    Status result;
    for (Reconnection& one : reconnections) {
      Link& link = *one.link;
      if (one.from != nullptr) {
        std::erase(Link::links_of(*link.from), one.link);
        Link::links_of(*one.from).push_back(one.link);
        link.from = one.from;
        if (one.sink) std::swap(link.sink, one.sink);
      }
      if (one.to != nullptr) {
        std::erase(Link::links_of(*link.to), one.link);
        Link::links_of(*one.to).push_back(one.link);
        link.to = one.to;
        std::swap(link.source, one.source);
        if (!link.options.wakes || !link.sink) continue;
        const auto wake_new = [link = one.link]() noexcept -> Status {
          link->reader_bell.reader = &link->to->component();
          return {};
        };
        if (const Status status = at_boundary(link.from->component(), wake_new, patience); !status)
          result = status;
      }
    }
    return result;
  }

 private:
  [[nodiscard]] SetupResult<void> add(Port& old, Port& fresh) {
    auto* const old_out = dynamic_cast<OutPortBase*>(&old);
    auto* const out = dynamic_cast<OutPortBase*>(&fresh);
    auto* const in = dynamic_cast<InPortBase*>(&fresh);
    if ((old_out != nullptr) != (out != nullptr) || old.sample_schema() != fresh.sample_schema()) {
      return takt::fail(Errc::wrong_type, old.full_name() + " is connected and has \"" +
                                              std::string(old.schema()) + "\", and the new one " +
                                              (out != nullptr ? "writes \"" : "reads \"") +
                                              std::string(fresh.schema()) + "\"");
    }
    if (old_out != nullptr) {
      outs.emplace_back(old_out, out);
    } else {
      ins.emplace_back(static_cast<InPortBase*>(&old), in);
    }
    for (const std::shared_ptr<Link>& link : Link::links_of(old)) {
      Reconnection one;
      one.link = link;
      if (out != nullptr) {
        one.from = out;
        if (link->sink) {
          // A latest connection in this process has a bell only, and its memory goes along with the port.
          auto sink = link->is_shared || link->options.buffering != Buffering::latest
                          ? out->make_sink(link->memory)
                          : Result<std::unique_ptr<SinkBase>>(out->make_bell());
          if (!sink) return takt::fail(sink.error(), link->text() + " cannot be taken over");
          one.sink = std::move(*sink);
          one.sink->bell = link->sink->bell;
        }
      } else {
        auto source = in->make_source(link->memory);
        if (!source) return takt::fail(source.error(), link->text() + " cannot be taken over");
        one.to = in;
        one.source = std::move(*source);
        one.source->order = link->source->order;
      }
      reconnections.push_back(std::move(one));
    }
    return {};
  }
};

void Reconnection::move_sink() noexcept {
  Link::sinks_of(*link->from).erase(link->sink.get());
  sink->resume(link->memory);
  static_cast<void>(Link::sinks_of(*from).insert(sink.get()));  // the old port had room, too
}

void Reconnection::move_source() noexcept {
  Link::sources_of(*link->to).erase(link->source.get());
  source->resume(link->source->position());
  source->last_sequence = link->source->last_sequence;
  static_cast<void>(Link::sources_of(*to).insert(source.get()));
}

}  // namespace port_detail
namespace {

using port_detail::connections_lock;
using port_detail::PortExchange;

/// A replacement under way. It outlives a caller that gives up.
struct Handover final : ExecutionContext::Handover {
  PortExchange ports;
  std::vector<std::pair<KeptStateBase*, KeptStateBase*>> states;  ///< old, new; the schemas are equal
  std::shared_ptr<Handover> itself;                               ///< keeps the ends of the ports for ever

  void perform() noexcept override {
    for (const auto& [old, fresh] : states)
      std::memcpy(fresh->bytes().data(), old->bytes().data(), fresh->bytes().size());
    ports.perform();
  }
};

/// The services of the old component that are connected, and their successors.
struct Services {
  std::vector<std::pair<ProvidedServiceBase*, ProvidedServiceBase*>> provided;  ///< old, new
  std::vector<std::pair<RequiredServiceBase*, RequiredServiceBase*>> required;  ///< old, new

  [[nodiscard]] static SetupResult<Services> prepare(const Component& old, const Component& fresh) {
    Services services;
    for (ServicePort* service : old.services()) {
      ServicePort* successor = fresh.find_service(service->name());
      const bool fits = successor != nullptr && successor->is_provided() == service->is_provided() &&
                        successor->interface_name() == service->interface_name();
      if (!is_connected(*service)) continue;
      if (!fits) {
        return takt::fail(successor == nullptr ? Errc::no_such_service : Errc::wrong_type,
                          service->full_name() +
                              " is connected, and the new component has no such service \"" +
                              std::string(service->interface_name()) + "\"");
      }
      if (service->is_provided()) {
        services.provided.emplace_back(static_cast<ProvidedServiceBase*>(service),
                                       static_cast<ProvidedServiceBase*>(successor));
      } else {
        services.required.emplace_back(static_cast<RequiredServiceBase*>(service),
                                       static_cast<RequiredServiceBase*>(successor));
      }
    }
    return services;
  }
  /// Before the boundary: the new component, which nobody runs yet, gets its providers.
  [[nodiscard]] SetupResult<void> connect_required(Duration patience) const {
    for (const auto& [old, fresh] : required) {
      if (auto done = connect(*old->provider(), *fresh, patience); !done) return done;
    }
    return {};
  }
  /// After the boundary: the clients get the new provider.
  [[nodiscard]] SetupResult<void> connect_provided(Duration patience) const {
    for (const auto& [old, fresh] : provided) {
      for (RequiredServiceBase* client : old->clients()) {
        if (auto done = connect(*fresh, *client, patience); !done) return done;
      }
      // A deferred call uses the whole component, so it must end before the component does.
      if (!old->wait_for_calls(patience)) return takt::fail(Errc::stuck, old->full_name());
    }
    return {};
  }

 private:
  [[nodiscard]] static bool is_connected(const ServicePort& service) {
    if (!service.is_provided()) return static_cast<const RequiredServiceBase&>(service).provider() != nullptr;
    return !static_cast<const ProvidedServiceBase&>(service).clients().empty();
  }
};

std::string names_of(const Component& component) {
  return component.name() + " (" + std::string(component.metadata().type) + " " +
         std::string(component.metadata().version) + ")";
}

/// Finds the kept states that both have. Notes the others.
void match_states(std::span<KeptStateBase* const> old, std::span<KeptStateBase* const> fresh,
                  Handover& handover, std::vector<std::string>& notes) {
  for (KeptStateBase* state : old) {
    const auto found =
        std::find_if(fresh.begin(), fresh.end(), [&](const auto* s) { return s->name() == state->name(); });
    if (found == fresh.end()) {
      notes.push_back("state \"" + state->name() + "\": the new component has none");
    } else if ((*found)->schema() != state->schema()) {
      notes.push_back("state \"" + state->name() + "\": it was \"" + std::string(state->schema()) +
                      "\" and is \"" + std::string((*found)->schema()) + "\"");
    } else {
      handover.states.emplace_back(state, *found);
    }
  }
}

}  // namespace

SetupResult<Replacement> replace(Component& old, Component& fresh, std::string_view who, Duration patience) {
  const auto refuse = [&](Error error, const std::string& reason) -> tl::unexpected<SetupError> {
    return takt::fail(error, names_of(old) + " was not replaced: " + reason);
  };
  if (fresh.context() != nullptr || &old == &fresh)
    return refuse(Errc::wrong_state, "its successor participates in a context already");
  if (dynamic_cast<const Composite*>(&old) != nullptr)
    return refuse(Errc::wrong_state, "it contains components; replace those");
  Replacement done;
  if (auto taken = fresh.parameters().take_over(old.parameters(), who, done.not_taken_over); !taken)
    return refuse(taken.error().error, taken.error().message);
  if (fresh.state() == ComponentState::created) {
    if (auto made = fresh.initialize(); !made) return refuse(made.error().error, made.error().message);
  }
  const auto services = Services::prepare(old, fresh);
  if (!services) return refuse(services.error().error, services.error().message);
  const std::scoped_lock lock(connections_lock());
  auto ports = PortExchange::prepare(old, fresh);
  if (!ports) return refuse(ports.error().error, ports.error().message);
  const auto handover = std::make_shared<Handover>();
  handover->ports = std::move(*ports);
  match_states(old.kept_states(), fresh.kept_states(), *handover, done.not_taken_over);
  if (auto connected = services->connect_required(patience); !connected)
    return refuse(connected.error().error, connected.error().message);

  const auto exchange = [&old = old, &fresh = fresh, handover]() noexcept -> Status {
    ExecutionContext* context = old.context();
    return context == nullptr ? Status(fail(Errc::not_a_participant))
                              : context->replace(old, fresh, *handover);
  };
  if (const Status status = at_boundary(old, exchange, patience); !status) {
    // The boundary may still come, and then the ports use the new ends.
    if (status.error() == Errc::stuck) handover->itself = handover;
    const bool is_ours = status.error().room == Room::component;
    return refuse(status.error(), is_ours ? std::string(describe(Errc{status.error().code}))
                                          : "its successor could not be activated");
  }
  const Status settled = handover->ports.settle(patience);
  const auto connected = services->connect_provided(patience);
  if (settled && connected) return done;
  return takt::fail(Errc::stuck, names_of(old) +
                                     " was replaced, but a component that used it is stuck. It must "
                                     "stay in memory");
}

}  // namespace takt::component
