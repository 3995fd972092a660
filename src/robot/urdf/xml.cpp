#include "robot/urdf/xml.hpp"

#include <fmt/format.h>
#include <charconv>
#include <cmath>

#include "core/utf8.hpp"
#include "robot/mistakes.hpp"

namespace takt::robot::urdf_xml {
namespace {

constexpr std::string_view spaces = " \t\r\n";

std::string_view trimmed(const char* text) {
  std::string_view view = text != nullptr ? text : "";
  view.remove_prefix(std::min(view.find_first_not_of(spaces), view.size()));
  return view.substr(0, view.find_last_not_of(spaces) + 1);
}

/// The reasons for which no parser sees the text; empty if there is none.
std::string_view refusal(std::string_view text) {
  if (text.size() > max_description_file) return "the file is larger than 4 MiB";
  if (text.find('\0') != std::string_view::npos) return "the file has a NUL byte";
  if (!is_utf8(text)) return "the file is not UTF-8";
  return {};
}

}  // namespace

tl::expected<Document, Mistake> parse(std::string_view text) {
  if (const std::string_view reason = refusal(text); !reason.empty())
    return tl::unexpected(Mistake{"", std::string(reason), 0});
  auto document = std::make_unique<tinyxml2::XMLDocument>();
  if (document->Parse(text.data(), text.size()) != tinyxml2::XML_SUCCESS) {
    const auto line = static_cast<std::size_t>(std::max(document->ErrorLineNum(), 0));
    return tl::unexpected(Mistake{"", fmt::format("not XML: {}", document->ErrorName()), line});
  }
  const Element* root = document->RootElement();
  if (root == nullptr) return tl::unexpected(Mistake{"", "the file has no element <robot>", 0});
  if (std::string_view(root->Name()) != "robot")
    return tl::unexpected(mistake(*root, fmt::format("the root is <{}>, not <robot>", root->Name())));
  for (const Element* child : children(*root)) {
    if (std::string_view(child->Name()).starts_with("xacro:"))
      return tl::unexpected(
          mistake(*child, fmt::format("<{}> is a macro: expand the file first, with xacro FILE > robot.urdf",
                                      child->Name())));
  }
  return document;
}

Mistake mistake(const Element& element, std::string reason) {
  return {"", std::move(reason), static_cast<std::size_t>(std::max(element.GetLineNum(), 0))};
}

std::string_view attribute(const Element& element, const char* name) {
  return trimmed(element.Attribute(name));
}

std::string_view text_of(const Element& element) { return trimmed(element.GetText()); }

std::optional<std::string_view> child_text(const Element& element, const char* name) {
  const Element* child = element.FirstChildElement(name);
  if (child == nullptr) return std::nullopt;
  return text_of(*child);
}

std::optional<double> number(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::vector<const Element*> children(const Element& element, const char* name) {
  std::vector<const Element*> found;
  for (const Element* child = element.FirstChildElement(name); child != nullptr;
       child = child->NextSiblingElement(name))
    found.push_back(child);
  return found;
}

}  // namespace takt::robot::urdf_xml
