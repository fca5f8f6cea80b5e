// The secrets that Steward uses itself, such as the password of the mail account: they are fetched here, and known
// from then on, so that no call and no reply holds one.
import { type Failure, isFailure } from '@subluminal/contracts';
import { growingLeakFinder } from '@subluminal/core/gates';
import type { SecretValue } from '@subluminal/core/scan';
import { resolveSecretRef, type SecretPlaces } from '@subluminal/gateway/config';

export interface UsedSecrets {
  readonly fetch: (ref: string) => Promise<string | Failure>;
  /** Hears of each that was fetched, and of those to come. */
  readonly follow: (heard: (secret: SecretValue) => void) => void;
  /** Whether a text shows one of them, as it is, encoded or in pieces. */
  readonly holds: (text: string) => boolean;
  readonly redact: (text: string) => string;
}

export function usedSecrets(places: SecretPlaces): UsedSecrets {
  let values: readonly SecretValue[] = [];
  let tell: (secret: SecretValue) => void = () => undefined;
  const finder = growingLeakFinder([], () => values);
  return {
    fetch: async (ref) => {
      const value = await resolveSecretRef(ref, places);
      if (!isFailure(value) && !values.some((known) => known.value === value)) {
        const secret = { name: ref, value };
        values = [...values, secret];
        tell(secret);
      }
      return value;
    },
    follow: (heard) => {
      tell = heard;
      for (const secret of values) heard(secret);
    },
    holds: (text) => finder.has(text),
    redact: (text) => finder.redact(text),
  };
}
