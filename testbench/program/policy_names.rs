//! Policies as text: on the command line, in scenario files, in recordings.

use rnic_cosim::model::Policy;
use rnic_cosim::policies::{KNOBS, PROFILES, pairs, parse_setting, profile, set};

#[test]
fn every_value_survives_as_text() {
    for (_, base) in PROFILES {
        for knob in &KNOBS {
            for value in knob.values.iter().chain(&["96"]) {
                let mut policy = *base;
                let fine = set(&mut policy, knob.name, value);
                assert_eq!(fine.is_ok(), knob.values.contains(value) || knob.values.is_empty());
                let mut again = Policy::BOOK;
                for (name, value) in pairs(&policy) {
                    set(&mut again, name, &value).expect("it was a policy's own text");
                }
                assert_eq!(again, policy);
            }
        }
    }
}

#[test]
fn misspelt_names_are_pointed_out() {
    let say = |text| parse_setting(text).expect_err("it is wrong").to_string();
    assert!(say("cq_scop=sticky").contains("did you mean `cq_scope`?"));
    assert!(say("cq_scope=stiky").contains("did you mean `sticky`?"));
    assert!(say("cq_scope").contains("NAME=VALUE"));
    assert!(say("max_inline=many").contains("number of bytes"));
    assert!(profile("linnux").expect_err("wrong").to_string().contains("`linux`?"));
}
