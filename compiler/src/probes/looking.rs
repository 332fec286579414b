//! Does a question (`florc ask`) only look? What changes something, writes, calls out or draws is refused before anything runs.

use crate::knowledge::{Knowledge, List};
use crate::source::Source;
use crate::syntax::parse;
use crate::syntax::tree::{Call, Expr, ExprKind, Literal, Module, StmtKind};
use crate::syntax::walk;
use std::collections::BTreeMap;

/// Names that a module imports, and what they stand for.
pub type Imports = BTreeMap<String, String>;

/// What everybody calls these, imported or not.
const USUAL: [(&str, &str); 6] = [
    ("np", "numpy"),
    ("nn", "torch.nn"),
    ("F", "torch.nn.functional"),
    ("plt", "matplotlib.pyplot"),
    ("pd", "pandas"),
    ("tqdm", "tqdm.tqdm"),
];

/// What the names of a module stand for.
pub fn imports(module: &Module) -> Imports {
    let usual = USUAL.iter().map(|(name, whole)| ((*name).to_owned(), (*whole).to_owned()));
    let mut found: Imports = usual.collect();
    walk::all_statements(module, &mut |stmt| {
        if let StmtKind::Import(names) = &stmt.kind {
            found.extend(names.iter().map(|name| (name.local.as_str().to_owned(), name.dotted.clone())));
        }
    });
    found
}

/// Refuses what is no expression, and what does more than look.
pub fn look_only(expression: &str, imports: &Imports) -> Result<(), String> {
    let said = |why: &str| format!("{expression}: {why}");
    if expression.trim().is_empty() || expression.contains(['\n', '\r', '#']) && !expression.contains(['"', '\'']) {
        return Err(said("an expression of one line is asked for"));
    }
    let source = Source::new("<question>", format!("({expression}\n)\n"));
    let (module, _) = parse(&source).map_err(|error| {
        // the parenthesis is florc's own
        let is_begun = error.message.contains("unexpected ')'")
            && expression.matches(')').count() <= expression.matches('(').count();
        said(&if is_begun { "it ends too soon".to_owned() } else { format!("it is no expression: {}", error.message) })
    })?;
    // `w[0]) or print(1` closes florc's parenthesis, and is one expression with it
    if parse(&Source::new("<question>", format!("[{expression}\n]\n"))).is_err() {
        return Err(said("it is no expression: its parentheses do not match"));
    }
    let [stmt] = module.body.as_slice() else { return Err(said("it is no expression")) };
    let StmtKind::Expr(whole) = &stmt.kind else { return Err(said("it is no expression")) };
    let asked = Asked { source: &source, imports, knowledge: Knowledge::shipped() };
    let mut changes = None;
    walk::expressions(whole, &mut |part| {
        changes = changes.take().or_else(|| asked.change(part));
        true
    });
    changes.map_or(Ok(()), |what| {
        Err(said(&format!(
            "{what}, and a question only looks; a statement in the script, and florc replay, may do that"
        )))
    })
}

struct Asked<'a> {
    source: &'a Source,
    imports: &'a Imports,
    knowledge: &'static Knowledge,
}

impl Asked<'_> {
    /// What a part of an expression changes.
    fn change(&self, part: &Expr) -> Option<String> {
        match &part.kind {
            ExprKind::Named { .. } => Some("`:=` binds a name".to_owned()),
            ExprKind::Await(_) => Some("`await` lets others run".to_owned()),
            ExprKind::Yield(_) => Some("`yield` gives a value out".to_owned()),
            ExprKind::Call(call) => self.changed_by(call),
            _ => None,
        }
    }

    fn changed_by(&self, call: &Call) -> Option<String> {
        let called = self.source.slice(call.callee.range);
        let whole = self.dotted(&call.callee);
        let function = whole.as_deref().and_then(|whole| self.knowledge.function(whole));
        if let Some(whole) = &whole {
            if self.acts(whole) {
                return Some(format!("{called}() does more than look"));
            }
            if whole == "builtins.open" && opens_to_write(call) {
                return Some(format!("{called}() opens a file to write to it"));
            }
            if whole == "builtins.print" && call.keywords.iter().any(|(name, _)| is(name.as_ref(), "file")) {
                return Some(format!("{called}() writes to a file"));
            }
            if self.knowledge.lists(List::CallsArguments, whole)
                && let Some(handed) = call.args.iter().find(|arg| self.changes_when_called(arg))
            {
                return Some(format!("{called}() calls {}", self.source.slice(handed.range)));
            }
            if function.is_some_and(|facts| facts.settings) && !whole.starts_with("sys.path.") {
                return Some(format!("{called}() changes a setting of the process"));
            }
        }
        let facts = match &call.callee.kind {
            ExprKind::Attribute { attr, value } => {
                let name = attr.as_str();
                if self.is_new(value) {
                    return None;
                }
                if name.ends_with('_') && !name.ends_with("__") {
                    return Some(format!("{called}() changes what it is called on"));
                }
                let is_quiet = function.is_some_and(|facts| facts.quiet);
                let told = self.knowledge.lists(List::ActsIfTold, name) && !call.args.is_empty();
                if !is_quiet && (told || self.knowledge.lists(List::ActsAsMethod, name)) {
                    return Some(format!("{called}() does more than look"));
                }
                function.or_else(|| self.knowledge.method(None, name))
            }
            ExprKind::Name(_) => function,
            _ => None,
        }?;
        let consumes = facts.consumes_first && !call.args.first().is_some_and(|arg| self.is_fresh_iterator(arg));
        (facts.mutates_receiver || facts.mutates_first || consumes)
            .then(|| format!("{called}() changes what it is given"))
            .or_else(|| facts.random.then(|| format!("{called}() draws random numbers")))
    }

    /// The dotted name of a module's function or class, or of one of Python's own. What a name is bound to otherwise, the
    /// replay sees.
    fn dotted(&self, callee: &Expr) -> Option<String> {
        match &callee.kind {
            ExprKind::Name(name) => {
                Some(self.imports.get(name.as_str()).cloned().unwrap_or_else(|| format!("builtins.{}", name.as_str())))
            }
            ExprKind::Attribute { value, attr } => {
                let before = match &value.kind {
                    ExprKind::Name(name) => {
                        self.imports.get(name.as_str()).cloned().unwrap_or_else(|| name.as_str().to_owned())
                    }
                    _ => self.dotted(value)?,
                };
                Some(format!("{before}.{}", attr.as_str()))
            }
            _ => None,
        }
    }

    fn acts(&self, whole: &str) -> bool {
        let is_it = |name: &str| match name.strip_suffix('.') {
            Some(_) => whole.starts_with(name),
            None => whole == name,
        };
        self.knowledge.names(List::Acts).any(is_it) && !self.knowledge.names(List::Looks).any(is_it)
    }

    /// Whether it is a method that changes its object, handed over to be called.
    fn changes_when_called(&self, handed: &Expr) -> bool {
        let ExprKind::Attribute { attr, .. } = &handed.kind else { return false };
        let whole = self.dotted(handed);
        if whole.as_deref().is_some_and(|whole| self.acts(whole)) || self.knowledge.lists(List::ActsAsMethod, attr) {
            return true;
        }
        let known = whole.and_then(|whole| self.knowledge.function(&whole));
        known.or_else(|| self.knowledge.method(None, attr)).is_some_and(|facts| facts.mutates_receiver)
    }

    /// Whether nobody else has what this makes.
    fn is_new(&self, made: &Expr) -> bool {
        let call = match &made.kind {
            ExprKind::Display { .. } | ExprKind::Comprehension { is_generator: false, .. } => return true,
            ExprKind::Call(call) => call,
            _ => return false,
        };
        let copies = matches!(&call.callee.kind, ExprKind::Attribute { attr, .. } if attr.as_str() == "copy");
        copies || self.dotted(&call.callee).is_some_and(|whole| self.knowledge.lists(List::MakesNew, &whole))
    }

    /// Whether nobody else has this iterator.
    fn is_fresh_iterator(&self, made: &Expr) -> bool {
        let ExprKind::Call(call) = &made.kind else { return false };
        if let ExprKind::Attribute { attr, .. } = &call.callee.kind {
            return self.knowledge.lists(List::MakesIterators, attr);
        }
        let is_iter = self.dotted(&call.callee).is_some_and(|whole| whole == "builtins.iter");
        let Some(Expr { kind: ExprKind::Call(inner), .. }) = call.args.first() else { return false };
        let ExprKind::Attribute { attr, .. } = &inner.callee.kind else { return false };
        let is_view = ["values", "items", "keys"].contains(&attr.as_str());
        is_iter && (is_view || self.knowledge.lists(List::MakesIterators, attr))
    }
}

/// Whether a mode that is written there says so.
fn opens_to_write(call: &Call) -> bool {
    let named = call.keywords.iter().find(|(name, _)| is(name.as_ref(), "mode")).map(|(_, mode)| mode);
    named.or(call.args.get(1)).is_some_and(
        |mode| matches!(&mode.kind, ExprKind::Constant(Literal::Str(mode)) if mode.contains(['w', 'a', 'x', '+'])),
    )
}

fn is(name: Option<&crate::name::Name>, other: &str) -> bool {
    name.is_some_and(|name| name.as_str() == other)
}
