/* Components in C: tables of functions, with ports, services and parameters. A context runs them.
 * takt/core.h states the rules of units, status, structs and ownership.
 *
 *     static int32_t execute(void* user, const takt_cycle* cycle) {
 *       struct controller* me = user;
 *       double position = 0, torque;
 *       if (takt_in_port_read(me->position, &position, sizeof position, NULL) == TAKT_SAMPLE_NONE)
 *         return TAKT_OK;
 *       torque = takt_parameter_number(me->gain) * (me->target - position);
 *       takt_out_port_write(me->torque, &torque, sizeof torque, cycle->time_ns);
 *       return TAKT_OK;
 *     }
 *
 * THREADS    One thread at a time does the set-up of an object. The callbacks of the cycle run in the thread
 *            of the context. Requests such as takt_context_activate() come from any thread but that one;
 *            they wait 0.5 s at most.
 * REAL TIME  Ports, parameters, takt_service_table() and takt_context_run_cycle() neither allocate, lock nor
 *            wait. Set-up does. */
#ifndef TAKT_COMPONENT_H
#define TAKT_COMPONENT_H

#include "takt/core.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A component, a context that runs components, and what they have. */
typedef struct takt_component takt_component;
typedef struct takt_context takt_context;
typedef struct takt_out_port takt_out_port;
typedef struct takt_in_port takt_in_port;
typedef struct takt_parameter takt_parameter;
typedef struct takt_connection takt_connection;
typedef struct takt_provided_service takt_provided_service;
typedef struct takt_required_service takt_required_service;

/* The states of a component. */
typedef enum takt_component_state {
  TAKT_COMPONENT_CREATED = 0,
  TAKT_COMPONENT_INACTIVE = 1,
  TAKT_COMPONENT_ACTIVE = 2,
  TAKT_COMPONENT_ERROR = 3,
  TAKT_COMPONENT_FINALISED = 4
} takt_component_state;

/* The times of one cycle. */
typedef struct takt_cycle {
  int64_t time_ns;     /* nominal time of the cycle */
  int64_t period_ns;   /* since the component's previous cycle, by its rate; 0: no period */
  int64_t measured_ns; /* since the context's previous cycle, measured */
  uint64_t index;      /* cycles of the context before this one */
} takt_cycle;

/* A type of components: what it is, and its functions. Functions may be NULL. Texts and table must
 * outlive the components. A status other than TAKT_OK of a callback of the cycle leads to the state
 * error. */
typedef struct takt_component_type {
  uint32_t struct_size; /* set by takt_component_type_init() */
  uint32_t reserved;    /* 0 */
  const char* type;     /* unique in a program: 1 to 31 letters, digits, '_', '-' or '.' */
  const char* version;
  const char* vendor;
  const char* category;
  const char* description;
  /* For plug-ins: adds ports and parameters, and returns the user pointer in *user. Set-up. */
  int32_t (*create)(takt_component* component, void** user);
  void (*destroy)(void* user);
  /* Set-up: an error leaves the component as it was. */
  int32_t (*on_initialize)(void* user);
  void (*on_finalize)(void* user);
  int32_t (*on_check)(void* user); /* judges takt_parameter_proposed_number() and its like */
  /* The context's thread; real-time safe. */
  int32_t (*on_activate)(void* user, const takt_cycle* cycle);
  int32_t (*on_execute)(void* user, const takt_cycle* cycle);
  int32_t (*on_state_update)(void* user, const takt_cycle* cycle);
  void (*on_deactivate)(void* user, const takt_cycle* cycle);
  void (*on_abort)(void* user, const takt_cycle* cycle);
  void (*on_error)(void* user, const takt_cycle* cycle);
  int32_t (*on_reset)(void* user, const takt_cycle* cycle);
  void (*on_parameters)(void* user);
} takt_component_type;

/* Sets struct_size to `size`, and everything else to zero. Ignores NULL. Real-time safe. */
TAKT_API void takt_component_type_init(takt_component_type* type, size_t size);

/* Creates a component of this type; `create` of the type is called, or *user is `user` without it. Free
 * it with takt_component_destroy(). Errors: TAKT_ERROR_COMPONENT_BAD_NAME; that of `create`. */
TAKT_API int32_t takt_component_create(const takt_component_type* type, const char* name, void* user,
                                       takt_component** component);
/* Frees a component, its ports and its parameters. While a thread runs its context, remove it first. */
TAKT_API void takt_component_destroy(takt_component* component);
/* Returns a takt_component_state. Any thread; real-time safe. */
TAKT_API int32_t takt_component_get_state(const takt_component* component);
/* Returns the reason of the state error; TAKT_OK in other states. Any thread; real-time safe. */
TAKT_API int32_t takt_component_error(const takt_component* component);

/* ---- ports ---- */

/* The result of a read. */
typedef enum takt_sample_state {
  TAKT_SAMPLE_NONE = 0, /* nothing was ever read */
  TAKT_SAMPLE_OLD = 1,  /* the value of the read before */
  TAKT_SAMPLE_NEW = 2
} takt_sample_state;

/* What lies between writer and reader. */
typedef enum takt_buffering {
  TAKT_BUFFERING_LATEST = 0,   /* the newest sample */
  TAKT_BUFFERING_CIRCULAR = 1, /* the last samples; the oldest is overwritten */
  TAKT_BUFFERING_FIFO = 2      /* all samples; refused when it is full */
} takt_buffering;

/* A sample that was read. */
typedef struct takt_sample_info {
  int64_t stamp_ns;
  uint64_t sequence; /* samples of a writer are numbered from 1 */
  uint64_t missed;   /* samples lost by this port so far */
} takt_sample_info;

/* Adds a port of a type with this schema (takt/shm.h), before the component is initialized. The component
 * owns it. Errors: TAKT_ERROR_SHM_BAD_SCHEMA, TAKT_ERROR_COMPONENT_BAD_VALUE (too large). */
TAKT_API int32_t takt_component_add_out_port(takt_component* component, const char* name, const char* schema,
                                             takt_out_port** port);
TAKT_API int32_t takt_component_add_in_port(takt_component* component, const char* name, const char* schema,
                                            takt_in_port** port);
/* Gives a copy of the value to all readers. Errors: TAKT_ERROR_CAPI_BAD_ARGUMENT (size of the value);
 * TAKT_ERROR_SHM_FULL (a fifo refused it; others have it). Real-time safe. */
TAKT_API int32_t takt_out_port_write(takt_out_port* port, const void* value, size_t size, int64_t stamp_ns);
/* Takes the next sample. Copies the last value, new or old, to `value`; `info` may be NULL. Returns a
 * takt_sample_state, or -1 if an argument is NULL or the size is wrong. Real-time safe. */
TAKT_API int32_t takt_in_port_read(takt_in_port* port, void* value, size_t size, takt_sample_info* info);

/* Connects two ports at the next cycle boundaries. The reason of a failure goes to `text`, cut to `size`
 * bytes, which may be NULL. Free *connection with takt_connection_destroy(). Errors:
 * TAKT_ERROR_COMPONENT_WRONG_TYPE, _TOO_MANY_CONNECTIONS, _BAD_VALUE (capacity), _TIMED_OUT. */
TAKT_API int32_t takt_connect(takt_out_port* from, takt_in_port* to, int32_t buffering, uint32_t capacity,
                              takt_connection** connection, char* text, size_t size);
/* Cuts the connection. */
TAKT_API void takt_connection_destroy(takt_connection* connection);

/* ---- services ---- */

/* A service is a table of functions that the user declares, the same one in provider and client:
 *
 *     struct gripper { void* user; int32_t (*close)(void* user, double force); };
 *
 * The name of the interface, such as "Gripper/1", stands for this declaration: change both together. Never
 * give a table the name of a C++ class, because the two would connect. */

/* Adds a service that the component provides, before it is initialized. The component owns it. The table
 * must live until `destroy` of the component's type. Errors: TAKT_ERROR_COMPONENT_BAD_NAME (no interface),
 * _WRONG_STATE. */
TAKT_API int32_t takt_component_add_provided_service(takt_component* component, const char* name,
                                                     const char* interface_name, void* table,
                                                     takt_provided_service** service);
/* Adds a service that the component needs, likewise. */
TAKT_API int32_t takt_component_add_required_service(takt_component* component, const char* name,
                                                     const char* interface_name,
                                                     takt_required_service** service);
/* Connects a client with a provider at the next cycle boundary of the client; it replaces the former
 * provider. The reason of a failure goes to `text`, which may be NULL. Errors:
 * TAKT_ERROR_COMPONENT_WRONG_TYPE (other interface), _TIMED_OUT. */
TAKT_API int32_t takt_service_connect(takt_provided_service* provider, takt_required_service* client,
                                      char* text, size_t size);
/* Disconnects the client at its next cycle boundary. Errors: TAKT_ERROR_COMPONENT_TIMED_OUT. */
TAKT_API int32_t takt_service_disconnect(takt_required_service* client);
/* Returns the provider's table for direct calls; NULL: no provider. The thread that runs the client uses it
 * until the next cycle boundary. Direct calls need both components in one context, or functions that are safe
 * for threads. Real-time safe. */
TAKT_API void* takt_service_table(const takt_required_service* client);

/* A deferred call: calls a function of the table, and returns a status. */
typedef int32_t (*takt_service_function)(void* table, void* user);
/* Runs call(table, user) between two cycles of the provider, and waits 0.5 s at most. Any thread but those of
 * contexts. Not real-time safe. Errors: TAKT_ERROR_COMPONENT_NOT_CONNECTED, _TIMED_OUT (`call` will not run);
 * _STUCK (it is running and still uses `user`); that of `call`. */
TAKT_API int32_t takt_service_call(const takt_required_service* client, takt_service_function call,
                                   void* user);

/* ---- parameters ---- */

/* Adds a number with a range; equal limits mean none. Errors: TAKT_ERROR_COMPONENT_BAD_VALUE (initial value,
 * limits). */
TAKT_API int32_t takt_component_add_number(takt_component* component, const char* name, double initial,
                                           double minimum, double maximum, const char* unit,
                                           const char* description, takt_parameter** parameter);
/* Adds an integer with a range, likewise. */
TAKT_API int32_t takt_component_add_integer(takt_component* component, const char* name, int64_t initial,
                                            int64_t minimum, int64_t maximum, const char* unit,
                                            const char* description, takt_parameter** parameter);
/* Adds a truth value. */
TAKT_API int32_t takt_component_add_boolean(takt_component* component, const char* name, int32_t initial,
                                            const char* description, takt_parameter** parameter);
/* The value in use: NaN or 0 for NULL and for another type. The context's thread; real-time safe. */
TAKT_API double takt_parameter_number(const takt_parameter* parameter);
TAKT_API int64_t takt_parameter_integer(const takt_parameter* parameter);
TAKT_API int32_t takt_parameter_boolean(const takt_parameter* parameter);
/* The value that on_check() judges. */
TAKT_API double takt_parameter_proposed_number(const takt_parameter* parameter);
TAKT_API int64_t takt_parameter_proposed_integer(const takt_parameter* parameter);
TAKT_API int32_t takt_parameter_proposed_boolean(const takt_parameter* parameter);

/* Applies a JSON object of values, {"gain": 2.5}, at the next cycle boundary, or nothing of it. `who` is
 * kept in the list of changes. All mistakes go to `text`. Errors: TAKT_ERROR_COMPONENT_BAD_VALUE,
 * _NO_SUCH_PARAMETER, _TIMED_OUT; that of on_check(). */
TAKT_API int32_t takt_component_set(takt_component* component, const char* json, const char* who, char* text,
                                    size_t size);
/* Writes descriptions and values of all parameters as JSON. Errors: TAKT_ERROR_CAPI_BUFFER_TOO_SMALL. */
TAKT_API int32_t takt_component_parameters(const takt_component* component, char* text, size_t size);

/* ---- log ---- */

/* How serious a line of a log is. */
typedef enum takt_log_level {
  TAKT_LOG_DEBUG = 1,
  TAKT_LOG_INFO = 2,
  TAKT_LOG_WARNING = 3,
  TAKT_LOG_ERROR = 4,
  TAKT_LOG_FATAL = 5
} takt_log_level;

/* The most numbers of a line. */
#define TAKT_MAX_LOG_NUMBERS 5

/* A line that a component logs. */
typedef struct takt_log_statement takt_log_statement;

/* Adds a line: a takt_log_level, and a text with a "{}" for each of `count` numbers, "the force is {} N". The
 * library copies the text. Set-up; the component owns the statement. Errors: TAKT_ERROR_CAPI_BAD_ARGUMENT
 * (level, count, or other braces in the text). */
TAKT_API int32_t takt_component_add_log_statement(takt_component* component, int32_t level, const char* text,
                                                  size_t count, takt_log_statement** statement);
/* Logs the line with these numbers, as many as it has "{}", to the log of the context. At most 10 a second
 * are logged; the next line tells how many were not. Without a log nothing happens. Only in callbacks of the
 * cycle; real-time safe. */
TAKT_API void takt_log(takt_log_statement* statement, const double* numbers);

/* ---- contexts ---- */

/* Where and how often a component runs in its context. Zeros: in the order of addition, in each cycle. */
typedef struct takt_placement {
  int32_t order;       /* lower runs first */
  uint32_t divisor;    /* in each divisor-th cycle; 0: in each */
  uint32_t phase;      /* index of its cycles modulo the divisor */
  int32_t over_budget; /* 0: count, 1: deactivate, 2: error */
  int64_t budget_ns;   /* for one on_execute(); 0: none */
} takt_placement;

/* Creates a context. Free it with takt_context_destroy(). Errors: TAKT_ERROR_COMPONENT_BAD_RATE. */
TAKT_API int32_t takt_context_create(const char* name, int64_t period_ns, takt_context** context);
/* Stops its thread and frees it. Its components participate in no context then. */
TAKT_API void takt_context_destroy(takt_context* context);
/* Lets a component participate, as inactive; initializes it first. `placement` may be NULL. The reason of a
 * failure goes to `text`. Errors: TAKT_ERROR_COMPONENT_ALREADY_PARTICIPATES, _BAD_RATE, _TIMED_OUT; that of
 * on_initialize(). */
TAKT_API int32_t takt_context_add(takt_context* context, takt_component* component,
                                  const takt_placement* placement, char* text, size_t size);
/* Requests; they take effect at the next cycle boundary. Errors: TAKT_ERROR_COMPONENT_NOT_A_PARTICIPANT,
 * _WRONG_STATE, _TIMED_OUT; that of the callback. */
TAKT_API int32_t takt_context_remove(takt_context* context, takt_component* component);
TAKT_API int32_t takt_context_activate(takt_context* context, takt_component* component);
TAKT_API int32_t takt_context_deactivate(takt_context* context, takt_component* component);
TAKT_API int32_t takt_context_reset(takt_context* context, takt_component* component);
/* Applies all changes in one cycle boundary, or none: deactivations, activations, and migrations to `target`,
 * which may be NULL without any. If an activation fails, all return to their previous states. Errors: as
 * above; TAKT_ERROR_COMPONENT_ROLLED_BACK, _NAMED_TWICE. */
TAKT_API int32_t takt_context_switch(takt_context* context, takt_component* const* deactivate,
                                     size_t deactivate_count, takt_component* const* activate,
                                     size_t activate_count, takt_component* const* migrate,
                                     size_t migrate_count, takt_context* target);
/* Appends the log of the context's components to a file, "-" for the standard error stream, until the context
 * is destroyed. `epoch_ns` added to the time of a cycle gives Unix time; 0: lines begin with the seconds of
 * the cycle's time. Once, before the context starts. The reason of a failure goes to `text`. Errors:
 * TAKT_ERROR_RECORD_CANNOT_OPEN, _ALREADY_RUNNING (it has a log, or runs). */
TAKT_API int32_t takt_context_log_to(takt_context* context, const char* path, int64_t epoch_ns, char* text,
                                     size_t size);
/* Runs the context in a thread of its own, once per period. takt_context_stop_thread() ends it. Errors:
 * TAKT_ERROR_COMPONENT_BAD_RATE (no period), _ALREADY_RUNNING. */
TAKT_API int32_t takt_context_start_thread(takt_context* context);
TAKT_API int32_t takt_context_stop_thread(takt_context* context);
/* Runs the context in the caller's thread: start, any number of cycles, stop. Errors:
 * TAKT_ERROR_COMPONENT_ALREADY_RUNNING. run_cycle is real-time safe. */
TAKT_API int32_t takt_context_start(takt_context* context, int64_t now_ns);
TAKT_API void takt_context_run_cycle(takt_context* context, int64_t now_ns, int64_t measured_ns);
TAKT_API void takt_context_stop(takt_context* context, int64_t now_ns);
/* Returns the number of cycles so far. Any thread; real-time safe. */
TAKT_API uint64_t takt_context_cycles(const takt_context* context);

/* ---- plug-ins ---- */

/* The types that a shared object brings to `takt launch`. A plug-in in C defines
 *
 *     const takt_plugin* takt_plugin_v1(void) { return takt_plugin_make(types, 1); }
 */
typedef struct takt_plugin takt_plugin;
/* Makes the table of these types, whose `create` must not be NULL. Returns NULL if one is wrong. It is
 * made once and lives as long as the program. */
TAKT_API const takt_plugin* takt_plugin_make(const takt_component_type* const* types, size_t count);

#ifdef __cplusplus
}
#endif

#endif
