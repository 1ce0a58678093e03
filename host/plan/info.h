/* The parts of `ingot info`; private to this folder. The text goes to standard output; a fact that
 * is added to the text must be added to the JSON, too (info_json.c): tests/golden/info.t compares
 * them. */
#ifndef INGOT_HOST_INFO_H
#define INGOT_HOST_INFO_H

#include <stdbool.h>

#include "runtime/image/image.h"

/* ---- facts ---- */

/* The number of weights, without padding, and of bytes, with padding. */
struct info_sum {
    uint64_t weights, bytes;
};

/* Sum the tensors of a role (INGOT_N_ROLES: any) and type (INGOT_N_TYPES: any); a tied output
 * counts once. */
struct info_sum info_sum_tensors(const struct image *img, unsigned role, unsigned type);

enum { INFO_MOST_FEATURES = 48, INFO_FEATURE_BYTES = 80 };

/* The model's special features, in a few words each. */
struct info_features {
    unsigned n;
    char text[INFO_MOST_FEATURES][INFO_FEATURE_BYTES];
};

/* Return the position of a tensor in the file. For a tensor of experts, this is the position of the
 * first expert's part. */
uint64_t info_tensor_offset(const struct image *img, const struct ingot_tensor *t);

void info_find_features(struct info_features *f, const struct image *img);

/* Add a feature, whose text must not contain a comma. */
__attribute__((format(printf, 2, 3))) void info_add(struct info_features *f, const char *format,
                                                    ...);

/* Add features that only some layers have: mixers and their state, experts, keys taken from other
 * layers. */
void info_add_layers(struct info_features *f, const struct image *img);

/* Return the bytes of a session's recurrent states, without keys and values. */
uint64_t info_state_bytes(const struct image *img);

/* True if a role has a tensor; for a role of layers, if any layer has one. */
bool info_has(const struct image *img, enum ingot_role role);

/* Return the rope of the layers without a window or, if `local`, of the layers with a window. If no
 * such layer rotates, return the rope of a layer that does; NULL: no layer rotates. */
const struct ingot_rope *info_rope(const struct image *img, bool local);

/* The texts of a chat template, with their names in the output of `ingot info`. */
struct info_chat_string {
    const char *label, *key; /* in the text, and in JSON */
    enum ingot_chat_string which;
};

enum {
    INFO_CHAT_STRINGS = 12,
    INFO_MOST_SPECIAL = 16 /* how many tokens of a type are listed by name */
};

extern const struct info_chat_string info_chat_strings[INFO_CHAT_STRINGS];

const char *info_tokenizer_kind(unsigned kind);

/* A default for replies, with the name of its option. */
enum { INFO_SAMPLING = 6 };
struct info_sampling {
    const char *name;
    double value;
};

/* List the defaults that the file gives; returns their number. */
size_t info_sampling(const struct ingot_sampling *s, struct info_sampling fields[INFO_SAMPLING]);

/* ---- as text ---- */

/* Print family, shape, features in words, and rope; does not end the last line. */
void info_print_params(const struct image *img);

/* Print the tokenizer's kind, how it splits text into words, and its special tokens. */
void info_print_tokenizer(const struct image *img);

/* Print the template's name, strings, default system prompt, stop tokens, and default settings for
 * replies. */
void info_print_chat(const struct image *img);

/* Print sizes in memory, and the model's plan on each board. False: out of memory. */
bool info_print_sizes(const struct image *img);

/* info_print_weights prints how many weights each type has, info_print_classes a line for each kind
 * of tensor, and info_print_tensors a line for each segment and each tensor. */
void info_print_weights(const struct image *img);
void info_print_classes(const struct image *img);
void info_print_tensors(const struct image *img);

/* ---- an adapter ---- */

/* Print the adapter's name, base, matrices and type, as text or as JSON. Returns false after
 * printing an error: the adapter is damaged, or memory ran out. */
bool info_print_adapter(const char *path, bool json);

/* ---- as JSON ---- */

/* Print all facts as one JSON object; tensors: also every segment and every tensor. Returns false
 * after printing the error, if memory runs out. */
bool info_print_json(const struct image *img, const char *path, const char *signed_by,
                     bool tensors);

#endif
