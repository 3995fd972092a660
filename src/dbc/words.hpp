// Keywords and names that the reader and the writer of DBC files share.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

#include "dbc/scanner.hpp"
#include "takt/can/frame.hpp"
#include "takt/dbc/file.hpp"

namespace takt::dbc {

inline constexpr std::uint32_t extended_bit = 0x8000'0000;        ///< marks a 29-bit identifier in a file
inline constexpr std::uint32_t independent_raw_id = 0xC000'0000;  ///< of signals without a message
inline constexpr std::string_view nobody = "Vector__XXX";         ///< stands for no node
inline constexpr std::string_view independent_name = "VECTOR__INDEPENDENT_SIG_MSG";
inline constexpr std::string_view message_long_name = "SystemMessageLongSymbol";
inline constexpr std::string_view signal_long_name = "SystemSignalLongSymbol";

inline constexpr std::array<std::pair<std::string_view, ObjectKind>, 4> object_kinds = {
    {{"BU_", ObjectKind::node},
     {"BO_", ObjectKind::message},
     {"SG_", ObjectKind::signal},
     {"EV_", ObjectKind::environment_variable}}};

inline constexpr std::array<std::pair<std::string_view, AttributeType>, 5> attribute_types = {
    {{"INT", AttributeType::integer},
     {"HEX", AttributeType::hexadecimal},
     {"FLOAT", AttributeType::number},
     {"STRING", AttributeType::text},
     {"ENUM", AttributeType::enumeration}}};

/// All keywords that begin a section of a DBC file. The last ones are known but not read.
inline constexpr std::array<std::string_view, 36> keywords = {
    "VERSION", "NS_", "BS_", "BU_", "BO_", "SG_", "BO_TX_BU_", "EV_", "ENVVAR_DATA_", "CM_", "VAL_TABLE_",
    "VAL_", "SIG_GROUP_", "SIG_VALTYPE_", "SG_MUL_VAL_", "BA_DEF_", "BA_DEF_DEF_", "BA_",
    // not read:
    "NS_DESC_", "CAT_DEF_", "CAT_", "FILTER", "EV_DATA_", "SGTYPE_", "SGTYPE_VAL_", "BA_DEF_SGTYPE_",
    "BA_SGTYPE_", "SIG_TYPE_REF_", "SIGTYPE_VALTYPE_", "BA_DEF_REL_", "BA_REL_", "BA_DEF_DEF_REL_",
    "BU_SG_REL_", "BU_EV_REL_", "BU_BO_REL_", "SIG_TYPE_"};

[[nodiscard]] constexpr bool is_keyword(std::string_view word) noexcept {
  return std::find(keywords.begin(), keywords.end(), word) != keywords.end();
}

/// Returns whether the text is a C identifier, as the format demands.
[[nodiscard]] constexpr bool is_identifier(std::string_view name) noexcept {
  const auto is_letter = [](char byte) {
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || byte == '_';
  };
  return !name.empty() && is_letter(name.front()) && std::all_of(name.begin(), name.end(), [&](char byte) {
    return is_letter(byte) || (byte >= '0' && byte <= '9');
  });
}

/// Returns whether a reader accepts the text as one name.
[[nodiscard]] inline bool is_readable_name(std::string_view name) noexcept {
  const Token token = Scanner(name).take();
  return token.kind == TokenKind::name && token.raw == name;
}

}  // namespace takt::dbc
