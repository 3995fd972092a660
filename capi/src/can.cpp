// DBC files of the C API: a thin layer over the run-time database of the room can/.
#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "boundary.hpp"
#include "takt/dbc/database.hpp"
#include "takt/dbc/protection.hpp"

using takt::fail;
using takt::Result;
using takt::Status;
using takt::can::Overflow;
using takt::can::Presence;
using takt::capi::check_size;
using takt::capi::Errc;
using takt::capi::guarded;
using takt::capi::to_status;
using takt::dbc::MessageCodec;
using takt::dbc::ShortFrame;

struct takt_dbc {
  takt::dbc::Database database;
  std::string warnings;
};

struct takt_dbc_protection {
  takt::dbc::Protection protection;
};

namespace {

using takt::dbc::ProtectionVerdict;
static_assert(TAKT_DBC_GOOD == static_cast<int>(ProtectionVerdict::good));
static_assert(TAKT_DBC_WRONG_LENGTH == static_cast<int>(ProtectionVerdict::wrong_length));
static_assert(TAKT_DBC_WRONG_CHECKSUM == static_cast<int>(ProtectionVerdict::wrong_checksum));
static_assert(TAKT_DBC_WRONG_COUNTER == static_cast<int>(ProtectionVerdict::wrong_counter));
static_assert(TAKT_DBC_REPEATED == static_cast<int>(ProtectionVerdict::repeated));
static_assert(TAKT_DBC_FRAMES_LOST == static_cast<int>(ProtectionVerdict::frames_lost));

Result<const MessageCodec*> find(const takt_dbc* dbc, std::size_t message) noexcept {
  if (dbc == nullptr) return fail(Errc::null_pointer);
  const auto messages = dbc->database.messages();
  if (message >= messages.size()) return fail(Errc::bad_argument);
  return &messages[message];
}

std::optional<Overflow> to_overflow(std::int32_t overflow) noexcept {
  switch (overflow) {
    case TAKT_OVERFLOW_ERROR:
      return Overflow::error;
    case TAKT_OVERFLOW_CLAMP:
      return Overflow::clamp;
    case TAKT_OVERFLOW_WRAP:
      return Overflow::wrap;
    default:
      return std::nullopt;
  }
}

std::string to_lines(const takt::dbc::Database& database) {
  std::string lines;
  for (const takt::dbc::Warning& warning : database.warnings()) lines += to_string(warning) + '\n';
  return lines;
}

}  // namespace

void takt_dbc_message_init(takt_dbc_message* message, std::size_t size) {
  takt::capi::init_struct(message, size);
}

void takt_dbc_signal_init(takt_dbc_signal* signal, std::size_t size) {
  takt::capi::init_struct(signal, size);
}

std::int32_t takt_dbc_create(const char* text, std::size_t bytes, std::int32_t strict, char* why,
                             std::size_t size, takt_dbc** dbc) {
  return guarded(why, size, [&]() -> Status {
    if (text == nullptr || dbc == nullptr) return fail(Errc::null_pointer);
    using takt::dbc::Strictness;
    auto database = takt::dbc::Database::parse(std::string_view(text, bytes),
                                               strict != 0 ? Strictness::strict : Strictness::tolerant);
    if (!database) {
      takt::capi::write_text(database.error().message, why, size);
      return fail(database.error().error);
    }
    std::string warnings = to_lines(*database);
    *dbc = std::make_unique<takt_dbc>(takt_dbc{std::move(*database), std::move(warnings)}).release();
    return {};
  });
}

void takt_dbc_destroy(takt_dbc* dbc) { delete dbc; }

const char* takt_dbc_warnings(const takt_dbc* dbc) { return dbc == nullptr ? "" : dbc->warnings.c_str(); }

std::size_t takt_dbc_messages(const takt_dbc* dbc) {
  return dbc == nullptr ? 0 : dbc->database.messages().size();
}

std::int32_t takt_dbc_describe_message(const takt_dbc* dbc, std::size_t message,
                                       takt_dbc_message* description) {
  const auto found = find(dbc, message);
  if (!found) return to_status(found.error());
  if (description == nullptr) return to_status(Errc::null_pointer);
  if (const Status size = check_size(description); !size) return to_status(size);
  const takt::dbc::Message& said = (*found)->description();
  takt_dbc_message out{};
  out.id = said.id;
  out.extended = said.extended ? 1 : 0;
  out.fd = (*found)->is_fd() ? 1 : 0;
  out.j1939 = (*found)->is_j1939() ? 1 : 0;
  out.length = said.length;
  out.signals = said.signals.size();
  out.cycle_ns = (*found)->cycle_time().value_or(takt::Duration{}).count();
  out.name = said.name.c_str();
  out.sender = said.sender.c_str();
  takt::capi::write_struct(description, out);
  return TAKT_OK;
}

std::int32_t takt_dbc_describe_signal(const takt_dbc* dbc, std::size_t message, std::size_t signal,
                                      takt_dbc_signal* description) {
  const auto found = find(dbc, message);
  if (!found) return to_status(found.error());
  if (signal >= (*found)->signal_count()) return to_status(Errc::bad_argument);
  if (description == nullptr) return to_status(Errc::null_pointer);
  if (const Status size = check_size(description); !size) return to_status(size);
  const takt::dbc::Signal& said = (*found)->description().signals[signal];
  takt_dbc_signal out{};
  out.is_selector = said.is_selector ? 1 : 0;
  out.name = said.name.c_str();
  out.unit = said.unit.c_str();
  out.scale = said.coding.scale;
  out.offset = said.coding.offset;
  out.minimum = said.coding.minimum;
  out.maximum = said.coding.maximum;
  out.start = said.coding.field.start;
  out.bits = said.coding.field.length;
  out.big_endian = said.coding.field.order == takt::can::ByteOrder::big ? 1 : 0;
  out.number = static_cast<std::int32_t>(said.coding.field.type);
  out.selector = said.selected_by ? std::int64_t{*said.selected_by} : -1;
  out.labels = said.values.size();
  takt::capi::write_struct(description, out);
  return TAKT_OK;
}

std::int32_t takt_dbc_find(const takt_dbc* dbc, std::uint32_t id, std::int32_t extended,
                           std::size_t* message) {
  if (dbc == nullptr || message == nullptr) return to_status(Errc::null_pointer);
  const MessageCodec* found = dbc->database.find(id, extended != 0);
  if (found == nullptr) return to_status(takt::can::Errc::unexpected_id);
  *message = static_cast<std::size_t>(found - dbc->database.messages().data());
  return TAKT_OK;
}

std::int32_t takt_dbc_find_message(const takt_dbc* dbc, const char* name, std::size_t* message) {
  if (dbc == nullptr || name == nullptr || message == nullptr) return to_status(Errc::null_pointer);
  const MessageCodec* found = dbc->database.find(std::string_view(name));
  if (found == nullptr) return to_status(Errc::bad_argument);
  *message = static_cast<std::size_t>(found - dbc->database.messages().data());
  return TAKT_OK;
}

std::int32_t takt_dbc_find_signal(const takt_dbc* dbc, std::size_t message, const char* name,
                                  std::size_t* signal) {
  const auto found = find(dbc, message);
  if (!found) return to_status(found.error());
  if (name == nullptr || signal == nullptr) return to_status(Errc::null_pointer);
  const auto index = (*found)->find_signal(name);
  if (!index) return to_status(Errc::bad_argument);
  *signal = *index;
  return TAKT_OK;
}

std::int32_t takt_dbc_decode(const takt_dbc* dbc, std::size_t message, const std::uint8_t* data,
                             std::size_t bytes, double* values, std::size_t count) {
  const auto found = find(dbc, message);
  if (!found) return to_status(found.error());
  if (data == nullptr || values == nullptr) return to_status(Errc::null_pointer);
  return to_status((*found)->decode(std::span(data, bytes), std::span(values, count)));
}

std::int32_t takt_dbc_read(const takt_dbc* dbc, std::size_t message, const std::uint8_t* data,
                           std::size_t bytes, std::int32_t short_frame, takt_dbc_reading* readings,
                           std::size_t count) {
  return guarded(nullptr, 0, [&]() -> Status {
    const auto found = find(dbc, message);
    if (!found) return fail(found.error());
    if (data == nullptr || readings == nullptr) return fail(Errc::null_pointer);
    const MessageCodec& said = **found;
    if (count < said.signal_count()) return fail(takt::can::Errc::wrong_count);
    const auto policy = short_frame != 0 ? ShortFrame::complete_signals : ShortFrame::error;
    std::vector<double> values(said.signal_count());
    std::vector<std::int64_t> numbers(values.size());
    std::vector<Presence> presence(values.size());
    if (const Status status = said.decode(std::span(data, bytes), values, policy); !status) return status;
    if (const Status status = said.decode_numbers(std::span(data, bytes), numbers, presence, policy); !status)
      return status;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const bool is_there = presence[i] != Presence::not_selected && presence[i] != Presence::cut_off;
      // A label is a std::string of the file: it ends with a NUL.
      const char* const label = is_there ? said.label(i, numbers[i]).data() : nullptr;
      readings[i] = {values[i], numbers[i], static_cast<std::int32_t>(presence[i]), 0,
                     label == nullptr ? "" : label};
    }
    return {};
  });
}

std::int32_t takt_dbc_label_at(const takt_dbc* dbc, std::size_t message, std::size_t signal,
                               std::size_t index, std::int64_t* number, const char** label) {
  const auto found = find(dbc, message);
  if (!found) return to_status(found.error());
  if (number == nullptr || label == nullptr) return to_status(Errc::null_pointer);
  const auto& signals = (*found)->description().signals;
  if (signal >= signals.size() || index >= signals[signal].values.size())
    return to_status(Errc::bad_argument);
  *number = signals[signal].values[index].value;
  *label = signals[signal].values[index].text.c_str();
  return TAKT_OK;
}

std::int32_t takt_dbc_value_of(const takt_dbc* dbc, std::size_t message, std::size_t signal,
                               const char* label, double* value) {
  const auto found = find(dbc, message);
  if (!found) return to_status(found.error());
  if (label == nullptr || value == nullptr) return to_status(Errc::null_pointer);
  const auto physical = (*found)->value_of(signal, label);
  if (!physical) return to_status(Errc::bad_argument);
  *value = *physical;
  return TAKT_OK;
}

std::int32_t takt_dbc_explain(const takt_dbc* dbc, std::size_t message, const double* values,
                              std::size_t count, std::int32_t overflow, std::size_t* signal, char* why,
                              std::size_t size) {
  return guarded(why, size, [&]() -> Status {
    const auto found = find(dbc, message);
    if (!found) return fail(found.error());
    if (values == nullptr) return fail(Errc::null_pointer);
    const auto policy = to_overflow(overflow);
    if (!policy) return fail(Errc::bad_argument);
    const auto refusal = (*found)->explain(std::span(values, count), *policy);
    if (signal != nullptr) *signal = refusal ? refusal->signal : MessageCodec::no_signal;
    if (!refusal) return {};
    takt::capi::write_text(refusal->message, why, size);
    return fail(refusal->error);
  });
}

std::int32_t takt_dbc_encode(const takt_dbc* dbc, std::size_t message, const double* values,
                             std::size_t count, std::int32_t overflow, std::uint8_t* data,
                             std::size_t bytes) {
  const auto found = find(dbc, message);
  if (!found) return to_status(found.error());
  if (data == nullptr || values == nullptr) return to_status(Errc::null_pointer);
  const auto policy = to_overflow(overflow);
  if (!policy) return to_status(Errc::bad_argument);
  return to_status((*found)->encode_into(std::span(data, bytes), std::span(values, count), *policy));
}

std::int32_t takt_dbc_protection_create(const takt_dbc* dbc, const char* rule, char* why, std::size_t size,
                                        takt_dbc_protection** protection) {
  return guarded(why, size, [&]() -> Status {
    if (dbc == nullptr || rule == nullptr || protection == nullptr) return fail(Errc::null_pointer);
    const auto made = takt::dbc::parse_protection_rule(rule).and_then(
        [dbc](const auto& parsed) { return takt::dbc::Protection::create(dbc->database, parsed); });
    if (!made) {
      takt::capi::write_text(made.error().message, why, size);
      return fail(made.error().error);
    }
    *protection = std::make_unique<takt_dbc_protection>(takt_dbc_protection{*made}).release();
    return {};
  });
}

void takt_dbc_protection_destroy(takt_dbc_protection* protection) { delete protection; }

std::int32_t takt_dbc_protect(takt_dbc_protection* protection, std::uint8_t* data, std::size_t bytes) {
  if (protection == nullptr || data == nullptr) return to_status(Errc::null_pointer);
  return to_status(protection->protection.protect(std::span(data, bytes)));
}

std::int32_t takt_dbc_check(takt_dbc_protection* protection, const std::uint8_t* data, std::size_t bytes,
                            std::int32_t* verdict) {
  if (protection == nullptr || data == nullptr || verdict == nullptr) return to_status(Errc::null_pointer);
  *verdict = static_cast<std::int32_t>(protection->protection.check(std::span(data, bytes)));
  return TAKT_OK;
}
