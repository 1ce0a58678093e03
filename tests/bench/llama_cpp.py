"""Calls llama.cpp's shared libraries by ctypes: its quantizer, its importance matrix and its logits. Only comparisons use it.

LLAMA_CPP names the folder with libllama, libggml and libggml-base of the npm package
@node-llama-cpp/linux-x64 (release v0.5.0; the offsets below are those of its structs)."""

import ctypes as C
import glob
import os

import numpy

from gguf_files import Gguf, read_gguf

FOLDER = os.environ.get("LLAMA_CPP", "")
FTYPES = {"f32": 0, "q4_0": 2, "q8_0": 7, "q2_k": 10, "q3_k_m": 12, "q4_k_m": 15, "q5_k_m": 17, "q6_k": 18, "iq4_nl": 25}
KV_TYPES = {"f32": 0, "f16": 1, "q4_0": 2, "q8_0": 8}
MUL_MAT_OP = "MUL_MAT"


class Blob(C.Structure):
    """Stands for any of llama.cpp's structs of parameters, which are passed by value: it is larger than each of them, and fields
    are set by offset."""
    _fields_ = [("bytes", C.c_uint8 * 512)]

    def put(self, offset, kind, value):
        kind.from_buffer(self, offset).value = value


class Batch(C.Structure):
    _fields_ = [("n_tokens", C.c_int32), ("token", C.POINTER(C.c_int32)), ("embd", C.c_void_p), ("pos", C.POINTER(C.c_int32)),
                ("n_seq_id", C.POINTER(C.c_int32)), ("seq_id", C.POINTER(C.POINTER(C.c_int32))), ("logits", C.POINTER(C.c_int8))]


class Tensor(C.Structure):
    """struct ggml_tensor up to its name."""
    _fields_ = [("type", C.c_int), ("buffer", C.c_void_p), ("ne", C.c_int64 * 4), ("nb", C.c_size_t * 4), ("op", C.c_int), ("op_params", C.c_int32 * 16),
                ("flags", C.c_int32), ("src", C.c_void_p * 10), ("view_src", C.c_void_p), ("view_offs", C.c_size_t), ("data", C.c_void_p),
                ("name", C.c_char * 64)]


EVALUATE = C.CFUNCTYPE(C.c_bool, C.POINTER(Tensor), C.c_bool, C.c_void_p)
QUIET = C.CFUNCTYPE(None, C.c_int, C.c_char_p, C.c_void_p)(lambda *_: None)
N_CTX, N_BATCH, N_UBATCH, N_THREADS, N_THREADS_BATCH, CB_EVAL, TYPE_K, TYPE_V = 0, 4, 8, 28, 32, 88, 104, 108 # llama_context_params
FTYPE, REQUANTIZE, PURE = 4, 16, 19                                                                          # llama_model_quantize_params


def load(stem):
    found = sorted(glob.glob(os.path.join(FOLDER, f"lib{stem}.so")) + glob.glob(os.path.join(FOLDER, f"lib{stem}.v*.so")))
    return C.CDLL(found[0], C.RTLD_GLOBAL)


class LlamaCpp:
    def __init__(self):
        self.base, self.ggml, self.llama = load("ggml-base"), load("ggml"), load("llama")
        for name in ("model_quantize_default_params", "context_default_params", "model_default_params"):
            getattr(self.llama, "llama_" + name).restype = Blob
        self.llama.llama_model_quantize.argtypes = [C.c_char_p, C.c_char_p, C.POINTER(Blob)]
        self.llama.llama_model_load_from_file.restype = self.llama.llama_init_from_model.restype = C.c_void_p
        self.llama.llama_model_load_from_file.argtypes = [C.c_char_p, Blob]
        self.llama.llama_init_from_model.argtypes = [C.c_void_p, Blob]
        self.llama.llama_batch_init.restype = Batch
        self.llama.llama_decode.argtypes = [C.c_void_p, Batch]
        self.llama.llama_get_logits.restype = C.POINTER(C.c_float)
        for name in ("llama_get_logits", "llama_free", "llama_model_free", "llama_get_memory"):
            getattr(self.llama, name).argtypes = [C.c_void_p]
        self.llama.llama_get_memory.restype = C.c_void_p
        self.llama.llama_memory_clear.argtypes = [C.c_void_p, C.c_bool]
        self.base.ggml_quantize_chunk.restype = C.c_size_t
        self.base.ggml_quantize_chunk.argtypes = [C.c_int, C.c_void_p, C.c_void_p, C.c_int64, C.c_int64, C.c_int64, C.c_void_p]
        self.base.ggml_op_name.restype = C.c_char_p
        self.llama.llama_log_set(QUIET, None)
        self.llama.llama_backend_init()
        self.ggml.ggml_backend_load_all_from_path(FOLDER.encode())

    def quantize(self, source, out, name, pure=False):
        """Make a GGUF of the file type `name`, with the tensor types that llama.cpp chooses."""
        p = self.llama.llama_model_quantize_default_params()
        p.put(FTYPE, C.c_int32, FTYPES[name])
        p.put(REQUANTIZE, C.c_bool, True)
        p.put(PURE, C.c_bool, pure)
        if self.llama.llama_model_quantize(source.encode(), out.encode(), C.byref(p)) != 0:
            raise RuntimeError(f"llama.cpp does not quantize {source} to {name}")

    def weigh(self, floats, quantized, out, importance):
        """Rewrite the file `quantized`: quantize every matrix again from `floats`, by the importance of its columns."""
        exact = {t[0]: t for t in read_gguf(floats).tensors}
        g = read_gguf(quantized)
        for t in g.tensors:
            columns = importance.get(t[0])
            if t[2] > 1 and columns is not None:
                w = numpy.frombuffer(exact[t[0]][3], numpy.float32)
                to = C.create_string_buffer(len(t[3]))
                n = t[1][0]
                self.base.ggml_quantize_chunk(t[2], w.ctypes.data, to, 0, len(w) // n, n, columns.ctypes.data)
                t[3] = to.raw
        g.write(out)

    def open(self, path, n, kv=("f16", "f16"), evaluate=None):
        model = self.llama.llama_model_load_from_file(path.encode(), self.llama.llama_model_default_params())
        p = self.llama.llama_context_default_params()
        for offset in (N_CTX, N_BATCH, N_UBATCH):
            p.put(offset, C.c_uint32, n)
        for offset in (N_THREADS, N_THREADS_BATCH):
            p.put(offset, C.c_int32, os.cpu_count())
        p.put(TYPE_K, C.c_int32, KV_TYPES[kv[0]])
        p.put(TYPE_V, C.c_int32, KV_TYPES[kv[1]])
        if evaluate is not None:
            p.put(CB_EVAL, C.c_void_p, C.cast(evaluate, C.c_void_p).value)
        return model, self.llama.llama_init_from_model(model, p)

    def run(self, path, windows, vocabulary, **options):
        """The logits (positions, vocabulary) of all positions, for every window of ids."""
        n = len(windows[0])
        model, context = self.open(path, n, **options)
        batch = self.llama.llama_batch_init(n, 0, 1)
        for ids in windows:
            batch.n_tokens = n
            for i, token in enumerate(ids):
                batch.token[i], batch.pos[i], batch.n_seq_id[i], batch.logits[i] = token, i, 1, 1
                batch.seq_id[i][0] = 0
            self.llama.llama_memory_clear(self.llama.llama_get_memory(context), True)
            if self.llama.llama_decode(context, batch) != 0:
                raise RuntimeError("llama_decode fails")
            yield numpy.ctypeslib.as_array(self.llama.llama_get_logits(context), (n, vocabulary))
        self.llama.llama_free(context)
        self.llama.llama_model_free(model)

    def importance(self, path, windows, vocabulary):
        """{matrix: the mean square of each column of its input}, as in an importance matrix."""
        sums = {}

        def count(tensor, ask, _):
            t = tensor.contents
            if self.base.ggml_op_name(t.op) != MUL_MAT_OP.encode():
                return not ask
            name = Tensor.from_address(t.src[0]).name.decode()
            if ask:
                return name.endswith(".weight")
            x = Tensor.from_address(t.src[1])
            n = x.ne[0] * x.ne[1]
            values = numpy.ctypeslib.as_array(C.cast(x.data, C.POINTER(C.c_float)), (n,)).reshape(x.ne[1], x.ne[0])
            sums[name] = sums.get(name, 0) + (values.astype(numpy.float64) ** 2).sum(axis=0)
            return True

        for _ in self.run(path, windows, vocabulary, evaluate=EVALUATE(count)):
            pass
        total = sum(len(ids) for ids in windows)
        return {name: (s / total).astype(numpy.float32) for name, s in sums.items()}
