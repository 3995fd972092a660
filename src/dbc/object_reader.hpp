// Finds the objects of a DBC file that its statements name: nodes, messages, signals, environment variables.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "dbc/layout.hpp"
#include "dbc/token_reader.hpp"
#include "takt/dbc/file.hpp"

namespace takt::dbc {

/// The identifier of a message in the file: bit 31 marks 29 bits.
using RawId = std::uint32_t;

inline constexpr std::size_t independent_signals =
    ~std::size_t{0};  ///< used instead of the index of a message
inline constexpr std::size_t left_out_message = independent_signals - 1;
inline constexpr std::size_t no_message = independent_signals - 2;

/// The object of a BA_, CM_ or VAL_ statement.
struct Object {
  ObjectKind kind = ObjectKind::network;
  std::size_t index = 0;   ///< index of the node, message or variable
  std::size_t signal = 0;  ///< index in the message

  friend bool operator<(const Object& a, const Object& b) noexcept {
    return std::tie(a.kind, a.index, a.signal) < std::tie(b.kind, b.index, b.signal);
  }
};

/// The file as read up to now, and the takers of references into it.
class ObjectReader : protected TokenReader {
 protected:
  using TokenReader::TokenReader;

  [[nodiscard]] std::vector<Signal>& signals_of(std::size_t message) noexcept {
    return message == independent_signals ? file_.independent_signals : file_.messages[message].signals;
  }
  [[nodiscard]] Notes& notes_of(std::size_t message) noexcept {
    return message == independent_signals ? independent_notes_ : notes_[message];
  }
  [[nodiscard]] Signal& signal_of(const Object& object) noexcept {
    return signals_of(object.index)[object.signal];
  }

  /// Takes the identifier of a known message. A skipped message was reported before, so it is not reported
  /// again.
  bool take_message(std::size_t& index) {
    const TextPosition place = scanner_.peek().place;
    RawId raw = 0;
    if (!take_integer<RawId>(raw, 0, ~RawId{0}, "the identifier of a message")) return false;
    if (raw == independent_raw_id) {
      index = independent_signals;
      return true;
    }
    const auto found = messages_.find(raw);
    if (found == messages_.end()) complain(place, fmt::format("there is no message {}", raw));
    if (found == messages_.end() || found->second == left_out_message) return false;
    index = found->second;
    return true;
  }

  bool take_signal(Object& object) {
    return take_message(object.index) &&
           take_reference(notes_of(object.index).signals, object.signal, "a signal of the message");
  }

  bool take_reference(const Names& known, std::size_t& index, std::string_view what) {
    const TextPosition place = scanner_.peek().place;
    std::string name;
    if (!take_name(name, what)) return false;
    const auto found = known.find(name);
    if (found == known.end()) {
      complain(place, fmt::format("{} is not {}", name, what));
      return false;
    }
    index = found->second;
    return true;
  }

  bool take_object(Object& object) {
    const Token word = scanner_.peek();
    if (word.kind != TokenKind::name) return true;
    const auto found = std::find_if(object_kinds.begin(), object_kinds.end(),
                                    [&](const auto& entry) { return word.is(entry.first); });
    if (found == object_kinds.end()) return expected("BU_, BO_, SG_, EV_ or a text");
    scanner_.take();
    object.kind = found->second;
    switch (object.kind) {
      case ObjectKind::node:
        return take_reference(nodes_, object.index, "a node");
      case ObjectKind::message:
        return take_message(object.index) && object.index != independent_signals;
      case ObjectKind::signal:
        return take_signal(object);
      case ObjectKind::environment_variable:
        return take_reference(environment_variables_, object.index, "an environment variable");
      case ObjectKind::network:
        break;
    }
    return true;
  }

  std::string& comment_of(const Object& object) noexcept {
    switch (object.kind) {
      case ObjectKind::node:
        return file_.nodes[object.index].comment;
      case ObjectKind::message:
        return file_.messages[object.index].comment;
      case ObjectKind::signal:
        return signal_of(object).comment;
      case ObjectKind::environment_variable:
        return file_.environment_variables[object.index].comment;
      case ObjectKind::network:
        break;
    }
    return file_.comment;
  }

  std::vector<Attribute>& attributes_of(const Object& object) noexcept {
    switch (object.kind) {
      case ObjectKind::node:
        return file_.nodes[object.index].attributes;
      case ObjectKind::message:
        return file_.messages[object.index].attributes;
      case ObjectKind::signal:
        return signal_of(object).attributes;
      case ObjectKind::environment_variable:
        return file_.environment_variables[object.index].attributes;
      case ObjectKind::network:
        break;
    }
    return file_.attributes;
  }

  File file_;
  std::map<RawId, std::size_t> messages_;
  std::vector<Notes> notes_;
  Notes independent_notes_;
  Names nodes_;
  Names environment_variables_;
};

}  // namespace takt::dbc
