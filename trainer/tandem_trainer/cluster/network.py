"""The network by which the workers of a run speak with each other: that of Ray.

gloo would take the address to which a machine's own name leads, and on many machines that is the loopback.
"""

import os
import socket
import struct
import sys
from dataclasses import dataclass

import ray
from ray.train.torch import TorchConfig
from ray.train.torch.config import _TorchBackend

GET_ADDRESS = 0x8915  # SIOCGIFADDR of netdevice(7)


@dataclass
class OverRaysNetwork(TorchConfig):
    """Makes torch's process group over the interface that has Ray's address of the node."""

    @property
    def backend_cls(self) -> type[_TorchBackend]:
        return _Backend


class _Backend(_TorchBackend):
    def on_start(self, worker_group, backend_config) -> None:
        worker_group.execute(_use_rays_interface)
        super().on_start(worker_group, backend_config)


def _use_rays_interface() -> None:
    found = interface_of(ray.util.get_node_ip_address())
    if found is not None:
        os.environ.setdefault("GLOO_SOCKET_IFNAME", found)


def interface_of(address: str) -> str | None:
    """Returns the name of the interface with that IPv4 address; None without one, or not on Linux."""
    if sys.platform != "linux":
        return None
    import fcntl

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        for _, name in socket.if_nameindex():
            try:
                answer = fcntl.ioctl(any_socket.fileno(), GET_ADDRESS, struct.pack("256s", name.encode()))
            except OSError:  # it has no IPv4 address
                continue
            if socket.inet_ntoa(answer[20:24]) == address:
                return name
    return None
