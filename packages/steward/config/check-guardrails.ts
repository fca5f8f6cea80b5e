// What the shape of guardrails.yaml cannot say.
import type { GuardrailsFile } from '@subluminal/contracts';
import { compileGlob } from '@subluminal/core/policy';
import { HOURS_FAULTS, readDuration, readHours, readRate } from '@subluminal/core/quantities';
import { compileRegex } from '@subluminal/core/regex';
import type { Path, SourceFinding } from '@subluminal/core/source';
import { quote } from '@subluminal/core/visible';

const RATE_FIX = 'Write it like `60/minute`.';
const DURATION_FIX = 'Write it like `30s`, `5m` or `2h`.';

export function checkGuardrails(file: GuardrailsFile): readonly SourceFinding[] {
  const { circuit_breaker, heartbeat, monitor, forbidden_patterns, egress } = file;
  const found: SourceFinding[] = [];
  const wrong = (path: Path, message: string, fix: string) => {
    found.push({ code: 'SUB_STEWARD_VALUE', path, message, fix });
  };
  if (readRate(circuit_breaker.actions) === undefined) {
    wrong(['circuit_breaker', 'actions'], '`actions` is no rate', RATE_FIX);
  }
  for (const [section, field, text] of [
    ['circuit_breaker', 'window', circuit_breaker.window],
    ['heartbeat', 'every', heartbeat.every],
  ] as const) {
    if (readDuration(text) === undefined) {
      wrong([section, field], `\`${field}\` is no duration`, DURATION_FIX);
    }
  }
  const hours = monitor.quiet_hours && readHours(monitor.quiet_hours);
  if (typeof hours === 'string') {
    const { message, fix } = HOURS_FAULTS[hours];
    wrong(['monitor', 'quiet_hours', hours], message, fix);
  }
  for (const [at, { pattern }] of forbidden_patterns.entries()) {
    const compiled = compileRegex(pattern);
    if (!compiled.ok) {
      const path = ['forbidden_patterns', at, 'pattern'];
      wrong(path, `the expression does not compile: ${compiled.message}`, 'Write RE2.');
    }
  }
  const globs = [
    ...egress.hosts.map((host, at) => [['egress', 'hosts', at], host] as const),
    ...egress.contacts.flatMap(({ emails }, contact) =>
      emails.map((email, at) => [['egress', 'contacts', contact, 'emails', at], email] as const),
    ),
  ];
  for (const [path, glob] of globs) {
    const compiled = compileGlob(glob);
    if (!compiled.ok)
      wrong(path, `${quote(glob)} is no pattern: ${compiled.message}`, 'Correct it.');
  }
  return found;
}
