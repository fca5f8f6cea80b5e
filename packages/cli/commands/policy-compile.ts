import { type Failure, failure, isFailure, type SnapshotFile } from '@subluminal/contracts';
import { compileBundle, sealSnapshot } from '@subluminal/core/policy';
import type { Signer } from '@subluminal/core/ports';
import { sha256, signerFromPem } from '@subluminal/plane/crypto';
import {
  defineCommand,
  done,
  EXIT,
  type OptionValues,
  orThrow,
  printout,
  textOption,
} from '../input/command.ts';
import { KEY_BYTES_MAX, readFileBytes, STDIO } from '../input/read-file.ts';
import { overwritesInput, replaceFile } from '../input/write-file.ts';
import { printProblems, readBundle } from '../policy/load-policy.ts';
import type { Io } from '../terminal/io.ts';
import { reportFailure, warn } from '../terminal/report-failure.ts';
import { harmless, jsonText, plural } from '../terminal/text.ts';

const OPTIONS = {
  out: textOption(
    'file',
    'Write the snapshot to this file, atomically (default: standard output)',
    'o',
  ),
  sign: textOption('key', 'Sign it with this private key (see `sub policy keygen`)'),
  json: 'Always print JSON: a summary with --out, else the snapshot; or the problems',
};

export const command = defineCommand({
  description:
    'Compiles a bundle into the snapshot that decides calls: defaults expanded, globs normalised, sealed by its hash and optionally signed.',
  args: { file: 'The bundle; - reads standard input' },
  options: OPTIONS,
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
    orThrow(await lostInput(args.file, options));
    const read = orThrow(await readBundle(args.file, io));
    const { parsed, file, problems } = read;
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
    const signer = orThrow(
      options.sign === undefined ? undefined : await readSigner(options.sign, io),
    );
    const sealed = sealSnapshot(await compileBundle(parsed.bundle, { sha256 }), signer);
    if (options.out === undefined || options.out === STDIO) {
      return printout(sealed, jsonText(sealed));
    }
    orThrow(await replaceFile(options.out, jsonText(sealed)));
    const summary = summaryOf(sealed, options.out);
    return printout(summary, textOf(summary));
  },
});

/** Before anything is read: a policy or a key that was overwritten is gone. */
function lostInput(
  file: string,
  { out, sign }: OptionValues<typeof OPTIONS>,
): Promise<Failure | undefined> {
  if (out === undefined || out === STDIO) return Promise.resolve(undefined);
  const key = sign === undefined ? [] : [{ path: sign, role: 'the private key' }];
  return overwritesInput(out, [{ path: file, role: 'the bundle' }, ...key]);
}

async function readSigner(path: string, io: Io): Promise<Signer | Failure> {
  const file = orThrow(await readFileBytes(path, { io, bytesMax: KEY_BYTES_MAX }));
  const signer = signerFromPem(Buffer.from(file.bytes).toString('utf8'));
  if (!isFailure(signer)) return signer;
  const fix = 'Make one with `sub policy keygen`.';
  return failure(signer.code, `${file.name}: ${signer.message}`, fix);
}

function summaryOf({ snapshot, policy_hash, signature }: SnapshotFile, out: string) {
  return {
    ok: true,
    out,
    policy_id: snapshot.policy_id,
    version: snapshot.version,
    rules: snapshot.rules.length,
    policy_hash,
    key_id: signature?.key_id ?? null,
  };
}

function textOf({ out, ...summary }: ReturnType<typeof summaryOf>): string {
  const { policy_id, version, rules, policy_hash, key_id } = summary;
  const what = harmless(`${out}: ${policy_id} ${version}, ${plural(rules, 'rule')}`);
  const signed = key_id === null ? 'not signed' : `signed by key ${key_id}`;
  return `Wrote ${what}, ${signed}.\nsha256 ${policy_hash}\n`;
}
