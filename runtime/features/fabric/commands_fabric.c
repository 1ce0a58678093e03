/* Commands of the memory fabric, with learn=on. */
#include "runtime/app/commands_private.h"

#include <string.h>

#include "runtime/chat/chat_turn.h"
#include "runtime/features/fabric/chat_fabric.h"
#include "runtime/console/console.h"
#include "runtime/text/civil_time.h"
#include "runtime/text/format_text.h"
#include "runtime/text/plural.h"

enum { HOUR = 3600 };

#define SPACES_TEXT "personal, episodic, wiki, schedule or contested"

static bool remembers(struct app *a)
{
    if (!lessons_of(&a->chat)->learns) {
        console_printf(a->setup.console, "error: memories are off: start with learn=on\n");
        return false;
    }
    fabric_set_clock(&fabric_of(&a->chat)->fabric, chat_fabric_now(&a->chat));
    return true;
}

static const char *thousandths(char buffer[FORMAT_NUMBER_BYTES], float x)
{
    return format_milli(buffer, (uint64_t)(x * 1000.0f + 0.5f), 3);
}

/* ---- listing -------------------------------------------------------------------------------- */

/* Return the time in seconds when a namespace's latest note was learnt or needed, or 0 if it has no
 * notes. */
static uint64_t latest(const struct fabric *f, int space, float *strength)
{
    uint64_t when = 0;

    *strength = 0.0f;
    for (uint32_t i = 0; i < f->n_notes; i++) {
        const struct fabric_note *n = &f->notes[i];

        if (n->space == space) {
            when = n->when > when ? n->when : when;
            *strength = n->strength > *strength ? n->strength : *strength;
        }
    }
    return when;
}

static void print_space(struct app *a, int i)
{
    const struct fabric *f = &fabric_of(&a->chat)->fabric;
    const struct fabric_space *s = &f->spaces[i];
    char gate[FORMAT_NUMBER_BYTES], left[FORMAT_NUMBER_BYTES], decay[FORMAT_NUMBER_BYTES];
    float strength;
    uint64_t when = latest(f, i, &strength);
    unsigned hours = s->notes != 0 && f->clock > when ? (unsigned)((f->clock - when) / HOUR) : 0;

    format_text(decay, sizeof decay, "0.%04u", (unsigned)(fabric_kinds[i].decay * 10000.0f + 0.5f));
    console_printf(a->setup.console, "  %-10s %4u %6u  %s  %5s %5u h  %s\n", fabric_kinds[i].name,
                   (unsigned)fabric_kinds[i].rank, (unsigned)s->notes, decay,
                   thousandths(gate, s->replied), hours,
                   s->notes != 0 ? thousandths(left, strength) : "-");
}

static enum command_result command_fabric(struct app *a, char *argument)
{
    const struct fabric *f = &fabric_of(&a->chat)->fabric;

    (void)argument;
    if (!remembers(a)) {
        return COMMAND_DONE;
    }
    console_printf(a->setup.console, "  namespace  rank  notes  decay/h  gate     age  strength\n");
    for (int i = 0; i < FABRIC_SPACES; i++) {
        print_space(a, i);
    }
    console_printf(
        a->setup.console,
        "(gates of the last reply; %u of %u notes, %u of %u tokens of answers, %u %s thrown "
        "away)\n",
        (unsigned)f->n_notes, (unsigned)f->room.notes, (unsigned)f->n_examples,
        (unsigned)f->room.examples, (unsigned)f->thrown, plural(f->thrown, "step", "steps"));
    if (f->conflicts != 0) {
        console_printf(
            a->setup.console,
            "(%u %s on which two namespaces disagreed, last %s and %s: only the surer one "
            "was used)\n",
            (unsigned)f->conflicts, plural(f->conflicts, "token", "tokens"),
            fabric_kinds[f->conflict[0]].name, fabric_kinds[f->conflict[1]].name);
    }
    return COMMAND_DONE;
}

static void print_note(struct app *a, uint32_t i)
{
    const struct fabric *f = &fabric_of(&a->chat)->fabric;
    const struct fabric_note *n = &f->notes[i];
    char strength[FORMAT_NUMBER_BYTES], age[CIVIL_AGE_BYTES];
    bool by_heart = n->wins && n->strength >= FABRIC_STRONG;

    console_printf(a->setup.console, "%3u. %s: %.*s (%s old, strength %s, used %u %s%s)\n",
                   (unsigned)i + 1, fabric_kinds[n->space].name, (int)n->bytes, n->text,
                   civil_age_format(age, f->clock > n->made ? f->clock - n->made : 0),
                   thousandths(strength, n->strength), (unsigned)n->used,
                   plural(n->used, "time", "times"), by_heart ? ", by heart" : "");
    if (n->before_bytes != 0) {
        console_printf(a->setup.console, "     before: %.*s\n", (int)n->before_bytes, n->before);
    }
}

static enum command_result command_what(struct app *a, char *argument)
{
    const struct fabric *f = &fabric_of(&a->chat)->fabric;

    (void)argument;
    if (!remembers(a)) {
        return COMMAND_DONE;
    }
    if (f->n_notes == 0) {
        console_printf(a->setup.console, "(nothing is remembered: /remember NAMESPACE TEXT)\n");
    }
    for (uint32_t i = 0; i < f->n_notes; i++) {
        print_note(a, i);
    }
    if (lessons_of(&a->chat)->lessons.n_notes != 0) {
        console_printf(a->setup.console, "(lessons:)\n");
        chat_learn_list(&a->chat);
    }
    return COMMAND_DONE;
}

/* ---- changing ------------------------------------------------------------------------------- */

/* Find the namespace with a name. If no namespace has the name, print so and return false. */
static bool find_space(struct app *a, const char *name, enum fabric_name *space)
{
    *space = fabric_find(name, strlen(name));
    if (*space == FABRIC_SPACES) {
        console_printf(a->setup.console, "error: there is no namespace %.20s: " SPACES_TEXT "\n",
                       name[0] != '\0' ? name : "without a name");
    }
    return *space != FABRIC_SPACES;
}

static void say_lesson(struct app *a, const char *what, const struct chat_lesson *l)
{
    struct console *c = a->setup.console;
    const char *apart = l->apart ? ""
                                 : "; it is too similar to other memories: phrase it differently";

    if (l->lost != 0) {
        console_printf(c,
                       "(%s: after %u rounds %u of %u tokens of its answers are not the likeliest: "
                       "those memories are found by their words%s)\n",
                       what, (unsigned)l->rounds, (unsigned)l->lost, (unsigned)l->examples, apart);
        return;
    }
    console_printf(c, "(%s: %s after %u %s and %u %s%s)\n", what,
                   l->wins ? "its answers are learnt" : "its answers are learnt, some only just",
                   (unsigned)l->rounds, plural(l->rounds, "round", "rounds"), (unsigned)l->steps,
                   plural(l->steps, "step", "steps"), apart);
}

/* Print the latest note, after /remember. */
static void say_remembered(struct app *a, const char *space, const struct chat_lesson *l)
{
    const struct fabric *f = &fabric_of(&a->chat)->fabric;
    const struct fabric_note *n = &f->notes[f->n_notes - 1];

    if (!l->by_words) {
        say_lesson(a, space, l);
    }
    if (l->replaces) {
        console_printf(a->setup.console, "(it replaces: %.*s)\n", (int)n->before_bytes, n->before);
    }
    if (l->takes_long) {
        console_printf(
            a->setup.console,
            "(%s: it is found by its words, because learning it by heart with the others would "
            "take too long)\n",
            space);
    } else if (l->by_words) {
        console_printf(
            a->setup.console,
            "(%s: it is found by its words, because there is no room to learn it by heart: %u of "
            "%u tokens of answers are taken)\n",
            space, (unsigned)f->n_examples, (unsigned)f->room.examples);
    }
}

static void say_full(struct app *a)
{
    const struct fabric *f = &fabric_of(&a->chat)->fabric;
    uint32_t i = fabric_least(f);
    const struct fabric_note *n = &f->notes[i];

    console_printf(
        a->setup.console,
        "error: the memory is full, %u of %u, and nothing was remembered: /forget %u makes room; "
        "that one is needed least: %s: %.*s\n",
        (unsigned)f->n_notes, (unsigned)f->room.notes, (unsigned)i + 1, fabric_kinds[n->space].name,
        (int)n->bytes, n->text);
}

static void say_why_not(struct app *a, enum err e)
{
    struct console *c = a->setup.console;
    const char *error_message = a->chat.session->error_message;

    if (e == ERR_NO_SPACE) {
        say_full(a);
    } else if (e == ERR_BAD_ARGUMENT) {
        console_printf(c,
                       "error: /remember takes NAMESPACE QUESTION = ANSWER, with a blank on both "
                       "sides of =, or a sentence of more than one word\n");
    } else if (e == ERR_TOO_LONG) {
        console_printf(c,
                       "error: a memory has at most %u bytes, its answer %u tokens: shorten it\n",
                       (unsigned)FABRIC_TEXT_BYTES, (unsigned)CHAT_LEARN_ANSWER_TOKENS - 2);
    } else if (e == ERR_ABORTED) {
        console_printf(c, "(stopped: nothing of it is remembered)\n");
    } else {
        console_printf(c, "error: %s\n", error_message[0] != '\0' ? error_message : err_text(e));
    }
}

static bool remember_fact(struct app *a, enum fabric_name space, const char *text)
{
    char list[FABRIC_TEXT_BYTES + 1];
    size_t bytes = chat_fabric_add_to_list(&a->chat, space, text, list);
    struct chat_lesson lesson;
    enum err e = chat_fabric_remember(&a->chat, space, bytes != 0 ? list : text,
                                      bytes != 0 ? bytes : strlen(text), &lesson);

    if (e == ERR_OK) {
        say_remembered(a, fabric_kinds[space].name, &lesson);
    } else {
        say_why_not(a, e);
    }
    return e == ERR_OK;
}

/* A memory is used for turns of a template only; text that the model continues has none. */
static bool has_turns(struct app *a)
{
    bool has = chat_has_template(a->chat.template);

    if (!has) {
        console_printf(a->setup.console, "error: memories need a chat template, and none is in "
                                         "use: /teach QUESTION = ANSWER works without one\n");
    }
    return has;
}

/* End a fact at a semicolon that stands before a blank or the end. Returns the next fact. */
static char *cut_fact(char *text)
{
    while (*text != '\0' && (text[0] != ';' || (text[1] != ' ' && text[1] != '\0'))) {
        text++;
    }
    if (*text != '\0') {
        *text++ = '\0';
    }
    while (*text == ' ') {
        text++;
    }
    return text;
}

static enum command_result command_remember(struct app *a, char *argument)
{
    enum fabric_name space;
    char *text, *name;
    bool goes_on = true;

    if (!remembers(a) || !has_turns(a)) {
        return COMMAND_DONE;
    }
    name = commands_cut_word(argument, &text);
    if (!find_space(a, name, &space)) {
        return COMMAND_DONE;
    }
    do {
        char *next = cut_fact(text);

        goes_on = remember_fact(a, space, text);
        text = next;
    } while (goes_on && *text != '\0');
    if (*text != '\0') {
        console_printf(a->setup.console, "(not remembered either: %s)\n", text);
    }
    return COMMAND_DONE;
}

/* Read a note's number as /what lists it; returns 0 if the text is not a number. */
static uint32_t number_of(const char *text)
{
    uint32_t n = 0;

    for (; *text >= '0' && *text <= '9' && n <= FABRIC_MOST_NOTES; text++) {
        n = n * 10 + (uint32_t)(*text - '0');
    }
    return *text == '\0' ? n : 0;
}

/* Forget note n of /what. */
static void forget_note(struct app *a, uint32_t n)
{
    const struct fabric *f = &fabric_of(&a->chat)->fabric;
    const struct fabric_note *note = &f->notes[n - 1];
    enum fabric_name space = (enum fabric_name)note->space;
    const char *name = fabric_kinds[space].name;
    struct chat_lesson lesson;

    console_printf(a->setup.console, "(forgotten: %.*s)\n", (int)note->bytes, note->text);
    if (a->chat.turns.n != 0) {
        console_printf(a->setup.console, "(this conversation may still say it: /reset begins a new "
                                         "one)\n");
    }
    if (f->spaces[space].notes == 1) {
        chat_fabric_forget_space(&a->chat, space);
        console_printf(a->setup.console, "(nothing of %s is left)\n", name);
    } else if (chat_fabric_forget(&a->chat, n - 1, &lesson) == ERR_OK) {
        say_lesson(a, name, &lesson);
    } else {
        console_printf(a->setup.console,
                       "(stopped: it is forgotten, but some answers of %s are not learnt again "
                       "yet)\n",
                       name);
    }
}

static enum command_result command_forget(struct app *a, char *argument)
{
    struct console *console = a->setup.console;
    struct fabric *f = &fabric_of(&a->chat)->fabric;
    enum fabric_name space;
    uint32_t n;
    char *rest;

    if (!remembers(a)) {
        return COMMAND_DONE;
    }
    argument = commands_cut_word(argument, &rest);
    n = strcmp(argument, "that") == 0 ? f->that : number_of(argument);
    if (strcmp(argument, "that") == 0 && n == 0) {
        console_printf(console,
                       "error: no memory was told or used lately: give a number of /what\n");
    } else if (strcmp(argument, "all") == 0) {
        chat_fabric_clear(&a->chat);
        console_printf(console, "(all is forgotten)\n");
    } else if (n != 0 && n <= f->n_notes) {
        forget_note(a, n);
    } else if (n != 0 || argument[0] == '\0') {
        console_printf(console,
                       "error: /forget takes a number of /what, 'that', a namespace, or 'all'\n");
    } else if (find_space(a, argument, &space)) {
        chat_fabric_forget_space(&a->chat, space);
        console_printf(console, "(all of %s is forgotten)\n", argument);
    }
    return COMMAND_DONE;
}

static enum command_result command_promote(struct app *a, char *argument)
{
    struct chat_lesson lesson;
    enum fabric_name from, to;
    char *second, *rest;

    if (!remembers(a)) {
        return COMMAND_DONE;
    }
    argument = commands_cut_word(argument, &second);
    second = commands_cut_word(second, &rest);
    if (!find_space(a, argument, &from) || !find_space(a, second, &to)) {
        return COMMAND_DONE;
    }
    if (from == to || fabric_of(&a->chat)->fabric.spaces[from].notes == 0) {
        console_printf(a->setup.console, "error: %s has no memory to move to %s\n", argument,
                       second);
        return COMMAND_DONE;
    }
    if (chat_fabric_promote(&a->chat, to, from, &lesson) == ERR_OK) {
        say_lesson(a, second, &lesson);
    } else {
        console_printf(a->setup.console, "(stopped: not all of %s is learnt yet)\n", second);
    }
    return COMMAND_DONE;
}

static enum command_result command_time(struct app *a, char *argument)
{
    char text[CIVIL_TIME_BYTES];
    uint64_t seconds;

    if (!remembers(a)) {
        return COMMAND_DONE;
    }
    if (argument[0] != '\0') {
        if (!civil_time_parse(argument, &seconds)) {
            console_printf(a->setup.console,
                           "error: /time takes a day and a time: /time 2026-11-24 13:30\n");
            return COMMAND_DONE;
        }
        chat_fabric_set_time(&a->chat, seconds);
    }
    seconds = chat_fabric_now(&a->chat);
    console_printf(a->setup.console, "(%s%s)\n", civil_time_format(text, seconds),
                   seconds < FABRIC_SET_CLOCK
                       ? ", counted from the start: /time 2026-11-24 13:30 sets the clock"
                       : "");
    return COMMAND_DONE;
}

const struct chat_command fabric_commands[FABRIC_COMMANDS] = {
    { "remember", GROUP_MEMORIES, "NAMESPACE TEXT", "remember QUESTION = ANSWER, or a sentence",
      true, command_remember },
    { "forget", GROUP_MEMORIES, "NUMBER|that|NAMESPACE|all", "forget memories that /what lists",
      true, command_forget },
    { "promote", GROUP_MEMORIES, "FROM TO", "move memories to another namespace", true,
      command_promote },
    { "what", GROUP_MEMORIES, "", "list what is remembered and what was learnt", true,
      command_what },
    { "fabric", GROUP_MEMORIES, "", "show the namespaces of memories and their gates", true,
      command_fabric },
    { "time", GROUP_MEMORIES, "[YYYY-MM-DD hh:mm]", "show or set the clock by which memories fade",
      true, command_time },
};
