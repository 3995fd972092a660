// Reading the members of an answer in JSON, for tables.
#pragma once

#include <string>

#include "json/strict.hpp"

namespace takt::tools {

/// A member as text; empty if it is another thing.
[[nodiscard]] inline std::string text_in(const json::Value& object, const char* key) {
  return object.is_object() && object.contains(key) && object[key].is_string()
             ? object[key].get<std::string>()
             : "";
}

/// A member as a list; empty if it is another thing.
[[nodiscard]] inline const json::Value& rows_in(const json::Value& object, const char* key) {
  static const json::Value none = json::Value::array();
  return object.is_object() && object.contains(key) && object[key].is_array() ? object[key] : none;
}

/// A member as a number; 0 if it is another thing.
[[nodiscard]] inline double number_in(const json::Value& object, const char* key) {
  return object.is_object() && object.contains(key) && object[key].is_number() ? object[key].get<double>()
                                                                               : 0;
}

/// "a, b" of ["a", "b"].
[[nodiscard]] inline std::string texts_in(const json::Value& object, const char* key) {
  std::string text;
  for (const json::Value& one : rows_in(object, key)) {
    if (one.is_string()) text += (text.empty() ? "" : ", ") + one.get_ref<const std::string&>();
  }
  return text;
}

}  // namespace takt::tools
