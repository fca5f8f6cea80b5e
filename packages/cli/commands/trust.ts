// `sub trust`: which policies of projects the user trusts.
import { isFailure } from '@subluminal/contracts';
import {
  diffBundles,
  formatDiff,
  POLICY_FILE_BYTES_MAX,
  type PolicyChange,
  type PolicyDiff,
} from '@subluminal/core/policy';
import { homePaths } from '@subluminal/plane/config';
import { sha256Bytes } from '@subluminal/plane/crypto';
import {
  isTrusted,
  openTrust,
  revokeTrust,
  type TrustEntry,
  trustPolicy,
} from '@subluminal/plane/policy';
import { defineCommand, EXIT, optional, orThrow, printout } from '../input/command.ts';
import { readFileBytes } from '../input/read-file.ts';
import { BAD_TRUST, TRUST_FILE_DOC, YES_FLAG } from '../input/shared-options.ts';
import { loadPolicy, type Policy } from '../policy/load-policy.ts';
import { cannotAsk, confirm } from '../terminal/confirm.ts';
import type { Io } from '../terminal/io.ts';
import { harmless, harmlessLine } from '../terminal/text.ts';
import { findProjectPolicy, type ProjectPolicy, unusedPolicy } from '../trust/project-policy.ts';

export const add = defineCommand({
  description:
    'Until it is trusted, the policy of a project only tightens your own: both apply, and the stricter decision wins. Shows what it would allow that your own policy does not, asks, and remembers its path and the hash of its content: from then on it applies instead of yours. A change of its content ends the trust. `sub trust` alone does the same.',
  args: { file: optional(TRUST_FILE_DOC) },
  options: { yes: YES_FLAG },
  examples: ['sub trust', 'sub trust policy.yaml', 'sub trust add policy.yaml --yes'],
  exitCodes: {
    0: 'the policy is trusted',
    1: 'the policy is not trusted: you declined, or it has errors',
    2: `${BAD_TRUST}; or started by an agent`,
  },
  requires: 'person',
  run: async ({ args, options }, io) => {
    const place = orThrow(findProjectPolicy(args.file));
    const { home, path, user } = place;
    if (place.isOwn) {
      // The policy of the user needs no trust.
      const own = harmlessLine(`${path} is your own policy: it holds already.`);
      return printout({ path, trusted: true, loosens: [] }, own);
    }
    orThrow(openTrust(home));
    // Read once: what was shown is what is trusted.
    const file = orThrow(await readFileBytes(path, { io, bytesMax: POLICY_FILE_BYTES_MAX }));
    const sha256 = sha256Bytes(Buffer.from(file.bytes));
    const policy = orThrow(await loadPolicy({ path, bytes: file.bytes }, { io }));
    orThrow(unusedPolicy(place));
    const diff = await looseningOf(policy, place, io);
    const wasTrusted = isTrusted(home, path, sha256);
    const frees = user === undefined ? freedomsOf(policy) : [];
    const shown = `${harmless(path)}\nSHA-256 ${sha256}\n${effectText(diff, user, frees)}\n`;
    const hasEffect = user !== undefined || frees.length > 0;
    if (!hasEffect && !wasTrusted && !options.yes) {
      return printout({ path, sha256, trusted: false, loosens: [] }, shown);
    }
    if (!options.json) io.out.write(shown);
    const question = `Let ${harmless(path)} hold instead of your own policy?`;
    const isAgreed = orThrow(
      wasTrusted || (cannotAsk(io, options.yes) ?? (await confirm(question, io, options.yes))),
    );
    if (isAgreed && !wasTrusted) {
      orThrow(await trustPolicy(home, { path, sha256 }, Date.now()));
    }
    return printout(
      { path, sha256, trusted: isAgreed, loosens: diff.changes },
      isAgreed ? 'It is trusted.\n' : 'It is not trusted.\n',
      isAgreed ? EXIT.fine : EXIT.findings,
    );
  },
});

/** What only a trusted policy may say, where the user has none that it could be compared with. */
function freedomsOf({ snapshot: { document } }: Policy): readonly string[] {
  return [
    ...(document.self_protection === undefined ? [] : ['it switches off self-protection']),
    ...(document.mode === 'observe'
      ? ['its mode `observe` lets pass what manifests, Cedar policies and self-protection refuse']
      : []),
  ];
}

/** What it lets pass that the policy of the user does not; nothing without one. */
async function looseningOf(
  policy: Policy,
  { user, path }: ProjectPolicy,
  io: Io,
): Promise<PolicyDiff> {
  const own = orThrow(
    user === undefined || user === path ? policy : await loadPolicy(user, { io }),
  );
  const diff = diffBundles(own.snapshot.document, policy.snapshot.document);
  const changes = diff.changes.filter(mayLetPass);
  const summary = { critical: 0, warn: 0, info: 0, loosens: 0, mixed: 0, tightens: 0 };
  for (const { severity, effect } of changes) {
    summary[severity] += 1;
    if (effect !== 'none' && effect !== 'alters') summary[effect] += 1;
  }
  return { changes, summary, same: changes.length === 0 };
}

/** The name and the version say nothing of what passes. */
function mayLetPass({ effect, path }: PolicyChange): boolean {
  return effect !== 'tightens' && effect !== 'none' && path !== 'version' && path !== 'policy_id';
}

function effectText(diff: PolicyDiff, user: string | undefined, frees: readonly string[]): string {
  if (user === undefined) {
    const alone = 'You have no policy of your own, so it can only tighten: it holds already.';
    return [alone, ...frees.map((one) => `Only once it is trusted, ${one}.`)].join('\n');
  }
  if (diff.same) return `It lets nothing pass that ${harmless(user)} does not.`;
  return `What it may let pass that ${harmless(user)} does not:\n${formatDiff(diff)}`;
}

type State = 'trusted' | 'changed' | 'unreadable';

const HASH_SHOWN = 12;
const WORDS: { readonly [S in State]: string } = {
  trusted: 'trusted',
  changed: 'changed since, so it is not trusted',
  unreadable: 'cannot be read',
};

export const list = defineCommand({
  description:
    'Lists every trusted policy: its path, its hash, when it was trusted, and whether its content is still the same.',
  examples: ['sub trust list', 'sub trust list --json'],
  exitCodes: { 0: 'the policies are listed', 2: BAD_TRUST },
  run: async (_input, io) => {
    const opened = orThrow(openTrust(homePaths(process.env).home));
    const entries = await Promise.all(
      opened.map(async (entry) => ({ ...entry, state: await stateOf(entry, io) })),
    );
    const lines = entries.map(({ path, sha256, trusted_at, state }) => {
      const hash = sha256.slice(0, HASH_SHOWN);
      return harmlessLine(`${path}  ${hash}…  since ${trusted_at}: ${WORDS[state]}`);
    });
    const text = lines.join('') || 'No policy of a project is trusted.\n';
    return printout({ trusted: entries }, text);
  },
});

async function stateOf({ path, sha256 }: TrustEntry, io: Io): Promise<State> {
  const file = await readFileBytes(path, { io, bytesMax: POLICY_FILE_BYTES_MAX });
  if (isFailure(file)) return 'unreadable';
  return sha256Bytes(Buffer.from(file.bytes)) === sha256 ? 'trusted' : 'changed';
}

export const revoke = defineCommand({
  description:
    'From its next start on, a run uses this policy only to tighten your own. It does not ask: revoking trust allows nothing new.',
  args: { file: optional(TRUST_FILE_DOC) },
  examples: ['sub trust revoke', 'sub trust revoke policy.yaml'],
  exitCodes: { 0: 'the policy is not trusted', 2: BAD_TRUST },
  run: async ({ args }) => {
    const place = orThrow(findProjectPolicy(args.file));
    const { home, path } = place;
    const saved = orThrow(await revokeTrust(home, path));
    const words = saved ? 'is not trusted any more' : 'was not trusted';
    return printout({ path, revoked: saved }, harmlessLine(`${path} ${words}.`));
  },
});
