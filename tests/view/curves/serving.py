"""A server of curves in a thread, for a with block."""

import threading
from contextlib import contextmanager

from transduce.view.curves.server import CurvesServer


@contextmanager
def serve(*runs, port=0):
    """Yield a running server of these runs; at the end of the block it has stopped."""
    with CurvesServer(runs, port) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
