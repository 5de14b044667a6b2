//! What a campaign, or a shard of one, came to: kept in a file, merged, turned into reports.
//!
//! Nothing in it depends on the machine, the number of jobs or the clock on the wall, so the
//! merged shards of a campaign equal the whole one byte for byte.

use std::path::Path;

use quick_junit::{NonSuccessKind, Property, TestCase, TestCaseStatus, TestSuite, XmlString};
use serde::{Deserialize, Serialize};

use super::campaign::{Campaign, Case, End, ProfileSum, Report};
use super::stimulus::Profile;
use crate::hw::RTL_DIGEST;

/// Name of the file in the folder of a campaign.
pub const FILE: &str = "results.json";

/// Number of the file format.
const FORMAT: u32 = 1;

/// Runs of one campaign, all of them or some.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Results {
    format: u32,
    /// Digest of the hardware's sources.
    pub rtl: String,
    /// The arguments that decide the list of runs.
    pub campaign: String,
    /// Length of that list.
    pub cases: usize,
    /// In the order of the list.
    pub runs: Vec<Run>,
    /// What the runs that passed add up to.
    pub profiles: Vec<ProfileSum>,
}

/// One run of the list.
#[derive(Debug, Serialize, Deserialize)]
pub struct Run {
    /// Number of the run within the campaign.
    pub number: usize,
    /// Profile.
    pub profile: String,
    /// Sizes of the hardware.
    pub config: String,
    /// Seed of all that is random.
    pub seed: u64,
    /// How it ended.
    #[serde(flatten)]
    pub verdict: Verdict,
}

/// How it ended.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub enum Verdict {
    /// No difference.
    Passed {
        /// Operations.
        operations: u64,
        /// Clocks.
        clocks: u64,
    },
    /// A difference.
    Failed {
        /// Clock, counted from the reset.
        clock: u64,
        /// In words.
        text: String,
        /// The command that runs it again.
        again: String,
    },
    /// It was not run.
    LeftOut,
}

/// Results that cannot be used or do not belong together.
#[derive(Debug, thiserror::Error)]
pub enum BadResults {
    /// It cannot be read.
    #[error("{path}: {why}")]
    Read {
        /// Path of the file.
        path: String,
        /// What is wrong.
        why: std::io::Error,
    },
    /// It is not JSON of the expected form.
    #[error("{path}:{line}:{column}: these are no results of a campaign: {why}")]
    Parse {
        /// Path of the file.
        path: String,
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
        /// What is wrong.
        why: String,
    },
    /// Another version of the format.
    #[error("{path}: field `format`: expected {FORMAT}, got {got}")]
    Format {
        /// Path of the file.
        path: String,
        /// What was seen.
        got: u32,
    },
    #[error(
        "{b}: field `{field}` is `{got}`, but `{expected}` in {a}: only shards of one campaign \
         can be merged"
    )]
    /// The files are of different campaigns.
    Differ {
        /// The first file.
        a: String,
        /// The second file.
        b: String,
        /// Name of the field.
        field: &'static str,
        /// What was expected.
        expected: String,
        /// What was seen.
        got: String,
    },
    /// Two files hold the same run.
    #[error("run {number} is in {a} and in {b}: was a shard named twice?")]
    Twice {
        /// Number of the run within the campaign.
        number: usize,
        /// The first file.
        a: String,
        /// The second file.
        b: String,
    },
    /// There are no files.
    #[error("there is nothing to merge")]
    Nothing,
}

impl Results {
    /// Of a campaign that has ended; `cases` is the number of runs in all its shards.
    pub fn new(arguments: String, cases: usize, campaign: &Campaign, report: &Report) -> Results {
        let run = |(case, end): (&Case, &End)| Run {
            number: case.number,
            profile: case.profile.name.into(),
            config: case.config.name().into(),
            seed: case.seed,
            verdict: match end {
                End::Passed { operations, clocks } => {
                    Verdict::Passed { operations: *operations, clocks: *clocks }
                }
                End::Failed(failure) => Verdict::Failed {
                    clock: failure.clock(),
                    text: failure.to_string(),
                    again: format!("rnic-cosim {}", case.origin()),
                },
                End::LeftOut => Verdict::LeftOut,
            },
        };
        Results {
            format: FORMAT,
            rtl: RTL_DIGEST.into(),
            campaign: arguments,
            cases,
            runs: campaign.cases.iter().zip(&report.ends).map(run).collect(),
            profiles: report.profiles.clone(),
        }
    }

    /// Runs that were not made: left out, or in a shard that is missing.
    pub fn not_run(&self) -> usize {
        let made = self.runs.iter().filter(|r| !matches!(r.verdict, Verdict::LeftOut)).count();
        self.cases.saturating_sub(made)
    }

    /// The runs that failed.
    pub fn failed(&self) -> impl Iterator<Item = &Run> {
        self.runs.iter().filter(|r| matches!(r.verdict, Verdict::Failed { .. }))
    }

    /// Reads the results that lie in a folder, or the file itself.
    ///
    /// # Errors
    /// There are none, or they cannot be used.
    pub fn load(path: &Path) -> Result<Results, BadResults> {
        let file = if path.is_dir() { path.join(FILE) } else { path.into() };
        let path = file.display().to_string();
        let text = std::fs::read_to_string(&file)
            .map_err(|why| BadResults::Read { path: path.clone(), why })?;
        let results: Results = serde_json::from_str(&text).map_err(|e| {
            let full = e.to_string();
            let why = full.rsplit_once(" at line ").map_or(full.as_str(), |(why, _)| why).into();
            BadResults::Parse { path: path.clone(), line: e.line(), column: e.column(), why }
        })?;
        if results.format != FORMAT {
            return Err(BadResults::Format { path, got: results.format });
        }
        Ok(results)
    }

    /// As a JSON document.
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("plain data");
        text.push('\n');
        text
    }

    /// Puts shards of one campaign together; names are for messages.
    ///
    /// # Errors
    /// They are not shards of one campaign, or one is there twice.
    pub fn merge(parts: Vec<(String, Results)>) -> Result<Results, BadResults> {
        let mut parts = parts.into_iter();
        let (first, mut all) = parts.next().ok_or(BadResults::Nothing)?;
        let mut owners = vec![first.clone(); all.runs.len()];
        for (name, part) in parts {
            let differ = |field, expected: String, got: String| BadResults::Differ {
                a: first.clone(),
                b: name.clone(),
                field,
                expected,
                got,
            };
            if part.rtl != all.rtl {
                return Err(differ("rtl", all.rtl, part.rtl));
            }
            if part.campaign != all.campaign {
                return Err(differ("campaign", all.campaign, part.campaign));
            }
            if part.cases != all.cases {
                return Err(differ("cases", all.cases.to_string(), part.cases.to_string()));
            }
            owners.extend(part.runs.iter().map(|_| name.clone()));
            all.runs.extend(part.runs);
            for sum in part.profiles {
                match all.profiles.iter_mut().find(|p| p.profile == sum.profile) {
                    Some(p) => {
                        p.runs += sum.runs;
                        p.operations += sum.operations;
                        p.clocks += sum.clocks;
                        p.coverage.add(&sum.coverage);
                    }
                    None => all.profiles.push(sum),
                }
            }
        }
        let mut order: Vec<usize> = (0..all.runs.len()).collect();
        order.sort_by_key(|&i| all.runs[i].number);
        if let Some(two) = order.windows(2).find(|w| all.runs[w[0]].number == all.runs[w[1]].number)
        {
            let [a, b] = [two[0], two[1]].map(|i| owners[i].clone());
            return Err(BadResults::Twice { number: all.runs[two[0]].number, a, b });
        }
        all.runs.sort_by_key(|r| r.number);
        let place = |p: &ProfileSum| Profile::ALL.iter().position(|known| known.name == p.profile);
        all.profiles.sort_by_key(place);
        Ok(all)
    }

    /// As JUnit: a suite per configuration and profile, a case per seed. Times are left out, so
    /// that equal results are equal files; each case has its operations and clocks instead.
    pub fn junit(&self) -> String {
        let mut report = quick_junit::Report::new("rnic-cosim regress");
        let mut suites: Vec<(String, TestSuite)> = Vec::new();
        for run in &self.runs {
            let name = format!("{}.{}", run.config, run.profile);
            let at = suites.iter().position(|(n, _)| *n == name).unwrap_or_else(|| {
                suites.push((name.clone(), TestSuite::new(name.as_str())));
                suites.len() - 1
            });
            let mut case = TestCase::new(format!("seed {}", run.seed), status(&run.verdict));
            case.set_classname(name);
            match &run.verdict {
                Verdict::Passed { operations, clocks } => {
                    case.add_property(Property::new("operations", operations.to_string()));
                    case.add_property(Property::new("clocks", clocks.to_string()));
                }
                Verdict::Failed { again, .. } => {
                    case.set_system_out(format!("run it again: {again}"));
                }
                Verdict::LeftOut => {}
            }
            suites[at].1.add_test_case(case);
        }
        report.add_test_suites(suites.into_iter().map(|(_, suite)| suite));
        report.to_string().expect("a report in memory")
    }
}

fn status(verdict: &Verdict) -> TestCaseStatus {
    match verdict {
        Verdict::Passed { .. } => TestCaseStatus::success(),
        Verdict::Failed { text, .. } => {
            let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
            status.set_message(text.lines().next().unwrap_or_default());
            status.set_type("mismatch");
            status.set_description(XmlString::new(text));
            status
        }
        Verdict::LeftOut => {
            let mut status = TestCaseStatus::skipped();
            status.set_message("not run: time limit, interruption or enough failures before it");
            status
        }
    }
}

/// The first line of a failed run.
pub fn first_line(run: &Run) -> &str {
    match &run.verdict {
        Verdict::Failed { text, .. } => text.lines().next().unwrap_or_default(),
        _ => "",
    }
}
