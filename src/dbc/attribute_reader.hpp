// Reads the attributes of a DBC file: BA_DEF_, BA_DEF_DEF_ and BA_.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "dbc/object_reader.hpp"

namespace takt::dbc {

/// Values are parsed in finish_attributes(), because their definitions may follow them.
class AttributeReader : protected ObjectReader {
 protected:
  using ObjectReader::ObjectReader;

  bool read_attribute_definition() {
    AttributeDefinition definition;
    const Token word = scanner_.peek();
    for (const auto& [keyword, kind] : object_kinds) {
      if (word.is(keyword)) definition.object = kind;
    }
    if (word.kind == TokenKind::name) scanner_.take();
    if (word.kind == TokenKind::name && definition.object == ObjectKind::network)
      return expected("the attribute's name after BU_, BO_, SG_, EV_ or nothing");
    const TextPosition place = scanner_.peek().place;
    if (!take_text(definition.name, "the name of the attribute in quotes") ||
        !take_attribute_type(definition))
      return false;
    end_statement();
    const auto key = std::pair(definition.object, definition.name);
    if (!definitions_.try_emplace(key, file_.attribute_definitions.size()).second) {
      complain(place, fmt::format("attribute {} is defined twice; this one is left out", definition.name));
      return true;
    }
    file_.attribute_definitions.push_back(std::move(definition));
    return within(file_.attribute_definitions.size(), max_attributes, "attributes");
  }

  bool take_attribute_type(AttributeDefinition& definition) {
    const Token word = scanner_.peek();
    const auto found = std::find_if(attribute_types.begin(), attribute_types.end(),
                                    [&](const auto& entry) { return word.is(entry.first); });
    if (found == attribute_types.end()) return expected("INT, HEX, FLOAT, STRING or ENUM");
    scanner_.take();
    definition.type = found->second;
    if (definition.type == AttributeType::enumeration) {
      while (scanner_.peek().kind == TokenKind::text) {
        if (!take_text(definition.texts.emplace_back(), "a text") ||
            !within(definition.texts.size(), max_enumeration_texts, "texts of one attribute"))
          return false;
        try_mark(',');
      }
    } else if (definition.type != AttributeType::text && scanner_.peek().kind == TokenKind::number) {
      return take_number(definition.minimum, "the minimum") && take_number(definition.maximum, "the maximum");
    }
    return true;
  }

  /// Takes the value of an attribute. It is parsed later, when its definition is known.
  bool take_value(Token& out) {
    const Token& next = scanner_.peek();
    if (next.kind != TokenKind::number && next.kind != TokenKind::text)
      return expected("the value of the attribute");
    if (!within(next.raw.size(), max_text_length, "bytes in a text")) return false;
    out = scanner_.take();
    return true;
  }

  bool take_attribute_name(Token& out) {
    if (scanner_.peek().kind != TokenKind::text) return expected("the name of the attribute in quotes");
    if (!within(scanner_.peek().raw.size(), max_text_length, "bytes in a text")) return false;
    out = scanner_.take();
    return true;
  }

  bool read_attribute_default() {
    PendingAttribute attribute;
    if (!take_attribute_name(attribute.name) || !take_value(attribute.value)) return false;
    end_statement();
    defaults_.push_back(attribute);
    return true;
  }

  bool read_attribute() {
    PendingAttribute attribute;
    if (!take_attribute_name(attribute.name) || !take_object(attribute.object) ||
        !take_value(attribute.value)) {
      return false;
    }
    end_statement();
    attributes_.push_back(attribute);
    return true;
  }

  void finish_attributes() {
    for (const PendingAttribute& attribute : defaults_) finish_default(attribute);
    for (std::size_t i = 0; i < attributes_.size() && !has_failed(); ++i) finish_attribute(attributes_[i]);
  }

 private:
  struct PendingAttribute {
    Token name;
    Object object;
    Token value;
  };

  void finish_default(const PendingAttribute& attribute) {
    const std::string name = unquoted(attribute.name.raw);
    bool is_defined = false;
    for (const auto kind : {ObjectKind::network, ObjectKind::node, ObjectKind::message, ObjectKind::signal,
                            ObjectKind::environment_variable}) {
      const auto found = definitions_.find(std::pair(kind, name));
      if (found == definitions_.end()) continue;
      is_defined = true;
      AttributeDefinition& definition = file_.attribute_definitions[found->second];
      // Tools write "" for an enumeration without a default.
      const bool is_enumeration = definition.type == AttributeType::enumeration;
      if (is_enumeration && attribute.value.kind == TokenKind::text && attribute.value.raw.empty() &&
          std::find(definition.texts.begin(), definition.texts.end(), "") == definition.texts.end())
        continue;
      if (auto value = value_of(attribute.value, &definition, *this))
        definition.default_value = std::move(value);
    }
    if (!is_defined) complain(attribute.name.place, fmt::format("attribute {} is not defined", name));
  }

  void finish_attribute(const PendingAttribute& attribute) {
    const std::string name = unquoted(attribute.name.raw);
    const auto found = definitions_.find(std::pair(attribute.object.kind, name));
    const AttributeDefinition* definition = nullptr;
    if (found != definitions_.end()) {
      definition = &file_.attribute_definitions[found->second];
    } else {
      complain(attribute.name.place,
               fmt::format("attribute {} is not defined for this kind of object", name));
    }
    auto value = value_of(attribute.value, definition, *this);
    if (!value) return;
    std::vector<Attribute>& attributes = attributes_of(attribute.object);
    const auto [known, is_first] = given_.try_emplace({attribute.object, name}, attributes.size());
    if (!is_first) {
      complain(attribute.name.place,
               fmt::format("attribute {} is given twice; the later value is used", name));
      attributes[known->second].value = std::move(*value);
    } else if (attributes.size() == max_attributes) {
      refuse(attribute.name.place, fmt::format("an object has more than {} attributes", max_attributes));
    } else {
      attributes.push_back({name, std::move(*value)});
    }
  }

  std::map<std::pair<ObjectKind, std::string>, std::size_t> definitions_;
  std::vector<PendingAttribute> defaults_;
  std::vector<PendingAttribute> attributes_;
  std::map<std::pair<Object, std::string>, std::size_t> given_;  ///< index among the object's attributes
};

}  // namespace takt::dbc
