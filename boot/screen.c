#include "boot/screen.h"

#include <stdatomic.h>

#include "boot/boot.h"
#include "runtime/screen/screen.h"

/* How long a report stays, so that it can be read and photographed. */
enum { HOLD_SECONDS = 60, TAKE_MILLIS = 200, ALIGN = 64 };

static struct boot_screen {
    struct screen screen;
    _Atomic bool open;
    _Atomic bool taken; /* taken by a panic */
    _Atomic bool busy;  /* core 0 is writing */
    const char *error_message, *none;
} boot_screen;

static bool is_open(void)
{
    return atomic_load(&boot_screen.open);
}

/* Begin to use the screen, on core 0 only. Returns false if no screen is open, or a report uses
 * it. */
static bool begin(void)
{
    if (!is_open())
        return false;
    /* Set `busy` before reading `taken`, because a reporting core sets `taken` and then waits
     * for `busy`. */
    atomic_store(&boot_screen.busy, true);
    if (!atomic_load(&boot_screen.taken))
        return true;
    atomic_store(&boot_screen.busy, false);
    return false;
}

static void show(void *context, char c)
{
    (void)context;
    if (!begin())
        return;
    screen_put(&boot_screen.screen, &c, 1);
    atomic_store(&boot_screen.busy, false);
}

static void refresh(void *context, bool now)
{
    (void)context;
    if (!begin())
        return;
    screen_refresh(&boot_screen.screen, now);
    atomic_store(&boot_screen.busy, false);
}

/* Return true if the pixels are in memory that the device tree gives to Ingot, whose data they
 * would overwrite. */
static bool is_ours(const struct machine *machine, const struct board_screen *s)
{
    uintptr_t start = (uintptr_t)s->pixels, end = start + (size_t)s->height * s->pitch;

    for (unsigned i = 0; i < machine->n_ram; i++) {
        uintptr_t from = (uintptr_t)machine->ram[i].base;

        if (start < from + machine->ram[i].bytes && from < end)
            return true;
    }
    return start < (uintptr_t)image_start + STACKS_BYTES + (size_t)(stacks_start - image_start) &&
           end > (uintptr_t)image_start;
}

static void *take_cells(struct memory_range *arena, size_t bytes)
{
    size_t skipped = -(uintptr_t)arena->base % ALIGN;
    uint8_t *cells = arena->base + skipped;

    if (arena->bytes < skipped + bytes)
        return NULL;
    arena->base = cells + bytes;
    arena->bytes -= skipped + bytes;
    return cells;
}

void boot_screen_open(struct platform *platform, const struct machine *machine)
{
    struct memory_range *arena = &platform->memory.arena;
    size_t before = arena->bytes;
    struct board_screen found = { 0 };
    void *cells;

    if (board.open_screen == NULL)
        return;
    if (!board.open_screen(&found, arena)) {
        boot_screen.error_message = found.error_message;
        boot_screen.none = found.none;
        return;
    }
    /* Pixels from the arena may be used; pixels from the firmware must be elsewhere. */
    if (arena->bytes == before && is_ours(machine, &found)) {
        boot_screen.error_message = "the firmware's picture lies in memory that the cores use";
        return;
    }
    if (screen_check(&found) != ERR_OK) {
        boot_screen.error_message = "its size or format is not supported";
        return;
    }
    cells = take_cells(arena, screen_bytes(&found));
    if (cells == NULL) {
        boot_screen.error_message = "there is too little memory for its characters";
        return;
    }
    screen_open(&boot_screen.screen, &found, &platform->clock, cells);
    platform->screen = (struct platform_screen){
        .columns = boot_screen.screen.text.columns,
        .rows = boot_screen.screen.text.rows,
        .show = show,
        .refresh = refresh,
    };
    /* Set `open` last, because a report may use the screen from now on. */
    atomic_store(&boot_screen.open, true);
}

const char *boot_screen_error_message(void)
{
    return boot_screen.error_message;
}

const char *boot_screen_none(void)
{
    return boot_screen.none;
}

static void wait_millis(uint64_t millis, const _Atomic bool *until_clear)
{
    uint64_t start = board.ticks(), hz = board.ticks_hz();

    while (board.ticks() - start < hz / 1000 * millis &&
           (until_clear == NULL || atomic_load(until_clear)))
        if (board.alive != NULL)
            board.alive();
}

/* Wait until core 0 has finished drawing, unless core 0 itself reports. */
void boot_screen_take(void)
{
    struct text_screen *t = &boot_screen.screen.text;

    if (!is_open())
        return;
    atomic_store(&boot_screen.taken, true);
    if (core_number() != 0)
        wait_millis(TAKE_MILLIS, &boot_screen.busy);
    /* The report begins as plain text, even if an escape sequence is incomplete. */
    t->n_held = 0;
    t->state = TEXT_PLAIN;
}

void boot_screen_put(char c)
{
    if (is_open() && atomic_load(&boot_screen.taken))
        screen_put(&boot_screen.screen, &c, 1);
}

static bool loses_power(void)
{
    return board.is_emulated != NULL && !board.is_emulated();
}

void boot_screen_hold(void)
{
    if (!is_open() || !atomic_load(&boot_screen.taken))
        return;
    screen_refresh(&boot_screen.screen, true);
    if (loses_power())
        wait_millis(HOLD_SECONDS * 1000, NULL);
}

void boot_screen_drop(void)
{
    atomic_store(&boot_screen.open, false);
}
