//! The golden model alone: tables, walkthroughs, properties. Needs no hardware.

#[path = "../exhaustive.rs"]
mod exhaustive;
#[path = "../model_support/mod.rs"]
mod model_support;

mod model_edges;
mod model_properties;
mod model_tables;
mod model_walkthroughs;
mod stored_attributes;
mod wqe_shapes;
mod wqe_walks;
