/* GGUF: a small file written here packs as it should, and every unknown change, every cut and every
 * absurd number is refused by an error message. */
#include "flash_image/gguf/gguf.h"
#include "flash_image/pack/ingot_file.h"
#include "flash_image/pack/pack.h"
#include "flash_image/source/source.h"
#include "tests/unit/model_files.h"
#include "tests/unit/tap.h"

static char error_message[512];

/* Packs small.gguf, with its own types, to `packed`. */
static enum err pack_small(void)
{
    struct pack_options o = { .quiet = true };

    o.input = folder_path("small.gguf");
    o.output = folder_path("packed");
    error_message[0] = '\0';
    return pack_file(&o, error_message, sizeof error_message);
}

enum { GGUF_U32 = 4, GGUF_F32 = 6, GGUF_STRING = 8, GGUF_ARRAY = 9, GGUF_I32 = 5 };

static void add_u32(struct bytes *b, const char *key, uint32_t value)
{
    bytes_text(b, key);
    bytes_u32(b, GGUF_U32);
    bytes_u32(b, value);
}

static void add_string(struct bytes *b, const char *key, const char *value)
{
    bytes_text(b, key);
    bytes_u32(b, GGUF_STRING);
    bytes_text(b, value);
}

static void add_array(struct bytes *b, const char *key, uint32_t element, uint64_t n)
{
    bytes_text(b, key);
    bytes_u32(b, GGUF_ARRAY);
    bytes_u32(b, element);
    bytes_u64(b, n);
}

static void add_tensor(struct bytes *b, const char *name, uint64_t cols, uint64_t rows,
                       uint32_t type, uint64_t offset)
{
    bytes_text(b, name);
    bytes_u32(b, rows == 0 ? 1 : 2);
    bytes_u64(b, cols);
    if (rows != 0) {
        bytes_u64(b, rows);
    }
    bytes_u32(b, type);
    bytes_u64(b, offset);
}

/* The other values of a made GGUF. */
struct change {
    const char *extra_key; /* a u32 more, NULL: none */
    uint32_t extra_value;
    const char *architecture, *chat_template, *scaling;
    uint32_t matrix_type;
    const char *extra_tensor;
};

static void add_vocab(struct bytes *b)
{
    static const char *const texts[] = { "<unk>",
                                         "<s>",
                                         "</s>",
                                         "<|im_start|>",
                                         "<|im_end|>",
                                         "<0x0A>",
                                         "\xe2\x96\x81"
                                         "a",
                                         "b",
                                         "b",
                                         "" };
    static const uint32_t types[] = { 2, 3, 3, 3, 4, 6, 1, 1, 1, 1 };

    add_string(b, "tokenizer.ggml.model", "llama");
    add_array(b, "tokenizer.ggml.tokens", GGUF_STRING, 10);
    for (size_t i = 0; i < 10; i++) {
        bytes_text(b, texts[i]);
    }
    add_array(b, "tokenizer.ggml.scores", GGUF_F32, 10);
    for (size_t i = 0; i < 10; i++) {
        bytes_f32(b, -(float)i);
    }
    add_array(b, "tokenizer.ggml.token_type", GGUF_I32, 10);
    bytes_add(b, types, sizeof types);
    add_u32(b, "tokenizer.ggml.bos_token_id", 1);
    add_u32(b, "tokenizer.ggml.eos_token_id", 2);
}

enum { MATRICES = 1664 }; /* where they begin: after the embedding and three norms */

/* Returns the bytes of 32 rows of 32 columns. */
static size_t matrix_bytes(uint32_t type)
{
    return type == 8 ? 32 * 34 : type == 0 ? 32 * 32 * 4 : 32 * 18;
}

/* Writes the embedding and norms as floats, seven matrices, and a row of floats for one tensor
 * more. */
static void add_data(struct bytes *b, uint32_t type, bool extra)
{
    uint32_t seed = 11;

    for (size_t i = 0; i < MATRICES / 4; i++) {
        bytes_f32(b, next_weight(&seed));
    }
    for (size_t i = 0; type == 0 && i < 7 * 32 * 32; i++) {
        bytes_f32(b, next_weight(&seed));
    }
    for (size_t row = 0; type != 0 && row < 7 * 32; row++) {
        size_t block = matrix_bytes(type) / 32;
        uint8_t bytes[34] = { (uint8_t)row, 0x2c }; /* fp16 scales from 2^-4 */

        for (size_t i = 2; i < block; i++) {
            bytes[i] = (uint8_t)(next_weight(&seed) * 128.0f);
        }
        bytes_add(b, bytes, block);
    }
    for (size_t i = 0; extra && i < 32; i++) {
        bytes_f32(b, 1.0f);
    }
}

static const struct {
    const char *key;
    uint32_t value;
} sizes[] = {
    { "llama.context_length", 64 },      { "llama.embedding_length", 32 },
    { "llama.block_count", 1 },          { "llama.feed_forward_length", 32 },
    { "llama.attention.head_count", 2 },
};
enum { N_SIZES = sizeof sizes / sizeof sizes[0] };

/* Writes all but the one that the change replaces; returns how many. */
static uint32_t add_sizes(struct bytes *b, const struct change *c)
{
    uint32_t n = 0;

    for (size_t i = 0; i < N_SIZES; i++) {
        if (c->extra_key == NULL || strcmp(c->extra_key, sizes[i].key) != 0) {
            add_u32(b, sizes[i].key, sizes[i].value);
            n++;
        }
    }
    return n;
}

/* Writes a llama of one layer: width 32, hidden 32, 2 heads, 10 tokens, tied. */
static struct bytes gguf_make(const struct change *c)
{
    static const char *const names[] = { "attn_q",   "attn_k", "attn_v",  "attn_output",
                                         "ffn_gate", "ffn_up", "ffn_down" };
    struct bytes b = { NULL, 0, 0 };
    struct bytes added = { NULL, 0, 0 };
    uint64_t values = 8u + add_sizes(&added, c) + (c->extra_key != NULL) +
                      (c->chat_template != NULL) + (c->scaling != NULL);

    bytes_add(&b, "GGUF", 4);
    bytes_u32(&b, 3);
    bytes_u64(&b, 11u + (c->extra_tensor != NULL));
    bytes_u64(&b, values);
    add_vocab(&b);
    add_string(&b, "general.architecture", c->architecture != NULL ? c->architecture : "llama");
    bytes_add(&b, added.data, added.n);
    bytes_free(&added);
    bytes_text(&b, "llama.attention.layer_norm_rms_epsilon");
    bytes_u32(&b, GGUF_F32);
    bytes_f32(&b, 1e-5f);
    if (c->extra_key != NULL) {
        add_u32(&b, c->extra_key, c->extra_value);
    }
    if (c->chat_template != NULL) {
        add_string(&b, "tokenizer.chat_template", c->chat_template);
    }
    if (c->scaling != NULL) {
        add_string(&b, "llama.rope.scaling.type", c->scaling);
    }
    add_tensor(&b, "token_embd.weight", 32, 10, 0, 0);
    add_tensor(&b, "output_norm.weight", 32, 0, 0, 1280);
    add_tensor(&b, "blk.0.attn_norm.weight", 32, 0, 0, 1408);
    add_tensor(&b, "blk.0.ffn_norm.weight", 32, 0, 0, 1536);
    for (size_t i = 0; i < 7; i++) {
        char name[64];

        snprintf(name, sizeof name, "blk.0.%s.weight", names[i]);
        add_tensor(&b, name, 32, 32, c->matrix_type, MATRICES + i * matrix_bytes(c->matrix_type));
    }
    if (c->extra_tensor != NULL) {
        add_tensor(&b, c->extra_tensor, 32, 0, 0, MATRICES + 7 * matrix_bytes(c->matrix_type));
    }
    while (b.n % 32 != 0) {
        bytes_add(&b, "", 1);
    }
    add_data(&b, c->matrix_type, c->extra_tensor != NULL);
    return b;
}

static void refuse_gguf(struct change c, enum err expected, const char *words)
{
    enum err e;

    save("small.gguf", gguf_make(&c));
    e = pack_small();
    OK(e == expected && strstr(error_message, words) != NULL, "the GGUF is refused (%d): %s",
       (int)e, error_message);
}

static void refuse_value(const char *key, uint32_t value, enum err expected, const char *words)
{
    refuse_gguf((struct change){ .extra_key = key, .extra_value = value }, expected, words);
}

static void test_gguf_refused(void)
{
    refuse_gguf((struct change){ .architecture = "mamba" }, ERR_UNSUPPORTED,
                "architecture 'mamba' is not supported; supported: llama, ");
    refuse_gguf((struct change){ .scaling = "su" }, ERR_UNSUPPORTED, "rope scaling 'su'");
    refuse_gguf((struct change){ .matrix_type = 15 }, ERR_UNSUPPORTED, "is Q8_K (type 15)");
    refuse_gguf((struct change){ .matrix_type = 14 }, ERR_BAD_MODEL,
                "32 columns, not a multiple of 256");
    refuse_gguf((struct change){ .matrix_type = 99 }, ERR_UNSUPPORTED,
                "is a type of a fork of llama.cpp (type 99)");
    refuse_gguf(
        (struct change){ .matrix_type = 60 }, ERR_UNSUPPORTED,
        "is a type newer than this program (type 60), which is not supported: take the Q8_0");
    refuse_gguf((struct change){ .matrix_type = 16 }, ERR_BAD_MODEL,
                "32 columns, not a multiple of 256");
    refuse_gguf((struct change){ .matrix_type = 31 }, ERR_UNSUPPORTED,
                "is Q4_0_4_4 (type 31), which is not supported: take the Q4_0 file");
    refuse_gguf((struct change){ .matrix_type = 40 }, ERR_BAD_MODEL,
                "32 columns, not a multiple of 64");
    refuse_gguf((struct change){ .matrix_type = 26 }, ERR_UNSUPPORTED,
                "is I32 (type 26), which is not supported: weights are not whole numbers");
    refuse_gguf((struct change){ .extra_tensor = "rope_freqs.weight" }, ERR_BAD_MODEL,
                "rope scaling has 32 factors, must be 8");
    refuse_gguf((struct change){ .extra_tensor = "rope_factors_long.weight" }, ERR_BAD_MODEL,
                "is missing");
    refuse_gguf((struct change){ .extra_tensor = "blk.0.attn_q.bias" }, ERR_BAD_MODEL,
                "attn_k_bias of layer 0 is missing");
    refuse_gguf((struct change){ .extra_tensor = "blk.0.attn_q_norm.weight" }, ERR_UNSUPPORTED,
                "attn_q_norm");
    refuse_gguf((struct change){ .extra_tensor = "blk.0.ssm_a" }, ERR_UNSUPPORTED,
                "a tensor ssm_a, which this family does not have");
    refuse_gguf((struct change){ .extra_tensor = "blk.0.ssm_x" }, ERR_UNSUPPORTED,
                "the tensor blk.0.ssm_x is not known in the architecture 'llama'");
    refuse_gguf((struct change){ .extra_tensor = "blk.1.ffn_norm.weight" }, ERR_BAD_MODEL,
                "tensors of layer 1, but the model has 1 layer");
    refuse_gguf((struct change){ .extra_tensor = "blk.0.ffn_norm.weight" }, ERR_BAD_MODEL,
                "appears twice");
    refuse_value("llama.expert_count", 8, ERR_UNSUPPORTED, "expert_used_count is 0");
    refuse_value("llama.rope.dimension_count", 18, ERR_UNSUPPORTED, "rope_dims is 18");
    refuse_value("llama.attention.causal", 0, ERR_UNSUPPORTED, "does not generate");
    refuse_value("llama.attention.value_length", 8, ERR_UNSUPPORTED, "value_length is 8");
    refuse_value("llama.some.feature", 1, ERR_UNSUPPORTED, "sets llama.some.feature");
    refuse_value("llama.attention.head_count", 3, ERR_BAD_MODEL, "head_count is 3");
    refuse_value("llama.attention.head_count", 0, ERR_BAD_MODEL, "head_count is 0");
    refuse_value("llama.block_count", 0xffffffff, ERR_UNSUPPORTED, "n_layers");
    refuse_value("llama.block_count", 2, ERR_BAD_MODEL, "attn_norm of layer 1 is missing");
    refuse_value("llama.feed_forward_length", 64, ERR_BAD_MODEL,
                 "ffn_gate of layer 0 has 32 rows of 32");
    refuse_value("general.alignment", 24, ERR_BAD_MODEL, "general.alignment");
    refuse_value("general.name", 1, ERR_UNSUPPORTED, "general.name is not a text");
}

/* An array of 2^62 numbers of four bytes: the product is 2^64, which must not count as nothing. */
static void test_gguf_array_count(void)
{
    static const char key[] = "tokenizer.ggml.token_type";
    const struct change none = { .extra_key = NULL };
    struct bytes b = gguf_make(&none);
    uint8_t *at = memmem(b.data, b.n, key, sizeof key - 1);
    uint64_t huge = 1ull << 62;
    enum err e;

    memcpy(at + sizeof key - 1 + 8, &huge, 8); /* after the types of value and element */
    save("small.gguf", b);
    e = pack_small();
    OK(e == ERR_BAD_MODEL && strstr(error_message, key) != NULL,
       "a length of 2^62 is refused (%d): %s", (int)e, error_message);
}

/* MLX writes the tokens' types without a sign. */
static void test_gguf_unsigned_types(void)
{
    static const char key[] = "tokenizer.ggml.token_type";
    const struct change none = { .extra_key = NULL };
    struct bytes b = gguf_make(&none);
    uint8_t *at = memmem(b.data, b.n, key, sizeof key - 1);

    at[sizeof key - 1 + 4] = GGUF_U32; /* the elements' type, after the value's */
    save("small.gguf", b);
    OK(pack_small() == ERR_OK, "token types without a sign: %s", error_message);
}

/* Tries every cut, from a copy of exactly that size, so that ASan sees a read beyond it. */
static void test_gguf_cut(void)
{
    static struct source s;
    const struct change none = { .extra_key = NULL };
    struct bytes b = gguf_make(&none);
    unsigned passed = 0;

    for (size_t n = 0; n < b.n; n += n < 2500 ? 1 : 211) {
        uint8_t *copy = malloc(n != 0 ? n : 1);

        if (copy == NULL) {
            abort();
        }
        memcpy(copy, b.data, n);
        memset(&s, 0, sizeof s);
        s.path = "cut";
        passed += gguf_parse(&s, copy, n, false) == ERR_OK || s.error_message[0] == '\0';
        free(copy);
    }
    OK(passed == 0, "a GGUF cut at any length is refused");
    memset(&s, 0, sizeof s);
    s.path = "whole";
    OK(gguf_parse(&s, b.data, b.n, false) == ERR_OK,
       "a whole GGUF is not refused as one that is %s", s.error_message);
    bytes_free(&b);
}

/* Puts 2^63 and other numbers in place of every eight bytes at the file's front. Some fall on text
 * or scores, where they are harmless; none may crash. */
static void test_gguf_huge(void)
{
    static const uint64_t huge[] = { 1ull << 63, UINT64_MAX, 1ull << 32 };
    static struct source s;
    const struct change none = { .extra_key = NULL };
    struct bytes b = gguf_make(&none);
    unsigned refused = 0;

    for (size_t at = 0; at + 8 <= b.n && at < 2200; at++) {
        for (size_t i = 0; i < 3; i++) {
            uint8_t kept[8];

            memcpy(kept, b.data + at, 8);
            memcpy(b.data + at, &huge[i], 8);
            memset(&s, 0, sizeof s);
            s.path = "huge";
            refused += gguf_parse(&s, b.data, b.n, false) != ERR_OK;
            memcpy(b.data + at, kept, 8);
        }
    }
    OK(refused > 3000, "2^63, 2^64-1 and 2^32 are refused at any place: %u times", refused);
    bytes_free(&b);
}

static void test_gguf_counts(void)
{
    static const struct {
        size_t at;
        const char *words;
    } counts[] = {
        { 8, "claims" },
        { 16, "claims" },
        { 24, "value 0" },
    };
    const struct change none = { .extra_key = NULL };

    for (size_t i = 0; i < 3; i++) {
        struct bytes b = gguf_make(&none);
        uint64_t huge = 1ull << 63;
        enum err e;

        memcpy(b.data + counts[i].at, &huge, 8);
        save("small.gguf", b);
        e = pack_small();
        OK(e == ERR_BAD_MODEL && strstr(error_message, counts[i].words) != NULL,
           "a count of 2^63 is refused: %s", error_message);
    }
}

/* Quantized weights keep every bit: FORMAT.md's places against the file's own blocks. */
static void test_copied(uint32_t type, size_t block_bytes)
{
    struct change c = { .matrix_type = type };
    struct bytes model = gguf_make(&c);
    const uint8_t *blocks = model.data + model.n - 32 * block_bytes;
    const struct ingot_tensor *t;
    const uint8_t *w;
    struct ingot_file f;
    bool equal = true;

    bytes_save(&model, folder_path("small.gguf"));
    if (!OK(pack_small() == ERR_OK && ingot_file_open(&f, folder_path("packed"), error_message,
                                                      sizeof error_message) == ERR_OK,
            "a GGUF is packed with GGML type %u %s", type, error_message)) {
        bytes_free(&model);
        return;
    }
    t = image_tensor(&f.image, INGOT_FFN_DOWN, 0);
    w = f.data + f.image.segments[1].offset + t->offset;
    for (size_t row = 0; row < 32; row++) {
        const uint8_t *group = w + row / 8 * 8 * block_bytes;
        const uint8_t *block = blocks + row * block_bytes;

        equal = equal && memcmp(group + row % 8 * 2, block, 2) == 0;
        for (size_t i = 0; i < block_bytes - 2; i++) {
            equal = equal && group[16 + i / 4 * 32 + row % 8 * 4 + i % 4] == block[2 + i];
        }
    }
    OK(equal && t->bytes == 32 * block_bytes, "scales and quants keep their bits");
    ingot_file_close(&f);
    model.data[model.n - block_bytes + 1] = 0x7c; /* an infinite scale */
    save("small.gguf", model);
    OK(pack_small() == ERR_BAD_MODEL && strstr(error_message, "not finite") != NULL,
       "a scale that is not finite is refused: %s", error_message);
}

static const struct ingot_tokenizer *tokenizer_of(const struct ingot_file *f)
{
    return (const void *)f->image.tokenizer;
}

static void test_gguf_vocab(const struct ingot_file *f)
{
    const struct ingot_tokenizer *t = tokenizer_of(f);
    const uint32_t *sorted = (const void *)(f->image.tokenizer + t->sorted);
    const uint32_t *byte_tokens = (const void *)(f->image.tokenizer + t->byte_tokens);
    const uint32_t *offsets = (const void *)(f->image.tokenizer + t->text_offsets);

    OK(t->bos == 1 && t->eos == 2 && t->unk == INGOT_NO_TOKEN && t->flags == 3,
       "special tokens are read");
    OK(byte_tokens[10] == 5 && byte_tokens[11] == INGOT_NO_TOKEN, "byte tokens are read");
    OK(offsets[7] - offsets[6] == 2 &&
           memcmp(f->image.tokenizer + t->text + offsets[6], " a", 2) == 0,
       "U+2581 is a space");
    /* " a" (6), "b" (7; 8 is equal, 9 empty); "<|im_end|>" (4, user) became a control token */
    OK(t->n_sorted == 2 && sorted[0] == 6 && sorted[1] == 7, "texts are sorted");
    OK(f->image.tokenizer[t->types + 4] == INGOT_TOKEN_CONTROL,
       "the end of a turn is a control token, whatever the file calls it");
}

static void test_chat_template(const char *jinja, const char *user_prefix, uint32_t eot)
{
    struct change c = { .chat_template = jinja };
    struct ingot_file f;
    uint32_t bytes = 0;
    const char *text;

    save("small.gguf", gguf_make(&c));
    if (!OK(pack_small() == ERR_OK && ingot_file_open(&f, folder_path("packed"), error_message,
                                                      sizeof error_message) == ERR_OK,
            "a small GGUF is packed %s", error_message)) {
        return;
    }
    text = image_chat_string(&f.image, INGOT_CHAT_USER_PREFIX, &bytes);
    OK(bytes == strlen(user_prefix) && memcmp(text, user_prefix, bytes) == 0,
       "the template's user prefix has %u bytes", bytes);
    OK(tokenizer_of(&f)->eot == eot, "the template's turn ends with token %d", (int)eot);
    if (eot == INGOT_NO_TOKEN && bytes == 0) {
        test_gguf_vocab(&f);
        OK(f.image.header->params.tied == 1, "an absent output is tied");
    }
    ingot_file_close(&f);
}

static void test_chat_templates(void)
{
    test_chat_template("{{ messages }}", "", INGOT_NO_TOKEN);
    test_chat_template(
        "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>{% endfor %}"
        "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}",
        "<|im_start|>user\n", 4);
    test_chat_template("{% for m in messages %}<|{{ m.role }}|>\n{{ m['content'] + eos_token }}"
                       "{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}",
                       "<|user|>\n", INGOT_NO_TOKEN);
}

int main(void)
{
    static const char *const names[] = { "small.gguf", "packed", NULL };

    if (!OK(folder_make(), "the test has a folder for files")) {
        return tap_done();
    }
    test_chat_templates();
    test_copied(2, 18);
    test_copied(8, 34);
    test_gguf_refused();
    test_gguf_counts();
    test_gguf_array_count();
    test_gguf_unsigned_types();
    test_gguf_cut();
    test_gguf_huge();
    folder_remove(names);
    return tap_done();
}
