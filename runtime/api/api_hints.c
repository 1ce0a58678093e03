/* Fields that do not change a reply here: hints for other services, and parameters of other
 * servers' samplers with values that switch them off. */
#include <string.h>

#include "runtime/api/api_reader.h"
#include "runtime/text/format_text.h"

enum { BOOL = 1, TEXT = 2, NUMBER = 4, OBJECT = 8, LIST = 16, ANY = 31 };

static const struct {
    const char *name;
    unsigned types;
} hints[] = {
    { "user", TEXT },
    { "metadata", OBJECT },
    { "store", BOOL },
    { "service_tier", TEXT },
    { "verbosity", TEXT },
    { "safety_identifier", TEXT },
    { "prompt_cache_key", TEXT },
    { "prompt_cache_retention", TEXT },
    { "prompt_cache_options", OBJECT },
    { "prediction", OBJECT },
    { "cache_prompt", BOOL },
    { "keep_alive", TEXT | NUMBER },
    { "id_slot", NUMBER },
    { "n_keep", NUMBER },
    { "timings_per_token", BOOL },
    { "return_tokens", BOOL },
    { "return_progress", BOOL },
    { "mirostat_tau", NUMBER }, /* from here on: refine fields of `offs`, or change nothing */
    { "mirostat_eta", NUMBER },
    { "dynatemp_exponent", NUMBER },
    { "dry_base", NUMBER },
    { "dry_allowed_length", NUMBER },
    { "dry_penalty_last_n", NUMBER },
    { "dry_sequence_breakers", LIST },
    { "xtc_threshold", NUMBER },
    { "input_type", TEXT },
    { "truncate", ANY },
    { "request_id", TEXT },
    { "priority", NUMBER },
};

/* Switches of other servers, with the value that is accepted here. */
static const struct {
    const char *name;
    bool as_here;
} switches[] = {
    { "ignore_eos", false },
    { "skip_special_tokens", true },
    { "spaces_between_special_tokens", true },
    { "add_generation_prompt", true },
    { "continue_final_message", false },
    { "include_stop_str_in_output", false },
    { "use_beam_search", false },
    { "echo", false },
    { "return_token_ids", false },
    { "return_tokens_as_token_ids", false },
    { "post_sampling_probs", false },
    { "detokenize", true },
};

static const char *const lists[] = { "stop_token_ids", "bad_words", "lora", "transforms" };

static const struct {
    const char *name;
    int least, most; /* any value in this range switches the field off */
} offs[] = {
    { "typical_p", 1, 1 },         { "tfs_z", 1, 1 },          { "mirostat", 0, 0 },
    { "dynatemp_range", 0, 0 },    { "dry_multiplier", 0, 0 }, { "xtc_probability", 0, 0 },
    { "top_n_sigma", -1, 0 },      { "n_probs", 0, 0 },        { "min_keep", 0, 0 },
    { "length_penalty", 1, 1 },    { "min_tokens", 0, 0 },     { "n_indent", 0, 0 },
    { "t_max_predict_ms", -1, 0 }, { "top_a", 0, 0 },          { "best_of", 1, 1 },
};

static unsigned type_of(const struct api_json *v)
{
    if (api_json_is_bool(v)) {
        return BOOL;
    }
    if (api_json_is(v, JSON_TEXT)) {
        return TEXT;
    }
    if (api_json_is(v, JSON_NUMBER)) {
        return NUMBER;
    }
    return api_json_is(v, JSON_OBJECT) ? OBJECT : LIST;
}

static bool refuse_type(struct api_reader *r, const char *name, unsigned types)
{
    static const char *const words[] = { "true or false", "a text", "a number", "an object",
                                         "a list" };
    char wanted[80] = "";

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if ((types >> i & 1) != 0) {
            size_t n = strlen(wanted);

            (void)format_text(wanted + n, sizeof wanted - n, "%s%s", n != 0 ? " or " : "",
                              words[i]);
        }
    }
    return api_refuse(r->e, 400, name, NULL, "%s has to be %s", name, wanted);
}

static bool read_off(struct api_reader *r, const struct api_json *v, size_t i)
{
    bool off = api_json_number(v) >= offs[i].least && api_json_number(v) <= offs[i].most;

    if (!api_json_is(v, JSON_NUMBER)) {
        return refuse_type(r, offs[i].name, NUMBER);
    }
    return off ||
           api_refuse(r->e, 400, offs[i].name, "unsupported_parameter",
                      "%s is not supported by this server: leave it out, or set it to %d, which "
                      "turns it off",
                      offs[i].name, offs[i].most);
}

static bool read_switch(struct api_reader *r, const struct api_json *v, size_t i)
{
    if (!api_json_is_bool(v)) {
        return refuse_type(r, switches[i].name, BOOL);
    }
    return api_json_is(v, JSON_TRUE) == switches[i].as_here ||
           api_refuse(r->e, 400, switches[i].name, "unsupported_parameter",
                      "%s is not supported by this server: leave it out, or set it to %s",
                      switches[i].name, switches[i].as_here ? "true" : "false");
}

static bool read_list(struct api_reader *r, const struct api_json *v, const char *name)
{
    return (api_json_is(v, JSON_LIST) && v->child == NULL) ||
           api_refuse(r->e, 400, name, "unsupported_parameter",
                      "%s is not supported by this server: leave it out, or give an empty list",
                      name);
}

/* Read switches and lists of other servers; only values that change no reply are accepted. Returns
 * false for all other fields. */
static bool read_neutral(struct api_reader *r, const struct api_json *v, bool *good)
{
    for (size_t i = 0; i < sizeof switches / sizeof switches[0]; i++) {
        if (strcmp(switches[i].name, v->key) == 0) {
            *good = read_switch(r, v, i);
            return true;
        }
    }
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        if (strcmp(lists[i], v->key) == 0) {
            *good = read_list(r, v, lists[i]);
            return true;
        }
    }
    return false;
}

bool api_hint_read(struct api_reader *r, const struct api_json *v, bool *good)
{
    for (size_t i = 0; i < sizeof hints / sizeof hints[0]; i++) {
        if (strcmp(hints[i].name, v->key) == 0) {
            *good = (hints[i].types & type_of(v)) != 0 ||
                    refuse_type(r, hints[i].name, hints[i].types);
            return true;
        }
    }
    for (size_t i = 0; i < sizeof offs / sizeof offs[0]; i++) {
        if (strcmp(offs[i].name, v->key) == 0) {
            *good = read_off(r, v, i);
            return true;
        }
    }
    return read_neutral(r, v, good);
}
