//! The calls that cross into C++.

#[cxx::bridge]
pub(super) mod bridge {
    /// What a bare loop over the model took.
    #[namespace = "rnic"]
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    struct BareLoop {
        /// Over everything that the ports showed.
        hash: u64,
        /// Clocks.
        clocks: u64,
        /// Of the calling thread.
        cpu_ns: u64,
        /// Time taken, nanoseconds.
        wall_ns: u64,
    }

    unsafe extern "C++" {
        include!("device.h");

        type rnic_policy = crate::hw::abi::rnic_policy;
        type rnic_stim = crate::hw::abi::rnic_stim;
        type rnic_resp = crate::hw::abi::rnic_resp;

        #[namespace = "rnic"]
        type Device;

        #[namespace = "rnic"]
        fn new_device(configuration: &str, seed: u64) -> Result<UniquePtr<Device>>;
        fn reset(self: Pin<&mut Device>, policy: &rnic_policy) -> Result<()>;
        fn step(self: Pin<&mut Device>, stim: &rnic_stim, resp: &mut rnic_resp) -> Result<()>;
        fn run(self: Pin<&mut Device>, stim: &[rnic_stim], resp: &mut [rnic_resp]) -> Result<()>;
        fn bare_loop(
            self: Pin<&mut Device>,
            policy: &rnic_policy,
            stim: &[rnic_stim],
            rounds: u64,
        ) -> Result<BareLoop>;
        fn open_waves(self: Pin<&mut Device>, path: &str) -> Result<()>;
        fn close_waves(self: Pin<&mut Device>) -> Result<()>;
        fn clock(self: &Device) -> u64;

        include!("block.h");

        #[namespace = "rnic"]
        type Block;

        #[namespace = "rnic"]
        fn new_block(name: &str, seed: u64) -> Result<UniquePtr<Block>>;
        fn stim_words(self: &Block) -> usize;
        fn resp_words(self: &Block) -> usize;
        #[cxx_name = "run"]
        fn run_block(self: Pin<&mut Block>, stim: &[u32], resp: &mut [u32]) -> Result<()>;
    }
}
