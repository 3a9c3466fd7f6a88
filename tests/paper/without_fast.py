"""A plugin of pytest and a command line in whose process `transduce.fast` cannot be imported."""

import sys

sys.modules["transduce.fast"] = None  # type: ignore[assignment] # an import of it is an error

if __name__ == "__main__":
    from transduce.__main__ import start

    start()
