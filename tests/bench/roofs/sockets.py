#!/usr/bin/env python3
"""sockets.py BYTES ADDRESS... ME: sends BYTES to every other address and takes as much from each.

Every host runs it at once. Hosts take turns, so that no link carries two messages at once: in each
round host i sends a piece to i + 1, then one to i + 2, and so on, at most two turns ahead of what it
has received. Prints the seconds from the first piece to the last.
"""

import socket
import sys
import threading
import time

PORT = 9000
PIECE = 1 << 17
AHEAD = 2


def connect(address, me):
    """Tries until the other host listens."""
    while True:
        try:
            peer = socket.create_connection((address, PORT))
            peer.sendall(bytes([me]))
            return peer
        except ConnectionRefusedError:
            time.sleep(0.001)


def accept_all(server, count):
    """Connections by the number of the host that made them."""
    peers = {}
    while len(peers) < count:
        peer = server.accept()[0]
        peers[peer.recv(1)[0]] = peer
    return peers


def take(peer, nbytes):
    while nbytes > 0 and (piece := peer.recv(nbytes)):
        nbytes -= len(piece)


def main():
    nbytes, addresses, me = int(sys.argv[1]), sys.argv[2:-1], int(sys.argv[-1])
    count = len(addresses)
    with socket.create_server(("", PORT)) as server:
        outgoing = {i: connect(address, me) for i, address in enumerate(addresses) if i != me}
        incoming = accept_all(server, count - 1)
    pieces = [min(PIECE, nbytes - first) for first in range(0, nbytes, PIECE)]
    turns = [(piece, distance) for piece in pieces for distance in range(1, count)]
    may_send = threading.Semaphore(AHEAD)

    def send_all():
        for piece, distance in turns:
            may_send.acquire()
            outgoing[(me + distance) % count].sendall(bytes(piece))

    begin = time.monotonic()
    sender = threading.Thread(target=send_all)
    sender.start()
    for piece, distance in turns:
        take(incoming[(me - distance) % count], piece)
        may_send.release()
    sender.join()
    print(time.monotonic() - begin)


if __name__ == "__main__":
    main()
