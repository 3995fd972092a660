// Ports: how components exchange values. An OutPort<T> has one writer, its component; any number of InPort<T>
// may be connected to it. T is a number, an array of numbers, or a type with TAKT_FIELDS (core/fields.hpp).
//
//     takt::component::connect(source.position, control.measured);
//     takt::component::connect(source.position, logger.input, {.buffering = Buffering::fifo, .capacity = 64});
//
// A write stamps the value and numbers it. A read tells whether the value is new, how old it is, and how many
// values the reader missed. Reading and writing are real-time safe and wait for nobody. A connection inside a
// program is memory that the writer writes and the reader reads. A connection to another process is the same
// memory in a shared segment (shared_port.hpp).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "takt/component/boundary_calls.hpp"
#include "takt/component/component.hpp"
#include "takt/component/error.hpp"
#include "takt/core/fields.hpp"
#include "takt/core/setup_error.hpp"
#include "takt/core/time.hpp"
#include "takt/shm/broadcast_ring.hpp"
#include "takt/shm/broadcast_value.hpp"
#include "takt/shm/exchange.hpp"
#include "takt/shm/schema.hpp"
#include "takt/shm/spsc_ring.hpp"

namespace takt::component {

/// What a connection keeps for its reader.
enum class Buffering : std::uint8_t {
  latest,    ///< the newest value
  circular,  ///< the newest `capacity` values; the oldest are overwritten, and counted as missed
  fifo,      ///< up to `capacity` values; further ones are refused, and counted by the writer
};

/// How two ports are connected.
struct ConnectionOptions {
  Buffering buffering = Buffering::latest;
  std::uint32_t capacity = 8;  ///< values, of circular and fifo; rounded up to a power of two
  /// Whether a write wakes the context of the reader, if it runs on events.
  bool wakes = false;
  /// The place among the connections of the in-port: lower is read first.
  int order = 0;
};

/// A value with the time and number that its writer gave it.
template <class T>
struct Sample {
  Time stamp{};                ///< time of the write
  std::uint32_t sequence = 0;  ///< from 1; wraps
  std::uint32_t reserved = 0;
  T value{};

  TAKT_FIELDS(Sample, stamp, sequence, reserved, value)
};

/// The result of a read.
struct PortRead {
  shm::Freshness freshness = shm::Freshness::none;
  Time stamp{};                ///< of the value
  std::uint32_t sequence = 0;  ///< of the value, from 1; wraps; 0: there is no value
  std::uint32_t missed = 0;    ///< values between this one and the one read before
};

class PortBase;

/// One connection, as data.
struct ConnectionInfo {
  const PortBase* from = nullptr;
  const PortBase* to = nullptr;
  ConnectionOptions options;
};

namespace detail {
struct Connection;
}  // namespace detail

/// The part of a port that does not depend on the type of its values.
class PortBase {
 public:
  enum class Direction : std::uint8_t { in, out };
  /// The most connections of one port.
  static constexpr std::size_t max_connections = 16;

  PortBase(const PortBase&) = delete;
  PortBase& operator=(const PortBase&) = delete;
  /// Both components must have left their contexts, or the port must be disconnected.
  virtual ~PortBase();

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] Component& component() const noexcept { return *component_; }
  [[nodiscard]] Direction direction() const noexcept { return direction_; }
  /// "component.port"
  [[nodiscard]] std::string full_name() const;
  /// The layout of its values (shm/schema.hpp).
  [[nodiscard]] std::string_view schema() const noexcept { return schema_; }
  /// The connections. Not real-time safe; any thread.
  [[nodiscard]] std::vector<ConnectionInfo> connections() const;

 protected:
  PortBase(Component& component, std::string name, Direction direction, std::string_view schema);

 private:
  friend SetupResult<void> connect(PortBase& out, PortBase& in, const ConnectionOptions& options,
                                   Duration patience);
  friend SetupResult<void> disconnect(PortBase& out, PortBase& in, Duration patience);

  Component* component_;
  std::string name_;
  Direction direction_;
  std::string_view schema_;
};
