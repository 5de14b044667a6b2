//! Tables, timelines and pages for people.

pub(crate) mod digest;
pub mod json;
pub(crate) mod layout;
pub mod steps;
pub mod svg;
pub mod tables;
pub mod timeline;
