//! Attributes of each legal MODIFY_QP.

use super::{Cell, Table};
use crate::explain::route::edges;
use crate::model::{AttrMask, Policy, Transport};

/// Every legal pair of states with the attributes that must and may be given besides STATE.
pub(super) fn transitions(policy: &Policy) -> Table {
    let mut rows = Vec::new();
    for transport in Transport::ALL {
        for e in edges(*transport, policy) {
            let names = |m: AttrMask| Cell::from(m.minus(AttrMask::STATE).names());
            rows.push(vec![
                transport.name().into(),
                e.from.name().into(),
                e.to.name().into(),
                names(e.row.required),
                names(e.row.optional),
            ]);
        }
    }
    Table { columns: &["transport", "from", "to", "required", "optional"], rows }
}
