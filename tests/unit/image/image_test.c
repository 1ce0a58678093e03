/* The .ingot reader: a good file passes, and every wrong field of its header and of its layers is
 * refused by name. */
#include "tests/unit/image/image_rig.h"

static void test_good(const struct bytes *file, enum ingot_type type)
{
    struct image img;
    uint32_t bytes = 1;
    bool shapes = true;
    unsigned found = 0;

    restore(file);
    OK(check(&img, file->n) == ERR_OK, "a good file passes %s", img.error_message);
    OK(check(&img, file->n + 4096) == ERR_OK, "a good file passes on a longer medium");
    OK(image_meta_bytes(header()) == img.segments[0].offset - INGOT_PAGE,
       "each section ends where the next begins");
    for (unsigned layer = 0; layer < 2; layer++) {
        for (int role = INGOT_ATTN_NORM; role < INGOT_OUTPUT_NORM; role++) {
            const struct ingot_tensor *t = image_tensor(&img, (enum ingot_role)role, layer);

            if (t != NULL) {
                found++;
                shapes = shapes && t->role == role && t->layer == layer && t->segment == layer + 1;
            }
        }
    }
    OK(shapes && found == 18, "every tensor of every layer is found");
    OK(image_tensor(&img, INGOT_OUTPUT, INGOT_NO_LAYER)->type == type, "the output has its type");
    OK(image_tensor(&img, INGOT_FFN_DOWN, 1)->cols == 44 &&
           image_tensor(&img, INGOT_FFN_DOWN, 1)->cols_padded == 64,
       "44 columns are padded to 64");
    image_chat_string(&img, INGOT_CHAT_REPLY_SUFFIX, &bytes);
    OK(bytes == 0, "the image has no chat template");
}

static void test_params(void)
{
    const uint32_t assistant[] = { 1, 12 }; /* mtp and target_dim */
    uint32_t family = 99, wider = 8;
    float nan = (float)atof("nan");

    refuse(&good, PARAM(family), &family, 4, ERR_UNSUPPORTED, "family is 99");
    refuse_u32(PARAM(dim), 0, "dim is 0, must be at least 1");
    refuse_u32(PARAM(dim), 0xffffffff, "dim is 4294967295, must be at most 65536");
    refuse_u32(PARAM(hidden), 262145, "hidden is 262145");
    refuse_u32(PARAM(n_layers), 70000, "n_layers is 70000, must be at most 256");
    refuse_u32(PARAM(n_heads), 257, "n_heads is 257");
    refuse_u32(PARAM(n_kv_heads), 0, "n_kv_heads is 0");
    refuse_u32(PARAM(n_kv_heads), 3, "n_kv_heads is 3, the largest of a layer is 2");
    refuse_u32(PARAM(head_dim), 65536, "head_dim is 65536");
    refuse(&good, PARAM(head_dim), &wider, 4, ERR_BAD_HEADER,
           "header: head_dim is 8, the largest of a layer is 6");
    refuse_u32(PARAM(vocab), 1048577, "vocab is 1048577");
    refuse_u32(PARAM(context), 0, "context is 0");
    refuse_u32(PARAM(norm), 2, "norm is 2");
    refuse_u32(PARAM(norm), INGOT_NORM_LAYER, "expected layer 0 attn_norm_bias");
    refuse_u32(PARAM(n_ropes), 5, "n_ropes is 5");
    refuse_u32(PARAM(n_ropes), 0, "ropes beyond n_ropes");
    refuse_u32(PARAM(embedding_scale), 0x7fc00000, "embedding_scale");
    refuse_u32(PARAM(logits_scale), 0, "logits_scale");
    refuse_u32(PARAM(tied), 2, "tied is 2");
    refuse(&good, PARAM(norm_eps), &nan, 4, ERR_BAD_HEADER, "norm_eps");
    refuse_u32(PARAM(norm_eps), 0x3f800000, "norm_eps"); /* 1.0 */
    refuse_u32(PARAM(reserved[12]), 1, "reserved");
    refuse_u32(PARAM(mtp), 2, "mtp");
    refuse_u32(PARAM(target_dim), 65537, "target_dim");
    refuse_u32(PARAM(target_dim), 24, "mtp is 0, must be at least 1");
    refuse(&tied, PARAM(mtp), assistant, sizeof assistant, ERR_BAD_HEADER, "tied is 1");
    refuse(&good, PARAM(mtp), assistant, sizeof assistant, ERR_BAD_HEADER,
           "kv_layer is 0, but the layer has its own keys");
    refuse_u32(PARAM(n_layers), 3, "layers.count is 2, must be 3");
    refuse_u32(PARAM(dim), 32, "token_embedding: cols is 24, must be 32");
    refuse_u32(PARAM(hidden), 43, "hidden is 43, the largest of a layer is 44");
}

#define ROPE(i, field) (offsetof(struct ingot_header, ropes[i].field))

static void test_ropes(void)
{
    float nan = (float)atof("nan");

    refuse_u32(ROPE(0, kind), 2, "rope_kind is 2");
    refuse_u32(ROPE(0, dims), 0, "rope_dims is 0");
    refuse_u32(ROPE(0, dims), 5, "rope_dims is 5, must be even");
    refuse_u32(ROPE(0, dims), 98, "rope_dims is 98");
    refuse(&good, ROPE(0, base), &nan, 4, ERR_BAD_HEADER, "rope_base");
    refuse_u32(ROPE(0, magnitude), 0, "rope_magnitude");
    refuse_u32(ROPE(0, factors), 0, "rope_factors is 0, but there are 0");
    refuse_u32(ROPE(0, long_factors), 0xfffffffe, "rope_factors is 4294967294");
    refuse_u32(ROPE(0, long_context), 16, "rope_context is 16, but long factors are missing");
    refuse_u32(ROPE(0, reserved), 1, "rope_reserved");
    refuse_u32(ROPE(1, dims), 2, "ropes beyond n_ropes");
    refuse_u32(ROPE(3, reserved), 1, "ropes beyond n_ropes");
}

#define LAYER(field) (offsetof(struct ingot_layer, field))

static void refuse_layer(size_t offset, uint64_t value, size_t bytes, enum err expected,
                         const char *words)
{
    const struct ingot_header *h = (const void *)good.data;

    refuse(&good, (size_t)h->layers.offset + sizeof(struct ingot_layer) + offset, &value, bytes,
           expected, words);
}

/* For layer 1: a feature of the format that this program does not compute is refused. */
static void test_layer_kinds(void)
{
    refuse_layer(LAYER(mixer), INGOT_MIXER_DELTA, 1, ERR_BAD_HEADER, "n_heads is 4, must be 0");
    refuse_layer(LAYER(mixer), 5, 1, ERR_UNSUPPORTED, "layer 1: mixer is 5, which this");
    refuse_layer(LAYER(parallel), INGOT_MIXER_DELTA, 1, ERR_UNSUPPORTED,
                 "parallel is 2: only Mamba2");
    refuse_layer(LAYER(parallel), INGOT_MIXER_MAMBA2, 1, ERR_BAD_HEADER,
                 "conv_taps is 0, must be 2");
    refuse_layer(LAYER(conv_taps), 1, 1, ERR_BAD_HEADER, "conv_taps is 1, must be 0 to 0");
    refuse_layer(LAYER(inner_dim), 1, 4, ERR_BAD_HEADER, "inner_dim is 1, must be 0 to 0");
    refuse_layer(LAYER(mixer), INGOT_MIXER_NONE, 1, ERR_BAD_HEADER, "n_heads is 4, must be 0");
    refuse_layer(LAYER(ffn), INGOT_FFN_EXPERTS, 1, ERR_BAD_HEADER, "n_experts is 0, must be 1");
    refuse_layer(LAYER(n_experts), 1, 4, ERR_BAD_HEADER, "n_experts is 1, must be 0 to 0");
    refuse_layer(LAYER(router), 1, 1, ERR_BAD_HEADER, "router is 1, must be 0 to 0");
    refuse_layer(LAYER(expert_scale), 0x3f800000, 4, ERR_BAD_HEADER, "expert_scale is out");
    refuse_layer(LAYER(expert_bytes), 4096, 8, ERR_BAD_HEADER, "layer 1: has extents");
    refuse_layer(LAYER(ffn), 239, 1, ERR_UNSUPPORTED, "ffn is 239");
    refuse_layer(LAYER(ffn), INGOT_FFN_NONE, 1, ERR_BAD_HEADER, "hidden is 44, must be 0");
    refuse_layer(LAYER(norms), 0, 1, ERR_BAD_HEADER, "expected layer 1 attn_q");
    refuse_layer(LAYER(norms), INGOT_NORM_AFTER, 1, ERR_BAD_HEADER, "expected layer 1 attn_q");
    refuse_layer(LAYER(norms), 4, 1, ERR_BAD_HEADER, "norms is 4, must be 0 to 3");
    refuse_layer(LAYER(norms), 3, 1, ERR_BAD_HEADER, "expected layer 1 attn_post_norm");
    refuse_layer(LAYER(activation), 4, 1, ERR_BAD_HEADER, "activation is 4");
    refuse_layer(LAYER(features), 2048, 4, ERR_BAD_HEADER, "features is 2048, must be 0 to 2047");
    refuse_layer(LAYER(features), 0, 4, ERR_UNSUPPORTED, "activation is 0, which needs a gate");
    refuse_layer(LAYER(features), INGOT_GATED | INGOT_QK_NORM_WIDE, 4, ERR_BAD_HEADER,
                 "which needs the q/k norm");
    refuse_layer(LAYER(features), INGOT_GATED | INGOT_RENORMALIZE, 4, ERR_BAD_HEADER,
                 "features is 128, must be 0 to 0");
    refuse_layer(LAYER(features), INGOT_GATED | INGOT_SHARED_KV, 4, ERR_BAD_HEADER,
                 "kv_layer is 1, must be a layer before it");
    refuse_layer(LAYER(features), INGOT_GATED | INGOT_QK_NORM, 4, ERR_BAD_HEADER,
                 "expected layer 1 attn_q_norm");
    refuse_layer(LAYER(residual_scale), 0, 4, ERR_BAD_HEADER, "residual_scale");
    refuse_layer(LAYER(residual_scale), 0x7fc00000, 4, ERR_BAD_HEADER, "residual_scale");
    refuse_layer(LAYER(output_scale), 0x7fc00000, 4, ERR_BAD_HEADER, "output_scale");
    refuse_layer(LAYER(kv_layer), 0, 2, ERR_BAD_HEADER,
                 "kv_layer is 0, but the layer has its own keys");
    refuse_layer(LAYER(features), INGOT_GATED | INGOT_LATENT_KV, 4, ERR_BAD_HEADER,
                 "n_kv_heads is 2, must be 1 to 1");
    refuse_layer(LAYER(features), INGOT_GATED | INGOT_GROUPS_BY_TWO, 4, ERR_BAD_HEADER,
                 "features is 1024, must be 0 to 0");
    refuse_layer(LAYER(kv_rank), 8, 4, ERR_BAD_HEADER, "kv_rank is 8, must be 0 to 0");
    refuse_layer(LAYER(q_rank), 8, 4, ERR_BAD_HEADER, "q_rank is 8, must be 0 to 0");
    refuse_layer(LAYER(query_dim), 8, 4, ERR_BAD_HEADER, "query_dim is 8, must be 0 to 0");
    refuse_layer(LAYER(expert_groups), 1, 4, ERR_BAD_HEADER, "expert_groups is 1, must be 0 to 0");
    refuse_layer(LAYER(expert_groups_used), 1, 4, ERR_BAD_HEADER,
                 "expert_groups_used is 1, must be 0 to 0");
    refuse_layer(LAYER(value_dim), 8, 4, ERR_UNSUPPORTED, "values are 8 wide, but keys 6");
    refuse_layer(LAYER(reserved[26]), 1, 4, ERR_BAD_HEADER, "layer 1: reserved is not zero");
}

/* Changes more than one field of layer 1. */
static void refuse_whole(const struct ingot_layer *l, const char *words)
{
    const struct ingot_header *h = (const void *)good.data;

    refuse(&good, (size_t)h->layers.offset + sizeof *l, l, sizeof *l, ERR_BAD_HEADER, words);
}

static struct ingot_layer good_layer(void)
{
    const struct ingot_header *h = (const void *)good.data;
    struct ingot_layer l;

    memcpy(&l, good.data + h->layers.offset + sizeof l, sizeof l);
    return l;
}

/* Eight experts in groups. */
static void refuse_groups(uint32_t groups, uint32_t groups_used, uint32_t used, const char *words)
{
    struct ingot_layer l = good_layer();

    l.ffn = INGOT_FFN_EXPERTS;
    l.n_experts = 8;
    l.n_experts_used = used;
    l.expert_hidden = l.hidden;
    l.expert_scale = 1;
    l.expert_groups = groups;
    l.expert_groups_used = groups_used;
    l.features |= INGOT_GROUPS_BY_TWO;
    refuse_whole(&l, words);
}

static void refuse_inner(uint32_t groups, uint32_t heads, const char *words)
{
    struct ingot_layer l = good_layer();

    l.mixer = INGOT_MIXER_DELTA;
    l.rope = INGOT_NO_ROPE;
    l.n_heads = l.n_kv_heads = l.head_dim = l.value_dim = l.window = l.kv_layer = 0;
    l.attn_scale = l.attn_softcap = 0;
    l.features = INGOT_GATED;
    l.conv_taps = 4;
    l.inner_dim = 24;
    l.state_dim = 8;
    l.n_groups = groups;
    l.inner_heads = heads;
    refuse_whole(&l, words);
}

/* Fields that are right by themselves and contradict each other. */
static void test_together(void)
{
    struct ingot_layer l = good_layer();

    refuse_groups(3, 1, 2, "expert_groups 3, 1 used, cannot give 2 of 8 experts");
    refuse_groups(4, 1, 3, "expert_groups 4, 1 used, cannot give 3 of 8 experts");
    refuse_groups(8, 4, 2, "expert_groups 8, 4 used, cannot give 2 of 8 experts");
    refuse_inner(2, 3, "n_groups 2, inner_heads 3 and inner_dim 24 do not divide each other");
    refuse_inner(1, 5, "n_groups 1, inner_heads 5 and inner_dim 24 do not divide each other");
    l.features = INGOT_GATED | INGOT_LATENT_KV;
    l.n_kv_heads = 1;
    l.head_dim = l.query_dim = 16;
    l.kv_rank = l.value_dim = 8;
    refuse_whole(&l, "must be head_dim 16 less kv_rank 8");
}

static void test_layers(void)
{
    refuse_layer(LAYER(n_heads), 0, 4, ERR_BAD_HEADER, "n_heads is 0, must be 1 to 256");
    refuse_layer(LAYER(n_heads), 257, 4, ERR_BAD_HEADER, "n_heads is 257");
    refuse_layer(LAYER(n_kv_heads), 0, 4, ERR_BAD_HEADER, "n_kv_heads is 0");
    refuse_layer(LAYER(n_kv_heads), 3, 4, ERR_BAD_HEADER, "n_kv_heads is 3, no divisor");
    refuse_layer(LAYER(head_dim), 5, 4, ERR_BAD_HEADER, "head_dim is 5, must be even");
    refuse_layer(LAYER(head_dim), 0x80000000, 4, ERR_BAD_HEADER, "head_dim is 2147483648");
    refuse_layer(LAYER(head_dim), 4, 4, ERR_UNSUPPORTED, "values are 6 wide, but keys 4");
    refuse_layer(LAYER(hidden), 262145, 4, ERR_BAD_HEADER, "hidden is 262145");
    refuse_layer(LAYER(hidden), 0, 4, ERR_BAD_HEADER, "hidden is 0");
    refuse_layer(LAYER(hidden), 45, 4, ERR_BAD_HEADER,
                 "hidden is 44, the largest of a layer is 45");
    refuse_layer(LAYER(hidden), 43, 4, ERR_BAD_HEADER, "layer 1 ffn_gate: rows is 44, must be 43");
    refuse_layer(LAYER(window), 1048577, 4, ERR_BAD_HEADER, "window is 1048577");
    refuse_layer(LAYER(rope), 1, 2, ERR_BAD_HEADER, "rope is 1, but there are 1");
    refuse_layer(LAYER(attn_scale), 0, 4, ERR_BAD_HEADER, "attn_scale is out of its range");
    refuse_layer(LAYER(attn_scale), 0x3f800000, 4, ERR_BAD_HEADER,
                 "attn_scale is not that of layer 0");
    refuse_layer(LAYER(attn_softcap), 0xbf800000, 4, ERR_BAD_HEADER, "attn_softcap");
    refuse_layer(LAYER(segment), 1, 4, ERR_BAD_HEADER,
                 "layer 1: segment is 1, which is not its own");
    refuse_layer(LAYER(segment), 0xffffffff, 4, ERR_BAD_HEADER, "segment is 4294967295");
    refuse_layer(LAYER(first_tensor), 9, 4, ERR_BAD_HEADER, "layer 1: has tensors 9 to 18");
    refuse_layer(LAYER(n_tensors), 0xffffffff, 4, ERR_BAD_HEADER, "the table 10 to 19");
}

static void test_header(void)
{
    uint32_t version = 3;
    uint64_t more;

    refuse(&good, 5, "\n", 1, ERR_BAD_MAGIC, "magic");
    refuse(&good, HEADER(version), &version, 4, ERR_BAD_VERSION,
           "version is 3, this program reads 4: pack the model again");
    more = good.n + 4096;
    refuse(&good, HEADER(file_bytes), &more, 8, ERR_TRUNCATED, "cut short");
    refuse_u64(HEADER(file_bytes), good.n - 1, "file_bytes");
    refuse_u64(HEADER(file_bytes), good.n - 4096, "head: bytes");
    refuse(&good, HEADER(name) + 2, "\x1b", 1, ERR_BAD_HEADER, "name");
    refuse_u32(HEADER(reserved), 1, "reserved");
    refuse_u32(HEADER(sampling.given), 64, "sampling_given is 64, must be at most 63");
    refuse_u32(HEADER(sampling.reserved), 1, "sampling_reserved is 1, must be at most 0");
    refuse_u32(HEADER(sampling.temp), 0x3f000000, "temp is out of its range"); /* it is not given */
    refuse_u32(HEADER(sampling.repeat), 0x3f800000, "repeat is out of its range");
    refuse_u32(HEADER(sampling.repeat_last), 64, "repeat_last is 64, must be at most 0");
    refuse_u32(HEADER(sampling.top_k), 40, "top_k is 40, must be at most 0");
    refuse_u32(HEADER(sampling.given), INGOT_SAMPLES_REPEAT, "repeat is out of its range");
    refuse_u64(HEADER(tokenizer.offset), 8192, "tokenizer.offset is 8192, must be 4096");
    refuse_u64(HEADER(tokenizer.bytes), UINT64_MAX, "tokenizer.bytes is 18446744073709551615");
    refuse_u64(HEADER(tokenizer.bytes), 63, "tokenizer.bytes is 63, must be at least 64");
    refuse_u32(HEADER(tokenizer.count), 1, "tokenizer.count");
    refuse_u64(HEADER(chat.offset), UINT64_MAX - 4095, "chat.offset");
    refuse_u64(HEADER(chat.bytes), UINT64_MAX / 2, "chat.bytes");
    refuse_u64(HEADER(rope.bytes), 8, "rope.bytes is 8, must be exactly 0");
    refuse_u64(HEADER(tensors.offset), 4096, "tensors.offset");
    refuse_u64(HEADER(tensors.bytes), 64, "tensors.bytes is 64, must be exactly 1344");
    refuse_u32(HEADER(tensors.count), 1u << 26, "tensors.count is 67108864, must be 1 to 16384");
    refuse_u32(HEADER(tensors.count), 0, "tensors.count is 0");
    refuse_u64(HEADER(layers.offset), 4096, "layers.offset");
    refuse_u64(HEADER(layers.bytes), 64, "layers.bytes is 64, must be exactly 512");
    refuse_u32(HEADER(layers.count), 1, "layers.count is 1, must be 2 to 2");
    refuse_u64(HEADER(segments.offset), 1, "segments.offset");
    refuse_u64(HEADER(segments.bytes), 0, "segments.bytes is 0");
    refuse_u32(HEADER(segments.count), 3, "segments.count is 3, must be 4 to 4");
}

/* A model's defaults for sampling, in bounds and just beyond them. */
static void test_sampling(void)
{
    const struct ingot_sampling good_ones = { INGOT_ALL_SAMPLING, 100, 1, 1, 0.01f, INGOT_MAX_VOCAB,
                                              INGOT_MAX_CONTEXT,  0 };
    struct ingot_sampling bad[6];
    struct image img;

    restore(&good);
    header()->sampling = good_ones;
    seal(good.n);
    OK(check(&img, good.n) == ERR_OK, "the largest values of the sampler are accepted: %s",
       img.error_message);
    for (unsigned i = 0; i < 6; i++) {
        bad[i] = good_ones;
    }
    bad[0].temp = 101;
    bad[1].top_p = 1.01f;
    bad[2].min_p = -0.01f;
    bad[3].repeat = 0;
    bad[4].top_k++;
    bad[5].repeat_last++;
    for (unsigned i = 0; i < 6; i++) {
        restore(&good);
        header()->sampling = bad[i];
        seal(good.n);
        OK(check(&img, good.n) == ERR_BAD_HEADER,
           "a value of the sampler out of bounds is refused: %s", img.error_message);
    }
}

/* A medium that is longer than the file, whose header claims a page of the rest. */
static void test_bytes_behind(void)
{
    struct image img;

    restore(&good);
    header()->file_bytes += INGOT_PAGE;
    seal(good.n);
    OK(check(&img, good.n + INGOT_PAGE) == ERR_BAD_HEADER &&
           strstr(img.error_message, "the last ends at") != NULL,
       "a file that is longer than its tables is refused: %s", img.error_message);
}

/* Leaves checksums wrong: no byte of the header can change unnoticed. */
static void test_header_bytes(void)
{
    bool seen = true;
    struct image img;

    restore(&good);
    for (size_t i = 0; i < sizeof(struct ingot_header); i++) {
        work[i] ^= 0x10;
        seen = seen && image_check_header(&img, header(), good.n) != ERR_OK;
        work[i] ^= 0x10;
    }
    OK(seen, "each of the header's 4096 bytes is covered");
    OK(check(&img, good.n) == ERR_OK, "the undamaged header passes again");
}

static void test_truncated(void)
{
    bool named = true;
    struct image img;

    restore(&good);
    for (size_t n = 0; n < good.n; n += n < 4200 ? 1 : 997) {
        named = named && image_check_header(&img, header(), n) == ERR_TRUNCATED &&
                img.error_message[0] != '\0';
    }
    OK(named, "a file cut at any length is refused as cut");
}

int main(void)
{
    if (!image_rig_open()) {
        return tap_done();
    }
    test_good(&good, INGOT_Q8_0);
    test_good(&tied, INGOT_Q4_0);
    test_params();
    test_ropes();
    test_layer_kinds();
    test_together();
    test_layers();
    test_header();
    test_sampling();
    test_bytes_behind();
    test_header_bytes();
    test_truncated();
    image_rig_close();
    return tap_done();
}
