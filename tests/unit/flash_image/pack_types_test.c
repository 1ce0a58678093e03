/* The type that the packer gives a tensor: the requested one, a mixture such as Q4_K_M, another one
 * if the columns do not allow it, and BF16, which is not a type of the file. */
#include "flash_image/pack/ingot_file.h"
#include "flash_image/pack/pack.h"
#include "flash_image/pack/pack_types.h"
#include "flash_image/quantize/source_rows.h"
#include "tests/unit/model_files.h"
#include "tests/unit/tap.h"

static struct source source; /* parameters and shapes alone, because choosing reads nothing else */

static void set_tensor(enum ingot_role role, unsigned layer, enum source_type type)
{
    struct source_tensor *t = source_tensor(&source, role, layer);

    t->type = type;
    source_role_shape(&source, role, layer, &t->rows, &t->cols);
}

static void set_source(uint32_t dim, uint32_t hidden, uint32_t n_layers, bool tied,
                       enum source_type type)
{
    memset(&source, 0, sizeof source);
    source.params = (struct source_params){ .dim = dim,
                                            .hidden = hidden,
                                            .n_layers = n_layers,
                                            .n_heads = 4,
                                            .n_kv_heads = 2,
                                            .head_dim = dim / 4,
                                            .vocab = 300,
                                            .tied = tied };
    source_default_params(&source.params);
    set_tensor(INGOT_TOKEN_EMBEDDING, INGOT_NO_LAYER, type);
    set_tensor(INGOT_OUTPUT_NORM, INGOT_NO_LAYER, SOURCE_F32);
    if (!tied) {
        set_tensor(INGOT_OUTPUT, INGOT_NO_LAYER, type);
    }
    for (unsigned layer = 0; layer < n_layers; layer++) {
        for (int role = INGOT_ATTN_NORM; role < INGOT_OUTPUT_NORM; role++) {
            if (source_has_role(&source, (enum ingot_role)role, layer)) {
                set_tensor((enum ingot_role)role, layer, type);
            }
        }
    }
}

static enum ingot_type chosen(const char *type, enum ingot_role role, unsigned layer)
{
    struct pack_options o = { .quiet = true };

    if (type != NULL && !pack_parse_type(type, &o)) {
        return INGOT_N_TYPES;
    }
    return pack_choose_type(&o, &source, role, layer);
}

/* Returns the digit of the K type of each layer's matrix of the role. */
static bool mixture_is(const char *mixture, enum ingot_role role, const char *expected)
{
    bool equal = strlen(expected) == source.params.n_layers;

    for (unsigned layer = 0; equal && layer < source.params.n_layers; layer++) {
        const char *name = image_type_name(chosen(mixture, role, layer));

        equal = name[0] == 'q' && name[1] == expected[layer] && strcmp(name + 2, "_k") == 0;
    }
    return equal;
}

static bool mix_is(enum ingot_role role, const char *expected)
{
    return mixture_is("q4_k_m", role, expected);
}

/* Few bits are for the layers alone; other columns get Q4_0, which has the same values. */
static void test_few_bits(void)
{
    static const struct {
        const char *name;
        enum ingot_type type;
        enum source_type own;
    } rows[] = { { "q2_0", INGOT_Q2_0, SOURCE_Q2_0 },
                 { "tq2_0", INGOT_TQ2_0, SOURCE_TQ2_0 },
                 { "q1_0", INGOT_Q1_0, SOURCE_Q1_0 } };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        set_source(256, 512, 4, false, SOURCE_F32);
        OK(chosen(rows[i].name, INGOT_FFN_UP, 1) == rows[i].type &&
               chosen(rows[i].name, INGOT_TOKEN_EMBEDDING, INGOT_NO_LAYER) == INGOT_Q4_K &&
               chosen(rows[i].name, INGOT_OUTPUT, INGOT_NO_LAYER) == INGOT_Q6_K,
           "%s: the embedding is Q4_K, and the output Q6_K", rows[i].name);
        set_source(256, 384, 4, false, rows[i].own);
        OK(chosen(NULL, INGOT_ATTN_Q, 0) == rows[i].type &&
               chosen(NULL, INGOT_FFN_DOWN, 0) ==
                   (384 % source_type_block(rows[i].own) == 0 ? INGOT_Q4_0 : INGOT_F32),
           "%s stays as in the file, and 384 columns are Q4_0, or floats if they cut blocks",
           rows[i].name);
    }
}

/* The types in llama.cpp's files of these names. */
static void test_other_mixtures(void)
{
    set_source(256, 512, 32, false, SOURCE_F32);
    OK(mixture_is("q5_k_m", INGOT_ATTN_V, "66665565565565565565565565566666") &&
           mixture_is("q5_k_m", INGOT_ATTN_OUT, "55555555555555555555555555555555"),
       "Q5_K_M is Q4_K_M with more bits");
    OK(mixture_is("q3_k_m", INGOT_ATTN_V, "55444444444444444444444444444444") &&
           mixture_is("q3_k_m", INGOT_FFN_DOWN, "55444444444444444444444444444444") &&
           mixture_is("q3_k_m", INGOT_ATTN_OUT, "44444444444444444444444444444444") &&
           mixture_is("q3_k_m", INGOT_ATTN_Q, "33333333333333333333333333333333"),
       "Q3_K_M has values, down and the attention's output in 4 and 5 bits");
    source.params.n_heads = 8;
    source.params.n_kv_heads = 4;
    OK(mixture_is("q2_k", INGOT_ATTN_V, "33333333333333333333333333333333") &&
           mixture_is("q2_k", INGOT_FFN_DOWN, "33333333333333333333333333333333") &&
           mixture_is("q2_k", INGOT_FFN_GATE, "22222222222222222222222222222222"),
       "Q2_K has values and down in 3 bits");
    source.params.n_kv_heads = 2;
    OK(mixture_is("q2_k", INGOT_ATTN_V, "44444444444444444444444444444444"),
       "values that four heads share have 4 bits");
    OK(chosen("q3_k_m", INGOT_OUTPUT, INGOT_NO_LAYER) == INGOT_Q6_K &&
           chosen("q2_k", INGOT_OUTPUT, INGOT_NO_LAYER) == INGOT_Q6_K,
       "the output matrix has 6 bits");
}

static void test_mix(void)
{
    set_source(256, 512, 22, false, SOURCE_F32); /* as many layers as TinyLlama */
    OK(mix_is(INGOT_ATTN_V, "6644644644644644644666") &&
           mix_is(INGOT_FFN_DOWN, "6644644644644644644666"),
       "Q4_K_M: layers have Q6_K where llama.cpp's files do");
    OK(mix_is(INGOT_ATTN_K, "4444444444444444444444") &&
           mix_is(INGOT_FFN_UP, "4444444444444444444444"),
       "Q4_K_M has Q4_K in the other matrices");
    OK(chosen("q4_k_m", INGOT_OUTPUT, INGOT_NO_LAYER) == INGOT_Q6_K &&
           chosen("q4_k_m", INGOT_TOKEN_EMBEDDING, INGOT_NO_LAYER) == INGOT_Q4_K,
       "the output matrix is Q6_K");
    set_source(256, 512, 2, true, SOURCE_F32);
    OK(chosen("Q4_K_M", INGOT_TOKEN_EMBEDDING, INGOT_NO_LAYER) == INGOT_Q6_K,
       "a tied embedding is the output: Q6_K");
    OK(mix_is(INGOT_ATTN_V, "46"), "two layers are mixed, too");
    OK(chosen("q4_k", INGOT_TOKEN_EMBEDDING, INGOT_NO_LAYER) == INGOT_Q4_K &&
           chosen("q4_k", INGOT_FFN_DOWN, 1) == INGOT_Q4_K,
       "Q4_K alone is not mixed");
    OK(chosen("q4_k_m", INGOT_FFN_NORM, 1) == INGOT_F32, "a norm is F32 in every mix");
    OK(chosen("q7_k", INGOT_FFN_UP, 0) == INGOT_N_TYPES &&
           chosen("unknown", INGOT_FFN_UP, 0) == INGOT_N_TYPES,
       "an unknown type is refused");
}

static void test_columns(void)
{
    set_source(576, 1536, 30, true, SOURCE_F32);
    OK(chosen("q4_k_m", INGOT_TOKEN_EMBEDDING, INGOT_NO_LAYER) == INGOT_Q8_0 &&
           chosen("q4_k", INGOT_ATTN_Q, 3) == INGOT_Q5_0 &&
           chosen("q5_k", INGOT_ATTN_Q, 3) == INGOT_Q5_1 &&
           chosen("q6_k", INGOT_FFN_UP, 3) == INGOT_Q8_0,
       "576 columns, not a multiple of 256, are Q5_0, Q5_1 and Q8_0, as llama.cpp has it");
    OK(chosen("q3_k", INGOT_ATTN_Q, 3) == INGOT_IQ4_NL &&
           chosen("q2_k", INGOT_ATTN_Q, 3) == INGOT_IQ4_NL &&
           chosen("q2_0", INGOT_ATTN_Q, 3) == INGOT_Q4_0,
       "IQ4_NL replaces 3 and 2 bits, and Q4_0 replaces types with three or four values");
    OK(chosen("q4_k", INGOT_FFN_DOWN, 5) == INGOT_Q4_K &&
           chosen("q4_k_m", INGOT_FFN_DOWN, 0) == INGOT_Q6_K,
       "1536 columns are a multiple of 256, and keep their type");
    OK(chosen("q4_0", INGOT_ATTN_Q, 3) == INGOT_Q4_0, "Q4_0 pads 576 columns");
    OK(chosen("fig4", INGOT_ATTN_Q, 3) == INGOT_IQ4_NL &&
           chosen("fig4", INGOT_FFN_DOWN, 3) == INGOT_FIG4,
       "576 columns, not a multiple of 128, are IQ4_NL instead of FIG4");
    set_source(48, 172, 1, true, SOURCE_F32);
    OK(chosen("iq4_nl", INGOT_ATTN_Q, 0) == INGOT_Q8_0 &&
           chosen("fig4", INGOT_FFN_DOWN, 0) == INGOT_Q8_0 &&
           chosen("mxfp4", INGOT_FFN_DOWN, 0) == INGOT_Q8_0,
       "48 and 172 columns, not a multiple of 32, are Q8_0");
    OK(chosen("q3_k", INGOT_ATTN_Q, 0) == INGOT_Q4_0,
       "Q4_0, which pads short rows, is chosen for Q3_K");
}

static void test_experts(void)
{
    struct pack_options o = { .quiet = true };

    set_source(256, 512, 2, true, SOURCE_F32);
    source.params.experts.n = 4;
    source.params.experts.hidden = 256;
    source.params.layers[1].ffn = INGOT_FFN_EXPERTS;
    set_tensor(INGOT_EXPERT_GATE, 1, SOURCE_F32);
    set_tensor(INGOT_EXPERT_DOWN, 1, SOURCE_F32);
    set_tensor(INGOT_ROUTER, 1, SOURCE_F32);
    OK(pack_parse_type("q6_k", &o) && pack_parse_experts("Q3_K", &o) &&
           pack_choose_type(&o, &source, INGOT_EXPERT_GATE, 1) == INGOT_Q3_K &&
           pack_choose_type(&o, &source, INGOT_EXPERT_DOWN, 1) == INGOT_Q3_K,
       "experts have their own type");
    OK(pack_choose_type(&o, &source, INGOT_ATTN_Q, 1) == INGOT_Q6_K &&
           pack_choose_type(&o, &source, INGOT_FFN_GATE, 0) == INGOT_Q6_K &&
           pack_choose_type(&o, &source, INGOT_ROUTER, 1) == INGOT_F32,
       "dense matrices have the other type, and routers are F32");
    source.params.experts.hidden = 96;
    set_tensor(INGOT_EXPERT_DOWN, 1, SOURCE_F32);
    OK(pack_choose_type(&o, &source, INGOT_EXPERT_DOWN, 1) == INGOT_IQ4_NL,
       "96 columns, not a multiple of 256, are IQ4_NL");
    o.type_given = false;
    OK(pack_choose_type(&o, &source, INGOT_EXPERT_GATE, 1) == INGOT_Q3_K &&
           pack_choose_type(&o, &source, INGOT_ATTN_Q, 1) == INGOT_F32,
       "other matrices stay as in the file");
    OK(!pack_parse_experts("q4_k_m", &o) && !pack_parse_experts("q9", &o),
       "a mixture of types is refused");
}

static void test_stand_ins(void)
{
    struct pack_options o = { .type_given = false };

    OK(pack_parse_type("i8r", &o) && o.row_scales && o.type == INGOT_Q8_0 &&
           pack_parse_type("I4R", &o) && o.row_scales && o.type == INGOT_Q4_0,
       "rows with one scale are stored in blocks of 32");
    OK(pack_parse_type("q4_0", &o) && !o.row_scales && !pack_parse_head("i8r", &o),
       "a type that was asked for has no note");
}

static void test_own_types(void)
{
    static const struct {
        enum source_type from;
        enum ingot_type to;
    } pairs[] = {
#define TYPE_FLOATS(NAME, ...) { SOURCE_##NAME, INGOT_##NAME },
#define TYPE_WEIGHTS(NAME, ...) { SOURCE_##NAME, INGOT_##NAME },
#define TYPE_TABLED_OWN(...)
#define TYPE_TABLED_AGAIN(...)
#include "flash_image/format/types.def"
    }, packed[] = {
#define TYPE_PACKED(NAME, id, name, layout, cols, act, halves, fit, of, bytes, d, m, WIDE, wide, \
                    FROM) \
    { SOURCE_##FROM, INGOT_##NAME },
#include "flash_image/format/types.def"
    };
    bool equal = true;

    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        set_source(256, 512, 1, true, pairs[i].from);
        /* Q3_K has a packed form. */
        equal = equal &&
                (chosen(NULL, INGOT_ATTN_Q, 0) == pairs[i].to || pairs[i].from == SOURCE_Q3_K);
    }
    for (size_t i = 0; i < sizeof packed / sizeof packed[0]; i++) {
        set_source(256, 512, 1, true, packed[i].from);
        if (packed[i].from != SOURCE_MXFP4) { /* whose scales are looked at: table_types.t */
            equal = equal && chosen(NULL, INGOT_ATTN_Q, 0) == packed[i].to;
        }
    }
    OK(equal, "a tensor keeps its own type if none is given");
    set_source(256, 512, 1, true, SOURCE_GROUPED);
    source_tensor(&source, INGOT_ATTN_Q, 0)->group = 32;
    OK(chosen(NULL, INGOT_ATTN_Q, 0) == INGOT_Q8_0, "groups of 32 fit blocks of 32");
    source_tensor(&source, INGOT_ATTN_Q, 0)->group = 16;
    OK(chosen(NULL, INGOT_ATTN_Q, 0) == INGOT_F32, "groups of 16 do not fit blocks of 32");
}

/* 0x3f80 is 1; 0x3300 is 2^-25, below fp16's smallest; 0x4780 is 65536, beyond its largest. */
static void test_bf16(void)
{
    static uint8_t data[2 * 256 * 512];
    static const struct {
        uint16_t weight;
        enum ingot_type type;
    } pairs[] = { { 0xbf81, INGOT_F16 },
                  { 0x3380, INGOT_F16 },
                  { 0x3300, INGOT_F32 },
                  { 0x4780, INGOT_F32 },
                  { 0x7f80, INGOT_F32 } };
    struct source_tensor *t;
    float row[256];

    set_source(256, 512, 1, true, SOURCE_BF16);
    t = source_tensor(&source, INGOT_ATTN_Q, 0);
    t->data = data;
    for (size_t i = 0; i < sizeof data / 2; i++) {
        data[2 * i] = 0x80, data[2 * i + 1] = 0x3f;
    }
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        data[2 * 256 * 255] = (uint8_t)pairs[i].weight; /* in the last row */
        data[2 * 256 * 255 + 1] = (uint8_t)(pairs[i].weight >> 8);
        OK(chosen(NULL, INGOT_ATTN_Q, 0) == pairs[i].type, "BF16 with %04x is %s", pairs[i].weight,
           image_type_name(pairs[i].type));
    }
    source_read_row(t, 0, row);
    OK(row[0] == 1.0f && row[255] == 1.0f, "BF16 is read");
    OK(chosen("q4_k", INGOT_ATTN_Q, 0) == INGOT_Q4_K, "BF16 is packed as asked");
}

/* The whole way, with a made-up model: the file's tables say what was chosen. */
static void test_synth(const char *shape, const char *type, enum ingot_type down,
                       enum ingot_type query)
{
    struct pack_options o = { .input = shape, .output = folder_path("synth"), .quiet = true };
    char error_message[512] = "";
    struct ingot_file f;
    bool good = true;

    if (!OK(pack_parse_type(type, &o) &&
                pack_synth(&o, 1, error_message, sizeof error_message) == ERR_OK &&
                ingot_file_open(&f, o.output, error_message, sizeof error_message) == ERR_OK,
            "the shape %s is packed as %s %s", shape, type, error_message)) {
        return;
    }
    for (uint32_t i = 0; i < f.image.header->segments.count; i++) {
        good = good && ingot_file_check_segment(&f, i) == ERR_OK;
    }
    OK(good && image_tensor(&f.image, INGOT_FFN_DOWN, 0)->type == down &&
           image_tensor(&f.image, INGOT_ATTN_Q, 0)->type == query,
       "ffn_down is %s, attn_q %s", image_type_name(down), image_type_name(query));
    ingot_file_close(&f);
}

/* Returns the bytes of the layers that a token reads; 0: the file could not be made. *first: layer
 * 0's. */
static uint64_t layer_bytes(const char *shape, struct ingot_layer *first)
{
    struct pack_options o = { .input = shape, .output = folder_path("synth"), .quiet = true };
    const struct ingot_tensor *tensors;
    struct ingot_file f;
    char error_message[512];
    uint64_t bytes = 0;

    o.hollow = true;
    if (!pack_parse_type("q4_0", &o) ||
        pack_synth(&o, 1, error_message, sizeof error_message) != ERR_OK ||
        ingot_file_open(&f, o.output, error_message, sizeof error_message) != ERR_OK) {
        return 0;
    }
    *first = f.image.layers[0];
    tensors = f.image.tensors;
    for (uint32_t i = 0; i < f.image.header->tensors.count; i++) {
        bool expert = tensors[i].role >= INGOT_EXPERT_GATE &&
                      tensors[i].role <= INGOT_EXPERT_DOWN_BIAS;

        if (tensors[i].layer != INGOT_NO_LAYER) {
            bytes += tensors[i].bytes * (expert ? first->n_experts_used : 1);
        }
    }
    ingot_file_close(&f);
    return bytes;
}

/* Layers of a kind, and dense ones to compare their cost with. */
static void test_synth_layers(const char *shape, const char *dense, unsigned mixer, unsigned ffn)
{
    struct ingot_layer l = { 0 }, plain = { 0 };
    uint64_t bytes = layer_bytes(shape, &l), beside = layer_bytes(dense, &plain);
    uint64_t apart = bytes > beside ? bytes - beside : beside - bytes;

    OK(bytes != 0 && apart * 250 < bytes, "a token reads %llu bytes of %s, %llu of %s",
       (unsigned long long)bytes, shape, (unsigned long long)beside, dense);
    OK(l.mixer == mixer && l.ffn == ffn && plain.mixer == INGOT_MIXER_ATTENTION &&
           plain.ffn == INGOT_FFN_DENSE,
       "a model has kinds %u and %u of layers, and attention with a dense layer", mixer, ffn);
}

int main(void)
{
    static const char *const names[] = { "synth", NULL };

    if (!OK(folder_make(), "the test has a folder for files")) {
        test_few_bits();
        return tap_done();
    }
    test_mix();
    test_other_mixtures();
    test_columns();
    test_experts();
    test_stand_ins();
    test_own_types();
    test_bf16();
    test_synth("untied", "f16", INGOT_F16, INGOT_F16);
    test_synth("untied", "q4_k", INGOT_Q4_K, INGOT_Q5_0); /* hidden 256, width 96 */
    test_synth("untied", "q6_k", INGOT_Q6_K, INGOT_Q8_0);
    test_synth("untied", "q4_k_m", INGOT_Q4_K, INGOT_Q5_0);
    test_synth("tiny", "q4_k", INGOT_Q8_0, INGOT_Q5_0);
    test_synth("untied", "fig4", INGOT_FIG4, INGOT_IQ4_NL);
    test_synth("untied", "mxfp4", INGOT_MXFP4, INGOT_MXFP4);
    test_synth("narrow", "q4_0", INGOT_Q4_0, INGOT_Q4_0); /* as many layers as there may be */
    test_synth_layers("qwen3.5-0.8b-layers", "qwen3.5-0.8b-dense", INGOT_MIXER_DELTA,
                      INGOT_FFN_DENSE);
    test_synth_layers("lfm2-350m-layers", "lfm2-350m-dense", INGOT_MIXER_SHORTCONV,
                      INGOT_FFN_DENSE);
    test_synth_layers("olmoe-1b-7b-layers", "olmoe-1b-7b-dense", INGOT_MIXER_ATTENTION,
                      INGOT_FFN_EXPERTS);
    folder_remove(names);
    return tap_done();
}
