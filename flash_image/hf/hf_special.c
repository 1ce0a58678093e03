/* Reads which tokens begin and end a text, the chat template, and the sampling defaults. */
#include <string.h>

#include "flash_image/hf/hf_json.h"
#include "flash_image/hf/hf_tokenizer.h"

/* Read the name of a special token: a text, or an object with "content". */
static void read_name(struct source *s, const cJSON *config, const char *field, uint32_t *id)
{
    const cJSON *value = hf_json_get(config, field);
    const char *text;
    uint32_t found;

    if (cJSON_IsObject(value)) {
        value = hf_json_get(value, "content");
    }
    text = hf_json_string(value);
    if (text == NULL) {
        return;
    }
    found = hf_tokenizer_find(s, text);
    if (found != INGOT_NO_TOKEN) {
        *id = found;
    }
}

/* Read add_bos_token or a similar flag; a flag is off if the vocabulary lacks its token. */
static void read_flag(struct source *s, const cJSON *config, const char *field, uint32_t flag,
                      uint32_t id)
{
    struct source_vocab *v = &s->vocab;

    if (id == INGOT_NO_TOKEN || !hf_json_is_true(config, field, true)) {
        v->flags &= ~flag;
    } else if (hf_json_is_true(config, field, false)) {
        v->flags |= flag;
    }
}

/* Read the chat template: a text, or the entry "default" of a list. */
static void read_chat_template(struct source *s, const cJSON *config)
{
    const cJSON *value = hf_json_get(config, "chat_template");
    const char *text = hf_json_string(value);
    const cJSON *entry;

    cJSON_ArrayForEach(entry, hf_json_list(value))
    {
        if (hf_json_is(entry, "name", "default")) {
            text = hf_json_string(hf_json_get(entry, "template"));
            break;
        }
    }
    if (text != NULL) {
        s->chat_template = (struct source_text){ (const uint8_t *)text, strlen(text) };
    }
}

enum err hf_tokenizer_config_read(struct source *s, const uint8_t *text, size_t bytes,
                                  struct hf_tokenizer *t)
{
    enum err e;

    t->config = hf_json_parse(s, text, bytes, &e);
    if (t->config == NULL) {
        return e;
    }
    e = hf_added_decoder_read(s, t);
    read_name(s, t->config, "bos_token", &s->vocab.bos);
    read_name(s, t->config, "eos_token", &s->vocab.eos);
    read_flag(s, t->config, "add_bos_token", INGOT_ADD_BOS, s->vocab.bos);
    read_flag(s, t->config, "add_eos_token", INGOT_ADD_EOS, s->vocab.eos);
    read_chat_template(s, t->config);
    return e;
}

enum err hf_chat_template_read(struct source *s, const uint8_t *text, size_t bytes,
                               struct hf_tokenizer *t)
{
    enum err e;

    t->chat_template = hf_json_parse(s, text, bytes, &e);
    if (t->chat_template != NULL && s->chat_template.data == NULL) {
        read_chat_template(s, t->chat_template);
    }
    return e;
}

static void add_stop(struct source_vocab *v, const cJSON *id)
{
    uint32_t token;

    if (!hf_json_whole(id, v->n_tokens - 1.0)) {
        return;
    }
    token = (uint32_t)id->valuedouble;
    if (v->eos == INGOT_NO_TOKEN) {
        v->eos = token;
    }
    for (uint32_t i = 0; i < v->n_stops; i++) {
        if (v->stops[i] == token) {
            return;
        }
    }
    if (token != v->eos && v->n_stops < INGOT_MAX_STOPS) {
        v->stops[v->n_stops++] = token;
    }
}

enum err hf_special_ids_read(struct source *s, const uint8_t *text, size_t bytes)
{
    enum err e;
    cJSON *root = hf_json_parse(s, text, bytes, &e);
    const cJSON *bos = hf_json_get(root, "bos_token_id");
    const cJSON *eos = hf_json_get(root, "eos_token_id");
    const cJSON *id;

    if (root == NULL) {
        return e;
    }
    if (s->vocab.bos == INGOT_NO_TOKEN && hf_json_whole(bos, s->vocab.n_tokens - 1.0)) {
        s->vocab.bos = (uint32_t)bos->valuedouble;
    }
    if (cJSON_IsNumber(eos)) {
        add_stop(&s->vocab, eos);
    }
    cJSON_ArrayForEach(id, hf_json_list(eos))
    {
        add_stop(&s->vocab, id);
    }
    cJSON_Delete(root);
    return ERR_OK;
}

enum err hf_sampling_read(struct source *s, const uint8_t *text, size_t bytes)
{
    static const struct {
        const char *name;
        enum ingot_sampling_field field;
        bool of_samples; /* has no effect if do_sample is false  */
    } names[] = {
        { "temperature", INGOT_SAMPLES_TEMP, true },
        { "top_p", INGOT_SAMPLES_TOP_P, true },
        { "min_p", INGOT_SAMPLES_MIN_P, true },
        { "top_k", INGOT_SAMPLES_TOP_K, true },
        { "repetition_penalty", INGOT_SAMPLES_REPEAT, false },
    };
    enum err e;
    cJSON *root = hf_json_parse(s, text, bytes, &e);
    bool samples = hf_json_is_true(root, "do_sample", true);

    for (size_t i = 0; root != NULL && i < sizeof names / sizeof names[0]; i++) {
        const cJSON *value = hf_json_get(root, names[i].name);

        if (cJSON_IsNumber(value) && (samples || !names[i].of_samples)) {
            source_sample(s, names[i].field, names[i].name, value->valuedouble);
        }
    }
    cJSON_Delete(root);
    return e;
}
