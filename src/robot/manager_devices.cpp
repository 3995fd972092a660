// The devices in the manager's cycle: reading, loss and return, and their part of a stop.
#include <algorithm>
#include <cstddef>
#include <utility>

#include "robot/manager_parts.hpp"

namespace takt::robot {

using component::ComponentState;
using component::Transition;

void Manager::read_devices() noexcept {
  device_context_.execute();
  (void)device_context_.settle();
  for (DeviceRow& row : devices_) {
    const bool is_active = row.device->state() == ComponentState::active;
    const bool failed = row.device->state() == ComponentState::error;
    if (row.lost) {
      retry(row);
    } else if ((std::exchange(row.was_active, is_active) && !is_active) || failed) {
      lose(row);
    }
  }
}

void Manager::lose(DeviceRow& row) noexcept {
  row.lost = true;
  row.lost_at = cycle_;
  emit(ManagerEvent::Kind::device_lost, *row.device, row.device->error());
  const auto index = static_cast<std::size_t>(&row - devices_.data());
  for (Entry* entry : running_) {
    const bool uses = std::ranges::find(entry->devices, index) != entry->devices.end();
    entry->falls_back = uses && entry->wanted;
  }
  fall_back(Errc::device_lost);
}

void Manager::retry(DeviceRow& row) noexcept {
  Device& device = *row.device;
  if (device.state() == ComponentState::active) {  // somebody else has reset it
    row.lost = false;
  } else if (row.retry != 0 && (cycle_ - row.lost_at) % row.retry == 0) {
    if (device.state() == ComponentState::error && !device_context_.lead(device, Transition::reset)) return;
    row.lost = !device_context_.lead(device, Transition::activate);
  }
  if (!row.lost) emit(ManagerEvent::Kind::device_returned, device);
}

void Manager::stop_devices(StopCategory category) noexcept {
  devices_stopped_in_ = cycle_;
  for (const DeviceRow& row : devices_) row.device->on_robot_stop(category, now_);
}

void Manager::tell_ready() noexcept {
  for (const DeviceRow& row : devices_) row.device->on_robot_ready(now_);
}

/// Of an inactive device nothing is known. One that is told to stop says so from the next cycle on.
bool Manager::any_device_moves() const noexcept {
  const bool is_told = devices_stopped_in_ == cycle_;
  return std::ranges::any_of(devices_, [&](const DeviceRow& row) {
    return row.moving != nullptr && (is_told || *row.moving != 0) &&
           row.device->state() == ComponentState::active;
  });
}

}  // namespace takt::robot
