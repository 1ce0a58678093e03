/* Reads normalizers and pre-tokenizers of tokenizers whose tokens have U+2581 for spaces. */
#include <string.h>

#include "flash_image/hf/hf_json.h"
#include "flash_image/hf/hf_tokenizer.h"

#define SPACE "\xe2\x96\x81" /* U+2581 */

struct spaces {
    bool replaced, prefixed;
    uint32_t flags;    /* INGOT_SPLIT_SPACES, INGOT_PREFIX_ONCE, INGOT_PREFIX_FIRST, INGOT_NFC */
    const char *other; /* the type of an unknown step; NULL: none */
};

/* Metaspace: spaces become U+2581, a space is added at the front, and with `split` (the default)
 * each space begins a word. */
static void read_metaspace(const cJSON *step, struct spaces *spaces)
{
    if (!hf_json_is(step, "replacement", SPACE)) {
        spaces->other = "Metaspace with another replacement";
        return;
    }
    spaces->replaced = true;
    spaces->prefixed = !hf_json_is(step, "prepend_scheme", "never") &&
                       hf_json_is_true(step, "add_prefix_space", true);
    spaces->flags |= INGOT_PREFIX_ONCE;
    if (hf_json_is(step, "prepend_scheme", "first")) {
        spaces->flags |= INGOT_PREFIX_FIRST;
    }
    if (hf_json_is_true(step, "split", true)) {
        spaces->flags |= INGOT_SPLIT_SPACES;
    }
}

/* Read a step that is not a sequence. A split at spaces has no effect if none are left. */
static void read_step(const cJSON *step, struct spaces *spaces)
{
    const cJSON *pattern = hf_json_get(step, "pattern");
    const char *type = hf_json_string(hf_json_get(step, "type"));

    if (hf_json_is(step, "type", "NFC")) {
        spaces->flags |= INGOT_NFC;
    } else if (hf_json_is(step, "type", "Prepend") && hf_json_is(step, "prepend", SPACE)) {
        spaces->prefixed = true;
    } else if (hf_json_is(step, "type", "Replace") && hf_json_is(pattern, "String", " ") &&
               hf_json_is(step, "content", SPACE)) {
        spaces->replaced = true;
    } else if (hf_json_is(step, "type", "Metaspace")) {
        read_metaspace(step, spaces);
    } else if (!(hf_json_is(step, "type", "Split") && hf_json_is(pattern, "String", " ") &&
                 spaces->replaced)) {
        spaces->other = type != NULL ? type : "one without a type";
    }
}

static void read_steps(const cJSON *steps, const char *list, struct spaces *spaces)
{
    const cJSON *step;

    if (!hf_json_is(steps, "type", "Sequence")) {
        if (steps != NULL) {
            read_step(steps, spaces);
        }
        return;
    }
    cJSON_ArrayForEach(step, hf_json_get(steps, list))
    {
        read_step(step, spaces);
    }
}

enum err hf_spaces_read(struct source *s, const cJSON *root)
{
    struct spaces spaces = { .other = NULL };

    read_steps(hf_json_get(root, "normalizer"), "normalizers", &spaces);
    read_steps(hf_json_get(root, "pre_tokenizer"), "pretokenizers", &spaces);
    if (spaces.other != NULL) {
        return source_refuse(
            s, ERR_UNSUPPORTED,
            "the field \"normalizer\" or \"pre_tokenizer\" has a step that changes "
            "texts and is not supported: %.60s; supported: spaces replaced by U+2581",
            spaces.other);
    }
    if (!spaces.replaced) {
        return source_refuse(s, ERR_UNSUPPORTED,
                             "the field \"normalizer\" or \"pre_tokenizer\" is not known; "
                             "supported are spaces replaced by U+2581, and byte-level");
    }
    s->vocab.flags |= spaces.flags;
    if (spaces.prefixed) {
        s->vocab.flags |= INGOT_ADD_SPACE_PREFIX;
    }
    return ERR_OK;
}
