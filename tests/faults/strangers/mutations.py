"""Small random changes of sound folders, with or without right checksums."""

from random import Random

from tests.faults.strangers.folders import Files, reseal

PIECES = (
    b"\0",
    b"\xff\xff\xff\xff",
    b'"',
    b"{",
    b"[[",
    b"9" * 40,
    b"-",
    b"1e999",
    b"null",
    b"../",
    b"\\ud800",
    b"\n",
)


def mutate(files: Files, draw: Random) -> tuple[str, dict[str, bytes]]:
    """Change one to three places of one file; say what was changed, and whether it was resealed."""
    name = draw.choice([one for one in sorted(files) if files[one] and not one.endswith(".md")])
    data, done = bytearray(files[name]), []
    for _ in range(draw.randint(1, 3)):
        at = draw.randrange(len(data)) if data else 0
        end = min(len(data), at + draw.choice((1, 1, 2, 8, 100)))
        match draw.randrange(5):
            case 0 if data:
                data[at] ^= 1 << draw.randrange(8)
                done.append(f"bit {at}")
            case 1:
                del data[at:end]
                done.append(f"cut {at}:{end}")
            case 2:
                data[at:at] = data[at:end]
                done.append(f"twice {at}:{end}")
            case 3:
                data[at:end] = draw.choice(PIECES)
                done.append(f"other {at}:{end}")
            case _:
                del data[at:]
                done.append(f"end {at}")
    changed = {**files, name: bytes(data)}
    sealed = draw.random() < 0.5
    how = "resealed" if sealed else "as it is"
    return f"{name}: {', '.join(done)}, {how}", reseal(changed) if sealed else changed
