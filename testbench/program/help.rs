//! The command line as a whole: every example of the help works, nothing colours a pipe, what is
//! made for shells and `man` is whole.

use super::sandbox::Sandbox;

/// Every subcommand, as its own help says them.
fn subcommands(sandbox: &Sandbox) -> Vec<String> {
    let help = text(sandbox, "rnic-cosim --help");
    let list = help.split("Commands:\n").nth(1).expect("a list of commands");
    let names = list.lines().take_while(|l| !l.is_empty());
    let names = names.map(|l| l.split_whitespace().next().expect("a name").to_owned());
    names.filter(|n| n != "help").chain(["regress merge".to_owned()]).collect()
}

fn text(sandbox: &Sandbox, line: &str) -> String {
    let output = sandbox.type_in(line);
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

#[test]
fn every_example_of_the_help_works() {
    let sandbox = Sandbox::new();
    let needs_rtl = ["regress", "regress merge", "replay", "bench", "waves"];
    let mut examples = 0;
    for name in subcommands(&sandbox) {
        let help = text(&sandbox, &format!("rnic-cosim {name} --help"));
        let shown: Vec<&str> = help
            .lines()
            .filter(|l| l.starts_with("  ") && !l.starts_with("   "))
            .map(str::trim)
            .filter(|l| l.contains("rnic-cosim ") && !l.starts_with("Usage"))
            .collect();
        assert!(!shown.is_empty(), "{name} --help shows no example");
        if cfg!(not(feature = "rtl")) && needs_rtl.contains(&&*name) {
            continue;
        }
        for line in shown {
            // What stands behind several blanks explains the example.
            let command = line.split("   ").next().expect("split yields one").trim();
            if cfg!(not(feature = "rtl")) && command.contains("--waves") {
                continue;
            }
            let output = sandbox.type_in(command);
            let code = output.status.code().expect("no signal");
            let err = String::from_utf8_lossy(&output.stderr);
            assert!(code < 2 && !err.contains("error:"), "{command}: exit code {code}\n{err}");
            assert!(!output.stdout.contains(&0x1b), "{command} colours a pipe");
            examples += 1;
        }
    }
    assert!(examples >= 25 || cfg!(not(feature = "rtl")), "only {examples} examples");
}

#[test]
fn every_help_names_its_exit_codes_and_json_where_there_are_results() {
    let sandbox = Sandbox::new();
    for name in subcommands(&sandbox) {
        let help = text(&sandbox, &format!("rnic-cosim {name} --help"));
        if ["completions", "man"].contains(&&*name) {
            continue;
        }
        assert!(help.contains("Exit codes: 0"), "{name} does not say what its exit codes mean");
        assert!(help.contains("--json"), "{name} has no --json");
    }
}

/// On a terminal the answers have colour, unless NO_COLOR forbids it.
#[test]
fn colour_only_on_a_terminal() {
    let sandbox = Sandbox::new();
    if sandbox.type_in("script -qec true /dev/null").status.code() != Some(0) {
        eprintln!("skipped: no script(1), or no terminal to be had");
        return;
    }
    let question = "rnic-cosim explain --transport RC --from RTS --to RTS --attrs av";
    let on_terminal = |set: &str| {
        let output = sandbox.type_in(&format!("{set} script -qec '{question}' /dev/null"));
        output.stdout.contains(&0x1b)
    };
    assert!(on_terminal(""), "no colour on a terminal");
    assert!(!on_terminal("NO_COLOR=1"), "NO_COLOR is not respected");
    assert!(!sandbox.type_in(question).stdout.contains(&0x1b), "colour in a pipe");
    assert!(!sandbox.type_in("rnic-cosim nonsense").stderr.contains(&0x1b), "colour in a pipe");
}

#[test]
fn completions_know_the_subcommands() {
    let sandbox = Sandbox::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = text(&sandbox, &format!("rnic-cosim completions {shell}"));
        for word in ["provision", "waves-dir", "link-layer"] {
            assert!(script.contains(word), "{shell} does not complete {word}");
        }
    }
    let script = "rnic-cosim completions bash > c; bash -n c";
    assert!(sandbox.type_in(script).status.success(), "bash does not understand its script");
    assert_eq!(sandbox.type_in("rnic-cosim completions bsh").status.code(), Some(2));
}

#[test]
fn there_is_a_manual_page_for_each_subcommand() {
    let sandbox = Sandbox::new();
    text(&sandbox, "rnic-cosim man --dir man1");
    for name in subcommands(&sandbox) {
        let page = format!("man1/rnic-cosim-{}.1", name.replace(' ', "-"));
        let page = std::fs::read_to_string(sandbox.path().join(&page)).expect("a page");
        assert!(page.starts_with(".ie") && page.contains(".SH SYNOPSIS"), "{page}");
        assert!(page.contains("Examples"), "{name} has no examples in its page");
    }
    assert!(text(&sandbox, "rnic-cosim man").contains(".SH NAME"));
}

#[test]
fn names_that_do_not_exist_end_with_2() {
    let sandbox = Sandbox::new();
    for (line, says) in [
        ("rnic-cosim explian", "'explain'"),
        ("rnic-cosim tables policy", "'policies'"),
        ("rnic-cosim tables states --profile linnux", "did you mean `linux`?"),
        ("rnic-cosim run scenarios --profle book", "'--profile'"),
        ("rnic-cosim run scenarios --engine model --policy sdq=x", "did you mean `sqd`?"),
        ("rnic-cosim explain --transport RC --from RTS --mask 1 --policy sdq=x", "`sqd`?"),
    ] {
        let output = sandbox.type_in(line);
        let err = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{line}: {err}");
        assert!(err.contains(says), "{line}: {err}");
    }
}

#[test]
fn a_dash_is_standard_input() {
    let sandbox = Sandbox::new();
    let recording = "testbench/regressions/inline-payload-has-no-lkey.json";
    let mut lines = vec![
        "rnic-cosim run - --engine model < scenarios/qp_state_machine.toml".to_owned(),
        "rnic-cosim decode - < dump.txt".to_owned(),
        "rnic-cosim explain - < calls.toml".to_owned(),
        "rnic-cosim provision - < plan.toml".to_owned(),
    ];
    if cfg!(feature = "rtl") {
        lines.push(format!("rnic-cosim replay - < {recording}"));
    }
    for line in lines {
        let output = sandbox.type_in(&line);
        let err = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{line}: {err}");
    }
}
