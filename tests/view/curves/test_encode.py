"""What a page holds of a run: exact single updates, blocks that lose no spike, and no more."""

import json
import re
import zlib

import numpy as np
import pytest
from tests.view.curves.logs import loss, rate, update, validation, write_log, write_recipe

import transduce
from transduce.view.curves import page as cells_module
from transduce.view.curves.page import (
    build_columns,
    build_curves_page,
    count_blocks,
    encode_run,
    round_down,
)
from transduce.view.curves.read_log import RunLog, Updates, read_run_log


def unpack(header, packed, name):
    """Return a column as a browser unpacks it."""
    offset, length, is_summed = header["columns"][name]
    shuffled = np.frombuffer(zlib.decompress(packed[offset : offset + length]), np.uint8)
    words = np.ascontiguousarray(shuffled.reshape(4, -1).T).view("<u4").reshape(-1)
    return (np.cumsum(words, dtype=np.uint32) if is_summed else words).view("<f4")


def unpack_bytes(text):
    """Return the bytes of a data block, as a browser reads them: seven bits a character."""
    bits = "".join(f"{ord(character) & 127:07b}" for character in text)
    return bytes(int(bits[i : i + 8], 2) for i in range(0, len(bits) // 8 * 8, 8))


def encode(run, *, full=False):
    return encode_run("run", run, read_run_log(run), full=full)


@pytest.fixture
def small_blocks(monkeypatch):
    """Blocks begin at 300 updates here, and the last 100 are kept."""
    monkeypatch.setattr(cells_module, "MAX_SINGLE", 300)
    monkeypatch.setattr(cells_module, "LAST_SINGLE", 100)


def test_two_hundred_thousand_updates_are_kept_one_by_one():
    assert count_blocks(200_000, full=False) == 0
    assert count_blocks(200_001, full=False) == 190_001 // 64
    assert count_blocks(1_000_000, full=False) == 990_000 // 64
    assert count_blocks(1_000_000, full=True) == 0


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.filterwarnings("error")
def test_a_speed_that_no_float_can_hold_is_the_largest_finite_one(tmp_path):
    events = [update(1, seconds=1e-308), *(update(step) for step in range(2, 401))]
    header, packed = encode(write_log(tmp_path, events))
    assert unpack(header, packed, "speed_high")[0] == np.float32(3e38)


def test_single_updates_are_the_float32_of_the_log(tmp_path):
    header, packed = encode(write_log(tmp_path, [update(step) for step in range(1, 50)]))
    expected = np.array([loss(step) for step in range(1, 50)], dtype="<f4")
    assert (unpack(header, packed, "loss") == expected).all()
    assert unpack(header, packed, "steps").tolist() == [1] * 49
    assert unpack(header, packed, "tokens").tolist() == [100 + step % 7 for step in range(1, 50)]


@pytest.mark.usefixtures("small_blocks")
def test_a_block_has_the_mean_and_encloses_all_its_values(tmp_path):
    run = write_log(tmp_path, [update(step) for step in range(1, 1001)])
    header, packed = encode(run)
    blocks = header["blocks"]
    assert (blocks, header["cells"]) == (14, 14 + 1000 - 14 * 64)
    for i in range(blocks):
        values = [loss(step) for step in range(64 * i + 1, 64 * i + 65)]
        low, high = (unpack(header, packed, f"loss_{end}")[i] for end in ("low", "high"))
        assert min(values) * 0.999 < low <= min(values)
        assert max(values) * 1.001 > high >= max(values)
        assert unpack(header, packed, "loss")[i] == pytest.approx(sum(values) / 64)
    assert unpack(header, packed, "steps")[:blocks].tolist() == [64] * blocks
    assert unpack(header, packed, "steps").sum() == 1000


@pytest.mark.usefixtures("small_blocks")
def test_the_spike_of_one_update_is_in_its_block(tmp_path):
    events = [update(step, nats=50.0 if step == 333 else loss(step)) for step in range(1, 1001)]
    header, packed = encode(write_log(tmp_path, events))
    assert unpack(header, packed, "loss_high").argmax() == 332 // 64
    assert unpack(header, packed, "loss_high").max() == 50


@pytest.mark.usefixtures("small_blocks")
def test_skipped_updates_are_counted_and_change_no_mean(tmp_path):
    def event(step):
        bad = step in (5, 7)
        return update(step, nats=float("nan") if bad else 2.0, applied=not bad)

    header, packed = encode(write_log(tmp_path, [event(step) for step in range(1, 400)]))
    assert unpack(header, packed, "skipped")[0] == 2
    assert unpack(header, packed, "loss")[0] == 2


@pytest.mark.usefixtures("small_blocks")
def test_a_block_without_any_number_is_nan(tmp_path):
    run = write_log(tmp_path, [update(step, nats=float("nan")) for step in range(1, 400)])
    header, packed = encode(run)
    assert np.isnan(unpack(header, packed, "loss")).all()
    assert np.isnan(unpack(header, packed, "loss_low")).all()


@pytest.mark.usefixtures("small_blocks")
def test_full_keeps_every_update(tmp_path):
    header, packed = encode(write_log(tmp_path, [update(s) for s in range(1, 401)]), full=True)
    assert header["blocks"] == 0
    assert len(unpack(header, packed, "loss")) == 400


def test_the_smaller_number_of_twelve_digits_is_close():
    values = np.concatenate([np.geomspace(1e-30, 1e30, 999), [0.0], -np.geomspace(1e-9, 9, 9)])
    rounded = round_down(values)
    assert (rounded <= values).all()
    assert (np.abs(values - rounded) <= np.abs(values) * 2**-11).all()
    assert np.isnan(round_down(np.array([np.nan]))).all()


def test_numbers_whose_bits_change_evenly_are_stored_as_differences(tmp_path):
    header, packed = encode(write_log(tmp_path, [update(step) for step in range(1, 3000)]))
    assert header["columns"]["learning_rate"][2]
    assert unpack(header, packed, "learning_rate").tolist() == [
        np.float32(rate(step)) for step in range(1, 3000)
    ]


def test_times_are_the_milliseconds_of_the_log(tmp_path):
    events = [update(step + 1, seconds=round(1e7 + 0.003 * step, 3)) for step in range(100)]
    header, packed = encode(write_log(tmp_path, events))
    assert unpack(header, packed, "milliseconds").tolist() == [1e10] + [3] * 99


@pytest.mark.parametrize(("full", "most"), [(True, 4_000_000), (False, 500_000)])
def test_the_page_of_a_million_updates_is_no_larger_than_asked_for(tmp_path, full, most):
    """Row V20."""
    step = np.arange(1.0, 1_000_001)
    values = {
        "nats": 1 + 4 * np.exp(-step / 50) + 0.1 * np.sin(step * 12.9898),
        "gradient_norm": 0.5 + np.abs(np.sin(step)),
        "learning_rate": 32**-0.5 * np.minimum(step**-0.5, step * 100**-1.5),
        "target_tokens": 100 + step % 7,
    }
    updates = Updates(step=step, seconds=0.25 * step, applied=np.ones(1_000_000), **values)
    log = RunLog(updates, (), {}, 0, 0, 280_000_000)
    assert len(build_curves_page({"run": (tmp_path, log)}, full=full)) <= most


def test_a_rate_that_is_equation_3_is_not_stored_and_another_is(tmp_path):
    events = [update(step) for step in range(1, 300)]
    run = write_recipe(write_log(tmp_path, events))
    header, _ = encode(run)
    assert header["schedule"] == {"d_model": 32, "warmup": 100, "factor": 1.0}
    assert header["average_last"] == 2
    assert "learning_rate" not in header["columns"]
    (run / "run.json").unlink()
    header, packed = encode(write_recipe(run, warmup=101))
    stored = unpack(header, packed, "learning_rate")
    assert stored == pytest.approx([rate(step) for step in range(1, 300)])


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"format": 1}', b"\xff"])
def test_a_damaged_run_file_leaves_equation_3_out(tmp_path, content):
    run = write_log(tmp_path, [update(1)])
    (run / "run.json").write_bytes(content)
    assert encode(run)[0]["schedule"] is None


def test_huge_numbers_stay_finite(tmp_path):
    names = ("nats", "gradient_norm", "learning_rate", "target_tokens", "seconds")
    events = [update(step, **dict.fromkeys(names, 1.7e308)) for step in (1, 2, 3)]
    run = write_log(tmp_path, [*events, update(4, nats=-1.7e308)])
    header, packed = encode(run)
    for name in header["columns"]:
        assert np.isfinite(unpack(header, packed, name)).all()
    (curve,) = transduce.curves(run)
    assert curve.points[-1].target_tokens > 2.9e300


def test_cells_of_no_updates_are_none(tmp_path):
    (tmp_path / "log.jsonl").write_bytes(b"")
    assert len(build_columns(read_run_log(tmp_path).updates, full=False)[1]["steps"]) == 0


def test_equal_logs_give_equal_pages(tmp_path):
    run = write_log(tmp_path / "run", [update(1), update(2), validation(2, 3.0, 11.0)])
    pages = []
    for name in ("a.html", "b.html"):
        transduce.curves(run, output=tmp_path / name)
        pages.append((tmp_path / name).read_bytes())
    assert pages[0] == pages[1]
    assert not re.search(rb"<[^>]*\ssrc=", pages[0])
    assert b"http:" not in re.sub(rb"http://www\.w3\.org/2000/svg", b"", pages[0])


def test_the_page_holds_what_was_encoded(tmp_path):
    run = write_log(tmp_path / "<!--<script>", [update(1), validation(1, 3.0, 11.0)])
    transduce.curves(run, output=tmp_path / "a.html")
    page = (tmp_path / "a.html").read_text()
    found = re.search(r'id="curves">(.*?)</script>', page)
    assert found
    header = json.loads(found[1])["runs"][0]
    assert header["name"] == "<!--<script>"
    assert header["validations"] == [[1, 3.0, 11.0, "BLEU"]]
    columns = re.search(r'id="run-0">(.*?)</script>', page)
    assert columns
    assert unpack(header, unpack_bytes(columns[1]), "loss").tolist() == [np.float32(loss(1))]
