// What is taken out of previews: known formats of secrets, and what the user names.
import {
  createRedactor,
  type ExtraPattern,
  type Redactor,
  type SecretValue,
} from '@subluminal/core/scan';

type Redaction =
  | {
      readonly ok: true;
      readonly redact: Redactor['plain'];
      readonly isClean: Redactor['isClean'];
    }
  | { readonly ok: false; readonly message: string };

/** Builds the redactor; RE2 is loaded only when there are patterns of the user's. */
export async function loadRedactor(
  patterns: readonly string[],
  values: readonly SecretValue[],
): Promise<Redaction> {
  const extra: ExtraPattern[] = [];
  if (patterns.length > 0) {
    const { compileRegex } = await import('@subluminal/core/regex');
    for (const [index, source] of patterns.entries()) {
      const compiled = compileRegex(source, 'text');
      if (!compiled.ok) {
        const message = `redact.extra_patterns[${index}] is no expression: ${compiled.message}`;
        return { ok: false, message };
      }
      extra.push({ name: `pattern-${index + 1}`, find: compiled.find });
    }
  }
  const { plain, isClean, refused } = createRedactor({ extra, values });
  if (refused.length > 0) {
    const names = refused.map(({ name }) => name).join(', ');
    return { ok: false, message: `these secrets cannot be redacted: ${names}` };
  }
  return { ok: true, redact: plain, isClean };
}
