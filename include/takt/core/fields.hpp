// One list of a type's fields. A type names its fields once. From the list come its schema in shared memory
// and the JSON of its values. So do the hash of its layout, its record in a file, and the check of its C
// struct.
//
//     struct Reference {
//       std::array<double, 6> position{};
//       takt::Time stamp{};
//       std::uint8_t mode = 0;
//
//       TAKT_FIELDS(Reference, position, stamp, mode)
//     };
//
//     takt::for_each_field(reference, [](std::string_view name, auto& value) { print(name, value); });
//
// The list names all fields, in their order. Where it is used, the compiler rejects a list with a forgotten
// or an additional field. Where a layout is asked for, it rejects another order, too. It cannot count the
// fields of a type with C arrays or with members such as std::optional. There it compares the sizes, so a
// field that fits into padding stays unnoticed.
//
// A layout consists of numbers, enums, Time, Duration, types with their own list, and arrays of these.
// Members of other types are possible where no layout is asked for. Everything is constexpr and real-time
// safe.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "takt/core/finite_math.hpp"
#include "takt/core/hash.hpp"

/// The list of a type's fields, written inside the type.
#define TAKT_FIELDS(Type, ...)                                                          \
  friend constexpr auto takt_fields(::std::type_identity<Type>) noexcept {              \
    return ::std::tuple{TAKT_DETAIL_EXPAND(TAKT_DETAIL_EACH_FIELD(Type, __VA_ARGS__))}; \
  }

/// The list of a type that cannot be changed, such as a C struct. Written after it, in its namespace.
#define TAKT_FIELDS_OF(Type, ...)                                                       \
  constexpr auto takt_fields(::std::type_identity<Type>) noexcept {                     \
    return ::std::tuple{TAKT_DETAIL_EXPAND(TAKT_DETAIL_EACH_FIELD(Type, __VA_ARGS__))}; \
  }

// The lambda is generic, so the compiler asks for an offset only where a layout is used.
#define TAKT_DETAIL_FIELD(Type, field)                                           \
  ::takt::Member(#field, &Type::field, [](auto type) noexcept -> ::std::size_t { \
    return offsetof(typename decltype(type)::type, field);                       \
  })
#define TAKT_DETAIL_EACH_FIELD(Type, field, ...) \
  TAKT_DETAIL_FIELD(Type, field)                 \
  __VA_OPT__(, TAKT_DETAIL_EACH_AGAIN TAKT_DETAIL_PARENTHESES(Type, __VA_ARGS__))
#define TAKT_DETAIL_EACH_AGAIN() TAKT_DETAIL_EACH_FIELD
#define TAKT_DETAIL_PARENTHESES ()
// Each scan expands one more field: 4 * 4 * 4 scans and a few.
#define TAKT_DETAIL_EXPAND(...) \
  TAKT_DETAIL_SCAN_16(TAKT_DETAIL_SCAN_16(TAKT_DETAIL_SCAN_16(TAKT_DETAIL_SCAN_16(__VA_ARGS__))))
#define TAKT_DETAIL_SCAN_16(...) \
  TAKT_DETAIL_SCAN_4(TAKT_DETAIL_SCAN_4(TAKT_DETAIL_SCAN_4(TAKT_DETAIL_SCAN_4(__VA_ARGS__))))
#define TAKT_DETAIL_SCAN_4(...) \
  TAKT_DETAIL_SCAN(TAKT_DETAIL_SCAN(TAKT_DETAIL_SCAN(TAKT_DETAIL_SCAN(__VA_ARGS__))))
#define TAKT_DETAIL_SCAN(...) __VA_ARGS__

namespace takt {

/// One field of a list: its name, and its place in T.
template <class T, class M, class Offset>
struct Member {
  using Type = M;

  constexpr Member(std::string_view its_name, M T::*its_pointer, Offset offset) noexcept
      : name(its_name), pointer(its_pointer), offset_(offset) {}

  /// Bytes from the beginning of T.
  [[nodiscard]] constexpr std::size_t offset() const noexcept { return offset_(std::type_identity<T>{}); }

  std::string_view name;
  M T::*pointer;

 private:
  Offset offset_;
};

/// A type with a list of its fields.
template <class T>
concept HasFields = requires {
  takt_fields(std::type_identity<T>{});
};

/// The number type that a class is made of, if it is one number in memory. Specialise it with a member
/// `Type`.
template <class T>
struct NumberOf {};
template <class T>
requires std::is_enum_v<T>
struct NumberOf<T> {
  using Type = std::underlying_type_t<T>;
};
template <class T>
requires(std::integral<T> || std::floating_point<T>) &&
    (!std::same_as<T, bool>)&&(sizeof(T) <= 8) struct NumberOf<T> {
  using Type = T;
};
/// One number in memory: an integer, a floating-point number, an enum, a Time, a Duration.
template <class T>
concept NumberField = requires {
  typename NumberOf<T>::Type;
};

/// The type of a number in memory.
enum class Scalar : std::uint8_t { u8, u16, u32, u64, i8, i16, i32, i64, f32, f64 };

/// The names of the scalars, in the order of Scalar.
inline constexpr std::array<std::string_view, 10> scalar_names = {"u8",  "u16", "u32", "u64", "i8",
                                                                  "i16", "i32", "i64", "f32", "f64"};

/// The size of a scalar, which is also its alignment, in bytes.
[[nodiscard]] constexpr std::uint32_t bytes_of(Scalar type) noexcept {
  constexpr std::array<std::uint8_t, 10> sizes = {1, 2, 4, 8, 1, 2, 4, 8, 4, 8};
  return sizes[static_cast<std::size_t>(type)];
}

/// The scalar of T.
template <NumberField T>
[[nodiscard]] constexpr Scalar scalar_of() noexcept {
  using Number = typename NumberOf<T>::Type;
  constexpr int power = sizeof(Number) == 8 ? 3 : sizeof(Number) == 4 ? 2 : sizeof(Number) == 2 ? 1 : 0;
  if constexpr (std::floating_point<Number>) return power == 3 ? Scalar::f64 : Scalar::f32;
  return static_cast<Scalar>(std::signed_integral<Number> ? 4 + power : power);
}

namespace fields_detail {

/// The elements of an array: std::array or a C array.
template <class T>
struct ElementsOf {};
template <class E, std::size_t count>
struct ElementsOf<std::array<E, count>> {
  using Type = E;
  static constexpr std::size_t size = count;
};
template <class E, std::size_t count>
struct ElementsOf<E[count]> : ElementsOf<std::array<E, count>> {};

/// Converts to any type. The compiler counts fields with it.
struct AnyField {
  template <class T>
  operator T() const noexcept;  // NOLINT(google-explicit-constructor): to convert without a word is its use
};

template <class T, std::size_t... index>
[[nodiscard]] constexpr bool takes(std::index_sequence<index...>) noexcept {
  return requires { T{(static_cast<void>(index), AnyField{})...}; };
}

/// Whether an aggregate T can be made of `count` values.
template <class T, std::size_t count>
inline constexpr bool takes_fields = takes<T>(std::make_index_sequence<count>{});

/// The end of a T whose members have these types, in bytes.
template <class T, class... M, class... Offset>
[[nodiscard]] constexpr std::size_t size_of(const std::tuple<Member<T, M, Offset>...>&) noexcept {
  std::size_t end = 0;
  const auto round_up = [](std::size_t size, std::size_t to) { return (size + to - 1) / to * to; };
  ((end = round_up(end, alignof(M)) + sizeof(M)), ...);
  return round_up(end, alignof(T));
}

template <class T, class... M, class... Offset>
[[nodiscard]] constexpr bool lists_each_field(const std::tuple<Member<T, M, Offset>...>& list) noexcept {
  constexpr std::size_t count = sizeof...(M);
  if constexpr (std::is_aggregate_v<T> && !(std::is_array_v<M> || ...)) {
    if constexpr (takes_fields<T, count>) return !takes_fields<T, count + 1>;
  }
  return size_of(list) == sizeof(T);
}

}  // namespace fields_detail

/// An array of a field: std::array, or a C array in a C struct.
template <class T>
concept ArrayField = requires {
  typename fields_detail::ElementsOf<T>::Type;
};

/// The list of T, a tuple of Member.
template <HasFields T>
[[nodiscard]] constexpr auto fields_of() noexcept {
  constexpr auto list = takt_fields(std::type_identity<T>{});
  static_assert(fields_detail::lists_each_field<T>(list),
                "TAKT_FIELDS must name each field of the type once");
  return list;
}

/// The number of fields in T's list.
template <HasFields T>
inline constexpr std::size_t field_count = std::tuple_size_v<decltype(fields_of<T>())>;

/// Calls visit(name, field) for the fields first .. end-1 of an object's list; by default for all. The field
/// is const if the object is.
template <std::size_t first = 0, std::size_t end = std::size_t(-1), class T, class Visit>
requires HasFields<std::remove_const_t<T>>
constexpr void for_each_field(T& object, Visit&& visit) {
  constexpr auto list = fields_of<std::remove_const_t<T>>();
  constexpr std::size_t count = std::tuple_size_v<decltype(list)>;
  constexpr std::size_t last = end < count ? end : count;
  [&]<std::size_t... index>(std::index_sequence<index...>) {
    (visit(std::get<first + index>(list).name, object.*(std::get<first + index>(list).pointer)), ...);
  }
  (std::make_index_sequence<last - first>{});
}

// ---- the layout of a type in memory ----

namespace fields_detail {

/// Whether each member begins where the one before it ends, or behind that.
template <class T, class... M, class... Offset>
[[nodiscard]] constexpr bool in_order(const std::tuple<Member<T, M, Offset>...>& list) noexcept {
  std::size_t end = 0;
  bool ordered = true;
  const auto add = [&]<class N, class At>(const Member<T, N, At>& member) {
    ordered = ordered && member.offset() >= end;
    end = member.offset() + sizeof(N);
  };
  std::apply([&](const auto&... member) { (add(member), ...); }, list);
  return ordered;
}

/// The list of T, whose fields are in order.
template <HasFields T>
[[nodiscard]] constexpr auto ordered_fields_of() noexcept {
  constexpr auto list = fields_of<T>();
  static_assert(in_order(list), "TAKT_FIELDS must name the fields in the order of their declaration");
  return list;
}

template <class T, class M, class Offset>
constexpr void hash_member(Fnv1a& hash, const Member<T, M, Offset>& member) noexcept;

template <class T>
constexpr void hash_layout(Fnv1a& hash) noexcept {
  if constexpr (NumberField<T>) {
    hash.number(static_cast<int>(scalar_of<T>()));
  } else if constexpr (ArrayField<T>) {
    hash.text("[]");
    hash.number(ElementsOf<T>::size);
    hash_layout<typename ElementsOf<T>::Type>(hash);
  } else if constexpr (HasFields<T>) {
    hash.text("{}");
    hash.number(sizeof(T));
    std::apply([&](const auto&... member) { (hash_member(hash, member), ...); }, ordered_fields_of<T>());
  } else {
    static_assert(std::same_as<T, bool> || std::is_pointer_v<T>, "this type has neither fields nor a layout");
    hash.text(std::is_pointer_v<T> ? "pointer" : "bool");
  }
}

template <class T, class M, class Offset>
constexpr void hash_member(Fnv1a& hash, const Member<T, M, Offset>& member) noexcept {
  hash.text(member.name);
  hash.number(member.offset());
  hash_layout<M>(hash);
}

}  // namespace fields_detail

/// A hash over the names, types and offsets of T's fields, and of the fields of these.
template <class T>
inline constexpr std::uint64_t layout_hash = [] {
  Fnv1a hash;
  fields_detail::hash_layout<T>(hash);
  return hash.value();
}();

/// A field inside nested types: "joints.3.position". It lives as long as the walk that made it.
struct FieldPath {
  const FieldPath* parent = nullptr;  ///< null at the top
  std::string_view name;              ///< empty for an element of an array
  std::size_t index = 0;              ///< of that element
};

/// One number, or one array of numbers, in a type's layout.
struct NumberPlace {
  Scalar type = Scalar::u8;
  bool is_array = false;
  std::size_t count = 1;   ///< elements of the array; 1 without an array
  std::size_t offset = 0;  ///< bytes from the beginning
};

/// Calls visit(path, place) for each number and each array of numbers of T, in the order of their offsets.
/// Arrays of arrays count as one array.
template <class T, class Visit>
constexpr void for_each_number(Visit& visit, const FieldPath& path, NumberPlace place = {}) {
  if constexpr (NumberField<T>) {
    place.type = scalar_of<T>();
    visit(path, place);
  } else if constexpr (ArrayField<T>) {
    using Elements = fields_detail::ElementsOf<T>;
    using Element = typename Elements::Type;
    if constexpr (HasFields<Element>) {
      for (std::size_t i = 0; i < Elements::size; ++i, place.offset += sizeof(Element))
        for_each_number<Element>(visit, FieldPath{&path, {}, i}, place);
    } else {
      place.is_array = true;
      place.count *= Elements::size;
      for_each_number<Element>(visit, path, place);
    }
  } else {
    static_assert(HasFields<T>,
                  "shared data are numbers, arrays and types with TAKT_FIELDS; for bool, use u8");
    const auto visit_member = [&]<class M, class Offset>(const Member<T, M, Offset>& member) {
      NumberPlace inner = place;
      inner.offset += member.offset();
      for_each_number<M>(visit, FieldPath{&path, member.name}, inner);
    };
    std::apply([&](const auto&... member) { (visit_member(member), ...); },
               fields_detail::ordered_fields_of<T>());
  }
}

/// Whether the numbers of A and B have the same types and places: a C struct and its C++ twin. Names may
/// differ.
template <class A, class B>
[[nodiscard]] constexpr bool same_layout() noexcept {
  const auto hash_places = []<class T>(std::type_identity<T>) {
    Fnv1a hash;
    auto visit = [&](const FieldPath&, const NumberPlace& place) {
      for (const std::size_t number : {std::size_t(place.type), place.count, place.offset})
        hash.number(number);
    };
    for_each_number<T>(visit, {});
    return hash.value();
  };
  if (sizeof(A) != sizeof(B)) return false;
  if (alignof(A) != alignof(B)) return false;
  return hash_places(std::type_identity<A>{}) == hash_places(std::type_identity<B>{});
}

}  // namespace takt
