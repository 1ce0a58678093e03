#include "board/host/host_model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "board/host/host_board.h"
#include "board/memory_device.h"
#include "flash_image/map_file.h"
#include "flash_image/pack.h"
#include "kernels/tuning.h"
#include "runtime/console.h"
#include "runtime/report.h"
#include "runtime/selftest.h"

static bool fail(const char *path, const char *sentence)
{
    fprintf(stderr, "ingot: %s: %s\n", path, sentence);
    return false;
}

/* --mmap: the file as flash would be, addressable. */
static bool map_model(struct host_model *m, const char *path)
{
    struct mapping file;
    char problem[128];

    if (mapping_open(&file, path, problem, sizeof problem) != ERR_OK) {
        return fail(path, problem);
    }
    if (file.bytes < SECTOR_BYTES) {
        return fail(path, "too short to be an .ingot file");
    }
    m->mapped = file.data;
    memory_device_open(&m->device, "mapped file", file.data, file.bytes);
    return true;
}

static bool open_file(struct host_model *m, const struct host_args *args, const char *path)
{
    struct file_timeout timeout = { board.ticks, 30 * board.ticks_hz() };
    struct stat st;
    enum err e;

    if (args->in_place) {
        if (!map_model(m, path)) {
            return false;
        }
    } else if (file_device_open(&m->device_state, path, args->card_rate, &m->device) != ERR_OK) {
        fprintf(stderr, "ingot: %s\n", m->device_state.why);
        return false;
    }
    if (stat(path, &st) != 0) {
        return fail(path, "cannot be read");
    }
    e = file_open_device(&m->file, &m->device, (uint64_t)st.st_size, &timeout);
    snprintf(m->file.name, sizeof m->file.name, "%.*s", (int)sizeof m->file.name - 1, args->model);
    return e == ERR_OK ? true : fail(path, err_text(e));
}

/* Other formats are packed into a temporary file, which is gone once it is open. */
static bool open_any(struct host_model *m, const struct host_args *args)
{
    struct pack_options pack = { .input = args->model, .tokenizer = args->tokenizer,
                                 .template = args->template,
                                 .quiet = args->quiet };
    char path[512];
    char problem[512];
    enum err e = ERR_OK;
    bool opened;

    if (pack_is_ingot(args->model, &e)) {
        return open_file(m, args, args->model);
    }
    if (e != ERR_OK) {
        return fail(args->model, e == ERR_NOT_FOUND ? "no such file" : err_text(e));
    }
    if (pack_temporary(&pack, path, sizeof path, problem, sizeof problem) != ERR_OK) {
        fprintf(stderr, "ingot: %s\n", problem);
        return false;
    }
    opened = open_file(m, args, path);
    unlink(path);
    return opened;
}

/* In the arena, which is still empty. */
static bool test_kernels(struct host_model *m, const struct host_args *args)
{
    bool trusted;

    host_console_to(2);
    trusted = selftest_run(&m->kernels, m->machine.cpu_features, args->options.sampler.seed,
                           m->machine.ram[0].base, m->machine.ram[0].bytes);
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

bool host_model_open(struct host_model *m, const struct host_args *args)
{
    if (args->model == NULL) {
        fprintf(stderr, "ingot: which model? give an .ingot or GGUF file; see `ingot --help`\n");
        return false;
    }
    memset(m, 0, sizeof *m);
    if (!host_machine(&m->machine) || !choose_kernels(m, args) || !open_any(m, args)) {
        return false;
    }
    m->setup.ram = m->machine.ram[0];
    if (args->ram != 0 && args->ram < m->setup.ram.bytes) {
        m->setup.ram.bytes = (size_t)args->ram;
    }
    m->setup.file = &m->file;
    m->setup.team = &m->team;
    m->setup.kernels = &m->kernels;
    m->setup.weight_limit = (size_t)args->options.mem;
    m->setup.context = args->options.ctx;
    m->setup.chunk = args->chunk;
    m->setup.kv_type = (enum kv_type)args->options.kv;
    if (engine_open(&m->engine, &m->setup) != ERR_OK) {
        fprintf(stderr, "ingot: %s\n", m->engine.problem);
        return false;
    }
    return true;
}

static void show_progress(void *context, const char *label, uint64_t done, uint64_t total)
{
    const struct host_args *args = context;

    if (!args->quiet) {
        console_progress(label, done, total);
    }
}

bool host_model_load(struct host_model *m, const struct host_args *args)
{
    unsigned cores = args->options.cores != 0 ? args->options.cores : m->machine.n_cores;
    union {
        const void *in;
        void *out;
    } context = { .in = args };
    enum err e;

    host_console_to(2);
    if (!args->quiet) {
        report_kernels(m->features, m->kernels.ahead);
        report_model(&m->engine);
        report_plan(&m->engine);
    }
    team_start(&m->team, cores);
    e = engine_load(&m->engine, &m->setup, show_progress, context.out);
    console_progress_end();
    host_console_to(1);
    if (e != ERR_OK) {
        fprintf(stderr, "ingot: %s\n", m->engine.problem);
        return false;
    }
    return true;
}
