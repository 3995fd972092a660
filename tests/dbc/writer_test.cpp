// Tests that written files read as equal, over every feature, and that a model beyond the format is rejected.
#include <doctest/doctest.h>

#include <string>

#include "support/source_dir.hpp"
#include "takt/dbc/file.hpp"

using namespace takt;
using namespace takt::can;
using dbc::Strictness;

namespace {

const std::string folder = TAKT_SOURCE_DIR "/tests/dbc/";

bool is_refused(const dbc::File& file) {
  const auto text = dbc::write(file);
  return !text && text.error().error == Errc::bad_dbc && !text.error().message.empty();
}

}  // namespace

TEST_CASE("files read again as equal after they were written, the dirt of vendors gone") {
  for (const std::string name : {"features.dbc", "vendor.dbc"}) {
    CAPTURE(name);
    const auto reading = dbc::load(folder + name);
    REQUIRE(reading.has_value());
    const auto text = dbc::write(reading->file);
    REQUIRE_MESSAGE(text.has_value(), text.error().message);
    const auto again = dbc::parse(*text);
    REQUIRE(again.has_value());
    CHECK(again->file == reading->file);
    CHECK(dbc::write(again->file).value() == *text);
    if (name == "features.dbc") CHECK(dbc::parse(*text, Strictness::strict).has_value());
  }
}

TEST_CASE("an empty description is a file too") {
  const auto text = dbc::write(dbc::File{});
  REQUIRE(text.has_value());
  CHECK(dbc::parse(*text, Strictness::strict)->file == dbc::File{});
}

TEST_CASE("data that the format cannot express is refused, not written differently") {
  dbc::File file;
  file.messages.resize(1);
  dbc::Message& message = file.messages[0];
  message.name = "M";
  message.length = 8;
  message.signals.resize(2);
  message.signals[0].name = "a";
  message.signals[1].name = "b";
  message.signals[1].coding.field.start = 8;
  REQUIRE(dbc::write(file).has_value());

  const auto with = [&](auto change) {
    dbc::File changed = file;
    change(changed.messages[0], changed.messages[0].signals[1]);
    return changed;
  };
  CHECK(is_refused(with([](auto& m, auto&) { m.name = "two words"; })));
  CHECK(is_refused(with([](auto& m, auto&) { m.id = 0x800; })));
  CHECK(is_refused(with([](auto& m, auto&) { m.comment = "ends in a backslash\\"; })));
  CHECK(is_refused(with([](auto&, auto& s) { s.name = "a"; })));
  CHECK(is_refused(with([](auto&, auto& s) { s.coding.scale = 0; })));
  CHECK(is_refused(with([](auto&, auto& s) { s.selected_by = 7; })));
  CHECK(is_refused(with([](auto&, auto& s) { s.selected_for = {{1, 1}}; })));
  CHECK(is_refused(with([](auto&, auto& s) {
    s.selected_by = 0;  // signal 0 is not a selector
    s.selected_for = {{1, 1}};
  })));
  CHECK(is_refused(with([](auto& m, auto&) { m.groups = {{"g", 1, {2}}}; })));
  CHECK_FALSE(is_refused(with([](auto& m, auto& s) {
    m.signals[0].is_selector = true;
    s.selected_by = 0;
    s.selected_for = {{1, 1}, {3, 9}};
  })));
}
