/* The controllers of a robot (takt/app.h): commands to them, and controllers written in C. takt/core.h states
 * the rules of units, status, structs and ownership.
 *
 *     static int32_t configure(void* user, takt_resources* resources) {
 *       struct damper* me = user;
 *       int32_t status = takt_resources_state(resources, "elbow/velocity", &me->velocity);
 *       if (status == TAKT_OK) status = takt_resources_command(resources, "elbow/effort", &me->effort);
 *       return status;
 *     }
 *     static int32_t execute(void* user, const takt_cycle* cycle) {
 *       struct damper* me = user;
 *       takt_command_set(me->effort, -2.0 * takt_state_get(me->velocity));
 *       return TAKT_OK;
 *     }
 *
 *     takt_controller_type_init(&type, sizeof type);
 *     type.type = "Damper"; type.configure = configure; type.execute = execute;
 *     takt_robot_load_controller(robot, &type, "damper", &damper, NULL, text, sizeof text);
 *     takt_robot_command(robot, "start damper", text, sizeof text, NULL);
 *
 * THREADS    Any thread but the robot's calls takt_robot_load_controller(), takt_robot_command() and
 *            takt_robot_request_stop(), before and while takt_robot_run() runs. `configure` runs in the
 *            caller's thread, all other functions of a controller in the robot's.
 * REAL TIME  takt_state_get() and takt_command_...() neither allocate, lock nor wait. */
#ifndef TAKT_ROBOT_H
#define TAKT_ROBOT_H

#include "takt/app.h"
#include "takt/component.h"
#include "takt/core.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How a controller gets its interfaces; a number that it reads; a number that it commands. The library owns
 * them: resources during `configure`, the others until the controller is unloaded. */
typedef struct takt_resources takt_resources;
typedef struct takt_state takt_state;
typedef struct takt_command takt_command;

/* A type of controllers: what it is, and its functions, which may be NULL but for `configure`. The texts must
 * outlive the controllers. A status other than TAKT_OK of `execute` ends the controller, and its joints come
 * to rest. */
typedef struct takt_controller_type {
  uint32_t struct_size;  /* set by takt_controller_type_init() */
  int32_t works_in_stop; /* 1: it goes on while the robot stops and is stopped */
  const char* type;      /* 1 to 31 letters, digits, '_', '-' or '.' */
  const char* version;
  const char* vendor;
  const char* description;
  /* Set-up, once: gets the interfaces. An error refuses the controller. */
  int32_t (*configure)(void* user, takt_resources* resources);
  /* The robot's thread; real-time safe. */
  int32_t (*activate)(void* user, const takt_cycle* cycle);
  int32_t (*execute)(void* user, const takt_cycle* cycle);
  void (*deactivate)(void* user, const takt_cycle* cycle);
} takt_controller_type;

/* Sets struct_size to `size`, and everything else to zero. Ignores NULL. Real-time safe. */
TAKT_API void takt_controller_type_init(takt_controller_type* type, size_t size);

/* Finds a number to read, such as "elbow/position". Errors: TAKT_ERROR_ROBOT_NO_SUCH_INTERFACE. */
TAKT_API int32_t takt_resources_state(takt_resources* resources, const char* name, takt_state** state);
/* Claims a number to command, such as "elbow/velocity". While the controller is active, nobody else commands
 * it. Errors: TAKT_ERROR_ROBOT_NO_SUCH_INTERFACE. */
TAKT_API int32_t takt_resources_command(takt_resources* resources, const char* name, takt_command** command);

/* Returns the value of this cycle, in the interface's unit; NaN for NULL. Real-time safe. */
TAKT_API double takt_state_get(const takt_state* state);
/* Commands a value, which stays until the next one. NULL is ignored. NaN and infinity end the controller.
 * Real-time safe. */
TAKT_API void takt_command_set(takt_command* command, double value);
/* Ends the command: a joint comes to rest, another interface gets its safe value. NULL is ignored. Real-time
 * safe. */
TAKT_API void takt_command_release(takt_command* command);

/* Makes a controller of this type and loads it, inactive. `user` goes to all of its functions. `placement`
 * may be NULL: in each cycle, without a budget; its order is ignored. The reason of a failure goes to `text`,
 * cut to `size` bytes. Errors: TAKT_ERROR_COMPONENT_BAD_NAME, _BAD_RATE; TAKT_ERROR_ROBOT_DUPLICATE_NAME;
 * TAKT_ERROR_CAPI_BAD_ARGUMENT; that of `configure`. */
TAKT_API int32_t takt_robot_load_controller(takt_robot* robot, const takt_controller_type* type,
                                            const char* name, void* user, const takt_placement* placement,
                                            char* text, size_t size);

/* Commands the controllers: words such as "list", "start tip" or "switch start=a,b stop=c", or a request in
 * JSON such as {"list":{}}. The answer, one line of JSON, goes to `answer`, and the length without the NUL to
 * *length, which may be NULL. The reason of a failure goes to `answer`, cut to `size` bytes. The header
 * takt/app/controller_commands.hpp lists all commands. Waits for the next cycle; a switch, for its timeout.
 * Errors: TAKT_ERROR_COMPONENT_BAD_VALUE (no such command, wrong words), TAKT_ERROR_ROBOT_...,
 * TAKT_ERROR_COMPONENT_...; TAKT_ERROR_CAPI_BUFFER_TOO_SMALL (the command was obeyed; *length is the size
 * needed). */
TAKT_API int32_t takt_robot_command(takt_robot* robot, const char* request, char* answer, size_t size,
                                    size_t* length);

/* Stops the robot between two cycles with an emergency stop. Category 0 is power off at once, 1 a bounded
 * stop and then power off, 2 a bounded stop. takt_robot_reset() leaves it. Errors:
 * TAKT_ERROR_CAPI_BAD_ARGUMENT; TAKT_ERROR_COMPONENT_TIMED_OUT. */
TAKT_API int32_t takt_robot_request_stop(takt_robot* robot, int32_t category);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* TAKT_ROBOT_H */
