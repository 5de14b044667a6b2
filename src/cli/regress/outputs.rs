//! The files of a campaign, or of merged shards.

use std::path::Path;

use super::{Outputs, bad, unwritable};
use crate::cosim::campaign::total;
use crate::cosim::coverage_report;
use crate::cosim::results::{self, Results};
use crate::files;

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
            write(&folder.join("coverage.json"), &coverage_report::json(bins))?;
            write(&folder.join("coverage.txt"), &coverage_report::text(bins))?;
            write(&folder.join("index.html"), &coverage_report::page(bins))?;
        }
        Ok(())
    }
}
