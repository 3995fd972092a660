#include "takt/drives/cia402/cia402_identity.hpp"

#include <fmt/format.h>

#include <string_view>

namespace takt::drives {
namespace {

/// Without what could not be printed, as the zeros at its end: a drive's bytes go to a terminal.
std::string printable(std::string_view text) {
  text = text.substr(0, text.find('\0'));
  while (text.ends_with(' ')) text.remove_suffix(1);
  std::string letters(text);
  for (char& letter : letters) {
    if (letter < ' ' || letter > '~') letter = '?';
  }
  return letters;
}

}  // namespace

std::string to_string(const Cia402Identity& identity) {
  std::string text;
  const auto add = [&text](std::string_view what, const std::string& value) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", what, value);
  };
  if (identity.vendor) add("vendor", fmt::format("{:#x}", *identity.vendor));
  if (identity.product) add("product", fmt::format("{:#x}", *identity.product));
  if (identity.revision) add("revision", fmt::format("{:#x}", *identity.revision));
  const std::string software = printable({identity.software.data(), identity.software_length});
  if (!software.empty()) add("software", software);
  return text;
}

}  // namespace takt::drives
