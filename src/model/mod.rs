//! The golden model: `apply(state, operation) → effects`, written from the specification's text.
//!
//! It knows nothing of RTL, C++ or files.

mod op;
mod policy;
mod types;

pub use op::*;
pub use policy::*;
pub use types::*;
