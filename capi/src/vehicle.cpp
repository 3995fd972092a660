// The Furbot's frames of the C API: a thin layer over the codecs of the room vehicle/.
#include <algorithm>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "boundary.hpp"
#include "takt/vehicle/control_frame.hpp"
#include "takt/vehicle/status_frame.hpp"
#include "takt/vehicle/timestamp.hpp"
#include "vehicle.hpp"

using takt::fail;
using takt::Result;
using takt::Status;
using takt::capi::Errc;
using takt::capi::guarded;
using takt::capi::OwnedLayouts;
using takt::capi::to_status;
using takt::vehicle::FieldType;
using takt::vehicle::Layouts;
using takt::vehicle::StatusFrame;
using takt::vehicle::System;
using takt::vehicle::SystemField;
using takt::vehicle::UnixTime;
namespace vehicle = takt::vehicle;

namespace {

Result<FieldType> to_field_type(std::int32_t type) noexcept {
  switch (type) {
    case TAKT_FIELD_U8:
    case TAKT_FIELD_U16:
    case TAKT_FIELD_U32:
    case TAKT_FIELD_I8:
    case TAKT_FIELD_I16:
    case TAKT_FIELD_I32:
      return static_cast<FieldType>(type);
    default:
      return fail(vehicle::Errc::bad_layout);
  }
}

Status add(OwnedLayouts& owned, const takt_vehicle_system& system) {
  if (system.fields == nullptr) return fail(Errc::null_pointer);
  if (system.system >= vehicle::max_systems || system.bytes > Layouts::max_length ||
      system.count > Layouts::max_length)
    return fail(vehicle::Errc::bad_layout);
  auto& fields = owned.fields.emplace_back();
  for (const takt_vehicle_field& field : std::span(system.fields, system.count)) {
    if (field.name == nullptr) return fail(Errc::null_pointer);
    const auto type = to_field_type(field.type);
    if (!type || field.offset > Layouts::max_length) return fail(vehicle::Errc::bad_layout);
    fields.push_back({owned.names.emplace_back(field.name), static_cast<std::uint8_t>(field.offset), *type});
  }
  owned.systems.push_back(
      {static_cast<System>(system.system), "", static_cast<std::uint8_t>(system.bytes), false, fields});
  return {};
}

/// Converts the number of a system; an unknown number stays unknown.
System to_system(std::uint32_t number) noexcept { return static_cast<System>(std::min(number, 255U)); }

UnixTime to_unix_time(std::int64_t nanoseconds) noexcept {
  return UnixTime(std::chrono::floor<std::chrono::milliseconds>(std::chrono::nanoseconds(nanoseconds)));
}

std::int64_t to_nanoseconds(std::chrono::milliseconds duration) noexcept {
  return std::chrono::nanoseconds(duration).count();
}

}  // namespace

struct takt_vehicle_status {
  std::shared_ptr<const OwnedLayouts> owned;  // null: the Furbot's
  StatusFrame frame;
};

std::int32_t takt_vehicle_layouts_create(const takt_vehicle_system* systems, std::size_t count,
                                         takt_vehicle_layouts** layouts) {
  return guarded([&]() -> Status {
    if (layouts == nullptr || (systems == nullptr && count > 0)) return fail(Errc::null_pointer);
    if (count > vehicle::max_systems) return fail(vehicle::Errc::bad_layout);
    auto owned = std::make_shared<OwnedLayouts>();
    for (const takt_vehicle_system& system : std::span(systems, count))
      if (const Status added = add(*owned, system); !added) return added;
    const auto made = Layouts::make(owned->systems);
    if (!made) return fail(made.error());
    owned->layouts = *made;
    *layouts = std::make_unique<takt_vehicle_layouts>(takt_vehicle_layouts{std::move(owned)}).release();
    return {};
  });
}

void takt_vehicle_layouts_destroy(takt_vehicle_layouts* layouts) { delete layouts; }

std::int32_t takt_vehicle_status_create(const takt_vehicle_layouts* layouts, takt_vehicle_status** status) {
  return guarded([&]() -> Status {
    if (status == nullptr) return fail(Errc::null_pointer);
    auto owned = layouts == nullptr ? nullptr : layouts->owned;
    const StatusFrame frame(owned == nullptr ? vehicle::furbot_layouts : owned->layouts);
    *status = std::make_unique<takt_vehicle_status>(takt_vehicle_status{std::move(owned), frame}).release();
    return {};
  });
}

void takt_vehicle_status_destroy(takt_vehicle_status* status) { delete status; }

std::int32_t takt_vehicle_status_decode(takt_vehicle_status* status, const std::uint8_t* datagram,
                                        std::size_t bytes) {
  if (status == nullptr || (datagram == nullptr && bytes > 0)) return to_status(Errc::null_pointer);
  return to_status(decode_into(status->frame, {datagram, bytes}, status->frame.layouts()));
}

std::int32_t takt_vehicle_status_encode(const takt_vehicle_status* status, std::uint8_t* out,
                                        std::size_t size, std::size_t* bytes) {
  if (status == nullptr || out == nullptr || bytes == nullptr) return to_status(Errc::null_pointer);
  const auto written = encode_status(status->frame, {out, size});
  if (!written) return to_status(written.error());
  *bytes = *written;
  return TAKT_OK;
}

std::uint32_t takt_vehicle_status_stamp(const takt_vehicle_status* status) {
  return status == nullptr ? 0 : status->frame.stamp;
}

std::uint32_t takt_vehicle_status_present(const takt_vehicle_status* status) {
  return status == nullptr ? 0 : status->frame.present().bits();
}

std::uint32_t takt_vehicle_status_unknown_blocks(const takt_vehicle_status* status) {
  return status == nullptr ? 0 : status->frame.unknown_blocks();
}

std::int32_t takt_vehicle_status_state(const takt_vehicle_status* status, std::uint32_t system) {
  if (status == nullptr) return TAKT_SYSTEM_STATE_UNKNOWN;
  return static_cast<std::int32_t>(status->frame.state(to_system(system)));
}

std::int32_t takt_vehicle_status_block(const takt_vehicle_status* status, std::uint32_t system,
                                       const std::uint8_t** block, std::size_t* bytes) {
  if (status == nullptr || block == nullptr || bytes == nullptr) return to_status(Errc::null_pointer);
  const auto found = status->frame.bytes(to_system(system));
  if (found.empty()) return to_status(vehicle::Errc::no_block);
  *block = found.data();
  *bytes = found.size();
  return TAKT_OK;
}

std::int32_t takt_vehicle_status_value(const takt_vehicle_status* status, std::uint32_t system,
                                       const char* field, std::int64_t* value) {
  if (status == nullptr || field == nullptr || value == nullptr) return to_status(Errc::null_pointer);
  const auto found = status->frame.layouts().find(to_system(system), field);
  if (!found) return to_status(found.error());
  const auto read = status->frame.value(to_system(system), *found);
  if (!read) return to_status(vehicle::Errc::no_block);
  *value = *read;
  return TAKT_OK;
}

std::int32_t takt_vehicle_status_set_stamp(takt_vehicle_status* status, std::uint32_t stamp) {
  if (status == nullptr) return to_status(Errc::null_pointer);
  status->frame.stamp = stamp;
  return TAKT_OK;
}

std::int32_t takt_vehicle_status_set_block(takt_vehicle_status* status, std::uint32_t system,
                                           const std::uint8_t* block, std::size_t bytes) {
  if (status == nullptr || block == nullptr) return to_status(Errc::null_pointer);
  return to_status(status->frame.set(to_system(system), std::span(block, bytes)));
}

std::int32_t takt_vehicle_status_set_value(takt_vehicle_status* status, std::uint32_t system,
                                           const char* field, std::int64_t value) {
  if (status == nullptr || field == nullptr) return to_status(Errc::null_pointer);
  return to_status(status->frame.set(to_system(system), field, value));
}

std::int32_t takt_vehicle_control_decode(const std::uint8_t* datagram, std::size_t bytes,
                                         std::int32_t byte_order, takt_vehicle_control* control) {
  if (control == nullptr || (datagram == nullptr && bytes > 0)) return to_status(Errc::null_pointer);
  const auto order = takt::capi::to_byte_order(byte_order);
  if (!order) return to_status(order.error());
  const auto frame = vehicle::decode_control({datagram, bytes}, *order);
  if (!frame) return to_status(frame.error());
  *control = {frame->stamp, frame->steer, frame->throttle, frame->brake};
  return TAKT_OK;
}

std::int32_t takt_vehicle_control_encode(const takt_vehicle_control* control, std::int32_t byte_order,
                                         std::uint8_t* out, std::size_t size) {
  if (control == nullptr || out == nullptr) return to_status(Errc::null_pointer);
  const vehicle::ControlFrame frame{control->stamp, control->steer, control->throttle, control->brake};
  const auto order = takt::capi::to_byte_order(byte_order);
  if (!order) return to_status(order.error());
  const auto written = encode_control(frame, {out, size}, *order);
  return written ? TAKT_OK : to_status(written.error());
}

std::uint32_t takt_vehicle_stamp(std::int64_t unix_ns) { return vehicle::to_stamp(to_unix_time(unix_ns)); }

std::int64_t takt_vehicle_stamp_unwrap_ns(std::uint32_t stamp, std::int64_t receiver_unix_ns) {
  // Stays half a turn of the stamps away from the ends of the range.
  constexpr std::int64_t edge = std::numeric_limits<std::int64_t>::max() - 2'200'000'000'000'000;
  const UnixTime receiver = to_unix_time(std::clamp(receiver_unix_ns, -edge, edge));
  return to_nanoseconds(vehicle::unwrap(stamp, receiver).time_since_epoch());
}

std::int64_t takt_vehicle_stamp_difference_ns(std::uint32_t stamp, std::uint32_t other) {
  return to_nanoseconds(vehicle::stamp_difference(stamp, other));
}
