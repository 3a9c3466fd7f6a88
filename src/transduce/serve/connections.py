"""Bounds the open connections: when there are too many, a client that holds many loses one."""

import ipaddress
from typing import Generic, TypeVar, final

Connection = TypeVar("Connection")
IPV6_CLIENT_BITS = 64  # the part of an IPv6 address that names a network: a client has all the rest


@final
class WaitingConnections(Generic[Connection]):
    """The connections that wait for their clients, by address, those that wait longest first.

    A connection waits for its client until a whole request has come, and again while the client
    does not read its answer. One whose request is being answered does not wait.
    """

    def __init__(self) -> None:
        self.by_address: dict[str, dict[Connection, None]] = {}

    def add(self, address: str, connection: Connection) -> None:
        """Add a connection as the one that has waited for the shortest time; keep a known one."""
        self.by_address.setdefault(address, {})[connection] = None

    def discard(self, address: str, connection: Connection) -> None:
        """Remove a connection that no longer waits, if it is there."""
        some = self.by_address.get(address)
        if some is not None:
            some.pop(connection, None)
            if not some:
                del self.by_address[address]

    def choose(self) -> tuple[str, Connection]:
        """Return the longest waiting connection of the address that has most of them."""
        address = max(self.by_address, key=lambda one: len(self.by_address[one]))
        return address, next(iter(self.by_address[address]))


def name_client(host: str) -> str:
    """Return what stands for the client at a host: its IPv4 address, or its IPv6 network."""
    if ":" not in host:
        return host
    try:
        return str(ipaddress.ip_network((host.partition("%")[0], IPV6_CLIENT_BITS), strict=False))
    except ValueError:
        return host
