#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""http2.py LISTEN_PORT CERTIFICATE KEY PORT_FILE: answers bulk requests over HTTP/2, each in its own way.

Speaks nothing but HTTP/2 over TLS. The index in the path of a bulk request names the way in which
it is answered, one of the functions way_*; each of its operations gets {"index":{"status":201}}.
"""
import os
import socket
import ssl
import sys
import threading

from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.events import DataReceived, RequestReceived, StreamEnded
from h2.exceptions import ProtocolError
from hyperframe.frame import ContinuationFrame, DataFrame, GoAwayFrame, HeadersFrame, PingFrame, RstStreamFrame

NO_ERROR, INTERNAL_ERROR, REFUSED_STREAM = 0, 2, 7
HEAD = [(":status", "200"), ("content-type", "application/json")]
HINTS = [(":status", "103"), ("link", "</a.css>; rel=preload")]
TRAILERS = [("server-timing", "app;dur=3"), ("grpc-status", "0")]


class Gone(Exception):
    """The connection ends here."""


class Exchange:
    """One request and what can be done about it."""

    def __init__(self, client, stream, way):
        self.client, self.stream, self.way, self.lines, self.early = client, stream, way, 0, False

    def body(self):
        items = ",".join(['{"index":{"status":201}}'] * (self.lines // 2))
        return ('{"errors":false,"items":[' + items + "]}").encode()

    def head(self, *more, end=False):
        self.client.h2.send_headers(self.stream, HEAD + list(more), end_stream=end)

    def interim(self, fields):
        self.client.h2.send_headers(self.stream, fields)

    def data(self, data, end=False):
        self.client.h2.send_data(self.stream, data, end_stream=end)

    def raw(self, frame):
        """A frame that the library would not send like this."""
        self.client.flush()
        self.client.socket.sendall(frame.serialize())

    def reset(self, code):
        self.raw(RstStreamFrame(self.stream, error_code=code))

    def goaway(self, last, code=NO_ERROR):
        self.raw(GoAwayFrame(0, last_stream_id=last, error_code=code))

    def hang_up(self):
        self.client.flush()
        raise Gone


def way_whole(x):
    x.head()
    x.data(x.body(), end=True)


def way_length(x):
    x.head(("content-length", str(len(x.body()))))
    x.data(x.body(), end=True)


def way_trailers(x):
    x.head()
    x.data(x.body())
    x.client.h2.send_headers(x.stream, TRAILERS, end_stream=True)


def way_trailers_like_a_head(x):
    x.head()
    x.data(x.body())
    fields = [("date", "now"), ("content-type", "text/html"), ("x-opensearch-version", "none")]
    x.client.h2.send_headers(x.stream, fields, end_stream=True)


def way_empty_end(x):
    x.head()
    x.data(x.body())
    x.data(b"", end=True)


def way_early_hints(x):
    x.interim(HINTS)
    x.interim(HINTS)
    way_trailers(x)


def way_continue(x):
    x.interim([(":status", "100")])
    way_whole(x)


def way_continued_head(x):
    block = x.client.h2.encoder.encode(HEAD + [("x-long", "y" * 9000)])
    x.raw(HeadersFrame(x.stream, block[:10], flags=[]))
    x.raw(ContinuationFrame(x.stream, block[10:4000], flags=[]))
    x.raw(ContinuationFrame(x.stream, block[4000:], flags=["END_HEADERS"]))
    x.raw(DataFrame(x.stream, x.body(), flags=["END_STREAM"]))


def way_small_frames(x):
    x.head()
    for byte in x.body():
        x.client.h2.send_data(x.stream, bytes([byte]), pad_length=7)
        x.raw(PingFrame(0, opaque_data=b"rowferry"))
    x.data(b"", end=True)


def way_reset_after(x):
    way_whole(x)
    x.reset(NO_ERROR)


def way_goaway_after(x):
    x.goaway(x.stream)
    way_whole(x)


def way_goaway_and_end(x):
    way_whole(x)
    x.goaway(x.stream)
    x.hang_up()


def way_refused_once(x):
    if x.client.refuses():
        x.reset(REFUSED_STREAM)
    else:
        way_whole(x)


def way_goaway_once(x):
    if x.client.refuses():
        x.goaway(0)
        x.hang_up()
    way_whole(x)


def way_reset_in_the_middle(x):
    x.head()
    x.data(x.body()[:30])
    x.reset(INTERNAL_ERROR)


def way_reset_before_the_end(x):
    x.head()
    x.data(x.body())
    x.reset(INTERNAL_ERROR)


def way_reset_without_error_in_the_middle(x):
    x.head()
    x.data(x.body()[:30])
    x.reset(NO_ERROR)


def way_reset_at_once(x):
    x.reset(INTERNAL_ERROR)


def way_reset_in_the_head(x):
    x.interim(HINTS)
    x.reset(NO_ERROR)


def way_end_in_the_middle(x):
    x.head()
    x.data(x.body()[:30])
    x.hang_up()


def way_end_without_end_stream(x):
    x.head()
    x.data(x.body())
    x.hang_up()


def way_goaway_in_the_middle(x):
    x.head()
    x.data(x.body()[:30])
    x.goaway(x.stream)
    x.hang_up()


def way_goaway_without_answer(x):
    x.goaway(x.stream, INTERNAL_ERROR)
    x.hang_up()


def way_too_long_a_length(x):
    x.head(("content-length", "9999"))
    x.data(x.body(), end=True)


def way_too_short_a_length(x):
    x.head(("content-length", "30"))
    x.data(x.body(), end=True)


def way_hints_alone(x):
    block = x.client.h2.encoder.encode(HINTS)
    x.raw(HeadersFrame(x.stream, block, flags=["END_HEADERS", "END_STREAM"]))


def way_head_alone(x):
    x.head(end=True)


def way_trailers_without_an_end(x):
    x.head()
    x.data(x.body())
    x.raw(HeadersFrame(x.stream, x.client.h2.encoder.encode(TRAILERS), flags=["END_HEADERS"]))


def way_data_without_a_head(x):
    x.raw(DataFrame(x.stream, x.body(), flags=["END_STREAM"]))


def way_cut_in_a_frame(x):
    x.head()
    x.client.flush()
    x.client.socket.sendall(DataFrame(x.stream, x.body(), flags=["END_STREAM"]).serialize()[:-1])
    raise Gone


def way_early_refusal(x):
    """Before the request has come; the rest of it is not wanted."""
    x.client.h2.send_headers(x.stream, [(":status", "413")], end_stream=True)
    x.reset(NO_ERROR)


class Client(threading.Thread):
    """One connection."""

    refused = set()  # ways that have refused a request already

    def __init__(self, client):
        super().__init__(daemon=True)
        self.socket, self.exchanges, self.way = client, {}, None
        self.h2 = H2Connection(H2Configuration(client_side=False, validate_outbound_headers=False))

    def flush(self):
        self.socket.sendall(self.h2.data_to_send())

    def refuses(self):
        """Once for each way."""
        first = self.way not in Client.refused
        Client.refused.add(self.way)
        return first

    def answer(self, x):
        self.way = x.way
        globals()["way_" + x.way](x)
        x.early = True

    def take(self, event):
        if isinstance(event, RequestReceived):
            path = dict(event.headers)[b":path"].decode()
            self.exchanges[event.stream_id] = Exchange(self, event.stream_id, path.split("/")[1].replace("-", "_"))
        elif isinstance(event, DataReceived):
            x = self.exchanges[event.stream_id]
            x.lines += event.data.count(b"\n")
            if x.way == "early_refusal" and not x.early:
                self.answer(x)
            self.h2.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
        elif isinstance(event, StreamEnded):
            if not self.exchanges[event.stream_id].early:
                self.answer(self.exchanges[event.stream_id])

    def run(self):
        try:
            self.h2.initiate_connection()
            self.flush()
            while data := self.socket.recv(65536):
                for event in self.h2.receive_data(data):
                    self.take(event)
                self.flush()
        except (Gone, OSError, ProtocolError):
            pass
        self.socket.close()


def main():
    port, certificate, key, port_file = sys.argv[1:]
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    context.set_alpn_protocols(["h2"])
    listener = socket.create_server(("127.0.0.1", int(port)))
    with open(port_file + ".new", "w", encoding="ascii") as file:
        file.write(str(listener.getsockname()[1]))
    os.rename(port_file + ".new", port_file)
    while True:
        client, _ = listener.accept()
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            Client(context.wrap_socket(client, server_side=True)).start()
        except OSError:
            pass


main()
