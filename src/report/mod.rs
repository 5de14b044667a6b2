//! Tables, timelines and pages for people.
