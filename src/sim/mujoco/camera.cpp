#include "takt/sim/mujoco_camera.hpp"

#include "takt/sim/error.hpp"

#ifdef TAKT_WITH_PICTURES
#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <mujoco/mujoco.h>
#include <png.h>

#include <algorithm>
#include <cstring>
#include <utility>
#endif

namespace takt::sim {

#ifdef TAKT_WITH_PICTURES
namespace {

/// A context of OpenGL without a screen.
class OffScreen {
 public:
  OffScreen() = default;
  OffScreen(const OffScreen&) = delete;
  OffScreen& operator=(const OffScreen&) = delete;
  ~OffScreen() {
    if (display_ == EGL_NO_DISPLAY) return;
    eglMakeCurrent(display_, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
    if (context_ != EGL_NO_CONTEXT) eglDestroyContext(display_, context_);
    eglTerminate(display_);
  }

  [[nodiscard]] bool open() {
    const auto get_display =
        reinterpret_cast<PFNEGLGETPLATFORMDISPLAYEXTPROC>(eglGetProcAddress("eglGetPlatformDisplayEXT"));
    if (get_display == nullptr) return false;
    display_ = get_display(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, nullptr);
    if (display_ == EGL_NO_DISPLAY || eglInitialize(display_, nullptr, nullptr) == EGL_FALSE) return false;
    const EGLint wanted[] = {
        EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT, EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_DEPTH_SIZE, 24, EGL_NONE};
    EGLConfig config = nullptr;
    EGLint count = 0;
    if (eglBindAPI(EGL_OPENGL_API) == EGL_FALSE) return false;
    if (eglChooseConfig(display_, wanted, &config, 1, &count) == EGL_FALSE || count == 0) return false;
    context_ = eglCreateContext(display_, config, EGL_NO_CONTEXT, nullptr);
    return context_ != EGL_NO_CONTEXT &&
           eglMakeCurrent(display_, EGL_NO_SURFACE, EGL_NO_SURFACE, context_) == EGL_TRUE;
  }

 private:
  EGLDisplay display_ = EGL_NO_DISPLAY;
  EGLContext context_ = EGL_NO_CONTEXT;
};

class OffScreenCamera final : public MujocoCamera {
 public:
  explicit OffScreenCamera(MujocoPhysics& physics) : physics_(&physics) {
    mjv_defaultScene(&scene_);
    mjv_defaultOption(&shown_);
    mjv_defaultCamera(&view_);
    mjr_defaultContext(&context_);
  }
  ~OffScreenCamera() override {
    if (!is_open_) return;
    mjr_freeContext(&context_);
    mjv_freeScene(&scene_);
  }

  SetupResult<void> open(const MujocoCameraOptions& options) {
    const mjModel& model = physics_->model();
    if (options.width < 1 || options.height < 1 || options.width > model.vis.global.offwidth ||
        options.height > model.vis.global.offheight) {
      return fail(Errc::no_pictures, "pictures of " + std::to_string(options.width) + " x " +
                                         std::to_string(options.height) + " pixels; the model allows " +
                                         std::to_string(model.vis.global.offwidth) + " x " +
                                         std::to_string(model.vis.global.offheight));
    }
    if (auto chosen = choose(options.camera); !chosen) return chosen;
    if (!screen_.open()) return fail(Errc::no_pictures, "EGL gives no context without a screen");
    mjv_makeScene(&model, &scene_, 2000);
    mjr_makeContext(&model, &context_, mjFONTSCALE_100);
    mjr_setBuffer(mjFB_OFFSCREEN, &context_);
    is_open_ = true;
    size_ = {0, 0, options.width, options.height};
    return {};
  }

  std::vector<std::uint8_t> picture() override {
    mjv_updateScene(&physics_->model(), &physics_->data(), &shown_, nullptr, &view_, mjCAT_ALL, &scene_);
    mjr_render(size_, &scene_, &context_);
    const auto row = static_cast<std::size_t>(size_.width) * 3;
    std::vector<std::uint8_t> upside_down(row * static_cast<std::size_t>(size_.height));
    mjr_readPixels(upside_down.data(), nullptr, size_, &context_);
    std::vector<std::uint8_t> pixels(upside_down.size());
    for (std::size_t at = 0; at < pixels.size(); at += row)
      std::memcpy(pixels.data() + at, upside_down.data() + pixels.size() - row - at, row);
    return pixels;
  }

  SetupResult<void> save(const std::string& path) override {
    const std::vector<std::uint8_t> pixels = picture();
    png_image image{};
    image.version = PNG_IMAGE_VERSION;
    image.width = static_cast<png_uint_32>(size_.width);
    image.height = static_cast<png_uint_32>(size_.height);
    image.format = PNG_FORMAT_RGB;
    if (png_image_write_to_file(&image, path.c_str(), 0, pixels.data(), 0, nullptr) != 0) return {};
    return fail(Errc::no_pictures, path + ": " + image.message);
  }

 private:
  SetupResult<void> choose(const std::string& name) {
    const mjModel& model = physics_->model();
    if (name.empty() && model.ncam == 0) {
      mjv_defaultFreeCamera(&model, &view_);
      return {};
    }
    view_.type = mjCAMERA_FIXED;
    view_.fixedcamid = name.empty() ? 0 : mj_name2id(&model, mjOBJ_CAMERA, name.c_str());
    if (view_.fixedcamid >= 0) return {};
    return fail(Errc::no_pictures, "the model has no camera " + name);
  }

  MujocoPhysics* physics_;
  OffScreen screen_;
  bool is_open_ = false;
  mjrRect size_{};
  mjvScene scene_{};
  mjvOption shown_{};
  mjvCamera view_{};
  mjrContext context_{};
};

}  // namespace

SetupResult<std::unique_ptr<MujocoCamera>> MujocoCamera::create(MujocoPhysics& physics,
                                                                const MujocoCameraOptions& options) {
  auto made = std::make_unique<OffScreenCamera>(physics);
  if (auto opened = made->open(options); !opened) return tl::unexpected(std::move(opened.error()));
  return made;
}

#else

SetupResult<std::unique_ptr<MujocoCamera>> MujocoCamera::create(MujocoPhysics&, const MujocoCameraOptions&) {
  return fail(Errc::no_pictures, "takt was built without EGL, OpenGL or libpng");
}

#endif

}  // namespace takt::sim
