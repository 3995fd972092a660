#include "takt/controllers/registry.hpp"

#include <array>

#include "takt/controllers/admittance.hpp"
#include "takt/controllers/car_like_drive.hpp"
#include "takt/controllers/chained_filter.hpp"
#include "takt/controllers/differential_drive.hpp"
#include "takt/controllers/force_torque_broadcaster.hpp"
#include "takt/controllers/forward.hpp"
#include "takt/controllers/gpio.hpp"
#include "takt/controllers/gripper.hpp"
#include "takt/controllers/hold.hpp"
#include "takt/controllers/holonomic_drive.hpp"
#include "takt/controllers/imu_broadcaster.hpp"
#include "takt/controllers/joint_state_broadcaster.hpp"
#include "takt/controllers/pid.hpp"
#include "takt/controllers/sine_sweep.hpp"
#include "takt/controllers/vehicle.hpp"

namespace takt::controllers {

std::span<const component::ComponentType> types() {
  using component::component_type;
  static const std::array list{
      component_type<AdmittanceController>(),   component_type<CarLikeDriveController>(),
      component_type<ChainedFilter>(),          component_type<DifferentialDriveController>(),
      component_type<ForceTorqueBroadcaster>(), component_type<ForwardController>(),
      component_type<GpioController>(),         component_type<GripperController>(),
      component_type<HoldController>(),         component_type<HolonomicDriveController>(),
      component_type<ImuBroadcaster>(),         component_type<JointStateBroadcaster>(),
      component_type<PidController>(),          component_type<SineSweepController>(),
      component_type<VehicleDriveController>(),
  };
  return list;
}

}  // namespace takt::controllers
