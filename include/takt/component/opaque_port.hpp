// Ports of types that are known at run time, by their schema: for C and scripts. They connect with OutPort<T>
// and InPort<T> of the same schema. A value is passed as a pointer to its bytes, with any alignment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "takt/component/port.hpp"
#include "takt/core/setup_error.hpp"
#include "takt/shm/opaque.hpp"

namespace takt::component {

namespace port_detail {

/// The texts of an opaque port, made before its base.
struct OpaqueType {
  std::string schema;
  std::string sample_schema;
  shm::Opaque sample;
  std::size_t value_offset = 0;  ///< of the value in a sample, bytes
  std::size_t value_bytes = 0;

  /// Errors: shm's bad_schema.
  [[nodiscard]] static SetupResult<std::unique_ptr<const OpaqueType>> of(std::string_view schema);
};

}  // namespace port_detail

/// An out-port of a type that is known at run time.
class OpaqueOutPort final : public OutPortBase {
 public:
  /// Adds the port to the component. Errors: shm's bad_schema; bad_value (the type is too large for a
  /// sample).
  [[nodiscard]] static SetupResult<std::unique_ptr<OpaqueOutPort>> create(Component& component,
                                                                          std::string name,
                                                                          std::string_view schema);
  ~OpaqueOutPort() override { cut_all(); }

  /// The size of a value in bytes.
  [[nodiscard]] std::size_t value_bytes() const noexcept { return type_->value_bytes; }
  /// Gives a copy of the value to all readers. Returns false if a fifo was full. Real-time safe; only the
  /// component's thread.
  bool write(const void* value, Time stamp) noexcept;

  [[nodiscard]] shm::Declaration declare(Buffering buffering, std::uint32_t capacity) const override;
  [[nodiscard]] Result<std::unique_ptr<port_detail::SinkBase>> make_sink(
      const SampleMemory& memory) const override;
  [[nodiscard]] std::unique_ptr<port_detail::SinkBase> make_bell() const override;

 private:
  OpaqueOutPort(Component& component, std::string name, std::unique_ptr<const port_detail::OpaqueType> type);
  void reopen() noexcept override;

  std::unique_ptr<const port_detail::OpaqueType> type_;
  std::vector<std::byte> sample_;
  shm::BroadcastValue<shm::Opaque>::Writer writer_;
};

/// An in-port of a type that is known at run time.
class OpaqueInPort final : public InPortBase {
 public:
  /// Adds the port to the component. Errors: as OpaqueOutPort::create().
  [[nodiscard]] static SetupResult<std::unique_ptr<OpaqueInPort>> create(Component& component,
                                                                         std::string name,
                                                                         std::string_view schema);
  ~OpaqueInPort() override { cut_all(); }

  /// The size of a value in bytes.
  [[nodiscard]] std::size_t value_bytes() const noexcept { return type_->value_bytes; }
  /// As InPort::read(). Real-time safe; only the component's thread.
  [[nodiscard]] shm::Freshness read() noexcept {
    return freshness(tap() == nullptr ? read_sources() : tap()->read(*this));
  }
  /// The bytes of the value that was read last; zeros before the first.
  [[nodiscard]] const std::byte* value() const noexcept { return sample_.data() + type_->value_offset; }
  /// Its stamp.
  [[nodiscard]] Time stamp() const noexcept;
  /// Its sequence number; 0 before the first.
  [[nodiscard]] std::uint64_t sequence() const noexcept;

  [[nodiscard]] bool read_sources() noexcept override;
  [[nodiscard]] std::span<std::byte> last_sample() noexcept override { return sample_; }
  [[nodiscard]] Result<std::unique_ptr<port_detail::SourceBase>> make_source(
      const SampleMemory& memory) const override;

 private:
  OpaqueInPort(Component& component, std::string name, std::unique_ptr<const port_detail::OpaqueType> type);

  std::unique_ptr<const port_detail::OpaqueType> type_;
  std::vector<std::byte> sample_;
};

}  // namespace takt::component
