/* Why this file is long: it has the one table of all options. */
#include "runtime/options/options_private.h"

#include <stdarg.h>
#include <string.h>

#include "board/board.h"
#include "board/keyboard.h"
#include "board/min_max.h"
#include "flash_image/format/format.h"
#include "runtime/features/acting/actions.h"
#include "runtime/compute/kv_cache.h"
#include "runtime/console/console.h"
#include "runtime/text/format_text.h"

_Static_assert(sizeof(struct options) <= UINT16_MAX, "struct rule has room for its offsets");

#define FIELD(f) offsetof(struct options, f)
#define NO_VALUE "no value, on or off"

const struct rule options_rules[OPTION_COUNT] = {
    [OPTION_MODEL] = { "model", KIND_TEXT, FIELD(load.model), OPTIONS_MODEL_BYTES, 0, 0,
                       "a file name of up to 255 bytes, such as model=demo.ingot" },
    [OPTION_PRESET] = { "preset", KIND_TEXT, FIELD(load.preset), OPTIONS_PRESET_BYTES, 0, 0,
                        "a name of presets/, such as preset=lila" },
    [OPTION_PROMPT] = { "prompt", KIND_TEXT, FIELD(reply.prompt), OPTIONS_PROMPT_BYTES, 0, 0,
                        "a text of up to 4095 bytes, such as prompt=\"Once upon a time\"" },
    [OPTION_SYSTEM] = { "system", KIND_TEXT, FIELD(reply.system), OPTIONS_SYSTEM_BYTES, 0, 0,
                        "a text of up to 2047 bytes, such as system=\"Answer briefly.\"" },
    [OPTION_THINK] = { "think", KIND_CHOICE, FIELD(reply.think), 0, 0, 0,
                       "on, off, show, dim or hide" },
    [OPTION_STOP] = { "stop", KIND_STOP, 0, 0, 0, 0,
                      "a text of up to 63 bytes, such as stop=\"User:\", and four times at most" },
    [OPTION_OVERFLOW] = { "overflow", KIND_CHOICE, FIELD(reply.overflow), 0, 0, 0,
                          "turns or sinks" },
    [OPTION_TURNS] = { "turns", KIND_COUNT, FIELD(reply.turns), 0, 0, 64,
                       "a count up to 64 that a conversation keeps, such as turns=10; 0: all that fit" },
    [OPTION_QUIET] = { "quiet", KIND_FLAG, FIELD(show.quiet), 0, 0, 0, NO_VALUE },
    [OPTION_N] = { "n", KIND_COUNT, FIELD(reply.n), 0, 0, INGOT_MAX_CONTEXT,
                   "a count of tokens up to 1048576, such as n=128; 0 means until the end" },
    [OPTION_TEMP] = { "temp", KIND_NUMBER, FIELD(sampler.temp), 0, 0, 100,
                      "a number from 0 to 100, such as temp=0.8; 0 picks the likeliest" },
    [OPTION_TOP_P] = { "top_p", KIND_NUMBER, FIELD(sampler.top_p), 0, 0, 1,
                       "a number from 0 to 1, such as top_p=0.95; 1 turns it off" },
    [OPTION_TOP_K] = { "top_k", KIND_COUNT, FIELD(sampler.top_k), 0, 0, INGOT_MAX_VOCAB,
                       "a count up to 1048576, such as top_k=40; 0 turns it off" },
    [OPTION_MIN_P] = { "min_p", KIND_NUMBER, FIELD(sampler.min_p), 0, 0, 1,
                       "a number from 0 to 1, such as min_p=0.05; 0 turns it off" },
    [OPTION_REPEAT] = { "repeat", KIND_NUMBER, FIELD(sampler.repeat), 0, 0.01, 100,
                        "a number from 0.01 to 100, such as repeat=1.1; 1 turns it off" },
    [OPTION_REPEAT_LAST] = { "repeat_last_n", KIND_COUNT, FIELD(sampler.repeat_last), 0, -1,
                             INGOT_MAX_CONTEXT,
                             "a count of tokens up to 1048576, such as repeat_last_n=64; -1: all" },
    [OPTION_PRESENCE] = { "presence_penalty", KIND_NUMBER, FIELD(sampler.presence), 0, -2, 2,
                          "a number from -2 to 2, such as presence_penalty=0.5; 0 turns it off" },
    [OPTION_FREQUENCY] = { "frequency_penalty", KIND_NUMBER, FIELD(sampler.frequency), 0, -2, 2,
                           "a number from -2 to 2, such as frequency_penalty=0.5; 0 turns it off" },
    [OPTION_SEED] = { "seed", KIND_SEED, FIELD(sampler.seed), 0, 0, 0,
                      "a whole number of up to 64 bits, such as seed=42" },
    [OPTION_CTX] = { "ctx", KIND_COUNT, FIELD(load.ctx), 0, 1, INGOT_MAX_CONTEXT,
                     "a count of tokens from 1 to 1048576, such as ctx=512" },
    [OPTION_BEAMS] = { "beams", KIND_COUNT, FIELD(load.beams), 0, 1, OPTIONS_BEAMS,
                       "a count from 1 to 4, such as beams=4: the likeliest of so many replies; 1 samples" },
    [OPTION_TOGETHER] = { "together", KIND_COUNT, FIELD(load.together), 0, 1, OPTIONS_TOGETHER,
                          "a count from 1 to 8 of sequences side by side, such as together=4" },
    [OPTION_LEARN] = { "learn", KIND_CHOICE, FIELD(load.learn), 0, 0, 0,
                       "off, on, or loose: without springs to what was learnt before" },
    [OPTION_POLICY] = { "policy", KIND_CHOICE, FIELD(load.policy), 0, 0, 0,
                        "off, watch, on or explore: how a turn is answered is learnt from those before" },
    [OPTION_LOG] = { "log", KIND_CHOICE, FIELD(load.log), 0, 0, 0,
                     "on or off: whether turns are kept in ingot.log" },
    [OPTION_BRANCHES] = { "branches", KIND_COUNT, FIELD(load.branches), 0, 0, OPTIONS_BRANCHES,
                          "a count from 0 to 8 that /branch can keep, such as branches=4" },
    [OPTION_KV] = { "kv", KIND_KV, 0, 0, 0, 0,
                    "f16, q8, rot_q8, rot_q4 or f32, or KEYS,VALUES; ruv or tiers:HOT,WARM,TYPE by age; "
                    "card or card,TYPES: what does not fit is on the card (docs/KV.md)" },
    [OPTION_EXPERTS] = { "experts", KIND_CHOICE, FIELD(load.experts), 0, 0, 0, "demand or ahead" },
    [OPTION_PINNED] = { "pinned", KIND_COUNT, FIELD(load.pinned), 0, 0, 16,
                        "a count up to 16, such as pinned=2: experts of a layer that stay in the cache" },
    [OPTION_SPEC] = { "spec", KIND_CHOICE, FIELD(load.spec), 0, 0, 0, "auto, off or ngram" },
    [OPTION_DRAFT] = { "draft", KIND_TEXT, FIELD(load.draft), OPTIONS_MODEL_BYTES, 0, 0,
                       "a file name of up to 255 bytes, such as draft=small.ingot" },
    [OPTION_ADAPTER] = { "adapter", KIND_ADAPTERS, 0, 0, 0, 0,
                         "names with or without a scale, such as adapter=poet or "
                         "adapter=poet:0.5,tutor, up to four; or off" },
    [OPTION_GRAMMAR] = { "grammar", KIND_TEXT, FIELD(load.grammar), OPTIONS_GRAMMAR_BYTES, 0, 0,
                         "a name of grammars/, choices such as grammar=\"yes|no\", or on, up to 511 "
                         "bytes" },
    [OPTION_PINS] = { "pins", KIND_PINS, FIELD(acting.pins), PIN_LIST_BYTES, 0, 0,
                      "names and lines, such as pins=light:3,door:5:in, with :in or :low" },
    [OPTION_SENSORS] = { "sensors", KIND_SENSORS, FIELD(acting.sensors), SENSOR_LIST_BYTES, 0, 0,
                         "names and places, such as sensors=room:i2c1:0x48:tmp105" },
    [OPTION_ACTIONS] = { "actions", KIND_TEXT, FIELD(acting.actions), OPTIONS_ACTIONS_BYTES, 0, 0,
                         "a name of actions/, or lines such as actions=\"pulse light ms 1..5000\", "
                         "up to 511 bytes" },
    [OPTION_DRY] = { "dry", KIND_FLAG, FIELD(acting.dry), 0, 0, 0, NO_VALUE },
    [OPTION_ACTIONS_MINUTE] = { "actions_minute", KIND_COUNT, FIELD(acting.a_minute), 0, 0,
                                ACTIONS_A_MINUTE,
                                "a count up to 120, such as actions_minute=30; 0: no limit" },
    [OPTION_ACTIONS_SAID] = { "actions_said", KIND_CHOICE, FIELD(acting.said), 0, 0, 0,
                              "value, name or off: what a person must have said of a line" },
    [OPTION_ADAPTERS] = { "adapters", KIND_SIZE, FIELD(load.adapters), 0, 0, 0,
                          "a size of at least 1, such as adapters=32M (K, M and G are known)" },
    [OPTION_MEM] = { "mem", KIND_SIZE, FIELD(load.mem), 0, 0, 0,
                     "a size of at least 1, such as mem=64M (K, M and G are known)" },
    [OPTION_CORES] = { "cores", KIND_COUNT, FIELD(machine.cores), 0, 1, BOARD_MAX_CORES,
                       "a count from 1 to 8, such as cores=4" },
    [OPTION_ISA] = { "isa", KIND_TEXT, FIELD(machine.isa), OPTIONS_ISA_BYTES, 0, 0,
                     "a name of up to 15 bytes: ref, neon, rv64gc, rvv or avx2" },
    [OPTION_PIO] = { "pio", KIND_FLAG, FIELD(machine.pio), 0, 0, 0, NO_VALUE },
    [OPTION_DMAEND] = { "dmaend", KIND_SIZE, FIELD(machine.dmaend), 0, 0, 0,
                        "an address of at least 1, such as dmaend=0x48000000 or dmaend=1G" },
    [OPTION_PCIE] = { "pcie", KIND_CHOICE, FIELD(machine.pcie), 0, 0, 0, "gen2 or gen3" },
    [OPTION_SCREEN] = { "screen", KIND_CHOICE, FIELD(machine.screen), 0, 0, 0, "on or off" },
    [OPTION_KEYBOARD] = { "keyboard", KIND_CHOICE, FIELD(machine.keyboard), 0, 0, 0,
                          "us, uk, de, fr, it or es" },
    [OPTION_BAUD] = { "baud", KIND_COUNT, FIELD(line.baud), 0, 300, 4000000,
                      "a rate from 300 to 4000000, such as baud=115200" },
    [OPTION_MODE] = { "mode", KIND_CHOICE, FIELD(line.mode), 0, 0, 0, "chat or json" },
    [OPTION_LOCK] = { "lock", KIND_LOCK, FIELD(line.lock), 0, 0, 0, "what `ingot lock` prints" },
    [OPTION_FLOW] = { "flow", KIND_CHOICE, FIELD(line.flow), 0, 0, 0, "on or off" },
    [OPTION_TERM] = { "term", KIND_CHOICE, FIELD(line.term), 0, 0, 0, "auto, plain or vt" },
    [OPTION_WATCHDOG] = { "watchdog", KIND_COUNT, FIELD(machine.watchdog), 0, 0, 15,
                          "a count of seconds up to 15, such as watchdog=15; 0 means none" },
    [OPTION_VERBOSE] = { "verbose", KIND_FLAG, FIELD(show.verbose), 0, 0, 0, NO_VALUE },
    [OPTION_SELFTEST] = { "selftest", KIND_FLAG, FIELD(machine.selftest), 0, 0, 0, NO_VALUE },
    [OPTION_IDS] = { "ids", KIND_FLAG, FIELD(show.ids), 0, 0, 0, NO_VALUE },
    [OPTION_TICKS] = { "ticks", KIND_FLAG, FIELD(show.ticks), 0, 0, 0, NO_VALUE },
    [OPTION_DIAG] = { "diag", KIND_FLAG, FIELD(show.diag), 0, 0, 0, NO_VALUE },
    [OPTION_TRACE] = { "trace", KIND_COUNT, FIELD(show.trace), 0, 0, 1, "0 or 1" },
};
static_assert(BOARD_MAX_CORES == 8, "the sentence of cores= says so");
static_assert(OPTIONS_STOPS == 4 && OPTIONS_STOP_BYTES == 64, "the sentence of stop= says so");
static_assert(ADAPTER_LIST_MOST == 4, "the sentence of adapter= says so");
static_assert(OPTIONS_BEAMS == 4, "the sentence of beams= says so");
static_assert(OPTIONS_TOGETHER == 8, "the sentence of together= says so");
static_assert(OPTIONS_BRANCHES == 8, "the sentence of branches= says so");
static_assert(ACTIONS_A_MINUTE == 120, "the sentence of actions_minute= says so");
static_assert(OPTION_COUNT < 64, "options.given has a bit for each");
static_assert(INGOT_MAX_CONTEXT == 1048576 && INGOT_MAX_VOCAB == 1048576, "sentences say so");

void options_init(struct options *o)
{
    memset(o, 0, sizeof *o);
    o->load.branches = 4;
    o->load.pinned = 2;
    o->acting.a_minute = 30;
    o->load.beams = 1;
    o->load.together = 1;
    sampler_params_default(&o->sampler);
}

void options_say(const struct options_report *report, bool refused, const char *format, ...)
{
    char sentence[OPTIONS_SENTENCE_BYTES];
    va_list args;

    if (report == NULL || report->say == NULL) {
        return;
    }
    va_start(args, format);
    format_text_args(sentence, sizeof sentence, format, args);
    va_end(args);
    report->say(report->context, refused, sentence);
}

const char *options_shown(char buffer[OPTIONS_SHOWN_BYTES], const char *word, size_t bytes)
{
    size_t n = min_size(bytes, OPTIONS_SHOWN_BYTES - 4);

    for (size_t i = 0; i < n; i++) {
        buffer[i] = '?';
        if (word[i] >= ' ' && word[i] <= '~') {
            buffer[i] = word[i];
        }
    }
    buffer[n] = '\0';
    if (n < bytes) {
        memcpy(buffer + n, "...", 4);
    }
    return buffer;
}

enum option options_find(const char *name, size_t bytes)
{
    static const char repeat[] = "repeat_penalty"; /* as other programs call it */

    if (bytes == sizeof repeat - 1 && memcmp(repeat, name, bytes) == 0) {
        return OPTION_REPEAT;
    }
    for (unsigned i = 0; i < OPTION_COUNT; i++) {
        if (strlen(options_rules[i].name) == bytes &&
            memcmp(options_rules[i].name, name, bytes) == 0) {
            return (enum option)i;
        }
    }
    return OPTION_COUNT;
}

/* ---- one option ---- */

enum err options_report_value(const struct rule *rule, const char *value, enum err err,
                              const struct options_report *report)
{
    char word[OPTIONS_SHOWN_BYTES];

    options_say(report, true, "%s=%s cannot be used: %s takes %s", rule->name,
                options_shown(word, value, strlen(value)), rule->name, rule->accepts);
    return err;
}

static enum err set_text(struct options *o, const struct rule *rule, const char *value)
{
    size_t bytes = strlen(value);

    if (bytes >= rule->bytes) {
        return ERR_TOO_LONG;
    }
    if (bytes == 0 && rule->field != FIELD(reply.prompt) && rule->field != FIELD(reply.system)) {
        return ERR_BAD_ARGUMENT;
    }
    memcpy((char *)o + rule->field, value, bytes + 1);
    if (rule->field == FIELD(reply.prompt)) {
        o->reply.prompt_bytes = bytes;
    } else if (rule->field == FIELD(reply.system)) {
        o->reply.system_bytes = bytes;
    }
    return ERR_OK;
}

static const char *const think_names[] = {
    [THINK_ON] = "on",   [THINK_OFF] = "off",   [THINK_SHOW] = "show",
    [THINK_DIM] = "dim", [THINK_HIDE] = "hide", NULL
};

const char *options_think_name(uint32_t think)
{
    return think_names[think];
}

static const char *const overflow_names[] = {
    [OVERFLOW_TURNS] = "turns", [OVERFLOW_SINKS] = "sinks", NULL
};

const char *options_overflow_name(uint32_t overflow)
{
    return overflow_names[overflow];
}

static_assert((int)FLOW_ON == (int)SCREEN_ON && (int)FLOW_OFF == (int)SCREEN_OFF,
              "one list of names");
static const char *const flow_names[] = { [FLOW_ON] = "on", [FLOW_OFF] = "off", NULL };
static const char *const pcie_names[] = { [PCIE_GEN2] = "gen2", [PCIE_GEN3] = "gen3", NULL };
static const char *const keyboard_names[] = { [KEYBOARD_US] = "us",
                                              [KEYBOARD_UK] = "uk",
                                              [KEYBOARD_DE] = "de",
                                              [KEYBOARD_FR] = "fr",
                                              [KEYBOARD_IT] = "it",
                                              [KEYBOARD_ES] = "es",
                                              NULL };
static const char *const spec_names[] = {
    [SPECULATIVE_AUTO] = "auto", [SPECULATIVE_OFF] = "off", [SPECULATIVE_NGRAM] = "ngram", NULL
};
static const char *const learn_names[] = {
    [LEARN_OFF] = "off", [LEARN_ON] = "on", [LEARN_LOOSE] = "loose", NULL
};
static const char *const policy_names[] = { [POLICY_OFF] = "off",
                                            [POLICY_WATCH] = "watch",
                                            [POLICY_ON] = "on",
                                            [POLICY_EXPLORE] = "explore",
                                            NULL };
static const char *const log_names[] = { [LOG_OFF] = "off", [LOG_ON] = "on", NULL };
static const char *const experts_names[] = {
    [EXPERTS_DEMAND] = "demand", [EXPERTS_AHEAD] = "ahead", NULL
};
static const char *const said_names[] = { [ACTION_NEEDS_VALUE] = "value",
                                          [ACTION_NEEDS_NAME] = "name",
                                          [ACTION_NEEDS_NOTHING] = "off",
                                          NULL };
static const char *const term_names[] = {
    [CONSOLE_AUTO] = "auto", [CONSOLE_PLAIN] = "plain", [CONSOLE_VT] = "vt", NULL
};
static const char *const mode_names[] = { [MODE_CHAT] = "chat", [MODE_JSON] = "json", NULL };

/* Of options of KIND_CHOICE, by number. */
static const char *const *const choices_of[OPTION_COUNT] = {
    [OPTION_PCIE] = pcie_names,         [OPTION_SCREEN] = flow_names,
    [OPTION_FLOW] = flow_names,         [OPTION_SPEC] = spec_names,
    [OPTION_TERM] = term_names,         [OPTION_LEARN] = learn_names,
    [OPTION_MODE] = mode_names,         [OPTION_THINK] = think_names,
    [OPTION_OVERFLOW] = overflow_names, [OPTION_LOG] = log_names,
    [OPTION_KEYBOARD] = keyboard_names, [OPTION_POLICY] = policy_names,
    [OPTION_EXPERTS] = experts_names,   [OPTION_ACTIONS_SAID] = said_names,
};

static enum err set_choice(struct options *o, const struct rule *rule, const char *value)
{
    const char *const *choices = choices_of[rule - options_rules];

    for (uint32_t i = 0; choices[i] != NULL; i++) {
        if (strcmp(value, choices[i]) == 0 && value[0] != '\0') {
            memcpy((char *)o + rule->field, &i, sizeof i);
            return ERR_OK;
        }
    }
    return ERR_BAD_ARGUMENT;
}

/* A type, or one of keys and one of values; "card," before it, or "card" alone. */
static enum err set_kv(struct options *o, const char *value)
{
    struct options_kv kv = { kv_both(KV_F16), strncmp(value, "card", 4) == 0 };
    const char *types = value;

    if (kv.card) {
        types += 4;
    }
    if (kv.card && types[0] == ',') {
        types++;
    } else if (kv.card && types[0] == '\0') {
        types = kv_formats[KV_F16].name;
    }
    if (!kv_types_parse(types, &kv.types) || (kv.card && kv.types.hot_tiles != 0)) {
        return ERR_BAD_ARGUMENT;
    }
    o->load.kv = kv;
    return ERR_OK;
}

/* "off" is kept as none. */
static enum err set_adapters(struct options *o, const char *value)
{
    struct adapter_list list;

    if (strlen(value) >= sizeof o->load.adapter) {
        return ERR_TOO_LONG;
    }
    if (value[0] == '\0' || !adapter_list_read(&list, value)) {
        return ERR_BAD_ARGUMENT;
    }
    memcpy(o->load.adapter, list.n != 0 ? value : "", list.n != 0 ? strlen(value) + 1 : 1);
    return ERR_OK;
}

/* Of pins or of sensors. Says itself what is wrong. */
static enum err set_list(struct options *o, const struct rule *rule, const char *value,
                         const struct options_report *report)
{
    char word[OPTIONS_SHOWN_BYTES];
    struct pin_list pins;
    struct sensor_list sensors;
    const char *problem = rule->kind == KIND_PINS ? pin_list_read(&pins, value)
                                                  : sensor_list_read(&sensors, value);

    if (problem != NULL) {
        options_say(report, true, "%s=%s cannot be used: %s", rule->name,
                    options_shown(word, value, strlen(value)), problem);
        return ERR_BAD_ARGUMENT;
    }
    memcpy((char *)o + rule->field, value, strlen(value) + 1);
    return ERR_OK;
}

static enum err set_count(struct options *o, const struct rule *rule, const char *value)
{
    uint64_t n = (uint64_t)rule->most;
    uint32_t n32;
    bool all = rule->least < 0 && strcmp(value, "-1") == 0;

    if ((!all && !options_read_u64(value, false, &n)) || (double)n < rule->least ||
        (double)n > rule->most) {
        return ERR_BAD_ARGUMENT;
    }
    n32 = (uint32_t)n;
    memcpy((char *)o + rule->field, &n32, sizeof n32);
    return ERR_OK;
}

static enum err set_u64(struct options *o, const struct rule *rule, const char *value)
{
    uint64_t n;

    if (!options_read_u64(value, rule->kind == KIND_SIZE, &n) ||
        (rule->kind == KIND_SIZE && n == 0)) {
        return ERR_BAD_ARGUMENT;
    }
    memcpy((char *)o + rule->field, &n, sizeof n);
    return ERR_OK;
}

static enum err set_number(struct options *o, const struct rule *rule, const char *value)
{
    float x;

    /* the bounds as f32, so that repeat=0.01 is not below 0.01 */
    if (!options_read_float(value, &x) || x < (float)rule->least || x > (float)rule->most) {
        return ERR_BAD_ARGUMENT;
    }
    memcpy((char *)o + rule->field, &x, sizeof x);
    return ERR_OK;
}

static enum err add_stop(struct options *o, const char *value)
{
    size_t bytes = strlen(value);

    if (bytes == 0) {
        return ERR_BAD_ARGUMENT;
    }
    if (bytes >= OPTIONS_STOP_BYTES || o->reply.n_stops == OPTIONS_STOPS) {
        return ERR_TOO_LONG;
    }
    memcpy(o->reply.stop[o->reply.n_stops++], value, bytes + 1);
    return ERR_OK;
}

static enum err set_lock(struct options *o, const char *value)
{
    struct lock_word w;

    if (!lock_word_read(&w, value)) {
        return ERR_BAD_ARGUMENT;
    }
    o->line.lock = w;
    return ERR_OK;
}

static enum err set_flag(struct options *o, const struct rule *rule, const char *value)
{
    bool on = value == NULL || strcmp(value, "on") == 0;

    if (!on && strcmp(value, "off") != 0) {
        return ERR_BAD_ARGUMENT;
    }
    memcpy((char *)o + rule->field, &on, sizeof on);
    return ERR_OK;
}

/* A number of pins= is what pinned= was called before there were lines with names. */
static enum option today(enum option which, const char *value, const struct options_report *report)
{
    char word[OPTIONS_SHOWN_BYTES];

    if (which != OPTION_PINS || value == NULL || value[0] < '0' || value[0] > '9') {
        return which;
    }
    options_shown(word, value, strlen(value));
    options_say(report, false, "pins=%s is called pinned=%s now: pins= names GPIO lines", word,
                word);
    return OPTION_PINNED;
}

enum err options_set_one(struct options *o, enum option which, const char *value,
                         const struct options_report *report)
{
    const struct rule *rule;
    enum err err;

    which = today(which, value, report);
    rule = &options_rules[which];
    o->refused |= UINT64_C(1) << which;
    if (value == NULL && rule->kind != KIND_FLAG) {
        options_say(report, true, "%s alone cannot be used: %s takes %s", rule->name, rule->name,
                    rule->accepts);
        return ERR_BAD_ARGUMENT;
    }
    switch (rule->kind) {
    case KIND_TEXT: err = set_text(o, rule, value); break;
    case KIND_KV: err = set_kv(o, value); break;
    case KIND_ADAPTERS: err = set_adapters(o, value); break;
    case KIND_CHOICE: err = set_choice(o, rule, value); break;
    case KIND_PINS:
    case KIND_SENSORS:
        err = set_list(o, rule, value, report);
        if (err != ERR_OK) {
            return err;
        }
        break;
    case KIND_COUNT: err = set_count(o, rule, value); break;
    case KIND_SIZE:
    case KIND_SEED: err = set_u64(o, rule, value); break;
    case KIND_NUMBER: err = set_number(o, rule, value); break;
    case KIND_LOCK: err = set_lock(o, value); break;
    case KIND_STOP: err = add_stop(o, value); break;
    default: err = set_flag(o, rule, value); break;
    }
    if (err != ERR_OK) {
        return options_report_value(rule, value, err, report);
    }
    o->given |= UINT64_C(1) << which;
    o->refused &= ~(UINT64_C(1) << which);
    return ERR_OK;
}

enum option options_of_name(const char *name)
{
    return options_find(name, strlen(name));
}

enum err options_set(struct options *o, const char *name, const char *value,
                     const struct options_report *report)
{
    enum option which = options_of_name(name);

    if (which == OPTION_COUNT) {
        return ERR_NOT_FOUND;
    }
    return options_set_one(o, which, value, report);
}
