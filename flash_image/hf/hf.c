#include "flash_image/hf/hf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "flash_image/hf/hf_folder.h"
#include "flash_image/hf/hf_private.h"
#include "flash_image/source/map_file.h"
#include "runtime/text/utf8.h"

#define ENDING ".safetensors"

static bool ends_with(const char *text, const char *ending)
{
    size_t n = strlen(text), m = strlen(ending);

    return n >= m && strcmp(text + n - m, ending) == 0;
}

bool hf_is_folder(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

bool hf_is(const char *path)
{
    return ends_with(path, ENDING) || ends_with(path, ENDING ".index.json") || hf_is_folder(path);
}

void hf_work_on_input(struct hf_model *m)
{
    m->s->path = m->input;
}

enum err hf_work_on(struct hf_model *m, const char *name)
{
    int n = snprintf(m->path, sizeof m->path, "%s%s", m->folder, name);

    if (n < 0 || (size_t)n >= sizeof m->path) {
        return source_refuse(m->s, ERR_TOO_LONG, "the name of a file in it is too long");
    }
    m->s->path = m->path;
    return ERR_OK;
}

static enum err map_file_at_work(struct hf_model *m, const char *name, enum file_place place,
                                 struct mapping *map)
{
    enum err e = hf_work_on(m, name);

    if (e != ERR_OK) {
        return e;
    }
    return map_file(m->s, m->path, place, map);
}

bool hf_has_file(struct hf_model *m, const char *name)
{
    return hf_work_on(m, name) == ERR_OK && access(m->path, R_OK) == 0;
}

const char *hf_last_part(const char *path)
{
    const char *slash = strrchr(path, '/');

    if (slash == NULL) {
        return path;
    }
    return slash + 1;
}

static enum err set_folder(struct hf_model *m)
{
    int length = (int)(hf_last_part(m->input) - m->input);
    const char *slash = "";
    int n;

    if (hf_is_folder(m->input)) {
        length = (int)strlen(m->input);
        if (!ends_with(m->input, "/")) {
            slash = "/";
        }
    }
    n = snprintf(m->folder, sizeof m->folder, "%.*s%s", length, m->input, slash);
    if (n < 0 || (size_t)n >= sizeof m->folder) {
        return source_refuse(m->s, ERR_TOO_LONG, "the name of the folder is too long");
    }
    return ERR_OK;
}

/* True for a name like "model.safetensors" or "model-00001-of-00002.safetensors". */
static bool is_called_model(const char *name)
{
    return strncmp(name, "model", 5) == 0 && (name[5] == '.' || name[5] == '-');
}

/* Name the model after its folder, because a file of weights is usually called "model". */
static void set_name(struct hf_model *m)
{
    const char *folder = m->folder, *name;

    if (folder[0] == '\0') {
        folder = ".";
    }
    m->whole_path = realpath(folder, NULL);
    if (m->whole_path != NULL &&
        (hf_is_folder(m->input) || is_called_model(hf_last_part(m->input)))) {
        name = hf_last_part(m->whole_path);
        m->s->name = (struct source_text){ (const uint8_t *)name, strlen(name) };
    }
}

static bool has_weights(struct hf_model *m)
{
    return !hf_is_folder(m->input) || hf_has_file(m, "model" ENDING) ||
           hf_has_file(m, "model" ENDING ".index.json");
}

/* Say what the folder contains instead of weights. */
enum err hf_refuse_weights(struct hf_model *m)
{
    enum err e;

    hf_work_on_input(m);
    e = hf_folder_check_weights(m->s, m->folder);
    if (e != ERR_OK) {
        return e;
    }
    return source_refuse(m->s, ERR_NOT_FOUND,
                         "this folder has neither model.safetensors nor "
                         "model.safetensors.index.json: fetch the weights as safetensors, or "
                         "convert them");
}

static enum err read_config(struct hf_model *m)
{
    struct mapping file = { NULL, 0 };
    enum err e = map_file_at_work(m, "config.json", PLACE_JSON, &file);

    if (e == ERR_NOT_FOUND && !has_weights(m)) {
        return hf_refuse_weights(m);
    }
    if (e == ERR_NOT_FOUND) {
        hf_work_on(m, "config.json");
        e = source_refuse(m->s, e,
                          "no such file: without it the weights cannot be understood; "
                          "fetch the model's whole folder");
    }
    if (e == ERR_OK) {
        e = hf_config_read(m->s, file.data, file.bytes, &m->config);
    }
    unmap_file(&file);
    return e;
}

/* ---- tokenizer ------------------------------------------------------------------------------- */

/* A reader of one of the tokenizer's files. */
typedef enum err tokenizer_reader(struct source *s, const uint8_t *data, size_t bytes,
                                  struct hf_tokenizer *t);

static enum err read_special_ids(struct source *s, const uint8_t *data, size_t bytes,
                                 struct hf_tokenizer *t)
{
    (void)t;
    return hf_special_ids_read(s, data, bytes);
}

static enum err read_sampling(struct source *s, const uint8_t *data, size_t bytes,
                              struct hf_tokenizer *t)
{
    (void)t;
    return hf_sampling_read(s, data, bytes);
}

/* Read an existing file, which *map keeps open. */
static enum err read_file(struct hf_model *m, const char *name, enum file_place place,
                          tokenizer_reader *read, struct mapping *map)
{
    enum err e = map_file_at_work(m, name, place, map);

    if (e != ERR_OK) {
        return e;
    }
    return read(m->s, map->data, map->bytes, &m->tokenizer);
}

/* Read a file that may be missing; its contents do not stay in memory. */
static enum err read_optional(struct hf_model *m, const char *name, tokenizer_reader *read)
{
    struct mapping map = { NULL, 0 };
    enum err e;

    if (!hf_has_file(m, name)) {
        return ERR_OK;
    }
    e = read_file(m, name, PLACE_JSON, read, &map);
    unmap_file(&map);
    return e;
}

/* Read the chat template from a separate file, which newer folders have. */
static enum err read_template_file(struct hf_model *m)
{
    struct mapping *map = &m->chat_template;
    enum err e;

    if (!hf_has_file(m, "chat_template.jinja")) {
        return ERR_OK;
    }
    e = map_file(m->s, m->path, PLACE_TEMPLATE, map);
    if (e == ERR_OK) {
        size_t mark = utf8_mark_bytes(map->data, map->bytes);

        m->s->chat_template = (struct source_text){ map->data + mark, map->bytes - mark };
    }
    return e;
}

/* Without a tokenizer the model accepts only ids, not text. */
static enum err leave_vocab_empty(struct hf_model *m, bool vocab_only)
{
    hf_work_on_input(m);
    if (vocab_only) {
        return source_refuse(m->s, ERR_NOT_FOUND,
                             "neither tokenizer.json nor tokenizer.model lies "
                             "in this folder: fetch one of them");
    }
    source_note(m->s, "neither tokenizer.json nor tokenizer.model lies in this folder: the model "
                      "will take token ids and no text");
    m->s->vocab = (struct source_vocab){
        .n_tokens = m->s->params.vocab,
        .bos = INGOT_NO_TOKEN,
        .eos = INGOT_NO_TOKEN,
        .unk = INGOT_NO_TOKEN,
        .eot = INGOT_NO_TOKEN,
    };
    return ERR_OK;
}

static enum err read_vocab(struct hf_model *m)
{
    if (hf_has_file(m, "tokenizer.json")) {
        return read_optional(m, "tokenizer.json", hf_tokenizer_read);
    }
    return read_file(m, "tokenizer.model", PLACE_PIECES, hf_sentencepiece_read, &m->pieces);
}

/* Read facts about the vocabulary from other files. */
static enum err read_vocab_configs(struct hf_model *m)
{
    static const struct {
        const char *name;
        tokenizer_reader *read;
    } files[] = {
        { "added_tokens.json", hf_added_tokens_read },
        { "tokenizer_config.json", hf_tokenizer_config_read },
        { "chat_template.json", hf_chat_template_read },
        { "generation_config.json", read_special_ids },
        { "generation_config.json", read_sampling },
        { "config.json", read_special_ids },
    };
    enum err e = ERR_OK;

    for (size_t i = 0; e == ERR_OK && i < sizeof files / sizeof files[0]; i++) {
        e = read_optional(m, files[i].name, files[i].read);
    }
    return e;
}

static enum err read_tokenizer_files(struct hf_model *m, bool vocab_only)
{
    enum err e;

    if (!hf_has_file(m, "tokenizer.json") && !hf_has_file(m, "tokenizer.model")) {
        return leave_vocab_empty(m, vocab_only);
    }
    e = read_vocab(m);
    if (e != ERR_OK) {
        return e;
    }
    e = read_vocab_configs(m);
    if (e != ERR_OK) {
        return e;
    }
    e = read_template_file(m);
    if (e == ERR_OK) {
        hf_work_on_input(m);
    }
    return e;
}

/* ---- together -------------------------------------------------------------------------------- */

static enum err read_weights_and_config(struct hf_model *m)
{
    enum err e;

    set_name(m);
    e = hf_folder_check_adapter(m->s, m->folder);
    if (e == ERR_OK) {
        e = read_config(m);
    }
    if (e != ERR_OK) {
        return e;
    }
    return hf_read_weights(m);
}

static enum err read_model(struct hf_model *m, bool vocab_only)
{
    enum err e = set_folder(m);

    if (e == ERR_OK && !vocab_only) {
        e = read_weights_and_config(m);
    }
    if (e != ERR_OK) {
        return e;
    }
    return read_tokenizer_files(m, vocab_only);
}

enum err hf_open(struct hf_model **model, struct source *s, bool vocab_only)
{
    struct hf_model *m = calloc(1, sizeof *m);

    *model = m;
    if (m == NULL) {
        return source_refuse(s, ERR_NO_SPACE, "out of memory");
    }
    m->s = s;
    m->input = s->path;
    return read_model(m, vocab_only);
}

void hf_close(struct hf_model *m)
{
    if (m == NULL) {
        return;
    }
    for (size_t i = 0; i < m->n_files; i++) {
        unmap_file(&m->files[i]);
    }
    hf_config_free(&m->config);
    hf_tokenizer_free(&m->tokenizer);
    unmap_file(&m->pieces);
    unmap_file(&m->chat_template);
    free(m->whole_path);
    free(m);
}
