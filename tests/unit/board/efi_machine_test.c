/* The parts that a firmware of EFI lacks or refuses: memory, a line, a display, other cores. Each costs its own effect alone. */
#include "board/efi/efi_parts.h"

#include "board/drivers/serial/serial.c" /* its state is in this test, as nobody else links it */
#include "tests/unit/board/fakes/fake_efi.h"

static struct machine machine;
static const struct device_tree no_tree;

/* efi_start.c has it. */
const struct device_tree *efi_tree(void)
{
    return &no_tree;
}

void core_halt(void)
{
    abort(); /* no core of a test ends elsewhere */
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* True: it has not panicked. */
static bool take_memory(void)
{
    memset(&machine, 0, sizeof machine);
    panic_text[0] = '\0';
    if (setjmp(panicked) != 0)
        return false;
    efi_memory_take(&machine);
    return true;
}

static bool took(uint64_t at, uint64_t mib)
{
    return machine.n_ram == 1 && (uintptr_t)machine.ram[0].base == at &&
           machine.ram[0].bytes == mib * FAKE_MIB;
}

static void test_memory(void)
{
    fake_power_up();
    OK(take_memory() && took(1024ull * FAKE_MIB, 512) && machine.ram_bytes == 576ull * FAKE_MIB,
       "the largest range; the rest, 64 MiB, is the firmware's");
    fw.n_map = 1;
    OK(take_memory() && took(FAKE_MIB, 32), "half of a small machine");
    fake_power_up();
    fw.refused_at = 1024ull * FAKE_MIB;
    OK(take_memory() && took(FAKE_MIB, 64), "AllocatePages refuses the largest range: the next");
    fw.refuse_places = true;
    OK(take_memory() && took(32ull * FAKE_MIB, 512),
       "AllocatePages takes no address: the firmware chooses one");
    OK(fw.pools == 0, "the map is given back");
    fw.refuse_pages = true;
    OK(!take_memory() && strstr(panic_text, "the firmware gives no memory: AllocatePages") != NULL,
       "AllocatePages refuses all: %s", panic_text);
    fake_power_up();
    fw.no_map = true;
    OK(!take_memory() && strstr(panic_text, "GetMemoryMap failed") != NULL, "no map: %s",
       panic_text);
}

/* ---- the line -------------------------------------------------------------------------------- */

static struct {
    struct efi_serial protocol;
    char sent[64];
    unsigned n_sent;
    const char *typed;
    bool dead;
} port;

static efi_status EFI_API port_control(struct efi_serial *serial, uint32_t *bits)
{
    (void)serial;
    *bits = *port.typed == '\0' ? EFI_SERIAL_INPUT_EMPTY : 0;
    return port.dead ? FAKE_ERROR : EFI_SUCCESS;
}

static efi_status EFI_API port_read(struct efi_serial *serial, uint64_t *bytes, void *data)
{
    (void)serial;
    *bytes = 1;
    memcpy(data, port.typed++, 1);
    return EFI_SUCCESS;
}

static efi_status EFI_API port_write(struct efi_serial *serial, uint64_t *bytes, const void *data)
{
    (void)serial;
    if (port.dead)
        return FAKE_ERROR;
    memcpy(port.sent + port.n_sent++, data, *bytes);
    return EFI_SUCCESS;
}

static efi_status EFI_API fake_output(struct efi_text_output *out, const uint16_t *text)
{
    (void)out;
    while (*text != 0 && fw.n_text < sizeof fw.text / sizeof fw.text[0])
        fw.text[fw.n_text++] = *text++;
    return EFI_SUCCESS;
}

static struct efi_text_output text_out = { .output_string = fake_output };

static void write_line(const char *text)
{
    while (*text != '\0')
        efi_console_putc(*text++);
}

static void test_line(void)
{
    fake_power_up();
    efi_console_open();
    write_line("nobody reads this\r\n");
    OK(efi_console_getc() == -1, "no UART in the tree, no serial port and no console: no line");

    fw.system.out = &text_out;
    efi_console_open();
    write_line("a\33[31mb\33[0m \xc3\xa4\xe2\x82\xac");
    OK(fw.n_text == 5 && fw.text[0] == 'a' && fw.text[1] == 'b' && fw.text[3] == 0xe4 &&
           fw.text[4] == 0x20ac,
       "no UART and no serial port: text goes to the firmware's console, without colours");

    memset(&port, 0, sizeof port);
    port.typed = "hi";
    port.protocol =
        (struct efi_serial){ .get_control = port_control, .read = port_read, .write = port_write };
    fake_add(5, &efi_serial_guid, &port.protocol);
    fw.opens = -1;
    fw.n_text = 0;
    efi_console_open();
    write_line("c");
    OK(fw.n_text == 1 && port.n_sent == 0, "a serial port that the firmware keeps is not used");
    fw.opens = 0;
    efi_console_open();
    write_line("\33[31mx");
    OK(port.n_sent == 6 && memcmp(port.sent, "\33[31mx", 6) == 0 && efi_console_getc() == 'h' &&
           efi_console_getc() == 'i' && efi_console_getc() == -1,
       "no UART in the tree: every byte goes through the serial protocol");
    port.dead = true;
    write_line("lost");
    OK(efi_console_getc() == -1, "a serial port that fails holds nobody up");
    OK(fw.pools == 0, "the lists of handles are given back");
}

/* ---- the display ----------------------------------------------------------------------------- */

static struct {
    struct efi_graphics protocol;
    struct efi_graphics_mode info;
    unsigned rows;
} graphics;

static efi_status EFI_API fake_blt(struct efi_graphics *g, void *pixels, uint32_t operation,
                                   uint64_t from_x, uint64_t from_y, uint64_t to_x, uint64_t to_y,
                                   uint64_t width, uint64_t height, uint64_t pitch)
{
    (void)g, (void)pixels, (void)operation, (void)from_x, (void)from_y, (void)to_x, (void)to_y;
    (void)width, (void)pitch;
    graphics.rows += (unsigned)height;
    return FAKE_ERROR; /* nobody can be told */
}

static void test_display(void)
{
    static _Alignas(4096) uint8_t memory[1 << 20];
    struct memory_range room = { memory, sizeof memory };
    static _Alignas(8) uint8_t mode[sizeof *graphics.protocol.mode];
    struct board_screen screen = { .width = 1 };

    fake_power_up();
    OK(!efi_screen_open(&screen, &room) && room.bytes == sizeof memory,
       "no GOP: no screen, and no memory is taken for one");
    memset(&graphics, 0, sizeof graphics);
    fake_add(6, &efi_graphics_guid, &graphics.protocol);
    OK(!efi_screen_open(&screen, &room), "a GOP without a mode");
    graphics.protocol.blt = fake_blt;
    graphics.info = (struct efi_graphics_mode){ .width = 160, .height = 100 };
    graphics.protocol.mode = (void *)mode;
    graphics.protocol.mode->info = &graphics.info;
    OK(efi_screen_open(&screen, &room) && screen.width == 160 && screen.height == 100 &&
           room.bytes <= sizeof memory - 160 * 100 * 4 && screen.pixels == memory + room.bytes,
       "pixels are at the end of the free memory");
    screen.flush(screen.pixels + 3 * screen.pitch, 2 * screen.pitch);
    OK(graphics.rows == 2, "rows that changed are shown; a Blt that fails does no harm");
    graphics.info.height = 10000;
    OK(!efi_screen_open(&screen, &room),
       "a display that would take most of the memory is not used");
    room.bytes = 0;
    OK(!efi_screen_open(&screen, &room), "a missing display is not used");
}

int main(void)
{
    test_memory();
    test_line();
    test_display();
    return tap_done();
}
