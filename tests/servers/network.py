"""Machines on one machine: network namespaces with a switch between them that delays every packet.

Kernels need not have a queue that delays (netem), so that the switch is this process: a tap device in every namespace, and
one here, whose frames are handed on after a while.  For root only, with iproute2 and /dev/net/tun; `possible` tells.
"""
import fcntl
import heapq
import os
import selectors
import shutil
import socket
import struct
import subprocess
import threading
import time

TUNSETIFF, IFF_TAP, IFF_NO_PI = 0x400454CA, 0x0002, 0x1000

AGENT = """#!/bin/bash
# The rsh of mpirun: runs a command in the network namespace that is named like the host.
host=$1
shift
exec ip netns exec "$host" unshare --uts bash -c 'hostname "$0"; eval "$*"' "$host" "$@"
"""


def possible():
    return os.geteuid() == 0 and shutil.which("ip") is not None and os.access("/dev/net/tun", os.W_OK)


def ip(*words):
    subprocess.run(["ip", *words], check=True, capture_output=True)


class Network:
    """Namespaces with addresses .2, .3, ...; this machine is .1."""

    def __init__(self, folder, count, delay):
        self.delay, self.taps, self.names = delay, [], []
        self.prefix = f"198.18.{os.getpid() % 250 + 1}"
        self.subnet, self.here = self.prefix + ".0/24", self.prefix + ".1"
        self.agent = os.path.join(folder, "agent")
        self.ends = threading.Event()
        self.count = count

    def __enter__(self):
        with open(self.agent, "w", encoding="utf-8") as file:
            file.write(AGENT)
        os.chmod(self.agent, 0o700)
        try:
            device = f"iso{os.getpid()}"
            self.tap(device)
            ip("address", "add", self.here + "/24", "dev", device)
            ip("link", "set", device, "up")
            for i in range(self.count):
                name = f"isoproof-{os.getpid()}-{i}"
                ip("netns", "add", name)
                self.names.append(name)
                self.tap(f"{device}x{i}")
                ip("link", "set", f"{device}x{i}", "netns", name)
                ip("-n", name, "address", "add", f"{self.prefix}.{i + 2}/24", "dev", f"{device}x{i}")
                ip("-n", name, "link", "set", f"{device}x{i}", "up")
                ip("-n", name, "link", "set", "lo", "up")
        except BaseException:
            self.__exit__()
            raise
        threading.Thread(target=self.switch, daemon=True).start()
        return self

    def tap(self, name):
        tap = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        fcntl.ioctl(tap, TUNSETIFF, struct.pack("16sH22x", name.encode(), IFF_TAP | IFF_NO_PI))
        self.taps.append(tap)

    def switch(self):
        """Hands every frame to all others, `delay` seconds later."""
        look, waiting, number = selectors.DefaultSelector(), [], 0
        for tap in self.taps:
            look.register(tap, selectors.EVENT_READ)
        while not self.ends.is_set():
            due = waiting[0][0] - time.monotonic() if waiting else 0.05
            for key, _ in look.select(max(0, min(due, 0.05))):
                try:
                    while True:
                        frame, number = os.read(key.fd, 65536), number + 1
                        heapq.heappush(waiting, (time.monotonic() + self.delay, number, key.fd, frame))
                except OSError:
                    pass
            while waiting and waiting[0][0] <= time.monotonic():
                _, _, source, frame = heapq.heappop(waiting)
                for tap in self.taps:
                    if tap != source:
                        try:
                            os.write(tap, frame)
                        except OSError:
                            pass  # a device that is down, or full: networks lose packets

    def mpirun(self):
        """The words of mpirun that start one rank in every namespace."""
        return ["--host", ",".join(self.names), "--mca", "plm_rsh_agent", self.agent, "--mca", "oob_tcp_if_include", self.subnet,
                "--mca", "btl", "tcp,self", "--mca", "btl_tcp_if_include", self.subnet, "-n", str(self.count)]

    def forward(self, port):
        """Lets the namespaces reach a port of loopback; the port that leads there."""
        listener = socket.create_server((self.here, 0))
        threading.Thread(target=self.accept, args=(listener, port), daemon=True).start()
        return listener.getsockname()[1]

    @staticmethod
    def accept(listener, port):
        def pump(source, target):
            try:
                while data := source.recv(65536):
                    target.sendall(data)
                target.shutdown(socket.SHUT_WR)
            except OSError:
                for end in (source, target):
                    end.close()

        while True:
            outside, _ = listener.accept()
            inside = socket.create_connection(("127.0.0.1", port))
            for end in (outside, inside):
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for pair in ((outside, inside), (inside, outside)):
                threading.Thread(target=pump, args=pair, daemon=True).start()

    def __exit__(self, *_):
        self.ends.set()
        for name in self.names:
            subprocess.run(["ip", "netns", "delete", name], check=False, capture_output=True)
        time.sleep(0.1)
        for tap in self.taps:
            os.close(tap)
