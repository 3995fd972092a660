#include "takt/component/life_cycle.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <sstream>
#include <string>

#include "support/source_dir.hpp"

using namespace takt::component;

TEST_CASE("the table in the room's README is the one that drives the machine") {
  std::string table;
  for (const TransitionRow& row : transition_table) {
    table += "| " + std::string(to_string(row.from)) + " | " + std::string(to_string(row.transition)) +
             " | " + std::string(to_string(row.to)) + " | ";
    for (const Callback callback : row.callbacks) {
      if (callback != Callback::none) table += "`" + std::string(to_string(callback)) + "` ";
    }
    table += "| " + std::string(to_string(row.if_it_fails)) + " |\n";
  }
  std::ifstream file(TAKT_SOURCE_DIR "/include/takt/component/README.md");
  std::stringstream text;
  text << file.rdbuf();
  INFO(table);
  CHECK(text.str().find(table) != std::string::npos);
}

TEST_CASE("a state permits each transition at most once, and a finalised component none") {
  for (std::size_t i = 0; i < transition_table.size(); ++i) {
    CHECK(transition_table[i].from != ComponentState::finalised);
    for (std::size_t j = 0; j < i; ++j)
      CHECK_FALSE((transition_table[i].from == transition_table[j].from &&
                   transition_table[i].transition == transition_table[j].transition));
  }
  CHECK_FALSE(find_transition(ComponentState::error, Transition::activate));
  CHECK_FALSE(find_transition(ComponentState::error, Transition::deactivate));
}
