#include "flash_image/pack/synth_shapes.h"

#include <stdio.h>
#include <string.h>

/* The first ones for tests. Those of published models are their config.json's, by the names of their
 * folders on Hugging Face: HuggingFaceTB, Qwen, meta-llama, google, TinyLlama. */
static const struct synth_shape shapes[] = {
    { "tiny", INGOT_LLAMA, 64, 172, 4, 8, 4, 512, 256, 1, 0, 0, false }, /* ragged hidden */
    { "untied", INGOT_LLAMA, 96, 256, 3, 6, 2, 640, 256, 0, 0, 0,
      false }, /* an output of its own */
    /* Small layers, to stream a few of; most layers, fewest bytes; and its head takes longest. */
    { "deep", INGOT_LLAMA, 128, 352, 200, 4, 4, 2048, 256, 1, 0, 0, false },
    { "narrow", INGOT_LLAMA, 64, 56, 256, 8, 1, 49152, 256, 1, 0, 0, false },
    { "wordy", INGOT_LLAMA, 64, 56, 256, 8, 1, 393216, 256, 1, 0, 0, false },
    { "s15m", INGOT_LLAMA, 288, 768, 6, 6, 6, 32000, 256, 1, 0, 0, false },       /* stories15M */
    { "smol135", INGOT_LLAMA, 576, 1536, 30, 9, 3, 49152, 2048, 1, 0, 0, false }, /* SmolLM2-135M */
    { "tl2", INGOT_LLAMA, 2048, 5632, 2, 32, 4, 32000, 2048, 0, 0, 0, false }, /* 2 of TinyLlama */
    { "tinyllama", INGOT_LLAMA, 2048, 5632, 22, 32, 4, 32000, 2048, 0, 0, 0, false },
    /* In q8_0 just below 4 GiB, which a FAT32 file may not have. */
    { "4g", INGOT_LLAMA, 2048, 5632, 91, 32, 4, 16048, 2048, 1, 0, 0, true },
    { "smollm2-135m", INGOT_LLAMA, 576, 1536, 30, 9, 3, 49152, 8192, 1, 0, 0, false },
    { "smollm2-360m", INGOT_LLAMA, 960, 2560, 32, 15, 5, 49152, 8192, 1, 0, 0, false },
    { "smollm2-1.7b", INGOT_LLAMA, 2048, 8192, 24, 32, 32, 49152, 8192, 1, 0, 0, false },
    { "qwen2.5-0.5b", INGOT_QWEN2, 896, 4864, 24, 14, 2, 151936, 32768, 1, 0, 0, false },
    { "qwen3-0.6b", INGOT_QWEN3, 1024, 3072, 28, 16, 8, 151936, 40960, 1, 128, 0, false },
    { "qwen3-1.7b", INGOT_QWEN3, 2048, 6144, 28, 16, 8, 151936, 40960, 1, 128, 0, false },
    { "llama-3.2-1b", INGOT_LLAMA, 2048, 8192, 16, 32, 8, 128256, 131072, 1, 64, 0, false },
    { "llama-3.2-3b", INGOT_LLAMA, 3072, 8192, 28, 24, 8, 128256, 131072, 1, 128, 0, false },
    { "gemma-3-270m", INGOT_GEMMA3, 640, 2048, 18, 4, 1, 262144, 32768, 1, 256, 512, false },
    { "gemma-3-1b", INGOT_GEMMA3, 1152, 6912, 26, 4, 1, 262144, 32768, 1, 256, 512, false },
};

const struct synth_shape *synth_shape_find(const char *name, char *problem, size_t problem_bytes)
{
    size_t n = sizeof shapes / sizeof shapes[0];
    int used;

    for (size_t i = 0; i < n; i++) {
        if (strcmp(name, shapes[i].name) == 0) {
            return &shapes[i];
        }
    }
    used = snprintf(problem, problem_bytes, "there is no shape '%s'; there are", name);
    for (size_t i = 0; i < n && used > 0 && (size_t)used < problem_bytes; i++) {
        used += snprintf(problem + used, problem_bytes - (size_t)used, " %s", shapes[i].name);
    }
    return NULL;
}
