/* The types of weights: how each is stored in a file. */
#include "runtime/image/image.h"
#include "runtime/image/image_check.h"

/* The requirements of each type. */
static const struct type_rule {
    const char *name;
    uint32_t interleave;
    uint32_t chunk;
    uint32_t padding;     /* columns are padded to a multiple of this */
    uint32_t block_bytes; /* bytes of `padding` columns of one row */
    bool whole_blocks;    /* columns are not padded: their number must be a multiple of `padding` */
    bool packed;          /* TYPE_PACKED */
} type_rules[INGOT_N_TYPES] = {
#define PADDED false
#define WHOLE true
#define TYPE_FLOATS(NAME, id, name, cols, bytes, ...) \
    [INGOT_##NAME] = { #name, 1, 0, cols, (cols) * (bytes), false, false },
#define TYPE_WEIGHTS(NAME, id, name, layout, cols, act, halves, fit, ...) \
    [INGOT_##NAME] = { \
        #name, GROUP_ROWS, CHUNK_COLS, cols, sizeof(struct block_##layout##x8) / GROUP_ROWS, \
        fit,   false \
    },
#define TYPE_PACKED(NAME, id, name, layout, cols, act, halves, fit, ...) \
    [INGOT_##NAME] = { \
        #name, GROUP_ROWS, CHUNK_COLS, cols, sizeof(struct block_##layout##x8) / GROUP_ROWS, \
        fit,   true \
    },
#include "flash_image/format/types.def"
#undef PADDED
#undef WHOLE
};

static const struct type_rule *type_rule(unsigned type)
{
    static const struct type_rule unknown = { "unknown", 0, 0, 0, 0, false, false };

    if (type >= INGOT_N_TYPES || type_rules[type].padding == 0) {
        return &unknown;
    }
    return &type_rules[type];
}

const char *image_type_name(unsigned type)
{
    return type_rule(type)->name;
}

const int8_t *image_tensor_values(const struct ingot_tensor *t)
{
    static const int8_t iq4_nl[NIBBLES] = {
        -127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113,
    };
    static const int8_t mxfp4[NIBBLES] = {
        0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12
    };

    switch ((enum ingot_type)t->type) {
    case INGOT_IQ4_NL: return iq4_nl;
    case INGOT_MXFP4: return mxfp4;
    case INGOT_FIG4: return t->values;
    default: return NULL;
    }
}

const char *image_family_name(unsigned family)
{
    static const char *const names[INGOT_LAST_FAMILY + 1] = {
        [0] = "unknown",
        [INGOT_LLAMA] = "llama",
        [INGOT_MISTRAL] = "mistral",
        [INGOT_QWEN2] = "qwen2",
        [INGOT_QWEN3] = "qwen3",
        [INGOT_GEMMA] = "gemma",
        [INGOT_GEMMA2] = "gemma2",
        [INGOT_GEMMA3] = "gemma3",
        [INGOT_PHI3] = "phi3",
        [INGOT_GPT2] = "gpt2",
        [INGOT_QWEN35] = "qwen3_5",
        [INGOT_QWEN35_MOE] = "qwen3_5_moe",
        [INGOT_LFM2] = "lfm2",
        [INGOT_LFM2_MOE] = "lfm2_moe",
        [INGOT_GRANITE] = "granite",
        [INGOT_GRANITE_MOE] = "granitemoe",
        [INGOT_GRANITE_HYBRID] = "granitemoehybrid",
        [INGOT_SMOLLM3] = "smollm3",
        [INGOT_OLMO2] = "olmo2",
        [INGOT_OLMOE] = "olmoe",
        [INGOT_QWEN3_MOE] = "qwen3_moe",
        [INGOT_MIXTRAL] = "mixtral",
        [INGOT_GPT_OSS] = "gpt_oss",
        [INGOT_GEMMA4] = "gemma4",
        [INGOT_EXAONE4] = "exaone4",
        [INGOT_STARCODER2] = "starcoder2",
        [INGOT_HUNYUAN] = "hunyuan_v1_dense",
        [INGOT_ERNIE45] = "ernie4_5",
        [INGOT_MINICPM] = "minicpm",
        [INGOT_BITNET] = "bitnet",
        [INGOT_FALCON_H1] = "falcon_h1",
        [INGOT_NEMOTRON_H] = "nemotron_h",
        [INGOT_DEEPSEEK2] = "deepseek2",
    };

    if (family > INGOT_LAST_FAMILY) {
        return names[0];
    }
    return names[family];
}

uint32_t image_type_interleave(unsigned type)
{
    return type_rule(type)->interleave;
}

uint32_t image_type_chunk(unsigned type)
{
    return type_rule(type)->chunk;
}

uint32_t image_type_padding(unsigned type)
{
    return type_rule(type)->padding;
}

bool image_type_takes(unsigned type, uint32_t cols)
{
    const struct type_rule *rule = type_rule(type);

    return rule->padding != 0 && !(rule->whole_blocks && cols % rule->padding != 0);
}

/* Types that need half a block of activations, or work space of a core, are only for whole
 * matrices. */
bool image_type_suits_head(unsigned type)
{
    const struct type_rule *rule = type_rule(type);

    return rule->padding != 0 && rule->padding != FIG4_COLS && !rule->packed;
}

size_t image_type_row_bytes(unsigned type, uint32_t cols_padded)
{
    const struct type_rule *rule = type_rule(type);

    if (rule->padding == 0) {
        return 0;
    }
    return (size_t)(cols_padded / rule->padding) * rule->block_bytes;
}

uint64_t image_tensor_bytes(unsigned type, uint32_t rows, uint32_t cols)
{
    const struct type_rule *rule = type_rule(type);
    uint32_t padded;

    if (!image_type_takes(type, cols) || rows > INGOT_TABLE_ROWS * INGOT_MAX_VOCAB ||
        cols > INGOT_MAX_HIDDEN) {
        return 0;
    }
    padded = (uint32_t)image_round_up(cols, rule->padding);
    /* there are at most 2^20 rows of 2^20 bytes */
    return image_round_up(rows, rule->interleave) * image_type_row_bytes(type, padded);
}
