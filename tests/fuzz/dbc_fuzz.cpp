// Fuzzes DBC files with any bytes. Tolerant and strict readers end with a reading or an error. A reading
// decodes any frame, of any length, into values or an error. A strict reading survives writing. Each gives a
// header in which no text of the file has become code.
#include "takt/dbc/file.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <vector>

#include "support/fuzz_frames.hpp"
#include "takt/dbc/database.hpp"
#include "takt/dbc/header.hpp"

using namespace takt;
using takt::test::require;

namespace {

/// Bytes derived from the text itself, so that one input always does the same.
class Bytes {
 public:
  explicit Bytes(std::string_view text) {
    for (const char byte : text) state_ = (state_ ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
  }
  std::uint8_t next() {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return static_cast<std::uint8_t>(state_ >> 56);
  }

 private:
  std::uint64_t state_ = 0xcbf29ce484222325;
};

/// With `is_strict`, no signals share bits, so that none overwrites another.
void try_message(const dbc::MessageCodec& message, Bytes& bytes, bool is_strict) {
  std::vector<std::uint8_t> data(message.length());
  std::vector<double> values(message.signal_count()), again(values.size());
  std::vector<std::int64_t> numbers(values.size());
  std::vector<can::Presence> presence(values.size()), again_presence(values.size());
  for (int round = 0; round < 8; ++round) {
    // Small first bytes: selectors are mostly there, and mostly small.
    for (std::uint8_t& byte : data) byte = bytes.next();
    if (!data.empty() && round % 2 == 0) data[0] &= 3;
    const std::vector<std::uint8_t> exact(
        data.begin(), data.begin() + (round < 4 ? std::ptrdiff_t(data.size())
                                                : bytes.next() % std::ptrdiff_t(data.size() + 1)));
    const auto short_frame = round % 4 < 2 ? dbc::ShortFrame::error : dbc::ShortFrame::complete_signals;
    if (!message.decode(exact, values, presence, short_frame)) continue;
    require(message.decode_numbers(exact, numbers, again_presence, short_frame).has_value());
    require(again_presence == presence);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto label = message.label(i, numbers[i]);
      if (!label.empty()) require(message.value_of(i, label).has_value());
      const auto type = message.description().signals[i].coding.field.type;
      const bool is_integer =
          type == can::NumberType::unsigned_integer || type == can::NumberType::signed_integer;
      if (presence[i] != can::Presence::value) require(values[i] != values[i]);
      if (presence[i] == can::Presence::value && is_integer) require(values[i] == values[i]);
    }
    std::size_t refused = 0;
    const bool is_encoded = message.encode_into(data, values, can::Overflow::clamp, refused).has_value();
    const auto refusal = message.explain(values, can::Overflow::clamp);
    require(refusal.has_value() != is_encoded);
    if (refusal) require(refusal->signal == refused && !refusal->message.empty());
    if (is_encoded && is_strict) require(message.decode(data, again).has_value());
  }
  can::Frame frame;
  frame.id = message.description().id;
  frame.extended = message.description().extended;
  frame.length = bytes.next();
  std::vector<double> columns(2 * values.size());
  require(message.decode_batch(std::vector<can::Frame>(3, frame), columns, 2).has_value());
}

/// Checks for control characters, lines joined to the next, and foreign directives.
void try_header(const dbc::Database& dbc) {
  const auto header = dbc::make_header(dbc, {"drive.dbc", "", ""});
  require(header.has_value());
  std::string_view text = header->text;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(line.size() + 1);
    require(
        std::none_of(line.begin(), line.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; }));
    require(!line.ends_with('\\'));
    require(!line.starts_with('#') || line == "#pragma once" || line.starts_with("#include "));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): bytes as text
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto strict = dbc::parse(text, dbc::Strictness::strict);
  const auto tolerant = dbc::parse(text);
  if (!strict) require(strict.error().error == can::Errc::bad_dbc && !strict.error().message.empty());
  if (strict) require(tolerant && tolerant->file == strict->file);
  if (!tolerant) return 0;
  for (const auto& warning : tolerant->warnings)
    require(warning.place.line != 0 && !to_string(warning).empty());
  // The comparison within write() detects what it must reject.
  const auto written = dbc::write(tolerant->file);
  if (strict) require(written.has_value());
  const auto dbc = dbc::Database::make(tolerant->file);
  if (!dbc) return 0;  // more multiplexing than the tables hold
  try_header(*dbc);
  Bytes bytes(text);
  for (const dbc::MessageCodec& message :
       dbc->messages().first(std::min<std::size_t>(dbc->messages().size(), 8))) {
    require(dbc->find(message.description().id, message.description().extended) == &message);
    try_message(message, bytes, strict.has_value());
  }
  return 0;
}
