#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Writes go.mod anew for a Kubernetes and an etcd release. k8s.io/kubernetes replaces each of its
# staging repositories with a local folder, which a dependant cannot do: pin the published ones.
set -euo pipefail
cd "$(dirname "$0")"
K8S=${1:-v1.37.2} ETCD=${2:-v3.7.3}
STAGING=v0.${K8S#v1.}
rm -f go.sum
printf 'module github.com/pillion-dev/pillion/test/cluster\n\ngo 1.26.0\n' > go.mod
mod=$(go mod download -json "k8s.io/kubernetes@$K8S" | sed -n 's/.*"GoMod": "\(.*\)",\?/\1/p')
sed -n 's#^[[:space:]]*\(k8s.io/[a-z-]*\) => ./staging/.*#\1#p' "$mod" | sort -u |
  while read -r m; do go mod edit -replace "$m=$m@$STAGING"; done
go mod edit -require "k8s.io/kubernetes@$K8S" -require "go.etcd.io/etcd/server/v3@$ETCD"
for c in kube-apiserver kube-controller-manager kube-scheduler kubectl; do
  go mod edit -tool "k8s.io/kubernetes/cmd/$c"
done
go mod tidy
