// The sub-commands of the program takt. Each has a file of its own, and registers itself on the application.
// Its callback sets the exit code, or throws CLI::RuntimeError.
#pragma once

#include <CLI/CLI.hpp>

#include "tools/exit_code.hpp"

namespace takt::tools {

void add_run(CLI::App& app);
void add_launch(CLI::App& app);
void add_component(CLI::App& app);
void add_new(CLI::App& app);
void add_serve(CLI::App& app);
void add_import(CLI::App& app);
void add_check(CLI::App& app);
void add_scan(CLI::App& app);
void add_candump(CLI::App& app);
void add_sdo(CLI::App& app);
void add_jog(CLI::App& app);
void add_simulate(CLI::App& app);
void add_move(CLI::App& app);
void add_send(CLI::App& app);
void add_state(CLI::App& app);
void add_cancel(CLI::App& app);
void add_speed(CLI::App& app);
void add_estop(CLI::App& app);
void add_reset(CLI::App& app);
void add_top(CLI::App& app);
void add_ctl(CLI::App& app);
void add_replay(CLI::App& app);
void add_report(CLI::App& app);
void add_shm(CLI::App& app);
void add_dbc2hpp(CLI::App& app);
void add_key(CLI::App& app);
void add_vehicle_sim(CLI::App& app);
void add_drive(CLI::App& app);
void add_teleop(CLI::App& app);

}  // namespace takt::tools
