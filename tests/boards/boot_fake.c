#include "tests/boards/boot_fake.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "board/drivers/dma/dma.h"
#include "board/drivers/irq/core_registers.h"
#include "board/drivers/soc/generic_timer.h"
#include "board/drivers/soc/riscv_timer.h"
#include "board/drivers/soc/semihosting.h"
#include "board/isa.h"
#include "boot/boot.h"
#include "boot/canary.h"
#include "boot/panic.h"
#include "boot/stage.h"

enum { PAGE = 4096, TICKS_HZ = 1000000, TICKS_A_LOOK = 50, MAILBOX_WRITE = 0x20 };

struct box box;

static struct fake {
    uint64_t pages
        [BOX_MOST_PAGES]; /* pages of devices that are mapped; of a block, its first and last page */
    uint64_t ends[BOX_MOST_PAGES];
    unsigned n_pages;
    uint64_t ticks;
} fake;

/* ---- memory ---- */

static uint32_t *word_at(uint64_t at)
{
    for (unsigned i = 0; i < fake.n_pages; i++)
        if (at >= fake.pages[i] && at < fake.ends[i])
            return (uint32_t *)(uintptr_t)at;
    return NULL;
}

static void preset(uint64_t start, uint64_t end)
{
    for (uint64_t at = start; at < end && at < start + BOX_FILL_BYTES; at += 4)
        *(uint32_t *)(uintptr_t)at = box.fill;
    for (unsigned i = 0; i < box.n_registers; i++)
        if (!box.registers[i].is_asked && box.registers[i].at >= start && box.registers[i].at < end)
            *(uint32_t *)(uintptr_t)box.registers[i].at = box.registers[i].value;
}

static void add_block(uint64_t start, uint64_t end)
{
    if (fake.n_pages == BOX_MOST_PAGES ||
        mmap((void *)(uintptr_t)start, end - start, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1,
             0) != (void *)(uintptr_t)start) {
        printf("cannot lay a device at %llx\n", (unsigned long long)start);
        exit(1);
    }
    fake.pages[fake.n_pages] = start;
    fake.ends[fake.n_pages++] = end;
    preset(start, end);
    if (word_at(box.mailbox) != NULL && box.n_answers + box.n_stale == 0)
        word_at(box.mailbox)[MAILBOX_WRITE / 4] = 0; /* nobody has asked yet */
}

/* RAM that a board may probe: a file without contents that is as long as the address space. */
static void lay_ram(uint64_t start, uint64_t end)
{
    const uint64_t gib = UINT64_C(1) << 30, low = UINT64_C(2) << 30;
    uint64_t at = box.twins && start > UINT32_MAX ? low + start % gib : start;
    static int file;

    if (file == 0) {
        file = memfd_create("ram", 0);
        if (ftruncate(file, (off_t)(gib << 10)) != 0)
            exit(1);
    }
    /* The tree, and everything else of this program, is there already. */
    (void)mmap((void *)(uintptr_t)start, end - start, PROT_READ | PROT_WRITE,
               MAP_SHARED | MAP_NORESERVE | MAP_FIXED_NOREPLACE, file, (off_t)at);
}

enum err mmu_map(uintptr_t base, size_t bytes, enum mapping mapping)
{
    uint64_t start = base & ~(uint64_t)(PAGE - 1),
             end = (base + bytes + PAGE - 1) & ~(uint64_t)(PAGE - 1);

    if (mapping == MAP_DATA)
        lay_ram(start, end);
    if (mapping != MAP_DEVICE)
        return ERR_OK;
    printf("device %llx %llx\n", (unsigned long long)base, (unsigned long long)bytes);
    for (uint64_t at = start; at < end;) {
        uint64_t stop = end - start > BOX_FILL_BYTES && word_at(at) == NULL ? end : at + PAGE;

        if (word_at(at) == NULL)
            add_block(at, stop);
        at = stop;
    }
    return ERR_OK;
}

void box_print_registers(void)
{
    for (unsigned i = 0; i < box.n_registers; i++) {
        const uint32_t *word = word_at(box.registers[i].at);

        if (box.registers[i].is_asked)
            printf("register %llx %x\n", (unsigned long long)box.registers[i].at,
                   word != NULL ? *word : 0);
    }
}

/* ---- caches ---- */

/* Lines that were flushed or that a bus master used, as the master sees them: it does not look into
 * a core's caches. A line that nobody flushed is dirty, and memory still has older bytes. */
enum { LINE_BYTES = 64, MOST_LINES = 512, BEFORE = 0xa5 };

static struct cached {
    uintptr_t at;
    uint8_t memory[LINE_BYTES],
        fetched[LINE_BYTES]; /* the core's copy is dirty if it differs from `fetched` */
} lines[MOST_LINES];
static unsigned n_lines;

static struct cached *line_of(uintptr_t at)
{
    struct cached *line;

    at &= ~(uintptr_t)(LINE_BYTES - 1);
    for (unsigned i = 0; i < n_lines; i++)
        if (lines[i].at == at)
            return &lines[i];
    if (n_lines == MOST_LINES) {
        printf("more lines than the box has\n");
        exit(1);
    }
    line = &lines[n_lines++];
    line->at = at;
    memset(line->memory, BEFORE, LINE_BYTES);
    memcpy(line->fetched, (const void *)at, LINE_BYTES);
    line->fetched[0] ^= 0xff;
    return line;
}

/* Writes a dirty line to memory, over what a master wrote there, and fetches the line again. */
static void flush_line(uintptr_t at)
{
    struct cached *line = line_of(at);

    if (memcmp((const void *)line->at, line->fetched, LINE_BYTES) != 0)
        memcpy(line->memory, (const void *)line->at, LINE_BYTES);
    memcpy((void *)line->at, line->memory, LINE_BYTES);
    memcpy(line->fetched, line->memory, LINE_BYTES);
}

static uint32_t *master_word(const uint32_t *word)
{
    uintptr_t at = (uintptr_t)word;

    return (uint32_t *)(void *)(line_of(at)->memory + at % LINE_BYTES);
}

/* ---- the VideoCore: what it is asked is answered between two looks at its status ---- */

enum { MAILBOX_READ = 0x00, MAILBOX_STATUS = 0x18, MOST_WORDS = 64 };
#define MAILBOX_EMPTY (1u << 30)
#define MAILBOX_DONE 0x80000000u

static void answer_tag(uint32_t *tag)
{
    uint32_t *values = tag + 3;

    tag[2] = MAILBOX_DONE | tag[1];
    switch (tag[0]) {
    case 0x00000001: values[0] = 1700000000; break; /* its date */
    case 0x00010002: values[0] = box.revision; break;
    case 0x00010005: memcpy(values, box.memory, sizeof box.memory); break;
    case 0x00028001: /* power; device 0 is the card */
        printf("power %u %u\n", values[0], values[1]);
        box.is_powered = true;
        values[1] = 1;
        break;
    case 0x00030002: /* clocks; clock 1 is that of Arasan's controller */
        if (values[0] == 1 && !box.is_powered)
            printf("power comes after the clock\n");
        /* fall through */
    case 0x00030004:
    case 0x00038002: values[1] = values[0] == 2 ? 48000000 : 200000000; break;
    default: tag[2] = MAILBOX_DONE; break; /* nothing */
    }
}

/* A message has 30 bits of address, and is near `box`. */
static uint32_t *whole_address(uint32_t word)
{
    const uint64_t gib = UINT64_C(1) << 30, here = (uintptr_t)&box;
    uint64_t at = (here & ~(gib - 1)) | (word & 0x3ffffff0);

    if (at > here + gib / 2)
        at -= gib;
    else if (at + gib / 2 < here)
        at += gib;
    return (uint32_t *)(uintptr_t)at;
}

/* Answers the message as memory has it. False: memory has none, because nobody flushed it. */
static bool answer(const uint32_t *message)
{
    uint32_t copy[MOST_WORDS], n = *master_word(message) / 4;

    if (n < 6 || n > MOST_WORDS)
        return false;
    for (uint32_t i = 0; i < n; i++)
        copy[i] = *master_word(message + i);
    answer_tag(copy + 2);
    copy[1] = MAILBOX_DONE;
    for (uint32_t i = 0; i < n; i++)
        *master_word(message + i) = copy[i];
    return true;
}

static void serve_mailbox(void)
{
    uint32_t *base = word_at(box.mailbox);

    if (base == NULL)
        return;
    base[MAILBOX_STATUS / 4] = MAILBOX_EMPTY;
    if (base[MAILBOX_WRITE / 4] == 0)
        return;
    if (answer(whole_address(base[MAILBOX_WRITE / 4])))
        box.n_answers++;
    else
        box.n_stale++;
    base[MAILBOX_READ / 4] = base[MAILBOX_WRITE / 4];
    base[MAILBOX_WRITE / 4] = 0;
    base[MAILBOX_STATUS / 4] = 0;
}

/* ---- time ---- */

/* Bits that a device clears or sets by itself, such as the end of a reset or a stable clock. */
static void act(void)
{
    for (unsigned i = 0; i < box.n_acts; i++) {
        uint32_t *word = word_at(box.acts[i].at);

        if (word != NULL)
            *word = (*word & ~box.acts[i].clears) | box.acts[i].sets;
    }
}

static uint64_t look(void)
{
    serve_mailbox();
    act();
    return fake.ticks += TICKS_A_LOOK;
}

uint64_t generic_timer_ticks(void)
{
    return look();
}

uint64_t generic_timer_hz(void)
{
    return TICKS_HZ;
}

uint64_t riscv_timer_ticks(void)
{
    return look();
}

/* ---- cores; firmware_fake.c has what is below them ---- */

uint64_t core_hardware_id(void)
{
    return box.hart;
}

unsigned core_number(void)
{
    return 0;
}

uintptr_t core_prepare(unsigned core, void (*entry)(void *arg), void *arg)
{
    (void)entry;
    (void)arg;
    return 0x1000 * core;
}

void core_release(uintptr_t release, unsigned core, void (*entry)(void *arg), void *arg)
{
    (void)entry;
    (void)arg;
    printf("release %u %lx\n", core, (unsigned long)release);
}

/* Nothing sleeps, wakes or ends here. */
void semihosting_exit(int status)
{
    exit(status);
}
void core_wait(const _Atomic uint32_t *word, uint32_t old)
{
    (void)word, (void)old;
}
void core_wake(const _Atomic uint32_t *word)
{
    (void)word;
}
void core_idle(void)
{
}
void core_timer_start(uint64_t ticks)
{
    (void)ticks;
}
void core_timer_stop(void)
{
}
bool core_interrupt_pending(void)
{
    return false;
}
bool core_interrupts_mask(void)
{
    return false;
}
void core_interrupts_restore(bool on)
{
    (void)on;
}
void core_halt(void)
{
    exit(1);
}

void core_interrupts_on(void (*handler)(void *context), void *context)
{
    (void)handler;
    (void)context;
}

uint64_t core_register_read(const char *name)
{
    (void)name;
    return 0;
}

void core_register_write(const char *name, uint64_t value)
{
    (void)name;
    (void)value;
}

void dma_barrier(void)
{
}
size_t dma_cache_line_bytes(void)
{
    return 64;
}
void dma_flush_line(uintptr_t line)
{
    flush_line(line);
}
void dma_flush_end(void)
{
}

/* ---- the rest of boot/ ---- */

void canary_init(const struct device_tree *tree)
{
    (void)tree;
}
void boot_stage_enter(enum boot_stage stage)
{
    (void)stage;
}

void cpu_detect(const struct device_tree *tree, struct machine *machine)
{
    (void)tree;
    (void)machine;
}

void panic(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    printf("panic ");
    vprintf(format, args);
    printf("\n");
    va_end(args);
    exit(0);
}
