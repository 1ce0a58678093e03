/* A model's permitted actions, as one table (docs/ACTING.md): an action for each pin of pins=,
 * `temperature`, `uptime`, and the actions of a file. The table is described to the model
 * (actions_prompt), constrains its replies (actions_grammar), and tells what a call means
 * (action_call.h). */
#ifndef INGOT_RUNTIME_ACTING_ACTIONS_H
#define INGOT_RUNTIME_ACTING_ACTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "board/err.h"
#include "runtime/features/acting/pins.h"
#include "runtime/features/acting/sensors.h"
#include "runtime/base/platform.h"
#include "runtime/base/stop.h"

enum {
    ACTIONS_MOST = PINS_MOST + SENSORS_MOST + 4,
    ACTION_ARGUMENTS = 2,
    ACTIONS_A_MINUTE = 120, /* the highest limit of actions a minute */
    ACTIONS_PROMPT_BYTES = 1536,
    ACTION_TEXT_BYTES = 160, /* bytes of a result or an error */
    ACTION_PULSE_MS = 60000, /* the longest pulse */
    ACTION_WORDS = 32,
};

enum action_kind {
    ACTION_OUTPUT,
    ACTION_INPUT,
    ACTION_SENSOR,
    ACTION_TEMPERATURE,
    ACTION_UPTIME,
    ACTION_PULSE
};

enum argument_kind {
    ARGUMENT_SWITCH, /* on (1) or off (0) */
    ARGUMENT_LINE,   /* the name of an output; its value is the output's index among the pins */
    ARGUMENT_NUMBER, /* an integer from least to most */
};

struct action_argument {
    const char *name; /* constant */
    enum argument_kind kind;
    uint32_t lines; /* bit i says that pin i may be named */
    uint32_t least, most;
};

struct action {
    char name[PIN_NAME_BYTES];
    enum action_kind kind;
    unsigned pin; /* index of the pin; for ACTION_SENSOR, index of the sensor */
    unsigned n_arguments;
    struct action_argument argument[ACTION_ARGUMENTS];
    uint32_t done; /* how often the action was done, including dry runs */
};

/* The words that a person must have said before a call may drive a line: the line's name and the
 * value, only the name, or none. */
enum action_need { ACTION_NEEDS_VALUE, ACTION_NEEDS_NAME, ACTION_NEEDS_NOTHING };

/* Another word for a pin, or for "on", "off" or "not" (action_said.h). */
struct action_word {
    char text[PIN_NAME_BYTES];
    unsigned of;
};

struct actions {
    const struct platform *platform;
    struct pins pins;
    struct sensors sensors;
    unsigned n; /* number of actions */
    struct action list[ACTIONS_MOST];
    uint32_t a_minute; /* the most actions a minute, or 0 for no limit */
    uint32_t n_times;  /* number of actions done so far; `times` says when the latest were done, in
                        * ticks */
    uint64_t times[ACTIONS_A_MINUTE];
    enum action_need need; /* actions_open sets ACTION_NEEDS_VALUE */
    unsigned n_words;
    struct action_word words[ACTION_WORDS];
};

struct action_call {
    struct action *action;
    uint32_t value[ACTION_ARGUMENTS];
};

/* Make the table of the actions of pins and sensors, `temperature` and `uptime`. A sensor named
 * temperature replaces the machine's temperature. If there are no pins, no sensors and no file, the
 * table is empty. `say` is as in pins_open. */
void actions_open(struct actions *a, const struct platform *platform, const struct pin_list *pins,
                  const struct sensor_list *sensors, bool dry, uint32_t a_minute, pins_say_fn *say,
                  void *context);

/* Add the actions of a text to the table, after actions_open:
 *
 *   # a comment
 *   pulse light|fan ms 1..5000
 *   words light lamp|desk_lamp
 *
 * ";" may also separate lines. Returns NULL, or `error_message` (at most ACTION_TEXT_BYTES, without
 * a full stop); the table then does not change. */
const char *actions_read(struct actions *a, const char *text,
                         char error_message[ACTION_TEXT_BYTES]);

/* Describe the actions for the system prompt; returns the length of the text, or 0 if there are no
 * actions. */
size_t actions_prompt(const struct actions *a, char text[ACTIONS_PROMPT_BYTES]);

/* Bytes of work memory for actions_grammar, 8-byte aligned. */
enum { ACTIONS_WORK_BYTES = 48 << 10 };

/* Write a grammar (flash_image/format/grammar.h) to memory (room bytes, 4-byte aligned). It allows
 * replies that are either one call of the table, or prose that does not begin with "{". Returns
 * ERR_TOO_LONG if the grammar does not fit. */
enum err actions_grammar(const struct actions *a, void *memory, size_t room, void *work,
                         size_t *bytes);

/* Check a call (action_call.h) again and carry it out. Returns false if it was not done. `result`
 * is the outcome in words. `stop` ends a pulse early and switches its line off. */
bool actions_do(struct actions *a, const struct action_call *call, const struct stop *stop,
                char result[ACTION_TEXT_BYTES]);

/* Return the action of this name (bytes), or NULL if there is none. */
struct action *actions_find(struct actions *a, const char *name, size_t bytes);

#endif
