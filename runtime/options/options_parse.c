/* Splits the boot arguments into options, and reports unknown options with the most similar known
 * name. */
#include "runtime/options/options_private.h"

#include <string.h>

#include "runtime/text/nearest.h"
#include "runtime/text/utf8.h"

/* Options that firmware, QEMU users and Linux habits leave in the boot arguments; a name that ends
 * in * matches every name that begins with the part before the *. Names with a point belong to
 * Linux modules and are ignored as well. */
static const char *const foreign[] = {
    "console", "earlycon", "earlyprintk", "splash",     "loglevel", "ignore_loglevel", "ro",
    "rw",      "init",     "initrd",      "root*",      "elevator", "coherent_pool",   "cma",
    "video",   "numa*",    "maxcpus",     "nr_cpus",    "ip",       "kgdboc",          "cgroup_*",
    "snd_*",   "vc_mem*",  "bcm27*",      "bcm28*",     "dwc_otg*", "smsc95xx*",       "fsck*",
    "pci*",    "iommu*",   "reboot",      "BOOT_IMAGE", "panic",    "nokaslr",         "-",
    "--",
};

/* pattern is a name, or the beginning of a name and a *. */
static bool is_named(const char *name, size_t bytes, const char *pattern)
{
    size_t n = strlen(pattern);

    if (pattern[n - 1] == '*') {
        n--;
        return bytes >= n && memcmp(pattern, name, n) == 0;
    }
    return bytes == n && memcmp(pattern, name, n) == 0;
}

static bool is_foreign(const char *name, size_t bytes)
{
    if (memchr(name, '.', bytes) != NULL) {
        return true;
    }
    for (size_t i = 0; i < sizeof foreign / sizeof foreign[0]; i++) {
        if (is_named(name, bytes, foreign[i])) {
            return true;
        }
    }
    return false;
}

/* ---- the nearest option ---- */

/* Return the known option that is most similar to an unknown one, or NULL if none is similar. */
static const struct rule *nearest_rule(const char *name, size_t bytes)
{
    struct nearest near;

    nearest_begin(&near, name, bytes);
    for (unsigned i = 0; i < OPTION_COUNT; i++) {
        nearest_offer(&near, options_rules[i].name);
    }
    if (near.name == NULL) {
        return NULL;
    }
    return &options_rules[options_find(near.name, strlen(near.name))];
}

static void report_unknown(const char *name, size_t bytes, const struct options_report *report)
{
    const struct rule *rule = nearest_rule(name, bytes);
    char shown[OPTIONS_SHOWN_BYTES];

    if (rule != NULL) {
        options_say(report, false,
                    "Boot argument '%s' is unknown and ignored; did you mean %s%s? "
                    "docs/OPTIONS.md lists them all.",
                    options_shown(shown, name, bytes), rule->name,
                    rule->kind == KIND_FLAG ? "" : "=");
    } else {
        options_say(report, false,
                    "Boot argument '%s' is unknown and ignored; docs/OPTIONS.md lists "
                    "all boot options.",
                    options_shown(shown, name, bytes));
    }
}

/* ---- options ---- */

struct written_option {
    const char *name;
    size_t name_bytes;
    bool has_value;
    bool too_long;   /* the value is longer than any option allows */
    bool open_quote; /* the value has no closing quote */
};

static const char byte_order_mark[] = "\xef\xbb\xbf";

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Return the character that \c means inside quotes, or 0 if the backslash stands for itself. */
static char escaped(char c)
{
    switch (c) {
    case 'n': return '\n';
    case 't': return '\t';
    case '"':
    case '\\': return c;
    default: return '\0';
    }
}

/* Unquote the value at s into value. Returns where it ends. */
static const char *read_value(const char *s, struct written_option *w,
                              char value[OPTIONS_PROMPT_BYTES])
{
    size_t n = 0;

    for (; *s != '\0' && (w->open_quote || !is_space(*s)); s++) {
        char c = *s;

        if (c == '"') {
            w->open_quote = !w->open_quote;
            continue;
        }
        if (c == '\\' && w->open_quote && escaped(s[1]) != '\0') {
            c = escaped(*++s);
        }
        if (n + 1 < OPTIONS_PROMPT_BYTES) {
            value[n++] = c;
        } else {
            w->too_long = true;
        }
    }
    value[n] = '\0';
    return s;
}

static const char *read_option(const char *s, struct written_option *w,
                               char value[OPTIONS_PROMPT_BYTES])
{
    *w = (struct written_option){ .name = s };
    while (*s != '\0' && *s != '=' && !is_space(*s)) {
        s++;
    }
    w->name_bytes = (size_t)(s - w->name);
    if (*s != '=') {
        return s;
    }
    w->has_value = true;
    return read_value(s + 1, w, value);
}

static void refuse(struct options *o, enum option which)
{
    if (which != OPTION_COUNT) {
        option_set_put(&o->refused, which, true);
    }
}

static enum err apply_option(struct options *o, const struct written_option *w,
                             const struct options_report *report)
{
    enum option which = options_find(w->name, w->name_bytes);
    char name[OPTIONS_SHOWN_BYTES];

    if (w->open_quote) {
        options_say(report, true,
                    "the closing quote of %s=\" is missing; a quote inside the text is "
                    "written \\\"",
                    options_shown(name, w->name, w->name_bytes));
        refuse(o, which);
        return ERR_BAD_ARGUMENT;
    }
    if (which == OPTION_COUNT) {
        if (!is_foreign(w->name, w->name_bytes)) {
            report_unknown(w->name, w->name_bytes, report);
        }
        return ERR_OK;
    }
    if (w->too_long) {
        refuse(o, which);
        return options_report_value(&options_rules[which], o->value, ERR_TOO_LONG, report);
    }
    return options_set_one(o, which, w->has_value ? o->value : NULL, report);
}

/* A preset, whose options are ignored if the boot arguments have them, too. */
struct preset {
    const struct option_set *past; /* options of the boot line */
    bool running;                  /* a conversation is running, so options without OPTION_IN_PRESET
                                    * need a start */
};

/* Apply one option. preset is NULL for the boot arguments. */
static enum err obey(struct options *o, const struct written_option *w, const struct preset *preset,
                     const struct options_report *report)
{
    enum option which = options_find(w->name, w->name_bytes);

    if (which != OPTION_COUNT && preset != NULL) {
        if (option_set_has(preset->past, which)) {
            return ERR_OK;
        }
        if (preset->running && (options_where(which) & OPTION_IN_PRESET) == 0) {
            options_say(report, false, "%s= in a preset has an effect only at the start",
                        options_name(which));
            return ERR_OK;
        }
    }
    return apply_option(o, w, report);
}

static enum err parse(struct options *o, const char *args, const struct preset *preset,
                      const struct options_report *report)
{
    enum err first = ERR_OK;

    while (*args != '\0') {
        struct written_option w;
        enum err err;

        if (is_space(*args)) {
            args++;
            continue;
        }
        /* Windows programs put a byte order mark in front of the file of options. A firmware may
         * put its own options before it. */
        if (strncmp(args, byte_order_mark, UTF8_MARK_BYTES) == 0) {
            args += UTF8_MARK_BYTES;
            continue;
        }
        args = read_option(args, &w, o->value);
        err = obey(o, &w, preset, report);
        if (first == ERR_OK) {
            first = err;
        }
    }
    return first;
}

enum err options_parse(struct options *o, const char *args, const struct options_report *report)
{
    return parse(o, args, NULL, report);
}

enum err options_parse_preset(struct options *o, const char *args, bool running,
                              const struct options_report *report)
{
    const struct option_set past = o->given;
    const struct preset preset = { &past, running };

    return parse(o, args, &preset, report);
}

enum err options_set_quoted(struct options *o, const char *name, const char *value,
                            const struct options_report *report)
{
    struct written_option w = { .name = name, .name_bytes = strlen(name), .has_value = true };

    if (value[0] != '"') {
        return options_set(o, name, value, report);
    }
    if (*read_value(value, &w, o->value) != '\0') {
        options_say(report, true,
                    "%s has something after its closing quote; a quote inside the text is "
                    "written \\\"",
                    name);
        return ERR_BAD_ARGUMENT;
    }
    return apply_option(o, &w, report);
}
