// urdfdom gets a copy of the file that has links without their shapes and joints without their places: all
// that a description needs. So neither a missing mesh nor the quirks of its XML parser matter.
#include "robot/urdf/model.hpp"

#include <console_bridge/console.h>
#include <fmt/format.h>
#include <urdf_model/model.h>
#include <urdf_parser/urdf_parser.h>

#include <array>
#include <exception>
#include <map>
#include <mutex>
#include <set>
#include <string>

namespace takt::robot {
namespace {

using urdf_xml::Element;

/// Keeps the errors of urdfdom, which it otherwise prints.
class Log final : public console_bridge::OutputHandler {
 public:
  Log() : before_(console_bridge::getOutputHandler()) { console_bridge::useOutputHandler(this); }
  ~Log() override { console_bridge::useOutputHandler(before_); }
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  void log(const std::string& text, console_bridge::LogLevel level, const char* /*file*/,
           int /*line*/) override {
    constexpr std::size_t longest = 1000;
    if (level >= console_bridge::CONSOLE_BRIDGE_LOG_ERROR && errors_.size() < longest)
      errors_ += (errors_.empty() ? "" : "; ") + text;
  }
  [[nodiscard]] const std::string& errors() const { return errors_; }

 private:
  console_bridge::OutputHandler* before_;
  std::string errors_;
};

/// Copies an element with its attributes only.
Element* add_copy(tinyxml2::XMLNode& to, const Element& from) {
  Element* copy = to.GetDocument()->NewElement(from.Name());
  for (const tinyxml2::XMLAttribute* attribute = from.FirstAttribute(); attribute != nullptr;
       attribute = attribute->Next())
    copy->SetAttribute(attribute->Name(), attribute->Value());
  to.InsertEndChild(copy);
  return copy;
}

/// The joints and links alone, as text.
std::string skeleton(const Element& robot) {
  constexpr std::array<const char*, 7> needed{
      "parent", "child", "axis", "limit", "mimic", "dynamics", "safety_controller"};
  tinyxml2::XMLDocument document;
  Element* root = document.NewElement("robot");
  document.InsertEndChild(root);
  root->SetAttribute("name", robot.Attribute("name") != nullptr ? robot.Attribute("name") : "");
  for (const Element* link : urdf_xml::children(robot, "link")) add_copy(*root, *link);
  for (const Element* joint : urdf_xml::children(robot, "joint")) {
    Element* copy = add_copy(*root, *joint);
    for (const char* name : needed) {
      if (const Element* child = joint->FirstChildElement(name)) add_copy(*copy, *child);
    }
  }
  tinyxml2::XMLPrinter printer;
  document.Print(&printer);
  return printer.CStr();
}

std::string link_of(const Element& joint, const char* end) {
  const Element* link = joint.FirstChildElement(end);
  return link != nullptr ? std::string(urdf_xml::attribute(*link, "link")) : "";
}

/// Whether a link is its own ancestor: urdfdom would never free it. `sound` has links that are not, and gets
/// those passed.
bool is_in_circle(const std::map<std::string, std::string>& parents, const std::string& child,
                  std::set<std::string>& sound) {
  std::set<std::string> passed;
  for (auto link = parents.find(child); link != parents.end() && !sound.contains(link->first);
       link = parents.find(link->second)) {
    if (!passed.insert(link->first).second) return true;
  }
  sound.merge(passed);
  return false;
}

/// Mistakes that urdfdom does not survive, or does not see.
std::vector<Mistake> structural_mistakes(const Element& robot) {
  const auto joints = urdf_xml::children(robot, "joint");
  const std::size_t links = urdf_xml::children(robot, "link").size();
  if (joints.size() > max_urdf_parts || links > max_urdf_parts) {
    return {urdf_xml::mistake(robot, fmt::format("{} joints and {} links, at most {} of each are possible",
                                                 joints.size(), links, max_urdf_parts))};
  }
  std::map<std::string, std::string> parents;
  for (const Element* joint : joints) {
    const std::string child = link_of(*joint, "child");
    if (!parents.try_emplace(child, link_of(*joint, "parent")).second)
      return {urdf_xml::mistake(*joint, fmt::format("joint {}: another joint has the child link {} already",
                                                    urdf_xml::attribute(*joint, "name"), child))};
  }
  std::set<std::string> sound;
  for (const Element* joint : joints) {
    const std::string child = link_of(*joint, "child");
    if (is_in_circle(parents, child, sound))
      return {urdf_xml::mistake(*joint, fmt::format("joint {}: its link {} is its own ancestor",
                                                    urdf_xml::attribute(*joint, "name"), child))};
  }
  return {};
}

/// The model; null, and why, if urdfdom refuses it.
urdf::ModelInterfaceSharedPtr parse(const std::string& text, std::string& why) {
  static std::mutex one_at_a_time;
  const std::lock_guard lock(one_at_a_time);
  Log log;
  urdf::ModelInterfaceSharedPtr model;
  try {
    model = urdf::parseURDF(text);
  } catch (const std::exception& exception) {  // of urdfdom
    why = exception.what();
    return nullptr;
  }
  if (!model) why = log.errors().empty() ? "it gives no reason" : log.errors();
  return model;
}

}  // namespace

tl::expected<std::vector<urdf::JointConstSharedPtr>, std::vector<Mistake>> read_joints(const Element& robot) {
  if (auto mistakes = structural_mistakes(robot); !mistakes.empty())
    return tl::unexpected(std::move(mistakes));
  std::string why;
  const urdf::ModelInterfaceSharedPtr model = parse(skeleton(robot), why);
  if (!model) return tl::unexpected(std::vector{Mistake{"", "urdfdom refuses the robot: " + why, 0}});
  std::vector<urdf::JointConstSharedPtr> joints;
  for (const Element* element : urdf_xml::children(robot, "joint")) {
    const char* name = element->Attribute("name");
    if (urdf::JointConstSharedPtr joint = model->getJoint(name != nullptr ? name : ""))
      joints.push_back(joint);
  }
  return joints;
}

}  // namespace takt::robot
