// From a URDF file to a description: which joints are taken, which follow others, their transmissions, buses
// and addresses. The result passes the loader of robot files before anybody gets it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "json/strict.hpp"
#include "robot/description_words.hpp"
#include "robot/mistakes.hpp"
#include "robot/urdf/joints.hpp"
#include "robot/urdf/mechanism.hpp"
#include "robot/urdf/model.hpp"
#include "robot/urdf/notes.hpp"
#include "takt/robot/actuator_space.hpp"
#include "takt/robot/bus_plan.hpp"
#include "takt/robot/drive_protocol.hpp"
#include "takt/robot/urdf.hpp"

namespace takt::robot {
namespace {

/// Drives on one bus: a CAN transceiver drives 32 nodes, and one of them is the computer.
constexpr std::size_t most_drives = 31;

using urdf_xml::Element;
using Joints = std::vector<urdf::JointConstSharedPtr>;
using Result = tl::expected<UrdfImport, UrdfRefusal>;

tl::unexpected<UrdfRefusal> refuse(std::vector<Mistake> mistakes) {
  return tl::unexpected(UrdfRefusal{std::move(mistakes), {}});
}

std::vector<Mistake> one_mistake(std::string reason) { return {Mistake{"", std::move(reason), 0}}; }

/// Why nothing can be imported with these options; empty if something can.
std::string refusal(const UrdfOptions& options) {
  if (options.protocol == nullptr) return "options: no drive protocol is given";
  if (!(options.rate >= 1 && options.rate <= 10'000))
    return fmt::format("options: a rate of {:g} Hz is not from 1 to 10000", options.rate);
  for (const auto& [name, value] :
       {std::pair{"acceleration_time", options.acceleration_time}, std::pair{"jerk_time", options.jerk_time},
        std::pair{"velocity", options.velocity}, std::pair{"counts_per_radian", options.counts_per_radian},
        std::pair{"counts_per_metre", options.counts_per_metre}}) {
    if (!(value >= 1e-6 && value <= huge_number))
      return fmt::format("options: {} is {:g}, not from 1e-6 to 1e9", name, value);
  }
  return {};
}

/// Whether two links move against each other at this joint, in one coordinate.
bool moves(const urdf::Joint& joint) {
  return joint.type == urdf::Joint::REVOLUTE || joint.type == urdf::Joint::CONTINUOUS ||
         joint.type == urdf::Joint::PRISMATIC;
}

class Importer {
 public:
  Importer(const Element& robot, const UrdfOptions& options, const Joints& joints)
      : source_(robot), options_(options), joints_(joints) {}

  Result import() {
    mechanism_ = read_mechanism(source_, notes_);
    robot_.name = std::string(urdf_xml::attribute(source_, "name"));
    if (!json::is_name(robot_.name))
      return refusal("robot: its name is not 1 to 128 bytes without control characters");
    set_times();
    add_joints();
    add_mimics();
    if (robot_.joints.empty())
      return refusal(
          "no joint is left to command: joints that can move are missing, or the notes say why they "
          "are left out");
    add_transmissions();
    add_buses();
    note_the_rest();
    auto loaded = load_robot(to_json(robot_), std::span(&options_.protocol, 1));
    if (!loaded) return refusal(std::move(loaded.error()));
    return UrdfImport{std::move(*loaded), notes_.take()};
  }

 private:
  Result refusal(std::vector<Mistake> mistakes) {
    return tl::unexpected(UrdfRefusal{std::move(mistakes), notes_.take()});
  }
  Result refusal(std::string reason) { return refusal(one_mistake(std::move(reason))); }

  void set_times() {
    robot_.period = from_seconds(1 / options_.rate);
    robot_.feedback_timeout = std::max(robot_.feedback_timeout, 4 * robot_.period);
    if (const auto longest = options_.protocol->longest_pause()) {
      const Duration::rep most = std::max<Duration::rep>(*longest / robot_.period - 2, 0);
      robot_.overrun_limit = static_cast<std::uint32_t>(std::min<Duration::rep>(robot_.overrun_limit, most));
    }
  }

  // ---- joints

  void add_joints() {
    UrdfJointMaker maker(options_, notes_);
    for (const urdf::JointConstSharedPtr& source : chosen()) {
      auto joint = maker.make(*source, control_of(source->name));
      if (!joint) continue;
      set_rated_effort(*joint);
      robot_.joints.push_back(std::move(*joint));
    }
  }

  /// The joints that get a drive: at most 64.
  Joints chosen() {
    Joints drivable;
    for (const urdf::JointConstSharedPtr& joint : joints_) {
      if (is_drivable(*joint)) drivable.push_back(joint);
    }
    if (drivable.size() > max_joints) {
      std::erase_if(drivable, [this](const urdf::JointConstSharedPtr& joint) {
        if (is_actuated(joint->name)) return false;
        notes_.add(
            "joint", joint->name,
            fmt::format("left out: a robot has at most {} joints, and this one has neither transmission "
                        "nor command interface",
                        max_joints));
        return true;
      });
    }
    for (std::size_t i = max_joints; i < drivable.size(); ++i) {
      notes_.add("joint", drivable[i]->name,
                 fmt::format("left out: a robot has at most {} joints", max_joints));
    }
    drivable.resize(std::min(drivable.size(), max_joints));
    note_passive(drivable);
    return drivable;
  }

  bool is_drivable(const urdf::Joint& joint) {
    if (joint.type == urdf::Joint::FIXED) return false;
    if (!moves(joint)) {
      notes_.add("joint", joint.name, "left out: a joint of this type has more than one coordinate");
      return false;
    }
    if (!json::is_name(joint.name)) {
      notes_.add("joint", "", "left out: a name that is longer than 128 bytes or has control characters");
      return false;
    }
    return !mimic_of(joint);
  }

  [[nodiscard]] const UrdfControlJoint* control_of(std::string_view name) const {
    const auto found = mechanism_.joints.find(name);
    return found != mechanism_.joints.end() ? &found->second : nullptr;
  }

  [[nodiscard]] bool is_actuated(std::string_view name) const {
    const UrdfControlJoint* control = control_of(name);
    return mechanism_.in_transmissions.contains(name) || (control != nullptr && !control->commands.empty());
  }

  /// If the file says which joints have drives, the others are worth a word.
  void note_passive(const Joints& taken) {
    const auto is_moved = [this](const auto& joint) { return is_actuated(joint->name); };
    if (std::none_of(taken.begin(), taken.end(), is_moved)) return;
    for (const urdf::JointConstSharedPtr& joint : taken) {
      if (!is_moved(joint)) {
        notes_.add("joint", joint->name,
                   "taken as if it had a drive, although no transmission or command interface names it");
      }
    }
  }

  /// Only some protocols may have it.
  void set_rated_effort(JointDescription& joint) {
    if (!std::isfinite(joint.limits.effort)) return;
    joint.rated_effort = joint.limits.effort;
    bool is_allowed = true;
    options_.protocol->check(robot_, joint, [&](std::string_view key, const std::string&) {
      is_allowed = is_allowed && key != "rated_effort";
    });
    if (is_allowed)
      notes_.add("joint/limit", joint.name,
                 "effort is also taken for the effort at the drive's rated torque: check it");
    else
      joint.rated_effort = 0;
  }

  // ---- mimic joints

  [[nodiscard]] std::optional<UrdfMimic> mimic_of(const urdf::Joint& joint) const {
    const UrdfControlJoint* control = control_of(joint.name);
    if (control != nullptr && control->is_never_mimic) return std::nullopt;
    if (control != nullptr && control->mimic) return control->mimic;
    if (!joint.mimic) return std::nullopt;
    return UrdfMimic{joint.mimic->joint_name, joint.mimic->multiplier, joint.mimic->offset};
  }

  void add_mimics() {
    std::map<std::string, urdf::JointConstSharedPtr, std::less<>> by_name;
    for (const urdf::JointConstSharedPtr& joint : joints_) by_name.emplace(joint->name, joint);
    for (const urdf::JointConstSharedPtr& joint : joints_) {
      if (!moves(*joint) || !json::is_name(joint->name)) continue;
      if (const auto mimic = mimic_of(*joint)) add_mimic(*joint, *mimic, by_name);
    }
  }

  template <class Index>
  void add_mimic(const urdf::Joint& joint, UrdfMimic mimic, const Index& by_name) {
    // A mimic joint may follow a mimic joint. The bound ends a circle.
    constexpr std::size_t longest_chain = 64;
    const char* reason = "left out: the mimic joints follow each other, or more than 64 in a row";
    for (std::size_t i = 0; i < longest_chain; ++i) {
      if (const auto followed = robot_.find_joint(mimic.joint)) {
        keep_mimic(joint, mimic, *followed);
        return;
      }
      const auto other = by_name.find(mimic.joint);
      const auto next = other != by_name.end() ? mimic_of(*other->second) : std::nullopt;
      if (!next) {
        reason = "left out: the joint that it follows is not in the description";
        break;
      }
      mimic = {next->joint, mimic.multiplier * next->multiplier,
               mimic.multiplier * next->offset + mimic.offset};
    }
    notes_.add("joint/mimic", joint.name, reason);
  }

  void keep_mimic(const urdf::Joint& joint, const UrdfMimic& mimic, std::size_t followed) {
    if (robot_.mimics.size() >= max_mimics || !(std::abs(mimic.multiplier) <= huge_number) ||
        !(std::abs(mimic.offset) <= huge_number)) {
      notes_.add("joint/mimic", joint.name,
                 fmt::format("left out: more than {} of them, or numbers beyond 1e9", max_mimics));
      return;
    }
    robot_.mimics.push_back({joint.name, kind_of(joint), followed, mimic.multiplier, mimic.offset});
    notes_.add("joint/mimic", joint.name, "it has no drive: its state follows from another joint's");
    note_mimic_range(joint, robot_.mimics.back());
  }

  void note_mimic_range(const urdf::Joint& joint, const MimicDescription& mimic) {
    if (!joint.limits) return;
    if (mimic.kind == JointKind::continuous && !(joint.limits->lower < joint.limits->upper)) return;
    const JointLimits& limits = robot_.joints[mimic.joint].limits;
    for (const double end : {limits.position_min, limits.position_max}) {
      const double position = mimic.multiplier * end + mimic.offset;
      constexpr double slack = 1e-6;
      if (position < joint.limits->lower - slack || position > joint.limits->upper + slack) {
        notes_.add("joint/mimic", joint.name,
                   "its own limits are not taken over, and the followed joint can move it beyond them");
        return;
      }
    }
  }

  // ---- transmissions

  void add_transmissions() {
    std::set<std::size_t> taken;
    std::set<std::string> actuators;
    for (const UrdfTransmission& source : mechanism_.transmissions) {
      TransmissionDescription transmission{source.name, source.kind, {}, source.actuators};
      const std::string reason = connect(source, transmission, taken, actuators);
      if (!reason.empty()) {
        notes_.add("transmission", source.name, "not taken over: " + reason);
        continue;
      }
      for (const TransmissionJoint& joint : transmission.joints) {
        taken.insert(joint.joint);
        robot_.joints[joint.joint].counts_per_radian = options_.counts_per_radian;  // of the motor
      }
      for (const TransmissionActuator& actuator : transmission.actuators) actuators.insert(actuator.name);
      robot_.transmissions.push_back(std::move(transmission));
    }
    if (!robot_.transmissions.empty()) {
      notes_.add("transmission", "",
                 "taken over: the drive of a joint is that of the actuator in its place, and gets the "
                 "actuator's commands");
    }
  }

  /// Resolves the names. Returns why it cannot be taken, or an empty text.
  [[nodiscard]] std::string connect(const UrdfTransmission& source, TransmissionDescription& transmission,
                                    const std::set<std::size_t>& taken,
                                    const std::set<std::string>& actuators) {
    const auto is_usable = [](double number) { return std::abs(number) <= huge_number; };
    for (const UrdfTransmissionJoint& end : source.joints) {
      const auto joint = robot_.find_joint(end.name);
      if (!joint) return "a joint of it is fixed, follows another joint, or was left out";
      if (taken.contains(*joint)) return "another transmission has its joint";
      if (!is_usable(end.reduction) || !is_usable(end.offset)) return "it has numbers beyond 1e9";
      transmission.joints.push_back({*joint, end.reduction, end.offset});
    }
    for (const TransmissionActuator& actuator : source.actuators) {
      if (!json::is_name(actuator.name) || !json::is_name(source.name))
        return "a name is not 1 to 128 bytes without control characters";
      if (actuators.contains(actuator.name)) return "another transmission has its actuator";
      if (!is_usable(actuator.reduction)) return "it has numbers beyond 1e9";
    }
    return fit(transmission);
  }

  /// Checks that the position words hold the actuators' turns. Returns why they do not, or an empty text.
  [[nodiscard]] std::string fit(const TransmissionDescription& transmission) {
    RobotDescription alone;
    alone.joints = robot_.joints;
    alone.transmissions = {transmission};
    alone.buses = {{.name = "bus", .protocol = options_.protocol}};
    for (const TransmissionJoint& joint : transmission.joints)
      alone.joints[joint.joint].counts_per_radian = options_.counts_per_radian;
    const auto space = ActuatorSpace::create(alone);
    if (!space) return space.error().message;
    const auto fitted = fit_reach(alone, 0, *space);
    if (!fitted) return fitted.error().message;
    for (const TransmissionJoint& joint : transmission.joints) note_short_turn(alone, joint.joint);
    return {};
  }

  /// A narrower range is worth a word if it is less than a whole turn.
  void note_short_turn(const RobotDescription& fitted, std::size_t joint) {
    const std::string why = short_turn(fitted, joint);
    if (why.empty()) return;
    notes_.add("transmission/joint", fitted.joints[joint].name,
               why + ". Choose another --protocol, or remove the transmission from the URDF file");
  }

  // ---- buses

  /// As few buses as can carry the cycle.
  void add_buses() {
    for (std::size_t count = 1; count <= max_buses; ++count) {
      spread(count);
      if (fits()) break;
    }
    notes_.add(
        "buses", "",
        fmt::format("a file has none: {} of protocol {}, virtual, with boards numbered in the order of "
                    "the joints. Set interface, boards, channels and counts_per_radian",
                    robot_.buses.size(), options_.protocol->name()));
  }

  void spread(std::size_t count) {
    robot_.buses.clear();
    for (std::size_t i = 0; i < count; ++i) {
      robot_.buses.push_back(
          {.name = count == 1 ? "bus" : fmt::format("bus{}", i + 1), .protocol = options_.protocol});
    }
    const std::size_t joints = robot_.joints.size();
    std::size_t first = 0;
    for (std::size_t i = 0; i < joints; ++i) {
      JointDescription& joint = robot_.joints[i];
      const std::size_t bus = i * count / joints;
      if (i == 0 || bus != robot_.joints[i - 1].bus) first = i;
      joint.bus = bus;
      joint.board = static_cast<std::uint8_t>(std::min<std::size_t>(
          std::size_t{options_.protocol->addresses(joint).first_board} + (i - first), 255));
    }
  }

  [[nodiscard]] bool fits() const {
    if (robot_.joints.size() > most_drives * robot_.buses.size()) return false;
    for (const JointDescription& joint : robot_.joints) {
      if (joint.board > options_.protocol->addresses(joint).last_board) return false;
    }
    for (std::size_t i = 0; i < robot_.buses.size(); ++i) {
      if (!(plan_bus(robot_, i).load() <= largest_bus_load)) return false;
    }
    return true;
  }

  // ---- notes

  void note_the_rest() {
    std::size_t fixed = 0;
    for (const urdf::JointConstSharedPtr& joint : joints_)
      fixed += joint->type == urdf::Joint::FIXED ? 1U : 0U;
    if (fixed > 0) notes_.add("joint", "", fmt::format("{} fixed joints left out: they do not move", fixed));
    for (const Element* joint : urdf_xml::children(source_, "joint")) {
      if (joint->FirstChildElement("calibration") != nullptr)
        notes_.add("joint/calibration", urdf_xml::attribute(*joint, "name"),
                   "not taken over: homing belongs to the drives");
    }
    constexpr std::array<std::string_view, 3> known{"joint", "transmission", "ros2_control"};
    for (const Element* child : urdf_xml::children(source_)) {
      if (std::find(known.begin(), known.end(), child->Name()) == known.end())
        notes_.add(child->Name(), "", "not taken over: a description has joints only");
    }
  }

  const Element& source_;
  const UrdfOptions& options_;
  const Joints& joints_;
  UrdfNotes notes_;
  UrdfMechanism mechanism_;
  RobotDescription robot_;
};

}  // namespace

tl::expected<UrdfImport, UrdfRefusal> import_urdf(std::string_view urdf, const UrdfOptions& options) {
  if (std::string reason = refusal(options); !reason.empty()) return refuse(one_mistake(std::move(reason)));
  const auto document = urdf_xml::parse(urdf);
  if (!document) return refuse({document.error()});
  const Element& robot = *(*document)->RootElement();
  const auto joints = read_joints(robot);
  if (!joints) return refuse(joints.error());
  return Importer(robot, options, *joints).import();
}

tl::expected<UrdfImport, UrdfRefusal> import_urdf_file(const std::string& path, const UrdfOptions& options) {
  const auto text = json::read_file(path, max_description_file);
  if (!text) return refuse(to_mistakes({text.error()}));
  return import_urdf(*text, options);
}

std::string to_string(const UrdfNote& note) {
  constexpr std::size_t shown = 6;
  if (note.names.empty()) return fmt::format("{}: {}", note.tag, note.reason);
  const std::span<const std::string> first(note.names.data(), std::min(note.names.size(), shown));
  const std::size_t rest = note.names.size() - first.size();
  return fmt::format("{} of {}{}: {}", note.tag, fmt::join(first, ", "),
                     rest > 0 ? fmt::format(" and {} others", rest) : "", note.reason);
}

}  // namespace takt::robot
