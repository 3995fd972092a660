// The table that defines the fields of each system's block in a status frame.
//
// The lengths of all twelve blocks are known, and so is the layout of traction. The rest is provisional. The
// fields of steering are known, but not their offsets. The fields of the battery are from a sketch. In the
// other blocks, only the leading state is likely; their other fields are guesses without a unit. If you know
// better, write your own table and pass it to the codec. Every read of a field uses that table, also in the
// typed blocks:
//
//     constexpr std::array steering_fields{SystemField{"state", 0, FieldType::u8},
//                                          SystemField{"target_angle", 1, FieldType::i16},
//                                          SystemField{"current_angle", 3, FieldType::i16}};
//
//     constexpr std::array my_systems{SystemLayout{System::steering, "steering", 5, false, steering_fields}};
//     constexpr Layouts my_layouts = *Layouts::make(my_systems);
//
// List the systems in the vehicle's sending order, which decodes fastest (bench/vehicle_bench.cpp). Numbers
// in blocks are big-endian, at any offset, aligned or not.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "takt/core/error.hpp"
#include "takt/vehicle/error.hpp"
#include "takt/vehicle/systems.hpp"

namespace takt::vehicle {

/// The type of a field: its size in bytes, plus 0x80 if it is signed.
enum class FieldType : std::uint8_t { u8 = 1, u16 = 2, u32 = 4, i8 = 0x81, i16 = 0x82, i32 = 0x84 };

/// The size of a field in bytes. Real-time safe.
[[nodiscard]] constexpr std::size_t size_of(FieldType type) noexcept {
  return static_cast<std::size_t>(type) & 7U;
}
/// Whether the field has a sign. Real-time safe.
[[nodiscard]] constexpr bool is_signed(FieldType type) noexcept {
  return (static_cast<unsigned>(type) & 0x80U) != 0;
}

/// One number in a block.
struct SystemField {
  std::string_view name;    ///< for Layouts::find()
  std::uint8_t offset = 0;  ///< bytes from the beginning of the block
  FieldType type = FieldType::u8;
};

/// One system's block. It is `provisional` if its fields or their offsets are guesses.
struct SystemLayout {
  System system = System::communication;  ///< its id on the wire
  std::string_view name;
  std::uint8_t length = 0;  ///< bytes
  bool provisional = true;
  std::span<const SystemField> fields;  ///< one must be called "state"
};

/// The traction block in raw counts. `visit` names each field once, for code that reads or writes all of
/// them.
struct Traction {
  std::int32_t state = 0;        ///< a SystemState, as in the other blocks
  std::int32_t mode = 0;         ///< the vehicle's own number
  std::int32_t speed = 0;        ///< of the vehicle
  std::int32_t left_speed = 0;   ///< of the rear left wheel
  std::int32_t right_speed = 0;  ///< of the rear right wheel
  std::int32_t throttle = 0;
  std::int32_t brake = 0;
  std::int32_t reverse = 0;   ///< 0 or 1
  std::int32_t odometer = 0;  ///< wraps around

  static constexpr System system = System::traction;
  static constexpr std::size_t field_count = 9;
  /// Calls visitor(name, field) for each field, in order.
  template <class Block, class Visitor>
  static constexpr void visit(Block& block, Visitor visitor) {
    visitor("state", block.state);
    visitor("mode", block.mode);
    visitor("speed", block.speed);
    visitor("left_speed", block.left_speed);
    visitor("right_speed", block.right_speed);
    visitor("throttle", block.throttle);
    visitor("brake", block.brake);
    visitor("reverse", block.reverse);
    visitor("odometer", block.odometer);
  }
  friend constexpr bool operator==(const Traction&, const Traction&) = default;
};

/// The steering block in raw counts. `visit`: see Traction.
struct Steering {
  std::int32_t state = 0;
  std::int32_t current_angle = 0;  ///< of the front wheels
  std::int32_t target_angle = 0;   ///< that the vehicle steers to

  static constexpr System system = System::steering;
  static constexpr std::size_t field_count = 3;
  /// Calls visitor(name, member) for each member, in the order of the wire.
  template <class Block, class Visitor>
  static constexpr void visit(Block& block, Visitor visitor) {
    visitor("state", block.state);
    visitor("current_angle", block.current_angle);
    visitor("target_angle", block.target_angle);
  }
  friend constexpr bool operator==(const Steering&, const Steering&) = default;
};

/// The battery block in raw counts. `visit`: see Traction.
struct Battery {
  std::int32_t state = 0;
  std::int32_t charge = 0;
  std::int32_t current = 0;
  std::int32_t voltage = 0;
  std::int32_t highest_temperature = 0;
  std::int32_t lowest_temperature = 0;

  static constexpr System system = System::battery;
  static constexpr std::size_t field_count = 6;
  /// Calls visitor(name, member) for each member, in the order of the wire.
  template <class Block, class Visitor>
  static constexpr void visit(Block& block, Visitor visitor) {
    visitor("state", block.state);
    visitor("charge", block.charge);
    visitor("current", block.current);
    visitor("voltage", block.voltage);
    visitor("highest_temperature", block.highest_temperature);
    visitor("lowest_temperature", block.lowest_temperature);
  }
  friend constexpr bool operator==(const Battery&, const Battery&) = default;
};

namespace detail {

/// Loads eight bytes. Compilers recognise this as one load and a byte swap.
[[nodiscard]] constexpr std::uint64_t load_big(const std::uint8_t* bytes) noexcept {
  const auto byte = [bytes](unsigned i) { return std::uint64_t{bytes[i]} << (56 - 8 * i); };
  return byte(0) | byte(1) | byte(2) | byte(3) | byte(4) | byte(5) | byte(6) | byte(7);
}

/// Reads a field of any type without a branch. It loads eight bytes from the field's first byte on, and
/// shifts out the bytes behind the field, with the sign. For an unsigned type it then masks off the copies of
/// the sign.
class Place {
 public:
  constexpr Place() = default;
  explicit constexpr Place(const SystemField& field) noexcept
      : mask_(~std::uint64_t{0}),
        offset_(field.offset),
        shift_(static_cast<std::uint8_t>(64 - 8 * size_of(field.type))) {
    if (!is_signed(field.type)) mask_ >>= shift_;
  }

  [[nodiscard]] constexpr std::int64_t read(const std::uint8_t* block) const noexcept {
    return number(load_big(block + offset_));
  }
  /// Whether the field holds this value: it would be read as it was written.
  [[nodiscard]] constexpr bool fits(std::int64_t value) const noexcept {
    return number(static_cast<std::uint64_t>(value) << shift_) == value;
  }
  constexpr void write(std::uint8_t* block, std::int64_t value) const noexcept {
    const std::uint64_t word = static_cast<std::uint64_t>(value) << shift_;
    for (unsigned i = 0; 8 * i + shift_ < 64; ++i)
      block[offset_ + i] = static_cast<std::uint8_t>(word >> (56 - 8 * i));
  }

 private:
  [[nodiscard]] constexpr std::int64_t number(std::uint64_t word) const noexcept {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(static_cast<std::int64_t>(word) >> shift_) &
                                     mask_);
  }

  std::uint64_t mask_ = 0;
  std::uint8_t offset_ = 0;
  std::uint8_t shift_ = 0;
};

template <class Block>
using Places = std::array<Place, Block::field_count>;

/// The offsets of the blocks in a frame.
struct BlockIndex {
  SystemSet present;
  std::uint8_t count = 0;                           ///< number of all blocks
  std::uint8_t unknown = 0;                         ///< number of blocks whose system is not in the table
  std::array<std::uint8_t, max_systems> offsets{};  ///< of the present payloads

  /// The system must be below max_systems.
  constexpr void insert(System system, std::size_t offset) noexcept {
    present.insert(system);
    offsets[static_cast<std::uint8_t>(system)] = static_cast<std::uint8_t>(offset);
  }
};

/// The two bytes before a payload.
struct Head {
  System system = System::communication;
  std::uint8_t length = 0;
  std::uint8_t payload = 0;  ///< its offset in the frame's blocks
};

}  // namespace detail

/// A validated table, prepared for decoding. It keeps the span that it was made from, so that table must
/// outlive it. Usually it is a constant.
class Layouts {
 public:
  /// Validates a table. Error: bad_layout, for any of these:
  /// - no systems, an id of max_systems or above, or the same id twice;
  /// - a length of 0 or above max_length;
  /// - a field outside its block, or no field "state" of one byte;
  /// - a missing field of Traction, Steering or Battery, or one of type u32.
  [[nodiscard]] static constexpr Result<Layouts> make(std::span<const SystemLayout> systems) noexcept {
    if (systems.empty()) return fail(Errc::bad_layout);
    Layouts made(systems);
    for (const SystemLayout& layout : systems) {
      if (!made.add(layout)) return fail(Errc::bad_layout);
    }
    return made;
  }
  static constexpr std::uint8_t max_length = 242;  ///< of a block, in bytes: a frame holds one such block

  /// The table as given.
  [[nodiscard]] constexpr std::span<const SystemLayout> systems() const noexcept { return systems_; }

  /// The length of a system's block in bytes; 0 if the table does not have the system. Real-time safe.
  [[nodiscard]] constexpr std::uint8_t length(System system) const noexcept {
    const auto number = static_cast<std::uint8_t>(system);
    return number < max_systems ? lengths_[number] : std::uint8_t{0};
  }

  /// Finds a system's layout; nullptr if the table does not have it. Real-time safe.
  [[nodiscard]] constexpr const SystemLayout* find(System system) const noexcept {
    const auto* const found = std::find_if(systems_.data(), systems_.data() + systems_.size(),
                                           [&](const SystemLayout& l) { return l.system == system; });
    return found == systems_.data() + systems_.size() ? nullptr : found;
  }

  /// The same, by the system's name.
  [[nodiscard]] constexpr const SystemLayout* find(std::string_view name) const noexcept {
    for (const SystemLayout& layout : systems_)
      if (layout.name == name) return &layout;
    return nullptr;
  }

  /// Finds a field. Errors: unknown_system, unknown_field. Real-time safe.
  [[nodiscard]] constexpr Result<SystemField> find(System system, std::string_view field) const noexcept {
    // Does not call find(system): g++ 12 with -fsanitize=undefined cannot compare a pointer with nullptr in a
    // constant expression.
    for (const SystemLayout& layout : systems_) {
      if (layout.system != system) continue;
      for (const SystemField& f : layout.fields)
        if (f.name == field) return f;
      return fail(Errc::unknown_field);
    }
    return fail(Errc::unknown_system);
  }

  /// For the codec: the place of a system's state.
  [[nodiscard]] constexpr detail::Place state_place(System system) const noexcept {
    const auto number = static_cast<std::uint8_t>(system);
    return number < max_systems ? states_[number] : detail::Place{};
  }
  /// For the codec: the index of these blocks if they are exactly those of the table, in its order; otherwise
  /// nullptr. This common case is twice as fast, because no offset depends on the length of the block before.
  [[nodiscard]] constexpr const detail::BlockIndex* whole(
      std::span<const std::uint8_t> blocks) const noexcept {
    if (blocks.size() != whole_bytes_ || whole_bytes_ > max_length + 2) return nullptr;
    bool same = true;
    for (std::size_t i = 0; i < whole_.count; ++i) {
      const detail::Head& head = heads_[i];
      same = same && blocks[head.payload - 2U] == static_cast<std::uint8_t>(head.system) &&
             blocks[head.payload - 1U] == head.length;
    }
    return same ? &whole_ : nullptr;
  }
  /// For the codec: the places of a typed block's fields.
  template <class Block>
  [[nodiscard]] constexpr const detail::Places<Block>& places() const noexcept {
    if constexpr (Block::system == System::traction) {
      return traction_;
    } else if constexpr (Block::system == System::steering) {
      return steering_;
    } else {
      return battery_;
    }
  }

 private:
  explicit constexpr Layouts(std::span<const SystemLayout> systems) noexcept : systems_(systems) {}

  /// Also true for a block of another system.
  template <class Block>
  [[nodiscard]] constexpr bool add_typed(const SystemLayout& layout,
                                         detail::Places<Block>& places) const noexcept {
    if (layout.system != Block::system) return true;
    bool complete = true;
    std::size_t next = 0;
    const Block block;
    Block::visit(block, [&](std::string_view name, std::int32_t) {
      const auto field = find(layout.system, name);
      complete = complete && field && (*field).type != FieldType::u32;
      if (field) places[next] = detail::Place(*field);
      ++next;
    });
    return complete;
  }

  constexpr void add_to_whole(const SystemLayout& layout) noexcept {
    const std::size_t payload = whole_bytes_ + 2;
    heads_[whole_.count++] = {layout.system, layout.length, static_cast<std::uint8_t>(payload)};
    whole_.insert(layout.system, payload);
    whole_bytes_ = payload + layout.length;
  }

  [[nodiscard]] constexpr bool add(const SystemLayout& layout) noexcept {
    const auto number = static_cast<std::uint8_t>(layout.system);
    if (number >= max_systems || lengths_[number] != 0) return false;
    if (layout.length == 0 || layout.length > max_length) return false;
    for (const SystemField& field : layout.fields)
      if (field.offset + size_of(field.type) > layout.length) return false;
    lengths_[number] = layout.length;
    const auto state = find(layout.system, "state");
    if (!state || size_of((*state).type) != 1) return false;
    states_[number] = detail::Place(*state);
    add_to_whole(layout);
    return add_typed<Traction>(layout, traction_) && add_typed<Steering>(layout, steering_) &&
           add_typed<Battery>(layout, battery_);
  }

  std::span<const SystemLayout> systems_;
  std::array<std::uint8_t, max_systems> lengths_{};
  std::array<detail::Place, max_systems> states_{};
  std::array<detail::Head, max_systems> heads_{};
  detail::BlockIndex whole_;  // of a frame with all blocks in the table's order
  std::size_t whole_bytes_ = 0;
  detail::Places<Traction> traction_{};
  detail::Places<Steering> steering_{};
  detail::Places<Battery> battery_{};
};

namespace detail {

using enum FieldType;
inline constexpr std::array communication_fields{SystemField{"state", 0, u8}};
inline constexpr std::array battery_fields{SystemField{"state", 0, u8},
                                           SystemField{"charge", 1, u8},
                                           SystemField{"current", 2, u16},
                                           SystemField{"voltage", 4, u16},
                                           SystemField{"highest_temperature", 6, u8},
                                           SystemField{"lowest_temperature", 7, u8}};
inline constexpr std::array motion_control_fields{SystemField{"state", 0, u8}, SystemField{"steer", 1, i16},
                                                  SystemField{"throttle", 3, i16},
                                                  SystemField{"brake", 5, i16}};
inline constexpr std::array traction_fields{
    SystemField{"state", 0, i8},       SystemField{"mode", 1, i8},         SystemField{"speed", 2, i16},
    SystemField{"left_speed", 4, i16}, SystemField{"right_speed", 6, i16}, SystemField{"throttle", 8, i16},
    SystemField{"brake", 10, i16},     SystemField{"reverse", 12, i8},     SystemField{"odometer", 13, i32}};
inline constexpr std::array steering_fields{SystemField{"state", 0, i8}, SystemField{"current_angle", 1, i16},
                                            SystemField{"target_angle", 3, i16}};
inline constexpr std::array hydraulics_fields{
    SystemField{"state", 0, u8}, SystemField{"hydraulic_state", 1, u8}, SystemField{"pressure", 2, i16},
    SystemField{"temperature", 4, i16}, SystemField{"motor_speed", 6, i16}};
inline constexpr std::array suspension_fields{SystemField{"state", 0, u8}, SystemField{"height", 1, i16},
                                              SystemField{"target_height", 3, i16},
                                              SystemField{"pressure", 5, i16}};
inline constexpr std::array fork_fields{SystemField{"state", 0, u8}, SystemField{"fork_state", 1, u8},
                                        SystemField{"sensors", 2, u16}};

inline constexpr std::array furbot_table{
    SystemLayout{System::communication, "communication", 1, true, communication_fields},
    SystemLayout{System::battery, "battery", 8, true, battery_fields},
    SystemLayout{System::motion_control, "motion_control", 7, true, motion_control_fields},
    SystemLayout{System::traction, "traction", 17, false, traction_fields},
    SystemLayout{System::steering, "steering", 5, true, steering_fields},
    SystemLayout{System::hydraulics, "hydraulics", 8, true, hydraulics_fields},
    SystemLayout{System::suspension_rear_left, "suspension_rear_left", 7, true, suspension_fields},
    SystemLayout{System::suspension_rear_right, "suspension_rear_right", 7, true, suspension_fields},
    SystemLayout{System::suspension_front_left, "suspension_front_left", 7, true, suspension_fields},
    SystemLayout{System::suspension_front_right, "suspension_front_right", 7, true, suspension_fields},
    SystemLayout{System::rear_fork, "rear_fork", 11, true, fork_fields},
    SystemLayout{System::front_fork, "front_fork", 11, true, fork_fields}};

}  // namespace detail

/// The Furbot's status frame, as far as it is known; the rest is guessed (provisional).
inline constexpr Layouts furbot_layouts = *Layouts::make(detail::furbot_table);

}  // namespace takt::vehicle
