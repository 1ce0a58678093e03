/* Shared by the files that make GBNF from a JSON Schema, and that check finished JSON against one. Host only.
 *
 * A value has to satisfy a set of schemas at the same time: the schema of its place, and all schemas that this
 * schema refers to or lists in allOf. A struct conj is one set of schemas, and becomes one rule. */
#ifndef INGOT_FLASH_IMAGE_SCHEMA_H
#define INGOT_FLASH_IMAGE_SCHEMA_H

#include <limits.h>

#include <cjson/cJSON.h>

#include "flash_image/grammar/grammar_compile.h"
#include "flash_image/grammar/json_schema_private.h"

enum {
    SCHEMA_PARTS_MOST = 32,  /* schemas that a value must satisfy at the same time */
    SCHEMA_NEST_MOST = 64,   /* depth of nested values */
    SCHEMA_LEAVES_MOST = 96, /* alternatives at one place, after all anyOf and oneOf are
                                expanded */
    SCHEMA_STEPS_MOST = 20000,
    SCHEMA_LOOKS_MOST =
        300000, /* steps of about a microsecond; if each of n schemas names the next one twice, they
                   need 2^n steps */
    SCHEMA_NODES_A_LOOK = 50,  /* nodes that a search of the document visits in one step */
    SCHEMA_NAMES_A_LOOK = 200, /* texts that are compared in one step */
    SCHEMA_RULES_MOST = 1200,
};
#define SCHEMA_NEVER UINT_MAX

enum {
    TYPE_NULL = 1,
    TYPE_BOOLEAN = 2,
    TYPE_FRACTION = 4, /* numbers that are not whole */
    TYPE_INTEGER = 8,
    TYPE_STRING = 16,
    TYPE_ARRAY = 32,
    TYPE_OBJECT = 64,
    TYPE_ALL = 127
};

struct conj {
    const cJSON *parts[SCHEMA_PARTS_MOST];
    unsigned n;
};

struct schema_memo {
    struct conj c;  /* sorted by address */
    unsigned rule;  /* SCHEMA_NEVER: no value satisfies the set */
    char brief[24]; /* short expression to use instead of the rule; "": use the rule */
    bool used;      /* true if a rule refers to this one, perhaps while it is being made */
};

struct schema_maker {
    const cJSON *root;
    const struct grammar_schema *schema;
    unsigned index;                         /* index of the schema among the caller's schemas */
    struct text out;                        /* rules that are finished */
    unsigned n_rules, n_extra, nest, steps; /* n_extra: number of rules that are parts of other
                                               rules */
    unsigned looks;                         /* of SCHEMA_LOOKS_MOST */
    unsigned string_steps;                  /* of STRING_STEPS_MOST */
    unsigned n_nodes;                       /* number of values in root's document; 0:
                                               unknown */
    struct schema_memo *memos;              /* memos of this root */
    unsigned n_memos, memos_room;
    bool any;
    char *error_message;
    struct grammar_notes *notes;
    /* Write to t the form of a value that satisfies all of c: a rule's name, or a short expression.
     * False: no value satisfies c; t does not change. */
    bool (*put_value)(struct schema_maker *m, struct text *t, const struct conj *c);
};

/* ---- schema_sets.c ---- */

static inline const cJSON *schema_get(const cJSON *schema, const char *name)
{
    return cJSON_GetObjectItemCaseSensitive(schema, name);
}

/* Return `properties` or `patternProperties`, whose members are schemas. NULL: the schema does not
 * have it, or it is not an object and has no names. */
static inline const cJSON *schema_get_named(const cJSON *schema, const char *name)
{
    const cJSON *named = schema_get(schema, name);

    return cJSON_IsObject(named) ? named : NULL;
}

bool schema_failed(const struct schema_maker *m);
__attribute__((format(printf, 2, 3))) void schema_fail(struct schema_maker *m, const char *format,
                                                       ...);
/* Use up `looks` steps of SCHEMA_LOOKS_MOST. False: too few steps are left; m fails. A loop
 * calls this in each round if only a schema limits the number of rounds. */
bool schema_spend(struct schema_maker *m, size_t looks);
/* The number of members of all parts: the steps needed to see that a keyword is absent. */
size_t schema_width(const struct conj *c);
/* The number of values of a document, itself included. */
unsigned schema_count_nodes(const cJSON *at);
/* Add a note that the grammar does not enforce a keyword of a schema. checked: schema_accepts()
 * checks it. */
void schema_note(struct schema_maker *m, const cJSON *schema, const char *keyword, bool checked);

/* For each schema of a set that has the keyword, add a note that the keyword is checked. */
void schema_note_each(struct schema_maker *m, const struct conj *c, const char *keyword);

/* Report a keyword with a wrong value: as a note if notes are wanted, else as an error. */
void schema_note_wrong(struct schema_maker *m, const cJSON *schema, const char *keyword,
                       const char *error_message);
/* Add a note about unevaluatedProperties or unevaluatedItems, unless the schema with the keyword
 * contains or refers to all other schemas of the set, because the grammar then enforces the
 * keyword. */
void schema_note_unevaluated(struct schema_maker *m, const struct conj *c, const char *keyword);
/* True if a keyword restricts values by itself, and is not a choice among schemas. */
bool schema_restricts(const char *keyword);

/* Add a schema and those that it refers to; the schemas true and {} add nothing. False: the
 * schema allows no value, or the set is full. */
bool schema_add(struct schema_maker *m, struct conj *c, const cJSON *schema);
/* Unless the set already has the schema, add only the schema, without those that it refers to.
 * False: the set is full. */
bool schema_add_part(struct schema_maker *m, struct conj *c, const cJSON *schema);

/* The types that all of c allow. */
unsigned schema_types(struct schema_maker *m, const struct conj *c);

/* ---- schema_choices.c, schema_shape.c, schema_strings.c, schema_numbers.c, schema_arrays.c, schema_objects.c ---- */

/* Write the alternatives of a set. False: there are none. */
bool schema_put_alternatives(struct schema_maker *m, struct text *t, const struct conj *c);
/* Write the form of a set without its anyOf, oneOf and if. */
bool schema_put_plain(struct schema_maker *m, struct text *t, const struct conj *c);
/* True if no value that the grammar can write satisfies both sets. */
bool schema_are_disjoint(struct schema_maker *m, const struct conj *a, const struct conj *b);

bool schema_put_string(struct schema_maker *m, struct text *t, const struct conj *c);
/* Write the form of a member's name, in quotes, that satisfies c and is none of the n `names`. The
 * name must match pattern i of n_patterns or, if absent[i] is true, must not match it. */
struct schema_names {
    const char *const *names;
    unsigned n;
    const char *const *patterns;
    const bool *absent;
    unsigned n_patterns;
};
bool schema_put_name(struct schema_maker *m, struct text *t, const struct conj *c,
                     const struct schema_names *names);
bool schema_put_number(struct schema_maker *m, struct text *t, const struct conj *c,
                       unsigned types);
/* ---- schema_decimals.c ---- */

enum { DECIMAL_DIGITS = 15 /* after the point */ };
#define DECIMAL_WHOLE_MOST 999999999999999.0 /* of GRAMMAR_DIGITS_MOST digits */

/* A bound that is at least 0: digits before and after the point. */
struct decimal {
    double whole;
    char digits[DECIMAL_DIGITS + 1]; /* digits, without zeros at the end */
};

/* Convert a value that is at least 0. False: it has more digits than are supported, or is too
 * large. */
bool decimal_of(double value, struct decimal *d);

/* Write the numbers low .. high (low <= high), without a sign, with up to `most` digits after the
 * point. above: low is excluded; below: high is excluded. False if there are no such numbers. */
bool decimal_put(struct text *t, const struct decimal *low, bool above, const struct decimal *high,
                 bool below, unsigned most);

/* ---- schema_arrays.c, schema_objects.c ---- */

bool schema_put_array(struct schema_maker *m, struct text *t, const struct conj *c);
bool schema_put_object(struct schema_maker *m, struct text *t, const struct conj *c);
/* Collect the schemas that a member of this name has to satisfy. False: the member is not
 * allowed. */
bool schema_member(struct schema_maker *m, const struct conj *c, const char *name,
                   struct conj *value);
/* True if the grammar may write the member, or (schema_requires_member) if every object has the
 * member. */
bool schema_writes_member(const struct conj *c, const char *name);
bool schema_requires_member(const struct conj *c, const char *name);
/* The values that enum or const allows; NULL: all. *one: true for the single value of const. */
const cJSON *schema_values(const struct conj *c, bool *one);

/* ---- schema_others.c ---- */

/* The schema of members that properties and patternProperties do not describe; NULL: any value. */
const cJSON *schema_others(const cJSON *schema);
/* True if the name satisfies propertyNames of all parts. */
bool schema_may_be_named(struct schema_maker *m, const struct conj *c, const char *name);
struct schema_others {
    struct text members; /* alternatives of "name" colon value, with bars between; "": none */
    bool some;
};
/* Write the members that c allows besides those in taken (n_taken); the caller frees o->members. */
void schema_put_others(struct schema_maker *m, struct schema_others *o, const struct conj *c,
                       const char *const *taken, unsigned n_taken);

/* ---- schema_strings.c ---- */

/* Return the strictest limit among the parts: the largest minLength (or similar), or the smallest
 * maxLength; `otherwise` if no part has such a limit. */
unsigned schema_most(struct schema_maker *m, const struct conj *c, const char *name,
                     unsigned otherwise);
unsigned schema_least(struct schema_maker *m, const struct conj *c, const char *name,
                      unsigned otherwise);

/* Write a value or a text as JSON, in the form of a text of GBNF. */
void schema_put_literal(struct schema_maker *m, struct text *t, const cJSON *value);
void schema_put_text(struct schema_maker *m, struct text *t, const char *s);

/* ---- schema_ref.c ---- */

/* Find the target of a $ref (or $dynamicRef) of the schema `from` in the document, or NULL. */
const cJSON *schema_resolve(const cJSON *root, const cJSON *from, const char *ref);
/* The JSON Pointer of a value of the document. */
void schema_put_path(const cJSON *root, const cJSON *at, struct text *out);

/* ---- schema_pattern.c: regular expressions of ECMA-262 ---- */

struct pattern;

/* Compile an expression. NULL: it uses unsupported syntax (back references, look-behind,
 * character properties), or is too large. */
struct pattern *pattern_new(const char *text);
void pattern_free(struct pattern *p);
/* True if a match is found in a text of UTF-8. */
bool pattern_matches(const struct pattern *p, const char *text);
/* The estimated time of pattern_matches in microseconds. */
size_t pattern_steps(const struct pattern *p, const char *text);

/* Strings that satisfy several limits at the same time. */
enum { STRING_LIMITS_MOST = 12 };
struct string_limits {
    const struct pattern *patterns[STRING_LIMITS_MOST];
    bool absent[STRING_LIMITS_MOST]; /* the pattern must not be found */
    unsigned n, least, most;         /* characters; most UINT_MAX: any number */
    unsigned *steps;                 /* states that all strings of this schema have used */
};
enum { STRING_STEPS_MOST = 1500000 }; /* steps of half a microsecond */
enum string_result { STRING_PUT, STRING_NEVER, STRING_TOO_LARGE };
/* Write an expression for the strings to t, and the rules that it uses to `rules`; these are
 * named "s" and a number from *n_extra on. */
enum string_result string_put(struct text *t, struct text *rules, unsigned *n_extra,
                              const struct string_limits *l);

/* ---- schema_check.c ---- */

struct schema_check {
    const cJSON *root;
    unsigned n_nodes; /* size of root's document; 0: not counted yet */
    unsigned steps, depth;
    bool gave_up;        /* the check took too many steps, so its answer is not valid */
    const cJSON *failed; /* the schema with the first keyword that refused the value; NULL: the
                            schema is `false` */
    const char *keyword;
};
bool schema_accepts(struct schema_check *k, const cJSON *schema, const cJSON *value);
/* As schema_accepts, but k->failed does not change if the schema refuses the value. */
bool schema_accepts_quietly(struct schema_check *k, const cJSON *schema, const cJSON *value);
bool schema_check_array(struct schema_check *k, const cJSON *schema, const cJSON *value);
bool schema_check_object(struct schema_check *k, const cJSON *schema, const cJSON *value);
bool schema_check_refuse(struct schema_check *k, const cJSON *schema, const char *keyword);
/* Count `steps` steps of about a microsecond each. False: the check has taken too many steps, and
 * gives up. */
bool schema_check_spend(struct schema_check *k, size_t steps);
/* True if a text matches the pattern; an unsupported pattern matches every text. */
bool schema_check_pattern(struct schema_check *k, const char *pattern, const char *text);
bool schema_values_equal(const cJSON *a, const cJSON *b);
/* The number of steps needed to compare a value with n others. */
size_t schema_equal_steps(const cJSON *value, size_t n);
/* The TYPE_ bits that a keyword `type` allows; 0: the keyword is invalid. */
unsigned schema_types_of(const cJSON *type);
unsigned schema_type_of_value(const cJSON *value);

#endif
