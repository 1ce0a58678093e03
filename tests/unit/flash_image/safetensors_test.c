/* Hugging Face folders: what safetensors files and config.json may say, and what is refused, each
 * with a sentence that names the field or the tensor. */
#include <math.h>

#include "flash_image/hf/hf.h"
#include "flash_image/hf/hf_config.h"
#include "flash_image/hf/safetensors.h"
#include "tests/unit/model_files.h"
#include "tests/unit/tap.h"

static struct source source;

static void begin(const char *path)
{
    memset(&source, 0, sizeof source);
    source.path = path;
}

/* A file with this header and n bytes of data. */
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

/* From a copy of just its size, so that ASan sees a step beyond it. */
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

    OK(e == expected && strstr(source.problem, words) != NULL, "refused (%d): %s", (int)e,
       source.problem);
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
       "two tensors, by their places %s", source.problem);
    OK(safetensors_as_source(&source, &f.tensors[0], &t) == ERR_OK && t.rows == 2 && t.cols == 3 &&
           t.type == SOURCE_F32,
       "a matrix");
    OK(safetensors_as_source(&source, &f.tensors[1], &t) == ERR_OK && t.rows == 1 && t.cols == 4 &&
           t.type == SOURCE_BF16,
       "a vector is one row");
    safetensors_free(&f);
    bytes_free(&b);
}

static void test_hostile(void)
{
    struct bytes huge = file_of(ENTRY("[4]", "[0,16]"), 16);
    uint64_t size = UINT64_C(1) << 63;

    refuse_header(ENTRY("[4]", "[0,17]"), "than its \"shape\" demands");
    refuse_header(ENTRY("[4]", "[60,76]"), "beyond the file");
    refuse_header(ENTRY("[4]", "[9007199254740992,9007199254740992]"), "beyond the file");
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
                  "\"b\":{\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[8,24]}}",
                  "a and b overlap");
    refuse_header("[1]", "no JSON object");
    refuse_header("{\"a\":", "no JSON object");
    refuse_file(file_of("{\"a\":{\"dtype\":\"I4\"}}", 0), ERR_UNSUPPORTED, "the dtype \"I4\"");
    refuse_file(file_of("", 0), ERR_BAD_MODEL, "no JSON object");
    memcpy(huge.data, &size, 8);
    refuse_file(huge, ERR_BAD_MODEL, "its header wants 9223372036854775808 bytes");
}

static void test_cut(void)
{
    struct bytes whole = file_of(ENTRY("[4]", "[0,16]"), 16);
    unsigned passed = 0;

    for (size_t n = 0; n < whole.n; n++) {
        struct bytes cut = { whole.data, n, n };
        struct safetensors f = { NULL, NULL, 0 };

        passed += parse(&cut, &f) == ERR_OK || source.problem[0] == '\0';
        safetensors_free(&f);
    }
    OK(passed == 0, "a file cut at any length is refused");
    bytes_free(&whole);
}

/* ---- config.json ----------------------------------------------------------------------------- */

static char config[4096];

/* A llama with other fields in place of its own or beside them. */
static const char *config_of(const char *more)
{
    static const char *const fields[] = {
        "\"architectures\":[\"LlamaForCausalLM\"]",
        "\"model_type\":\"llama\"",
        "\"hidden_size\":32",
        "\"intermediate_size\":12",
        "\"num_hidden_layers\":4",
        "\"num_attention_heads\":2",
        "\"num_key_value_heads\":1",
        "\"vocab_size\":11",
        "\"max_position_embeddings\":64",
    };
    size_t used = (size_t)snprintf(config, sizeof config, "{%s", more);

    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        char key[64];

        snprintf(key, sizeof key, "%.*s", (int)(strchr(fields[i], ':') - fields[i] + 1), fields[i]);
        if (strstr(more, key) == NULL) { /* with both quotes and the colon */
            used += (size_t)snprintf(config + used, sizeof config - used, "%s%s",
                                     used > 1 ? "," : "", fields[i]);
        }
    }
    snprintf(config + used, sizeof config - used, "}");
    return config;
}

static enum err read_more(const char *more)
{
    struct hf_config c;
    const char *text = config_of(more);

    begin("config.json");
    return hf_config_read(&source, (const uint8_t *)text, strlen(text), &c);
}

static void refuse_config(const char *more, enum err expected, const char *words)
{
    enum err e = read_more(more);

    OK(e == expected && strstr(source.problem, words) != NULL, "refused (%d): %s", (int)e,
       source.problem);
}

#define FAMILY(name) "\"architectures\":[\"" name "ForCausalLM\"]"
#define SCALING(text) "\"rope_scaling\":{" text "}"

static void test_config_refused(void)
{
    refuse_config("\"architectures\":[\"MambaForCausalLM\"],\"model_type\":\"mamba\"",
                  ERR_UNSUPPORTED, "architecture 'mamba' is not supported; supported: llama, ");
    refuse_config("\"architectures\":[\"LlamaForSequenceClassification\"]", ERR_UNSUPPORTED,
                  "'LlamaForSequenceClassification' is not supported");
    refuse_config("\"architectures\":null,\"model_type\":null", ERR_BAD_MODEL, "\"model_type\"");
    refuse_config("\"num_local_experts\":8", ERR_UNSUPPORTED, "\"num_local_experts\"");
    refuse_config("\"attention_bias\":true", ERR_UNSUPPORTED, "\"attention_bias\"");
    refuse_config("\"quantization_config\":{\"bits\":4}", ERR_UNSUPPORTED,
                  "\"quantization_config\"");
    refuse_config("\"final_logit_softcapping\":30.0", ERR_UNSUPPORTED,
                  "\"final_logit_softcapping\"");
    refuse_config("\"hidden_act\":\"relu\"", ERR_UNSUPPORTED, "\"hidden_act\" is 'relu'");
    refuse_config("\"hidden_size\":null", ERR_BAD_MODEL, "\"hidden_size\" is missing");
    refuse_config("\"hidden_size\":\"x\"", ERR_BAD_MODEL, "\"hidden_size\" is no whole number");
    refuse_config("\"hidden_size\":1e300", ERR_BAD_MODEL, "\"hidden_size\" is no whole number");
    refuse_config("\"hidden_size\":0", ERR_UNSUPPORTED, "dim is 0");
    refuse_config("\"num_attention_heads\":0", ERR_BAD_MODEL, "0 attention heads");
    refuse_config("\"num_attention_heads\":3", ERR_BAD_MODEL, "3 attention heads");
    refuse_config("\"num_hidden_layers\":4000000", ERR_UNSUPPORTED, "n_layers is 4000000");
    refuse_config("\"head_dim\":7", ERR_UNSUPPORTED, "head_dim is 7");
    refuse_config("\"rms_norm_eps\":\"small\"", ERR_BAD_MODEL, "\"rms_norm_eps\" is no number");
    refuse_config("\"rms_norm_eps\":0", ERR_UNSUPPORTED, "norm_eps");
    refuse_config("\"tie_word_embeddings\":7", ERR_BAD_MODEL, "\"tie_word_embeddings\"");
    refuse_config("\"sliding_window\":32", ERR_UNSUPPORTED, "a sliding window of 32");
    refuse_config("\"partial_rotary_factor\":0.5", ERR_UNSUPPORTED, "\"partial_rotary_factor\"");
    refuse_config(FAMILY("Phi3") ",\"partial_rotary_factor\":0.01", ERR_UNSUPPORTED, "rope_dims");
    refuse_config(FAMILY("Gemma2") ",\"query_pre_attn_scalar\":-1", ERR_UNSUPPORTED, "attn_scale");
    refuse_config(FAMILY("Qwen2") ",\"use_sliding_window\":true,\"sliding_window\":8,"
                                  "\"max_window_layers\":2",
                  ERR_UNSUPPORTED, "\"max_window_layers\"");
    refuse_config(FAMILY("Mistral") ",\"sliding_window\":8,\"layer_types\":[\"full_attention\","
                                    "\"sliding_attention\",\"full_attention\",\"full_attention\"]",
                  ERR_UNSUPPORTED, "\"layer_types\" makes layer 1 'sliding_attention'");
    refuse_config(FAMILY("Gemma3") ",\"sliding_window\":8,\"layer_types\":"
                                   "[\"sliding_attention\"]",
                  ERR_BAD_MODEL, "\"layer_types\" has 1 entries");
}

static void test_field_twice(void)
{
    refuse_config("\"rms_norm_eps\":1e-5,\"rms_norm_eps\":1e-6", ERR_BAD_MODEL,
                  "the field rms_norm_eps comes twice");
}

static void test_scaling_refused(void)
{
    refuse_config(SCALING("\"type\":\"dynamic\",\"factor\":2"), ERR_UNSUPPORTED,
                  "rope scaling 'dynamic' is not supported; supported: ");
    refuse_config(SCALING("\"type\":\"linear\""), ERR_BAD_MODEL, "factor");
    refuse_config(SCALING("\"type\":\"linear\",\"factor\":-2"), ERR_BAD_MODEL, "factor");
    refuse_config(SCALING("\"type\":7"), ERR_BAD_MODEL, "\"type\" is no text");
    refuse_config(SCALING("\"rope_type\":\"llama3\",\"factor\":8,\"high_freq_factor\":1"),
                  ERR_BAD_MODEL, "high_freq_factor");
    refuse_config(FAMILY("Phi3") "," SCALING("\"type\":\"longrope\""), ERR_BAD_MODEL,
                  "original_max_position_embeddings");
    refuse_config(FAMILY("Phi3") ",\"original_max_position_embeddings\":16," SCALING(
                      "\"type\":\"longrope\",\"short_factor\":[1,1],\"long_factor\":[2]"),
                  ERR_BAD_MODEL, "2 numbers in \"short_factor\", 8 are needed");
    refuse_config(
        FAMILY("Phi3") ",\"original_max_position_embeddings\":16,\"sliding_window\":8," SCALING(
            "\"type\":\"longrope\""),
        ERR_UNSUPPORTED, "longrope with a sliding window");
}

static bool near(float a, double b)
{
    return fabs((double)a - b) <= 1e-6 * fabs(b);
}

static void test_families(void)
{
    const struct source_params *p = &source.params;

    OK(read_more("\"sliding_window\":null") == ERR_OK && p->family == INGOT_LLAMA &&
           p->window == 0 && p->rope == INGOT_ROPE_HALVES && p->tied == 0 &&
           near(p->attn_scale, 0.25) && p->head_dim == 16 && near(p->rope_base, 1e4),
       "a llama %s", source.problem);
    OK(read_more(FAMILY("Mistral") ",\"sliding_window\":8") == ERR_OK && p->window == 8 &&
           p->global_every == 0 && near(p->rope_base_local, 1e4),
       "a mistral's window");
    OK(read_more(FAMILY("Mistral") ",\"sliding_window\":4096") == ERR_OK && p->window == 0,
       "a window beyond the context is none");
    OK(read_more(FAMILY("Qwen2") ",\"sliding_window\":8") == ERR_OK && p->window == 0 &&
           p->features == SOURCE_QKV_BIAS,
       "qwen2 does not use its window unless told");
    OK(read_more(FAMILY("Qwen2") ",\"sliding_window\":8,\"use_sliding_window\":true,"
                                 "\"max_window_layers\":0") == ERR_OK &&
           p->window == 8,
       "and uses it when it is");
    OK(read_more(FAMILY("Gemma2") ",\"head_dim\":16,\"sliding_window\":8,"
                                  "\"query_pre_attn_scalar\":64,\"attn_logit_softcapping\":50.0") ==
               ERR_OK &&
           p->global_every == 2 && near(p->attn_scale, 0.125) &&
           near(p->embedding_scale, sqrt(32.0)) && p->tied == 1 && near(p->attn_softcap, 50),
       "gemma2's scales, window and caps");
    OK(read_more(FAMILY("Gemma3") ",\"head_dim\":16,\"sliding_window\":512,\"rope_theta\":1e6,"
                                  "\"sliding_window_pattern\":2") == ERR_OK &&
           p->window == 512 && p->global_every == 2 && near(p->rope_base, 1e6) &&
           near(p->rope_base_local, 1e4),
       "gemma3's local layers have a base of their own, however wide the window");
    OK(read_more(FAMILY(
           "Gemma3") ",\"head_dim\":16,\"sliding_window\":8,\"rope_parameters\":{"
                     "\"full_attention\":{\"rope_type\":\"linear\",\"factor\":8,\"rope_theta\":5e5},"
                     "\"sliding_attention\":{\"rope_type\":\"default\",\"rope_theta\":100}},"
                     "\"layer_types\":[\"sliding_attention\",\"full_attention\","
                     "\"sliding_attention\",\"full_attention\"]") == ERR_OK &&
           p->global_every == 2 && near(p->rope_base, 5e5) && near(p->rope_base_local, 100) &&
           near(source.rope[0], 8) && near(source.rope[8 * SOURCE_ROPE_LOCAL], 1),
       "gemma3 as Transformers 5 writes it %s", source.problem);
    OK(read_more("\"rope_parameters\":{\"rope_type\":\"default\",\"rope_theta\":77}") == ERR_OK &&
           near(p->rope_base, 77) && source.rope == NULL,
       "rope_parameters of one kind");
}

static void test_scaling(void)
{
    const struct source_params *p = &source.params;

    /* Pairs of 16 dimensions at base 10000 have wavelengths 2 pi 10000^(i/8): 6.3, 19.9, 62.8,
     * 199, 628, 1987, ... of an original context of 64: up to 16 they stay, beyond 64 they are
     * divided by 8, and 62.8 lies between, at (64 / 62.8 - 1) / 3 of the ramp; so does 19.9. */
    OK(read_more(SCALING("\"rope_type\":\"llama3\",\"factor\":8,\"low_freq_factor\":1,"
                         "\"high_freq_factor\":4,\"original_max_position_embeddings\":64")) ==
               ERR_OK &&
           near(source.rope[0], 1) && near(source.rope[3], 8) && near(source.rope[7], 8),
       "llama3 %s", source.problem);
    if (source.rope != NULL) {
        double smooth = (64.0 / (2 * M_PI * 10.0) - 1) / 3;

        OK(near(source.rope[2], 1 / ((1 - smooth) / 8 + smooth)) &&
               near(source.rope[8 * SOURCE_ROPE_LONG + 2], source.rope[2]),
           "and its ramp");
    }
    OK(read_more(SCALING("\"type\":\"linear\",\"factor\":2")) == ERR_OK && near(source.rope[5], 2),
       "linear");
    OK(read_more(FAMILY("Phi3") ",\"original_max_position_embeddings\":16," SCALING(
           "\"type\":\"longrope\",\"short_factor\":[1,1,1,1,1,1,1,1.5],"
           "\"long_factor\":[2,2,2,2,2,2,2,3]")) == ERR_OK &&
           p->rope_context == 16 && near(p->rope_magnitude, sqrt(1 + log(4) / log(16))) &&
           near(source.rope[7], 1.5) && near(source.rope[8 * SOURCE_ROPE_LONG + 7], 3),
       "longrope %s", source.problem);
    OK(read_more(SCALING(
           "\"type\":\"yarn\",\"factor\":4,\"original_max_position_embeddings\":16")) == ERR_OK &&
           near(p->rope_magnitude, 0.1 * log(4) + 1) && near(source.rope[7], 4),
       "yarn %s", source.problem);
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

/* Those tensors from `first` on, up to `last`, and `more` where it has a name. */
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
    OK(e == expected && strstr(source.problem, words) != NULL, "refused (%d): %s", (int)e,
       source.problem);
}

static void test_tensors(void)
{
    save_text("config.json",
              "{\"model_type\":\"llama\",\"hidden_size\":8,\"intermediate_size\":12,"
              "\"num_hidden_layers\":1,\"num_attention_heads\":2,\"num_key_value_heads\":1,"
              "\"vocab_size\":11,\"max_position_embeddings\":16}");
    save_weights("model.safetensors", 0, N_LLAMA, nothing);
    OK(open_folder() == ERR_OK && source.params.tied == 1, "without lm_head the output is tied %s",
       source.problem);
    OK(source.vocab.layout == SOURCE_NO_VOCAB && source.vocab.n_tokens == 11, "and no tokenizer");
    save_weights("model.safetensors", 0, N_LLAMA,
                 (struct named){ "model.layers.0.self_attn.rotary_emb.inv_freq", "F32", "[2]", 2 });
    OK(open_folder() == ERR_OK, "frequencies of rotation are passed over %s", source.problem);
    refuse_tensor((struct named){ "model.layers.0.mlp.gate.weight", "F32", "[2,8]", 16 }, 0,
                  ERR_UNSUPPORTED, "model.layers.0.mlp.gate.weight is none");
    refuse_tensor((struct named){ "model.layers.0.self_attn.q_norm.weight", "F32", "[4]", 4 }, 0,
                  ERR_UNSUPPORTED, "attn_q_norm");
    refuse_tensor((struct named){ "model.layers.1.input_layernorm.weight", "F32", "[8]", 8 }, 0,
                  ERR_BAD_MODEL, "layer 1 in a model of 1");
    refuse_tensor((struct named){ "model.layers.999999999999.x", "F32", "[8]", 8 }, 0,
                  ERR_UNSUPPORTED, "is none of");
    refuse_tensor((struct named){ "model.norm.weight", "F32", "[8]", 8 }, 0, ERR_BAD_MODEL,
                  "model.norm.weight comes twice");
    refuse_tensor(nothing, 1, ERR_BAD_MODEL, "ffn_down of layer 0 is missing");
    refuse_tensor((struct named){ "model.layers.0.mlp.down_proj.weight", "F32", "[12,8]", 96 }, 1,
                  ERR_BAD_MODEL, "ffn_down of layer 0 has 12 rows of 8");
    refuse_tensor((struct named){ "model.layers.0.mlp.down_proj.weight", "F32", "[96]", 96 }, 1,
                  ERR_BAD_MODEL, "has 1 dimensions, it should have 2");
    refuse_tensor((struct named){ "model.layers.0.mlp.down_proj.weight", "I8", "[8,12]", 96 }, 1,
                  ERR_UNSUPPORTED, "down_proj.weight is I8");
    refuse_tensor((struct named){ "model.layers.0.mlp.gate_up_proj.weight", "F32", "[25,8]", 200 },
                  0, ERR_BAD_MODEL, "has 25 rows, its 2 parts demand 24");
    refuse_tensor((struct named){ "model.layers.0.mlp.gate_up_proj.weight", "F32", "[24,8]", 192 },
                  0, ERR_BAD_MODEL, "gate_up_proj.weight comes twice");
}

static void refuse_index(const char *text, enum err expected, const char *words)
{
    enum err e;

    save_text("model.safetensors.index.json", text);
    e = open_folder();
    OK(e == expected && strstr(source.problem, words) != NULL, "refused (%d): %s", (int)e,
       source.problem);
}

static void test_index(void)
{
    unlink(folder_path("model.safetensors"));
    OK(open_folder() == ERR_NOT_FOUND && strstr(source.problem, "index.json") != NULL,
       "no weights: %s", source.problem);
    save_weights("a.safetensors", 0, 5, nothing);
    save_weights("b.safetensors", 5, N_LLAMA, nothing);
    save_text("model.safetensors.index.json", "{\"weight_map\":{\"x\":\"a.safetensors\","
                                              "\"y\":\"b.safetensors\",\"z\":\"a.safetensors\"}}");
    OK(open_folder() == ERR_OK, "two files by an index %s", source.problem);
    refuse_index("{\"weight_map\":{\"x\":\"a.safetensors\"}}", ERR_BAD_MODEL,
                 "attn_k of layer 0 is missing");
    refuse_index("{\"weight_map\":{\"x\":\"c.safetensors\"}}", ERR_NOT_FOUND,
                 "c.safetensors: no such file");
    refuse_index("{\"weight_map\":{\"x\":\"../c.safetensors\"}}", ERR_BAD_MODEL, "\"weight_map\"");
    refuse_index("{\"weight_map\":{\"x\":7}}", ERR_BAD_MODEL, "\"weight_map\"");
    refuse_index("{}", ERR_BAD_MODEL, "\"weight_map\" is missing");
    refuse_index("{\"weight_map\":", ERR_BAD_MODEL, "no JSON object");
    unlink(folder_path("config.json"));
    OK(open_folder() == ERR_NOT_FOUND && strstr(source.problem, "config.json: no such file"),
       "no config: %s", source.problem);
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
    test_config_refused();
    test_field_twice();
    test_scaling_refused();
    test_families();
    test_scaling();
    if (OK(folder_make(), "a folder for files")) {
        test_tensors();
        test_index();
        folder_remove(names);
    }
    return tap_done();
}
