#include "takt/drives/cia402/cia402_objects.hpp"

#include <algorithm>
#include <optional>

#include "takt/can/word.hpp"

namespace takt::drives {

namespace canopen = can::canopen;
using canopen::Address;
using canopen::SdoAbort;

namespace {

// What may be done with an object: written by SDO, mapped into a PDO that the drive receives or sends.
constexpr std::uint8_t writable = 1, receivable = 2, sendable = 4;

struct Row {
  Address object;
  std::uint8_t bytes;
  std::uint8_t rights;
  std::int64_t initial;
};

/// In the order of Cia402Object.
constexpr std::array<Row, Cia402Objects::count> rows = {{
    {{0x1000, 0}, 4, 0, 0x0002'0192},  // a servo drive of profile 402
    {{0x1001, 0}, 1, sendable, 0},
    {{0x1006, 0}, 4, writable, 0},  // us
    {{0x1016, 0}, 1, 0, 1},
    {{0x1016, 1}, 4, writable, 0},
    {{0x1017, 0}, 2, writable, 0},  // ms
    {{0x1018, 0}, 1, 0, 3},
    {{0x1018, 1}, 4, 0, 0},  // no vendor of CiA's list
    {{0x1018, 2}, 4, 0, 402},
    {{0x1018, 3}, 4, 0, 0x0001'0000},
    {{0x6007, 0}, 2, writable, 1},
    {{0x603F, 0}, 2, sendable, 0},
    {{0x6040, 0}, 2, writable | receivable, 0},
    {{0x6041, 0}, 2, sendable, 0},
    {{0x605A, 0}, 2, writable, 2},
    {{0x6060, 0}, 1, writable | receivable, 0},
    {{0x6061, 0}, 1, sendable, 0},
    {{0x6064, 0}, 4, sendable, 0},
    {{0x606C, 0}, 4, sendable, 0},
    {{0x6071, 0}, 2, writable | receivable, 0},
    {{0x6077, 0}, 2, sendable, 0},
    {{0x607A, 0}, 4, writable | receivable, 0},
    {{0x6081, 0}, 4, writable | receivable, 50'000},
    {{0x6083, 0}, 4, writable, 500'000},
    {{0x6085, 0}, 4, writable, 2'000'000},
    {{0x6098, 0}, 1, writable, 37},
    {{0x6099, 0}, 1, 0, 1},
    {{0x6099, 1}, 4, writable, 20'000},
    {{0x60C2, 0}, 1, 0, 2},
    {{0x60C2, 1}, 1, writable, 1},
    {{0x60C2, 2}, 1, writable, -3},
    {{0x60FF, 0}, 4, writable | receivable, 0},
    {{0x6502, 0}, 4, 0, 0x03AD},  // modes 1, 3, 4, 6, 8, 9, 10
}};

constexpr std::uint32_t mask_of(std::size_t bytes) noexcept {
  return bytes >= 4 ? 0xFFFF'FFFFU : (std::uint32_t{1} << (8 * bytes)) - 1;
}

std::optional<std::size_t> find(Address object) noexcept {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].object == object) return i;
  }
  return std::nullopt;
}
bool has_index(std::uint16_t index) noexcept {
  return std::any_of(rows.begin(), rows.end(), [index](const Row& row) { return row.object.index == index; });
}
Address address_of(std::uint32_t mapping) noexcept {
  return {static_cast<std::uint16_t>(mapping >> 16), static_cast<std::uint8_t>(mapping >> 8)};
}

void store(std::uint8_t* bytes, std::size_t count, std::uint32_t value) noexcept {
  for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::uint8_t>(value >> (8 * i));
}
std::uint32_t load(const std::uint8_t* bytes, std::size_t count) noexcept {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < count; ++i) value |= std::uint32_t{bytes[i]} << (8 * i);
  return value;
}

/// Compares the length of a number with the received one: SdoAbort::none if they are equal.
SdoAbort check_length(std::size_t expected, std::size_t given) noexcept {
  if (given == expected) return SdoAbort::none;
  return given > expected ? SdoAbort::too_long : SdoAbort::too_short;
}

tl::expected<std::size_t, SdoAbort> read_text(std::string_view text, std::span<std::uint8_t> room) noexcept {
  if (room.size() < text.size()) return tl::unexpected(SdoAbort::out_of_memory);
  std::copy(text.begin(), text.end(), room.begin());
  return text.size();
}

// The parameters of PDOs: 1400h and 1800h communication, 1600h and 1A00h mapping.
constexpr bool is_pdo(std::uint16_t index) noexcept {
  const unsigned kind = index & 0xFE00U;
  return (kind == 0x1400 || kind == 0x1600 || kind == 0x1800 || kind == 0x1A00) &&
         (index & 0x1FFU) < Cia402Objects::pdos;
}
constexpr bool is_mapping(std::uint16_t index) noexcept { return (index & 0x0200U) != 0; }
constexpr bool is_receive(std::uint16_t index) noexcept { return index < 0x1800; }

std::size_t pdo_bytes(Address object) noexcept {
  if (object.subindex == 0) return 1;
  return is_mapping(object.index) || object.subindex == 1 ? 4 : 1;
}

}  // namespace

void Cia402Objects::reset(std::uint8_t node) noexcept {
  for (std::size_t i = 0; i < rows.size(); ++i) set(static_cast<Cia402Object>(i), rows[i].initial);
  receive_.fill({});
  transmit_.fill({});
  receive_[0].id = canopen::pdo_id(canopen::PdoDirection::receive, 1, node);
  receive_[0].mapped = 1;
  receive_[0].map[0] = 0x6040'0010;
  transmit_[0].id = canopen::pdo_id(canopen::PdoDirection::transmit, 1, node);
  transmit_[0].mapped = 1;
  transmit_[0].map[0] = 0x6041'0010;
}

std::int32_t Cia402Objects::number(Cia402Object object) const noexcept {
  const unsigned unused = 32 - 8U * rows[static_cast<std::size_t>(object)].bytes;
  return static_cast<std::int32_t>((*this)[object] << unused) >> unused;
}

void Cia402Objects::set(Cia402Object object, std::int64_t value) noexcept {
  const auto i = static_cast<std::size_t>(object);
  values_[i] = static_cast<std::uint32_t>(value) & mask_of(rows[i].bytes);
}

bool Cia402Objects::unpack(const Pdo& pdo, std::span<const std::uint8_t> data) noexcept {
  std::size_t length = 0;
  for (std::size_t i = 0; i < pdo.mapped; ++i) length += (pdo.map[i] & 0xFFU) / 8;
  if (length > data.size()) return false;
  std::size_t at = 0;
  for (std::size_t i = 0; i < pdo.mapped; ++i) {
    const std::size_t bytes = (pdo.map[i] & 0xFFU) / 8;
    if (const auto row = find(address_of(pdo.map[i]))) values_[*row] = load(data.data() + at, bytes);
    at += bytes;
  }
  return true;
}

std::size_t Cia402Objects::pack(const Pdo& pdo, std::span<std::uint8_t> data) const noexcept {
  std::size_t at = 0;
  for (std::size_t i = 0; i < pdo.mapped; ++i) {
    const std::size_t bytes = (pdo.map[i] & 0xFFU) / 8;
    if (at + bytes > data.size()) break;
    if (const auto row = find(address_of(pdo.map[i]))) store(data.data() + at, bytes, values_[*row]);
    at += bytes;
  }
  return at;
}

const Cia402Objects::Pdo* Cia402Objects::find_pdo(std::uint16_t index) const noexcept {
  if (!is_pdo(index)) return nullptr;
  return is_receive(index) ? &receive_[index & 0x1FFU] : &transmit_[index & 0x1FFU];
}

tl::expected<std::size_t, SdoAbort> Cia402Objects::read(Address object,
                                                        std::span<std::uint8_t> room) const noexcept {
  if (object == Address{0x1008, 0}) return read_text(device_name, room);
  if (object == Address{0x100A, 0}) return read_text(software, room);
  std::uint32_t value = 0;
  std::size_t bytes = 0;
  if (const Pdo* pdo = find_pdo(object.index)) {
    const bool mapping = is_mapping(object.index);
    if (object.subindex > (mapping ? canopen::max_mapped : 2))
      return tl::unexpected(SdoAbort::no_such_subindex);
    bytes = pdo_bytes(object);
    if (mapping) {
      value = object.subindex == 0 ? pdo->mapped : pdo->map[object.subindex - 1U];
    } else {
      value = object.subindex == 0 ? 2 : object.subindex == 1 ? pdo->id : pdo->type;
    }
  } else if (const auto row = find(object)) {
    bytes = rows[*row].bytes;
    value = values_[*row];
  } else {
    return tl::unexpected(has_index(object.index) ? SdoAbort::no_such_subindex : SdoAbort::no_such_object);
  }
  if (room.size() < bytes) return tl::unexpected(SdoAbort::out_of_memory);
  store(room.data(), bytes, value);
  return bytes;
}

SdoAbort Cia402Objects::write(Address object, std::span<const std::uint8_t> data) noexcept {
  if (is_pdo(object.index)) {
    if (const SdoAbort length = check_length(pdo_bytes(object), data.size()); length != SdoAbort::none)
      return length;
    const std::uint32_t value = load(data.data(), data.size());
    const bool receive = is_receive(object.index);
    Pdo& pdo = receive ? receive_[object.index & 0x1FFU] : transmit_[object.index & 0x1FFU];
    return is_mapping(object.index) ? write_mapping(pdo, receive, object.subindex, value)
                                    : write_communication(pdo, object.subindex, value);
  }
  const auto row = find(object);
  if (!row) return has_index(object.index) ? SdoAbort::no_such_subindex : SdoAbort::no_such_object;
  if ((rows[*row].rights & writable) == 0) return SdoAbort::read_only;
  if (const SdoAbort length = check_length(rows[*row].bytes, data.size()); length != SdoAbort::none)
    return length;
  values_[*row] = load(data.data(), data.size());
  return SdoAbort::none;
}

SdoAbort Cia402Objects::write_communication(Pdo& pdo, std::uint8_t subindex, std::uint32_t value) noexcept {
  switch (subindex) {
    case 0:
      return SdoAbort::read_only;
    case 1: {
      constexpr std::uint32_t flags = 0xC000'0000;
      if ((value & ~flags) > can::max_standard_id) return SdoAbort::bad_value;
      const bool stays_in_use = pdo.in_use() && (value & Pdo::out_of_use) == 0;
      if (stays_in_use && value != pdo.id) return SdoAbort::bad_value;
      pdo.id = value;
      return SdoAbort::none;
    }
    case 2:
      if (value > 240 && value < 254) return SdoAbort::bad_value;
      pdo.type = static_cast<std::uint8_t>(value);
      return SdoAbort::none;
    default:
      return SdoAbort::no_such_subindex;
  }
}

SdoAbort Cia402Objects::write_mapping(Pdo& pdo, bool receive, std::uint8_t subindex,
                                      std::uint32_t value) noexcept {
  if (subindex > canopen::max_mapped) return SdoAbort::no_such_subindex;
  if (pdo.in_use()) return SdoAbort::unsupported_access;
  if (subindex == 0) {
    if (value > canopen::max_mapped) return SdoAbort::value_too_high;
    std::size_t bits = 0;
    for (std::size_t i = 0; i < value; ++i) {
      if (pdo.map[i] == 0) return SdoAbort::incompatible_parameter;
      bits += pdo.map[i] & 0xFFU;
    }
    if (bits > 64) return SdoAbort::pdo_too_long;
    pdo.mapped = static_cast<std::uint8_t>(value);
    return SdoAbort::none;
  }
  if (pdo.mapped != 0) return SdoAbort::unsupported_access;
  const auto row = find(address_of(value));
  if (!row) return SdoAbort::no_such_object;
  const bool allowed = (rows[*row].rights & (receive ? receivable : sendable)) != 0;
  if (!allowed || (value & 0xFFU) != 8U * rows[*row].bytes) return SdoAbort::cannot_be_mapped;
  pdo.map[subindex - 1U] = value;
  return SdoAbort::none;
}

}  // namespace takt::drives
