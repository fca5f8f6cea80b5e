// The keychain of the system, through a package that may not be there and a service that may not
// answer. It is loaded only when it is asked for, and never keeps us waiting for ever.
import { realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { isObject } from '@subluminal/contracts';
import { attempt } from '../../os/index.ts';

/** What we want of a keychain. Every call may throw: then it cannot be used. */
export interface Keychain {
  readonly get: (service: string, account: string) => Promise<string | undefined>;
  readonly set: (service: string, account: string, value: string) => Promise<void>;
  readonly remove: (service: string, account: string) => Promise<void>;
  /** Whether what is stored lasts beyond a restart of the machine. */
  readonly lasts: (service: string, account: string) => Promise<boolean>;
}

/** The parts of the package that we use. */
interface KeychainEntry {
  readonly getPassword: () => Promise<unknown>;
  readonly setPassword: (value: string) => Promise<unknown>;
  readonly deletePassword?: () => Promise<unknown>;
  readonly deleteCredential?: () => Promise<unknown>;
}
interface Package {
  readonly AsyncEntry: new (service: string, account: string) => KeychainEntry;
  readonly findCredentialsAsync: (service: string) => Promise<unknown>;
}

interface KeychainOptions {
  /** Where the package is looked for from: our own program. */
  readonly from?: string;
  readonly platform?: string;
  readonly timeoutMs?: number;
}

const PACKAGE = '@napi-rs/keyring';
/** A person may have to unlock it first. */
const TIMEOUT_MS = 30_000;

/** Undefined when the package is not installed, or has no program for this system. */
export function loadKeychain(options: KeychainOptions = {}): Keychain | undefined {
  const { from = process.argv[1] ?? '', platform = process.platform } = options;
  const { timeoutMs = TIMEOUT_MS } = options;
  const found = loadPackage(from);
  if (found === undefined) return undefined;
  const { AsyncEntry, findCredentialsAsync } = found;
  const within = <T>(work: Promise<T>): Promise<T> => withTimeout(work, timeoutMs);
  const get: Keychain['get'] = async (service, account) => {
    const value = await within(new AsyncEntry(service, account).getPassword());
    return typeof value === 'string' ? value : undefined;
  };
  return {
    get,
    set: async (service, account, value) => {
      await within(new AsyncEntry(service, account).setPassword(value));
    },
    remove: async (service, account) => {
      const entry = new AsyncEntry(service, account);
      await within((entry.deletePassword ?? entry.deleteCredential)?.call(entry) ?? never());
    },
    lasts: async (service, account) => {
      if (platform !== 'linux') return (await get(service, account)) !== undefined;
      // Without a desktop the package falls back to the memory of the kernel, and says nothing. A
      // key that is gone after a restart loses the whole store; this call has no such fallback.
      const all = await within(findCredentialsAsync(service));
      return (
        Array.isArray(all) &&
        all.some((one: unknown) => isObject(one) && one['account'] === account)
      );
    },
  };
}

function never(): Promise<never> {
  return Promise.reject(new Error('the keychain cannot remove'));
}

function loadPackage(from: string): Package | undefined {
  // Not an import: the shim is made of scripts, which cannot import what is not bundled.
  const loaded = attempt((): unknown => createRequire(realpathSync(from))(PACKAGE));
  return isPackage(loaded) ? loaded : undefined;
}

function isPackage(value: unknown): value is Package {
  if (!isObject(value)) return false;
  const { AsyncEntry, findCredentialsAsync } = value;
  return typeof AsyncEntry === 'function' && typeof findCredentialsAsync === 'function';
}

async function withTimeout<T>(work: Promise<T>, timeoutMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const tooLong = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('the keychain does not answer')), timeoutMs);
  });
  try {
    return await Promise.race([work, tooLong]);
  } finally {
    clearTimeout(timer);
  }
}
