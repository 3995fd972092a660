// Makes a robot description of a URDF file, the file that robots of the ROS world have. It is in the optional
// library takt::urdf, which needs urdfdom and tinyxml2.
//
//     auto imported = robot::import_urdf_file("arm.urdf", {.protocol = drives::find("servo")});
//     if (!imported) return complain(imported.error().mistakes);
//     for (const auto& note : imported->notes) print(to_string(note));  // the differences from the file
//     write("arm.json", to_json(imported->robot));
//
// Taken over: <joint> with <limit>, <mimic> and <dynamics>; <transmission> (simple, differential, four-bar
// linkage, PR2's wrist); of <ros2_control> the interfaces, their ranges, initial positions and transmissions.
// A URDF file has neither buses nor limits of acceleration and jerk. The importer chooses them by its
// options, and the notes say so. The notes also name everything that was not taken over.
#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "takt/core/finite_math.hpp"
#include "takt/robot/description_json.hpp"

namespace takt::robot {

/// The parts of a description that a URDF file does not have. All numbers are above 0.
struct UrdfOptions {
  const DriveProtocol* protocol = nullptr;  ///< of all drives; required
  double rate = 200;                        ///< Hz, 1..10000: the control loop
  double acceleration_time = 0.25;          ///< s: a joint reaches its velocity limit from rest
  double jerk_time = 0.05;                  ///< s: a joint reaches its acceleration limit from 0
  double velocity = 1;                      ///< rad/s or m/s: of joints without a velocity limit
  double counts_per_radian = 20'000;        ///< of all encoders
  double counts_per_metre = 1'000'000;      ///< of all encoders of linear joints
};

/// A difference between the file and the description.
struct UrdfNote {
  std::string tag;     ///< the tag of the file: "joint/safety_controller"
  std::string reason;  ///< for people: what became of it, and why
  std::vector<std::string>
      names;  ///< of the joints, transmissions or tags concerned; empty for the whole file
};

/// A robot from a URDF file.
struct UrdfImport {
  RobotDescription robot;       ///< load_robot() accepts its to_json()
  std::vector<UrdfNote> notes;  ///< in the order of the file's parts
};

/// Why a file is not imported.
struct UrdfRefusal {
  std::vector<Mistake> mistakes;  ///< at least one, each with its line if it has one
  std::vector<UrdfNote> notes;    ///< what was left out or changed before the mistake was found
};

/// Imports a URDF file. Its joints keep the order of the file. With more than 64 joints that move, only
/// those with a transmission or a command interface are taken, and the first 64 of these. `urdf`: any bytes
/// are safe. Errors: the mistakes, and the notes that led to them. Allocates; not real-time safe. May be
/// called from several threads, of which one imports at a time: urdfdom has a global log.
[[nodiscard]] tl::expected<UrdfImport, UrdfRefusal> import_urdf(std::string_view urdf,
                                                                const UrdfOptions& options);

/// The same from a file. A file that cannot be read, or is larger than 4 MiB, is a mistake too.
[[nodiscard]] tl::expected<UrdfImport, UrdfRefusal> import_urdf_file(const std::string& path,
                                                                     const UrdfOptions& options);

/// A note as a line of text: "joint/safety_controller of arm_1, arm_2: ...". Of many names it has the first
/// few and the number of the others.
[[nodiscard]] std::string to_string(const UrdfNote& note);

}  // namespace takt::robot
