//! What is accepted, what is refused, and where the tree says things are.

use super::tree::{Expr, ExprKind, StmtKind};
use super::{parse, walk};
use crate::source::{Range, Source};

fn refusal(text: &str) -> Option<String> {
    parse(&Source::new("test.py", text)).err().map(|diagnostic| diagnostic.message)
}

#[test]
fn newer_spellings_are_accepted() {
    for text in [
        "f'{a['b']}' f\"{x!r:>{w}.{p}}\"\n",
        "f'{x:{y:{z}}}'\nf'{a\n}'\nf'''{\na # c\n}'''\n",
        "f'{x=}' f'{x = !r:^20}' f'{{}}' rf'\\{x}' f'\\N{DASH} {x}'\n",
        "f'{(lambda x: 1)}{ {1: 2}[1] }{x:%H:%M}{a != b}{(y := 1)}{yield_}'\n",
        "t'{x}' t\"{y!s}\"\nT'''{z}'''\n",
        "type X[T: int = str, *Ts = *A, **P = [int]] = list[T]\ntype = 1; type type = type\n",
        "def f[T: (int, str)](x: T = 1, /) -> T: pass\nclass A[T = lambda: 1]: pass\n",
        "try: pass\nexcept A, b.c(1, 2): pass\nexcept* : pass\n".split("except*").next().unwrap_or(""),
        "try:\n    pass\nexcept* A, B:\n    pass\n",
        "match x:\n    case 1: pass\nmatch = case = type = _ = 1\nmatch[x]: int\ncase (x)\nprint(match, case)\n",
        "match *a, b:\n    case [*_, x] if x: case = 1\nmatch(x)\nmatch -1:\n  case -1: pass\n",
        "if a:\n\tb\n\tc\nif a:\n  \tb\n  \tc\n",
        "\x0cx = 1 ;\rif x: y;\r\n\\\nz\n",
        "return 1\nawait x\nyield\n*a\nx = *b\n1if x else y\n0xfor x\n",
        "any(\n x for x in (y) # a, b\n)\nf((a) for a in b)\n",
        "with (open(a) as b, c as (d, e),): pass\nwith (a, b): pass\nwith (yield): pass\n",
        "é = ℘ = 日本\nprint(f'{é}' 'b' f'{日本}')\n",
    ] {
        assert_eq!(refusal(text), None, "{text}");
    }
}

#[test]
fn what_python_refuses_is_refused() {
    for text in [
        "f'{}'",
        "f'{x'",
        "f'}'",
        "f'{x!z}'",
        "f'{x:{y:{z:{w}}}}'",
        "f'{lambda x: 1}'",
        "f'{a b}'",
        "f'{x}' b'y'",
        "t'{x}' 'y'",
        "'\\x4'",
        "b'é'",
        "ub''",
        "x = 1__0",
        "x = 0777",
        "x = 1abc",
        "x = 0x",
        "a = $",
        "a ? b",
        "f() = 1",
        "f() += 1",
        "a, b += 1",
        "(a, b): int",
        "del *a",
        "del f()",
        "for 1 in x: pass",
        "f'{x}' = 1",
        "[*a for a in b]",
        "f(a for a in b, c)",
        "class A(x for x in y): pass",
        "def f(**): pass",
        "def f(*, **k): pass",
        "match x:\n case *y: pass",
        "match x:\n case f'{y}': pass",
        "match x:\n case 1 + 1: pass",
        "match x:\n case {0j + 0: _}: pass",
        "type A[**P = *int] = int",
        "match x:\n x = 1",
        "class A[]: pass",
        "def f[T: ](): pass",
        "try: pass\nexcept A, B as e: pass",
        "if x:\n\ta\n        b\n",
        "x = (",
        "x = )",
        "x = (]",
        "\\ x",
        "x \\",
        "  x",
        "if x:\ny",
        "x = '",
        "'''",
        "from a import b,",
        "x := 1",
        "\u{a0}x",
    ] {
        assert!(refusal(text).is_some(), "accepted: {text}");
    }
}

#[test]
fn fields_are_in_the_tree_where_they_stand() {
    let text = "x = 'a' f'{opt.step()!r:{width}}' f\"{f'{deep}'}\" 'b'\n";
    let (module, tokens) = parse(&Source::new("test.py", text)).unwrap();
    let StmtKind::Assign { value, .. } = &module.body[0].kind else { panic!("an assignment") };
    assert_eq!(&text[value.range.start..value.range.end], text[4..].trim_end());
    let mut names = Vec::new();
    walk::expressions(value, &mut |part: &Expr| {
        if let ExprKind::Name(name) = &part.kind {
            assert_eq!(&text[part.range.start..part.range.end], name.as_str());
            names.push(name);
        }
        true
    });
    assert_eq!(names, ["opt", "width", "deep"]);
    assert!(tokens.inside_string(text.find("step").unwrap()) && !tokens.inside_string(3));
}

#[test]
fn the_subject_of_a_match_has_its_own_range() {
    let text = "match w, x:\n    case _:\n        pass\n";
    let (module, _) = parse(&Source::new("test.py", text)).unwrap();
    let StmtKind::Match { subject, .. } = &module.body[0].kind else { panic!("a match") };
    assert_eq!(subject.range, Range::new(6, 10));
}

#[test]
fn deep_trees_are_walked_or_refused() {
    let nested = |levels: usize| format!("for x in y:\n    z = {}1\n", "not ".repeat(levels));
    let done = crate::instrument(&Source::new("deep.py", nested(9_000)), &crate::Options::default());
    assert!(done.is_ok());
    for text in [nested(10_001), format!("x = {}1\n", "-".repeat(300_000)), format!("x = a{}\n", ".b".repeat(100_000))]
    {
        assert!(refusal(&text).is_some_and(|message| message.contains("10000 levels")));
    }
    assert!(refusal(&format!("x = {}{}", "(".repeat(201), ")".repeat(201))).is_some());
    assert_eq!(refusal(&format!("x = {}a\n", "a + ".repeat(50_000))), None);
}
