"""llama.cpp's server from the package xllamacpp, for compare.py, in a separate process, so that its memory and start are measured separately.

usage: compare_peer.py MODEL THREADS CONTEXT PLACES WARM_UP

Prints `ready BYTES SYSTEM`: the memory that Python and the library take before a model is loaded, and llama.cpp's description of the system. After a
line on standard input it loads the model and prints its address. The process ends when its standard input ends."""

import re
import sys

import xllamacpp


def resident():
    with open("/proc/self/status", encoding="ascii") as f:
        return 1024 * int(re.search(r"^VmRSS:\s+(\d+)", f.read(), re.M).group(1))


def parameters(model, threads, context, places, warm_up):
    p = xllamacpp.CommonParams()
    p.model.path = model
    p.n_ctx = context
    p.n_parallel = places
    p.cpuparams.n_threads = p.cpuparams_batch.n_threads = threads
    p.port = 0
    p.warmup = warm_up
    return p


def main():
    model, threads, context, places, warm_up = sys.argv[1:]
    print("ready", resident(), xllamacpp.get_system_info().strip(), flush=True)
    sys.stdin.readline()
    server = xllamacpp.Server(parameters(model, int(threads), int(context), int(places), warm_up == "1"))
    print(server.listening_address, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
