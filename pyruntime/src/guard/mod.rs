//! What keeps florc's own failures from the script: errors and panics become exceptions, or are counted; interrupts wait.
pub mod exceptions;
pub mod interrupts;
pub mod panics;
pub mod stalled;
