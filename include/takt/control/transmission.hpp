// The mechanism between actuators and joints: gear boxes, differentials, linkages, couplings. All of them are
// linear:
//
//   joint velocities = M actuator velocities,      joint positions = M actuator positions + offsets,
//   actuator efforts = M^T joint efforts.
//
// So one class represents them, and power is the same on both sides for every M. From joints to actuators it
// uses the inverse of M. With more actuators than joints the result is the least motion of the actuators;
// with fewer it is the nearest possible motion (Moore-Penrose). Efforts from actuators to joints use the
// transpose of that inverse, so that power is the same in this direction too.
//
// Source of the special forms: the transmission_interface of ros_control. Its code is right, but its comments
// print three formulas wrong; here they follow from M.
#pragma once

#include <Eigen/Core>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <type_traits>

#include "takt/control/error.hpp"
#include "takt/core/error.hpp"

namespace takt::control {

/// A transmission. A value without heap; after make() every function is real-time safe.
template <class Scalar, std::size_t Joints, std::size_t Actuators = Joints>
class BasicTransmission {
 public:
  using JointValues = std::array<Scalar, Joints>;
  using ActuatorValues = std::array<Scalar, Actuators>;

  /// Takes the matrix row by row: entry (j, a) is the motion of joint j per motion of actuator a. Offsets are
  /// the joints' positions at actuator position zero (rad or m). Errors: not_finite, out_of_domain (M has not
  /// full rank, as with an infinite reduction, or its condition is above 1e10; float: 1e4). The condition is
  /// computed with each joint, or each actuator if they are fewer, in units of its own greatest entry.
  [[nodiscard]] static Result<BasicTransmission> make(const std::array<Scalar, Joints * Actuators>& matrix,
                                                      const JointValues& offsets = {}) noexcept {
    BasicTransmission transmission;
    transmission.joint_by_actuator_ = Eigen::Map<const Matrix>(matrix.data());
    transmission.offsets_ = Eigen::Map<const JointVector>(offsets.data());
    if (!transmission.joint_by_actuator_.allFinite() || !transmission.offsets_.allFinite())
      return fail(Errc::not_finite);
    if (!transmission.invert()) return fail(Errc::out_of_domain);
    return transmission;
  }

  /// Positions in rad or m.
  [[nodiscard]] JointValues joint_positions(const ActuatorValues& actuators) const noexcept {
    return joint_values(joint_by_actuator_ * vector(actuators) + offsets_);
  }
  /// Velocities in rad/s or m/s.
  [[nodiscard]] JointValues joint_velocities(const ActuatorValues& actuators) const noexcept {
    return joint_values(joint_by_actuator_ * vector(actuators));
  }
  /// Efforts in N m or N.
  [[nodiscard]] JointValues joint_efforts(const ActuatorValues& actuators) const noexcept {
    return joint_values(actuator_by_joint_.transpose() * vector(actuators));
  }

  /// Positions in rad or m.
  [[nodiscard]] ActuatorValues actuator_positions(const JointValues& joints) const noexcept {
    return actuator_values(actuator_by_joint_ * (vector(joints) - offsets_));
  }
  /// Velocities in rad/s or m/s.
  [[nodiscard]] ActuatorValues actuator_velocities(const JointValues& joints) const noexcept {
    return actuator_values(actuator_by_joint_ * vector(joints));
  }
  /// Efforts in N m or N.
  [[nodiscard]] ActuatorValues actuator_efforts(const JointValues& joints) const noexcept {
    return actuator_values(joint_by_actuator_.transpose() * vector(joints));
  }

 private:
  static constexpr int rows = static_cast<int>(Joints);
  static constexpr int columns = static_cast<int>(Actuators);
  // Eigen allows only one storage order for a single row or a single column.
  using Matrix = Eigen::Matrix<Scalar, rows, columns, columns == 1 ? Eigen::ColMajor : Eigen::RowMajor>;
  using Inverse = Eigen::Matrix<Scalar, columns, rows, rows == 1 ? Eigen::ColMajor : Eigen::RowMajor>;
  using JointVector = Eigen::Matrix<Scalar, rows, 1>;
  using ActuatorVector = Eigen::Matrix<Scalar, columns, 1>;

  static constexpr double max_condition = std::is_same_v<Scalar, float> ? 1e4 : 1e10;

  [[nodiscard]] static JointVector vector(const JointValues& values) noexcept requires(Joints != Actuators) {
    return Eigen::Map<const JointVector>(values.data());
  }
  [[nodiscard]] static ActuatorVector vector(const ActuatorValues& values) noexcept {
    return Eigen::Map<const ActuatorVector>(values.data());
  }
  [[nodiscard]] static JointValues joint_values(const JointVector& values) noexcept {
    JointValues out;
    Eigen::Map<JointVector>(out.data()) = values;
    return out;
  }
  [[nodiscard]] static ActuatorValues actuator_values(const ActuatorVector& values) noexcept {
    ActuatorValues out;
    Eigen::Map<ActuatorVector>(out.data()) = values;
    return out;
  }

  [[nodiscard]] bool invert() noexcept {
    const auto matrix = joint_by_actuator_.template cast<double>().eval();
    if constexpr (Joints <= Actuators)
      actuator_by_joint_ = right_inverse<rows, columns>(matrix).template cast<Scalar>();
    else
      actuator_by_joint_ =
          right_inverse<columns, rows>(matrix.transpose()).transpose().template cast<Scalar>();
    return actuator_by_joint_.allFinite();
  }

  /// The Moore-Penrose inverse of a matrix with no more rows than columns. With scaled rows D M = L Q by the
  /// Gram-Schmidt process, the inverse is Q^T L^-1 D. Each row is orthogonalised twice for its last digits.
  /// The result is infinite if there is no inverse or it is too inexact.
  template <int height, int width>
  [[nodiscard]] static Eigen::Matrix<double, width, height> right_inverse(
      Eigen::Matrix<double, height, width> matrix) noexcept {
    const Eigen::Matrix<double, height, 1> scale = matrix.cwiseAbs().rowwise().maxCoeff().cwiseInverse();
    matrix = scale.asDiagonal() * matrix;
    Eigen::Matrix<double, height, width> q = matrix;
    Eigen::Matrix<double, height, height> l_inverse = Eigen::Matrix<double, height, height>::Identity();
    for (int row = 0; row < height; ++row) {
      for (int k = 0; k < 2 * row; ++k) {
        const int other = k % row;
        const double part = q.row(row).dot(q.row(other));
        q.row(row) -= part * q.row(other);
        l_inverse.row(row) -= part * l_inverse.row(other);
      }
      const double length = q.row(row).norm();
      q.row(row) /= length;
      l_inverse.row(row) /= length;
    }
    Eigen::Matrix<double, width, height> inverse = q.transpose() * l_inverse;
    if (!(matrix.norm() * inverse.norm() <= max_condition))
      return inverse.setConstant(std::numeric_limits<double>::infinity());
    return inverse * scale.asDiagonal();
  }

  Matrix joint_by_actuator_;
  Inverse actuator_by_joint_;
  JointVector offsets_;
};
/// A transmission in double precision.
template <std::size_t Joints, std::size_t Actuators = Joints>
using Transmission = BasicTransmission<double, Joints, Actuators>;

/// One actuator, one joint. The joint turns `reduction` times slower; a negative reduction reverses it.
/// Errors: not_finite, out_of_domain (a reduction of zero). Real-time safe.
template <class Scalar>
[[nodiscard]] Result<BasicTransmission<Scalar, 1>> simple_transmission(Scalar reduction,
                                                                       Scalar offset = 0) noexcept {
  if (reduction == 0) return fail(Errc::out_of_domain);
  return BasicTransmission<Scalar, 1>::make({1 / reduction}, {offset});
}

/// Two actuators that move one joint together and the other joint against each other, as in a wrist:
///
///   q1 = (a1/n1 + a2/n2) / (2 m1) + o1,    q2 = (a1/n1 - a2/n2) / (2 m2) + o2
///
/// n are the reductions of the actuators, m those of the joints. Errors: as above. Real-time safe.
template <class Scalar>
[[nodiscard]] Result<BasicTransmission<Scalar, 2>> differential_transmission(
    const std::array<Scalar, 2>& actuator_reductions, const std::array<Scalar, 2>& joint_reductions,
    const std::array<Scalar, 2>& offsets = {}) noexcept {
  const auto& n = actuator_reductions;
  const auto& m = joint_reductions;
  if (n[0] == 0 || n[1] == 0 || m[0] == 0 || m[1] == 0) return fail(Errc::out_of_domain);
  return BasicTransmission<Scalar, 2>::make({1 / (2 * m[0] * n[0]), 1 / (2 * m[0] * n[1]),  //
                                             1 / (2 * m[1] * n[0]), -1 / (2 * m[1] * n[1])},
                                            offsets);
}

/// Two actuators at the base. The second drives its joint through a four-bar linkage, which the first one
/// moves as well:
///
///   q1 = a1 / (m1 n1) + o1,    q2 = (a2/n2 - a1/(m1 n1)) / m2 + o2
///
/// Errors: as above. Real-time safe.
template <class Scalar>
[[nodiscard]] Result<BasicTransmission<Scalar, 2>> four_bar_transmission(
    const std::array<Scalar, 2>& actuator_reductions, const std::array<Scalar, 2>& joint_reductions,
    const std::array<Scalar, 2>& offsets = {}) noexcept {
  const auto& n = actuator_reductions;
  const auto& m = joint_reductions;
  if (n[0] == 0 || n[1] == 0 || m[0] == 0 || m[1] == 0) return fail(Errc::out_of_domain);
  return BasicTransmission<Scalar, 2>::make({1 / (m[0] * n[0]), 0,  //
                                             -1 / (m[0] * n[0] * m[1]), 1 / (m[1] * n[1])},
                                            offsets);
}

}  // namespace takt::control
