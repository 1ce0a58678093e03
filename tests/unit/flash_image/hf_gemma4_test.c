/* config.json of Gemma 4: the models' own sizes, and what is refused. */
#include <math.h>
#include <string.h>

#include "flash_image/hf/hf_config.h"
#include "tests/unit/tap.h"

static struct source source;

static enum err read_text(const char *text)
{
    struct hf_config c;

    memset(&source, 0, sizeof source);
    source.path = "config.json";
    return hf_config_read(&source, (const uint8_t *)text, strlen(text), &c);
}

#define WHOLE(text) \
    "{\"architectures\":[\"Gemma4ForConditionalGeneration\"],\"model_type\":\"gemma4\"," \
    "\"audio_config\":{\"a\":1},\"vision_config\":{\"a\":1},\"text_config\":{\"model_type\":" \
    "\"gemma4_text\"," text "}}"
#define E2B \
    "\"hidden_size\":1536,\"intermediate_size\":6144,\"num_hidden_layers\":10," \
    "\"num_attention_heads\":8,\"num_key_value_heads\":1,\"num_kv_shared_layers\":4," \
    "\"use_double_wide_mlp\":true,\"final_logit_softcapping\":30.0,\"layer_types\":[" \
    "\"sliding_attention\",\"sliding_attention\",\"sliding_attention\",\"sliding_attention\"," \
    "\"full_attention\",\"sliding_attention\",\"sliding_attention\",\"sliding_attention\"," \
    "\"sliding_attention\",\"full_attention\"]"

static void test_shared_keys(void)
{
    const struct source_params *p = &source.params;

    OK(read_text(WHOLE(E2B)) == ERR_OK && p->family == INGOT_GEMMA4 && p->head_dim == 512 &&
           p->head_dim_local == 256 && p->rope_dims == 512 && p->rope_dims_local == 256 &&
           p->per_layer_dim == 256 && p->vocab == 262144 && p->window == 512 && p->tied == 1 &&
           p->attn_scale == 1.0f,
       "E2B has its own sizes, and those of its class where it has none: %s", source.error_message);
    OK(p->layers[6].kv_layer == 5 && p->layers[8].kv_layer == 5 && p->layers[9].kv_layer == 4 &&
           p->layers[5].kv_layer == 5 && p->layers[5].hidden == 6144 &&
           p->layers[6].hidden == 12288 && !p->layers[4].local && p->layers[5].local,
       "the last layers read the last keys of their kind, and are twice as wide");
    OK(source.rope != NULL && source.rope[63] == 1.0f && source.rope[64] == 1e30f &&
           source.rope[SOURCE_ROPE_LOCAL * 256 + 200] == 1.0f && p->rope_base == 1e6f &&
           p->rope_base_local == 1e4f,
       "a quarter of a global layer's frequencies turns, and all of a local layer's do");
}

static void test_keys_as_values(void)
{
    const struct source_params *p = &source.params;

    OK(read_text(WHOLE("\"num_hidden_layers\":12,\"num_key_value_heads\":4,"
                       "\"num_global_key_value_heads\":2,\"attention_k_eq_v\":true,"
                       "\"hidden_size_per_layer_input\":0,\"use_bidirectional_attention\":"
                       "\"vision\"")) == ERR_OK &&
           p->per_layer_dim == 0 && p->layers[0].n_kv_heads == 4 && !p->layers[0].v_is_k &&
           p->layers[5].n_kv_heads == 2 && p->layers[5].v_is_k && !p->layers[5].local,
       "global layers have their own heads, and no values: %s", source.error_message);
    OK(read_text(WHOLE("\"num_hidden_layers\":12,\"num_global_key_value_heads\":2")) == ERR_OK &&
           p->layers[5].n_kv_heads == 4 && !p->layers[5].v_is_k,
       "without attention_k_eq_v, num_global_key_value_heads is ignored: %s", source.error_message);
    OK(read_text(WHOLE("\"num_hidden_layers\":10")) == ERR_OK && !p->layers[9].local &&
           p->layers[8].local,
       "the last layer is global: %s", source.error_message);
}

/* Transformers 5 writes what global layers have of their own as exceptions. */
static void test_exceptions(void)
{
    const struct source_params *p = &source.params;

    OK(read_text(WHOLE("\"num_hidden_layers\":12,\"num_key_value_heads\":4,\"head_dim\":64,"
                       "\"attention_k_eq_v\":true,\"per_layer_config\":{"
                       "\"05\":{\"head_dim\":128,\"num_key_value_heads\":2},"
                       "\"11\":{\"head_dim\":128,\"num_key_value_heads\":1}}")) == ERR_OK &&
           p->head_dim == 128 && p->rope_dims == 128 && p->head_dim_local == 64 &&
           p->layers[4].n_kv_heads == 4 && p->layers[5].n_kv_heads == 2 && p->layers[5].v_is_k &&
           p->layers[11].n_kv_heads == 1,
       "per_layer_config gives global layers their width and heads: %s", source.error_message);
    OK(read_text(WHOLE("\"num_hidden_layers\":12,\"head_dim\":64,\"per_layer_config\":{}")) ==
               ERR_OK &&
           p->head_dim == 64 && p->head_dim_local == 64,
       "with an empty per_layer_config all layers are equally wide: %s", source.error_message);
}

static void refuse(const char *text, enum err expected, const char *words)
{
    enum err e = read_text(text);

    OK(e == expected && strstr(source.error_message, words) != NULL, "config.json is refused: %s",
       source.error_message);
}

static void test_refused(void)
{
    refuse(WHOLE("\"enable_moe_block\":true"), ERR_UNSUPPORTED, "\"enable_moe_block\"");
    refuse(WHOLE("\"vocab_size_per_layer_input\":7"), ERR_UNSUPPORTED,
           "\"vocab_size_per_layer_input\" differs");
    refuse(WHOLE("\"num_kv_shared_layers\":30"), ERR_BAD_MODEL, "\"num_kv_shared_layers\"");
    refuse(WHOLE("\"num_kv_shared_layers\":29"), ERR_BAD_MODEL, "\"num_kv_shared_layers\"");
    refuse(WHOLE("\"use_bidirectional_attention\":\"all\""), ERR_UNSUPPORTED,
           "\"use_bidirectional_attention\"");
    refuse(WHOLE("\"rope_parameters\":{\"full_attention\":{\"rope_type\":\"proportional\","
                 "\"partial_rotary_factor\":-1}}"),
           ERR_BAD_MODEL, "partial_rotary_factor");
    refuse(WHOLE("\"global_head_dim\":4096"), ERR_UNSUPPORTED, "dimensions of a head");
    refuse(WHOLE("\"num_hidden_layers\":6,\"per_layer_config\":{\"1\":{\"head_dim\":64}}"),
           ERR_UNSUPPORTED, "heads of several widths");
    refuse(WHOLE("\"num_hidden_layers\":6,\"per_layer_config\":{\"1\":{\"sliding_window\":64}}"),
           ERR_UNSUPPORTED, "has other fields");
    refuse(WHOLE("\"num_hidden_layers\":6,\"per_layer_config\":{\"6\":{\"head_dim\":256}}"),
           ERR_BAD_MODEL, "not a layer of the model");
    refuse(WHOLE("\"num_hidden_layers\":6,\"per_layer_config\":{\"5x\":{\"head_dim\":256}}"),
           ERR_BAD_MODEL, "not a layer of the model");
    refuse(WHOLE("\"num_hidden_layers\":6,\"per_layer_config\":{\"5\":{\"head_dim\":\"x\"}}"),
           ERR_BAD_MODEL, "\"head_dim\"");
}

int main(void)
{
    test_shared_keys();
    test_keys_as_values();
    test_exceptions();
    test_refused();
    return tap_done();
}
