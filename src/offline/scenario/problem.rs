//! What is wrong with a scenario file, and where.

use std::fmt;
use std::ops::Range;

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};

use crate::spelling::closest;

/// Something in a file that cannot be used. Its text names file, line, column and field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadScenario {
    /// One line: what is wrong.
    pub message: String,
    /// File name as the user gave it.
    pub file: String,
    /// Line, counted from 1.
    pub line: usize,
    /// Column in characters, counted from 1.
    pub column: usize,
    rendered: String,
}

impl fmt::Display for BadScenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.rendered)
    }
}

impl std::error::Error for BadScenario {}

/// A problem before it knows its file.
#[derive(Clone, Debug)]
pub(crate) struct Problem {
    pub span: Range<usize>,
    pub message: String,
    /// Written under the marked text: what was expected.
    pub label: String,
    pub help: Option<String>,
}

impl Problem {
    pub fn new(
        span: Range<usize>,
        message: impl Into<String>,
        label: impl Into<String>,
    ) -> Box<Self> {
        Box::new(Self { span, message: message.into(), label: label.into(), help: None })
    }

    /// The same problem at another place.
    pub fn at(mut self: Box<Self>, span: Range<usize>) -> Box<Self> {
        self.span = span;
        self
    }

    pub fn help(mut self: Box<Self>, help: impl Into<String>) -> Box<Self> {
        self.help = Some(help.into());
        self
    }

    /// Adds "did you mean" when one of the known names is close to what was written.
    pub fn did_you_mean<'a>(
        self: Box<Self>,
        written: &str,
        known: impl IntoIterator<Item = &'a str>,
    ) -> Box<Self> {
        match closest(written, known) {
            Some(name) => self.help(format!("did you mean `{name}`?")),
            None => self,
        }
    }

    /// Puts the problem into its file and renders it.
    pub fn in_file(self, file: &str, text: &str) -> BadScenario {
        let (start, end) = (floor(text, self.span.start), floor(text, self.span.end));
        // A whole table is marked by its first line only: what counts is where it begins.
        let end = text[start..end.max(start)].find('\n').map_or(end, |n| start + n).max(start);
        let line_start = text[..start].rfind('\n').map_or(0, |n| n + 1);
        let line = text[..start].matches('\n').count() + 1;
        let column = text[line_start..start].chars().count() + 1;
        let group = Level::ERROR.primary_title(self.message.as_str()).element(
            Snippet::source(text)
                .path(file)
                .annotation(AnnotationKind::Primary.span(start..end).label(self.label.as_str())),
        );
        let group = match &self.help {
            Some(h) => group.element(Level::HELP.message(h.as_str())),
            None => group,
        };
        let rendered = Renderer::plain().render(&[group]);
        BadScenario {
            file: file.to_owned(),
            line,
            column,
            rendered: rendered.strip_prefix("error: ").unwrap_or(&rendered).to_owned(),
            message: self.message,
        }
    }
}

/// The byte position at or before `at` where a character starts.
fn floor(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}
