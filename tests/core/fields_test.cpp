#include "takt/core/fields.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <vector>

#include "takt/core/time.hpp"

namespace {

enum class Mode : std::uint8_t { off, on };

struct Inner {
  double x = 0;
  float y = 0;

  TAKT_FIELDS(Inner, x, y)
};

struct Outer {
  std::array<double, 3> position{};
  takt::Time stamp{};
  Mode mode = Mode::off;
  std::array<Inner, 2> inner{};
  std::array<std::array<std::uint16_t, 2>, 2> table{};

  TAKT_FIELDS(Outer, position, stamp, mode, inner, table)
};

struct Forgets {
  double a = 0;
  std::uint8_t b = 0;
  std::uint8_t c = 0;

  TAKT_FIELDS(Forgets, a, b)
};

struct Misplaces {
  std::uint8_t a = 0;
  double b = 0;
  std::uint32_t c = 0;

  TAKT_FIELDS(Misplaces, b, a, c)
};

struct ForgetsBesideOptional {
  std::optional<double> a;
  double b = 0;
  double c = 0;

  TAKT_FIELDS(ForgetsBesideOptional, a, b)
};

struct Description {
  std::string name;
  std::vector<int> numbers;
  std::optional<double> limit;

  TAKT_FIELDS(Description, name, numbers, limit)
};

template <class T>
constexpr bool is_complete = takt::fields_detail::lists_each_field<T>(takt_fields(std::type_identity<T>{}));

}  // namespace

struct c_pair {
  double x;
  float y;
};
TAKT_FIELDS_OF(c_pair, x, y)

struct c_outer {
  double position[3];
  std::int64_t stamp_ns;
  std::uint8_t mode;
  c_pair inner[2];
  std::uint16_t table[4];
};
TAKT_FIELDS_OF(c_outer, position, stamp_ns, mode, inner, table)

struct c_inner {
  double x;
  std::uint32_t y;
};
TAKT_FIELDS_OF(c_inner, x, y)

TEST_CASE("a list that forgets a field does not compile") {
  CHECK(is_complete<Inner>);
  CHECK(is_complete<Outer>);
  CHECK(is_complete<Description>);
  CHECK_FALSE(is_complete<Forgets>);  // c fits into the padding behind b
  CHECK_FALSE(is_complete<ForgetsBesideOptional>);
}

TEST_CASE("fields are visited by name, in order") {
  std::string names;
  Outer outer;
  takt::for_each_field(outer, [&](std::string_view name, auto&) { (names += name) += ' '; });
  CHECK(names == "position stamp mode inner table ");
  CHECK(takt::field_count<Outer> == 5);

  names.clear();
  takt::for_each_field<1, 3>(outer, [&](std::string_view name, auto&) { (names += name) += ' '; });
  CHECK(names == "stamp mode ");
}

TEST_CASE("a field can be changed through the visit") {
  Inner inner;
  takt::for_each_field(inner, [](std::string_view, auto& value) { value = 2; });
  CHECK(inner.x == 2);
  CHECK(inner.y == 2);
}

TEST_CASE("the numbers of nested types have paths and offsets") {
  std::vector<std::string> found;
  auto visit = [&](const takt::FieldPath& path, const takt::NumberPlace& place) {
    std::string text;
    for (const takt::FieldPath* part = &path; part->parent != nullptr; part = part->parent)
      text = "." + (part->name.empty() ? std::to_string(part->index) : std::string(part->name)) + text;
    text += " " + std::string(takt::scalar_names[std::size_t(place.type)]);
    if (place.is_array) text += "[" + std::to_string(place.count) + "]";
    found.push_back(text + " @" + std::to_string(place.offset));
  };
  takt::for_each_number<Outer>(visit, {});
  CHECK(found == std::vector<std::string>{".position f64[3] @0", ".stamp i64 @24", ".mode u8 @32",
                                          ".inner.0.x f64 @40", ".inner.0.y f32 @48", ".inner.1.x f64 @56",
                                          ".inner.1.y f32 @64", ".table u16[4] @72"});
}

TEST_CASE("a C struct is compared with its C++ twin") {
  CHECK(takt::same_layout<c_outer, Outer>());
  CHECK_FALSE(takt::same_layout<c_inner, Inner>());  // u32 in place of f32
  CHECK_FALSE(takt::same_layout<c_outer, Inner>());
}

TEST_CASE("the layout's hash changes with a name, a type or a place") {
  CHECK(takt::layout_hash<Inner> != takt::layout_hash<c_inner>);
  CHECK(takt::layout_hash<std::array<Inner, 2>> != takt::layout_hash<std::array<Inner, 3>>);
  CHECK(takt::layout_hash<Outer> != takt::layout_hash<c_outer>);  // other names
}

TEST_CASE("a list in another order has no layout") {
  CHECK(is_complete<Misplaces>);
  CHECK_FALSE(takt::fields_detail::in_order(takt::fields_of<Misplaces>()));
}
