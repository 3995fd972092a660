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

  /// Reads up to the end of a line, and waits for no more: a pipe may bring the next line much later. Returns
  /// empty text at the end of the file.
  std::string_view read() noexcept {
    std::size_t size = 0;
    for (int letter = 0; size < chunk.size() && letter != '\n'; ++size) {
      letter = std::getc(file.get());
      if (letter == EOF) break;
      chunk[size] = static_cast<char>(letter);
    }
    return {chunk.data(), size};
  }

  File file;
  std::array<char, 512> chunk{};
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
    state.unread = state.read();
    if (!state.unread.empty()) continue;
    state.at_end = true;
    if (std::ferror(state.file.get()) != 0) state.status = fail(Errc::file_failed);
    return state.reader.finish();
  }
  return std::nullopt;
}

LogFormat LogFile::format() const noexcept { return state_->reader.format(); }

asc::PassedOver LogFile::passed_over() const noexcept { return state_->reader.passed_over(); }

const Status& LogFile::status() const noexcept { return state_->status; }

}  // namespace takt::can::candump
