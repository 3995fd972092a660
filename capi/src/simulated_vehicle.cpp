// The simulated vehicle of the C API: sim/simulated_vehicle.hpp over either channel.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <variant>

#include "boundary.hpp"
#include "channel.hpp"
#include "takt/sim/simulated_vehicle.hpp"
#include "vehicle.hpp"
#include "vehicle_description.hpp"

using takt::fail;
using takt::Status;
using takt::capi::BorrowedChannel;
using takt::capi::ClientChannel;
using takt::capi::Errc;
using takt::capi::guarded;
using takt::capi::to_duration;
using takt::capi::to_status;
using takt::capi::to_time;
namespace sim = takt::sim;
namespace vehicle = takt::vehicle;

using Vehicle = sim::SimulatedVehicle<BorrowedChannel>;
static_assert(Vehicle::max_datagram == TAKT_SIMULATED_VEHICLE_DATAGRAM);

struct takt_simulated_vehicle {
  std::shared_ptr<const vehicle::Layouts> layouts;  // null: the Furbot's
  Vehicle vehicle;
};

std::int32_t takt_simulated_vehicle_create(const takt_vehicle_description* description, takt_channel* channel,
                                           std::uint64_t seed, std::int64_t start_ns,
                                           takt_simulated_vehicle** simulated) {
  return guarded([&]() -> Status {
    if (description == nullptr || channel == nullptr || simulated == nullptr) return fail(Errc::null_pointer);
    if (std::holds_alternative<ClientChannel>(channel->channel)) return fail(Errc::bad_argument);
    const auto& client = description->drive.client;
    if (client.telemetry.period != sim::status_period) return fail(Errc::bad_argument);
    const sim::VehicleLink link{.payload = client.payload, .unix_at_zero = client.clock_epoch, .seed = seed};
    auto made = Vehicle::make(sim::options_of(description->drive), link, BorrowedChannel(channel->channel),
                              to_time(start_ns));
    if (!made) return fail(made.error());
    *simulated = std::make_unique<takt_simulated_vehicle>(takt_simulated_vehicle{description->layouts, *made})
                     .release();
    return {};
  });
}

void takt_simulated_vehicle_destroy(takt_simulated_vehicle* simulated) { delete simulated; }

std::int32_t takt_simulated_vehicle_receive(takt_simulated_vehicle* simulated, const std::uint8_t* datagram,
                                            std::size_t bytes, std::int64_t now_ns) {
  if (simulated == nullptr || (datagram == nullptr && bytes > 0)) return to_status(Errc::null_pointer);
  return to_status(simulated->vehicle.receive({datagram, bytes}, to_time(now_ns)));
}

std::int64_t takt_simulated_vehicle_next_send_ns(const takt_simulated_vehicle* simulated) {
  return simulated == nullptr ? INT64_MAX : takt::to_nanoseconds(simulated->vehicle.next_send());
}

std::int32_t takt_simulated_vehicle_poll(takt_simulated_vehicle* simulated, std::int64_t now_ns,
                                         std::uint8_t* out, std::size_t size, std::size_t* bytes) {
  if (simulated == nullptr || bytes == nullptr || (out == nullptr && size > 0))
    return to_status(Errc::null_pointer);
  const auto written = simulated->vehicle.poll(to_time(now_ns), {out, size});
  *bytes = written.value_or(0);
  return written ? TAKT_OK : to_status(written.error());
}

void takt_simulated_vehicle_recover(takt_simulated_vehicle* simulated) {
  if (simulated != nullptr) simulated->vehicle.recover();
}

void takt_vehicle_faults_init(takt_vehicle_faults* faults, std::size_t size) {
  takt::capi::init_struct(faults, size);
}

std::int32_t takt_simulated_vehicle_set_faults(takt_simulated_vehicle* simulated,
                                               const takt_vehicle_faults* faults) {
  if (simulated == nullptr) return to_status(Errc::null_pointer);
  const auto f = takt::capi::read_struct(faults);
  if (!f) return to_status(f.error());
  const bool shares = std::ranges::all_of(std::array{f->lost, f->corrupt, f->wrong_length},
                                          [](double share) { return share >= 0 && share <= 1; });
  const bool delay = f->late_ns >= 0 && f->late_ns <= Vehicle::latest.count();
  if (!shares || !delay || f->reserved != 0) return to_status(Errc::bad_argument);
  simulated->vehicle.set_faults({.silent = f->silent != 0,
                                 .late = to_duration(f->late_ns),
                                 .lost = f->lost,
                                 .corrupt = f->corrupt,
                                 .lying = f->wrong_length,
                                 .halted = takt::capi::to_systems(f->halted)});
  return TAKT_OK;
}

void takt_simulated_vehicle_state_init(takt_simulated_vehicle_state* state, std::size_t size) {
  takt::capi::init_struct(state, size);
}

std::int32_t takt_simulated_vehicle_get_state(const takt_simulated_vehicle* simulated,
                                              takt_simulated_vehicle_state* state) {
  if (simulated == nullptr || state == nullptr) return to_status(Errc::null_pointer);
  if (const Status size = takt::capi::check_size(state); !size) return to_status(size);
  const sim::VehicleController& controller = simulated->vehicle.controller();
  const sim::VehiclePlant& plant = controller.plant();
  const takt::mobile::Twist twist = plant.twist();
  takt_simulated_vehicle_state now{};
  now.state = static_cast<std::int32_t>(controller.state());
  now.pose = {plant.pose().x, plant.pose().y, plant.pose().heading};
  now.twist = {twist.forward, twist.left, twist.rotation};
  now.command = {plant.steering(), plant.throttle(), plant.brake()};
  now.travelled = plant.travelled();
  now.sent = simulated->vehicle.counters().sent;
  now.refused = simulated->vehicle.counters().refused;
  now.malformed = simulated->vehicle.counters().malformed;
  now.applied = controller.counters().obeyed;
  now.outdated = controller.counters().outdated;
  now.halts = controller.counters().timeouts;
  now.held = controller.counters().held;
  takt::capi::write_struct(state, now);
  return TAKT_OK;
}
