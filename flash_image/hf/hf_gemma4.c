#include "flash_image/hf/hf_gemma4.h"

#include <stdlib.h>
#include <string.h>

#include "flash_image/source/source_layers.h"

/* Defaults of Gemma4TextConfig. */
enum { GLOBAL_HEAD_DIM = 512, PER_LAYER_DIM = 256 };

static const char exceptions[] = "per_layer_config";

static void refuse(struct hf_json *j, enum err e, const char *field, const char *what)
{
    if (j->e == ERR_OK) {
        j->e = source_refuse(j->s, e, "the field \"%s\" %s", field, what);
    }
}

/* True if the text is the layer's number. Transformers writes zeros in front if the largest number
 * has more digits. */
static bool is_number_of(const char *text, uint32_t layer)
{
    size_t digits = text == NULL ? 0 : strspn(text, "0123456789");

    return digits != 0 && text[digits] == '\0' && strtoul(text, NULL, 10) == layer;
}

/* Return the fields in which the layer differs, as Transformers 5 writes them:
 * "per_layer_config": {"05": {"head_dim": 512}}. NULL: there are none. */
static const cJSON *exceptions_of(const struct hf_json *j, uint32_t layer)
{
    const cJSON *own;

    cJSON_ArrayForEach(own, hf_json_get(j->object, exceptions))
    {
        if (is_number_of(own->string, layer) && !cJSON_IsNull(own)) {
            return own;
        }
    }
    return NULL;
}

static uint32_t number_of(struct hf_json *j, uint32_t layer, const char *field, uint32_t otherwise)
{
    struct hf_json own = { j->s, exceptions_of(j, layer), j->e };
    uint32_t n = hf_json_u32(&own, field, otherwise);

    j->e = own.e;
    return n;
}

/* Transformers 5 writes the widths of global layers only as exceptions. The last layer is always
 * global. */
void hf_gemma4_read_widths(struct hf_json *j)
{
    struct source_params *p = &j->s->params;
    bool listed = hf_json_get(j->object, exceptions) != NULL;

    p->head_dim_local = p->head_dim;
    if (listed && p->n_layers != 0) {
        p->head_dim = number_of(j, p->n_layers - 1, "head_dim", p->head_dim);
    } else {
        p->head_dim = hf_json_u32(j, "global_head_dim", GLOBAL_HEAD_DIM);
    }
}

/* Refuse a layer's exceptions that would be ignored otherwise. */
static void check_fields(struct hf_json *j, const cJSON *layer)
{
    const cJSON *field;

    cJSON_ArrayForEach(field, layer)
    {
        if (field->string == NULL || (strcmp(field->string, "head_dim") != 0 &&
                                      strcmp(field->string, "num_key_value_heads") != 0)) {
            refuse(j, ERR_UNSUPPORTED, exceptions,
                   "has other fields than \"head_dim\" and \"num_key_value_heads\": such a model "
                   "cannot be packed");
        }
    }
}

/* Read each layer's own number of key heads, and check its width. */
static void read_exceptions(struct hf_json *j)
{
    struct source_params *p = &j->s->params;
    int unread = cJSON_GetArraySize(hf_json_get(j->object, exceptions));

    for (uint32_t i = 0; i < p->n_layers && j->e == ERR_OK; i++) {
        struct source_layer_params *l = &p->layers[i];
        const cJSON *own = exceptions_of(j, i);

        unread -= own != NULL;
        check_fields(j, own);
        l->n_kv_heads = number_of(j, i, "num_key_value_heads", p->n_kv_heads);
        if (number_of(j, i, "head_dim", p->head_dim_local) !=
            (l->local ? p->head_dim_local : p->head_dim)) {
            refuse(j, ERR_UNSUPPORTED, exceptions,
                   "gives layers of one kind heads of several widths: such a model cannot be "
                   "packed");
        }
    }
    if (unread != 0) {
        refuse(j, ERR_BAD_MODEL, exceptions, "has an entry that is not a layer of the model");
    }
}

/* Let the last layers use keys of earlier layers. These last layers may have a feed-forward twice
 * as wide. */
static void share_keys(struct hf_json *j)
{
    struct source_params *p = &j->s->params;
    uint32_t n = hf_json_u32(j, "num_kv_shared_layers", 0), layer;
    bool wide = hf_json_bool(j, "use_double_wide_mlp", false);

    if (j->e != ERR_OK || n == 0) {
        return;
    }
    if (n >= p->n_layers || !source_share_keys(p, n, &layer)) {
        refuse(j, ERR_BAD_MODEL, "num_kv_shared_layers",
               "leaves a layer without keys that it could use");
        return;
    }
    for (uint32_t i = p->n_layers - n; wide && i < p->n_layers; i++) {
        p->layers[i].hidden = 2 * min_u32(p->layers[i].hidden, INGOT_MAX_HIDDEN);
    }
}

/* Read global layers, which may have their own number of key heads, and whose keys may also be the
 * values. */
static void read_global_layers(struct hf_json *j)
{
    struct source_params *p = &j->s->params;
    bool listed = hf_json_get(j->object, exceptions) != NULL;
    uint32_t heads = hf_json_u32(j, "num_global_key_value_heads", p->n_kv_heads);

    if (listed) {
        read_exceptions(j);
    }
    if (!hf_json_bool(j, "attention_k_eq_v", false)) {
        return;
    }
    for (uint32_t i = 0; i < p->n_layers; i++) {
        if (!p->layers[i].local) {
            p->layers[i].n_kv_heads = listed ? p->layers[i].n_kv_heads : heads;
            p->layers[i].v_is_k = p->layers[i].kv_layer == i;
        }
    }
}

void hf_gemma4_read_layers(struct hf_json *j)
{
    struct source_params *p = &j->s->params;

    if (j->e != ERR_OK || p->n_layers == 0 || p->n_layers > INGOT_MAX_LAYERS) {
        return; /* a later check refuses n_layers */
    }
    p->rope_dims_local = p->head_dim_local;
    p->layers[p->n_layers - 1].local = false; /* whatever the pattern says */
    p->per_layer_dim = hf_json_u32(j, "hidden_size_per_layer_input", PER_LAYER_DIM);
    if (p->per_layer_dim != 0 &&
        hf_json_u32(j, "vocab_size_per_layer_input", p->vocab) != p->vocab) {
        refuse(j, ERR_UNSUPPORTED, "vocab_size_per_layer_input",
               "differs from \"vocab_size\": such a model cannot be packed");
    }
    share_keys(j);
    read_global_layers(j);
}
