//! Log statements that a question brings along (`florc ask`): written into the text that a replay runs, never into the user's file.

use super::looking;
use super::stepping;
use crate::Diagnostic;
use crate::source::Source;
use crate::syntax::parse;
use crate::syntax::tree::{Expr, ExprKind, Literal, Module, Stmt, StmtKind};
use crate::syntax::walk;

/// Where an expression is evaluated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// As soon as the statement of this line (1-based) has run; before it, if it leaves the place where it stands, or has a body.
    Line(usize),
    /// As the body of the statement of this line begins: each iteration of a loop, a branch that is taken, a call of a function.
    Inside(usize),
    /// Behind the `for` loop over this variable.
    AfterLoop(String),
    /// Behind each step of an optimizer.
    Steps,
}

/// An expression to be printed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// Where.
    pub place: Place,
    /// Its text.
    pub expression: String,
}

/// A text to be written into another one.
struct Insertion {
    at: usize,
    text: String,
}

/// The text with a statement for each question, and sentences that say on which side of a statement with a body some are.
///
/// # Errors
/// A sentence, with a place, for text that is no Python, a place where no statement is, an expression that is none, or that
/// changes something.
pub fn ask(source: &Source, questions: &[Question]) -> Result<(String, Vec<String>), String> {
    let (module, _) = parse(source).map_err(|error| said_of(source, &error))?;
    let (mut insertions, mut sides) = (Vec::new(), Vec::new());
    let imports = looking::imports(&module);
    for question in questions {
        looking::look_only(&question.expression, &imports)?;
        let printed = printed(&question.expression);
        for spot in found(source, &module, &question.place)? {
            if let Spot::Before(_, line, what) = spot {
                sides.push(format!(
                    "{} is asked before the {what} in line {line}; --inside {line} asks {}",
                    question.expression,
                    inside(what)
                ));
            }
            insertions.push(insertion(source, &module, &spot, &printed));
        }
    }
    let mut text = source.text.clone();
    // from behind; of those at one place, the last first
    for (_, insertion) in sorted(insertions) {
        text.insert_str(insertion.at, &insertion.text);
    }
    let asked = Source::new(source.name.clone(), text);
    parse(&asked).map_err(|error| format!("no statement can stand there: {}", said_of(&asked, &error)))?;
    Ok((asked.text, sides))
}

/// When the body of such a statement begins.
fn inside(what: &str) -> &'static str {
    match what {
        "loop" => "as each iteration begins",
        "if" => "where it holds",
        "function" => "as it is called",
        _ => "as its body begins",
    }
}

/// What a statement with a body is called; None of any other one.
fn what(stmt: &Stmt) -> Option<&'static str> {
    walk::all_suites(stmt).next()?;
    Some(match stmt.kind {
        StmtKind::For(_) | StmtKind::While { .. } => "loop",
        StmtKind::If { .. } => "if",
        StmtKind::Function(_) => "function",
        StmtKind::Class(_) => "class",
        _ => "statement",
    })
}

fn said_of(source: &Source, error: &Diagnostic) -> String {
    let line = source.lines.line(error.range.start.min(source.text.len()));
    format!("{}:{line}: {}", source.name, error.message)
}

fn sorted(insertions: Vec<Insertion>) -> Vec<(usize, Insertion)> {
    let mut numbered: Vec<_> = insertions.into_iter().enumerate().collect();
    numbered.sort_by_key(|(number, insertion)| std::cmp::Reverse((insertion.at, *number)));
    numbered
}

/// The expression's own text names the value (`answers/templates.py`).
fn printed(expression: &str) -> String {
    let text = serde_json::to_string(expression).unwrap_or_default();
    format!("print({text}, {expression})")
}

/// Where a statement of a question goes.
enum Spot<'t> {
    /// It is reached as often as this statement's own line.
    Once(&'t Stmt),
    /// Before this statement, which has a body: its line, and what it is called.
    Before(&'t Stmt, usize, &'static str),
    /// Behind all of this statement.
    After(&'t Stmt),
}

fn found<'t>(source: &Source, module: &'t Module, place: &Place) -> Result<Vec<Spot<'t>>, String> {
    let mut statements = Vec::new();
    walk::all_statements(module, &mut |stmt| statements.push(stmt));
    let line = |offset: usize| source.lines.line(offset);
    match place {
        Place::Line(asked) | Place::Inside(asked) => {
            let is_there = |stmt: &&&Stmt| (line(stmt.range.start)..=own_end(source, stmt)).contains(asked);
            let outer = statements.iter().find(|stmt| line(stmt.range.start) == *asked && what(stmt).is_some());
            if let Some(stmt) = outer.or_else(|| statements.iter().rfind(is_there)) {
                let at = line(stmt.range.start);
                return match (place, what(stmt)) {
                    (Place::Line(_), Some(what)) => side(source, stmt, at, what).map(|spot| vec![spot]),
                    (Place::Inside(_), None) => {
                        Err(format!("{}:{asked}: the statement in this line has no body: name it by --at", source.name))
                    }
                    _ => Ok(vec![Spot::Once(stmt)]),
                };
            }
            let next = statements.iter().map(|stmt| line(stmt.range.start)).filter(|at| at > asked).min();
            let last = statements.iter().map(|stmt| own_end(source, stmt)).max();
            let last = last.map_or(String::new(), |at| format!("; the last statement is in line {at}"));
            let near = next.map_or(last, |at| format!("; the next statement is in line {at}"));
            Err(format!("{}:{asked}: no statement is in this line{near}", source.name))
        }
        Place::AfterLoop(name) => {
            let is_it = |stmt: &&Stmt| matches!(&stmt.kind, StmtKind::For(node) if binds(&node.target, name));
            let loops: Vec<&Stmt> = statements.iter().copied().filter(is_it).collect();
            match loops.as_slice() {
                [] => {
                    let others: Vec<_> = statements.iter().filter_map(|stmt| target(source, stmt)).collect();
                    let others = others.join(", ");
                    let there =
                        if others.is_empty() { "there is none".to_owned() } else { format!("there are: {others}") };
                    Err(format!("{}: there is no `for` loop over {name}; {there}", source.name))
                }
                [stmt] => Ok(vec![Spot::After(stmt)]),
                several => {
                    let lines: Vec<_> = several.iter().map(|stmt| line(stmt.range.start).to_string()).collect();
                    let lines = lines.join(", ");
                    Err(format!(
                        "{}: several loops run over {name}, in lines {lines}: name a line by --at",
                        source.name
                    ))
                }
            }
        }
        Place::Steps => {
            let optimizers = stepping::optimizers(source, &statements);
            let is_step = |stmt: &&Stmt| stepping::takes_step(source, stmt, &optimizers);
            let steps: Vec<_> = statements.into_iter().filter(is_step).map(Spot::Once).collect();
            if steps.is_empty() {
                return Err(format!("{}: no statement takes a step of an optimizer: name a line by --at", source.name));
            }
            Ok(steps)
        }
    }
}

/// Before a statement with a body, where a statement can stand.
fn side<'t>(source: &Source, stmt: &'t Stmt, line: usize, what: &'static str) -> Result<Spot<'t>, String> {
    if matches!(stmt.kind, StmtKind::Function(_)) {
        return Err(format!("{}:{line}: a function begins here: --inside {line} asks as it is called", source.name));
    }
    if source.slice(stmt.range).starts_with("elif") {
        return Err(format!(
            "{}:{line}: an `elif` has no place before it: --inside {line} asks where it holds, --at the line of its `if` before both",
            source.name
        ));
    }
    Ok(Spot::Before(stmt, line, what))
}

/// What a `for` loop binds anew in each iteration, and its line, as they are told.
fn target(source: &Source, stmt: &Stmt) -> Option<String> {
    let StmtKind::For(node) = &stmt.kind else { return None };
    let range = node.target.range;
    Some(format!("{} in line {}", &source.text[range.start..range.end], source.lines.line(stmt.range.start)))
}

/// The last line of a statement itself: of a compound one, that of its header.
fn own_end(source: &Source, stmt: &Stmt) -> usize {
    let first = walk::all_suites(stmt).find_map(|suite| suite.first());
    match first {
        Some(first) => source.lines.line(first.range.start).saturating_sub(1).max(source.lines.line(stmt.range.start)),
        None => source.lines.line(stmt.range.end.max(1) - 1),
    }
}

fn binds(target: &Expr, name: &str) -> bool {
    let mut binds = false;
    walk::expressions(target, &mut |part| {
        binds |= matches!(&part.kind, ExprKind::Name(found) if found.as_str() == name);
        true
    });
    binds
}

fn insertion(source: &Source, module: &Module, spot: &Spot, printed: &str) -> Insertion {
    match spot {
        Spot::After(stmt) => after(source, module, stmt, printed),
        Spot::Before(stmt, ..) => before(source, stmt, printed),
        Spot::Once(stmt) => match (walk::all_suites(stmt).find_map(|suite| suite.first()), &stmt.kind) {
            (_, StmtKind::Return(_) | StmtKind::Raise(_) | StmtKind::Break | StmtKind::Continue) => {
                Insertion { at: stmt.range.start, text: format!("{printed}; ") }
            }
            (None, _) => Insertion { at: stmt.range.end, text: format!("; {printed}") },
            (Some(first), StmtKind::Function(_) | StmtKind::Class(_)) if is_docstring(first) => {
                Insertion { at: first.range.end, text: format!("; {printed}") }
            }
            (Some(first), _) => before(source, first, printed),
        },
    }
}

/// On the line of a statement, so that no line gets another number; above it where the statement has lines of its own inside.
fn before(source: &Source, stmt: &Stmt, printed: &str) -> Insertion {
    if walk::all_suites(stmt).next().is_none() {
        return Insertion { at: stmt.range.start, text: format!("{printed}; ") };
    }
    let at = source.lines.start_of(source.lines.line(stmt.range.start));
    let indentation = &source.text[at..stmt.range.start];
    Insertion { at, text: format!("{indentation}{printed}\n") }
}

fn after(source: &Source, module: &Module, stmt: &Stmt, printed: &str) -> Insertion {
    if let Some(next) = next_of(&module.body, stmt) {
        return before(source, next, printed);
    }
    let start = source.lines.start_of(source.lines.line(stmt.range.start));
    let indentation = &source.text[start..stmt.range.start];
    let end = source.text[stmt.range.end..].find('\n').map(|found| stmt.range.end + found + 1);
    match end {
        Some(at) => Insertion { at, text: format!("{indentation}{printed}\n") },
        None => Insertion { at: source.text.len(), text: format!("\n{indentation}{printed}\n") },
    }
}

/// The statement that follows in the same suite.
fn next_of<'t>(suite: &'t [Stmt], stmt: &Stmt) -> Option<&'t Stmt> {
    for (number, here) in suite.iter().enumerate() {
        if here.id == stmt.id {
            return suite.get(number + 1);
        }
        if here.range.contains(stmt.range) {
            return walk::all_suites(here).find_map(|inner| next_of(inner, stmt));
        }
    }
    None
}

fn is_docstring(stmt: &Stmt) -> bool {
    matches!(&stmt.kind, StmtKind::Expr(expr) if matches!(&expr.kind, ExprKind::Constant(Literal::Str(_))))
}

#[cfg(test)]
mod tests {
    use super::{Place, Question, ask};
    use crate::source::Source;

    fn asked(text: &str, place: Place, expression: &str) -> Result<String, String> {
        ask(&Source::new("t.py", text), &[Question { place, expression: expression.to_owned() }]).map(|(text, _)| text)
    }

    const LOOP: &str = "w = 0\nfor epoch in range(3):\n    for x in data:  # all\n        w += x\n        if w > 9: break\n    print(w)\n";

    #[test]
    fn a_question_follows_the_statement_of_its_line() {
        let line = |number, expected: &str| {
            let found = asked(LOOP, Place::Line(number), "w").expect("it can be asked");
            assert_eq!(found.lines().nth(number - 1), Some(expected), "{found}");
            assert_eq!(found.lines().count(), LOOP.lines().count(), "no line gets another number");
        };
        line(1, "w = 0; print(\"w\", w)");
        line(4, "        w += x; print(\"w\", w)");
        line(6, "    print(w); print(\"w\", w)");
        let inside = asked(LOOP, Place::Inside(3), "w").expect("it can be asked");
        assert!(inside.contains("all\n        print(\"w\", w); w += x"), "{inside}");
        let above = asked(LOOP, Place::Inside(2), "w").expect("it can be asked");
        assert!(above.contains("range(3):\n    print(\"w\", w)\n    for x in data:"), "{above}");
        assert!(asked(LOOP, Place::Inside(4), "w").is_err_and(|said| said.contains("no body")));
    }

    #[test]
    fn on_the_line_of_a_statement_with_a_body_it_is_before_that() {
        let text = "for e in range(9):\n    if e % 3:\n        w = e\n    elif e:\n        w = 0\n    while e: break\ndef f():\n    pass\n";
        let before = |line, expected: &str| {
            let source = Source::new("t.py", text);
            let question = Question { place: Place::Line(line), expression: "w".to_owned() };
            let (found, sides) = ask(&source, &[question]).expect("it can be asked");
            assert!(found.contains(expected), "{found}");
            assert!(sides[0].contains("before") && sides[0].contains(&format!("--inside {line}")), "{sides:?}");
        };
        before(1, "print(\"w\", w)\nfor e in");
        before(2, "    print(\"w\", w)\n    if e % 3:");
        before(6, "    print(\"w\", w)\n    while e:");
        assert!(asked(text, Place::Line(4), "w").is_err_and(|said| said.contains("--inside 4")));
        assert!(asked(text, Place::Line(7), "w").is_err_and(|said| said.contains("--inside 7")));
        let inside = asked(text, Place::Inside(6), "w").expect("it can be asked");
        assert!(inside.contains("while e: print(\"w\", w); break"), "{inside}");
    }

    #[test]
    fn a_question_may_come_behind_a_loop() {
        let behind = asked(LOOP, Place::AfterLoop("x".to_owned()), "w").expect("it can be asked");
        assert!(behind.contains("break\n    print(\"w\", w); print(w)"), "{behind}");
        let last = asked(LOOP, Place::AfterLoop("epoch".to_owned()), "w").expect("it can be asked");
        assert!(last.ends_with("    print(w)\nprint(\"w\", w)\n"), "{last}");
        assert!(asked(LOOP, Place::AfterLoop("step".to_owned()), "w").is_err_and(|said| said.contains("over step")));
    }

    #[test]
    fn every_step_of_an_optimizer_is_asked() {
        let text = "def fit():\n    for x in data:\n        opt.step()\n    sched.step()\nscaler.step(o)\n";
        let found = asked(text, Place::Steps, "n").expect("it can be asked");
        assert_eq!(found.matches("print(").count(), 2, "{found}");
        assert!(asked("x = 1\n", Place::Steps, "x").is_err());
    }

    #[test]
    fn a_question_only_looks() {
        for wrong in [
            "x = 1",
            "x :=1",
            "(y := 2)",
            "net.eval()",
            "w.add_(1)",
            "q.pop()",
            "lock.acquire()",
            "m.__setattr__('w', 3)",
            "eval('xs.pop()')",
            "next(it)",
            "f(",
            "",
            "a; b",
            "x\ny",
            "torch.rand(3)",
            "open('f', 'w').write('x')",
            "open('f', mode='a')",
            "os.system('ls')",
            "sh.rmtree('x')",
            "random.random()",
            "np.random.rand(2)",
            "draw()",
            "opt.step()",
            "loss.backward()",
            "torch.save(w, 'f')",
            "df.to_csv('f')",
            "p.write_text('x')",
            "input()",
            "torch.set_num_threads(1)",
            "list(map(xs.append, [1]))",
            "print(w, file=f)",
            "[f.write(x) for x in xs]",
        ] {
            let text = "import torch, os, random\nimport shutil as sh\nfrom random import gauss as draw\nw = 0\n";
            let found = asked(text, Place::Line(4), wrong);
            assert!(found.is_err(), "{wrong}: {found:?}");
        }
        for right in [
            "w",
            "model.fc.weight.grad.norm()",
            "{'a': w}",
            "f'{w:.3f}'",
            "[p.norm().item() for p in net.parameters()]",
            "next(net.parameters()).device",
            "next(iter(d.values()))",
            "sorted(xs).pop()",
            "[1, 2].pop()",
            "xs.copy().sort()",
            "open('f').read()",
            "open('f', 'rb').read()",
            "copy.deepcopy(net).eval()",
            "random.getstate()",
            "np.random.get_state()[1][0]",
            "np.random.default_rng(0).normal()",
            "df.to_csv()",
            "random(3)",
            "os.path.exists('f')",
            "sys.stdout.write('x')",
            "tqdm.write('x')",
            "writer.add_scalar('a', w)",
            "list(map(float, xs))",
        ] {
            let text = "import os, copy, sys\nfrom tqdm import tqdm\nw = 0\n";
            let found = asked(text, Place::Line(3), right);
            assert!(found.is_ok(), "{right}: {found:?}");
        }
    }

    #[test]
    fn a_line_without_a_statement_is_refused_with_the_next() {
        let why = asked("w = 0\n\n# why\nv = 1\n", Place::Line(2), "w").expect_err("there is none");
        assert_eq!(why, "t.py:2: no statement is in this line; the next statement is in line 4");
    }

    #[test]
    fn a_docstring_stays_one() {
        let found = asked("def f(a):\n    \"doc\"\n    return a\n", Place::Inside(1), "a").expect("it can be asked");
        assert!(found.contains("\"doc\"; print(\"a\", a)\n"), "{found}");
    }
}
