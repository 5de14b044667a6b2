//! Policies as text, key by key.

use crate::model::{CqFull, CqScope, CurState, LinkLayer, Policy, Sqd, WqeCheck};

/// A key or value of a policy that does not exist.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PolicyError {
    #[error("`{text}` is not of the form KEY=VALUE")]
    Form { text: String },
    #[error("no policy is called `{key}`{}; there are {all}", hint(.near))]
    Key { key: String, near: Option<&'static str>, all: String },
    #[error("policy {key} cannot be `{value}`{}; it takes {all}", hint(.near))]
    Value { key: &'static str, value: String, near: Option<&'static str>, all: String },
}

fn hint(near: &Option<&'static str>) -> String {
    near.map_or_else(String::new, |n| format!(", did you mean `{n}`?"))
}

/// Every key with its values; `max_inline` takes a number of bytes.
pub const POLICY_KEYS: [(&str, &[&str]); 10] = [
    ("reset_to_err", &["allow", "refuse"]),
    ("cur_state", &["match", "override"]),
    ("rc_sqe_row", &["absent", "present"]),
    ("leave_draining", &["refuse", "allow"]),
    ("sqd", &["drain_posted", "hold_unstarted"]),
    ("wqe_check", &["at_post", "in_pipeline"]),
    ("cq_full", &["keep_unread", "overwrite"]),
    ("cq_scope", &["affected", "sticky", "cascade"]),
    ("max_inline", &[]),
    ("link_layer", &["roce", "infiniband"]),
];

/// The settings of a policy in the order of [`POLICY_KEYS`].
pub fn policy_pairs(p: &Policy) -> [(&'static str, String); 10] {
    let choice = [
        usize::from(p.refuse_reset_to_err),
        usize::from(p.cur_state == CurState::Override),
        usize::from(p.rc_sqe_row),
        usize::from(p.allow_leave_draining),
        usize::from(p.sqd == Sqd::HoldUnstarted),
        usize::from(p.wqe_check == WqeCheck::InPipeline),
        usize::from(p.cq_full == CqFull::Overwrite),
        match p.cq_scope {
            CqScope::Affected => 0,
            CqScope::Sticky => 1,
            CqScope::Cascade => 2,
        },
        0,
        usize::from(p.link_layer == LinkLayer::Infiniband),
    ];
    std::array::from_fn(|i| {
        let (key, values) = POLICY_KEYS[i];
        (key, values.get(choice[i]).map_or_else(|| p.max_inline.to_string(), |v| v.to_string()))
    })
}

/// Sets one key of a policy.
///
/// # Errors
/// The key or the value does not exist; the policy is unchanged then.
pub fn set_policy(p: &mut Policy, key: &str, value: &str) -> Result<(), PolicyError> {
    let Some(&(key, values)) = POLICY_KEYS.iter().find(|(k, _)| *k == key) else {
        let keys = POLICY_KEYS.map(|(k, _)| k);
        return Err(PolicyError::Key {
            key: key.into(),
            near: nearest(key, &keys),
            all: keys.join(", "),
        });
    };
    if key == "max_inline" {
        p.max_inline = value.parse().map_err(|_| PolicyError::Value {
            key,
            value: value.into(),
            near: None,
            all: "a number of bytes".into(),
        })?;
        return Ok(());
    }
    let Some(n) = values.iter().position(|v| *v == value) else {
        return Err(PolicyError::Value {
            key,
            value: value.into(),
            near: nearest(value, values),
            all: values.join(", "),
        });
    };
    match key {
        "reset_to_err" => p.refuse_reset_to_err = n == 1,
        "cur_state" => p.cur_state = [CurState::Match, CurState::Override][n],
        "rc_sqe_row" => p.rc_sqe_row = n == 1,
        "leave_draining" => p.allow_leave_draining = n == 1,
        "sqd" => p.sqd = [Sqd::DrainPosted, Sqd::HoldUnstarted][n],
        "wqe_check" => p.wqe_check = [WqeCheck::AtPost, WqeCheck::InPipeline][n],
        "cq_full" => p.cq_full = [CqFull::KeepUnread, CqFull::Overwrite][n],
        "cq_scope" => p.cq_scope = [CqScope::Affected, CqScope::Sticky, CqScope::Cascade][n],
        _ => p.link_layer = [LinkLayer::Roce, LinkLayer::Infiniband][n],
    }
    Ok(())
}

/// Takes `KEY=VALUE` apart and checks it.
///
/// # Errors
/// The text has another form, or names what does not exist.
pub fn parse_setting(text: &str) -> Result<(String, String), PolicyError> {
    let (key, value) =
        text.split_once('=').ok_or_else(|| PolicyError::Form { text: text.into() })?;
    set_policy(&mut Policy::default(), key, value)?;
    Ok((key.into(), value.into()))
}

/// The name most like `text`, if one is like it.
pub fn nearest<'a>(text: &str, names: &[&'a str]) -> Option<&'a str> {
    names
        .iter()
        .map(|n| (strsim::jaro_winkler(text, n), *n))
        .filter(|(likeness, _)| *likeness > 0.8)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, n)| n)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_survives_as_text() {
        let mut rng = fastrand::Rng::with_seed(5);
        for _ in 0..500 {
            let policy = crate::cosim::stimulus::random_policy(&mut rng);
            let mut again = Policy::BOOK;
            for (key, value) in policy_pairs(&policy) {
                set_policy(&mut again, key, &value).expect("it was a policy's own text");
            }
            assert_eq!(again, policy);
        }
    }

    #[test]
    fn misspelt_names_are_pointed_out() {
        let say = |text| parse_setting(text).expect_err("it is wrong").to_string();
        assert!(say("cq_scop=sticky").contains("did you mean `cq_scope`?"));
        assert!(say("cq_scope=stiky").contains("did you mean `sticky`?"));
        assert!(say("cq_scope").contains("KEY=VALUE"));
        assert!(say("max_inline=many").contains("number of bytes"));
    }
}
