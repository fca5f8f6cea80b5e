// What is taken out of previews: known formats of secrets, and what the user names.
import { type Failure, failure, isFailure } from '@subluminal/contracts';
import {
  createRedactor,
  type ExtraPattern,
  type Redactor,
  type SecretValue,
} from '@subluminal/core/scan';

/** Builds the redactor; RE2 is loaded only when there are patterns of the user's. */
export async function loadRedactor(
  patterns: readonly string[],
  values: readonly SecretValue[],
): Promise<Redactor | Failure> {
  const extra: ExtraPattern[] = [];
  if (patterns.length > 0) {
    const { compileRegex } = await import('@subluminal/core/regex');
    for (const [index, source] of patterns.entries()) {
      const compiled = compileRegex(source, 'text');
      if (!compiled.ok) {
        const message = `redact.extra_patterns[${index}] is no expression: ${compiled.message}.`;
        return failure('SUB_CONFIG_VALUE', message, 'Correct it.');
      }
      extra.push({ name: `pattern-${index + 1}`, find: compiled.find });
    }
  }
  const redactor = createRedactor({ extra, values });
  if (redactor.refused.length === 0) return redactor;
  const names = redactor.refused.map(({ name }) => name).join(', ');
  const message = `these secrets cannot be redacted: ${names}.`;
  return failure('SUB_SECRET_UNUSABLE', message, 'Use other secrets.');
}

/** A redactor that learns secrets as they come up, such as tokens that are renewed. */
export interface GrowingRedactor extends Pick<Redactor, 'plain' | 'isClean'> {
  readonly add: (secret: SecretValue) => void;
  readonly learned: LearnedSecrets;
}

/** Secrets that come up while their server is used. */
export interface LearnedSecrets {
  /** Another list when there are more of them. */
  values(): readonly SecretValue[];
  /** Hears that there is one more; gives what ends it. */
  follow(heard: () => void): () => void;
}

/** The tokens in use, and those of answers that are still to come. To know more costs seconds, when tokens are long. */
const LEARNED_MAX = 8;

interface GrowingOptions {
  readonly patterns: readonly string[];
  /** Those that are known from the first on. */
  readonly values: readonly SecretValue[];
  readonly learnedMax?: number;
}

export function growingRedactor(
  first: Redactor,
  { patterns, values, learnedMax = LEARNED_MAX }: GrowingOptions,
): GrowingRedactor {
  let current = first;
  let learned: readonly SecretValue[] = [];
  const followers = new Set<() => void>();
  let [added, known] = [0, 0];
  const add = async (secret: SecretValue): Promise<void> => {
    if (learned.some(({ value }) => value === secret.value)) return;
    learned = [...learned, secret].slice(-learnedMax);
    for (const heard of [...followers]) heard();
    const number = ++added;
    const grown = await loadRedactor(patterns, [...values, ...learned]);
    // One that knows more may have been ready first.
    if (isFailure(grown) || number < known) return;
    known = number;
    current = grown;
  };
  return {
    plain: (text, how) => current.plain(text, how),
    isClean: (bytes, start, end) => current.isClean(bytes, start, end),
    add: (secret) => void add(secret),
    learned: {
      values: () => learned,
      follow: (heard) => {
        // A set holds a function once, and two followers may share one.
        const follower = (): void => heard();
        followers.add(follower);
        return () => void followers.delete(follower);
      },
    },
  };
}
