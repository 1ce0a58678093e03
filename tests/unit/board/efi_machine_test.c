/* Machines whose firmware of EFI lacks or refuses something: memory, a line, a display, other
 * cores. Each fault costs only its own function. */
#include "board/efi/efi_parts.h"
#include "board/left_out.h"

#include "board/drivers/serial/serial.c" /* this test holds its state, because nobody else links it */
#include "tests/unit/board/fakes/fake_efi.h"
#include "tests/unit/board/fakes/tree_writer.h"

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

static char left_out[200];

/* True: it did not panic. */
static bool take_memory(void)
{
    memset(&machine, 0, sizeof machine);
    panic_text[0] = '\0';
    log_text[0] = '\0';
    if (setjmp(panicked) != 0)
        return false;
    efi_memory_take(&machine);
    left_out_tell(left_out, sizeof left_out);
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
    OK(take_memory() && took(1024ull * FAKE_MIB, 512) && machine.ram_bytes == 576ull * FAKE_MIB &&
           log_text[0] == '\0' && left_out[0] == '\0',
       "Ingot takes the largest range, and the firmware keeps the other 64 MiB");
    fw.n_map = 1;
    OK(take_memory() && took(FAKE_MIB, 32), "Ingot takes half of a small machine's memory");
    fake_power_up();
    fw.refused_at = 1024ull * FAKE_MIB;
    OK(take_memory() && took(FAKE_MIB, 64) && strstr(log_text, "refuses 512 MiB") != NULL &&
           strstr(log_text, "64 MiB are used") != NULL,
       "if AllocatePages refuses the largest range, Ingot takes the next, and %s", log_text);
    fw.refuse_places = true;
    OK(take_memory() && took(32ull * FAKE_MIB, 512),
       "the firmware chooses an address if AllocatePages takes none");
    OK(fw.pools == 0, "the map is given back");
    fw.refuse_pages = true;
    OK(!take_memory() && strstr(panic_text, "the firmware gives no memory: AllocatePages") != NULL,
       "if AllocatePages refuses all ranges, the start ends: %s", panic_text);
    /* A PC with 64 GiB: memory below 4 GiB, memory above, and a card's memory that is there for
     * callers that ask for it. */
    fake_power_up();
    fw.map[1].n_pages = 2047ull * FAKE_MIB / EFI_PAGE;
    fw.map[1].start = FAKE_MIB;
    fw.map[2] = (struct efi_memory_descriptor){ .type = EFI_CONVENTIONAL,
                                                .start = 4096ull * FAKE_MIB,
                                                .n_pages = 62ull * 1024 * FAKE_MIB / EFI_PAGE };
    fw.map[3] = (struct efi_memory_descriptor){ .type = EFI_CONVENTIONAL,
                                                .start = 1024ull * 1024 * FAKE_MIB,
                                                .n_pages = 256ull * 1024 * FAKE_MIB / EFI_PAGE,
                                                .attributes = EFI_MEMORY_SPECIFIC };
    fw.n_map = 4;
    OK(take_memory() && took(4096ull * FAKE_MIB, 62ull * 1024),
       "Ingot takes the range above 4 GiB of 64 GiB, and not a card's memory");
    OK(strstr(left_out, "1 smaller range of RAM of ") != NULL &&
           strstr(left_out, "of 2146435072 bytes") != NULL,
       "the log names what the firmware keeps below 4 GiB: %s", left_out);
    fw.map[2].n_pages = 6ull * 1024 * 1024 * FAKE_MIB / EFI_PAGE;
    OK(take_memory() && took(4096ull * FAKE_MIB, 6ull * 1024 * 1024),
       "Ingot takes 6 TiB of a large machine's memory");
    fake_power_up();
    fw.no_map = true;
    OK(!take_memory() && strstr(panic_text, "GetMemoryMap failed") != NULL,
       "a memory map that cannot be read ends the start: %s", panic_text);
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
    OK(efi_console_getc() == -1 && strstr(efi_console_instead(), "none, ") != NULL,
       "without a UART, a serial port and a console there is no line");

    fw.system.out = &text_out;
    efi_console_open();
    write_line("a\33[31mb\33[0m \xc3\xa4\xe2\x82\xac");
    OK(fw.n_text == 5 && fw.text[0] == 'a' && fw.text[1] == 'b' && fw.text[3] == 0xe4 &&
           fw.text[4] == 0x20ac && strstr(efi_console_instead(), "firmware's console") != NULL,
       "text goes to the firmware's console, without colors, if there is no UART");

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
    port.dead = true;
    efi_console_open();
    write_line("d");
    OK(fw.n_text == 2 && fw.opens == 0,
       "a serial port that does not tell whether a byte has come is not used");
    port.dead = false;
    efi_console_open();
    write_line("\33[31mx");
    OK(port.n_sent == 6 && memcmp(port.sent, "\33[31mx", 6) == 0 && efi_console_getc() == 'h' &&
           efi_console_getc() == 'i' && efi_console_getc() == -1 &&
           strstr(efi_console_instead(), "serial port") != NULL,
       "every byte goes through the serial protocol if the tree has no UART");
    port.dead = true;
    write_line("lost");
    OK(efi_console_getc() == -1, "a serial port that fails holds nobody up");
    OK(fw.pools == 0, "the lists of handles are given back");
}

static char second_sent[16];
static unsigned n_second_sent;

static efi_status EFI_API second_control(struct efi_serial *serial, uint32_t *bits)
{
    (void)serial;
    *bits = EFI_SERIAL_INPUT_EMPTY;
    return EFI_SUCCESS;
}

static efi_status EFI_API second_write(struct efi_serial *serial, uint64_t *bytes, const void *data)
{
    (void)serial;
    memcpy(second_sent + n_second_sent++, data, *bytes);
    return EFI_SUCCESS;
}

/* A server: its remote console is on the second port. */
static void test_two_ports(void)
{
    static const uint8_t first_path[] = { 2, 1, 5, 0, 1, EFI_PATH_END, 0xff, 4, 0 },
                         path[] = { 2, 1, 5, 0, 2, EFI_PATH_END, 0xff, 4, 0 },
                         terminal[] = { 2, 1, 5, 0, 2, 3, 10, 4, 0, EFI_PATH_END, 0xff, 4, 0 },
                         first_terminal[] = {
                             2, 1, 5, 0, 1, 3, 10, 4, 0, EFI_PATH_END, 0xff, 4, 0
                         };
    static struct efi_serial second = { .get_control = second_control, .write = second_write };

    fake_power_up();
    memset(&port, 0, sizeof port);
    port.typed = "";
    port.protocol =
        (struct efi_serial){ .get_control = port_control, .read = port_read, .write = port_write };
    fake_add(5, &efi_serial_guid, &port.protocol);
    fake_add(5, &efi_device_path_guid, (void *)(uintptr_t)first_path);
    fake_add(6, &efi_serial_guid, &second);
    fake_add(6, &efi_device_path_guid, (void *)(uintptr_t)path);
    efi_console_open();
    write_line("a");
    OK(port.n_sent == 1 && n_second_sent == 0 && fw.opens == 1,
       "if the firmware does not mark the ports of its console, the first port is used");
    fake_add(7, &efi_console_out_guid, NULL);
    fake_add(7, &efi_device_path_guid, (void *)(uintptr_t)terminal);
    efi_console_open();
    write_line("b");
    OK(port.n_sent == 1 && n_second_sent == 1 && second_sent[0] == 'b' && fw.opens == 2,
       "the port of the firmware's console is used, even if it is not the first");
    fake_add(8, &efi_console_out_guid, NULL);
    fake_add(8, &efi_device_path_guid, (void *)(uintptr_t)first_terminal);
    efi_console_open();
    write_line("c");
    port.typed = "d";
    OK(port.n_sent == 2 && n_second_sent == 2 && fw.opens == 4 && efi_console_getc() == 'd',
       "a console on two ports is on both");
    OK(fw.pools == 0, "the lists of terminals are given back");
    serial_line.second = NULL;
}

/* A UART of the tree's whose registers begin behind its window's start (reg-offset), as those of Xilinx do. */
static void test_uart(void)
{
    static uint32_t registers[64];
    const uint64_t at = (uintptr_t)registers;
    static struct writer w;
    struct device_tree tree;

    begin(&w, "");
    CELLS(&w, "#address-cells", 2);
    CELLS(&w, "#size-cells", 2);
    begin(&w, "chosen");
    text(&w, "stdout-path", "/serial@0");
    end(&w);
    begin(&w, "serial@0");
    text(&w, "compatible", "ns16550a");
    CELLS(&w, "reg", (uint32_t)(at >> 32), (uint32_t)at, 0, sizeof registers);
    CELLS(&w, "reg-shift", 2);
    CELLS(&w, "reg-io-width", 4);
    CELLS(&w, "reg-offset", 64);
    end(&w);
    end(&w);
    finish(&w, 0);
    OK(device_tree_open(&tree, w.blob, w.n_blob) == ERR_OK, "a tree with a UART opens");
    registers[16 + 5] = 0x60; /* it can send */
    OK(efi_uart_open(&tree), "the machine's UART is used directly");
    serial_putc('z');
    OK(registers[16] == 'z' && registers[0] == 0 && registers[2] == 0,
       "reg-offset moves the registers, and what lies before them is not touched");
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

/* Nobody sits in front of the first of two displays: the console is on the other. */
static void test_two_displays(void)
{
    static _Alignas(4096) uint8_t memory[1 << 20];
    static struct efi_graphics_mode info = { .width = 80, .height = 50 };
    static _Alignas(8) uint8_t mode[sizeof *graphics.protocol.mode];
    static struct efi_graphics seen = { .blt = fake_blt };
    struct memory_range room = { memory, sizeof memory };
    struct board_screen screen;

    seen.mode = (void *)mode;
    fake_add(9, &efi_graphics_guid, &seen);
    fw.system.out_handle = (efi_handle)9;
    OK(!efi_screen_open(&screen, &room) || screen.width == 160,
       "a console's display that has no mode is not used");
    room.bytes = sizeof memory;
    seen.mode->info = &info;
    OK(efi_screen_open(&screen, &room) && screen.width == 80,
       "the display that the console is on is used of two displays");
    fw.system.out_handle = NULL;
}

/* A PC without a serial port: the firmware's console has only the display, on which our pixels are. */
static void test_console_on_display(struct board_screen *screen)
{
    fw.system.out = &text_out;
    fw.n_text = 0;
    efi_console_open();
    write_line("a");
    OK(fw.n_text == 1, "the firmware's console shows text until there are pixels");
    screen->flush(screen->pixels, screen->pitch);
    write_line("b");
    OK(fw.n_text == 1, "a console that has only the display does not write over the pixels");
    core.number = 1;
    efi_console_putc('!');
    core.number = 0;
    (void)efi_console_getc();
    OK(fw.n_text == 2, "except with the report of another core, which cannot draw");
    fake_add(5, &efi_serial_guid, &port.protocol);
    fw.opens = -1;
    efi_console_open();
    write_line("c");
    OK(fw.n_text == 3, "a console that may have a serial line keeps its text");
    fw.opens = 0;
    fake_remove(5);
}

static void test_display(void)
{
    static _Alignas(4096) uint8_t memory[1 << 20];
    struct memory_range room = { memory, sizeof memory };
    static _Alignas(8) uint8_t mode[sizeof *graphics.protocol.mode];
    struct board_screen screen = { .width = 1 };

    fake_power_up();
    OK(!efi_screen_open(&screen, &room) && room.bytes == sizeof memory &&
           strstr(screen.none, "no display (GOP)") != NULL,
       "without GOP there is no screen, no memory is taken for one, and the log says: %s",
       screen.none);
    memset(&graphics, 0, sizeof graphics);
    fake_add(6, &efi_graphics_guid, &graphics.protocol);
    OK(!efi_screen_open(&screen, &room), "a GOP without a mode is left out");
    graphics.protocol.blt = fake_blt;
    graphics.info = (struct efi_graphics_mode){ .width = 160, .height = 100 };
    graphics.protocol.mode = (void *)mode;
    graphics.protocol.mode->info = &graphics.info;
    OK(efi_screen_open(&screen, &room) && screen.width == 160 && screen.height == 100 &&
           room.bytes <= sizeof memory - 160 * 100 * 4 && screen.pixels == memory + room.bytes,
       "pixels are at the end of the free memory");
    test_console_on_display(&screen);
    graphics.rows = 0;
    screen.flush(screen.pixels + 3 * screen.pitch, 2 * screen.pitch);
    OK(graphics.rows == 2, "rows that changed are shown, and a Blt that fails does no harm");
    test_two_displays();
    graphics.info.height = 10000;
    OK(!efi_screen_open(&screen, &room) && screen.error_message != NULL,
       "a display that would take most of the memory is not used: %s", screen.error_message);
    room.bytes = 0;
    OK(!efi_screen_open(&screen, &room), "a missing display is not used");
}

/* ---- the clock ------------------------------------------------------------------------------- */

static struct {
    struct efi_time time;
    efi_status status;
} wall;

static efi_status EFI_API tell_time(struct efi_time *time, void *capabilities)
{
    (void)capabilities;
    *time = wall.time;
    return wall.status;
}

static uint64_t date_of(struct efi_time time)
{
    wall.time = time;
    return efi_clock_date();
}

static void test_clock(void)
{
    static const struct efi_time leap = { .year = 2024,
                                          .month = 2,
                                          .day = 29,
                                          .hour = 23,
                                          .minute = 59,
                                          .second = 58,
                                          .zone = EFI_ZONE_UNKNOWN };

    fake_power_up();
    OK(efi_clock_date() == 0, "without GetTime there is no date");
    fw.runtime.get_time = tell_time;
    OK(date_of((struct efi_time){ .year = 2000, .month = 1, .day = 1 }) == 946684800 &&
           date_of((struct efi_time){
               .year = 2026, .month = 11, .day = 24, .hour = 13, .minute = 30 }) == 1795527000 &&
           date_of(leap) == 1709251198,
       "the date is that of the firmware's clock");
    OK(date_of((struct efi_time){ .year = 1970, .month = 1, .day = 1 }) == 0,
       "a clock that was never set says nothing");
    OK(date_of((struct efi_time){ .year = 2026, .month = 13, .day = 1 }) == 0 &&
           date_of((struct efi_time){ .year = 2026, .month = 1, .day = 32 }) == 0 &&
           date_of((struct efi_time){ .year = 2026, .month = 1, .day = 1, .hour = 24 }) == 0,
       "a clock with numbers that no calendar has says nothing");
    wall.status = FAKE_ERROR;
    OK(date_of(leap) == 0, "there is no date if GetTime fails");
}

int main(void)
{
    test_memory();
    test_line();
    test_two_ports();
    test_uart();
    test_display();
    test_clock();
    return tap_done();
}
