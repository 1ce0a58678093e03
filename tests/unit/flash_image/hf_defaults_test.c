/* config.json that omits a field: the default of Transformers' class applies, as in Transformers 5.24.
 * Also fields that few models have. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "flash_image/hf/hf_config.h"
#include "tests/unit/tap.h"

static struct source source;

/* Read a small model of 4 layers, of an architecture and with further fields. */
static enum err read_model(const char *architecture, const char *more)
{
    struct hf_config c;
    static char text[2048];

    snprintf(text, sizeof text,
             "{\"architectures\":[\"%sForCausalLM\"],\"hidden_size\":64,\"intermediate_size\":96,"
             "\"num_hidden_layers\":4,\"num_attention_heads\":4,\"num_key_value_heads\":2,"
             "\"vocab_size\":96,\"head_dim\":16,\"max_position_embeddings\":8192%s}",
             architecture, more);
    memset(&source, 0, sizeof source);
    source.path = "config.json";
    return hf_config_read(&source, (const uint8_t *)text, strlen(text), &c);
}

#define DELTA \
    ",\"linear_conv_kernel_dim\":4,\"linear_num_key_heads\":2,\"linear_num_value_heads\":4," \
    "\"linear_key_head_dim\":16,\"linear_value_head_dim\":16"
#define MAMBA \
    ",\"mamba_d_ssm\":64,\"mamba_n_heads\":4,\"mamba_d_head\":16,\"mamba_n_groups\":1," \
    "\"mamba_d_state\":16"
#define MOE ",\"num_experts\":4,\"num_experts_per_tok\":2,\"moe_intermediate_size\":32"

static void test_base(void)
{
    static const struct {
        const char *architecture, *more;
        double base;
    } rows[] = {
        { "Llama", "", 1e4 },       { "Qwen3_5", DELTA, 1e4 }, { "Qwen3_5Moe", DELTA MOE, 1e4 },
        { "FalconH1", MAMBA, 1e4 }, { "SmolLM3", "", 2e6 },    { "Olmo3", "", 5e5 },
        { "Ernie4_5", "", 5e5 },
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        OK(read_model(rows[i].architecture, rows[i].more) == ERR_OK &&
               (double)source.params.rope_base == rows[i].base,
           "without rope_theta %s has the base %g: %g %s", rows[i].architecture, rows[i].base,
           (double)source.params.rope_base, source.error_message);
    }
}

static void test_window(void)
{
    const struct source_params *p = &source.params;

    OK(read_model("Exaone4", "") == ERR_OK && p->window == 4096 && p->layers[0].local &&
           !p->layers[0].no_rope && !p->layers[3].local && p->layers[3].no_rope,
       "without sliding_window EXAONE 4 has windows of 4096, and its last layer does not rotate: %s",
       source.error_message);
    OK(read_model("Exaone4", ",\"sliding_window\":null") == ERR_OK && p->window == 0 &&
           !p->layers[3].no_rope,
       "a null window of EXAONE 4 means none: %s", source.error_message);
    OK(read_model("Olmo3", "") == ERR_OK && p->window == 4096 && p->layers[2].local &&
           !p->layers[3].local,
       "without sliding_window OLMo 3 has windows of 4096: %s", source.error_message);
    OK(read_model("Olmo2", "") == ERR_OK && p->window == 0, "OLMo 2 has none: %s",
       source.error_message);
}

#define GPT_OSS ",\"num_local_experts\":4,\"num_experts_per_tok\":2"

/* YaRN by 32 of a context of 4096 tokens, with a magnitude of 0.1 ln 32 + 1. */
static void test_scaling(void)
{
    const struct source_params *p = &source.params;

    OK(read_model("GptOss", GPT_OSS) == ERR_OK && source.rope != NULL && source.rope[0] == 1.0f &&
           fabs((double)source.rope[7] - 32) < 1e-4 &&
           fabs((double)p->rope_magnitude - 1.3465735902799727) < 1e-6,
       "without rope_parameters gpt-oss has YaRN: %s", source.error_message);
    OK(read_model("GptOss", GPT_OSS ",\"rope_theta\":1000,\"rope_scaling\":null") == ERR_OK &&
           source.rope != NULL && p->rope_base == 1000.0f,
       "so it has with a base: %s", source.error_message);
    OK(read_model("GptOss", GPT_OSS ",\"rope_parameters\":{\"rope_type\":\"default\"}") == ERR_OK &&
           source.rope == NULL && p->rope_magnitude == 1.0f,
       "rope_parameters of type default mean no scaling: %s", source.error_message);
}

static void test_sparse_layers(void)
{
    const struct source_layer_params *l = source.params.layers;

    OK(read_model("Qwen3Moe", MOE ",\"decoder_sparse_step\":2") == ERR_OK &&
           l[0].ffn == INGOT_FFN_DENSE && l[1].ffn == INGOT_FFN_EXPERTS &&
           l[2].ffn == INGOT_FFN_DENSE && l[3].ffn == INGOT_FFN_EXPERTS,
       "with decoder_sparse_step 2 every second layer has experts: %s", source.error_message);
    OK(read_model("Qwen3Moe", MOE ",\"mlp_only_layers\":[1]") == ERR_OK &&
           l[0].ffn == INGOT_FFN_EXPERTS && l[1].ffn == INGOT_FFN_DENSE,
       "a layer of mlp_only_layers has none: %s", source.error_message);
}

#define LATENT \
    ",\"kv_lora_rank\":16,\"qk_rope_head_dim\":8,\"qk_nope_head_dim\":16,\"v_head_dim\":16"

#define ROUTED \
    LATENT ",\"n_routed_experts\":32,\"num_experts_per_tok\":2,\"moe_intermediate_size\":32"

static void test_router(void)
{
    const struct source_params *p = &source.params;

    OK(read_model("DeepseekV3", ROUTED) == ERR_OK && p->experts.scale == 2.5f &&
           p->experts.groups == 8 && p->experts.groups_used == 4,
       "DeepSeek-V3 has a scale of 2.5, and uses 4 of 8 groups: %s", source.error_message);
    OK(read_model("DeepseekV3", ROUTED ",\"n_group\":1,\"routed_scaling_factor\":1") == ERR_OK &&
           p->experts.scale == 1.0f && p->experts.groups <= 1,
       "its config.json may have other values: %s", source.error_message);
    OK(read_model("DeepseekV2", ROUTED) == ERR_OK && p->experts.scale == 1.0f &&
           p->experts.groups <= 1,
       "DeepSeek-V2 has neither: %s", source.error_message);
}

static void test_rotation(void)
{
    const struct source_params *p = &source.params;

    OK(read_model("DeepseekV3", LATENT) == ERR_OK && p->rope == INGOT_ROPE_PAIRS,
       "DeepSeek rotates pairs: %s", source.error_message);
    OK(read_model("DeepseekV3", LATENT ",\"rope_interleave\":false") == ERR_OK &&
           p->rope == INGOT_ROPE_HALVES,
       "without rope_interleave it rotates halves: %s", source.error_message);
}

static void test_epsilon(void)
{
    static const struct {
        const char *architecture, *field, *more;
    } rows[] = {
        { "Llama", "rms_norm_eps", "" },
        { "Starcoder2", "norm_epsilon", "" },
        { "Lfm2", "norm_eps", ",\"layer_types\":[\"conv\",\"conv\",\"conv\",\"full_attention\"]" },
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char more[128];

        snprintf(more, sizeof more, ",\"%s\":0.25%s", rows[i].field, rows[i].more);
        OK(read_model(rows[i].architecture, more) == ERR_OK && source.params.norm_eps == 0.25f,
           "%s: %s is the epsilon of the norms: %g %s", rows[i].architecture, rows[i].field,
           (double)source.params.norm_eps, source.error_message);
    }
}

int main(void)
{
    test_base();
    test_epsilon();
    test_window();
    test_scaling();
    test_sparse_layers();
    test_router();
    test_rotation();
    return tap_done();
}
