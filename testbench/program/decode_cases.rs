//! Every public dump and message of `data/decode_cases.toml`, through the library and through
//! the binary.

use std::io::Write;
use std::process::{Command, Stdio};

use rnic_cosim::decode::{
    self, Compared, ControlDecoder, ControlInput, ModelDecoder, Options, Style, Verdict,
};
use rnic_cosim::model::WqeFormat;
use serde_json::Value;

const CASES: &str = include_str!("../data/decode_cases.toml");

#[derive(serde::Deserialize)]
struct File {
    case: Vec<Case>,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    id: String,
    title: String,
    source: Vec<String>,
    input: Option<String>,
    #[serde(default)]
    args: Vec<String>,
    expect: Expect,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Expect {
    exit: i32,
    #[serde(default)]
    records: Vec<Value>,
    #[serde(default)]
    absent: Vec<String>,
    root_cause: Option<Value>,
    flushes: Option<u64>,
    #[serde(default)]
    checks: Vec<String>,
    #[serde(default)]
    failed: Vec<String>,
    warnings: Option<Vec<String>>,
    #[serde(default)]
    say: Vec<String>,
    #[serde(default)]
    must_not: Vec<String>,
    #[serde(default)]
    message: Vec<String>,
}

struct Output {
    exit: i32,
    stdout: String,
    stderr: String,
}

fn binary(case: &Case, more: &[&str]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_rnic-cosim"))
        .arg("decode")
        .args(&case.args)
        .args(more)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    let mut stdin = child.stdin.take().expect("piped");
    // A look-up reads no input and may be gone already.
    let _ = stdin.write_all(case.input.as_deref().unwrap_or_default().as_bytes());
    drop(stdin);
    let out = child.wait_with_output().expect("the binary ends");
    Output {
        exit: out.status.code().unwrap_or(-1),
        stdout: String::from_utf8(out.stdout).expect("UTF-8"),
        stderr: String::from_utf8(out.stderr).expect("UTF-8"),
    }
}

/// Equal; of a table, every key that is wanted.
fn within(want: &Value, got: &Value) -> bool {
    match want.as_object() {
        Some(w) => w.iter().all(|(k, v)| within(v, &got[k])),
        None => want == got,
    }
}

/// Who decodes control segments in the binary, and as it says so to people. Where the hardware
/// is in it, both decode, and a difference would be a failed check.
const ENGINE: (&str, &str) =
    if cfg!(feature = "rtl") { ("rtl+model", "(rtl+model, ") } else { ("model", "(model only, ") };

/// Everything that the JSON form must hold; `engine` is who decoded control segments.
fn judge(case: &Case, json: &Value, engine: &str) {
    let id = &case.id;
    let e = &case.expect;
    let records = json["records"].as_array().expect("records");
    assert_eq!(records.len(), e.records.len(), "{id}: number of records in {json:#}");
    for (i, (got, want)) in records.iter().zip(&e.records).enumerate() {
        if let Some(v) = got.get("verdict") {
            assert_eq!(v["engine"], engine, "{id}: record {i}");
        }
        for (key, value) in want.as_object().expect("a table") {
            assert!(within(value, &got[key]), "{id}: record {i}, {key}: {value} in {got:#}");
        }
        for key in &e.absent {
            assert!(got.get(key).is_none(), "{id}: record {i} must have no {key}: {got:#}");
        }
    }
    match &e.root_cause {
        Some(Value::Number(n)) => {
            assert_eq!(json["root_cause"]["index"], Value::Number(n.clone()), "{id}: root cause");
        }
        Some(text) => {
            assert_eq!(json["root_cause"]["index"], Value::Null, "{id}: root cause");
            assert_eq!(&json["root_cause"]["text"], text, "{id}: root cause");
        }
        None => assert_eq!(json["root_cause"], Value::Null, "{id}: no root cause"),
    }
    if let Some(n) = e.flushes {
        assert_eq!(json["flushes"], n, "{id}: flushes");
    }
    let checks = json["checks"].as_array().expect("checks");
    let holds = |text: &str, ok: bool| checks.iter().any(|c| c["text"] == *text && c["ok"] == ok);
    for text in &e.checks {
        assert!(holds(text, true), "{id}: check '{text}' in {checks:#?}");
    }
    for text in &e.failed {
        assert!(holds(text, false), "{id}: failed check '{text}' in {checks:#?}");
    }
    if e.exit == 0 {
        assert!(checks.iter().all(|c| c["ok"] == true), "{id}: {checks:#?}");
    }
    if let Some(w) = &e.warnings {
        assert_eq!(json["warnings"], serde_json::json!(w), "{id}: warnings");
    }
    for word in &e.must_not {
        assert!(!json.to_string().contains(word), "{id}: JSON must not hold '{word}'");
    }
}

fn judge_text(case: &Case, text: &str) {
    for s in &case.expect.say {
        assert!(text.contains(s), "{}: '{s}' in\n{text}", case.id);
    }
    for s in &case.expect.must_not {
        assert!(!text.contains(s), "{}: must not say '{s}':\n{text}", case.id);
    }
}

fn cases() -> Vec<Case> {
    let file: File = toml::from_str(CASES).expect("decode_cases.toml");
    assert!(file.case.iter().all(|c| !c.title.is_empty() && !c.source.is_empty()));
    file.case
}

#[test]
fn library() {
    let mut n = 0;
    for case in cases() {
        let Some(input) = case.input.as_ref().filter(|_| case.args.is_empty()) else {
            continue;
        };
        n += 1;
        match decode::decode(input, &Options::default()) {
            Ok(report) => {
                assert_ne!(case.expect.exit, 2, "{}: must be refused: {report:#?}", case.id);
                assert_eq!(report.consistent(), case.expect.exit == 0, "{}", case.id);
                judge(&case, &serde_json::to_value(&report).expect("serialises"), "model");
                judge_text(&case, &decode::render(&report, Style::default()));
            }
            Err(e) => {
                assert_eq!(case.expect.exit, 2, "{}: {e}", case.id);
                for m in &case.expect.message {
                    assert!(e.to_string().contains(m), "{}: '{m}' in '{e}'", case.id);
                }
            }
        }
    }
    assert!(n >= 20, "{n} cases");
}

#[test]
fn binary_json_and_text() {
    for case in cases() {
        let json = binary(&case, &["--json"]);
        let text = binary(&case, &[]);
        for o in [&json, &text] {
            assert_eq!(o.exit, case.expect.exit, "{}: {}{}", case.id, o.stdout, o.stderr);
        }
        if case.expect.exit == 2 {
            assert!(json.stdout.is_empty(), "{}: a refusal prints no records", case.id);
            assert_eq!(json.stderr.lines().count(), 1, "{}: one message", case.id);
            for m in &case.expect.message {
                assert!(json.stderr.contains(m), "{}: '{m}' in '{}'", case.id, json.stderr);
            }
            continue;
        }
        let value: Value = serde_json::from_str(&json.stdout).expect("JSON");
        judge(&case, &value, ENGINE.0);
        judge_text(&case, &text.stdout);
        let verdict = value["records"].to_string().contains("\"verdict\"");
        assert_eq!(text.stdout.contains(ENGINE.1), verdict, "{}", case.id);
        assert!(!text.stdout.contains('\x1b'), "{}: colour into a pipe", case.id);
    }
}

/// The command that a failed modify names can be run as it stands.
#[test]
fn the_named_explain_runs() {
    let mut n = 0;
    for case in cases().iter().filter(|c| c.expect.exit == 0) {
        let json: Value = serde_json::from_str(&binary(case, &["--json"]).stdout).expect("JSON");
        for record in json["records"].as_array().expect("records") {
            let Some(command) = record["explain"].as_str() else { continue };
            let mut words = command.split(' ');
            assert_eq!(words.next(), Some("rnic-cosim"), "{}", case.id);
            let out = Command::new(env!("CARGO_BIN_EXE_rnic-cosim"))
                .args(words)
                .output()
                .expect("the binary starts");
            assert!(out.status.success(), "{}: {command}: {out:?}", case.id);
            n += 1;
        }
    }
    assert!(n >= 4, "{n} commands");
}

/// A decoder that does not agree with the model is a failed check that names the field.
#[test]
fn a_decoder_that_differs_is_a_failed_check() {
    struct Other;
    impl ControlDecoder for Other {
        fn decode(&self, input: &ControlInput) -> Result<Verdict, String> {
            let verdict = ModelDecoder::default().decode(input)?;
            Ok(Verdict { engine: "rtl", wqe_blocks: verdict.wqe_blocks + 1, ..verdict })
        }
    }
    let engine = Compared(ModelDecoder::default(), Other);
    let case = cases().into_iter().find(|c| c.id == "mlx5-inline").expect("it is there");
    let input = case.input.expect("it has one");
    let report = decode::decode_with(&input, &Options::default(), &engine).expect("decoded");
    assert!(!report.consistent());
    let [check] = &report.checks[..] else { panic!("{:?}", report.checks) };
    assert_eq!(check.detail, "line 1: wqe_blocks: model 1, rtl 2");
    let json = serde_json::to_value(&report).expect("serialises");
    assert_eq!(json["records"][0]["verdict"]["differences"][0]["field"], "wqe_blocks");
}

/// The RTL as it is built into the binary: every field of every verdict is the model's.
#[cfg(feature = "rtl")]
#[test]
fn rtl_and_model_decode_the_same() {
    use rnic_cosim::cosim::RtlDecoder;
    use rnic_cosim::model::{OpClass, Transport, WqeErrors};
    let model = ModelDecoder::default();
    let rtl = RtlDecoder::new(model.policy).expect("it is built with the tests");
    let engine = Compared(model, rtl);
    let mut rng = fastrand::Rng::with_seed(5);
    let (mut well_formed, mut malformed) = (0, 0);
    for _ in 0..50_000 {
        let mut ctrl = [rng.u32(..), rng.u32(..), rng.u32(..), rng.u32(..)];
        if rng.u8(..8) > 0 {
            let class = OpClass::ALL[rng.usize(..8)];
            ctrl[0] = ctrl[0] & !0xff | u32::from(class.mlx5());
            ctrl[1] &= !0xc0;
            ctrl[2] &= !0xf1;
        }
        let input = ControlInput {
            ctrl,
            format: if rng.bool() { WqeFormat::Book } else { WqeFormat::Mlx5 },
            transport: Transport::ALL[rng.usize(..3)],
            path_mtu: rng.u8(1..=5),
            payload_len: rng.bool().then(|| rng.u32(..) >> rng.u8(..32)),
            inline: rng.bool(),
            walk_errors: [WqeErrors::EMPTY, WqeErrors::WALK_FORMAT, WqeErrors::WALK_LENGTH]
                [rng.usize(..3)],
        };
        let verdict = engine.decode(&input).expect("it answers");
        assert_eq!(verdict.differences, [], "{input:?}");
        assert_eq!(verdict.engine, "rtl+model");
        *(if verdict.errors.is_empty() { &mut well_formed } else { &mut malformed }) += 1;
    }
    assert!(well_formed > 5_000 && malformed > 5_000, "{well_formed}, {malformed}");
}

/// One that fails leaves the WQE without verdict, and says why.
#[test]
fn a_decoder_that_fails_is_a_failed_check() {
    struct Broken;
    impl ControlDecoder for Broken {
        fn decode(&self, _: &ControlInput) -> Result<Verdict, String> {
            Err("out of order".into())
        }
    }
    let input = "00000a0a 00012001 00000018 00000000";
    let options = Options { format: Some(WqeFormat::Book), ..Options::default() };
    let report = decode::decode_with(input, &options, &Broken).expect("decoded");
    let [check] = &report.checks[..] else { panic!("{:?}", report.checks) };
    assert_eq!((check.ok, &*check.detail), (false, "line 1: out of order"));
}

#[test]
fn a_long_run_of_flushes_is_one_line() {
    let mut case = cases().remove(0);
    case.input = Some(
        "syndrome 0x4, vendor syndrome 0x52\n".to_owned()
            + &"syndrome 0x5, vendor syndrome 0xf9\n".repeat(200),
    );
    let full = binary(&case, &[]);
    assert!(full.stdout.lines().count() < 40, "{}", full.stdout);
    assert!(full.stdout.contains("199 more flush entries like it"), "{}", full.stdout);
    let short = binary(&case, &["--summary"]);
    assert!(short.stdout.lines().count() < 10, "{}", short.stdout);
    assert!(short.stdout.contains("root cause: [0] LOCAL_PROT_ERR"), "{}", short.stdout);
    assert!(short.stdout.contains("flushes: 200 entries"), "{}", short.stdout);
}

/// The names and numbers of the code against the headers they come from.
#[test]
fn names_are_those_of_the_headers() {
    let mut seen = 0;
    for row in include_str!("../data/decode_names.csv").lines().skip(1) {
        let f: Vec<&str> = row.split(',').collect();
        let n: u8 = f[2].parse().expect("a number");
        let named = |table: &[decode::Meaning]| table.iter().find(|m| m.value == n).map(|m| m.name);
        let (got, prefix) = match f[0] {
            "mlx5_cqe_syndrome" => (named(decode::CQE_SYNDROMES), "MLX5_CQE_SYNDROME_"),
            "ibv_wc_status" => (named(decode::WC_STATUSES), "IBV_WC_"),
            "mlx5_cq_error_syndrome" => (named(decode::CQ_EVENTS), "MLX5_CQ_ERROR_SYNDROME_"),
            "ibv_event_type" => (named(decode::ASYNC_EVENTS), "IBV_EVENT_"),
            "event_text" => {
                assert_eq!(decode::event_of_words(f[1]), Some(n), "{row}");
                seen += 1;
                continue;
            }
            "mlx5_wqe_opcode" => (decode::wqe_opcode(n), "MLX5_OPCODE_"),
            "mlx5_cqe_opcode" => (decode::cqe_opcode(n), "MLX5_CQE_"),
            "syndrome_to_wc" => {
                let syndrome: u8 = f[1].parse().expect("a number");
                assert_eq!(decode::wc_status_of_syndrome(syndrome), n, "{row}");
                seen += 1;
                continue;
            }
            other => panic!("group {other}"),
        };
        assert_eq!(got, f[1].strip_prefix(prefix), "{row}");
        seen += 1;
    }
    assert_eq!(seen, 13 + 24 + 2 + 20 + 11 + 13 + 20 + 20 + 19, "every row of every group");
    assert_eq!(decode::wc_status_of_syndrome(0x99), 21, "unknown ones are GENERAL_ERR");
    assert_eq!(decode::CQE_SYNDROMES.len(), 13);
    assert_eq!(decode::WC_STATUSES.len(), 24);
    assert_eq!(decode::ASYNC_EVENTS.len(), 20);
}
