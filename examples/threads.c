/* Asks a model any number of things in one conversation, with two threads:  threads model.ingot "Hello!" ... */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ingot.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

struct job {
    void (*entry)(void *arg);
    void *arg;
};

static void *run_job(void *job)
{
    ((struct job *)job)->entry(((struct job *)job)->arg);
    return NULL;
}

static bool start_core(void *context, uint32_t core, void (*entry)(void *arg), void *arg)
{
    static struct job jobs[INGOT_MOST_CORES];
    pthread_t *threads = context;

    jobs[core].entry = entry;
    jobs[core].arg = arg;
    return pthread_create(&threads[core], NULL, run_job, &jobs[core]) == 0;
}

static void wait_change(void *context, const uint32_t *word, uint32_t old)
{
    (void)context;
    pthread_mutex_lock(&lock);
    while (__atomic_load_n(word, __ATOMIC_SEQ_CST) == old)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
}

static void wake_all(void *context, const uint32_t *word)
{
    (void)context;
    (void)word;
    pthread_mutex_lock(&lock);
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

static bool read_file(void *file, uint64_t offset, void *buffer, size_t bytes)
{
    return fseek(file, (long)offset, SEEK_SET) == 0 && fread(buffer, 1, bytes, file) == bytes;
}

static uint64_t ticks(void *context)
{
    struct timespec t;

    (void)context;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static bool print(void *context, const char *text, size_t bytes)
{
    (void)context;
    return fwrite(text, 1, bytes, stdout) == bytes;
}

/* Memory for all weights. */
static enum ingot_error take_memory(struct ingot_setup *setup)
{
    struct ingot_memory needed;
    enum ingot_error e;

    setup->memory_bytes = 16 << 20; /* enough to read the file's tables */
    setup->memory = malloc(setup->memory_bytes);
    e = ingot_memory_needed(setup, &needed);
    free(setup->memory);
    setup->memory_bytes = needed.all;
    setup->memory = malloc(needed.all);
    return e;
}

int main(int argc, char **argv)
{
    pthread_t threads[INGOT_MOST_CORES];
    struct ingot_setup setup = { 0 };
    struct ingot_model_info info;
    struct ingot_model *model = NULL;
    struct ingot_session *session;
    struct ingot_generate_params params;
    FILE *file = argc < 2 ? NULL : fopen(argv[1], "rb");
    enum ingot_error e;

    if (file == NULL || fseek(file, 0, SEEK_END) != 0)
        return 2;
    setup.source.name = argv[1];
    setup.source.bytes = (uint64_t)ftell(file);
    setup.source.context = file;
    setup.source.read = read_file;
    setup.clock.ticks = ticks;
    setup.clock.hz = 1000000000;
    setup.cores.context = threads;
    setup.cores.n = 2;
    setup.cores.spin_micros = 50;
    setup.cores.start = start_core;
    setup.cores.wait = wait_change;
    setup.cores.wake = wake_all;
    ingot_generate_default(&params);
    params.temp = 0;

    e = take_memory(&setup);
    if (e == INGOT_OK)
        e = ingot_open(&setup, &model);
    if (e == INGOT_OK)
        e = ingot_load(model);
    if (e == INGOT_OK)
        e = ingot_session_begin(model, &session);
    for (int i = 2; i < argc && e == INGOT_OK; i++) {
        struct ingot_turn turn = { .text = argv[i], .text_bytes = strlen(argv[i]) };

        e = ingot_prompt_turn(session, &turn);
        if (e == INGOT_OK)
            e = ingot_generate(session, &params, print, NULL, NULL);
        printf("\n");
    }
    if (e != INGOT_OK)
        fprintf(stderr, "%s: %s\n", ingot_error_text(e), ingot_error_message(model));
    if (ingot_model_describe(model, &info) != INGOT_OK)
        info.n_cores = 0;
    (void)ingot_close(model);
    for (uint32_t core = 1; core < info.n_cores; core++)
        pthread_join(threads[core], NULL);
    free(setup.memory);
    fclose(file);
    return e != INGOT_OK;
}
