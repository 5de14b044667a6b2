//! Files that cannot be used: each gives one message with line, column, field and a hint.

use rnic_cosim::scenario::parse;

use crate::exhaustive::exhaustive;

/// A good file; `CHANGE` stands where the bad parts go.
const GOOD: &str = r#"title = "T"

[[cq]]
name = "CQ1"
depth = 8

[[qp]]
name = "A"
transport = "RC"
state = "RTS"

[[step]]
post_send = { qp = "A" }
"#;

/// Replaces one part of the good file; the message must be at the line and column of `at` and
/// hold all of `says`.
fn refuses(part: &str, by: &str, at: &str, says: &[&str]) {
    assert!(GOOD.contains(part), "{part} is not in the good file");
    let text = GOOD.replacen(part, by, 1);
    let e = match parse("bad.toml", &text) {
        Ok(_) => panic!("accepted:\n{text}"),
        Err(e) => e,
    };
    let shown = e.to_string();
    let offset = text.find(at).unwrap_or_else(|| panic!("{at} is not in the bad file"));
    let line = text[..offset].matches('\n').count() + 1;
    let column = offset - text[..offset].rfind('\n').map_or(0, |n| n + 1) + 1;
    assert_eq!((e.line, e.column), (line, column), "wrong place:\n{shown}");
    assert!(shown.contains(&format!("bad.toml:{line}:{column}")), "no place in:\n{shown}");
    for part in says {
        assert!(shown.contains(part), "`{part}` is not in:\n{shown}");
    }
}

#[test]
fn the_good_file_is_good() {
    parse("good.toml", GOOD).expect("good");
}

#[test]
fn misspelt_fields() {
    refuses(
        "depth",
        "dephth",
        "dephth",
        &["[[cq]] has no field `dephth`", "did you mean `depth`?"],
    );
    refuses("title", "tilte", "tilte", &["did you mean `title`?"]);
    refuses("post_send", "pots_send", "pots_send", &["did you mean `post_send`?"]);
    refuses(
        r#"{ qp = "A" }"#,
        r#"{ qp = "A", singaled = false }"#,
        "singaled",
        &["did you mean `signaled`?"],
    );
}

#[test]
fn misspelt_names() {
    refuses(r#"qp = "A""#, r#"qp = "B""#, "\"B\" }", &["no QP named `B`", "expected one of: A"]);
    refuses(r#""RTS""#, r#""RST""#, "\"RST\"", &["`RST` is no QP state", "did you mean `RTS`?"]);
    refuses(
        r#""RC""#,
        r#""RX""#,
        "\"RX\"",
        &["`RX` is no transport", "expected one of: RC, UC, UD"],
    );
    let step = r#"modify = { qp = "A", to = "RTS", attrs = ["TIMOUT"] }"#;
    refuses(r#"post_send = { qp = "A" }"#, step, "\"TIMOUT\"", &["did you mean `TIMEOUT`?"]);
    let step = r#"complete = { qp = "A", status = "WR_FLUSH_EER" }"#;
    refuses(
        r#"post_send = { qp = "A" }"#,
        step,
        "\"WR_FLUSH_EER\"",
        &["did you mean `WR_FLUSH_ERR`?"],
    );
}

#[test]
fn policies_and_configurations() {
    let top = |text: &str| format!("title = \"T\"\n{text}\n");
    let t = "title = \"T\"\n";
    refuses(t, &top("config = \"depp\""), "\"depp\"", &["did you mean `deep`?"]);
    refuses(t, &top("profile = \"linus\""), "\"linus\"", &["did you mean `linux`?"]);
    refuses(t, &top("policy = { sqd = \"hold\" }"), "\"hold\"", &["drain_posted, hold_unstarted"]);
    refuses(t, &top("policy = { cq_ful = \"x\" }"), "cq_ful", &["did you mean `cq_full`?"]);
}

#[test]
fn wrong_types_and_ranges() {
    refuses("depth = 8", "depth = \"8\"", "\"8\"", &["`depth` is a string", "a number from 0"]);
    refuses("depth = 8", "depth = -1", "-1", &["`depth` is out of range: -1"]);
    refuses(r#"{ qp = "A" }"#, r#"{ qp = "A", count = 0 }"#, "0 }", &["`count` is out of range"]);
    refuses(r#"name = "CQ1""#, "name = \"CQ1\"\nnumber = 16", "16", &["numbers 0 to 15"]);
    refuses(r#"{ qp = "A" }"#, r#""AA""#, "\"AA\"", &["not a table"]);
}

#[test]
fn things_that_are_missing() {
    refuses("depth = 8\n", "", "[[cq]]", &["[[cq]] needs the field `depth`"]);
    refuses(r#"{ qp = "A" }"#, "{ count = 2 }", "{ count", &["post_send needs the field `qp`"]);
    refuses(r#"post_send = { qp = "A" }"#, "text = \"x\"", "[[step]]", &["does nothing"]);
}

#[test]
fn contradictions() {
    let p = r#"post_send = { qp = "A" }"#;
    refuses(
        p,
        "post_recv = { qp = \"A\" }\npost_send = { qp = \"A\" }",
        "post_send",
        &["a step has one action", "do = ["],
    );
    refuses(p, r#"modify = { qp = "A", to = "RTS", mask = 0x200 }"#, "to =", &["not in `mask`"]);
    refuses(p, r#"modify = { qp = "A", mask = 1 }"#, "mask", &["`to` is not given"]);
    refuses(p, r#"modify = { qp = "A" }"#, "{ qp", &["asks for nothing"]);
    refuses(
        p,
        r#"consume = { cq = "CQ1", count = 1, index = 2 }"#,
        "index",
        &["`count` and `index`"],
    );
    refuses(p, r#"complete = { qp = "A", slot = 2 }"#, "{ qp", &["belong together"]);
    refuses(p, r#"post_send = { qp = "A", raw = [1, 2, 3] }"#, "[1, 2", &["four words, not 3"]);
    refuses(
        "[[qp]]",
        "[[cq]]\nname = \"CQ1\"\ndepth = 2\n\n[[qp]]",
        "\"CQ1\"\ndepth = 2",
        &["already is a CQ"],
    );
    refuses(
        "[[qp]]",
        "[[cq]]\nname = \"X\"\nnumber = 1\ndepth = 2\n\n[[qp]]",
        "1\ndepth",
        &["CQ number 1 is taken"],
    );
}

#[test]
fn expectations() {
    let p = r#"post_send = { qp = "A" }"#;
    let with = |e: &str| format!("{p}\nexpect = {e}");
    refuses(p, &with("{ sate = \"RTS\" }"), "sate", &["did you mean `state`?"]);
    refuses(p, &with("{ outcome = \"stael\" }"), "\"stael\"", &["did you mean `stale`?"]);
    refuses(p, &with("{ state = { B = \"RTS\" } }"), "B =", &["no QP named `B`"]);
    refuses(p, &with("{ counts = { success = \"3..1\" } }"), "\"3..1\"", &["range is empty"]);
    refuses(
        p,
        &with("{ events = [{ kinds = [\"DRAINED\"] }] }"),
        "\"DRAINED\"",
        &["did you mean `SQ_DRAINED`?"],
    );
    refuses(p, &with("{ cqes = [{ indx = 1 }] }"), "indx", &["did you mean `index`?"]);
}

/// `count` makes QPs alike: their number, their names and their places are judged.
#[test]
fn groups() {
    let group = |more: &str, step: &str| {
        let at = "[[step]]";
        GOOD.replace(at, &format!("[[qp]]\nname = \"Q\"\n{more}\n\n[[step]]\n{step}\n\n{at}"))
    };
    let says = |text: &str, marked: &str, message: &str| {
        let e = parse("bad.toml", text).expect_err(message);
        let shown = e.to_string();
        assert!(shown.contains(message), "{shown}");
        let start = text.find(marked).expect("it is there");
        assert_eq!(e.line, text[..start].matches('\n').count() + 1, "{shown}");
    };
    let post = |qp: &str| group("count = 5", &format!("post_recv = {{ qp = \"{qp}\" }}"));
    for good in ["Q", "Q[0]", "Q[4]", "Q[0..4]", "Q[ 1 .. 2 ]"] {
        let text = post(good).replace("name = \"Q\"", "name = \"Q\"\nstate = \"INIT\"");
        parse("good.toml", &text).unwrap_or_else(|e| panic!("{good}: {e}"));
    }
    for bad in ["Q[5]", "Q[3..5]", "Q[2..1]", "Q[x]", "Q[]", "Q[-1]"] {
        says(&post(bad), &format!("qp = \"{bad}\""), "expected a number, or a range like 0..4");
    }
    says(&post("Qq"), "qp = \"Qq\"", "did you mean `Q`?");
    says(&post("Q[1"), "qp = \"Q[1\"", "there is no QP named `Q[1`");
    let one = "query = { qp = \"Q\" }\nexpect = { unread = [{ qp = \"Q\" }] }";
    says(&group("count = 5", one), "expect = ", "expected one of them, for example Q[0]");
    says(&group("count = 0", "post_recv = { qp = \"Q\" }"), "count = 0", "from 1 to 65536");
    says(&group("count = 64", "post_recv = { qp = \"Q\" }"), "count = 64", "out of range");
    let overlap = "number = 0\ncount = 5";
    says(&group(overlap, "post_recv = { qp = \"Q\" }"), overlap, "QP number 1 is taken");
    let twice = "count = 5\n\n[[qp]]\nname = \"Q\" # twice";
    says(&group(twice, "post_recv = { qp = \"Q\" }"), "name = \"Q\" # twice", "already is a QP");
    let brackets = group("count = 5", "wait = 1").replace("\"Q\"", "\"Q[1]\"");
    says(&brackets, "name = \"Q[1]\"", "a name without brackets");
}

#[test]
fn a_value_without_a_name_must_be_clear() {
    let two = GOOD.replace(
        "[[step]]",
        "[[qp]]\nname = \"B\"\nstate = \"RTS\"\n\n[[step]]\nexpect = { state = \"RTS\" }\ndo = [{ post_recv = { qp = \"B\" } }, { post_recv = { qp = \"A\" } }]\n\n[[step]]",
    );
    let e = parse("bad.toml", &two).expect_err("ambiguous").to_string();
    assert!(e.contains("does not say which QP"), "{e}");
}

#[test]
fn no_toml_at_all() {
    refuses("depth = 8", "depth = ", "\n\n[[qp]]", &["this is not TOML"]);
    for text in ["", "\u{feff}", "title = \"x\"", "é = 1", "[[step]]", "step = 3\ntitle = \"x\""] {
        assert!(parse("bad.toml", text).is_err(), "{text:?}");
    }
}

/// A file cut off anywhere, or with one character changed, gives a message or a scenario.
#[test]
fn damaged_files_never_panic() {
    let text = include_str!("../../scenarios/cq_overflow_keep_unread_cascade.toml");
    let step = if exhaustive() { 1 } else { 10 };
    for (end, _) in text.char_indices().step_by(step) {
        if let Err(e) = parse("cut.toml", &text[..end]) {
            assert!(e.line >= 1 && e.column >= 1);
        }
    }
    for (at, old) in text.char_indices().step_by(7 * step) {
        for new in ["é", "\"", "{", "9", "\n"] {
            let damaged = format!("{}{new}{}", &text[..at], &text[at + old.len_utf8()..]);
            if let Err(e) = parse("damaged.toml", &damaged) {
                assert!(!e.to_string().is_empty());
            }
        }
    }
}

#[test]
fn wqes_and_keys() {
    let wqe = |rest: &str| format!("post_wqe = {{ qp = \"A\", {rest} }}");
    let good = "post_send = { qp = \"A\" }";
    let refuses = |by: &str, at: &str, says: &[&str]| refuses(good, by, at, says);
    refuses(&wqe("ring_blocks = 3"), "3 }", &["send queue of 3 blocks", "a power of two"]);
    refuses(&wqe("opcode = \"RDMA_WIRTE\""), "\"RDMA_WIRTE\"", &["did you mean `RDMA_WRITE`?"]);
    refuses(&wqe("inline = 109"), "109", &["`inline` is out of range", "0 to 108"]);
    refuses(&wqe("inline = 8, sge = []"), "sge", &["inline"]);
    let one = "{ addr = 0, length = 1, lkey = 0 }";
    let eight = format!("sge = [{}]", [one; 8].join(", "));
    refuses(&wqe(&eight), "[{ addr", &["8 elements", "at most 7"]);
    refuses(&wqe("units = [[1, 2, 3]]"), "[1, 2, 3]", &["a unit of 3 words"]);
    refuses(&wqe("units = []"), "[] }", &["0 units", "1 to 8"]);
    refuses(&wqe("units = [[1, 2, 3, 4]], ds = 1"), "ds = 1", &["units"]);
    refuses(
        "reg_key = { lkey = 1, base = 0, length = 1, access = [\"LOCAL_WIRTE\"] }",
        "\"LOCAL_WIRTE\"",
        &["did you mean `LOCAL_WRITE`?"],
    );
    refuses("reg_key = { lkey = 1, base = 0 }", "{ lkey", &["length"]);
    refuses("dereg_key = { lkey = 0x1_0000_0000 }", "0x1_0000_0000", &["out of range"]);
}

#[test]
fn what_can_have_no_effect() {
    let good = "post_send = { qp = \"A\" }";
    let refuses = |by: &str, at: &str, says: &[&str]| refuses(good, by, at, says);
    refuses(
        "post_wqe = { qp = \"A\", remote = { addr = 1, rkey = 2 } }",
        "remote",
        &["SEND has no segment for `remote`"],
    );
    refuses("wire = true", "true", &["`wire` is a boolean, not a string", "one of: on, off"]);
}

#[test]
fn the_title_is_one_line() {
    let title = "title = \"T\"";
    refuses(title, "title = \"\"", "\"\"", &["the title is empty"]);
    refuses(title, "title = \" \"", "\" \"", &["the title is empty"]);
    refuses(title, "title = \"a\\nb\"", "\"a", &["more than one line", "`text`"]);
}

#[test]
fn a_number_out_of_range_names_its_field_and_a_way_out() {
    let large = &["QP number 100 is out of range", "numbers 0 to 63", "config = \"large\" has"];
    let name = "name = \"A\"";
    refuses(name, "name = \"A\"\ncount = 100", "100", large);
    refuses(name, "name = \"A\"\nnumber = 100", "100", large);
    refuses(name, "name = \"A\"\nnumber = 70000", "70000", &["QP number 70000 is out of range"]);
}
