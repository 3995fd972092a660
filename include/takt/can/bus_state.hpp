// Error frames of Linux's SocketCAN, decoded into a plain struct, and a summary of them for a bus.
//
//     if (const auto report = can::decode_bus_report(frame)) health.note(*report);
//     if (health.state == can::BusState::bus_off) stop();
//
// Other transports and simulated buses report in the same form. Pure, real-time safe, usable in constant
// expressions. Frames may hold any bytes.
//
// Source of the layout: Linux, include/uapi/linux/can/error.h.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "takt/can/frame.hpp"

namespace takt::can {

/// The error state of ISO 11898-1, by the larger of a controller's two error counters.
enum class BusState : std::uint8_t {
  active,   ///< below 96
  warning,  ///< from 96
  passive,  ///< from 128: the controller no longer destroys the frames in which it finds an error
  bus_off,  ///< from 256: it neither sends nor receives until it is restarted
};

/// The field of a frame in which a protocol error was seen. The numbers are the segment codes of the SJA1000.
enum class FrameField : std::uint8_t {
  unspecified = 0x00,
  id_28_to_21 = 0x02,  ///< of 11 bits: 10 to 3
  start_of_frame = 0x03,
  substitute_remote_request = 0x04,  ///< of 11 bits: the remote request
  identifier_extension = 0x05,
  id_20_to_18 = 0x06,  ///< of 11 bits: 2 to 0
  id_17_to_13 = 0x07,
  checksum = 0x08,
  reserved_0 = 0x09,
  data = 0x0A,
  length_code = 0x0B,
  remote_request = 0x0C,
  reserved_1 = 0x0D,
  id_4_to_0 = 0x0E,
  id_12_to_5 = 0x0F,
  intermission = 0x12,
  checksum_delimiter = 0x18,
  acknowledge = 0x19,
  end_of_frame = 0x1A,
  acknowledge_delimiter = 0x1B,
};

/// The errors in the bits of a frame. A controller may report several, or none.
struct ProtocolError {
  bool bit = false;            ///< a bit that was read back differs from the one sent
  bool form = false;           ///< a bit of fixed value was wrong
  bool stuff = false;          ///< six equal bits
  bool dominant_bit = false;   ///< a dominant bit could not be sent
  bool recessive_bit = false;  ///< a recessive bit could not be sent
  bool overload = false;       ///< overload frames
  bool active_flag = false;    ///< an error-active node sent its error flag
  bool sending = false;        ///< while this controller was sending
  FrameField field = FrameField::unspecified;

  friend constexpr bool operator==(const ProtocolError&, const ProtocolError&) = default;
};

/// The two error counters of a controller.
struct ErrorCounters {
  std::uint8_t transmit = 0;
  std::uint8_t receive = 0;

  friend constexpr bool operator==(const ErrorCounters&, const ErrorCounters&) = default;
};

/// The content of one error frame.
struct BusReport {
  std::optional<BusState> state{};                 ///< new state of the controller
  bool restarted = false;                          ///< after bus-off
  bool transmit_timeout = false;                   ///< the driver waited too long for a frame to leave
  bool no_acknowledge = false;                     ///< no other node received what was sent
  bool bus_error = false;                          ///< any bus error; some faults repeat it without end
  bool transceiver_error = false;                  ///< a wire is broken or shorted
  bool receive_overflow = false;                   ///< frames were lost in the controller
  bool transmit_overflow = false;                  ///< frames were lost before sending
  std::optional<std::uint8_t> arbitration_lost{};  ///< in this bit of the frame; 0: not known
  std::optional<ProtocolError> protocol_error{};
  std::optional<ErrorCounters> counters{};  ///< none from Linux before 6.0, which does not mark them

  friend constexpr bool operator==(const BusReport&, const BusReport&) = default;
};

namespace detail {

enum class ErrorClass : std::uint32_t {
  transmit_timeout = 0x001,
  arbitration_lost = 0x002,  // data[0]
  controller = 0x004,        // data[1]
  protocol = 0x008,          // data[2], data[3]
  transceiver = 0x010,       // data[4]
  no_acknowledge = 0x020,
  bus_off = 0x040,
  bus_error = 0x080,
  restarted = 0x100,
  counters = 0x200,  // data[6], data[7]
};

inline constexpr std::uint8_t error_frame_length = 8;

// The bits of data[1].
inline constexpr unsigned controller_receive_overflow = 0x01;
inline constexpr unsigned controller_transmit_overflow = 0x02;
inline constexpr unsigned controller_warning = 0x0C;  // of receiving, of sending
inline constexpr unsigned controller_passive = 0x30;
inline constexpr unsigned controller_active = 0x40;

[[nodiscard]] constexpr FrameField to_frame_field(std::uint8_t code) noexcept {
  const bool is_known = (code >= 0x02 && code <= 0x0F) || code == 0x12 || (code >= 0x18 && code <= 0x1B);
  return is_known ? static_cast<FrameField>(code) : FrameField::unspecified;
}

[[nodiscard]] constexpr ProtocolError to_protocol_error(unsigned kinds, std::uint8_t field) noexcept {
  return {.bit = (kinds & 0x01) != 0,
          .form = (kinds & 0x02) != 0,
          .stuff = (kinds & 0x04) != 0,
          .dominant_bit = (kinds & 0x08) != 0,
          .recessive_bit = (kinds & 0x10) != 0,
          .overload = (kinds & 0x20) != 0,
          .active_flag = (kinds & 0x40) != 0,
          .sending = (kinds & 0x80) != 0,
          .field = to_frame_field(field)};
}

[[nodiscard]] constexpr std::uint8_t kinds_of(const ProtocolError& error) noexcept {
  return static_cast<std::uint8_t>((error.bit ? 0x01U : 0) | (error.form ? 0x02U : 0) |
                                   (error.stuff ? 0x04U : 0) | (error.dominant_bit ? 0x08U : 0) |
                                   (error.recessive_bit ? 0x10U : 0) | (error.overload ? 0x20U : 0) |
                                   (error.active_flag ? 0x40U : 0) | (error.sending ? 0x80U : 0));
}

/// The worst state in the frame: if the frame is misread, the error is then on the safe side.
[[nodiscard]] constexpr std::optional<BusState> state_in(bool bus_off, unsigned controller,
                                                         bool restarted) noexcept {
  if (bus_off) return BusState::bus_off;
  if ((controller & controller_passive) != 0) return BusState::passive;
  if ((controller & controller_warning) != 0) return BusState::warning;
  if (restarted || (controller & controller_active) != 0) return BusState::active;
  return std::nullopt;
}

}  // namespace detail

/// Decodes an error frame. Unknown error classes are ignored. Errors: wrong_format (not an error frame),
/// wrong_length.
[[nodiscard]] constexpr Result<BusReport> decode_bus_report(const Frame& frame) noexcept {
  using detail::ErrorClass;
  if (!frame.error) return fail(Errc::wrong_format);
  if (frame.length != detail::error_frame_length) return fail(Errc::wrong_length);
  const auto& data = frame.data;
  const auto has = [&](ErrorClass c) { return (frame.id & static_cast<std::uint32_t>(c)) != 0; };
  const unsigned controller = has(ErrorClass::controller) ? data[1] : 0;
  BusReport report;
  report.restarted = has(ErrorClass::restarted);
  report.state = detail::state_in(has(ErrorClass::bus_off), controller, report.restarted);
  report.transmit_timeout = has(ErrorClass::transmit_timeout);
  report.no_acknowledge = has(ErrorClass::no_acknowledge);
  report.bus_error = has(ErrorClass::bus_error);
  report.transceiver_error = has(ErrorClass::transceiver);
  report.receive_overflow = (controller & detail::controller_receive_overflow) != 0;
  report.transmit_overflow = (controller & detail::controller_transmit_overflow) != 0;
  if (has(ErrorClass::arbitration_lost)) report.arbitration_lost = data[0];
  if (has(ErrorClass::protocol)) report.protocol_error = detail::to_protocol_error(data[2], data[3]);
  if (has(ErrorClass::counters)) report.counters = ErrorCounters{data[6], data[7]};
  return report;
}

/// Returns the error frame of a report, for simulated buses and other transports. It reports the states
/// warning and passive for both directions.
[[nodiscard]] constexpr Frame make_error_frame(const BusReport& report) noexcept {
  using detail::ErrorClass;
  Frame frame;
  frame.error = true;
  frame.length = detail::error_frame_length;
  auto& data = frame.data;
  const auto add_if = [&](bool condition, ErrorClass c) {
    if (condition) frame.id |= static_cast<std::uint32_t>(c);
  };
  unsigned controller = (report.receive_overflow ? detail::controller_receive_overflow : 0) |
                        (report.transmit_overflow ? detail::controller_transmit_overflow : 0);
  if (report.state == BusState::active && !report.restarted) controller |= detail::controller_active;
  if (report.state == BusState::warning) controller |= detail::controller_warning;
  if (report.state == BusState::passive) controller |= detail::controller_passive;
  data[1] = static_cast<std::uint8_t>(controller);
  add_if(controller != 0, ErrorClass::controller);
  add_if(report.state == BusState::bus_off, ErrorClass::bus_off);
  add_if(report.restarted, ErrorClass::restarted);
  add_if(report.transmit_timeout, ErrorClass::transmit_timeout);
  add_if(report.no_acknowledge, ErrorClass::no_acknowledge);
  add_if(report.bus_error, ErrorClass::bus_error);
  add_if(report.transceiver_error, ErrorClass::transceiver);
  add_if(report.arbitration_lost.has_value(), ErrorClass::arbitration_lost);
  data[0] = report.arbitration_lost.value_or(0);
  if (report.protocol_error) {
    add_if(true, ErrorClass::protocol);
    data[2] = detail::kinds_of(*report.protocol_error);
    data[3] = static_cast<std::uint8_t>(report.protocol_error->field);
  }
  if (report.counters) {
    add_if(true, ErrorClass::counters);
    data[6] = report.counters->transmit;
    data[7] = report.counters->receive;
  }
  return frame;
}

/// The summary of a bus's reports since it was opened.
struct BusHealth {
  BusState state = BusState::active;  ///< the last reported state
  ErrorCounters counters{};           ///< the last reported counters
  std::uint64_t reports = 0;
  std::uint64_t bus_offs = 0;
  std::uint64_t restarts = 0;
  std::uint64_t transmit_timeouts = 0;
  std::uint64_t missing_acknowledges = 0;
  std::uint64_t arbitrations_lost = 0;
  std::uint64_t protocol_errors = 0;
  std::uint64_t overflows = 0;  ///< of the controller's receive or transmit buffer

  /// Adds a report. Real-time safe.
  constexpr void note(const BusReport& report) noexcept {
    ++reports;
    if (report.state == BusState::bus_off) ++bus_offs;
    if (report.restarted) ++restarts;
    if (report.transmit_timeout) ++transmit_timeouts;
    if (report.no_acknowledge) ++missing_acknowledges;
    if (report.arbitration_lost) ++arbitrations_lost;
    if (report.protocol_error) ++protocol_errors;
    if (report.receive_overflow || report.transmit_overflow) ++overflows;
    state = report.state.value_or(state);
    counters = report.counters.value_or(counters);
  }

  friend constexpr bool operator==(const BusHealth&, const BusHealth&) = default;
};

}  // namespace takt::can
