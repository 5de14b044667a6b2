//! The page of a run, in a browser without a screen: what is drawn, what the keys do, that
//! nothing goes wrong. Skipped where no Chromium is installed (RNIC_CHROMIUM names one).

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use serde_json::Value;

/// Walks through the page and notes what it sees.
const PROBE: &str = include_str!("report_page.js");

fn chromium() -> Option<PathBuf> {
    let named = std::env::var_os("RNIC_CHROMIUM").map(PathBuf::from);
    let names = ["chromium", "chromium-browser", "google-chrome", "chrome"];
    let folders: Vec<PathBuf> =
        std::env::var_os("PATH").map(|p| std::env::split_paths(&p).collect()).unwrap_or_default();
    let found = folders.iter().flat_map(|f| names.map(|n| f.join(n))).find(|p| p.is_file());
    let browser = named.or(found);
    if browser.is_none() {
        eprintln!("skipped: no chromium");
    }
    browser
}

fn page(scenario: &Path, out: &Path) -> String {
    let run = assert_cmd::Command::cargo_bin("rnic-cosim")
        .expect("the binary is built")
        .args(["run", "--engine", "model"])
        .arg(scenario)
        .arg("--report")
        .arg(out)
        .output()
        .expect("it runs");
    assert!(run.status.code() < Some(2), "{}", String::from_utf8_lossy(&run.stderr));
    fs::read_to_string(out).expect("the page was written")
}

fn browse(browser: &Path, folder: &Path, options: &[&str], url: &str) -> Output {
    let home = format!("--user-data-dir={}", folder.join("profile").display());
    let fixed = ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", &home];
    assert_cmd::Command::new(browser)
        .args(fixed)
        .args(options)
        .arg(url)
        .timeout(std::time::Duration::from_secs(120))
        .output()
        .expect("the browser starts")
}

/// Opens the page at that width and returns what the probe saw.
fn look(browser: &Path, page: &str, width: u32, dark: bool) -> Value {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("page.html");
    let watch = "<head><script>window.seenErrors = []; \
        window.onerror = (m, f, l) => { seenErrors.push(m + ' in line ' + l); };</script>";
    let probed = page.replacen("<head>", watch, 1) + "<script>" + PROBE + "</script>";
    fs::write(&file, probed).expect("written");
    // A window is never narrower than 500 pixels; a frame is as narrow as one likes.
    let frame = folder.path().join("frame.html");
    let around = format!(
        "<!DOCTYPE html><pre id=\"seen\"></pre><script>window.onmessage = \
         m => {{ document.getElementById('seen').textContent = m.data; }};</script>\
         <iframe src=\"page.html\" width=\"{width}\" height=\"1200\" style=\"border: 0\"></iframe>"
    );
    fs::write(&frame, around).expect("written");
    let size = format!("--window-size={},1300", width + 100);
    let mut options =
        vec!["--dump-dom", "--enable-logging=stderr", "--virtual-time-budget=5000", &size];
    if dark {
        options.push("--blink-settings=preferredColorScheme=0");
    }
    let url = format!("file://{}", frame.display());
    let output = browse(browser, folder.path(), &options, &url);
    let log = String::from_utf8_lossy(&output.stderr).into_owned();
    let said: Vec<&str> = log.lines().filter(|l| l.contains("CONSOLE")).collect();
    assert!(said.is_empty(), "the console has:\n{}", said.join("\n"));
    let dom = String::from_utf8_lossy(&output.stdout).into_owned();
    let seen = dom.split("<pre id=\"seen\">").nth(1).and_then(|rest| rest.split('<').next());
    let seen = seen.filter(|s| !s.is_empty());
    let seen = base64(seen.unwrap_or_else(|| panic!("the probe did not end; log:\n{log}")));
    serde_json::from_slice(&seen).expect("the probe writes JSON")
}

fn base64(text: &str) -> Vec<u8> {
    let digit = |c: u8| match c {
        b'A'..=b'Z' => c - b'A',
        b'a'..=b'z' => c - b'a' + 26,
        b'0'..=b'9' => c - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let bits: Vec<u8> = text.bytes().filter(|c| *c != b'=').map(digit).collect();
    let group = |g: &[u8]| {
        let n = g.iter().fold(0u32, |n, d| n << 6 | u32::from(*d)) << (6 * (4 - g.len()));
        n.to_be_bytes()[1..g.len()].to_vec()
    };
    bits.chunks(4).flat_map(group).collect()
}

/// What holds for every page, however wide and however dark.
fn judge(seen: &Value, width: u32, dark: bool) {
    assert_eq!(seen["errors"], serde_json::json!([]), "the page's script failed");
    assert_eq!(seen["network"], 0, "the page asked for something else");
    assert_eq!(seen["window"], width);
    assert_eq!(seen["dark"], dark);
    assert!(seen["sideways"].as_i64() <= Some(0), "wider than its window by {}", seen["sideways"]);
    assert_eq!(seen["unnamed"], 0, "marks or buttons without a name");
    assert_eq!(seen["stops"], 1, "one mark is reached by Tab");
    for (what, contrast) in seen["contrast"].as_object().expect("a table") {
        assert!(contrast.as_f64() >= Some(4.5), "{what} is hard to read: {contrast} to 1");
    }
    assert_eq!(seen["second"]["here"], 1);
    assert_eq!(seen["second"]["current"], "1", "Setup is the first, step 1 the second");
    assert!(seen["second"]["caption"].as_str().is_some_and(|c| c.len() > 20));
    assert!(seen["second"]["veil"].as_f64() > Some(100.0), "later steps are veiled");
    assert_eq!(seen["back"], "Setup");
    assert!(seen["focused"].is_string() && seen["arrow"].is_string(), "j focuses a mark");
    assert_ne!(seen["focused"], seen["arrow"], "an arrow leads to the next mark");
    assert!(seen["detail"].as_str().is_some_and(|d| d.contains("answer: ")), "{}", seen["detail"]);
    assert_ne!(seen["pointed"], seen["left"], "pointing shows, leaving shows the pinned one again");
    // Browsers round what they lay out, each in its own way.
    assert!((seen["zoom"].as_f64().unwrap_or(0.0) - 1.25).abs() < 1e-3, "{}", seen["zoom"]);
    assert!(seen["fit"].as_f64() <= Some(0.0) || width < 720, "Fit fits: {}", seen["fit"]);
    assert_eq!(seen["all"]["here"], 0);
    assert_eq!(seen["all"]["detail"], "Details");
}

#[test]
fn the_page_can_be_read_and_worked_with() {
    let Some(browser) = chromium() else { return };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let out = folder.path().join("r.html");
    let page = page(Path::new("scenarios/cq_overflow_keep_unread_sticky.toml"), &out);
    for (width, dark) in [(1400, false), (390, true)] {
        let seen = look(&browser, &page, width, dark);
        judge(&seen, width, dark);
        let lanes = ["A", "B", "C", "D", "CQ1", "CQ2", "Events"];
        assert_eq!(seen["lanes"], serde_json::json!(lanes));
        let states = ["RTS", "ERR", "RTS", "ERR", "RTS", "ERR", "RTS"];
        assert_eq!(seen["states"], serde_json::json!(states));
        assert!(seen["marks"].as_u64() >= Some(15), "{}", seen["marks"]);
        assert!(seen["drawn"]["shapes"].as_u64() >= Some(40), "{}", seen["drawn"]);
        // In a narrow window the whole is shown, small; Zoom makes it larger.
        let (wide, high) = if width > 720 { (800.0, 400.0) } else { (250.0, 100.0) };
        assert!(seen["drawn"]["width"].as_f64() > Some(wide), "{}", seen["drawn"]);
        assert!(seen["drawn"]["height"].as_f64() > Some(high), "{}", seen["drawn"]);
        assert_eq!(seen["failed"], serde_json::json!([]));
    }
    // A picture of the page holds more than a picture of nothing.
    let shot = |url: &str, name: &str| {
        let file = folder.path().join(name);
        let option = format!("--screenshot={}", file.display());
        browse(&browser, folder.path(), &[&option, "--window-size=1400,1200"], url);
        fs::metadata(&file).expect("the screenshot was written").len()
    };
    let blank = shot("about:blank", "blank.png");
    let full = shot(&format!("file://{}", out.display()), "page.png");
    assert!(full > 5 * blank, "{full} bytes, an empty page {blank}");
}

#[test]
fn a_failed_expectation_is_shown_with_what_was_seen() {
    let Some(browser) = chromium() else { return };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("f.toml");
    let text = fs::read_to_string("scenarios/qp_state_machine.toml").expect("there");
    let wrong = text.replace("missing = [\"RETRY_CNT\"]", "missing = [\"AV\"]");
    assert_ne!(wrong, text);
    fs::write(&file, wrong).expect("written");
    let page = page(&file, &folder.path().join("r.html"));
    let seen = look(&browser, &page, 1400, true);
    judge(&seen, 1400, true);
    let failed = seen["failed"].as_array().expect("a list");
    assert_eq!(failed.len(), 1, "{failed:?}");
    assert!(failed[0].as_str().is_some_and(|f| f.contains("expected AV, got RETRY_CNT")));
}
