package results

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// seedText names the seed, or those of all sweeps that were merged.
func (s *Sweep) seedText() string {
	if len(s.Meta.Seeds) > 1 {
		return "seeds " + s.seeds()
	}
	return "seed " + s.seeds()
}

// seeds lists the seed, or those of all sweeps that were merged.
func (s *Sweep) seeds() string {
	if len(s.Meta.Seeds) == 0 {
		return fmt.Sprint(s.Meta.Seed)
	}
	var texts []string
	for _, seed := range s.Meta.Seeds {
		texts = append(texts, fmt.Sprint(seed))
	}
	return strings.Join(texts, ", ")
}

// begun is when the sweep began, and where several were merged, when the last of them did.
func (s *Sweep) begun() string {
	text := s.Meta.Started.UTC().Format(time.DateTime)
	if s.Meta.Plan == "" {
		last := s.Meta.Started
		for _, part := range s.Meta.Parts {
			if part.Started.After(last) {
				last = part.Started
			}
		}
		if last.After(s.Meta.Started) {
			text += " to " + last.UTC().Format(time.DateTime)
		}
	}
	return text + " UTC"
}

// commands are what was typed, for each part a line where several were merged.
func (s *Sweep) commands() string {
	lines := []string{shellLine(s.Meta.Command)}
	for _, part := range s.Meta.Parts {
		if line := shellLine(part.Command); !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

// shellLine quotes a command's words as a POSIX shell needs it.
func shellLine(command []string) string {
	words := make([]string, len(command))
	for i, word := range command {
		safe := word != "" && !strings.ContainsFunc(word, func(r rune) bool {
			return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./=,:+%@", r))
		})
		words[i] = word
		if !safe {
			words[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
	}
	return strings.Join(words, " ")
}
