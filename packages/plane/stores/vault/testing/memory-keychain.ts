// A keychain for tests, in memory: the one of the system is not there where tests run.
import type { Keychain } from '../keychain.ts';

interface MemoryKeychain extends Keychain {
  readonly stored: Map<string, string>;
}

/** One that does not last is what Linux has without a desktop. */
export function memoryKeychain(lasts = true): MemoryKeychain {
  const stored = new Map<string, string>();
  const at = (service: string, account: string) => `${service}/${account}`;
  return {
    stored,
    get: (service, account) => Promise.resolve(stored.get(at(service, account))),
    set: (service, account, value) => {
      stored.set(at(service, account), value);
      return Promise.resolve();
    },
    remove: (service, account) => {
      stored.delete(at(service, account));
      return Promise.resolve();
    },
    lasts: (service, account) => Promise.resolve(lasts && stored.has(at(service, account))),
  };
}
