// The vehicle's client of the C API: vehicle/client.hpp over either channel.
#include "vehicle_client.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <variant>

#include "boundary.hpp"

using takt::Duration;
using takt::fail;
using takt::Result;
using takt::Status;
using takt::StopCategory;
using takt::Time;
using takt::to_nanoseconds;
using takt::capi::BorrowedChannel;
using takt::capi::Client;
using takt::capi::Errc;
using takt::capi::guarded;
using takt::capi::to_status;
using takt::capi::to_time;
using takt::vehicle::System;
namespace vehicle = takt::vehicle;

namespace {

static_assert(Client::max_datagram <= TAKT_VEHICLE_CLIENT_DATAGRAM);

Result<StopCategory> to_category(std::int32_t category) noexcept {
  if (category < 0 || category > 2) return fail(Errc::bad_argument);
  return static_cast<StopCategory>(category);
}

vehicle::Units::Configuration to_units(const takt_vehicle_units& u) noexcept {
  return {.wheel_rate = u.wheel_rate,
          .speed = u.speed,
          .angle = u.angle,
          .odometer = u.odometer,
          .steer = u.steer,
          .full_throttle = u.full_throttle,
          .full_brake = u.full_brake,
          .charge = u.charge,
          .current = u.current,
          .voltage = u.voltage};
}

}  // namespace

std::shared_ptr<const vehicle::Layouts> takt::capi::to_layouts(const takt_vehicle_layouts* layouts) noexcept {
  if (layouts == nullptr) return nullptr;
  return {layouts->owned, &layouts->owned->layouts};
}

Result<vehicle::ClientConfiguration> takt::capi::to_configuration(const takt_vehicle_client_options* options,
                                                                  const vehicle::Layouts* layouts) noexcept {
  const auto o = read_struct(options);
  if (!o) return fail(o.error());
  const auto on_timeout = to_category(o->on_command_timeout);
  const auto on_fault = to_category(o->on_fault);
  const auto order = to_byte_order(o->byte_order);
  if (!order) return fail(order.error());
  if (!on_timeout || !on_fault) return fail(Errc::bad_argument);
  vehicle::ClientConfiguration c;
  c.telemetry = {.required = takt::capi::to_systems(o->required),
                 .freshness = to_duration(o->freshness_ns),
                 .period = to_duration(o->status_period_ns),
                 .layouts = layouts == nullptr ? &vehicle::furbot_layouts : layouts};
  c.drive = {.limits = {o->max_steering, o->max_throttle, o->max_reverse},
             .command_timeout = to_duration(o->command_timeout_ns),
             .on_command_timeout = *on_timeout,
             .on_fault = *on_fault,
             .stop = {o->service_brake, o->brake_rate, o->standstill, to_duration(o->settling_ns),
                      to_duration(o->longest_braking_ns)}};
  c.units = to_units(o->units);
  c.units.speed_is_magnitude = o->speed_is_magnitude != 0;
  c.send_period = to_duration(o->send_period_ns);
  c.payload = *order;
  c.clock_epoch =
      vehicle::UnixTime(std::chrono::floor<std::chrono::milliseconds>(Duration(o->unix_ns_at_zero)));
  return c;
}

Result<BorrowedChannel> takt::capi::to_commander(takt_channel* channel) noexcept {
  if (channel == nullptr) return fail(Errc::null_pointer);
  if (std::holds_alternative<ServerChannel>(channel->channel)) return fail(Errc::bad_argument);
  return BorrowedChannel(channel->channel);
}

void takt_vehicle_client_options_init(takt_vehicle_client_options* options, std::size_t size) {
  const vehicle::ClientConfiguration c;
  const vehicle::EmergencyStop::Configuration& stop = c.drive.stop;
  takt_vehicle_client_options made{};
  made.required = c.telemetry.required.bits();
  made.freshness_ns = c.telemetry.freshness.count();
  made.status_period_ns = c.telemetry.period.count();
  made.send_period_ns = c.send_period.count();
  made.command_timeout_ns = c.drive.command_timeout.count();
  made.on_command_timeout = static_cast<std::int32_t>(c.drive.on_command_timeout);
  made.on_fault = static_cast<std::int32_t>(c.drive.on_fault);
  made.max_steering = c.drive.limits.steering;
  made.max_throttle = c.drive.limits.throttle;
  made.max_reverse = c.drive.limits.reverse;
  made.service_brake = stop.service_brake;
  made.brake_rate = stop.brake_rate;
  made.standstill = stop.standstill;
  made.settling_ns = stop.settling.count();
  made.longest_braking_ns = stop.longest_braking.count();
  made.units.wheel_rate = c.units.wheel_rate;
  made.units.charge = c.units.charge;
  made.units.current = c.units.current;
  made.units.voltage = c.units.voltage;
  made.unix_ns_at_zero = Duration(c.clock_epoch.time_since_epoch()).count();
  takt::capi::init_struct(options, size, made);
}

std::int32_t takt_vehicle_client_create(const takt_vehicle_client_options* options,
                                        const takt_vehicle_layouts* layouts, takt_channel* channel,
                                        takt_vehicle_client** client) {
  return guarded([&]() -> Status {
    if (client == nullptr) return fail(Errc::null_pointer);
    auto kept = takt::capi::to_layouts(layouts);
    const auto configuration = takt::capi::to_configuration(options, kept.get());
    if (!configuration) return fail(configuration.error());
    const auto commander = takt::capi::to_commander(channel);
    if (!commander) return fail(commander.error());
    const auto made = Client::make(*configuration, *commander);
    if (!made) return fail(made.error());
    *client = std::make_unique<takt_vehicle_client>(takt_vehicle_client{std::move(kept), *made}).release();
    return {};
  });
}

void takt_vehicle_client_destroy(takt_vehicle_client* client) { delete client; }

std::int32_t takt_vehicle_client_receive(takt_vehicle_client* client, const std::uint8_t* datagram,
                                         std::size_t bytes, std::int64_t now_ns) {
  if (client == nullptr || (datagram == nullptr && bytes > 0)) return to_status(Errc::null_pointer);
  return to_status(std::visit(
      [&](auto& end) { return end.receive(std::span(datagram, bytes), to_time(now_ns)); }, client->end));
}

std::int64_t takt_vehicle_client_next_send_ns(const takt_vehicle_client* client) {
  return client == nullptr ? INT64_MAX : to_nanoseconds(client->client().next_send());
}

std::int32_t takt_vehicle_client_poll(takt_vehicle_client* client, std::int64_t now_ns, std::uint8_t* out,
                                      std::size_t size, std::size_t* bytes) {
  if (client == nullptr || bytes == nullptr || (out == nullptr && size > 0))
    return to_status(Errc::null_pointer);
  const auto written = client->client().poll(to_time(now_ns), {out, size});
  *bytes = written.value_or(0);
  return written ? TAKT_OK : to_status(written.error());
}

std::int32_t takt_vehicle_client_drive(takt_vehicle_client* client, const takt_drive_command* command,
                                       std::int64_t now_ns) {
  if (client == nullptr || command == nullptr) return to_status(Errc::null_pointer);
  return to_status(
      client->client().drive({command->steering, command->throttle, command->brake}, to_time(now_ns)));
}

std::int32_t takt_vehicle_client_stop(takt_vehicle_client* client, std::int32_t category,
                                      std::int64_t now_ns) {
  if (client == nullptr) return to_status(Errc::null_pointer);
  const auto known = to_category(category);
  if (!known) return to_status(known.error());
  client->client().stop(*known, to_time(now_ns));
  return TAKT_OK;
}

std::int32_t takt_vehicle_client_recover(takt_vehicle_client* client, std::int64_t now_ns) {
  if (client == nullptr) return to_status(Errc::null_pointer);
  return to_status(client->client().recover(to_time(now_ns)));
}

std::int32_t takt_vehicle_client_forget(takt_vehicle_client* client, std::int64_t now_ns) {
  if (client == nullptr) return to_status(Errc::null_pointer);
  client->client().forget_telemetry(to_time(now_ns));
  return TAKT_OK;
}

void takt_vehicle_client_state_init(takt_vehicle_client_state* state, std::size_t size) {
  takt_vehicle_client_state made{};
  made.category = -1;
  takt::capi::init_struct(state, size, made);
}

std::int32_t takt_vehicle_client_get_state(const takt_vehicle_client* client,
                                           takt_vehicle_client_state* state) {
  if (client == nullptr || state == nullptr) return to_status(Errc::null_pointer);
  if (const Status size = takt::capi::check_size(state); !size) return to_status(size);
  const auto reason = client->client().reason();
  const auto category = client->client().category();
  const auto& command = client->client().command();
  takt_vehicle_client_state now{};
  now.state = static_cast<std::int32_t>(client->client().state());
  now.cause = static_cast<std::int32_t>(reason.cause);
  now.system = static_cast<std::uint32_t>(reason.system);
  now.category = category ? static_cast<std::int32_t>(*category) : -1;
  now.command = {command.steering, command.throttle, command.brake};
  takt::capi::write_struct(state, now);
  return TAKT_OK;
}

std::int32_t takt_vehicle_client_system(const takt_vehicle_client* client, std::uint32_t system,
                                        std::int64_t now_ns, std::int32_t* state, std::int64_t* age_ns,
                                        std::int32_t* fresh) {
  if (client == nullptr) return to_status(Errc::null_pointer);
  const auto& telemetry = client->client().telemetry();
  const auto known = static_cast<System>(std::min(system, 255U));
  if (telemetry.last().layouts().length(known) == 0) return to_status(vehicle::Errc::unknown_system);
  const Time now = to_time(now_ns);
  if (state != nullptr) *state = static_cast<std::int32_t>(telemetry.state(known));
  if (age_ns != nullptr) *age_ns = telemetry.age(known, now).count();
  if (fresh != nullptr) *fresh = telemetry.fresh(known, now) ? 1 : 0;
  return TAKT_OK;
}

std::int32_t takt_vehicle_client_value(const takt_vehicle_client* client, std::uint32_t system,
                                       const char* field, std::int64_t* value) {
  if (client == nullptr || field == nullptr || value == nullptr) return to_status(Errc::null_pointer);
  const auto& last = client->client().telemetry().last();
  const auto known = static_cast<System>(std::min(system, 255U));
  const auto found = last.layouts().find(known, field);
  if (!found) return to_status(found.error());
  const auto read = last.value(known, *found);
  if (!read) return to_status(vehicle::Errc::no_block);
  *value = *read;
  return TAKT_OK;
}

void takt_vehicle_client_counters_init(takt_vehicle_client_counters* counters, std::size_t size) {
  takt::capi::init_struct(counters, size);
}

std::int32_t takt_vehicle_client_get_counters(const takt_vehicle_client* client,
                                              takt_vehicle_client_counters* counters) {
  if (client == nullptr || counters == nullptr) return to_status(Errc::null_pointer);
  if (const Status size = takt::capi::check_size(counters); !size) return to_status(size);
  const auto& wire = client->client().counters();
  const auto& heard = client->client().telemetry().counters();
  const auto& driven = client->client().drive_counters();
  takt_vehicle_client_counters now{};
  now.received = wire.received;
  now.refused = wire.refused;
  now.malformed = heard.malformed;
  now.accepted = heard.taken;
  now.lost = heard.lost;
  now.late = heard.late;
  now.duplicated = heard.duplicated;
  now.invalid_stamps = heard.impossible;
  now.restarts = heard.restarts;
  now.unknown_blocks = heard.unknown_blocks;
  now.sent = wire.sent;
  now.missed = wire.missed;
  now.handshakes = wire.handshakes;
  now.commands = driven.commands;
  now.commands_limited = driven.limited;
  now.commands_refused = driven.refused;
  now.command_timeouts = driven.command_timeouts;
  now.stops = driven.stops;
  takt::capi::write_struct(counters, now);
  return TAKT_OK;
}
