//! From arguments to the list of runs.

use std::num::NonZeroUsize;
use std::ops::Range;

use super::{CampaignArgs, bad, unknown};
use crate::cosim::campaign::{Case, Shard};
use crate::cosim::stimulus::Profile;
use crate::hw::HwConfig;
use crate::policies;

/// The runs of one call, and what they are part of.
pub struct Plan {
    /// Of this shard.
    pub cases: Vec<Case>,
    /// Runs of all shards.
    pub all: usize,
    /// The arguments that decide the list, in one spelling.
    pub arguments: String,
    pub max_failures: Option<NonZeroUsize>,
}

/// More runs than anybody waits for.
const MOST: u64 = 10_000_000;
/// Operations of one run.
const MOST_OPERATIONS: u64 = 10_000_000_000;

impl Plan {
    /// # Errors
    /// Arguments that cannot be used.
    pub fn new(args: &CampaignArgs) -> anyhow::Result<Plan> {
        let seeds = seeds(&args.seeds)?;
        let choice = Choice::new(args)?;
        let configs = configs(&args.config)?;
        if let Some(missing) = configs.iter().find(|c| !c.is_built()) {
            return Err(bad(not_built(missing.name())));
        }
        let mut settings = Vec::new();
        for text in &args.policy {
            let (name, value) =
                policies::parse_setting(text).map_err(|e| bad(format!("--policy: {e}")))?;
            settings.push((name.to_owned(), value.to_owned()));
        }
        if args.ops == 0 {
            return Err(bad("--ops 0: expected at least one operation"));
        }
        if args.ops > MOST_OPERATIONS {
            return Err(bad(format!(
                "--ops {}: a run of more than {MOST_OPERATIONS} operations takes hours and can only be replayed as a whole; take more --seeds",
                args.ops
            )));
        }
        if args.jobs == Some(0) || args.time_limit == Some(0) {
            return Err(bad("--jobs and --time-limit must be at least 1"));
        }
        let shard = args.shard.as_deref().map(shard).transpose()?;
        let max_failures = max_failures(args)?;
        let per_seed = choice.per_seed() * configs.len();
        let many = (seeds.end - seeds.start).saturating_mul(per_seed as u64);
        if many > MOST {
            return Err(bad(format!(
                "--seeds {}: {many} runs are more than ten million",
                args.seeds
            )));
        }
        let mut arguments = format!("--seeds {}..{} --ops {}", seeds.start, seeds.end, args.ops);
        arguments += &match &args.profile_mix {
            Some(mix) => format!(" --profile-mix {mix}"),
            None => format!(" --profile {}", args.profile),
        };
        arguments += &format!(" --config {}", args.config);
        for (key, value) in &settings {
            arguments += &format!(" --policy {key}={value}");
        }
        let mut cases = Vec::new();
        let mut number = 0;
        for seed in seeds {
            for &config in &configs {
                for profile in choice.of(seed) {
                    if shard.is_none_or(|s| s.holds(number)) {
                        let mut case = Case::new(profile, config, &settings, args.ops, seed);
                        case.number = number;
                        cases.push(case);
                    }
                    number += 1;
                }
            }
        }
        Ok(Plan { cases, all: number, arguments, max_failures })
    }
}

pub fn not_built(config: &str) -> String {
    format!(
        "configuration {config} is not part of this program: it was built with RNIC_CONFIGS, \
         build it again without"
    )
}

fn seeds(text: &str) -> anyhow::Result<Range<u64>> {
    let wrong = || bad(format!("--seeds `{text}`: expected a number or FROM..TO with FROM < TO"));
    let number = |t: &str| t.trim().parse::<u64>().map_err(|_| wrong());
    let range = match text.split_once("..") {
        Some((from, to)) => number(from)?..number(to)?,
        None => {
            let one = number(text)?;
            one..one.checked_add(1).ok_or_else(wrong)?
        }
    };
    if range.is_empty() { Err(wrong()) } else { Ok(range) }
}

fn configs(text: &str) -> anyhow::Result<Vec<HwConfig>> {
    if text == "all" {
        return Ok(HwConfig::ALL.to_vec());
    }
    let mut names: Vec<&str> = HwConfig::ALL.iter().map(|c| c.name()).collect();
    names.push("all");
    Ok(vec![HwConfig::from_name(text).ok_or_else(|| unknown("config", text, &names))?])
}

/// Which profiles a seed is run with.
enum Choice {
    Each(Vec<&'static Profile>),
    /// One, drawn by weight.
    Mix(Vec<(&'static Profile, u32)>),
}

impl Choice {
    fn new(args: &CampaignArgs) -> anyhow::Result<Choice> {
        let mut names: Vec<&str> = Profile::ALL.iter().map(|p| p.name).collect();
        let Some(mix) = &args.profile_mix else {
            if args.profile == "all" {
                return Ok(Choice::Each(Profile::ALL.iter().collect()));
            }
            names.push("all");
            let one = Profile::from_name(&args.profile)
                .ok_or_else(|| unknown("profile", &args.profile, &names))?;
            return Ok(Choice::Each(vec![one]));
        };
        let mut weighted: Vec<(&'static Profile, u32)> = Vec::new();
        for part in mix.split(',') {
            let (name, weight) = part.split_once('=').unwrap_or((part, "1"));
            let profile = Profile::from_name(name.trim())
                .ok_or_else(|| unknown("profile-mix", name.trim(), &names))?;
            let weight = weight.trim().parse().ok().filter(|w| (1..=1_000_000).contains(w));
            let weight = weight.ok_or_else(|| {
                bad(format!("--profile-mix `{part}`: expected a weight from 1 to 1000000"))
            })?;
            if weighted.iter().any(|(p, _)| p.name == profile.name) {
                return Err(bad(format!("--profile-mix: `{}` is named twice", profile.name)));
            }
            weighted.push((profile, weight));
        }
        Ok(Choice::Mix(weighted))
    }

    fn per_seed(&self) -> usize {
        match self {
            Choice::Each(profiles) => profiles.len(),
            Choice::Mix(_) => 1,
        }
    }

    fn of(&self, seed: u64) -> Vec<&'static Profile> {
        match self {
            Choice::Each(profiles) => profiles.clone(),
            Choice::Mix(weighted) => {
                let sum: u32 = weighted.iter().map(|(_, w)| w).sum();
                // Not the generator of the run itself, or profile and stimulus were related.
                let mut at = fastrand::Rng::with_seed(!seed).u32(..sum);
                let drawn = weighted.iter().find(|(_, w)| {
                    let here = at < *w;
                    at = at.saturating_sub(*w);
                    here
                });
                drawn.map(|(p, _)| *p).into_iter().collect()
            }
        }
    }
}

fn shard(text: &str) -> anyhow::Result<Shard> {
    let wrong = || bad(format!("--shard `{text}`: expected I/N with 1 ≤ I ≤ N"));
    let (index, of) = text.split_once('/').ok_or_else(wrong)?;
    let number = |t: &str| t.trim().parse::<usize>().map_err(|_| wrong());
    let (index, of) = (number(index)?, number(of)?);
    if index == 0 || index > of {
        return Err(wrong());
    }
    Ok(Shard { index: index - 1, of })
}

fn max_failures(args: &CampaignArgs) -> anyhow::Result<Option<NonZeroUsize>> {
    match args.max_fail.as_deref() {
        // A shard that ends early would leave a hole in the whole.
        None => Ok(if args.shard.is_some() { None } else { NonZeroUsize::new(1) }),
        Some("all") => Ok(None),
        Some(text) => text
            .parse()
            .map(Some)
            .map_err(|_| bad(format!("--max-fail `{text}`: expected a number from 1 or `all`"))),
    }
}
