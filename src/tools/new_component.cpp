// takt new component: writes a project with a component, a test and a README that builds as it is.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "takt/component/component.hpp"
#include "takt/shm/schema.hpp"
#include "takt/version.hpp"
#include "tools/commands.hpp"

namespace takt::tools {
namespace {

struct NewOptions {
  std::string name;
  std::vector<std::string> in, out, parameters, services, consumers;
  std::string language = "cpp";
  std::string folder;
  std::string vendor = "you";
  std::string category = "example";
  std::string description = "Does nothing yet.";
};

[[noreturn]] void refuse(const std::string& reason) {
  fmt::print(stderr, "takt new component: {}\n", reason);
  throw CLI::RuntimeError(exit_bad_input);
}

/// A name that C, C++ and takt accept.
void check_name(const std::string& name, std::string_view what) {
  bool fits = component::is_valid_name(name) && std::isalpha(static_cast<unsigned char>(name.front())) != 0;
  for (const char c : name) fits = fits && (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_');
  if (!fits)
    refuse(fmt::format("\"{}\" is no name of a {}: a letter, then letters, digits or '_', at most 31", name,
                       what));
}

/// "NAME:REST".
std::pair<std::string, std::string> split(const std::string& text, std::string_view what) {
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos) refuse(fmt::format("\"{}\" is not NAME:TYPE of a {}", text, what));
  std::pair<std::string, std::string> parts{text.substr(0, colon), text.substr(colon + 1)};
  check_name(parts.first, what);
  return parts;
}

/// A port and the type of its values.
struct PortSpec {
  std::string name;
  std::string schema;
  shm::Fields fields;  ///< points into a text that lives as long as the program's options
  bool is_struct = false;

  [[nodiscard]] std::string type_name(std::string_view component) const {
    return fmt::format("{}_{}", component, name);
  }
};

std::string_view cpp_type(Scalar type) {
  constexpr std::string_view names[] = {"std::uint8_t", "std::uint16_t", "std::uint32_t", "std::uint64_t",
                                        "std::int8_t",  "std::int16_t",  "std::int32_t",  "std::int64_t",
                                        "float",        "double"};
  return names[static_cast<std::size_t>(type)];
}
std::string_view c_type(Scalar type) {
  const std::string_view name = cpp_type(type);
  return name.starts_with("std::") ? name.substr(5) : name;
}

/// TYPE is "f64", "f64[6]", or a list of fields: "x f64, y f64, mode u8, _ u8[7]".
PortSpec port_of(const std::string& text, std::vector<std::unique_ptr<std::string>>& texts) {
  auto [name, type] = split(text, "port");
  PortSpec port;
  port.name = name;
  port.is_struct = type.find(' ') != std::string::npos;
  texts.push_back(std::make_unique<std::string>(port.is_struct ? type : "value " + type));
  port.schema = *texts.back();
  const auto fields = shm::parse_schema(*texts.back());
  if (!fields)
    refuse(fmt::format(
        "\"{}\" is no type: f64, f64[6], or fields \"x f64, y f64, mode u8, _ u8[7]\" (types u8 ... i64, "
        "f32, f64; each at its natural alignment)",
        type));
  port.fields = *fields;
  return port;
}

/// A parameter: NAME:TYPE[=INITIAL].
struct ParameterSpec {
  std::string name;
  std::string type;  ///< "number", "integer", "bool"
  std::string initial;
};

ParameterSpec parameter_of(const std::string& text) {
  auto [name, rest] = split(text, "parameter");
  const std::size_t equals = rest.find('=');
  ParameterSpec parameter{name, rest.substr(0, equals),
                          equals == std::string::npos ? "0" : rest.substr(equals + 1)};
  if (parameter.type == "bool") {
    if (parameter.initial == "0") parameter.initial = "false";
    if (parameter.initial != "true" && parameter.initial != "false")
      refuse(fmt::format("{}: the initial value is true or false", text));
    return parameter;
  }
  if (parameter.type != "number" && parameter.type != "integer")
    refuse(fmt::format("\"{}\" is no type of a parameter: number, integer or bool", parameter.type));
  double number = 0;
  if (!CLI::detail::lexical_cast(parameter.initial, number))
    refuse(fmt::format("{}: \"{}\" is no number", text, parameter.initial));
  if (parameter.type == "integer" && parameter.initial.find_first_not_of("-0123456789") != std::string::npos)
    refuse(fmt::format("{}: \"{}\" is no integer", text, parameter.initial));
  return parameter;
}

/// The component that is written.
struct Spec {
  std::string name, vendor, category, description;
  std::vector<PortSpec> in, out;
  std::vector<ParameterSpec> parameters;
  std::vector<std::pair<std::string, std::string>> services, consumers;
  std::vector<std::unique_ptr<std::string>> texts;
};

// ---- the templates ----

namespace templates {
constexpr std::string_view header =
#include "tools/new_component/component.hpp.in"
    ;
constexpr std::string_view source =
#include "tools/new_component/component.cpp.in"
    ;
constexpr std::string_view c_source =
#include "tools/new_component/component.c.in"
    ;
constexpr std::string_view test =
#include "tools/new_component/component_test.cpp.in"
    ;
constexpr std::string_view build =
#include "tools/new_component/CMakeLists_cpp.txt.in"
    ;
constexpr std::string_view c_build =
#include "tools/new_component/CMakeLists_c.txt.in"
    ;
constexpr std::string_view readme =
#include "tools/new_component/README.md.in"
    ;
constexpr std::string_view system =
#include "tools/new_component/system.json.in"
    ;
}  // namespace templates

using Words = std::map<std::string, std::string>;

/// Something of which a component may have several: an in-port, a parameter, ...
struct Item {
  std::string kind;
  Words words;
};

/// The line with each @word@ replaced.
std::string replaced(std::string_view line, const Words& words) {
  std::string result;
  for (std::size_t begin; (begin = line.find('@')) != std::string_view::npos;) {
    result += line.substr(0, begin);
    line.remove_prefix(begin + 1);
    const std::size_t end = line.find('@');
    const auto word = words.find(std::string(line.substr(0, end)));
    if (end == std::string_view::npos || word == words.end()) {
      result += '@';
    } else {
      result += word->second;
      line.remove_prefix(end + 1);
    }
  }
  return result.append(line);
}

/// Fills in a template. Lines that begin with @KIND@ are for the items of this kind: such lines below each
/// other are repeated together.
std::string fill(std::string_view text, const Words& words, const std::vector<Item>& items) {
  constexpr std::array<std::string_view, 8> kinds = {"@in@",       "@out@",       "@parameter@", "@service@",
                                                     "@consumer@", "@interface@", "@struct@",    "@called@"};
  std::string result;
  const auto repeat = [&](std::string_view kind, const std::vector<std::string_view>& lines) {
    for (const Item& item : items) {
      if ("@" + item.kind + "@" != kind) continue;
      for (const std::string_view line : lines)
        result += replaced(line.substr(kind.size()), item.words) + "\n";
    }
  };
  std::string_view open;
  std::vector<std::string_view> block;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(line.size() + 1);
    const auto kind = std::ranges::find_if(kinds, [&](std::string_view k) { return line.starts_with(k); });
    const std::string_view now = kind != kinds.end() ? *kind : std::string_view();
    if (now != open) repeat(open, std::exchange(block, {}));
    open = now;
    if (now.empty())
      result += replaced(line, words) + "\n";
    else
      block.push_back(line);
  }
  repeat(open, block);
  return result;
}

// ---- their words ----

/// Each field of a struct as a line, in C++ and in C, and the names behind each other.
Words struct_words(const PortSpec& port, const std::string& type) {
  Words words{{"name", port.name}, {"type", type}};
  for (const shm::Field& field : port.fields.all()) {
    if (field.is_padding()) continue;  // the compiler pads as the schema does
    const bool is_first = words["fields"].empty();
    const std::string_view end_of_last = is_first ? "" : "\n";
    words["fields"] += end_of_last;
    words["fields"] += field.is_array ? fmt::format("  std::array<{}, {}> {}{{}};", cpp_type(field.type),
                                                    field.count, field.name)
                                      : fmt::format("  {} {} = 0;", cpp_type(field.type), field.name);
    words["c_fields"] += end_of_last;
    words["c_fields"] += fmt::format("  {} {}{};", c_type(field.type), field.name,
                                     field.is_array ? fmt::format("[{}]", field.count) : "");
    words["field_names"] += fmt::format(", {}", field.name);
  }
  return words;
}

void add_ports(std::vector<Item>& items, const std::string& kind, const std::vector<PortSpec>& ports,
               const std::string& component) {
  for (const PortSpec& port : ports) {
    const shm::Field& first = port.fields.list[0];
    const std::string type = port.type_name(component);
    const bool is_array = !port.is_struct && first.is_array;
    Words words{{"name", port.name}, {"schema", port.schema}};
    words["type"] = port.is_struct ? type
                    : is_array     ? fmt::format("std::array<{}, {}>", cpp_type(first.type), first.count)
                                   : std::string(cpp_type(first.type));
    words["c_type"] = port.is_struct ? "struct " + type : std::string(c_type(first.type));
    words["c_array"] = is_array ? fmt::format("[{}]", first.count) : "";
    items.push_back({kind, std::move(words)});
    if (port.is_struct) items.push_back({"struct", struct_words(port, type)});
  }
}

Words parameter_words(const ParameterSpec& parameter) {
  Words words{{"name", parameter.name}, {"kind", parameter.type}, {"initial", parameter.initial}};
  if (parameter.type == "bool") {
    words["type"] = "bool";
    words["c_kind"] = "boolean";
    words["c_initial"] = parameter.initial == "true" ? "1, \"\"" : "0, \"\"";
  } else {
    words["type"] = parameter.type == "number" ? "double" : "std::int64_t";
    words["c_kind"] = parameter.type;
    words["c_initial"] = parameter.initial + ", 0, 0, \"\", \"\"";
  }
  return words;
}

std::vector<Item> items_of(const Spec& spec) {
  std::vector<Item> items;
  std::vector<std::string> interfaces;
  for (const auto* list : {&spec.services, &spec.consumers}) {
    const std::string kind = list == &spec.services ? "service" : "consumer";
    for (const auto& [name, interface_name] : *list) {
      items.push_back({kind, {{"name", name}, {"interface", interface_name}}});
      if (std::ranges::count(interfaces, interface_name) != 0) continue;
      interfaces.push_back(interface_name);
      items.push_back({"interface", {{"name", interface_name}}});
    }
  }
  if (!spec.services.empty()) items.push_back({"called", {}});
  add_ports(items, "in", spec.in, spec.name);
  add_ports(items, "out", spec.out, spec.name);
  for (const ParameterSpec& parameter : spec.parameters)
    items.push_back({"parameter", parameter_words(parameter)});
  return items;
}

Words words_of(const Spec& spec) {
  std::string bases;
  for (const auto& [name, interface_name] : spec.services) {
    if (bases.find(", " + interface_name) == std::string::npos) bases += ", " + interface_name;
  }
  return {{"Component", spec.name},          {"vendor", spec.vendor}, {"category", spec.category},
          {"description", spec.description}, {"bases", bases},        {"takt_version", TAKT_VERSION}};
}

// ---- files ----

void write(const std::filesystem::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  if (!(file << text) || !file.flush()) refuse(path.string() + ": cannot be written");
}

void write_project(const NewOptions& options) {
  Spec spec;
  spec.name = options.name;
  check_name(spec.name, "component");
  for (const std::string* text : {&options.vendor, &options.category, &options.description}) {
    if (text->find_first_of("\"\\\n*") != std::string::npos)
      refuse(fmt::format("\"{}\" has '\"', '\\', '*' or a line end", *text));
  }
  spec.vendor = options.vendor;
  spec.category = options.category;
  spec.description = options.description;
  for (const std::string& text : options.in) spec.in.push_back(port_of(text, spec.texts));
  for (const std::string& text : options.out) spec.out.push_back(port_of(text, spec.texts));
  for (const std::string& text : options.parameters) spec.parameters.push_back(parameter_of(text));
  for (const std::string& text : options.services) spec.services.push_back(split(text, "service"));
  for (const std::string& text : options.consumers) spec.consumers.push_back(split(text, "service"));
  for (const auto* list : {&spec.services, &spec.consumers}) {
    for (const auto& [name, interface_name] : *list) check_name(interface_name, "interface");
  }
  const bool is_c = options.language == "c";
  const std::filesystem::path folder = options.folder.empty() ? spec.name : options.folder;
  if (std::filesystem::exists(folder)) refuse(folder.string() + " exists already");
  std::error_code error;
  if (!std::filesystem::create_directories(folder, error)) refuse(folder.string() + ": " + error.message());
  const Words words = words_of(spec);
  const std::vector<Item> items = items_of(spec);
  const auto write_filled = [&](const std::string& name, std::string_view text) {
    write(folder / name, fill(text, words, items));
  };
  write_filled("CMakeLists.txt", is_c ? templates::c_build : templates::build);
  write_filled("README.md", templates::readme);
  write_filled("system.json", templates::system);
  write_filled(spec.name + "_test.cpp", templates::test);
  if (is_c) {
    write_filled(spec.name + ".c", templates::c_source);
  } else {
    write_filled(spec.name + ".hpp", templates::header);
    write_filled(spec.name + ".cpp", templates::source);
  }
  fmt::print(
      "{0}: build and test it with  cmake -B {0}/build {0} && cmake --build {0}/build && ctest --test-dir "
      "{0}/build\n",
      folder.string());
}

}  // namespace

void add_new(CLI::App& app) {
  CLI::App* group = app.add_subcommand("new", "Write a project to begin with");
  group->require_subcommand(1);
  auto options = std::make_shared<NewOptions>();
  CLI::App* command =
      group->add_subcommand("component", "A component as a plug-in, with a test and a README");
  command->add_option("name", options->name, "Its type, also the folder's name")->required();
  command->add_option("--in", options->in, "In-port NAME:TYPE; TYPE is f64, f64[6], or \"x f64, y f64\"");
  command->add_option("--out", options->out, "Out-port NAME:TYPE");
  command->add_option("--param", options->parameters, "Parameter NAME:number|integer|bool[=INITIAL]");
  command->add_option("--service", options->services, "Provided service NAME:INTERFACE");
  command->add_option("--consumer", options->consumers, "Required service NAME:INTERFACE");
  command->add_option("--lang", options->language, "cpp, or c by the C API only")
      ->check(CLI::IsMember({"cpp", "c"}));
  command->add_option("--folder", options->folder, "Folder to create (default: the name)");
  command->add_option("--vendor", options->vendor, "Who makes it");
  command->add_option("--category", options->category, "For example control, sensor, vehicle");
  command->add_option("--description", options->description, "One sentence");
  command->callback([options] { write_project(*options); });
}

}  // namespace takt::tools
