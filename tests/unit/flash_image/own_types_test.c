/* Without --type nothing is quantized a second time: every type that the reader of GGUF files knows, by its number there, is stored so
 * that each weight comes back with the bits that the file's own definition gives it, in at most 1.03 times the bytes. */
#include <stdlib.h>
#include <string.h>

#include "flash_image/pack/pack_own_type.h"
#include "flash_image/quantize/dequantize.h"
#include "flash_image/quantize/rows.h"
#include "flash_image/quantize/source_rows.h"
#include "kernels/kernels.h"
#include "kernels/ref/scalar.h"
#include "runtime/compute/linear.h"
#include "runtime/image/image.h"
#include "tests/unit/model_files.h"
#include "tests/unit/tap.h"

enum { ROWS = 21, COLS = 768, GROUPS = (ROWS + 7) / 8, NONE = -1 };

static const struct kind {
    const char *name;
    enum source_type type;
    int gguf;
    size_t scales[2]; /* of fp16 in a block */
    bool asked;       /* refused without --type */
} kinds[] = {
#define TYPE_FLOATS(NAME, id, name, cols, bytes, gguf) \
    { #NAME, SOURCE_##NAME, gguf, { 0, 0 }, false },
#define TYPE_WEIGHTS(NAME, id, name, layout, cols, act, halves, fit, of, bytes, d, m, gguf) \
    { #NAME, SOURCE_##NAME, gguf, { d, m }, false },
#define TYPE_TABLED_OWN(...)
#define TYPE_TABLED_AGAIN(...)
#define TYPE_READ_FLOATS(NAME, name, bytes, gguf) { #NAME, SOURCE_##NAME, gguf, { 0, 0 }, false },
#define TYPE_READ(NAME, name, of, bytes, gguf) { #NAME, SOURCE_##NAME, gguf, { 0, 0 }, false },
#define TYPE_ASKED(NAME, name, of, bytes, gguf) { #NAME, SOURCE_##NAME, gguf, { 0, 0 }, true },
#include "flash_image/format/types.def"
    { "Q2_0, 128 elements", SOURCE_Q2_0_128, 42, { 0, 0 }, false },
};

static struct kernels kernels;
static uint8_t file[ROWS * COLS * 4];
static _Alignas(64) uint8_t stored[GROUPS * 8 * COLS * 4];

/* Random blocks whose scales are numbers, also tiny and negative ones. */
static void fill_file(const struct kind *kind, uint32_t *seed)
{
    uint64_t block = source_type_bytes(kind->type, source_type_block(kind->type));

    for (size_t i = 0; i < sizeof file; i++) {
        next_weight(seed);
        file[i] = (uint8_t)(*seed >> 24);
    }
    for (size_t at = 0; at + block <= sizeof file; at += block) {
        uint8_t *b = file + at;

        switch (kind->type) {
        case SOURCE_F32: b[3] = (uint8_t)((b[3] & 0x80) | 0x3c); continue;
        case SOURCE_BF16: b[1] = (uint8_t)((b[1] & 0x80) | 0x3c); continue;
        case SOURCE_MXFP4: b[0] = (uint8_t)(104 + b[0] % 40); continue;
        case SOURCE_TQ1_0: b[53] &= 0xbf; continue;
        default: break;
        }
        b[kind->scales[0] + 1] &= 0xbf; /* an exponent of 15 at most */
        b[kind->scales[1] + 1] &= 0xbf;
    }
}

/* Packs the rows as the packer does, into `stored`. False: it was refused. */
static bool pack(const struct source_tensor *t, struct ingot_tensor *entry)
{
    struct rows_sizes sizes = rows_buffer_bytes(COLS);
    struct table_codec *codec = calloc(1, sizeof *codec);
    struct rows_buffers b = {
        calloc(1, sizes.row), calloc(1, sizes.blocks), calloc(1, sizes.group), codec, NULL, NULL
    };
    uint32_t step = image_type_interleave(entry->type);
    const char *wrong = NULL;
    size_t at = 0, bytes = 1;

    rows_begin(t, entry, &b);
    for (uint32_t r = 0; r < ROWS && bytes != 0; r += step, at += bytes) {
        bytes = rows_pack_group(t, (enum ingot_type)entry->type, r, &b, &wrong);
        memcpy(stored + at, b.group, bytes);
    }
    free(b.row);
    free(b.blocks);
    free(b.group);
    free(codec);
    return bytes != 0;
}

/* Equal bits, but that a zero has no sign in a block of integers. */
static bool is_same(const float *one, const float *other, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (memcmp(&one[i], &other[i], sizeof *one) != 0 && !(one[i] == 0.0f && other[i] == 0.0f)) {
            return false;
        }
    }
    return true;
}

static void read_file(const struct source_tensor *t, uint32_t row, float *out)
{
    dequantize_block_fn *read = dequantize_of(t->type);
    uint32_t n = source_type_block(t->type);
    const uint8_t *at = file + row * source_type_bytes(t->type, t->cols);

    for (uint32_t c = 0; c < t->cols; c += n, at += source_type_bytes(t->type, n)) {
        switch (t->type) {
        case SOURCE_F32: memcpy(out + c, at, 4); break;
        case SOURCE_F16: out[c] = f32_from_f16((uint16_t)(at[0] | at[1] << 8)); break;
        case SOURCE_BF16: memcpy(out + c, (const uint8_t[]){ 0, 0, at[0], at[1] }, 4); break;
        default: read(at, out + c); break;
        }
    }
}

static void test_kind(const struct kind *kind,
                      enum ingot_type (*choose)(const struct source_tensor *), const char *what)
{
    struct source_tensor t = { .data = file, .rows = ROWS, .cols = COLS, .type = kind->type };
    enum ingot_type type;
    struct ingot_tensor w = { .rows = ROWS, .cols = COLS, .cols_padded = COLS };
    uint32_t seed = 5, wrong = 0;
    bool packed;

    fill_file(kind, &seed);
    type = choose(&t);
    w.type = (uint8_t)type;
    packed = pack(&t, &w);
    for (uint32_t r = 0; r < ROWS && packed; r++) {
        static _Alignas(16) float exact[COLS], back[COLS];

        read_file(&t, r, exact);
        linear_row(&kernels, &w, back, stored, r);
        wrong += !is_same(exact, back, COLS);
    }
    OK(packed && wrong == 0,
       "%s (%d in GGUF)%s: stored as %s, every weight has its bits (%u rows differ)", kind->name,
       kind->gguf, what, image_type_name(type), (unsigned)wrong);
}

/* F32 instead of BF16 is for values that fp16 does not have. */
static void test_bytes(const struct kind *kind)
{
    struct source_tensor t = { .data = file, .rows = ROWS, .cols = COLS, .type = kind->type };
    double ours, theirs = (double)source_type_bytes(kind->type, COLS);
    uint32_t seed = 5;

    fill_file(kind, &seed);
    ours = (double)image_type_row_bytes(pack_own_type(&t), COLS);
    OK(ours <= 1.03 * theirs || kind->type == SOURCE_BF16,
       "%s: %g bytes of a row of %d hardly exceed the %g in the file, %.3f", kind->name, ours, COLS,
       theirs, ours / theirs);
}

int main(void)
{
    size_t n = 0;

    kernels_select(&kernels, CPU_ANY);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (kinds[i].asked) {
            continue;
        }
        test_kind(&kinds[i], pack_own_type, "");
        test_kind(&kinds[i], pack_own_head_type, ", a matrix of heads");
        test_bytes(&kinds[i]);
        n++;
    }
    OK(n >= 20, "%zu types of GGUF files are tried", n);
    return tap_done();
}
