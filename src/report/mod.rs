//! Tables, timelines and pages for people.

pub mod digest;
pub mod json;
pub mod layout;
pub mod steps;
pub mod svg;
pub mod tables;
pub mod timeline;
