//! The test plan and the README name things that exist.

use std::collections::HashSet;
use std::fs;

use super::sandbox::Sandbox;

#[derive(serde::Deserialize)]
struct Plan {
    promise: Vec<Promise>,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Promise {
    text: String,
    #[allow(dead_code)]
    source: String,
    tests: Vec<String>,
}

/// `file::function` of every test in a folder of testbench/, also of those that a macro wraps.
fn tests_that_exist() -> HashSet<String> {
    let mut found = HashSet::new();
    let folders = fs::read_dir("testbench").expect("testbench is there").flatten();
    let folders = folders.filter(|entry| entry.path().is_dir());
    for entry in folders.flat_map(|f| fs::read_dir(f.path()).expect("a folder").flatten()) {
        let path = entry.path();
        if path.extension().is_none_or(|e| e != "rs") {
            continue;
        }
        let target = path.file_stem().expect("it has a name").to_string_lossy().into_owned();
        let text = fs::read_to_string(&path).expect("sources are text");
        let mut marked = false;
        for line in text.lines().map(str::trim) {
            if line == "#[test]" {
                marked = true;
            } else if let (true, Some(rest)) = (marked, line.strip_prefix("fn ")) {
                let name = rest.split('(').next().expect("split yields one");
                found.insert(format!("{target}::{name}"));
                marked = false;
            }
        }
    }
    found
}

#[test]
fn every_promise_names_tests_that_exist() {
    let text = fs::read_to_string("docs/testplan.toml").expect("the plan is there");
    let plan: Plan = toml::from_str(&text).expect("the plan is readable");
    let checks = fs::read_to_string("rtl/rnic_checks.sv").expect("the assertions are there");
    let tests = tests_that_exist();
    assert!(tests.len() > 100, "the search for tests finds them: {}", tests.len());
    for promise in &plan.promise {
        assert!(!promise.tests.is_empty(), "no test for: {}", promise.text);
        for test in &promise.tests {
            let exists = if let Some(name) = test.strip_prefix("rtl::") {
                checks.contains(&format!("{name}: assert"))
            } else if let Some((proof, name)) =
                test.strip_prefix("formal::").and_then(|rest| rest.split_once("::"))
            {
                fs::read_to_string(format!("formal/{proof}.sv"))
                    .is_ok_and(|text| text.contains(&format!("{name}: assert")))
            } else {
                tests.contains(test)
            };
            assert!(exists, "{test} does not exist; it is named for: {}", promise.text);
        }
    }
}

#[test]
fn every_assertion_of_the_rtl_is_in_the_plan_or_explains_itself() {
    let checks = fs::read_to_string("rtl/rnic_checks.sv").expect("the assertions are there");
    for line in checks.lines().filter(|line| line.contains("_A: assert")) {
        let name = line.trim().split(':').next().expect("a label");
        let at = checks.find(&format!("{name}: assert")).expect("it was just seen");
        let rest = &checks[at..];
        let end = rest.find(';').expect("statements end");
        assert!(rest[..end].contains("$error(\""), "{name} fails without a sentence");
    }
}

/// Adds the names of `RNIC_` variables that the sources below a folder read from the environment.
fn variables_read(folder: &std::path::Path, found: &mut HashSet<String>) {
    for path in fs::read_dir(folder).expect("a folder of sources").flatten().map(|e| e.path()) {
        if path.is_dir() {
            variables_read(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            let text = fs::read_to_string(&path).expect("sources are text");
            for call in ["var(\"RNIC_", "var_os(\"RNIC_"] {
                for rest in text.split(call).skip(1) {
                    let name = rest.split('"').next().expect("split yields one");
                    if name.chars().all(|c| c.is_ascii_uppercase() || c == '_') {
                        found.insert(format!("RNIC_{name}"));
                    }
                }
            }
        }
    }
}

#[test]
fn every_environment_variable_is_documented() {
    let mut read = HashSet::new();
    for folder in ["src", "sim", "testbench"] {
        variables_read(std::path::Path::new(folder), &mut read);
    }
    assert!(read.len() >= 8, "the search finds them: {read:?}");
    let page = fs::read_to_string("docs/building.md").expect("the page is there");
    for name in read {
        assert!(page.contains(&format!("`{name}")), "docs/building.md does not know {name}");
    }
}

#[test]
fn the_readme_names_files_and_commands_that_exist() {
    let readme = fs::read_to_string("README.md").expect("the README is there");
    for link in readme.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
        assert!(std::path::Path::new(link).exists(), "README links to {link}");
    }
    let makefile = fs::read_to_string("Makefile").expect("the Makefile is there");
    for target in ["run:", "test:"] {
        assert!(makefile.lines().any(|line| line.starts_with(target)), "make {target}");
    }
}

#[cfg(feature = "rtl")]
/// Lines of a document's code blocks.
fn code(document: &str) -> Vec<&str> {
    let blocks = document.split("```").skip(1).step_by(2);
    // The first line names the language.
    blocks.flat_map(|b| b.lines().skip(1)).collect()
}

/// `rnic-cosim …` lines end well, outputs below `$ rnic-cosim …` are what is printed.
#[cfg(feature = "rtl")]
#[test]
fn the_commands_of_the_readme_do_what_it_says() {
    let readme = fs::read_to_string("README.md").expect("the README is there");
    let sandbox = Sandbox::new();
    let lines = code(&readme);
    let (mut run, mut compared) = (0, 0);
    for (at, line) in lines.iter().enumerate() {
        if let Some(command) = line.strip_prefix("$ ").filter(|c| c.starts_with("rnic-cosim ")) {
            let shown: Vec<&str> = lines[at + 1..]
                .iter()
                .take_while(|l| !l.starts_with("$ ") && !l.starts_with("rnic-cosim "))
                .copied()
                .collect();
            let output = sandbox.type_in(command);
            let printed = String::from_utf8_lossy(&output.stdout).into_owned();
            let printed: Vec<&str> = printed.lines().map(str::trim_end).collect();
            assert_eq!(printed, shown, "the README shows another output of: {command}");
            compared += 1;
        } else if line.starts_with("rnic-cosim ") {
            let command = line.split(" #").next().expect("split yields one").trim();
            let output = sandbox.type_in(command);
            let err = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.code() < Some(2), "{command}: {err}");
            run += 1;
        }
    }
    assert!(run >= 8 && compared >= 2, "{run} commands, {compared} outputs");
}

#[test]
fn the_command_line_page_names_every_subcommand() {
    let page = fs::read_to_string("docs/cli.md").expect("the page is there");
    let help =
        String::from_utf8_lossy(&Sandbox::new().type_in("rnic-cosim --help").stdout).into_owned();
    let list = help.split("Commands:\n").nth(1).expect("a list of commands");
    let names =
        list.lines().take_while(|l| !l.is_empty()).filter_map(|l| l.split_whitespace().next());
    for name in names.filter(|n| *n != "help") {
        assert!(page.contains(&format!("| `{name}` |")), "docs/cli.md has no line for {name}");
    }
}

#[cfg(feature = "rtl")]
#[test]
fn the_picture_of_the_readme_is_what_its_scenario_draws() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let drawn = folder.path().join("drawn.svg");
    assert_cmd::Command::cargo_bin("rnic-cosim")
        .expect("the binary is built")
        .args(["run", "scenarios/cq_overflow_keep_unread_sticky.toml", "--svg"])
        .arg(&drawn)
        .assert()
        .success();
    let drawn = fs::read_to_string(drawn).expect("it was drawn");
    let kept = fs::read_to_string("docs/cq_overflow.svg").expect("the picture is kept");
    assert!(drawn == kept, "draw it anew: rnic-cosim run ... --svg docs/cq_overflow.svg");
}
