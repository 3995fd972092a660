// The robots of a system: the contexts of the kind "robot".
#include <chrono>
#include <string>
#include <thread>
#include <utility>

#include "app/system_parts.hpp"
#include "takt/drives/registry.hpp"

namespace takt::app {

SetupResult<void> ComponentSystem::Parts::make_robot(RobotRunner& runner) const {
  const RobotContext& wanted = *runner.description.robot;
  if (!options.opens_robots) {
    const auto checked = drives::load_robot_file(wanted.file);
    if (checked) return {};
    return fail(component::Errc::bad_system, robot::lines_of(wanted.file, checked.error()));
  }
  RobotOptions how;
  how.devices.simulate = wanted.simulate;
  how.port = wanted.port;
  if (!wanted.recording.empty()) how.recording = free_path(wanted.recording);
  how.recorder.compression = options.compression;
  how.libraries = description.libraries;
  how.folders = options.folders;
  how.thread = runner.description.thread;
  auto made = Robot::from_file(wanted.file, std::move(how));
  if (!made) return tl::unexpected<SetupError>(std::move(made.error()));
  runner.robot = std::move(*made);
  return {};
}

void ComponentSystem::Parts::start_robots() {
  for (const auto& owned : robots) {
    RobotRunner& runner = *owned;
    if (!runner.robot->place().empty()) report(runner.description.name + ": " + runner.robot->place());
    runner.thread = std::thread([this, &runner] {
      if (const auto ran = runner.robot->run(); !ran) tell(runner, ran.error().message, false);
      runner.ended = true;
    });
  }
}

/// A robot that moves needs time for its controlled stop.
bool ComponentSystem::Parts::stop_robots(Duration patience) {
  constexpr Duration longest_stop = std::chrono::seconds(70);  // of a vehicle that may brake for a minute
  const auto deadline = std::chrono::steady_clock::now() + patience + longest_stop;
  for (const auto& runner : robots) {
    if (runner->thread.joinable()) runner->robot->shut_down();
  }
  bool whole = true;
  for (const auto& runner : robots) {
    if (!runner->thread.joinable()) continue;
    while (!runner->ended && std::chrono::steady_clock::now() < deadline)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    whole = whole && runner->ended;
    if (!runner->ended) continue;
    runner->thread.join();
    look_at(*runner);
    if (const auto totals = runner->robot->finish(); !totals)
      report(runner->description.name + ": " + totals.error().message);
  }
  return whole;
}

void ComponentSystem::Parts::look_at(RobotRunner& runner) {
  using robot::RobotState;
  while (const auto line = runner.robot->next_report()) {
    if (line->state) {
      tell(runner, line->text, *line->state == RobotState::starting || *line->state == RobotState::ready);
    } else {
      report(runner.description.name + ": " + line->text);
    }
  }
}

void ComponentSystem::Parts::tell(RobotRunner& runner, const std::string& state, bool is_well) {
  report(runner.description.name + ": " + state);
  const std::scoped_lock lock(report_mutex);
  runner.state = state;
  runner.is_well = is_well;
}

}  // namespace takt::app
