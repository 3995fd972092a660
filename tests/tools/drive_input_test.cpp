// The inputs of a vehicle at a terminal: keys, whose twist expires, and files of twists.
#include "tools/drive_input.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <string>

using namespace takt;
using namespace takt::tools;
using namespace std::chrono_literals;

namespace {

SetupResult<TwistScript> script(const std::string& text) {
  const std::string path = "drive_input_test.twists";
  std::ofstream(path) << text;
  auto loaded = TwistScript::load(path);
  std::remove(path.c_str());
  return loaded;
}

}  // namespace

TEST_CASE("keys change the twist by steps up to its limits") {
  KeyDriver keys(2, 1.5, 0.8, 1);
  const Time now{10s};
  CHECK(keys.twist(now).forward == 0);
  CHECK(keys.press('w', now) == DriveKey::none);
  CHECK(keys.twist(now).forward == 0.25);
  for (int i = 0; i < 20; ++i) keys.press('w', now);
  CHECK(keys.twist(now).forward == 2);
  for (int i = 0; i < 40; ++i) keys.press('s', now);
  CHECK(keys.twist(now).forward == -1.5);
  keys.press('w', now);
  CHECK(keys.twist(now).forward == -1.25);
  keys.press('a', now);
  CHECK(keys.twist(now).rotation == 0.1);
  for (int i = 0; i < 40; ++i) keys.press('d', now);
  CHECK(keys.twist(now).rotation == -0.8);
  keys.press(' ', now);
  CHECK(keys.twist(now).forward == 0);
  CHECK(keys.twist(now).rotation == 0);
}

TEST_CASE("a twist without confirmation ends, and a stop removes it") {
  KeyDriver keys(2, 1.5, 0.8, 1);
  keys.press('w', Time{10s});
  CHECK(keys.twist(Time{11s}).forward == 0.25);
  CHECK(keys.twist(Time{11s + 1ns}).forward == 0);
  keys.press('.', Time{11s});
  CHECK(keys.twist(Time{12s}).forward == 0.25);
  CHECK(keys.press('x', Time{12s}) == DriveKey::stop_at_once);
  CHECK(keys.press('c', Time{12s}) == DriveKey::stop);
  CHECK(keys.press('r', Time{12s}) == DriveKey::recover);
  CHECK(keys.press('q', Time{12s}) == DriveKey::quit);
  CHECK(keys.twist(Time{12s}).forward == 0);
}

TEST_CASE("a twist that has expired does not come back with any key") {
  for (const char key : {'w', 's', '.', 'a', 'h'}) {
    CAPTURE(key);
    KeyDriver keys(2, 1.5, 0.8, 1);
    for (int i = 0; i < 8; ++i) keys.press('w', Time{10s});
    keys.press(key, Time{70s});
    CHECK(std::abs(keys.twist(Time{70s}).forward) <= 0.25);
  }
}

TEST_CASE("any other key brings to a stand, and the stop keys work with caps lock, too") {
  for (const char key : {' ', 'h', 'W', '\n', '\0', '\x1b'}) {
    CAPTURE(key);
    KeyDriver keys(2, 1.5, 0.8, 1);
    keys.press('w', Time{10s});
    CHECK(keys.press(key, Time{10s}) == DriveKey::none);
    CHECK(keys.twist(Time{10s}).forward == 0);
  }
  KeyDriver keys(2, 1.5, 0.8, 1);
  CHECK(keys.press('X', Time{10s}) == DriveKey::stop_at_once);
  CHECK(keys.press('C', Time{10s}) == DriveKey::stop);
  CHECK(keys.press('Q', Time{10s}) == DriveKey::quit);
}

TEST_CASE("a key that sends an escape sequence brings to a stand") {
  for (const std::string sequence :
       {"\x1b[C", "\x1bOQ", "\x1b[1;5C", "\x1b[15~", "\x1b[[C", "\x1bOC\x1b[D"}) {
    CAPTURE(sequence);
    KeyDriver keys(2, 1.5, 0.8, 1);
    keys.press('w', Time{10s});
    for (const char key : sequence) CHECK(keys.press(key, Time{10s}) == DriveKey::none);
    CHECK(keys.twist(Time{10s}).forward == 0);
    CHECK(keys.press('C', Time{10s}) == DriveKey::stop);
  }
}

TEST_CASE("keys typed after an escape are no sequence") {
  for (const std::string typed : {"\x1b", "\x1b[", "\x1bO", "\x1b[1"}) {
    CAPTURE(typed);
    KeyDriver keys(2, 1.5, 0.8, 1);
    for (const char key : typed) CHECK(keys.press(key, Time{10s}) == DriveKey::none);
    CHECK(keys.press('x', Time{10s + 101ms}) == DriveKey::stop_at_once);
  }
  KeyDriver keys(2, 1.5, 0.8, 1);
  keys.press('\x1b', Time{10s});
  CHECK(keys.press('x', Time{10s}) == DriveKey::stop_at_once);
}

TEST_CASE("a file of twists gives each from its second on, and ends with the last") {
  const auto twists = script("# seconds m/s rad/s\n0.5 1 0\n\n2 1.5 -0.25  # right\n3 0 0\n");
  REQUIRE(twists.has_value());
  CHECK(twists->twist(0).forward == 0);
  CHECK(twists->twist(0.5).forward == 1);
  CHECK(twists->twist(1.99).forward == 1);
  CHECK(twists->twist(2).rotation == -0.25);
  CHECK(!twists->ended(2.99));
  CHECK(twists->ended(3));
}

TEST_CASE("it is known how many twists of a file are beyond the limits") {
  const auto twists = script("0 2 0\n1 2.1 0\n2 -1.5 0\n3 -1.6 0\n4 1 0.8\n5 1 -0.9\n6 9 9\n");
  REQUIRE(twists.has_value());
  CHECK(twists->beyond({.forward = 2, .backward = 1.5, .rotation = 0.8}) == 3);
}

TEST_CASE("a file that holds no twists is refused with the line") {
  for (const char* text :
       {"0 1\n", "0 1 0 0\n", "0 one 0\n", "0 nan 0\n", "0 1 0\n2 1 0\n1 1 0\n", "-1 0 0\n", ""}) {
    CAPTURE(text);
    CHECK(!script(text).has_value());
  }
  CHECK(script("0 1 0\nx\n").error().message.find(":2:") != std::string::npos);
  for (const char* path : {"/no/such/file", "/"})
    CHECK(TwistScript::load(path).error().message.find("cannot be read") != std::string::npos);
}
