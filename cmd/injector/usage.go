// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pillion-dev/pillion/pkg/reason"
)

// misuse is the end of a command line that was not understood: the verb does not exist, or cobra
// has a fault of its own to tell.
func misuse(root *cobra.Command, args []string, err error) *failure {
	if _, _, unknown := root.Find(args); unknown == nil {
		return &failure{exitUsage, err, "run injector --help"}
	}
	return &failure{exitUsage, err, nearestVerb(root, args)}
}

// nearestVerb is the hint for a verb that does not exist.
func nearestVerb(root *cobra.Command, args []string) string {
	var known []string
	for _, verb := range root.Commands() {
		if verb.IsAvailableCommand() || verb.Name() == "help" {
			known = append(known, verb.Name())
		}
	}
	for _, arg := range args {
		if strings.HasPrefix(arg, "-") {
			continue
		}
		if verb := reason.Nearest(arg, known); verb != "" {
			return fmt.Sprintf("did you mean injector %s?", verb)
		}
		break
	}
	return "the verbs are " + strings.Join(known, ", ")
}

// noArguments refuses whatever stands beside the flags. Most probably that is the manifest.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	hint := "run " + cmd.CommandPath() + " --help"
	for _, flag := range []string{"filename", "config"} {
		if f := cmd.Flags().Lookup(flag); f != nil {
			name := "--" + f.Name
			if f.Shorthand != "" {
				name = "-" + f.Shorthand
			}
			hint = fmt.Sprintf("write %s %s %s", cmd.CommandPath(), name, args[0])
			break
		}
	}
	return usage(hint, "%s takes no argument %q", cmd.Name(), args[0])
}

// badFlag is the end of a command line with a flag that does not exist or has no such value.
func badFlag(cmd *cobra.Command, err error) error {
	hint := "run " + cmd.CommandPath() + " --help"
	var unknown interface {
		error
		GetSpecifiedName() string
	}
	if errors.As(err, &unknown) && cmd.Flags().Lookup(unknown.GetSpecifiedName()) == nil {
		if name := reason.Nearest("--"+unknown.GetSpecifiedName(), flagNames(cmd)); name != "" && len(unknown.GetSpecifiedName()) > 1 {
			hint = fmt.Sprintf("did you mean %s?", name)
		}
	}
	return usage(hint, "%w", err)
}

// flagNames are the flags of a verb, as its help shows them.
func flagNames(cmd *cobra.Command) []string {
	return regexp.MustCompile(`--[a-z-]+`).FindAllString(cmd.Flags().FlagUsages(), -1)
}

// newHelp is cobra's help, but an unknown verb is an error as anywhere else.
func newHelp(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:   "help [verb]",
		Short: "Help about a verb",
		RunE: func(_ *cobra.Command, args []string) error {
			cmd, _, err := root.Find(args)
			if err != nil {
				return usage(nearestVerb(root, args), "%w", err)
			}
			cmd.InitDefaultHelpFlag()
			return cmd.Help()
		},
	}
}
