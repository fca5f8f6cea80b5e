import { type Failure, isFailure } from '@subluminal/contracts';
import {
  diffBundles,
  formatDiff,
  POLICY_FILE_BYTES_MAX,
  type PolicyChange,
  type PolicyDiff,
} from '@subluminal/core/policy';
import { sha256Bytes } from '@subluminal/plane/crypto';
import { isTrusted, openTrust, trustPolicy } from '@subluminal/plane/policy';
import { defineCommand, done, EXIT, type Outcome, optional } from '../input/command.ts';
import { readFileBytes } from '../input/read-file.ts';
import { BAD_TRUST, JSON_FLAG, TRUST_FILE_DOC, YES_FLAG } from '../input/shared-options.ts';
import { loadPolicy, type Policy } from '../policy/load-policy.ts';
import { cannotAsk, confirm } from '../terminal/confirm.ts';
import type { Io } from '../terminal/io.ts';
import { harmless, jsonText } from '../terminal/text.ts';
import { findProjectPolicy, type ProjectPolicy, unusedPolicy } from '../trust/project-policy.ts';

export const command = defineCommand({
  description:
    'Until it is trusted, the policy of a project only tightens your own: both apply, and the stricter decision wins. Shows what it would allow that your own policy does not, asks, and remembers its path and the hash of its content: from then on it applies instead of yours. A change of its content ends the trust. `sub trust` alone does the same.',
  args: { file: optional(TRUST_FILE_DOC) },
  options: { yes: YES_FLAG, json: JSON_FLAG },
  examples: ['sub trust', 'sub trust policy.yaml', 'sub trust add policy.yaml --yes'],
  exitCodes: {
    0: 'the policy is trusted',
    1: 'the policy is not trusted: you declined, or it has errors',
    2: `${BAD_TRUST}; or started by an agent`,
  },
  requires: 'person',
  run: async ({ args, options }, io) => {
    const place = findProjectPolicy(args.file);
    if (isFailure(place)) return place;
    const { home, path, user } = place;
    if (place.isOwn) return alreadyHeld(path, options.json, io);
    const opened = openTrust(home);
    if (isFailure(opened)) return opened;
    // Read once: what was shown is what is trusted.
    const file = await readFileBytes(path, { io, bytesMax: POLICY_FILE_BYTES_MAX });
    if (isFailure(file)) return file;
    const sha256 = sha256Bytes(Buffer.from(file.bytes));
    const policy = await loadPolicy({ path, bytes: file.bytes }, { io });
    if (isFailure(policy)) return policy;
    const unused = unusedPolicy(place);
    if (unused !== undefined) return unused;
    const loosens = await looseningOf(policy, place, io);
    if (isFailure(loosens)) return loosens;
    const wasTrusted = isTrusted(home, path, sha256);
    const frees = user === undefined ? freedomsOf(policy) : [];
    if (!options.json) io.out.write(shown({ path, sha256, loosens, place, frees }));
    const hasEffect = user !== undefined || frees.length > 0;
    if (!hasEffect && !wasTrusted && !options.yes) {
      if (options.json) io.out.write(jsonText({ path, sha256, trusted: false, loosens: [] }));
      return done(EXIT.fine);
    }
    const isAgreed = wasTrusted || (await asked(path, options.yes, io));
    if (typeof isAgreed !== 'boolean') return isAgreed;
    if (isAgreed && !wasTrusted) {
      const saved = await trustPolicy(home, { path, sha256 }, Date.now());
      if (isFailure(saved)) return saved;
    }
    if (options.json) {
      const changes = loosens.diff.changes;
      io.out.write(jsonText({ path, sha256, trusted: isAgreed, loosens: changes }));
    } else io.out.write(isAgreed ? 'It is trusted.\n' : 'It is not trusted.\n');
    return done(isAgreed ? EXIT.fine : EXIT.findings);
  },
});

/** The policy of the user needs no trust. */
function alreadyHeld(path: string, isJson: boolean, io: Io): Outcome {
  if (isJson) io.out.write(jsonText({ path, trusted: true, loosens: [] }));
  else io.out.write(`${harmless(path)} is your own policy: it holds already.\n`);
  return done(EXIT.fine);
}

/** What only a trusted policy may say, where the user has none that it could be compared with. */
function freedomsOf({ snapshot: { document } }: Policy): readonly string[] {
  return [
    ...(document.self_protection === undefined ? [] : ['it switches off self-protection']),
    ...(document.mode === 'observe'
      ? ['its mode `observe` lets pass what manifests, Cedar policies and self-protection refuse']
      : []),
  ];
}

async function asked(path: string, isYes: boolean, io: Io): Promise<boolean | Failure> {
  return (
    cannotAsk(io, isYes) ??
    (await confirm(`Let ${harmless(path)} hold instead of your own policy?`, io, isYes))
  );
}

interface Loosening {
  readonly kind: 'loosening';
  readonly diff: PolicyDiff;
}

/** What it lets pass that the policy of the user does not; nothing without one. */
async function looseningOf(
  policy: Policy,
  { user, path }: ProjectPolicy,
  io: Io,
): Promise<Loosening | Failure> {
  const own = user === undefined || user === path ? policy : await loadPolicy(user, { io });
  if (isFailure(own)) return own;
  const diff = diffBundles(own.snapshot.document, policy.snapshot.document);
  const changes = diff.changes.filter(mayLetPass);
  const count = (effect: PolicyChange['effect']) =>
    changes.filter((change) => change.effect === effect).length;
  const severity = (name: PolicyChange['severity']) =>
    changes.filter((change) => change.severity === name).length;
  const summary = {
    critical: severity('critical'),
    warn: severity('warn'),
    info: severity('info'),
    loosens: count('loosens'),
    mixed: count('mixed'),
    tightens: count('tightens'),
  };
  return { kind: 'loosening', diff: { changes, summary, same: changes.length === 0 } };
}

/** The name and the version say nothing of what passes. */
function mayLetPass({ effect, path }: PolicyChange): boolean {
  return effect !== 'tightens' && effect !== 'none' && path !== 'version' && path !== 'policy_id';
}

interface TrustSummary {
  readonly path: string;
  readonly sha256: string;
  readonly loosens: Loosening;
  readonly place: ProjectPolicy;
  readonly frees: readonly string[];
}

function shown({ path, sha256, loosens, place, frees }: TrustSummary): string {
  const { user } = place;
  const { diff } = loosens;
  const lets =
    user === undefined
      ? [
          'You have no policy of your own, so it can only tighten: it holds already.',
          ...frees.map((one) => `Only once it is trusted, ${one}.`),
        ]
      : diff.same
        ? [`It lets nothing pass that ${harmless(user)} does not.`]
        : [`What it may let pass that ${harmless(user)} does not:`, formatDiff(diff)];
  return `${harmless(path)}\nSHA-256 ${sha256}\n${lets.join('\n')}\n`;
}
