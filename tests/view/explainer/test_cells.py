"""Any number that is opened is the sum that the page shows for it."""

import pytest
from tests.view.explainer.opened import open_explainer
from tests.view.explainer.samples import SHAPES, TEXT, make_translator

pytestmark = pytest.mark.browser
COMPARE = """
const { page, explainCell } = transduce, { model, trace, source, output } = page.result;
const ids = { source, target: [1, ...output.slice(0, -1)] }, far = {};
for (const [name, rows] of Object.entries(trace)) {
  const i = rows.length - 1, row = rows[i];
  for (let j = 0; j < row.length; j += Math.ceil(row.length / 12)) {
    const { value } = explainCell(model, trace, name, i, j, ids);
    const off = value === row[j] ? 0 : Math.abs(value - row[j]);
    if (!(off <= 1e-5 * (1 + Math.abs(value)))) far[`${name} ${i} ${j}`] = [value, row[j]];
  }
}
return [far, Object.keys(trace).length];
"""


@pytest.mark.parametrize("shape", SHAPES)
def test_every_number_follows_from_the_numbers_before_it(browser, shape):
    open_explainer(browser, make_translator(SHAPES[shape]), TEXT)
    far, names = browser.run(COMPARE)
    assert far == {}
    assert names >= 40


@pytest.mark.parametrize("off", ["encoder.1.self.2", "decoder.2.cross", "encoder.2.ff.residual"])
def test_with_a_part_switched_off_as_well(browser, off):
    open_explainer(browser, make_translator(SHAPES["odd"]), TEXT)
    browser.run("transduce.change({ off: arguments[0] })", [off])
    browser.wait("transduce.page.ready")
    assert browser.run(COMPARE)[0] == {}
