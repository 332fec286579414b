//! `florc`: the compiler half. Python source in, instrumented Python source out; it knows nothing of a running process.
//!
//! source → syntax → scopes → flow → loops → calls → effects → plan → emit

pub mod calls;
pub mod cli;
pub mod diagnostics;
pub mod effects;
pub mod emit;
pub mod flow;
pub mod loops;
pub mod plan;
pub mod probes;
pub mod scopes;
pub mod source;
pub mod syntax;

pub use diagnostics::Diagnostic;
pub use emit::Emitted;
pub use plan::{EffectsMode, Options, Plan};
pub use source::Source;

/// A file with its plan and its instrumented text.
#[derive(Clone, Debug)]
pub struct Instrumented {
    /// What is done to each loop.
    pub plan: Plan,
    /// The text and the source map.
    pub emitted: Emitted,
}

/// The whole pipeline.
///
/// # Errors
/// One diagnostic when the file is not Python.
pub fn instrument(source: &Source, options: &Options) -> Result<Instrumented, Diagnostic> {
    syntax::on_deep_stack(syntax::DEEP_STACK, || {
        let (module, tokens) = syntax::parse(source)?;
        let plan = plan::Analysis::new(source, &module).plan(options);
        let mut emitted = emit::emit(source, &module, &tokens, &plan, &[]);
        if syntax::parse(&Source::new(source.name.as_str(), emitted.text.as_str())).is_err() {
            // Indentation of a kind that a further step breaks (tabs and blanks mixed, split by backslashes).
            let nothing = Plan { loops: Vec::new(), ..plan.clone() };
            emitted = emit::emit(source, &module, &tokens, &nothing, &[]);
        }
        Ok(Instrumented { plan, emitted })
    })
}

/// The plan alone.
///
/// # Errors
/// One diagnostic when the file is not Python.
pub fn plan_only(source: &Source, options: &Options) -> Result<Plan, Diagnostic> {
    syntax::on_deep_stack(syntax::DEEP_STACK, || {
        let (module, _) = syntax::parse(source)?;
        Ok(plan::Analysis::new(source, &module).plan(options))
    })
}
