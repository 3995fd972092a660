/* The whole C API. takt/core.h states the rules that hold for all of it. */
#ifndef TAKT_H
#define TAKT_H

#include "takt/app.h"
#include "takt/can.h"
#include "takt/component.h"
#include "takt/control.h"
#include "takt/core.h"
#include "takt/dbc.h"
#include "takt/mobile.h"
#include "takt/motion.h"
#include "takt/platform.h"
#include "takt/record.h"
#include "takt/robot.h"
#include "takt/secure.h"
#include "takt/shm.h"
#include "takt/sim.h"
#include "takt/status.h"
#include "takt/trajectory.h"
#include "takt/vehicle.h"

#endif /* TAKT_H */
