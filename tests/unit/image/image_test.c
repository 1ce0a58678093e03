/* The .ingot reader: a good file passes, and every field, section and segment that is not as it
 * should be is refused by name. The file is packed here from a small random model. */
#include "flash_image/pack/pack.h"
#include "runtime/image/image.h"
#include "runtime/base/crc32c.h"
#include "tests/unit/model_files.h"
#include "tests/unit/tap.h"

static struct bytes good; /* a packed model: Q8_0, not tied */
static struct bytes tied; /* the same, Q4_0, tied */
static uint8_t *work;     /* a copy to damage, 8-byte aligned */

static struct ingot_header *header(void)
{
    return (void *)work;
}

static void restore(const struct bytes *from)
{
    memcpy(work, from->data, from->n);
}

/* Put every checksum right that can be reached, so that the field itself is what is refused. */
static void seal(size_t bytes)
{
    struct ingot_section *sections[] = { &header()->tokenizer, &header()->chat, &header()->layers,
                                         &header()->segments, &header()->tensors };

    for (size_t i = 0; i < 5; i++) {
        if (sections[i]->offset <= bytes && sections[i]->bytes <= bytes - sections[i]->offset) {
            sections[i]->crc32c = crc32c(0, work + sections[i]->offset, (size_t)sections[i]->bytes);
        }
    }
    header()->header_crc32c = 0;
    header()->header_crc32c = crc32c(0, work, sizeof(struct ingot_header));
}

static enum err check(struct image *img, size_t bytes)
{
    enum err e = image_check_header(img, header(), bytes);

    return e == ERR_OK ? image_check_meta(img, work + INGOT_PAGE) : e;
}

/* Write a field, put the checksums right, and expect a sentence with `words`. */
static void refuse(const struct bytes *from, size_t offset, const void *value, size_t bytes,
                   enum err expected, const char *words)
{
    struct image img;
    enum err e;

    restore(from);
    memcpy(work + offset, value, bytes);
    seal(from->n);
    e = check(&img, from->n);
    OK(e == expected && strstr(img.problem, words) != NULL && strlen(img.problem) < 95,
       "refused (%d): %s", (int)e, img.problem);
}

static void refuse_u32(size_t offset, uint32_t value, const char *words)
{
    refuse(&good, offset, &value, sizeof value, ERR_BAD_HEADER, words);
}

static void refuse_u64(size_t offset, uint64_t value, const char *words)
{
    refuse(&good, offset, &value, sizeof value, ERR_BAD_HEADER, words);
}

static bool make(const char *name, bool is_tied, enum ingot_type type, struct bytes *out)
{
    struct pack_options o = { .type = type, .type_given = true, .quiet = true };
    struct bytes model = llama2c_make(&small_shape, is_tied, 0.5f);
    struct bytes tokenizer = llama2c_make_tokenizer(300);
    char problem[512] = "";

    o.input = folder_path("small.bin");
    o.output = folder_path(name);
    OK(bytes_save(&model, o.input) && bytes_save(&tokenizer, folder_path("tok300.bin")),
       "the small model is written");
    OK(pack_file(&o, problem, sizeof problem) == ERR_OK, "and packed as %s %s",
       image_type_name(type), problem);
    *out = bytes_load(o.output);
    bytes_free(&model);
    bytes_free(&tokenizer);
    return out->n > INGOT_PAGE;
}

static void test_good(const struct bytes *file, enum ingot_type type)
{
    struct image img;
    uint32_t bytes = 1;
    bool shapes = true;
    unsigned found = 0;

    restore(file);
    OK(check(&img, file->n) == ERR_OK, "a good file passes %s", img.problem);
    OK(check(&img, file->n + 4096) == ERR_OK, "and so it does on a longer medium");
    OK(image_meta_bytes(header()) == img.segments[0].offset - INGOT_PAGE,
       "sections end at weights");
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
    OK(image_tensor(&img, INGOT_OUTPUT, INGOT_NO_LAYER)->type == type, "the output's type");
    OK(image_tensor(&img, INGOT_FFN_DOWN, 1)->cols == 44 &&
           image_tensor(&img, INGOT_FFN_DOWN, 1)->cols_padded == 64,
       "44 columns are padded to 64");
    image_chat_string(&img, INGOT_CHAT_REPLY_SUFFIX, &bytes);
    OK(bytes == 0, "no chat template");
}

#define PARAM(field) (offsetof(struct ingot_header, params.field))

static void test_params(void)
{
    uint32_t family = 99, wider = 8;
    float nan = (float)atof("nan");

    refuse(&good, PARAM(family), &family, 4, ERR_UNSUPPORTED, "family is 99");
    refuse_u32(PARAM(dim), 0, "dim is 0, at least 1");
    refuse_u32(PARAM(dim), 0xffffffff, "dim is 4294967295, at most 65536");
    refuse_u32(PARAM(hidden), 262145, "hidden is 262145");
    refuse_u32(PARAM(n_layers), 70000, "n_layers is 70000, at most 256");
    refuse_u32(PARAM(n_heads), 257, "n_heads is 257");
    refuse_u32(PARAM(n_kv_heads), 0, "n_kv_heads is 0");
    refuse_u32(PARAM(n_kv_heads), 3, "n_kv_heads is 3, the largest of a layer is 2");
    refuse_u32(PARAM(head_dim), 65536, "head_dim is 65536");
    refuse(&good, PARAM(head_dim), &wider, 4, ERR_UNSUPPORTED, "heads are 6 and 6 wide, others 8");
    refuse_u32(PARAM(vocab), 1048577, "vocab is 1048577");
    refuse_u32(PARAM(context), 0, "context is 0");
    refuse_u32(PARAM(norm), 2, "norm is 2");
    refuse_u32(PARAM(norm), INGOT_NORM_LAYER, "in place of layer 0 attn_norm_bias");
    refuse_u32(PARAM(n_ropes), 5, "n_ropes is 5");
    refuse_u32(PARAM(n_ropes), 0, "ropes beyond n_ropes");
    refuse_u32(PARAM(embedding_scale), 0x7fc00000, "embedding_scale");
    refuse_u32(PARAM(logits_scale), 0, "logits_scale");
    refuse_u32(PARAM(tied), 2, "tied is 2");
    refuse(&good, PARAM(norm_eps), &nan, 4, ERR_BAD_HEADER, "norm_eps");
    refuse_u32(PARAM(norm_eps), 0x3f800000, "norm_eps"); /* 1.0 */
    refuse_u32(PARAM(reserved[15]), 1, "reserved");
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
    refuse_u32(ROPE(0, factors), 0, "rope_factors is 0, of 0");
    refuse_u32(ROPE(0, long_factors), 0xfffffffe, "rope_factors is 4294967294");
    refuse_u32(ROPE(0, long_context), 16, "rope_context is 16 and not the factors");
    refuse_u32(ROPE(0, reserved), 1, "rope_reserved");
    refuse_u32(ROPE(1, dims), 2, "ropes beyond n_ropes");
    refuse_u32(ROPE(3, reserved), 1, "ropes beyond n_ropes");
}

#define LAYER(field) (offsetof(struct ingot_layer, field))

static void refuse_layer(size_t offset, uint32_t value, size_t bytes, enum err expected,
                         const char *words)
{
    const struct ingot_header *h = (const void *)good.data;

    refuse(&good, (size_t)h->layers.offset + sizeof(struct ingot_layer) + offset, &value, bytes,
           expected, words);
}

/* Of layer 1. What the format has a place for and this program does not compute is refused. */
static void test_layer_kinds(void)
{
    refuse_layer(LAYER(mixer), INGOT_MIXER_DELTA, 1, ERR_UNSUPPORTED,
                 "layer 1: mixer is 2 (delta)");
    refuse_layer(LAYER(mixer), INGOT_MIXER_SHORTCONV, 1, ERR_UNSUPPORTED, "(shortconv)");
    refuse_layer(LAYER(mixer), INGOT_MIXER_MAMBA2, 1, ERR_UNSUPPORTED, "(mamba2), which this");
    refuse_layer(LAYER(mixer), 5, 1, ERR_UNSUPPORTED, "mixer is 5 (unknown)");
    refuse_layer(LAYER(mixer), INGOT_MIXER_NONE, 1, ERR_BAD_HEADER, "n_heads is 4, must be 0");
    refuse_layer(LAYER(ffn), INGOT_FFN_EXPERTS, 1, ERR_UNSUPPORTED, "ffn is 2 (experts)");
    refuse_layer(LAYER(ffn), 239, 1, ERR_UNSUPPORTED, "ffn is 239 (unknown)");
    refuse_layer(LAYER(ffn), INGOT_FFN_NONE, 1, ERR_BAD_HEADER, "hidden is 44, must be 0");
    refuse_layer(LAYER(norms), 0, 1, ERR_UNSUPPORTED, "norms is 0, without the one before");
    refuse_layer(LAYER(norms), INGOT_NORM_AFTER, 1, ERR_UNSUPPORTED, "norms is 2");
    refuse_layer(LAYER(norms), 4, 1, ERR_BAD_HEADER, "norms is 4, must be 0 to 3");
    refuse_layer(LAYER(norms), 3, 1, ERR_BAD_HEADER, "in place of layer 1 attn_post_norm");
    refuse_layer(LAYER(activation), 2, 1, ERR_BAD_HEADER, "activation is 2");
    refuse_layer(LAYER(features), 4, 4, ERR_BAD_HEADER, "features is 4, must be 0 to 3");
    refuse_layer(LAYER(features), 0, 4, ERR_UNSUPPORTED, "ungated SiLU");
    refuse_layer(LAYER(features), INGOT_GATED | INGOT_QK_NORM, 4, ERR_BAD_HEADER,
                 "in place of layer 1 attn_q_norm");
    refuse_layer(LAYER(residual_scale), 0x3f000000, 4, ERR_UNSUPPORTED, "residual_scale");
    refuse_layer(LAYER(residual_scale), 0x7fc00000, 4, ERR_UNSUPPORTED, "residual_scale");
    refuse_layer(LAYER(kv_layer), 0, 2, ERR_UNSUPPORTED, "kv_layer is 0: keys and values");
    refuse_layer(LAYER(value_dim), 8, 4, ERR_UNSUPPORTED, "heads are 6 and 8 wide, others 6");
    refuse_layer(LAYER(reserved[16]), 1, 4, ERR_BAD_HEADER, "layer 1: reserved is not zero");
}

static void test_layers(void)
{
    refuse_layer(LAYER(n_heads), 0, 4, ERR_BAD_HEADER, "n_heads is 0, must be 1 to 256");
    refuse_layer(LAYER(n_heads), 257, 4, ERR_BAD_HEADER, "n_heads is 257");
    refuse_layer(LAYER(n_kv_heads), 0, 4, ERR_BAD_HEADER, "n_kv_heads is 0");
    refuse_layer(LAYER(n_kv_heads), 3, 4, ERR_BAD_HEADER, "n_kv_heads is 3, no divisor");
    refuse_layer(LAYER(head_dim), 5, 4, ERR_BAD_HEADER, "head_dim is 5, must be even");
    refuse_layer(LAYER(head_dim), 0x80000000, 4, ERR_BAD_HEADER, "head_dim is 2147483648");
    refuse_layer(LAYER(head_dim), 4, 4, ERR_BAD_HEADER,
                 "rope_dims is 6, must be even and at most 4");
    refuse_layer(LAYER(hidden), 262145, 4, ERR_BAD_HEADER, "hidden is 262145");
    refuse_layer(LAYER(hidden), 0, 4, ERR_BAD_HEADER, "hidden is 0");
    refuse_layer(LAYER(hidden), 45, 4, ERR_BAD_HEADER,
                 "hidden is 44, the largest of a layer is 45");
    refuse_layer(LAYER(hidden), 43, 4, ERR_BAD_HEADER, "layer 1 ffn_gate: rows is 44, must be 43");
    refuse_layer(LAYER(window), 1048577, 4, ERR_BAD_HEADER, "window is 1048577");
    refuse_layer(LAYER(rope), 1, 2, ERR_BAD_HEADER, "rope is 1, there are 1");
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

#define HEADER(field) (offsetof(struct ingot_header, field))

static void test_header(void)
{
    uint32_t version = 2;
    uint64_t more;

    refuse(&good, 5, "\n", 1, ERR_BAD_MAGIC, "magic");
    refuse(&good, HEADER(version), &version, 4, ERR_BAD_VERSION,
           "version is 2, this program reads 3: pack the model again");
    more = good.n + 4096;
    refuse(&good, HEADER(file_bytes), &more, 8, ERR_TRUNCATED, "cut short");
    refuse_u64(HEADER(file_bytes), good.n - 1, "file_bytes");
    refuse_u64(HEADER(file_bytes), good.n - 4096, "head: bytes");
    refuse(&good, HEADER(name) + 2, "\x1b", 1, ERR_BAD_HEADER, "name");
    refuse_u32(HEADER(reserved), 1, "reserved");
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
    refuse_u64(HEADER(layers.bytes), 64, "layers.bytes is 64, must be exactly 256");
    refuse_u32(HEADER(layers.count), 1, "layers.count is 1, must be 2 to 2");
    refuse_u64(HEADER(segments.offset), 1, "segments.offset");
    refuse_u64(HEADER(segments.bytes), 0, "segments.bytes is 0");
    refuse_u32(HEADER(segments.count), 3, "segments.count is 3, must be 4 to 4");
}

/* A medium that is longer than the file, whose header claims a page of it. */
static void test_bytes_behind(void)
{
    struct image img;

    restore(&good);
    header()->file_bytes += INGOT_PAGE;
    seal(good.n);
    OK(check(&img, good.n + INGOT_PAGE) == ERR_BAD_HEADER &&
           strstr(img.problem, "the last ends at") != NULL,
       "refused: %s", img.problem);
}

/* Without putting checksums right: no byte of the header can change unseen. */
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
    OK(check(&img, good.n) == ERR_OK, "and the undamaged one passes again");
}

static void test_truncated(void)
{
    bool named = true;
    struct image img;

    restore(&good);
    for (size_t n = 0; n < good.n; n += n < 4200 ? 1 : 997) {
        named = named && image_check_header(&img, header(), n) == ERR_TRUNCATED &&
                img.problem[0] != '\0';
    }
    OK(named, "a file cut at any length is refused as cut");
}

static void test_damaged_section(const char *name, const struct ingot_section *s)
{
    char words[64];
    bool named = true;
    struct image img;

    snprintf(words, sizeof words, "section %s is damaged", name);
    for (uint64_t i = 0; i<s->bytes; i += s->bytes> 4000 ? 61 : 7) {
        restore(&good);
        work[s->offset + i] ^= 1;
        named = named && check(&img, good.n) == ERR_BAD_CHECKSUM &&
                strstr(img.problem, words) != NULL;
    }
    OK(named, "a flipped bit: %s", words);
    restore(&good);
    if (s->bytes % INGOT_PAGE != 0) {
        work[s->offset + s->bytes] ^= 1;
        OK(check(&img, good.n) == ERR_BAD_CHECKSUM && strstr(img.problem, name) != NULL,
           "a flipped bit behind it: %s", img.problem);
    }
}

static void test_damaged(void)
{
    struct ingot_header h;

    memcpy(&h, good.data, sizeof h);
    test_damaged_section("tokenizer", &h.tokenizer);
    test_damaged_section("chat", &h.chat);
    test_damaged_section("layers", &h.layers);
    test_damaged_section("tensors", &h.tensors);
    test_damaged_section("segments", &h.segments);
}

static void test_segments(void)
{
    static const char *const names[] = { "embedding", "layer 0", "layer 1", "head" };
    struct image img;

    restore(&good);
    OK(check(&img, good.n) == ERR_OK, "the tables are fine");
    for (unsigned i = 0; i < 4; i++) {
        const struct ingot_segment *x = &img.segments[i];
        uint32_t crc = crc32c(0, work + x->offset, (size_t)x->bytes);

        OK(image_check_segment(&img, i, crc) == ERR_OK, "segment %u matches its CRC", i);
        work[x->offset + x->bytes - 1] ^= 0x80;
        crc = crc32c(0, work + x->offset, (size_t)x->bytes);
        OK(image_check_segment(&img, i, crc) == ERR_BAD_CHECKSUM &&
               strstr(img.problem, names[i]) != NULL,
           "damaged: %s", img.problem);
    }
}

static void test_segment_table(void)
{
    size_t at = (size_t)((struct ingot_header *)(void *)good.data)->segments.offset;
    size_t layer = at + sizeof(struct ingot_segment);

#define SEGMENT(field) (offsetof(struct ingot_segment, field))
    refuse_u64(at + SEGMENT(offset), 0, "embedding: offset is 0");
    refuse_u64(layer + SEGMENT(offset), 4096, "layer 0: offset is 4096");
    refuse_u64(layer + SEGMENT(bytes), 0, "layer 0: bytes is 0");
    refuse_u64(layer + SEGMENT(bytes), 4097, "layer 0: bytes is 4097");
    refuse_u64(layer + SEGMENT(bytes), UINT64_MAX - 4095, "layer 0: bytes is 184467440737095");
    refuse(&good, layer + SEGMENT(kind), "\2\0", 2, ERR_BAD_HEADER, "is not layer 0");
    refuse(&good, layer + SEGMENT(layer), "\1\0", 2, ERR_BAD_HEADER, "is not layer 0");
    refuse(&good, layer + SEGMENT(kind), "\3\0", 2, ERR_BAD_HEADER, "is not layer 0 (kind 3");
    refuse_u32(layer + SEGMENT(reserved), 1, "layer 0: reserved");
    refuse(&good, layer + SEGMENT(expert), "\1\0", 2, ERR_BAD_HEADER, "layer 0: reserved");
    refuse(&good, layer + SEGMENT(reserved0), "\1\0", 2, ERR_BAD_HEADER, "layer 0: reserved");
    refuse_u64(layer + SEGMENT(phase_end[0]), 1, "layer 0: phase_end[0] is 1");
    refuse_u64(layer + SEGMENT(phase_end[0]), UINT64_MAX - 63,
               "layer 0: phase_end[0] is 184467440");
    refuse_u64(layer + SEGMENT(phase_end[0]), 64, "layer 0: phase_end[0] begins no tensor");
    refuse_u64(layer + SEGMENT(phase_end[2]), 0, "layer 0: phase_end[2] is 0");
    refuse_u64(layer + SEGMENT(phase_end[3]), 0, "layer 0: phase_end[3] is 0");
    refuse_u64(at + SEGMENT(phase_end[0]), 0, "embedding: phase_end[0] is 0");
}

static void test_tensor_table(void)
{
    size_t at = (size_t)((struct ingot_header *)(void *)good.data)->tensors.offset;
    size_t q = at + 2 * sizeof(struct ingot_tensor); /* layer 0 attn_q: 24 rows of 24 */
    size_t norm = at + sizeof(struct ingot_tensor);

#define TENSOR(field) (offsetof(struct ingot_tensor, field))
    refuse(&good, q + TENSOR(role), "\3\0", 2, ERR_BAD_HEADER, "in place of layer 0 attn_q");
    refuse(&good, q + TENSOR(layer), "\1\0", 2, ERR_BAD_HEADER, "in place of layer 0 attn_q");
    refuse(&good, q + TENSOR(type), "\1", 1, ERR_BAD_HEADER, "attn_q: interleave is 8, must be 1");
    refuse(&good, q + TENSOR(type), "\4", 1, ERR_BAD_HEADER,
           "attn_q: cols is 24, q4_k demands a multiple of 256");
    refuse(&good, q + TENSOR(type), "\5", 1, ERR_BAD_HEADER, "q6_k demands a multiple of 256");
    refuse(&good, q + TENSOR(type), "\6", 1, ERR_UNSUPPORTED, "attn_q: type is 6, this program");
    refuse(&good, q + TENSOR(type), "\377", 1, ERR_UNSUPPORTED, "attn_q: type is 255");
    refuse(&good, q + TENSOR(type), "\3", 1, ERR_BAD_HEADER, "attn_q: bytes");
    refuse(&good, norm + TENSOR(type), "\2", 1, ERR_UNSUPPORTED, "it must be f32");
    refuse(&good, q + TENSOR(interleave), "\4", 1, ERR_BAD_HEADER, "interleave is 4, must be 8");
    refuse(&good, q + TENSOR(chunk), "\0", 1, ERR_BAD_HEADER, "chunk is 0, must be 4");
    refuse(&good, q + TENSOR(reserved0), "\1", 1, ERR_BAD_HEADER, "reserved");
    refuse_u32(q + TENSOR(rows), 25, "attn_q: rows is 25, must be 24");
    refuse_u32(q + TENSOR(cols), 0xffffffff, "attn_q: cols is 4294967295");
    refuse_u32(q + TENSOR(cols_padded), 24, "cols_padded is 24, must be 32");
    refuse_u32(q + TENSOR(segment), 0xffffffff, "segment is 4294967295, must be 1");
    refuse_u64(q + TENSOR(offset), 64, "attn_q: offset 64 is unaligned or below 128");
    refuse_u64(q + TENSOR(offset), 4000001, "unaligned");
    refuse_u64(q + TENSOR(offset), UINT64_MAX - 63, "leaves the segment");
    refuse_u64(q + TENSOR(offset), 65536, "leaves the segment");
    refuse_u64(q + TENSOR(bytes), UINT64_MAX, "attn_q: bytes");
    refuse_u64(q + TENSOR(reserved[2]), 1, "reserved");
}

static void test_tied(void)
{
    size_t at = (size_t)((struct ingot_header *)(void *)tied.data)->tensors.offset;
    size_t output = at + 20 * sizeof(struct ingot_tensor);
    uint64_t offset = 64;
    uint32_t segment = 3, no = 0;

    refuse(&tied, output + TENSOR(offset), &offset, 8, ERR_BAD_HEADER, "tied");
    refuse(&tied, output + TENSOR(segment), &segment, 4, ERR_BAD_HEADER, "tied");
    refuse(&tied, PARAM(tied), &no, 4, ERR_BAD_HEADER, "output: segment is 0, must be 3");
}

static struct ingot_tokenizer *tokenizer(void)
{
    return (void *)(work + header()->tokenizer.offset);
}

/* After a change that the caller made to work. */
static void refuse_tokenizer(enum err expected, const char *words)
{
    struct image img;
    enum err e;

    seal(good.n);
    e = check(&img, good.n);
    OK(e == expected && strstr(img.problem, words) != NULL, "refused (%d): %s", (int)e,
       img.problem);
    restore(&good);
}

#define SET(field, value, error, words)     \
    do {                                    \
        tokenizer()->field = (value);       \
        refuse_tokenizer((error), (words)); \
    } while (0)

static void test_tokenizer_head(void)
{
    restore(&good);
    SET(kind, 0, ERR_UNSUPPORTED, "kind is 0");
    SET(kind, 4, ERR_UNSUPPORTED, "kind is 4");
    SET(kind, 2, ERR_UNSUPPORTED, "flags is 3, not known for kind 2");
    SET(flags, 32, ERR_UNSUPPORTED, "flags is 32");
    SET(n_tokens, 301, ERR_BAD_TOKENIZER, "n_tokens is 301");
    SET(n_sorted, 301, ERR_BAD_TOKENIZER, "n_sorted is 301");
    SET(bos, 300, ERR_BAD_TOKENIZER, "bos is 300");
    SET(bos, INGOT_NO_TOKEN, ERR_BAD_TOKENIZER, "flags ask for a bos");
    SET(eos, 300, ERR_BAD_TOKENIZER, "eos is 300");
    SET(unk, 4000000000u, ERR_BAD_TOKENIZER, "unk is 4000000000");
    SET(eot, 300, ERR_BAD_TOKENIZER, "eot is 300");
    SET(max_token_bytes, 3, ERR_BAD_TOKENIZER, "max_token_bytes is 3");
    SET(text_offsets, 62, ERR_BAD_TOKENIZER, "text_offsets is 62");
    SET(text_offsets, 60, ERR_BAD_TOKENIZER, "text_offsets is 60");
    SET(scores, 0xfffffffc, ERR_BAD_TOKENIZER, "scores is 4294967292");
    SET(types, 65, ERR_BAD_TOKENIZER, "types is 65");
    SET(sorted, 0x7ffffffc, ERR_BAD_TOKENIZER, "sorted is 2147483644");
    SET(byte_tokens, 8192, ERR_BAD_TOKENIZER, "byte_tokens is 8192");
    SET(text, 0x10000, ERR_BAD_TOKENIZER, "text is 65536");
    SET(text_bytes, 0xffffffff, ERR_BAD_TOKENIZER, "4294967295 bytes");
    SET(text_bytes, 10, ERR_BAD_TOKENIZER, "text_offsets do not run");
}

static uint32_t *tokenizer_array(uint32_t offset)
{
    return (void *)(work + header()->tokenizer.offset + offset);
}

static void test_tokenizer_arrays(void)
{
    uint32_t *sorted;

    restore(&good);
    tokenizer_array(tokenizer()->text_offsets)[0] = 1;
    refuse_tokenizer(ERR_BAD_TOKENIZER, "text_offsets do not run");
    tokenizer_array(tokenizer()->text_offsets)[7] = 0xfffffff0;
    refuse_tokenizer(ERR_BAD_TOKENIZER, "text_offsets descend after token 7");
    tokenizer_array(tokenizer()->scores)[299] = 0x7fc00000;
    refuse_tokenizer(ERR_BAD_TOKENIZER, "score of token 299");
    ((uint8_t *)tokenizer_array(tokenizer()->types))[5] = 7;
    refuse_tokenizer(ERR_BAD_TOKENIZER, "type of token 5 is 7");
    sorted = tokenizer_array(tokenizer()->sorted);
    sorted[3] = 300;
    refuse_tokenizer(ERR_BAD_TOKENIZER, "sorted[3] is 300");
    sorted[3] = 1;
    refuse_tokenizer(ERR_BAD_TOKENIZER, "sorted[3] is 1, empty or of type 3");
    sorted[3] = sorted[2];
    refuse_tokenizer(ERR_BAD_TOKENIZER, "sorted[3] does not come after");
    tokenizer_array(tokenizer()->byte_tokens)[65] = 299;
    refuse_tokenizer(ERR_BAD_TOKENIZER, "byte_tokens[65] is 299");
    tokenizer_array(tokenizer()->byte_tokens)[255] = 300;
    refuse_tokenizer(ERR_BAD_TOKENIZER, "byte_tokens[255] is 300");
}

static void test_chat(void)
{
    size_t at = (size_t)((struct ingot_header *)(void *)good.data)->chat.offset;

    refuse_u32(at, 1, "chat: string 0 has 1 bytes, 0 are left");
    refuse_u32(at + 40, 0xffffffff, "chat: string 10 has 4294967295 bytes");
    refuse_u32(at + 44, 8, "chat: flags are 8, this program knows 7");
    refuse_u32(at + 48, 9, "chat: n_stops is 9, more than 8");
    refuse_u32(at + 52, 300, "chat: stops[0] is 300");
    refuse_u32(at + 80, 1, "chat: stops[7] is 1");
    refuse_u32(at + 84, 1, "chat: reserved");
    refuse_u64(HEADER(chat.bytes), 97, "chat: bytes after the strings");
}

int main(void)
{
    static const char *const names[] = { "small.bin", "tok300.bin", "good", "tied", NULL };
    size_t most;

    if (!OK(folder_make(), "a folder for files") ||
        !OK(make("good", false, INGOT_Q8_0, &good) && make("tied", true, INGOT_Q4_0, &tied),
            "two files to read")) {
        folder_remove(names);
        return tap_done();
    }
    most = good.n > tied.n ? good.n : tied.n;
    work = malloc(most);
    if (work == NULL) {
        return 1;
    }
    test_good(&good, INGOT_Q8_0);
    test_good(&tied, INGOT_Q4_0);
    test_params();
    test_ropes();
    test_layer_kinds();
    test_layers();
    test_header();
    test_bytes_behind();
    test_header_bytes();
    test_truncated();
    test_damaged();
    test_segments();
    test_segment_table();
    test_tensor_table();
    test_tied();
    test_tokenizer_head();
    test_tokenizer_arrays();
    test_chat();
    free(work);
    bytes_free(&good);
    bytes_free(&tied);
    folder_remove(names);
    return tap_done();
}
