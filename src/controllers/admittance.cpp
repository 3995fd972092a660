#include "takt/controllers/admittance.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "takt/controllers/error.hpp"

namespace takt::controllers {

namespace {

constexpr auto in_use = [](const auto& parameter) -> const auto& { return *parameter; };
constexpr auto proposed = [](const auto& parameter) -> const auto& { return parameter.proposed(); };

}  // namespace

// ---- set-up ----

template <class Value>
bool AdmittanceController::read(std::span<Laws> laws, const Value& value) const noexcept {
  std::array<double, max_joints> numbers{};
  const std::span its = std::span(numbers).first(laws.size());
  const auto each = [&](const auto& parameter, double Laws::*member) {
    if (!read_numbers(value(parameter).view(), its)) return false;
    for (std::size_t i = 0; i < laws.size(); ++i) laws[i].*member = its[i];
    return true;
  };
  return each(mass, &Laws::mass) && each(damping, &Laws::damping) && each(stiffness, &Laws::stiffness);
}

template <class Value>
SetupResult<void> AdmittanceController::check_laws(const Value& value) const {
  if (axes_.empty()) return {};  // on_configure() judges later
  std::array<Laws, max_joints> laws;
  const std::span its = std::span(laws).first(axes_.size());
  if (!read(its, value))
    return fail(Errc::bad_number_list, name() + ": " + std::string(describe(Errc::bad_number_list)));
  for (std::size_t i = 0; i < its.size(); ++i) {
    const auto& [its_mass, its_damping, its_stiffness] = its[i];
    const std::string place = name() + ", joint \"" + axes_[i].joint->name() + "\": ";
    const bool is_finite =
        std::isfinite(its_mass) && std::isfinite(its_damping) && std::isfinite(its_stiffness);
    if (!is_finite || !(its_mass > 0) || !(its_damping > 0) || !(its_stiffness >= 0))
      return fail(Errc::bad_gains,
                  place + "mass and damping must be finite and above 0, stiffness at least 0");
    if (!((2 * its_damping + period_ * its_stiffness) * period_ <= 2 * its_mass)) {
      return fail(Errc::unstable,
                  place + "2 h damping / mass + h^2 stiffness / mass exceeds 2 at the period h = " +
                      std::to_string(period_) + " s");
    }
  }
  return {};
}

SetupResult<void> AdmittanceController::on_check() {
  if (auto fixed = check_fixed(*this, joints, follower, forces, matrix); !fixed) return fixed;
  return check_laws(proposed);
}

SetupResult<void> AdmittanceController::on_configure(robot::Resources& resources) {
  period_ = to_seconds(resources.period());
  const auto names = distinct_names(*this, joints, max_joints);
  if (!names) return tl::unexpected<SetupError>(names.error());
  axes_.reserve(names->size());  // outputs point into it
  for (const std::string& joint : *names) {
    if (auto added = add_axis(resources, joint); !added) return added;
  }
  if (auto checked = check_laws(in_use); !checked) return checked;
  on_parameters();
  if (forces->view().empty()) return {};
  const auto columns = distinct_names(*this, forces, most_forces);
  if (!columns) return tl::unexpected<SetupError>(columns.error());
  for (const std::string& force : *columns) {
    const auto state = resources.state(force);
    if (!state) return tl::unexpected<SetupError>(state.error());
    forces_.push_back(*state);
  }
  return read_matrix();
}

SetupResult<void> AdmittanceController::add_axis(robot::Resources& resources, const std::string& joint) {
  Axis& axis = axes_.emplace_back();
  const auto measured = resources.joint(joint);
  if (!measured) return tl::unexpected<SetupError>(measured.error());
  axis.joint = *measured;
  if (follower->view().empty()) {
    const auto claimed = resources.claim_joint(joint, CommandMode::position);
    if (!claimed) return tl::unexpected<SetupError>(claimed.error());
    axis.commanded = *claimed;
  } else {
    const auto claimed = resources.claim(std::string(follower->view()) + "/" + joint);
    if (!claimed) return tl::unexpected<SetupError>(claimed.error());
    axis.output = *claimed;
  }
  const auto input = resources.input(joint, "rad");
  if (!input) return tl::unexpected<SetupError>(input.error());
  axis.input = *input;
  if (auto added = resources.output(joint + ".offset", "rad", axis.offset); !added) return added;
  return resources.output(joint + ".force", "N m", axis.force);
}

SetupResult<void> AdmittanceController::read_matrix() {
  std::vector<double> numbers(axes_.size() * forces_.size());
  if (!read_numbers(matrix->view(), numbers) ||
      !std::ranges::all_of(numbers, [](double number) { return std::isfinite(number); })) {
    return fail(Errc::bad_number_list, name() + ".matrix: it needs " + std::to_string(numbers.size()) +
                                           " finite numbers, one row per joint and one column per force");
  }
  auto next = numbers.begin();
  for (Axis& axis : axes_) {
    axis.row.assign(next, next + static_cast<std::ptrdiff_t>(forces_.size()));
    next += static_cast<std::ptrdiff_t>(forces_.size());
  }
  return {};
}

void AdmittanceController::on_parameters() noexcept {
  std::array<Laws, max_joints> laws;
  const std::span its = std::span(laws).first(axes_.size());
  if (!read(its, in_use)) return;  // never: on_check() has read them
  for (std::size_t i = 0; i < its.size(); ++i) axes_[i].law = its[i];
}

// ---- the cycle ----

Status AdmittanceController::on_activate(const component::CycleTime& /*cycle*/) noexcept {
  // References from before are none for this run.
  fresh_.restart();
  fresh_.read(references, [](bool) {});
  for (Axis& axis : axes_) {
    const robot::JointFeedback& feedback = axis.joint->feedback();
    const bool is_measured = feedback.heard && (feedback.has_effort || !forces_.empty());
    if (!is_measured) return takt::fail(Errc::no_measurement);
    axis.motion = {feedback.position, 0, 0};
    axis.reference = feedback.position;
    axis.bias = 0;
    const double force = force_on(axis);
    if (!std::isfinite(force)) return takt::fail(Errc::not_finite);
    if (*zeroes) axis.bias = force;
  }
  return {};
}

Status AdmittanceController::on_execute(const component::CycleTime& cycle) noexcept {
  take_references();
  for (Axis& axis : axes_) {
    const double force = force_on(axis);
    if (!std::isfinite(force)) return takt::fail(Errc::not_finite);
    axis.force = std::abs(force) > *dead_band ? force : 0;
    if (axis.input.driven() && std::isfinite(axis.input.get())) axis.reference = axis.input.get();
    step(axis, to_seconds(cycle.period));
    axis.offset = axis.motion.position - axis.reference;
    if (axis.commanded != nullptr) {
      axis.commanded->follow(axis.motion);
    } else {
      axis.output.set(axis.motion.position);
    }
  }
  return {};
}

void AdmittanceController::take_references() noexcept {
  fresh_.read(references, [this](bool is_fresh) {
    const JointSetpoints& sample = references.value();
    if (!is_fresh || !are_setpoints(sample, axes_.size())) return;
    for (std::size_t k = 0; k < axes_.size(); ++k) axes_[k].reference = sample.values[k];
  });
}

double AdmittanceController::force_on(const Axis& axis) const noexcept {
  if (forces_.empty()) return *effort_scale * axis.joint->feedback().effort - axis.bias;
  double force = -axis.bias;
  for (std::size_t k = 0; k < forces_.size(); ++k) force += axis.row[k] * forces_[k].get();
  return force;
}

/// Keeps to the velocity, the acceleration and the range of the joint, so that the mass cannot wind up. The
/// manager keeps the jerk and the braking distance.
void AdmittanceController::step(Axis& axis, double period) noexcept {
  const JointLimits& limits = axis.joint->limits();
  MotionState& motion = axis.motion;
  const double pull = axis.force - axis.law.damping * motion.velocity -
                      axis.law.stiffness * (motion.position - axis.reference);
  const double change = std::clamp(pull / axis.law.mass, -limits.acceleration, limits.acceleration) * period;
  const double velocity = std::clamp(motion.velocity + change, -limits.velocity, limits.velocity);
  const double wanted = motion.position + period * velocity;
  const double position = std::clamp(wanted, limits.position_min, limits.position_max);
  motion = {position, position == wanted ? velocity : 0, 0};
}

}  // namespace takt::controllers
