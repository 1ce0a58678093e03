/* The packer: weights against their source, quantization against GGML's plain rule, and every
 * kind of input that must be refused by a sentence. With the models of INGOT_ASSETS where they
 * are, and with small files written here. */
#include <math.h>
#include <sys/stat.h>

#include "flash_image/ingot_file.h"
#include "flash_image/pack.h"
#include "flash_image/quantize.h"
#include "flash_image/source.h"
#include "kernels/kernels.h"
#include "kernels/ref/scalar.h"
#include "tests/unit/model_files.h"
#include "tests/unit/tap.h"

static char problem[512];

static enum err pack(const char *input, const char *output, const char *type)
{
    struct pack_options o = { .input = input, .output = output, .quiet = true };

    o.type_given = type != NULL && pack_parse_type(type, &o.type);
    problem[0] = '\0';
    return pack_file(&o, problem, sizeof problem);
}

static const char *asset(const char *name)
{
    static char paths[4][512];
    static unsigned next;
    const char *root = getenv("INGOT_ASSETS");
    char *path = paths[next++ % 4];

    snprintf(path, sizeof paths[0], "%s/%s", root != NULL ? root : "../shared/models", name);
    return path;
}

/* True where the asset is there; else a skipped check that says which. */
static bool have_asset(const char *name)
{
    if (access(asset(name), R_OK) == 0) {
        return true;
    }
    OK(true, "%s # SKIP not under INGOT_ASSETS", name);
    return false;
}

/* ---- weights --------------------------------------------------------------------------------- */

/* Row `row` of a tensor of the packed file, by the references of the kernels. */
static void unpack_row(const struct ingot_file *f, const struct ingot_tensor *t, uint32_t row,
                       float *out)
{
    const uint8_t *w = f->data + f->image.extents[t->extent].offset + t->offset;

    if (t->type == INGOT_F32) {
        memcpy(out, w + (size_t)row * t->cols_padded * 4, t->cols_padded * sizeof(float));
    } else if (t->type == INGOT_Q8_0) {
        dequantize_f32_q8x8_ref(out, w, row, t->cols_padded);
    } else {
        dequantize_f32_q4x8_ref(out, w, row, t->cols_padded);
    }
}

/* Normalized mean squared error of a tensor against its source; 1 where padding is not zero. */
static double tensor_nmse(const struct ingot_file *f, const struct ingot_tensor *t,
                          const struct source_tensor *s)
{
    static float packed[4096], exact[4096];
    double miss = 0, all = 0;

    for (uint32_t row = 0; row < t->rows; row++) {
        unpack_row(f, t, row, packed);
        source_read_row(s, row, exact);
        for (uint32_t c = 0; c < t->cols; c++) {
            double d = (double)packed[c] - (double)exact[c];

            miss += d * d;
            all += (double)exact[c] * (double)exact[c];
        }
        for (uint32_t c = t->cols; c < t->cols_padded; c++) {
            if (packed[c] != 0.0f) {
                return 1.0;
            }
        }
    }
    return all > 0 ? miss / all : miss;
}

/* The worst tensor of the packed file against the model file; 2 where something cannot be read. */
static double worst_nmse(const char *packed, const char *model)
{
    static struct source s;
    struct bytes b = bytes_load(model);
    struct ingot_file f;
    double worst = 0;
    enum err e;

    memset(&s, 0, sizeof s);
    s.path = model;
    e = gguf_is(b.data, b.n) ? gguf_parse(&s, b.data, b.n, false) : llama2c_parse(&s, b.data, b.n);
    if (e != ERR_OK || ingot_file_open(&f, packed, problem, sizeof problem) != ERR_OK) {
        printf("# %s %s\n", s.problem, problem);
        bytes_free(&b);
        return 2;
    }
    for (uint32_t i = 0; i < f.image.header->tensors.count - s.params.tied; i++) {
        const struct ingot_tensor *t = &f.image.tensors[i];
        double nmse = tensor_nmse(&f, t, source_tensor(&s, (enum ingot_role)t->role, t->layer));

        worst = nmse > worst ? nmse : worst;
    }
    ingot_file_close(&f);
    bytes_free(&b);
    return worst;
}

static void test_nmse(const char *model, const char *type, double bound)
{
    const char *out = folder_path("nmse");
    double nmse = 2;

    if (pack(model, out, type) == ERR_OK) {
        nmse = worst_nmse(out, model);
    }
    OK(nmse <= bound, "%s as %s: worst NMSE %.3g, at most %.3g %s", strrchr(model, '/') + 1,
       type != NULL ? type : "its own", nmse, bound, problem);
}

/* The weights of two packed files: extents, not the sections, which differ by name and context. */
static bool equal_weights(const char *a, const char *b)
{
    struct ingot_file fa, fb;
    bool equal;

    if (ingot_file_open(&fa, a, problem, sizeof problem) != ERR_OK) {
        return false;
    }
    if (ingot_file_open(&fb, b, problem, sizeof problem) != ERR_OK) {
        ingot_file_close(&fa);
        return false;
    }
    equal = fa.image.header->extents.count == fb.image.header->extents.count;
    for (uint32_t i = 0; equal && i < fa.image.header->extents.count; i++) {
        const struct ingot_extent *xa = &fa.image.extents[i];
        const struct ingot_extent *xb = &fb.image.extents[i];

        equal = xa->bytes == xb->bytes &&
                memcmp(fa.data + xa->offset, fb.data + xb->offset, (size_t)xa->bytes) == 0 &&
                ingot_file_check_extent(&fa, i) == ERR_OK;
    }
    ingot_file_close(&fa);
    ingot_file_close(&fb);
    return equal;
}

static void test_same_model(const char *a, const char *b, const char *type)
{
    if (!have_asset(a) || !have_asset(b)) {
        return;
    }
    OK(pack(asset(a), folder_path("a"), type) == ERR_OK &&
       pack(asset(b), folder_path("b"), type) == ERR_OK &&
       equal_weights(folder_path("a"), folder_path("b")),
       "%s and %s give the same weights as %s %s", a, b, type, problem);
}

static void test_assets(void)
{
    static const char *const models[] = { "llama2c/stories260K.bin", "gguf/stories260K.gguf",
                                          "synthetic/synthetic-llama-d256-F32.gguf" };

    for (size_t i = 0; i < 3; i++) {
        if (have_asset(models[i])) {
            test_nmse(asset(models[i]), NULL, 0.0);
            test_nmse(asset(models[i]), "q8_0", 1e-4);
            test_nmse(asset(models[i]), "q4_0", 1e-2);
        }
    }
    test_same_model("llama2c/stories260K.bin", "gguf/stories260K.gguf", "f32");
    test_same_model("llama2c/stories260K.bin", "gguf/stories260K.gguf", "q8_0");
    test_same_model("llama2c/stories260K.bin", "gguf/stories260K.gguf", "q4_0");
    test_same_model("llama2c/stories260K.bin", "llama2c/stories260K.v1.bin", "f32");
    if (have_asset("llama2c/stories260K-q8-group4.bin")) {
        test_nmse(asset("llama2c/stories260K-q8-group4.bin"), NULL, 0.0);
        test_nmse(asset("llama2c/stories260K-q8-group4.bin"), "q8_0", 1e-4);
    }
    if (have_asset("gguf/tiny-random-llama.gguf")) {
        test_nmse(asset("gguf/tiny-random-llama.gguf"), "f32", 0.0);
        test_nmse(asset("gguf/tiny-random-llama.gguf"), NULL, 1e-4);
    }
    if (have_asset("synthetic/synthetic-llama-d256-Q8_0.gguf")) {
        test_nmse(asset("synthetic/synthetic-llama-d256-Q8_0.gguf"), NULL, 0.0);
        test_nmse(asset("synthetic/synthetic-llama-d256-Q8_0.gguf"), "f32", 0.0);
    }
}

static void test_refused_asset(const char *name, enum err expected, const char *words)
{
    enum err e;

    if (!have_asset(name)) {
        return;
    }
    e = pack(asset(name), folder_path("a"), NULL);
    OK(e == expected && strstr(problem, words) != NULL, "refused (%d): %s", (int)e, problem);
}

static void test_refused_assets(void)
{
    test_refused_asset("llama2c/stories260K-q8-bad-group8.bin", ERR_BAD_MODEL, "groups of 8");
    test_refused_asset("llama2c/stories260K.v1.alt.bin", ERR_UNSUPPORTED, "swapped");
    test_refused_asset("llama2c/tok512.bin", ERR_BAD_MODEL, "neither a GGUF nor a llama2.c");
    test_refused_asset("synthetic/synthetic-llama-d256-Q4_K_M.gguf", ERR_UNSUPPORTED, "_K (type");
    test_refused_asset("vocab/ggml-vocab-gpt-2.gguf", ERR_UNSUPPORTED, "architecture is \"gpt2\"");
    test_refused_asset("vocab/ggml-vocab-llama-spm.gguf", ERR_BAD_MODEL, "no weights");
    test_refused_asset("hf/TinyStories-656K", ERR_UNSUPPORTED, "folder");
    OK(pack(folder_path("nowhere"), folder_path("a"), NULL) == ERR_NOT_FOUND &&
       strstr(problem, "no such file") != NULL, "refused: %s", problem);
}

/* ---- blocks ---------------------------------------------------------------------------------- */

static double block_error(const float *w, const uint8_t *block, bool q4)
{
    double d = (double)load_f16(block);
    double error = 0;

    for (size_t i = 0; i < 32; i++) {
        int q = q4 ? (i < 16 ? block[2 + i] & 15 : block[2 + i - 16] >> 4) - 8
                   : (int8_t)block[2 + i];
        double miss = (double)w[i] - d * q;

        error += miss * miss;
    }
    return error;
}

/* GGML's own rule, written again. */
static void plain_q4(const float *w, uint8_t *block)
{
    float extreme = 0, d, inverse;
    uint16_t half;
    int q[32];

    for (size_t i = 0; i < 32; i++) {
        extreme = fabsf(w[i]) > fabsf(extreme) ? w[i] : extreme;
    }
    d = extreme / -8;
    inverse = d != 0 ? 1 / d : 0;
    half = f16_from_f32(d);
    memcpy(block, &half, 2);
    for (size_t i = 0; i < 32; i++) {
        q[i] = (int)(w[i] * inverse + 8.5f);
        q[i] = q[i] > 15 ? 15 : q[i];
    }
    for (size_t i = 0; i < 16; i++) {
        block[2 + i] = (uint8_t)(q[i] | q[i + 16] << 4);
    }
}

static void test_q4_blocks(void)
{
    double plain_sum = 0, sum = 0;
    bool never_worse = true;
    uint32_t seed = 3;

    for (int n = 0; n < 3000; n++) {
        float scale = ldexpf(1.0f, n % 20 - 12);
        uint8_t plain[18], block[18];
        float w[32];

        for (size_t i = 0; i < 32; i++) { /* a sum of four is near enough to a bell */
            w[i] = scale * (next_weight(&seed) + next_weight(&seed) + next_weight(&seed) +
                            next_weight(&seed));
        }
        plain_q4(w, plain);
        never_worse = quantize_block_q4(w, block) && never_worse &&
                      block_error(w, block, true) <= block_error(w, plain, true) * 1.000001;
        plain_sum += block_error(w, plain, true) / (double)(scale * scale);
        sum += block_error(w, block, true) / (double)(scale * scale);
    }
    OK(never_worse, "no Q4_0 block is worse than by the plain rule");
    OK(sum < 0.9 * plain_sum, "and together they are %.0f %% better",
       100 * (1 - sum / plain_sum));
}

static void test_q8_blocks(void)
{
    bool near = true;
    uint32_t seed = 5;
    uint8_t block[34];
    float w[32];

    for (int n = 0; n < 3000; n++) {
        double d;

        for (size_t i = 0; i < 32; i++) {
            w[i] = ldexpf(next_weight(&seed), n % 16 - 8);
        }
        near = quantize_block_q8(w, block) && near;
        d = (double)load_f16(block);
        for (size_t i = 0; i < 32; i++) {
            int q = (int8_t)block[2 + i];
            double miss = fabs((double)w[i] - d * q);

            /* Half a step, or the clipped end that the rounded scale just misses. */
            near = near && q >= -127 && (miss <= 0.5001 * d || (abs(q) == 127 && miss <= 0.6 * d));
        }
    }
    OK(near, "every Q8_0 weight is the nearest to its scale as stored");
    memset(w, 0, sizeof w);
    OK(quantize_block_q8(w, block) && block_error(w, block, false) == 0, "a block of zeros, Q8_0");
    OK(quantize_block_q4(w, block) && block_error(w, block, true) == 0, "a block of zeros, Q4_0");
    w[3] = 1e9f;
    OK(!quantize_block_q8(w, block) && !quantize_block_q4(w, block), "a scale beyond fp16");
}

/* FORMAT.md's worked example: 10 rows of 40 columns, element (9, 37), and (9, 53) of Q4_0. */
static void test_interleave(void)
{
    struct ingot_q8x8 q8[2][2];
    struct ingot_q4x8 q4[2][2];
    uint8_t row8[16][2][34], row4[16][2][18];
    const uint8_t *bytes;

    memset(row8, 0, sizeof row8);
    memset(row4, 0, sizeof row4);
    row8[9][1][0] = 0x34, row8[9][1][1] = 0x12, row8[9][1][2 + 5] = 77;
    row4[9][1][0] = 0x78, row4[9][1][1] = 0x56, row4[9][1][2 + 5] = 0xb3;
    for (size_t g = 0; g < 2; g++) {
        for (size_t b = 0; b < 2; b++) {
            const uint8_t *in8[8], *in4[8];

            for (size_t r = 0; r < 8; r++) {
                in8[r] = 8 * g + r < 10 ? row8[8 * g + r][b] : NULL;
                in4[r] = 8 * g + r < 10 ? row4[8 * g + r][b] : NULL;
            }
            interleave_q8(in8, &q8[g][b]);
            interleave_q4(in4, &q4[g][b]);
        }
    }
    bytes = (const void *)q8;
    OK(sizeof q8 == 1088 && bytes[818] == 0x34 && bytes[819] == 0x12 && bytes[869] == 77,
       "the worked example of FORMAT.md, Q8_0");
    bytes = (const void *)q4;
    OK(sizeof q4 == 576 && bytes[434] == 0x78 && bytes[435] == 0x56 && bytes[485] == 0xb3,
       "the worked example of FORMAT.md, Q4_0");
}

/* ---- small files ----------------------------------------------------------------------------- */

/* A vocabulary without weights gives its tokenizer section and no model. */
static void test_tokenizer_alone(void)
{
    struct pack_options o = { .quiet = true };
    uint8_t *section = NULL;
    struct image img;
    uint64_t bytes = 0;
    uint32_t vocab = 0;

    problem[0] = '\0';
    if (have_asset("vocab/ggml-vocab-llama-spm.gguf")) {
        o.input = asset("vocab/ggml-vocab-llama-spm.gguf");
        OK(pack_tokenizer(&o, &section, &bytes, &vocab, problem, sizeof problem) == ERR_OK &&
           vocab == 32000 && image_check_tokenizer(&img, section, bytes, vocab) == ERR_OK,
           "a section for %u tokens %s", vocab, problem);
        free(section);
    }
    if (have_asset("vocab/ggml-vocab-gpt-2.gguf")) {
        o.input = asset("vocab/ggml-vocab-gpt-2.gguf");
        OK(pack_tokenizer(&o, &section, &bytes, &vocab, problem, sizeof problem) ==
               ERR_UNSUPPORTED && section == NULL && strstr(problem, "\"gpt2\"") != NULL,
           "refused: %s", problem);
    }
}

static void test_llama2c(void)
{
    struct bytes whole = llama2c_make(&small_shape, true, 0.5f);
    struct bytes a, b;
    bool refused = true;

    save("tok300.bin", llama2c_make_tokenizer(300));
    save("small.bin", llama2c_make(&small_shape, false, 0.5f));
    test_nmse(folder_path("small.bin"), "f32", 0.0);
    test_nmse(folder_path("small.bin"), "q8_0", 1e-4);
    OK(pack(folder_path("small.bin"), folder_path("a"), "q4_0") == ERR_OK &&
       pack(folder_path("small.bin"), folder_path("b"), "q4_0") == ERR_OK, "packed twice");
    a = bytes_load(folder_path("a"));
    b = bytes_load(folder_path("b"));
    OK(a.n > 4096 && a.n == b.n && memcmp(a.data, b.data, a.n) == 0, "equal bytes each time");
    bytes_free(&a);
    bytes_free(&b);
    for (size_t n = 0; n < whole.n; n += 1 + whole.n / 53) {
        struct bytes cut = { whole.data, n, 0 };
        enum err e;

        bytes_save(&cut, folder_path("small.bin"));
        e = pack(folder_path("small.bin"), folder_path("b"), NULL);
        refused = refused && e == ERR_BAD_MODEL && problem[0] != '\0';
    }
    OK(refused, "a checkpoint cut at any length is refused");
    bytes_add(&whole, "", 1);
    bytes_save(&whole, folder_path("small.bin"));
    OK(pack(folder_path("small.bin"), folder_path("b"), NULL) == ERR_BAD_MODEL &&
       strstr(problem, "header demands") != NULL, "refused: %s", problem);
    bytes_free(&whole);
}

static void test_failure_keeps_output(void)
{
    struct bytes a = bytes_load(folder_path("a"));
    struct bytes b;

    save("small.bin", llama2c_make(&small_shape, true, 1e30f));
    OK(pack(folder_path("small.bin"), folder_path("a"), "q8_0") == ERR_BAD_MODEL &&
       strstr(problem, "token_embedding has weights too large") != NULL, "refused: %s", problem);
    save("small.bin", llama2c_make(&small_shape, true, INFINITY));
    OK(pack(folder_path("small.bin"), folder_path("a"), "f32") == ERR_BAD_MODEL &&
       strstr(problem, "token_embedding has a weight that is not finite") != NULL, "refused: %s",
       problem);
    b = bytes_load(folder_path("a"));
    OK(a.n == b.n && memcmp(a.data, b.data, a.n) == 0, "the output is as it was");
    OK(access(folder_path("a.tmp"), F_OK) != 0, "and nothing lies beside it");
    save("small.bin", llama2c_make(&small_shape, true, 0.5f));
    OK(pack(folder_path("small.bin"), folder_path("no/such/folder"), NULL) == ERR_IO,
       "refused: %s", problem);
    bytes_free(&a);
    bytes_free(&b);
}

static void test_tokenizer_files(void)
{
    struct pack_options o = { .input = folder_path("small.bin"), .output = folder_path("b"),
                              .tokenizer = folder_path("other.bin"), .quiet = true };

    save("other.bin", llama2c_make_tokenizer(299));
    OK(pack_file(&o, problem, sizeof problem) == ERR_BAD_TOKENIZER &&
       strstr(problem, "has 299 tokens, the model 300") != NULL, "refused: %s", problem);
    o.tokenizer = folder_path("nowhere.bin");
    OK(pack_file(&o, problem, sizeof problem) == ERR_NOT_FOUND, "refused: %s", problem);
    unlink(folder_path("tok300.bin"));
    OK(pack(o.input, o.output, NULL) == ERR_NOT_FOUND && strstr(problem, "tok300.bin") != NULL,
       "refused: %s", problem);
    save("tokenizer.bin", llama2c_make_tokenizer(300));
    OK(pack(o.input, o.output, NULL) == ERR_OK, "tokenizer.bin is found %s", problem);
}

static void test_temporary(void)
{
    struct pack_options o = { .input = folder_path("small.bin"), .quiet = true };
    char path[256] = "";
    enum err e;

    setenv("TMPDIR", folder, 1);
    OK(pack_temporary(&o, path, sizeof path, problem, sizeof problem) == ERR_OK &&
       pack_is_ingot(path, &e) && e == ERR_OK, "a temporary file %s", problem);
    OK(unlink(path) == 0, "which the caller removes");
    OK(!pack_is_ingot(folder_path("small.bin"), &e) && e == ERR_OK, "a checkpoint is no .ingot");
    OK(!pack_is_ingot(folder_path("nowhere"), &e) && e == ERR_NOT_FOUND, "nor is a missing file");
}

int main(void)
{
    static const char *const names[] = { "nmse", "a", "b", "small.bin", "tok300.bin", "other.bin",
                                         "tokenizer.bin", NULL };

    if (!OK(folder_make(), "a folder for files")) {
        return tap_done();
    }
    test_q8_blocks();
    test_q4_blocks();
    test_interleave();
    test_assets();
    test_refused_assets();
    test_tokenizer_alone();
    test_llama2c();
    test_failure_keeps_output();
    test_tokenizer_files();
    test_temporary();
    folder_remove(names);
    return tap_done();
}
