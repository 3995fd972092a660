// Fuzzes system files and the commands to a running system with any bytes. A file is a description whose
// references hold, or a list of mistakes that is not empty. A command has an answer in JSON, and the
// component keeps the rules of its parameters.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "takt/app/system.hpp"
#include "takt/component/port.hpp"

namespace {

using takt::component::Component;

/// Has one of all that a command can reach.
struct Target final : Component {
  static constexpr takt::component::ComponentMetadata about{.type = "Target",
                                                            .version = "1.0.0",
                                                            .vendor = "takt",
                                                            .category = "test",
                                                            .description = "Is commanded."};
  explicit Target(const char* name) : Component(about, name) {}

  takt::component::InPort<double> in{*this, "in"};
  takt::component::OutPort<double> out{*this, "out"};
  takt::component::Parameter<double> gain{*this, "gain", {.initial = 1, .minimum = 0, .maximum = 2}};
  takt::component::Parameter<std::int64_t> window{
      *this, "window", {.initial = 2, .minimum = 2, .maximum = 8, .step = 2}};
};

/// A system that is not started: its contexts answer at once.
struct Bench {
  Bench() {
    static_cast<void>(library.add(takt::component::component_type<Target>()));
    auto description = takt::app::system_from_json(
        R"({"name": "fuzz", "contexts": [{"name": "a", "period_ms": 1}, {"name": "b", "period_ms": 2}],
            "components": [{"name": "x", "type": "Target", "context": "a", "sets": {"low": {"gain": 0}}},
                           {"name": "y", "type": "Target", "context": "b"}]})");
    if (!description) std::abort();
    auto made = takt::app::ComponentSystem::create(*description, library);
    if (!made) std::abort();
    system = std::move(*made);
    if (!system->run_virtual(std::chrono::milliseconds(2))) std::abort();
  }

  takt::app::ComponentLibrary library;
  std::unique_ptr<takt::app::ComponentSystem> system;
};

void check_file(std::string_view text) {
  const auto system = takt::app::system_from_json(text);
  if (!system) {
    if (system.error().message.empty()) std::abort();
    return;
  }
  if (system->contexts.empty() || system->processes.empty()) std::abort();
  for (const auto& component : system->components) {
    if (system->process_of(component.name).empty()) std::abort();
    if (component.placement.phase >= component.placement.divisor) std::abort();
  }
  for (const auto& context : system->contexts) {
    if (context.period < takt::Duration(0) || context.silence <= takt::Duration(0)) std::abort();
  }
}

void check_command(std::string_view line) {
  static Bench bench;
  const auto answer = nlohmann::json::parse(bench.system->command(line, "fuzz"), nullptr, false);
  if (!answer.is_object() || !answer.contains("ok") || !answer["ok"].is_boolean()) std::abort();
  for (const char* name : {"x", "y"}) {
    const auto* component = dynamic_cast<const Target*>(bench.system->find(name));
    if (component == nullptr) continue;  // a command has replaced it by another type
    const Target& target = *component;
    if (!(*target.gain >= 0 && *target.gain <= 2)) std::abort();
    if (*target.window < 2 || *target.window > 8 || *target.window % 2 != 0) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): bytes as text
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (size < 512 && text.find('\n') == std::string_view::npos) check_command(text);
  check_file(text);
  return 0;
}
