#include "flash_image/pack/pack.h"

#include <errno.h>
#include <fcntl.h>
#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "flash_image/gguf/gguf.h"
#include "flash_image/hf/hf.h"
#include "flash_image/llama2c/llama2c.h"
#include "flash_image/output/output_file.h"
#include "flash_image/output/temporary.h"
#include "flash_image/source/map_file.h"
#include "flash_image/pack/pack_write.h"
#include "flash_image/source/source.h"
#include "flash_image/tokenizer/tokenizer_section.h"

struct job {
    const struct pack_options *options;
    struct source *source;
    struct mapping model;
    struct mapping tokenizer;
    struct hf_model *hf;     /* hf or gguf is NULL if the input has another format */
    struct gguf_files *gguf; /* the model's other parts */
};

/* Write "DIR/of/input/NAME" to path; false: too long. */
static bool beside(const char *input, const char *name, char *path, size_t path_bytes)
{
    const char *slash = strrchr(input, '/');
    int folder = 0, n;

    if (slash != NULL) {
        folder = (int)(slash - input + 1);
    }
    n = snprintf(path, path_bytes, "%.*s%s", folder, input, name);
    return n > 0 && (size_t)n < path_bytes;
}

/* The tokenizer file that the options name, or that is in the model's folder. */
static bool find_tokenizer(const struct pack_options *o, uint32_t vocab, char *path,
                           size_t path_bytes)
{
    char name[32];

    if (o->tokenizer != NULL) {
        return snprintf(path, path_bytes, "%s", o->tokenizer) < (int)path_bytes;
    }
    snprintf(name, sizeof name, "tok%u.bin", vocab);
    if (beside(o->input, name, path, path_bytes) && access(path, R_OK) == 0) {
        return true;
    }
    return beside(o->input, "tokenizer.bin", path, path_bytes) && access(path, R_OK) == 0;
}

static enum err read_llama2c_tokenizer(struct job *j)
{
    struct source *s = j->source;
    char path[1024];
    enum err e;

    if (!find_tokenizer(j->options, s->params.vocab, path, sizeof path)) {
        return source_refuse(s, ERR_NOT_FOUND,
                             "no tokenizer: put tok%u.bin beside the model, or name one with "
                             "--tokenizer",
                             s->params.vocab);
    }
    e = map_file(s, path, PLACE_TOKENIZER, &j->tokenizer);
    if (e != ERR_OK) {
        return e;
    }
    return llama2c_parse_vocab(s, path, j->tokenizer.data, j->tokenizer.bytes, s->params.vocab);
}

static bool ends_with(const char *text, const char *ending)
{
    size_t n = strlen(text), m = strlen(ending);

    return n >= m && strcmp(text + n - m, ending) == 0;
}

static bool is_hf(const struct job *j)
{
    return hf_is(j->options->input);
}

static enum err read_hf(struct job *j, bool vocab_only)
{
    return hf_open(&j->hf, j->source, vocab_only);
}

static bool is_json(const struct job *j)
{
    return ends_with(j->options->input, ".json");
}

static enum err refuse_json(struct job *j, bool vocab_only)
{
    (void)vocab_only;
    return source_refuse(j->source, ERR_BAD_ARGUMENT,
                         "a part of a Hugging Face folder: give the "
                         "folder");
}

static bool is_ingot(const struct job *j)
{
    return j->model.bytes >= 8 && memcmp(j->model.data, INGOT_MAGIC, 8) == 0;
}

static enum err refuse_ingot(struct job *j, bool vocab_only)
{
    (void)vocab_only;
    if (j->model.bytes >= 12 && load_u32(j->model.data + 8) != INGOT_VERSION) {
        return source_refuse(
            j->source, ERR_UNSUPPORTED,
            "is an .ingot file of version %u, and this program reads %u: pack the model again from its source",
            load_u32(j->model.data + 8), (unsigned)INGOT_VERSION);
    }
    return source_refuse(j->source, ERR_UNSUPPORTED, "this is an .ingot file already");
}

static bool is_gguf(const struct job *j)
{
    return gguf_is(j->model.data, j->model.bytes);
}

static enum err read_gguf(struct job *j, bool vocab_only)
{
    return gguf_open(&j->gguf, j->source, &j->model, vocab_only);
}

/* Version 0 has no magic, so it is tried for every file that no other reader accepts. */
static bool is_llama2c(const struct job *j)
{
    (void)j;
    return true;
}

static enum err read_llama2c(struct job *j, bool vocab_only)
{
    enum err e = llama2c_parse(j->source, j->model.data, j->model.bytes);

    (void)vocab_only;
    if (e != ERR_OK) {
        return e;
    }
    return read_llama2c_tokenizer(j);
}

/* The readers; the first one whose `is` returns true reads the file. */
static const struct reader {
    bool by_name; /* `is` needs only the name; otherwise the file is mapped first */
    bool (*is)(const struct job *j);
    enum err (*read)(struct job *j, bool vocab_only);
    const char *with_tokenizer; /* for an error message, the name of a format with a tokenizer of
                                   its own; NULL: --tokenizer is used */
} readers[] = {
    { true, is_hf, read_hf, "a Hugging Face folder" }, { true, is_json, refuse_json, NULL },
    { false, is_ingot, refuse_ingot, NULL },           { false, is_gguf, read_gguf, "a GGUF" },
    { false, is_llama2c, read_llama2c, NULL },
};

static const struct reader *find_reader(const struct job *j, bool by_name)
{
    for (size_t i = 0; i < sizeof readers / sizeof readers[0]; i++) {
        if (readers[i].by_name == by_name && readers[i].is(j)) {
            return &readers[i];
        }
    }
    return NULL;
}

static enum err parse(struct job *j, bool vocab_only)
{
    const struct reader *reader = find_reader(j, true);

    if (reader == NULL) {
        enum err e = map_file(j->source, j->options->input, PLACE_MODEL, &j->model);

        if (e != ERR_OK) {
            return e;
        }
        reader = find_reader(j, false);
    }
    if (reader->with_tokenizer != NULL && j->options->tokenizer != NULL) {
        return source_refuse(j->source, ERR_BAD_ARGUMENT,
                             "%s brings its own tokenizer; leave out --tokenizer",
                             reader->with_tokenizer);
    }
    if (j->options->mtp && reader->read != read_gguf) {
        return source_refuse(j->source, ERR_BAD_ARGUMENT,
                             "only a GGUF has an MTP head that can be packed; leave out --mtp");
    }
    return reader->read(j, vocab_only);
}

/* Print each line by its own call of fprintf, because the text of one call to standard error
 * becomes one line there (host/args/shown_streams.h). */
static void print_notes(const char *notes)
{
    while (*notes != '\0') {
        size_t n = strcspn(notes, "\n");

        fprintf(stderr, "%.*s\n", (int)n, notes);
        notes += n + (notes[n] == '\n');
    }
}

/* Read all that must be known before a byte is written. Only this function allocates the source. */
static enum err open_job(struct job *j, const struct pack_options *o, bool vocab_only,
                         char *error_message, size_t error_message_bytes)
{
    enum err e;

    *j = (struct job){ .options = o, .source = calloc(1, sizeof *j->source) };
    if (j->source == NULL) {
        snprintf(error_message, error_message_bytes, "out of memory");
        return ERR_NO_SPACE;
    }
    j->source->path = o->input;
    j->source->wants_mtp = o->mtp;
    e = parse(j, vocab_only);
    if (e != ERR_OK) {
        snprintf(error_message, error_message_bytes, "%s", j->source->error_message);
    } else if (!o->quiet) {
        print_notes(j->source->notes);
    }
    return e;
}

static void close_job(struct job *j)
{
    unmap_file(&j->model);
    unmap_file(&j->tokenizer);
    hf_close(j->hf);
    gguf_close(j->gguf);
    free(j->source);
}

enum err pack_source(struct source *s, const struct pack_options *o, char *error_message,
                     size_t error_message_bytes)
{
    const struct output_wish wish = { .path = o->output,
                                      .input = o->input,
                                      .instead = "name a new file, such as model.ingot" };
    struct output_file out;
    enum err e = output_open(&out, &wish, error_message, error_message_bytes);

    if (e != ERR_OK) {
        return e;
    }
    e = pack_write(s, o, out.fd, o->output);
    if (e != ERR_OK) {
        snprintf(error_message, error_message_bytes, "%s", s->error_message);
        output_drop(&out);
        return e;
    }
    return output_keep(&out, error_message, error_message_bytes);
}

enum err pack_file(const struct pack_options *o, char *error_message, size_t error_message_bytes)
{
    struct job j;
    enum err e = open_job(&j, o, false, error_message, error_message_bytes);

    if (e == ERR_OK) {
        e = pack_source(j.source, o, error_message, error_message_bytes);
    }
    close_job(&j);
    return e;
}

/* Write the model to the file at path, which is open as fd. */
static enum err write_temporary(struct source *s, const struct pack_options *o, int fd,
                                const char *path, char *error_message, size_t error_message_bytes)
{
    enum err e = pack_write(s, o, fd, path);

    if (e == ERR_IO) { /* the user did not name this file, and cannot know its folder */
        snprintf(error_message, error_message_bytes, "%s (TMPDIR names its folder)",
                 s->error_message);
    } else if (e != ERR_OK) {
        snprintf(error_message, error_message_bytes, "%s", s->error_message);
    } else {
        e = mapping_check(error_message, error_message_bytes);
    }
    if (close(fd) != 0 && e == ERR_OK) {
        snprintf(error_message, error_message_bytes, "%s: %s (TMPDIR names its folder)", path,
                 strerror(errno));
        e = ERR_IO;
    }
    if (e != ERR_OK) {
        temporary_remove(path);
    }
    return e;
}

enum err pack_temporary(const struct pack_options *o, char *path, size_t path_bytes,
                        char *error_message, size_t error_message_bytes)
{
    struct job j;
    int fd;
    enum err e = open_job(&j, o, false, error_message, error_message_bytes);

    if (e == ERR_OK) {
        fd = temporary_file(NULL, path, path_bytes);
        if (fd < 0) {
            snprintf(error_message, error_message_bytes,
                     "cannot make a temporary file (TMPDIR names its folder): %s", strerror(errno));
            e = ERR_IO;
        } else {
            e = write_temporary(j.source, o, fd, path, error_message, error_message_bytes);
        }
    }
    close_job(&j);
    return e;
}

/* Build the tokenizer section, which the caller frees, after errors as well. */
static enum err build_tokenizer(struct source *s, const struct pack_options *o, uint8_t **section,
                                uint64_t *bytes, uint32_t *vocab)
{
    alignas(struct ingot_chat) uint8_t chat[CHAT_MOST_BYTES];
    struct tokenizer_size size;
    size_t chat_bytes;
    enum err e = tokenizer_section_measure(s, &size);

    if (e != ERR_OK) {
        return e;
    }
    *vocab = size.n_tokens;
    *section = calloc(1, (size_t)size.bytes);
    if (*section == NULL) {
        snprintf(s->error_message, sizeof s->error_message, "out of memory");
        return ERR_NO_SPACE;
    }
    e = tokenizer_section_build(s, &size, *section, bytes);
    if (e != ERR_OK) {
        return e;
    }
    return pack_chat(s, o, *section, chat, &chat_bytes); /* pack_chat changes the types of tokens */
}

enum err pack_tokenizer(const struct pack_options *o, uint8_t **section, uint64_t *bytes,
                        uint32_t *vocab, char *error_message, size_t error_message_bytes)
{
    struct job j;
    enum err e = open_job(&j, o, true, error_message, error_message_bytes);

    *section = NULL;
    if (e == ERR_OK) {
        e = build_tokenizer(j.source, o, section, bytes, vocab);
        if (e != ERR_OK) {
            snprintf(error_message, error_message_bytes, "%s", j.source->error_message);
            free(*section);
            *section = NULL;
        }
    }
    close_job(&j);
    return e;
}

static enum err open_error(void)
{
    if (errno == ENOENT) {
        return ERR_NOT_FOUND;
    }
    return ERR_IO;
}

bool pack_is_ingot(const char *path, enum err *e)
{
    char magic[8] = { 0 };
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* does not wait for a pipe's writer */
    ssize_t n;
    int error;

    if (fd < 0) {
        *e = open_error();
        return false;
    }
    *e = ERR_OK;
    n = read(fd, magic, sizeof magic);
    /* The packer reports a folder or an empty pipe later. */
    if (n < 0 && errno != EISDIR && errno != EAGAIN) {
        *e = ERR_IO;
    }
    error = errno;
    close(fd);
    errno = error;
    return n == (ssize_t)sizeof magic && memcmp(magic, INGOT_MAGIC, sizeof magic) == 0;
}
