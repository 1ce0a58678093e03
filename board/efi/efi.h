/* The part of UEFI that we use, with our own names. Sections are those of the UEFI Specification
 * 2.10. Tables have their functions in the specification's order; functions that we do not use
 * share arrays of pointers. */
#ifndef INGOT_BOARD_EFI_EFI_H
#define INGOT_BOARD_EFI_EFI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "efi_abi.h" /* the ISA's folder defines EFI_API */

/* Appendix D: the highest bit marks an error. */
typedef uint64_t efi_status;
#define EFI_ERROR_BIT ((efi_status)1 << 63)
#define EFI_SUCCESS ((efi_status)0)
#define EFI_INVALID_PARAMETER (EFI_ERROR_BIT | 2)
#define EFI_UNSUPPORTED (EFI_ERROR_BIT | 3)
#define EFI_BUFFER_TOO_SMALL (EFI_ERROR_BIT | 5)
#define EFI_NOT_READY (EFI_ERROR_BIT | 6)
#define EFI_WRITE_PROTECTED (EFI_ERROR_BIT | 8)
#define EFI_OUT_OF_RESOURCES (EFI_ERROR_BIT | 9)
#define EFI_NO_MEDIA (EFI_ERROR_BIT | 12)
#define EFI_MEDIA_CHANGED (EFI_ERROR_BIT | 13)

typedef void *efi_handle;
typedef void *efi_event;

/* 2.3.1: the first three parts are little-endian numbers. */
struct efi_guid {
    uint32_t a;
    uint16_t b, c;
    uint8_t d[8];
};

#define EFI_GUID(name, a, b, c, ...) \
    static const struct efi_guid name = { a, b, c, { __VA_ARGS__ } }

struct efi_table_header { /* 4.2 */
    uint64_t signature;
    uint32_t revision, header_bytes, crc32, reserved;
};

/* ---- boot services, 4.4 and chapter 7 ---------------------------------------------------------- */

enum { EFI_PAGE = 4096 };
enum { EFI_TPL_APPLICATION = 4, EFI_TPL_CALLBACK = 8 };                         /* 7.1 */
enum efi_allocate { EFI_ALLOCATE_ANY, EFI_ALLOCATE_MAX, EFI_ALLOCATE_ADDRESS }; /* 7.2 */
enum {
    EFI_LOADER_DATA = 2,
    EFI_BOOT_CODE = 3,
    EFI_BOOT_DATA = 4,
    EFI_CONVENTIONAL = 7,
    EFI_ACPI_RECLAIM = 9
};
enum { EFI_TIMER_CANCEL, EFI_TIMER_PERIODIC, EFI_TIMER_RELATIVE }; /* 7.1 */
enum { EFI_EVENT_TIMER = (int)0x80000000u };
enum { EFI_LOCATE_BY_PROTOCOL = 2 };                  /* 7.3 */
enum { EFI_OPEN_GET = 2, EFI_OPEN_EXCLUSIVE = 0x20 }; /* 7.3, OpenProtocol */

#define EFI_MEMORY_SPECIFIC ((uint64_t)0x40000) /* 7.2, EFI_MEMORY_SP */

struct efi_memory_descriptor { /* 7.2, GetMemoryMap; entries may be longer: the call returns their
                                  size */
    uint32_t type, pad;
    uint64_t start, virtual_start, n_pages, attributes;
};

struct efi_boot_services {
    struct efi_table_header header;
    uint64_t(EFI_API *raise_tpl)(uint64_t tpl);
    void(EFI_API *restore_tpl)(uint64_t tpl);
    efi_status(EFI_API *allocate_pages)(uint32_t how, uint32_t type, uint64_t n_pages,
                                        uint64_t *at);
    efi_status(EFI_API *free_pages)(uint64_t at, uint64_t n_pages);
    efi_status(EFI_API *get_memory_map)(uint64_t *bytes, void *map, uint64_t *key, uint64_t *step,
                                        uint32_t *version);
    efi_status(EFI_API *allocate_pool)(uint32_t type, uint64_t bytes, void **at);
    efi_status(EFI_API *free_pool)(void *at);
    efi_status(EFI_API *create_event)(uint32_t type, uint64_t tpl, void *notify, void *context,
                                      efi_event *event);
    efi_status(EFI_API *set_timer)(efi_event event, uint32_t how, uint64_t hundred_ns);
    efi_status(EFI_API *wait_for_event)(uint64_t n, efi_event *events, uint64_t *which);
    void *signal_event;
    efi_status(EFI_API *close_event)(efi_event event);
    efi_status(EFI_API *check_event)(efi_event event);
    void *install[3];
    efi_status(EFI_API *handle_protocol)(efi_handle handle, const struct efi_guid *protocol,
                                         void **interface);
    void *reserved, *register_notify, *locate_handle, *locate_device_path, *install_table;
    void *images[5];
    void *monotonic_count;
    efi_status(EFI_API *stall)(uint64_t micros);
    efi_status(EFI_API *set_watchdog)(uint64_t seconds, uint64_t code, uint64_t bytes, void *data);
    void *connect, *disconnect;
    efi_status(EFI_API *open_protocol)(efi_handle handle, const struct efi_guid *protocol,
                                       void **interface, efi_handle agent, efi_handle controller,
                                       uint32_t how);
    void *close_protocol, *open_information, *protocols_per_handle;
    efi_status(EFI_API *locate_handles)(uint32_t how, const struct efi_guid *protocol, void *key,
                                        uint64_t *n, efi_handle **handles);
    efi_status(EFI_API *locate_protocol)(const struct efi_guid *protocol, void *registration,
                                         void **interface);
};

/* ---- runtime services, 4.5 and chapter 8 ------------------------------------------------------- */

struct efi_time { /* 8.3; local time */
    uint16_t year;
    uint8_t month, day, hour, minute, second, pad1;
    uint32_t nanosecond;
    int16_t zone; /* minutes west of UTC, or EFI_ZONE_UNKNOWN */
    uint8_t daylight, pad2;
};
enum { EFI_ZONE_UNKNOWN = 0x7ff };
enum { EFI_RESET_COLD, EFI_RESET_WARM, EFI_RESET_SHUTDOWN }; /* 8.5.1 */

struct efi_runtime_services {
    struct efi_table_header header;
    efi_status(EFI_API *get_time)(struct efi_time *time, void *capabilities);
    void *others[9];
    void(EFI_API *reset_system)(uint32_t how, efi_status status, uint64_t bytes, void *data);
};

/* ---- console, chapter 12 ----------------------------------------------------------------------- */

struct efi_key { /* 12.3 */
    uint16_t scan, character;
};

struct efi_text_input { /* 12.3 */
    efi_status(EFI_API *reset)(struct efi_text_input *in, bool extended);
    efi_status(EFI_API *read_key)(struct efi_text_input *in, struct efi_key *key);
    efi_event wait_for_key;
};

struct efi_text_output { /* 12.4 */
    efi_status(EFI_API *reset)(struct efi_text_output *out, bool extended);
    efi_status(EFI_API *output_string)(struct efi_text_output *out, const uint16_t *text);
    void *test_string, *query_mode, *set_mode, *set_attribute;
    efi_status(EFI_API *clear)(struct efi_text_output *out);
    void *set_cursor;
    efi_status(EFI_API *enable_cursor)(struct efi_text_output *out, bool visible);
};

struct efi_key_data { /* 12.2 */
    struct efi_key key;
    uint32_t shifts; /* EFI_SHIFTS_VALID, and the shift keys that are held */
    uint8_t toggles;
};
enum { EFI_SHIFTS_VALID = (int)0x80000000u, EFI_RIGHT_CTRL = 4, EFI_LEFT_CTRL = 8 };

struct efi_text_input_ex { /* 12.2 */
    void *reset;
    efi_status(EFI_API *read_key)(struct efi_text_input_ex *in, struct efi_key_data *key);
    efi_event wait_for_key;
    void *set_state, *register_notify, *unregister_notify;
};
EFI_GUID(efi_text_input_ex_guid, 0xdd9e7534, 0x7762, 0x4698, 0x8c, 0x14, 0xf5, 0x85, 0x17, 0xa6,
         0x25, 0xaa);

struct efi_serial { /* 12.8 */
    uint32_t revision, pad;
    void *reset, *set_attributes, *set_control;
    efi_status(EFI_API *get_control)(struct efi_serial *serial, uint32_t *bits);
    efi_status(EFI_API *write)(struct efi_serial *serial, uint64_t *bytes, const void *data);
    efi_status(EFI_API *read)(struct efi_serial *serial, uint64_t *bytes, void *data);
    void *mode;
};
enum { EFI_SERIAL_INPUT_EMPTY = 0x100, EFI_SERIAL_OUTPUT_EMPTY = 0x200 };
EFI_GUID(efi_serial_guid, 0xbb25cf6f, 0xf1d4, 0x11d2, 0x9a, 0x0c, 0x00, 0x90, 0x27, 0x3f, 0xc1,
         0xfd);

/* EDK2 (MdeModulePkg) marks with it the handles on which its console writes. */
EFI_GUID(efi_console_out_guid, 0xd3b36f2c, 0xd551, 0x11d4, 0x9a, 0x46, 0x00, 0x90, 0x27, 0x3f, 0xc1,
         0x4d);

struct efi_graphics_mode { /* 12.9 */
    uint32_t version, width, height;
    uint32_t format;
    uint32_t red, green, blue, reserved;
    uint32_t pixels_per_line;
};
enum { EFI_BLT_TO_SCREEN = 2 };

struct efi_graphics {
    void *query_mode, *set_mode;
    efi_status(EFI_API *blt)(struct efi_graphics *graphics, void *pixels, uint32_t operation,
                             uint64_t from_x, uint64_t from_y, uint64_t to_x, uint64_t to_y,
                             uint64_t width, uint64_t height, uint64_t pitch);
    struct {
        uint32_t most, mode;
        const struct efi_graphics_mode *info;
        uint64_t info_bytes, frame_buffer, frame_buffer_bytes;
    } * mode;
};
EFI_GUID(efi_graphics_guid, 0x9042a9de, 0x23dc, 0x4a38, 0x96, 0xfb, 0x7a, 0xde, 0xd0, 0x80, 0x51,
         0x6a);

/* ---- the system table, 4.3 and 4.6 ------------------------------------------------------------- */

struct efi_configuration {
    struct efi_guid guid;
    void *table;
};
EFI_GUID(efi_tree_guid, 0xb1b621d5, 0xf19c, 0x41a5, 0x83, 0x0b, 0xd9, 0x15, 0x2c, 0x69, 0xaa, 0xe0);
EFI_GUID(efi_acpi_guid, 0x8868e871, 0xe4f1, 0x11d3, 0xbc, 0x22, 0x00, 0x80, 0xc7, 0x3c, 0x88, 0x81);

struct efi_system_table {
    struct efi_table_header header;
    const uint16_t *vendor;
    uint32_t revision, pad;
    efi_handle in_handle;
    struct efi_text_input *in;
    efi_handle out_handle;
    struct efi_text_output *out;
    efi_handle error_handle;
    struct efi_text_output *error;
    struct efi_runtime_services *runtime;
    struct efi_boot_services *boot;
    uint64_t n_configurations;
    const struct efi_configuration *configurations;
};

/* ---- images, device paths, storage ------------------------------------------------------------- */

struct efi_loaded_image { /* 9.1 */
    uint32_t revision, pad;
    efi_handle parent;
    struct efi_system_table *system;
    efi_handle device;
    void *path, *reserved;
    uint32_t options_bytes, pad2;
    const void *options; /* UTF-16 as a rule */
    void *base;
    uint64_t bytes;
};
EFI_GUID(efi_loaded_image_guid, 0x5b1b31a1, 0x9562, 0x11d2, 0x8e, 0x3f, 0x00, 0xa0, 0xc9, 0x69,
         0x72, 0x3b);

/* UEFI Shell 2.2, 2.3: a program that a shell started has this protocol. Its members are not used
 * here. */
EFI_GUID(efi_shell_parameters_guid, 0x752f3136, 0x4e16, 0x4fdc, 0xa2, 0x2a, 0xe5, 0xf4, 0x68, 0x12,
         0xf4, 0xca);

struct efi_device_path {             /* 10.2 */
    uint8_t type, subtype, bytes[2]; /* size of the node, little-endian; type 0x7f ends the
                                        path */
};
enum { EFI_PATH_MESSAGING = 3, EFI_PATH_END = 0x7f }; /* types of nodes */
EFI_GUID(efi_device_path_guid, 0x09576e91, 0x6d3f, 0x11d2, 0x8e, 0x39, 0x00, 0xa0, 0xc9, 0x69, 0x72,
         0x3b);

struct efi_block_media { /* 13.9 */
    uint32_t id;
    bool removable, present, partition, read_only, caching;
    uint32_t block_bytes;
    uint32_t io_align; /* alignment of buffers; 0 or 1: none */
    uint64_t last_block;
};

struct efi_block { /* 13.9 */
    uint64_t revision;
    const struct efi_block_media *media;
    void *reset;
    efi_status(EFI_API *read)(struct efi_block *block, uint32_t id, uint64_t lba, uint64_t bytes,
                              void *to);
    efi_status(EFI_API *write)(struct efi_block *block, uint32_t id, uint64_t lba, uint64_t bytes,
                               const void *from);
    efi_status(EFI_API *flush)(struct efi_block *block);
};
EFI_GUID(efi_block_guid, 0x964e5b21, 0x6459, 0x11d2, 0x8e, 0x39, 0x00, 0xa0, 0xc9, 0x69, 0x72,
         0x3b);

struct efi_block_token { /* 13.10 */
    efi_event event;
    efi_status status;
};

struct efi_block2 { /* 13.10 */
    const struct efi_block_media *media;
    efi_status(EFI_API *reset)(struct efi_block2 *block, bool extended);
    efi_status(EFI_API *read)(struct efi_block2 *block, uint32_t id, uint64_t lba,
                              struct efi_block_token *token, uint64_t bytes, void *to);
    void *write, *flush;
};
EFI_GUID(efi_block2_guid, 0xa77b2472, 0xe282, 0x4e9f, 0xa2, 0x45, 0xc2, 0xc0, 0xe2, 0x7b, 0xbc,
         0xc1);

struct efi_file { /* 13.5 */
    uint64_t revision;
    efi_status(EFI_API *open)(struct efi_file *folder, struct efi_file **file, const uint16_t *name,
                              uint64_t mode, uint64_t attributes);
    efi_status(EFI_API *close)(struct efi_file *file);
    void *remove;
    efi_status(EFI_API *read)(struct efi_file *file, uint64_t *bytes, void *to);
};
enum { EFI_FILE_READ = 1 };

struct efi_file_system { /* 13.4 */
    uint64_t revision;
    efi_status(EFI_API *open_volume)(struct efi_file_system *fs, struct efi_file **root);
};
EFI_GUID(efi_file_system_guid, 0x964e5b22, 0x6459, 0x11d2, 0x8e, 0x39, 0x00, 0xa0, 0xc9, 0x69, 0x72,
         0x3b);

#endif
