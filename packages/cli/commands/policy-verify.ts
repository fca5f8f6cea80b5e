import type { SnapshotDocument } from '@subluminal/contracts';
import { canonicalize } from '@subluminal/core/canon';
import { openSnapshot } from '@subluminal/core/policy';
import type { Verifier } from '@subluminal/core/ports';
import { sha256, verifierFromPems } from '@subluminal/plane/crypto';
import type { VerifyInput } from '../catalog/policy.ts';
import { done, type Outcome } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { type Failure, failure, isFailure } from '../failure.ts';
import type { Io } from '../io.ts';
import { POLICY_BYTES_MAX } from '../load-policy.ts';
import { KEY_BYTES_MAX, readFileBytes } from '../read-file.ts';
import { harmless, jsonText, plural } from '../text.ts';

async function run({ args, options }: VerifyInput, io: Io): Promise<Outcome> {
  const file = await readFileBytes(args.snapshot, { io, bytesMax: POLICY_BYTES_MAX });
  if (isFailure(file)) return file;
  const verifier = options.key.length === 0 ? undefined : await readVerifier(options.key, io);
  if (isFailure(verifier)) return verifier;
  const value = parseJson(file.bytes);
  const opened = await openSnapshot(value, { sha256, ...(verifier && { verifier }) });
  if (opened.ok) {
    const report = reportOf(opened.snapshot.document, {
      policyHash: opened.snapshot.ref.policy_hash,
      keyId: keyIdOf(value),
      checked: verifier !== undefined,
    });
    io.out.write(options.json ? jsonText(report) : textOf(report, file.name));
    return done(EXIT.fine);
  }
  const { code, message } = opened;
  if (code === 'SUB_SNAPSHOT_FORMAT') return notASnapshot(file.name, message);
  if (options.json) io.out.write(jsonText({ ok: false, code, message }));
  else {
    const { colors } = io.out;
    io.out.write(`${colors.red('✘')} ${harmless(`${file.name}: ${message}`)}. [${code}]\n`);
  }
  return done(EXIT.findings);
}

async function readVerifier(paths: readonly string[], io: Io): Promise<Verifier | Failure> {
  const pems: string[] = [];
  for (const path of paths) {
    const file = await readFileBytes(path, { io, bytesMax: KEY_BYTES_MAX });
    if (isFailure(file)) return file;
    pems.push(Buffer.from(file.bytes).toString('utf8'));
  }
  const result = verifierFromPems(pems);
  if (result.ok) return result.verifier;
  const fix = 'Give the .pub files of `sub policy keygen`.';
  return failure(result.code, `${paths.join(', ')}: ${result.message}.`, fix);
}

/** What is no JSON, or says a thing twice, is no snapshot, which `openSnapshot` then tells. */
function parseJson(bytes: Uint8Array): unknown {
  const read = canonicalize(new TextDecoder().decode(bytes));
  return read.ok ? JSON.parse(read.canonical) : undefined;
}

function notASnapshot(name: string, message: string): Failure {
  const fix = 'Make one with `sub policy compile`.';
  return failure('SUB_SNAPSHOT_FORMAT', `${name} is no snapshot: ${message}.`, fix);
}

/** The snapshot has been opened, so the signature is well formed if there is one. */
function keyIdOf(value: unknown): string | null {
  if (typeof value !== 'object' || value === null || !('signature' in value)) return null;
  const { signature } = value;
  if (typeof signature !== 'object' || signature === null || !('key_id' in signature)) return null;
  return String(signature.key_id);
}

function reportOf(
  document: SnapshotDocument,
  seal: { readonly policyHash: string; readonly keyId: string | null; readonly checked: boolean },
) {
  return {
    ok: true,
    policy_id: document.policy_id,
    version: document.version,
    rules: document.rules.length,
    policy_hash: seal.policyHash,
    key_id: seal.keyId,
    signature_checked: seal.checked,
  };
}

function textOf(report: ReturnType<typeof reportOf>, name: string): string {
  const { policy_id, version, rules, policy_hash, key_id, signature_checked } = report;
  const what = `${name}: ${policy_id} ${version}, ${plural(rules, 'rule')}`;
  const unchecked = key_id === null ? 'not signed' : `signature by ${key_id} not checked`;
  const signed = signature_checked ? `signed by key ${key_id}` : unchecked;
  return `${harmless(what)}, whole, ${harmless(signed)}.\nsha256 ${policy_hash}\n`;
}

export { run };
