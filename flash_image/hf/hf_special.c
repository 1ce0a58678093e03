/* Which tokens begin and end a text, and the chat template. */
#include <string.h>

#include "flash_image/hf/hf_json.h"
#include "flash_image/hf/hf_tokenizer.h"

/* A special token by name: a text, or an object with "content". */
static void read_name(struct source *s, const cJSON *config, const char *field, uint32_t *id)
{
    const cJSON *value = hf_json_get(config, field);
    const cJSON *content = cJSON_IsObject(value) ? hf_json_get(value, "content") : value;
    uint32_t found = cJSON_IsString(content) ? hf_tokenizer_find(s, content->valuestring)
                                             : INGOT_NO_TOKEN;

    *id = found != INGOT_NO_TOKEN ? found : *id;
}

/* add_bos_token and its like, where the configuration has them; a flag needs its token. */
static void read_flag(struct source *s, const cJSON *config, const char *field, uint32_t flag,
                      uint32_t id)
{
    const cJSON *value = hf_json_get(config, field);
    struct source_vocab *v = &s->vocab;

    if (cJSON_IsBool(value)) {
        v->flags = cJSON_IsTrue(value) ? v->flags | flag : v->flags & ~flag;
    }
    if (id == INGOT_NO_TOKEN) {
        v->flags &= ~flag;
    }
}

/* One template, or a list of named ones, of which the "default" counts. */
static void read_chat_template(struct source *s, const cJSON *config)
{
    const cJSON *value = hf_json_get(config, "chat_template");
    const cJSON *list = cJSON_IsArray(value) ? value : NULL;
    const cJSON *entry;

    cJSON_ArrayForEach(entry, list)
    {
        const cJSON *name = hf_json_get(entry, "name");

        if (cJSON_IsString(name) && strcmp(name->valuestring, "default") == 0) {
            value = hf_json_get(entry, "template");
            break;
        }
    }
    if (cJSON_IsString(value)) {
        s->chat_template = (struct source_text){ (const uint8_t *)value->valuestring,
                                                 strlen(value->valuestring) };
    }
}

/* Tokens that lie beyond SentencePiece's own: an object by ids. */
static enum err read_added(struct source *s, struct hf_tokenizer *t)
{
    const cJSON *list = t->root == NULL ? hf_json_get(t->config, "added_tokens_decoder") : NULL;
    const cJSON *token;
    enum err e = ERR_OK;

    cJSON_ArrayForEach(token, list)
    {
        uint32_t id = 0;

        for (const char *c = token->string; *c >= '0' && *c <= '9' && id < INGOT_MAX_VOCAB; c++) {
            id = id * 10 + (uint32_t)(*c - '0');
        }
        if (id < t->room && t->tokens[id].type == INGOT_TOKEN_UNUSED && e == ERR_OK) {
            e = hf_tokenizer_add(s, t, token, id);
        }
    }
    return e;
}

enum err hf_tokenizer_config_read(struct source *s, const uint8_t *text, size_t bytes,
                                  struct hf_tokenizer *t)
{
    enum err e;

    t->config = hf_json_parse(s, text, bytes, &e);
    if (t->config == NULL) {
        return e;
    }
    e = read_added(s, t);
    read_name(s, t->config, "bos_token", &s->vocab.bos);
    read_name(s, t->config, "eos_token", &s->vocab.eos);
    read_flag(s, t->config, "add_bos_token", INGOT_ADD_BOS, s->vocab.bos);
    read_flag(s, t->config, "add_eos_token", INGOT_ADD_EOS, s->vocab.eos);
    read_chat_template(s, t->config);
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
    const cJSON *list = cJSON_IsArray(eos) ? eos : NULL;
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
    cJSON_ArrayForEach(id, list)
    {
        add_stop(&s->vocab, id);
    }
    cJSON_Delete(root);
    return ERR_OK;
}
