// Turns flags into the grant that an approval creates.

import { durationMs, type Failure, isFailure } from '@subluminal/contracts';
import type { ArgsWish, GrantWish } from '@subluminal/plane/approvals';
import { badUsage } from '../input/command.ts';

interface ArgumentFlags {
  readonly like: readonly string[];
  readonly free: readonly string[];
  readonly 'any-args': boolean;
}

interface GrantFlags extends ArgumentFlags {
  readonly run: boolean;
  readonly for: string | undefined;
  readonly always: boolean;
}

/** Undefined when nothing shall last. */
export function readGrantFlags(options: GrantFlags): GrantWish | Failure | undefined {
  const kinds = [options.run, options.for !== undefined, options.always].filter(Boolean).length;
  if (kinds > 1) return badUsage('--run, --for and --always exclude each other.', 'Give one.');
  const args = readArgumentFlags(options);
  if (isFailure(args)) return args;
  if (kinds === 0) {
    if (args.kind === 'exact') return undefined;
    return badUsage('--any-args, --like and --free need a grant.', 'Add --run, --for or --always.');
  }
  if (options.run) return { kind: 'run', args };
  if (options.always) return { kind: 'always', args };
  const forMs = durationMs(options.for ?? '');
  if (forMs === undefined) return badUsage('--for is not a duration.', 'Write 30m, 2h or 1d.');
  return { kind: 'minutes', durationMs: forMs, args };
}

/** Which arguments a grant shall cover. */
export function readArgumentFlags(options: ArgumentFlags): ArgsWish | Failure {
  const { like, free, 'any-args': isAny } = options;
  if (isAny && like.length + free.length > 0) {
    return badUsage('--any-args leaves nothing for --like or --free.', 'Leave one out.');
  }
  if (isAny) return { kind: 'any' };
  if (like.length + free.length === 0) return { kind: 'exact' };
  const globs = new Map<string, string>();
  for (const one of like) {
    const at = one.indexOf('=');
    if (at < 1) return badUsage(`--like \`${one}\` has no name.`, 'Write NAME=GLOB.');
    const name = one.slice(0, at);
    if (globs.has(name) || free.includes(name)) {
      return badUsage(`the argument \`${name}\` is given twice.`, 'Name it once.');
    }
    globs.set(name, one.slice(at + 1));
  }
  return { kind: 'pattern', like: globs, free: new Set(free) };
}
