#include "app/slcan_line.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "takt/can/slcan.hpp"

namespace takt::app {
namespace {

using namespace std::chrono_literals;
namespace slcan = can::slcan;

/// Timeout of an adapter's answer: many times the delay of USB and firmware.
constexpr Duration answer_timeout = 2s;
/// After this silence an adapter has sent everything; FTDI's chips hold bytes for 16 ms.
constexpr Duration quiet = 50ms;
/// An adapter with a closed channel is silent by then.
constexpr Duration noise_patience = 500ms;
/// Timeout of the answer to a command of an adapter that confirmed none. Some firmwares confirm nothing, so
/// no answer is then no error.
constexpr Duration command_patience = 500ms;

std::span<const std::uint8_t> bytes_of(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

/// An adapter's answer to a command.
enum class Answer { none, confirmed, refused };

/// Sends commands to an adapter and receives its answers. Reads byte by byte, so that no byte of a frame
/// behind an answer is lost. Waits in short spans, because a pause of this computer is no silence of the
/// line.
class Conversation {
 public:
  explicit Conversation(platform::SerialLine& line) noexcept : line_(line) {}

  bool say(std::string_view commands) noexcept { return line_.write(bytes_of(commands)) == commands.size(); }

  /// Waits for one answer: a BEL, or any line of printable text. CANables confirm nothing, and answer V with
  /// the name of their firmware.
  Answer answer(Duration limit) {
    bool is_text = true;
    for (Duration waited{0}; waited < limit && line_.status();) {
      const auto byte = next_byte(waited);
      if (!byte) continue;
      if (*byte == slcan::refusal) return Answer::refused;
      if (*byte == slcan::end_of_line) {
        if (std::exchange(is_text, true)) return Answer::confirmed;
      } else if (*byte != '\n') {
        is_text = is_text && (*byte == '\t' || (*byte >= ' ' && *byte <= '~'));
      }
    }
    return Answer::none;
  }

  /// Skips what arrives until the line is quiet. Returns false if it does not become quiet.
  bool becomes_quiet() {
    std::uint8_t before = 0;
    Duration waited{0};
    for (Duration heard{0}; waited - heard < quiet && line_.status();) {
      const auto came = next_byte(waited);
      if (!came) continue;
      heard = waited;
      confirms_ |= *came == slcan::refusal || (*came == slcan::end_of_line && before == slcan::end_of_line);
      before = *came;
      if (waited >= noise_patience) return false;
    }
    return true;
  }
  /// Whether becomes_quiet() skipped an answer to a command.
  [[nodiscard]] bool confirms() const noexcept { return confirms_; }

 private:
  static constexpr std::chrono::milliseconds span{5};

  /// Waits for a byte, for one span. The wait counts for no more than that, also if this computer pauses.
  std::optional<std::uint8_t> next_byte(Duration& waited) noexcept {
    const Time begin = clock_.now();
    std::uint8_t byte = 0;
    bool came = line_.read({&byte, 1}) == 1;
    if (!came) {
      pollfd entry{line_.descriptor(), POLLIN, 0};
      ::poll(&entry, 1, static_cast<int>(span.count()));
      came = line_.read({&byte, 1}) == 1;
    }
    waited += std::min<Duration>(clock_.now() - begin, span);
    return came ? std::optional(byte) : std::nullopt;
  }

  platform::SerialLine& line_;
  platform::SteadyClock clock_;
  bool confirms_ = false;
};

/// Closes the adapter's channel and asks for its version. Returns whether an adapter answered, or may be one
/// of those that never answer. With its channel closed, an adapter sends nothing unasked.
bool is_there(Conversation& adapter, bool may_be_silent) {
  // The first C also ends a partial line in the adapter. A CR alone would do that, too, but makes CANables
  // send their last frame again.
  if (!adapter.say(slcan::close_channel) || !adapter.say(slcan::close_channel)) return false;
  if (!adapter.becomes_quiet() || !adapter.say("V\r")) return false;
  const bool answered = adapter.answer(may_be_silent ? quiet : answer_timeout) != Answer::none;
  return (answered && adapter.becomes_quiet()) || may_be_silent;
}

SetupResult<void> start_adapter(platform::SerialLine& line, const BusAddress& address,
                                const slcan::Line& bit_rate) {
  const auto failed = [&](Errc code, std::string_view why) {
    return fail(code, fmt::format("{}: {}", address.place, why));
  };
  Conversation adapter(line);
  if (!is_there(adapter, address.silent)) {
    return failed(Errc::no_adapter,
                  fmt::format("no slcan adapter answers at {} bit/s; check the path, its firmware, and its "
                              "rate with {}@RATE; firmware that never answers, as the first CANtacts': {}",
                              address.baud, to_string({.kind = address.kind, .place = address.place}),
                              to_string({address.kind, address.place, address.baud, true})));
  }
  for (const std::string_view command : {bit_rate.text(), slcan::open_channel}) {
    if (!adapter.say(command))
      return failed(Errc::no_adapter, "the adapter takes no command; plug it in again");
    const Answer answer = adapter.answer(adapter.confirms() ? answer_timeout : command_patience);
    if (answer == Answer::none && adapter.confirms())
      return failed(Errc::no_adapter, "the adapter stopped answering; plug it in again");
    if (answer == Answer::refused) {
      return failed(Errc::adapter_refuses, fmt::format("the adapter refuses the command {}; plug it in again",
                                                       command.substr(0, command.size() - 1)));
    }
  }
  if (!line.status()) return failed(Errc::no_adapter, "the adapter was unplugged; plug it in again");
  return {};
}

}  // namespace

SetupResult<std::unique_ptr<SlcanLine>> SlcanLine::open(const BusAddress& address,
                                                        const BusRequest& request) {
  const auto bit_rate = slcan::set_bit_rate(request.bit_rate);
  if (!bit_rate) {
    return fail(Errc::bad_bit_rate,
                fmt::format("{}: the slcan protocol has no {} bit/s, but {}", address.place, request.bit_rate,
                            fmt::join(slcan::bit_rates, ", ")));
  }
  if (request.fd) {
    return fail(
        Errc::no_fd_adapter,
        fmt::format("{}: slcan carries classic frames only; an interface such as can0 can carry FD frames",
                    address.place));
  }
  auto line = platform::SerialLine::open(address.place, address.baud);
  if (!line) return tl::unexpected(line.error());
  if (const auto started = start_adapter(*line, address, *bit_rate); !started)
    return tl::unexpected(started.error());
  return std::unique_ptr<SlcanLine>(new SlcanLine(std::move(*line), request.filters));
}

SlcanLine::~SlcanLine() { static_cast<void>(bus_.close()); }

std::size_t SlcanLine::receive(std::span<can::Frame> frames) noexcept {
  const auto came = frames.first(bus_.receive(frames));
  if (filters_.empty()) return came.size();
  const auto is_wanted = [&](const can::Frame& frame) {
    return std::ranges::any_of(filters_,
                               [&](const can::Filter& f) { return f.passes(frame.id, frame.extended); });
  };
  std::size_t kept = 0;
  for (const can::Frame& frame : came) {
    if (is_wanted(frame)) frames[kept++] = frame;
  }
  return kept;
}

}  // namespace takt::app
