// The metadata at the beginning of a recording: the robot, its joints, and the meaning of all codes. It is
// JSON, so a reader in any language understands the file without this library. Not real-time safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "takt/core/joint.hpp"
#include "takt/core/setup_error.hpp"
#include "takt/core/time.hpp"
#include "takt/record/error.hpp"

namespace takt::record {

/// Largest number of buses.
inline constexpr std::size_t max_buses = 16;
/// Largest number of further topics (RecorderOptions::topics).
inline constexpr std::size_t max_topics = 1024;
inline constexpr std::size_t max_name_length = 256;  ///< bytes of a robot's, joint's, group's or bus's name

/// A named group of joints.
struct Group {
  std::string name;
  std::vector<std::size_t> joints;  ///< indices into Metadata::joints

  friend bool operator==(const Group&, const Group&) = default;
};

/// The description of a recording.
struct Metadata {
  std::string robot;                ///< name of the robot
  Duration period{};                ///< nominal period of the loop, positive
  std::vector<std::string> joints;  ///< at most takt::max_joints; the order of a cycle's joint samples
  std::vector<std::string> units;   ///< units of the joints' positions, "rad" or "m"; empty: all rad
  std::vector<JointLimits> limits;  ///< per joint; empty: unknown
  /// Per joint in rad or m: the following error beyond which the robot stops. Empty: unknown.
  std::vector<double> following_errors;
  std::vector<Group> groups;
  std::vector<std::string> buses;                ///< at most max_buses; the order of a record's bus samples
  std::vector<std::string> robot_states;         ///< names by code
  std::vector<std::string> goal_states;          ///< names by code; "active" marks accepted requests
  std::map<std::uint16_t, std::string> reasons;  ///< names by code; 0: no reason
  std::string takt_version;                      ///< version that wrote the recording
  std::string created;  ///< date and time for people; empty: equal runs give equal files
  /// Added to the robot's clock it gives Unix time, which the messages carry for other programs. 0: equal
  /// runs give equal files.
  Duration epoch{};
  std::string description{};  ///< the robot's description, JSON; empty: unknown. Not part of to_json().
  std::string devices{};      ///< further devices, JSON of the recording program; empty: none. As above.

  friend bool operator==(const Metadata&, const Metadata&) = default;
};

/// The JSON text of the metadata. Equal metadata gives equal text. Replaces bytes that are not UTF-8.
[[nodiscard]] std::string to_json(const Metadata& metadata);

/// Parses the JSON text and ignores unknown members. Errors: bad_metadata, with a JSON pointer and the
/// reason.
[[nodiscard]] SetupResult<Metadata> parse_metadata(std::string_view json);

}  // namespace takt::record
