// The program takt: the real-time process, its client and the report, as sub-commands.
#include "tools/commands.hpp"

#include "takt/version.hpp"

int main(int argc, char** argv) {
  CLI::App app("takt: from a motion request to joint commands that never miss their beat");
  app.set_version_flag("--version", TAKT_VERSION);
  app.require_subcommand(1);
  takt::tools::add_run(app);
  takt::tools::add_serve(app);
  takt::tools::add_send(app);
  takt::tools::add_state(app);
  takt::tools::add_cancel(app);
  takt::tools::add_speed(app);
  takt::tools::add_estop(app);
  takt::tools::add_reset(app);
  takt::tools::add_top(app);
  takt::tools::add_report(app);
  takt::tools::add_shm(app);
  takt::tools::add_dbc2hpp(app);
  takt::tools::add_key(app);
  takt::tools::add_vehicle_sim(app);
  takt::tools::add_drive(app);
  CLI11_PARSE(app, argc, argv);
  return takt::tools::exit_ok;
}
