//! Reading a TOML tree whose every value knows where it stands.
//!
//! Written by hand rather than derived, because each complaint has to name the field, what was
//! expected there, and what a misspelt name probably means.

use std::ops::{Range, RangeInclusive};

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::problem::Problem;

pub(crate) type Result<T> = std::result::Result<T, Box<Problem>>;

/// A value and the name of the field that holds it.
#[derive(Clone, Copy)]
pub(crate) struct Node<'a> {
    pub name: &'a str,
    value: &'a Spanned<DeValue<'a>>,
}

/// The fields of one table.
pub(crate) struct Fields<'a> {
    /// What the table is, for messages: `[[cq]]`, `post_send`.
    pub what: &'a str,
    pub span: Range<usize>,
    table: &'a DeTable<'a>,
}

impl<'a> Fields<'a> {
    pub fn new(what: &'a str, span: Range<usize>, table: &'a DeTable<'a>) -> Self {
        Self { what, span, table }
    }

    /// The same table once more, for a second look.
    pub fn again(&self) -> Self {
        Self { what: self.what, span: self.span.clone(), table: self.table }
    }

    /// The same table under another name for messages.
    pub fn called(self, what: &'a str) -> Self {
        Self { what, ..self }
    }

    /// Complains about the first key, in file order, that is not in `known`.
    pub fn only(self, known: &[&str]) -> Result<Self> {
        let unknown = self
            .table
            .keys()
            .filter(|k| !known.contains(&k.get_ref().as_ref()))
            .min_by_key(|k| k.span().start);
        match unknown {
            None => Ok(self),
            Some(key) => {
                let what = self.what;
                Err(Problem::new(
                    key.span(),
                    format!("{what} has no field `{}`", key.get_ref()),
                    format!("expected one of: {}", known.join(", ")),
                )
                .did_you_mean(key.get_ref(), known.iter().copied()))
            }
        }
    }

    /// The field, if it is there.
    pub fn get(&self, name: &str) -> Option<Node<'a>> {
        self.table
            .iter()
            .find(|(k, _)| k.get_ref() == name)
            .map(|(k, value)| Node { name: k.get_ref().as_ref(), value })
    }

    /// The field, which must be there.
    pub fn need(&self, name: &str) -> Result<Node<'a>> {
        self.get(name).ok_or_else(|| {
            Problem::new(
                self.span.clone(),
                format!("{} needs the field `{name}`", self.what),
                format!("`{name}` is missing here"),
            )
        })
    }

    /// Where the key of this field stands.
    pub fn key_span(&self, name: &str) -> Range<usize> {
        self.table
            .keys()
            .find(|k| k.get_ref() == name)
            .map_or_else(|| self.span.clone(), Spanned::span)
    }

    /// All fields in the order of the file.
    pub fn entries(&self) -> Vec<(Range<usize>, Node<'a>)> {
        let mut all: Vec<_> = self
            .table
            .iter()
            .map(|(k, value)| (k.span(), Node { name: k.get_ref().as_ref(), value }))
            .collect();
        all.sort_by_key(|(span, _)| span.start);
        all
    }

    /// Complains if both fields are given.
    pub fn not_both(&self, a: &str, b: &str) -> Result<()> {
        match (self.get(a), self.get(b)) {
            (Some(_), Some(_)) => Err(Problem::new(
                self.key_span(b),
                format!("{} has both `{a}` and `{b}`", self.what),
                format!("give either `{a}` or `{b}`"),
            )),
            _ => Ok(()),
        }
    }

    pub fn bool_or(&self, name: &str, default: bool) -> Result<bool> {
        self.get(name).map_or(Ok(default), |n| n.bool())
    }

    pub fn uint_or(&self, name: &str, range: RangeInclusive<u64>, default: u64) -> Result<u64> {
        self.get(name).map_or(Ok(default), |n| n.uint(range))
    }
}

impl<'a> Node<'a> {
    pub fn span(&self) -> Range<usize> {
        self.value.span()
    }

    /// A problem with this value.
    pub fn problem(&self, message: impl Into<String>, expected: impl Into<String>) -> Box<Problem> {
        Problem::new(self.span(), message, expected)
    }

    fn wrong_type(&self, expected: &str) -> Box<Problem> {
        self.problem(
            format!("`{}` is {}, not {expected}", self.name, kind(self.value.get_ref())),
            format!("expected {expected}"),
        )
    }

    pub fn is_table(&self) -> bool {
        self.value.get_ref().is_table()
    }

    pub fn is_array(&self) -> bool {
        self.value.get_ref().is_array()
    }

    pub fn is_str(&self) -> bool {
        self.value.get_ref().is_str()
    }

    pub fn is_integer(&self) -> bool {
        self.value.get_ref().is_integer()
    }

    pub fn str(&self) -> Result<&'a str> {
        self.value.get_ref().as_str().ok_or_else(|| self.wrong_type("a string"))
    }

    pub fn bool(&self) -> Result<bool> {
        self.value.get_ref().as_bool().ok_or_else(|| self.wrong_type("true or false"))
    }

    /// A whole number within `range`.
    pub fn uint(&self, range: RangeInclusive<u64>) -> Result<u64> {
        let expected = format!("a number from {} to {}", range.start(), range.end());
        let int = self.value.get_ref().as_integer().ok_or_else(|| self.wrong_type(&expected))?;
        let number = u64::from_str_radix(int.as_str(), int.radix()).ok();
        number.filter(|n| range.contains(n)).ok_or_else(|| {
            self.problem(
                format!("`{}` is out of range: {int}", self.name),
                format!("expected {expected}"),
            )
        })
    }

    /// One of a set of names, upper or lower case.
    pub fn one_of<T: Copy>(&self, what: &str, choices: &[(&str, T)]) -> Result<T> {
        let names = || choices.iter().map(|(n, _)| *n);
        let expected = || format!("expected one of: {}", names().collect::<Vec<_>>().join(", "));
        let written = self.str().map_err(|mut p| {
            p.label = expected();
            p
        })?;
        choices.iter().find(|(n, _)| n.eq_ignore_ascii_case(written)).map(|(_, v)| *v).ok_or_else(
            || {
                self.problem(format!("`{written}` is no {what}"), expected())
                    .did_you_mean(written, names())
            },
        )
    }

    /// The same, also with the prefix that the name has in verbs.
    pub fn one_of_verbs<T: Copy>(
        &self,
        what: &str,
        prefix: &str,
        choices: &[(&str, T)],
    ) -> Result<T> {
        let bare = self.str().ok().and_then(|written| {
            let (head, rest) = written.split_at_checked(prefix.len())?;
            head.eq_ignore_ascii_case(prefix).then_some(rest)
        });
        let known = bare.and_then(|b| choices.iter().find(|(n, _)| n.eq_ignore_ascii_case(b)));
        known.map_or_else(|| self.one_of(what, choices), |(_, value)| Ok(*value))
    }

    /// A table with exactly these fields allowed.
    pub fn fields(&self, known: &[&str]) -> Result<Fields<'a>> {
        self.any_fields()?.only(known)
    }

    /// A table whose keys are judged by the caller.
    pub fn any_fields(&self) -> Result<Fields<'a>> {
        let table = self.value.get_ref().as_table().ok_or_else(|| self.wrong_type("a table"))?;
        Ok(Fields::new(self.name, self.span(), table))
    }

    /// The elements of a list; each keeps the name of the list.
    pub fn list(&self) -> Result<Vec<Node<'a>>> {
        let list = self.value.get_ref().as_array().ok_or_else(|| self.wrong_type("a list"))?;
        Ok(list.iter().map(|value| Node { name: self.name, value }).collect())
    }
}

fn kind(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a string",
        DeValue::Integer(_) => "a number",
        DeValue::Float(_) => "a number with a point",
        DeValue::Boolean(_) => "a boolean",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}
