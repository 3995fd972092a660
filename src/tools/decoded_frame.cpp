#include "tools/decoded_frame.hpp"

#include <fmt/format.h>

#include "tools/report_text.hpp"

namespace takt::tools {
namespace {

/// A number without scale as the integer that it is; any other with ten digits.
std::string number_text(const can::SignalCoding& coding, double value, std::int64_t number) {
  const bool is_float =
      coding.field.type == can::NumberType::float32 || coding.field.type == can::NumberType::float64;
  if (is_float || coding.scale != 1 || coding.offset != 0) return fmt::format("{:.10g}", value);
  if (coding.field.type == can::NumberType::unsigned_integer)
    return fmt::format("{}", static_cast<std::uint64_t>(number));
  return fmt::format("{}", number);
}

}  // namespace

std::string FrameDecoder::text_of(const can::Frame& frame) {
  const dbc::MessageCodec* const message = dbc_->find(frame);
  if (message == nullptr) return {};
  values_.resize(message->signal_count());
  numbers_.resize(message->signal_count());
  presence_.resize(message->signal_count());
  constexpr auto complete = dbc::ShortFrame::complete_signals;
  if (!message->decode(frame, values_, presence_, complete)) return {};
  if (!message->decode_numbers(frame.payload(), numbers_, presence_, complete)) return {};
  std::string signals;
  for (std::size_t i = 0; i < message->signal_count(); ++i) {
    if (presence_[i] == can::Presence::not_selected) continue;
    signals += fmt::format("{}{}: {}", signals.empty() ? "" : ", ",
                           printable(message->description().signals[i].name), value_of(*message, i));
  }
  return fmt::format("{}({})", printable(message->description().name), signals);
}

std::string FrameDecoder::value_of(const dbc::MessageCodec& message, std::size_t signal) const {
  switch (presence_[signal]) {
    case can::Presence::value:
      break;
    case can::Presence::not_selected:
      return "not selected";
    case can::Presence::cut_off:
      return "cut off";
    case can::Presence::not_available:
      return "not available";
    case can::Presence::error_indicator:
      return "error";
    case can::Presence::reserved:
      return "reserved";
  }
  const dbc::Signal& description = message.description().signals[signal];
  std::string text = number_text(description.coding, values_[signal], numbers_[signal]);
  if (!description.unit.empty()) text += ' ' + printable(description.unit);
  const std::string_view label = message.label(signal, numbers_[signal]);
  if (!label.empty()) text += fmt::format(" \"{}\"", printable(label));
  return text;
}

}  // namespace takt::tools
