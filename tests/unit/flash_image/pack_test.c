/* The packer: weights against their source, and every kind of input that must be refused by a
 * sentence. It uses the models of INGOT_ASSETS if they are there, and small files written here. */
#include <dirent.h>
#include <math.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "flash_image/gguf/gguf.h"
#include "flash_image/llama2c/llama2c.h"
#include "flash_image/pack/ingot_file.h"
#include "flash_image/pack/model_name.h"
#include "flash_image/pack/pack.h"
#include "flash_image/quantize/source_rows.h"
#include "flash_image/source/source.h"
#include "kernels/kernels.h"
#include "tests/unit/model_files.h"
#include "tests/unit/tap.h"

static char error_message[512];

static enum err pack(const char *input, const char *output, const char *type)
{
    struct pack_options o = { .input = input, .output = output, .quiet = true };

    if (type != NULL && !pack_parse_type(type, &o)) {
        return ERR_BAD_ARGUMENT;
    }
    error_message[0] = '\0';
    return pack_file(&o, error_message, sizeof error_message);
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

/* True if the asset is there; else it skips a check that names the asset. */
static bool have_asset(const char *name)
{
    if (access(asset(name), R_OK) == 0) {
        return true;
    }
    OK(true, "%s # SKIP not under INGOT_ASSETS", name);
    return false;
}

/* ---- weights --------------------------------------------------------------------------------- */

/* Decodes row `row` of a tensor of the packed file with the kernels' references. */
static void unpack_row(const struct ingot_file *f, const struct ingot_tensor *t, uint32_t row,
                       float *out)
{
    struct nibble_table table = { .ahead = 0 };
    const uint8_t *w = f->data + f->image.segments[t->segment].offset + t->offset;
    size_t cols = t->cols_padded;

    if (image_tensor_values(t) != NULL) {
        memcpy(table.values, image_tensor_values(t), sizeof table.values);
    }
    switch ((enum ingot_type)t->type) {
    case INGOT_F32: memcpy(out, w + row * cols * 4, cols * sizeof(float)); return;
    case INGOT_F16:
        convert_f32_f16_ref(out, (const uint16_t *)(const void *)w + row * cols, cols);
        return;
#define TYPE_WEIGHTS(NAME, id, name, layout, ...) \
    case INGOT_##NAME: \
        dequantize_f32_##layout##x8_ref(out, w, row, cols); \
        return;
#define TYPE_TABLED(NAME, id, name, layout, ...) \
    case INGOT_##NAME: \
        dequantize_f32_##layout##x8_ref(out, w, row, cols, &table); \
        return;
#include "flash_image/format/types.def"
    case INGOT_N_TYPES:
    default: return;
    }
}

/* Returns the normalized mean squared error of a tensor against its source; 1 if padding is not
 * zero. */
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

/* Returns the error of the worst tensor of the packed file against the model file; 2 if something
 * cannot be read. */
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
    if (e != ERR_OK || ingot_file_open(&f, packed, error_message, sizeof error_message) != ERR_OK) {
        printf("# %s %s\n", s.error_message, error_message);
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

/* Compares all tensors of a quantized GGUF with the F32 file that it was made from. */
static double own_nmse(const char *model, const char *exact)
{
    return pack(model, folder_path("nmse"), NULL) == ERR_OK ? worst_nmse(folder_path("nmse"), exact)
                                                            : 2;
}

static void test_nmse(const char *model, const char *type, double bound)
{
    const char *out = folder_path("nmse");
    double nmse = 2;

    if (pack(model, out, type) == ERR_OK) {
        nmse = worst_nmse(out, model);
    }
    OK(nmse <= bound, "%s as %s: the worst NMSE is %.3g, at most %.3g %s", strrchr(model, '/') + 1,
       type != NULL ? type : "its own", nmse, bound, error_message);
}

/* Compares the weights of two packed files: the segments, not the sections, which differ by name
 * and context. */
static bool equal_weights(const char *a, const char *b)
{
    struct ingot_file fa, fb;
    bool equal;

    if (ingot_file_open(&fa, a, error_message, sizeof error_message) != ERR_OK) {
        return false;
    }
    if (ingot_file_open(&fb, b, error_message, sizeof error_message) != ERR_OK) {
        ingot_file_close(&fa);
        return false;
    }
    equal = fa.image.header->segments.count == fb.image.header->segments.count;
    for (uint32_t i = 0; equal && i < fa.image.header->segments.count; i++) {
        const struct ingot_segment *xa = &fa.image.segments[i];
        const struct ingot_segment *xb = &fb.image.segments[i];

        equal = xa->bytes == xb->bytes &&
                memcmp(fa.data + xa->offset, fb.data + xb->offset, (size_t)xa->bytes) == 0 &&
                ingot_file_check_segment(&fa, i) == ERR_OK;
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
       "%s and %s give the same weights as %s %s", a, b, type, error_message);
}

/* Files of another packer keep their bits, and our own quantization is no worse than theirs. */
static void test_k_assets(void)
{
    static const char f32[] = "synthetic/synthetic-llama-d256-F32.gguf";
    static const struct {
        const char *model, *type;
    } files[] = { { "synthetic/synthetic-llama-d256-Q4_K_M.gguf", "q4_k_m" },
                  { "synthetic/synthetic-llama-d256-Q6_K.gguf", "q6_k" } };

    for (size_t i = 0; i < 2; i++) {
        if (have_asset(files[i].model) && have_asset(f32)) {
            test_nmse(asset(files[i].model), NULL, 0.0);
            test_nmse(asset(f32), files[i].type, own_nmse(asset(files[i].model), asset(f32)));
        }
    }
}

static void test_assets(void)
{
    static const char *const models[] = { "llama2c/stories260K.bin", "gguf/stories260K.gguf",
                                          "synthetic/synthetic-llama-d256-F32.gguf" };

    for (size_t i = 0; i < 3; i++) {
        if (have_asset(models[i])) {
            test_nmse(asset(models[i]), NULL, 0.0);
            test_nmse(asset(models[i]), "f16", 1e-6);
            test_nmse(asset(models[i]), "q8_0", 1e-4);
            test_nmse(asset(models[i]), "q4_0", 1e-2);
        }
    }
    test_k_assets();
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
        test_nmse(asset("gguf/tiny-random-llama.gguf"), NULL, 0.0);
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
    OK(e == expected && strstr(error_message, words) != NULL, "the file is refused (%d): %s",
       (int)e, error_message);
}

static void test_refused_assets(void)
{
    test_refused_asset("llama2c/stories260K-q8-bad-group8.bin", ERR_BAD_MODEL, "groups of 8");
    test_refused_asset("llama2c/stories260K.v1.alt.bin", ERR_UNSUPPORTED, "swapped");
    test_refused_asset("llama2c/tok512.bin", ERR_BAD_MODEL, "neither a GGUF nor a llama2.c");
    test_refused_asset("vocab/ggml-vocab-gpt-2.gguf", ERR_BAD_MODEL, "no weights");
    test_refused_asset("vocab/ggml-vocab-falcon.gguf", ERR_UNSUPPORTED,
                       "'falcon' is not supported");
    test_refused_asset("hf/tiny/tiny_kquant.gguf", ERR_UNSUPPORTED, "'kquanttest'");
    test_refused_asset("vocab/ggml-vocab-llama-spm.gguf", ERR_BAD_MODEL, "no weights");
    OK(pack(folder_path("nowhere"), folder_path("a"), NULL) == ERR_NOT_FOUND &&
           strstr(error_message, "no such file") != NULL,
       "a missing file is refused: %s", error_message);
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

    error_message[0] = '\0';
    if (have_asset("vocab/ggml-vocab-llama-spm.gguf")) {
        o.input = asset("vocab/ggml-vocab-llama-spm.gguf");
        OK(pack_tokenizer(&o, &section, &bytes, &vocab, error_message, sizeof error_message) ==
                   ERR_OK &&
               vocab == 32000 && image_check_tokenizer(&img, section, bytes, vocab) == ERR_OK,
           "a tokenizer section for %u tokens is packed %s", vocab, error_message);
        free(section);
    }
    if (have_asset("vocab/ggml-vocab-gpt-2.gguf")) {
        o.input = asset("vocab/ggml-vocab-gpt-2.gguf");
        OK(pack_tokenizer(&o, &section, &bytes, &vocab, error_message, sizeof error_message) ==
                   ERR_OK &&
               vocab == 50257 && image_check_tokenizer(&img, section, bytes, vocab) == ERR_OK,
           "a tokenizer section for %u tokens is packed %s", vocab, error_message);
        free(section);
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
           pack(folder_path("small.bin"), folder_path("b"), "q4_0") == ERR_OK,
       "the model is packed twice");
    a = bytes_load(folder_path("a"));
    b = bytes_load(folder_path("b"));
    OK(a.n > 4096 && a.n == b.n && memcmp(a.data, b.data, a.n) == 0,
       "the bytes are equal each time");
    bytes_free(&a);
    bytes_free(&b);
    for (size_t n = 0; n < whole.n; n += 1 + whole.n / 53) {
        struct bytes cut = { whole.data, n, 0 };
        enum err e;

        bytes_save(&cut, folder_path("small.bin"));
        e = pack(folder_path("small.bin"), folder_path("b"), NULL);
        refused = refused && e == ERR_BAD_MODEL && error_message[0] != '\0';
    }
    OK(refused, "a checkpoint cut at any length is refused");
    bytes_add(&whole, "", 1);
    bytes_save(&whole, folder_path("small.bin"));
    OK(pack(folder_path("small.bin"), folder_path("b"), NULL) == ERR_BAD_MODEL &&
           strstr(error_message, "header demands") != NULL,
       "a checkpoint with a byte too many is refused: %s", error_message);
    bytes_free(&whole);
}

static bool has_temporary(const char *where)
{
    struct dirent **names;
    int n = scandir(where, &names, NULL, alphasort);
    bool has = false;

    for (int i = 0; i < n; i++) {
        has = has || strncmp(names[i]->d_name, ".ingot-", 7) == 0;
        free(names[i]);
    }
    if (n >= 0) {
        free(names);
    }
    return has;
}

static void test_failure_keeps_output(void)
{
    struct bytes a = bytes_load(folder_path("a"));
    struct bytes b;

    save("small.bin", llama2c_make(&small_shape, true, 1e30f));
    OK(pack(folder_path("small.bin"), folder_path("a"), "q8_0") == ERR_BAD_MODEL &&
           strstr(error_message, "token_embedding has weights too large") != NULL,
       "a weight that is too large is refused: %s", error_message);
    save("small.bin", llama2c_make(&small_shape, true, INFINITY));
    OK(pack(folder_path("small.bin"), folder_path("a"), "f32") == ERR_BAD_MODEL &&
           strstr(error_message, "token_embedding has a weight that is not finite") != NULL,
       "a weight that is not finite is refused: %s", error_message);
    b = bytes_load(folder_path("a"));
    OK(a.n == b.n && memcmp(a.data, b.data, a.n) == 0, "the output is as it was");
    OK(!has_temporary(folder), "no temporary file lies beside the output");
    save("small.bin", llama2c_make(&small_shape, true, 0.5f));
    OK(pack(folder_path("small.bin"), folder_path("no/such/folder"), NULL) == ERR_IO,
       "an output in a folder that does not exist is refused: %s", error_message);
    bytes_free(&a);
    bytes_free(&b);
}

static void test_tokenizer_files(void)
{
    struct pack_options o = { .input = folder_path("small.bin"),
                              .output = folder_path("b"),
                              .tokenizer = folder_path("other.bin"),
                              .quiet = true };

    save("other.bin", llama2c_make_tokenizer(299));
    OK(pack_file(&o, error_message, sizeof error_message) == ERR_BAD_TOKENIZER &&
           strstr(error_message, "has 299 tokens, but the model has 300") != NULL,
       "a tokenizer with another number of tokens is refused: %s", error_message);
    o.tokenizer = folder_path("nowhere.bin");
    OK(pack_file(&o, error_message, sizeof error_message) == ERR_NOT_FOUND,
       "a missing tokenizer is refused: %s", error_message);
    unlink(folder_path("tok300.bin"));
    OK(pack(o.input, o.output, NULL) == ERR_NOT_FOUND &&
           strstr(error_message, "tok300.bin") != NULL,
       "a checkpoint without its tokenizer is refused: %s", error_message);
    save("tokenizer.bin", llama2c_make_tokenizer(300));
    OK(pack(o.input, o.output, NULL) == ERR_OK, "tokenizer.bin is found %s", error_message);
}

/* A limit for files stands for a full disk. */
static void test_temporary_full(const struct pack_options *o)
{
    struct rlimit before, limit;
    char path[256] = "";

    signal(SIGXFSZ, SIG_IGN); /* as main() of the program does */
    getrlimit(RLIMIT_FSIZE, &before);
    limit = (struct rlimit){ .rlim_cur = 4096, .rlim_max = before.rlim_max };
    setrlimit(RLIMIT_FSIZE, &limit);
    OK(pack_temporary(o, path, sizeof path, error_message, sizeof error_message) == ERR_IO &&
           strstr(error_message, "File too large (TMPDIR names its folder)") != NULL &&
           access(path, F_OK) != 0,
       "a full disk leaves no temporary file, and the message says how to choose its folder: %s",
       error_message);
    setrlimit(RLIMIT_FSIZE, &before);
}

static void test_temporary(void)
{
    struct pack_options o = { .input = folder_path("small.bin"), .quiet = true };
    char path[256] = "";
    enum err e;

    setenv("TMPDIR", folder, 1);
    test_temporary_full(&o);
    OK(pack_temporary(&o, path, sizeof path, error_message, sizeof error_message) == ERR_OK &&
           pack_is_ingot(path, &e) && e == ERR_OK,
       "a temporary file is packed %s", error_message);
    OK(unlink(path) == 0, "the caller removes the file");
    OK(!pack_is_ingot(folder_path("small.bin"), &e) && e == ERR_OK, "a checkpoint is not a .ingot");
    OK(!pack_is_ingot(folder_path("nowhere"), &e) && e == ERR_NOT_FOUND,
       "a missing file is not a .ingot");
}

static void test_names(void)
{
#define LONG "123456789 123456789 123456789 123456789 123456789 123456789 12"
    static const struct {
        const char *given, *expected;
    } rows[] = {
        { "caf\xc3\xa9", "caf\xc3\xa9" },
        { "caf\xe9", "caf_" }, /* Latin-1, whose last byte could begin a character of UTF-8 */
        { "\xe9t\xe9", "_t_" },
        { "a\xed\xa0\x80", "a___" }, /* a surrogate */
        { "\x1b[31m", "_[31m" },
        { LONG "\xc3\xa9", LONG }, /* cut inside the character */
        { LONG "xyz", LONG "x" },
        { "", "of-the-file" },
    };
#undef LONG
    struct source s = { .path = "a/of-the-file.gguf" };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char name[64] = "";

        s.name = (struct source_text){ (const uint8_t *)rows[i].given, strlen(rows[i].given) };
        model_name(&s, name);
        OK(strcmp(name, rows[i].expected) == 0, "name %zu is %s", i, rows[i].expected);
    }
}

int main(void)
{
    static const char *const names[] = { "nmse",          "a",          "b",
                                         "small.bin",     "tok300.bin", "other.bin",
                                         "tokenizer.bin", NULL };

    if (!OK(folder_make(), "the test has a folder for files")) {
        return tap_done();
    }
    test_names();
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
