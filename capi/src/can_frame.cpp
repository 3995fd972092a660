// CAN frames of the C API: their lengths on the wire, their texts, and J1939 identifiers, by the room can/.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "boundary.hpp"
#include "takt/can/bits.hpp"
#include "takt/can/bus_load.hpp"
#include "takt/can/candump.hpp"
#include "takt/can/j1939.hpp"
#include "takt/can/slcan.hpp"

namespace can = takt::can;
using takt::fail;
using takt::Result;
using takt::Status;
using takt::capi::Errc;
using takt::capi::guarded;
using takt::capi::to_status;

struct takt_slcan_decoder {
  can::slcan::Decoder decoder;
};

namespace {

constexpr std::uint32_t format_flags = TAKT_CAN_EXTENDED | TAKT_CAN_FD | TAKT_CAN_BIT_RATE_SWITCH;
constexpr std::uint32_t all_flags = format_flags | TAKT_CAN_REMOTE | TAKT_CAN_ERROR | TAKT_CAN_ERROR_STATE;

static_assert(can::candump::max_line < TAKT_CANDUMP_MAX_LINE);
static_assert(can::slcan::max_line < TAKT_SLCAN_MAX_LINE);
static_assert(can::candump::InterfaceName::max_length < sizeof(takt_candump_entry::interface));
static_assert(static_cast<int>(can::candump::Direction::received) == TAKT_CAN_RECEIVED);
static_assert(static_cast<int>(can::candump::Direction::transmitted) == TAKT_CAN_TRANSMITTED);

Result<can::Frame> to_frame(const takt_can_frame* from) noexcept {
  if (from == nullptr) return fail(Errc::null_pointer);
  if ((from->flags & ~all_flags) != 0 || from->reserved != 0) return fail(Errc::bad_argument);
  if (from->length > can::max_fd_length) return fail(can::Errc::wrong_length);
  const auto has = [from](std::uint32_t flag) { return (from->flags & flag) != 0; };
  can::Frame frame;
  frame.stamp = takt::time_from_nanoseconds(from->stamp_ns);
  frame.id = from->id;
  frame.length = static_cast<std::uint8_t>(from->length);
  frame.extended = has(TAKT_CAN_EXTENDED);
  frame.remote = has(TAKT_CAN_REMOTE);
  frame.error = has(TAKT_CAN_ERROR);
  frame.fd = has(TAKT_CAN_FD);
  frame.bit_rate_switch = has(TAKT_CAN_BIT_RATE_SWITCH);
  frame.error_state = has(TAKT_CAN_ERROR_STATE);
  std::copy_n(from->data, from->length, frame.data.begin());
  return frame;
}

takt_can_frame from_frame(const can::Frame& frame) noexcept {
  takt_can_frame to{};
  to.stamp_ns = takt::to_nanoseconds(frame.stamp);
  to.id = frame.id;
  to.length = frame.length;
  const auto flag = [](bool set, std::uint32_t value) { return set ? value : 0U; };
  to.flags = flag(frame.extended, TAKT_CAN_EXTENDED) | flag(frame.remote, TAKT_CAN_REMOTE) |
             flag(frame.error, TAKT_CAN_ERROR) | flag(frame.fd, TAKT_CAN_FD) |
             flag(frame.bit_rate_switch, TAKT_CAN_BIT_RATE_SWITCH) |
             flag(frame.error_state, TAKT_CAN_ERROR_STATE);
  std::copy(frame.data.begin(), frame.data.end(), to.data);
  return to;
}

Result<can::FrameFormat> to_format(std::uint32_t flags) noexcept {
  if ((flags & ~format_flags) != 0) return fail(Errc::bad_argument);
  return can::FrameFormat{.extended = (flags & TAKT_CAN_EXTENDED) != 0,
                          .fd = (flags & TAKT_CAN_FD) != 0,
                          .bit_rate_switch = (flags & TAKT_CAN_BIT_RATE_SWITCH) != 0};
}

/// Checks that a bus can carry the frame.
Status check(const can::Frame& frame) noexcept {
  if (frame.id > (frame.extended ? can::max_extended_id : can::max_standard_id))
    return fail(can::Errc::id_too_large);
  const bool has_fd_flags = frame.bit_rate_switch || frame.error_state;
  if (frame.error || (frame.fd && frame.remote) || (has_fd_flags && !frame.fd))
    return fail(can::Errc::wrong_format);
  if (!can::is_frame_length(frame.length, {.fd = frame.fd})) return fail(can::Errc::wrong_length);
  return {};
}

/// Writes a line with a NUL.
Status write_line(std::string_view text, char* line, std::size_t size) noexcept {
  if (line == nullptr) return fail(Errc::null_pointer);
  if (text.size() >= size) return fail(Errc::buffer_too_small);
  std::copy(text.begin(), text.end(), line);
  line[text.size()] = '\0';
  return {};
}

takt_slcan_item from_item(const can::slcan::Item& item) noexcept {
  using Kind = can::slcan::Item::Kind;
  static_assert(static_cast<int>(Kind::frame) + 1 == TAKT_SLCAN_FRAME &&
                static_cast<int>(Kind::done) + 1 == TAKT_SLCAN_DONE &&
                static_cast<int>(Kind::transmitted) + 1 == TAKT_SLCAN_TRANSMITTED &&
                static_cast<int>(Kind::refused) + 1 == TAKT_SLCAN_REFUSED &&
                static_cast<int>(Kind::status) + 1 == TAKT_SLCAN_STATUS &&
                static_cast<int>(Kind::command) + 1 == TAKT_SLCAN_COMMAND);
  takt_slcan_item to{};
  to.kind = static_cast<std::int32_t>(item.kind) + 1;
  to.adapter_ms = item.adapter_ms ? *item.adapter_ms : -1;
  to.command = static_cast<unsigned char>(item.command);
  to.argument = item.kind == Kind::status ? can::slcan::encode_status(item.status) : item.argument;
  to.frame = from_frame(item.frame);
  return to;
}

}  // namespace

std::int32_t takt_can_frame_bits(const takt_can_frame* frame, takt_can_bits* bits) {
  const auto given = to_frame(frame);
  if (!given) return to_status(given.error());
  if (bits == nullptr) return to_status(Errc::null_pointer);
  if (const Status good = check(*given); !good) return to_status(good);
  const can::FrameBits counted = can::frame_bits(*given);
  *bits = {counted.nominal, counted.data};
  return TAKT_OK;
}

std::int32_t takt_can_max_frame_bits(std::uint32_t length, std::uint32_t flags, takt_can_bits* bits) {
  const auto format = to_format(flags);
  if (!format) return to_status(format.error());
  if (bits == nullptr) return to_status(Errc::null_pointer);
  if (format->bit_rate_switch && !format->fd) return to_status(can::Errc::wrong_format);
  if (!can::is_frame_length(length, *format)) return to_status(can::Errc::wrong_length);
  const can::FrameBits counted = can::max_frame_bits(length, *format);
  *bits = {counted.nominal, counted.data};
  return TAKT_OK;
}

std::int32_t takt_can_bus_load(const takt_can_planned_frame* plan, std::size_t count,
                               std::uint32_t nominal_rate, std::uint32_t data_rate, std::int64_t cycle_ns,
                               takt_can_load* load) {
  if (plan == nullptr || load == nullptr) return to_status(Errc::null_pointer);
  const can::BitRates rates{nominal_rate, data_rate};
  const takt::Duration cycle(cycle_ns);
  takt_can_load sum{};
  for (const takt_can_planned_frame& frame : std::span(plan, count)) {
    const auto format = to_format(frame.flags);
    if (!format) return to_status(format.error());
    if (frame.reserved != 0) return to_status(Errc::bad_argument);
    if (frame.length > can::max_fd_length) return to_status(can::Errc::wrong_length);
    const std::array planned{can::PlannedFrame{.format = *format,
                                               .length = static_cast<std::uint8_t>(frame.length),
                                               .period = takt::Duration(frame.period_ns),
                                               .count = frame.count}};
    const auto part = can::bus_load(planned, rates, cycle);
    if (!part) return to_status(part.error());
    sum.least += part->least.utilisation;
    sum.mean += part->mean.utilisation;
    sum.worst += part->worst.utilisation;
  }
  if (const auto good = can::bus_load({}, rates, cycle); !good) return to_status(good.error());
  *load = sum;
  return TAKT_OK;
}

std::int32_t takt_candump_parse(const char* line, std::size_t bytes, takt_candump_entry* entry,
                                std::uint32_t* column) {
  if (line == nullptr || entry == nullptr) return to_status(Errc::null_pointer);
  const auto read = can::candump::parse_line({line, bytes});
  if (!read) {
    if (column != nullptr) *column = read.error().column;
    return to_status(read.error().error);
  }
  *entry = {};
  entry->frame = from_frame(read->frame);
  const std::string_view name = read->interface.text();
  std::copy(name.begin(), name.end(), entry->interface);
  entry->direction = static_cast<std::int32_t>(read->direction);
  return TAKT_OK;
}

std::int32_t takt_candump_format(const takt_candump_entry* entry, std::int32_t nanoseconds, char* line,
                                 std::size_t size) {
  if (entry == nullptr) return to_status(Errc::null_pointer);
  const auto frame = to_frame(&entry->frame);
  if (!frame) return to_status(frame.error());
  const std::span letters(entry->interface);
  const auto end = std::find(letters.begin(), letters.end(), '\0');
  const auto name =
      can::candump::InterfaceName::create({letters.data(), static_cast<std::size_t>(end - letters.begin())});
  if (!name) return to_status(name.error());
  if (entry->direction < TAKT_CAN_DIRECTION_UNKNOWN || entry->direction > TAKT_CAN_TRANSMITTED ||
      entry->reserved != 0)
    return to_status(Errc::bad_argument);
  using can::candump::Precision;
  const auto text =
      can::candump::format_line({*frame, *name, static_cast<can::candump::Direction>(entry->direction)},
                                nanoseconds != 0 ? Precision::nanoseconds : Precision::microseconds);
  return to_status(text ? write_line(text->text(), line, size) : fail(text.error()));
}

std::int32_t takt_slcan_encode(const takt_can_frame* frame, char* line, std::size_t size) {
  const auto given = to_frame(frame);
  if (!given) return to_status(given.error());
  const auto text = can::slcan::encode_line(*given);
  return to_status(text ? write_line(text->text(), line, size) : fail(text.error()));
}

std::int32_t takt_slcan_decoder_create(takt_slcan_decoder** decoder) {
  return guarded([&]() -> Status {
    if (decoder == nullptr) return fail(Errc::null_pointer);
    *decoder = std::make_unique<takt_slcan_decoder>().release();
    return {};
  });
}

void takt_slcan_decoder_destroy(takt_slcan_decoder* decoder) { delete decoder; }

std::int32_t takt_slcan_decode(takt_slcan_decoder* decoder, const std::uint8_t* bytes, std::size_t count,
                               std::size_t* used, takt_slcan_item* item) {
  if (decoder == nullptr || bytes == nullptr || used == nullptr || item == nullptr)
    return to_status(Errc::null_pointer);
  std::span<const std::uint8_t> rest(bytes, count);
  const auto found = decoder->decoder.next(rest);
  *used = count - rest.size();
  *item = found ? from_item(*found) : takt_slcan_item{};
  return TAKT_OK;
}

std::uint64_t takt_slcan_decoder_malformed(const takt_slcan_decoder* decoder) {
  if (decoder == nullptr) return 0;
  const auto& counters = decoder->decoder.counters();
  return counters.malformed + counters.too_long;
}

std::int32_t takt_j1939_decode_id(std::uint32_t id, takt_j1939_id* decoded) {
  if (decoded == nullptr) return to_status(Errc::null_pointer);
  const can::j1939::Id said = can::j1939::decode_id(id);
  *decoded = {said.pgn, said.priority, said.source, said.destination};
  return TAKT_OK;
}

std::int32_t takt_j1939_encode_id(const takt_j1939_id* id, std::uint32_t* encoded) {
  if (id == nullptr || encoded == nullptr) return to_status(Errc::null_pointer);
  if (id->priority > 7 || id->source > 0xFF || id->destination > 0xFF)
    return to_status(can::Errc::out_of_range);
  const auto number = can::j1939::encode_id({.priority = static_cast<std::uint8_t>(id->priority),
                                             .pgn = id->pgn,
                                             .source = static_cast<std::uint8_t>(id->source),
                                             .destination = static_cast<std::uint8_t>(id->destination)});
  if (!number) return to_status(number.error());
  *encoded = *number;
  return TAKT_OK;
}
