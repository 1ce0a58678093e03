/* The layout of an image, before a weight is written: header, sections and tables. */
#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flash_image/pack/model_name.h"
#include "flash_image/pack/pack_private.h"
#include "flash_image/source/source_layers.h"
#include "flash_image/tokenizer/tokenizer_section.h"
#include "runtime/image/image.h"
#include "runtime/text/plural.h"

/* Allocate zeroed memory. All memory of the writer is freed together. */
static void *take_memory(struct writer *w, size_t bytes)
{
    void *p = NULL;

    if (w->n_memory < N_MEMORY) {
        p = calloc(1, bytes);
    }
    if (p != NULL) {
        w->memory[w->n_memory++] = p;
    }
    return p;
}

static uint64_t round_up(uint64_t n, uint64_t multiple)
{
    return (n + multiple - 1) / multiple * multiple;
}

/* ---- layout ---------------------------------------------------------------------------------- */

static void lay_section(struct ingot_section *s, uint64_t bytes, uint32_t count, uint64_t *at)
{
    s->offset = *at;
    s->bytes = bytes;
    s->count = count;
    *at = round_up(*at + bytes, INGOT_PAGE);
}

/* Lay out the sections in the header's order, and allocate them. The tokenizer was built in
 * separate memory, because its size was not known before. */
static enum err lay_sections(struct writer *w, const uint8_t *tokenizer, uint64_t tokenizer_bytes,
                             const uint8_t *chat, size_t chat_bytes)
{
    struct ingot_header *h = w->header;
    uint32_t n_layers = w->s->params.n_layers;
    uint32_t n_segments = image_front_segments(&h->params) + n_layers + 1;
    uint32_t n_tensors = pack_count_tensors(w->s), n_extents = pack_count_extents(w->s);
    uint32_t n_factors = 0;
    uint64_t at = INGOT_PAGE;

    if (w->s->rope != NULL) {
        n_factors = SOURCE_ROPE_SETS * (w->s->params.rope_dims / 2);
    }
    lay_section(&h->tokenizer, tokenizer_bytes, 0, &at);
    lay_section(&h->chat, chat_bytes, 0, &at);
    lay_section(&h->rope, n_factors * sizeof(float), n_factors, &at);
    lay_section(&h->layers, n_layers * sizeof(struct ingot_layer), n_layers, &at);
    lay_section(&h->segments, n_segments * sizeof(struct ingot_segment), n_segments, &at);
    lay_section(&h->tensors, n_tensors * sizeof(struct ingot_tensor), n_tensors, &at);
    lay_section(&h->experts, n_extents * sizeof(uint32_t), n_extents, &at);
    w->meta_bytes = at - INGOT_PAGE;
    w->meta = take_memory(w, (size_t)w->meta_bytes);
    if (w->meta == NULL) {
        return source_refuse(w->s, ERR_NO_SPACE, "out of memory");
    }
    memcpy(w->meta + (h->tokenizer.offset - INGOT_PAGE), tokenizer, (size_t)tokenizer_bytes);
    memcpy(w->meta + (h->chat.offset - INGOT_PAGE), chat, chat_bytes);
    if (n_factors != 0) {
        memcpy(w->meta + (h->rope.offset - INGOT_PAGE), w->s->rope, n_factors * sizeof(float));
    }
    w->tables = (struct pack_tables){
        .source = w->s,
        .options = w->options,
        .first_byte = at,
        .header = h,
        .layers = (void *)(w->meta + (h->layers.offset - INGOT_PAGE)),
        .segments = (void *)(w->meta + (h->segments.offset - INGOT_PAGE)),
        .tensors = (void *)(w->meta + (h->tensors.offset - INGOT_PAGE)),
    };
    w->expert_crcs = (void *)(w->meta + (h->experts.offset - INGOT_PAGE));
    return ERR_OK;
}

/* The largest number of columns of a tensor. */
static uint32_t widest(const struct source *s)
{
    uint32_t cols = 0;

    for (struct source_slot at = source_first_slot; at.role < INGOT_N_ROLES;
         source_next_slot(&s->params, &at)) {
        if (source_has_role(s, at.role, at.layer)) {
            cols = max_u32(cols, source_slot_of(s, at.role, at.layer)->cols);
        }
    }
    return cols;
}

static enum err take_buffers(struct writer *w, uint64_t tokenizer_bytes, uint8_t **tokenizer)
{
    struct rows_sizes sizes = rows_buffer_bytes(widest(w->s));

    w->header = take_memory(w, sizeof *w->header);
    w->rows.row = take_memory(w, sizes.row);
    w->importance = take_memory(w, sizes.row);
    w->rows.blocks = take_memory(w, sizes.blocks);
    w->rows.codec = take_memory(w, sizeof *w->rows.codec);
    w->rows.group = take_memory(w, sizes.group + OUT_BUFFER);
    w->out = w->rows.group != NULL ? w->rows.group + sizes.group : NULL;
    *tokenizer = take_memory(w, (size_t)tokenizer_bytes);
    if (w->header == NULL || w->rows.row == NULL || w->importance == NULL ||
        w->rows.blocks == NULL || w->rows.codec == NULL || w->out == NULL || *tokenizer == NULL) {
        return source_refuse(w->s, ERR_NO_SPACE, "out of memory");
    }
    return ERR_OK;
}

/* Report tokens that the file marks as text although the model uses them as markers, which is an
 * error of the conversion. */
static void remark_types(const struct source *s, const uint8_t *tokenizer)
{
    const struct ingot_tokenizer *head = (const void *)tokenizer;
    struct source_cursor c = { NULL, 0 };
    struct source_token t;
    char names[160] = "";
    size_t used = 0;
    uint32_t n = 0;

    while (source_next_token(&s->vocab, &c, &t)) {
        unsigned type = tokenizer[head->types + c.id - 1] & INGOT_TOKEN_TYPE;
        size_t room = sizeof names - used;

        if (type == INGOT_TOKEN_CONTROL && t.type == INGOT_TOKEN_NORMAL && t.bytes > 0) {
            n++;
            if (t.bytes + 3 < room) {
                used += (size_t)snprintf(names + used, room, "%s%.*s", used > 0 ? ", " : "",
                                         (int)t.bytes, (const char *)t.text);
            }
        }
    }
    if (n > 0) {
        fprintf(stderr,
                "%s: %u %s with the type of normal text %s taken as %s (%s): the file was "
                "converted wrongly\n",
                s->path, n, plural(n, "token", "tokens"), plural(n, "is", "are"),
                plural(n, "a marker", "markers"), names);
    }
}

enum err pack_chat(struct source *s, const struct pack_options *o, uint8_t *tokenizer,
                   uint8_t chat[CHAT_MOST_BYTES], size_t *bytes)
{
    struct chat_request request = { .name = o->template,
                                    .system = o->system,
                                    .jinja = s->chat_template,
                                    .stops = s->vocab.stops,
                                    .n_stops = s->vocab.n_stops,
                                    .tokenizer = tokenizer };
    char error_message[CHAT_ERROR_MESSAGE_BYTES];
    enum err e = chat_template_build(&request, chat, bytes, error_message);

    if (e != ERR_OK) {
        return source_refuse(s, e, "%s", error_message);
    }
    if (error_message[0] != '\0' && !o->quiet) {
        fprintf(stderr, "%s: %s\n", s->path, error_message);
    }
    chat_template_claim(chat, tokenizer);
    if (!o->quiet && s->vocab.layout == SOURCE_GGUF_VOCAB) {
        remark_types(s, tokenizer);
    }
    return ERR_OK;
}

enum err pack_lay_out(struct writer *w)
{
    struct tokenizer_size size = { 0 };
    alignas(struct ingot_chat) uint8_t chat[CHAT_MOST_BYTES];
    size_t chat_bytes;
    uint8_t *tokenizer;
    uint64_t tokenizer_bytes;
    enum err e = tokenizer_section_measure(w->s, &size);

    if (e == ERR_OK && size.n_tokens != w->s->params.vocab) {
        e = source_refuse(w->s, ERR_BAD_TOKENIZER, "the tokenizer has %u %s, but the model has %u",
                          size.n_tokens, plural(size.n_tokens, "token", "tokens"),
                          w->s->params.vocab);
    }
    if (e == ERR_OK) {
        e = take_buffers(w, size.bytes, &tokenizer);
    }
    if (e != ERR_OK) {
        return e;
    }
    memcpy(w->header->magic, INGOT_MAGIC, sizeof w->header->magic);
    w->header->version = INGOT_VERSION;
    source_model(&w->s->params, &w->header->params);
    (void)source_ropes(w->s, w->header->ropes);
    model_name(w->s, w->header->name);
    w->header->sampling = w->s->sampling;
    source_put_sampling(&w->header->sampling, &w->options->sampling);
    e = tokenizer_section_build(w->s, &size, tokenizer, &tokenizer_bytes);
    if (e == ERR_OK) {
        e = pack_chat(w->s, w->options, tokenizer, chat, &chat_bytes);
    }
    if (e == ERR_OK) {
        e = lay_sections(w, tokenizer, tokenizer_bytes, chat, chat_bytes);
    }
    if (e == ERR_OK) {
        pack_lay_tables(&w->tables);
    }
    return e;
}
