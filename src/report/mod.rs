//! Tables, timelines and pages for people.

pub mod tables;
