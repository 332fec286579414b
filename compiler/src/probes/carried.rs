//! What added statements carry from one iteration to a later one.
//!
//! A replay that answers only for some iterations restores the blocks of those before. That is right when what an added statement
//! reads was computed in its own iteration, or was there when the run was recorded. It is not when the statements add something up
//! themselves (`norms.append(…)`), or read what an earlier iteration left behind. Everything here errs on one side: what is not
//! seen to be fresh is carried, and then the earlier iterations run again, too.

use crate::analysis::Analysis;
use crate::effects::{Effect, EffectKind, Place};
use crate::flow::Flow;
use crate::ids::StmtId;
use crate::loops::Loops;
use crate::name::Name;
use crate::plan::Plan;
use crate::scopes::{ScopeId, Scopes, bound_names};
use crate::source::Range;
use crate::syntax::File;
use crate::syntax::tree::{ExprKind, Stmt};
use crate::syntax::walk;
use std::collections::{BTreeMap, BTreeSet};

/// Whether added statements keep something of their own from one iteration for another.
pub(super) fn accumulates(analysis: &Analysis, added: &[&Stmt]) -> bool {
    let scopes = &analysis.project.scopes;
    let mut own: BTreeMap<StmtId, &Stmt> = BTreeMap::new();
    added.iter().for_each(|stmt| walk::all_of(stmt, &mut |inner| own.extend([(inner.id, inner)])));
    let mut names: BTreeMap<(ScopeId, Name), Uses> = BTreeMap::new();
    for stmt in own.values() {
        let scope = scopes.holder(stmt.id);
        let mut is_elsewhere = false;
        bound_names(stmt, &mut |name| {
            is_elsewhere |= scopes.resolve(scope, name) != Some(scope);
            names.entry((scope, name)).or_default().bound.push(stmt.id);
        });
        if is_elsewhere {
            return true; // a counter that is declared `global`
        }
    }
    if names.is_empty() {
        return false;
    }
    for stmt in own.values() {
        let scope = scopes.holder(stmt.id);
        let later = run_later(stmt);
        for effect in changes(analysis, scope, stmt) {
            let key = |place: &Place| Some((place.home?, place.root));
            let is_own = |place: &Place| key(place).is_some_and(|key| names.contains_key(&key));
            let places = effect.place.iter().flat_map(|place| analysis.aliases.all(place, &is_own));
            for (home, root) in places.filter(is_own).filter_map(|place| key(&place)).collect::<Vec<_>>() {
                if home != scope || later.iter().any(|around| around.contains(effect.range)) {
                    return true; // who runs that, and when, is not looked for
                }
                names.entry((home, root)).or_default().changed.push(stmt.id);
            }
        }
    }
    let mut flows: BTreeMap<ScopeId, Flow> = BTreeMap::new();
    names.iter().any(|((scope, name), uses)| {
        let scope = *scope;
        let made = || Flow::as_written(scopes, scope, &without(scopes.list[scope].body, &own));
        let flow = flows.entry(scope).or_insert_with(made);
        let around = |stmts: &[StmtId]| -> BTreeSet<StmtId> {
            let loops = stmts.iter().filter_map(|&stmt| analysis.loops.around(stmt));
            let each = loops.flat_map(|at| analysis.loops.and_around(at)).map(|at| analysis.loops.list[at].stmt.id);
            // a loop that was added itself runs within one iteration of those that were there
            each.filter(|stmt| !own.contains_key(stmt)).collect()
        };
        let is_brought = |stmt: &StmtId| flow.live_into_body(scopes.statement(*stmt), *name);
        let is_left = |stmt: &StmtId| flow.live_after(scopes.statement(*stmt), *name);
        around(&uses.bound).iter().any(|stmt| is_brought(stmt) || is_left(stmt))
            || around(&uses.changed).iter().any(is_brought)
    })
}

/// The added statements that bind a name, and those that may change its object.
#[derive(Default)]
struct Uses {
    bound: Vec<StmtId>,
    changed: Vec<StmtId>,
}

/// What a statement changes in place, as far as is known or must be assumed.
fn changes(analysis: &Analysis, scope: ScopeId, stmt: &Stmt) -> Vec<Effect> {
    let mut effects = Vec::new();
    analysis.extractor().statement(scope, stmt, &mut effects);
    effects.retain(|effect| match effect.kind {
        EffectKind::Mutate | EffectKind::Consume => true,
        EffectKind::Bind | EffectKind::Unbind => effect.place.as_ref().is_some_and(|place| !place.attrs.is_empty()),
        _ => false,
    });
    effects
}

/// What of a statement runs when somebody calls it.
fn run_later(stmt: &Stmt) -> Vec<Range> {
    let mut found = Vec::new();
    for expr in walk::own_expressions(stmt) {
        walk::expressions(expr, &mut |part| {
            found.extend(matches!(part.kind, ExprKind::Lambda { .. }).then_some(part.range));
            true
        });
    }
    found
}

/// The statements of a suite that hold none of these.
fn without(suite: &[Stmt], these: &BTreeMap<StmtId, &Stmt>) -> BTreeSet<StmtId> {
    let mut found = BTreeSet::new();
    for stmt in suite {
        let mut holds = false;
        walk::statements(std::slice::from_ref(stmt), &mut |inner| holds |= these.contains_key(&inner.id));
        if !holds {
            found.insert(stmt.id);
        } else if !these.contains_key(&stmt.id) {
            walk::suites(stmt).for_each(|inner| found.extend(without(inner, these)));
        }
    }
    found
}

/// Whether every run of a loop of the plan binds a name anew, and only what follows it in the same iteration reads the name: what
/// an earlier run left there is never read.
pub fn is_fresh(file: &File, plan: &Plan, block: &str, name: &str) -> bool {
    let Some(entry) = plan.loops.iter().find(|entry| entry.id == block) else { return false };
    let name = Name::new(name);
    let scopes = Scopes::new([&file.module]);
    let loops = Loops::new(&scopes);
    let Some(own) = loops.of(entry.stmt).map(|at| &loops.list[at]) else { return false };
    let around = own.parent.map(|at| loops.list[at].stmt);
    // what stands in no loop runs once, for all that follows
    if scopes.resolve(own.scope, name) != Some(own.scope) || around.is_none() && scopes.is_module(own.scope) {
        return false;
    }
    let can_be_asked = |stmt: StmtId| plan.loops.iter().any(|entry| entry.stmt == stmt && entry.is_followed());
    let later = loops.list.iter().filter(|other| other.scope == own.scope && other.stmt.id > own.stmt.id);
    let later: Vec<&Stmt> = later.map(|other| other.stmt).filter(|stmt| can_be_asked(stmt.id)).collect();
    !Flow::as_written(&scopes, own.scope, &BTreeSet::new()).outlives(own.stmt, around, &later, name)
}

#[cfg(test)]
mod tests {
    use super::{accumulates, is_fresh};
    use crate::analysis::Analysis;
    use crate::plan::Options;
    use crate::source::Source;
    use crate::syntax::tree::Stmt;
    use crate::syntax::{File, walk};

    /// Lines that end in `# +` were added.
    fn keeps(text: &str) -> bool {
        let file = File::script(Source::new("f.py", text), "").unwrap();
        let files = [file];
        let lines: Vec<&str> = text.lines().collect();
        let mut added: Vec<&Stmt> = Vec::new();
        walk::all_statements(&files[0].module, &mut |stmt| {
            let is_inside = added.iter().any(|around| around.range.contains(stmt.range));
            let line = files[0].source.lines.line(stmt.range.start);
            if lines[line - 1].ends_with("# +") && !is_inside {
                added.push(stmt);
            }
        });
        assert!(!added.is_empty());
        accumulates(&Analysis::new(&files), &added)
    }

    #[test]
    fn what_lives_in_one_iteration() {
        for body in [
            "    n = norm(net)  # +\n    print(n, [p for p in net])  # +",
            "    total = 0  # +\n    for p in net: total += p.norm()  # +\n    print(total)  # +",
            "    with no_grad():  # +\n        out = net(x)  # +\n    print(out)  # +",
            "    with context:  # +\n        out = net(x)  # +\n    print(out)  # +",
            "    if e:  # +\n        z = 1  # +\n        print(z)  # +",
            "    print(start / e)  # +",
            // the flow of control tells more than the order of the lines
            "    if e: z = 1  # +\n    else: z = 2  # +\n    print(z)  # +",
            "    print(start.norm())  # +",
            "    print(torch.dist(start, x))  # +",
        ] {
            let text = format!("import torch\nstart = torch.ones(2)  # +\nfor e in range(3):\n{body}\n    step()");
            assert!(!keeps(&text), "{text}");
        }
        // what computed text may read was there before the statements were
        assert!(!keeps("exec(config)\nfor e in range(3):\n    n = norm(net)  # +\n    print(n)  # +"));
        // what the script does with a name of its own is not theirs
        assert!(!keeps("p = 0\nwhile p < 3:\n    p += 1\n    q = p  # +\n    print(q)  # +"));
    }

    #[test]
    fn what_lives_on() {
        for text in [
            "norms = []  # +\nfor e in range(3):\n    norms.append(e)  # +",
            "n = 0  # +\nfor e in range(3):\n    n += 1  # +",
            "best = 0  # +\nfor e in range(3):\n    if e > best: best = e  # +\n    print(best)  # +",
            "for e in range(3):\n    for i in x:\n        g = i.grad  # +\n    print(g)  # +",
            "seen = {}  # +\nfor e in range(3):\n    seen[e] = 1  # +",
            "count = make()  # +\nfor e in range(3):\n    print(next(count))  # +",
            "seen = {}  # +\ndef hook(m, i, o):  # +\n    seen['x'] = o  # +\nfor e in range(3):\n    print(seen)  # +",
            "for e in range(3):\n    if e: print(last)  # +\n    last = e  # +",
            // they also reach it by another name, from another function, later
            "norms = []  # +\nfor e in range(3):\n    them = norms  # +\n    them.append(e)  # +",
            "norms = []  # +\nnet.register_forward_hook(lambda m, i, o: norms.append(o))  # +\nfor e in range(3): net(e)",
            "n = 0\ndef f():\n    global n  # +\n    n += 1  # +\nfor e in range(3): f()",
            "class Mean:  # +\n    total = 0  # +\nmean = Mean()  # +\nfor e in range(3):\n    mean.total += e  # +",
            "for e in range(3):\n    last = e  # +\nprint(last)  # +",
        ] {
            assert!(keeps(text), "{text}");
        }
    }

    const FRESH: &str = "
out = None
for e in range(3):
    for x in data:
        out = net(x)
        optimizer.step()
        if x: kept = x
    print(out)
def f():
    out = 1
    return out
";

    fn fresh(text: &str, name: &str) -> bool {
        let file = File::script(Source::new("f.py", text), "").unwrap();
        let files = [file];
        let plan = Analysis::new(&files).plans(&Options::default()).remove(0);
        is_fresh(&files[0], &plan, "L2", name)
    }

    #[test]
    fn what_every_run_of_a_loop_binds_anew() {
        assert!(fresh(FRESH, "out") && fresh(FRESH, "x"));
        assert!(!fresh(&FRESH.replace("print(out)", "print(kept)"), "kept"));
        assert!(!fresh(FRESH, "self.out") && !fresh(FRESH, "other:out"));
        let before = FRESH.replace("    for x", "    print(out)\n    for x").replace("out = None\n", "");
        assert!(!fresh(&before, "out"));
        assert!(!fresh(&FRESH.replace("    out = 1\n", ""), "out"));
        assert!(!fresh(&FRESH.replace("out = net(x)", "out = net(out)"), "out"));
        assert!(!fresh(&format!("{FRESH}print(out)\n"), "out"));
    }

    #[test]
    fn the_flow_of_control_tells_what_is_bound_anew() {
        let with = |old: &str, new: &str| fresh(&FRESH.replace(old, new), "out");
        assert!(with("out = net(x)", "if x: out = net(x)\n        else: out = None"));
        assert!(with("out = net(x)", "with context: out = net(x)"));
        assert!(with("    for x", "    out = 0; print(out)\n    for x"));
        assert!(with("    print(out)", "    print(out)\n    for y in data: print(y)"));
        assert!(!with("out = net(x)", "if not x: continue\n        out = net(x)"));
        assert!(!with("for x in data", "for x in more(out)"));
        assert!(!with("for x in data", "while more(out)"));
        // an iteration of the loop behind it can be asked for alone
        assert!(!with("    print(out)", "    for y in data:\n        print(out)\n        optimizer.step()"));
    }

    #[test]
    fn what_runs_once_is_there_for_all_that_follows() {
        let text = "
for e in range(3): pass
for x in data:
    out = net(x)
    optimizer.step()
print(out)
";
        assert!(!fresh(text, "out"));
        let indented = text.trim().replace('\n', "\n    ");
        assert!(fresh(&format!("def f():\n    {indented}\nfor e in range(3): f()\n"), "out"));
    }
}
