"""All rows."""

import table_board
import table_boot
import table_compute
import table_faults
import table_host
import table_kernels
import table_layers
import table_stream
import table_talk

ROWS = (table_stream.ROWS + table_talk.ROWS + table_compute.ROWS + table_layers.ROWS +
        table_host.ROWS + table_board.ROWS + table_boot.ROWS + table_kernels.ROWS + table_faults.ROWS)
assert len({row.name for row in ROWS}) == len(ROWS), "a row's name is its own"
