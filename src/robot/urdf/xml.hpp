// The XML of a URDF file, by tinyxml2: strict about encoding and size, with line numbers.
#pragma once

#include <tinyxml2.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "takt/robot/description_json.hpp"

namespace takt::robot::urdf_xml {

using Element = tinyxml2::XMLElement;
using Document = std::unique_ptr<tinyxml2::XMLDocument>;

/// Parses a file and checks that its root is <robot> without macros of xacro.
[[nodiscard]] tl::expected<Document, Mistake> parse(std::string_view text);

[[nodiscard]] Mistake mistake(const Element& element, std::string reason);

/// An attribute without spaces around it; empty if there is none.
[[nodiscard]] std::string_view attribute(const Element& element, const char* name);
/// The text of an element without spaces around it; empty if there is none.
[[nodiscard]] std::string_view text_of(const Element& element);
/// The text of the first child element of this name; std::nullopt if there is no such child.
[[nodiscard]] std::optional<std::string_view> child_text(const Element& element, const char* name);
/// A finite number; std::nullopt if the text is anything else.
[[nodiscard]] std::optional<double> number(std::string_view text);

/// The child elements of this name, of all names for nullptr.
[[nodiscard]] std::vector<const Element*> children(const Element& element, const char* name = nullptr);

}  // namespace takt::robot::urdf_xml
