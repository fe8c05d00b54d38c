# SPDX-License-Identifier: Apache-2.0
# One set of build flags for everything, so that product, tests and control plane share one build cache.
SHELL        := bash
.SHELLFLAGS  := -eu -o pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS    += --no-print-directory

export CGO_ENABLED := 0
export GOFLAGS     := -trimpath -buildvcs=false $(filter-out -trimpath -buildvcs=%,$(GOFLAGS))
export KUBEBUILDER_ASSETS = $(ASSETS)

FUZZTIME ?= 10s
VERSION  ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
K8S      := $(shell sed -n 's,^.*k8s.io/kubernetes \(v[0-9.]*\).*,\1,p' test/cluster/go.mod)
ASSETS   := $(HOME)/.cache/pillion/k8s-$(K8S)-$(shell sha256sum test/cluster/go.mod | cut -c1-12)
MODULES  := . test/cluster tools
UNIT     := go list ./... | grep -v /test/integration

# Folders of the test files that match the pattern $(1).
folders = $(shell grep -rlE --include='*_test.go' '$(1)' . | xargs -r -n1 dirname | sort -u)

.PHONY: help
help: ## this list
	@sed -nE 's/^([a-z]+):.*## (.*)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 20

.PHONY: build demo unit test lint race fuzz golden conformance bench soak generate cluster clean
build: ## the binary, bin/injector
	go build -ldflags='-s -w -X main.version=$(VERSION)' -o bin/injector ./cmd/injector

demo: build cluster ## a real control plane, and a pod that is injected before your eyes (KEEP=1 leaves it running)
	@go run ./test/demo

unit: ## every test that needs no control plane, in under a minute
	go test $$($(UNIT))

test: build cluster ## every test: unit, documentation, and integration on a real control plane
	go test ./...

lint: ## format, vet, staticcheck, house rules, tidy modules, generated files up to date
	@bad=$$(gofmt -l .); test -z "$$bad" || { echo "gofmt these files:" $$bad; exit 1; }
	go vet ./...
	cd test/cluster && go vet ./...
	go tool -modfile=tools/go.mod staticcheck ./...
	go test ./test/arch
	@for m in $(MODULES); do echo "go mod tidy -diff in $$m"; (cd $$m && go mod tidy -diff); done
	@sums() { find . \( -name .git -o -path ./bin \) -prune -o -type f -exec sha256sum {} + | sort -k2; }; \
	before=$$(sums); $(MAKE) generate; \
	diff <(echo "$$before") <(sums) || { echo "run make generate and commit what changed"; exit 1; }

race: ## the unit tests under the race detector; needs a C compiler
	CGO_ENABLED=1 go test -race $$($(UNIT))

fuzz: ## every fuzz target for FUZZTIME each (default 10s); stops at the first crash
	@for dir in $(call folders,^func Fuzz); do \
	  for name in $$(sed -nE 's/^func (Fuzz[A-Za-z0-9_]*)\(.*/\1/p' $$dir/*_test.go); do \
	    echo "$$dir $$name"; go test -run='^$$' -fuzz="^$$name\$$" -fuzztime=$(FUZZTIME) -fuzzminimizetime=10x $$dir; \
	  done; done

golden: ## rewrite the golden files from what the code does now
	go test $(call folders,flag.Bool.*"update") -update

conformance: ## dialect istio against CORPUS, a folder of recorded cases of the original (ARGS=-v: every difference)
	@test -n "$(CORPUS)" || { echo "name the folder of recorded cases: make conformance CORPUS=DIR" >&2; exit 2; }
	@go run ./test/conformance $(ARGS) "$(CORPUS)"

bench: ## what each path costs, beside the floor of the same run (CORPUS=DIR: on its typical case)
	@go run ./test/bench/table -corpus "$(CORPUS)"

soak: ## a million reviews of ten thousand pod shapes: fails if the memory grows (about ten minutes)
	@go run ./test/bench/table -soak

generate: ## rewrite generated files
	go generate ./...

cluster: $(ASSETS)/.built ## etcd, API server, controllers, scheduler and kubectl, built once into ~/.cache/pillion
$(ASSETS)/.built:
	@echo "building the control plane of Kubernetes $(K8S) into $(ASSETS): once, about six minutes on two cores"
	@mkdir -p $(dir $(ASSETS)); tmp=$$(mktemp -d $(ASSETS).XXXXXX); trap 'rm -rf "$$tmp"' EXIT; start=$$SECONDS; \
	(cd test/cluster && go build -ldflags='-s -w -X k8s.io/component-base/version.gitVersion=$(K8S)' -o "$$tmp/" tool ./cmd/...); \
	chmod 755 "$$tmp"; touch "$$tmp/.built"; \
	mv -T "$$tmp" $(ASSETS) 2>/dev/null || test -f $(ASSETS)/.built; echo "built in $$((SECONDS - start)) s"

clean: ## remove what was built here; the control plane in ~/.cache/pillion stays
	rm -rf bin
