#include "sim/mujoco/sensors.hpp"

#include <algorithm>
#include <utility>

#include "takt/sim/error.hpp"

namespace takt::sim {
namespace {

std::string name_in(const mjModel& model, mjtObj kind, int id) {
  const char* const name = mj_id2name(&model, kind, id);
  return name == nullptr ? std::string() : std::string(name);
}

}  // namespace

MujocoSensors::MujocoSensors(const mjModel& model, mjData& data, const bool& diverged,
                             std::vector<bool> is_drive)
    : Device(about, "physics"),
      model_(&model),
      data_(&data),
      diverged_(&diverged),
      is_drive_(std::move(is_drive)) {
  find_units();
  find_scalars();
  find_commands();
}

/// Inertial units and force-torque sensors: sensors that share a site with a name.
void MujocoSensors::find_units() {
  for (int i = 0; i < model_->nsensor; ++i) {
    const int site = model_->sensor_objid[i];
    if (model_->sensor_objtype[i] != mjOBJ_SITE || name_in(*model_, mjOBJ_SITE, site).empty()) continue;
    const int place = model_->sensor_adr[i];
    switch (model_->sensor_type[i]) {
      case mjSENS_GYRO:
        imus_[site].gyro = place;
        break;
      case mjSENS_ACCELEROMETER:
        imus_[site].accelerometer = place;
        break;
      case mjSENS_FRAMEQUAT:
        imus_[site].orientation = place;
        break;
      case mjSENS_FORCE:
        wrenches_[site].force = place;
        break;
      case mjSENS_TORQUE:
        wrenches_[site].torque = place;
        break;
      default:
        break;
    }
  }
  std::erase_if(imus_,
                [](const auto& one) { return one.second.gyro == none || one.second.accelerometer == none; });
  std::erase_if(wrenches_,
                [](const auto& one) { return one.second.force == none || one.second.torque == none; });
  for (auto& [site, imu] : imus_) {
    if (imu.orientation == none) imu.sample.orientation = {};
  }
}

/// Whether a sensor is part of an inertial unit or of a force-torque sensor.
bool MujocoSensors::is_of_unit(int sensor) const {
  const int place = model_->sensor_adr[sensor];
  const auto has = [&](const auto& units, auto... parts) {
    return std::any_of(units.begin(), units.end(),
                       [&](const auto& one) { return ((one.second.*parts == place) || ...); });
  };
  return has(imus_, &Imu::gyro, &Imu::accelerometer, &Imu::orientation) ||
         has(wrenches_, &ForceTorque::force, &ForceTorque::torque);
}

void MujocoSensors::find_scalars() {
  for (int i = 0; i < model_->nsensor; ++i) {
    const std::string name = name_in(*model_, mjOBJ_SENSOR, i);
    if (name.empty() || is_of_unit(i)) continue;
    const std::string unit = model_->sensor_type[i] == mjSENS_TOUCH ? "N" : "";
    for (int k = 0; k < model_->sensor_dim[i]; ++k) {
      std::string state = "physics/" + name;
      if (model_->sensor_dim[i] > 1) state.append(1, '.').append(std::to_string(k));
      scalars_.push_back({std::move(state), unit, model_->sensor_adr[i] + k});
    }
  }
}

/// The actuators with a name, except the motors of the robot's joints.
void MujocoSensors::find_commands() {
  for (int i = 0; i < model_->nu; ++i) {
    const std::string name = name_in(*model_, mjOBJ_ACTUATOR, i);
    if (!name.empty() && !is_drive_[static_cast<std::size_t>(i)])
      commands_.push_back({"physics/" + name, i, data_->ctrl[i]});
  }
}

SetupResult<void> MujocoSensors::on_declare(robot::Declarations& declarations) {
  SetupResult<void> done;
  for (const auto& [site, imu] : imus_)
    if (done) done = declarations.sensor(name_in(*model_, mjOBJ_SITE, site), imu.sample);
  for (const auto& [site, unit] : wrenches_)
    if (done) done = declarations.sensor(name_in(*model_, mjOBJ_SITE, site), unit.sample);
  for (const Scalar& scalar : scalars_)
    if (done) done = declarations.state(scalar.name, scalar.unit, scalar.value);
  for (Command& command : commands_)
    if (done) done = declarations.command(command.name, "", command.value, command.driven);
  return done;
}

void MujocoSensors::read(int place, robot::Vector3& into, double sign) const noexcept {
  for (std::size_t i = 0; i < 3; ++i) into[i] = sign * data_->sensordata[place + static_cast<int>(i)];
}

Status MujocoSensors::on_execute(const component::CycleTime&) noexcept {
  if (*diverged_) return takt::fail(Errc::physics_diverged);
  for (auto& [site, imu] : imus_) {
    read(imu.gyro, imu.sample.angular_velocity);
    read(imu.accelerometer, imu.sample.acceleration);
    if (imu.orientation == none) continue;
    const mjtNum* const q = data_->sensordata + imu.orientation;  // w, x, y, z
    imu.sample.orientation = {q[1], q[2], q[3], q[0]};
  }
  for (auto& [site, unit] : wrenches_) {
    read(unit.force, unit.sample.force, -1);
    read(unit.torque, unit.sample.torque, -1);
  }
  for (Scalar& scalar : scalars_) scalar.value = data_->sensordata[scalar.place];
  return {};
}

Status MujocoSensors::on_state_update(const component::CycleTime&) noexcept {
  for (const Command& command : commands_) data_->ctrl[command.actuator] = command.value;
  return {};
}

}  // namespace takt::sim
