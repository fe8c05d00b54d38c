// SPDX-License-Identifier: Apache-2.0

// Package files is mounted files and the moment their content changes.
package files

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/pillion-dev/pillion/pkg/config"
)

// maxFiles bounds the files of a directory.
const maxFiles = 1000

// dataLink is the link through which the kubelet swaps all the files of a mounted ConfigMap or Secret
// at once.
const dataLink = "..data"

// Read gives the files at a path by their plain names: the regular files of a directory, without
// those whose name starts with a dot; or one file, with the files beside it that it names if it is a
// configuration. Links are followed. The files of a mounted ConfigMap or Secret are all of one
// version. At most config.MaxSize bytes are read.
func Read(path string) (map[string][]byte, error) {
	const attempts = 5
	for range attempts {
		r := reader{files: map[string][]byte{}, left: config.MaxSize}
		err := r.read(path)
		if r.dir != current(r.link) {
			continue // what was read may be half of a version that is being removed
		}
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", path, err)
		}
		return r.files, nil
	}
	return nil, fmt.Errorf("read %s: %w", path, errSwapped)
}

var errSwapped = errors.New("its files change again and again while they are read")

// reader collects files until it has read enough.
type reader struct {
	files map[string][]byte
	left  int64
	link  string // the directory that a person knows
	dir   string // the one that was read for it
}

func (r *reader) read(path string) error {
	r.link, r.dir = filepath.Dir(path), current(filepath.Dir(path))
	info, err := os.Stat(path)
	if err != nil {
		return plain(err)
	}
	if info.IsDir() {
		r.link, r.dir = path, current(path)
		return r.directory(r.dir)
	}
	return r.configuration(r.dir, filepath.Base(path))
}

// configuration reads a file, and those beside it that it names if it is a configuration.
func (r *reader) configuration(dir, name string) error {
	if err := r.file(dir, name); err != nil {
		return err
	}
	for _, sibling := range config.Siblings(r.files[name]) {
		// What is missing or no file is told by config.Parse, with the line that names it.
		if !regular(filepath.Join(dir, sibling)) {
			continue
		}
		if err := r.file(dir, sibling); err != nil {
			return fmt.Errorf("%s: %w", sibling, err)
		}
	}
	return nil
}

func (r *reader) directory(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return plain(err)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") || strings.HasSuffix(e.Name(), "~") || !regular(filepath.Join(dir, e.Name())) {
			continue
		}
		if len(r.files) == maxFiles {
			return fmt.Errorf("more than %d files", maxFiles)
		}
		if err := r.file(dir, e.Name()); err != nil {
			return fmt.Errorf("%s: %w", e.Name(), err)
		}
	}
	return nil
}

func (r *reader) file(dir, name string) error {
	f, err := os.Open(filepath.Join(dir, name))
	if err != nil {
		return plain(err)
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, r.left+1))
	if err != nil {
		return plain(err)
	}
	if r.left -= int64(len(content)); r.left < 0 {
		return fmt.Errorf("more than %d bytes", config.MaxSize)
	}
	r.files[name] = content
	return nil
}

// current is the directory that holds the files of a mount's present version; of any other directory
// it is the directory itself.
func current(dir string) string {
	target, err := os.Readlink(filepath.Join(dir, dataLink))
	switch {
	case err != nil:
		return dir
	case filepath.IsAbs(target):
		return target
	}
	return filepath.Join(dir, target)
}

func regular(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// plain takes the path off an error: the caller names the path that the person gave.
func plain(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}
