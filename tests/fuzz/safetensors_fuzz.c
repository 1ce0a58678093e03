/* safetensors files over arbitrary bytes: accepted tensors are inside the file, and are placed as
 * those of a model in each style of names. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "flash_image/hf/hf_tensors.h"
#include "flash_image/quantize/source_rows.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct source source;

/* A family with the sizes of the seed's tensors. */
static void begin(enum ingot_family family)
{
    memset(&source, 0, sizeof source);
    source.path = "fuzz";
    source.params = (struct source_params){ .dim = 8,
                                            .hidden = 12,
                                            .n_layers = 2,
                                            .n_heads = 2,
                                            .n_kv_heads = 2,
                                            .head_dim = 4,
                                            .vocab = 11,
                                            .context = 16 };
    family_set_params(&source, family_find(family), false);
    source.params.experts.n = 2;
    source.params.experts.used = 1;
    source.params.experts.hidden = 12;
    if (family == INGOT_OLMOE || family == INGOT_GPT_OSS) {
        source.params.layers[0].ffn = INGOT_FFN_EXPERTS;
        source.params.layers[0].hidden = 0;
    }
    if (family == INGOT_GPT_OSS) { /* whole blocks of MXFP4 */
        source.params.dim = source.params.experts.hidden = 32;
    }
    if (family == INGOT_FALCON_H1) {
        source.params.layers[0].parallel = source.params.layers[1].parallel = INGOT_MIXER_MAMBA2;
        source.params.recurrent.conv_taps = 4;
        source.params.recurrent.n_groups = 1;
        source.params.recurrent.inner_heads = 2;
        source.params.recurrent.state_dim = source.params.recurrent.inner_dim = 8;
    }
    if (family == INGOT_QWEN35) {
        source.params.layers[0].mixer = INGOT_MIXER_DELTA;
        source.params.recurrent.conv_taps = 4;
        source.params.recurrent.n_groups = 1;
        source.params.recurrent.inner_heads = 2;
        source.params.recurrent.state_dim = source.params.recurrent.inner_dim = 8;
    }
}

static void read_ends(const struct source_tensor *t)
{
    static float row[INGOT_MAX_VOCAB];

    if (t->data != NULL) {
        source_read_row(t, 0, row);
        source_read_row(t, t->rows - 1, row);
    }
}

/* Returns every expert of a stack that is there. */
static void read_experts(const struct source_tensor *t)
{
    for (uint32_t i = 0; t->data != NULL && i < t->stack; i++) {
        struct source_tensor one = source_expert(t, i);

        read_ends(&one);
    }
}

static void place_quantized(const struct safetensors *f, enum ingot_family family, bool vision,
                            enum hf_quantized quantized)
{
    struct hf_config config = { .family = family_find(family),
                                .vision = vision,
                                .quantized = quantized,
                                .tile_height = 3,
                                .tile_width = 5 };
    enum err e;

    begin(family);
    e = hf_place_tensors(&source, &config, f);
    e = e == ERR_OK ? hf_finish_tensors(&source, &config) : e;
    if (e != ERR_OK && source.error_message[0] == '\0') {
        abort(); /* every refusal has an error message */
    }
    /* F8, which a folder may have under any name of a method, has no values until its scales are
     * there and have their shape. */
    for (size_t i = 0; i < SOURCE_MAX_TENSORS; i++) {
        if (e == ERR_OK || source.tensors[i].type != SOURCE_F8) {
            read_ends(&source.tensors[i]);
            read_experts(&source.tensors[i]);
        }
    }
    hf_config_free(&config);
}

static void place(const struct safetensors *f, enum ingot_family family, bool vision)
{
    place_quantized(f, family, vision, HF_NOT_QUANTIZED);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct safetensors f;

    begin(INGOT_LLAMA);
    if (safetensors_parse(&source, data, size, &f) != ERR_OK) {
        if (source.error_message[0] == '\0') {
            abort();
        }
    } else {
        place(&f, INGOT_LLAMA, false);
        place(&f, INGOT_LLAMA, true);
        place(&f, INGOT_GEMMA2, false);
        place(&f, INGOT_GPT2, false);
        place(&f, INGOT_OLMOE, false);
        place(&f, INGOT_GPT_OSS, false);
        place(&f, INGOT_QWEN35, false);
        place_quantized(&f, INGOT_BITNET, false, HF_TERNARY_OVER);
        place_quantized(&f, INGOT_BITNET, false, HF_TERNARY_TIMES);
        place_quantized(&f, INGOT_BITNET, false, HF_ROUNDED);
        place_quantized(&f, INGOT_LLAMA, false, HF_F8);
        place_quantized(&f, INGOT_OLMOE, false, HF_F8);
        place(&f, INGOT_FALCON_H1, false);
        place(&f, INGOT_GEMMA4, true);
    }
    safetensors_free(&f);
    return 0;
}
