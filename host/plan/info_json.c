/* `ingot info --json`: every fact of the text, for programs. Bytes that are not UTF-8 become
 * U+FFFD. */
#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "board/host/host_cpu.h"
#include "flash_image/source/pre_tokenizer.h"
#include "host/plan/info.h"
#include "host/plan/info_json.h"
#include "kernels/kernels.h"
#include "runtime/chat/chat_turn.h"
#include "runtime/text/utf8.h"

/* ---- values ---------------------------------------------------------------------------------- */

struct collected {
    char *text;
    size_t n;
};

static void collect(void *context, const char *text, size_t bytes)
{
    struct collected *c = context;

    for (size_t i = 0; i < bytes; i++) {
        c->text[c->n++] = text[i];
    }
}

/* Make a JSON string of a text from the file, without NULs, which cJSON cannot hold. */
static cJSON *text_value(const char *text, size_t bytes)
{
    struct collected c = { .text = malloc(3 * bytes + 8) };
    struct utf8_writer writer = { .write = collect, .context = &c };
    cJSON *value;

    if (c.text == NULL) {
        return NULL;
    }
    for (size_t i = 0; i < bytes; i++) {
        utf8_writer_put(&writer, text + i, text[i] != '\0');
    }
    utf8_writer_flush(&writer);
    c.text[c.n] = '\0';
    value = cJSON_CreateString(c.text);
    free(c.text);
    return value;
}

void info_json_add_float(cJSON *to, const char *key, float value)
{
    char text[32];

    snprintf(text, sizeof text, "%.7g", (double)value);
    cJSON_AddNumberToObject(to, key, strtod(text, NULL));
}

void info_json_add_text(cJSON *to, const char *key, const char *text)
{
    cJSON_AddItemToObject(to, key, text_value(text, strlen(text)));
}

void info_json_add_count(cJSON *to, const char *key, uint64_t count)
{
    cJSON_AddNumberToObject(to, key, (double)count);
}

/* ---- the model ------------------------------------------------------------------------------- */

static void add_shape(cJSON *to, const struct image *img)
{
    const struct ingot_params *p = &img->header->params;
    const struct {
        const char *key;
        uint32_t value;
    } counts[] = {
        { "layers", p->n_layers },     { "dim", p->dim },         { "hidden", p->hidden },
        { "vocabulary", p->vocab },    { "heads", p->n_heads },   { "head_dim", p->head_dim },
        { "kv_heads", p->n_kv_heads }, { "context", p->context },
    };

    cJSON_AddStringToObject(to, "family", image_family_name(p->family));
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        info_json_add_count(to, counts[i].key, counts[i].value);
    }
    info_json_add_count(to, "state_bytes", info_state_bytes(img));
}

static void add_features(cJSON *to, const struct image *img)
{
    struct info_features f;
    cJSON *list = cJSON_AddArrayToObject(to, "features");

    info_find_features(&f, img);
    for (unsigned i = 0; i < f.n; i++) {
        cJSON_AddItemToArray(list, cJSON_CreateString(f.text[i]));
    }
}

static void add_rope(cJSON *to, const struct image *img)
{
    const struct ingot_rope *rope = info_rope(img, false), *local = info_rope(img, true);
    cJSON *o;

    if (rope == NULL || local == NULL) {
        cJSON_AddNullToObject(to, "rope");
        return;
    }
    o = cJSON_AddObjectToObject(to, "rope");
    cJSON_AddStringToObject(o, "kind", rope->kind == INGOT_ROPE_PAIRS ? "pairs" : "halves");
    info_json_add_count(o, "dimensions", rope->dims);
    info_json_add_float(o, "base", rope->base);
    info_json_add_float(o, "base_in_local_layers", local->base);
    info_json_add_float(o, "magnitude", rope->magnitude);
    info_json_add_count(o, "long_factors_beyond", rope->long_context);
    cJSON_AddBoolToObject(o, "factors", img->header->rope.count != 0);
}

/* ---- weights --------------------------------------------------------------------------------- */

static void add_sum(cJSON *to, struct info_sum sum)
{
    info_json_add_count(to, "weights", sum.weights);
    info_json_add_count(to, "bytes", sum.bytes);
    cJSON_AddNumberToObject(to, "bits_each", (double)sum.bytes * 8 / (double)sum.weights);
}

/* Add the sums of a role (INGOT_N_ROLES: of all roles), one for each type that occurs. */
static void add_sums(cJSON *list, const struct image *img, unsigned role)
{
    for (unsigned type = 0; type < INGOT_N_TYPES; type++) {
        struct info_sum sum = info_sum_tensors(img, role, type);
        cJSON *o;

        if (sum.weights == 0) {
            continue;
        }
        o = cJSON_CreateObject();
        if (role != INGOT_N_ROLES) {
            cJSON_AddStringToObject(o, "tensors", image_role_name(role));
        }
        cJSON_AddStringToObject(o, "type", image_type_name(type));
        add_sum(o, sum);
        cJSON_AddItemToArray(list, o);
    }
}

static void add_weights(cJSON *to, const struct image *img)
{
    cJSON *o = cJSON_AddObjectToObject(to, "parameters"), *list;

    add_sum(o, info_sum_tensors(img, INGOT_N_ROLES, INGOT_N_TYPES));
    add_sums(cJSON_AddArrayToObject(o, "types"), img, INGOT_N_ROLES);
    list = cJSON_AddArrayToObject(to, "classes");
    for (unsigned role = 0; role < INGOT_N_ROLES; role++) {
        add_sums(list, img, role);
    }
}

static cJSON *part_value(const char *name, uint64_t offset, uint64_t bytes)
{
    cJSON *o = cJSON_CreateObject();

    cJSON_AddStringToObject(o, "part", name);
    info_json_add_count(o, "offset", offset);
    info_json_add_count(o, "bytes", bytes);
    return o;
}

static void add_parts(cJSON *to, const struct image *img)
{
    cJSON *list = cJSON_AddArrayToObject(to, "parts");
    char name[32];

    cJSON_AddItemToArray(list,
                         part_value("sections", 0, INGOT_PAGE + image_meta_bytes(img->header)));
    for (uint32_t i = 0; i < img->header->segments.count; i++) {
        image_segment_name(img, i, name, sizeof name);
        cJSON_AddItemToArray(list,
                             part_value(name, img->segments[i].offset, img->segments[i].bytes));
    }
}

static cJSON *tensor_value(const struct image *img, const struct ingot_tensor *t)
{
    cJSON *o = cJSON_CreateObject();

    cJSON_AddStringToObject(o, "tensor", image_role_name(t->role));
    if (t->layer != INGOT_NO_LAYER) {
        info_json_add_count(o, "layer", t->layer);
    } else {
        cJSON_AddNullToObject(o, "layer");
    }
    cJSON_AddStringToObject(o, "type", image_type_name(t->type));
    info_json_add_count(o, "rows", t->rows);
    info_json_add_count(o, "columns", t->cols);
    info_json_add_count(o, "padded_columns", t->cols_padded);
    info_json_add_count(o, "offset", info_tensor_offset(img, t));
    info_json_add_count(o, "bytes", t->bytes);
    return o;
}

static void add_tensors(cJSON *to, const struct image *img)
{
    cJSON *list = cJSON_AddArrayToObject(to, "tensors");

    for (uint32_t i = 0; i < img->header->tensors.count; i++) {
        cJSON_AddItemToArray(list, tensor_value(img, &img->tensors[i]));
    }
}

/* ---- tokenizer and chat ---------------------------------------------------------------------- */

static cJSON *token_value(const struct tokenizer *t, uint32_t id)
{
    cJSON *o = cJSON_CreateObject();

    info_json_add_count(o, "id", id);
    cJSON_AddItemToObject(o, "text",
                          text_value(tokenizer_text(t, id), tokenizer_text_bytes(t, id)));
    return o;
}

static void add_token(cJSON *to, const char *key, const struct tokenizer *t, uint32_t id)
{
    if (id < t->head->n_tokens) {
        cJSON_AddItemToObject(to, key, token_value(t, id));
    } else {
        cJSON_AddNullToObject(to, key);
    }
}

/* Add the number of tokens of a type, and the names of the first ones, as in the text. */
static void add_special(cJSON *to, const char *key, const struct tokenizer *t,
                        enum ingot_token_type type)
{
    cJSON *o = cJSON_AddObjectToObject(to, key), *first = cJSON_CreateArray();
    uint32_t n = 0;

    for (uint32_t id = 0; id < t->head->n_tokens; id++) {
        if (tokenizer_type(t, id) == type && ++n <= INFO_MOST_SPECIAL) {
            cJSON_AddItemToArray(first, token_value(t, id));
        }
    }
    info_json_add_count(o, "count", n);
    cJSON_AddItemToObject(o, "first", first);
}

static void add_tokenizer(cJSON *to, const struct image *img)
{
    cJSON *o = cJSON_AddObjectToObject(to, "tokenizer");
    struct tokenizer t;

    tokenizer_open(&t, img->tokenizer);
    cJSON_AddStringToObject(o, "kind", info_tokenizer_kind(t.head->kind));
    info_json_add_count(o, "tokens", t.head->n_tokens);
    if (t.merges != NULL) {
        info_json_add_count(o, "merges", t.merges->n_merges);
    }
    if (t.head->kind == INGOT_TOKENIZER_BPE) {
        cJSON_AddStringToObject(o, "words", pre_tokenizer_name((enum ingot_pre)t.merges->pre));
    }
    cJSON_AddBoolToObject(o, "texts_in_nfc", (t.head->flags & INGOT_NFC) != 0);
    cJSON_AddBoolToObject(o, "bos_in_front", (t.head->flags & INGOT_ADD_BOS) != 0);
    cJSON_AddBoolToObject(o, "eos_at_the_end", (t.head->flags & INGOT_ADD_EOS) != 0);
    cJSON_AddBoolToObject(o, "space_in_front", (t.head->flags & INGOT_ADD_SPACE_PREFIX) != 0);
    add_token(o, "bos", &t, t.head->bos);
    add_token(o, "eos", &t, t.head->eos);
    add_token(o, "eot", &t, t.head->eot);
    add_token(o, "unk", &t, t.head->unk);
    add_special(o, "control", &t, INGOT_TOKEN_CONTROL);
    add_special(o, "user_defined", &t, INGOT_TOKEN_USER);
}

static void add_template(cJSON *to, const struct image *img)
{
    uint32_t flags = img->chat->flags, bytes;
    const char *text = image_chat_string(img, INGOT_CHAT_NAME, &bytes);
    cJSON *o;

    if (!chat_has_template(img->chat)) {
        cJSON_AddNullToObject(to, "template");
        return;
    }
    o = cJSON_AddObjectToObject(to, "template");
    cJSON_AddItemToObject(o, "name", text_value(text, bytes));
    cJSON_AddBoolToObject(o, "system_in_first_turn", (flags & INGOT_CHAT_SYSTEM_IN_USER) != 0);
    cJSON_AddBoolToObject(o, "system_in_last_turn", (flags & INGOT_CHAT_SYSTEM_LAST) != 0);
    cJSON_AddBoolToObject(o, "system_prompt_is_block", (flags & INGOT_CHAT_SYSTEM_WHOLE) != 0);
    cJSON_AddBoolToObject(o, "keeps_thoughts", (flags & INGOT_CHAT_KEEPS_THOUGHTS) != 0);
    cJSON_AddBoolToObject(o, "system_always", (flags & INGOT_CHAT_SYSTEM_ALWAYS) != 0);
    cJSON_AddBoolToObject(o, "trims", (flags & INGOT_CHAT_TRIM) != 0);
    for (size_t i = 0; i < INFO_CHAT_STRINGS; i++) {
        text = image_chat_string(img, info_chat_strings[i].which, &bytes);
        if (bytes != 0) {
            cJSON_AddItemToObject(o, info_chat_strings[i].key, text_value(text, bytes));
        }
    }
}

static void add_stops(cJSON *to, const struct image *img)
{
    cJSON *list = cJSON_AddArrayToObject(to, "stops_at");
    struct tokenizer t;

    tokenizer_open(&t, img->tokenizer);
    for (uint32_t i = 0; i < img->chat->n_stops; i++) {
        if (img->chat->stops[i] < t.head->n_tokens) {
            cJSON_AddItemToArray(list, token_value(&t, img->chat->stops[i]));
        }
    }
}

/* Add defaults of options for replies. */
static void add_sampling(cJSON *to, const struct ingot_sampling *s)
{
    struct info_sampling fields[INFO_SAMPLING];
    size_t n = info_sampling(s, fields);
    cJSON *o = cJSON_AddObjectToObject(to, "defaults");
    char text[32];

    for (size_t i = 0; i < n; i++) {
        snprintf(text, sizeof text, "%.7g", fields[i].value);
        cJSON_AddRawToObject(o, fields[i].name, text);
    }
}

/* ---- all of it ------------------------------------------------------------------------------- */

static void add_kernels(cJSON *to)
{
    char names[KERNELS_TEXT_BYTES];

    cJSON_AddStringToObject(to, "kernels_here", kernels_features_text(names, host_cpu_features()));
    info_json_add_count(to, "prefetch_bytes", host_cpu_tuning()->ahead);
}

bool info_print_json(const struct image *img, const char *path, const char *signed_by, bool tensors)
{
    cJSON *o = cJSON_CreateObject();
    char *printed = NULL;

    info_json_add_text(o, "model", path);
    info_json_add_text(o, "name", img->header->name);
    if (signed_by != NULL) {
        cJSON_AddStringToObject(o, "signed_by_key", signed_by);
    } else {
        cJSON_AddNullToObject(o, "signed_by_key");
    }
    add_shape(o, img);
    add_features(o, img);
    add_rope(o, img);
    add_weights(o, img);
    add_tokenizer(o, img);
    add_template(o, img);
    add_stops(o, img);
    add_sampling(o, &img->header->sampling);
    if (info_json_add_sizes(o, img)) {
        if (tensors) {
            add_parts(o, img);
            add_tensors(o, img);
        }
        add_kernels(o);
        printed = cJSON_Print(o);
    }
    cJSON_Delete(o);
    if (printed == NULL) {
        fprintf(stderr, "ingot: out of memory\n");
        return false;
    }
    puts(printed);
    cJSON_free(printed);
    return true;
}
