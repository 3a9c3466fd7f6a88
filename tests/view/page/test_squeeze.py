"""Blanks and comments of script and style: what is left means the same."""

from pathlib import Path

import pytest

from transduce.view.page.squeeze import SCRIPT_TOKEN, squeeze_script, squeeze_style

VIEW = Path(__file__).parents[3] / "src/transduce/view"


@pytest.mark.parametrize(
    ("script", "squeezed"),
    [
        ("const a = 1; // one\n", "let a=1;"),
        ("/** Says. */\nconst b = a + +c;\n", "let b=a+ +c;"),
        ("return typeof x in y;\n", "return typeof x in y;"),
        ('const s = "a  // b  /* c */";\n', 'let s="a  // b  /* c */";'),
        ("const t = `${a}  //  ${b}`;\n", "let t=`${a}  //  ${b}`;"),
        ("x.replace(/[ /]  '/g, a / b);\n", "x.replace(/[ /]  '/g,a/b);"),
        ("if (a) {\n  b();\n  c = d\n    ? 1 : 2;\n}\nf();\n", "if(a){b();c=d?1:2}f();"),
        ("a = b\n  c()\n", "a=b\nc()"),
        ("const a = 1;\nconst b = 2;\nlet c;\n", "let a=1,b=2,c;"),
        ("const a = 1; const b = (c, d); const [e] = f;\n", "let a=1,b=(c,d),[e]=f;"),
        ("b(); const c = 1; let d = 2; const e = 3;\n", "b();let c=1,d=2,e=3;"),
        ("for (const a of b) c(); const d = 1;\n", "for(let a of b)c();let d=1;"),
        (
            "const a = () => { b(); const c = 1; }; const d = 1;\n",
            "let a=()=>{b();let c=1},d=1;",
        ),
        ("const u = 'https://x';\n", "let u='https://x';"),
        ("return 0.5 + 10.5 + 0x3c + a[0];\n", "return .5+10.5+0x3c+a[0];"),
        ("f({\n  a: 1,\n  b,\n});\n", "f({a:1,b});"),
        (
            "function f() {}\nconst a = 1;\nasync function g() {}\nf()\n",
            "function f(){}let a=1;async function g(){}f()",
        ),
    ],
)
def test_strings_and_patterns_stay_and_blanks_that_mean_nothing_go(script, squeezed):
    assert squeeze_script(script) == squeezed


@pytest.mark.parametrize("path", sorted(VIEW.rglob("*.js")), ids=lambda path: path.stem)
def test_no_template_literal_holds_another_one(path):
    """Squeezing would take the outer one for two, and remove blanks from what is between them."""
    script = path.read_text(encoding="utf-8")
    texts = [one["text"] for one in SCRIPT_TOKEN.finditer(script) if one["text"]]
    for text in (text for text in texts if text.startswith("`")):
        assert all("}" in part for part in text.split("${")[1:]), text


def test_a_style_sheet_keeps_its_blanks_between_words():
    style = (
        "/* one */\na b:hover {\n  color: red; margin: 0 1px;\n}\n@media (x: y) { a { b: c; } }\n"
    )
    assert squeeze_style(style) == "a b:hover{color:red;margin:0 1px}@media (x:y){a{b:c}}"


def test_a_name_in_a_selector_loses_its_quotes():
    style = 'a[b="true"]:hover { c: "d e"; }\n[e="1"] { f: "g"; }\n'
    assert squeeze_style(style) == 'a[b=true]:hover{c:"d e"}[e="1"]{f:"g"}'
