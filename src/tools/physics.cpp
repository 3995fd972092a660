#include "tools/physics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "takt/motion/loop.hpp"
#include "takt/sim/error.hpp"

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
  explicit MujocoRun(std::unique_ptr<sim::MujocoPhysics> physics) : physics_(std::move(physics)) {}

  SetupResult<void> take_pictures(const PhysicsOptions& options) {
    std::error_code failure;
    std::filesystem::create_directories(options.pictures, failure);
    if (failure) return fail(sim::Errc::no_pictures, options.pictures + ": " + failure.message());
    auto camera = sim::MujocoCamera::create(*physics_, {.camera = options.camera});
    if (!camera) return tl::unexpected(std::move(camera.error()));
    photographer_.emplace(std::move(*camera), options.pictures, options.picture_rate);
    return {};
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
  std::optional<Photographer> photographer_;
};

}  // namespace

SetupResult<std::unique_ptr<Physics>> Physics::create(const robot::RobotDescription& robot,
                                                      const std::string& robot_file,
                                                      const PhysicsOptions& options) {
  if (options.engine.empty()) return nullptr;
  const std::string model = options.model.empty()
                                ? std::filesystem::path(robot_file).replace_extension(".xml").string()
                                : options.model;
  auto physics = sim::MujocoPhysics::load(model, robot);
  if (!physics) return tl::unexpected(std::move(physics.error()));
  auto made = std::make_unique<MujocoRun>(std::move(*physics));
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
