// Where the numbers of a system stand in its block of a status frame, as a table. The lengths of all twelve blocks are known, and
// the layout of traction. All else is provisional: the fields of steering are known but not their places; those of the battery
// are from a sketch; of the rest only that a state comes first is likely, and further fields are guesses without a unit. Whoever
// knows better makes a table of his own and hands it to the codec; all that reads fields, the typed blocks too, goes by it:
//
//     constexpr std::array steering_fields{Field{"state", 0, FieldType::u8}, Field{"target_angle", 1, FieldType::i16}, ...};
//     constexpr std::array my_systems{SystemLayout{System::steering, "steering", 5, false, steering_fields}, ...};
//     constexpr Layouts my_layouts = *Layouts::make(my_systems);
//
// The order of the table is best that in which the vehicle sends: see bench/vehicle_bench.cpp.
// Numbers in blocks stand with the most significant byte first, wherever, aligned or not.
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

/// The size in bytes, and 0x80 for those with a sign.
enum class FieldType : std::uint8_t { u8 = 1, u16 = 2, u32 = 4, i8 = 0x81, i16 = 0x82, i32 = 0x84 };

[[nodiscard]] constexpr std::size_t size_of(FieldType type) noexcept {
  return static_cast<std::size_t>(type) & 7U;
}
[[nodiscard]] constexpr bool is_signed(FieldType type) noexcept {
  return (static_cast<unsigned>(type) & 0x80U) != 0;
}

struct Field {
  std::string_view name;
  std::uint8_t offset = 0;  ///< bytes from the beginning of the block
  FieldType type = FieldType::u8;
};

/// One system's block. `provisional` says that the places of its fields, or the fields themselves, are a guess.
struct SystemLayout {
  System system = System::communication;
  std::string_view name;
  std::uint8_t length = 0;  ///< bytes
  bool provisional = true;
  std::span<const Field> fields;  ///< one is called "state"
};

/// Raw counts. `visit` names each field once, for whatever reads or writes them.
struct Traction {
  std::int32_t state = 0;  ///< a SystemState; so it is in the other blocks
  std::int32_t mode = 0;
  std::int32_t speed = 0;
  std::int32_t left_speed = 0;  ///< of the rear left wheel
  std::int32_t right_speed = 0;
  std::int32_t throttle = 0;
  std::int32_t brake = 0;
  std::int32_t reverse = 0;   ///< 0 or 1
  std::int32_t odometer = 0;  ///< goes round

  static constexpr System system = System::traction;
  static constexpr std::size_t field_count = 9;
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

/// Raw counts.
struct Steering {
  std::int32_t state = 0;
  std::int32_t current_angle = 0;
  std::int32_t target_angle = 0;

  static constexpr System system = System::steering;
  static constexpr std::size_t field_count = 3;
  template <class Block, class Visitor>
  static constexpr void visit(Block& block, Visitor visitor) {
    visitor("state", block.state);
    visitor("current_angle", block.current_angle);
    visitor("target_angle", block.target_angle);
  }
  friend constexpr bool operator==(const Steering&, const Steering&) = default;
};

/// Raw counts.
struct Battery {
  std::int32_t state = 0;
  std::int32_t charge = 0;
  std::int32_t current = 0;
  std::int32_t voltage = 0;
  std::int32_t highest_temperature = 0;
  std::int32_t lowest_temperature = 0;

  static constexpr System system = System::battery;
  static constexpr std::size_t field_count = 6;
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

/// Eight bytes as compilers know to be one load and a swap.
[[nodiscard]] constexpr std::uint64_t load_big(const std::uint8_t* bytes) noexcept {
  const auto byte = [bytes](unsigned i) { return std::uint64_t{bytes[i]} << (56 - 8 * i); };
  return byte(0) | byte(1) | byte(2) | byte(3) | byte(4) | byte(5) | byte(6) | byte(7);
}

/// A field as it is read, whatever its type: eight bytes from its first on as one number, what does not belong to it shifted out with
/// the sign kept, and the sign masked off again where there is none.
class Place {
 public:
  constexpr Place() = default;
  explicit constexpr Place(const Field& field) noexcept
      : mask_(~std::uint64_t{0}),
        offset_(field.offset),
        shift_(static_cast<std::uint8_t>(64 - 8 * size_of(field.type))) {
    if (!is_signed(field.type)) mask_ >>= shift_;
  }

  [[nodiscard]] constexpr std::int64_t read(const std::uint8_t* block) const noexcept {
    return number(load_big(block + offset_));
  }
  /// It is read as it was written.
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

/// Where the blocks of a frame are.
struct BlockIndex {
  SystemSet present;
  std::uint8_t count = 0;                           ///< of all blocks
  std::uint8_t unknown = 0;                         ///< of those whose system the table does not have
  std::array<std::uint8_t, max_systems> offsets{};  ///< of the payloads of those present

  /// Of a system below max_systems.
  constexpr void insert(System system, std::size_t offset) noexcept {
    present.insert(system);
    offsets[static_cast<std::uint8_t>(system)] = static_cast<std::uint8_t>(offset);
  }
};

/// The two bytes before a payload.
struct Head {
  System system = System::communication;
  std::uint8_t length = 0;
  std::uint8_t payload = 0;  ///< its offset
};

}  // namespace detail

/// A table that was checked, made for decoding. It keeps the span that it was made of: the table, usually a constant, lives as
/// long.
class Layouts {
 public:
  /// Errors: bad_layout (no systems, an id of max_systems or above, an id twice, a length of 0 or above max_length, a field outside
  /// of its block, no field "state", and of traction, steering and battery: any field of theirs missing or an u32).
  [[nodiscard]] static constexpr Result<Layouts> make(std::span<const SystemLayout> systems) noexcept {
    if (systems.empty()) return fail(Errc::bad_layout);
    Layouts made(systems);
    for (const SystemLayout& layout : systems) {
      if (!made.add(layout)) return fail(Errc::bad_layout);
    }
    return made;
  }
  static constexpr std::uint8_t max_length = 242;  ///< of a block, bytes: a frame holds one such

  [[nodiscard]] constexpr std::span<const SystemLayout> systems() const noexcept { return systems_; }

  /// Of a system's block, bytes; 0 of one that the table does not have. Real-time safe.
  [[nodiscard]] constexpr std::uint8_t length(System system) const noexcept {
    const auto number = static_cast<std::uint8_t>(system);
    return number < max_systems ? lengths_[number] : std::uint8_t{0};
  }

  /// Looks through the table, nullptr if it is not in there. Real-time safe.
  [[nodiscard]] constexpr const SystemLayout* find(System system) const noexcept {
    const auto* const found = std::find_if(systems_.data(), systems_.data() + systems_.size(),
                                           [&](const SystemLayout& l) { return l.system == system; });
    return found == systems_.data() + systems_.size() ? nullptr : found;
  }

  /// The same by name.
  [[nodiscard]] constexpr const SystemLayout* find(std::string_view name) const noexcept {
    for (const SystemLayout& layout : systems_)
      if (layout.name == name) return &layout;
    return nullptr;
  }

  /// Looks through the table. Errors: unknown_system, unknown_field. Real-time safe.
  [[nodiscard]] constexpr Result<Field> find(System system, std::string_view field) const noexcept {
    // Without find(system): with -fsanitize=undefined g++ 12 compares no pointer with nullptr in a constant expression.
    for (const SystemLayout& layout : systems_) {
      if (layout.system != system) continue;
      for (const Field& f : layout.fields)
        if (f.name == field) return f;
      return fail(Errc::unknown_field);
    }
    return fail(Errc::unknown_system);
  }

  /// For the codec: where the state of a system stands, and the fields of the typed blocks.
  [[nodiscard]] constexpr detail::Place state_place(System system) const noexcept {
    const auto number = static_cast<std::uint8_t>(system);
    return number < max_systems ? states_[number] : detail::Place{};
  }
  /// For the codec: the index of these blocks if they are all those of the table in its order, else nullptr. It is the common case, and
  /// twice as fast, because no block has to wait for the length of the one before.
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

  /// True for a block of another system, too.
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
    for (const Field& field : layout.fields)
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
  detail::BlockIndex whole_;  // of a frame with all blocks in the order of the table
  std::size_t whole_bytes_ = 0;
  detail::Places<Traction> traction_{};
  detail::Places<Steering> steering_{};
  detail::Places<Battery> battery_{};
};

namespace detail {

using enum FieldType;
inline constexpr std::array communication_fields{Field{"state", 0, u8}};
inline constexpr std::array battery_fields{Field{"state", 0, u8},
                                           Field{"charge", 1, u8},
                                           Field{"current", 2, u16},
                                           Field{"voltage", 4, u16},
                                           Field{"highest_temperature", 6, u8},
                                           Field{"lowest_temperature", 7, u8}};
inline constexpr std::array motion_control_fields{Field{"state", 0, u8}, Field{"steer", 1, i16},
                                                  Field{"throttle", 3, i16}, Field{"brake", 5, i16}};
inline constexpr std::array traction_fields{
    Field{"state", 0, i8},       Field{"mode", 1, i8},         Field{"speed", 2, i16},
    Field{"left_speed", 4, i16}, Field{"right_speed", 6, i16}, Field{"throttle", 8, i16},
    Field{"brake", 10, i16},     Field{"reverse", 12, i8},     Field{"odometer", 13, i32}};
inline constexpr std::array steering_fields{Field{"state", 0, i8}, Field{"current_angle", 1, i16},
                                            Field{"target_angle", 3, i16}};
inline constexpr std::array hydraulics_fields{Field{"state", 0, u8}, Field{"hydraulic_state", 1, u8},
                                              Field{"pressure", 2, i16}, Field{"temperature", 4, i16},
                                              Field{"motor_speed", 6, i16}};
inline constexpr std::array suspension_fields{Field{"state", 0, u8}, Field{"height", 1, i16},
                                              Field{"target_height", 3, i16}, Field{"pressure", 5, i16}};
inline constexpr std::array fork_fields{Field{"state", 0, u8}, Field{"fork_state", 1, u8},
                                        Field{"sensors", 2, u16}};

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

/// What is known of the Furbot's status frame, and what is guessed.
inline constexpr Layouts furbot_layouts = *Layouts::make(detail::furbot_table);

}  // namespace takt::vehicle
