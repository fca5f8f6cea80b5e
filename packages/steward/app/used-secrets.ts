// The secrets that Steward uses itself, such as the password of the mail account: they are fetched here, and known
// from then on, so that no call and no reply holds one.
import { type Failure, isFailure } from '@subluminal/contracts';
import { growingLeakFinder } from '@subluminal/core/gates';
import { resolveSecretRef, type SecretPlaces } from '@subluminal/gateway/config';

export interface UsedSecrets {
  readonly fetch: (ref: string) => Promise<string | Failure>;
  /** Whether a text shows one of them, as it is, encoded or in pieces. */
  readonly holds: (text: string) => boolean;
  readonly redact: (text: string) => string;
}

export function usedSecrets(places: SecretPlaces): UsedSecrets {
  let values: readonly { readonly name: string; readonly value: string }[] = [];
  const finder = growingLeakFinder([], () => values);
  return {
    fetch: async (ref) => {
      const value = await resolveSecretRef(ref, places);
      if (!isFailure(value) && !values.some((known) => known.value === value)) {
        values = [...values, { name: ref, value }];
      }
      return value;
    },
    holds: (text) => finder.has(text),
    redact: (text) => finder.redact(text),
  };
}
