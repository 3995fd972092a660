#include "takt/controllers/holonomic_drive.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <type_traits>

#include "takt/controllers/error.hpp"

namespace takt::controllers {

using mobile::Twist;

// ---- set-up ----

SetupResult<void> HolonomicDriveController::check_count(std::size_t count, HolonomicLayout kind) const {
  const bool fits = kind == HolonomicLayout::mecanum ? count == 4 : count >= 3 && count <= most_wheels;
  if (fits) return {};
  return fail(Errc::wrong_joint_count, name() + ": " + std::to_string(count) +
                                           " wheels; allowed are 4 mecanum wheels, or 3 to 6 omni wheels");
}

SetupResult<void> HolonomicDriveController::on_check() {
  if (auto fixed = check_fixed(*this, wheels); !fixed) return fixed;
  if (wheels_.empty()) return {};  // claim_joints() judges later
  return check_count(wheels_.size(), layout.proposed());
}

SetupResult<void> HolonomicDriveController::claim_joints(robot::Resources& resources) {
  const auto names = distinct_names(*this, wheels, max_joints);
  if (!names) return tl::unexpected<SetupError>(names.error());
  if (auto fits = check_count(names->size(), *layout); !fits) return fits;
  for (const std::string& wheel : *names) {
    if (auto claimed = wheels_.emplace_back().claim(resources, std::span(&wheel, 1), wheel_jumps_); !claimed)
      return claimed;
  }
  update_geometry();
  return resources.output("slip", "rad/s", slip_);
}

void HolonomicDriveController::update_geometry() noexcept {
  // The ranges of the parameters are within those of make().
  const auto use = [this](const auto& fresh) noexcept {
    if (fresh) drive_ = *fresh;
  };
  if (wheels_.empty()) return;
  if (*layout == HolonomicLayout::mecanum)
    return use(mobile::mecanum_drive<double>(*length, *width, *wheel_radius));
  switch (wheels_.size()) {
    case 3:
      return use(mobile::omni_drive<3, double>(*circle, *wheel_radius, *first_wheel));
    case 4:
      return use(mobile::omni_drive<4, double>(*circle, *wheel_radius, *first_wheel));
    case 5:
      return use(mobile::omni_drive<5, double>(*circle, *wheel_radius, *first_wheel));
    default:
      return use(mobile::omni_drive<6, double>(*circle, *wheel_radius, *first_wheel));
  }
}

// ---- the cycle ----

/// Calls visit(drive, values): the kinematics, and an array for its wheels.
template <class Visit>
void HolonomicDriveController::with_drive(Visit&& visit) const noexcept {
  std::visit(
      [&]<class Drive>(const Drive& drive) noexcept {
        if constexpr (!std::is_same_v<Drive, std::monostate>) visit(drive, typename Drive::WheelValues{});
      },
      drive_);
}

HolonomicDriveController::Rates HolonomicDriveController::rates(const Twist& twist) const noexcept {
  Rates out{};
  with_drive([&](const auto& drive, auto values) noexcept {
    values = drive.wheels(twist);
    std::ranges::copy(values, out.begin());
  });
  return out;
}

Twist HolonomicDriveController::twist(const Rates& rates) const noexcept {
  Twist out;
  with_drive([&](const auto& drive, auto values) noexcept {
    std::copy_n(rates.begin(), values.size(), values.begin());
    out = drive.twist(values);
  });
  return out;
}

HolonomicDriveController::Rates HolonomicDriveController::measured_rates() noexcept {
  Rates measured{};
  for (std::size_t i = 0; i < wheels_.size(); ++i) measured[i] = wheels_[i].rate();
  return measured;
}

void HolonomicDriveController::watch_slip() noexcept {
  const Rates measured = measured_rates();
  with_drive([&](const auto& drive, auto values) noexcept {
    std::copy_n(measured.begin(), values.size(), values.begin());
    slip_ = drive.slip(values);
  });
}

Twist HolonomicDriveController::feasible(const Twist& wanted) const noexcept {
  const Rates wheel_rates = rates(wanted);
  double load = 0;
  for (std::size_t i = 0; i < wheels_.size(); ++i) load = larger_load(load, wheels_[i].load(wheel_rates[i]));
  return within_load(wanted, load);
}

Twist HolonomicDriveController::drive(const Twist& twist) noexcept {
  const Rates wheel_rates = rates(twist);
  for (std::size_t i = 0; i < wheels_.size(); ++i) wheels_[i].roll(wheel_rates[i]);
  watch_slip();
  return twist;
}

Twist HolonomicDriveController::measured_twist() noexcept { return twist(measured_rates()); }

Twist HolonomicDriveController::measured_motion() noexcept {
  Rates turned{};
  for (std::size_t i = 0; i < wheels_.size(); ++i) turned[i] = wheels_[i].turned();
  return twist(turned);
}

void HolonomicDriveController::accept_motion() noexcept {
  for (WheelGroup& wheel : wheels_) wheel.accept();
}

}  // namespace takt::controllers
