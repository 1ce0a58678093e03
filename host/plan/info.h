/* The parts of `ingot info`; private to this folder. The text goes to standard output; a fact that is
 * added to the text must be added to the JSON, too (info_json.c): tests/golden/info.t compares
 * them. */
#ifndef INGOT_HOST_INFO_H
#define INGOT_HOST_INFO_H

#include <stdbool.h>

#include "runtime/image/image.h"

/* ---- facts ---- */

/* Weights without padding, and the bytes that they take with it. */
struct info_sum {
    uint64_t weights, bytes;
};

/* For the tensors of a role (INGOT_N_ROLES: any) and type (INGOT_N_TYPES: any); the tied output
 * counts once. */
struct info_sum info_sum_tensors(const struct image *img, unsigned role, unsigned type);

enum { INFO_MOST_FEATURES = 48, INFO_FEATURE_BYTES = 80 };

/* The family's special features, a few words each. */
struct info_features {
    unsigned n;
    char text[INFO_MOST_FEATURES][INFO_FEATURE_BYTES];
};

/* The start of a tensor in the file; for those of experts, the first one's. */
uint64_t info_tensor_offset(const struct image *img, const struct ingot_tensor *t);

void info_find_features(struct info_features *f, const struct image *img);

/* Add one more feature, which has no comma in it. */
__attribute__((format(printf, 2, 3))) void info_add(struct info_features *f, const char *format,
                                                    ...);

/* Features that only some layers have: mixers and their state, experts, keys of other layers. */
void info_add_layers(struct info_features *f, const struct image *img);

/* The states of a session's recurrent mixers, in addition to keys and values. */
uint64_t info_state_bytes(const struct image *img);

/* True if a role has a tensor, in any layer if it is a layer's. */
bool info_has(const struct image *img, enum ingot_role role);

/* The rope of the layers that see everything, and of those with a window; NULL: none. They are
 * equal if they do not differ. */
const struct ingot_rope *info_rope(const struct image *img, bool local);

/* The texts of a chat template, by their names in info. */
struct info_chat_string {
    const char *label, *key; /* in the text, and in JSON */
    enum ingot_chat_string which;
};

enum { INFO_CHAT_STRINGS = 12, INFO_MOST_SPECIAL = 16 /* tokens of a type that are named */ };

extern const struct info_chat_string info_chat_strings[INFO_CHAT_STRINGS];

const char *info_tokenizer_kind(unsigned kind);

/* A default for replies of the model, by the option's name. */
enum { INFO_SAMPLING = 6 };
struct info_sampling {
    const char *name;
    double value;
};

/* The defaults that the file gives. Returns their number. */
size_t info_sampling(const struct ingot_sampling *s, struct info_sampling fields[INFO_SAMPLING]);

/* ---- as text ---- */

/* Family, shape, features in words, rope; does not end the last line. */
void info_print_params(const struct image *img);

/* Kind, splitting into words, special tokens. */
void info_print_tokenizer(const struct image *img);

/* Name, strings, default system prompt, stop tokens, defaults of replies. */
void info_print_chat(const struct image *img);

/* Sizes in memory, and the model's plan on each board. False: out of memory. */
bool info_print_sizes(const struct image *img);

/* Numbers of weights by type; one line for each kind of tensor; or every part and every tensor. */
void info_print_weights(const struct image *img);
void info_print_classes(const struct image *img);
void info_print_tensors(const struct image *img);

/* ---- an adapter ---- */

/* The adapter's name, base, matrices and type, as text or as JSON. False: it is damaged, or out of
 * memory; the error was printed. */
bool info_print_adapter(const char *path, bool json);

/* ---- as JSON ---- */

/* All of it as one object; tensors: also every part and every tensor. False: out of memory; the
 * error was printed. */
bool info_print_json(const struct image *img, const char *path, const char *signed_by,
                     bool tensors);

#endif
