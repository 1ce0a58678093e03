#include "flash_image/pack/synth_shapes.h"

#include <stdio.h>
#include <string.h>

/* Two layers of each kind. There are 16 experts instead of OLMoE's 64, so that 32 positions use as
 * large a share of them as 128 positions use of 64 experts. */
static const struct synth_layers qwen35 = {
    .mixer = INGOT_MIXER_DELTA,
    .n_recurrent = 2,
    .conv_taps = 4,
    .n_groups = 16,
    .inner_heads = 16,
    .state_dim = 128,
    .inner_dim = 2048,
    .rope_dims = 64,
    .gated = true,
};
static const struct synth_layers lfm2 = {
    .mixer = INGOT_MIXER_SHORTCONV,
    .n_recurrent = 2,
    .conv_taps = 3,
    .inner_dim = 1024,
};
static const struct synth_layers few = { .n_experts = 12, .n_used = 3, .expert_hidden = 64 };
static const struct synth_layers olmoe_all = { .n_experts = 64,
                                               .n_used = 8,
                                               .expert_hidden = 1024 };
static const struct synth_layers far_apart = { .n_experts = 128,
                                               .n_used = 2,
                                               .expert_hidden = 768 };
static const struct synth_layers qwen3_30b = { .n_experts = 128,
                                               .n_used = 8,
                                               .expert_hidden = 768 };
static const struct synth_layers olmoe = { .n_experts = 16, .n_used = 8, .expert_hidden = 1024 };

/* The first shapes are for tests. The others are from the config.json of published models and named
 * like their repositories on Hugging Face: HuggingFaceTB, Qwen, meta-llama, google, TinyLlama. */
static const struct synth_shape shapes[] = {
    { "tiny", INGOT_LLAMA, 64, 172, 4, 8, 4, 512, 256, 1, 0, 0, false, NULL }, /* ragged hidden */
    { "untied", INGOT_LLAMA, 96, 256, 3, 6, 2, 640, 256, 0, 0, 0, false,
      NULL }, /* has a separate output matrix */
    { "headed", INGOT_LLAMA, 64, 56, 3, 8, 1, 2048, 256, 1, 0, 0, false,
      NULL }, /* its head is most of the model */
    { "experts", INGOT_OLMOE, 96, 0, 3, 6, 2, 512, 256, 0, 0, 0, false, &few },
    /* "deep" has small layers, a few of which are streamed. "narrow" has the most layers with the
     * fewest bytes, and "wordy" has a head that takes most of the time. */
    { "deep", INGOT_LLAMA, 128, 352, 200, 4, 4, 2048, 256, 1, 0, 0, false, NULL },
    { "narrow", INGOT_LLAMA, 64, 56, 256, 8, 1, 49152, 256, 1, 0, 0, false, NULL },
    { "wordy", INGOT_LLAMA, 64, 56, 256, 8, 1, 393216, 256, 1, 0, 0, false, NULL },
    { "s15m", INGOT_LLAMA, 288, 768, 6, 6, 6, 32000, 256, 1, 0, 0, false, NULL }, /* stories15M */
    { "smol135", INGOT_LLAMA, 576, 1536, 30, 9, 3, 49152, 2048, 1, 0, 0, false,
      NULL }, /* SmolLM2-135M */
    { "tl2", INGOT_LLAMA, 2048, 5632, 2, 32, 4, 32000, 2048, 0, 0, 0, false,
      NULL }, /* two layers of TinyLlama */
    { "tinyllama", INGOT_LLAMA, 2048, 5632, 22, 32, 4, 32000, 2048, 0, 0, 0, false, NULL },
    /* In q8_0, the file of "4g" is just below 4 GiB, the limit of FAT32. */
    { "4g", INGOT_LLAMA, 2048, 5632, 91, 32, 4, 16048, 2048, 1, 0, 0, true, NULL },
    { "smollm2-135m", INGOT_LLAMA, 576, 1536, 30, 9, 3, 49152, 8192, 1, 0, 0, false, NULL },
    { "smollm2-360m", INGOT_LLAMA, 960, 2560, 32, 15, 5, 49152, 8192, 1, 0, 0, false, NULL },
    { "smollm2-1.7b", INGOT_LLAMA, 2048, 8192, 24, 32, 32, 49152, 8192, 1, 0, 0, false, NULL },
    { "qwen2.5-0.5b", INGOT_QWEN2, 896, 4864, 24, 14, 2, 151936, 32768, 1, 0, 0, false, NULL },
    { "qwen3-0.6b", INGOT_QWEN3, 1024, 3072, 28, 16, 8, 151936, 40960, 1, 128, 0, false, NULL },
    { "qwen3-1.7b", INGOT_QWEN3, 2048, 6144, 28, 16, 8, 151936, 40960, 1, 128, 0, false, NULL },
    { "llama-3.2-1b", INGOT_LLAMA, 2048, 8192, 16, 32, 8, 128256, 131072, 1, 64, 0, false, NULL },
    { "llama-3.2-3b", INGOT_LLAMA, 3072, 8192, 28, 24, 8, 128256, 131072, 1, 128, 0, false, NULL },
    { "gemma-3-270m", INGOT_GEMMA3, 640, 2048, 18, 4, 1, 262144, 32768, 1, 256, 512, false, NULL },
    { "gemma-3-1b", INGOT_GEMMA3, 1152, 6912, 26, 4, 1, 262144, 32768, 1, 256, 512, false, NULL },
    /* Models whose experts, mostly zeros, exceed most memories; in q8_0 the first has over
     * 4 GiB. */
    { "experts-4g", INGOT_QWEN3_MOE, 2048, 0, 7, 16, 4, 512, 256, 0, 128, 0, true, &far_apart },
    { "olmoe-1b-7b", INGOT_OLMOE, 2048, 0, 16, 16, 16, 50304, 4096, 0, 128, 0, true, &olmoe_all },
    { "qwen3-30b-a3b", INGOT_QWEN3_MOE, 2048, 0, 48, 32, 4, 151936, 40960, 0, 128, 0, true,
      &qwen3_30b },
    /* Models with layers of hybrids or mixtures of experts, and dense ones with equally many bytes
     * per token (make bench-mixers). */
    { "qwen3.5-0.8b-layers", INGOT_QWEN35, 1024, 3584, 4, 8, 2, 4096, 2048, 1, 256, 0, false,
      &qwen35 },
    { "qwen3.5-0.8b-dense", INGOT_LLAMA, 1024, 3776, 4, 16, 16, 4096, 2048, 1, 128, 0, false,
      NULL },
    { "lfm2-350m-layers", INGOT_LFM2, 1024, 4608, 4, 16, 8, 4096, 2048, 1, 64, 0, false, &lfm2 },
    { "lfm2-350m-dense", INGOT_LLAMA, 1024, 4768, 4, 16, 8, 4096, 2048, 1, 64, 0, false, NULL },
    { "olmoe-1b-7b-layers", INGOT_OLMOE, 2048, 0, 2, 16, 16, 4096, 2048, 1, 128, 0, false, &olmoe },
    { "olmoe-1b-7b-dense", INGOT_LLAMA, 2048, 8224, 2, 16, 16, 4096, 2048, 1, 128, 0, false, NULL },
};

const struct synth_shape *synth_shape_find(const char *name, char *error_message,
                                           size_t error_message_bytes)
{
    size_t n = sizeof shapes / sizeof shapes[0];
    int used;

    for (size_t i = 0; i < n; i++) {
        if (strcmp(name, shapes[i].name) == 0) {
            return &shapes[i];
        }
    }
    used = snprintf(error_message, error_message_bytes, "there is no shape '%s'; there are", name);
    for (size_t i = 0; i < n && used > 0 && (size_t)used < error_message_bytes; i++) {
        used += snprintf(error_message + used, error_message_bytes - (size_t)used, " %s",
                         shapes[i].name);
    }
    return NULL;
}
