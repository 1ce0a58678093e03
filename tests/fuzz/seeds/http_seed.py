#!/usr/bin/env python3
"""Write seeds for http_fuzz: rows of requests, chunks, frames of a WebSocket. usage: http_seed.py OUT"""
import sys


def frame(data, first=0x81):
    mask = b"abcd"
    return bytes([first, 0x80 | len(data)]) + mask + bytes(b ^ mask[i % 4] for i, b in enumerate(data))


HOST = b"Host: localhost\r\n"
SHAKE = (b"GET /ws HTTP/1.1\r\n" + HOST + b"Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
         b"Sec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n\r\n")
SEEDS = [
    b"POST /a HTTP/1.1\r\n" + HOST + b"Content-Length: 5\r\n\r\nhelloGET /s HTTP/1.1\r\n" + HOST + b"\r\nHEAD /e?x=%41 HTTP/1.1\r\n" + HOST + b"\r\n"
    b"POST /early HTTP/1.1\r\n" + HOST + b"Content-Length: 3\r\nExpect: 100-continue\r\n\r\nabc",
    b"POST /s HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0a;x=\"y\"\r\n0123456789\r\n0\r\nTrailer: 1\r\n\r\n"
    b"GET http://b/c HTTP/1.1\r\n" + HOST + b"Connection: Upgrade\r\nUpgrade: h2c\r\n\r\nOPTIONS * HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
    b"POST /e HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\nGET /s HTTP/1.0\r\n\r\n",
    SHAKE + frame(b'{"a":1}') + frame(b"x", 0x89) + frame(b"one", 0x01) + frame(b"", 0x00) + frame(b"two", 0x80) + frame(b"\x03\xe8", 0x88),
    SHAKE + frame(b"Quit") + frame(b"\x82") + b"\x82\xfe\x01\x00abcd" + bytes(256) + b"\x81\xff\0\0\0\0\0\1\0\0abcd",
    b"POST /a HTTP/1.1\r\n" + HOST + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\nGET / HTTP/1.1\n\n",
]
for i, seed in enumerate(SEEDS):
    with open(sys.argv[1] + (f"-{i}" if i else ""), "wb") as f:
        f.write(seed)
