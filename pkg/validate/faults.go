// SPDX-License-Identifier: Apache-2.0

package validate

import (
	"errors"

	"github.com/pillion-dev/pillion/pkg/config"
	"github.com/pillion-dev/pillion/pkg/inject"
	"github.com/pillion-dev/pillion/pkg/reason"
)

// Faults is what the error of a configuration tells, in whichever dialect it is: each fault of a
// config.Errors or of a *inject.CompileError, or else the error itself. Without an error there is none.
func Faults(err error) []Finding {
	var faults config.Errors
	var compile *inject.CompileError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &faults):
		return parseFindings(faults)
	case errors.As(err, &compile):
		return Compiled(compile.Findings, Error)
	}
	return []Finding{{ID: reason.ConfigInvalid.ID(), Severity: Error, Object: "configuration", Detail: err.Error()}}
}

func parseFindings(faults config.Errors) []Finding {
	var out []Finding
	for _, f := range faults.Suggest(reason.Nearest) {
		out = append(out, Finding{
			ID: reason.ConfigInvalid.ID(), Severity: Error, Object: "configuration", Path: f.Field,
			File: f.File, Line: f.Line, Detail: f.Detail, Hint: f.Hint,
		})
	}
	return out
}

// Compiled is what a compiler found, all of it with one severity.
func Compiled(list []inject.Finding, severity Severity) []Finding {
	var out []Finding
	for _, f := range list {
		object := "configuration"
		if f.Template != "" {
			object = "template " + f.Template
		}
		out = append(out, Finding{
			ID: f.Reason.ID(), Severity: severity, Object: object, Path: f.Path,
			File: f.File, Line: f.Line, Detail: f.Detail, Hint: f.Hint,
		})
	}
	return out
}
