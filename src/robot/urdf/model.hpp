// The joints of a URDF file, by urdfdom.
#pragma once

#include <urdf_model/joint.h>

#include <cstddef>
#include <tl/expected.hpp>
#include <vector>

#include "robot/urdf/xml.hpp"

namespace takt::robot {

/// More links or joints than these are a mistake. urdfdom frees a chain of links by recursion.
inline constexpr std::size_t max_urdf_parts = 4096;

/// All joints of a <robot> in the order of the file, as urdfdom understands and checks them.
[[nodiscard]] tl::expected<std::vector<urdf::JointConstSharedPtr>, std::vector<Mistake>> read_joints(
    const urdf_xml::Element& robot);

}  // namespace takt::robot
