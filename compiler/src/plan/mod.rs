//! What will be done to each loop, and why.

mod autograd;
mod compiled;
mod conditions;
mod describe;
mod estimates;
mod gradients;
mod heads;
mod listed;
mod make;
mod model;
mod report;
mod roles;
pub mod schema;
mod speaks;
mod steps;
mod table2;
mod work;

pub use heads::{Room, room};
pub use model::{Action, EffectsMode, Head, LoopPlan, Options, Plan, Recorded};
pub use report::{explain, to_text};
pub use steps::Steps;
