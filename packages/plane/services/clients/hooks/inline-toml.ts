// Plain data as one line of TOML, as `codex -c` takes it.
import { isObject } from '@subluminal/contracts';

/** Undefined for what JSON has no word for, such as dates. */
export function inlineToml(value: unknown): string | undefined {
  if (typeof value === 'string') return tomlString(value);
  if (typeof value === 'boolean' || Number.isSafeInteger(value)) return String(value);
  if (Array.isArray(value)) return joined(value.map(inlineToml), '[', ']');
  if (!isObject(value) || value instanceof Date) return undefined;
  const pairs = Object.entries(value).map(([key, one]) => {
    const text = inlineToml(one);
    return text === undefined ? undefined : `${tomlString(key)}=${text}`;
  });
  return joined(pairs, '{', '}');
}

function joined(
  parts: readonly (string | undefined)[],
  open: string,
  close: string,
): string | undefined {
  return parts.includes(undefined) ? undefined : `${open}${parts.join(',')}${close}`;
}

/** JSON escapes the same, but for one control. */
export function tomlString(text: string): string {
  return JSON.stringify(text).replaceAll('\u007f', '\\u007f');
}
