#include "takt/can/candump_file.hpp"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <string_view>
#include <system_error>
#include <utility>

namespace takt::can::candump {

struct LogFile::State {
  using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;
  explicit State(File opened) : file(std::move(opened)) {}

  File file;
  std::array<char, 1 << 16> chunk{};
  std::string_view unread;  ///< rest of the chunk
  LogReader reader;
  bool at_end = false;
  Status status;
};

LogFile::LogFile(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}
LogFile::LogFile(LogFile&& other) noexcept = default;
LogFile& LogFile::operator=(LogFile&& other) noexcept = default;
LogFile::~LogFile() = default;

SetupResult<LogFile> LogFile::open(const std::string& path) {
  const auto leave_open = [](std::FILE*) { return 0; };
  State::File file = path == "-" ? State::File(stdin, leave_open)
                                 : State::File(std::fopen(path.c_str(), "rbe"), std::fclose);
  if (!file) {
    return fail(Errc::file_failed,
                fmt::format("{}: {}", path, std::error_code(errno, std::generic_category()).message()));
  }
  return LogFile(std::make_unique<State>(std::move(file)));
}

std::optional<LineResult<LogEntry>> LogFile::next() noexcept {
  State& state = *state_;
  while (!state.at_end) {
    if (const auto line = state.reader.next(state.unread)) return line;
    const std::size_t size = std::fread(state.chunk.data(), 1, state.chunk.size(), state.file.get());
    state.unread = std::string_view(state.chunk.data(), size);
    if (size > 0) continue;
    state.at_end = true;
    if (std::ferror(state.file.get()) != 0) state.status = fail(Errc::file_failed);
    return state.reader.finish();
  }
  return std::nullopt;
}

const Status& LogFile::status() const noexcept { return state_->status; }

}  // namespace takt::can::candump
