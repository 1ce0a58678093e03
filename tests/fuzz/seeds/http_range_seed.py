#!/usr/bin/python3
"""Write seeds with answers of a file server: a range, the rest of a range, chunks, an interim answer, a refusal."""

import sys

BODY = bytes(range(64))
HEAD = b"HTTP/1.1 206 Partial Content\r\nETag: \"t\"\r\nLast-Modified: Sun, 29 Nov 2026 07:00:00 GMT\r\nContent-Range: bytes "
answers = [
    b"\0" + HEAD + b"100-163/1000\r\nContent-Length: 64\r\n\r\n" + BODY,
    b"\1" + HEAD + b"107-163/1000\r\nContent-Length: 57\r\nConnection: close\r\n\r\n" + BODY[7:],
    b"\2HTTP/1.1 100 Continue\r\n\r\n" + HEAD + b"100-163/1000\r\nTransfer-Encoding: chunked\r\n\r\n20\r\n" + BODY[:32] + b"\r\n20\r\n" + BODY[32:] + b"\r\n0\r\n\r\n",
    b"\3" + HEAD + b"107-163/1000\r\n\r\n" + BODY[7:],
    b"\2HTTP/1.1 416 Range Not Satisfiable\r\nContent-Range: bytes */10\r\nContent-Length: 0\r\n\r\n",
]
for i, answer in enumerate(answers):
    with open(sys.argv[1] + (f"-{i}" if i else ""), "wb") as f:
        f.write(answer)
