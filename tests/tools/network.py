"""Machines on one machine: network namespaces, and a network between them that delays every packet.

The kernel delays where it can (netem, on a bridge).  Kernels need not have that: then the switch is a process of its own, with a
tap device in every namespace and one here, whose frames are handed on after a while.  For root only, with iproute2;
`possible` tells.
"""
import atexit
import fcntl
import glob
import heapq
import os
import selectors
import shutil
import signal
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


def is_done(*words):
    return subprocess.run(words, check=False, capture_output=True).returncode == 0


def end_processes(name):
    """Whatever runs in a namespace."""
    listed = subprocess.run(["ip", "netns", "pids", name], check=False, capture_output=True, text=True)
    for pid in listed.stdout.split():
        try:
            os.kill(int(pid), signal.SIGKILL)
        except ProcessLookupError:
            pass


def remove_namespace(name):
    end_processes(name)
    is_done("ip", "netns", "delete", name)


def remove_leftovers():
    """What a test left that was killed: namespaces carry the number of their process."""
    for path in glob.glob("/run/netns/isoproof-*-*"):
        name = os.path.basename(path)
        if not os.path.exists(f"/proc/{name.split('-')[1]}"):
            remove_namespace(name)


class Switch:
    """Hands every frame on, `delay` seconds later, to the device behind which its receiver was seen, or else to all others."""

    def __init__(self, taps, delay):
        self.taps, self.delay, self.waiting, self.number, self.seen = taps, delay, [], 0, {}

    def take(self, tap):
        try:
            while True:
                frame, self.number = os.read(tap, 65536), self.number + 1
                heapq.heappush(self.waiting, (time.monotonic() + self.delay, self.number, tap, frame))
        except OSError:
            pass  # nothing more

    def hand_on(self, source, frame):
        receiver, self.seen[frame[6:12]] = self.seen.get(frame[:6]), source
        for tap in self.taps if receiver is None else [receiver]:
            if tap != source:
                try:
                    os.write(tap, frame)
                except OSError:
                    pass  # a device that is down, or full: networks lose packets

    def run(self):
        """Until the parent is gone."""
        look, parent = selectors.DefaultSelector(), os.getppid()
        for tap in self.taps:
            look.register(tap, selectors.EVENT_READ)
        while os.getppid() == parent:
            due = self.waiting[0][0] - time.monotonic() if self.waiting else 0.05
            for key, _ in look.select(max(0, min(due, 0.05))):
                self.take(key.fd)
            while self.waiting and self.waiting[0][0] <= time.monotonic():
                _, _, source, frame = heapq.heappop(self.waiting)
                self.hand_on(source, frame)


class Network:
    """Namespaces with addresses .2, .3, ...; this machine is .1."""

    def __init__(self, folder, count, delay):
        self.delay, self.taps, self.names, self.switch = delay, [], [], None
        self.prefix = f"198.18.{os.getpid() % 250 + 1}"
        self.subnet, self.here = self.prefix + ".0/24", self.prefix + ".1"
        self.agent = os.path.join(folder, "agent")
        self.device = f"iso{os.getpid()}"
        self.count = count

    def __enter__(self):
        remove_leftovers()
        with open(self.agent, "w", encoding="utf-8") as file:
            file.write(AGENT)
        os.chmod(self.agent, 0o700)
        atexit.register(self.close)
        try:
            for i in range(self.count):
                name = f"isoproof-{os.getpid()}-{i}"
                ip("netns", "add", name)
                self.names.append(name)
                ip("-n", name, "link", "set", "lo", "up")
            if not self.join_by_kernel():
                self.join_by_switch()
        except BaseException:
            self.close()
            raise
        return self

    def enter(self, i, device):
        """Device `device` is that of namespace `i`."""
        name = self.names[i]
        ip("link", "set", device, "netns", name)
        ip("-n", name, "address", "add", f"{self.prefix}.{i + 2}/24", "dev", device)
        ip("-n", name, "link", "set", device, "up")

    # Every frame is delayed once: where it leaves its namespace, or where it leaves this machine for the bridge.
    def join_by_kernel(self):
        late = ["root", "netem", "limit", "100000", "delay", f"{self.delay * 1000:g}ms"]
        if not is_done("ip", "link", "add", self.device, "type", "bridge"):
            return False
        if shutil.which("tc") is None or not is_done("tc", "qdisc", "add", "dev", self.device, *late):
            ip("link", "delete", self.device)
            return False
        ip("address", "add", self.here + "/24", "dev", self.device)
        ip("link", "set", self.device, "up")
        for i, name in enumerate(self.names):
            outside, inside = f"{self.device}o{i}", f"{self.device}x{i}"
            ip("link", "add", outside, "type", "veth", "peer", "name", inside)
            ip("link", "set", outside, "master", self.device, "up")
            self.enter(i, inside)
            ip("netns", "exec", name, "tc", "qdisc", "add", "dev", inside, *late)
        return True

    def join_by_switch(self):
        self.tap(self.device)
        ip("address", "add", self.here + "/24", "dev", self.device)
        ip("link", "set", self.device, "up")
        for i in range(self.count):
            self.tap(f"{self.device}x{i}")
            self.enter(i, f"{self.device}x{i}")
        self.switch = os.fork()
        if self.switch == 0:
            try:
                for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                    signal.signal(number, signal.SIG_DFL)
                Switch(self.taps, self.delay).run()
            finally:
                os._exit(0)

    def tap(self, name):
        tap = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        fcntl.ioctl(tap, TUNSETIFF, struct.pack("16sH22x", name.encode(), IFF_TAP | IFF_NO_PI))
        self.taps.append(tap)

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

    def close(self):
        """The namespaces, what runs in them and the devices are gone afterwards; twice does no harm."""
        atexit.unregister(self.close)
        for name in self.names:
            remove_namespace(name)
        if self.switch is not None:
            os.kill(self.switch, signal.SIGKILL)
            os.waitpid(self.switch, 0)
        for tap in self.taps:
            os.close(tap)
        is_done("ip", "link", "delete", self.device)  # a bridge; that of a tap went with it
        self.names, self.taps, self.switch = [], [], None

    def __exit__(self, *_):
        self.close()
