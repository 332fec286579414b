//! What is left of a statement's text when its layout is taken away: two versions of it that a formatter made of each other are equal.

use crate::source::{Range, Source};
use crate::syntax::tree::{Expr, ExprKind, Stmt, StmtKind};
use crate::syntax::walk;

/// Around an expression, so that what stood in parentheses stays apart.
const OPEN: char = '\u{1}';
const CLOSE: char = '\u{2}';

/// What identifies a statement among its siblings: its own text without the suites inside it, and without its layout. Blanks,
/// comments, the kind of quotes, parentheses that change nothing and commas before a closing bracket are layout.
pub(super) fn key(source: &Source, stmt: &Stmt) -> String {
    let mut own: Vec<&Expr> = walk::own_expressions(stmt).collect();
    own.sort_by_key(|expr| (expr.range.start, std::cmp::Reverse(expr.range.end)));
    let keeps_commas = matches!(stmt.kind, StmtKind::Match { .. });
    let mut text = String::new();
    let mut at = stmt.range.start;
    let suites = walk::all_suites(stmt).filter_map(|suite| Some((suite.first()?.range.start, suite.last()?.range.end)));
    for (first, last) in suites.chain([(stmt.range.end, stmt.range.end)]) {
        let within = own.iter().copied().filter(|expr| at <= expr.range.start && expr.range.end <= first);
        text += &laid_out(source, Range::new(at, first), within, keeps_commas);
        at = last;
    }
    text
}

fn expression(source: &Source, expr: &Expr) -> String {
    let text = source.slice(expr.range);
    let mut parts: Vec<&Expr> = walk::parts(expr).collect();
    if parts.is_empty() || is_string(text) {
        return fold(text);
    }
    parts.sort_by_key(|part| (part.range.start, std::cmp::Reverse(part.range.end)));
    let text = laid_out(source, expr.range, parts.into_iter(), false);
    let is_tuple = matches!(expr.kind, ExprKind::Display { .. }) && text.starts_with('(') && text.ends_with(')');
    format!("{}{}", kind(expr), if is_tuple { &text[1..text.len() - 1] } else { &text })
}

/// A letter for what an expression is: with it, the parts and what stands between them tell all.
fn kind(expr: &Expr) -> char {
    match &expr.kind {
        ExprKind::Call(_) => 'c',
        ExprKind::Subscript { .. } => 's',
        ExprKind::Display { .. } => 'd',
        ExprKind::Comprehension { .. } => 'g',
        _ => 'e',
    }
}

/// A stretch of text with these expressions in it, in order.
fn laid_out<'e>(source: &Source, range: Range, parts: impl Iterator<Item = &'e Expr>, keeps_commas: bool) -> String {
    let mut at = range.start;
    let (mut gaps, mut inner) = (Vec::new(), Vec::new());
    for part in parts {
        if part.range.start < at {
            continue; // it is in the one before it
        }
        if part.range.end > range.end {
            return fold(source.slice(range));
        }
        gaps.push(fold(source.slice(Range::new(at, part.range.start))));
        inner.push(format!("{OPEN}{}{CLOSE}", expression(source, part)));
        at = part.range.end;
    }
    gaps.push(fold(source.slice(Range::new(at, range.end))));
    if !keeps_commas {
        gaps.iter_mut().for_each(without_last_commas);
    }
    for at in 0..inner.len() {
        while gaps[at].ends_with('(') && gaps[at + 1].starts_with(')') {
            gaps[at].pop();
            gaps[at + 1].remove(0);
        }
    }
    let mut text = gaps[0].clone();
    for (part, gap) in inner.iter().zip(&gaps[1..]) {
        text += part;
        text += gap;
    }
    text
}

fn without_last_commas(gap: &mut String) {
    for close in [')', ']', '}'] {
        *gap = gap.replace(&format!(",{close}"), &close.to_string());
    }
}

/// Whether a text is a string, or begins with one.
fn is_string(text: &str) -> bool {
    text.trim_start_matches(|c: char| c.is_ascii_alphabetic()).starts_with(['"', '\''])
        && text.find(['"', '\'']).is_some_and(|at| at <= 2)
}

/// Comments dropped, and of blanks only those kept that part two words; strings stay as they are, but for their quotes.
pub(super) fn fold(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut blank = false;
    while let Some(next) = rest.chars().next() {
        if next == '#' {
            rest = rest.trim_start_matches(|c| c != '\n' && c != '\r');
            continue;
        }
        if next.is_whitespace() || next == '\\' {
            blank = true;
            rest = &rest[next.len_utf8()..];
            continue;
        }
        let is_quote = matches!(next, '"' | '\'');
        let taken = if is_quote { string_len(rest) } else { next.len_utf8() };
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        if blank && out.ends_with(is_word) && (is_word(next) || is_quote) {
            out.push(' ');
        }
        blank = false;
        out += &if is_quote { with_plain_quotes(&rest[..taken]) } else { rest[..taken].to_owned() };
        rest = &rest[taken..];
    }
    out
}

/// A string literal with the quotes that formatters choose, where that changes nothing in it.
fn with_plain_quotes(literal: &str) -> String {
    let quotes = literal.len() - literal.trim_start_matches('\'').len();
    let width = if quotes >= 3 && literal.len() >= 6 { 3 } else { 1 };
    let inside = literal.strip_prefix(&"'".repeat(width)).and_then(|rest| rest.strip_suffix(&"'".repeat(width)));
    match inside {
        Some(inside) if !inside.contains(['"', '\'', '\\']) => {
            let quotes = "\"".repeat(width);
            format!("{quotes}{inside}{quotes}")
        }
        _ => literal.to_owned(),
    }
}

/// How many bytes a string literal takes, from its first quote; to the end of the text when it is not closed.
fn string_len(text: &str) -> usize {
    let quote = &text[..1];
    let triple = quote.repeat(3);
    let close = if text.starts_with(&triple) { triple.as_str() } else { quote };
    let mut at = close.len();
    while at < text.len() {
        if text[at..].starts_with('\\') {
            at += 1 + text[at + 1..].chars().next().map_or(0, char::len_utf8);
        } else if text[at..].starts_with(close) {
            return at + close.len();
        } else {
            at += text[at..].chars().next().map_or(1, char::len_utf8);
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::{fold, key};
    use crate::source::Source;
    use crate::syntax::File;

    #[test]
    fn only_layout_is_folded() {
        assert_eq!(fold("f(a,\n   b)  # why"), fold("f( a, b )"));
        assert_eq!(fold("print('a  b')  # c"), "print(\"a  b\")");
        assert_ne!(fold("print('a  b')"), fold("print('a b')"));
        assert_eq!(fold("x = '#' # '"), "x=\"#\"");
        assert_ne!(fold("not x"), fold("notx"));
        assert_eq!(fold("return \"\"\"a # b\n\"\"\""), "return \"\"\"a # b\n\"\"\"");
        assert_ne!(fold("a in 'x'"), fold("ain'x'"));
        assert_eq!(fold("x = ''"), fold("x = \"\""));
        assert_ne!(fold("x = 'a\"'"), fold("x = \"a'\""));
    }

    fn keys(text: &str) -> String {
        let file = File::script(Source::new("f.py", text), "").unwrap();
        key(&file.source, &file.module.body[0])
    }

    #[test]
    fn what_a_formatter_changes_is_layout() {
        for (one, other) in [
            ("f(a, b)\n", "f(\n    a,\n    b,\n)\n"),
            ("x = a + b\n", "x = (\n    a\n    + b\n)\n"),
            ("x = (a + b)\n", "x = a + b\n"),
            ("if (a and b): pass\n", "if a and b:\n    pass\n"),
            ("return_ = f(g(a), k='v')\n", "return_ = f(\n    g(\n        a,\n    ),\n    k=\"v\",\n)\n"),
            ("x = [a, b]\n", "x = [\n    a,\n    b,\n]\n"),
            ("x = {'a': b}\n", "x = {\n    \"a\": b,\n}\n"),
            ("x = a, b\n", "x = (a, b)\n"),
            ("def f(a, b): pass\n", "def f(\n    a,\n    b,\n):\n    pass\n"),
            ("del (a)\n", "del a\n"),
            ("for x in (y): pass\n", "for x in y: pass\n"),
            ("print(f'{a}  b')\n", "print(f\"{a}  b\")\n"),
            ("x = lambda a, b: (a)\n", "x = lambda a, b: a\n"),
            ("from a import b, c\n", "from a import b, c\n"),
            ("assert a, 'b'\n", "assert (\n    a\n), \"b\"\n"),
        ] {
            assert_eq!(keys(one), keys(other), "{one}{other}");
        }
    }

    #[test]
    fn what_changes_the_meaning_is_no_layout() {
        for (one, other) in [
            ("x = (a + b) * c\n", "x = a + b * c\n"),
            ("x = a - (b - c)\n", "x = a - b - c\n"),
            ("x = (a,)\n", "x = (a)\n"),
            ("x = a[b,]\n", "x = a[b]\n"),
            ("x = [a,]\n", "x = (a,)\n"),
            ("f((a, b))\n", "f(a, b)\n"),
            ("f((a,))\n", "f(a)\n"),
            ("f(a)\n", "f\n"),
            ("f(a)\n", "f[a]\n"),
            ("f(*a)\n", "f(a)\n"),
            ("x = (a < b) < c\n", "x = a < b < c\n"),
            ("x = not (a == b)\n", "x = (not a) == b\n"),
            ("print(f'{a}  b')\n", "print(f'{a} b')\n"),
            ("print(f'{a} ' 'b')\n", "print(f'{a}' 'b')\n"),
            ("x = 'a' 'b'\n", "x = 'a', 'b'\n"),
            ("x = (a for a in b)\n", "x = [a for a in b]\n"),
            ("x = (yield a)\n", "x = (yield), a\n"),
            ("x = a if b else c\n", "x = a if c else b\n"),
            ("x = -(a ** b)\n", "x = (-a) ** b\n"),
            ("x = b'a'\n", "x = 'a'\n"),
            ("x = (a or b) and c\n", "x = a or b and c\n"),
            ("match x:\n    case (a,): pass\n", "match x:\n    case (a): pass\n"),
            ("x = f(a)(b)\n", "x = f(a(b))\n"),
            ("with (a, b): pass\n", "with ((a, b)): pass\n"),
        ] {
            assert_ne!(keys(one), keys(other), "{one}{other}");
        }
    }
}
