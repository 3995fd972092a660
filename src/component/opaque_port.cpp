#include "takt/component/opaque_port.hpp"

#include <cstring>
#include <utility>
#include <variant>

#include "takt/component/component.hpp"

namespace takt::component {
namespace {

using port_detail::OpaqueType;
using shm::Opaque;

struct OpaqueSink final : port_detail::SinkBase {
  explicit OpaqueSink(const Opaque& of) : element(&of) {}

  using Newest = shm::BroadcastValue<Opaque>::Writer;
  using Circular = shm::BroadcastWriter<Opaque>;
  using Fifo = shm::RingProducer<Opaque>;

  [[nodiscard]] bool write(const std::byte* sample) noexcept {
    if (auto* fifo = std::get_if<Fifo>(&end)) return fifo->try_push(sample);
    if (auto* circular = std::get_if<Circular>(&end)) circular->write(sample);
    if (auto* newest = std::get_if<Newest>(&end)) newest->write(sample);
    return true;
  }
  /// Errors: those of shm::Layout::producer().
  [[nodiscard]] Status open(const SampleMemory& memory) noexcept {
    const auto kind = port_detail::kind_of(memory);
    if (!kind) return fail(kind.error());
    const auto take = [this](auto opened) noexcept -> Status {
      if (!opened) return fail(opened.error());
      end = std::move(*opened);
      return {};
    };
    const auto& [layout, exchange, owner] = memory;
    if (*kind == shm::Kind::broadcast)
      return take(layout.producer<shm::BroadcastValue<Opaque>>(exchange, *element));
    if (*kind == shm::Kind::broadcast_ring)
      return take(layout.producer<shm::BroadcastRing<Opaque>>(exchange, *element));
    return take(layout.producer<shm::SpscRing<Opaque>>(exchange, *element));
  }
  void resume(const SampleMemory& memory) noexcept override {
    if (end.index() != 0) static_cast<void>(open(memory));
  }

  const Opaque* element;  ///< of the port, which outlives the end
  std::variant<std::monostate, Newest, Circular, Fifo> end;
};

struct OpaqueSource final : port_detail::SourceBase {
  using Newest = shm::BroadcastValue<Opaque>::Reader;
  using Circular = shm::BroadcastReader<Opaque>;
  using Fifo = shm::RingConsumer<Opaque>;
  using End = std::variant<Newest, Circular, Fifo>;

  explicit OpaqueSource(End reading_end) : end(std::move(reading_end)) {}

  [[nodiscard]] bool read(std::byte* sample) noexcept {
    if (auto* newest = std::get_if<Newest>(&end)) return newest->read(sample) == shm::Freshness::new_data;
    if (auto* circular = std::get_if<Circular>(&end)) return circular->try_read(sample);
    return std::get_if<Fifo>(&end)->try_pop(sample);
  }
  [[nodiscard]] std::uint32_t position() const noexcept override {
    if (const auto* circular = std::get_if<Circular>(&end)) return circular->position();
    const auto* fifo = std::get_if<Fifo>(&end);
    return fifo != nullptr ? fifo->position() : 0;
  }
  void resume(std::uint32_t position) noexcept override {
    if (auto* circular = std::get_if<Circular>(&end)) circular->set_position(position);
    if (auto* fifo = std::get_if<Fifo>(&end)) fifo->set_position(position);
  }

  End end;
};

template <class X>
[[nodiscard]] Result<std::unique_ptr<port_detail::SourceBase>> source_in(const SampleMemory& memory,
                                                                         const Opaque& element) {
  auto end = memory.layout.consumer<X>(memory.exchange, element);
  if (!end) return fail(end.error());
  return Result<std::unique_ptr<port_detail::SourceBase>>(std::make_unique<OpaqueSource>(std::move(*end)));
}

template <class Number>
[[nodiscard]] Number number_at(const std::byte* bytes) noexcept {
  Number number;
  std::memcpy(&number, bytes, sizeof number);
  return number;
}

// A sample begins with its stamp and its sequence number, each of 8 bytes.
constexpr std::size_t sequence_offset = 8;
constexpr std::size_t value_begin = 16;

}  // namespace

// The schema of Sample<T>: its first two fields, then the fields of the value with "value." before them. A
// number or array of numbers is "value" itself.
SetupResult<std::unique_ptr<const OpaqueType>> OpaqueType::of(std::string_view schema) {
  const auto fields = shm::parse_schema(schema);
  if (!fields) return takt::fail(fields.error(), "\"" + std::string(schema) + "\" is no schema");
  auto type = std::make_unique<OpaqueType>();
  type->value_offset = value_begin;
  type->value_bytes = fields->bytes;
  std::string& sample = type->sample_schema = "stamp i64, sequence u64";
  const bool is_number = fields->count == 1 && fields->list[0].name == "value";
  // The size of a sample is a multiple of 8. Padding at the end of the value and of the sample is one field.
  std::size_t padding = (8 - fields->bytes % 8) % 8;
  for (const shm::Field& field : fields->all()) {
    const std::string text = std::string(field.name) + " " +
                             std::string(scalar_names[static_cast<std::size_t>(field.type)]) +
                             (field.is_array ? "[" + std::to_string(field.count) + "]" : "");
    type->schema += (type->schema.empty() ? "" : ", ") + text;
    const bool is_last = &field == &fields->all().back();
    if (is_last && field.is_padding()) {
      padding += bytes_of(field.type) * field.count;
    } else {
      sample += (is_number || field.is_padding() ? ", " : ", value.") + text;
    }
  }
  if (padding != 0) sample += ", _ u8[" + std::to_string(padding) + "]";
  const auto element = Opaque::of(sample);
  if (!element)
    return takt::fail(Errc::bad_value,
                      "a sample of \"" + type->schema + "\" is too large, or its names are too long");
  type->sample = *element;
  type->sample.schema = type->sample_schema;
  return std::unique_ptr<const OpaqueType>(std::move(type));
}

// ---- out ----

OpaqueOutPort::OpaqueOutPort(Component& component, std::string name, std::unique_ptr<const OpaqueType> type)
    : OutPortBase(component, std::move(name), type->schema, type->sample_schema,
                  shm::declare<shm::BroadcastValue<Opaque>>("newest", type->sample)),
      type_(std::move(type)),
      sample_(type_->sample.bytes),
      writer_(*newest().layout.producer<shm::BroadcastValue<Opaque>>("newest", type_->sample)) {}

SetupResult<std::unique_ptr<OpaqueOutPort>> OpaqueOutPort::create(Component& component, std::string name,
                                                                  std::string_view schema) {
  auto type = OpaqueType::of(schema);
  if (!type) return tl::unexpected<SetupError>(std::move(type.error()));
  return std::unique_ptr<OpaqueOutPort>(new OpaqueOutPort(component, std::move(name), std::move(*type)));
}

void OpaqueOutPort::reopen() noexcept {
  writer_ = *newest().layout.producer<shm::BroadcastValue<Opaque>>("newest", type_->sample);
}

bool OpaqueOutPort::write(const void* value, Time stamp) noexcept {
  const std::int64_t nanoseconds = stamp.time_since_epoch().count();
  const std::uint64_t sequence = next_sequence();
  std::memcpy(sample_.data(), &nanoseconds, sizeof nanoseconds);
  std::memcpy(sample_.data() + sequence_offset, &sequence, sizeof sequence);
  std::memcpy(sample_.data() + value_begin, value, type_->value_bytes);
  writer_.write(sample_.data());
  bool taken = true;
  for (port_detail::SinkBase* sink : sinks_.all()) {
    if (!static_cast<OpaqueSink*>(sink)->write(sample_.data())) {
      taken = false;
      count_refusal();
    }
    if (sink->bell != nullptr) port_detail::ring(*sink->bell);
  }
  return taken;
}

shm::Declaration OpaqueOutPort::declare(Buffering buffering, std::uint32_t capacity) const {
  switch (buffering) {
    case Buffering::circular:
      return shm::declare<shm::BroadcastRing<Opaque>>("samples", type_->sample, capacity);
    case Buffering::fifo:
      return shm::declare<shm::SpscRing<Opaque>>("samples", type_->sample, capacity);
    case Buffering::latest:
      break;
  }
  return shm::declare<shm::BroadcastValue<Opaque>>("samples", type_->sample);
}

Result<std::unique_ptr<port_detail::SinkBase>> OpaqueOutPort::make_sink(const SampleMemory& memory) const {
  auto sink = std::make_unique<OpaqueSink>(type_->sample);
  if (const Status opened = sink->open(memory); !opened) return fail(opened.error());
  return Result<std::unique_ptr<port_detail::SinkBase>>(std::move(sink));
}

std::unique_ptr<port_detail::SinkBase> OpaqueOutPort::make_bell() const {
  return std::make_unique<OpaqueSink>(type_->sample);
}

// ---- in ----

OpaqueInPort::OpaqueInPort(Component& component, std::string name, std::unique_ptr<const OpaqueType> type)
    : InPortBase(component, std::move(name), type->schema, type->sample_schema),
      type_(std::move(type)),
      sample_(type_->sample.bytes) {}

SetupResult<std::unique_ptr<OpaqueInPort>> OpaqueInPort::create(Component& component, std::string name,
                                                                std::string_view schema) {
  auto type = OpaqueType::of(schema);
  if (!type) return tl::unexpected<SetupError>(std::move(type.error()));
  return std::unique_ptr<OpaqueInPort>(new OpaqueInPort(component, std::move(name), std::move(*type)));
}

bool OpaqueInPort::read_sources() noexcept {
  for (port_detail::SourceBase* source : sources_.all()) {
    if (!static_cast<OpaqueSource*>(source)->read(sample_.data())) continue;
    count(*source, sequence());
    return true;
  }
  return false;
}

Time OpaqueInPort::stamp() const noexcept {
  return within_reach(time_from_nanoseconds(number_at<std::int64_t>(sample_.data())));
}

std::uint64_t OpaqueInPort::sequence() const noexcept {
  return number_at<std::uint64_t>(sample_.data() + sequence_offset);
}

Result<std::unique_ptr<port_detail::SourceBase>> OpaqueInPort::make_source(const SampleMemory& memory) const {
  const auto kind = port_detail::kind_of(memory);
  if (!kind) return fail(kind.error());
  if (*kind == shm::Kind::broadcast) return source_in<shm::BroadcastValue<Opaque>>(memory, type_->sample);
  if (*kind == shm::Kind::broadcast_ring) return source_in<shm::BroadcastRing<Opaque>>(memory, type_->sample);
  return source_in<shm::SpscRing<Opaque>>(memory, type_->sample);
}

}  // namespace takt::component
