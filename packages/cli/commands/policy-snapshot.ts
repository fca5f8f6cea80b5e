// `sub policy compile`, `verify` and `keygen`: snapshots and the keys that sign them.
import { rm } from 'node:fs/promises';
import { type Failure, failure, isFailure, isObject } from '@subluminal/contracts';
import { canonicalize } from '@subluminal/core/json';
import {
  compileBundle,
  openSnapshot,
  POLICY_FILE_BYTES_MAX,
  sealSnapshot,
} from '@subluminal/core/policy';
import type { Signer } from '@subluminal/core/ports';
import { createKeyPair, sha256, signerFromPem } from '@subluminal/plane/crypto';
import { projectPaths } from '@subluminal/plane/policy';
import {
  badUsage,
  defineCommand,
  done,
  EXIT,
  orThrow,
  printout,
  textOption,
  textsOption,
} from '../input/command.ts';
import {
  emptyName,
  type FileBytes,
  KEY_BYTES_MAX,
  readFileBytes,
  STDIO,
} from '../input/read-file.ts';
import { readPublicKeys } from '../input/read-keys.ts';
import { createNewFile, occupied, overwritesInput, replaceFile } from '../input/write-file.ts';
import { insteadOfSnapshot } from '../policy/file-kind.ts';
import { printProblems } from '../policy/load-policy.ts';
import { readBundle } from '../policy/read-bundle.ts';
import type { Io } from '../terminal/io.ts';
import { reportFailure, warn } from '../terminal/report-failure.ts';
import { harmless, harmlessLine, jsonText, plural } from '../terminal/text.ts';

export const compile = defineCommand({
  description:
    'Compiles a bundle into the snapshot that decides calls: defaults expanded, globs normalised, sealed by its hash and optionally signed.',
  args: { file: 'The bundle; - reads standard input' },
  options: {
    out: textOption(
      'file',
      'Write the snapshot to this file, atomically (default: standard output)',
      'o',
    ),
    sign: textOption('key', 'Sign it with this private key (see `sub policy keygen`)'),
    json: 'Always print JSON: a summary with --out, else the snapshot; or the problems',
  },
  examples: [
    'sub policy compile policy.yaml -o policy.snapshot.json',
    'sub policy compile policy.yaml --sign policy.key -o policy.snapshot.json',
  ],
  exitCodes: {
    0: 'the snapshot is written',
    1: 'the bundle has errors; nothing was written',
    2: 'wrong flags, an output that is also an input, or a file that cannot be read or written',
  },
  run: async ({ args, options }, io) => {
    const { sign } = options;
    const out = options.out === STDIO ? undefined : options.out;
    const key = sign === undefined ? [] : [{ path: sign, role: 'the private key' }];
    const inputs = [{ path: args.file, role: 'the bundle' }, ...key];
    // Before anything is read: a policy or a key that was overwritten is gone.
    orThrow(out === undefined ? undefined : await overwritesInput(out, inputs));
    const { parsed, file, problems } = orThrow(await readBundle(args.file, io));
    if (!parsed.ok) {
      if (options.json) io.out.write(jsonText({ ok: false, problems }));
      printProblems(problems, { file, io });
      const errors = problems.filter(({ level }) => level === 'error');
      const message = `${file.name} has ${plural(errors.length, 'error')}; nothing was written.`;
      const fix = errors.length === 1 ? 'Correct it first.' : 'Correct them first.';
      const failed = failure('SUB_BUNDLE_SYNTAX', message, fix);
      reportFailure({ ...failed, code: errors[0]?.code ?? failed.code }, io);
      return done(EXIT.findings);
    }
    if (problems.some(({ level }) => level === 'warning')) {
      warn(io, `${file.name} has warnings; see \`sub policy lint\`.`);
    }
    const signer = sign === undefined ? undefined : await readSigner(sign, io);
    const sealed = sealSnapshot(
      await compileBundle(parsed.bundle, { sha256, paths: projectPaths() }),
      signer,
    );
    if (out === undefined) return printout(sealed, jsonText(sealed));
    orThrow(await replaceFile(out, jsonText(sealed)));
    const { policy_id, version, rules } = sealed.snapshot;
    const { policy_hash, signature } = sealed;
    const key_id = signature?.key_id ?? null;
    const named = { policy_id, version, rules: rules.length, policy_hash, key_id };
    const signed = key_id === null ? 'not signed' : `signed by key ${key_id}`;
    const text = `Wrote ${harmless(`${out}: ${policyWords(named)}`)}, ${signed}.\n`;
    return printout({ ok: true, out, ...named }, `${text}sha256 ${policy_hash}\n`);
  },
});

interface NamedPolicy {
  readonly policy_id: string;
  readonly version: string;
  readonly rules: number;
}

function policyWords({ policy_id, version, rules }: NamedPolicy): string {
  return `${policy_id} ${version}, ${plural(rules, 'rule')}`;
}

/** Throws its failure. */
async function readSigner(path: string, io: Io): Promise<Signer> {
  const file = orThrow(await readFileBytes(path, { io, bytesMax: KEY_BYTES_MAX }));
  const signer = signerFromPem(Buffer.from(file.bytes).toString('utf8'));
  if (!isFailure(signer)) return signer;
  const fix = 'Make one with `sub policy keygen`.';
  return orThrow(failure(signer.code, `${file.name}: ${signer.message}`, fix));
}

const GIVE_KEY = 'Give the .pub files of `sub policy keygen`.';

export const verify = defineCommand({
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
    const trusted = await readPublicKeys({ paths: options.key, fix: GIVE_KEY }, io);
    const value = parseJson(file.bytes);
    const opened = await openSnapshot(value, {
      sha256,
      paths: projectPaths(),
      ...(trusted && { verifier: trusted }),
    });
    const key_id = keyIdOf(value);
    if (!isFailure(opened)) {
      const { policy_id, version, rules } = opened.document;
      const { policy_hash } = opened.ref;
      const named = { policy_id, version, rules: rules.length, policy_hash, key_id };
      const unchecked = key_id === null ? 'not signed' : `signature by ${key_id} not checked`;
      const signed = trusted === undefined ? unchecked : `signed by key ${key_id}`;
      const words = `${file.name}: ${policyWords(named)}, whole, ${signed}.`;
      return printout(
        { ok: true, ...named, signature_checked: trusted !== undefined },
        `${harmless(words)}\nsha256 ${policy_hash}\n`,
      );
    }
    if (opened.code === 'SUB_SNAPSHOT_FORMAT') return notASnapshot(file, opened.message);
    const { code, message, fix } = signatureFailure(opened, key_id, trusted?.keyIds ?? []);
    const found = harmless(`${file.name}: ${message}. ${fix}`);
    const text = `${io.out.colors.red('✘')} ${found} [${code}]\n`;
    return printout({ ok: false, code, message, fix }, text, EXIT.findings);
  },
});

/** A missing signature, one by another key, and a wrong one each have another fix. */
function signatureFailure(
  opened: Failure,
  signedBy: string | null,
  given: readonly string[],
): Failure {
  const { code, message } = opened;
  // A message that starts with a position says that the signature is missing or malformed.
  const isMalformed = message.startsWith('at ');
  if (code !== 'SUB_SNAPSHOT_SIGNATURE' || isMalformed || signedBy === null) return opened;
  if (given.length === 0) return opened;
  if (given.includes(signedBy)) {
    const wrong = `it names key ${signedBy}, but that key did not sign this content`;
    return failure(code, wrong, 'Compile and sign the bundle again.');
  }
  const keys =
    given.length === 1 ? `the key given is ${given[0]}` : `the keys given are ${given.join(', ')}`;
  const fix = `Give the public key of ${signedBy} with --key, or sign the snapshot again.`;
  return failure(code, `it was signed by key ${signedBy}, and ${keys}`, fix);
}

/** Undefined for text that is no JSON, or names a member twice: `openSnapshot` refuses it. */
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

const PRIVATE_MODE = 0o600;
const PUBLIC_MODE = 0o644;

export const keygen = defineCommand({
  description:
    'Creates an ed25519 key pair: the private key, readable only by you, and beside it the public key. Never overwrites a file.',
  args: { out: 'The file for the private key; the public key gets .pub' },
  examples: ['sub policy keygen policy.key'],
  exitCodes: {
    0: 'both files are written',
    2: 'wrong flags, or a file exists or cannot be written',
  },
  run: async ({ args }) => {
    if (args.out === STDIO) {
      return badUsage('keys are not written to standard output.', 'Name a file.');
    }
    if (args.out === '') return emptyName();
    const { keyId, privatePem, publicPem } = createKeyPair();
    const publicPath = `${args.out}.pub`;
    const privateKey = { path: args.out, text: privatePem, mode: PRIVATE_MODE };
    // Usually both halves exist or none does: the one that was named is the one to speak of.
    orThrow(await occupied(args.out));
    // The public half first: a failure after it leaves nothing behind that has to be kept secret.
    const publicKey = { path: publicPath, text: publicPem, mode: PUBLIC_MODE, given: args.out };
    orThrow(await createNewFile(publicKey));
    const written = await createNewFile(privateKey);
    if (isFailure(written)) {
      await rm(publicPath, { force: true });
      return written;
    }
    const made = { private_key: args.out, public_key: publicPath, key_id: keyId };
    return printout(
      made,
      harmlessLine(`Wrote ${args.out} (private: keep it safe) and ${publicPath}, key ${keyId}.`),
    );
  },
});
