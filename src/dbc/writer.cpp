#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "dbc/words.hpp"
#include "takt/dbc/file.hpp"

namespace takt::dbc {
namespace {

std::uint32_t raw_id(const Message& message) { return message.id | (message.extended ? extended_bit : 0); }

/// The names that the file's statements use.
template <class T>
const std::string& file_name(const T& object) {
  return object.short_name.empty() ? object.name : object.short_name;
}

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char byte : text) {
    if (byte == '"') out += '\\';
    out += byte;
  }
  return out + '"';
}

std::string joined(const std::vector<std::string>& names) {
  return names.empty() ? std::string(nobody) : fmt::format("{}", fmt::join(names, ","));
}

class Writer {
 public:
  explicit Writer(const File& file) : file_(file) {}

  std::string write() {
    put("VERSION {}\n\nNS_ :\n\nBS_:", quoted(file_.version));
    for (std::size_t i = 0; i < file_.bit_timing.size(); ++i)
      put("{}{}", i == 0 ? " " : i == 1 ? " : " : ",", file_.bit_timing[i]);
    put("\n\nBU_:");
    for (const Node& node : file_.nodes) put(" {}", node.name);
    put("\n");
    for (const ValueTable& table : file_.value_tables) {
      put("VAL_TABLE_ {}", table.name);
      put_values(table.values);
    }
    if (!file_.independent_signals.empty()) {
      put("\nBO_ {} {}: 0 {}\n", independent_raw_id, independent_name, nobody);
      for (const Signal& signal : file_.independent_signals)
        put_signal(signal, signal.is_selector ? "M" : "");
    }
    for (const Message& message : file_.messages) put_message(message);
    put("\n");
    for (const Message& message : file_.messages) {
      if (!message.senders.empty())
        put("BO_TX_BU_ {} : {};\n", raw_id(message), fmt::join(message.senders, ","));
    }
    put_environment_variables();
    put_comments();
    put_definitions();
    put_attributes();
    put_value_texts();
    for (const Message& message : file_.messages) put_groups(message);
    for_each_signal([&](std::uint32_t id, const Signal& signal) {
      if (signal.coding.field.type == can::NumberType::float32) put_of(id, signal, "SIG_VALTYPE_", " : 1;");
      if (signal.coding.field.type == can::NumberType::float64) put_of(id, signal, "SIG_VALTYPE_", " : 2;");
    });
    for (const Message& message : file_.messages) put_selector_ranges(message);
    return std::move(out_);
  }

 private:
  template <class... T>
  void put(fmt::format_string<T...> format, T&&... values) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<T>(values)...);
  }

  void put_of(std::uint32_t id, const Signal& signal, std::string_view keyword, std::string_view rest) {
    put("{} {} {}{}\n", keyword, id, file_name(signal), rest);
  }

  template <class Use>
  void for_each_signal(Use use) const {
    for (const Signal& signal : file_.independent_signals) use(independent_raw_id, signal);
    for (const Message& message : file_.messages) {
      for (const Signal& signal : message.signals) use(raw_id(message), signal);
    }
  }

  void put_values(const std::vector<ValueText>& values) {
    for (const ValueText& row : values) put(" {} {}", row.value, quoted(row.text));
    put(" ;\n");
  }

  void put_message(const Message& message) {
    put("\nBO_ {} {}: {} {}\n", raw_id(message), file_name(message), message.length,
        message.sender.empty() ? nobody : message.sender);
    for (const Signal& signal : message.signals) {
      std::string place;
      if (signal.selected_by) place = fmt::format("m{}", signal.selected_for.front().first);
      put_signal(signal, place + (signal.is_selector ? "M" : ""));
    }
  }

  void put_signal(const Signal& signal, std::string_view place) {
    const can::BitField& field = signal.coding.field;
    put(" SG_ {} {}{}: {}|{}@{}{} ({},{}) [{}|{}] {} {}\n", file_name(signal), place,
        place.empty() ? "" : " ", field.start, field.length, field.order == can::ByteOrder::little ? 1 : 0,
        field.type == can::NumberType::unsigned_integer ? '+' : '-', signal.coding.scale,
        signal.coding.offset, signal.coding.minimum, signal.coding.maximum, quoted(signal.unit),
        joined(signal.receivers));
  }

  void put_environment_variables() {
    for (const EnvironmentVariable& variable : file_.environment_variables) {
      put("EV_ {}: {} [{}|{}] {} {} {} {} {};\n", variable.name, variable.type, variable.minimum,
          variable.maximum, quoted(variable.unit), variable.initial, variable.id, variable.access,
          joined(variable.nodes));
    }
    for (const EnvironmentVariable& variable : file_.environment_variables) {
      if (variable.data_size != 0) put("ENVVAR_DATA_ {}: {};\n", variable.name, variable.data_size);
    }
  }

  void put_comment(const std::string& object, const std::string& comment) {
    if (!comment.empty()) put("CM_ {}{};\n", object, quoted(comment));
  }

  /// Calls use(the object's name in CM_ and BA_, the object) for all objects.
  template <class Use>
  void for_each_object(Use use) const {
    use(std::string(), file_);
    for (const Node& node : file_.nodes) use(fmt::format("BU_ {} ", node.name), node);
    for (const Message& message : file_.messages) use(fmt::format("BO_ {} ", raw_id(message)), message);
    for_each_signal([&](std::uint32_t id, const Signal& signal) {
      use(fmt::format("SG_ {} {} ", id, file_name(signal)), signal);
    });
    for (const EnvironmentVariable& variable : file_.environment_variables)
      use(fmt::format("EV_ {} ", variable.name), variable);
  }

  void put_comments() {
    for_each_object([&](const std::string& name, const auto& object) { put_comment(name, object.comment); });
  }

  void put_definitions() {
    for (const AttributeDefinition& definition : file_.attribute_definitions) {
      std::string_view object;
      for (const auto& entry : object_kinds) {
        if (entry.second == definition.object) object = entry.first;
      }
      std::string_view type;
      for (const auto& entry : attribute_types) {
        if (entry.second == definition.type) type = entry.first;
      }
      put("BA_DEF_ {}{}{} {}", object, object.empty() ? "" : " ", quoted(definition.name), type);
      if (definition.type == AttributeType::enumeration) {
        for (std::size_t i = 0; i < definition.texts.size(); ++i)
          put("{}{}", i == 0 ? " " : ",", quoted(definition.texts[i]));
      } else if (definition.type != AttributeType::text) {
        put(" {} {}", definition.minimum, definition.maximum);
      }
      put(";\n");
    }
    for (const AttributeDefinition& definition : file_.attribute_definitions) {
      if (!definition.default_value) continue;
      put("BA_DEF_DEF_ {} ", quoted(definition.name));
      put_value(*definition.default_value);
    }
  }

  void put_value(const AttributeValue& value) {
    if (const auto* integer = std::get_if<std::int64_t>(&value)) put("{};\n", *integer);
    if (const auto* number = std::get_if<double>(&value)) put("{};\n", *number);
    if (const auto* text = std::get_if<std::string>(&value)) put("{};\n", quoted(*text));
  }

  void put_attributes() {
    for_each_object([&](const std::string& name, const auto& object) {
      for (const Attribute& attribute : object.attributes) {
        put("BA_ {} {}", quoted(attribute.name), name);
        put_value(attribute.value);
      }
    });
    for (const Message& message : file_.messages) {
      if (!message.short_name.empty())
        put("BA_ \"{}\" BO_ {} {};\n", message_long_name, raw_id(message), quoted(message.name));
    }
    for_each_signal([&](std::uint32_t id, const Signal& signal) {
      if (!signal.short_name.empty())
        put("BA_ \"{}\" SG_ {} {} {};\n", signal_long_name, id, signal.short_name, quoted(signal.name));
    });
  }

  void put_value_texts() {
    for_each_signal([&](std::uint32_t id, const Signal& signal) {
      if (signal.values.empty()) return;
      put("VAL_ {} {}", id, file_name(signal));
      put_values(signal.values);
    });
    for (const EnvironmentVariable& variable : file_.environment_variables) {
      if (variable.values.empty()) continue;
      put("VAL_ {}", variable.name);
      put_values(variable.values);
    }
  }

  void put_groups(const Message& message) {
    for (const SignalGroup& group : message.groups) {
      put("SIG_GROUP_ {} {} {} :", raw_id(message), group.name, group.repetitions);
      for (const std::uint32_t signal : group.signals) put(" {}", file_name(message.signals[signal]));
      put(";\n");
    }
  }

  /// Writes the multiplexing that m and M cannot express: several selectors, or more than one number.
  void put_selector_ranges(const Message& message) {
    const auto is_plain = [&](const Signal& signal) {
      return !signal.selected_by || (!signal.is_selector && signal.selected_for.size() == 1 &&
                                     signal.selected_for.front().first == signal.selected_for.front().last);
    };
    const auto is_root = [](const Signal& signal) { return signal.is_selector && !signal.selected_by; };
    if (std::all_of(message.signals.begin(), message.signals.end(), is_plain) &&
        std::count_if(message.signals.begin(), message.signals.end(), is_root) <= 1) {
      return;
    }
    for (const Signal& signal : message.signals) {
      if (!signal.selected_by) continue;
      put("SG_MUL_VAL_ {} {} {}", raw_id(message), file_name(signal),
          file_name(message.signals[*signal.selected_by]));
      for (std::size_t i = 0; i < signal.selected_for.size(); ++i) {
        put("{}{}-{}", i == 0 ? " " : ", ", signal.selected_for[i].first, signal.selected_for[i].last);
      }
      put(";\n");
    }
  }

  const File& file_;
  std::string out_;
};

}  // namespace

SetupResult<std::string> write(const File& file) {
  for (const Message& message : file.messages) {
    for (const Signal& signal : message.signals) {
      const bool is_in_message = !signal.selected_by || *signal.selected_by < message.signals.size();
      if (!is_in_message || signal.selected_by.has_value() == signal.selected_for.empty())
        return fail(
            can::Errc::bad_dbc,
            fmt::format(
                "signal {}: it must have both a selector of the message and selector values, or neither",
                signal.name));
    }
    for (const SignalGroup& group : message.groups) {
      const auto is_in_message = [&](std::uint32_t signal) { return signal < message.signals.size(); };
      if (!std::all_of(group.signals.begin(), group.signals.end(), is_in_message))
        return fail(can::Errc::bad_dbc, fmt::format("group {}: a signal is not in the message", group.name));
    }
  }
  std::string text = Writer(file).write();
  const auto again = parse(text);
  if (!again)
    return fail(can::Errc::bad_dbc, "the text to write is not readable again: " + again.error().message);
  if (again->file != file) {
    return fail(can::Errc::bad_dbc,
                again->warnings.empty()
                    ? "the file has content that the DBC format cannot express"
                    : "the text to write is not readable again: " + to_string(again->warnings.front()));
  }
  return text;
}

}  // namespace takt::dbc
