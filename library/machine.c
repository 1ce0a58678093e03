/* The caller's clock, cores and file, as a platform and a block device. The context of both is the
 * model. */
#include "library/library.h"

#include <stdarg.h>

#include "board/memory_device.h"
#include "board/min_max.h"
#include "runtime/base/crc32c.h"
#include "runtime/text/format_text.h"

_Static_assert((int)INGOT_MOST_CORES == (int)BOARD_MAX_CORES, "both limits of cores are the same");
_Static_assert((int)INGOT_READ_BYTES == (int)SECTOR_BYTES, "reads are made of sectors");
_Static_assert(sizeof(_Atomic uint32_t) == sizeof(uint32_t), "callers wait on a plain uint32_t");
_Static_assert(
    (int)INGOT_CPU_NEON == (int)CPU_ARM64_NEON && (int)INGOT_CPU_RV64GC == (int)CPU_RV64_GC &&
        (int)INGOT_CPU_RVV == (int)CPU_RV64_V && (int)INGOT_CPU_AVX2 == (int)CPU_X86_AVX2 &&
        (int)INGOT_CPU_DOTPROD == (int)CPU_ARM64_DOTPROD &&
        (int)INGOT_CPU_I8MM == (int)CPU_ARM64_I8MM && (int)INGOT_CPU_SVE == (int)CPU_ARM64_SVE &&
        (int)INGOT_CPU_ZVFH == (int)CPU_RV64_ZVFH && (int)INGOT_CPU_AVX512 == (int)CPU_X86_AVX512 &&
        (int)INGOT_CPU_VNNI == (int)CPU_X86_VNNI && (int)INGOT_CPU_ARM_CRC == (int)CPU_ARM64_CRC &&
        (int)INGOT_CPU_ZBC == (int)CPU_RV64_ZBC && (int)INGOT_CPU_ARM_SHA2 == (int)CPU_ARM64_SHA2 &&
        (int)INGOT_CPU_ZBB == (int)CPU_RV64_ZBB &&
        (int)INGOT_CPU_AVX_VNNI == (int)CPU_X86_AVX_VNNI &&
        (int)INGOT_CPU_ZVKNHA == (int)CPU_RV64_ZVKNHA,
    "the bits of enum ingot_cpu are those of enum cpu_feature");

enum { LINE_BYTES = 256 };

/* ---- clock and cores ------------------------------------------------------------------------ */

static uint64_t ticks(void *context)
{
    const struct ingot_clock *clock = &((struct ingot_model *)context)->setup.clock;

    return clock->ticks(clock->context);
}

static enum err start(void *context, unsigned core, void (*entry)(void *arg), void *arg)
{
    const struct ingot_cores *cores = &((struct ingot_model *)context)->setup.cores;

    return cores->start(cores->context, core, entry, arg) ? ERR_OK : ERR_NO_DEVICE;
}

static void wait(void *context, const _Atomic uint32_t *word, uint32_t old)
{
    const struct ingot_cores *cores = &((struct ingot_model *)context)->setup.cores;

    cores->wait(cores->context, (const uint32_t *)word, old);
}

static void wake(void *context, const _Atomic uint32_t *word)
{
    const struct ingot_cores *cores = &((struct ingot_model *)context)->setup.cores;

    cores->wake(cores->context, (const uint32_t *)word);
}

static uint32_t chosen_features(const struct ingot_setup *setup)
{
    if (setup->cpu == INGOT_CPU_PORTABLE) {
        return CPU_ANY;
    }
    if (setup->cpu == INGOT_CPU_AUTO || setup->cpu == INGOT_CPU_DETECT) {
        return library_cpu_features(setup->cpu == INGOT_CPU_DETECT);
    }
    return setup->cpu;
}

static uint32_t features(void *context, unsigned n)
{
    (void)n; /* the program's setup gives one set of features for all cores */
    return chosen_features(&((struct ingot_model *)context)->setup);
}

/* ---- the file ------------------------------------------------------------------------------- */

/* Submit a request; the caller's read returns when it is done. */
static enum err submit(struct block_device *device, struct block_request *r)
{
    const struct ingot_source *source = device->driver;
    enum err e = block_request_check(device, r);

    if (e != ERR_OK) {
        return e;
    }
    r->status = ERR_OK;
    if (!source->read(source->context, r->sector * SECTOR_BYTES, r->buffer,
                      (size_t)r->n_sectors * SECTOR_BYTES)) {
        r->status = ERR_IO;
    }
    r->done = true;
    return ERR_OK;
}

static enum err poll(struct block_device *device)
{
    (void)device;
    return ERR_OK;
}

static void open_device(struct ingot_model *m)
{
    struct ingot_source *source = &m->setup.source;

    if (source->data != NULL) {
        memory_device_open(&m->device, "memory", source->data, source->bytes);
        return;
    }
    m->device = (struct block_device){ .name = "the caller's file",
                                       .n_sectors = source->bytes / SECTOR_BYTES,
                                       .max_sectors = INGOT_MOST_READ / SECTOR_BYTES,
                                       .queue_depth = 1,
                                       .submit = submit,
                                       .poll = poll,
                                       .driver = source };
}

/* ---- all of it ------------------------------------------------------------------------------ */

void library_open_machine(struct ingot_model *m)
{
    const struct ingot_setup *s = &m->setup;

    m->platform = (struct platform){
        .name = "library",
        .clock = { .context = m, .ticks = ticks, .hz = s->clock.hz, .start = ticks(m) },
        .cores = { .context = m,
                   .n = max_u32(1, s->cores.n),
                   .spin_micros = s->cores.spin_micros,
                   .tuning = library_cpu_tuning(),
                   .features = features,
                   .start = start,
                   .wait = wait,
                   .wake = wake },
    };
    open_device(m);
}

void library_choose_kernels(struct ingot_model *m)
{
    uint32_t present = chosen_features(&m->setup);

    kernels_select(&m->kernels, present);
    m->kernels.ahead = m->platform.cores.tuning->ahead;
    crc32c_use(&m->kernels);
    kernels_features_text(m->kernels_text, present);
}

void library_log(const struct ingot_model *m, const char *format, ...)
{
    char line[LINE_BYTES];
    va_list args;

    if (m->setup.log == NULL) {
        return;
    }
    va_start(args, format);
    format_text_args(line, sizeof line, format, args);
    va_end(args);
    m->setup.log(m->setup.log_context, line);
}
