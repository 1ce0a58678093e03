#include "host/host_model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "board/host/host_board.h"
#include "board/host/host_platform.h"
#include "board/memory_device.h"
#include "flash_image/source/map_file.h"
#include "flash_image/pack/pack.h"
#include "kernels/tuning.h"
#include "runtime/chat/report.h"
#include "runtime/console/console.h"
#include "runtime/session/speculative.h"

static bool fail(const char *path, const char *sentence)
{
    fprintf(stderr, "ingot: %s: %s\n", path, sentence);
    return false;
}

/* --mmap: the file as flash would be, addressable. */
static bool map_model(struct host_file *f, const char *path)
{
    char problem[128];

    if (mapping_open(&f->mapping, path, problem, sizeof problem) != ERR_OK) {
        return fail(path, problem);
    }
    if (f->mapping.bytes < SECTOR_BYTES) {
        unmap_file(&f->mapping);
        return fail(path, "too short to be an .ingot file");
    }
    memory_device_open(&f->device, "mapped file", f->mapping.data, f->mapping.bytes);
    return true;
}

/* name: for messages. */
static bool open_file(struct host_file *f, const struct host_args *args, const char *path,
                      const char *name)
{
    struct file_timeout timeout = { f->platform, 30 * f->platform->clock.hz };
    struct stat st;
    enum err e;

    if (args->in_place) {
        if (!map_model(f, path)) {
            return false;
        }
    } else if (file_device_open(&f->device_state, path, args->card_rate, &f->device) != ERR_OK) {
        fprintf(stderr, "ingot: %s\n", f->device_state.why);
        return false;
    }
    f->open = true;
    if (stat(path, &st) != 0) {
        return fail(path, "cannot be read");
    }
    e = file_open_device(&f->file, &f->device, (uint64_t)st.st_size, &timeout);
    snprintf(f->file.name, sizeof f->file.name, "%.*s", (int)sizeof f->file.name - 1, name);
    return e == ERR_OK ? true : fail(path, err_text(e));
}

static void close_file(struct host_file *f)
{
    if (f->open && f->mapping.data == NULL) {
        file_device_close(&f->device_state);
    }
    unmap_file(&f->mapping);
    *f = (struct host_file){ .platform = f->platform };
}

/* Other formats are packed into a temporary file, which is gone once it is open. */
static bool open_any(struct host_file *f, const struct host_args *args, const char *name)
{
    struct pack_options pack = { .input = name,
                                 .tokenizer = args->tokenizer,
                                 .template = args->template,
                                 .quiet = args->quiet };
    char path[512];
    char problem[512];
    enum err e = ERR_OK;
    bool opened;

    if (pack_is_ingot(name, &e)) {
        return open_file(f, args, name, name);
    }
    if (e != ERR_OK) {
        return fail(name, e == ERR_NOT_FOUND ? "no such file" : err_text(e));
    }
    if (pack_temporary(&pack, path, sizeof path, problem, sizeof problem) != ERR_OK) {
        fprintf(stderr, "ingot: %s\n", problem);
        return false;
    }
    opened = open_file(f, args, path, name);
    unlink(path);
    return opened;
}

/* In the arena, which is still empty. */
static bool test_kernels(struct host_model *m, const struct host_args *args)
{
    bool trusted;

    host_console_to(2);
    trusted = report_selftest(&m->kernels, m->machine.cpu_features, args->options.sampler.seed,
                              m->machine.ram[0]);
    host_console_to(1);
    return trusted;
}

static bool choose_kernels(struct host_model *m, const struct host_args *args)
{
    uint32_t features = m->machine.cpu_features;
    char names[KERNELS_TEXT_BYTES];

    if (args->options.isa[0] != '\0' &&
        !kernels_force(m->machine.cpu_features, args->options.isa, &features)) {
        fprintf(stderr, "ingot: --isa %s is not to be had on this CPU, which has %s, or ref\n",
                args->options.isa, kernels_features_text(names, m->machine.cpu_features));
        return false;
    }
    kernels_select(&m->kernels, features);
    m->kernels.ahead = m->machine.tuning->ahead;
    m->features = features;
    return !args->options.selftest || test_kernels(m, args);
}

static bool said_fine(const struct model *model, enum err e)
{
    if (e != ERR_OK) {
        fprintf(stderr, "ingot: %s\n", model->problem);
    }
    return e == ERR_OK;
}

/* The draft first: it takes its place in the arena before the model's is planned. */
static bool open_draft(struct host_model *m, const struct host_args *args)
{
    if (!open_any(&m->draft_source, args, args->options.draft)) {
        return false;
    }
    m->draft = &m->draft_session;
    m->draft_setup = speculative_draft_setup(&m->setup, &m->draft_source.file);
    if (!said_fine(&m->draft_model, model_open(&m->draft_model, &m->draft_setup))) {
        return false;
    }
    speculative_leave(&m->setup, &m->draft_model);
    return true;
}

/* --kv card: a plan needs no file, a run does. */
static bool open_kv(struct host_model *m, const struct host_args *args)
{
    struct host_file *f = &m->kv_source;
    struct file_timeout timeout = { f->platform, 30 * f->platform->clock.hz };

    m->setup.kv_card = args->options.kv >= OPTIONS_KV_CARD;
    if (args->kv_file == NULL || f->open) {
        m->setup.kv_file = f->open ? &f->file : NULL;
        return true;
    }
    if (file_device_open_writable(&f->device_state, args->kv_file, args->card_rate, &f->device) !=
        ERR_OK) {
        fprintf(stderr, "ingot: %s; `truncate -s 64M FILE` makes one\n", f->device_state.why);
        return false;
    }
    if (file_open_device(&f->file, &f->device, f->device_state.bytes, &timeout) != ERR_OK) {
        return fail(args->kv_file, "has no bytes: `truncate -s 64M FILE` makes it large");
    }
    file_set_name(&f->file, args->kv_file);
    f->open = true;
    m->setup.kv_file = &f->file;
    return true;
}

static bool open_models(struct host_model *m, const struct host_args *args)
{
    struct speculative_params guessing = options_speculative(&args->options);

    memset(&m->setup, 0, sizeof m->setup);
    m->draft = NULL;
    m->setup.ram = m->machine.ram[0];
    if (args->ram != 0 && args->ram < m->setup.ram.bytes) {
        m->setup.ram.bytes = (size_t)args->ram;
    }
    m->setup.file = &m->source.file;
    m->setup.workers = &m->workers;
    m->setup.kernels = &m->kernels;
    m->setup.weight_limit = (size_t)args->options.mem;
    m->setup.context = args->options.ctx;
    m->setup.chunk = args->chunk;
    m->setup.kv_type = (enum kv_type)(args->options.kv % OPTIONS_KV_CARD);
    m->setup.rates = args->rates;
    m->setup.rates.card = args->predict ? args->card_rate : 0;
    m->setup.session_bytes = session_bytes;
    m->setup.calibrate = !args->predict;
    m->setup.guesses = speculative_room(&guessing);
    return open_kv(m, args) && (args->options.draft[0] == '\0' || open_draft(m, args)) &&
           said_fine(&m->model, model_open(&m->model, &m->setup)) &&
           (m->draft == NULL ||
            said_fine(&m->draft_model, speculative_check(&m->draft_model, &m->model)));
}

bool host_model_open(struct host_model *m, const struct host_args *args)
{
    if (args->model == NULL) {
        fprintf(stderr, "ingot: which model? give an .ingot or GGUF file; see `ingot --help`\n");
        return false;
    }
    memset(m, 0, sizeof *m);
    if (!host_machine(&m->machine)) {
        return false;
    }
    host_platform(&m->platform, &m->machine);
    m->source.platform = m->draft_source.platform = m->kv_source.platform = &m->platform;
    if (!choose_kernels(m, args) || !open_any(&m->source, args, args->model)) {
        return false;
    }
    workers_start(&m->workers, &m->platform,
                  args->options.cores != 0 ? args->options.cores : m->machine.n_cores);
    trace_open(&m->trace, &m->platform.clock);
    m->workers.trace = &m->trace;
    return open_models(m, args);
}

bool host_model_change(struct host_model *m, const struct host_args *args)
{
    stream_reset(&m->model.stream); /* nothing may arrive in what is planned anew */
    if (m->draft != NULL) {
        stream_reset(&m->draft_model.stream);
    }
    close_file(&m->source);
    close_file(&m->draft_source);
    return open_any(&m->source, args, args->model) && open_models(m, args);
}

/* A second Ctrl-C ends the program here, as it does wherever nobody takes the first. */
static bool show_progress(void *context, const char *label, uint64_t done, uint64_t total)
{
    (void)context;
    console_progress(label, done, total);
    return true;
}

static bool load(struct model *model, struct session *session, const struct model_setup *setup,
                 const struct host_args *args)
{
    struct model_setup own = *setup;
    enum err e;

    own.progress = args->quiet ? NULL : show_progress;
    e = model_load(model, &own);
    console_progress_end();
    if (e == ERR_OK) {
        session_open(session, model, &own);
    }
    return said_fine(model, e);
}

bool host_model_load(struct host_model *m, const struct host_args *args)
{
    bool loaded;

    if (m->model.plan.kv.n_spilled != 0 && m->setup.kv_file == NULL) {
        return fail(args->model,
                    "keys and values would spill: name a file for them with --kv-file");
    }
    host_console_to(2);
    if (!args->quiet) {
        report_kernels(m->features, m->kernels.ahead);
        if (m->draft != NULL) {
            report_draft(&m->draft_model);
        }
        report_model(&m->model);
        report_plan(&m->model);
    }
    loaded = (m->draft == NULL ||
              load(&m->draft_model, &m->draft_session, &m->draft_setup, args)) &&
             load(&m->model, &m->session, &m->setup, args);
    host_console_to(1);
    return loaded;
}
