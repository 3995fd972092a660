// `takt dbc2hpp` without the rest of the program takt.
#include "takt/version.hpp"
#include "tools/commands.hpp"

int main(int argc, char** argv) {
  CLI::App app("takt_dbc2hpp: C++ headers of typed messages out of DBC files");
  app.set_version_flag("--version", TAKT_VERSION);
  app.require_subcommand(1);
  takt::tools::add_dbc2hpp(app);
  CLI11_PARSE(app, argc, argv);
  return takt::tools::exit_ok;
}
