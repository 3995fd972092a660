// Fuzzes logs of candump and of Vector with any bytes. The lines do not depend on how the text is split, and
// an error names a place in its line. A parsed entry survives formatting and parsing. The same bytes are used
// as frames: each is rejected, or survives formatting and parsing.
#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "support/fuzz_frames.hpp"
#include "takt/can/candump.hpp"

using namespace takt;
using namespace takt::can;
using namespace takt::can::candump;
using takt::test::require;

namespace {

void check_line(const LineResult<LogEntry>& line, LogFormat format) {
  if (!line) {
    const std::size_t longest = format == LogFormat::asc ? asc::max_line : max_line;
    require(line.error().line > 0 && line.error().column > 0 && line.error().column <= longest + 1);
    return;
  }
  const auto text = format_line(*line, Precision::nanoseconds);
  LogEntry expected = *line;
  if (expected.frame.stamp_source == StampSource::none) {  // a line has a stamp: 0
    require(expected.frame.stamp == Time{});
    expected.frame.stamp_source = StampSource::software;
  }
  require(text && !text->overflowed() && *parse_line(text->text()) == expected);
}

void check_text(std::string_view text) {
  LogReader whole;
  LogReader single;
  std::size_t fed = 0;
  std::string_view rest = text;
  while (const auto line = whole.next(rest)) {
    check_line(*line, whole.format());
    for (bool found = false; !found; ++fed) {
      require(fed < text.size());
      std::string_view one = text.substr(fed, 1);
      const auto same = single.next(one);
      if (same) require(*same == *line);
      found = same.has_value();
    }
  }
  if (const auto line = whole.finish()) check_line(*line, whole.format());
}

void check_frames(std::span<const std::uint8_t> bytes) {
  while (!bytes.empty()) {
    LogEntry entry;
    entry.direction = static_cast<Direction>(bytes.front() % 3);
    entry.frame.error = bytes.front() % 5 == 0;
    const bool error = entry.frame.error;
    entry.frame = test::next_frame(bytes);
    entry.frame.error = error;
    entry.interface = *InterfaceName::create("can0");
    entry.frame.stamp = time_from_nanoseconds(std::int64_t{entry.frame.id} * 0x1234'5678'9ABC);
    entry.frame.stamp_source = StampSource::software;
    const auto text = format_line(entry, Precision::nanoseconds);
    if (!text) continue;
    const auto read = parse_line(text->text());
    require(read.has_value());
    // Bits that a frame does not use are not in its line.
    if (entry.frame.remote) entry.frame.data = {};
    if (!entry.frame.fd) entry.frame.bit_rate_switch = entry.frame.error_state = false;
    if (entry.frame.error) entry.frame.extended = false;
    require(*read == entry);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), std::min<std::size_t>(size, 4096));
  check_text(text);
  check_frames({data, std::min<std::size_t>(size, 4096)});
  return 0;
}
