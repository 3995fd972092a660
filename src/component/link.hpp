// A connection of ports, for connection.cpp and replacement.cpp.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "component/at_boundary.hpp"
#include "takt/component/connection.hpp"

namespace takt::component::port_detail {

/// Set-up of connections happens one at a time, in the callers' threads.
[[nodiscard]] std::mutex& connections_lock();

/// Wakes the reader's context, whichever that is at the time.
struct ReaderBell final : Wake {
  void ring() noexcept override;
  const Component* reader = nullptr;
};

/// A connection: both ends and their memory. The calls into contexts share it, so it outlives a caller that
/// gives up.
struct Link : std::enable_shared_from_this<Link> {
  OutPortBase* from = nullptr;  ///< null: another process writes
  InPortBase* to = nullptr;     ///< null: another process reads
  ConnectionOptions options;
  SampleMemory memory;
  bool is_shared = false;        ///< the memory belongs to other processes, too
  bool is_over = false;          ///< a port may have ended
  std::shared_ptr<Link> itself;  ///< keeps the link for ever
  ReaderBell reader_bell;        ///< of a reader in this process
  std::shared_ptr<Wake> bell;    ///< of a reader in another process
  std::unique_ptr<SinkBase> sink;
  std::unique_ptr<SourceBase> source;
  std::atomic<bool> writes{false};  ///< the sink is in its port
  std::atomic<bool> reads{false};   ///< the source is in its port

  [[nodiscard]] Status attach_source(Duration patience) {
    if (!source) return {};
    const auto attach = [self = shared_from_this()]() noexcept -> Status {
      if (!self->to->sources_.insert(self->source.get())) return fail(Errc::too_many_connections);
      self->to->sources_.sort();
      self->reads = true;
      return {};
    };
    return at_boundary(to->component(), attach, patience);
  }
  [[nodiscard]] Status attach_sink(Duration patience) {
    if (!sink) return {};
    const auto attach = [self = shared_from_this()]() noexcept -> Status {
      if (!self->from->sinks_.insert(self->sink.get())) return fail(Errc::too_many_connections);
      self->writes = true;
      return {};
    };
    return at_boundary(from->component(), attach, patience);
  }
  /// Takes both ends out of their ports: the writer first, so that it never writes for nobody.
  [[nodiscard]] Status detach(Duration patience) {
    if (is_over) return {};
    if (writes) {
      const auto take_out = [self = shared_from_this()]() noexcept -> Status {
        self->from->sinks_.erase(self->sink.get());
        self->writes = false;
        return {};
      };
      if (const Status status = at_boundary(from->component(), take_out, patience); !status) return status;
    }
    if (reads) {
      const auto take_out = [self = shared_from_this()]() noexcept -> Status {
        self->to->sources_.erase(self->source.get());
        self->reads = false;
        return {};
      };
      if (const Status status = at_boundary(to->component(), take_out, patience); !status) return status;
    }
    forget();
    return {};
  }

  void remember() {
    if (from != nullptr) links_of(*from).push_back(shared_from_this());
    if (to != nullptr) links_of(*to).push_back(shared_from_this());
  }
  void forget() {
    is_over = true;
    const auto keep = shared_from_this();
    if (from != nullptr) std::erase(links_of(*from), keep);
    if (to != nullptr) std::erase(links_of(*to), keep);
  }
  [[nodiscard]] static EndList<SinkBase>& sinks_of(OutPortBase& port) noexcept { return port.sinks_; }
  [[nodiscard]] static EndList<SourceBase>& sources_of(InPortBase& port) noexcept { return port.sources_; }
  template <class P>
  static void take_over(P& old, P& fresh) noexcept {
    fresh.take_over(old);
  }
  [[nodiscard]] static std::vector<std::shared_ptr<Link>>& links_of(Port& port) { return port.links_; }
  [[nodiscard]] static const std::vector<std::shared_ptr<Link>>& links_of(const Port& port) {
    return port.links_;
  }

  [[nodiscard]] std::string text() const {
    const std::string other = "exchange \"" + memory.exchange + "\"";
    return (from != nullptr ? from->full_name() : other) + " -> " + (to != nullptr ? to->full_name() : other);
  }

  /// Attaches both ends, the reader first, so that it misses nothing.
  [[nodiscard]] static SetupResult<Connection> establish(const std::shared_ptr<Link>& link,
                                                         Duration patience) {
    const std::scoped_lock lock(connections_lock());
    Status status = link->attach_source(patience);
    if (status) status = link->attach_sink(patience);
    if (status) {
      link->remember();
      return Connection(link);
    }
    // A context that is stuck may still attach its end. Then the ports keep the link until they end.
    if (status.error() == Errc::stuck || !link->detach(patience)) link->remember();
    return takt::fail(status.error(), link->text() + ": " + std::string(describe(Errc{status.error().code})));
  }
};

}  // namespace takt::component::port_detail
