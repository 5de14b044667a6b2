//! What a person types and reads: commands, files, messages, reports, and the documentation.

#[path = "../exhaustive.rs"]
mod exhaustive;

mod decode_cases;
mod decode_compared;
mod decode_robust;
mod evidence;
mod explain_cases;
mod explain_cli;
mod help;
mod output_paths;
mod own_rtl;
mod policy_names;
mod provision_cases;
mod report_page;
mod reuse;
mod sandbox;
mod scenario_engines;
mod scenario_errors;
mod scenario_expect;
mod scenario_files;
mod scenario_listing;
mod scenario_run;
mod synth;
mod tables_model;
mod testplan;

#[cfg(feature = "rtl")]
mod cosim_cli;
#[cfg(feature = "rtl")]
mod examples;
#[cfg(feature = "rtl")]
mod functional_coverage;
#[cfg(feature = "rtl")]
mod regress_engine;
#[cfg(feature = "rtl")]
mod waves;
