#include "app/port_writer.hpp"

#include <fmt/format.h>

#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "component/at_boundary.hpp"
#include "takt/component/error.hpp"
#include "takt/component/execution_context.hpp"
#include "takt/component/port.hpp"
#include "takt/describe.hpp"
#include "takt/shm/schema.hpp"

namespace takt::app {
namespace {

using json::Value;

constexpr component::ComponentMetadata writer_metadata{.type = "PortWriter",
                                                       .version = "1.0.0",
                                                       .vendor = "takt",
                                                       .category = "program",
                                                       .description = "Writes samples of people."};

/// Puts a number at its place. Returns false if the type does not have it.
template <class T>
bool put_number(std::byte* place, const Value& value) {
  T number{};
  if constexpr (std::floating_point<T>) {
    if (!value.is_number() || std::abs(value.get<double>()) > std::numeric_limits<T>::max()) return false;
    number = value.get<T>();
  } else {
    if (!value.is_number_integer()) return false;
    const bool fits = value.is_number_unsigned() ? std::in_range<T>(value.get<std::uint64_t>())
                                                 : std::in_range<T>(value.get<std::int64_t>());
    if (!fits) return false;
    number = value.get<T>();
  }
  std::memcpy(place, &number, sizeof number);
  return true;
}

bool put(Scalar type, std::byte* place, const Value& value) {
  switch (type) {
    case Scalar::u8:
      return put_number<std::uint8_t>(place, value);
    case Scalar::u16:
      return put_number<std::uint16_t>(place, value);
    case Scalar::u32:
      return put_number<std::uint32_t>(place, value);
    case Scalar::u64:
      return put_number<std::uint64_t>(place, value);
    case Scalar::i8:
      return put_number<std::int8_t>(place, value);
    case Scalar::i16:
      return put_number<std::int16_t>(place, value);
    case Scalar::i32:
      return put_number<std::int32_t>(place, value);
    case Scalar::i64:
      return put_number<std::int64_t>(place, value);
    case Scalar::f32:
      return put_number<float>(place, value);
    case Scalar::f64:
      return put_number<double>(place, value);
  }
  return false;
}

/// Puts the value of a field at its place; an array may be shorter than the field.
void put_field(const shm::Field& field, std::byte* place, const Value& value, const std::string& where,
               json::Mistakes& mistakes) {
  const std::size_t count = field.is_array ? (value.is_array() ? value.size() : field.count + 1) : 1;
  if (count > field.count)
    return mistakes.add(where, fmt::format("must be a list of at most {} numbers", field.count));
  for (std::size_t i = 0; i < count; ++i) {
    const Value& one = field.is_array ? value[i] : value;
    if (!put(field.type, place + i * bytes_of(field.type), one)) {
      mistakes.add(
          field.is_array ? json::child(where, i) : where,
          fmt::format("{} is no {}", json::text_of(one), scalar_names[static_cast<std::size_t>(field.type)]));
    }
  }
}

/// The bytes of a sample.
SetupResult<std::vector<std::byte>> bytes_of_sample(std::string_view schema, const Value& value,
                                                    const std::string& where) {
  const auto fields = shm::parse_schema(schema);
  if (!fields) return fail(fields.error(), "the port has no fields");
  json::Mistakes mistakes(1);
  json::Object object(value, where, mistakes);
  std::vector<std::byte> bytes(fields->bytes);
  for (const shm::Field& field : fields->all()) {
    const Value* own = field.is_padding() ? nullptr : object.find(field.name);
    if (own != nullptr) put_field(field, bytes.data() + field.offset, *own, object.at(field.name), mistakes);
  }
  object.finish();
  if (mistakes.empty()) return bytes;
  const json::Mistake& first = mistakes.list().front();
  return fail(component::Errc::bad_value,
              fmt::format("{}: {}; the fields are: {}", first.where, first.reason, schema));
}

}  // namespace

class PortWriter::Source final : public component::Component {
 public:
  explicit Source(std::string name) : Component(writer_metadata, std::move(name)) {}

  [[nodiscard]] SetupResult<void> connect(component::InPortBase& port) {
    auto made = component::OpaqueOutPort::create(*this, "sample", port.schema());
    if (!made) return tl::unexpected<SetupError>(made.error());
    out_ = std::move(*made);
    auto connection = component::connect(*out_, port);
    if (!connection) return tl::unexpected<SetupError>(connection.error());
    connection_ = std::move(*connection);
    return {};
  }
  [[nodiscard]] bool is_connected() const noexcept { return connection_.is_connected(); }
  [[nodiscard]] component::OpaqueOutPort& out() noexcept { return *out_; }

 private:
  std::unique_ptr<component::OpaqueOutPort> out_;
  component::Connection connection_;
};

PortWriter::PortWriter() = default;
PortWriter::~PortWriter() = default;

SetupResult<void> PortWriter::write(component::Component& reader, const std::string& port, const Value& value,
                                    const std::string& where) {
  auto* const in = dynamic_cast<component::InPortBase*>(reader.find_port(port));
  if (in == nullptr)
    return fail(component::Errc::bad_value, fmt::format("{} has no in-port \"{}\"", reader.name(), port));
  if (reader.context() == nullptr)
    return fail(component::Errc::not_a_participant, reader.name() + " participates in no context");
  auto sample = bytes_of_sample(in->schema(), value, where);
  if (!sample) return tl::unexpected<SetupError>(sample.error());
  std::shared_ptr<Source>& source = sources_[in->full_name()];
  if (source == nullptr || !source->is_connected()) {
    auto fresh = std::make_shared<Source>("writer_of_" + in->full_name());
    if (auto connected = fresh->connect(*in); !connected) return connected;
    source = std::move(fresh);
  }
  // A call that is stuck may outlive this one.
  const auto write = [&reader, source, bytes = std::move(*sample)]() noexcept -> Status {
    const component::ExecutionContext* const context = reader.context();
    // "latest" is never full.
    if (context != nullptr) static_cast<void>(source->out().write(bytes.data(), context->now()));
    return {};
  };
  const Status written = component::at_boundary(reader, write, component::default_patience);
  if (!written) return fail(written.error(), std::string(takt::describe(written.error())));
  return {};
}

}  // namespace takt::app
