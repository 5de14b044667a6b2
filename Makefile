# The commands of this project. `make run` on a fresh machine installs what is missing,
# builds everything and shows the scenarios.
.PHONY: run test lint bench faults coverage slurm-demo formal mutants property-mutants model-mutants evidence modules waves wrong-copy synth ci install clean help

help:
	@echo 'make run     install what is missing, build, run all scenarios; results in out/'
	@echo 'make test    install what is missing, run all tests'
	@echo 'make lint    RTL by two front ends, clippy, rustfmt'
	@echo 'make bench   speed of the simulation, operations per clock of the hardware; docs/speed.md'
	@echo 'make faults  plant known faults into copies of the RTL: each must be caught'
	@echo 'make coverage    RTL by line, stimulus by function: out/coverage'
	@echo 'make slurm-demo  as root: one node of Slurm, a campaign as an array job, merged'
	@echo 'make formal  prove the properties of formal/; out/formal.json'
	@echo 'make mutants 1,000 mutants of the RTL against the stimulus of the co-simulation; out/mutants.json'
	@echo 'make property-mutants  mutants of the blocks against their proofs; out/property_mutants.json'
	@echo 'make model-mutants  mutants of the golden model against the tests; out/model_mutants.json'
	@echo 'make evidence  docs/evidence.md from these results'
	@echo 'make modules   docs/modules.md from the sources of the RTL'
	@echo 'make waves     the timing pictures of docs/integration.md, from the RTL'
	@echo 'make wrong-copy  a copy of the RTL with one fault, and the report of it'
	@echo 'make synth   cells and clock rates on two FPGA families; out/synth.json, docs/synth.md'
	@echo 'make ci      what continuous integration runs: lint, all tests, the quick proofs'
	@echo 'make clean   remove what was built and out/'

.DEFAULT_GOAL := help

install:
	@tools/install.sh

run: install
	@mkdir -p out
	cargo run --quiet -- run scenarios/*.toml --steps --waves-dir out --report-dir out

test: install
	cargo test

lint: install
	tools/lint.sh

bench: install
	tools/bench.sh

faults: install
	RNIC_FAULTS=1 cargo test --test hardware faults:: -- --nocapture

coverage: install
	tools/coverage.sh

slurm-demo: install
	tools/slurm/demo.sh

formal:
	tools/formal.sh

mutants: install
	tools/mutants.sh

property-mutants:
	tools/formal_mutants.sh

model-mutants: install
	tools/model_mutants.py

evidence:
	python3 tools/evidence.py

modules:
	tools/modules.sh

waves: install
	tools/waves.sh

wrong-copy: install
	testbench/wrong_copy/run.sh

synth:
	tools/synth.sh
	python3 tools/synth_page.py

ci:
	.ci/run

clean:
	cargo clean
	rm -rf out
