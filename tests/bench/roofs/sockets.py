#!/usr/bin/env python3
"""sockets.py BYTES ADDRESS... ME: sends BYTES to every other address and takes as much from each.

Every host runs it at once. Prints the seconds from its start to the last byte, connections included.
"""

import socket
import sys
import threading
import time

PORT = 9000


def send(address, nbytes):
    with connect(address) as peer:
        peer.sendall(bytes(nbytes))


def connect(address):
    """Tries until the other host listens."""
    while True:
        try:
            return socket.create_connection((address, PORT))
        except ConnectionRefusedError:
            time.sleep(0.001)


def take(peer, nbytes):
    with peer:
        while nbytes > 0 and (piece := peer.recv(1 << 20)):
            nbytes -= len(piece)


def main():
    nbytes, addresses, me = int(sys.argv[1]), sys.argv[2:-1], int(sys.argv[-1])
    others = [address for i, address in enumerate(addresses) if i != me]
    with socket.create_server(("", PORT)) as server:
        begin = time.monotonic()
        threads = [threading.Thread(target=send, args=(other, nbytes)) for other in others]
        for thread in threads:
            thread.start()
        for _ in others:
            threads.append(threading.Thread(target=take, args=(server.accept()[0], nbytes)))
            threads[-1].start()
        for thread in threads:
            thread.join()
    print(time.monotonic() - begin)


if __name__ == "__main__":
    main()
