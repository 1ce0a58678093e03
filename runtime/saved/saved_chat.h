/* A conversation in a file of the card, so that it continues after a restart: tokens, turns, keys
 * and values. The file may instead hold a prefix, without turns, with which all conversations begin
 * (chat_prefix.h); or a feature's data, without tokens (saved_section.h). The file has two halves
 * that are written alternately (runtime/storage/halves.h).
 *
 * All tokens of a conversation are saved, and the states of as many tokens as fit. The states of
 * other tokens are computed after the load.
 *
 *   payload: the turns (runtime/saved/turns.h) with their texts, then the data of session_move,
 *   which are tokens (u32) and each layer's state. For a section, the payload is what its move_all
 *   moves. Zeros fill the last sector. */
#ifndef INGOT_RUNTIME_SAVED_CHAT_H
#define INGOT_RUNTIME_SAVED_CHAT_H

#include <stdbool.h>
#include <stdint.h>

#include "board/err.h"
#include "runtime/saved/saved_section.h"
#include "runtime/saved/turns.h"
#include "runtime/session/session.h"
#include "runtime/storage/halves.h"

enum { SAVED_CHAT_BUFFER_BYTES = 32768, SAVED_CHAT_ERROR_MESSAGE_BYTES = 320 };

/* Little-endian, like everything on a card; begins like struct half_header. */
struct saved_chat_header {
    char magic[8];       /* "INGOTSAV"; for a prefix "INGOTPRE"; a section has its own */
    uint32_t version;    /* SAVED_CHAT_VERSION */
    uint32_t header_crc; /* CRC-32C of the sector with this field zero */
    uint64_t sequence;   /* number of this save; the file's first is 1 */
    uint64_t payload_bytes;
    uint32_t payload_crc;
    uint32_t model_crc;           /* saved_chat_model_crc() */
    uint16_t kv_keys, kv_values;  /* enum kv_type */
    uint32_t n_cached;            /* tokens in the states */
    uint32_t n_ids;               /* all tokens, in the states or pending; <= context */
    uint32_t reply_start;         /* start of the last reply, <= n_ids */
    uint32_t started;             /* 1: the session holds a turn */
    uint32_t n_turns, text_bytes; /* size of the turns */
    uint8_t kv_warm, kv_cold;     /* types of the tiers, as in struct kv_types; otherwise 0 */
    uint16_t kv_hot_tiles, kv_warm_tiles;
    uint8_t zeros[2];
    uint32_t dim, n_examples, n_notes; /* counts of a section (struct saved_counts), or 0 */
    uint64_t file_bytes; /* size of the file when it was written; 0: an earlier version wrote it */
    uint8_t more_zeros[412];
};
_Static_assert(sizeof(struct saved_chat_header) == SECTOR_BYTES, "written in one piece");

enum saved_kind {
    SAVED_CHAT,
    SAVED_PREFIX,  /* no turns, and every token is cached; a failed load loses nothing */
    SAVED_SECTION, /* a feature's data; if a load fails after the file was checked, the data in
                    * memory are forgotten */
};

/* The parts that are saved, or into which a file is loaded. */
struct saved_chat_state {
    struct session *session;
    uint32_t reply_start;
    bool started;
    struct turns *turns;
    enum saved_kind kind;
    const struct saved_section *section; /* for SAVED_SECTION; the section's model is the session's
                                          * model */
    void *data;                          /* data of the section */
};

/* Called during a save or a load. Return false to stop. */
typedef bool saved_chat_progress_fn(void *context, const char *label, uint64_t done,
                                    uint64_t total);

/* The state of the previous conversation after a failed load. */
enum saved_chat_before {
    SAVED_CHAT_GOES_ON, /* unchanged */
    SAVED_CHAT_PENDING, /* the load ended while it replaced the old states; the tokens are kept, and
                         * are computed again */
    SAVED_CHAT_LOST,    /* session and turns are empty, because the session's work space was too
                         * small to keep the tokens of such a long context; a section's data are
                         * forgotten */
};

struct saved_chat {
    struct halves halves; /* the file */
    saved_chat_progress_fn *progress;
    void *context;
    uint64_t done, total;                /* bytes, for the progress */
    enum saved_kind kind;                /* kind of data in the file */
    const struct saved_section *section; /* for SAVED_SECTION */
    _Alignas(64) uint8_t buffer[SAVED_CHAT_BUFFER_BYTES];
    char error_message[SAVED_CHAT_ERROR_MESSAGE_BYTES]; /* after an error: the message, and what
                                                        * helps */
    enum saved_chat_before before;                      /* after an error of a load: the fate of the
                                                        * previous conversation */
    uint32_t n_kept; /* after a save: number of tokens whose states are in the file */
    bool is_older;   /* after a load: the file has a newer save, which is damaged or unreadable */
};

/* Return the size of a file for the whole state (_bytes), for a conversation without the states of
 * layers (_least_bytes), for a prefix of n_ids tokens (_bytes_of), and for a full context
 * (_most_bytes). */
uint64_t saved_chat_bytes(const struct saved_chat_state *state);
uint64_t saved_chat_least_bytes(const struct saved_chat_state *state);
uint64_t saved_chat_bytes_of(const struct session *session, uint32_t n_ids); /* a prefix */
uint64_t saved_chat_most_bytes(const struct saved_chat_state *state);

/* Save a conversation, with the states that fit (s->n_kept). The file's old contents are checked
 * before the save, and the written bytes are read back after it. ERR_NO_SPACE: the file is too
 * small. ERR_UNSUPPORTED: the device cannot be written. ERR_BAD_CHECKSUM: the device returns other
 * bytes than were written. ERR_BAD_ARGUMENT: there is nothing to save. Errors of file.h;
 * ERR_ABORTED by progress, which may be NULL. After an error the file still has the previous
 * save. */
enum err saved_chat_write(struct saved_chat *s, const struct file *file,
                          const struct saved_chat_state *state, saved_chat_progress_fn *progress,
                          void *context);

/* Load the newest valid save. The save is read twice: first for its CRC, before anything in
 * *state changes, then into *state. ERR_NOT_FOUND: nothing was saved. ERR_BAD_MODEL: the save has
 * another model or other settings; s->error_message says which. ERR_BAD_CHECKSUM: both halves are
 * damaged. Errors of file.h, ERR_ABORTED by progress. After an error s->before says what the
 * state holds. A prefix is read once, into an empty session, which is empty again after an
 * error. */
enum err saved_chat_read(struct saved_chat *s, const struct file *file,
                         struct saved_chat_state *state, saved_chat_progress_fn *progress,
                         void *context);

#endif
