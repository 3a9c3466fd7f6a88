"""Replaces a model of the running server after its folder was replaced by another valid one."""

import asyncio
import hashlib
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import final

from transduce.durable import read_regular
from transduce.durable.folder import MANIFEST
from transduce.durable.verified import MANIFEST_LIMIT
from transduce.errors import FolderError
from transduce.serve.dispatcher import Dispatcher, describe_fault
from transduce.serve.service import Pair, Service

POLL_SECONDS = 1.0
RETRY_SECONDS = 30.0  # after a process could not be started or ended, as for want of memory
OnMessage = Callable[[str], None]


@final
class FolderWatch:
    """Polls the manifests of model folders; a changed model is loaded, verified, then used.

    A folder that cannot be used changes nothing: the model that was loaded from it stays in use.
    """

    def __init__(
        self,
        service: Service,
        folders: Mapping[Pair, Path],
        on_message: OnMessage,
    ) -> None:
        self.service, self.folders, self.on_message = service, folders, on_message
        self.refused = dict[Pair, str]()  # hashes of manifests whose models could not be used
        self.delayed_until = dict[Pair, float]()  # by the monotonic clock

    async def run(self) -> None:
        """Check all folders every second until the task is cancelled."""
        while True:
            await asyncio.sleep(POLL_SECONDS)
            for pair, folder in self.folders.items():
                if time.monotonic() < self.delayed_until.get(pair, 0.0):
                    continue
                try:
                    found = await asyncio.to_thread(hash_manifest, folder)
                except RuntimeError:  # no thread can be started now
                    continue
                facts = self.service.models[pair].facts
                if found and facts and found not in (facts.hash, self.refused.get(pair)):
                    await self.replace(pair, found)

    async def replace(self, pair: Pair, found: str) -> None:
        """Load a pair's new model, with the manifest hash `found`; use it unless that fails."""
        old = self.service.models[pair]
        new = Dispatcher(old.load, old.start_process, old.workers, pair, self.on_message)
        try:
            facts = await new.start()
        except Exception as error:  # noqa: BLE001 - whatever it was, the model in use stays
            fact = describe_fault(error)
            if isinstance(error, FolderError):
                self.refused[pair] = found
            else:  # not a fault of the folder
                self.delayed_until[pair] = time.monotonic() + RETRY_SECONDS
                fact += f"; the next try is in {RETRY_SECONDS:.0f} seconds"
            self.on_message(
                f"warning: the model from {pair[0]} to {pair[1]} stays as it was: {fact}"
            )
            await new.close()
            return
        except asyncio.CancelledError:
            await new.close()  # a process that is left would keep the server from its end
            raise
        self.on_message(
            f"{pair[0]} to {pair[1]}: {facts.name}, sha256 {facts.hash[:12]}, is used now"
        )
        await self.service.swap(pair, new)


def hash_manifest(folder: Path) -> str:
    """Return the sha256 of a folder's manifest, or "" if it has none, as a run folder."""
    try:
        return hashlib.sha256(read_regular(folder / MANIFEST, MANIFEST_LIMIT)).hexdigest()
    except (FolderError, OSError):
        return ""
