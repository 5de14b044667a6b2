//! What the device at hand allows: its limits are judged on the value layer, and every device has
//! its own. Names are those of `struct ibv_device_attr` and `struct ibv_port_attr`.

use super::names;
use super::source::{InputError, did_you_mean};
use super::values::{Given, MTUS};
use crate::model::{AttrMask, Config};

/// One limit.
pub struct Limit {
    /// Name, as `ibv_devinfo -v` prints it.
    pub name: &'static str,
    /// The attribute that it limits.
    pub attr: AttrMask,
    /// Largest value that can be given for it.
    pub most: u32,
    place: fn(&mut Device) -> &mut u32,
}

/// All limits.
pub static LIMITS: [Limit; 5] = [
    // READs and atomics that a QP may have outstanding, as the one that asks.
    Limit {
        name: "max_qp_init_rd_atom",
        attr: AttrMask::MAX_QP_RD_ATOMIC,
        most: 255,
        place: |d| &mut d.init_rd_atom,
    },
    // The same as the one that answers.
    Limit {
        name: "max_qp_rd_atom",
        attr: AttrMask::MAX_DEST_RD_ATOMIC,
        most: 255,
        place: |d| &mut d.rd_atom,
    },
    Limit { name: "active_mtu", attr: AttrMask::PATH_MTU, most: 5, place: |d| &mut d.mtu },
    Limit { name: "phys_port_cnt", attr: AttrMask::PORT, most: 254, place: |d| &mut d.ports },
    Limit { name: "max_pkeys", attr: AttrMask::PKEY_INDEX, most: 65_535, place: |d| &mut d.pkeys },
];

/// The limits of a device; those of the default configuration where nothing else was said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Device {
    init_rd_atom: u32,
    rd_atom: u32,
    mtu: u32,
    ports: u32,
    pkeys: u32,
    /// Attributes whose limit was said.
    told: AttrMask,
}

impl Default for Device {
    fn default() -> Self {
        let c = &Config::DEFAULT;
        Device {
            init_rd_atom: c.max_rd_atomic.into(),
            rd_atom: c.max_rd_atomic.into(),
            mtu: c.max_mtu.into(),
            ports: c.num_ports.into(),
            pkeys: c.pkey_len.into(),
            told: AttrMask::EMPTY,
        }
    }
}

impl Device {
    /// Sets one limit: a number, for `active_mtu` also bytes or `IBV_MTU_1024`.
    ///
    /// # Errors
    /// The name is unknown, or the value is no number of its range.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), InputError> {
        let name = name.trim().to_ascii_lowercase();
        let limit = LIMITS.iter().find(|l| l.name == name).ok_or_else(|| {
            let known: Vec<&str> = LIMITS.iter().map(|l| l.name).collect();
            InputError(format!(
                "`{name}` is not a limit of a device; expected one of {}{}",
                known.join(", "),
                did_you_mean(&name, known.iter().copied())
            ))
        })?;
        let number = match limit.name {
            "active_mtu" => mtu(value),
            _ => names::number(value).and_then(|n| u32::try_from(n).ok()),
        };
        let number = number.filter(|n| (1..=limit.most).contains(n)).ok_or_else(|| {
            InputError(format!(
                "{name}: `{value}` is not a value; expected 1..{}{}",
                limit.most,
                if limit.name == "active_mtu" { ", bytes or IBV_MTU_1024" } else { "" }
            ))
        })?;
        *(limit.place)(self) = number;
        self.told |= limit.attr;
        Ok(())
    }

    /// A device that allows whatever the numbers can say.
    pub fn widest() -> Self {
        let mut device = Device::default();
        for limit in &LIMITS {
            *(limit.place)(&mut device) = limit.most;
        }
        device
    }

    /// The configuration with these limits. It has one limit for READs asked and answered; the
    /// lower of the two is left to [`refuses`](Self::refuses).
    pub(super) fn config(&self) -> Config {
        let narrow = |n: u32| u8::try_from(n).unwrap_or(u8::MAX);
        Config {
            max_rd_atomic: narrow(self.init_rd_atom.max(self.rd_atom)),
            max_mtu: narrow(self.mtu),
            num_ports: narrow(self.ports),
            pkey_len: u16::try_from(self.pkeys).unwrap_or(u16::MAX),
            ..Config::DEFAULT
        }
    }

    /// Is it more than this device allows, though another limit of it would let it pass?
    pub(super) fn refuses(&self, g: &Given) -> bool {
        let most = match g.field.attr {
            AttrMask::MAX_QP_RD_ATOMIC => self.init_rd_atom,
            AttrMask::MAX_DEST_RD_ATOMIC => self.rd_atom,
            _ => return false,
        };
        g.value > i128::from(most)
    }

    /// Number of ports.
    pub(super) fn ports(&self) -> u32 {
        self.ports
    }

    /// What the limit of an attribute rests on, for a value that it refuses.
    pub(super) fn reason(&self, attr: AttrMask) -> Option<String> {
        // The alternate path has a port of its own, with the same limit.
        let attr = if attr == AttrMask::ALT_PATH { AttrMask::PORT } else { attr };
        let limit = LIMITS.iter().find(|l| l.attr == attr)?;
        Some(if self.told.contains(attr) {
            format!("{} of the device", limit.name)
        } else {
            format!(
                "a limit of the device that was not told: --device {}=N says what yours has",
                limit.name
            )
        })
    }

    /// Limits that were not told, of attributes in this mask.
    pub(super) fn untold(&self, mask: AttrMask) -> Vec<&'static str> {
        LIMITS
            .iter()
            .filter(|l| mask.contains(l.attr) && !self.told.contains(l.attr))
            .map(|l| l.name)
            .collect()
    }
}

/// The number of an `ibv_mtu`, from that number, from bytes or from its name.
fn mtu(value: &str) -> Option<u32> {
    let upper = value.trim().to_ascii_uppercase().replace("IBV_", "").replace("IB_", "");
    let bytes = upper.strip_prefix("MTU_").unwrap_or(&upper);
    let named = MTUS.iter().find(|(name, _)| name.strip_prefix("MTU_") == Some(bytes));
    named.map(|(_, n)| *n).or_else(|| names::number(bytes).and_then(|n| u32::try_from(n).ok()))
}
