#include "takt/sim/mujoco_physics.hpp"

#include <fmt/format.h>
#include <mujoco/mujoco.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/mujoco/sensors.hpp"
#include "takt/sim/error.hpp"

namespace takt::sim {
namespace {

/// The friction of a closed brake, in torque limits of its drive.
constexpr double brake_strength = 3;
/// The servo of a drive is tuned for its plant's inertia. Far from it, no servo is stable.
constexpr double most_mismatch = 100;
constexpr int none = -1;

struct FreeModel {
  void operator()(mjModel* model) const noexcept { mj_deleteModel(model); }
};
struct FreeData {
  void operator()(mjData* data) const noexcept { mj_deleteData(data); }
};

std::string names_of(const mjModel& model, mjtObj kind, int count) {
  std::string names;
  for (int i = 0; i < count; ++i) {
    if (const char* name = mj_id2name(&model, kind, i))
      names += (names.empty() ? "" : ", ") + std::string(name);
  }
  return names.empty() ? "none" : names;
}

/// Whether an actuator passes its control on as a force.
bool is_motor(const mjModel& model, int actuator) {
  return model.actuator_dyntype[actuator] == mjDYN_NONE &&
         model.actuator_gaintype[actuator] == mjGAIN_FIXED &&
         model.actuator_biastype[actuator] == mjBIAS_NONE &&
         model.actuator_gainprm[actuator * mjNGAIN] * model.actuator_gear[actuator * 6] != 0;
}

/// Why the servo of a drive cannot control a joint with this inertia; "" if it can.
std::string mismatch(const robot::JointDescription& joint, double inertia) {
  const double ratio = joint.plant.inertia / inertia;
  if (!(ratio > most_mismatch || ratio < 1 / most_mismatch)) return {};
  const char* const unit = joint.kind == robot::JointKind::linear ? "kg" : "kg m^2";
  const std::string compared =
      ratio > 1 ? fmt::format("{:.4g} times", ratio) : fmt::format("1/{:.4g} of", 1 / ratio);
  return fmt::format(
      "joint {}: its servo is made for {:.4g} {} (plant.inertia), {} the {:.4g} {} of the model's joint "
      "at the start: it {}. Keep within {:g} times: change plant.inertia, or masses or armature in the model",
      joint.name, joint.plant.inertia, unit, compared, inertia, unit,
      ratio > 1 ? "will shake" : "cannot follow", most_mismatch);
}

}  // namespace

class MujocoPhysics::World {
 public:
  SetupResult<void> load(const std::string& path, const robot::RobotDescription& robot) {
    mju_user_warning = [](const char*) {};  // counted in mjData; the default one writes a file
    std::array<char, 1000> why{};
    model.reset(mj_loadXML(path.c_str(), nullptr, why.data(), static_cast<int>(why.size())));
    if (!model) return fail(Errc::bad_physics, path + ": " + why.data());
    const double nanoseconds = model->opt.timestep * 1e9;
    step_time = Duration(std::llround(nanoseconds));
    if (step_time <= Duration{} || std::abs(nanoseconds - std::round(nanoseconds)) > 1e-3) {
      return fail(Errc::bad_physics, path + ": the timestep of " + std::to_string(nanoseconds) +
                                         " ns is not a whole number of them");
    }
    data.reset(mj_makeData(model.get()));
    if (!data) return fail(Errc::bad_physics, path + ": the model is too large");
    if (const int key = mj_name2id(model.get(), mjOBJ_KEY, "start"); key >= 0)
      mj_resetDataKeyframe(model.get(), data.get(), key);
    std::string mistakes;
    for (const robot::JointDescription& joint : robot.joints) {
      const std::string mistake = add(joint);
      if (mistake.empty()) continue;
      if (!mistakes.empty()) mistakes += '\n';
      mistakes.append(path).append(": ").append(mistake);
    }
    if (!mistakes.empty()) return fail(Errc::bad_physics, std::move(mistakes));
    mj_forward(model.get(), data.get());
    take_states();
    for (std::size_t i = 0; i < axes_.size(); ++i) {
      const std::string warning = mismatch(robot.joints[i], inertia_of(axes_[i]));
      if (!warning.empty()) warnings.push_back(fmt::format("{}: {}", path, warning));
    }
    std::vector<bool> is_drive(static_cast<std::size_t>(model->nu));
    for (const Axis& axis : axes_)
      if (axis.motor != none) is_drive[static_cast<std::size_t>(axis.motor)] = true;
    sensors.emplace(*model, *data, diverged, std::move(is_drive));
    return {};
  }

  void step() noexcept {
    if (diverged) return;
    for (std::size_t i = 0; i < joints.size(); ++i) {
      const Axis& axis = axes_[i];
      const bool brakes = joints[i].braked && axis.brake > 0;
      model->dof_frictionloss[axis.dof] = brakes ? axis.brake : axis.friction;
      if (axis.motor == none) data->qfrc_applied[axis.dof] = joints[i].torque;
      if (axis.motor != none) data->ctrl[axis.motor] = joints[i].torque * axis.control_per_torque;
    }
    mj_step(model.get(), data.get());
    for (const int warning : {mjWARN_BADQPOS, mjWARN_BADQVEL, mjWARN_BADQACC})
      diverged = diverged || data->warning[warning].number > 0;
    if (!diverged) take_states();
  }

  [[nodiscard]] bool has_body(int body) const noexcept { return body >= 0 && body < model->nbody; }

  std::unique_ptr<mjModel, FreeModel> model;
  std::unique_ptr<mjData, FreeData> data;
  Duration step_time{};
  std::vector<PhysicsJoint> joints;
  std::vector<std::string> warnings;
  std::optional<MujocoSensors> sensors;
  bool diverged = false;

 private:
  struct Axis {
    int position = 0;  ///< index into qpos
    int dof = 0;
    int motor = none;
    double control_per_torque = 1;
    double friction = 0;  ///< of the model, N m
    double brake = 0;     ///< N m; 0: none
  };

  void take_states() noexcept {
    for (std::size_t i = 0; i < joints.size(); ++i) {
      joints[i].position = data->qpos[axes_[i].position];
      joints[i].velocity = data->qvel[axes_[i].dof];
    }
  }

  /// The joint's own inertia in the present pose, with its armature, while all other joints stand; kg m^2.
  [[nodiscard]] double inertia_of(const Axis& axis) const noexcept {
    return data->qM[model->dof_Madr[axis.dof]];
  }

  /// Maps a joint. Returns a mistake, or "".
  std::string add(const robot::JointDescription& joint) {
    const int id = mj_name2id(model.get(), mjOBJ_JOINT, joint.name.c_str());
    if (id < 0) {
      return "the model has no joint " + joint.name + "; it has " +
             names_of(*model, mjOBJ_JOINT, static_cast<int>(model->njnt));
    }
    const bool is_linear = joint.kind == robot::JointKind::linear;
    if (model->jnt_type[id] != (is_linear ? mjJNT_SLIDE : mjJNT_HINGE))
      return "joint " + joint.name + " must be a " + (is_linear ? "slide" : "hinge");
    Axis axis{.position = model->jnt_qposadr[id], .dof = model->jnt_dofadr[id]};
    axis.friction = model->dof_frictionloss[axis.dof];
    if (joint.kind != robot::JointKind::continuous) axis.brake = brake_strength * joint.plant.torque_limit;
    for (int i = 0; i < model->nu; ++i) {
      if (model->actuator_trntype[i] != mjTRN_JOINT || model->actuator_trnid[2 * i] != id) continue;
      const char* const name = mj_id2name(model.get(), mjOBJ_ACTUATOR, i);
      const std::string which =
          "actuator " + std::string(name != nullptr ? name : std::to_string(i)) + " of joint " + joint.name;
      if (axis.motor != none) return which + " is a second one; a joint has one motor or none";
      if (!is_motor(*model, i)) return which + " must be a <motor>: the robot's own drive controls it";
      axis.motor = i;
      axis.control_per_torque = 1 / (model->actuator_gainprm[i * mjNGAIN] * model->actuator_gear[i * 6]);
    }
    data->qpos[axis.position] = joint.plant.start;
    axes_.push_back(axis);
    joints.emplace_back();
    return {};
  }

  std::vector<Axis> axes_;
};

MujocoPhysics::MujocoPhysics(std::unique_ptr<World> world) noexcept : world_(std::move(world)) {}
MujocoPhysics::~MujocoPhysics() = default;

SetupResult<std::unique_ptr<MujocoPhysics>> MujocoPhysics::load(const std::string& path,
                                                                const robot::RobotDescription& robot) {
  auto world = std::make_unique<World>();
  if (auto loaded = world->load(path, robot); !loaded) return tl::unexpected(std::move(loaded.error()));
  return std::unique_ptr<MujocoPhysics>(new MujocoPhysics(std::move(world)));
}

const std::vector<std::string>& MujocoPhysics::warnings() const noexcept { return world_->warnings; }
std::span<PhysicsJoint> MujocoPhysics::joints() noexcept { return world_->joints; }
Duration MujocoPhysics::step_time() const noexcept { return world_->step_time; }
void MujocoPhysics::step() noexcept { world_->step(); }
robot::Device& MujocoPhysics::sensors() noexcept { return *world_->sensors; }
bool MujocoPhysics::diverged() const noexcept { return world_->diverged; }

SetupResult<int> MujocoPhysics::body(std::string_view name) const {
  const int id = mj_name2id(world_->model.get(), mjOBJ_BODY, std::string(name).c_str());
  if (id >= 0) return id;
  return fail(Errc::bad_physics,
              "the model has no body " + std::string(name) + "; it has " +
                  names_of(*world_->model, mjOBJ_BODY, static_cast<int>(world_->model->nbody)));
}
robot::Vector3 MujocoPhysics::position(int body) const noexcept {
  if (!world_->has_body(body)) return {};
  const mjtNum* const at = world_->data->xpos + 3 * body;
  return {at[0], at[1], at[2]};
}
void MujocoPhysics::push(int body, const robot::Wrench& wrench) noexcept {
  if (!world_->has_body(body) || !robot::is_finite(wrench)) return;
  mjtNum* const applied = world_->data->xfrc_applied + 6 * body;
  std::copy(wrench.force.begin(), wrench.force.end(), applied);
  std::copy(wrench.torque.begin(), wrench.torque.end(), applied + 3);
}
mjModel_& MujocoPhysics::model() noexcept { return *world_->model; }
mjData_& MujocoPhysics::data() noexcept { return *world_->data; }

}  // namespace takt::sim
