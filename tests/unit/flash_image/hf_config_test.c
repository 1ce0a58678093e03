/* config.json of Hugging Face: the parameters that each family's fields make, and what is refused,
 * each with an error message that names the field. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "flash_image/hf/hf_config.h"
#include "tests/unit/tap.h"

static struct source source;
static char config[4096];

/* A llama with other fields in place of its own, or added. */
static const char *config_of(const char *more)
{
    static const char *const fields[] = {
        "\"architectures\":[\"LlamaForCausalLM\"]",
        "\"model_type\":\"llama\"",
        "\"hidden_size\":32",
        "\"intermediate_size\":12",
        "\"num_hidden_layers\":4",
        "\"num_attention_heads\":2",
        "\"num_key_value_heads\":1",
        "\"vocab_size\":11",
        "\"max_position_embeddings\":64",
    };
    size_t used = (size_t)snprintf(config, sizeof config, "{%s", more);

    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        char key[64];

        snprintf(key, sizeof key, "%.*s", (int)(strchr(fields[i], ':') - fields[i] + 1), fields[i]);
        if (strstr(more, key) == NULL) { /* needs both quotes and the colon */
            used += (size_t)snprintf(config + used, sizeof config - used, "%s%s",
                                     used > 1 ? "," : "", fields[i]);
        }
    }
    snprintf(config + used, sizeof config - used, "}");
    return config;
}

static enum err read_more(const char *more)
{
    struct hf_config c;
    const char *text = config_of(more);

    memset(&source, 0, sizeof source);
    source.path = "config.json";
    return hf_config_read(&source, (const uint8_t *)text, strlen(text), &c);
}

static void refuse_config(const char *more, enum err expected, const char *words)
{
    enum err e = read_more(more);

    OK(e == expected && strstr(source.error_message, words) != NULL,
       "config.json is refused (%d): %s", (int)e, source.error_message);
}

#define FAMILY(name) "\"architectures\":[\"" name "ForCausalLM\"]"
#define SCALING(text) "\"rope_scaling\":{" text "}"

static void test_config_refused(void)
{
    refuse_config("\"architectures\":[\"MambaForCausalLM\"],\"model_type\":\"mamba\"",
                  ERR_UNSUPPORTED, "architecture 'mamba' is not supported; supported: llama, ");
    refuse_config("\"architectures\":[\"LlamaForSequenceClassification\"]", ERR_UNSUPPORTED,
                  "'LlamaForSequenceClassification' is not supported");
    refuse_config("\"architectures\":null,\"model_type\":null", ERR_BAD_MODEL, "\"model_type\"");
    refuse_config("\"num_local_experts\":8", ERR_UNSUPPORTED, "\"num_local_experts\"");
    refuse_config("\"per_layer_config\":{\"1\":{\"head_dim\":8}}", ERR_UNSUPPORTED,
                  "\"per_layer_config\"");
    refuse_config(FAMILY("Mistral") ",\"attention_bias\":true", ERR_UNSUPPORTED,
                  "\"attention_bias\"");
    refuse_config("\"quantization_config\":{\"bits\":4}", ERR_UNSUPPORTED,
                  "\"quantization_config\"");
    refuse_config("\"final_logit_softcapping\":30.0", ERR_UNSUPPORTED,
                  "\"final_logit_softcapping\"");
    refuse_config("\"hidden_act\":\"relu\"", ERR_UNSUPPORTED, "\"hidden_act\" is 'relu'");
    refuse_config("\"hidden_size\":null", ERR_BAD_MODEL, "\"hidden_size\" is missing");
    refuse_config("\"hidden_size\":\"x\"", ERR_BAD_MODEL, "\"hidden_size\" is not a whole number");
    refuse_config("\"hidden_size\":1e300", ERR_BAD_MODEL, "\"hidden_size\" is not a whole number");
    refuse_config("\"hidden_size\":0", ERR_UNSUPPORTED, "dim is 0");
    refuse_config("\"num_attention_heads\":0", ERR_BAD_MODEL, "0 attention heads");
    refuse_config("\"num_attention_heads\":3", ERR_BAD_MODEL, "3 attention heads");
    refuse_config("\"num_hidden_layers\":4000000", ERR_UNSUPPORTED, "n_layers is 4000000");
    refuse_config("\"head_dim\":7", ERR_UNSUPPORTED, "head_dim is 7");
    refuse_config("\"rms_norm_eps\":\"small\"", ERR_BAD_MODEL, "\"rms_norm_eps\" is not a number");
    refuse_config("\"rms_norm_eps\":0", ERR_UNSUPPORTED, "norm_eps");
    refuse_config("\"tie_word_embeddings\":7", ERR_BAD_MODEL, "\"tie_word_embeddings\"");
    refuse_config("\"sliding_window\":32", ERR_UNSUPPORTED, "a sliding window of 32");
    refuse_config("\"partial_rotary_factor\":0.5", ERR_UNSUPPORTED, "\"partial_rotary_factor\"");
    refuse_config(FAMILY("Phi3") ",\"partial_rotary_factor\":0.01", ERR_UNSUPPORTED, "rope_dims");
    refuse_config(FAMILY("Gemma2") ",\"query_pre_attn_scalar\":-1", ERR_UNSUPPORTED, "attn_scale");
    refuse_config(FAMILY("Mistral") ",\"sliding_window\":8,\"layer_types\":[\"full_attention\","
                                    "\"chunked_attention\",\"full_attention\",\"full_attention\"]",
                  ERR_UNSUPPORTED, "\"layer_types\" makes layer 1 'chunked_attention'");
    refuse_config("\"sliding_window\":8,\"layer_types\":[\"full_attention\","
                  "\"sliding_attention\",\"full_attention\",\"full_attention\"]",
                  ERR_UNSUPPORTED, "a sliding window of 8");
    refuse_config(FAMILY("Gemma3") ",\"sliding_window\":8,\"layer_types\":"
                                   "[\"sliding_attention\"]",
                  ERR_BAD_MODEL, "\"layer_types\" has 1 entry");
}

static bool near(float a, double b)
{
    return fabs((double)a - b) <= 1e-6 * fabs(b);
}

/* Sizes of experts and recurrent mixers that no computer has. */
static void test_hostile_layers(void)
{
    refuse_config(FAMILY("Olmoe") ",\"num_experts\":4000000000,\"num_experts_per_tok\":8",
                  ERR_UNSUPPORTED, "n_experts is 4000000000");
    refuse_config(FAMILY("Olmoe") ",\"num_experts\":4,\"num_experts_per_tok\":5", ERR_UNSUPPORTED,
                  "n_experts_used is 5");
    refuse_config(FAMILY("Olmoe") ",\"num_experts\":4", ERR_BAD_MODEL,
                  "\"num_experts_per_tok\" is missing");
    refuse_config(FAMILY("Qwen3Moe") ",\"num_experts\":4,\"num_experts_per_tok\":2,"
                                     "\"decoder_sparse_step\":0",
                  ERR_UNSUPPORTED, "\"decoder_sparse_step\" is 0");
    refuse_config(FAMILY("GptOss") ",\"num_local_experts\":4,\"num_experts_per_tok\":2,"
                                   "\"swiglu_limit\":6",
                  ERR_UNSUPPORTED, "\"swiglu_limit\" is not 7");
    refuse_config(FAMILY("Lfm2"), ERR_UNSUPPORTED, "\"layer_types\" is missing");
    refuse_config(FAMILY("Lfm2") ",\"layer_types\":[\"conv\"]", ERR_UNSUPPORTED,
                  "\"layer_types\" does not have one entry for each layer");
    refuse_config(FAMILY("Lfm2") ",\"layer_types\":[\"conv\",\"mamba\",\"conv\",7]",
                  ERR_UNSUPPORTED, "makes layer 1 'mamba'");
    refuse_config(FAMILY("Lfm2") ",\"block_multiple_of\":0", ERR_UNSUPPORTED, "block_multiple_of");
    refuse_config(FAMILY("NemotronH") ",\"hybrid_override_pattern\":\"ME*-\"", ERR_UNSUPPORTED,
                  "a letter other than M, * and -");
    refuse_config(FAMILY("NemotronH") ",\"hybrid_override_pattern\":\"M*\"", ERR_UNSUPPORTED,
                  "not have one letter for each layer");
    refuse_config(FAMILY("Qwen3_5") ",\"full_attention_interval\":0", ERR_UNSUPPORTED,
                  "\"full_attention_interval\" is 0");
    refuse_config(FAMILY("Qwen3_5") ",\"linear_num_key_heads\":1,\"linear_key_head_dim\":8,"
                                    "\"linear_num_value_heads\":70000,"
                                    "\"linear_value_head_dim\":70000",
                  ERR_UNSUPPORTED, "\"linear_value_head_dim\" is out of bounds");
    refuse_config(FAMILY("SmolLM3") ",\"no_rope_layers\":[1]", ERR_UNSUPPORTED,
                  "\"no_rope_layers\" does not have one entry for each layer");
    refuse_config(FAMILY("Granite") ",\"logits_scaling\":0", ERR_UNSUPPORTED, "logits_scale");
}

static void test_layers(void)
{
    const struct source_params *p = &source.params;

    OK(read_more(FAMILY("SmolLM3") ",\"no_rope_layers\":[1,0,1,0]") == ERR_OK &&
           !p->layers[0].no_rope && p->layers[1].no_rope && p->layers[3].no_rope,
       "a layer listed as 0 does not rotate %s", source.error_message);
    OK(read_more(FAMILY("SmolLM3")) == ERR_OK && !p->layers[2].no_rope && p->layers[3].no_rope,
       "every fourth layer does not rotate if nothing is listed %s", source.error_message);
    OK(read_more(FAMILY("Lfm2") ",\"full_attn_idxs\":[2],\"block_multiple_of\":8,"
                                "\"block_ff_dim\":100") == ERR_OK &&
           p->layers[1].mixer == INGOT_MIXER_SHORTCONV &&
           p->layers[2].mixer == INGOT_MIXER_ATTENTION && p->hidden == 72,
       "LFM2's layers are read by number, and its width is cut by a third %s",
       source.error_message);
    OK(read_more(FAMILY("MiniCPM") ",\"scale_emb\":12,\"scale_depth\":1.4,\"dim_model_base\":16") ==
               ERR_OK &&
           near(p->residual_scale, 0.7) && near(p->embedding_scale, 12) &&
           near(p->logits_scale, 16.0 / p->dim),
       "MiniCPM's multipliers are read %s", source.error_message);
    OK(read_more(FAMILY("Ernie4_5")) == ERR_OK && p->rope == INGOT_ROPE_PAIRS,
       "Ernie rotates pairs %s", source.error_message);
    OK(read_more(FAMILY("HunYuanDenseV1") "," SCALING("\"type\":\"dynamic\",\"alpha\":1000.0")) ==
               ERR_OK &&
           near(p->rope_base / 1e4f,
                pow(1000.0, (double)p->head_dim / ((double)p->head_dim - 2.0))),
       "Hunyuan's alpha makes another base %s", source.error_message);
    OK(read_more(FAMILY("Qwen3Moe") ",\"num_experts\":4,\"num_experts_per_tok\":2,"
                                    "\"mlp_only_layers\":[1]") == ERR_OK &&
           p->layers[0].ffn == INGOT_FFN_EXPERTS && p->layers[1].ffn == INGOT_FFN_DENSE &&
           (p->features & SOURCE_RENORMALIZE) == 0,
       "layers may be without experts, and weights stay as they are %s", source.error_message);
}

static void test_field_twice(void)
{
    refuse_config("\"rms_norm_eps\":1e-5,\"rms_norm_eps\":1e-6", ERR_BAD_MODEL,
                  "the field rms_norm_eps appears twice");
}

static void test_scaling_refused(void)
{
    refuse_config(SCALING("\"type\":\"dynamic\",\"factor\":2"), ERR_UNSUPPORTED,
                  "rope scaling 'dynamic' is not supported; supported: ");
    refuse_config(SCALING("\"type\":\"linear\""), ERR_BAD_MODEL, "factor");
    refuse_config(SCALING("\"type\":\"linear\",\"factor\":-2"), ERR_BAD_MODEL, "factor");
    refuse_config(SCALING("\"type\":7"), ERR_BAD_MODEL, "\"type\" is not text");
    refuse_config(SCALING("\"rope_type\":\"llama3\",\"factor\":8,\"high_freq_factor\":1"),
                  ERR_BAD_MODEL, "high_freq_factor");
    refuse_config(FAMILY("Phi3") "," SCALING("\"type\":\"longrope\""), ERR_BAD_MODEL,
                  "original_max_position_embeddings");
    refuse_config(FAMILY("Phi3") ",\"original_max_position_embeddings\":16," SCALING(
                      "\"type\":\"longrope\",\"short_factor\":[1,1],\"long_factor\":[2]"),
                  ERR_BAD_MODEL, "2 numbers in \"short_factor\", but 8 are needed");
    refuse_config(
        FAMILY("Phi3") ",\"original_max_position_embeddings\":16,\"sliding_window\":8," SCALING(
            "\"type\":\"longrope\""),
        ERR_UNSUPPORTED, "longrope with a sliding window");
}

static void test_families(void)
{
    const struct source_params *p = &source.params;

    OK(read_more("\"sliding_window\":null") == ERR_OK && p->family == INGOT_LLAMA &&
           p->window == 0 && p->rope == INGOT_ROPE_HALVES && p->tied == 0 &&
           near(p->attn_scale, 0.25) && p->head_dim == 16 && near(p->rope_base, 1e4),
       "a llama is read %s", source.error_message);
    OK(read_more(FAMILY("Mistral") ",\"sliding_window\":8") == ERR_OK && p->window == 8 &&
           p->global_every == 0 && near(p->rope_base_local, 1e4),
       "a Mistral's window is read");
    OK(read_more(FAMILY("Mistral") ",\"sliding_window\":4096") == ERR_OK && p->window == 0,
       "a window beyond the context does not count");
    OK(read_more(FAMILY("Qwen2") ",\"sliding_window\":8") == ERR_OK && p->window == 0 &&
           p->features == SOURCE_QKV_BIAS,
       "qwen2 does not use its window unless told");
    OK(read_more(FAMILY("Qwen2") ",\"sliding_window\":8,\"use_sliding_window\":true,"
                                 "\"max_window_layers\":0") == ERR_OK &&
           p->window == 8,
       "qwen2 uses its window when told");
    OK(read_more(FAMILY("Qwen2") ",\"sliding_window\":8,\"use_sliding_window\":true,"
                                 "\"max_window_layers\":2") == ERR_OK &&
           p->window == 8 && !p->layers[1].local && p->layers[2].local && p->layers[3].local,
       "the window holds from a layer on");
    OK(read_more(FAMILY("Qwen2") ",\"sliding_window\":8,\"use_sliding_window\":true") == ERR_OK &&
           p->window == 0,
       "without max_window_layers the window begins at the 29th layer");
    OK(read_more(FAMILY("Mistral") ",\"max_position_embeddings\":8192") == ERR_OK &&
           p->window == 4096 &&
           read_more(FAMILY("Mistral") ",\"max_position_embeddings\":8192,"
                                       "\"sliding_window\":null") == ERR_OK &&
           p->window == 0,
       "a mistral has its usual window, and a null takes it away");
    OK(read_more(FAMILY("Exaone4") ",\"sliding_window\":8,\"layer_types\":[\"full_attention\","
                                   "\"sliding_attention\",\"sliding_attention\","
                                   "\"full_attention\"]") == ERR_OK &&
           p->layers[0].no_rope && !p->layers[1].no_rope && p->layers[2].local &&
           p->layers[3].no_rope,
       "exaone4's layers rotate if they are local %s", source.error_message);
    OK(read_more(FAMILY("Exaone4") ",\"sliding_window\":8,\"layer_types\":[\"full_attention\","
                                   "\"full_attention\",\"full_attention\","
                                   "\"full_attention\"]") == ERR_OK &&
           p->layers[0].no_rope && p->layers[3].no_rope,
       "exaone4's layers rotate nowhere if none is local %s", source.error_message);
    OK(read_more(FAMILY("Qwen3Moe") ",\"num_experts\":3,\"num_experts_per_tok\":2,"
                                    "\"moe_intermediate_size\":5") == ERR_OK &&
           p->head_dim == 16 && near(p->rope_base, 1e4),
       "qwen3_moe has its usual heads and base %s", source.error_message);
    OK(read_more(FAMILY("Gemma2") ",\"head_dim\":16,\"sliding_window\":8,"
                                  "\"query_pre_attn_scalar\":64,\"attn_logit_softcapping\":50.0") ==
               ERR_OK &&
           p->global_every == 2 && near(p->attn_scale, 0.125) &&
           near(p->embedding_scale, sqrt(32.0)) && p->tied == 1 && near(p->attn_softcap, 50),
       "gemma2's scales, window and caps are read");
    OK(read_more(FAMILY("Gemma3") ",\"head_dim\":16,\"sliding_window\":512,\"rope_theta\":1e6,"
                                  "\"sliding_window_pattern\":2") == ERR_OK &&
           p->window == 512 && p->global_every == 2 && near(p->rope_base, 1e6) &&
           near(p->rope_base_local, 1e4),
       "gemma3's local layers have their own base, however wide the window");
    OK(read_more(FAMILY(
           "Gemma3") ",\"head_dim\":16,\"sliding_window\":8,\"rope_parameters\":{"
                     "\"full_attention\":{\"rope_type\":\"linear\",\"factor\":8,\"rope_theta\":5e5},"
                     "\"sliding_attention\":{\"rope_type\":\"default\",\"rope_theta\":100}},"
                     "\"layer_types\":[\"sliding_attention\",\"full_attention\","
                     "\"sliding_attention\",\"full_attention\"]") == ERR_OK &&
           p->layers[0].local && !p->layers[1].local && p->layers[2].local && !p->layers[3].local &&
           near(p->rope_base, 5e5) && near(p->rope_base_local, 100) && near(source.rope[0], 8) &&
           near(source.rope[8 * SOURCE_ROPE_LOCAL], 1),
       "gemma3 is read as Transformers 5 writes it %s", source.error_message);
    OK(read_more("\"rope_parameters\":{\"rope_type\":\"default\",\"rope_theta\":77}") == ERR_OK &&
           near(p->rope_base, 77) && source.rope == NULL,
       "rope_parameters of one kind are read");
}

static void test_scaling(void)
{
    const struct source_params *p = &source.params;

    /* Pairs of 16 dimensions at base 10000 have wavelengths 2 pi 10000^(i/8): 6.3, 19.9, 62.8,
     * 199, 628, 1987, ... of an original context of 64: up to 16 they stay, beyond 64 they are
     * divided by 8, and 62.8 lies between, at (64 / 62.8 - 1) / 3 of the ramp; so does 19.9. */
    OK(read_more(SCALING("\"rope_type\":\"llama3\",\"factor\":8,\"low_freq_factor\":1,"
                         "\"high_freq_factor\":4,\"original_max_position_embeddings\":64")) ==
               ERR_OK &&
           near(source.rope[0], 1) && near(source.rope[3], 8) && near(source.rope[7], 8),
       "the scaling of llama3 is read %s", source.error_message);
    if (source.rope != NULL) {
        double smooth = (64.0 / (2 * M_PI * 10.0) - 1) / 3;

        OK(near(source.rope[2], 1 / ((1 - smooth) / 8 + smooth)) &&
               near(source.rope[8 * SOURCE_ROPE_LONG + 2], source.rope[2]),
           "llama3's ramp is computed");
    }
    OK(read_more(SCALING("\"type\":\"linear\",\"factor\":2")) == ERR_OK && near(source.rope[5], 2),
       "a linear factor is read");
    OK(read_more(FAMILY("Phi3") ",\"original_max_position_embeddings\":16," SCALING(
           "\"type\":\"longrope\",\"factor\":8,\"original_max_position_embeddings\":32,"
           "\"short_factor\":[1,1,1,1,1,1,1,1.5],\"long_factor\":[2,2,2,2,2,2,2,3]")) == ERR_OK &&
           p->rope_context == 16 && near(p->rope_magnitude, sqrt(1 + log(8) / log(16))) &&
           near(source.rope[7], 1.5) && near(source.rope[8 * SOURCE_ROPE_LONG + 7], 3),
       "the scaling longrope is read %s", source.error_message);
    OK(read_more(FAMILY("MiniCPM") "," SCALING(
           "\"rope_type\":\"longrope\",\"original_max_position_embeddings\":16,"
           "\"short_factor\":[1,1,1,1,1,1,1,1],\"long_factor\":[2,2,2,2,2,2,2,2]")) == ERR_OK &&
           p->rope_context == 16 && near(p->rope_magnitude, sqrt(1.5)),
       "MiniCPM's longrope has its context of training in the scaling %s", source.error_message);
    OK(read_more(SCALING(
           "\"type\":\"yarn\",\"factor\":4,\"original_max_position_embeddings\":16")) == ERR_OK &&
           near(p->rope_magnitude, 0.1 * log(4) + 1) && near(source.rope[7], 4),
       "the scaling yarn is read %s", source.error_message);
}

/* YaRN's magnitude of cosines and sines, and DeepSeek's scale of the scores: 0.1 ln(factor) + 1 (arXiv 2309.00071, 3.4),
 * each with its mscale, as numbers that were worked out elsewhere. */
static void test_yarn_magnitude(void)
{
    static const struct {
        const char *scaling;
        double magnitude;
    } rows[] = {
        { "\"type\":\"yarn\",\"factor\":32,\"original_max_position_embeddings\":16",
          1.3465735902799727 },
        { "\"type\":\"yarn\",\"factor\":4,\"original_max_position_embeddings\":16",
          1.138629436111989 },
        { "\"type\":\"yarn\",\"factor\":1,\"original_max_position_embeddings\":64", 1.0 },
        { "\"type\":\"yarn\",\"factor\":32,\"original_max_position_embeddings\":16,"
          "\"attention_factor\":0.75",
          0.75 },
        { "\"type\":\"yarn\",\"factor\":40,\"original_max_position_embeddings\":16,\"mscale\":1.0,"
          "\"mscale_all_dim\":0.5",
          1.1557219901962608 }, /* 1.3688879454 / 1.1844439727 */
        { "\"type\":\"yarn\",\"factor\":40,\"original_max_position_embeddings\":16,\"mscale\":0.707",
          1.3688879454113936 }, /* one alone counts for nothing */
    };
    const struct source_params *p = &source.params;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char more[512];

        snprintf(more, sizeof more, "\"rope_scaling\":{%s}", rows[i].scaling);
        OK(read_more(more) == ERR_OK && near(p->rope_magnitude, rows[i].magnitude),
           "yarn %s: the magnitude %g is %g %s", rows[i].scaling, (double)p->rope_magnitude,
           rows[i].magnitude, source.error_message);
    }
}

#define DEEPSEEK(scaling) \
    FAMILY("DeepseekV2") \
    ",\"kv_lora_rank\":16,\"qk_nope_head_dim\":128,\"qk_rope_head_dim\":64,\"v_head_dim\":16," \
    "\"n_routed_experts\":null,\"max_position_embeddings\":163840," SCALING( \
        "\"type\":\"yarn\",\"factor\":40,\"original_max_position_embeddings\":4096," \
        "\"beta_fast\":32,\"beta_slow\":1," scaling)

/* Heads of 192 have 192^-1/2 times the square of 1 + mscale_all_dim 0.1 ln 40. */
static void test_yarn_of_deepseek(void)
{
    const struct source_params *p = &source.params;

    OK(read_more(DEEPSEEK("\"mscale\":0.707,\"mscale_all_dim\":0.707")) == ERR_OK &&
           near(p->attn_scale, 0.11472138679292612) && near(p->rope_magnitude, 1.0),
       "DeepSeek-V2-Lite has scores times %g, and cosines times %g %s", (double)p->attn_scale,
       (double)p->rope_magnitude, source.error_message);
    OK(read_more(DEEPSEEK("\"mscale\":1.0,\"mscale_all_dim\":1.0")) == ERR_OK &&
           near(p->attn_scale, 0.1352337788608801) && near(p->rope_magnitude, 1.0),
       "DeepSeek-V3 has scores times %g, and cosines times %g %s", (double)p->attn_scale,
       (double)p->rope_magnitude, source.error_message);
    OK(read_more(DEEPSEEK("\"mscale\":1.0,\"mscale_all_dim\":0")) == ERR_OK &&
           near(p->attn_scale, 0.07216878364870322) && near(p->rope_magnitude, 1.3688879454113936),
       "mscale_all_dim=0 leaves the scores, and cosines have all of it: %g, %g %s",
       (double)p->attn_scale, (double)p->rope_magnitude, source.error_message);
}

static void test_most_experts(void)
{
    OK(read_more(FAMILY("Olmoe") ",\"num_experts\":512,\"num_experts_per_tok\":512") == ERR_OK &&
           source.params.experts.n == 512 && source.params.experts.used == 512,
       "512 experts are allowed, all of them at once %s", source.error_message);
    refuse_config(FAMILY("Olmoe") ",\"num_experts\":513,\"num_experts_per_tok\":8", ERR_UNSUPPORTED,
                  "n_experts is 513");
}

#define MAMBA \
    FAMILY("NemotronH") \
    ",\"hybrid_override_pattern\":\"M*-M\"," \
    "\"mlp_hidden_act\":\"relu2\",\"ssm_state_size\":4,\"mamba_num_heads\":2," \
    "\"mamba_head_dim\":4,\"n_groups\":1,\"time_step_limit\":"

static void test_time_steps(void)
{
    OK(read_more(MAMBA "[0.0, Infinity]") == ERR_OK,
       "steps of time without limits are read as Python writes them: %s", source.error_message);
    OK(read_more(MAMBA "[0.0,{\"__float__\":\"Infinity\"}]") == ERR_OK,
       "steps of time without limits are read as Transformers 5 writes them: %s",
       source.error_message);
    refuse_config(MAMBA "[0.0, 0.1]", ERR_UNSUPPORTED, "\"time_step_limit\" clamps");
    refuse_config(MAMBA "[0.001, Infinity]", ERR_UNSUPPORTED, "\"time_step_limit\" clamps");
    refuse_config(MAMBA "[Infinity]", ERR_UNSUPPORTED, "\"time_step_limit\" clamps");
    refuse_config("\"hidden_size\":Infinity", ERR_BAD_MODEL,
                  "\"hidden_size\" is not a whole number");
    refuse_config("\"rope_theta\":Infinity", ERR_BAD_MODEL, "\"rope_theta\" is not a number");
    OK(read_more("\"name\":\"Infinity\",\"hidden_act\":\"Infinity\"") == ERR_UNSUPPORTED &&
           strstr(source.error_message, "'Infinity'") != NULL,
       "a text of that name stays: %s", source.error_message);
}

static enum err read_text(const char *text, struct hf_config *c)
{
    memset(&source, 0, sizeof source);
    source.path = "config.json";
    return hf_config_read(&source, (const uint8_t *)text, strlen(text), c);
}

/* Fields that published files have, beside the usual ones or in their place. */
static void test_published(void)
{
    const struct source_params *p = &source.params;
    struct hf_config c;

    OK(read_more(FAMILY("Starcoder2") ",\"activation_function\":\"gelu\",\"hidden_act\":"
                                      "\"gelu_pytorch_tanh\",\"use_bias\":true") == ERR_OK,
       "StarCoder2's activation is its hidden_act: %s", source.error_message);
    OK(read_text(
           "{\"architectures\":[\"Lfm2ForCausalLM\"],\"hidden_size\":1024,\"block_ff_dim\":6656,"
           "\"block_auto_adjust_ff_dim\":true,\"block_ffn_dim_multiplier\":1.0,"
           "\"block_multiple_of\":256,\"num_hidden_layers\":3,\"num_attention_heads\":16,"
           "\"num_key_value_heads\":8,\"vocab_size\":65536,\"full_attn_idxs\":[2],"
           "\"max_position_embeddings\":128000,\"norm_eps\":1e-05}",
           &c) == ERR_OK &&
           p->hidden == 4608,
       "LFM2 has the width of block_ff_dim: %s", source.error_message);
}

/* Like google/gemma-3-4b-it's; fields that it leaves out are those of Gemma3TextConfig. */
static const char gemma3_4b[] =
    "{\"architectures\":[\"Gemma3ForConditionalGeneration\"],\"model_type\":\"gemma3\","
    "\"image_token_index\":262144,\"vision_config\":{\"hidden_size\":1152},"
    "\"text_config\":{\"hidden_size\":2560,\"intermediate_size\":10240,"
    "\"model_type\":\"gemma3_text\",\"num_hidden_layers\":34,\"rope_scaling\":{\"factor\":8.0,"
    "\"rope_type\":\"linear\"},\"sliding_window\":1024}}";

static void test_text_part(void)
{
    const struct source_params *p = &source.params;
    struct hf_config c;

    OK(read_text(gemma3_4b, &c) == ERR_OK && c.vision && p->family == INGOT_GEMMA3 &&
           p->dim == 2560 && p->n_heads == 8 && p->n_kv_heads == 4 && p->head_dim == 256 &&
           p->vocab == 262208 && p->context == 131072 && p->window == 1024 && p->tied == 1 &&
           strstr(source.notes, "vision-language model (gemma3)") != NULL,
       "the text part of Gemma 3 4B is read %s%s", source.error_message, source.notes);
    OK(read_text("{\"model_type\":\"llava\",\"image_token_index\":32000,\"tie_word_embeddings\":"
                 "true,\"text_config\":{\"model_type\":\"llama\",\"vocab_size\":32064,"
                 "\"max_position_embeddings\":4096}}",
                 &c) == ERR_OK &&
           p->dim == 4096 && p->hidden == 11008 && p->n_layers == 32 && p->n_kv_heads == 32 &&
           p->vocab == 32064 && p->context == 4096 && p->tied == 1 && c.tied_known,
       "the text part of LLaVA 1.5 is read, with a field of the whole %s", source.error_message);
    OK(read_text("{\"model_type\":\"mistral3\",\"image_token_index\":10,\"tie_word_embeddings\":"
                 "true,\"text_config\":{\"model_type\":\"llama\",\"tie_word_embeddings\":false}}",
                 &c) == ERR_OK &&
           p->tied == 0 && !c.tied_known,
       "the whole contradicts its text part: the tensors decide %s", source.error_message);
    OK(read_text("{\"model_type\":\"some_vl\",\"text_config\":{\"model_type\":\"qwen3\"}}", &c) ==
               ERR_BAD_MODEL &&
           strstr(source.error_message, "\"hidden_size\" is missing") != NULL,
       "sizes of qwen3 have no default: %s", source.error_message);
    OK(read_text("{\"model_type\":\"x_vl\",\"vision_config\":{\"a\":1}}", &c) == ERR_UNSUPPORTED &&
           strstr(source.error_message, "several parts, whose text part") != NULL &&
           strstr(source.error_message, "'x_vl'") != NULL,
       "an unknown model of several parts is named: %s", source.error_message);
    OK(read_more("\"image_token_id\":3") == ERR_OK && strstr(source.notes, "(llama)") != NULL,
       "a flat model with a token for images is noted: %s", source.notes);
    OK(read_more("\"hidden_act\":\"silu\"") == ERR_OK && source.notes[0] == '\0',
       "a model of text has no note %s", source.notes);
}

int main(void)
{
    test_hostile_layers();
    test_layers();
    test_text_part();
    test_config_refused();
    test_field_twice();
    test_scaling_refused();
    test_families();
    test_scaling();
    test_yarn_magnitude();
    test_yarn_of_deepseek();
    test_most_experts();
    test_time_steps();
    test_published();
    return tap_done();
}
