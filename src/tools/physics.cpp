#include "tools/physics.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <utility>

#include "takt/motion/loop.hpp"
#include "takt/platform/steady_clock.hpp"
#include "takt/sim/error.hpp"
#include "takt/sim/paced_physics.hpp"

#ifdef TAKT_WITH_MUJOCO
#include "takt/sim/mujoco_camera.hpp"
#include "takt/sim/mujoco_physics.hpp"
#endif

namespace takt::tools {

#ifdef TAKT_WITH_MUJOCO
namespace {

/// Takes a picture whenever one is due. In virtual time, where it delays nothing.
class Photographer final : public motion::LoopObserver {
 public:
  Photographer(std::unique_ptr<sim::MujocoCamera> camera, std::string folder, double rate)
      : camera_(std::move(camera)), folder_(std::move(folder)), period_(from_seconds(1 / rate)) {}

  void before_cycle(Time) noexcept override {}
  void on_event(const motion::Event&) noexcept override {}
  void after_cycle(const motion::Snapshot& snapshot) noexcept override {
    if (snapshot.time < next_ || !failure_.empty()) return;
    next_ = std::max(next_, snapshot.time) + period_;
    const auto path = std::filesystem::path(folder_) / fmt::format("{:05}.png", taken_);
    if (auto saved = camera_->save(path.string())) {
      ++taken_;
    } else {
      failure_ = saved.error().message;
    }
  }
  [[nodiscard]] std::string summary() const {
    if (!failure_.empty()) return fmt::format("no more pictures: {}\n", failure_);
    return fmt::format("{} pictures in {}\n", taken_, folder_);
  }

 private:
  std::unique_ptr<sim::MujocoCamera> camera_;
  std::string folder_;
  Duration period_;
  Time next_{};
  std::size_t taken_ = 0;
  std::string failure_;
};

class MujocoRun final : public Physics {
 public:
  MujocoRun(std::unique_ptr<sim::MujocoPhysics> physics, std::string model)
      : physics_(std::move(physics)), model_(std::move(model)) {}

  SetupResult<void> take_pictures(const PhysicsOptions& options) {
    std::error_code failure;
    std::filesystem::create_directories(options.pictures, failure);
    if (failure) return fail(sim::Errc::no_pictures, options.pictures + ": " + failure.message());
    auto camera = sim::MujocoCamera::create(*physics_, {.camera = options.camera});
    if (!camera) return tl::unexpected(std::move(camera.error()));
    photographer_.emplace(std::move(*camera), options.pictures, options.picture_rate);
    return {};
  }
  std::string warnings() const override {
    std::string text;
    for (const std::string& warning : physics_->warnings()) text += fmt::format("takt run: {}\n", warning);
    return text;
  }
  void add_in_wall_time(app::RobotOptions& options, const robot::RobotDescription& robot) override {
    add_to(options);
    // A loop in time is up to a period behind, and another one late.
    const Duration allowed = robot.period * (Duration::rep{robot.overrun_limit} + 2);
    options.devices.physics = &paced_.emplace(*physics_, clock_, allowed);
  }
  std::string next_complaint() override {
    const auto lag = paced_ ? paced_->next_lag() : std::nullopt;
    if (!lag || clock_.now() < next_complaint_) return {};
    next_complaint_ = clock_.now() + std::chrono::seconds(10);
    return fmt::format(
        "takt run: the physics are {:.2g} s behind the clock: a second of the robot takes them {:.2g} s. Use "
        "--virtual-time or a computer with less other work, or make {} cheaper: a longer timestep, fewer "
        "contacts, another integrator\n",
        to_seconds(lag->behind), lag->cost, model_);
  }
  void add_to(app::RobotOptions& options) override {
    options.devices.simulate = true;
    options.devices.physics = physics_.get();
    options.further_devices.push_back(&physics_->sensors());
  }
  void watch(app::Robot& robot) override {
    if (photographer_) robot.add_observer(*photographer_);
  }
  std::string summary() const override { return photographer_ ? photographer_->summary() : std::string(); }

 private:
  std::unique_ptr<sim::MujocoPhysics> physics_;
  std::string model_;  ///< its file
  platform::SteadyClock clock_;
  std::optional<sim::PacedPhysics<platform::SteadyClock>> paced_;  ///< in wall time
  Time next_complaint_{};
  std::optional<Photographer> photographer_;
};

/// The model beside a robot's file. Error: bad_physics, with the robots in its folder that have one.
SetupResult<std::string> model_beside(const std::string& robot_file) {
  namespace fs = std::filesystem;
  const auto model_of = [](fs::path file) { return file.replace_extension(".xml"); };
  std::error_code unknown;
  const fs::path model = model_of(robot_file);
  if (fs::exists(model, unknown)) return model.string();
  std::set<std::string> others;
  for (const fs::directory_entry& entry :
       fs::directory_iterator(fs::absolute(model).parent_path(), unknown)) {
    if (entry.path().extension() == ".json" && fs::exists(model_of(entry.path()), unknown))
      others.insert(entry.path().stem().string());
  }
  return fail(
      sim::Errc::bad_physics,
      fmt::format("--physics: there is no {} beside the robot. Robots there that have a model: {}. Or name "
                  "an MJCF file by --model",
                  model.string(), others.empty() ? "none" : fmt::to_string(fmt::join(others, ", "))));
}

}  // namespace

SetupResult<std::unique_ptr<Physics>> Physics::create(const robot::RobotDescription& robot,
                                                      const std::string& robot_file,
                                                      const PhysicsOptions& options) {
  if (options.engine.empty()) return nullptr;
  std::string model = options.model;
  if (model.empty()) {
    auto found = model_beside(robot_file);
    if (!found) return tl::unexpected(std::move(found.error()));
    model = std::move(*found);
  }
  auto physics = sim::MujocoPhysics::load(model, robot);
  if (!physics) return tl::unexpected(std::move(physics.error()));
  auto made = std::make_unique<MujocoRun>(std::move(*physics), model);
  if (!options.pictures.empty()) {
    if (auto taken = made->take_pictures(options); !taken) return tl::unexpected(std::move(taken.error()));
  }
  return made;
}

#else

SetupResult<std::unique_ptr<Physics>> Physics::create(const robot::RobotDescription&, const std::string&,
                                                      const PhysicsOptions& options) {
  if (options.engine.empty()) return nullptr;
  return fail(sim::Errc::bad_physics, "--physics: this takt was built without MuJoCo (libmujoco-dev)");
}

#endif

void add_physics_options(CLI::App& command, PhysicsOptions& options, CLI::Option& virtual_time) {
  CLI::Option* physics =
      command.add_option("--physics", options.engine, "Simulated drives move the joints of a model: mujoco")
          ->check(CLI::IsMember({"mujoco"}));
  command
      .add_option("--model", options.model,
                  "Model of the physics (MJCF); by default the robot's file with the ending .xml")
      ->needs(physics);
  CLI::Option* pictures = command
                              .add_option("--pictures", options.pictures,
                                          "Folder for pictures of the physics: 00000.png and so on")
                              ->needs(physics)
                              ->needs(&virtual_time);
  command.add_option("--picture-rate", options.picture_rate, "Pictures per second of the robot's time")
      ->check(CLI::Range(0.01, 1000.0))
      ->capture_default_str()
      ->needs(pictures);
  command.add_option("--camera", options.camera, "Camera of the model; by default its first one")
      ->needs(pictures);
}

}  // namespace takt::tools
