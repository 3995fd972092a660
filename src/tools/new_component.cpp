// takt new component: writes a project with a component, a test and a README that builds as it is.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
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

// ---- C++ ----

std::string cpp_value_type(const PortSpec& port, const std::string& component) {
  if (port.is_struct) return port.type_name(component);
  const shm::Field& field = port.fields.list[0];
  return field.is_array ? fmt::format("std::array<{}, {}>", cpp_type(field.type), field.count)
                        : std::string(cpp_type(field.type));
}

std::string cpp_struct(const PortSpec& port, const std::string& component) {
  if (!port.is_struct) return {};
  std::string fields, names;
  for (const shm::Field& field : port.fields.all()) {
    if (field.is_padding()) continue;  // the compiler pads as the schema does
    fields += field.is_array ? fmt::format("  std::array<{}, {}> {}{{}};\n", cpp_type(field.type),
                                           field.count, field.name)
                             : fmt::format("  {} {} = 0;\n", cpp_type(field.type), field.name);
    names += fmt::format(", {}", field.name);
  }
  const std::string type = port.type_name(component);
  return fmt::format("/// The values of the port {0}.\nstruct {1} {{\n{2}\n  TAKT_FIELDS({1}{3})\n}};\n\n",
                     port.name, type, fields, names);
}

std::string cpp_header(const Spec& spec) {
  std::string structs, interfaces, members, reads, writes;
  std::vector<std::string> known;
  for (const auto& list : {spec.services, spec.consumers}) {
    for (const auto& [name, interface_name] : list) {
      if (std::find(known.begin(), known.end(), interface_name) != known.end()) continue;
      known.push_back(interface_name);
      interfaces += fmt::format(
          "/// An interface between components. The number in its name rises with each change.\nstruct {0} "
          "{{\n"
          "  static constexpr std::string_view service_name = \"{0}/1\";\n  virtual ~{0}() = default;\n"
          "  virtual takt::Status call(double value) noexcept = 0;\n}};\n\n",
          interface_name);
    }
  }
  std::string bases, methods;
  for (const auto& [name, interface_name] : spec.services) {
    members += fmt::format("  takt::component::ProvidedService<{0}> {1}{{*this, \"{1}\", *this}};\n",
                           interface_name, name);
    if (bases.find(", " + interface_name) == std::string::npos) {
      bases += ", " + interface_name;
      if (methods.empty())
        methods = "  takt::Status call(double /*value*/) noexcept override { return {}; }\n";
    }
  }
  for (const auto& [name, interface_name] : spec.consumers)
    members +=
        fmt::format("  takt::component::RequiredService<{0}> {1}{{*this, \"{1}\"}};\n", interface_name, name);
  for (const PortSpec& port : spec.in) {
    structs += cpp_struct(port, spec.name);
    members += fmt::format("  takt::component::InPort<{0}> {1}{{*this, \"{1}\"}};\n",
                           cpp_value_type(port, spec.name), port.name);
    reads += fmt::format("    static_cast<void>({}.read());  // new, old or none\n", port.name);
  }
  for (const PortSpec& port : spec.out) {
    structs += cpp_struct(port, spec.name);
    members += fmt::format("  takt::component::OutPort<{0}> {1}{{*this, \"{1}\"}};\n",
                           cpp_value_type(port, spec.name), port.name);
    writes += fmt::format("    {}.write({{}}, cycle.time);\n", port.name);
  }
  for (const ParameterSpec& parameter : spec.parameters) {
    const std::string_view type = parameter.type == "number"    ? "double"
                                  : parameter.type == "integer" ? "std::int64_t"
                                                                : "bool";
    members += fmt::format(
        "  takt::component::Parameter<{0}> {1}{{*this, \"{1}\", {{.initial = {2}, .description = \"\"}}}};\n",
        type, parameter.name, parameter.initial);
  }
  return fmt::format(
      "// {0}: {1}\n#pragma once\n\n#include <array>\n#include <cstdint>\n#include <string>\n#include "
      "<string_view>\n"
      "#include <utility>\n\n#include \"takt/component/component.hpp\"\n#include "
      "\"takt/component/parameter.hpp\"\n"
      "#include \"takt/component/port.hpp\"\n#include \"takt/component/service.hpp\"\n\n{2}{3}"
      "struct {0} final : takt::component::Component{4} {{\n"
      "  static constexpr takt::component::ComponentMetadata about{{.type = \"{0}\",\n"
      "                                                            .version = \"0.1.0\",\n"
      "                                                            .vendor = \"{5}\",\n"
      "                                                            .category = \"{6}\",\n"
      "                                                            .description = \"{1}\"}};\n"
      "  explicit {0}(std::string name) : Component(about, std::move(name)) {{}}\n\n"
      "  /// One cycle: real-time safe, so no heap, lock, file or wait.\n"
      "  takt::Status on_execute(const takt::component::CycleTime& cycle) noexcept override {{\n"
      "    static_cast<void>(cycle);\n{7}{8}    return {{}};\n  }}\n{9}\n{10}}};\n",
      spec.name, spec.description, structs, interfaces, bases, spec.vendor, spec.category, reads, writes,
      methods, members);
}

// ---- C ----

std::string c_value_type(const PortSpec& port, const std::string& component) {
  if (port.is_struct) return "struct " + port.type_name(component);
  const shm::Field& field = port.fields.list[0];
  return std::string(c_type(field.type));
}

/// The text of the services of a component in C.
struct CServices {
  std::string interfaces, members, create;
};

CServices c_services(const Spec& spec) {
  CServices text;
  std::vector<std::string> known;
  for (const auto& list : {spec.services, spec.consumers}) {
    for (const auto& [name, interface_name] : list) {
      if (std::find(known.begin(), known.end(), interface_name) != known.end()) continue;
      known.push_back(interface_name);
      text.interfaces += fmt::format(
          "/* An interface between components. The number in its name rises with each change. */\n"
          "static const char {0}_interface[] = \"{0}_table/1\";\n"
          "struct {0} {{\n  void* user;\n  int32_t (*call)(void* user, double value);\n}};\n\n",
          interface_name);
    }
  }
  for (const auto& [name, interface_name] : spec.services) {
    text.interfaces += fmt::format(
        "static int32_t {0}_call(void* user, double value) {{\n  (void)user;\n  (void)value;\n"
        "  return TAKT_OK;\n}}\n\n",
        name);
    text.members +=
        fmt::format("  struct {1} {0};\n  takt_provided_service* {0}_service;\n", name, interface_name);
    text.create += fmt::format(
        "  me->{0}.user = me;\n  me->{0}.call = {0}_call;\n"
        "  if (status == TAKT_OK) status = takt_component_add_provided_service(component, \"{0}\", "
        "{1}_interface, &me->{0}, &me->{0}_service);\n",
        name, interface_name);
  }
  for (const auto& [name, interface_name] : spec.consumers) {
    text.members += fmt::format("  takt_required_service* {};\n", name);
    text.create += fmt::format(
        "  if (status == TAKT_OK) status = takt_component_add_required_service(component, \"{0}\", "
        "{1}_interface, &me->{0});\n",
        name, interface_name);
  }
  return text;
}

std::string c_source(const Spec& spec) {
  const CServices services = c_services(spec);
  std::string structs = services.interfaces, members = services.members, create = services.create, execute;
  for (const auto* ports : {&spec.in, &spec.out}) {
    const bool reads = ports == &spec.in;
    for (const PortSpec& port : *ports) {
      const shm::Field& first = port.fields.list[0];
      if (port.is_struct) {
        structs += fmt::format("/* The values of the port {}. */\nstruct {} {{\n", port.name,
                               port.type_name(spec.name));
        for (const shm::Field& field : port.fields.all()) {
          if (!field.is_padding())
            structs += fmt::format("  {} {}{};\n", c_type(field.type), field.name,
                                   field.is_array ? fmt::format("[{}]", field.count) : "");
        }
        structs += "};\n\n";
      }
      members += fmt::format("  takt_{}_port* {};\n", reads ? "in" : "out", port.name);
      create += fmt::format(
          "  if (status == TAKT_OK) status = takt_component_add_{0}_port(component, \"{1}\", \"{2}\", "
          "&me->{1});\n",
          reads ? "in" : "out", port.name, port.schema);
      const std::string array = !port.is_struct && first.is_array ? fmt::format("[{}]", first.count) : "";
      execute += fmt::format("  {{\n    {0} value{1};\n", c_value_type(port, spec.name), array);
      execute +=
          reads ? fmt::format(
                      "    if (takt_in_port_read(me->{}, &value, sizeof value, NULL) == TAKT_SAMPLE_NEW) {{\n"
                      "      /* use the value */\n    }}\n  }}\n",
                      port.name)
                : fmt::format(
                      "    memset(&value, 0, sizeof value);\n"
                      "    takt_out_port_write(me->{}, &value, sizeof value, cycle->time_ns);\n  }}\n",
                      port.name);
    }
  }
  for (const ParameterSpec& parameter : spec.parameters) {
    members += fmt::format("  takt_parameter* {};\n", parameter.name);
    const std::string initial = parameter.initial == "true"    ? "1"
                                : parameter.initial == "false" ? "0"
                                                               : parameter.initial;
    create += parameter.type == "bool"
                  ? fmt::format(
                        "  if (status == TAKT_OK) status = takt_component_add_boolean(component, \"{0}\", "
                        "{1}, \"\", &me->{0});\n",
                        parameter.name, initial)
                  : fmt::format(
                        "  if (status == TAKT_OK) status = takt_component_add_{2}(component, \"{0}\", {1}, "
                        "0, 0, \"\", \"\", &me->{0});\n",
                        parameter.name, initial, parameter.type);
  }
  return fmt::format(
      "/* {0}: {1} */\n#include <stdlib.h>\n#include <string.h>\n\n#include \"takt.h\"\n\n{2}"
      "struct {0} {{\n{3}  uint64_t cycles;\n}};\n\n"
      "/* Set-up: adds ports, services and parameters. */\nstatic int32_t create(takt_component* component, "
      "void** "
      "user) {{\n"
      "  struct {0}* me = calloc(1, sizeof *me);\n  int32_t status = TAKT_OK;\n"
      "  if (me == NULL) return TAKT_ERROR_CAPI_OUT_OF_MEMORY;\n  *user = me;\n  (void)component;\n{4}  "
      "return status;\n}}\n\n"
      "/* One cycle: real-time safe, so no heap, lock, file or wait. */\n"
      "static int32_t execute(void* user, const takt_cycle* cycle) {{\n  struct {0}* me = user;\n  "
      "(void)cycle;\n"
      "  ++me->cycles;\n{5}  return TAKT_OK;\n}}\n\n"
      "const takt_plugin* takt_plugin_v1(void);\n\n/* What `takt launch` asks for. */\nconst takt_plugin* "
      "takt_plugin_v1(void) {{\n"
      "  static takt_component_type type;\n  static const takt_component_type* types[] = {{&type}};\n"
      "  takt_component_type_init(&type, sizeof type);\n  type.type = \"{0}\";\n  type.version = \"0.1.0\";\n"
      "  type.vendor = \"{6}\";\n  type.category = \"{7}\";\n  type.description = \"{1}\";\n"
      "  type.create = create;\n  type.destroy = free;\n  type.on_execute = execute;\n"
      "  return takt_plugin_make(types, 1);\n}}\n",
      spec.name, spec.description, structs, members, create, execute, spec.vendor, spec.category);
}

// ---- files ----

std::string cmake_file(const Spec& spec, bool is_c) {
  return fmt::format(
      "cmake_minimum_required(VERSION 3.18)\nproject({0} LANGUAGES {1})\n\n"
      "find_package(takt {2} REQUIRED COMPONENTS {3})\n\n"
      "# The plug-in for `takt launch`: lib{0}.so beside system.json.\n"
      "{6}\n"
      "set_target_properties({0} PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${{CMAKE_CURRENT_SOURCE_DIR}})\n\n"
      "enable_testing()\nadd_executable({0}_test {0}_test.cpp)\n{5}"
      "add_test(NAME {0} COMMAND {0}_test $<TARGET_FILE:{0}>)\n",
      spec.name, is_c ? "C CXX" : "CXX", TAKT_VERSION, is_c ? "c" : "takt", is_c ? "c" : "cpp",
      is_c ? fmt::format(
                 "find_package(takt {0} REQUIRED COMPONENTS takt)\ntarget_link_libraries({1}_test PRIVATE "
                 "takt::takt)\n"
                 "set_target_properties({1}_test PROPERTIES CXX_STANDARD 20 CXX_STANDARD_REQUIRED ON)\n",
                 TAKT_VERSION, spec.name)
           : fmt::format(
                 "target_link_libraries({0}_test PRIVATE takt::takt)\n"
                 "set_target_properties({0} {0}_test PROPERTIES CXX_STANDARD 20 CXX_STANDARD_REQUIRED ON)\n",
                 spec.name),
      is_c ? fmt::format("add_library({0} MODULE {0}.c)\ntarget_link_libraries({0} PRIVATE takt::c)",
                         spec.name)
           : fmt::format("takt_add_plugin({0} {0}.cpp)", spec.name));
}

/// Loads the plug-in as `takt launch` does, and runs it for a second of simulated time.
std::string test_source(const Spec& spec) {
  std::string checks;
  for (const auto* ports : {&spec.in, &spec.out}) {
    for (const PortSpec& port : *ports)
      checks += fmt::format("  check((*made)->find_port(\"{0}\") != nullptr, \"it has the port {0}\");\n",
                            port.name);
  }
  for (const ParameterSpec& parameter : spec.parameters)
    checks += fmt::format(
        "  check((*made)->parameters().find(\"{0}\") != nullptr, \"it has the parameter {0}\");\n",
        parameter.name);
  return fmt::format(
      "// Loads the plug-in as `takt launch` does, and runs the component for a second of simulated time.\n"
      "#include <chrono>\n#include <cstdio>\n#include <cstdlib>\n#include <string>\n\n"
      "#include \"takt/app/component_library.hpp\"\n#include \"takt/component/drivers.hpp\"\n\nnamespace "
      "{{\n\n"
      "void check(bool is_true, const std::string& what) {{\n  std::printf(\"%s: %s\\n\", is_true ? \"ok\" : "
      "\"FAILED\", what.c_str());\n"
      "  if (!is_true) std::exit(1);\n}}\n\n}}  // namespace\n\nint main(int, char** arguments) {{\n"
      "  takt::app::ComponentLibrary library;\n  const auto loaded = library.load(arguments[1]);\n"
      "  check(loaded.has_value(), loaded ? \"the plug-in is loaded\" : loaded.error().message);\n"
      "  const auto made = library.make(\"{0}\", \"one\");\n  check(made.has_value(), \"it makes a "
      "component\");\n{1}"
      "  takt::component::ExecutionContext context;\n"
      "  check(context.add(**made).has_value(), \"it participates in a context\");\n"
      "  check(context.activate(**made).has_value(), \"it becomes active\");\n"
      "  takt::component::VirtualTime time;\n  check(time.add(context, "
      "std::chrono::milliseconds(1)).has_value(), \"time runs\");\n"
      "  time.run_until(takt::Time(std::chrono::seconds(1)));\n"
      "  check((*made)->state() == takt::component::ComponentState::active, \"it is active after 1000 "
      "cycles\");\n}}\n",
      spec.name, checks);
}

std::string readme(const Spec& spec) {
  std::string list;
  for (const PortSpec& port : spec.in)
    list += fmt::format("| {} | in-port | `{}` |\n", port.name, port.schema);
  for (const PortSpec& port : spec.out)
    list += fmt::format("| {} | out-port | `{}` |\n", port.name, port.schema);
  for (const ParameterSpec& one : spec.parameters)
    list += fmt::format("| {} | parameter | {}, initially {} |\n", one.name, one.type, one.initial);
  for (const auto& [name, interface_name] : spec.services)
    list += fmt::format("| {} | provided service | {} |\n", name, interface_name);
  for (const auto& [name, interface_name] : spec.consumers)
    list += fmt::format("| {} | required service | {} |\n", name, interface_name);
  return fmt::format(
      "# {0}\n\n{1}\n\n| name | kind | type |\n| --- | --- | --- |\n{2}\nBuild and test it:\n\n```sh\ncmake "
      "-B build && cmake --build build && ctest "
      "--test-dir build\n```\n\nRun it:\n\n```sh\ntakt launch system.json\n```\n",
      spec.name, spec.description, list);
}

std::string system_file(const Spec& spec) {
  return fmt::format(
      "{{\n  \"name\": \"{0}\",\n  \"libraries\": [\"lib{0}.so\"],\n  \"contexts\": [{{\"name\": \"main\", "
      "\"period_ms\": 1}}],\n"
      "  \"components\": [{{\"name\": \"one\", \"type\": \"{0}\", \"context\": \"main\"}}]\n}}\n",
      spec.name);
}

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
  write(folder / "CMakeLists.txt", cmake_file(spec, is_c));
  write(folder / "README.md", readme(spec));
  write(folder / "system.json", system_file(spec));
  write(folder / (spec.name + "_test.cpp"), test_source(spec));
  if (is_c) {
    write(folder / (spec.name + ".c"), c_source(spec));
  } else {
    write(folder / (spec.name + ".hpp"), cpp_header(spec));
    write(folder / (spec.name + ".cpp"),
          fmt::format("#include \"{0}.hpp\"\n\n#include \"takt/component/plugin.hpp\"\n\nTAKT_PLUGIN({0})\n",
                      spec.name));
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
