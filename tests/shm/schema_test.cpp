#include "takt/shm/schema.hpp"

#include <doctest/doctest.h>

#include <array>
#include <string>
#include <vector>

#include "support/random.hpp"
#include "support/reference.hpp"

using namespace takt;
using namespace takt::shm;

using takt::test::Reference;

static_assert(schema_text<Reference>() == "position f64[2], stamp i64, mode u8, _ u8[7]");
static_assert(schema_text<std::uint16_t>() == "value u16");
static_assert(schema_text<float>() == "value f32");
static_assert(schema_text<std::array<std::int8_t, 120>>() == "value i8[120]");
static_assert(schema_text<std::array<double, 1>>() == "value f64[1]");
static_assert(schema_hash<float> != schema_hash<std::uint32_t>);
static_assert(!Described<Field>);

TEST_CASE("a hash of a schema is FNV-1a, as its authors publish it") {
  CHECK(fnv1a("") == 0xcbf29ce484222325);
  CHECK(fnv1a("a") == 0xaf63dc4c8601ec8c);
  CHECK(fnv1a("foobar") == 0x85944171f73967e8);
}

TEST_CASE("a schema is read as its fields, with the place of each") {
  const auto fields = parse_schema(schema_text<Reference>());
  REQUIRE(fields);
  REQUIRE(fields->count == 4);
  CHECK(fields->bytes == sizeof(Reference));
  const auto all = fields->all();
  CHECK(all[0].name == "position");
  CHECK(all[0].type == Scalar::f64);
  CHECK(all[0].is_array);
  CHECK(all[0].count == 2);
  CHECK(all[1].name == "stamp");
  CHECK(all[1].offset == offsetof(Reference, stamp));
  CHECK_FALSE(all[1].is_array);
  CHECK(all[2].offset == offsetof(Reference, mode));
  CHECK(all[3].is_padding());
  CHECK(all[3].offset == offsetof(Reference, mode) + 1);
}

TEST_CASE("spaces do not matter to the fields of a schema") {
  const auto fields = parse_schema("  a u32[2],b   f64 ,c u8 [ 8 ] ");
  REQUIRE(fields);
  CHECK(fields->count == 3);
  CHECK(fields->all()[1].offset == 8);
  CHECK(fields->bytes == 24);
}

TEST_CASE("a text that is no schema is refused") {
  for (const std::string& text : std::vector<std::string>{"",
                                                          " ",
                                                          "a",
                                                          "a u7",
                                                          "a u8,",
                                                          ",a u8",
                                                          "a u8 b u8",
                                                          "a u8;b u8",
                                                          "1a u8",
                                                          "a u8[]",
                                                          "a u8[0]",
                                                          "a u8[-1]",
                                                          "a u8[1",
                                                          "a u8]",
                                                          "a u8[4294967297]",
                                                          "a u8[18446744073709551617]",
                                                          "a u8[1048577]",
                                                          "a f64[131073]",
                                                          "a u8, b f64" /* not aligned */,
                                                          "a f64, b u8" /* nor the next one, in an array */,
                                                          "a u16, b u8[3]",
                                                          "a u8, a u8",
                                                          "a\xc3\xa4 u8",
                                                          "a u8\n",
                                                          std::string("a u8\0", 5),
                                                          std::string(max_field_name + 1, 'n') + " u8",
                                                          std::string(max_schema, ' ') + "a u8"}) {
    CAPTURE(text);
    const auto fields = parse_schema(text);
    REQUIRE_FALSE(fields);
    CHECK(fields.error() == Errc::bad_schema);
  }
}

TEST_CASE("the limits of a schema are allowed, and not one more") {
  std::string text = "a0 u8";
  for (std::size_t i = 1; i < max_fields; ++i) text += ",_ u8";
  CHECK(parse_schema(text));
  CHECK_FALSE(parse_schema(text + ",_ u8"));
  CHECK(parse_schema("a u8[1048576]"));
  CHECK_FALSE(parse_schema("a u8[1048576], b u8"));
  CHECK(parse_schema(std::string(max_field_name, 'n') + " u8"));
}

TEST_CASE("no text makes the reader of a schema overrun") {
  auto random = test::generator(71);
  const std::string alphabet = "au8f64[],_ 1";
  for (std::size_t i = 0; i < test::count(20000); ++i) {
    std::string text;
    for (auto left = test::uniform_int(random, 0, 60); left > 0; --left) {
      text += alphabet[static_cast<std::size_t>(test::uniform_int(random, 0, 11))];
    }
    const auto fields = parse_schema(text);
    if (!fields) continue;
    std::uint32_t end = 0;
    for (const Field& field : fields->all()) {
      CHECK(field.offset == end);
      end += bytes_of(field.type) * field.count;
    }
    CHECK(end == fields->bytes);
  }
}
