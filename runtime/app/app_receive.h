/* Files that come over the line: by `ingot send` in frames, by any terminal program in YMODEM. */
#ifndef INGOT_RUNTIME_APP_RECEIVE_H
#define INGOT_RUNTIME_APP_RECEIVE_H

#include "runtime/app/app_files.h"
#include "runtime/transfer/transfer_receive.h"
#include "runtime/transfer/ymodem.h"

struct app;

enum { RECEIVE_BATCH = 32 /* files of one YMODEM batch */, RECEIVE_PATH_BYTES = 96 };

/* One that came. */
struct app_received {
    char path[RECEIVE_PATH_BYTES];
    uint64_t bytes, ms;
};

struct app_receive {
    union {
        struct transfer transfer;
        struct ymodem ymodem;
    };
    char path[RECEIVE_PATH_BYTES], error_message[320]; /* of the file at work */
    const char *folder;                                /* for YMODEM; NULL: by the file's name */
    uint64_t bytes, started_ms;
    struct app_received
        came[RECEIVE_BATCH]; /* of YMODEM; the line is the sender's until the batch ends */
    unsigned n_came;
    bool replaced_model; /* the current one reads clusters that are free by now */
};

/* A file of so many bytes, from a program that sends frames; baud: the fastest rate that it can, 0: the line's own. Said how it
 * ended. */
void app_receive_frames(struct app *a, const char *path, uint64_t bytes, uint32_t baud);

/* Files by YMODEM; folder "": by their names. Said how it ended. */
void app_receive_ymodem(struct app *a, const char *folder);

/* For files that come by another way than the line, which no transfer is at meanwhile: room for one, and then it is the card's. After an
 * error a->receive.error_message is an error message. Errors of storage_new_open and storage_new_publish; ERR_BUSY: the model at work was
 * replaced, and is to be loaded first. */
enum err app_receive_open(struct app *a, const char *path, uint64_t bytes,
                          const struct file **file);
enum err app_receive_close(struct app *a);

#endif
