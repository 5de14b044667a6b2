//! The named sizes of the hardware. The build makes the RTL with them, and the golden model works
//! with them: nothing else is in here, since what a build script needs is compiled for it alone.

/// Sizes: parameters of the RTL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Config {
    /// Name.
    pub name: &'static str,
    /// QPs.
    pub num_qp: u32,
    /// CQs.
    pub num_cq: u32,
    /// Power of two.
    pub sq_depth: u32,
    /// Power of two.
    pub rq_depth: u32,
    /// Entries of the deepest CQ.
    pub cq_depth_max: u32,
    /// Ports, numbered from 1.
    pub num_ports: u8,
    /// Entries of the P_Key table.
    pub pkey_len: u16,
    /// `ibv_mtu` number of the port.
    pub max_mtu: u8,
    /// READs and atomics outstanding at most.
    pub max_rd_atomic: u8,
    /// Memory keys.
    pub num_key: u32,
}

impl Config {
    /// 64 QPs, 16 CQs.
    pub const DEFAULT: Config = Config {
        name: "default",
        num_qp: 64,
        num_cq: 16,
        sq_depth: 64,
        rq_depth: 64,
        cq_depth_max: 65_536,
        num_ports: 2,
        pkey_len: 128,
        max_mtu: 5,
        max_rd_atomic: 16,
        num_key: 64,
    };
    /// 4 QPs, 2 CQs, queues of 4: for proofs.
    pub const SMALL: Config = Config {
        name: "small",
        num_qp: 4,
        num_cq: 2,
        sq_depth: 4,
        rq_depth: 4,
        num_key: 8,
        ..Config::DEFAULT
    };
    /// 16 QPs with queues of 1,024.
    pub const DEEP: Config =
        Config { name: "deep", num_qp: 16, sq_depth: 1024, rq_depth: 1024, ..Config::DEFAULT };
    /// 65,536 QPs, 4,096 CQs, queues of 16.
    pub const LARGE: Config = Config {
        name: "large",
        num_qp: 65_536,
        num_cq: 4096,
        sq_depth: 16,
        rq_depth: 16,
        num_key: 1024,
        ..Config::DEFAULT
    };
    /// The named configurations.
    pub const ALL: [Config; 4] = [Self::SMALL, Self::DEFAULT, Self::DEEP, Self::LARGE];
}
