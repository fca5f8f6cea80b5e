import { type Failure, failure, isFailure, isObject } from '@subluminal/contracts';
import { canonicalize } from '@subluminal/core/json';
import { openSnapshot, POLICY_FILE_BYTES_MAX } from '@subluminal/core/policy';
import { sha256, type TrustedKeys, verifierFromPems } from '@subluminal/plane/crypto';
import { defineCommand, EXIT, orThrow, printout, textsOption } from '../input/command.ts';
import { type FileBytes, KEY_BYTES_MAX, readFileBytes } from '../input/read-file.ts';
import { insteadOfSnapshot } from '../policy/file-kind.ts';
import type { Io } from '../terminal/io.ts';
import { harmless, plural } from '../terminal/text.ts';

/** What is wrong with a signature, and what to do about it. */
interface SignatureFinding {
  readonly message: string;
  readonly fix: string;
}

interface SnapshotReport {
  readonly policy_id: string;
  readonly version: string;
  readonly rules: number;
  readonly policy_hash: string;
  readonly key_id: string | null;
  readonly signature_checked: boolean;
}

export const command = defineCommand({
  description:
    'Checks that a snapshot is unchanged and, with --key, that one of these keys signed it. Without --key it checks only the hash.',
  args: { snapshot: 'The compiled snapshot; - reads standard input' },
  options: {
    key: textsOption('file', 'A public key that may have signed it; can be repeated'),
  },
  examples: ['sub policy verify policy.snapshot.json --key policy.key.pub'],
  exitCodes: {
    0: 'the snapshot is unchanged, and signed by a given key when --key is used',
    1: 'the snapshot was changed, or no given key signed it',
    2: 'wrong flags, or a file that cannot be read or is not a snapshot',
  },
  run: async ({ args, options }, io) => {
    const file = orThrow(
      await readFileBytes(args.snapshot, { io, bytesMax: POLICY_FILE_BYTES_MAX }),
    );
    const trusted = orThrow(options.key.length === 0 ? undefined : await readKeys(options.key, io));
    const value = parseJson(file.bytes);
    const verifier = trusted && { verifier: trusted };
    const opened = await openSnapshot(value, { sha256, ...verifier });
    if (!isFailure(opened)) {
      const { policy_id, version, rules } = opened.document;
      const { policy_hash } = opened.ref;
      const key_id = keyIdOf(value);
      const named = { ok: true, policy_id, version, rules: rules.length, policy_hash, key_id };
      const report = { ...named, signature_checked: trusted !== undefined };
      return printout(report, textOf(report, file.name));
    }
    if (opened.code === 'SUB_SNAPSHOT_FORMAT') return notASnapshot(file, opened.message);
    const wrong =
      opened.code === 'SUB_SNAPSHOT_SIGNATURE'
        ? signatureFinding(opened, keyIdOf(value), trusted?.keyIds ?? [])
        : opened;
    const { code } = opened;
    const { message, fix } = wrong;
    const found = harmless(`${file.name}: ${message}. ${fix}`);
    const text = `${io.out.colors.red('✘')} ${found} [${code}]\n`;
    return printout({ ok: false, code, message, fix }, text, EXIT.findings);
  },
});

/** A missing signature, another key's, and a wrong one each need something else. */
function signatureFinding(
  opened: Failure,
  signedBy: string | null,
  given: readonly string[],
): SignatureFinding {
  // The signature is missing or malformed, which the message already tells.
  const isMalformed = opened.message.startsWith('at ');
  if (isMalformed || signedBy === null || given.length === 0) return opened;
  if (given.includes(signedBy)) {
    const wrong = `it names key ${signedBy}, but that key did not sign this content`;
    return { message: wrong, fix: 'Compile and sign the bundle again.' };
  }
  const keys =
    given.length === 1 ? `the key given is ${given[0]}` : `the keys given are ${given.join(', ')}`;
  return {
    message: `it was signed by key ${signedBy}, and ${keys}`,
    fix: `Give the public key of ${signedBy} with --key, or sign the snapshot again.`,
  };
}

async function readKeys(paths: readonly string[], io: Io): Promise<TrustedKeys | Failure> {
  const pems: string[] = [];
  for (const path of paths) {
    const file = orThrow(await readFileBytes(path, { io, bytesMax: KEY_BYTES_MAX }));
    pems.push(Buffer.from(file.bytes).toString('utf8'));
  }
  const result = verifierFromPems(pems);
  if (!isFailure(result)) return result;
  const fix = 'Give the .pub files of `sub policy keygen`.';
  return failure(result.code, `${paths.join(', ')}: ${result.message}`, fix);
}

/** What is no JSON, or says a thing twice, is no snapshot, which `openSnapshot` then tells. */
function parseJson(bytes: Uint8Array): unknown {
  const read = canonicalize(new TextDecoder().decode(bytes));
  return read.ok ? JSON.parse(read.canonical) : undefined;
}

function notASnapshot(file: FileBytes, message: string): Failure {
  const instead = insteadOfSnapshot(file);
  const why = instead === undefined ? message : `it ${instead}`;
  const fix = 'Make one with `sub policy compile`.';
  return failure('SUB_SNAPSHOT_FORMAT', `${file.name} is no snapshot: ${why}.`, fix);
}

/** Null where there is no well-formed signature. */
function keyIdOf(value: unknown): string | null {
  const signature = isObject(value) ? value['signature'] : undefined;
  return isObject(signature) && 'key_id' in signature ? String(signature['key_id']) : null;
}

function textOf(report: SnapshotReport, name: string): string {
  const { policy_id, version, rules, policy_hash, key_id, signature_checked } = report;
  const what = `${name}: ${policy_id} ${version}, ${plural(rules, 'rule')}`;
  const unchecked = key_id === null ? 'not signed' : `signature by ${key_id} not checked`;
  const signed = signature_checked ? `signed by key ${key_id}` : unchecked;
  return `${harmless(what)}, whole, ${harmless(signed)}.\nsha256 ${policy_hash}\n`;
}
