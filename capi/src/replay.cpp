// Replays of the C API.
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "boundary.hpp"
#include "compression.hpp"
#include "takt/app/replay.hpp"
#include "takt/drives/registry.hpp"
#include "takt/record.h"
#include "texts.hpp"

namespace app = takt::app;
namespace record = takt::record;
using takt::fail;
using takt::Result;
using takt::SetupResult;
using takt::Status;
using takt::capi::check_size;
using takt::capi::Errc;
using takt::capi::guarded;
using takt::capi::read_texts;
using takt::capi::refuse;
using takt::capi::text_or_nothing;
using takt::capi::write_struct;
using takt::capi::write_text;

namespace {

[[nodiscard]] SetupResult<takt::robot::RobotDescription> load_robot(const std::string& path) {
  auto loaded = takt::drives::load_robot_file(path);
  if (loaded) return *std::move(loaded);
  return fail(app::Errc::bad_description, takt::robot::lines_of(path, loaded.error()));
}

[[nodiscard]] Result<app::ReplayOptions> read_options(const takt_replay_options& from) {
  if (!(from.speed >= 0) || (from.overwrite != 0 && from.overwrite != 1)) return fail(Errc::bad_argument);
  const auto libraries = read_texts(from.libraries, from.library_count);
  if (!libraries) return fail(libraries.error());
  app::ReplayOptions made;
  made.speed = from.speed;
  made.options.libraries = *libraries;
  if (from.folder != nullptr) made.options.folders.emplace_back(from.folder);
  made.options.recording = text_or_nothing(from.recording);
  made.options.overwrite = from.overwrite == 1;
  made.options.recorder.compression = takt::capi::recording_compression();
  return made;
}

[[nodiscard]] takt_replay_result to_c(const app::ReplayResult& result) {
  takt_replay_result made{};
  made.ended_early = result.ended_early.empty() ? 0 : 1;
  made.cycles = result.cycles;
  made.differing = result.differing;
  made.left_out = result.left_out;
  if (result.difference) {
    made.cycle = result.difference->cycle;
    made.time_ns = result.difference->time.time_since_epoch().count();
    made.value = result.difference->value;
    made.expected = result.difference->expected;
  }
  return made;
}

/// The first difference, and why the rest was not replayed.
[[nodiscard]] std::string explain(const app::ReplayResult& result) {
  std::string text = result.difference ? result.difference->text() : std::string();
  if (!text.empty() && !result.ended_early.empty()) text += '\n';
  return text + result.ended_early;
}

}  // namespace

void takt_replay_options_init(takt_replay_options* options, std::size_t size) {
  takt::capi::init_struct(options, size);
}

void takt_replay_result_init(takt_replay_result* result, std::size_t size) {
  takt::capi::init_struct(result, size);
}

std::int32_t takt_replay(const char* path, const takt_replay_options* options, takt_replay_result* result,
                         char* text, std::size_t size) {
  return guarded(text, size, [&]() -> Status {
    if (path == nullptr) return fail(Errc::null_pointer);
    if (Status status = check_size(result); !status) return status;
    const auto chosen = takt::capi::read_optional(options);
    if (!chosen) return fail(chosen.error());
    auto replaying = read_options(*chosen);
    if (!replaying) return fail(replaying.error());
    auto paths = read_texts(chosen->files, chosen->file_count);
    if (!paths) return fail(paths.error());
    paths->insert(paths->begin(), path);
    if (chosen->robot != nullptr) {
      auto robot = load_robot(chosen->robot);
      if (!robot) return refuse(robot.error(), text, size);
      replaying->robot = *std::move(robot);
    }
    auto recording = record::Reader::open_rotated(*paths, takt::capi::reader_options());
    if (!recording) return refuse(recording.error(), text, size);
    const auto replayed = app::replay(*recording, *std::move(replaying));
    if (!replayed) return refuse(replayed.error(), text, size);
    write_text(explain(*replayed), text, size);
    write_struct(result, to_c(*replayed));
    return {};
  });
}
