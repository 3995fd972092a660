// What a recording says about itself at its beginning: which robot, which joints, and what its codes mean. It
// is written as JSON, so that a reader in any language understands the rest of the file without this library.
// Not real-time safe.
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

inline constexpr std::size_t max_buses = 16;
inline constexpr std::size_t max_name_length = 256;  ///< bytes

struct Group {
  std::string name;
  std::vector<std::size_t> joints;  ///< indices into Metadata::joints

  friend bool operator==(const Group&, const Group&) = default;
};

struct Metadata {
  std::string robot;
  Duration period{};                ///< nominal period of the loop, positive
  std::vector<std::string> joints;  ///< at most takt::max_joints; the order of the columns of a cycle
  std::vector<std::string> units;   ///< of the joints' positions, "rad" or "m"; empty: all of them rad
  std::vector<JointLimits> limits;  ///< of the joints; empty: not known
  std::vector<double>
      following_errors;  ///< rad or m of each joint, beyond which the robot stops; empty: not known
  std::vector<Group> groups;
  std::vector<std::string> buses;         ///< at most max_buses; the order of the columns of bus statistics
  std::vector<std::string> robot_states;  ///< names by code
  std::vector<std::string> goal_states;   ///< names by code; "active" marks accepted requests
  std::map<std::uint16_t, std::string> reasons;  ///< names by code; 0 is none
  std::string takt_version;
  std::string created;  ///< date and time for people; empty keeps equal runs byte-identical

  friend bool operator==(const Metadata&, const Metadata&) = default;
};

/// The JSON text, with the layout of every record beside the metadata. Equal metadata gives equal text; bytes
/// that are not UTF-8 are replaced.
[[nodiscard]] std::string to_json(const Metadata& metadata);

/// The inverse. Errors: bad_metadata, with a JSON pointer and the reason. Unknown members are ignored.
[[nodiscard]] SetupResult<Metadata> parse_metadata(std::string_view json);

}  // namespace takt::record
