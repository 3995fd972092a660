// The files of a running system: each process plays components, records its out-ports, and logs.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "app/system_parts.hpp"
#include "takt/describe.hpp"
#include "takt/platform/steady_clock.hpp"
#include "takt/version.hpp"

namespace takt::app {

SetupResult<ComponentPointer> ComponentSystem::Parts::make_component(const ComponentDescription& wanted) {
  if (wanted.recording.empty()) return library->make(wanted.type, wanted.name);
  auto player = PortPlayer::open(wanted.name, wanted.recording, options.compression);
  if (!player) return tl::unexpected<SetupError>(std::move(player.error()));
  players.push_back(std::move(*player));
  return ComponentPointer(players.back());
}

void ComponentSystem::Parts::make_recorders(const Note& note) {
  for (std::size_t i = 0; i < description.processes.size(); ++i) {
    const ProcessDescription& process = description.processes[i];
    const bool is_here = options.process.empty() || options.process == process.name;
    if (is_here && !process.recording.empty()) make_recorder(i, fmt::format("/processes/{}/record", i), note);
  }
}

void ComponentSystem::Parts::make_recorder(std::size_t index, const std::string& where, const Note& note) {
  const ProcessDescription& process = description.processes[index];
  for (std::size_t i = 0; i < process.recorded.size(); ++i) {
    const std::string at = fmt::format("{}/ports/{}", where, i);
    const std::string of = description.process_of(split_name(process.recorded[i]).first);
    if (!of.empty() && of != process.name)
      note(at, fmt::format("{} is in the process {}, which records it", process.recorded[i], of));
    else if (const auto port = find_port<component::OutPortBase>(process.recorded[i]);
             !port && !is_elsewhere(process.recorded[i]))
      note(at, port.error().message);
  }
  const std::string name = recorder_name(index);
  if (find(name) != nullptr || find_context(name) != nullptr)
    return note(where, fmt::format("\"{}\" is the name of the recorder: choose another one", name));
  ContextDescription context;
  context.name = name;
  context.process = process.name;
  context.period = PortRecorder::period;
  runners.push_back(std::make_unique<Runner>(context));
  Recording& recording = recordings.emplace_back();
  recording.process = &process;
  recording.part.name = recording.part.context = name;
  recording.recorder = std::make_shared<PortRecorder>(name);
  // The first to begin and the last to end.
  components.insert(components.begin(), {&recording.part, recording.recorder});
}

SetupResult<void> ComponentSystem::Parts::open(const Recording& recording) {
  std::vector<std::string> names = recording.process->recorded;
  for (const Part& part : components) {
    if (!recording.process->recorded.empty()) break;
    if (description.process_of(part.component->name()) != recording.process->name) continue;
    for (const component::Port* port : part.component->ports()) {
      if (dynamic_cast<const component::OutPortBase*>(port) != nullptr)
        names.push_back(part.component->name() + "." + port->name());
    }
  }
  for (const std::string& name : names) {
    const auto port = find_port<component::OutPortBase>(name);
    if (!port) return tl::unexpected<SetupError>(port.error());
    if (auto added = recording.recorder->add(name, **port); !added) return added;
  }
  return recording.recorder->open(recording.process->recording, metadata_of(*recording.process),
                                  options.compression, is_virtual);
}

std::string ComponentSystem::Parts::title_of(std::string_view process) const {
  return description.processes.size() > 1 && !process.empty()
             ? fmt::format("{}@{}", description.name, process)
             : description.name;
}

Time ComponentSystem::Parts::now() const noexcept {
  return is_virtual ? virtual_now : platform::SteadyClock().now();
}

Duration ComponentSystem::Parts::epoch() const {
  if (is_virtual) return {};
  using std::chrono::system_clock;
  const auto unix_time = std::chrono::duration_cast<Duration>(system_clock::now().time_since_epoch());
  return unix_time - now().time_since_epoch();
}

record::Metadata ComponentSystem::Parts::metadata_of(const ProcessDescription& process) const {
  record::Metadata metadata;
  metadata.robot = title_of(process.name);
  metadata.period = PortRecorder::period;
  for (const ContextDescription& context : description.contexts) {
    if (context.process == process.name && context.period > Duration(0))
      metadata.period = std::min(metadata.period, context.period);
  }
  metadata.takt_version = TAKT_VERSION;
  metadata.epoch = epoch();
  return metadata;
}

void ComponentSystem::Parts::finish_files() {
  for (const auto& player : players) {
    if (std::string text = player->finish(); !text.empty()) report(std::move(text));
  }
  for (const Recording& recording : recordings) {
    const auto finished = recording.recorder->finish();
    if (!finished || !finished->empty()) report(finished ? *finished : finished.error().message);
  }
  if (!log) return;
  if (const auto finished = log->finish(now()); !finished) report(finished.error().message);
}

// ---- the log ----

SetupResult<void> ComponentSystem::Parts::open_log() {
  record::LogOptions how{
      title_of(options.process), {}, epoch(), [](Error error) noexcept { return describe(error); }};
  for (const ProcessDescription& process : description.processes) {
    const bool is_here = options.process.empty() || options.process == process.name;
    if (is_here && !process.log.empty() && std::ranges::find(how.files, process.log) == how.files.end())
      how.files.push_back(process.log);
  }
  if (how.files.empty()) return {};
  log.emplace(std::move(how));
  for (const auto& runner : runners) {
    runner->context.set_logger(&runner->logger);
    log->add(runner->logger);
  }
  for (const Part& part : components) {
    auto* composite = dynamic_cast<component::Composite*>(part.component.get());
    const ContextDescription* context = description.context_of(part.component->name());
    if (composite == nullptr || context == nullptr) continue;
    // A composite runs in the thread of its context.
    if (component::ExecutionContext* outer = find_context(context->name))
      composite->inner().set_logger(outer->logger());
  }
  if (auto opened = log->open(now()); !opened) return opened;
  if (!is_virtual) log->start();
  return {};
}

}  // namespace takt::app
