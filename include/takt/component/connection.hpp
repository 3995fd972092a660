// Connects ports of components, also while they run. Each connection takes effect at a cycle boundary of the
// reader's context and of the writer's:
//
//     auto torque = takt::component::connect(controller.torque, plant.torque);
//     auto log = takt::component::connect(plant.state, logger.state,
//                                         {.buffering = takt::component::Buffering::fifo, .capacity = 64});
//
// A connection lasts as long as its object, or as both ports. Set-up: nothing here is real-time safe. The
// cycles of the two contexts stay so while it happens.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "takt/component/boundary_calls.hpp"
#include "takt/component/port.hpp"
#include "takt/core/error.hpp"
#include "takt/core/setup_error.hpp"

namespace takt::component {

/// The most samples of one connection.
inline constexpr std::uint32_t max_samples = 1u << 16;

/// How two ports are connected.
struct ConnectionOptions {
  Buffering buffering = Buffering::latest;
  /// Samples of a circular buffer or fifo, at most max_samples; rounded up to a power of two.
  std::uint32_t capacity = 16;
  int order = 0;       ///< of this source among those of the in-port; lower is read first
  bool wakes = false;  ///< each write wakes the reader's context, if that runs on events
};

/// A connection. It ends with this object.
class Connection {
 public:
  Connection() = default;
  Connection(Connection&&) noexcept = default;
  Connection& operator=(Connection&& other) noexcept;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection();

  /// Ends the connection at the next boundaries. Errors: those of BoundaryCalls::run(); then it still exists.
  [[nodiscard]] Status cut(Duration patience = default_patience);
  /// Whether it exists.
  [[nodiscard]] bool is_connected() const noexcept;

 private:
  friend struct port_detail::Link;
  explicit Connection(std::shared_ptr<port_detail::Link> link) noexcept;

  std::shared_ptr<port_detail::Link> link_;
};

/// A connection of a port, as data.
struct ConnectionInfo {
  std::string from;      ///< "component.port"; empty: another process
  std::string to;        ///< likewise
  std::string exchange;  ///< name of the shared exchange; empty: in this process
  ConnectionOptions options;
};

/// Connects two ports. Errors: wrong_type (the message has both schemas); bad_value (capacity);
/// too_many_connections; those of BoundaryCalls::run().
[[nodiscard]] SetupResult<Connection> connect(OutPortBase& from, InPortBase& to,
                                              const ConnectionOptions& options = {},
                                              Duration patience = default_patience);

/// Lets an out-port write into an exchange of samples, for example in a shared segment. Errors: wrong_type
/// (the exchange is of another kind, or its elements are not samples of the port's type);
/// too_many_connections; those of BoundaryCalls::run(). Each write rings the bell, which may be null.
[[nodiscard]] SetupResult<Connection> connect(OutPortBase& from, SampleMemory to,
                                              std::shared_ptr<Wake> bell = nullptr,
                                              Duration patience = default_patience);
/// Lets an in-port read an exchange of samples. Errors: as above.
[[nodiscard]] SetupResult<Connection> connect(SampleMemory from, InPortBase& to, int order = 0,
                                              Duration patience = default_patience);

/// The connections of a port.
[[nodiscard]] std::vector<ConnectionInfo> connections_of(const Port& port);

}  // namespace takt::component
