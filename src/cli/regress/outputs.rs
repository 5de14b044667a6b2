//! The files of a campaign, or of merged shards.

use std::path::{Path, PathBuf};

use super::{Outputs, bad, unwritable};
use crate::cosim::campaign::total;
use crate::cosim::coverage_report;
use crate::cosim::results::{self, Results};
use crate::files;

/// Files of --coverage.
const COVERAGE: [&str; 3] = ["coverage.json", "coverage.txt", "index.html"];

impl Outputs {
    /// Makes the folders: whoever named a wrong one is told before hours of work, not after.
    pub fn prepare(&self) -> anyhow::Result<()> {
        let junit = self.junit.as_deref();
        let parent = junit.and_then(Path::parent).filter(|p| !p.as_os_str().is_empty());
        let coverage = self.coverage.as_deref();
        for (name, folder) in
            [("out", self.out.as_deref()), ("junit", parent), ("coverage", coverage)]
        {
            let Some(folder) = folder else { continue };
            std::fs::create_dir_all(folder)
                .map_err(|e| bad(format!("--{name} {}: {e}", folder.display())))?;
        }
        if let Some(junit) = junit {
            files::check(junit).map_err(|e| unwritable("junit", junit, e))?;
        }
        Ok(())
    }

    /// None of them may overwrite the results of these folders, or another.
    pub fn spare(&self, from: &[PathBuf]) -> anyhow::Result<()> {
        let read: Vec<PathBuf> = from.iter().map(|f| f.join(results::FILE)).collect();
        let mut written: Vec<PathBuf> = self.junit.iter().cloned().collect();
        written.extend(self.out.as_ref().map(|o| o.join(results::FILE)));
        if let Some(folder) = &self.coverage {
            written.extend(COVERAGE.map(|name| folder.join(name)));
        }
        files::apart(&read, &written).map_err(|e| bad(e.to_string()))
    }

    /// Writes them.
    pub fn write(&self, results: &Results) -> anyhow::Result<()> {
        let write = |path: &Path, text: &str| {
            files::write(path, text).map_err(|e| bad(format!("{}: {e}", path.display())))
        };
        if let Some(out) = &self.out {
            write(&out.join(results::FILE), &results.to_json())?;
        }
        if let Some(junit) = &self.junit {
            write(junit, &results.junit())?;
        }
        if let Some(folder) = &self.coverage {
            let (_, _, coverage) = total(&results.profiles);
            let bins = &coverage.bins;
            let texts = [
                coverage_report::json(bins),
                coverage_report::text(bins),
                coverage_report::page(bins),
            ];
            for (name, text) in COVERAGE.iter().zip(texts) {
                write(&folder.join(name), &text)?;
            }
        }
        Ok(())
    }
}
