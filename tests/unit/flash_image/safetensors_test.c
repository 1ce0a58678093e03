/* Hugging Face folders: the contents that safetensors files and their index may have, and those
 * that are refused, each with an error message that names the field or the tensor. */
#include "flash_image/hf/hf.h"
#include "flash_image/hf/safetensors.h"
#include "tests/unit/model_files.h"
#include "tests/unit/tap.h"

static struct source source;

static void begin(const char *path)
{
    memset(&source, 0, sizeof source);
    source.path = path;
}

/* Writes a file with this header and n bytes of data. */
static struct bytes file_of(const char *header, size_t n)
{
    struct bytes b = { NULL, 0, 0 };

    bytes_u64(&b, strlen(header));
    bytes_add(&b, header, strlen(header));
    for (size_t i = 0; i < n; i++) {
        bytes_add(&b, "", 1);
    }
    return b;
}

/* Reads a copy of exactly its size, so that ASan sees a read beyond it. */
static enum err parse(const struct bytes *b, struct safetensors *f)
{
    uint8_t *copy = malloc(b->n != 0 ? b->n : 1);
    enum err e;

    if (copy == NULL) {
        abort();
    }
    if (b->n != 0) {
        memcpy(copy, b->data, b->n);
    }
    begin("file");
    e = safetensors_parse(&source, copy, b->n, f);
    free(copy);
    return e;
}

static void refuse_file(struct bytes b, enum err expected, const char *words)
{
    struct safetensors f;
    enum err e = parse(&b, &f);

    OK(e == expected && strstr(source.error_message, words) != NULL, "the file is refused (%d): %s",
       (int)e, source.error_message);
    safetensors_free(&f);
    bytes_free(&b);
}

static void refuse_header(const char *header, const char *words)
{
    refuse_file(file_of(header, 64), ERR_BAD_MODEL, words);
}

#define ENTRY(shape, offsets) \
    "{\"a.b\":{\"dtype\":\"F32\",\"shape\":" shape ",\"data_offsets\":" offsets "}}"

static void test_header(void)
{
    static const char two[] = "{\"__metadata__\":{\"format\":\"pt\"},"
                              "\"b\":{\"dtype\":\"BF16\",\"shape\":[4],\"data_offsets\":[24,32]},"
                              "\"a\":{\"dtype\":\"F32\",\"shape\":[2,3],"
                              "\"data_offsets\":[0,24]}}  ";
    struct bytes b = file_of(two, 32);
    struct source_tensor t;
    struct safetensors f;

    OK(parse(&b, &f) == ERR_OK && f.n_tensors == 2 && strcmp(f.tensors[0].name, "a") == 0 &&
           f.tensors[0].n_dims == 2 && f.tensors[1].first == 24,
       "two tensors are found in the order of their places %s", source.error_message);
    OK(safetensors_as_source(&source, &f.tensors[0], &t) == ERR_OK && t.rows == 2 && t.cols == 3 &&
           t.type == SOURCE_F32,
       "a matrix is found");
    OK(safetensors_as_source(&source, &f.tensors[1], &t) == ERR_OK && t.rows == 1 && t.cols == 4 &&
           t.type == SOURCE_BF16,
       "a vector becomes one row");
    safetensors_free(&f);
    bytes_free(&b);
}

static void test_hostile(void)
{
    struct bytes huge = file_of(ENTRY("[4]", "[0,16]"), 16);
    uint64_t size = UINT64_C(1) << 63;

    refuse_header(ENTRY("[4]", "[0,17]"), "contradict its \"shape\"");
    refuse_header(ENTRY("[4]", "[60,76]"), "beyond the end of the file");
    refuse_header(ENTRY("[4]", "[9007199254740992,9007199254740992]"),
                  "beyond the end of the file");
    refuse_header(ENTRY("[4]", "[16,0]"), "\"data_offsets\"");
    refuse_header(ENTRY("[4]", "[-16,0]"), "\"data_offsets\"");
    refuse_header(ENTRY("[4]", "[0.5,16.5]"), "\"data_offsets\"");
    refuse_header(ENTRY("[4]", "[0]"), "\"data_offsets\"");
    refuse_header(ENTRY("[4]", "[0,16,16]"), "\"data_offsets\"");
    refuse_header(ENTRY("[4]", "null"), "\"data_offsets\"");
    refuse_header(ENTRY("[0,4]", "[0,0]"), "impossible dimensions");
    refuse_header(ENTRY("[9223372036854775808]", "[0,16]"), "impossible dimensions");
    refuse_header(ENTRY("[4294967296,4294967296]", "[0,0]"), "impossible dimensions");
    refuse_header(ENTRY("[1,1,1,1,1,1,1,1,4]", "[0,16]"), "impossible dimensions");
    refuse_header(ENTRY("\"4\"", "[0,16]"), "no \"shape\"");
    refuse_header("{\"a\":{\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[0,16]},"
                  "\"b\":{\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[12,28]}}",
                  "a and b overlap");
    refuse_header("[1]", "not a JSON object");
    refuse_header("{\"a\":", "not a JSON object");
    refuse_file(file_of("{\"a\":{\"dtype\":\"I4\"}}", 0), ERR_UNSUPPORTED, "the dtype \"I4\"");
    refuse_file(file_of("", 0), ERR_BAD_MODEL, "not a JSON object");
    memcpy(huge.data, &size, 8);
    refuse_file(huge, ERR_BAD_MODEL, "its header needs 9223372036854775808 bytes");
}

static void test_cut(void)
{
    struct bytes whole = file_of(ENTRY("[4]", "[0,16]"), 16);
    unsigned passed = 0;

    for (size_t n = 0; n < whole.n; n++) {
        struct bytes cut = { whole.data, n, n };
        struct safetensors f = { NULL, NULL, 0 };

        passed += parse(&cut, &f) == ERR_OK || source.error_message[0] == '\0';
        safetensors_free(&f);
    }
    OK(passed == 0, "a file cut at any length is refused");
    bytes_free(&whole);
}

/* ---- whole folders --------------------------------------------------------------------------- */

struct named {
    const char *name, *dtype, *shape;
    size_t elements;
};

/* A llama of one layer: width 8, hidden 12, 2 heads of 4, 1 kv head, 11 tokens. */
static const struct named llama[] = {
    { "model.embed_tokens.weight", "F32", "[11,8]", 88 },
    { "model.norm.weight", "F32", "[8]", 8 },
    { "model.layers.0.input_layernorm.weight", "F32", "[8]", 8 },
    { "model.layers.0.post_attention_layernorm.weight", "F32", "[8]", 8 },
    { "model.layers.0.self_attn.q_proj.weight", "F32", "[8,8]", 64 },
    { "model.layers.0.self_attn.k_proj.weight", "F32", "[4,8]", 32 },
    { "model.layers.0.self_attn.v_proj.weight", "F32", "[4,8]", 32 },
    { "model.layers.0.self_attn.o_proj.weight", "F32", "[8,8]", 64 },
    { "model.layers.0.mlp.gate_proj.weight", "F32", "[12,8]", 96 },
    { "model.layers.0.mlp.up_proj.weight", "F32", "[12,8]", 96 },
    { "model.layers.0.mlp.down_proj.weight", "F32", "[8,12]", 96 },
};
enum { N_LLAMA = sizeof llama / sizeof llama[0] };

/* Writes those tensors from `first` to `last`, and `more` if it has a name. */
static void save_weights(const char *name, size_t first, size_t last, struct named more)
{
    static char header[8192];
    size_t used = 0, at = 0;

    for (size_t i = first; i <= last; i++) {
        const struct named *n = i < last ? &llama[i] : &more;
        size_t width = strcmp(n->dtype != NULL ? n->dtype : "", "F32") == 0 ? 4 : 1;

        if (n->name == NULL) {
            continue;
        }
        used += (size_t)snprintf(header + used, sizeof header - used,
                                 "%s\"%s\":{\"dtype\":\"%s\","
                                 "\"shape\":%s,\"data_offsets\":[%zu,%zu]}",
                                 used == 0 ? "{" : ",", n->name, n->dtype, n->shape, at,
                                 at + n->elements * width);
        at += n->elements * width;
    }
    snprintf(header + used, sizeof header - used, "}");
    save(name, file_of(header, at));
}

static void save_text(const char *name, const char *text)
{
    struct bytes b = { NULL, 0, 0 };

    bytes_add(&b, text, strlen(text));
    save(name, b);
}

static const struct named nothing = { NULL, NULL, NULL, 0 };

static enum err open_folder(void)
{
    struct hf_model *m;
    enum err e;

    begin(folder);
    e = hf_open(&m, &source, false);
    hf_close(m);
    return e;
}

static void refuse_tensor(struct named more, size_t left_out, enum err expected, const char *words)
{
    enum err e;

    save_weights("model.safetensors", 0, N_LLAMA - left_out, more);
    e = open_folder();
    OK(e == expected && strstr(source.error_message, words) != NULL,
       "the folder is refused (%d): %s", (int)e, source.error_message);
}

static void test_tensors(void)
{
    save_text("config.json",
              "{\"model_type\":\"llama\",\"hidden_size\":8,\"intermediate_size\":12,"
              "\"num_hidden_layers\":1,\"num_attention_heads\":2,\"num_key_value_heads\":1,"
              "\"vocab_size\":11,\"max_position_embeddings\":16}");
    save_weights("model.safetensors", 0, N_LLAMA, nothing);
    OK(open_folder() == ERR_OK && source.params.tied == 1,
       "the output is tied if there is no lm_head %s", source.error_message);
    OK(source.vocab.layout == SOURCE_NO_VOCAB && source.vocab.n_tokens == 11,
       "a model without a tokenizer is read");
    save_weights("model.safetensors", 0, N_LLAMA,
                 (struct named){ "model.layers.0.self_attn.rotary_emb.inv_freq", "F32", "[2]", 2 });
    OK(open_folder() == ERR_OK, "frequencies of rotation are ignored %s", source.error_message);
    refuse_tensor((struct named){ "model.layers.0.mlp.gate.weight", "F32", "[2,8]", 16 }, 0,
                  ERR_UNSUPPORTED, "there is a tensor router");
    refuse_tensor((struct named){ "model.layers.0.self_attn.q_norm.weight", "F32", "[4]", 4 }, 0,
                  ERR_UNSUPPORTED, "attn_q_norm");
    refuse_tensor((struct named){ "model.layers.1.input_layernorm.weight", "F32", "[8]", 8 }, 0,
                  ERR_BAD_MODEL, "tensors of layer 1, but the model has 1 layer");
    refuse_tensor((struct named){ "model.layers.999999999999.x", "F32", "[8]", 8 }, 0,
                  ERR_UNSUPPORTED, "is not part of a model");
    refuse_tensor((struct named){ "model.norm.weight", "F32", "[8]", 8 }, 0, ERR_BAD_MODEL,
                  "model.norm.weight appears twice");
    refuse_tensor(nothing, 1, ERR_BAD_MODEL, "ffn_down of layer 0 is missing");
    refuse_tensor((struct named){ "model.layers.0.mlp.down_proj.weight", "F32", "[12,8]", 96 }, 1,
                  ERR_BAD_MODEL, "ffn_down of layer 0 has 12 rows of 8");
    refuse_tensor((struct named){ "model.layers.0.mlp.down_proj.weight", "F32", "[96]", 96 }, 1,
                  ERR_BAD_MODEL, "has 1 dimension, it should have 2");
    refuse_tensor((struct named){ "model.layers.0.mlp.down_proj.weight", "I8", "[8,12]", 96 }, 1,
                  ERR_UNSUPPORTED, "down_proj.weight is I8");
    refuse_tensor((struct named){ "model.layers.0.mlp.gate_up_proj.weight", "F32", "[25,8]", 200 },
                  0, ERR_BAD_MODEL, "has 25 rows, its 2 parts demand 24");
    refuse_tensor((struct named){ "model.layers.0.mlp.gate_up_proj.weight", "F32", "[24,8]", 192 },
                  0, ERR_BAD_MODEL, "gate_up_proj.weight appears twice");
}

static void refuse_index(const char *text, enum err expected, const char *words)
{
    enum err e;

    save_text("model.safetensors.index.json", text);
    e = open_folder();
    OK(e == expected && strstr(source.error_message, words) != NULL,
       "the index is refused (%d): %s", (int)e, source.error_message);
}

static void test_index(void)
{
    unlink(folder_path("model.safetensors"));
    OK(open_folder() == ERR_NOT_FOUND && strstr(source.error_message, "index.json") != NULL,
       "a folder without weights is refused: %s", source.error_message);
    save_weights("a.safetensors", 0, 5, nothing);
    save_weights("b.safetensors", 5, N_LLAMA, nothing);
    save_text("model.safetensors.index.json", "{\"weight_map\":{\"x\":\"a.safetensors\","
                                              "\"y\":\"b.safetensors\",\"z\":\"a.safetensors\"}}");
    OK(open_folder() == ERR_OK, "two files are read by an index %s", source.error_message);
    refuse_index("{\"weight_map\":{\"x\":\"a.safetensors\"}}", ERR_BAD_MODEL,
                 "attn_k of layer 0 is missing");
    refuse_index("{\"weight_map\":{\"x\":\"c.safetensors\"}}", ERR_NOT_FOUND,
                 "c.safetensors: no such file");
    refuse_index("{\"weight_map\":{\"x\":\"../c.safetensors\"}}", ERR_BAD_MODEL, "\"weight_map\"");
    refuse_index("{\"weight_map\":{\"x\":7}}", ERR_BAD_MODEL, "\"weight_map\"");
    refuse_index("{}", ERR_BAD_MODEL, "\"weight_map\" is missing");
    refuse_index("{\"weight_map\":", ERR_BAD_MODEL, "not a JSON object");
    unlink(folder_path("config.json"));
    OK(open_folder() == ERR_NOT_FOUND && strstr(source.error_message, "config.json: no such file"),
       "a folder without config.json is refused: %s", source.error_message);
}

int main(void)
{
    static const char *const names[] = { "config.json",
                                         "model.safetensors",
                                         "a.safetensors",
                                         "b.safetensors",
                                         "model.safetensors.index.json",
                                         NULL };

    test_header();
    test_hostile();
    test_cut();
    if (OK(folder_make(), "the test has a folder for files")) {
        test_tensors();
        test_index();
        folder_remove(names);
    }
    return tap_done();
}
