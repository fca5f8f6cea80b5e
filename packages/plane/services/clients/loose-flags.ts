// Which options of `sub shim` can weaken what it does. An entry that a repository brings may start our
// own shim with such options: it looks governed and is not.
import type { Governed } from './types.ts';

export interface FlagContext {
  /** The profile that config.toml gives the user's shims. */
  readonly profile: string;
  /** The variables of the entry that would tell its shim who acts. */
  readonly serverOnly: readonly string[];
  /** The entry names a session of `sub wrap` that runs: its hub checks policy and profile. */
  readonly isInSession: boolean;
  /** In a hosted run: whether this value of the option is what the run says itself. */
  readonly isOfRun?: (flag: RunFlag, value: string) => boolean;
}

export type RunFlag = 'policy' | 'events' | 'governance-endpoint';

interface ShimFlag {
  readonly takesValue: boolean;
  /** Whether an entry with this value is looser than the one that `sub import` would write. */
  readonly loosens: (value: string, context: FlagContext) => boolean;
}

const never = (): boolean => false;
/** Unless the run says the same. */
const apartFromRun =
  (flag: RunFlag): ShimFlag['loosens'] =>
  (value, { isOfRun }) =>
    isOfRun?.(flag, value) !== true;

/** Every option that the shim takes. One that is not listed here counts as loosening. */
export const SHIM_FLAGS: { readonly [name: string]: ShimFlag } = {
  // A repository chooses the name of its entry as freely as this one.
  'server-name': { takesValue: true, loosens: never },
  'server-id': { takesValue: true, loosens: never },
  // `sub import` names the variables that the entry sets; any other one hides who acts.
  'server-env': {
    takesValue: true,
    loosens: (names, { serverOnly }) =>
      names.split(',').some((name) => name !== '' && !serverOnly.includes(name)),
  },
  policy: {
    takesValue: true,
    loosens: (value, context) => !context.isInSession && apartFromRun('policy')(value, context),
  },
  profile: {
    takesValue: true,
    loosens: (value, { profile, isInSession }) =>
      value !== 'production' && value !== profile && !isInSession,
  },
  events: {
    takesValue: true,
    loosens: (value, context) => value !== 'ledger' && apartFromRun('events')(value, context),
  },
  'governance-endpoint': { takesValue: true, loosens: apartFromRun('governance-endpoint') },
  // What is written to stderr decides nothing.
  'log-level': { takesValue: true, loosens: never },
  verbose: { takesValue: false, loosens: never },
  // A session that is over changes nothing; one that runs says itself what holds.
  wrap: { takesValue: true, loosens: never },
};

const SHOWN_LENGTH_MAX = 120;

/** The options that make an entry looser than what `sub import` would write, as they stand there. */
export function looseFlags(
  { flags }: Pick<Governed, 'flags'>,
  context: FlagContext,
): readonly string[] {
  const loose: string[] = [];
  for (let at = 0; at < flags.length; at++) {
    const word = flags[at] ?? '';
    const [, name = '', inWord] = /^--([^=]*)(?:=([^]*))?$/.exec(word) ?? [];
    const flag = Object.hasOwn(SHIM_FLAGS, name) ? SHIM_FLAGS[name] : undefined;
    const isApart = flag?.takesValue === true && inWord === undefined;
    const value = isApart ? (flags[at + 1] ?? '') : (inWord ?? '');
    if (isApart) at += 1;
    if (flag !== undefined && !flag.loosens(value, context)) continue;
    loose.push((isApart ? `${word} ${value}` : word).slice(0, SHOWN_LENGTH_MAX));
  }
  return loose;
}
