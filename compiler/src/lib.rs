//! `florc`: the compiler half. Python source in, instrumented Python source out; it knows nothing of a running process.
//!
//! source → syntax → scopes → flow → loops → project → calls → effects → analysis → plan → emit

// What ships only: tests may end where something is wrong (clippy.toml), and count allocations with unsafe code.
#![forbid(unsafe_code)]
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

pub mod analysis;
pub mod calls;
pub mod cli;
pub mod diagnostics;
pub mod effects;
pub mod emit;
pub mod flow;
pub mod ids;
pub mod knowledge;
pub mod loops;
pub mod name;
pub mod plan;
pub mod probes;
pub mod project;
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
    /// Why nothing was written into the file although there was something to write.
    pub left_alone: Option<&'static str>,
}

impl Instrumented {
    /// A plan, and what was emitted for it or why nothing could be.
    pub(crate) fn new(source: &Source, plan: Plan, emitted: Result<Emitted, &'static str>) -> Self {
        let left_alone = emitted.as_ref().err().copied();
        Self { plan, emitted: emitted.unwrap_or_else(|_| emit::untouched(source)), left_alone }
    }
}

/// The whole pipeline.
///
/// # Errors
/// One diagnostic when the file is not Python.
pub fn instrument(source: &Source, options: &Options) -> Result<Instrumented, Diagnostic> {
    syntax::on_deep_stack(syntax::DEEP_STACK, || {
        let file = syntax::File::script(source.clone(), "")?;
        let plan = analysis::Analysis::new(std::slice::from_ref(&file)).plans(options).remove(0);
        let emitted = emit::emit_checked(&file, &plan, &[]);
        Ok(Instrumented::new(source, plan, emitted))
    })
}

/// The plan alone.
///
/// # Errors
/// One diagnostic when the file is not Python.
pub fn plan_only(source: &Source, options: &Options) -> Result<Plan, Diagnostic> {
    syntax::on_deep_stack(syntax::DEEP_STACK, || {
        let file = syntax::File::script(source.clone(), "")?;
        Ok(analysis::Analysis::new(std::slice::from_ref(&file)).plans(options).remove(0))
    })
}
