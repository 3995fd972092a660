// `takt dbc2hpp` for takt_add_dbc(), without the rest of the program takt and without CLI11, which the
// library does not need.
#include <cstdio>
#include <string>
#include <string_view>

#include "tools/header_file.hpp"

int main(int argc, char** argv) {
  using namespace takt::tools;
  HeaderFile wanted;
  int place = 1;
  const auto next = [&]() -> std::string_view { return place < argc ? argv[place++] : std::string_view(); };
  bool understood = next() == "dbc2hpp";
  while (place < argc) {
    const std::string_view word = next();
    if (word == "--partial") {
      wanted.partial = true;
    } else if (word == "-o") {
      wanted.output = next();
    } else if (word == "--namespace") {
      wanted.header.name_space = next();
    } else if (word == "--node") {
      wanted.header.node = next();
    } else {
      understood = understood && wanted.dbc.empty();
      wanted.dbc = word;
    }
  }
  if (!understood || wanted.dbc.empty() || wanted.output.empty()) {
    std::fputs("takt_dbc2hpp dbc2hpp FILE -o HEADER [--namespace NAME] [--node NODE] [--partial]\n", stderr);
    return exit_bad_input;
  }
  return make_header_file(wanted);
}
