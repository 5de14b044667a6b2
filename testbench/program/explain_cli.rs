//! `rnic-cosim explain` beyond the public reports: names, values, layers, bad input.

use assert_cmd::Command;
use serde_json::Value;

fn explain(args: &[&str], input: &str) -> (Option<i32>, String, String) {
    let out = Command::cargo_bin("rnic-cosim")
        .expect("built")
        .arg("explain")
        .args(args)
        .write_stdin(input)
        .output()
        .expect("runs");
    let text = |b: Vec<u8>| String::from_utf8(b).expect("UTF-8");
    (out.status.code(), text(out.stdout), text(out.stderr))
}

fn json(args: &str) -> Value {
    let mut args: Vec<&str> = args.split_whitespace().collect();
    args.push("--json");
    let (code, out, err) = explain(&args, "");
    let v: Value = serde_json::from_str(&out).unwrap_or_else(|e| panic!("{e}: {out}{err}"));
    assert_eq!(code, Some(i32::from(v["verdict"] == "refuse")), "{args:?}");
    v
}

fn says(v: &Value, sentence: &str) -> bool {
    v["say"]
        .as_array()
        .expect("sentences")
        .iter()
        .any(|s| s.as_str().is_some_and(|s| s.contains(sentence)))
}

/// Bad input: one message with all of these in it, exit code 2, nothing on standard output.
fn refuses_input(args: &[&str], input: &str, fragments: &[&str]) {
    let (code, out, err) = explain(args, input);
    assert_eq!(code, Some(2), "{args:?}: {out}{err}");
    assert_eq!(out, "", "{args:?}");
    for f in fragments {
        assert!(err.contains(f), "`{f}` is not in: {err}");
    }
    assert!(err.starts_with("error: "), "{err}");
    assert_eq!(err.lines().filter(|l| l.starts_with("error")).count(), 1, "one message: {err}");
}

#[test]
fn a_mask_pasted_from_a_program_means_the_same_here() {
    let v = json("--transport rc --from RTR --to RTS --mask 0x12e01");
    assert_eq!((&v["verdict"], &v["layer"]), (&"accept".into(), &"none".into()));
    assert!(says(&v, "attribute mask is complete"));
}

#[test]
fn names_are_taken_as_people_write_them() {
    let wanted = json("--transport RC --from INIT --to RTR --mask 0x121181");
    for (transport, from, to, attrs) in [
        (
            "IBV_QPT_RC",
            "IBV_QPS_INIT",
            "IBV_QPS_RTR",
            "IBV_QP_STATE|IBV_QP_AV|IBV_QP_PATH_MTU|IBV_QP_RQ_PSN|IBV_QP_MAX_DEST_RD_ATOMIC|IBV_QP_DEST_QPN",
        ),
        ("rc", "1", "2", "state,av,path_mtu,rq_psn,max_dest_rd_atomic,dest_qpn"),
        (
            "IB_QPT_RC",
            "init",
            "IB_QPS_RTR",
            "IB_QP_STATE QP_AV path_mtu RQ_PSN MAX_DEST_RD_ATOMIC dest_qp_num",
        ),
    ] {
        let mut args =
            vec!["--transport", transport, "--from", from, "--to", to, "--json", "--attrs"];
        args.extend(attrs.split(' '));
        let (code, out, err) = explain(&args, "");
        assert_eq!(code, Some(1), "{err}");
        assert_eq!(serde_json::from_str::<Value>(&out).expect("JSON"), wanted, "{attrs}");
    }
}

#[test]
fn state_is_added_to_names_with_a_target_but_never_to_a_raw_mask() {
    let named = json("--transport RC --from RTS --to SQD --attrs EN_SQD_ASYNC_NOTIFY");
    assert_eq!(named["verdict"], "accept");
    assert!(says(&named, "STATE was added"));
    let raw = json("--transport RC --from RTS --to SQD --mask 4");
    assert_eq!(raw["verdict"], "refuse");
    assert_eq!(raw["to"], "RTS");
    assert!(says(&raw, "judged as RTS to RTS; a move to SQD needs STATE"));
}

#[test]
fn missing_too_much_and_values_come_in_one_answer() {
    let v = json(
        "--transport RC --from RTR --to RTS --attrs timeout,retry_cnt,rnr_retry,sq_psn,port --set retry_cnt=20 timeout=31",
    );
    assert_eq!(v["layer"], "mask");
    assert_eq!(v["missing"], serde_json::json!(["MAX_QP_RD_ATOMIC"]));
    assert_eq!(v["disallowed"], serde_json::json!(["PORT"]));
    assert_eq!(v["bad_values"], serde_json::json!([]), "the layer of values was not reached");
    assert!(says(&v, "once the mask is right: retry_cnt=20 is larger than 7"));
}

#[test]
fn values_wider_than_their_field_are_refused_and_never_cut() {
    // 263 is 7 in eight bits, 0x1000005 is 5 in 24, 0x100000001 is 1 in 32, 256 is 0.
    for (row, set, bad, sentence) in [
        (
            "--from RTR --to RTS --mask 0x12e01",
            "retry_cnt=263",
            "RETRY_CNT",
            "retry_cnt=263 is larger than 7 (it does not even fit the 8-bit field)",
        ),
        (
            "--from RTR --to RTS --mask 0x12e01",
            "retry_cnt=-1",
            "RETRY_CNT",
            "retry_cnt=-1 is smaller than 0",
        ),
        (
            "--from RTR --to RTS --mask 0x12e01",
            "sq_psn=0x1000005",
            "SQ_PSN",
            "sq_psn=16777221 is larger than 16777215",
        ),
        ("--from RTR --to RTS --mask 0x12e01", "sq_psn=0x100000001", "SQ_PSN", "32-bit field"),
        (
            "--from RTR --to RTS --mask 0x12e01",
            "max_rd_atomic=17",
            "MAX_QP_RD_ATOMIC",
            "max_rd_atomic=17 is larger than 16",
        ),
        (
            "--from RESET --to INIT --mask 0x39",
            "access_flags=0x100000001",
            "ACCESS_FLAGS",
            "32-bit field",
        ),
        ("--from RESET --to INIT --mask 0x39", "port_num=0", "PORT", "is smaller than 1"),
        ("--from INIT --to RTR --mask 0x129181", "path_mtu=1024", "PATH_MTU", "IBV_MTU_1024 = 3"),
        ("--from INIT --to RTR --mask 0x129181", "is_global=256", "AV", "8-bit field"),
        (
            "--from INIT --to RTR --mask 0x12d181",
            "alt_timeout=32",
            "ALT_PATH",
            "alt_timeout=32 is larger than 31",
        ),
        (
            "--from RTR --to RTS --mask 0x52e01 --mig-armed",
            "path_mig_state=REARM",
            "PATH_MIG_STATE",
            "stored path migration state is ARMED",
        ),
    ] {
        let v = json(&format!("--transport RC {row} --set {set}"));
        assert_eq!(
            (&v["verdict"], &v["layer"]),
            (&"refuse".into(), &"value".into()),
            "{set}: {v:#}"
        );
        assert_eq!(v["bad_values"], serde_json::json!([bad]), "{set}");
        assert!(says(&v, sentence), "{set}: {v:#}");
        assert!(says(&v, "attribute mask is complete"), "{set}");
    }
}

#[test]
fn legal_values_pass() {
    for set in
        ["retry_cnt=7", "rnr_retry=7", "timeout=31", "sq_psn=0xffffff", "max_qp_rd_atomic=16"]
    {
        let v = json(&format!("--transport RC --from RTR --to RTS --mask 0x12e01 --set {set}"));
        assert_eq!(v["verdict"], "accept", "{set}");
    }
    let v = json(
        "--transport RC --from INIT --to RTR --mask 0x129181 --set path_mtu=IBV_MTU_4096 ah_attr.is_global=1 dest_qp_num=0xffffff",
    );
    assert_eq!(v["verdict"], "accept");
}

#[test]
fn a_value_outside_the_mask_is_not_looked_at_and_this_is_said() {
    let v = json("--transport RC --from RTS --to SQD --mask 1 --set retry_cnt=20");
    assert_eq!(v["verdict"], "accept");
    assert!(says(&v, "retry_cnt=20 is not looked at: the mask has no RETRY_CNT"));
}

#[test]
fn cur_state_is_matched_by_the_book_and_overrides_in_linux() {
    let ask = "--transport RC --from RTR --to RTS --mask 0x3 --cur-state RTS";
    let book = json(ask);
    assert_eq!(book["layer"], "cur_state");
    assert!(says(&book, "CUR_STATE says RTS, but the QP is in RTR"));
    assert!(says(&book, "with cur_state=override"));
    let linux = json(&format!("{ask} --profile linux"));
    assert_eq!(linux["verdict"], "accept");
    let never = json("--transport RC --from INIT --to RTR --mask 0x129183 --cur-state INIT");
    assert_eq!(never["layer"], "cur_state");
    assert!(says(&never, "CUR_STATE may be RTR, RTS, SQD or SQE, not INIT"));
}

#[test]
fn leaving_sqd_waits_for_the_drain_except_by_policy() {
    let ask = "--transport RC --from SQD --to RTS --mask 1 --draining";
    let book = json(ask);
    assert_eq!(book["layer"], "drain");
    assert!(says(&book, "wait for the drained event"));
    assert_eq!(json(&format!("{ask} --policy leave_draining=allow"))["verdict"], "accept");
    assert_eq!(
        json("--transport RC --from SQD --to RESET --mask 1 --draining")["verdict"],
        "accept"
    );
}

#[test]
fn unnamed_mask_bits_are_disallowed_by_number() {
    let v = json("--transport RC --from RTS --to SQD --mask 0x80200001");
    assert_eq!(v["disallowed"], serde_json::json!(["bit 21", "bit 31"]));
}

#[test]
fn without_a_mask_the_answer_says_what_one_needs() {
    let v = json("--transport UD --from RESET --to INIT");
    assert!(v.get("verdict").is_none());
    assert_eq!(v["required"], serde_json::json!(["PKEY_INDEX", "PORT", "QKEY"]));
    assert!(says(&v, "needs: STATE, PKEY_INDEX, PORT, QKEY"));
}

#[test]
fn an_attribute_that_cannot_be_given_here_is_given_on_the_way() {
    let v = json("--transport RC --from RTR --attrs timeout");
    assert_eq!(v["layer"], "transition", "RTR to RTR is no pair");
    assert!(says(&v, "TIMEOUT can be given on this way: RTR → RTS (with TIMEOUT, "), "{v:#}");
    let port = json("--transport UC --from RTS --attrs port");
    assert!(says(&port, "PORT can be given on this way: RTS → RESET → INIT (with "), "{port:#}");
}

#[test]
fn the_row_of_cur_state_judges_values_too() {
    let v = json(
        "--transport RC --from RTS --to RTS --mask 0x8003 --cur-state SQD --profile linux --set min_rnr_timer=32",
    );
    assert_eq!(
        (&v["layer"], &v["bad_values"]),
        (&"value".into(), &serde_json::json!(["MIN_RNR_TIMER"]))
    );
    assert!(says(&v, "min_rnr_timer=32 is larger than 31"), "{v:#}");
}

#[test]
fn text_is_one_block_per_layer_without_colour_in_a_pipe() {
    let (code, out, _) = explain(
        &[
            "--transport",
            "RC",
            "--from",
            "RTR",
            "--to",
            "RTS",
            "--mask",
            "0x12e01",
            "--set",
            "retry_cnt=20",
        ],
        "",
    );
    assert_eq!(code, Some(1));
    assert!(!out.contains('\u{1b}'));
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines[0], "RC RTR → RTS  (profile book, roce)");
    assert!(lines.contains(&"refused on layer value"), "{out}");
    assert!(
        lines.contains(&"  mask") && lines.contains(&"    attribute mask is complete"),
        "{out}"
    );
    assert!(
        lines.contains(&"  value") && lines.contains(&"    retry_cnt=20 is larger than 7"),
        "{out}"
    );
}

#[test]
fn bad_words_on_the_command_line() {
    let base = ["--transport", "RC", "--from", "RTR", "--to", "RTS"];
    let with = |more: &[&'static str]| [&base[..], more].concat();
    refuses_input(
        &["--transport", "RD", "--from", "0"],
        "",
        &["--transport", "`RD`", "RC, UC or UD"],
    );
    refuses_input(
        &["--transport", "RC", "--from", "RTZ"],
        "",
        &["--from", "`RTZ`", "did you mean RT"],
    );
    refuses_input(&["--transport", "RC", "--from", "256"], "", &["--from", "8-bit"]);
    refuses_input(
        &with(&["--attrs", "timout"]),
        "",
        &["--attrs", "`timout`", "did you mean TIMEOUT?"],
    );
    refuses_input(&with(&["--mask", "AV"]), "", &["--mask", "--attrs"]);
    refuses_input(&with(&["--mask", "0x1ffffffff"]), "", &["--mask", "32 bits"]);
    refuses_input(
        &with(&["--mask", "1", "--set", "retry_count_=7"]),
        "",
        &["--set", "did you mean retry_count?"],
    );
    refuses_input(
        &with(&["--mask", "1", "--set", "retry_cnt=seven"]),
        "",
        &["retry_cnt", "`seven`", "expected a number"],
    );
    refuses_input(&with(&["--mask", "1", "--set", "retry_cnt"]), "", &["NAME=VALUE"]);
    refuses_input(
        &with(&["--mask", "1", "--profile", "linus"]),
        "",
        &["`linus`", "did you mean `linux`?"],
    );
    refuses_input(
        &with(&["--mask", "1", "--policy", "cur_state=overide"]),
        "",
        &["did you mean `override`?"],
    );
    refuses_input(&with(&["--errno", "4711"]), "", &["4711"]);
    refuses_input(&["--transport", "RC", "--from", "RTS", "--mask", "1"], "", &["--to"]);
    refuses_input(&["nowhere.toml"], "", &["nowhere.toml"]);
}

#[test]
fn bad_fields_in_a_file_are_pointed_at() {
    let step = "[[step]]\ntransport = 'RC'\nfrom = 'RTR'\nto = 'RTS'\n";
    let at = |more: &str| format!("{step}{more}\n");
    refuses_input(
        &["-"],
        &at("attrs = ['STATE', 'TIMOUT']"),
        &["standard input:5:19", "TIMOUT", "did you mean TIMEOUT?"],
    );
    refuses_input(
        &["-"],
        &at("atrs = 1"),
        &["standard input:5:1", "atrs", "did you mean `attrs`?"],
    );
    refuses_input(&["-"], &at("attrs = true"), &["standard input:5:9", "attrs"]);
    refuses_input(&["-"], &at("attrs = -1"), &["standard input:5:9", "out of range"]);
    refuses_input(
        &["-"],
        &at("set = { retry_cont = 7 }"),
        &["standard input:5:9", "did you mean retry_cnt?"],
    );
    refuses_input(&["-"], &at("set = { retry_cnt = [7] }"), &["standard input:5:21", "retry_cnt"]);
    refuses_input(&["-"], &at("draining = 'no'"), &["standard input:5:12", "draining"]);
    refuses_input(
        &["-"],
        "[[step]]\nfrom = 'RTR'\nattrs = 0",
        &["standard input:1:1", "transport"],
    );
    refuses_input(&["-"], "[[step]]\ntransport = 'RC'\nattrs = 0", &["standard input:1:1", "from"]);
    refuses_input(&["-"], "step = []", &["standard input:1:8"]);
    refuses_input(&["-"], "", &["step"]);
    refuses_input(&["-"], "[[step]", &["standard input:1:"]);
    refuses_input(&["-"], "profile = 'linus'\n", &["standard input:1:11", "did you mean `linux`?"]);
    refuses_input(
        &["-"],
        "[policy]\ncq_scop = 'sticky'\n",
        &["standard input:2:", "did you mean `cq_scope`?"],
    );
}

/// https://github.com/torvalds/linux/commit/5ecce4c9b17bed4dc9cb58bfb10447307569b77b
#[test]
fn the_port_of_an_address_is_not_the_port_of_the_qp() {
    let to_rtr = "--transport RC --from INIT --to RTR \
        --attrs AV,PATH_MTU,DEST_QPN,RQ_PSN,MAX_DEST_RD_ATOMIC,MIN_RNR_TIMER";
    let v = json(&format!("{to_rtr} --profile linux --set ah_attr.port_num=0"));
    assert_eq!((&v["layer"], &v["bad_values"][0]), (&"value".into(), &"AV".into()), "{v:#}");
    assert!(says(&v, "ah_attr.port_num=0 is no port"), "{v:#}");
    let v = json(&format!("{to_rtr} --profile linux --set ah_attr.port_num=2"));
    assert_eq!(v["verdict"], "accept", "{v:#}");
    let v = json(&format!("{to_rtr} --set ah_attr.port_num=0"));
    assert_eq!(v["verdict"], "accept", "{v:#}");
    assert!(says(&v, "not looked at by this hardware"), "{v:#}");
    assert!(says(&v, "Linux refuses it with 22, by its value check"), "{v:#}");
    // The alternate path's too.
    let rts = "--transport RC --from RTS --attrs ALT_PATH --profile linux";
    let v = json(&format!("{rts} --set alt_ah_attr.port_num=9"));
    assert_eq!(v["bad_values"][0], "ALT_PATH", "{v:#}");
}

#[test]
fn who_does_not_know_of_profiles_is_told_what_linux_says() {
    let v = json("--transport RC --from RESET --to ERR --attrs STATE --errno 22");
    assert_eq!(v["verdict"], "accept");
    assert!(says(&v, "Linux refuses it with 22, by its transition check"), "{v:#}");
    assert!(!says(&v, "look at values, GID and address"), "{v:#}");
    let v = json("--transport RC --from RTS --to ERR --attrs STATE --errno 22");
    assert!(!says(&v, "Linux refuses"), "{v:#}");
    assert!(says(&v, "look at values, GID and address"), "{v:#}");
}

/// https://github.com/linux-rdma/perftest/issues/149
#[test]
fn the_way_over_sqd_comes_with_a_word_about_mlx5() {
    let mlx5 = "has no way from RTS to SQD";
    assert!(says(&json("--transport RC --from RTS --mask 0x80"), mlx5));
    assert!(says(&json("--transport RC --from RTS --to SQD --attrs STATE"), mlx5));
    assert!(!says(&json("--transport RC --from SQD --to RTS --attrs STATE"), mlx5));
}

#[test]
fn attributes_beyond_the_tables_have_names() {
    let v = json("--transport RC --from RTR --to RTS --attrs IBV_QP_RATE_LIMIT,CAP,IB_QP_SMAC");
    assert_eq!(v["layer"], "mask");
    assert!(says(&v, "bit 25 is RATE_LIMIT: packet pacing belongs to raw packet QPs"), "{v:#}");
    assert!(says(&v, "bit 21 was SMAC in older kernels"), "{v:#}");
    assert!(says(&v, "no row of any transport takes CAP"), "{v:#}");
}

#[test]
fn the_row_of_cur_state_is_named_where_it_judges() {
    let v =
        json("--transport RC --from RTR --to RTS --mask 0x12e03 --cur-state RTS --profile linux");
    assert!(
        says(&v, "TIMEOUT is not allowed in RTS; allowed in RTR to RTS and SQD to SQD"),
        "{v:#}"
    );
    assert!(says(&v, "without CUR_STATE, or with RTR, where the QP is, the same mask is accepted"));
}

#[test]
fn rearm_is_refused_for_what_the_qp_holds() {
    let rearm = "--transport RC --from RTS --attrs PATH_MIG_STATE --set path_mig_state=1";
    assert_eq!(json(rearm)["verdict"], "accept");
    let v = json(&format!("{rearm} --mig-armed"));
    assert!(says(&v, "refused while the QP's stored path migration state is ARMED"), "{v:#}");
    let idle = "mig_armed: only a call that gives path_mig_state=1";
    assert!(!says(&v, idle), "{v:#}");
    let other = json("--transport RC --from RTS --to SQD --attrs STATE --mig-armed");
    assert!(says(&other, idle), "{other:#}");
}

#[test]
fn rc_has_no_sqe() {
    let word = "an RC QP is never in SQE";
    assert!(says(&json("--transport RC --from SQE --to RTS --attrs STATE"), word));
    assert!(!says(&json("--transport UC --from SQE --to RTS --attrs STATE"), word));
}

#[test]
fn a_state_that_is_none_is_said_without_a_mask_too() {
    assert!(says(&json("--transport RC --from 9 --to RTS"), "present state 9 is not a state"));
}

#[test]
fn values_may_be_listed_and_flags_be_short() {
    let init = "--transport RC --from RESET --to INIT --attrs PKEY_INDEX,PORT,ACCESS_FLAGS";
    let v = json(&format!("{init} --set port_num=9,pkey_index=3 qp_access_flags=REMOTE_READ|4"));
    assert_eq!(v["bad_values"], serde_json::json!(["PORT"]), "{v:#}");
    let args = "--transport RC --from RTS --attrs PORT --set port_num=1,port=2";
    let args: Vec<&str> = args.split_whitespace().collect();
    refuses_input(&args, "", &["--set: port_num is given twice"]);
}

#[test]
fn another_profile_leaves_what_the_file_says_by_itself() {
    let file = "profile = \"linux\"\nlink_layer = \"infiniband\"\ntransport = \"RC\"\n[policy]\ncur_state = \"match\"\n[[step]]\nfrom = \"RTS\"\n";
    for (options, head) in [
        (&["-"][..], "(profile linux with cur_state=match, infiniband)"),
        (&["-", "--profile", "linux"], "(profile linux with cur_state=match, infiniband)"),
        (&["-", "--profile", "book"], "(profile book, infiniband)"),
        (&["-", "--link-layer", "roce"], "(profile linux with cur_state=match, roce)"),
        (&["-", "--policy", "cur_state=override"], "(profile linux, infiniband)"),
    ] {
        let (_, out, err) = explain(options, file);
        assert!(out.contains(head), "{options:?}: {out}{err}");
    }
}

const RTR_TO_RTS: &str = "--profile linux --transport RC --from RTR --to RTS --attrs timeout,retry_cnt,rnr_retry,sq_psn,max_qp_rd_atomic";

/// rxe takes 128 READs at once, many devices fewer than 16: <https://github.com/linux-rdma/perftest/issues/114>.
#[test]
fn limits_of_the_device_can_be_told() {
    let v = json(&format!("{RTR_TO_RTS} --set max_rd_atomic=32"));
    assert!(says(&v, "larger than 16, a limit of the device that was not told"), "{v}");
    assert!(says(&v, "--device max_qp_init_rd_atom=N"), "{v}");
    let told =
        |limits: &str| json(&format!("{RTR_TO_RTS} --set max_rd_atomic=32 --device {limits}"));
    assert_eq!(told("max_qp_init_rd_atom=128")["verdict"], "accept");
    assert_eq!(told("max_qp_init_rd_atom=32,max_qp_rd_atom=1")["verdict"], "accept");
    let v = told("max_qp_init_rd_atom=31 max_qp_rd_atom=128");
    assert!(says(&v, "larger than 31, max_qp_init_rd_atom of the device"), "{v}");
    assert_eq!(v["bad_values"], serde_json::json!(["MAX_QP_RD_ATOMIC"]));
    let mtu = |limit: &str| {
        json(&format!(
            "--transport RC --from INIT --to RTR --attrs av,path_mtu,dest_qpn,rq_psn,max_dest_rd_atomic,min_rnr_timer --set path_mtu=5 --device active_mtu={limit}"
        ))
    };
    for limit in ["3", "1024", "IBV_MTU_1024"] {
        assert!(says(&mtu(limit), "path_mtu=5 is larger than 3, active_mtu of the device"));
    }
    assert_eq!(mtu("4096")["verdict"], "accept");
    let port = "--transport RC --from RESET --to INIT --attrs pkey_index,port,access_flags --set port_num=2";
    assert_eq!(json(port)["verdict"], "accept");
    assert_eq!(json(&format!("{port} --device phys_port_cnt=1"))["verdict"], "refuse");
    let file = "transport = \"RC\"\nprofile = \"linux\"\ndevice = { phys_port_cnt = 1 }\n[[step]]\nfrom = \"RESET\"\nto = \"INIT\"\nattrs = [\"STATE\", \"PKEY_INDEX\", \"PORT\", \"ACCESS_FLAGS\"]\nset = { port_num = 2 }\n";
    let (code, out, err) = explain(&["-"], file);
    assert_eq!(code, Some(1), "{err}");
    assert!(out.contains("phys_port_cnt of the device"), "{out}");
    assert_eq!(explain(&["-", "--device", "phys_port_cnt=2"], file).0, Some(0));
    let refused = |limit: &str, fragments: &[&str]| {
        let mut args: Vec<&str> = port.split_whitespace().collect();
        args.extend(["--device", limit]);
        refuses_input(&args, "", fragments);
    };
    refused("actve_mtu=3", &["--device", "`actve_mtu` is not a limit", "did you mean active_mtu?"]);
    refused("active_mtu=9", &["active_mtu: `9` is not a value", "1..5, bytes or IBV_MTU_1024"]);
    refused("max_pkeys", &["expected NAME=VALUE", "max_qp_rd_atom=16"]);
    let bad = file.replace("phys_port_cnt = 1", "ports = 1");
    refuses_input(&["-"], &bad, &["input:3:", "`ports` is not a limit of a device"]);
}

/// An accepted call that still gets EINVAL: what a device and one driver add.
#[test]
fn an_accepted_einval_names_limits_and_irdma() {
    let v = json(&format!("{RTR_TO_RTS} --errno 22"));
    assert!(says(&v, "ibv_devinfo -v tells max_qp_init_rd_atom; --device NAME=N"), "{v}");
    let v = json(&format!("{RTR_TO_RTS} --errno 22 --device max_qp_init_rd_atom=16"));
    assert!(!says(&v, "ibv_devinfo"), "{v}");
    let to_init = "--profile linux --transport RC --from RESET --to INIT --attrs pkey_index,port,access_flags --errno 22";
    assert!(says(&json(to_init), "must be destroyed and created anew"));
}

/// What <https://github.com/linux-rdma/rdma-core/blob/master/libibverbs/examples/rc_pingpong.c> sets.
#[test]
fn every_field_of_the_struct_may_be_given() {
    let v = json(
        "--transport RC --from INIT --to RTR --attrs av,path_mtu,dest_qpn,rq_psn,max_dest_rd_atomic,min_rnr_timer --set qp_state=IBV_QPS_RTR ah_attr.is_global=1 ah_attr.dlid=1 ah_attr.sl=0 ah_attr.src_path_bits=0 ah_attr.port_num=1 ah_attr.grh.dgid=fe80::1 attr->ah_attr.grh.flow_label=0 cap.max_send_wr=10",
    );
    assert_eq!(v["verdict"], "accept");
    assert!(says(&v, "not judged: src_path_bits, dgid, flow_label, max_send_wr"), "{v}");
    let base = ["--transport", "RC", "--from", "INIT", "--to", "RTR", "--set"];
    let with = |value| base.into_iter().chain([value]).collect::<Vec<_>>();
    refuses_input(&with("qp_state=RTS"), "", &["`qp_state` is the target state, not a value"]);
    refuses_input(&with("cur_qp_state=INIT"), "", &["give it as `cur_state`"]);
    refuses_input(&with("sl=0,ah_attr.sl=1"), "", &["--set: sl is given twice"]);
}

#[test]
fn other_types_of_qp_are_told_the_nearest_rows() {
    for (name, near) in [
        ("XRC_INI", "no MAX_DEST_RD_ATOMIC and no MIN_RNR_TIMER"),
        ("IBV_QPT_XRC_RECV", "no RETRY_CNT, RNR_RETRY and MAX_QP_RD_ATOMIC"),
        ("RAW_PACKET", "needs PORT"),
        ("GSI", "UD without PORT"),
        ("DCI", "rows are in the driver"),
    ] {
        let words = ["is not a transport of this hardware", near];
        refuses_input(&["--transport", name, "--from", "INIT"], "", &words);
    }
}

#[test]
fn what_changes_nothing_is_said() {
    let v = json("--transport RC --from RTR --to RTS --set timeout=99");
    assert!(says(&v, "values are judged with a mask only, not judged: timeout"), "{v}");
    let v = json("--transport RC --from RTS --to SQD --attrs en_sqd_async_notify --draining");
    assert!(says(&v, "a QP drains in SQD only"), "{v}");
    let v = json("--transport RC --from SQD --to RTS --attrs cur_state --draining");
    assert!(!says(&v, "a QP drains in SQD only"), "{v}");
}
