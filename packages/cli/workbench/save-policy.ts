// Saves a text as a policy: only over what was edited, only without errors, with a copy kept.
import {
  type ApiPolicySaved,
  type ApiPolicySaveInput,
  type Failure,
  failure,
  isFailure,
} from '@subluminal/contracts';
import type { Config } from '@subluminal/plane/config';
import { sha256Bytes } from '@subluminal/plane/crypto';
import { unsafePolicy } from '@subluminal/plane/policy';
import { firstLoosening } from '@subluminal/plane/policy/loosening';
import { notABundle } from '../policy/file-kind.ts';
import { staleFailure, writePolicyFile } from '../policy/write-policy.ts';
import {
  chosenPolicy,
  currentConfig,
  type KnownPolicy,
  type PolicyPlace,
  readKnown,
  rulePaths,
} from './known-policies.ts';
import { textFile } from './show-policy.ts';
import { compiledFile, compiledText } from './try-policy.ts';

export async function savePolicy(
  { text, path, base_sha256: base }: ApiPolicySaveInput,
  place: PolicyPlace,
  nowMs: number,
): Promise<ApiPolicySaved | Failure> {
  const config = await currentConfig(place);
  if (isFailure(config)) return config;
  const known = chosenPolicy(path, place, config);
  if (isFailure(known)) return known;
  const refused = unsavable(known, base, text);
  if (refused !== undefined) return refused;
  const after = await compiledText(text, rulePaths(known, place));
  if (isFailure(after)) return after;
  const before = await compiledFile(known, place);
  // One that is broken decides nothing: agents keep the last good one, which is not known here.
  const loosens = isFailure(before)
    ? 'the file was broken, so what is in force is not known'
    : (firstLoosening(before, after) ?? null);
  const sha256 = sha256Bytes(Buffer.from(text));
  const isNew = known.bytes === null;
  const changed = sha256 !== base;
  const { backups } = place.paths;
  const written = changed
    ? await writePolicyFile({ path: known.path, base, text, backups, nowMs })
    : ({ backup: null } as const);
  if (isFailure(written)) return written;
  const now = readKnown(known.path, place, config);
  const reload = config['policy.reload'];
  const applies = isTakenUp({ isNew, loosens, role: now.role, reload }) ? 'now' : 'next_start';
  return {
    path: known.path,
    sha256,
    created: isNew,
    changed,
    backup: written.backup,
    trusted: now.role !== 'untrusted',
    reload,
    applies,
    loosens,
    notes: notesOf(known, now, { applies, loosens }),
  };
}

function unsavable(known: KnownPolicy, base: string | null, text: string): Failure | undefined {
  const { path, bytes, unread } = known;
  if (unread !== undefined) return unread;
  if ((bytes === null ? null : sha256Bytes(bytes)) !== base) return staleFailure(path);
  const was = bytes === null ? undefined : notABundle({ kind: 'file', name: path, bytes });
  if (was !== undefined) {
    return failure('SUB_FILE_WRITE', `${was.message} It is not overwritten.`, was.fix);
  }
  return notABundle(textFile(text));
}

interface TakeUp {
  readonly isNew: boolean;
  readonly loosens: string | null;
  readonly role: KnownPolicy['role'];
  readonly reload: Config['policy.reload'];
}

/** Whether agents that run now follow the change: as `followPolicy` does. */
function isTakenUp({ isNew, loosens, role, reload }: TakeUp): boolean {
  // Nobody follows a file that was not there at the start.
  if (isNew || reload === 'off') return false;
  return loosens === null || (reload === 'any' && role !== 'untrusted');
}

function notesOf(
  before: KnownPolicy,
  now: KnownPolicy,
  { applies, loosens }: Pick<ApiPolicySaved, 'applies' | 'loosens'>,
): readonly string[] {
  const { path, role } = now;
  const unsafe = unsafePolicy(path);
  return [
    applies === 'now'
      ? 'Agents that run now take it up within a second.'
      : 'Agents that run now keep what they started with; it holds from the next start on.',
    ...(applies === 'next_start' && loosens !== null
      ? [
          `It may let more pass (${loosens}); running agents take that up only with policy.reload = "any".`,
        ]
      : []),
    ...(before.role === 'trusted' && role === 'untrusted'
      ? [
          `Its trust has ended with the change, so it only tightens your own policy. To trust it: sub trust ${path}`,
        ]
      : []),
    ...(before.role === 'untrusted'
      ? [`It is not trusted, so it only tightens your own policy. To trust it: sub trust ${path}`]
      : []),
    ...(unsafe === undefined ? [] : [`${unsafe.message} ${unsafe.fix}`]),
  ];
}
