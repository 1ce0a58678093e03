/* The location of the files of boards that a card needs. */
#ifndef INGOT_HOST_CARD_BOARDS_H
#define INGOT_HOST_CARD_BOARDS_H

#include <stdbool.h>
#include <stddef.h>

/* The folder of boards that belongs to this program, to path (bytes): share/ingot/boards beside the
 * folder that it lies in, of a release and of `make install`, or the build folder of a checkout. False:
 * there is neither. */
bool card_boards_find(char *path, size_t bytes);

#endif
