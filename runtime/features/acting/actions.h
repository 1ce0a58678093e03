/* A model's permitted actions, as one table: an action for each pin of pins=, `temperature`, `uptime`, and those
 * of a card's file. The table is told to the model (actions_prompt), holds its replies (actions_grammar),
 * and says what a call means (action_call.h). docs/ACTING.md. */
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
    ACTIONS_A_MINUTE = 120, /* the highest limit that can be set */
    ACTIONS_PROMPT_BYTES = 1536,
    ACTION_TEXT_BYTES = 160, /* of a result or an error */
    ACTION_PULSE_MS = 60000, /* the longest */
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
    ARGUMENT_SWITCH, /* on or off: 1 or 0 */
    ARGUMENT_LINE,   /* the name of an output: its place among the pins */
    ARGUMENT_NUMBER, /* a whole number from least to most */
};

struct action_argument {
    const char *name; /* constant */
    enum argument_kind kind;
    uint32_t lines; /* bit i: pin i may be named */
    uint32_t least, most;
};

struct action {
    char name[PIN_NAME_BYTES];
    enum action_kind kind;
    unsigned pin; /* ACTION_OUTPUT, ACTION_INPUT; of ACTION_SENSOR its place among the sensors */
    unsigned n_arguments;
    struct action_argument argument[ACTION_ARGUMENTS];
    uint32_t done; /* how often, dry runs too */
};

/* The words that a person must have said before a call drives a line: its name and which way, its name, or nothing. */
enum action_need { ACTION_NEEDS_VALUE, ACTION_NEEDS_NAME, ACTION_NEEDS_NOTHING };

/* One more word for a pin, for on, for off or for not (action_said.h). */
struct action_word {
    char text[PIN_NAME_BYTES];
    unsigned of;
};

struct actions {
    const struct platform *platform;
    struct pins pins;
    struct sensors sensors;
    unsigned n; /* 0: there are none */
    struct action list[ACTIONS_MOST];
    uint32_t a_minute; /* at the most; 0: no limit */
    uint32_t n_times;  /* that there have been, ever; the last of them, in ticks: */
    uint64_t times[ACTIONS_A_MINUTE];
    enum action_need need; /* actions_open leaves ACTION_NEEDS_VALUE */
    unsigned n_words;
    struct action_word words[ACTION_WORDS];
};

struct action_call {
    struct action *action;
    uint32_t value[ACTION_ARGUMENTS];
};

/* The pins' and sensors' actions, and `temperature` and `uptime`; a sensor of that name is in the place of the
 * machine's own temperature. Without a pin, a sensor and a file there are none.
 * say as pins_open has it. */
void actions_open(struct actions *a, const struct platform *platform, const struct pin_list *pins,
                  const struct sensor_list *sensors, bool dry, uint32_t a_minute, pins_say_fn *say,
                  void *context);

/* And those of a text, after actions_open:
 *
 *   # a comment
 *   pulse light|fan ms 1..5000
 *   words light lamp|desk_lamp
 *
 * Lines may also be parted by ";". NULL: they are in the table; else a sentence without a full stop, of
 * ACTION_TEXT_BYTES at most in `error_message`, and the table is as it was. */
const char *actions_read(struct actions *a, const char *text,
                         char error_message[ACTION_TEXT_BYTES]);

/* Their text in the system prompt; the length, 0 where there are none. */
size_t actions_prompt(const struct actions *a, char text[ACTIONS_PROMPT_BYTES]);

/* Bytes of work for the next, 8-byte aligned. */
enum { ACTIONS_WORK_BYTES = 48 << 10 };

/* A grammar (flash_image/format/grammar.h) of replies that are one call of the table, or prose that does
 * not begin with "{", to memory (room bytes, 4-byte aligned). ERR_TOO_LONG: it has no room. */
enum err actions_grammar(const struct actions *a, void *memory, size_t room, void *work,
                         size_t *bytes);

/* Do what a call (action_call.h) says, once more checked; `result` is what is said of it. False: it was
 * not done, and `result` says why. stop ends a pulse early, its line off. */
bool actions_do(struct actions *a, const struct action_call *call, const struct stop *stop,
                char result[ACTION_TEXT_BYTES]);

/* The action of a name (bytes); NULL: there is none. */
struct action *actions_find(struct actions *a, const char *name, size_t bytes);

#endif
