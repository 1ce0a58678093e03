#include "runtime/features/acting/action_said.h"

#include <string.h>

#include "runtime/features/acting/action_word.h"
#include "runtime/text/format_text.h"

/* ---- words ----------------------------------------------------------------------------------- */

/* English words that people use. A file of actions can add more. */
static const char *const on_words[] = { "start", "started", "starting", "run",      "running",
                                        "open",  "opened",  "opening",  "activate", "enable",
                                        "use",   "need",    "power" };
static const char *const off_words[] = { "stop",    "stopped", "stopping",   "close",   "closed",
                                         "closing", "shut",    "deactivate", "disable", "down",
                                         "cut",     "enough",  "kill",       "silence", "mute" };
static const char *const not_words[] = { "not",  "no",   "never",   "nobody",
                                         "none", "dont", "without", "cannot" };
/* After one of these words, "on" and "off" are the state of a line named later, as in "turn on the
 * lamp", unlike "sat on the lamp". */
static const char *const turn_words[] = { "turn",    "turning", "switch", "switching", "put",
                                          "putting", "set",     "power",  "keep",      "leave",
                                          "go",      "back",    "shut",   "it",        "them" };
/* Words that show that a sentence requests nothing now. */
static const char *const told_words[] = { "was",     "were",      "went",     "did",     "who",
                                          "happens", "yesterday", "tomorrow", "should_i" };
/* Words for a pulse, during which a line stays on for a while. */
static const char *const pulse_words[] = { "pulse", "ms", "millisecond", "second" };

#define COUNT(list) (sizeof(list) / sizeof(list)[0])

/* Return true if a character ends a sentence or a part of a sentence. An apostrophe belongs to its
 * word. */
static bool ends_clause(char c)
{
    return c == '.' || c == ',' || c == ';' || c == ':' || c == '!' || c == '?' || c == '\n';
}

static size_t match_own(const struct actions *a, unsigned of, const struct ear *e)
{
    size_t bytes = 0;

    for (unsigned i = 0; i < a->n_words && bytes == 0; i++) {
        bytes = a->words[i].of == of ? action_match(e, a->words[i].text) : 0;
    }
    return bytes;
}

const char *action_words_add(struct actions *a, unsigned of, const char *text, size_t bytes)
{
    for (size_t from = 0; from <= bytes;) {
        const char *bar = memchr(text + from, '|', bytes - from);
        size_t n = bar != NULL ? (size_t)(bar - text) - from : bytes - from;

        if (n == 0 || n >= sizeof a->words[0].text) {
            return "after `words` and a pin's name, on, off or not come other words for it, of up to "
                   "23 bytes each: words light lamp|bulb";
        }
        if (a->n_words == ACTION_WORDS) {
            return "all lines that begin with `words` may together name 32 words";
        }
        a->words[a->n_words] = (struct action_word){ .of = of };
        memcpy(a->words[a->n_words++].text, text + from, n);
        from += n + 1;
    }
    return NULL;
}

/* ---- a turn ---------------------------------------------------------------------------------- */

struct clause {
    unsigned values;
    bool is_not;
    bool is_told;
    bool is_named; /* the clause names the call's pin */
    bool is_other; /* the clause names another pin */
    bool has_word;
    bool asks;  /* the previous word is "why" or "if", so that "not" negates nothing */
    bool turns; /* the previous word is one of turn_words */
};

/* Apply the sense of a clause at its end: "Do not leave it off" asks for on. */
static void close_clause(struct clause *c, struct action_heard *h)
{
    unsigned turned = (c->values & SAID_ON ? SAID_OFF : 0u) | (c->values & SAID_OFF ? SAID_ON : 0u);

    if (!c->is_told && (c->is_named || !c->is_other)) {
        h->values |= c->is_not ? turned : c->values;
    }
    *c = (struct clause){ 0 };
}

static unsigned pin_of(const struct action_call *call)
{
    return call->action->kind == ACTION_PULSE ? call->value[0] : call->action->pin;
}

/* Match a pin's name, or a word for it, unless a longer name of another pin stands there, such as
 * porch_light for porch. */
static size_t match_pin(const struct actions *a, unsigned pin, const struct ear *e)
{
    const struct pin_list *l = &a->pins.list;
    size_t n = action_match(e, l->pin[pin].name);

    n = n != 0 ? n : match_own(a, pin, e);
    for (unsigned i = 0; i < l->n && n != 0; i++) {
        size_t other = strlen(l->pin[i].name);

        if (i != pin && other > strlen(l->pin[pin].name) && other >= n &&
            action_match(e, l->pin[i].name) != 0) {
            return 0;
        }
    }
    return n;
}

/* Match the longest name of another pin. */
static size_t match_other(const struct actions *a, unsigned pin, const struct ear *e)
{
    const struct pin_list *l = &a->pins.list;
    size_t longest = 0;

    for (unsigned i = 0; i < l->n; i++) {
        size_t n = i != pin ? action_match(e, l->pin[i].name) : 0;

        longest = n > longest ? n : longest;
    }
    return longest;
}

/* Take a number, which may be a pulse's milliseconds or seconds. */
static void hear_number(struct ear *e, const struct action_call *call, struct action_heard *h)
{
    uint32_t n = 0;

    for (; e->at != e->end && action_is_digit(*e->at); e->at++) {
        n = n > ACTION_PULSE_MS ? n : n * 10 + (uint32_t)(*e->at - '0');
    }
    h->has_number = true;
    h->has_ms |= n == call->value[1] || n * 1000 == call->value[1];
}

/* Return the length of the word for "on" or "off" at this position, or 0 if none is there. */
static size_t match_value(const struct actions *a, const struct action_call *call,
                          const struct ear *e, const struct clause *c, unsigned *value)
{
    bool is_clear = c->is_named || c->turns || !c->has_word;
    size_t on = is_clear ? action_match(e, "on") : 0, off = is_clear ? action_match(e, "off") : 0;

    on = on != 0 ? on : action_match_list(e, on_words, COUNT(on_words));
    on = on != 0 ? on : match_own(a, WORDS_ON, e);
    if (on == 0 && call->action->kind == ACTION_PULSE) {
        on = action_match_list(e, pulse_words, COUNT(pulse_words));
    }
    off = off != 0 ? off : action_match_list(e, off_words, COUNT(off_words));
    off = off != 0 ? off : match_own(a, WORDS_OFF, e);
    *value = on != 0 ? SAID_ON : SAID_OFF;
    return on != 0 ? on : off;
}

/* Take a word that may change the sense of the sentence. */
static void hear_sense(const struct actions *a, const struct ear *e, struct clause *c)
{
    static const char *const asking[] = { "why", "if" };
    bool is_not = action_match_list(e, not_words, COUNT(not_words)) != 0 ||
                  match_own(a, WORDS_NOT, e) != 0;

    c->is_not |= is_not && !c->asks;
    c->is_told |= action_match_list(e, told_words, COUNT(told_words)) != 0;
    c->asks = action_match_list(e, asking, COUNT(asking)) != 0;
    c->turns = action_match_list(e, turn_words, COUNT(turn_words)) != 0;
}

static void hear_word(const struct actions *a, const struct action_call *call, struct ear *e,
                      struct clause *c, struct action_heard *h)
{
    size_t name = match_pin(a, pin_of(call), e), n = name;
    unsigned value;

    if (name != 0) {
        c->is_named = h->named = true;
        c->asks = c->turns = false;
    } else if ((n = match_other(a, pin_of(call), e)) != 0) {
        c->is_other = true;
    } else {
        n = match_value(a, call, e, c, &value);
        c->values |= n != 0 ? value : 0u;
        hear_sense(a, e, c);
    }
    if (n != 0) {
        e->at += n;
    } else {
        c->is_not |= action_pass_word(e);
    }
    c->has_word = true;
}

void action_hear(const struct actions *a, const struct action_call *call, const char *text,
                 size_t bytes, bool is_question, struct action_heard *h)
{
    struct ear e = { text, text + bytes };
    struct action_heard heard = *h;
    struct clause c = { 0 };

    if (call->action->kind != ACTION_OUTPUT && call->action->kind != ACTION_PULSE) {
        return;
    }
    while (e.at != e.end) {
        if (action_is_letter(*e.at)) {
            hear_word(a, call, &e, &c, &heard);
        } else if (action_is_digit(*e.at)) {
            hear_number(&e, call, &heard);
        } else if (ends_clause(*e.at++)) {
            close_clause(&c, &heard);
        }
    }
    close_clause(&c, &heard);
    if (is_question) {
        *h = heard;
    }
    h->named = heard.named;
}

/* ---- what a person said ---------------------------------------------------------------------- */

bool action_is_asked(const struct actions *a, const struct action_call *call,
                     const struct action_heard *h, char why[ACTION_TEXT_BYTES])
{
    bool is_pulse = call->action->kind == ACTION_PULSE;
    bool on = is_pulse || call->value[0] != 0;
    const char *name;

    if ((call->action->kind != ACTION_OUTPUT && !is_pulse) || a->need == ACTION_NEEDS_NOTHING) {
        return true;
    }
    name = a->pins.list.pin[pin_of(call)].name;
    if (!h->named) {
        format_text(why, ACTION_TEXT_BYTES, "nobody has named %s: say its name", name);
        return false;
    }
    if (a->need == ACTION_NEEDS_NAME) {
        return true;
    }
    if ((h->values & (on ? SAID_ON : SAID_OFF)) == 0) {
        format_text(why, ACTION_TEXT_BYTES, "nobody has said that %s goes %s: say so", name,
                    on ? "on" : "off");
        return false;
    }
    if (is_pulse && h->has_number && !h->has_ms) {
        format_text(why, ACTION_TEXT_BYTES, "nobody has said %u ms: say how long",
                    (unsigned)call->value[1]);
        return false;
    }
    return true;
}
